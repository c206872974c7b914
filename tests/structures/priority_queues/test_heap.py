import copy
import heapq
import pickle

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from numba import njit
from numba.core.errors import TypingError

from structures import Heap
from structures.priority_queues.heap_kernels import free_ids_of
from structures.priority_queues.tournament_kernels import tournament
from structures.status import INT64_MAX, INT64_MIN, MISSING, NO_MEMORY, NOT_A_NUMBER, OK, TOO_LARGE
from structures.testing import counts, keys, outcome

PRIORITY = st.runner().flatmap(lambda machine: machine.priorities)
PAYLOAD = keys().map(lambda key: min(key, INT64_MAX - 1))
PAIRS = st.lists(st.tuples(PRIORITY, PAYLOAD), max_size=40)
WAYS = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda heap: pickle.loads(pickle.dumps(heap)),
    "arrays": lambda heap: Heap.heapify(*heap.to_arrays()),
}


def handles_of(heap):
    """Return the handles of the entries."""
    return set(range(tournament(heap)[3])) - set(free_ids_of(heap).tolist())


# ------------------------------------------------------------------------------------ against the model
class HeapMachine(RuleBasedStateMachine):
    """Any verbs in any order; the model is a dict from handle to pair, sorted for every question."""

    dtype, priorities = "int64", counts("int64")

    @initialize(pairs=PAIRS, is_built=st.booleans())
    def start(self, pairs, is_built):
        priorities = np.array([priority for priority, _ in pairs], self.dtype)
        if is_built:
            self.real = Heap.heapify(priorities, [payload for _, payload in pairs])
        else:
            self.real = Heap(self.dtype)
            assert [self.real.push(*pair) for pair in pairs] == list(range(len(pairs)))
        self.model = dict(enumerate(pairs))

    def leaves(self, pair):
        """Take the pair that has left out of the model; return its handle, which some other may have now."""
        (gone,) = self.model.keys() - handles_of(self.real)
        assert self.model.pop(gone) == pair == min([pair, *self.model.values()])
        return gone

    @rule(pairs=PAIRS)
    def push(self, pairs):
        for pair in pairs:
            handle = self.real.push(*pair)
            assert handle not in self.model
            self.model[handle] = pair

    @rule()
    def pop(self):
        if self.model:
            self.leaves(self.real.pop())
        else:
            assert (
                outcome(self.real.pop)
                == outcome(self.real.peek)
                == outcome(self.real.replace, 1, 2)
                is IndexError
            )

    @rule(priority=PRIORITY, payload=PAYLOAD, verb=st.sampled_from(["pushpop", "replace"]))
    def exchange(self, priority, payload, verb):
        before = list(self.model.values())
        if not before:
            assert self.real.pushpop(priority, payload) == (priority, payload)
            return
        heapq.heapify(before)
        model_verb = heapq.heappushpop if verb == "pushpop" else heapq.heapreplace
        expected, first = model_verb(before, (priority, payload)), min(self.model.values())
        old = tournament(self.real)[1][-1]
        assert getattr(self.real, verb)(priority, payload) == expected
        if expected == first and (verb == "replace" or (priority, payload) > first):
            assert self.model[old] == first
            self.model[old] = priority, payload

    @precondition(lambda self: self.model)
    @rule(i=st.integers(0, 200), priority=PRIORITY, is_removed=st.booleans())
    def use_a_handle(self, i, priority, is_removed):
        handle = sorted(self.model)[i % len(self.model)]
        if is_removed:
            self.real.remove(handle)
            del self.model[handle]
        else:
            self.real.change(handle, priority)
            self.model[handle] = priority, self.model[handle][1]

    @rule(handle=st.sampled_from([-1, 0, 31, 32, 50, 1000, INT64_MIN, INT64_MAX]))
    def use_any_handle(self, handle):
        if handle not in self.model:
            assert outcome(self.real.remove, handle) == outcome(self.real.change, handle, 1) is KeyError

    @rule(k=st.integers(-1, 9))
    def nsmallest(self, k):
        expected = [list(part) for part in zip(*sorted(self.model.values())[: max(k, 0)], strict=True)] or [
            [],
            [],
        ]
        assert outcome(self.real.nsmallest, k) == (ValueError if k < 0 else tuple(expected))

    @rule(n=st.sampled_from([-1, 0, 50, 2000, 2**47]))
    def reserve(self, n):
        expected = ValueError if n < 0 else MemoryError if n == 2**47 else None
        assert outcome(self.real.reserve, n) == expected

    @precondition(lambda self: len(self.model) > 60)
    @rule()
    def clear(self):
        self.real.clear()
        self.model.clear()

    @rule(way=st.sampled_from(sorted(WAYS)), change_old=st.booleans())
    def continue_with_a_copy(self, way, change_old):
        other = WAYS[way](self.real)
        assert other == self.real
        assert other.dtype == self.dtype
        if "copy" not in way:
            self.real, other = other, self.real
            self.model = dict(enumerate(sorted(self.model.values())))
        elif change_old:
            self.real, other = other, self.real
        other.push(1, INT64_MIN)
        assert other != self.real
        other._check()

    @invariant()
    def has_the_content_of_the_model(self):
        self.real._check()
        assert len(self.real) == len(self.model)
        assert handles_of(self.real) == self.model.keys()
        assert list(self.real) == sorted(self.model.values())
        if self.model:
            assert self.real.peek() == min(self.model.values())


class ShortFloatMachine(HeapMachine):
    dtype, priorities = "float32", counts("float32")


TestMachine, TestShortFloat = HeapMachine.TestCase, ShortFloatMachine.TestCase
TestMachine.settings = TestShortFloat.settings = settings(deadline=None)

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
def test_programs(rng, dtype, n_values):
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
        (lambda: heap.push(float("nan"), 2), ValueError, "the priority of payload 2 is not a number"),
        (lambda: heap.push(1, 2**63), OverflowError, "payload"),
        (lambda: short.push(2**31, 2), OverflowError, "priority 2147483648 does not fit int32"),
        (lambda: Heap("float32").push(1e39, 2), OverflowError, "does not fit float32"),
        (lambda: Heap.heapify([1, 2], [3]), ValueError, "2 priorities but 1 payloads"),
        (lambda: Heap.heapify([[1]], [3]), ValueError, "one dimension"),
        (
            lambda: Heap.heapify([1.0, np.nan], [3, 4]),
            ValueError,
            "the priority of payload 4 is not a number",
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
    for other in (heap.copy(), copy.deepcopy(heap), WAYS["pickle"](heap)):
        assert (type(other), other.name, other == heap) == (Named, "mine", True)
