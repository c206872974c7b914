import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from structures.hash_tables import byte_keys
from structures.primitives.hashing import SEED
from structures.primitives.simd import local_words, pointer_to

LENGTHS = [0, 1, 7, 8, 9, 14, 15, 16, 17, 23, 24, 25, 40]
STRING = st.one_of(st.binary(max_size=20), st.sampled_from(LENGTHS).map(lambda n: b"\0" * n), st.binary())


def short_key(string):
    """The key of at most 15 bytes, from its definition."""
    word_0 = int.from_bytes(string[:8].ljust(8, b"\0"), "little", signed=True)
    return word_0, int.from_bytes(string[8:].ljust(7, b"\0") + bytes([len(string) + 1]), "little")


@njit
def key_of(data, start, end):
    return byte_keys.key_of(pointer_to(data, start), end - start, data.size - start, SEED)


@njit
def parts_of(word_1):
    return byte_keys.is_long(word_1), byte_keys.length_of(word_1)


@njit
def keys_of(data, offsets, first, n):
    word_0s, word_1s = local_words(100), local_words(100)
    starts, ends = pointer_to(offsets, first), pointer_to(offsets, first + 1)
    byte_keys.keys_of(data, starts, ends, n, pointer_to(SEED, 0), word_0s, word_1s)
    return [(word_0s[i], word_1s[i]) for i in range(n)]


@given(STRING, st.binary(max_size=20))
def test_a_key_depends_on_the_string_alone(string, after):
    data = np.frombuffer(b"?" + string + after, np.uint8)
    key = key_of(data, 1, 1 + len(string))
    assert parts_of(key[1]) == (len(string) > 15, len(string))
    if len(string) <= 15:
        assert key == short_key(string)
    assert key == key_of(np.frombuffer(string, np.uint8), 0, len(string))


@given(st.lists(STRING, min_size=1, max_size=100), st.integers(0, 99), st.integers(0, 40))
def test_many_keys_equal_single_keys(strings, first, n_after):
    data = np.frombuffer(b"".join(strings) + b"\xff" * n_after, np.uint8)
    edges = np.cumsum([0, *map(len, strings)])
    first = min(first, len(strings) - 1)
    expected = [key_of(data, *edges[i : i + 2]) for i in range(first, len(strings))]
    for dtype in (np.int32, np.int64):
        assert keys_of(data, edges.astype(dtype), first, len(strings) - first) == expected


@pytest.mark.parametrize("n_after", [0, 20])
def test_short_strings_of_every_length(n_after):
    text = bytes(range(1, 200))
    edges = np.cumsum([0, *range(16)])
    data = np.frombuffer(text[: edges[-1] + n_after], np.uint8)
    strings = [text[edges[i] : edges[i + 1]] for i in range(16)]
    assert keys_of(data, edges, 0, 16) == list(map(short_key, strings))
