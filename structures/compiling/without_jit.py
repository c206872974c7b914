"""Containers and kernels with ``NUMBA_DISABLE_JIT=1``: plain Python, for debuggers and for clearer messages.

Kernels run as they are written. They get a :class:`PlainContainer` for a container: the fields, and the
kernels that are methods of the type. The classes are the same. Their objects hold a plain container in place
of a pointer to compiled memory.

A user's kernel is Python, too, and its containers are objects of the classes. These then have all verbs of
compiled code, and a verb that returns a status there returns 0. Failures raise, as everywhere in Python:
a missing key is a ``KeyError`` where compiled code reads 0.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numba.experimental import structref

PROPERTIES = ("nbytes", "n_keys", "n_positions", "n_segments")
"""The methods of the numba types that are properties: kernels, too, read them without a call."""


class PlainContainer:
    """A container as kernels see it."""

    def __init__(self, struct_type: Any) -> None:
        self.struct_type = struct_type

    @property
    def _numba_type_(self) -> Any:
        return self.struct_type

    def __getattr__(self, name: str) -> Any:
        verb = self.struct_type.method(name)
        if verb is None:
            raise AttributeError(name)
        return verb(self) if name in PROPERTIES else partial(verb, self)

    def __len__(self) -> int:
        return self.size if "size" in self.struct_type.field_dict else self.len()

    def __contains__(self, key: Any) -> bool:
        return self.contains(key)

    def __iter__(self) -> Any:
        return iter(self.__getattr__("__iter__")())  # an array: the content when the loop begins

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PlainContainer) or other.struct_type != self.struct_type:
            return NotImplemented
        return self.equals(other)

    __hash__ = None  # type: ignore[assignment]  # containers change

    def __and__(self, other: Any) -> Any:
        return self._and(other)

    def __or__(self, other: Any) -> Any:
        return self._or(other)

    def __sub__(self, other: Any) -> Any:
        return self._sub(other)

    def __xor__(self, other: Any) -> Any:
        return self._xor(other)

    def __le__(self, other: Any) -> bool:
        return self._le(other)

    def __getitem__(self, key: Any) -> Any:
        return self.get(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.set(key, value)

    def __delitem__(self, key: Any) -> None:
        self.remove(key)


def _converted(convert: Callable[[Any], Any], items: tuple[Any, ...]) -> tuple[Any, ...]:
    """Convert the items of a tuple, which may be a named one."""
    return getattr(items, "_make", tuple)(map(convert, items))


def _opened(value: Any) -> Any:
    """Return an argument as a kernel sees it."""
    if isinstance(value, tuple):
        return _converted(_opened, value)
    return value._meminfo if isinstance(value, structref.StructRefProxy) else value


def _for_python(value: Any) -> Any:
    """Return the result of a kernel as Python would get it from compiled code."""
    facade = getattr(value.struct_type, "facade", None) if isinstance(value, PlainContainer) else None
    if facade is not None:
        return facade._numba_box_(value.struct_type, value)
    if isinstance(value, tuple):
        return _converted(_for_python, value)
    return value.item() if isinstance(value, np.generic) else value


class _Thread(threading.local):
    in_kernel = False


_thread = _Thread()


def interpreted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel that runs as Python, and unwraps the containers it is given."""

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        by_kernel = _thread.in_kernel
        if by_kernel and not any(isinstance(each, structref.StructRefProxy) for each in arguments):
            return function(*arguments, **named)
        _thread.in_kernel = True
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # products of hashes wrap around
                return _for_python(function(*map(_opened, arguments), **named))
        finally:
            _thread.in_kernel = by_kernel

    return call


# ---------------------------------------------------------------------------------------------- the classes
def _result_of(name: str, arguments: Any) -> Any:
    """Return what a verb returns in compiled code on success, where in Python it returns None."""
    if name == "add_many" and hasattr(arguments[0], "__len__"):  # not of a PairIndex
        return 0, len(arguments[0])
    return True if name == "rebuild" else 0


def _with_result(name: str, verb: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(verb)
    def call(self, *arguments, **named):
        verb(self, *arguments, **named)
        return _result_of(name, arguments)

    return call


def _of_arrays(compiled: Callable[..., Any], verb: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(verb)
    def call(self, data, *arguments, **named):
        chosen = compiled if isinstance(data, np.ndarray) else verb
        return chosen(self, data, *arguments, **named)

    return call


def give_compiled_verbs(facade: Any) -> None:
    """Add to a class the verbs that only compiled code has, and let the others return what they do there.

    Those that take bytes in Python take an array with limits, too, as in compiled code.
    """
    for name, compiled in vars(facade._kernels).items():
        verb = getattr(facade, name, None)
        if verb is None:
            setattr(facade, name, compiled)
        elif name[0] != "_" and "start" in inspect.signature(compiled).parameters:
            setattr(facade, name, _of_arrays(compiled, verb))
        elif name not in PROPERTIES and verb.__annotations__.get("return") == "None":
            setattr(facade, name, _with_result(name, verb))
