"""Whose turn it is in a parity-aware training, and the merge that follows.

Every language is a :class:`~bpe.training.state.State` of its own, with its words, its queue of pairs and its
front; so is every development text. All have the same tokens. A turn goes to one language; the best pair of
its queue is merged there and in all others, where it may count less, or nothing.

::

    languages  State, State, ...       fronts  Front, Front, ...      a front is empty for ties="smallest"
    measured   State, State, ...       the development texts, or the languages again
    rows       AT_START, OUT, IN_WINDOW        three numbers for each language
    taken      a ring with the last turns      empty without a window

Invariants
----------
1. ``rows[IN_WINDOW, i]`` is how often language i is in the ring, whose unused places hold -1.
2. A language with ``rows[OUT, i]`` has no pair that counts the least count. Counts only fall, so that this
   stays.
3. No queue leaves out a pair because it is rare: another language may need it.

The slow twin is :mod:`bpe.reference.parity`.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.typed import List

from bpe.training.merging import merge_pair
from bpe.training.selection import NONE, best_of_front, merge_with_front, write_down
from bpe.training.state import DONE, N_TOKENS
from structures import kernel, unpack_pair

AT_START, OUT, IN_WINDOW = range(3)  # rows[..., language]
ROWS = 3


class Turns(NamedTuple):
    """What kernels are handed."""

    languages: Any
    fronts: Any
    by_queue: bool
    measured: Any
    has_dev: bool
    rows: np.ndarray
    ratios: np.ndarray
    taken: np.ndarray
    n_taken: np.ndarray
    share: float
    min_count: int


@kernel
def list_of(first):
    """Return a list that kernels take, with one element."""
    elements = List()
    elements.append(first)
    return elements


@kernel
def append(elements, element):
    """Append an element to such a list."""
    elements.append(element)


@kernel
def needs_more(turns, one, other):
    """Say whether a language is encoded worse than another one."""
    now = turns.measured[one].numbers[N_TOKENS]
    other_now = turns.measured[other].numbers[N_TOKENS]
    if turns.ratios.size == 0:
        return now > other_now
    at_start, ratios = turns.rows[AT_START], turns.ratios
    return at_start[one] / now / ratios[one] < at_start[other] / other_now / ratios[other]


@kernel
def next_turn(turns):
    """Return the language whose turn is next, -1 where all are out; write it down.

    It is the worst one, or, of equals, the first, among those with at most their share of the window. If all
    have more, it is the best one.
    """
    rows, taken, n_taken = turns.rows, turns.taken, turns.n_taken
    worst = best = -1
    for i in range(rows.shape[1]):
        if rows[OUT, i] == 1:
            continue
        if best < 0 or not needs_more(turns, i, best):
            best = i
        has_enough = taken.size > 0 and rows[IN_WINDOW, i] / taken.size > turns.share
        if not has_enough and (worst < 0 or needs_more(turns, i, worst)):
            worst = i
    language = worst if worst >= 0 else best
    if language >= 0 and taken.size > 0:
        place = n_taken[0] % taken.size
        if taken[place] >= 0:
            rows[IN_WINDOW, taken[place]] -= 1
        taken[place] = language
        rows[IN_WINDOW, language] += 1
        n_taken[0] += 1
    return language


@kernel
def best_pair(turns, language):
    """Return the pair of a language that is merged next, packed, and its count; or NONE."""
    state = turns.languages[language]
    if len(state.queue) == 0 or state.queue.peek()[1] < turns.min_count:
        return NONE, 0
    if turns.by_queue:
        return state.queue.peek()
    return best_of_front(state, turns.fronts[language])


@kernel
def merge_everywhere(turns, left, right, new_token):
    """Merge a pair in all languages and in all development texts."""
    for i in range(len(turns.languages)):
        if turns.by_queue:
            merge_pair(turns.languages[i], left, right, new_token)
        else:
            merge_with_front(turns.languages[i], turns.fronts[i], left, right, new_token)
    if turns.has_dev:
        for i in range(len(turns.measured)):
            merge_pair(turns.measured[i], left, right, new_token)


@kernel
def run_turns(turns, wanted):
    """Learn merges until `wanted` are done, or all languages are out."""
    first = turns.languages[0]
    while first.numbers[DONE] < wanted:
        language = next_turn(turns)
        if language < 0:
            return
        pair, count = best_pair(turns, language)
        if pair == NONE:
            turns.rows[OUT, language] = 1
            continue
        left, right = unpack_pair(pair)
        merge_everywhere(turns, left, right, first.log[first.numbers[DONE], 2])
        write_down(first, left, right, count)
