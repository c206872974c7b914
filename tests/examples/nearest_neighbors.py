# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT
"""The k nearest neighbors of every point: ``KBest`` under ``prange``.

What it shows: one container for all rows, made inside ``@njit`` and shared by threads without locks, because
each thread has rows of its own; and ``worst(row)``, which most candidates are compared with and no more.

All distances are computed, block by block, so that the coordinates of a block of candidates stay in the cache
while a block of points goes by. That is what tree searches fall back to in many dimensions.

Complexity: O(n^2 d) for n points in d dimensions, of which the pushes are a small part; O(n k) memory.

Timing: ``python asv_benchmarks/examples_table.py``.
"""

import numpy as np
from numba import njit, prange

from structures import KBest

BLOCK = 256  # points; 256 * 16 coordinates are 16 kB


@njit(cache=True, parallel=True)
def search(coordinates, k):
    """Return the neighbors of all points, whose coordinates are ``(d, n) float32``, by squared distance."""
    n_dimensions, n = coordinates.shape
    nearest = KBest(n, k)
    for block in prange((n + BLOCK - 1) // BLOCK):
        points = range(block * BLOCK, min((block + 1) * BLOCK, n))
        squares = np.empty(BLOCK, np.float32)
        for start in range(0, n, BLOCK):
            end = min(start + BLOCK, n)
            for point in points:
                squares[: end - start] = 0
                for dimension in range(n_dimensions):
                    here = coordinates[dimension, point]
                    for i in range(end - start):
                        difference = coordinates[dimension, start + i] - here
                        squares[i] += difference * difference
                for i in range(end - start):
                    if squares[i] <= nearest.worst(point) and start + i != point:
                        nearest.push_unchecked(point, squares[i], start + i)
    return nearest


def neighbors(points, k):
    """Return the distances and the numbers of the `k` nearest other points of every point.

    Parameters
    ----------
    points : (n, d) array_like of float
        Rounded to float32.
    k : int

    Returns
    -------
    distances : (n, k) float32
        Ascending; inf where there are not so many points.
    ids : (n, k) int32
        Of equal distances, the smallest number first; -1 where there are not so many points.

    Examples
    --------
    >>> neighbors([[0.0], [1.0], [3.0]], 2)[1]
    array([[1, 2],
           [0, 2],
           [1, 0]], dtype=int32)
    """
    coordinates = np.ascontiguousarray(np.transpose(points), np.float32)
    squares, ids = search(coordinates, k).to_arrays()
    return np.sqrt(squares), ids
