# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT

from heapq import heapify, heappop, heappush

import numpy as np
import priority_flood
import pytest

from tests.optional import required

reconstruction = required("skimage.morphology").reconstruction


def with_heapq(elevation):
    """The simplest form: every cell goes through the heap."""
    level = np.array(elevation, float)
    rows, columns = level.shape
    border = [
        cell for cell in np.ndindex(level.shape) if cell[0] in (0, rows - 1) or cell[1] in (0, columns - 1)
    ]
    front = [(level[cell], cell) for cell in border]
    heapify(front)
    is_reached = set(border)
    while front:
        _, (row, column) = heappop(front)
        for near in np.ndindex(3, 3):
            cell = row + near[0] - 1, column + near[1] - 1
            if 0 <= cell[0] < rows and 0 <= cell[1] < columns and cell not in is_reached:
                is_reached.add(cell)
                level[cell] = max(level[cell], level[row, column])
                heappush(front, (level[cell], cell))
    return level


def by_erosion(elevation):
    """A morphological reconstruction gives the same terrain."""
    seed = np.full(elevation.shape, elevation.max())
    for side in (np.s_[0], np.s_[-1], np.s_[:, 0], np.s_[:, -1]):
        seed[side] = elevation[side]
    return reconstruction(seed, elevation, method="erosion", footprint=np.ones((3, 3)))


@pytest.mark.parametrize("shape", [(1, 1), (1, 8), (2, 9), (3, 3), (25, 40), (60, 31)])
@pytest.mark.parametrize("kind", ["real", "ties", "slope"])
def test_terrains(shape, kind):
    rng = np.random.default_rng(sum(shape))
    elevation = {
        "real": rng.random(shape),
        "ties": rng.integers(0, 4, shape).astype(float),
        "slope": np.add.outer(np.arange(shape[0]), np.arange(shape[1])) + rng.random(shape),
    }[kind]
    given = elevation.copy()
    level = priority_flood.filled(elevation)
    assert np.array_equal(level, with_heapq(elevation))
    assert np.array_equal(level, by_erosion(elevation))
    assert np.array_equal(elevation, given)


def test_infinite_walls_hold_a_lake():
    elevation = np.full((5, 5), np.inf)
    elevation[2, 2] = 0
    assert np.all(np.isinf(priority_flood.filled(elevation)))
    with pytest.raises(ValueError, match="not a number"):
        priority_flood.filled([[np.nan]])
