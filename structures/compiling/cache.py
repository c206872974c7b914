"""Compiled code on disk: what its keys depend on, so that it never goes stale, and the folder that holds it.

**Keys.** numba's cache looks at the file of a function, but not at the files of the functions it calls.
After an upgrade of a callee, the caller would run the old code. But the key of the cache also depends on
the values in the closure of the function. :func:`with_digests` puts digests of the sources there: of the
function's package and of this one. Cost accepted: a change to any source file compiles every kernel of its
package again.

**Callers.** A user's cached function has no such key. numba looks for it by the types of its arguments.
Container types have a digest of this package (:mod:`structures.base.struct_type`), but a function that
makes its containers may have no argument of ours. So every call of a kernel adds a :class:`SourceDigests`
to the environment of the caller: the Python objects that numba keeps with compiled code and unpickles with
it. Unpickling compares the digests with those of the current sources. If they differ, it raises what numba
takes for a missing file, and the caller is compiled again. numba keeps with a function the environments of
all functions that are compiled into it, so the callers of callers are covered, too. This costs nothing when
the code runs.

**The folder.** numba's cache consists of pickles and machine code: whoever writes to it chooses what this
process runs. So a folder that other users can write to is not used. A process that adds code reads an index,
and writes it again. Two at once would lose what one of them adds, so they use a lock. A folder that was
filled and is read-only now, as in a container, is read; numba would look for another one.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import stat
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import CellType, FunctionType
from typing import Any

from numba import config

from structures.compiling.numba_private import (
    CompileResultCacheImpl,
    FunctionCache,
    InTreeCacheLocator,
    UserProvidedCacheLocator,
)

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]


# ----------------------------------------------------------------------------------------------- digests
@functools.cache
def package_digest(package: str) -> str:
    """Return a digest of the sources of a package, and of ``NUMBA_BOUNDSCHECK`` if it is set.

    Parameters
    ----------
    package : str
        Name of an importable top-level package or module. A namespace package, one without
        ``__init__.py``, is all of its folders.

    Returns
    -------
    str
        16 hexadecimal digits; the empty string where there is no such package, as for a script.

    Complexity
    ----------
    One read of every ``.py`` file of the package, once in a process.

    Examples
    --------
    >>> len(package_digest("structures"))
    16
    """
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):  # a script: numba looks at its file itself
        spec = None
    if spec is None or not (spec.submodule_search_locations or spec.origin):
        return ""
    if spec.submodule_search_locations:
        folders = map(Path, spec.submodule_search_locations)
        sources = {(path.relative_to(folder), path) for folder in folders for path in folder.rglob("*.py")}
    else:
        sources = {(Path(), Path(str(spec.origin)))}
    digest = hashlib.sha256(b"" if config.BOUNDSCHECK is None else b"%d" % config.BOUNDSCHECK)
    for name, source in sorted(sources):
        try:
            text = source.read_bytes()
        except OSError:  # inside a zip file, or gone
            continue
        digest.update(str(name).encode() + b"\0")
        digest.update(len(text).to_bytes(8, "little") + text)
    return digest.hexdigest()[:16]


PACKAGE = __name__.partition(".")[0]

DIGEST: str = package_digest(PACKAGE)
"""Digest of the sources of this package."""


def package_of(function: Callable[..., Any]) -> str:
    """Return the name of the top-level package that defines a function."""
    return function.__module__.partition(".")[0]


def with_digests(function: Callable[..., Any], kind: str) -> Any:
    """Return the function with one more value in its closure, which the key of its cached code depends on.

    The value is the digest of this package, that of the function's package, and the kind of code.
    """
    digests = " ".join((DIGEST, package_digest(package_of(function)), kind))
    code = function.__code__
    code = code.replace(co_freevars=(*code.co_freevars, ".digests"))  # no variable can have this name
    closure = (*(function.__closure__ or ()), CellType(digests))
    copy = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    copy.__kwdefaults__ = function.__kwdefaults__
    return functools.update_wrapper(copy, function)


# ----------------------------------------------------------------------------------------------- callers
def read_back(digests: tuple[tuple[str, str], ...]) -> SourceDigests:
    """Return what cached code was pickled with, or raise if the sources have changed since."""
    for package, digest in digests:
        if package_digest(package) != digest:
            raise FileNotFoundError(f"the sources of {package} have changed")
    return SourceDigests(package for package, _ in digests)


# Code that users cached with 0.1.0 imports `read_back` from there.
sys.modules[f"{__package__}.stamps"] = sys.modules[__name__]


class SourceDigests:
    """The packages whose code is compiled into a caller; pickled with the digests of their sources."""

    def __init__(self, packages: Any) -> None:
        self.packages = tuple(packages)

    def __reduce__(self) -> Any:
        return read_back, (tuple((each, package_digest(each)) for each in self.packages),)


@functools.cache
def _digests_of(package: str) -> SourceDigests:
    return SourceDigests(dict.fromkeys((PACKAGE, package)))


def record_digests(context: Any, package: str) -> None:
    """Add digests to the function that a target context compiles, as it calls a kernel of a package."""
    if context.environment is not None and _digests_of(package) not in context.environment.consts:
        context.environment.consts.append(_digests_of(package))


# -------------------------------------------------------------------------------------------- the folder
LONGEST_WAIT = 5.0
"""Seconds that a process waits for its turn; a turn takes some milliseconds."""

_PAUSE = 0.002


@functools.cache
def others_may_write(folder: str, source: str) -> bool:
    """Return whether everybody can write to a cache folder, or it is not of this user or a source's owner.

    A group that may write is trusted: with umask 002, it is usually one of the user alone.
    """
    if not hasattr(os, "getuid"):
        return False
    trusted = {0, os.getuid(), os.stat(source).st_uid}
    own, above = (os.stat(each) for each in (folder, Path(folder).parent))
    if {own.st_uid, above.st_uid} - trusted or own.st_mode & stat.S_IWOTH:
        return True
    # With the sticky bit, as in /tmp, nobody can replace what belongs to others.
    return bool(above.st_mode & stat.S_IWOTH and not above.st_mode & stat.S_ISVTX)


@contextmanager
def turn_to_write(folder: str) -> Iterator[None]:
    """Wait until no other process writes to a cache folder, and let others wait while the context is open.

    Nobody waits for more than :data:`LONGEST_WAIT`: the other process may be suspended.
    """
    if fcntl is None:
        yield  # type: ignore[unreachable]  # not on Windows
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            _lock(opened)
        yield
    finally:
        os.close(opened)  # which unlocks it


def _lock(opened: int) -> None:
    started = time.monotonic()
    while time.monotonic() - started < LONGEST_WAIT:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(_PAUSE)


class _FilesWithKeys:
    """Files of numba's cache that contain their keys.

    Two processes that write at the same time choose names for their files by the index that each has read,
    and may choose the same one. Then the index leads to the wrong code. So they use a lock where the
    system has one; where it has none, the keys show the mistake.
    """

    def __init__(self, files: Any, folder: str) -> None:
        self._files = files
        self._folder = folder
        self.flush = files.flush

    def save(self, key: Any, data: Any) -> None:
        with turn_to_write(self._folder):
            self._files.save(key, (key, data))

    def load(self, key: Any) -> Any:
        key_and_data = self._files.load(key)
        return key_and_data[1] if key_and_data and key_and_data[0] == key else None


def _ensure_read_only(locator: Any) -> None:
    """Raise what numba takes for "no such folder", unless there is one that is read-only."""
    path = locator.get_cache_path()
    if not os.access(path, os.R_OK | os.X_OK) or os.access(path, os.W_OK):
        raise FileNotFoundError(path)


class _ReadOnlyCacheDir(UserProvidedCacheLocator):
    ensure_cache_path = _ensure_read_only


class _ReadOnlyPycache(InTreeCacheLocator):
    ensure_cache_path = _ensure_read_only


class KernelCacheImpl(CompileResultCacheImpl):
    """Finds the folder: a read-only one that ``NUMBA_CACHE_DIR`` names, what numba finds, ``__pycache__``."""

    _locator_classes = (_ReadOnlyCacheDir, *CompileResultCacheImpl._locator_classes, _ReadOnlyPycache)


class KernelCache(FunctionCache):
    """numba's cache on disk, for processes that write at the same time, and for disks that are full."""

    _impl_class: type[KernelCacheImpl] = KernelCacheImpl

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file: Any = _FilesWithKeys(self._cache_file, self.cache_path)

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            problem = f"compiled code cannot be kept in {self.cache_path} ({error.strerror})"
            warn_once(problem, "folder with free space that you can write to")


_remedies_given: set[str] = set()


def warn_once(problem: str, remedy: str) -> None:
    """Warn once in a process, however many folders have the problem; `remedy` is a folder without it."""
    if remedy in _remedies_given:
        return
    _remedies_given.add(remedy)
    warnings.warn(
        f"{problem}: kernels are compiled again in every process. Set NUMBA_CACHE_DIR to a {remedy}.",
        RuntimeWarning,
        stacklevel=2,
    )
