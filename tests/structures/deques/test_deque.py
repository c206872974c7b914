import copy
import pickle
import re
from collections import deque

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from numba import njit
from numba.core.errors import TypingError

from structures import Deque
from structures.status import INT64_MAX, INT64_MIN, NO_MEMORY, OK, OUT_OF_RANGE, TOO_LARGE
from structures.testing import counts, outcome

VALUE = st.runner().flatmap(lambda machine: machine.values)
VALUES = st.lists(VALUE, max_size=12)
INDEX = st.integers(-40, 40)
WAYS = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda ring: pickle.loads(pickle.dumps(ring)),
    "array": lambda ring: Deque.from_array(ring.to_array()),
}


# ------------------------------------------------------------------------------------ against the model
class DequeMachine(RuleBasedStateMachine):
    """Any verbs in any order; the model is a ``collections.deque``."""

    dtype, values = "int64", counts("int64")

    @initialize(values=VALUES)
    def start(self, values):
        self.real, self.model = Deque.from_array(np.array(values, self.dtype)), deque(values)

    @rule(values=VALUES, verb=st.sampled_from(["append", "appendleft"]))
    def add(self, values, verb):
        for value in values:
            getattr(self.real, verb)(value)
            getattr(self.model, verb)(value)

    @rule(verb=st.sampled_from(["pop", "popleft"]), n=st.integers(1, 9))
    def remove(self, verb, n):
        for _ in range(n):
            assert outcome(getattr(self.real, verb)) == outcome(getattr(self.model, verb))

    @rule(values=VALUES)
    def extend(self, values):
        self.real.extend(np.array(values, self.dtype))
        self.model.extend(values)

    @rule(index=INDEX, value=VALUE)
    def use_an_index(self, index, value):
        for verb, *arguments in (("__getitem__", index), ("__setitem__", index, value)):
            assert outcome(getattr(self.real, verb), *arguments) == outcome(
                getattr(self.model, verb), *arguments
            )

    @rule(n=st.sampled_from([-1, 0, 50, 2**47]))
    def reserve(self, n):
        expected = ValueError if n < 0 else MemoryError if n == 2**47 else None
        assert outcome(self.real.reserve, n) == expected

    @rule(is_rare=st.integers(0, 5))
    def clear(self, is_rare):
        if not is_rare:
            self.real.clear()
            self.model.clear()

    @rule(way=st.sampled_from(sorted(WAYS)), change_old=st.booleans())
    def continue_with_a_copy(self, way, change_old):
        other = WAYS[way](self.real)
        assert other == self.real
        assert other.dtype == self.dtype
        if change_old:
            self.real, other = other, self.real
        other.append(1)
        assert other != self.real
        other._check()

    @invariant()
    def has_the_content_of_the_model(self):
        self.real._check()
        assert len(self.real) == len(self.model)
        assert list(self.real) == list(self.model)
        assert list(reversed(self.real)) == list(reversed(self.model))


class ShortMachine(DequeMachine):
    dtype, values = "int32", st.integers(-(2**31), 2**31 - 1)


TestMachine, TestShort = DequeMachine.TestCase, ShortMachine.TestCase
TestMachine.settings = TestShort.settings = settings(deadline=None)

APPEND, APPENDLEFT, POP, POPLEFT, GET, SET = range(6)


@njit
def run(ring, operations, values, out):
    for i in range(operations.size):
        if operations[i] == APPEND:
            ring.append(values[i])
        elif operations[i] == APPENDLEFT:
            ring.appendleft(values[i])
        elif operations[i] == POP:
            out[i] = ring.pop()
        elif operations[i] == POPLEFT:
            out[i] = ring.popleft()
        elif operations[i] == GET:
            out[i] = ring[i % 100 - 50]
        else:
            ring[i % 100 - 50] = values[i]
    return ring


def run_deque(model, operations, values):
    """Do the same with ``collections.deque``."""
    for i, (operation, value) in enumerate(zip(operations, values, strict=True)):
        index, result = i % 100 - 50, 0
        is_there = -len(model) <= index < len(model)
        if operation in (APPEND, APPENDLEFT):
            (model.append if operation == APPEND else model.appendleft)(value)
        elif operation in (POP, POPLEFT) and model:
            result = (model.pop if operation == POP else model.popleft)()
        elif operation == GET and is_there:
            result = model[index]
        elif operation == SET and is_there:
            model[index] = value
        yield result


@pytest.mark.parametrize("share_of_pops", [0.2, 0.5])
def test_programs(rng, share_of_pops):
    """The ring grows and turns; it is often empty, or large."""
    shares = np.array([0.3, 0.3, share_of_pops, share_of_pops, 0.2, 0.2])
    operations, values = (
        rng.choice(6, 4000, p=shares / shares.sum()),
        rng.normal(size=4000).astype(np.float32),
    )
    out, model = np.zeros(4000, np.float32), deque()
    ring = run(Deque("float32"), operations, values, out)
    assert out.tolist() == list(run_deque(model, operations.tolist(), values.tolist()))
    assert list(ring) == list(model)
    ring._check()


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
    for other in (ring.copy(), copy.deepcopy(ring), WAYS["pickle"](ring)):
        assert (type(other), other.name, other == ring) == (Named, "mine", True)
