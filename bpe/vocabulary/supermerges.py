"""Supermerges: merges that join whole pieces, which an ordinary merge never does.

::

    pieces        of| the| sea|,| of| course      the merges make one token of each
    supermerges   of| the sea |,| of course       (" the", " sea"), (" of", " course")

A *run* is a maximal row of pieces that are one token each, of which some supermerge has a part. Supermerges
join the tokens of a run, the first one learned first, from the left. They are the last merges of a
vocabulary; how many there are is :attr:`bpe.vocabulary.vocabulary.Vocabulary.n_super`.

Two questions of everyone who sees only a part of a text have other answers here than a pattern gives: a text
can be cut between two pieces only if no supermerge joins tokens with these two bytes at their edges.
"""

from __future__ import annotations

import numpy as np

from bpe.splitting.pattern import Pattern
from bpe.support.text import utf8_of
from bpe.vocabulary.vocabulary import Vocabulary

_WINDOW = 256  # bytes that are looked through first for the last cut


def with_first_merges(vocabulary: Vocabulary, n: int) -> Vocabulary:
    """Return a vocabulary with the first `n` merges only; the tokens of the others have none."""
    first = Vocabulary.of_tokens(
        vocabulary.bytes_of, vocabulary.id_of, vocabulary.pairs[:n], vocabulary.made[:n], {}
    )
    return first.replace(atomic_ids=vocabulary.atomic_ids)


def refuse_supermerges(vocabulary: Vocabulary, what: str) -> None:
    """Raise a ValueError if a vocabulary has supermerges; `what` cannot be done with them."""
    if vocabulary.n_super:
        raise ValueError(
            f"{what}: not for a tokenizer with superwords that join words (it has {vocabulary.n_super} "
            "supermerges)"
        )


def joined_edges(vocabulary: Vocabulary) -> np.ndarray:
    """Return for each two bytes whether a supermerge joins a token that ends so to one that begins so."""
    is_joined = np.zeros(1 << 16, bool)
    bytes_of = vocabulary.bytes_of
    for left, right in vocabulary.pairs[len(vocabulary.pairs) - vocabulary.n_super :].tolist():
        is_joined[bytes_of[left][-1] << 8 | bytes_of[right][0]] = True
    return is_joined


class PatternOfRuns(Pattern):
    """A pattern that tells only of the cuts that no supermerge crosses."""

    def __init__(self, pattern: Pattern, is_joined: np.ndarray) -> None:
        object.__setattr__(self, "sources", pattern.sources)
        object.__setattr__(self, "_is_joined", is_joined)

    def _free(self, data: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Return the places between bytes that are not joined."""
        edges = data[places - 1].astype(np.int64) << 8 | data[places]
        return places[~self._is_joined[edges]]  # type: ignore[attr-defined]

    def cuts(self, text: str | bytes) -> np.ndarray:
        """Return the places as :meth:`bpe.Pattern.cuts` does, without those inside of runs."""
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
    """Return the pattern that tells where a text can be cut in two."""
    return PatternOfRuns(pattern, joined_edges(vocabulary)) if vocabulary.n_super else pattern
