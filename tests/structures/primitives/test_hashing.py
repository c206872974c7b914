import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from structures import pack_pair, unpack_pair
from structures.primitives.hashing import FACTOR_BITS, MAX_ID, SEED, mix, mix_two
from structures.testing import keys

ID = st.one_of(
    st.integers(0, 3), st.integers(0, MAX_ID), st.just(MAX_ID), st.integers(-3, -1), st.integers(~MAX_ID, -1)
)


@njit
def _round_trip(left, right):
    key = pack_pair(left, right)
    return key, unpack_pair(key)


@given(ID, ID)
def test_pairs_round_trip(left, right):
    key = pack_pair(left, right)
    assert 0 <= key < 2**63 or left < 0 or right < 0
    assert unpack_pair(key) == (left, right)
    assert _round_trip(left, right) == (key, (left, right))


@given(keys())
def test_every_key_is_a_pair(key):
    pair = unpack_pair(key)
    assert pack_pair(*pair) == key
    assert _round_trip(*pair) == (key, pair)


@given(st.lists(st.tuples(ID, ID), max_size=10))
def test_keys_sort_as_pairs_do(pairs):
    pairs = [pair for pair in pairs if pair[0] > ~MAX_ID or pair[1] >= 0]
    assert sorted(pairs) == [unpack_pair(key) for key in sorted(pack_pair(*pair) for pair in pairs)]


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint32, np.int64, np.uint64])
def test_ids_of_any_integer_type(dtype):
    left, right = dtype(200 % np.iinfo(dtype).max), dtype(7)
    assert pack_pair(left, right) == int(left) << 32 | 7
    assert type(pack_pair(left, right)) is int
    assert _round_trip(left, right) == (pack_pair(left, right), (left, right))


@pytest.mark.parametrize("wrong", [2**31, 2**40, -(2**31) - 1, -(2**63)])
def test_ids_out_of_range(wrong):
    for pair in ((wrong, 1), (1, wrong)):
        with pytest.raises(ValueError, match=r"must be in \[-2\*\*31, 2\*\*31\)"):
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


def test_a_kernel_that_has_met_no_container_packs_pairs(python):
    python("""if True:
        import structures as st
        from numba import njit
        @njit
        def swapped(left, right):
            return st.unpack_pair(st.pack_pair(right, left))
        assert swapped(3, -1) == (-1, 3)
    """)


@given(keys().map(np.int64), st.integers(2, 61))
def test_homes_are_in_the_table(key, shift):
    assert 0 <= mix(key, SEED, shift) < 2 ** (64 - shift)
    assert mix(key, SEED, shift) == mix(key, SEED, shift - 1) >> 1


SEEDS = st.lists(keys(), min_size=3, max_size=3).map(lambda seed: np.array(seed, np.int64))


@given(keys().map(np.int64), SEEDS)
def test_mixing_is_a_folded_product_times_a_factor(key, seed):
    key, (factor, _, other) = int(key) % 2**64, (int(word) % 2**64 for word in seed)
    folded = (key * factor >> 64) ^ (key * factor % 2**64)
    assert mix(np.uint64(key).view(np.int64), seed, 3) == (folded * other % 2**64) >> 3


@given(keys().map(np.int64), keys().map(np.int64), SEEDS)
def test_mixing_of_two_words(word_0, word_1, seed):
    *added, factor = (int(word) % 2**64 for word in seed)
    hashed = 0
    for word, plus in zip((word_0, word_1), added, strict=True):
        low = (int(word) + plus) % 2**32
        hashed += low * (((int(word) % 2**64 >> 32) + (plus >> 32)) % 2**32)
    hashed %= 2**64
    hashed ^= hashed >> 32
    assert mix_two(word_0, word_1, seed, 3) == (hashed * factor % 2**64) >> 3


N = 1 << 14
NUMBERS = np.arange(N)
SPREADS = {
    "dense": NUMBERS,
    "negative": -NUMBERS,
    "thousands": NUMBERS * 1000,
    "fibonacci": NUMBERS * 1346269,
    "golden": NUMBERS * np.int64(0x9E3779B97F4A7C15 - 2**64),
    "inverse-golden": NUMBERS * np.int64(0xF1DE83E19937733D - 2**64),
    "pairs": NUMBERS >> 7 << 32 | NUMBERS & 127,
    "both-halves": NUMBERS << 32 | NUMBERS,
    "folded": NUMBERS << 44 ^ NUMBERS << 12,
    "complements": np.concatenate([NUMBERS[: N // 2] << 40, ~(NUMBERS[: N // 2] << 40)]),
    "sign": np.concatenate([NUMBERS[: N // 2], NUMBERS[: N // 2] | np.int64(-(2**63))]),
    "bits": sum((NUMBERS >> bit & 1) << 4 * bit for bit in range(14)),
    "floats": NUMBERS.astype(np.float64).view(np.int64),
    "random": np.random.default_rng(0).integers(-(2**63), 2**63 - 1, N),
} | {f"shifted-{by}": NUMBERS << by for by in (8, 20, 32, 40, 46, 49)}


@njit
def homes_of(keys, seed, bits):
    homes = np.empty(keys.size, np.int64)
    for i in range(keys.size):
        homes[i] = mix(keys[i], seed, 64 - bits)
    return homes


def walk(keys, seed, bits, room=4):
    """Return how many full buckets all searches in a table of ``2**bits`` buckets walk past."""
    count_of = np.bincount(homes_of(keys, seed, bits), minlength=1 << bits)
    waiting, total = 0, 0
    for count in (count_of - room).tolist() * 2:  # twice: around the end of the table
        waiting = max(0, waiting + count)
        total += waiting
    return total / 2


@pytest.mark.parametrize("keys", SPREADS.values(), ids=SPREADS)
def test_no_set_of_keys_makes_searches_long_whatever_the_secret(keys, rng):
    """Differences, progressions, what undoes a known hash: with every seed about as good as chance.

    Half of the slots are occupied. By chance 0.05 full buckets are passed in a search.
    """
    for _ in range(20):
        seed = rng.integers(-(2**63), 2**63 - 1, 3) | FACTOR_BITS
        assert walk(keys, seed, 13) < 0.2 * keys.size


def test_keys_that_collide_under_one_secret_do_not_under_another(rng):
    seed, other = rng.integers(-(2**63), 2**63 - 1, (2, 3)) | FACTOR_BITS
    keys = rng.integers(-(2**63), 2**63 - 1, 1 << 18)
    chosen = keys[homes_of(keys, seed, 6) == 7]
    assert walk(chosen, seed, 11) > 100 * chosen.size
    assert walk(chosen, other, 11) < chosen.size
