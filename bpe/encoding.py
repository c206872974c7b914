"""Encoding pieces: the merges of a vocabulary applied to bytes.

The rule is one: among all adjacent pairs, merge the one of lowest rank, the leftmost of several, until no
pair has a rank. Two kernels follow it, and always agree:

* :func:`merge_short` looks through all pairs for every merge: O(n^2), and the fastest for ordinary words;
* :func:`merge_long` has the pairs in a heap, the tokens in a linked list: O(n log n), whatever the piece.

::

    ids       [ t  h  e  r  e ]        token ids of one piece, merged in place
    ranks     [ 9  2  -  5  . ]        rank of the pair that begins at each position
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np

from bpe.text import as_bytes
from structures import IntMap, MinHeap, TokenList, kernel, pack_pair

__all__ = ["LONG", "PieceEncoder", "encode_short", "merge_long", "merge_short"]

LONG = 256
"""Pieces of this many bytes and more go to :func:`merge_long`, which is the faster there."""

CACHE_ENTRIES = 1 << 17
"""How many pieces an encoder remembers."""

CACHE_BYTES = 64
"""The longest piece that an encoder remembers."""

NO_RANK = 2**62


# ---------------------------------------------------------------------------------------------- kernels
@kernel
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
        lowest, place = NO_RANK, 0
        for i in range(n - 1):
            if ranks[i] < lowest:
                lowest, place = ranks[i], i
        if lowest == NO_RANK:
            return n
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
def encode_short(data, offsets, byte_ids, rank_of_pair, id_of_rank, ranks, ids, id_offsets):
    """Encode pieces, one after the other, by :func:`merge_short`; return the number of tokens.

    Parameters
    ----------
    data : (n_bytes,) uint8
        The pieces, one after the other.
    offsets : (n + 1,) int64
        Piece i is ``data[offsets[i]:offsets[i + 1]]``.
    byte_ids : (256,) int64
        The id of each byte value.
    rank_of_pair, id_of_rank, ranks
        As for :func:`merge_short`.
    ids : (n_bytes,) int64
        Out: the tokens, one after the other.
    id_offsets : (n + 1,) int64
        Out: those of piece i are ``ids[id_offsets[i]:id_offsets[i + 1]]``.
    """
    size = 0
    id_offsets[0] = 0
    for piece in range(offsets.size - 1):
        start = offsets[piece]
        n = offsets[piece + 1] - start
        part = ids[size : size + n]
        for i in range(n):
            part[i] = byte_ids[data[start + i]]
        size += merge_short(part, n, ranks, rank_of_pair, id_of_rank)
        id_offsets[piece + 1] = size
    return size


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


@kernel
def set_rank(tokens, heap, rank_of_pair, place):
    """Give the pair at `place` its rank in the heap, or take it out where it has none."""
    behind = tokens.next(place)
    rank = NO_RANK
    if behind >= 0:
        rank = rank_of_pair.get(pack_pair(tokens.token(place), tokens.token(behind)), NO_RANK)
    if rank != NO_RANK:
        return heap.set(place, rank)
    heap.remove(place)
    return 0


# ----------------------------------------------------------------------------------------------- facade
class PieceEncoder:
    """Encodes pieces with one vocabulary, and remembers those it has met.

    What is remembered is bounded: :data:`CACHE_ENTRIES` pieces of at most :data:`CACHE_BYTES` bytes. When
    they are that many, all are forgotten. Any number of threads may encode at once.

    Parameters
    ----------
    byte_ids : sequence of 256 int
        The id of each byte value.
    merges : sequence of (int, int)
        (left id, right id) in the order of their ranks.
    merged_ids : sequence of int
        The id that each merge makes.

    Complexity
    ----------
    O(n) for n merges; the kernels are loaded or compiled at the first use.

    Examples
    --------
    >>> encoder = PieceEncoder(range(256), [(104, 105)], [256])
    >>> encoder.encode(["hi", "oh"])
    [256, 111, 104]
    """

    def __init__(
        self, byte_ids: Sequence[int], merges: Sequence[tuple[int, int]], merged_ids: Sequence[int]
    ) -> None:
        self._byte_ids = np.array(byte_ids, np.int64)
        self._id_of_rank = np.array(merged_ids, np.int64)
        pairs = np.array(merges, np.int64).reshape(-1, 2)
        self._rank_of_pair = IntMap.from_arrays(pairs[:, 0] << 32 | pairs[:, 1], np.arange(len(pairs)))
        self._known: dict[str, tuple[int, ...]] = {}

    def encode(self, pieces: Sequence[str]) -> list[int]:
        """Return the ids of pieces, one after the other.

        Parameters
        ----------
        pieces : sequence of str
            As :meth:`bpe.Pattern.split` returns them.

        Returns
        -------
        list of int

        Raises
        ------
        MemoryError
            A piece is too long.

        Complexity
        ----------
        O(n) for n pieces that are known; see the module docstring for those that are not.

        Examples
        --------
        >>> PieceEncoder(range(256), [], []).encode(["hi"])
        [104, 105]
        """
        found: list[Any] = list(map(self._known.get, pieces))
        if None in found:
            new = self._learn({piece for piece, ids in zip(pieces, found, strict=True) if ids is None})
            found = [new[piece] if ids is None else ids for piece, ids in zip(pieces, found, strict=True)]
        return list(chain.from_iterable(found))

    def _learn(self, pieces: Iterable[str]) -> dict[str, tuple[int, ...]]:
        """Encode distinct pieces, and remember them."""
        new: dict[str, tuple[int, ...]] = {}
        for is_long in (False, True):
            some = {piece: data for piece in pieces if (len(data := as_bytes(piece)) >= LONG) == is_long}
            if some:
                merged = self._merge_long if is_long else self._merge_short
                new.update(zip(some, merged(list(some.values())), strict=True))
        known = self._known
        for piece, ids in new.items():
            if len(as_bytes(piece)) <= CACHE_BYTES:
                if len(known) >= CACHE_ENTRIES:
                    known = self._known = {}
                known[piece] = ids
        return new

    def _merge_short(self, pieces: list[bytes]) -> Iterator[tuple[int, ...]]:
        data, offsets = _joined(pieces)
        ids, id_offsets = np.empty(data.size, np.int64), np.empty_like(offsets)
        scratch = np.empty(LONG, np.int64)
        encode_short(
            data, offsets, self._byte_ids, self._rank_of_pair, self._id_of_rank, scratch, ids, id_offsets
        )
        return _cut(ids, id_offsets)

    def _merge_long(self, pieces: list[bytes]) -> Iterator[tuple[int, ...]]:
        data, offsets = _joined(pieces)
        tokens = TokenList(self._byte_ids[data], offsets)
        if merge_long(tokens, MinHeap(), self._rank_of_pair, self._id_of_rank) < 0:
            raise MemoryError(f"no memory to encode a piece of {max(map(len, pieces))} bytes")
        return _cut(*tokens.to_arrays())


def _joined(pieces: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Return the bytes of all pieces, and where each begins."""
    offsets = np.zeros(len(pieces) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)), out=offsets[1:])
    return np.frombuffer(b"".join(pieces), np.uint8), offsets


def _cut(ids: np.ndarray, offsets: np.ndarray) -> Iterator[tuple[int, ...]]:
    """Return the ids of each piece."""
    edges = offsets.tolist()
    flat = ids[: edges[-1]].tolist()
    return (tuple(flat[start:stop]) for start, stop in pairwise(edges))
