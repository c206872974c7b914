# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT
"""Watersheds by flooding from markers: ``IndexedMinHeap`` with ties in the order of arrival.

What it shows: ``ties="fifo"``, by which cells of equal level leave in the order in which they came in.
Without it a plateau between two basins would go to the one whose cells have the smaller numbers; with it, the
basins meet in the middle.

Complexity: O(n log n) for n cells, each of which is in the heap once.

Source: F. Meyer, Color image segmentation (1992); the order of ties is that of scikit-image, whose labels
are the same.

Timing: ``python asv_benchmarks/examples_table.py``.
"""

import numpy as np
from numba import njit

from structures import IndexedMinHeap


@njit(cache=True)
def flood(levels, labels):
    """Give every cell of `labels`, ``(rows, columns)``, that is 0 the label of the basin that it is in."""
    rows, columns = labels.shape
    front = IndexedMinHeap(labels.size, np.float64, ties="fifo")
    for cell in range(labels.size):
        if labels[cell // columns, cell % columns] != 0:
            front[cell] = levels[cell // columns, cell % columns]
    while len(front) > 0:
        cell, level = front.pop()
        row, column = divmod(cell, columns)
        for down, right in ((-1, 0), (0, -1), (0, 1), (1, 0)):
            to_row, to_column = row + down, column + right
            if 0 <= to_row < rows and 0 <= to_column < columns and labels[to_row, to_column] == 0:
                labels[to_row, to_column] = labels[row, column]
                # What lies below the flood is flooded.
                front[to_row * columns + to_column] = max(levels[to_row, to_column], level)


def watershed(levels, markers):
    """Return the basin of every cell.

    Parameters
    ----------
    levels : (rows, columns) array_like of int or float
        What is flooded, the lowest first: a gradient, for instance, or an elevation.
    markers : (rows, columns) array_like of int
        The label of each cell from which a basin is flooded; 0 for all other cells.

    Returns
    -------
    (rows, columns) int64

    Examples
    --------
    >>> watershed([[0, 1, 5, 1, 0]], [[7, 0, 0, 0, 9]])
    array([[7, 7, 7, 9, 9]])
    """
    levels, labels = np.asarray(levels, np.float64), np.array(markers, np.int64)
    if levels.shape != labels.shape or labels.ndim != 2:
        raise ValueError(f"levels and markers differ in shape: {levels.shape} and {labels.shape}")
    if np.isnan(levels).any():
        raise ValueError("a level is not a number")
    flood(levels, labels)
    return labels
