"""The table of short pieces against a dict, with its invariants after every step."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe.encoding import short_pieces as module
from structures import kernel
from structures.kernels import pointer_to
from structures.primitives.simd import _py_multiply_fold

ROWS = module.LAST_ROWS


def check(slots, shift, factor):
    """Assert the invariants, by number."""
    table, rows = slots[: -2 * ROWS].reshape(-1, 2), slots[-2 * ROWS :].reshape(-1, 2)
    n_slots = 1 << (64 - shift)
    assert len(table) == n_slots, "invariant 1"
    assert 2 * np.count_nonzero(table[:, 0]) <= n_slots, "invariant 1"
    for slot in np.flatnonzero(table[:, 0]).tolist():
        home = (int(_py_multiply_fold(int(table[slot, 0]), factor)) % 2**64) >> shift
        way = [(home + k) % n_slots for k in range((slot - home) % n_slots)]
        assert (table[way, 0] != 0).all(), "invariant 2"
    assert (table[table[:, 0] == 0] == 0).all(), "invariant 3"
    assert (rows[:, 0] == module.NO_WORD).all(), "invariant 3"


@kernel
def put(slots, factor, shift, word, packed):
    at = module.find(slots, word, module.home_of(word, factor, shift))
    slots[at], slots[at + 1] = word, packed


@kernel
def get(slots, factor, shift, word):
    at = module.find(slots, word, module.home_of(word, factor, shift))
    return slots[at + 1] if slots[at] == word else -1


@kernel
def words_of(data, start, length):
    text = pointer_to(data, start)
    near = module.word_of(text, length) if length <= module.SHORT else module.NO_WORD
    return near, module.word_at(pointer_to(data, 0), start, length)


@kernel
def moved(older, bits, factor, shift):
    slots = module.empty_slots(bits)
    module.move_all(older, slots, factor, shift)
    return slots


@given(st.binary(min_size=20, max_size=20), st.integers(0, 10), st.integers(1, 10))
def test_words(data, start, length):
    one, other = words_of(np.frombuffer(bytearray(data), np.uint8), start, length)
    if length <= 7:
        expected = int.from_bytes(
            data[start : start + length] + bytes(7 - length) + bytes([length]), "little"
        )
        assert one == other == expected
    else:
        assert other >= module.NO_WORD == one


def test_the_words_of_different_pieces_differ():
    pieces = [b"", b"\0", b"\0\0", b"a", b"a\0", b"a\0\0", b"\0a", b"abcdefg", b"abcdef", b"\xff" * 7]
    assert len({words_of(np.frombuffer(bytearray(p + bytes(8)), np.uint8), 0, len(p)) for p in pieces}) == 10


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 2**62)), max_size=60), st.data())
def test_against_a_dict(entries, data):
    bits, factor = 7, data.draw(st.sampled_from([1, 3, module.new_factor()]))  # 1: the words collide
    slots, shift, expected = module.empty_slots(bits), 64 - bits, {}
    for number, packed in entries:
        word = number << 56 | number
        put(slots, factor, shift, word, packed)
        expected[word] = packed
        check(slots, shift, factor)
    for number in range(1, 50):
        word = number << 56 | number
        assert get(slots, factor, shift, word) == expected.get(word, -1)
    larger = moved(slots, bits + 2, factor, shift - 2)
    check(larger, shift - 2, factor)
    for word, packed in expected.items():
        assert get(larger, factor, shift - 2, word) == packed


def test_factors_are_odd_and_differ():
    factors = {module.new_factor() for _ in range(50)}
    assert len(factors) == 50
    assert all(factor % 2 == 1 and 0 < factor < 2**63 for factor in factors)


@pytest.mark.parametrize("bits", [1, 5])
def test_an_empty_table(bits):
    slots = module.empty_slots(bits)
    check(slots, 64 - bits, 1)
    assert not slots[: -2 * ROWS].any()
    for made in (module.new_slots(), module.empty_slots(module.FEWEST_BITS)):
        check(made, 64 - module.FEWEST_BITS, 1)
        assert not made[: -2 * ROWS].any()
