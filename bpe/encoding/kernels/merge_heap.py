"""The compiled half of :mod:`bpe.encoding.dropout`: pieces merged one after the other."""

from __future__ import annotations

import numpy as np

from bpe.encoding.heap_merge import merge_by_heap, next_random
from bpe.encoding.kernels.linked_pieces import Ranks, new_pieces, put_piece
from bpe.vocabulary.vocabulary import Vocabulary
from structures.kernels import quiet


@quiet
def merge_one_by_one(pieces, data, offsets, ids):
    """Merge pieces by a heap; return how many ids they have."""
    n = 0
    for i in range(offsets.size - 1):
        put_piece(pieces, data, offsets[i], offsets[i + 1], 0)
        merge_by_heap(pieces, 0, offsets[i + 1] - offsets[i])
        place = 0
        while place >= 0:
            ids[n] = pieces.tokens[place]
            n += 1
            place = np.int64(pieces.next_of[place])
    return n


class Merger:
    """Merges pieces, with merges left out at random."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        ranks = Ranks.of(vocabulary.pairs, vocabulary.made, vocabulary.byte_ids)
        self._ranks = ranks._replace(in_order=False)  # no rounds
        self._whole = {vocabulary.bytes_of[number]: number for number in vocabulary.whole_ids}

    def merge(self, pieces: list[bytes], dropout: float, state: np.ndarray) -> list[int]:
        """Return the ids of pieces in a row.

        A piece that is a token taken whole is looked up before it is merged. Dropout may skip the look-up
        too.
        """
        ids: list[int] = []
        waiting: list[bytes] = []
        for piece in pieces:
            number = self._whole.get(piece)
            if number is None or next_random(state) < dropout:
                waiting.append(piece)
                continue
            ids += [*self._merge(waiting, dropout, state), number]
            waiting = []
        return ids + self._merge(waiting, dropout, state)

    def _merge(self, pieces: list[bytes], dropout: float, state: np.ndarray) -> list[int]:
        if not pieces:
            return []
        data = np.frombuffer(b"".join(pieces), np.uint8)
        offsets = np.zeros(len(pieces) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)), out=offsets[1:])
        room = new_pieces(max(map(len, pieces)), self._ranks, dropout, state)
        ids = np.empty(len(data), np.uint32)
        n = merge_one_by_one(room, data, offsets, ids)
        return ids[:n].tolist()
