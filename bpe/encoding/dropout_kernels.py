"""The compiled half of :mod:`bpe.encoding.dropout`: one piece after the other, pairs in a heap."""

from __future__ import annotations

import numpy as np

from bpe.encoding.heap_merge import set_rank
from bpe.vocabulary import Vocabulary
from structures import IntMap, MinHeap, TokenList, kernel
from structures.kernels import quiet

__all__ = ["Merger", "merge_with_dropout", "next_random"]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


@quiet
def next_random(state):
    """Return the next number of a splitmix64 generator, in [0, 1); ``state[0]`` goes on."""
    state[0] += _STEP
    z = state[0]
    z = (z ^ (z >> _30)) * _FIRST
    z = (z ^ (z >> _27)) * _SECOND
    return np.float64((z ^ (z >> _31)) >> _11) * 2.0**-53


@kernel
def merge_with_dropout(tokens, offsets, heap, passed_over, rank_of_pair, id_of_rank, dropout, state):
    """Merge each segment of a token list; return a status, below 0 where memory ran out.

    Parameters
    ----------
    tokens : TokenList
        One segment a piece; as yet, one position a token.
    offsets : (pieces + 1,) int64
        Where the segments begin.
    heap : MinHeap
        Empty, and empty again in the end: position of a pair -> its rank.
    passed_over : (>= positions, 2) int64
        Scratch: pairs that are out of the heap for this step, and their ranks.
    rank_of_pair : IntMap
        Packed pair -> rank.
    id_of_rank : (merges,) int64
        The id that each merge makes.
    dropout : float
    state : (1,) uint64
        As :func:`next_random` takes it.
    """
    status = 0
    for piece in range(offsets.size - 1):
        for place in range(offsets[piece], offsets[piece + 1]):
            status = min(status, set_rank(tokens, heap, rank_of_pair, place))
        n_passed = 0
        while status == 0 and len(heap) > 0:
            place, rank = heap.pop()
            if next_random(state) < dropout:
                passed_over[n_passed, 0], passed_over[n_passed, 1] = place, rank
                n_passed += 1
                continue
            for i in range(n_passed):  # they have another chance at the next step
                status = min(status, heap.set(passed_over[i, 0], passed_over[i, 1]))
            n_passed = 0
            heap.remove(tokens.next(place))
            tokens.merge(place, id_of_rank[rank])
            status = min(status, set_rank(tokens, heap, rank_of_pair, place))
            before = tokens.prev(place)
            if before >= 0:
                status = min(status, set_rank(tokens, heap, rank_of_pair, before))
    return status


class Merger:
    """Merges pieces, with merges left out at random.

    Parameters
    ----------
    vocabulary : Vocabulary

    Complexity
    ----------
    O(n) for n merges.

    Examples
    --------
    >>> words = Vocabulary([*(bytes([value]) for value in range(256)), b"hi"], [(104, 105)], {})
    >>> Merger(words).merge([b"hi", b" hi"], 0, np.array([1], np.uint64))
    [256, 32, 256]
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._byte_ids = np.array(vocabulary.byte_ids, np.int64)
        self._id_of_rank = np.array(vocabulary.merged_ids, np.int64)
        pairs = np.array(vocabulary.merges, np.int64).reshape(-1, 2)
        self._rank_of_pair = IntMap.from_arrays(pairs[:, 0] << 32 | pairs[:, 1], np.arange(len(pairs)))
        self._whole = {vocabulary.bytes_of[number]: number for number in vocabulary.whole_ids}

    def merge(self, pieces: list[bytes], dropout: float, state: np.ndarray) -> list[int]:
        """Return the ids of pieces in a row; that a piece is taken whole is passed over as merges are.

        Parameters
        ----------
        pieces : list of bytes
        dropout : float
        state : (1,) uint64
            Of the generator; goes on.

        Returns
        -------
        list of int

        Raises
        ------
        MemoryError
            There is none for so long a text.

        Complexity
        ----------
        O(n log n) for n bytes, divided by ``1 - dropout``.

        Examples
        --------
        >>> words = Vocabulary([*(bytes([value]) for value in range(256)), b"hi"], [(104, 105)], {})
        >>> Merger(words).merge([b"hi"], 1, np.array([1], np.uint64))
        [104, 105]
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
        data = b"".join(pieces)
        offsets = np.zeros(len(pieces) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)), out=offsets[1:])
        tokens = TokenList(self._byte_ids[np.frombuffer(data, np.uint8)], offsets)
        room = np.empty((max(map(len, pieces)), 2), np.int64)
        status = merge_with_dropout(
            tokens, offsets, MinHeap(), room, self._rank_of_pair, self._id_of_rank, float(dropout), state
        )
        if status < 0:
            raise MemoryError(f"no memory to encode {len(data)} bytes")
        return tokens.to_arrays()[0].tolist()
