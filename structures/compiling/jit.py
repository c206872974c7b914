"""The decorators that compile this package: lazily, without the GIL, cached on disk and never stale.

There are five kinds of kernels. *Plain* ones may raise. *Quiet* ones cannot: they return a status instead.
*Inlined* ones are quiet, and become a part of each compiled caller. *Inner* ones are quiet, and only compiled
code calls them. *Late* ones, which only this package has, are inner ones that are seldom reached.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, overload

from numba import config, typeof

from structures.compiling.dispatchers import dispatcher
from structures.compiling.without_jit import interpreted

Function = TypeVar("Function", bound=Callable[..., Any])


def _compiled(function: Callable[..., Any], kind: str) -> Any:
    """Return a kernel of one of the kinds; one that is interpreted where the JIT is switched off."""
    if config.DISABLE_JIT:
        return function if kind in ("inner", "late") else interpreted(function)
    return dispatcher(function, kind)


@overload
def kernel(function: Function, *, quiet: bool = ...) -> Function: ...
@overload
def kernel(function: None = ..., *, quiet: bool = ...) -> Callable[[Function], Function]: ...
def kernel(function: Any = None, *, quiet: bool = False) -> Any:
    """Compile a function lazily, without the GIL, cached on disk until a source changes.

    Use it in place of ``numba.njit(cache=True)`` for functions that call functions of this package. The key
    of the cached code contains digests of this package and of the package of the function.

    Parameters
    ----------
    function : callable
        A module-level function in numba's language.
    quiet : bool
        For functions that return a status (:mod:`structures.status`) instead of raising. Compiled callers
        have no branch for exceptions then. If the function raises all the same, for instance because memory
        runs out, they get the null value of its result type. Integers of every width are passed as
        int64, and containers are passed without counting references. The reason: an exception that passes
        through a compiled frame leaks what the frame owns. If there can be one, numba counts references
        around the call, which takes 20 ns, for a method that takes 1 ns.

    Returns
    -------
    numba dispatcher
        Before the first call, nothing is compiled and the disk is not touched.

    Warns
    -----
    RuntimeWarning
        No folder for the cache is writable; once a process, at the first use.

    Complexity
    ----------
    O(1) at import; a call from Python costs what one of ``njit`` does, 0.3 us and up.

    Examples
    --------
    >>> from structures import kernel
    >>> @kernel
    ... def double(x):
    ...     return 2 * x
    >>> double(21)
    42
    """
    if function is None:
        return functools.partial(kernel, quiet=quiet)
    return _compiled(function, "quiet" if quiet else "plain")


def entry_for(compiled: Any, *arguments: Any) -> Callable[..., Any]:
    """Return what runs a kernel for arguments of these types, and looks at no types any more.

    numba finds the code for the types of arguments at every call, which takes 0.4 us for each container or
    record. A caller that always passes the same types does it once.

    Parameters
    ----------
    compiled : kernel
        It is compiled, or loaded, if it was not.
    *arguments
        Such arguments as it will be called with.

    Returns
    -------
    callable
        It takes positional arguments. Arguments of other types are not recognized: the process may crash.
        With the JIT switched off, it is the kernel.

    Complexity
    ----------
    That of a first call; each call of the result takes 0.1 us and what unpacking the arguments takes.

    Examples
    --------
    >>> from structures.kernels import entry_for, kernel
    >>> @kernel
    ... def add(x, y):
    ...     return x + y
    >>> add_int64 = entry_for(add, 1, 2)
    >>> add_int64(40, 2)
    42
    """
    return compiled if config.DISABLE_JIT else compiled.compile(tuple(map(typeof, arguments)))


def twin(python: Callable[..., Any]) -> Callable[[Any], Any]:
    """Replace a function in Python by an equivalent intrinsic, unless the JIT is switched off.

    An overload would do the same, but takes 40 ms to compile in every kernel that uses it.
    """
    return lambda compiled: python if config.DISABLE_JIT else compiled


def quiet(function: Callable[..., Any]) -> Any:
    """Short for ``kernel(function, quiet=True)``.

    A function that returns an array it allocates must be a plain kernel: its caller would take a null array
    for a real one. The quiet kernel that calls it catches the exception and returns a status.
    """
    return kernel(function, quiet=True)


def inlined(function: Callable[..., Any]) -> Any:
    """Make a function a quiet kernel that compiled callers always inline, a loop of short steps for instance.

    LLVM judges by size, and calls what is larger than some 200 instructions. In a loop of calls nothing is
    kept in registers, and the processor waits for one search before it begins the next. So the step has to
    be short: what is seldom reached belongs in a late kernel.
    """
    return _compiled(function, "inlined")


def inner(function: Callable[..., Any]) -> Any:
    """Make a function a quiet kernel for compiled callers, which takes half the time to compile.

    It is optimized only as a part of its callers, and has no wrapper for Python. Python may call it all the
    same: it is compiled again for that, and a call takes a few microseconds more.
    """
    return _compiled(function, "inner")


def late(function: Callable[..., Any]) -> Any:
    """Make a function an inner kernel that is compiled when it is first reached, as growth is.

    It returns a bool, and takes containers, arrays, pointers, int64 and float64 by position. Where it raises,
    its callers get False (:mod:`structures.compiling.code`).
    """
    return _compiled(function, "late")
