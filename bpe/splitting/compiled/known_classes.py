r"""What the ``regex`` package says about the classes of the named patterns, written down.

So the package, an extension that may not be ready for free-threaded Python, is loaded only where a pattern
needs it. ``known_classes.json`` holds::

    {
    "unicode": "17.0.0",             the version of the package's tables: with another, the package is asked
    "classes": {"\\p{L}": [65, 26, 6, 26, ...], ...},    gaps and lengths of the ranges, in turn
    "cases": {"115": [83, 115, 383], ...}                what differs from a letter in case only
    }

:func:`table` makes it anew; a test compares both.
"""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from bpe.splitting.regex_engine import unicode_version

FILE = Path(__file__).with_suffix(".json")
CASED = r"[\p{Changes_When_Casemapped}\p{Changes_When_Casefolded}]"
_CATEGORIES = ("L", "N", "M", "P", "S", "Lu", "Ll", "Lt", "Lm", "Lo")
CLASSES = (*(rf"\p{{{name}}}" for name in _CATEGORIES), r"\s", r"\S", "(?s:.)", CASED)
LETTERS = tuple(code for code in range(128) if chr(code).isalpha())
_IN_BRACKETS = re.compile(r"\[(\\(?:p\{\w+\}|[sS]))\]")


@functools.cache
def _table() -> dict[str, Any]:
    """Return the table; an empty one if it is of another version of Unicode."""
    table = json.loads(FILE.read_text("ascii"))
    return table if table["unicode"] == unicode_version() else {"classes": {}, "cases": {}}


def known_ranges(source: str) -> np.ndarray | None:
    r"""Return the members of a class; None where the ``regex`` package must be asked."""
    found = _IN_BRACKETS.fullmatch(source)
    steps = _table()["classes"].get(found.group(1) if found else source)
    if steps is None:
        return None
    ranges = np.cumsum(steps).reshape(-1, 2)
    ranges.setflags(write=False)
    return ranges


def known_cases(code: int) -> list[int] | None:
    """Return what differs from a character in case only, and itself; None where it is not known."""
    return _table()["cases"].get(str(code))


def table(ranges_by_regex: Any, cases_by_regex: Any) -> dict[str, Any]:
    """Return the table that belongs into the file."""
    ranges = {source: ranges_by_regex(source).ravel() for source in CLASSES}
    return {
        "unicode": unicode_version(),
        "classes": {source: np.diff(edges, prepend=0).tolist() for source, edges in ranges.items()},
        "cases": {str(code): cases_by_regex(code) for code in LETTERS},
    }
