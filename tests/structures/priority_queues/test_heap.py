import copy
import heapq

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from structures import Heap
from structures.status import INT64_MAX, INT64_MIN, MISSING, NO_MEMORY, NOT_A_NUMBER, OK, TOO_LARGE
from structures.testing import LANGUAGES, PlainHeapMachine, check_program, random_program
from structures.testing.machines import pickled


class ShortFloatMachine(PlainHeapMachine):
    dtype = "float32"


TestMachine, TestShortFloat = PlainHeapMachine.TestCase, ShortFloatMachine.TestCase


@pytest.mark.parametrize("rare", [0.1, 0.6])
@pytest.mark.parametrize("keys", [range(-8, 8), [0, INT64_MIN, -1, INT64_MAX]], ids=["few", "ends"])
def test_programs(rng, keys, rare):
    language, model = LANGUAGES[Heap], []
    program = random_program(language, rng, 3000, keys, [-1, 0, 1, INT64_MIN, INT64_MAX], rare)
    assert list(check_program(language, Heap(), model, program)) == sorted(model)


PUSH, POP, PUSHPOP, REPLACE, REMOVE, CHANGE = range(6)


@njit
def run(heap, operations, priorities, payloads, out_priorities, out_payloads):
    handles = np.full(operations.size, -1)  # by payload; payloads differ here
    for i in range(operations.size):
        operation, priority, payload = operations[i], priorities[i], payloads[i]
        out_priorities[i], out_payloads[i] = 0, 0
        if operation == PUSH:
            handles[payload] = heap.push(priority, payload)
        elif operation == POP:
            if len(heap) > 0:
                out_priorities[i], out_payloads[i] = heap.pop()
        elif operation in (PUSHPOP, REPLACE):
            if len(heap) > 0:
                handle = handles[heap.peek()[1]]
                exchanged = (
                    heap.pushpop(priority, payload)
                    if operation == PUSHPOP
                    else heap.replace(priority, payload)
                )
                out_priorities[i], out_payloads[i] = exchanged
                if exchanged[1] != payload:
                    handles[payload] = handle
        elif operation in (REMOVE, CHANGE):
            known = payload // 2
            if handles[known] >= 0:
                out_payloads[i] = (
                    heap.remove(handles[known])
                    if operation == REMOVE
                    else heap.change(handles[known], priority)
                )
                if operation == REMOVE:
                    handles[known] = -1
        if out_payloads[i] > 0:
            handles[out_payloads[i]] = -1
    return heap


def run_heapq(heap, operations, priorities, payloads):
    """Do the same with ``heapq``; what is removed is found by its payload."""
    for operation, priority, payload in zip(operations, priorities, payloads, strict=True):
        result = 0, 0
        known = next((pair for pair in heap if pair[1] == payload // 2), None)
        if operation == PUSH:
            heapq.heappush(heap, (priority, payload))
        elif operation == POP and heap:
            result = heapq.heappop(heap)
        elif operation in (PUSHPOP, REPLACE) and heap:
            verb = heapq.heappushpop if operation == PUSHPOP else heapq.heapreplace
            result = verb(heap, (priority, payload))
        elif operation in (REMOVE, CHANGE) and known:
            heap.remove(known)
            heap += [(priority, known[1])] * (operation == CHANGE)
            heapq.heapify(heap)
        yield result


@pytest.mark.parametrize("n_values", [3, 10**6])
@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_programs_with_handles(rng, dtype, n_values):
    n = 3000
    operations = rng.choice(6, n, p=[0.5, 0.2, 0.1, 0.1, 0.05, 0.05])
    priorities = (rng.integers(-n_values, n_values, n) / (1 if dtype == "int32" else 4)).astype(dtype)
    payloads = 1 + np.arange(n)
    out = np.zeros(n, dtype), np.zeros(n, np.int64)
    heap = run(Heap(dtype), operations, priorities, np.append(payloads, 0)[:n], *out)
    model = []
    expected = list(run_heapq(model, operations.tolist(), priorities.tolist(), payloads.tolist()))
    assert list(zip(*(array.tolist() for array in out), strict=True)) == expected
    assert list(heap) == sorted(model)
    heap._check()
    assert len(heap) > 500


@pytest.mark.parametrize("n", [1, 31, 32, 33, 1023, 1024, 1025, 33_000])
def test_every_shape_of_the_levels(n):
    rng = np.random.default_rng(n)
    pairs = rng.integers(0, max(n // 3, 1), n), rng.integers(0, 3, n)
    heap, expected = Heap.heapify(*pairs), sorted(zip(*(part.tolist() for part in pairs), strict=True))
    heap._check()
    assert list(heap) == expected
    assert heap.nbytes <= 26 * n + 3000
    assert [heap.pop() for _ in range(n)] == expected
    heap._check()


# ------------------------------------------------------------------------------------------------ edges
def test_ends_of_the_range():
    heap = Heap()
    pairs = [(p, q) for p in (INT64_MIN, 0, INT64_MAX) for q in (INT64_MIN, 0, INT64_MAX - 1)]
    for pair in pairs[::-1]:
        heap.push(*pair)
        heap._check()
    assert list(heap) == pairs
    for refused in (lambda: heap.push(5, INT64_MAX), lambda: Heap.heapify([1, 2], [3, INT64_MAX])):
        with pytest.raises(OverflowError, match=r"must be below 2\*\*63 - 1"):
            refused()
    assert [heap.pop() for _ in pairs] == pairs


def test_arguments_are_checked():
    heap, short = Heap(float), Heap("int32")
    for call, kind, message in [
        (lambda: Heap("int16"), TypeError, "dtype must be int64 or int32 or float64 or float32"),
        (
            lambda: Heap().push(1.5, 2),
            TypeError,
            "priority must be an integer, not float: make it with dtype=float",
        ),
        (lambda: heap.push(1.5, 2.5), TypeError, "payload must be an integer"),
        (lambda: heap.push(float("nan"), 2), ValueError, "the value of payload 2 is not a number"),
        (lambda: heap.push(1, 2**63), OverflowError, "payload"),
        (lambda: short.push(2**31, 2), OverflowError, "priority 2147483648 does not fit int32"),
        (lambda: Heap("float32").push(1e39, 2), OverflowError, "does not fit float32"),
        (lambda: Heap.heapify([1, 2], [3]), ValueError, "2 priorities but 1 payloads"),
        (lambda: Heap.heapify([[1]], [3]), ValueError, "one dimension"),
        (
            lambda: Heap.heapify([1.0, np.nan], [3, 4]),
            ValueError,
            "the value of payload 4 is not a number",
        ),
        (lambda: Heap.heapify([1], [1.5]), TypeError, "payloads must be integers"),
        (lambda: heap.remove("a"), TypeError, "handle must be an integer"),
        (lambda: heap.pop(), IndexError, "Heap is empty"),
    ]:
        with pytest.raises(kind, match=message):
            call()
    assert len(heap) == len(short) == 0
    assert [
        Heap.heapify(np.array([1], dtype), [2]).dtype for dtype in ("int32", "int16", "float32", "float16")
    ] == ["int32", "int64", "float32", "float64"]
    assert repr(heap) == "<Heap of 0>"
    assert Heap.heapify([], []) == Heap()


@njit(cache=True)
def verbs_inside(priorities, payloads):
    heap = Heap.heapify(priorities, payloads)
    total = 0
    for _, payload in heap:
        total = 10 * total + payload
        heap.clear()  # a loop runs over what was there when it began
    statuses = (
        heap.push(2**31, 1),
        heap.push(1, 2**63 - 1),
        heap.remove(0),
        heap.change(0, 1),
        heap.reserve(2**47),
    )
    heap.push(3, 4), heap.push(3, 4)
    refused = heap.pushpop(2**40, 5), heap.replace(1, 2**63 - 1), heap.change(1, 2**31), heap.change(1, 2)
    other = heap.copy()
    made = Heap(np.float32)
    return (
        total,
        statuses,
        refused,
        other == heap,
        other.nsmallest(1),
        made.push(np.nan, 1),
        made.pop(),
        other,
    )


def test_inside_njit():
    total, statuses, refused, is_equal, (priorities, payloads), *rest = verbs_inside(
        np.array([5, 1, 3], np.int32), np.array([7, 8, 9])
    )
    assert total == 897
    assert statuses == (TOO_LARGE, TOO_LARGE, MISSING, MISSING, NO_MEMORY)
    assert refused[1:] == ((3, 4), TOO_LARGE, OK)
    assert (is_equal, priorities.tolist(), payloads.tolist(), priorities.dtype) == (True, [2], [4], np.int32)
    assert rest[:2] == [NOT_A_NUMBER, (0.0, 0)]
    assert list(rest[2]) == [(2, 4), (3, 4)]


def test_mistakes_are_typing_errors():
    for code, message in [
        (lambda: Heap(np.int16), "dtype must be int64 or int32"),
        (lambda: Heap().push(0.5, 1), r"priority is float64, but Heap\(int64\) holds integers"),
        (lambda: Heap(np.float64).push(0.5, 1.5), "payload is float64, but must be an integer"),
        (lambda: Heap().add(1, 2), r"Heap\(int64\) has no add in compiled code"),
    ]:
        with pytest.raises(TypingError, match=message):
            njit(code)()


class Named(Heap):
    """A subclass with room for attributes."""


def test_subclasses():
    heap = Named()
    heap.name = "mine"
    heap.push(1, 2)
    for other in (heap.copy(), copy.deepcopy(heap), pickled(heap)):
        assert (type(other), other.name, other == heap) == (Named, "mine", True)
