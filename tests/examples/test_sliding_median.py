# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT

import statistics
from bisect import bisect_left, insort

import numpy as np
import pytest
import sliding_median
from hypothesis import given
from hypothesis import strategies as st

from tests.optional import required

NUMBERS = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e300, 1e300), st.just(-0.0))


def by_numpy(series, width):
    """Return the same: sort every window."""
    return np.median(np.lib.stride_tricks.sliding_window_view(series, width), axis=1)


def by_sorted_list(series, width):
    """Return the same: a sorted list of Python."""
    window, medians = sorted(series[: width - 1]), []
    for i in range(width - 1, len(series)):
        insort(window, series[i])
        medians.append((window[(width - 1) // 2] + window[width // 2]) / 2)
        del window[bisect_left(window, series[i - width + 1])]
    return np.array(medians)


def by_scipy(series, width):
    """Return the same, for an odd width."""
    from scipy.ndimage import median_filter

    return median_filter(series, width)[width // 2 : series.size - width // 2]


def slow(series, width):
    return [statistics.median(series[i : i + width]) for i in range(len(series) - width + 1)]


@given(st.lists(NUMBERS, min_size=1, max_size=40), st.data())
def test_against_statistics(series, data):
    width = data.draw(st.integers(1, len(series)))
    assert sliding_median.sliding_median(series, width).tolist() == slow(series, width)


@pytest.mark.parametrize("width", [1, 2, 51, 400, 2000])
def test_a_long_series(width):
    rng = np.random.default_rng(width)
    for series in (rng.normal(size=2000), rng.integers(0, 5, 2000) / 2, np.arange(2000.0), np.ones(2000)):
        medians = sliding_median.sliding_median(series, width)
        assert np.array_equal(medians, by_numpy(series, width))
        assert np.array_equal(medians, by_sorted_list(series.tolist(), width))


def test_against_scipy():
    required("scipy")
    series = np.random.default_rng(0).normal(size=5000)
    assert np.array_equal(sliding_median.sliding_median(series, 101), by_scipy(series, 101))


def test_what_is_refused():
    for width in (0, 4, -1):
        with pytest.raises(ValueError, match="width must be from 1 to 3"):
            sliding_median.sliding_median([1, 2, 3], width)
    with pytest.raises(ValueError, match="not a number"):
        sliding_median.sliding_median([1, np.nan], 1)
