import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structures.primitives.sorting import BYTES, RUN, sort, sort_entries
from structures.testing import keys


@given(st.lists(keys()))
def test_small(numbers):
    array = np.array(numbers, np.int64)
    sort(array)
    assert array.tolist() == sorted(numbers)


@pytest.mark.parametrize("n_distinct", [1, 3, 10**9])
@pytest.mark.parametrize("n", [RUN - 1, RUN, RUN + 1, 2 * RUN, 2 * RUN + 1, 4 * RUN - 1, 5 * RUN, 1000])
def test_every_shape(n, n_distinct, rng):
    numbers = rng.integers(-n_distinct, n_distinct, n)
    for array in (numbers.copy(), np.sort(numbers), np.sort(numbers)[::-1].copy()):
        sort(array)
        assert np.array_equal(array, np.sort(numbers))


def test_a_part_of_an_array():
    array = np.arange(100)[::-1].copy()
    sort(array[20:80])
    assert array.tolist() == [*range(99, 79, -1), *range(20, 80), *range(19, -1, -1)]


@given(st.lists(keys()))
def test_entries(numbers):
    arrays = [np.array(numbers, np.int64), np.arange(len(numbers)), *(np.empty(len(numbers), np.int64),) * 2]
    arrays[3] = arrays[3].copy()
    is_in_others = sort_entries(*arrays, np.empty(BYTES, np.int64))
    found, places = arrays[2:] if is_in_others else arrays[:2]
    assert found.tolist() == sorted(numbers)
    assert places.tolist() == sorted(range(len(numbers)), key=numbers.__getitem__)  # stable
