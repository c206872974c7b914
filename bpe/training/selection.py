"""Which pair is merged next: the one with the greatest count, and among equals the one the rule names.

The queue's own order is greatest count, then smallest pair, which is the rule ``"smallest"``. The other
rules order the pairs that are tied at the top count in a *front*, a binary heap:

* ``"lexicographic"``: of packed pairs, the one with the greatest bytes on top;
* ``"first"``: of positions, the least on top. Every tied pair has the first place where it stands in it, so
  that the least position at which any tied pair stands is the first in the text.

Counts of pairs only fall and a new pair never has more than the one it came from, so that the top count
falls too: a pair enters the front of each count at most once, when the front is filled or when the pair is
made. What no longer is, or leads to, a pair with the top count is passed over when it comes up. A pair
whose count stays has lost none of its occurrences, so that its first place stays as well.
"""

from __future__ import annotations

import numpy as np

from bpe.training.merging import merge_pair
from structures import kernel, pack_pair, unpack_pair

__all__ = [
    "ALLOWED",
    "ASKED",
    "DONE",
    "FRONT_COUNT",
    "FRONT_SIZE",
    "STATE_WORDS",
    "WANTS_ANSWER",
    "WANTS_FRONT",
    "WANTS_NOTHING",
    "run_smallest",
    "run_with_front",
]

# state[...]: the merges done; the pair that `keep` is asked about, and the one it has allowed; the size of
# the front, and the count that the pairs in it had when they entered it.
DONE, ASKED, ALLOWED, FRONT_SIZE, FRONT_COUNT = range(5)
STATE_WORDS = 5

WANTS_NOTHING, WANTS_ANSWER, WANTS_FRONT = range(3)
LONG_LIST = 16  # postings


@kernel(quiet=True)
def write_down(log, state, left, right, count):
    """Add a merge to the log."""
    rank = state[DONE]
    log[rank, 0] = left
    log[rank, 1] = right
    log[rank, 3] = count
    state[DONE] = rank + 1


@kernel(quiet=True)
def must_ask(asks, state, pair):
    """Say whether a pair may not be merged before `keep` has allowed it."""
    if not asks or state[ALLOWED] == pair:
        return False
    state[ASKED] = pair
    return True


@kernel
def run_smallest(
    tokens, index, queue, weights, start_of, length_of, limits, scratch, log, state, wanted, asks
):  # fmt: skip
    """Learn merges until `wanted` are done, ties by smallest pair.

    Parameters
    ----------
    tokens, index, queue, weights, start_of, length_of, limits, scratch
        As :func:`bpe.training.merging.merge_pair` takes them.
    log : (capacity, 4) int64
        Left, right, new token, count; rows from ``state[DONE]`` on are written, but for the new token.
    state : (STATE_WORDS,) int64
        Kept up to date after every merge: an interrupt loses nothing.
    wanted : int
    asks : bool
        Whether to come back with every pair before it is merged.

    Returns
    -------
    int
        ``WANTS_ANSWER`` about the pair ``state[ASKED]``, to be written to ``state[ALLOWED]``, or the pair
        to be discarded; else the run is over: fewer than `wanted` merges are done where no pair is left.

    Complexity
    ----------
    That of the merges.
    """
    while state[DONE] < wanted and len(queue) > 0:
        pair, count = queue.peek()
        if must_ask(asks, state, pair):
            return WANTS_ANSWER
        left, right = unpack_pair(pair)
        new_token = log[state[DONE], 2]
        merge_pair(
            tokens, index, queue, weights, start_of, length_of, limits, scratch, left, right, new_token
        )
        write_down(log, state, left, right, count)
    return WANTS_NOTHING


# ------------------------------------------------------------------------------------------- the front
@kernel(quiet=True)
def compare_tokens(text, start_of, length_of, one, other):
    """Compare two tokens as byte strings: below 0, 0 or above 0."""
    i, j = start_of[one], start_of[other]
    shorter = min(length_of[one], length_of[other]) if i != j else 0  # from one place on all is the same
    for k in range(shorter):
        if text[i + k] != text[j + k]:
            return np.int64(text[i + k]) - np.int64(text[j + k])
    return length_of[one] - length_of[other]


@kernel(quiet=True)
def precedes(text, start_of, length_of, by_place, entry, other):
    """Say whether `entry` goes before `other`: smaller place, or greatest left, then right bytes."""
    if by_place:
        return entry < other
    left, right = unpack_pair(entry)
    other_left, other_right = unpack_pair(other)
    order = compare_tokens(text, start_of, length_of, left, other_left)
    if order == 0:
        order = compare_tokens(text, start_of, length_of, right, other_right)
    return order > 0


@kernel(quiet=True)
def push_front(front, state, entry, text, start_of, length_of, by_place):
    """Push an entry on the front."""
    slot = state[FRONT_SIZE]
    state[FRONT_SIZE] += 1
    while slot > 0:
        parent = (slot - 1) >> 1
        if not precedes(text, start_of, length_of, by_place, entry, front[parent]):
            break
        front[slot] = front[parent]
        slot = parent
    front[slot] = entry


@kernel(quiet=True)
def pop_front(front, state, text, start_of, length_of, by_place):
    """Take the first entry off the front."""
    size = state[FRONT_SIZE] - 1
    state[FRONT_SIZE] = size
    entry = front[size]
    slot = 0
    while True:
        child = 2 * slot + 1
        if child >= size:
            break
        if child + 1 < size and precedes(text, start_of, length_of, by_place, front[child + 1], front[child]):
            child += 1
        if precedes(text, start_of, length_of, by_place, entry, front[child]):
            break
        front[slot] = front[child]
        slot = child
    front[slot] = entry


@kernel(quiet=True)
def pair_at(tokens, position):
    """Return the pair that starts at a position, -1 where none does."""
    if tokens.token(position) < 0 or tokens.next(position) < 0:
        return -1
    return pack_pair(tokens.token(position), tokens.token(tokens.next(position)))


@kernel(quiet=True)
def first_place(tokens, index, n_stale, pair):
    """Return the first position of a pair.

    Stale postings at the start of a long list are met again at the next count, and then passed over:
    `n_stale` has their number.
    """
    left, right = unpack_pair(pair)
    start, end = index.span(left, right)
    known = n_stale.get(pair, 0) if end - start > LONG_LIST else 0
    first = start + known
    while pair_at(tokens, index.posting(first)) != pair:
        first += 1
    if first - start > known + LONG_LIST:
        n_stale.set(pair, first - start)
    return index.posting(first)


@kernel
def run_with_front(
    tokens, index, queue, weights, start_of, length_of, limits, scratch, log, state, wanted, asks,
    front, n_stale, by_place, text,
):  # fmt: skip
    """Learn merges until `wanted` are done, ties by greatest bytes or by place.

    Parameters
    ----------
    tokens, index, queue, weights, start_of, length_of, limits, scratch, log, state, wanted, asks
        As :func:`run_smallest` takes them.
    front : (capacity,) int64
        Binary heap of packed pairs, or of positions.
    n_stale : IntMap
        Packed pair -> how many of its first postings are known to be stale.
    by_place : bool
        The rule: ``"first"``, or else ``"lexicographic"``, which alone reads the following.
    text : (n,) uint8
        What `start_of` leads into.

    Returns
    -------
    wants : int
        As :func:`run_smallest`; or ``WANTS_FRONT``: a larger `front`.
    room : int
        Of what size.

    Complexity
    ----------
    That of the merges, and O(log n) comparisons for each pair that enters the front.
    """
    while state[DONE] < wanted and len(queue) > 0:
        count = queue.peek()[1]
        if state[FRONT_COUNT] != count or state[FRONT_SIZE] == 0:
            tied = queue.ties()
            if tied.size > front.size:
                return WANTS_FRONT, 2 * tied.size
            state[FRONT_SIZE] = 0
            for i in range(tied.size):
                entry = first_place(tokens, index, n_stale, tied[i]) if by_place else tied[i]
                push_front(front, state, entry, text, start_of, length_of, by_place)
            state[FRONT_COUNT] = count
        pair = pair_at(tokens, front[0]) if by_place else front[0]
        if queue.get(pair) != count:
            pop_front(front, state, text, start_of, length_of, by_place)
            continue
        left, right = unpack_pair(pair)
        new_token = log[state[DONE], 2]
        # What a merge makes are at most two pairs a token.
        room = state[FRONT_SIZE] + 2 * new_token + 2
        if room > front.size:
            return WANTS_FRONT, 2 * room
        if must_ask(asks, state, pair):
            return WANTS_ANSWER, 0
        created = merge_pair(
            tokens, index, queue, weights, start_of, length_of, limits, scratch, left, right, new_token
        )
        write_down(log, state, left, right, count)
        pop_front(front, state, text, start_of, length_of, by_place)
        for i in range(created.size):
            if queue.get(created[i]) == count:
                entry = first_place(tokens, index, n_stale, created[i]) if by_place else created[i]
                push_front(front, state, entry, text, start_of, length_of, by_place)
    return WANTS_NOTHING, 0
