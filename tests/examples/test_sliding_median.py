# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT

import statistics

import numpy as np
import pytest
import sliding_median
from hypothesis import given
from hypothesis import strategies as st

from tests.optional import required

NUMBERS = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e300, 1e300), st.just(-0.0))


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
        assert np.array_equal(medians, sliding_median.by_numpy(series, width))
        assert np.array_equal(medians, sliding_median.by_sorted_list(series.tolist(), width))


def test_against_scipy():
    required("scipy")
    series = np.random.default_rng(0).normal(size=5000)
    assert np.array_equal(sliding_median.sliding_median(series, 101), sliding_median.by_scipy(series, 101))


def test_what_is_refused():
    for width in (0, 4, -1):
        with pytest.raises(ValueError, match="width must be from 1 to 3"):
            sliding_median.sliding_median([1, 2, 3], width)
    with pytest.raises(ValueError, match="not a number"):
        sliding_median.sliding_median([1, np.nan], 1)


def test_the_command_runs(capsys):
    required("scipy")
    sliding_median.main(["--small"])
    assert capsys.readouterr().out.count("SortedMap") == 2
