"""``SpecialSearch``: finds special and added tokens in bytes: few by an expression, many by an automaton.

Where several begin at the same place, the longest is taken; the search continues after it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bpe.splitting.special_trie import MOST_STEPS, TokenExpression, common_start, expression_of
from bpe.support.text import utf8_of

if TYPE_CHECKING:
    from bpe.splitting.special_automaton import TokenAutomaton

Made = TypeVar("Made")
_MOST_NEEDLES = 64
_SHORT = 1 << 12  # bytes of a text; in a longer one, an expression is slow


class SpecialSearch:
    """Finds special tokens in bytes.

    Few tokens are found by a regular expression, many by an automaton, which is made here and compiled at its
    first use.
    """

    def __init__(self, tokens: frozenset[str]) -> None:
        if "" in tokens:
            raise ValueError("a special token is empty")
        self.tokens = tokens
        try:
            self.encoded = seen = [token.encode() for token in tokens]
        except UnicodeEncodeError:
            self.encoded, seen = [*{*map(exact_bytes, tokens)}], [*map(utf8_of, tokens)]
        self.reach = max(map(len, self.encoded), default=0)
        self.needles = _needles_of(seen)
        self._exact_needles = _needles_of(self.encoded)  # with lone surrogates as they are
        self._any_needle = re.compile(b"|".join(map(re.escape, self._exact_needles)) or b"(?!)").search
        self._finder = _finder_of(self.encoded)

    def may_find(self, data: bytes) -> bool:
        """Say whether a text may hold a token; if not, it holds none."""
        if len(data) <= _SHORT:  # an expression takes a tenth of the time that all the needles take
            return self._any_needle(data) is not None
        is_few = isinstance(self._finder, TokenExpression)
        return not is_few or any(needle in data for needle in self._exact_needles)

    def find_all(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Find all tokens of a text, from left to right."""
        return self._finder.spans(data) if self.may_find(data) else iter(())

    def find_arrays(self, data: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Find all tokens of a text, as arrays."""
        if self.may_find(data):
            return self._finder.find_arrays(data)
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64)

    def crossed(self, data: bytes) -> np.ndarray:
        """Say for every place whether a token begins before it and ends after it."""
        if not self.may_find(data):
            return np.zeros(len(data) + 1, bool)
        furthest = np.zeros(len(data) + 1, np.int64)  # the end of the tokens that begin before the place
        starts, ends = self._finder.overlapping(data)
        furthest[starts + 1] = ends
        return np.maximum.accumulate(furthest) > np.arange(len(data) + 1)

    def horizon(self, n_bytes: int) -> int:
        """Return from where on a token in `n_bytes` of text may pass their end or yield to a longer one."""
        return min(n_bytes, max(0, n_bytes - self.reach + 1))

    def last_decided(self, data: bytes) -> tuple[int, int]:
        """Say what the beginning of a longer text already tells about its tokens."""
        horizon, end = self.horizon(len(data)), 0
        for start, stop in self.find_all(data):
            if start >= horizon:
                break
            end = stop
        return end, max(end, horizon)

    def split(self, data: bytes) -> list[bytes]:
        """Cut a text at its tokens."""
        parts, place = [], 0
        for start, end in self.find_all(data):
            parts += [data[place:start], data[start:end]]
            place = end
        return [*parts, data[place:]]


def cached_by_size(make: Callable[..., Made]) -> Callable[..., Made]:
    """Remember the last results, of many tokens only a few: each may take a hundred megabytes."""
    of_few, of_many = (functools.lru_cache(maxsize=size)(make) for size in (64, 4))

    def remembered(*given: Any) -> Made:
        n_tokens = sum(len(each) for each in given if isinstance(each, (frozenset, str)))
        return (of_few if n_tokens <= MOST_STEPS else of_many)(*given)

    return remembered


search_for: Callable[[frozenset[str]], SpecialSearch] = cached_by_size(SpecialSearch)
"""Return the search for a frozenset of tokens; the last ones made are remembered."""


def exact_bytes(text: str) -> bytes:
    """Return the UTF-8 of a text in which lone surrogates stay what they are; pairs are joined.

    The caller did not write the U+FFFD that takes the place of a lone one elsewhere.
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
    """Return what tokens begin with; only ``b""`` if they begin in too many ways to look for each."""
    for width in (2, 1):
        alike: dict[bytes, list[bytes]] = {}
        for token in tokens:
            alike.setdefault(token[:width], []).append(token)
        if len(alike) <= _MOST_NEEDLES:
            return tuple(map(common_start, alike.values()))
    return (b"",)
