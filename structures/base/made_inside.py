"""Containers made in compiled code, spelled as in Python: ``MinHeap(np.float64)``, ``PairIndex.build(t)``.

A container class is a constant of compiled code, of a :class:`ClassType`. Its constructor and its class
methods are overloads: functions that look at the arguments when a caller is compiled, and return the code of
the call.

They get what is known of the arguments at that time: a dtype, a number or a string that the caller has
written, a default value; of all others the numba type. For ``MinHeap(np.float64)`` that is the dtype float64.

What a caller has compiled in does not get stale: see :mod:`structures.compiling.stamps`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import config, types
from numba.core.errors import TypingError
from numba.extending import models, overload, overload_method, register_model, typeof_impl

from structures.base.mistakes import check_arguments
from structures.compiling import numba_private


class ContainerClass(type):
    """The class of the container classes."""

    @property
    def _numba_type_(cls) -> Any:
        raise AttributeError  # numba would take the property of the instances for the type of the class


class ClassType(types.Callable, types.Opaque):
    """numba type of a container class."""

    def __init__(self, facade: Any) -> None:
        self.facade = facade
        self.constructor = lambda: None  # numba knows the overloads of the constructor by it
        super().__init__(name=f"class {facade.__name__}")

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a call of the class."""
        self._called = context.resolve_value_type(self.constructor)
        return self._called.get_call_type(context, args, kws)

    def get_call_signatures(self) -> Any:
        """Return the signatures known before a call: none."""
        return [], True

    def get_impl_key(self, sig: Any) -> Any:
        """Return the key of the compiled constructor."""
        return self._called.get_impl_key(sig)


register_model(ClassType)(models.OpaqueModel)


@functools.cache
def _class_type(facade: Any) -> ClassType:
    return ClassType(facade)


@typeof_impl.register(ContainerClass)
def _typeof_class(facade: Any, context: Any) -> ClassType:
    if context.purpose.name == "argument":
        name = facade.__name__
        raise TypingError(f"{name} is a class: pass a container, as {name}() makes one")
    # The class may just have been imported, by the compiler that asks: what came with it is not known yet.
    if numba_private.ALL_THERE:
        numba_private.cpu_target.typing_context.refresh()
        numba_private.cpu_target.target_context.refresh()
    return _class_type(facade)


# ----------------------------------------------------------------------------------- what a caller has given
def _known(argument: Any) -> Any:
    """Return what is known of an argument when its caller is compiled, or else its numba type."""
    if isinstance(argument, types.Omitted):
        return argument.value
    if isinstance(argument, types.Literal):
        return argument.literal_value
    if isinstance(argument, (types.NumberClass, types.DType)):
        return np.dtype(argument.dtype.name)
    if isinstance(argument, types.NoneType):
        return None
    if isinstance(argument, types.Function) and argument.typing_key in (int, float):
        return np.dtype(argument.typing_key)
    return argument


def _with_known(overload_function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(overload_function)
    def overloaded(*arguments: Any, **named: Any) -> Any:
        named = {name: _known(each) for name, each in named.items()}
        try:
            return overload_function(*map(_known, arguments), **named)
        except (TypeError, ValueError) as error:
            raise TypingError(str(error)) from None

    return overloaded


def constructor(facade: Any) -> Callable[[Any], Any]:
    """Let compiled code call a container class."""
    return _overload(overload, _class_type(facade).constructor)


def class_method(facade: Any, name: str) -> Callable[[Any], Any]:
    """Let compiled code call a class method; as :func:`constructor`, with the class as the first argument."""
    return _overload(overload_method, _class_type(facade), name)


def must_be_integer(argument: Any, name: str) -> None:
    """Raise for an argument of a constructor, or what is known of it, that is no integer."""
    if not isinstance(argument, (int, types.Integer)):
        raise TypeError(f"{name} must be an integer, not {argument}")


def must_be_integers(argument: Any, name: str) -> None:
    """Raise for an argument of a constructor that is not an array of integers."""
    is_array = isinstance(argument, types.Array) and argument.ndim == 1
    if not (is_array and isinstance(argument.dtype, types.Integer)):
        raise TypeError(f"{name} must be an array of integers with one dimension, not {argument}")


def dtype_of_numbers(argument: Any, name: str) -> np.dtype:
    """Return the dtype of numbers for a container: float32, float64 or int64; raise if it is not an array."""
    is_array = isinstance(argument, types.Array) and argument.ndim == 1
    if not (is_array and isinstance(argument.dtype, (types.Integer, types.Float))):
        raise TypeError(f"{name} must be an array of numbers with one dimension, not {argument}")
    if isinstance(argument.dtype, types.Integer):
        return np.dtype(np.int64)
    return np.dtype(np.float32 if argument.dtype == types.float32 else np.float64)


def must_be_entries(container_type: Any, keys: Any, name: str, numbers: Any) -> None:
    """Raise for keys and numbers that are no arrays, or not of what a container of a type holds."""
    dtype_of_numbers(keys, "keys")
    dtype_of_numbers(numbers, name)
    check_arguments(container_type, ("keys", name), (keys, numbers))


def only_empty(facade: Any, arguments: str) -> TypeError:
    """Return the exception for initial items: compiled code makes an empty container, or one of arrays."""
    name = facade.__name__
    return TypeError(f"compiled code makes an empty {name}(), or {name}.from_arrays({arguments})")


def makes_empty(facade: Any, new: Any, arguments: str) -> None:
    """Let compiled code call a class without arguments; the kernel `new` makes the container.

    `arguments` are those of ``from_arrays``, for the message.
    """

    def overloaded(items=None):
        if items is not None:
            raise only_empty(facade, arguments)
        return lambda items=None: new()

    constructor(facade)(overloaded)


def _overload(decorator: Any, *what: Any) -> Callable[[Any], Any]:
    def register(function: Any) -> Any:
        if not config.DISABLE_JIT:
            decorator(*what, prefer_literal=True, strict=False)(_with_known(function))
        return function

    return register


def name_type(facade: Any) -> None:
    """Let compiled code name the numba type of a container: ``List.empty_list(MinHeap.type(np.float64))``."""
    signature = inspect.signature(facade.type.__func__)
    names = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    signature = signature.replace(parameters=names, return_annotation=signature.empty)
    bare = signature.replace(parameters=[each.replace(default=each.empty) for each in names])

    def overloaded(cls, *arguments, **parameters):
        variables = {"container_type": facade.type(*arguments, **parameters)}
        exec(f"def code{bare}: return container_type", variables)
        variables["code"].__defaults__ = facade.type.__func__.__defaults__
        return variables["code"]

    overloaded.__signature__ = signature  # type: ignore[attr-defined]
    class_method(facade, "type")(overloaded)
