"""Other distributions have modules of the same names, too: those are refused, in one line."""

from __future__ import annotations

from importlib.machinery import PathFinder
from typing import Any


def refuse_another(name: str, mark: str) -> None:
    """Raise an error if Python finds another module of a name than ours."""
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
