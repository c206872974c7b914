r"""Few special tokens: a regular expression in the shape of a trie, for Python's ``re``.

::

    tokens        <|end|>  <|end|>!  <|fim|>
    expression    <\|(?:end\|>(?:!)?|fim\|>)        no two alternatives begin with the same byte

At a place of a text, `re` goes through the bytes of one token at most, and looks at the first bytes of the
alternatives on its way. So it takes no more steps than there are tokens, and bytes in the longest one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import groupby

import numpy as np

MOST_STEPS = 512
"""The most steps at a place for which this is fast enough."""

_MOST_LEVELS = 24  # groups inside each other: `re` is recursive


class TokenExpression:
    """Finds few tokens in bytes."""

    def __init__(self, tokens: Collection[bytes], expression: bytes) -> None:
        self._pattern = re.compile(expression)
        self._number_of = {token: number for number, token in enumerate(tokens)}

    def spans(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Find tokens from left to right, the longest at each place; none overlaps the one before."""
        for match in self._pattern.finditer(data):
            yield match.span()

    def find_arrays(self, data: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Find tokens as :meth:`spans`; return where they begin and end, and which of the tokens they are."""
        found = [(*match.span(), self._number_of[match[0]]) for match in self._pattern.finditer(data)]
        starts, ends, numbers = np.array(found, np.int64).reshape(-1, 3).T
        return starts, ends, numbers

    def overlapping(self, data: bytes) -> tuple[np.ndarray, np.ndarray]:
        """Find the longest token at every place; return where they begin, ascending, and where they end."""
        spans = []
        match = self._pattern.search(data)
        while match:
            spans.append(match.span())
            match = self._pattern.search(data, match.start() + 1)
        starts, ends = np.array(spans, np.int64).reshape(-1, 2).T
        return starts, ends


def expression_of(tokens: Collection[bytes]) -> bytes | None:
    """Return the expression that finds the longest of the tokens at a place; None if it would be slow."""
    if not tokens:
        return b"(?!)"
    if len(tokens) + max(map(len, tokens)) > MOST_STEPS:
        return None
    return _trie(sorted(tokens), _MOST_LEVELS)


def common_prefix(strings: Collection[bytes]) -> bytes:
    """Return the longest common prefix of one or more strings."""
    first, last = min(strings), max(strings)
    return next((first[:i] for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), first)


def _trie(tokens: list[bytes], levels: int) -> bytes | None:
    """Return the expression of sorted tokens, the first of which may be empty; None if it is too deep."""
    shared = len(common_prefix(tokens))
    rests = [token[shared:] for token in tokens if len(token) > shared]
    start = re.escape(tokens[0][:shared])
    if not rests:
        return start
    if levels == 0:
        return None
    parts = [_trie(list(alike), levels - 1) for _, alike in groupby(rests, key=lambda rest: rest[:1])]
    if None in parts:
        return None
    # Where a token ends and others go on, the longer ones are tried first.
    return start + b"(?:" + b"|".join(filter(None, parts)) + (b")?" if len(rests) < len(tokens) else b")")
