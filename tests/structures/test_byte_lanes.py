"""Lanes of bytes: the compiled intrinsics against their twins in Python."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from structures.compiling.jit import kernel
from structures.primitives import simd

PLACES = 3
LANES = simd.BYTE_LANES


@kernel
def _with(data, i, bits):
    return simd.byte_lanes_with(simd.pointer_to(data, 0), i, bits)


@kernel
def _in_products(data, i, products, first, after):
    pointer = simd.pointer_to(products, 0)
    return simd.byte_lanes_in_products(simd.pointer_to(data, 0), i, pointer, first, after, PLACES)


@kernel
def _translate(data, i, starts, changes):
    target = simd.local_bytes(LANES)
    starts_at, changes_at = simd.pointer_to(starts, 0), simd.pointer_to(changes, 0)
    simd.translate_byte_lanes(simd.pointer_to(data, 0), i, starts_at, changes_at, starts.size, target, 0)
    translated = np.empty(simd.BYTE_LANES, np.uint8)
    for k in range(simd.BYTE_LANES):
        translated[k] = target[k]
    return translated


def four_times(values):
    return np.repeat(np.array(values, np.uint8), 4).view(np.int32)


data = st.binary(min_size=80, max_size=80).map(lambda drawn: np.frombuffer(bytearray(drawn), np.uint8))
byte = st.integers(0, 255)


@settings(deadline=None)
@given(data, st.integers(0, 10), byte)
def test_with(array, i, bits):
    assert _with(array, i, bits) == simd._py_byte_lanes_with(array, i, bits)


@settings(deadline=None)
@given(
    data, st.integers(0, 10), st.lists(byte, min_size=12, max_size=12), st.integers(0, 4), st.integers(0, 4)
)
def test_in_products(array, i, products, first, after):
    quads = four_times(products)
    expected = simd._py_byte_lanes_in_products(array, i, quads, first, max(first, after), PLACES)
    assert _in_products(array, i, quads, first, max(first, after)) == expected


@settings(deadline=None)
@given(data, st.integers(0, 10), st.lists(st.tuples(byte, byte), max_size=9))
def test_translate(array, i, changes):
    starts, changes = (four_times([pair[k] for pair in changes]) for k in (0, 1))
    expected = np.empty(simd.BYTE_LANES, np.uint8)
    simd._py_translate_byte_lanes(array, i, starts, changes, len(starts), expected, 0)
    assert np.array_equal(_translate(array, i, starts, changes), expected)
