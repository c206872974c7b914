"""One piece at a time, merged by ranks: for vocabularies that are only made or checked.

The rule is one: among all adjacent pairs, merge the one of lowest rank, the leftmost of several, until no
pair has a rank. Two kernels follow it, and the ranks of pairs may change from one piece to the next:

* :func:`merge_short` looks through all pairs for every merge: O(n^2), and fast for ordinary words;
* :func:`merge_long` has the pairs in a heap, the tokens in a linked list: O(n log n), whatever the piece.

The encoder merges many pieces at once, by :mod:`bpe.encoding.rounds`.

::

    ids       [ t  h  e  r  e ]        token ids of one piece, merged in place
    ranks     [ 9  2  -  5  . ]        rank of the pair that begins at each position
"""

from __future__ import annotations

from structures import kernel, pack_pair
from structures.kernels import quiet

__all__ = ["LONG", "NO_RANK", "merge_long", "merge_short", "set_rank"]

LONG = 256
"""Pieces of this many bytes and more go to :func:`merge_long`, which is the faster there."""

NO_RANK = 2**62


# ---------------------------------------------------------------------------------------------- kernels
@quiet
def merge_short(ids, n, ranks, rank_of_pair, id_of_rank):
    """Merge the first `n` of `ids` in place; return how many tokens are left.

    Parameters
    ----------
    ids : (>= n,) int64
    n : int
    ranks : (>= n,) int64
        Scratch.
    rank_of_pair : IntMap
        Packed pair -> rank.
    id_of_rank : (merges,) int64
        The id that each merge makes.
    """
    for i in range(n - 1):
        ranks[i] = rank_of_pair.get(pack_pair(ids[i], ids[i + 1]), NO_RANK)
    while True:
        # Two loops: the first is made of vectors, the second ends early.
        lowest = NO_RANK
        for i in range(n - 1):
            lowest = min(lowest, ranks[i])
        if lowest == NO_RANK:
            return n
        place = 0
        while ranks[place] != lowest:
            place += 1
        n -= 1
        ids[place] = id_of_rank[lowest]
        for i in range(place + 1, n):
            ids[i] = ids[i + 1]
            ranks[i] = ranks[i + 1]
        if place > 0:
            ranks[place - 1] = rank_of_pair.get(pack_pair(ids[place - 1], ids[place]), NO_RANK)
        if place < n - 1:
            ranks[place] = rank_of_pair.get(pack_pair(ids[place], ids[place + 1]), NO_RANK)


@kernel
def merge_long(tokens, heap, rank_of_pair, id_of_rank):
    """Merge all segments of a token list, all at once; return a status, below 0 where memory ran out.

    Segments do not meet, so it makes no difference to one what is merged in the others meanwhile.

    Parameters
    ----------
    tokens : TokenList
        One segment a piece; as yet, one position a token.
    heap : MinHeap
        Empty, and empty again in the end: position of a pair -> its rank. Ties go to the smallest key, which
        is the leftmost pair.
    rank_of_pair, id_of_rank
        As for :func:`merge_short`.
    """
    status = 0
    for place in range(tokens.n_positions()):
        status = min(status, set_rank(tokens, heap, rank_of_pair, place))
    while status == 0 and len(heap) > 0:
        place, rank = heap.pop()
        heap.remove(tokens.next(place))
        tokens.merge(place, id_of_rank[rank])
        status = set_rank(tokens, heap, rank_of_pair, place)
        before = tokens.prev(place)
        if before >= 0:
            status = min(status, set_rank(tokens, heap, rank_of_pair, before))
    return status


@quiet
def set_rank(tokens, heap, rank_of_pair, place):
    """Give the pair at `place` its rank in the heap, or take it out where it has none; return a status."""
    behind = tokens.next(place)
    rank = NO_RANK
    if behind >= 0:
        rank = rank_of_pair.get(pack_pair(tokens.token(place), tokens.token(behind)), NO_RANK)
    if rank != NO_RANK:
        return heap.set(place, rank)
    heap.remove(place)
    return 0
