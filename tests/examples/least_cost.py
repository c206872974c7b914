# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT
"""Least-cost paths over a raster with steps in eight directions: ``IndexedMinHeap``.

What it shows: a search that goes by the geometry of a grid. A step costs its length times the mean cost of
its two cells. All cells are found from one or many starts; a cell knows the step that led to it.

Complexity: O(n log n) for n cells, each of which is in the heap once at most.

Source: E. W. Dijkstra, A note on two problems in connexion with graphs (1959).

Timing: ``python asv_benchmarks/examples_table.py``.
"""

import numpy as np
from numba import njit

from structures import IndexedMinHeap

STEPS = np.array([(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)])
LENGTHS = np.hypot(STEPS[:, 0], STEPS[:, 1])
NO_STEP = -1


@njit(cache=True)
def search(costs, starts, total, came_by):
    """Fill `total` and `came_by`, ``(rows, columns)``, from the numbers of the start cells."""
    rows, columns = costs.shape
    front = IndexedMinHeap(costs.size, np.float64)
    for start in starts:
        total[start // columns, start % columns] = 0.0
        front[start] = 0.0
    while len(front) > 0:
        cell, so_far = front.pop()
        row, column = divmod(cell, columns)
        for step in range(8):
            to_row, to_column = row + STEPS[step, 0], column + STEPS[step, 1]
            if 0 <= to_row < rows and 0 <= to_column < columns:
                mean = (costs[row, column] + costs[to_row, to_column]) / 2
                reached = so_far + mean * LENGTHS[step]
                if reached < total[to_row, to_column]:
                    total[to_row, to_column] = reached
                    came_by[to_row, to_column] = step
                    front[to_row * columns + to_column] = reached


def least_costs(costs, starts):
    """Return the cost of the cheapest path from a start to every cell, and the last step of the path.

    Parameters
    ----------
    costs : (rows, columns) array_like of float
        The cost of a unit of length in each cell, 0 or more; ``inf`` for a cell that cannot be entered.
    starts : iterable of (int, int)
        Row and column of each.

    Returns
    -------
    total : (rows, columns) float64
        ``inf`` for a cell without a path.
    came_by : (rows, columns) int64
        Index into :data:`STEPS`; -1 at a start and for a cell without a path.

    Examples
    --------
    >>> total, came_by = least_costs([[1, 1, 1], [1, 9, 1]], [(0, 0)])
    >>> total.round(2)
    array([[0.  , 1.  , 2.  ],
           [1.  , 6.  , 2.41]])
    >>> path_to(came_by, (1, 2))
    [(0, 0), (0, 1), (1, 2)]
    """
    costs = np.ascontiguousarray(costs, np.float64)
    if not np.all(costs >= 0):
        raise ValueError("costs must be 0 or more")
    total = np.full(costs.shape, np.inf)
    came_by = np.full(costs.shape, NO_STEP)
    cells = [np.ravel_multi_index(start, costs.shape) for start in starts]
    search(costs, np.array(cells, np.int64), total, came_by)
    return total, came_by


def path_to(came_by, goal):
    """Return the (row, column) of every cell of a cheapest path, from its start to `goal`."""
    path = [goal]
    while came_by[path[-1]] != NO_STEP:
        step = STEPS[came_by[path[-1]]]
        path.append((int(path[-1][0] - step[0]), int(path[-1][1] - step[1])))
    return path[::-1]
