"""Which pair is merged next: the one with the greatest count, and among equals the one the rule names.

The queue's own order is greatest count, then smallest pair, which is the rule ``"smallest"``. The other
rules order the pairs that are tied at the top count in a *front*, a binary heap.

* ``"lexicographic"``: the entries are packed pairs, the one with the greatest bytes on top; for supermerges
  the one with the smallest bytes;
* ``"first"``: the entries are positions, the least on top. Every tied pair enters with its first
  position, so the top is the first place in the text that has a tied pair.

Counts of pairs only fall, and a new pair never counts more than the one it came from. So the top count falls
too, and a pair enters the front of each count at most once: when the front is filled, or when the pair is
made. An entry whose pair is gone or counts less by now is passed over when it comes up. A pair whose count
stays has lost none of its occurrences, so its first place stays as well.
"""

import numpy as np
from numba import types

from bpe.training.merging import merge_pair
from bpe.training.state import DONE, LENGTH, START
from structures import IntMap, kernel, pack_pair, unpack_pair
from structures.kernels import Record, int_map_type

LONG_LIST = 16  # postings


class Front(
    Record,
    entries=types.int64[::1],
    size=types.int64,  # how many entries there are
    count=types.int64,  # of the pairs when they entered
    by_place=types.boolean,  # the rule: "first", or else "lexicographic"
    sign=types.int64,  # 1: the greatest bytes go first; -1: the smallest
    n_stale=int_map_type,  # packed pair -> how many of its first postings are known to be stale
    text=types.uint8[::1],  # START of a token is a place in it
    used=types.int64,  # how many bytes of it are set
    spells=types.boolean,  # whether new tokens are spelled at its end: places of the list are none of it
):
    """The pairs that are tied at the top count."""


def make_front(by_place: bool, sign: int, n_stale: IntMap, text: np.ndarray, spells: bool) -> Front:
    """Return an empty front."""
    return Front(np.empty(0, np.int64), 0, 0, by_place, sign, n_stale, text, text.size, spells)


@kernel
def reserve(front, room):
    """Make room for `room` entries."""
    entries = front.entries
    if room > entries.size:
        larger = np.empty(2 * room, np.int64)
        for i in range(front.size):
            larger[i] = entries[i]
        front.entries = larger


@kernel
def spell(state, front, left, right):
    """Write the bytes of two tokens behind each other at the end of the text; return where."""
    start_of, length_of = state.of_token[START], state.of_token[LENGTH]
    start = end = front.used
    room = start + length_of[left] + length_of[right]
    if room > front.text.size:
        longer = np.empty(2 * room, np.uint8)
        for i in range(start):
            longer[i] = front.text[i]
        front.text = longer
    text = front.text
    for token in (left, right):
        for k in range(length_of[token]):
            text[end] = text[start_of[token] + k]
            end += 1
    front.used = end
    return start


# --------------------------------------------------------------------------------------------------- order
@kernel(quiet=True)
def compare_tokens(state, text, one, other):
    """Compare two tokens as byte strings: below 0, 0 or above 0."""
    start_of, length_of = state.of_token[START], state.of_token[LENGTH]
    i, j = start_of[one], start_of[other]
    shorter = min(length_of[one], length_of[other]) if i != j else 0  # at one place the bytes are the same
    for k in range(shorter):
        if text[i + k] != text[j + k]:
            return np.int64(text[i + k]) - np.int64(text[j + k])
    return length_of[one] - length_of[other]


@kernel(quiet=True)
def precedes(state, front, entry, other):
    """Say whether `entry` goes before `other`: smaller place; or greatest left, then right bytes."""
    if front.by_place:
        return entry < other
    left, right = unpack_pair(entry)
    other_left, other_right = unpack_pair(other)
    order = compare_tokens(state, front.text, left, other_left)
    if order == 0:
        order = compare_tokens(state, front.text, right, other_right)
    return order * front.sign > 0


@kernel(quiet=True)
def push(state, front, entry):
    """Push an entry on the front, which has room for it."""
    entries, slot = front.entries, front.size
    front.size += 1
    while slot > 0:
        parent = (slot - 1) >> 1
        if not precedes(state, front, entry, entries[parent]):
            break
        entries[slot] = entries[parent]
        slot = parent
    entries[slot] = entry


@kernel(quiet=True)
def pop(state, front):
    """Take the first entry off the front."""
    entries, size = front.entries, front.size - 1
    front.size = size
    entry = entries[size]
    slot = 0
    while True:
        child = 2 * slot + 1
        if child >= size:
            break
        if child + 1 < size and precedes(state, front, entries[child + 1], entries[child]):
            child += 1
        if precedes(state, front, entry, entries[child]):
            break
        entries[slot] = entries[child]
        slot = child
    entries[slot] = entry


# ------------------------------------------------------------------------------------- entries and pairs
@kernel(quiet=True)
def pair_at(tokens, position):
    """Return the pair that starts at a position, -1 where none does."""
    if tokens.token(position) < 0 or tokens.next(position) < 0:
        return -1
    return pack_pair(tokens.token(position), tokens.token(tokens.next(position)))


@kernel(quiet=True)
def first_place(state, n_stale, pair):
    """Return the first position of a pair.

    Stale postings at the start of a long list would be met again at the next count; `n_stale` remembers how
    many to pass over.
    """
    tokens, index = state.tokens, state.index
    left, right = unpack_pair(pair)
    start, end = index.span(left, right)
    known = n_stale.get(pair, 0) if end - start > LONG_LIST else 0
    first = start + known
    while pair_at(tokens, index.posting(first)) != pair:
        first += 1
    if first - start > known + LONG_LIST:
        n_stale.set(pair, first - start)
    return index.posting(first)


@kernel(quiet=True)
def entry_of(state, front, pair):
    """Return the entry of a pair."""
    return first_place(state, front.n_stale, pair) if front.by_place else pair


@kernel(quiet=True)
def first_pair(state, front):
    """Return the pair on top, -1 where it is gone."""
    entry = front.entries[0]
    return pair_at(state.tokens, entry) if front.by_place else entry


NONE, ALL = -1, -2  # in the place of a pair


@kernel(quiet=True)
def write_down(state, left, right, count):
    """Add a merge to the log."""
    rank = state.numbers[DONE]
    state.log[rank, 0] = left
    state.log[rank, 1] = right
    state.log[rank, 3] = count
    state.numbers[DONE] = rank + 1


@kernel
def run_smallest(state, wanted, allowed):
    """Learn merges until `wanted` are done, ties by smallest pair."""
    asks = allowed != ALL
    while state.numbers[DONE] < wanted and len(state.queue) > 0:
        pair, count = state.queue.peek()
        if asks and allowed != pair:
            return pair
        left, right = unpack_pair(pair)
        merge_pair(state, left, right, state.log[state.numbers[DONE], 2])
        write_down(state, left, right, count)
    return NONE


@kernel
def best_of_front(state, front):
    """Return the pair that is merged next, packed, and its count; the queue is not empty."""
    while True:
        count = state.queue.peek()[1]
        if front.count != count or front.size == 0:
            tied = state.queue.ties()
            front.size = 0
            reserve(front, tied.size)
            for i in range(tied.size):
                push(state, front, entry_of(state, front, tied[i]))
            front.count = count
        pair = first_pair(state, front)
        if state.queue.get(pair) == count:
            return pair, count
        pop(state, front)


@kernel
def merge_with_front(state, front, left, right, new_token):
    """Merge a pair as :func:`merge_pair` does; new pairs that are tied at the top count enter the front."""
    place = spell(state, front, left, right) if front.spells else 0
    created = merge_pair(state, left, right, new_token)
    if front.spells:
        state.of_token[START, new_token] = place
    reserve(front, front.size + created.size)
    for i in range(created.size):
        if state.queue.get(created[i]) == front.count:
            push(state, front, entry_of(state, front, created[i]))


@kernel
def run_with_front(state, front, wanted, allowed):
    """Learn merges until `wanted` are done, ties by greatest bytes or by place."""
    asks = allowed != ALL
    while state.numbers[DONE] < wanted and len(state.queue) > 0:
        pair, count = best_of_front(state, front)
        if asks and allowed != pair:
            return pair
        pop(state, front)
        left, right = unpack_pair(pair)
        merge_with_front(state, front, left, right, state.log[state.numbers[DONE], 2])
        write_down(state, left, right, count)
    return NONE
