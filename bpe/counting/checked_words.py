"""What counts may hold: words that are bytes and hold no special token, each with a count from 1 on."""

from __future__ import annotations

from operator import index
from typing import Any

from bpe.splitting.special_search import SpecialSearch
from bpe.support.text import as_bytes, as_text

INT64_MAX = 2**63 - 1


def checked(word: Any, count: Any, specials: SpecialSearch) -> tuple[bytes, int]:
    """Return a word as bytes and its count as int, or raise what :class:`bpe.WordCounts` raises."""
    text = as_text(word, "a word")
    if not text:
        raise ValueError("a word is empty")
    data = as_bytes(text)
    for start, end in specials.find_all(data):
        token = data[start:end].decode()
        raise ValueError(f"word {word!r} holds the special token {token!r}: cut it out first")
    try:
        number = index(count)
    except TypeError:
        raise TypeError(f"the count of {word!r} must be an integer, not {type(count).__name__}") from None
    if number < 1:
        raise ValueError(f"the count of {word!r} must be at least 1, not {number}")
    if number > INT64_MAX:
        raise OverflowError(f"the count of {word!r} passes 2**63 - 1")
    return data, number
