"""Warnings that point to the line outside of this package that has caused them."""

from __future__ import annotations

import sys
import warnings

# Modules whose functions lie between those of this package and their callers.
_PASSED = ("bpe", "functools", "contextlib")


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, and name the line of the caller of this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _PASSED:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
