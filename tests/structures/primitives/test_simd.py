import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numba import njit

from structures.primitives.simd import (
    LANES,
    QUAD,
    ROW,
    lanes_with,
    larger,
    least_of_row,
    lowest_lane,
    prefetch,
    rarely,
    smaller,
)
from structures.testing import keys

ROWS = hnp.arrays(np.int64, 3 * LANES, elements=st.one_of(st.integers(-1, 1), keys()))


@njit
def _least_of_row(row, start, lanes):
    prefetch(row, start)
    prefetch(row, 10**6)  # no matter where
    return least_of_row(row, start, lanes), lowest_lane(lanes)


LONG_ROWS = hnp.arrays(np.int64, 2 * ROW, elements=st.one_of(st.integers(-1, 1), keys()))


@given(LONG_ROWS, st.integers(0, ROW), st.integers(1, 2**ROW - 1))
def test_least_of_row(row, start, lanes):
    chosen = [lane for lane in range(ROW) if lanes >> lane & 1]
    least = min(row[start + lane] for lane in chosen)
    holding = sum(1 << lane for lane in chosen if row[start + lane] == least)
    assert _least_of_row(row, start, lanes) == ((least, holding), chosen[0])


def test_a_lane_that_was_not_chosen_does_not_count():
    row = np.full(ROW, 2**63 - 1)
    assert _least_of_row(row, 0, 1 << 31) == ((2**63 - 1, 1 << 31), 31)
    row[:16] = 5
    assert _least_of_row(row, 0, 0xF000_0100) == ((5, 0x100), 8)


@pytest.mark.parametrize("value", [2**63 - 1, -(2**63), 0])
def test_all_lanes_tie(value):
    row = np.full(ROW, value)
    assert _least_of_row(row, 0, 0b1010_0100) == ((value, 0b1010_0100), 2)


@njit
def _lanes_with(row, start, one, other):
    return lanes_with(row, start, one, other), rarely(one == other)


@given(ROWS, st.integers(0, 2 * LANES), keys(), st.data())
def test_lanes_with(row, start, one, data):
    other = data.draw(st.sampled_from([one, *row.tolist()]))
    expected = sum(1 << lane for lane in range(QUAD) if row[start + lane] in (one, other))
    assert _lanes_with(row, start, one, other) == (expected, one == other)


@njit
def _both(one, other):
    return smaller(one, other), larger(one, other)


@given(keys(), keys())
def test_smaller_and_larger(one, other):
    """Signed; keys are the greatest and the least int64, too."""
    assert _both(one, other) == (min(one, other), max(one, other))
