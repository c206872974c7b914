"""Lines of the cache: the compiled intrinsics against what they say, lane by lane; also without the JIT."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from structures.compiling.jit import kernel
from structures.primitives import simd as lines
from structures.primitives.simd import LANES, pointer_to

N = lines.SIXTEEN
TWICE = 2 * N
NUMBERS = hnp.arrays(
    np.int32, 2 * N, elements=st.one_of(st.integers(-2, 2), st.integers(-(2**31), 2**31 - 1))
)
WORDS = hnp.arrays(np.int64, 2 * LANES, elements=st.integers(-1, 5).map(lambda x: x << 40 | x & 3))


@kernel
def lanes_of(words, i, top, shift):
    return lines.lanes_with_top(pointer_to(words, 0), i, top, shift)


@kernel
def least_of(numbers, i):
    return lines.least_of_sixteen(pointer_to(numbers, 0), i)


@kernel
def put(numbers, i, lanes, number):
    lines.put_in_sixteen(pointer_to(numbers, 0), i, lanes, number)


@kernel
def filled(number, out):
    local = lines.local_numbers(TWICE)
    lines.fill_sixteen(local, 0, number)
    lines.fill_sixteen(local, N, number + 1)
    for i in range(2 * N):
        out[i] = local[i]


@kernel
def highest(lanes):
    return lines.highest_lane(lanes)


@given(WORDS, st.sampled_from([0, LANES]), st.integers(0, 5), st.sampled_from([1, 40]))
def test_lanes_with_top(words, i, top, shift):
    row = words[i : i + LANES].tolist()
    expected = sum(1 << lane for lane, word in enumerate(row) if word % 2**64 >> shift == top)
    assert lanes_of(words, i, top, shift) == expected


@given(NUMBERS, st.integers(0, N), st.integers(0, 2**N - 1), st.integers(-(2**31), 2**31 - 1))
def test_sixteen_numbers(numbers, i, lanes, number):
    row = numbers[i : i + N].tolist()
    assert least_of(numbers, i) == (min(row), sum(1 << k for k in range(N) if row[k] == min(row)))
    expected = numbers.copy()
    for k in range(N):
        if lanes >> k & 1:
            expected[i + k] = number
    put(numbers, i, lanes, number)
    assert np.array_equal(numbers, expected)


@given(st.integers(-(2**31), 2**31 - 2))
def test_local_numbers(number):
    out = np.empty(2 * N, np.int32)
    filled(number, out)
    assert out.tolist() == N * [number] + N * [number + 1]


@given(st.integers(-(2**63), 2**63 - 1))
def test_highest_lane(lanes):
    assert highest(lanes) == (lanes % 2**64).bit_length() - 1
