"""The table of short pieces against a dict, with its invariants after every step."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe.encoding.kernels import piece_table as module
from structures import kernel
from structures.kernels import pointer_to

ROWS, ROW, SHORT = module.LAST_ROWS, module.ROW, module.SHORT
MOST = 2**32 - 1


def home_by_definition(words, secret, shift):
    """Add the secret to both halves of both words, multiply the halves; mix the sum of the products."""
    mixed = 0
    for word, added in zip(words, secret, strict=False):
        low, high = (((word >> bits & MOST) + (added >> bits & MOST)) & MOST for bits in (0, 32))
        mixed += low * high
    mixed %= 2**64
    return (mixed ^ mixed >> 32) * secret[2] % 2**64 >> shift


def check(slots, shift, secret):
    """Assert the invariants, by number."""
    table, last = slots[: -ROW * ROWS].reshape(-1, ROW), slots[-ROW * ROWS :].reshape(-1, ROW)
    n_rows = 1 << (64 - shift)
    assert len(table) == n_rows, "invariant 1"
    assert 2 * np.count_nonzero(table[:, 1]) <= n_rows, "invariant 1"
    for row in np.flatnonzero(table[:, 1]).tolist():
        home = home_by_definition(table[row, :2].tolist(), secret, shift)
        way = [(home + k) % n_rows for k in range((row - home) % n_rows)]
        assert (table[way, 1] != 0).all(), "invariant 2"
    assert (table[table[:, 1] == 0] == 0).all(), "invariant 3"
    assert (last[:, :2] == [0, module.NO_WORD]).all(), "invariant 3"


@kernel
def put(slots, secret, shift, key, ids):
    at = module.find(slots, key[0], key[1], module.first_slot(key[0], key[1], secret, shift))
    module.put_row(slots, at, (key[0], key[1], ids, -ids))


@kernel
def get(slots, secret, shift, key):
    at = module.find(slots, key[0], key[1], module.first_slot(key[0], key[1], secret, shift))
    return slots[at + 2], slots[at + 3]


@kernel
def words_of(data, start, length):
    near = module.words_of(pointer_to(data, start), length)
    return near, module.words_at(pointer_to(data, 0), start, length)


@kernel
def moved(older, bits, secret, shift):
    slots = module.empty_slots(bits)
    module.move_all(older, slots, secret, shift)
    return slots


@given(st.binary(min_size=36, max_size=36), st.integers(0, 20), st.integers(1, 19))
def test_words(data, start, length):
    one, other = words_of(np.frombuffer(bytearray(data), np.uint8), start, min(length, 16))
    if length <= SHORT:
        key = data[start : start + length] + bytes(SHORT - length) + bytes([length])
        expected = tuple(np.frombuffer(key, np.int64).tolist())
        assert one == other == expected
    else:
        assert one == (0, module.NO_WORD)
        assert other[1] >= module.NO_WORD


def test_the_words_of_different_pieces_differ():
    pieces = [b"", b"\0", b"\0\0", b"a", b"a\0", b"a\0\0", b"\0a", b"abcdefgh", b"abcdefg", b"\xff" * 8]
    pieces += [b"abcdefgh\0", b"abcdefghi", b"\0bcdefghi", b"\xff" * 15, b"\0" * 15, b"\0" * 8, b"\0" * 14]
    data = [np.frombuffer(bytearray(piece + bytes(16)), np.uint8) for piece in pieces]
    assert len({words_of(each, 0, len(piece)) for each, piece in zip(data, pieces, strict=True)}) == len(data)


def key_of(number):
    """Return the words of a piece of one to 15 bytes."""
    return number * 3, (number % SHORT + 1) << 56 | number >> 3


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 2**62)), max_size=60), st.data())
def test_against_a_dict(entries, data):
    bits, secret = 7, data.draw(st.sampled_from([(0, 0, 1), (5, -1, -7), module.new_seed()]))
    slots, shift, expected = module.empty_slots(bits), 64 - bits, {}
    for number, ids in entries:
        put(slots, secret, shift, key_of(number), ids)
        expected[key_of(number)] = ids, -ids
        check(slots, shift, secret)
    for number in range(1, 50):
        assert get(slots, secret, shift, key_of(number)) == expected.get(key_of(number), (0, 0))
    larger = moved(slots, bits + 2, secret, shift - 2)
    check(larger, shift - 2, secret)
    for key, ids in expected.items():
        assert get(larger, secret, shift - 2, key) == ids


def test_secrets_differ():
    made = [module.new_seed() for _ in range(50)]
    words = [word for secret in made for word in secret]
    assert len(set(words)) == 150
    assert all(-(2**63) <= word < 2**63 for word in words)
    assert 30 < sum(word < 0 for word in words) < 120
    assert all(secret[2] % 2 == 1 for secret in made)


@pytest.mark.parametrize("bits", [1, 5])
def test_an_empty_table(bits):
    slots = module.empty_slots(bits)
    check(slots, 64 - bits, (1, 1, 1))
    assert not slots[: -ROW * ROWS].any()
    for made in (module.new_slots(), module.empty_slots(module.FEWEST_BITS)):
        check(made, 64 - module.FEWEST_BITS, (1, 1, 1))
        assert not made[: -ROW * ROWS].any()
