"""``RunEncoder``: encodes text with supermerges: the pieces first, then the runs of them.

::

    bytes     of the sea, of course
    pieces    of| the| sea|,| of| course        encoded by :mod:`bpe.encoding.encoder`
    ids       7 | 12 | 31 | 9 | 7 | 40 41       a piece of two tokens is in no run
    runs      7   12   31 | 9 | 7 | 40 | 41     joined by :mod:`bpe.encoding.kernels.joining`
"""

from __future__ import annotations

import numpy as np

from bpe.encoding.encoder import Encoder, Room
from bpe.encoding.kernels.joining import TIED, Joiner
from bpe.splitting.pattern import Pattern
from bpe.vocabulary.supermerges import with_first_merges
from bpe.vocabulary.vocabulary import Vocabulary


class RunEncoder(Encoder):
    """Encodes ordinary text, with merges that join pieces."""

    _tie = TIED

    def __init__(self, vocabulary: Vocabulary, pattern: Pattern) -> None:
        first = len(vocabulary.pairs) - vocabulary.n_super
        super().__init__(with_first_merges(vocabulary, first), pattern)
        self._tables = None  # no text is encoded in one call
        self._joiner = Joiner(vocabulary, vocabulary.n_super)

    def _encode(
        self,
        data: bytes | bytearray | np.ndarray,
        ends: np.ndarray,
        *,
        by_piece: bool = False,
        given: np.ndarray | None = None,
        spelled: bool = False,
        room: Room | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Do as :class:`Encoder`; ids end with texts only, as those of a piece may be joined to others."""
        ends = ends[np.searchsorted(ends, 0, side="right") :].astype(np.int32)
        symbols, _, id_ends = super()._encode(data, ends, given=given, spelled=True)
        segment_ends, segment_of = np.unique(id_ends, return_inverse=True)  # a text may be empty
        joined, joined_ends = self._joiner.joined(symbols, segment_ends)
        joined_ends = joined_ends[segment_of]
        if not (spelled or self._symbols.are_tokens):
            joined, joined_ends = self._symbols.ids(joined, joined_ends)
        return joined, ends, joined_ends
