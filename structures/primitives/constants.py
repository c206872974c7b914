"""``Constant``: a value that is a part of its numba type, so that compiled code has it in its instructions.

A kernel that takes a constant is compiled once for each value, and cached on disk like any other kernel. So
constants are for few values, known when the program is written. All others belong in arrays.

::

    windows = Constant(((32, 3), (33, 1)))        made once, when the kernel is chosen
    cut(data, windows)                            in the kernel: translate_byte_lanes(..., windows, ...)
"""

from __future__ import annotations

import hashlib
from typing import Any

from numba import types
from numba.core.errors import TypingError
from numba.extending import NativeValue, intrinsic, models, register_model, typeof_impl, unbox

from structures.compiling.jit import twin


class ConstantType(types.Type):
    """numba type of a :class:`Constant`."""

    def __init__(self, value: Any) -> None:
        self.value = value
        digest = hashlib.sha256(repr(value).encode()).hexdigest()
        super().__init__(name=f"Constant({digest[:16]})")


register_model(ConstantType)(models.OpaqueModel)


class Constant:
    """A value that is compiled in.

    Parameters
    ----------
    value : int, None, or a tuple of these and of tuples

    Examples
    --------
    >>> Constant((1, (2, None))).value
    (1, (2, None))
    """

    __slots__ = ("numba_type", "value")

    def __init__(self, value: Any) -> None:
        self.value, self.numba_type = value, ConstantType(value)


@typeof_impl.register(Constant)
def _typeof(constant: Constant, context: Any) -> ConstantType:
    return constant.numba_type


@unbox(ConstantType)
def _unbox(typ, obj, c):
    return NativeValue(c.context.get_dummy_value())  # the value is in the type


def _py_part_or(constant: Constant | None, k: int, otherwise: Any) -> Any:
    return otherwise if constant is None else Constant(constant.value[k])


@twin(_py_part_or)
@intrinsic(prefer_literal=True)
def part_or(typingctx, constant, k, otherwise):
    """Return part `k` of a constant; `otherwise`, of any type, if None is passed in place of a constant."""
    if isinstance(constant, types.NoneType):
        return otherwise(constant, k, otherwise), lambda context, builder, signature, values: values[2]
    if not (isinstance(constant, ConstantType) and isinstance(k, types.IntegerLiteral)):
        raise TypingError(f"a part must be of a constant, and its number known, not {constant}, {k}")
    part = ConstantType(constant.value[k.literal_value])
    return part(constant, k, otherwise), lambda context, builder, signature, values: context.get_dummy_value()
