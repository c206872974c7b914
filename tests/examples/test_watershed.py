# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import watershed

from tests.optional import required

skimage = required("skimage")
required("skimage.segmentation")


def scene(kind, shape):
    """Return levels and markers; markers have levels of their own, so that their order is defined."""
    rng = np.random.default_rng(sum(shape))
    size = shape[0] * shape[1]
    levels = {
        "real": rng.random(shape),
        "ties": rng.integers(100, 103, shape),
        "flat": np.full(shape, 100),
        "bytes": rng.integers(100, 200, shape).astype(np.uint8),
    }[kind]
    markers = np.zeros(shape, np.int32)
    n = min(9, size)
    places = rng.permutation(size)[:n]
    markers.flat[places] = np.arange(1, n + 1)
    if kind != "real":
        levels.flat[places] = rng.permutation(n)
    return levels, markers


@pytest.mark.parametrize("shape", [(1, 1), (1, 30), (30, 1), (20, 31), (90, 70)])
@pytest.mark.parametrize("kind", ["real", "ties", "flat", "bytes"])
def test_the_same_labels(kind, shape):
    levels, markers = scene(kind, shape)
    expected = skimage.segmentation.watershed(levels, markers, connectivity=1)
    assert np.array_equal(watershed.watershed(levels, markers), expected)


def test_basins_meet_in_the_middle_of_a_plateau():
    levels, markers = np.ones((1, 9)), np.zeros((1, 9), np.int64)
    markers[0, [0, 8]] = 1, 2
    assert watershed.watershed(levels, markers).tolist() == [[1, 1, 1, 1, 1, 2, 2, 2, 2]]


def test_shapes_differ():
    with pytest.raises(ValueError, match="differ in shape"):
        watershed.watershed(np.zeros((2, 3)), np.zeros((3, 2)))
    with pytest.raises(ValueError, match="not a number"):
        watershed.watershed([[np.nan]], [[1]])
