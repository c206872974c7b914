import math

import pytest
from hypothesis import given
from numba import njit

from structures.priorities import as_count, from_order, sum_leaves_range, to_order
from structures.status import INT64_MAX, INT64_MIN
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
