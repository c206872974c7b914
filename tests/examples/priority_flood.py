# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT
"""Filling the depressions of a terrain: priority-flood, with ``IndexedMinHeap``.

What it shows: a queue of cells by elevation, made inside ``@njit``, next to a plain first-in first-out queue.
The flood comes in from the border, the lowest cell first. A cell that lies lower than where the flood is has
no way out below that level: it is filled, and needs no place in the heap.

Every cell of the result has a way to the border that never rises.

Complexity: O(n log n) for n cells; only cells outside of depressions are ever in the heap.

Source: R. Barnes, C. Lehman, D. Mulla, Priority-flood: an optimal depression-filling and watershed-labeling
algorithm for digital elevation models (2014).

Timing: ``python asv_benchmarks/examples_table.py``.
"""

import numpy as np
from numba import njit

from structures import IndexedMinHeap

STEPS = np.array([(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)])


@njit(cache=True)
def flood(level):
    """Raise `level`, ``(rows, columns)``, where it is in a depression."""
    rows, columns = level.shape
    is_reached = np.zeros(level.shape, np.bool_)
    front = IndexedMinHeap(level.size, np.float64)
    for row in range(rows):
        for column in range(columns):
            if row in (0, rows - 1) or column in (0, columns - 1):
                is_reached[row, column] = True
                front[row * columns + column] = level[row, column]
    pit = np.empty(level.size, np.int64)  # cells of depressions, first in, first out
    first = end = 0
    while first < end or len(front) > 0:
        if first < end:
            cell = pit[first]
            first += 1
        else:
            cell, _ = front.pop()
            first = end = 0
        row, column = divmod(cell, columns)
        for step in range(8):
            to_row, to_column = row + STEPS[step, 0], column + STEPS[step, 1]
            if 0 <= to_row < rows and 0 <= to_column < columns and not is_reached[to_row, to_column]:
                is_reached[to_row, to_column] = True
                if level[to_row, to_column] <= level[row, column]:
                    level[to_row, to_column] = level[row, column]
                    pit[end] = to_row * columns + to_column
                    end += 1
                else:
                    front[to_row * columns + to_column] = level[to_row, to_column]


def filled(elevation):
    """Return a terrain without depressions, the lowest that is nowhere below `elevation`.

    Parameters
    ----------
    elevation : (rows, columns) array_like of float
        Not-a-number is refused.

    Returns
    -------
    (rows, columns) float64

    Examples
    --------
    >>> filled([[5, 5, 5, 5], [5, 1, 2, 4], [5, 5, 5, 5]])
    array([[5., 5., 5., 5.],
           [5., 4., 4., 4.],
           [5., 5., 5., 5.]])
    """
    level = np.array(elevation, np.float64)
    if np.isnan(level).any():
        raise ValueError("an elevation is not a number")
    flood(level)
    return level
