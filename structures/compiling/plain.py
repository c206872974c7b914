"""Kernels and methods the documented way, for releases of numba that lack a private name.

See :mod:`structures.compiling.numba_private`. Kernels are numba's own dispatchers with numba's own cache.
References to containers are counted. A method is an overload that widens its arguments and calls the kernel.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload, overload_method

from structures.compiling.digests import stamped
from structures.status import INT64_MAX


def plain_kernel(function: Callable[..., Any]) -> Any:
    """Compile a function lazily, without the GIL, with numba's cache if it finds a folder for it."""
    try:
        return njit(nogil=True, cache=True)(stamped(function))
    except RuntimeError:  # no folder that it may write to, or a function typed at a prompt
        return njit(nogil=True)(function)


def for_python(kernel: Any) -> Callable[..., Any]:
    """Return a function that widens numbers, as ``wide`` does in compiled code, and calls the kernel."""
    return lambda *arguments: kernel(*map(_wide_in_python, arguments))


def _wide_in_python(value: Any) -> Any:
    if isinstance(value, (int, np.integer, np.bool_)):
        return (int(value) + 2**63) % 2**64 - 2**63
    return float(value) if isinstance(value, np.floating) else value


def wide(value: Any) -> Any:
    """Stand for :func:`_wide`, in compiled code."""


def checked(value: Any) -> Any:
    """Return a uint64 as int64; one past it would wrap around."""
    if value > INT64_MAX:
        raise OverflowError("an integer is past int64")
    return np.int64(value)


@overload(wide)
def _wide(value):
    if value == types.uint64:
        return checked
    if isinstance(value, (types.Integer, types.Boolean)):
        return lambda value: np.int64(value)
    if isinstance(value, types.Float):
        return lambda value: np.float64(value)
    return lambda value: value


def overload_as_method(struct_class: type, name: str, kernel: Any, check: Callable[..., None]) -> None:
    """Make a kernel a method of a container type in compiled code.

    ``check(this, names, types)`` is called with the types of a call, and refuses the wrong ones.
    """
    signature = inspect.signature(kernel.py_func)
    this, *names = signature.parameters
    arguments = ", ".join([this, *(f"wide({name})" for name in names)])
    namespace = {"kernel": kernel, "wide": wide}
    exec(f"def call{signature}: return kernel({arguments})", namespace)

    def typed(this, *arguments, **named):
        check(this, (*names[: len(arguments)], *named), (*arguments, *named.values()))
        return namespace["call"]

    typed.__signature__ = signature  # type: ignore[attr-defined]
    overload_method(struct_class, name)(typed)
