import copy
import re
from collections import deque

import numpy as np
import pytest
from hypothesis import strategies as st
from numba import njit
from numba.core.errors import TypingError

from structures import Deque
from structures.status import INT64_MAX, INT64_MIN, NO_MEMORY, OK, OUT_OF_RANGE, TOO_LARGE
from structures.testing import LANGUAGES, DequeMachine, check_program, random_program
from structures.testing.machines import pickled


class ShortMachine(DequeMachine):
    dtype, values = "int32", st.integers(-(2**31), 2**31 - 1)


TestMachine, TestShort = DequeMachine.TestCase, ShortMachine.TestCase


@pytest.mark.parametrize("dtype", ["int64", "float32"])
@pytest.mark.parametrize("rare", [0.3, 1.0])
def test_programs(rng, dtype, rare):
    """The ring grows and turns; it is often empty, or large."""
    language, model = LANGUAGES[Deque], deque()
    numbers = [INT64_MIN, -1, 0, INT64_MAX] if dtype == "int64" else [-0.5, 0.0, 2.0**100]
    kind = "int64" if dtype == "int64" else "float64"
    program = random_program(language, rng, 4000, range(-50, 50), numbers, rare, kind)
    assert list(check_program(language, Deque(dtype), model, program)) == list(model)


# ------------------------------------------------------------------------------------------------ edges
def test_arguments_are_checked():
    ring, short = Deque(float), Deque("int32")
    for call, kind, message in [
        (lambda: Deque("int16"), TypeError, "dtype must be int64 or int32 or float64 or float32"),
        (lambda: Deque([1, 2]), TypeError, "Deque takes a dtype, not [1, 2]: from_array(values)"),
        (
            lambda: Deque().append(1.5),
            TypeError,
            "value must be an integer, not float: make it with dtype=float",
        ),
        (
            lambda: Deque().extend([1.5]),
            TypeError,
            "values must be integers, not float64: make it with dtype=float",
        ),
        (lambda: ring.append("1"), TypeError, "value must be a number"),
        (lambda: short.append(2**31), OverflowError, "value 2147483648 does not fit int32"),
        (lambda: short.extend([1, -(2**40)]), OverflowError, "values[1] -1099511627776 does not fit int32"),
        (lambda: Deque("float32").extend([1e39]), OverflowError, "does not fit float32"),
        (lambda: Deque().extend([2**63]), OverflowError, "values[0] 9223372036854775808 does not fit int64"),
        (lambda: Deque.from_array([[1]]), ValueError, "one dimension"),
        (lambda: Deque.from_array(["a"]), TypeError, "values must be integers"),
        (lambda: ring[0.5], TypeError, "index must be an integer"),
        (lambda: ring[1:], TypeError, "index must be an integer, not slice"),
        (lambda: ring[0], IndexError, "index 0 is out of range for 0 elements"),
        (lambda: ring.popleft(), IndexError, "Deque is empty"),
    ]:
        with pytest.raises(kind, match=re.escape(message)):
            call()
    assert len(ring) == len(short) == 0
    assert repr(ring) == "<Deque of 0>"
    assert 5 in Deque.from_array([4, 5])
    dtypes = ["int32", "int16", "float32", "float16"]
    assert [Deque.from_array(np.array([1], dtype)).dtype for dtype in dtypes] == [
        "int32",
        "int64",
        "float32",
        "float64",
    ]


@njit(cache=True)
def verbs_inside(values):
    ring = Deque.from_array(values)
    total = 0
    for value in ring:
        total = 10 * total + value
        ring.clear()  # a loop runs over what was there when it began
    statuses = ring.append(2**31), ring.set(0, 1), ring.extend(np.array([1, 2**31])), ring.reserve(2**47)
    empty = ring.pop(), ring.popleft(), ring[0], ring.get(-1, 7)
    done = ring.extend(values), ring.set(-1, 9), ring.set(0, -(2**31) - 1)
    other = ring.copy()
    other.appendleft(1)
    return total, statuses, empty, done, other == ring, other, Deque(np.float64)


@pytest.mark.reads_statuses
def test_inside_njit():
    total, statuses, empty, done, is_equal, ring, made = verbs_inside(np.array([5, 1, 3], np.int32))
    assert total == 513
    assert statuses == (TOO_LARGE, OUT_OF_RANGE, TOO_LARGE, NO_MEMORY)
    assert empty == (0, 0, 0, 7)
    assert done == (OK, OK, TOO_LARGE)
    assert (is_equal, list(ring), ring.dtype, made.dtype) == (False, [1, 5, 1, 9], np.int32, np.float64)


def test_mistakes_are_typing_errors():
    for code, message in [
        (lambda: Deque(np.int16), "dtype must be int64 or int32"),
        (lambda: Deque().append(0.5), r"value is float64, but Deque\(int64\) holds integers"),
        (lambda: Deque().get(0.5), "index is float64, but must be an integer"),
        (lambda: Deque().push(1), r"Deque\(int64\) has no push in compiled code"),
    ]:
        with pytest.raises(TypingError, match=message):
            njit(code)()


def test_ends_of_the_range():
    ring = Deque.from_array([INT64_MIN, -1, INT64_MAX])
    assert [ring.popleft() for _ in range(3)] == [INT64_MIN, -1, INT64_MAX]


class Named(Deque):
    """A subclass with room for attributes."""


def test_subclasses():
    ring = Named()
    ring.name = "mine"
    ring.append(1)
    for other in (ring.copy(), copy.deepcopy(ring), pickled(ring)):
        assert (type(other), other.name, other == ring) == (Named, "mine", True)
