"""The decorators that compile this package: lazily, without the GIL, cached on disk and never stale.

There are three kinds of kernels. *Plain* ones may raise. *Quiet* ones cannot: they return a status instead. And
*inner* ones are quiet, and only compiled code calls them.

======================  =============================================================================
module                  what it is about
======================  =============================================================================
``digests``             cached code is not used any more after a source has changed
``dispatchers``         what Python and what compiled callers get of a kernel
``inside_code``         code that compiled callers link in
``numba_private``       the private names of numba that these two use
``plain``               kernels without those names
======================  =============================================================================
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from numba import config

from structures.digests import DIGEST, package_digest
from structures.numba_private import ALL_THERE

if ALL_THERE:
    from structures.dispatchers import InnerDispatcher, KernelDispatcher, QuietDispatcher, dispatcher
else:
    from structures.plain import plain_kernel

__all__ = ["DIGEST", "inner", "kernel", "package_digest", "quiet", "twin"]


def _compiled(function: Callable[..., Any], kind: str) -> Any:
    """Return a kernel of one of the kinds, or the function itself where the JIT is switched off."""
    if config.DISABLE_JIT:
        return function
    if not ALL_THERE:
        return plain_kernel(function)
    kinds = {"plain": KernelDispatcher, "quiet": QuietDispatcher, "inner": InnerDispatcher}
    return dispatcher(function, kinds[kind])


def kernel(function: Callable[..., Any] | None = None, *, quiet: bool = False) -> Any:
    """Compile a function lazily, without the GIL, cached on disk under a key that sees every upgrade.

    Use it in place of ``numba.njit(cache=True)`` for functions that call into this package: the key
    holds the digests of this package and of the package that the function belongs to.

    Parameters
    ----------
    function : callable
        A module-level function in numba's language.
    quiet : bool
        For functions that return a status (:mod:`structures.status`) instead of raising. Compiled
        callers then call it without a branch for exceptions; what it raises all the same, as when there
        is no memory, makes them see the null value of its result type. Integers of every width are
        passed as int64, containers without counting references. The reason: an exception that passes
        through a compiled frame leaks what the frame owns, and the mere possibility keeps numba from
        removing the reference counting around a call, 20 ns for a method that takes 1 ns.

    Returns
    -------
    numba dispatcher
        Nothing is compiled, and no disk touched, before the first call.

    Warns
    -----
    RuntimeWarning
        Once a process, at the first use, where no folder for the cache can be written to.

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


def twin(python: Callable[..., Any]) -> Callable[[Any], Any]:
    """Put an intrinsic in the place of its twin in Python, unless the JIT is switched off.

    An overload would do the same, at 40 ms of compilation for every one that a kernel uses.
    """
    return lambda compiled: python if config.DISABLE_JIT else compiled


def quiet(function: Callable[..., Any]) -> Any:
    """Short for ``kernel(function, quiet=True)``.

    A function that allocates what it returns is a plain kernel, so that the exception gets as far as the
    quiet one that called it and can say so with a status: a null array must never be written to.
    """
    return kernel(function, quiet=True)


def inner(function: Callable[..., Any]) -> Any:
    """Make a function a quiet kernel for compiled callers: half the time of compiling it goes.

    What makes it callable from Python is left out, and it is optimised as a part of its callers only. Python
    may call it all the same, a few microseconds more slowly: for that it is compiled once more.
    """
    return _compiled(function, "inner")
