"""Finds special and added tokens in bytes: few by an expression, many by an automaton.

Where several begin at the same place, the longest is taken; the search continues after it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bpe.splitting.special_trie import MOST_STEPS, TokenExpression, common_prefix, expression_of
from bpe.support.text import utf8_of

if TYPE_CHECKING:
    from bpe.splitting.special_automaton import TokenAutomaton

Result = TypeVar("Result")
_MOST_NEEDLES = 64
_SHORT = 1 << 12  # bytes of a text; in a longer one, an expression is slow


class SpecialSearch:
    """Finds tokens in bytes; the automaton for many is made here, and compiled at its first use."""

    def __init__(self, tokens: frozenset[str]) -> None:
        if "" in tokens:
            raise ValueError("a special token is empty")
        self.tokens = tokens
        # The UTF-8 of each, in the order of their numbers: with lone surrogates as they are; and as in a
        # text, with U+FFFD in their place.
        try:
            self.encoded = seen = [token.encode() for token in tokens]
        except UnicodeEncodeError:
            self.encoded, seen = [*{*map(exact_bytes, tokens)}], [*map(utf8_of, tokens)]
        self.reach = max(map(len, self.encoded), default=0)  # bytes of the longest
        self.needles = _needles_of(seen)  # a text with a token holds one of these
        self._exact_needles = _needles_of(self.encoded)
        self._any_needle = re.compile(b"|".join(map(re.escape, self._exact_needles)) or b"(?!)").search
        self._finder = _finder_of(self.encoded)

    def may_find(self, data: bytes) -> bool:
        """Return whether a text may hold a token; True for long texts and many tokens, where it is faster."""
        if not self.tokens:
            return False
        if len(data) <= _SHORT:  # an expression takes a tenth of the time that all the needles take
            return self._any_needle(data) is not None
        is_few = isinstance(self._finder, TokenExpression)
        return not is_few or any(needle in data for needle in self._exact_needles)

    def find_all(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Find the (start, end) of all tokens of a text, from left to right."""
        return self._finder.spans(data) if self.may_find(data) else iter(())

    def find_arrays(self, data: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Find where all tokens of a text start and end, and their numbers, as arrays of int64."""
        if self.may_find(data):
            return self._finder.find_arrays(data)
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64)

    def crossed(self, data: bytes) -> np.ndarray:
        """Return whether a token begins before and ends after each place: (n_bytes + 1,) bool."""
        if not self.may_find(data):
            return np.zeros(len(data) + 1, bool)
        furthest = np.zeros(len(data) + 1, np.int64)  # the end of the tokens that begin before the place
        starts, ends = self._finder.overlapping(data)
        furthest[starts + 1] = ends
        return np.maximum.accumulate(furthest) > np.arange(len(data) + 1)

    def horizon(self, n_bytes: int) -> int:
        """Return the place in the first `n_bytes` of a text from which on its tokens are not known yet."""
        return min(n_bytes, max(0, n_bytes - self.reach + 1))

    def last_decided(self, data: bytes) -> tuple[int, int]:
        """Return the end of the last token that is known whatever follows (0 if none), and a horizon.

        Before the horizon, no other token begins.
        """
        horizon, end = self.horizon(len(data)), 0
        for start, stop in self.find_all(data):
            if start >= horizon:
                break
            end = stop
        return end, max(end, horizon)

    def split(self, data: bytes) -> list[bytes]:
        """Cut a text at its tokens: text, token, text, and so on; texts may be empty."""
        parts, place = [], 0
        for start, end in self.find_all(data):
            parts += [data[place:start], data[start:end]]
            place = end
        return [*parts, data[place:]]


def cached_by_size(make: Callable[..., Result]) -> Callable[..., Result]:
    """Cache the last results; of many tokens only a few, as each may take a hundred megabytes."""
    of_few, of_many = (functools.lru_cache(maxsize=size)(make) for size in (64, 4))

    def cached(*given: Any) -> Result:
        n_tokens = sum(len(each) for each in given if isinstance(each, (frozenset, str)))
        return (of_few if n_tokens <= MOST_STEPS else of_many)(*given)

    return cached


search_for: Callable[[frozenset[str]], SpecialSearch] = cached_by_size(SpecialSearch)
"""Return the search for a frozenset of tokens; the last ones made are cached."""


def exact_bytes(text: str) -> bytes:
    """Return the UTF-8 of a text with lone surrogates as they are; pairs are joined.

    Elsewhere U+FFFD takes the place of a lone one, which the caller did not write.
    """
    if text.isascii():
        return text.encode()
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return joined.encode("utf-8", "surrogatepass")


def _finder_of(tokens: list[bytes]) -> TokenExpression | TokenAutomaton:
    expression = expression_of(tokens)
    if expression is not None:
        return TokenExpression(tokens, expression)
    from bpe.splitting.special_automaton import TokenAutomaton  # loads the compiler

    return TokenAutomaton(tokens)


def _needles_of(tokens: list[bytes]) -> tuple[bytes, ...]:
    """Return what tokens begin with, one for those that begin alike; only ``b""`` if these are too many."""
    for width in (2, 1):
        alike: dict[bytes, list[bytes]] = {}
        for token in tokens:
            alike.setdefault(token[:width], []).append(token)
        if len(alike) <= _MOST_NEEDLES:
            return tuple(map(common_prefix, alike.values()))
    return (b"",)
