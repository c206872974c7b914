# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT

import agglomerative
import numpy as np
import pytest

from tests.optional import required

hierarchy = required("scipy.cluster").hierarchy
pdist = required("scipy.spatial.distance").pdist
squareform = required("scipy.spatial.distance").squareform


@pytest.mark.parametrize("method", ["average", "complete"])
@pytest.mark.parametrize("n", [2, 3, 10, 60, 200])
@pytest.mark.parametrize("kind", ["uniform", "groups", "chain"])
def test_the_same_merges(n, method, kind):
    rng = np.random.default_rng(n)
    points = {
        "uniform": rng.random((n, 3)),
        "groups": rng.integers(0, 4, (n, 1)) * 5 + rng.random((n, 3)),
        "chain": np.cumsum(1 + rng.random((n, 1)), axis=0)[rng.permutation(n)],
    }[kind]
    distances = pdist(points)
    found = agglomerative.linkage(squareform(distances), method)
    expected = hierarchy.linkage(distances, method)
    assert np.array_equal(found[:, [0, 1, 3]], expected[:, [0, 1, 3]])
    np.testing.assert_allclose(found[:, 2], expected[:, 2], rtol=1e-12)


@pytest.mark.parametrize("method", ["average", "complete"])
def test_ties_give_merges_in_order(method):
    """Which of the equal pairs is merged first may differ; heights rise, and clusters are merged once."""
    points = np.random.default_rng(1).integers(0, 4, (80, 2))
    found = agglomerative.linkage(squareform(pdist(points, "cityblock")), method)
    assert np.all(np.diff(found[:, 2]) >= -1e-12)
    assert hierarchy.is_valid_linkage(found)
    if method == "complete":
        assert found[0, 2] == 0


def test_one_point_and_bad_input():
    assert agglomerative.linkage([[0.0]]).shape == agglomerative.linkage(np.empty((0, 0))).shape == (0, 4)
    for bad in ([[0, 1], [2, 0]], [[0, np.nan], [np.nan, 0]], [1.0]):
        with pytest.raises(ValueError, match="symmetric"):
            agglomerative.linkage(bad)
    with pytest.raises(KeyError):
        agglomerative.linkage([[0.0]], "single")
