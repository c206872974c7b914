import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from structures.primitives.priorities import as_count, from_order, refusal, sum_leaves_range, to_order
from structures.status import INT64_MAX, INT64_MIN, NEGATIVE, NOT_A_NUMBER, OK, OVERFLOW
from structures.testing import counts

INTEGERS, FLOATS = counts("int64"), counts("float64")


@njit
def _round_trip(priority):
    order = to_order(priority)
    return order, from_order(order, priority)


@njit
def _leaves_range(value, delta):
    return sum_leaves_range(value, delta)


@given(INTEGERS)
def test_an_integer_is_its_own_order(priority):
    assert _round_trip(priority) == (priority, priority)


@given(FLOATS, FLOATS)
def test_orders_compare_as_the_floats(one, other):
    order, back = _round_trip(one)
    other_order, _ = _round_trip(other)
    assert (order < other_order) == (one < other)
    assert (order == other_order) == (one == other)
    assert back == one
    assert math.copysign(1, back) == 1 or one < 0  # there is one zero
    assert INT64_MIN < order < INT64_MAX


@given(st.floats(allow_nan=False, width=32), st.floats(allow_nan=False, width=32))
def test_orders_compare_as_the_short_floats(one, other):
    order, back = _round_trip(np.float32(one))
    assert (order < _round_trip(np.float32(other))[0]) == (one < other)
    assert order == _round_trip(one)[0]
    assert back == one
    assert _short_back(one) == np.float32(one)


@njit
def _short_back(priority):
    return from_order(to_order(priority), np.float32(0))


@given(INTEGERS, INTEGERS)
def test_sums_of_integers(value, delta):
    assert _leaves_range(value, delta) == (not INT64_MIN <= value + delta <= INT64_MAX)


@given(FLOATS, FLOATS)
def test_sums_of_floats(value, delta):
    assert _leaves_range(value, delta) == math.isnan(value + delta)


@pytest.mark.parametrize(("value", "zero"), [(3, 0), (3, 0.0), (2.5, 0.0), (True, 0), (-1, 0.0)])
def test_as_count(value, zero):
    @njit
    def compiled(value, zero):
        return as_count(value, zero)

    assert compiled(value, zero) == value
    assert type(compiled(value, zero)) is type(zero)


@pytest.mark.parametrize("value", [3, 2.5, 0.1, -(2**40) - 1, True])
def test_as_short_float(value):
    @njit
    def compiled(value):
        return as_count(value, np.float32(0)) == np.float32(value), as_count(value, np.float32(0))

    assert compiled(value) == (True, np.float32(value))


def test_refusals():
    refused = [refusal(-1, False, 0), refusal(0, False, 0), refusal(3, True, 0), refusal(math.nan, True, 0.0)]
    assert refused == [NEGATIVE, OK, OVERFLOW, NOT_A_NUMBER]
