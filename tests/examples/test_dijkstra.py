# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT

from heapq import heappop, heappush

import dijkstra
import numpy as np
import pytest


def with_heapq(cost, start):
    """Return the distances, from a queue that may hold a cell more than once."""
    rows, columns = cost.shape
    distance = np.full(cost.shape, np.inf)
    queue = [(0.0, start)]
    while queue:
        traveled, (row, column) = heappop(queue)
        if traveled >= distance[row, column]:
            continue
        distance[row, column] = traveled
        for near in ((row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column)):
            if 0 <= near[0] < rows and 0 <= near[1] < columns and cost[near] < np.inf:
                heappush(queue, (traveled + cost[near], near))
    return distance


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (7, 13), (40, 30)])
@pytest.mark.parametrize("kind", ["real", "ties", "free", "walls"])
def test_distances(shape, kind):
    rng = np.random.default_rng(sum(shape))
    cost = {
        "real": rng.random(shape),
        "ties": rng.integers(1, 3, shape).astype(float),
        "free": rng.integers(0, 2, shape).astype(float),
        "walls": np.where(rng.random(shape) < 0.35, np.inf, rng.random(shape)),
    }[kind]
    start = tuple(int(i) for i in rng.integers(0, shape))
    distance, came_from = dijkstra.shortest_paths(cost, start)
    np.testing.assert_array_equal(distance, with_heapq(cost, start))
    for goal in np.ndindex(shape):
        path = dijkstra.path_to(came_from, goal)
        if np.isinf(distance[goal]):
            assert path == [goal]
        else:
            assert path[0] == start
            assert np.isclose(sum(cost[cell] for cell in path[1:]), distance[goal])


@pytest.mark.parametrize("bad", [-1.0, np.nan])
def test_costs_below_0_are_refused(bad):
    with pytest.raises(ValueError, match="0 or more"):
        dijkstra.shortest_paths([[1.0, bad]], (0, 0))
