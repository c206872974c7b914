"""Supermerges: merges that join whole pieces, which an ordinary merge never does.

::

    pieces        of| the| sea|,| of| course      the merges make one token of each
    supermerges   of| the sea |,| of course       (" the", " sea"), (" of", " course")

A *run* is a maximal sequence of pieces, each of which is one token that is a part of some supermerge.
Supermerges join the tokens of a run in the order in which they were learned, from the left. They are the last
merges of a vocabulary; their number is :attr:`bpe.vocabulary.vocabulary.Vocabulary.n_super`.

A text can be cut in two only where no supermerge joins tokens. So :class:`PatternOfRuns` has fewer cuts than
the pattern itself: a cut between two pieces counts only if no supermerge joins tokens that have the two bytes
around the cut at their edges.
"""

from __future__ import annotations

import numpy as np

from bpe.splitting.pattern import Pattern
from bpe.support.text import utf8_of
from bpe.vocabulary.vocabulary import Vocabulary

_WINDOW = 256  # bytes that are first searched for the last cut


def with_first_merges(vocabulary: Vocabulary, n: int) -> Vocabulary:
    """Return a vocabulary with only the first `n` merges; the tokens of the other merges stay."""
    first = Vocabulary.of_tokens(
        vocabulary.bytes_of, vocabulary.id_of, vocabulary.pairs[:n], vocabulary.made[:n], {}
    )
    return first.replace(atomic_ids=vocabulary.atomic_ids)


def refuse_supermerges(vocabulary: Vocabulary, what: str) -> None:
    """Raise a ValueError if a vocabulary has supermerges, which `what` does not support."""
    if vocabulary.n_super:
        raise ValueError(
            f"{what}: not for a tokenizer with superwords that join words (it has {vocabulary.n_super} "
            "supermerges)"
        )


def joined_edges(vocabulary: Vocabulary) -> np.ndarray:
    """Return at ``left << 8 | right`` whether a supermerge joins tokens with these bytes at their edges."""
    is_joined = np.zeros(1 << 16, bool)
    bytes_of = vocabulary.bytes_of
    for left, right in vocabulary.pairs[len(vocabulary.pairs) - vocabulary.n_super :].tolist():
        is_joined[bytes_of[left][-1] << 8 | bytes_of[right][0]] = True
    return is_joined


class PatternOfRuns(Pattern):
    """A pattern that has only the cuts that no supermerge crosses."""

    def __init__(self, pattern: Pattern, is_joined: np.ndarray) -> None:
        object.__setattr__(self, "sources", pattern.sources)
        object.__setattr__(self, "_is_joined", is_joined)

    def _free(self, data: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Return the places where the bytes before and after are not joined."""
        edges = data[places - 1].astype(np.int64) << 8 | data[places]
        return places[~self._is_joined[edges]]  # type: ignore[attr-defined]

    def cuts(self, text: str | bytes) -> np.ndarray:
        """Return the places as :meth:`bpe.Pattern.cuts` does, without those inside runs."""
        data = utf8_of(text)
        if isinstance(text, str) and len(data) != len(text):
            is_begin = (np.frombuffer(data, np.uint8) & 0xC0) != 0x80
            return (np.cumsum(is_begin) - 1)[self.cuts(data)]
        return self._free(np.frombuffer(data, np.uint8), super().cuts(data))

    def last_cut(self, text: str | bytes, start: int = 0, stop: int | None = None) -> int:
        """Return the place as :meth:`bpe.Pattern.last_cut` does."""
        stop = len(text) if stop is None else min(stop, len(text))
        width = 1 if isinstance(text, str) else 4  # of the character after the place
        size = _WINDOW
        while stop > start:
            first = max(start, stop - size)
            places = self.cuts(text[first : stop + width]) + first
            places = places[(places > start) & (places <= stop)]
            if len(places):
                return int(places[-1])
            stop = first if first == start else first + width
            size *= 4
        return start

    def decided(self, data: bytes) -> int:
        """Return how far the pieces and runs of a text are known, as :meth:`bpe.Pattern.decided` does."""
        known = super().decided(data)
        if not known or self.scanner is None:
            return 0
        places = np.array(self.scanner.split(data), np.int64)[1:]
        places = self._free(np.frombuffer(data, np.uint8), places[(places <= known) & (places < len(data))])
        return int(places[-1]) if len(places) else 0


def pattern_between(vocabulary: Vocabulary, pattern: Pattern) -> Pattern:
    """Return the pattern whose cuts are the places where a text can be cut in two."""
    return PatternOfRuns(pattern, joined_edges(vocabulary)) if vocabulary.n_super else pattern
