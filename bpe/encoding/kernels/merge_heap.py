"""One piece merged by a heap: for merges in any order, and with dropout (:mod:`bpe.encoding.dropout`).

The heap holds an entry for each pair that has a rank: the rank in the upper half, the place in the lower one.
So the smallest entry is the pair to merge next: the lowest rank, then the leftmost place::

    place      0  1  2  3  4
    tokens     t  h  e  r  e                 as in :mod:`bpe.encoding.kernels.linked_pieces`
    ranks      9  2  -  5  -
    entries    (2, 1)  (9, 0)  (5, 3)  ...  (4, 7)  (3, 6)
               the heap, from the left       pairs that dropout has skipped, from the right

Invariants, before and after every merge
----------------------------------------
1. No entry of the heap is smaller than its parent, at half its number (counted from 1).
2. Every place that has a rank has one entry with that rank, in the heap or among the skipped ones. All other
   entries are stale: the kernel drops them when they come to the top.
3. There are at most 3 entries for each place: one for each pair of bytes, and two for each merge.
"""

from __future__ import annotations

import numpy as np

from bpe.encoding.kernels.linked_pieces import LOW_HALF, Ranks, merge_at, new_pieces, put_piece, view_of
from bpe.encoding.kernels.pair_ranks import NO_RANK
from bpe.vocabulary.vocabulary import Vocabulary
from structures.kernels import inner, quiet

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


@quiet
def next_random(state):
    """Return the next number of a splitmix64 generator, in [0, 1), and update ``state[0]``."""
    state[0] += _STEP
    z = state[0]
    z = (z ^ (z >> _30)) * _FIRST
    z = (z ^ (z >> _27)) * _SECOND
    return np.float64((z ^ (z >> _31)) >> _11) * 2.0**-53


@inner
def push(heap, size, entry):
    """Add an entry to a heap of `size` entries; return the new size."""
    slot = size
    while slot > 0 and heap[(slot - 1) >> 1] > entry:
        heap[slot] = heap[(slot - 1) >> 1]
        slot = (slot - 1) >> 1
    heap[slot] = entry
    return size + 1


@inner
def remove_smallest(heap, size):
    """Remove the first entry of a heap of `size` entries; return the new size."""
    size -= 1
    last, slot, child = heap[size], 0, 1
    while child < size:
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= last:
            break
        heap[slot] = heap[child]
        slot, child = child, 2 * child + 1
    heap[slot] = last
    return size


@quiet
def merge_by_heap(self, first, after):
    """Merge one piece until no pair has a rank, or dropout skips all that have one.

    Each step considers the pairs in order. It skips each with probability ``self.dropout``, and merges the
    first that it does not skip. O(n log n) for n bytes, divided by ``1 - self.dropout``.
    """
    view = view_of(self)
    heap, size = view.entries, 0
    for place in range(first, after):
        if view.ranks[place] != NO_RANK:
            size = push(heap, size, np.int64(view.ranks[place]) << 32 | place)
    end = skipped = self.entries.size
    while size > 0:
        entry = heap[0]
        size = remove_smallest(heap, size)
        place, rank = entry & LOW_HALF, entry >> 32
        if view.ranks[place] != rank:
            continue
        if self.dropout > 0:
            if next_random(self.random) < self.dropout:
                skipped -= 1
                heap[skipped] = entry
                continue
            while skipped < end:  # they have another chance at the next step
                size = push(heap, size, heap[skipped])
                skipped += 1
        rank, prev_place, prev_rank = merge_at(self, view, place, self.id_of_rank[rank])
        if rank != NO_RANK:
            size = push(heap, size, rank << 32 | place)
        if prev_rank != NO_RANK:
            size = push(heap, size, prev_rank << 32 | prev_place)


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
        self._atomic = {vocabulary.bytes_of[token_id]: token_id for token_id in vocabulary.atomic_ids}

    def merge(self, pieces: list[bytes], dropout: float, state: np.ndarray) -> list[int]:
        """Return the ids of all pieces, one after the other.

        A piece that is an atomic token is looked up before it is merged. Dropout may skip the look-up
        too.
        """
        ids: list[int] = []
        waiting: list[bytes] = []
        for piece in pieces:
            token_id = self._atomic.get(piece)
            if token_id is None or next_random(state) < dropout:
                waiting.append(piece)
                continue
            ids += [*self._merge(waiting, dropout, state), token_id]
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
