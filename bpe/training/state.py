"""``State``: all that kernels need to merge, handed to them as one thing.

::

    tokens     l o w | l o w e r | n e w       TokenList: the pieces, each a segment
    index      (l, o) -> 0, 3   (o, w) -> 1, 4   ...   PairIndex over them: where each pair is
    queue      (l, o) -> 7      (o, w) -> 7      ...   MaxHeap or CountBuckets: how much each pair counts
    weights    0, 5    3, 2    8, 6            where each run of pieces begins, and their count
    of_token   START, LENGTH, WEIGHT, SIZE     four numbers for each token
    log        left, right, new token, count   a row for each merge
    numbers    MIN_COUNT, MAX_LENGTH, DONE     the limits of a pair; the merges done
               N_TOKENS                        the tokens in all pieces, as often as each piece counts

Only *live* pairs are in queue and index: those within the limits, a least count and a greatest length of the
token they would make. The count of a pair never rises once the pair is made. So a pair that has left need not
come back, unless the least count is lowered: then the pairs are counted anew. Most pairs that merges make are
rare, so a least count just below that of the last merge saves half of the work.

Invariants
----------
1. The queue holds exactly the pairs within the limits, except refused ones, each with its count.
2. The index holds the same pairs; those of its postings that are not stale are the places of the pair.
3. The postings of a pair ascend, so that runs are merged from left to right.
4. Between two merges, WEIGHT and SIZE of every token are 0.
5. N_TOKENS is the sum of the tokens of each piece times its count, modulo 2**64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import typeof, types
from numba.experimental import structref

from structures import CountBuckets, MaxHeap, PairIndex, TokenList, kernel
from structures.kernels import StructType, fields_of, new

START, LENGTH, WEIGHT, SIZE = range(4)  # of_token[..., token]; START is a place where its bytes are
TOKEN_ROWS = 4
MIN_COUNT, MAX_LENGTH, DONE, N_TOKENS = range(4)  # numbers[...]


@structref.register
class StateType(StructType):
    """numba type of :class:`State`."""


class State(structref.StructRefProxy):
    """Python's handle of the state: something to hand to kernels."""

    __slots__ = ()


structref.define_boxing(StateType, State)


@kernel
def make_state(kind, tokens, index, queue, weights, numbers):
    """Return a state of type `kind`, of these parts; the others are missing."""
    self = new(kind)
    self.tokens = tokens
    self.index = index
    self.queue = queue
    self.weights = weights
    self.numbers = numbers
    return self


@kernel
def set_room(self, of_token, log):
    """Set the arrays that are indexed by token and by merge.

    It makes no object: numba would turn an interrupt at that moment into another error.
    """
    self.of_token = of_token
    self.log = log


def spelled(bytes_of: dict[int, bytes], n_tokens: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the bytes of tokens, one after the other, and `of_token` with START and LENGTH of each."""
    used = [*bytes_of]
    lengths = np.array([len(bytes_of[number]) for number in used], np.int64)
    of_token = np.zeros((TOKEN_ROWS, n_tokens), np.int64)
    of_token[START, used] = np.cumsum(lengths) - lengths
    of_token[LENGTH, used] = lengths
    return np.frombuffer(bytearray(b"".join(bytes_of.values())), np.uint8), of_token


def new_state(
    tokens: TokenList,
    index: PairIndex,
    queue: MaxHeap | CountBuckets,
    weights: np.ndarray,
    of_token: np.ndarray,
    log: np.ndarray,
    numbers: np.ndarray,
) -> Any:
    """Return a state of these parts, which it shares."""
    kind = StateType(
        fields_of(
            tokens=typeof(tokens),
            index=typeof(index),
            queue=typeof(queue),
            weights=types.int64[:, ::1],
            of_token=types.int64[:, ::1],
            log=types.int64[:, ::1],
            numbers=types.int64[::1],
        )
    )
    self = make_state(kind, tokens, index, queue, weights, numbers)
    set_room(self, of_token, log)
    return self
