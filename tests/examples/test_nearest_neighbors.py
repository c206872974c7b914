# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT

import nearest_neighbors
import numpy as np
import pytest

from tests.optional import required

cKDTree = required("scipy.spatial").cKDTree


def by_sorting(points, k):
    """Return squared distances and numbers, all sorted."""
    squares = ((points[:, None] - points[None]) ** 2).sum(axis=2).astype(float)
    np.fill_diagonal(squares, np.inf)
    ids = np.broadcast_to(np.arange(len(points)), squares.shape)
    order = np.lexsort((ids, squares), axis=1)[:, :k]
    return np.take_along_axis(squares, order, axis=1), order


@pytest.mark.parametrize("n", [1, 2, 255, 256, 257, 600])
def test_ties_go_to_the_smallest_number(n):
    points = np.random.default_rng(n).integers(0, 6, (n, 3))  # squares that float32 holds
    k = min(10, n - 1)
    distances, ids = nearest_neighbors.neighbors(points, 10)
    squares, order = by_sorting(points, k)
    assert np.array_equal(ids[:, :k], order)
    assert np.array_equal(distances[:, :k], np.sqrt(squares, dtype=np.float32))
    assert np.all(ids[:, k:] == -1)
    assert np.all(distances[:, k:] == np.inf)


def test_against_a_tree():
    points = np.random.default_rng(1).random((1000, 4), dtype=np.float32)
    distances, ids = nearest_neighbors.neighbors(points, 15)
    expected, order = cKDTree(points).query(points, 16)
    assert np.allclose(distances, expected[:, 1:], rtol=1e-5)
    assert np.mean(ids == order[:, 1:]) > 0.999  # a tie in float32 may be none in float64
