# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT
"""Shortest paths on a weighted grid: ``MinHeap`` as a queue with decrease-key.

What it shows: the heap is made in Python and passed to an ``@njit`` function; keys are cells, counts are
distances (float64). ``queue[cell] = distance`` inserts a cell or moves it, so that no cell is in the queue
twice. A plain heap of (distance, cell) fills up with stale entries.

Complexity: O(n log n) for n cells, with at most n entries in the queue.

Source: E. W. Dijkstra, A note on two problems in connexion with graphs (1959).
"""

import numpy as np
from numba import njit

from structures import MinHeap

NOWHERE = -1


@njit(cache=True)
def search(cost, start, queue, distance, came_from):
    """Fill `distance` and `came_from`, both ``(n_cells,)``, for every cell that can be reached."""
    rows, columns = cost.shape
    distance[start] = 0.0
    queue[start] = 0.0
    while len(queue) > 0:
        cell, traveled = queue.pop()
        row, column = divmod(cell, columns)
        for down, right in ((-1, 0), (0, -1), (0, 1), (1, 0)):
            if 0 <= row + down < rows and 0 <= column + right < columns:
                neighbor = cell + down * columns + right
                reached = traveled + cost[row + down, column + right]
                if reached < distance[neighbor]:
                    distance[neighbor] = reached
                    came_from[neighbor] = cell
                    queue[neighbor] = reached  # decrease-key, or a cell seen for the first time


def shortest_paths(cost, start):
    """Return the distance of every cell from a start, and the cell before it on a shortest path.

    Parameters
    ----------
    cost : (rows, columns) array_like of float
        The cost of a step into a cell from one of its four neighbors, 0 or more; ``inf`` for a wall.
    start : (int, int)
        Row and column.

    Returns
    -------
    distance : (rows, columns) float64
        ``inf`` for a cell without a path.
    came_from : (rows, columns) int64
        Number of a cell, ``row * columns + column``; -1 at the start and for a cell without a path.

    Examples
    --------
    >>> distance, came_from = shortest_paths([[1, 9, 1], [1, 1, 1]], (0, 0))
    >>> float(distance[0, 2])
    4.0
    >>> path_to(came_from, (0, 2))
    [(0, 0), (1, 0), (1, 1), (1, 2), (0, 2)]
    """
    cost = np.ascontiguousarray(cost, np.float64)
    if not np.all(cost >= 0):
        raise ValueError("costs must be 0 or more")
    distance = np.full(cost.size, np.inf)
    came_from = np.full(cost.size, NOWHERE)
    search(cost, np.ravel_multi_index(start, cost.shape), MinHeap(dtype=float), distance, came_from)
    return distance.reshape(cost.shape), came_from.reshape(cost.shape)


def path_to(came_from, goal):
    """Return the (row, column) of every cell of a shortest path, from the start to `goal`."""
    path = [goal]
    while came_from[path[-1]] != NOWHERE:
        path.append(divmod(int(came_from[path[-1]]), came_from.shape[1]))
    return path[::-1]
