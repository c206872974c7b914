"""Digests of sources, which keep compiled code on disk from getting stale.

numba's cache looks at the file of a function, but not at the files of the functions it calls. After an
upgrade of a callee, the caller would run the old code. But the key of the cache also depends on the values in
the closure of the function. :func:`stamped` puts a digest of the sources there: of the function's package and
of this one.

Cost accepted: a change to any source file compiles every kernel of its package again.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import CellType, FunctionType
from typing import Any


@functools.cache
def package_digest(package: str) -> str:
    """Return a digest of the sources of a package.

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
    digest = hashlib.sha256()
    for name, source in sorted(sources):
        try:
            text = source.read_bytes()
        except OSError:  # inside a zip file, or gone
            continue
        digest.update(str(name).encode() + b"\0")
        digest.update(len(text).to_bytes(8, "little") + text)
    return digest.hexdigest()[:16]


DIGEST: str = package_digest(__name__.partition(".")[0])
"""Digest of the sources of this package."""


def stamped(function: Callable[..., Any], kind: str = "") -> Any:
    """Return the function with one more value in its closure, which the key of its cached code depends on.

    The value is the digest of this package, that of the function's package, and the kind of code.
    """
    stamp = " ".join((DIGEST, package_digest(function.__module__.partition(".")[0]), kind))
    code = function.__code__
    code = code.replace(co_freevars=(*code.co_freevars, ".stamp"))  # no variable can have this name
    closure = (*(function.__closure__ or ()), CellType(stamp))
    copy = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    copy.__kwdefaults__ = function.__kwdefaults__
    return functools.update_wrapper(copy, function)
