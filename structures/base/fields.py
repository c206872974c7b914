"""Exchange of two array fields of a container, which quiet kernels cannot assign to each other.

What they read from a field is borrowed and must not be stored (:mod:`structures.base.struct_type`).
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic

from structures.base.struct_type import BorrowedType, borrow, payload_of
from structures.compiling.jit import twin
from structures.primitives.simd import NONE


def _py_swap_fields(container: Any, one: str, other: str) -> None:
    kept = getattr(container, one)
    setattr(container, one, getattr(container, other))
    setattr(container, other, kept)


@twin(_py_swap_fields)
@intrinsic(prefer_literal=True)
def swap_fields(typingctx, container, one, other):
    """Exchange two fields of the same type of a container; their names are constants."""
    is_borrowed = isinstance(container, BorrowedType)
    owner = container.owner if is_borrowed else container

    def codegen(context, builder, signature, values):
        pointer = values[0] if is_borrowed else borrow(context, builder, owner, values[0])
        fields = payload_of(context, builder, owner.passed_as, pointer)
        names = one.literal_value, other.literal_value
        kept = [getattr(fields, name) for name in names]
        for name, value in zip(names, reversed(kept), strict=True):
            setattr(fields, name, value)
        return NONE

    return types.none(container, one, other), codegen
