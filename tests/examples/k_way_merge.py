# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT
"""Sorted runs merged into one: ``Heap`` with the next number of each run.

What it shows: ``replace`` removes the least pair and inserts the next of the same run, in one step. The
payload is the number of the run, so that equal numbers leave in the order of their runs: the merge is stable.

Complexity: O(n log k) for n numbers in k runs; O(k) memory beside the result.

Where all runs are in memory, a stable ``np.sort`` of all numbers takes 0.3 to 0.6 of the time: it finds the
runs itself, and needs no heap. ``heapq.merge`` takes 4 to 10 times as long. A merge is for the least numbers
of many runs, and for runs that arrive in parts.

Source: D. E. Knuth, The Art of Computer Programming, 5.4.1.

Timing: ``python asv_benchmarks/examples_table.py``.
"""

import numpy as np
from numba import njit

from structures import Heap


@njit(cache=True)
def merge_into(order, numbers, starts, heap):
    """Fill `order`, ``(m,) int64``, with the places of the m least numbers."""
    next_of = starts[:-1].copy()
    for run in range(next_of.size):
        if starts[run] < starts[run + 1]:
            heap.push(numbers[starts[run]], run)
    for i in range(order.size):
        _, run = heap.peek()
        order[i] = next_of[run]
        next_of[run] += 1
        if next_of[run] < starts[run + 1]:
            heap.replace(numbers[next_of[run]], run)
        else:
            heap.pop()


def merge(runs, n=None):
    """Return the numbers of sorted runs in one ascending order, and where each was.

    Parameters
    ----------
    runs : sequence of (n_i,) array_like of float
        Each ascending, without NaN.
    n : int, optional
        How many of the least numbers to return; by default all.

    Returns
    -------
    merged : (n,) float64
    order : (n,) int64
        Places in the runs one after the other; equal numbers in this order.

    Examples
    --------
    >>> merged, order = merge([[1, 4, 5], [0.5, 4], [3]])
    >>> merged, order
    (array([0.5, 1. , 3. , 4. , 4. , 5. ]), array([3, 0, 5, 1, 4, 2]))
    >>> merge([[1, 4, 5], [0.5, 4], [3]], n=2)[0]
    array([0.5, 1. ])
    """
    arrays = [np.asarray(run, np.float64) for run in runs]
    starts = np.cumsum([0, *map(len, arrays)])
    for number, run in enumerate(arrays):
        if np.isnan(run).any() or np.any(run[1:] < run[:-1]):
            raise ValueError(f"run {number} does not ascend")
    numbers = np.concatenate([*arrays, np.empty(0)])
    order = np.empty(numbers.size if n is None else min(n, numbers.size), np.int64)
    merge_into(order, numbers, starts, Heap(np.float64))
    return numbers[order], order
