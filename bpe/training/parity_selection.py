"""Which language comes next in a parity-aware training, and the merge that follows.

Every language is a :class:`~bpe.training.state.State` of its own, with its words, its queue of pairs and its
:class:`~bpe.training.selection.TieHeap`; so is every development text. All have the same tokens. Each merge
serves one language: the best pair of its queue is merged there and in all others, where it may count less, or
nothing.

::

    languages  State, State, ...       tie_heaps  TieHeap, TieHeap, ...   empty for ties="smallest"
    measured   State, State, ...       the development texts, or the languages again
    rows       AT_START, EXHAUSTED, IN_WINDOW    three numbers for each language
    served     a ring of the languages served last    empty without a window

Invariants
----------
1. ``rows[IN_WINDOW, i]`` is how often language i is in the ring, whose unused places hold -1.
2. A language with ``rows[EXHAUSTED, i]`` has no pair that reaches the minimum count. Counts only fall, so it
   never has one again.
3. No queue leaves out a pair because it is rare: another language may need it.

The reference implementation is :mod:`bpe.reference.parity`.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.typed import List

from bpe.training.merging import merge_pair
from bpe.training.selection import NONE, append_merge, best_tied_pair, merge_with_tie_heap
from bpe.training.state import DONE, N_TOKENS
from structures import kernel, unpack_pair

AT_START, EXHAUSTED, IN_WINDOW = range(3)  # rows[..., language]
ROWS = 3


class ParityState(NamedTuple):
    """The state of a parity-aware training, for kernels."""

    languages: Any  # typed list of State, one for each language
    tie_heaps: Any  # typed list of TieHeap, in the same order
    by_queue: bool  # whether ties="smallest": the tie heaps are not used
    measured: Any  # typed list of State, whose tokens are counted
    has_dev: bool  # whether these are not the languages themselves
    rows: np.ndarray  # (ROWS, n_languages) int64
    ratios: np.ndarray  # (n_languages,) float64, or empty
    served: np.ndarray  # (window,) int64: languages; the i-th one is at i % window
    n_served: np.ndarray  # (1,) int64
    share: float  # of the window, which a language may have at most
    min_count: int


@kernel
def list_of(first):
    """Return a typed list with one element."""
    elements = List()
    elements.append(first)
    return elements


@kernel
def append(elements, element):
    """Append an element to a typed list."""
    elements.append(element)


@kernel
def is_encoded_worse(parity, one, other):
    """Return whether a language is encoded worse than another one."""
    now = parity.measured[one].numbers[N_TOKENS]
    other_now = parity.measured[other].numbers[N_TOKENS]
    if parity.ratios.size == 0:
        return now > other_now
    at_start, ratios = parity.rows[AT_START], parity.ratios
    return at_start[one] / now / ratios[one] < at_start[other] / other_now / ratios[other]


@kernel
def next_language(parity):
    """Return the language that is served next and add it to the window; -1 if all are exhausted.

    It is the worst one (of equals, the first) among those with at most their share of the window. If all
    have more, it is the best one.
    """
    rows, served, n_served = parity.rows, parity.served, parity.n_served
    worst = best = -1
    for i in range(rows.shape[1]):
        if rows[EXHAUSTED, i] == 1:
            continue
        if best < 0 or not is_encoded_worse(parity, i, best):
            best = i
        has_enough = served.size > 0 and rows[IN_WINDOW, i] / served.size > parity.share
        if not has_enough and (worst < 0 or is_encoded_worse(parity, i, worst)):
            worst = i
    language = worst if worst >= 0 else best
    if language >= 0 and served.size > 0:
        place = n_served[0] % served.size
        if served[place] >= 0:
            rows[IN_WINDOW, served[place]] -= 1
        served[place] = language
        rows[IN_WINDOW, language] += 1
        n_served[0] += 1
    return language


@kernel
def best_pair(parity, language):
    """Return the packed pair of a language that is merged next, and its count; NONE if it has none."""
    state = parity.languages[language]
    if len(state.queue) == 0 or state.queue.peek()[1] < parity.min_count:
        return NONE, 0
    if parity.by_queue:
        return state.queue.peek()
    return best_tied_pair(state, parity.tie_heaps[language])


@kernel
def merge_in_all(parity, left, right, new_token):
    """Merge a pair in all languages and in all development texts."""
    for i in range(len(parity.languages)):
        if parity.by_queue:
            merge_pair(parity.languages[i], left, right, new_token)
        else:
            merge_with_tie_heap(parity.languages[i], parity.tie_heaps[i], left, right, new_token)
    if parity.has_dev:
        for i in range(len(parity.measured)):
            merge_pair(parity.measured[i], left, right, new_token)


@kernel
def run_parity(parity, wanted):
    """Learn merges until `wanted` are done, or all languages are exhausted."""
    first = parity.languages[0]
    while first.numbers[DONE] < wanted:
        language = next_language(parity)
        if language < 0:
            return
        pair, count = best_pair(parity, language)
        if pair == NONE:
            parity.rows[EXHAUSTED, language] = 1
            continue
        left, right = unpack_pair(pair)
        merge_in_all(parity, left, right, first.log[first.numbers[DONE], 2])
        append_merge(first, left, right, count)
