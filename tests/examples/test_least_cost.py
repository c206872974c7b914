# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT

from itertools import pairwise

import least_cost
import numpy as np
import pytest

from tests.optional import required

MCP_Geometric = required("skimage.graph").MCP_Geometric


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (7, 1), (30, 40), (83, 61)])
@pytest.mark.parametrize("kind", ["real", "ties", "walls"])
def test_costs(shape, kind):
    rng = np.random.default_rng(sum(shape))
    costs = {
        "real": rng.random(shape) + 0.01,
        "ties": rng.integers(1, 3, shape).astype(float),
        "walls": np.where(rng.random(shape) < 0.3, np.inf, rng.random(shape)),
    }[kind]
    starts = [tuple(int(i) for i in rng.integers(0, shape)) for _ in range(3)]
    for start in starts:
        costs[start] = 0.5
    total, came_by = least_cost.least_costs(costs, starts)
    expected, _ = MCP_Geometric(costs, fully_connected=True).find_costs(starts)
    np.testing.assert_allclose(total, expected, rtol=1e-12)
    for goal in zip(*(rng.integers(0, size, 20).tolist() for size in shape), strict=True):
        path = least_cost.path_to(came_by, goal)
        if np.isinf(total[goal]):
            assert path == [goal]
            continue
        assert path[0] in starts
        sums = [
            np.hypot(*np.subtract(one, two)) * (costs[one] + costs[two]) / 2 for one, two in pairwise(path)
        ]
        assert np.isclose(sum(sums), total[goal])


@pytest.mark.parametrize("bad", [-1.0, np.nan])
def test_costs_below_0_are_refused(bad):
    with pytest.raises(ValueError, match="0 or more"):
        least_cost.least_costs([[1.0, bad]], [(0, 0)])
