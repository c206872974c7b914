"""``State``: all that kernels need to merge, in one struct.

::

    tokens     l o w | l o w e r | n e w       TokenList: the pieces, each a segment
    index      (l, o) -> 0, 3   (o, w) -> 1, 4   ...   PairIndex over them: where each pair is
    queue      (l, o) -> 7      (o, w) -> 7      ...   MaxHeap or CountBuckets: how much each pair counts
    weights    0, 5    3, 2    8, 6            where each stretch of pieces of equal count begins; the count
    of_token   START, LENGTH, WEIGHT, SIZE     four numbers for each token
    log        left, right, new token, count   a row for each merge
    numbers    MIN_COUNT, MAX_LENGTH, DONE     the limits of a pair; the merges done
               N_TOKENS                        the tokens in all pieces, as often as each piece counts

Queue and index hold only the pairs within the limits: a minimum count, and a maximum length of the token that
they would make. The count of a pair never rises once the pair is made. So a pair that has left need not
come back, unless the minimum count is lowered: then all pairs are counted again. Most pairs that merges make
are rare, so a minimum count just below that of the last merge saves half of the work.

Invariants
----------
1. The queue holds exactly the pairs within the limits, except refused ones, each with its count.
2. The index holds the same pairs; those of its postings that are not stale are the places of the pair.
3. The postings of a pair ascend, so that ``aaaa`` is merged from left to right.
4. Between two merges, WEIGHT and SIZE of every token are 0.
5. N_TOKENS is the sum of the tokens of each piece times its count, modulo 2**64.

A posting weighs what its piece counts. Pieces of the same count that follow each other are a *stretch*.
Postings ascend, so stretches are met in order. Where pieces are in the order of their counts, there are no
more stretches than different counts.

The alphabet of a training is the single bytes that its merges start from: the initial ones, and those that
the words have. With a limit, only the most frequent bytes stay besides the initial ones. All other bytes are
*left out* of the words, and what is around them is joined: of ``a?b`` the training sees ``ab``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import types

from bpe.training.options import ALL_BYTES, INT64_MAX, Options
from structures import IntMap, PairIndex, TokenList, kernel, pack_pair
from structures.kernels import Record, quiet

if TYPE_CHECKING:
    from bpe.counting.word_counts import WordCounts

BEGIN, COUNT = 0, 1  # weights[..., stretch]
START, LENGTH, WEIGHT, SIZE = range(4)  # of_token[..., token]; START is a position of its bytes in the text
TOKEN_ROWS = 4
MIN_COUNT, MAX_LENGTH, DONE, N_TOKENS = range(4)  # numbers[...]


class Runs(NamedTuple):
    """Runs of tokens, and how often each occurs."""

    tokens: np.ndarray  # int32; run i is tokens[offsets[i] : offsets[i + 1]]
    offsets: np.ndarray  # (n_runs + 1,) int64
    counts: np.ndarray  # (n_runs,) int64

    @classmethod
    def of_row(cls, ids: np.ndarray) -> Runs:
        """Return an array of ids with gaps as one run that occurs once."""
        return cls(ids, np.array([0, len(ids)]), np.ones(1, np.int64))


@kernel
def in_order(data, offsets, order):
    """Return pieces in another order, piece ``order[0]`` first, as new `data` and `offsets`."""
    data_in_order = np.empty_like(data)
    offsets_in_order = np.zeros_like(offsets)
    end = 0
    for i in range(order.size):
        for k in range(offsets[order[i]], offsets[order[i] + 1]):
            data_in_order[end] = data[k]
            end += 1
        offsets_in_order[i + 1] = end
    return data_in_order, offsets_in_order


@quiet
def count_pairs(data, offsets, weight_of, byte_ids, counts, queue):
    """Fill an empty queue with the count of every adjacent pair; return whether all are below ``2**63``.

    `counts` are 2**16 zeros at first, by pair of byte values.
    """
    for piece in range(weight_of.size):
        for i in range(offsets[piece], offsets[piece + 1] - 1):
            pair = np.int64(data[i]) << 8 | np.int64(data[i + 1])
            if counts[pair] > INT64_MAX - weight_of[piece]:
                return False
            counts[pair] += weight_of[piece]
    for pair in range(counts.size):
        if counts[pair] > 0:
            queue.set(pack_pair(byte_ids[pair >> 8], byte_ids[pair & 0xFF]), counts[pair])
    return True


@kernel
def count_id_pairs(tokens, offsets, weight_of, pairs):
    """Add the counts of all adjacent pairs in pieces of ids to a map; return a status."""
    status = 0
    for piece in range(weight_of.size):
        for i in range(offsets[piece], offsets[piece + 1] - 1):
            status = min(status, pairs.add(pack_pair(tokens[i], tokens[i + 1]), weight_of[piece]))
    return status


@kernel
def fill(queue, pairs):
    """Fill an empty queue with the counts of pairs; return a status."""
    status = 0
    for pair, count in pairs.items():
        status = min(status, queue.set(pair, count))
    return status


def fill_queue(tokens: np.ndarray, offsets: np.ndarray, weight_of: np.ndarray, queue: Any) -> None:
    """Fill an empty queue with the counts of all adjacent pairs in pieces of ids."""
    pairs = IntMap()  # in a queue, each occurrence would move the pair
    if count_id_pairs(tokens, offsets, weight_of, pairs) < 0 or fill(queue, pairs) < 0:
        raise MemoryError("no memory for the pairs of tokens")


def stretches_of(offsets: np.ndarray, weight_of: np.ndarray) -> np.ndarray:
    """Return where each stretch of pieces with the same count begins, and this count: (2, n) int64."""
    first = np.flatnonzero(np.diff(weight_of, prepend=0))  # no piece counts 0
    return np.stack([offsets[first], weight_of[first]])


@quiet
def stretch_at(weights, position, stretch):
    """Return the stretch that `position` lies in, `stretch` or a later one, in O(log of the distance)."""
    step = 1
    while stretch + step < weights.shape[1] and weights[BEGIN, stretch + step] <= position:
        stretch += step
        step *= 2
    while step > 1:
        step //= 2
        if stretch + step < weights.shape[1] and weights[BEGIN, stretch + step] <= position:
            stretch += step
    return stretch


@quiet
def count_bytes(data, offsets, weight_of, counts):
    """Add to ``counts[byte]`` how often the pieces have each byte; a count stops at the greatest int64."""
    for piece in range(weight_of.size):
        for i in range(offsets[piece], offsets[piece + 1]):
            value = data[i]
            counts[value] += min(weight_of[piece], INT64_MAX - counts[value])


def bytes_left_out(counts: WordCounts, options: Options) -> frozenset[int]:
    """Return the byte values that are not in the alphabet."""
    initial = options.initial_bytes
    if len(initial) == len(ALL_BYTES):
        return frozenset()
    occurrences = np.zeros(len(ALL_BYTES), np.int64)
    count_bytes(*counts.to_arrays(), occurrences)
    by_count = np.argsort(-occurrences, kind="stable").tolist()
    others = [value for value in by_count if occurrences[value] and value not in initial]
    limit = options.limit_alphabet
    n_others = len(others) if limit is None else limit - len(initial)
    return frozenset(ALL_BYTES) - {*initial, *others[:n_others]}


def leave_out(
    data: np.ndarray, offsets: np.ndarray, weight_of: np.ndarray, left_out: frozenset[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return pieces without some byte values, and without the pieces that are then empty."""
    in_alphabet = np.ones(len(ALL_BYTES), bool)
    in_alphabet[[*left_out]] = False
    stays = in_alphabet[data]
    n_before = np.zeros(data.size + 1, np.int64)  # how many bytes stay before each position
    np.cumsum(stays, out=n_before[1:])
    edges = n_before[offsets]
    full = np.flatnonzero(np.diff(edges))
    return data[stays], np.concatenate((edges[:1], edges[1:][full])), weight_of[full]


class State(
    Record,
    tokens=TokenList.type(),
    index=PairIndex.type(),
    queue=None,  # a MaxHeap, or CountBuckets
    weights=types.int64[:, ::1],
    of_token=types.int64[:, ::1],
    log=types.int64[:, ::1],
    numbers=types.int64[::1],
):
    """The state of a training, for kernels."""


@kernel
def set_room(self, of_token, log):
    """Set the arrays that are indexed by token and by merge.

    It returns no object: numba would turn an interrupt at that moment into another error.
    """
    self.of_token = of_token
    self.log = log


def spelled(bytes_of: dict[int, bytes], n_tokens: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the bytes of tokens, one after the other, and `of_token` with START and LENGTH of each."""
    used = [*bytes_of]
    lengths = np.array([len(bytes_of[token_id]) for token_id in used], np.int64)
    of_token = np.zeros((TOKEN_ROWS, n_tokens), np.int64)
    of_token[START, used] = np.cumsum(lengths) - lengths
    of_token[LENGTH, used] = lengths
    return np.frombuffer(bytearray(b"".join(bytes_of.values())), np.uint8), of_token
