"""Operators and loops in compiled code: one overload of each serves all containers, and calls their methods.

A loop runs over what the container held when the loop began: over an array, which the loop owns. So the
container may change, or go, in the middle of a loop.
"""

from __future__ import annotations

import operator
from typing import Any

from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, overload, register_model, type_callable

from structures.base.struct_type import BorrowedType, StructType
from structures.compiling.jit import twin
from structures.compiling.numba_private import ALL_THERE


def _is_container(typ: Any) -> bool:
    return isinstance(typ, (StructType, BorrowedType))


def _are_alike(typ: Any, other: Any) -> bool:
    return _is_container(typ) and getattr(typ, "owner", typ) == getattr(other, "owner", other)


@overload(len)
def _len(self):
    if not _is_container(self):
        return None
    fields = getattr(self, "owner", self).field_dict
    return (lambda self: self.size) if "size" in fields else (lambda self: self.len())


@overload(bool)
def _bool(self):
    return (lambda self: len(self) > 0) if _is_container(self) else None


@overload(operator.not_)
def _not(self):
    return (lambda self: len(self) == 0) if _is_container(self) else None


@overload(operator.contains)
def _contains(self, key):
    return (lambda self, key: self.contains(key)) if _is_container(self) else None


@overload(operator.getitem)
def _getitem(self, key):
    return (lambda self, key: self.get(key)) if _is_container(self) else None


@overload(operator.setitem)
def _setitem(self, key, value):
    return (lambda self, key, value: self.set(key, value)) if _is_container(self) else None


@overload(operator.delitem)
def _delitem(self, key):
    return (lambda self, key: self.remove(key)) if _is_container(self) else None


@overload(operator.eq)
def _eq(self, other):
    return (lambda self, other: self.equals(other)) if _are_alike(self, other) else None


@overload(operator.ne)
def _ne(self, other):
    return (lambda self, other: not self.equals(other)) if _are_alike(self, other) else None


# ------------------------------------------------------------------------------------------------- loops
class PairsType(types.IterableType):
    """numba type of two arrays of one length, over which a loop runs in pairs."""

    def __init__(self, arrays: types.BaseTuple) -> None:
        self.arrays = arrays
        super().__init__(name=f"pairs of {arrays}")

    @property
    def iterator_type(self) -> Any:
        """The type that the loop has."""
        return types.ZipType(self.arrays)


@register_model(PairsType)
def _model_of_pairs(manager, typ):
    return manager[typ.arrays]


@twin(lambda arrays: zip(*arrays, strict=True))
@intrinsic
def pairs_of(typingctx, arrays):
    """Return two arrays of one length, for loops over ``(array[i], other[i])``."""

    def codegen(context, builder, signature, values):
        context.nrt.incref(builder, arrays, values[0])  # the result has references of its own
        return values[0]

    return PairsType(arrays)(arrays), codegen


def _call(context: Any, builder: Any, function: Any, types_of: Any, values: Any) -> tuple[Any, Any]:
    """Emit a call; return the type of its result, and the result."""
    signature = context.typing_context.resolve_function_type(function, types_of, {})
    compiled = context.get_function(function, signature)
    context.add_linking_libs(getattr(compiled, "libs", ()))
    return signature.return_type, compiled(builder, values)


def _loop_over_pairs(context, builder, signature, values):
    (typ,) = signature.args
    arrays = cgutils.unpack_tuple(builder, values[0])
    return _call(context, builder, zip, typ.arrays.types, arrays)[1]


def _method_of_loop(context: Any, container: Any) -> Any:
    return context.resolve_getattr(container, "__iter__") if _is_container(container) else None


def _type_of_loop(context):
    def typer(container):
        keys = _method_of_loop(context, container)
        return keys and context.resolve_function_type(keys, (), {}).return_type.iterator_type

    return typer


def _loop_over_keys(context, builder, signature, values):
    keys = _method_of_loop(context.typing_context, signature.args[0])
    array_type, array = _call(context, builder, keys, (), values)
    _, loop = _call(context, builder, "getiter", (array_type,), [array])
    context.nrt.decref(builder, array_type, array)  # the loop has its own reference
    return loop


if ALL_THERE and not config.DISABLE_JIT:
    lower_builtin("getiter", PairsType)(_loop_over_pairs)
    type_callable("getiter")(_type_of_loop)
    lower_builtin("getiter", StructType)(_loop_over_keys)
    lower_builtin("getiter", BorrowedType)(_loop_over_keys)
