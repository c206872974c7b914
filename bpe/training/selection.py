"""Which pair is merged next: the one with the greatest count, and among equals the one the rule names.

The queue's own order is greatest count, then smallest pair, which is the rule ``"smallest"``. The other
rules order the pairs that are tied at the top count in a binary heap, the :class:`TieHeap`.

* ``"lexicographic"``: the entries are packed pairs, the one with the greatest bytes on top; for supermerges
  the one with the smallest bytes;
* ``"first"``: the entries are positions, the least on top. Every tied pair enters with its first
  position, so the top is the first place in the text that has a tied pair.

Counts of pairs only fall, and a new pair never counts more than the one it came from. So the top count falls
too, and a pair enters the heap of each count at most once: when the heap is filled, or when the pair is
made. An entry whose pair is gone or counts less by now is skipped when it comes to the top. A pair whose
count stays has lost none of its occurrences, so its first position stays as well.
"""

import numpy as np
from numba import types

from bpe.training.merging import merge_pair
from bpe.training.state import DONE, LENGTH, START
from structures import IntMap, kernel, pack_pair, unpack_pair
from structures.kernels import Record, int_map_type, quiet

LONG_LIST = 16  # postings
NONE, ALL = -1, -2  # in place of a packed pair: no pair; every pair may be merged


class TieHeap(
    Record,
    entries=types.int64[::1],
    size=types.int64,  # how many entries there are
    count=types.int64,  # of the pairs when they entered
    by_place=types.boolean,  # the rule: "first", or else "lexicographic"
    sign=types.int64,  # 1: the greatest bytes go first; -1: the smallest
    n_stale=int_map_type,  # packed pair -> how many of its first postings are stale, as far as known
    text=types.uint8[::1],  # START of a token is a position in it
    used=types.int64,  # how many bytes of the text are set
    spells=types.boolean,  # whether the bytes of new tokens are appended to the text
):
    """The pairs that are tied at the top count."""


def make_tie_heap(by_place: bool, sign: int, n_stale: IntMap, text: np.ndarray, spells: bool) -> TieHeap:
    """Return an empty heap."""
    return TieHeap(np.empty(0, np.int64), 0, 0, by_place, sign, n_stale, text, text.size, spells)


@kernel
def reserve(tie_heap, room):
    """Reserve memory for `room` entries."""
    entries = tie_heap.entries
    if room > entries.size:
        larger = np.empty(2 * room, np.int64)
        for i in range(tie_heap.size):
            larger[i] = entries[i]
        tie_heap.entries = larger


@kernel
def spell(state, tie_heap, left, right):
    """Write the bytes of two tokens at the end of the text, one after the other; return the position."""
    start_of, length_of = state.of_token[START], state.of_token[LENGTH]
    start = end = tie_heap.used
    room = start + length_of[left] + length_of[right]
    if room > tie_heap.text.size:
        longer = np.empty(2 * room, np.uint8)
        for i in range(start):
            longer[i] = tie_heap.text[i]
        tie_heap.text = longer
    text = tie_heap.text
    for token in (left, right):
        for k in range(length_of[token]):
            text[end] = text[start_of[token] + k]
            end += 1
    tie_heap.used = end
    return start


# --------------------------------------------------------------------------------------------------- order
@quiet
def compare_tokens(state, text, one, other):
    """Compare two tokens as byte strings: return a number below 0, 0, or a number above 0."""
    start_of, length_of = state.of_token[START], state.of_token[LENGTH]
    i, j = start_of[one], start_of[other]
    shorter = min(length_of[one], length_of[other]) if i != j else 0  # the same position has the same bytes
    for k in range(shorter):
        if text[i + k] != text[j + k]:
            return np.int64(text[i + k]) - np.int64(text[j + k])
    return length_of[one] - length_of[other]


@quiet
def precedes(state, tie_heap, entry, other):
    """Return whether `entry` comes before `other`: smaller position; or greater left, then right bytes."""
    if tie_heap.by_place:
        return entry < other
    left, right = unpack_pair(entry)
    other_left, other_right = unpack_pair(other)
    order = compare_tokens(state, tie_heap.text, left, other_left)
    if order == 0:
        order = compare_tokens(state, tie_heap.text, right, other_right)
    return order * tie_heap.sign > 0


@quiet
def push(state, tie_heap, entry):
    """Push an entry on the heap, which has room for it."""
    entries, slot = tie_heap.entries, tie_heap.size
    tie_heap.size += 1
    while slot > 0:
        parent = (slot - 1) >> 1
        if not precedes(state, tie_heap, entry, entries[parent]):
            break
        entries[slot] = entries[parent]
        slot = parent
    entries[slot] = entry


@quiet
def pop(state, tie_heap):
    """Remove the top entry of the heap."""
    entries, size = tie_heap.entries, tie_heap.size - 1
    tie_heap.size = size
    entry = entries[size]
    slot = 0
    while True:
        child = 2 * slot + 1
        if child >= size:
            break
        if child + 1 < size and precedes(state, tie_heap, entries[child + 1], entries[child]):
            child += 1
        if precedes(state, tie_heap, entry, entries[child]):
            break
        entries[slot] = entries[child]
        slot = child
    entries[slot] = entry


# ------------------------------------------------------------------------------------- entries and pairs
@quiet
def pair_at(tokens, position):
    """Return the packed pair that starts at a position; -1 if there is no pair."""
    if tokens.token(position) < 0 or tokens.next(position) < 0:
        return -1
    return pack_pair(tokens.token(position), tokens.token(tokens.next(position)))


@quiet
def first_position(state, n_stale, pair):
    """Return the first position of a pair.

    Stale postings at the start of a long list would be read again at the next count; `n_stale` holds how many
    to skip.
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


@quiet
def entry_of(state, tie_heap, pair):
    """Return the entry of a pair: its first position, or the packed pair itself."""
    return first_position(state, tie_heap.n_stale, pair) if tie_heap.by_place else pair


@quiet
def first_pair(state, tie_heap):
    """Return the packed pair on top of the heap; -1 if it is gone."""
    entry = tie_heap.entries[0]
    return pair_at(state.tokens, entry) if tie_heap.by_place else entry


# ---------------------------------------------------------------------------------------------------- runs
@quiet
def append_merge(state, left, right, count):
    """Add a merge to the log."""
    rank = state.numbers[DONE]
    state.log[rank, 0] = left
    state.log[rank, 1] = right
    state.log[rank, 3] = count
    state.numbers[DONE] = rank + 1


@kernel
def run_smallest(state, wanted, allowed):
    """Learn merges until `wanted` are done; ties go to the smallest pair.

    Return NONE, or the next pair if it is not `allowed` yet, so that the caller can decide.
    """
    asks = allowed != ALL
    while state.numbers[DONE] < wanted and len(state.queue) > 0:
        pair, count = state.queue.peek()
        if asks and allowed != pair:
            return pair
        left, right = unpack_pair(pair)
        merge_pair(state, left, right, state.log[state.numbers[DONE], 2])
        append_merge(state, left, right, count)
    return NONE


@kernel
def best_tied_pair(state, tie_heap):
    """Return the pair that is merged next, packed, and its count; the queue is not empty."""
    while True:
        count = state.queue.peek()[1]
        if tie_heap.count != count or tie_heap.size == 0:
            tied = state.queue.ties()
            tie_heap.size = 0
            reserve(tie_heap, tied.size)
            for i in range(tied.size):
                push(state, tie_heap, entry_of(state, tie_heap, tied[i]))
            tie_heap.count = count
        pair = first_pair(state, tie_heap)
        if state.queue.get(pair) == count:
            return pair, count
        pop(state, tie_heap)


@kernel
def merge_with_tie_heap(state, tie_heap, left, right, new_token):
    """Merge a pair as :func:`merge_pair` does; push new pairs that are tied at the top count on the heap."""
    start = spell(state, tie_heap, left, right) if tie_heap.spells else 0
    created = merge_pair(state, left, right, new_token)
    if tie_heap.spells:
        state.of_token[START, new_token] = start
    reserve(tie_heap, tie_heap.size + created.size)
    for i in range(created.size):
        if state.queue.get(created[i]) == tie_heap.count:
            push(state, tie_heap, entry_of(state, tie_heap, created[i]))


@kernel
def run_with_tie_heap(state, tie_heap, wanted, allowed):
    """Do the same as :func:`run_smallest`, with ties by the order of the heap."""
    asks = allowed != ALL
    while state.numbers[DONE] < wanted and len(state.queue) > 0:
        pair, count = best_tied_pair(state, tie_heap)
        if asks and allowed != pair:
            return pair
        pop(state, tie_heap)
        left, right = unpack_pair(pair)
        merge_with_tie_heap(state, tie_heap, left, right, state.log[state.numbers[DONE], 2])
        append_merge(state, left, right, count)
    return NONE
