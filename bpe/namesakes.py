"""Other distributions have modules of the same names, too: those are refused, in one line."""

from __future__ import annotations

from importlib.machinery import PathFinder
from typing import Any


def refuse_another(name: str, mark: str) -> None:
    """Raise an error if Python finds another module of a name than ours.

    Parameters
    ----------
    name : str
        Of the top-level package, which is found and not imported.
    mark : str
        A name that stands in the source of ours, and hardly in that of another.

    Raises
    ------
    ImportError
        It says where the other module is. Where no source can be read, none is raised.

    Complexity
    ----------
    One file is read.

    Examples
    --------
    >>> refuse_another("structures", "IndexedMaxHeap")
    >>> refuse_another("colorsys", "IndexedMaxHeap")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ImportError: ...colorsys.py is not the module 'colorsys' of bpe-structures, but another of this name. ...
    """
    try:
        spec: Any = PathFinder.find_spec(name)
        source = spec.loader.get_data(spec.origin)
    except (AttributeError, ImportError, OSError, ValueError):
        return
    if mark.encode() not in source:
        raise ImportError(
            f"{spec.origin} is not the module {name!r} of bpe-structures, but another of this name. "
            "Rename it if it is yours; else uninstall its distribution and reinstall bpe-structures"
        )
