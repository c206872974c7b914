# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT

import heapq
from itertools import chain

import k_way_merge
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

NUMBERS = st.one_of(st.integers(-3, 3).map(float), st.floats(allow_nan=False), st.just(-0.0))
RUNS = st.lists(st.lists(NUMBERS, max_size=12).map(sorted), max_size=8)


@given(RUNS)
def test_against_heapq_and_numpy(runs):
    merged, order = k_way_merge.merge(runs)
    assert merged.tolist() == list(heapq.merge(*runs))
    assert order.tolist() == np.argsort(np.array([*chain(*runs)]), kind="stable").tolist()


@given(RUNS, st.integers(0, 20))
def test_the_first_few(runs, n):
    assert k_way_merge.merge(runs, n)[0].tolist() == sorted(chain(*runs))[:n]


def test_many_runs():
    numbers = np.sort(np.random.default_rng(1).integers(0, 50, (300, 40)), axis=1)
    merged, order = k_way_merge.merge(numbers)
    assert np.array_equal(merged, np.sort(numbers, axis=None))
    assert np.array_equal(order, np.argsort(numbers, axis=None, kind="stable"))


@pytest.mark.parametrize("bad", [[2, 1], [1, np.nan]])
def test_runs_must_ascend(bad):
    with pytest.raises(ValueError, match="run 1 does not ascend"):
        k_way_merge.merge([[1], bad])
