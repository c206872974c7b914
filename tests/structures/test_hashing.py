import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from structures import pack_pair, unpack_pair
from structures.hashing import MAX_ID, mix
from structures.testing import keys

ID = st.one_of(st.integers(0, 3), st.integers(0, MAX_ID), st.just(MAX_ID))


@njit
def _round_trip(left, right):
    key = pack_pair(left, right)
    return key, unpack_pair(key)


@given(ID, ID)
def test_pairs_round_trip(left, right):
    key = pack_pair(left, right)
    assert 0 <= key < 2**63
    assert unpack_pair(key) == (left, right)
    assert _round_trip(left, right) == (key, (left, right))


@given(st.lists(st.tuples(ID, ID), max_size=10))
def test_keys_sort_as_pairs_do(pairs):
    assert sorted(pairs) == [unpack_pair(key) for key in sorted(pack_pair(*pair) for pair in pairs)]


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint32, np.int64, np.uint64])
def test_ids_of_any_integer_type(dtype):
    left, right = dtype(200 % np.iinfo(dtype).max), dtype(7)
    assert pack_pair(left, right) == int(left) << 32 | 7
    assert type(pack_pair(left, right)) is int
    assert _round_trip(left, right) == (pack_pair(left, right), (left, right))


@pytest.mark.parametrize("wrong", [-1, 2**31, 2**40, -(2**63)])
def test_ids_out_of_range(wrong):
    for pair in ((wrong, 1), (1, wrong)):
        with pytest.raises(ValueError, match=r"must be in \[0, 2\*\*31\)"):
            pack_pair(*pair)


def test_ids_and_pairs_of_wrong_types():
    with pytest.raises(TypeError, match="left must be an integer"):
        pack_pair(1.0, 2)
    with pytest.raises(TypeError, match="right must be an integer"):
        pack_pair(1, "2")
    with pytest.raises(OverflowError):
        pack_pair(1, 2**64)
    with pytest.raises(TypeError):
        unpack_pair(1.0)
    for key in (-1, -(2**63), 2**31, 2**32 - 1):
        with pytest.raises(ValueError, match="is not a packed pair"):
            unpack_pair(key)


@given(keys().map(np.int64), st.integers(2, 61))
def test_homes_are_in_the_table(key, shift):
    assert 0 <= mix(key, shift) < 2 ** (64 - shift)
    assert mix(key, shift) == mix(key, shift - 1) >> 1


@given(keys().map(np.int64))
def test_mixing_is_fibonacci_hashing(key):
    folded = int(key) % 2**64
    folded ^= folded >> 32
    assert mix(key, 3) == (folded * 0x9E3779B97F4A7C15 % 2**64) >> 3


@pytest.mark.parametrize(
    "spread",
    [
        np.arange(4096),
        np.arange(4096) << 32,
        np.arange(4096) << 20,
        np.arange(4096) * 1000,
        -np.arange(4096),
        np.array([pack_pair(left, right) for left in range(64) for right in range(64)]),
        np.random.default_rng(0).integers(-(2**63), 2**63 - 1, 4096),
    ],
    ids=["dense", "lefts", "middle", "thousands", "negative", "pairs", "random"],
)
def test_homes_are_spread(spread):
    """No pattern of keys is much worse than chance, which puts about ten into one of 8192 slots."""
    homes = np.array([mix(key, 64 - 13) for key in spread])
    assert np.bincount(homes).max() <= 12
    assert np.unique(homes).size > 2800
