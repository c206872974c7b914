"""The compiled half of :mod:`bpe.formats.ranks`: every token of a vocabulary encoded, one after the other."""

from __future__ import annotations

from bpe.encoding.heap_merge import LONG, merge_short
from structures import pack_pair
from structures.kernels import quiet

__all__ = ["encode_tokens"]


@quiet
def encode_tokens(
    data,
    offsets,
    rank_of_token,
    token,
    n_wanted,
    id_of_byte,
    rank_of_pair,
    id_of_rank,
    n_parts_of,
    parts,
    ids,
    ranks,
):
    """Encode tokens; return the first that is long, or behind the last; -1 where there is no memory.

    Parameters
    ----------
    data : (n_bytes,) uint8
    offsets : (tokens + 1,) int64
        Token i is ``data[offsets[i]:offsets[i + 1]]``.
    rank_of_token : (tokens,) int64
        The rank of the merge that makes it.
    token : int
        The first.
    n_wanted : int
        1 or 2. Where two are wanted, and a token ends in two, these are what it is merged of from then on.
    id_of_byte : (256,) int64
    rank_of_pair : IntMap
        Packed pair -> rank.
    id_of_rank : int64 array
    n_parts_of : (tokens,) int64
        Out: in how many parts each token ends; not of long ones.
    parts : (tokens, 2) int64
        Out, where two are wanted.
    ids, ranks : (LONG,) int64
        Scratch.
    """
    for i in range(token, offsets.size - 1):
        start, n = offsets[i], offsets[i + 1] - offsets[i]
        if n >= LONG:
            return i
        for k in range(n):
            ids[k] = id_of_byte[data[start + k]]
        n_parts_of[i] = merge_short(ids, n, ranks, rank_of_pair, id_of_rank)
        if n_parts_of[i] == 2 and n_wanted == 2:
            parts[i, 0], parts[i, 1] = ids[0], ids[1]
            if rank_of_pair.set(pack_pair(ids[0], ids[1]), rank_of_token[i]) < 0:
                return -1
    return offsets.size - 1
