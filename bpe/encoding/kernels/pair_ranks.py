"""The ranks of pairs in one table: a pair and its rank are a word, eight words a line of the cache.

::

    word     left | right | rank                    21 bits each
    line     word | word | word | . | . | . | . | .         filled from the left; free places at the end
    line     the top bits of both halves of (left ^ seed) * (right ^ another), exclusive or
    lines    line | line | ... | shift, the seed

A look-up reads one line, without a branch that depends on what it finds. A table of words for keys and others
for values would read one line, too, but has to guess whether the pair is there; most pairs have no rank.

Invariants
----------
1. The lines of the table are ``2**(64 - shift)``; they have four words each on average, at most.
2. No line has a free word, from the line where the search for a pair begins to the line before its own.
3. All bits of a free word are set, which no pair has.

Vocabularies whose ids or ranks do not fit into 21 bits have an ``IntMap`` in its place.
"""

import numpy as np

from bpe.encoding.kernels.piece_table import new_seed
from structures.kernels import (
    inner,
    kernel,
    lanes_with_top,
    lowest_lane,
    multiply_fold,
    new_words,
    pointer_to,
)

NO_RANK = 2**31 - 1
LINE = 8
"""Words of a line."""

_BITS = 21
_RANK = (1 << _BITS) - 1
_USED = 4  # words a line, on average at most
_FREE = -1


def pack_ranks(pairs: np.ndarray) -> np.ndarray:
    """Return the lines of pairs; only the last, which holds no words, where pairs or ranks do not fit."""
    n = len(pairs)
    if n == 0 or max(n, pairs.max()) >= _RANK or pairs.min() < 0:
        return np.full(LINE, _FREE)
    bits = max((n - 1) // _USED, 1).bit_length()
    return filled_lines(np.ascontiguousarray(pairs, np.int64), bits, new_seed())


@kernel
def filled_lines(pairs, bits, seed):
    """Return ``2**bits`` lines that hold the ranks of pairs."""
    lines = new_words(LINE * ((1 << bits) + 1))
    for i in range(lines.size):
        lines[i] = _FREE
    end = lines.size - LINE
    lines[end], lines[end + 1], lines[end + 2] = 64 - bits, seed[0], seed[1]
    table = table_of(lines)
    for rank in range(pairs.shape[0]):
        left, right = pairs[rank, 0], pairs[rank, 1]
        at = first_line(table, left, right)
        while lines[at] != _FREE and lines[at] >> _BITS != left << _BITS | right:
            at = at + 1 if at + 1 < end else 0  # the line is full where this goes to the next one
        lines[at] = (left << _BITS | right) << _BITS | rank
    return lines


@inner
def table_of(lines):
    """Return a table as a tuple: a pointer to the lines, where they end, the shift, and the seed."""
    end = lines.size - LINE
    return pointer_to(lines, 0), end, lines[end], lines[end + 1], lines[end + 2]


@inner
def has_lines(table):
    """Return whether the ranks are in the table, and not in an ``IntMap``."""
    return table[1] > 0


@inner
def first_line(table, left, right):
    """Return the index of the line where the search for a pair begins."""
    _, _, shift, seed, another = table
    folded = np.uint64(multiply_fold(left ^ seed, right ^ another))
    return LINE * np.int64(folded >> np.uint64(shift))


@inner
def rank_in(table, left, right):
    """Return the rank of a pair; :data:`NO_RANK` if it has none, as one of ids that do not fit."""
    words, end, pair, at = table[0], table[1], left << _BITS | right, first_line(table, left, right)
    lanes = lanes_with_top(words, at, pair, _BITS)
    while (lanes == 0) & (words[at + LINE - 1] != _FREE):
        at = at + LINE if at + LINE < end else 0
        lanes = lanes_with_top(words, at, pair, _BITS)
    rank = words[at + (lowest_lane(lanes) & (LINE - 1))] & _RANK
    return rank | (0 - ((lanes == 0) | ((left | right) >> _BITS != 0))) & NO_RANK


@kernel
def ranks_of_all(lines, pairs):
    """Return the ranks of ``(n, 2) int64`` pairs."""
    table, ranks = table_of(lines), new_words(pairs.shape[0])
    for i in range(pairs.shape[0]):
        ranks[i] = rank_in(table, pairs[i, 0], pairs[i, 1])
    return ranks
