"""The compiled half of :mod:`bpe.formats.ranks`: merges the bytes of every token of a vocabulary."""

import numpy as np

from bpe.encoding.kernels.linked_pieces import put_piece
from bpe.encoding.kernels.merge_heap import merge_by_heap
from structures import pack_pair
from structures.kernels import inner, quiet


@inner
def n_parts_at(pieces, data, start, end):
    """Merge ``data[start:end]`` as a piece at place 0; return how many tokens are left."""
    put_piece(pieces, data, start, end, 0)
    merge_by_heap(pieces, 0, end - start)
    n, place = 0, 0
    while place >= 0:
        n += 1
        place = np.int64(pieces.next_of[place])
    return n


@quiet
def merge_tokens(pieces, data, offsets, n_parts_of):
    """Write into `n_parts_of` how many parts are left of each token when its bytes are merged."""
    for i in range(offsets.size - 1):
        n_parts_of[i] = n_parts_at(pieces, data, offsets[i], offsets[i + 1])


@quiet
def find_merges(pieces, data, offsets, rank_of_token, n_parts_of, parts):
    """Merge tokens, and record a merge for each that ends as two parts; return a status (< 0: no memory)."""
    for i in range(offsets.size - 1):
        n_parts_of[i] = n_parts_at(pieces, data, offsets[i], offsets[i + 1])
        if n_parts_of[i] == 2:
            left = np.int64(pieces.tokens[0])
            right = np.int64(pieces.tokens[pieces.next_of[0]])
            parts[i, 0], parts[i, 1] = left, right
            if pieces.rank_of_pair.set(pack_pair(left, right), rank_of_token[i]) < 0:
                return -1
            start = offsets[i]
            if offsets[i + 1] - start == 2:
                two_bytes = np.int64(data[start]) << 8 | np.int64(data[start + 1])
                pieces.rank_of_bytes[two_bytes] = rank_of_token[i]
    return 0
