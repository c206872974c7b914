# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT

import a_star
import dijkstra
import numpy as np
import pytest


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (7, 13), (40, 30)])
@pytest.mark.parametrize("kind", ["real", "ties", "free", "walls"])
def test_the_same_cost_as_dijkstra(shape, kind):
    rng = np.random.default_rng(sum(shape))
    cost = {
        "real": rng.random(shape),
        "ties": rng.integers(1, 3, shape).astype(float),
        "free": rng.integers(0, 2, shape).astype(float),
        "walls": np.where(rng.random(shape) < 0.35, np.inf, rng.random(shape)),
    }[kind]
    start = tuple(int(i) for i in rng.integers(0, shape))
    distance, _ = dijkstra.shortest_paths(cost, start)
    for goal in rng.integers(0, shape, (20, 2)).tolist():
        total, path, _ = a_star.shortest_path(cost, start, tuple(goal))
        assert total == pytest.approx(distance[tuple(goal)])
        if np.isinf(total):
            assert path == []
            continue
        assert path[0] == start
        assert path[-1] == tuple(goal)
        steps = np.abs(np.diff(path, axis=0)).sum(axis=1) if len(path) > 1 else np.ones(0)
        assert np.all(steps == 1)
        assert sum(cost[cell] for cell in path[1:]) == pytest.approx(total)


def test_most_cells_are_not_looked_at():
    cost = np.random.default_rng(1).uniform(1, 1.02, (200, 200))
    _, _, n_left = a_star.shortest_path(cost, (100, 50), (100, 150))
    assert n_left < cost.size / 10


def test_walls_everywhere():
    assert a_star.shortest_path([[np.inf, np.inf]], (0, 0), (0, 1)) == (np.inf, [], 1)


@pytest.mark.parametrize("bad", [-1.0, np.nan])
def test_costs_below_0_are_refused(bad):
    with pytest.raises(ValueError, match="0 or more"):
        a_star.shortest_path([[1.0, bad]], (0, 0), (0, 1))
