"""Lanes of bytes: the compiled intrinsics against their twins in Python."""

import functools
import operator
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structures.compiling.jit import kernel
from structures.primitives import byte_lanes, simd
from structures.primitives.constants import Constant

PLACES = 3
LANES = byte_lanes.BYTE_LANES


@kernel
def _with(data, i, bits):
    return byte_lanes.byte_lanes_with(simd.pointer_to(data, 0), i, bits)


@kernel
def _in_listed(data, i, sets, first, after):
    products = simd.pointer_to(sets, 0), first, after
    return byte_lanes.byte_lanes_in_products(simd.pointer_to(data, 0), i, products, PLACES)


@kernel
def _in_constant(data, i, products):
    return byte_lanes.byte_lanes_in_products(simd.pointer_to(data, 0), i, products, PLACES)


@kernel
def _translated(data, i, ranges):
    target = simd.local_bytes(LANES)
    byte_lanes.translate_byte_lanes(simd.pointer_to(data, 0), i, ranges, target, 0)
    translated = np.empty(LANES, np.uint8)
    for k in range(LANES):
        translated[k] = target[k]
    return translated


@kernel
def _translate_by_list(data, i, starts, changes):
    return _translated(data, i, (simd.pointer_to(starts, 0), simd.pointer_to(changes, 0), starts.size))


@kernel
def _count(lanes):
    return byte_lanes.count_lanes(lanes), simd.lowest_lane(lanes)


def four_times(values):
    return np.repeat(np.array(values, np.uint8), 4).view(np.int32)


data = st.binary(min_size=80, max_size=80).map(lambda drawn: np.frombuffer(bytearray(drawn), np.uint8))
byte = st.integers(0, 255)


def lanes_where(holds):
    """Return the set of the lanes for which a function holds."""
    return np.int64(np.uint64(sum(1 << lane for lane in range(LANES) if holds(lane))))


@settings(deadline=None)
@given(data, st.integers(0, 10), byte)
def test_with(array, i, bits):
    expected = lanes_where(lambda lane: array[i + lane] & bits)
    assert _with(array, i, bits) == byte_lanes._py_byte_lanes_with(array, i, bits) == expected


@settings(deadline=None)
@given(
    data, st.integers(0, 10), st.lists(byte, min_size=12, max_size=12), st.integers(0, 4), st.integers(0, 4)
)
def test_in_listed_products(array, i, sets, first, after):
    quads, after = four_times(sets), max(first, after)
    expected = lanes_where(
        lambda lane: any(
            all(array[i + lane + k] & sets[PLACES * product + k] for k in range(PLACES))
            for product in range(first, after)
        )
    )
    assert _in_listed(array, i, quads, first, after) == expected
    assert byte_lanes._py_byte_lanes_in_products(array, i, (quads, first, after), PLACES) == expected


CONSTANT_PRODUCTS = [
    (),
    ((None, None, None),),
    ((1, None, 128), (None, 6, None), (1, 6, 255)),
    ((3, 3, 3), (3, 12, None), (192, None, 3), (0, None, None)),
]


@pytest.mark.parametrize("products", CONSTANT_PRODUCTS)
def test_in_constant_products(products):
    chance, constant = np.random.default_rng(1), Constant(products)
    for i in range(20):
        array = chance.choice(np.array([0, 1, 2, 4, 8, 64, 128, 255], np.uint8), 96)
        expected = lanes_where(
            lambda lane, array=array, i=i: any(
                all(members is None or array[i + lane + k] & members for k, members in enumerate(row))
                for row in products
            )
        )
        assert _in_constant(array, i, constant) == expected
        assert byte_lanes._py_byte_lanes_in_products(array, i, constant, PLACES) == expected


def translated_slowly(array, i, pairs):
    reached = [[change for start, change in pairs if start <= byte < 128] for byte in array[i : i + LANES]]
    return [functools.reduce(operator.xor, each, 0) for each in reached]


@settings(deadline=None)
@given(data, st.integers(0, 10), st.lists(st.tuples(st.integers(0, 127), byte), max_size=9))
def test_translate_by_a_list(array, i, pairs):
    starts, changes = (four_times([pair[k] for pair in pairs]) for k in (0, 1))
    twin = np.empty(LANES, np.uint8)
    byte_lanes._py_translate_byte_lanes(array, i, (starts, changes, len(starts)), twin, 0)
    expected = translated_slowly(array, i, pairs)
    assert _translate_by_list(array, i, starts, changes).tolist() == twin.tolist() == expected


@pytest.mark.parametrize("pairs", [(), ((0, 5),), ((32, 1), (33, 3), (97, 255), (127, 4))])
def test_translate_by_a_constant(pairs):
    array, twin = np.random.default_rng(2).integers(0, 256, 200, np.uint8), np.empty(LANES, np.uint8)
    for i in (0, 7, 136):
        byte_lanes._py_translate_byte_lanes(array, i, Constant(pairs), twin, 0)
        expected = translated_slowly(array, i, pairs)
        assert _translated(array, i, Constant(pairs)).tolist() == twin.tolist() == expected


PLAIN = """
import sys, pytest
from numba.core.registry import cpu_target
from structures.primitives import byte_lanes
assert not byte_lanes.can_permute(cpu_target.target_context)
sys.exit(pytest.main(sys.argv[1:]))
"""


def test_translate_on_a_processor_that_cannot_permute(tmp_path):
    """The same test again, compiled for the plainest processor: then ranges are compared, one by one."""
    plain = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(tmp_path)}
    chosen = [__file__, "-k", "test_translate_by_a_constant", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command = [sys.executable, "-c", PLAIN, "-q", *chosen]
    ran = subprocess.run(command, env=os.environ | plain, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "3 passed" in ran.stdout


@pytest.mark.parametrize(
    ("lanes", "n", "lowest"), [(0, 0, 64), (1, 1, 0), (-1, 64, 0), (-(2**63), 1, 63), (12, 2, 2)]
)
def test_count_and_lowest(lanes, n, lowest):
    assert _count(lanes) == (n, lowest)
    assert (byte_lanes._py_count_lanes(lanes), simd._py_lowest_lane(lanes)) == (n, lowest)
