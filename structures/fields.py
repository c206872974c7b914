"""Exchange of two array fields of a container, which quiet kernels cannot assign to each other.

What they read from a field is borrowed and must not be stored (:mod:`structures.struct_type`).
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from structures.jit import twin
from structures.simd import NONE
from structures.struct_type import BorrowedType


def _py_swap_fields(container: Any, one: str, other: str) -> None:
    kept = getattr(container, one)
    setattr(container, one, getattr(container, other))
    setattr(container, other, kept)


@twin(_py_swap_fields)
@intrinsic(prefer_literal=True)
def swap_fields(typingctx, container, one, other):
    """Exchange two fields of the same type of a borrowed container; their names are constants."""
    if not isinstance(container, BorrowedType):
        raise TypingError(f"the container must be borrowed, not {container}")
    data_type = container.owner.get_data_type()

    def codegen(context, builder, signature, values):
        pointer = context.data_model_manager[data_type].get_value_type().as_pointer()
        fields = cgutils.create_struct_proxy(data_type)(
            context, builder, ref=builder.bitcast(values[0], pointer)
        )
        names = one.literal_value, other.literal_value
        kept = [getattr(fields, name) for name in names]
        for name, value in zip(names, reversed(kept), strict=True):
            setattr(fields, name, value)
        return NONE

    return types.none(container, one, other), codegen
