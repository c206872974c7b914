"""What is first of equal entries, the smallest key or what came first: known when code is compiled."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from structures.compiling.jit import twin


def _py_is_first_come(container: Any) -> bool:
    return container.struct_type.ties == "fifo"


@twin(_py_is_first_come)
@intrinsic
def is_first_come(typingctx, container):
    """Return whether the ``ties`` of the container's numba type are "fifo"; a constant for the compiler."""
    answer = getattr(container, "owner", container).ties == "fifo"
    return types.boolean(container), lambda context, builder, signature, values: ir.IntType(1)(answer)
