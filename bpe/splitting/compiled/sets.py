r"""Reads the sets of an expression, such as ``[^a-z\d]``, item by item."""

from __future__ import annotations

import re

_CODES = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "a": 7}
_ITEM = re.compile(
    r"\[:\^?\w+:\]|\\(?:[pP](?:\{[^}]*\}|\w)|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)|[^\\]",
    re.DOTALL,
)


def without_flags(source: str) -> tuple[str, str]:
    """Return the flags of a class, as the parser writes them, and the class without them."""
    found = re.fullmatch(r"\(\?([is]+):(.*)\)", source, re.DOTALL)
    return (found.group(1), found.group(2)) if found else ("", source)


def items_of(content: str) -> list[tuple[str, str | None]] | None:
    r"""Return the items of a set, ranges as pairs; None if they are not clear."""
    parts = [match.group() for match in _ITEM.finditer(content)]
    if sum(map(len, parts)) != len(content):
        return None
    items: list[tuple[str, str | None]] = []
    i = 0
    while i < len(parts):
        is_range = parts[i + 1 : i + 2] == ["-"] and i + 2 < len(parts)
        items.append((parts[i], parts[i + 2] if is_range else None))
        i += 3 if is_range else 1
    return items


def code_of(item: str) -> int | None:
    r"""Return the code point of a character in an expression; None for a class."""
    if len(item) == 1:
        return ord(item)
    if not item.startswith("\\"):
        return None
    if item[1] in "xuU" and len(item) > 2:
        return int(item[2:], 16)
    if len(item) > 2:
        return None
    if item[1] in _CODES:
        return _CODES[item[1]]
    return None if item[1].isalnum() else ord(item[1])
