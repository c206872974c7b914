"""Stamps in callers' code: a user's cached function does not outlive the code that is compiled into it.

numba looks for cached code by the types of the arguments. Container types have a digest of this package
(:mod:`structures.base.struct_type`), but a function that makes its containers may have no argument of ours.
So every call of a kernel leaves a stamp in the environment of the caller: the Python objects that numba keeps
with compiled code and reads back with it. A stamp that is read back compares its digests with those of now.
If they differ, it raises what numba takes for a missing file. Then the caller is compiled again.

numba keeps with a function the environments of all functions that are compiled into it, so that the callers
of callers are stamped, too. A stamp costs nothing when the code runs.
"""

from __future__ import annotations

import functools
from typing import Any

from structures.compiling.digests import package_digest

Digests = tuple[tuple[str, str], ...]


def read_back(digests: Digests) -> Stamp:
    """Return the stamp with these digests, which cached code has."""
    for package, digest in digests:
        if package_digest(package) != digest:
            raise FileNotFoundError(f"the sources of {package} have changed")
    return Stamp(package for package, _ in digests)


class Stamp:
    """The packages whose code is compiled into a caller; pickled with the digests of their sources."""

    def __init__(self, packages: Any) -> None:
        self.packages = tuple(packages)

    def __reduce__(self) -> Any:
        return read_back, (tuple((each, package_digest(each)) for each in self.packages),)


@functools.cache
def stamp_for(package: str) -> Stamp:
    """Return the stamp of a caller of a kernel of `package`."""
    return Stamp(dict.fromkeys((__name__.partition(".")[0], package)))


def leave_stamp(context: Any, package: str) -> None:
    """Stamp the function that a target context compiles."""
    if context.environment is not None and stamp_for(package) not in context.environment.consts:
        context.environment.consts.append(stamp_for(package))
