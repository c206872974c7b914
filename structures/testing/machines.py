"""State machines: all methods of a container in any order, compared with a model after every step.

Each is a ``hypothesis.stateful.RuleBasedStateMachine``. Its rules draw keys from a bundle, so that keys
recur. An exception is a result like any other. After every rule the container checks its invariants and must
have the content of the model.

    _Machine            copies, the invariants, the content
      _RoomyMachine     reserve, clear
        _KeyedMachine   keys with numbers; the container, the dtype and the keys are parameters
          IntMap, SortedMap, Heap (its order, too), IndexedHeap, CountBuckets
        IntSet, PlainHeap, Deque
      DisjointSets, TokenList, PairIndex, KBest
"""

from __future__ import annotations

import copy
import heapq
import operator
import pickle
from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

from structures.deques.deque import Deque
from structures.disjoint_sets.disjoint_sets import DisjointSets
from structures.hash_tables.int_map import IntMap
from structures.hash_tables.int_set import IntSet
from structures.neighbors.k_best import KBest
from structures.priority_queues.count_buckets import CountBuckets
from structures.priority_queues.heap import Heap
from structures.priority_queues.heap_kernels import free_ids_of
from structures.priority_queues.indexed_heap import IndexedMaxHeap
from structures.priority_queues.multiset_heap import MaxHeap
from structures.priority_queues.tournament_kernels import tournament
from structures.sorted_maps.sorted_map import SortedMap
from structures.status import INT64_MAX, INT64_MIN
from structures.testing.models import (
    DisjointSetsModel,
    HeapModel,
    IndexedHeapModel,
    IntSetModel,
    KBestModel,
    MapModel,
    PairModel,
    SortedModel,
    TokenModel,
    outcome,
    plain,
)
from structures.testing.strategies import counts, keys
from structures.tokens.pair_index import PairIndex
from structures.tokens.token_list import TokenList

KNOWN = Bundle("known")
COUNT = st.runner().flatmap(lambda machine: counts(machine.dtype))
KEY = st.runner().flatmap(lambda machine: machine.keys())
SOME = st.dictionaries(KEY, COUNT, min_size=1, max_size=20)
WAY = st.runner().flatmap(lambda machine: st.sampled_from(machine.ways))
TOO_MANY = 2**47


def pickled(container: Any) -> Any:
    """Return the pickled and unpickled container."""
    return pickle.loads(pickle.dumps(container))


def through_arrays(container: Any) -> Any:
    """Return a container built from the arrays of another."""
    from_arrays, arrays, *_ = container.__reduce__()
    return from_arrays(*arrays)


class _Machine(RuleBasedStateMachine):
    """A container and its model."""

    real: Any
    model: Any
    ways: tuple[Callable[[Any], Any], ...] = (copy.copy, copy.deepcopy, pickled, through_arrays)

    def alike(self, verb: str, *arguments: Any) -> Any:
        """Assert that a method returns, or raises, the same in container and model."""
        got = outcome(getattr(self.real, verb), *arguments)
        expected = outcome(getattr(self.model, verb), *map(plain, arguments))
        assert got == expected, f"{verb}{arguments} returned {got}, not {expected}"
        return got

    @rule(way=WAY, change_old=st.booleans())
    def continue_with_a_copy(self, way: Callable[[Any], Any], change_old: bool) -> None:
        """Continue with a copy and change the original, or the other way round."""
        other = way(self.real)
        assert other == self.real
        if change_old:
            self.real, other = other, self.real
        self.change(other)
        other._check()

    def change(self, other: Any) -> None:
        """Change all of a container."""
        raise NotImplementedError

    @invariant()
    def holds(self) -> None:
        """Check the container's own invariants, and compare everything."""
        self.real._check()
        self.compare()

    def compare(self) -> None:
        """Assert that the container has the content of the model."""
        raise NotImplementedError


class _RoomyMachine(_Machine):
    """The methods of all containers with a capacity."""

    @rule(n_keys=st.one_of(st.integers(-2, 40), st.just(TOO_MANY)))
    def reserve(self, n_keys: int) -> None:
        """Make room, sometimes for more than memory holds."""
        expected = ValueError if n_keys < 0 else MemoryError if n_keys == TOO_MANY else None
        assert outcome(self.real.reserve, n_keys) == expected

    @precondition(lambda self: len(self.model) > 12)
    @rule()
    def clear(self) -> None:
        """Remove everything."""
        self.alike("clear")


# ------------------------------------------------------------------------------------- keys with numbers
class _KeyedMachine(_RoomyMachine):
    """The methods that maps and heaps share."""

    container: Any
    dtype = key_dtype = "int64"
    keys = staticmethod(keys)  # a strategy

    def new_container(self, items: dict[int, Any]) -> Any:
        """Return a container of `items`."""
        return self.container.from_arrays(list(items), np.array(list(items.values()), self.dtype))

    def new_model(self, items: dict[int, Any]) -> Any:
        """Return the model of a container of `items`."""
        raise NotImplementedError

    @initialize(target=KNOWN, items=SOME, empty=st.booleans())
    def start(self, items: dict[int, Any], empty: bool) -> Any:
        """Build container and model."""
        first = {} if empty else items
        self.real = self.new_container(first)
        self.model = self.new_model(first)
        return multiple(*items)

    @rule(target=KNOWN, items=SOME)
    def put_in_many(self, items: dict[int, Any]) -> Any:
        """Assign to new keys, which go into the bundle."""
        for key, count in items.items():
            self.alike("__setitem__", key, count)
        return multiple(*items)

    @rule(key=KNOWN, count=COUNT)
    def set(self, key: int, count: Any) -> None:
        """Assign."""
        self.alike("__setitem__", key, count)

    @rule(key=KNOWN, n=st.lists(COUNT, max_size=1))
    def add(self, key: int, n: list[Any]) -> None:
        """Add anything, or the default."""
        self.alike("add", key, *n)

    @rule(key=KNOWN, verb=st.sampled_from(["__delitem__", "remove"]))
    def delete(self, key: int, verb: str) -> None:
        """Remove a key."""
        self.alike(verb, key)

    @rule(known=st.lists(KNOWN, max_size=4))
    def remove_many(self, known: list[Any]) -> None:
        """Remove many, some of which may be missing."""
        self.alike("remove_many", np.array(known, self.key_dtype))

    @rule(key=KNOWN, count=COUNT)
    def setdefault(self, key: Any, count: Any) -> None:
        """Set a key if it is missing."""
        self.alike("setdefault", key, count)

    @rule(items=st.lists(st.tuples(KNOWN, COUNT), max_size=8))
    def set_many(self, items: list[tuple[Any, Any]]) -> None:
        """Assign many, all or nothing."""
        counts = np.array([count for _, count in items], self.dtype)
        self.alike("set_many", np.array([key for key, _ in items], self.key_dtype), counts)

    @rule(wanted=st.lists(st.one_of(KNOWN, KEY), max_size=8), default=COUNT)
    def get_many(self, wanted: list[Any], default: Any) -> None:
        """Read many."""
        self.alike("get_many", np.array(wanted, self.key_dtype), default)

    @rule(key=KNOWN, default=st.integers(-3, 3))
    def read(self, key: int, default: int) -> None:
        """Read one key in every way."""
        self.alike("__getitem__", key)
        self.alike("__contains__", key)
        self.alike("get", key)
        self.alike("get", key, default)

    @rule(items=st.lists(st.tuples(KNOWN, COUNT), max_size=8))
    def add_many(self, items: list[tuple[int, Any]]) -> None:
        """Add many, all or nothing."""
        self.alike("add_many", [key for key, _ in items], np.array([n for _, n in items], self.dtype))

    def change(self, other: Any) -> None:
        """Leave one entry."""
        other.clear()
        other[5] = 5
        assert list(other.items()) == [(5, 5)]

    def compare(self) -> None:
        """Compare everything."""
        assert len(self.real) == len(self.model)
        assert dict(self.real.items()) == dict(self.model.items())


class IntMapMachine(_KeyedMachine):
    """:class:`~structures.IntMap` against a dict.

    Examples
    --------
    In a test module; pytest finds the class by its name::

        class MyMapMachine(IntMapMachine):
            container = MyMap  # has the methods of an IntMap

        TestMyMap = MyMapMachine.TestCase
    """

    container = IntMap

    def new_container(self, items: dict[int, Any]) -> Any:
        """Return a map of `items`."""
        return self.container.from_arrays(list(items), np.array(list(items.values()), self.dtype), self.dtype)

    def new_model(self, items: dict[int, Any]) -> MapModel:
        """Return the model."""
        return MapModel(items)

    @rule(key=KNOWN, default=st.lists(st.integers(-3, 3), max_size=1))
    def pop(self, key: int, default: list[int]) -> None:
        """Remove a key, with or without a default."""
        self.alike("pop", key, *default)

    @rule()
    def iterate(self) -> None:
        """Compare all ways to read everything."""
        items = list(self.real.items())
        assert list(self.real) == self.real.keys().tolist() == [key for key, _ in items]
        assert self.real.values().tolist() == [value for _, value in items]
        assert self.real == self.new_container(self.model)


END = st.one_of(st.none(), KNOWN)
DEFAULT = st.lists(st.just((-5, -1)), max_size=1)


class SortedMapMachine(_KeyedMachine):
    """:class:`~structures.SortedMap` of int64 keys against a sorted dict.

    Examples
    --------
    In a test module; pytest finds the class by its name::

        class MyMapMachine(SortedMapMachine):
            container, dtype = MyMap, "float64"

        TestMyMap = MyMapMachine.TestCase
    """

    container: Any = SortedMap

    def new_container(self, items: dict[Any, Any]) -> Any:
        """Return a map of `items`."""
        values = np.array(list(items.values()), self.dtype)
        return self.container.from_arrays(np.array(list(items), self.key_dtype), values)

    def new_model(self, items: dict[int, Any]) -> SortedModel:
        """Return the model."""
        return SortedModel(items)

    @rule(key=KNOWN, default=DEFAULT)
    def nearest(self, key: Any, default: list[tuple[int, int]]) -> None:
        """Read the neighbors of a key, with or without a default."""
        for verb in ("floor", "lower", "ceiling", "higher"):
            self.alike(verb, key, *default)
        self.alike("rank", key)

    @rule(wanted=st.lists(KNOWN, max_size=8), default=DEFAULT)
    def nearest_many(self, wanted: list[Any], default: list[tuple[int, int]]) -> None:
        """Read the neighbors of many at once."""
        array = np.array(wanted, self.real.key_dtype)
        for verb in ("floor_many", "ceiling_many"):
            self.alike(verb, array, *default)
        self.alike("rank_many", array)

    @rule(i=st.integers(-1, 30), default=DEFAULT)
    def select(self, i: int, default: list[tuple[int, int]]) -> None:
        """Select by rank."""
        self.alike("select", i, *default)

    @rule(default=DEFAULT)
    def peek(self, default: list[tuple[int, int]]) -> None:
        """Read both ends."""
        self.alike("peek_min", *default)
        self.alike("peek_max", *default)

    @rule(verb=st.sampled_from(["pop_min", "pop_max"]), default=st.lists(st.none(), max_size=1))
    def pop_end(self, verb: str, default: list[None]) -> None:
        """Pop from an end."""
        self.alike(verb, *default)

    @rule(key=KNOWN, default=st.lists(st.integers(-3, 3), max_size=1))
    def pop(self, key: Any, default: list[int]) -> None:
        """Remove a key, with or without a default."""
        self.alike("pop", key, *default)

    @rule(low=END, high=END)
    def read_range(self, low: Any, high: Any) -> None:
        """Read a range in every way."""
        found, values = self.alike("range_arrays", low, high)
        self.alike("count", low, high)
        assert self.real.keys(low, high).tolist() == found
        assert self.real.values(low, high).tolist() == values
        assert list(self.real.items(low, high)) == list(zip(found, values, strict=True))

    @rule(low=KNOWN, high=KNOWN)
    def remove_range(self, low: Any, high: Any) -> None:
        """Remove a range."""
        self.alike("remove_range", low, high)

    @rule(start=KNOWN, n=st.integers(1, 400), step=st.sampled_from([1, -1, 7]))
    def add_run(self, start: Any, n: int, step: int) -> None:
        """Insert a run of keys, so that there are several leaves."""
        run = [step * i for i in range(n)] if abs(start) > 2**40 else [start + step * i for i in range(n)]
        self.alike("add_many", np.array(run, self.real.key_dtype), np.ones(n, self.dtype))

    @rule()
    def iterate(self) -> None:
        """Compare all ways to read everything."""
        expected = self.model.in_order()
        assert list(self.real) == self.real.keys().tolist() == expected
        assert self.real == type(self.real).from_arrays(*self.real.to_arrays())


class FloatSortedMapMachine(SortedMapMachine):
    """:class:`~structures.SortedMap` of float64 keys and values against a sorted dict.

    Examples
    --------
    As :class:`SortedMapMachine`.
    """

    dtype = key_dtype = "float64"
    keys = staticmethod(partial(counts, "float64"))


class IntSetMachine(_RoomyMachine):
    """:class:`~structures.IntSet` against a set.

    Examples
    --------
    In a test module; pytest finds the class by its name::

        class MySetMachine(IntSetMachine):
            container = MySet  # has the methods of an IntSet

        TestMySet = MySetMachine.TestCase
    """

    container: Any = IntSet
    keys = staticmethod(keys)  # a strategy

    @initialize(target=KNOWN, some=st.lists(KEY, min_size=1, max_size=20), empty=st.booleans())
    def start(self, some: list[int], empty: bool) -> Any:
        """Build set and model."""
        first = [] if empty else some
        self.real, self.model = self.container(first), IntSetModel(first)
        return multiple(*some)

    @rule(target=KNOWN, some=st.lists(KEY, min_size=1, max_size=20))
    def put_in_many(self, some: list[int]) -> Any:
        """Add new keys, which go into the bundle."""
        self.alike("update", some)
        return multiple(*some)

    @rule(known=st.lists(KNOWN, max_size=8), is_bad=st.booleans())
    def update(self, known: list[int], is_bad: bool) -> None:
        """Add many, all or nothing."""
        if is_bad:
            assert outcome(self.real.update, [*known, 2**63]) is OverflowError
        else:
            self.real |= known
            self.model |= set(known)

    @rule(key=KNOWN, verb=st.sampled_from(["add", "discard", "remove", "__contains__"]))
    def use(self, key: int, verb: str) -> None:
        """Add, remove or look for a key."""
        self.alike(verb, key)

    @rule(wanted=st.lists(st.one_of(KNOWN, KEY), max_size=8))
    def contains_many(self, wanted: list[int]) -> None:
        """Look for many keys."""
        self.alike("contains_many", wanted)

    @rule(start=st.integers(-(2**40), 2**40), n=st.integers(1, 400), step=st.sampled_from([1, -1, 2**40]))
    def add_run(self, start: int, n: int, step: int) -> None:
        """Add a run of keys, so that the table grows."""
        self.alike("update", [start + step * i for i in range(n)])

    def change(self, other: Any) -> None:
        """Leave one key."""
        other.clear()
        other.add(5)
        assert list(other) == [5]

    @rule(known=st.lists(KNOWN, max_size=8), is_superset=st.booleans())
    def combine(self, known: list[int], is_superset: bool) -> None:
        """Use all operators, in both orders."""
        model = set(known) | (self.model if is_superset else set())
        real = self.container(model)
        pairs = ((self.real, real), (set(self.model), model))
        (one, other), (model_one, model_other) = pairs if len(known) % 2 else (pair[::-1] for pair in pairs)
        for combined in (operator.and_, operator.or_, operator.sub, operator.xor):
            made = combined(one, other)
            made._check()
            assert list(made) == sorted(combined(model_one, model_other))
        for compared in (operator.le, operator.lt, operator.ge, operator.gt):
            assert compared(one, other) is compared(model_one, model_other)
        assert one.isdisjoint(other) is model_one.isdisjoint(model_other)

    @rule(key=KNOWN)
    def equals(self, key: int) -> None:
        """Compare with sets that have the same keys, or one more or less."""
        other = self.container(self.model)
        assert self.real == other
        (other.discard if key in other else other.add)(key)
        assert self.real != other

    def compare(self) -> None:
        """Compare everything."""
        assert list(self.real) == self.model.to_array()


class HeapMachine(_KeyedMachine):
    """:class:`~structures.MaxHeap` of int64 against a dict that is sorted for every question.

    A subclass sets another container, dtype and order; ``is_fifo`` is for heaps with ``ties="fifo"``.

    Examples
    --------
    In a test module; pytest finds the class by its name::

        class FloatMinHeapMachine(HeapMachine):
            container, dtype, least_first = MinHeap, "float64", True

        TestFloatMinHeap = FloatMinHeapMachine.TestCase
    """

    container: Any = MaxHeap
    least_first = False
    is_fifo = False

    def new_container(self, items: dict[int, Any]) -> Any:
        """Return a heap of `items`."""
        counts, ties = np.array(list(items.values()), self.dtype), ["fifo"] * self.is_fifo
        return self.container.from_arrays(list(items), counts, *ties)

    def new_model(self, items: dict[int, Any]) -> HeapModel:
        """Return the model."""
        return HeapModel(items, self.least_first, self.is_fifo)

    @rule(key=KNOWN, n=st.lists(COUNT, max_size=1))
    def sub(self, key: int, n: list[Any]) -> None:
        """Subtract anything, or the default."""
        self.alike("sub", key, *n)

    @rule(known=st.lists(KNOWN, max_size=8), count=COUNT)
    def tie(self, known: list[int], count: Any) -> None:
        """Set many keys to one count."""
        for key in known:
            self.alike("__setitem__", key, count)

    @rule()
    def peek(self) -> None:
        """Read the top."""
        self.alike("peek")

    @rule(has_default=st.booleans())
    def pop(self, has_default: bool) -> None:
        """Pop the top, with or without a default."""
        got = outcome(lambda: self.real.pop(default=None) if has_default else self.real.pop())
        assert got == outcome(self.model.pop, *[None] * has_default)

    @rule(key=KNOWN, count=COUNT)
    def replace(self, key: int, count: Any) -> None:
        """Pop the top, and assign."""
        self.alike("replace", key, count)

    @rule(k=st.integers(0, 3))
    def pop_many(self, k: int) -> None:
        """Pop some entries."""
        self.alike("pop_many", k)

    @rule(k=st.integers(0, 9))
    def first_many(self, k: int) -> None:
        """Read the first entries."""
        first = outcome(self.real.nsmallest if self.least_first else self.real.nlargest, k)
        assert first == self.model.first_many(k)

    @rule()
    def iterate(self) -> None:
        """Compare all ways to read everything in order."""
        expected = self.model.first_many(len(self.model))
        assert outcome(self.real.to_arrays) == expected
        assert list(self.real.items()) == list(zip(*expected, strict=True))
        assert list(self.real) == expected[0]
        self.alike("ties")


class IndexedHeapMachine(HeapMachine):
    """:class:`~structures.IndexedMaxHeap` with keys of three levels, some of them past the end.

    A subclass sets another container, dtype and order.

    Examples
    --------
    In a test module; pytest finds the class by its name::

        class OldestFirstMachine(IndexedHeapMachine):
            is_fifo = True

        TestOldestFirst = OldestFirstMachine.TestCase
    """

    container: Any = IndexedMaxHeap
    n_keys = 1030

    def keys(self) -> st.SearchStrategy[int]:  # type: ignore[override]
        """Return a strategy for keys: in one row, at the ends of rows, and anywhere."""
        ends = st.sampled_from([-1, 31, 32, 1023, 1024, 1029, 1030, 2**40])
        return st.one_of(st.integers(0, 9), ends, st.integers(0, self.n_keys - 1))

    def new_container(self, items: dict[int, Any]) -> Any:
        """Return a container of the items whose keys it can hold."""
        items = {key: count for key, count in items.items() if 0 <= key < self.n_keys}
        counts = np.array(list(items.values()), self.dtype)
        return self.container.from_arrays(list(items), counts, self.n_keys, "fifo" if self.is_fifo else "key")

    def new_model(self, items: dict[int, Any]) -> IndexedHeapModel:
        """Return the model."""
        items = {key: count for key, count in items.items() if 0 <= key < self.n_keys}
        return IndexedHeapModel(items, self.n_keys, self.least_first, self.is_fifo)

    @rule(key=KNOWN, count=COUNT)
    def improve(self, key: int, count: Any) -> None:
        """Insert, or move towards the top."""
        self.alike("improve", key, count)

    @rule(keys=st.lists(KNOWN, min_size=1, max_size=5), past=st.booleans())
    def refuse_many(self, keys: list[int], past: bool) -> None:
        """Add many and fail, which must restore the order of ties."""
        far = [1.0] * len(keys) + [float("nan")] if self.dtype != "int64" else [1] * len(keys) + [-(2**63)]
        last = self.n_keys if past else keys[0]
        got = outcome(self.real.add_many, [*keys, last], np.array(far, self.dtype))
        assert got in (ValueError, IndexError, OverflowError)


class CountBucketsMachine(HeapMachine):
    """:class:`~structures.CountBuckets`: the methods of a heap, of both ends and of the buckets."""

    container = CountBuckets

    @rule()
    def read_buckets(self) -> None:
        """Compare the buckets."""
        self.alike("max_count")
        self.alike("min_count")
        self.alike("counts")
        for count in self.model.counts():
            self.alike("keys_at", count)

    @rule(low=st.none() | COUNT, high=st.none() | COUNT)
    def keys_in(self, low: Any, high: Any) -> None:
        """Read the keys with counts in a range."""
        self.alike("keys_in", low, high)

    @rule(count=COUNT, default=st.lists(st.none(), max_size=1))
    def nearest_counts(self, count: int, default: list[None]) -> None:
        """Find the nearest counts."""
        self.alike("ceiling_count", count, *default)
        self.alike("floor_count", count, *default)

    @rule(count=COUNT)
    def keys_at(self, count: int) -> None:
        """Read the keys of a count, perhaps none."""
        self.alike("keys_at", count)

    @rule()
    def peek_min(self) -> None:
        """Read the other end."""
        self.alike("peek_min")

    @rule(default=st.lists(st.none(), max_size=1))
    def pop_min(self, default: list[None]) -> None:
        """Pop from the other end."""
        self.alike("pop_min", *default)


# --------------------------------------------------------------------------------- priorities with payloads
_PAYLOAD = keys().map(lambda key: min(key, INT64_MAX - 1))
_PAIRS = st.lists(st.tuples(COUNT, _PAYLOAD), max_size=40)


class PlainHeapMachine(_RoomyMachine):
    """:class:`~structures.Heap` of int64 against a dict from handle to pair, sorted for every question.

    A subclass sets another dtype.

    Examples
    --------
    In a test module; pytest finds the class by its name::

        class FloatMachine(PlainHeapMachine):
            dtype = "float64"

        TestFloats = FloatMachine.TestCase
    """

    dtype = "int64"
    ways = (copy.copy, copy.deepcopy)  # the others give new handles

    @initialize(pairs=_PAIRS, is_built=st.booleans())
    def start(self, pairs: list[tuple[Any, int]], is_built: bool) -> None:
        """Build heap and model."""
        if is_built:
            priorities = np.array([priority for priority, _ in pairs], self.dtype)
            self.real = Heap.heapify(priorities, [payload for _, payload in pairs])
        else:
            self.real = Heap(self.dtype)
            assert [self.real.push(*pair) for pair in pairs] == list(range(len(pairs)))
        self.model = dict(enumerate(pairs))

    def handles(self) -> set[int]:
        """Return the handles of the entries."""
        return set(range(tournament(self.real)[3])) - set(free_ids_of(self.real).tolist())

    @rule(pairs=_PAIRS)
    def push(self, pairs: list[tuple[Any, int]]) -> None:
        """Push some."""
        for pair in pairs:
            handle = self.real.push(*pair)
            assert handle not in self.model
            self.model[handle] = pair

    @rule()
    def pop(self) -> None:
        """Pop the top, or find that there is none."""
        if not self.model:
            for call in (self.real.pop, self.real.peek, partial(self.real.replace, 1, 2)):
                assert outcome(call) is IndexError
            return
        popped = self.real.pop()
        (gone,) = self.model.keys() - self.handles()
        assert popped == self.model[gone] == min(self.model.values())
        del self.model[gone]

    @rule(priority=COUNT, payload=_PAYLOAD, verb=st.sampled_from(["pushpop", "replace"]))
    def exchange(self, priority: Any, payload: int, verb: str) -> None:
        """Push and pop at once."""
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
    @rule(i=st.integers(0, 200), priority=COUNT, is_removed=st.booleans())
    def use_a_handle(self, i: int, priority: Any, is_removed: bool) -> None:
        """Change or remove an entry."""
        handle = sorted(self.model)[i % len(self.model)]
        if is_removed:
            self.real.remove(handle)
            del self.model[handle]
        else:
            self.real.change(handle, priority)
            self.model[handle] = priority, self.model[handle][1]

    @rule(handle=st.sampled_from([-1, 0, 31, 32, 50, 1000, INT64_MIN, INT64_MAX]))
    def use_any_handle(self, handle: int) -> None:
        """Use a handle that no entry has."""
        if handle not in self.model:
            assert outcome(self.real.remove, handle) == outcome(self.real.change, handle, 1) is KeyError

    @rule(k=st.integers(-1, 9))
    def nsmallest(self, k: int) -> None:
        """Read the first entries."""
        first = sorted(self.model.values())[: max(k, 0)]
        expected = [priority for priority, _ in first], [payload for _, payload in first]
        assert outcome(self.real.nsmallest, k) == (ValueError if k < 0 else expected)

    @rule(way=st.sampled_from([pickled, through_arrays]))
    def continue_with_other_handles(self, way: Callable[[Any], Any]) -> None:
        """Continue with a heap built from the arrays, whose handles are in the order of the entries."""
        self.real, old = way(self.real), self.real
        assert (self.real == old, self.real.dtype) == (True, self.dtype)
        self.model = dict(enumerate(sorted(self.model.values())))

    def change(self, other: Any) -> None:
        """Push an entry."""
        other.push(1, INT64_MIN)
        assert other != self.real

    def compare(self) -> None:
        """Compare everything."""
        assert len(self.real) == len(self.model)
        assert self.handles() == self.model.keys()
        assert list(self.real) == sorted(self.model.values())
        if self.model:
            assert self.real.peek() == min(self.model.values())


# ------------------------------------------------------------------------------------------------ deques
_VALUE = st.runner().flatmap(lambda machine: machine.values)
_VALUES = st.lists(_VALUE, max_size=12)
_INDEX = st.integers(-40, 40)


class DequeMachine(_RoomyMachine):
    """:class:`~structures.Deque` of int64 against ``collections.deque``.

    A subclass sets another dtype, and a strategy for its values.

    Examples
    --------
    In a test module; pytest finds the class by its name::

        class BytesMachine(DequeMachine):
            dtype, values = "int32", st.integers(0, 255)

        TestBytes = BytesMachine.TestCase
    """

    dtype = "int64"
    values = counts("int64")

    @initialize(values=_VALUES)
    def start(self, values: list[Any]) -> None:
        """Build deque and model."""
        self.real, self.model = Deque.from_array(np.array(values, self.dtype)), deque(values)

    @rule(values=_VALUES, verb=st.sampled_from(["append", "appendleft"]))
    def add(self, values: list[Any], verb: str) -> None:
        """Add some at an end."""
        for value in values:
            self.alike(verb, value)

    @rule(verb=st.sampled_from(["pop", "popleft"]), n=st.integers(1, 9))
    def remove(self, verb: str, n: int) -> None:
        """Remove some from an end."""
        for _ in range(n):
            self.alike(verb)

    @rule(values=_VALUES)
    def extend(self, values: list[Any]) -> None:
        """Add many."""
        self.alike("extend", np.array(values, self.dtype))

    @rule(index=_INDEX, value=_VALUE)
    def use_an_index(self, index: int, value: Any) -> None:
        """Read and write an element."""
        self.alike("__getitem__", index)
        self.alike("__setitem__", index, value)

    def change(self, other: Any) -> None:
        """Add an element."""
        other.append(1)
        assert (other != self.real, other.dtype) == (True, self.dtype)

    def compare(self) -> None:
        """Compare everything."""
        assert len(self.real) == len(self.model)
        assert list(self.real) == list(self.model)
        assert list(reversed(self.real)) == list(reversed(self.model))


# ----------------------------------------------------------------------------------------- disjoint sets
_ELEMENT = st.integers(0, 200)


class DisjointSetsMachine(_Machine):
    """:class:`~structures.DisjointSets` against the set of each element.

    Examples
    --------
    In a test module; pytest finds the class by its name::

        TestMachine = DisjointSetsMachine.TestCase
    """

    @initialize(n=st.integers(0, 40))
    def start(self, n: int) -> None:
        """Make container and model."""
        self.real, self.model = DisjointSets(n), DisjointSetsModel(n)

    @rule()
    def add(self) -> None:
        """Add an element."""
        self.alike("add")

    @rule(n=st.one_of(st.integers(-2, 100), st.just(TOO_MANY)))
    def reserve(self, n: int) -> None:
        """Make room, sometimes for more than memory holds."""
        expected = ValueError if n < 0 else MemoryError if n == TOO_MANY else None
        assert outcome(self.real.reserve, n) == expected

    @precondition(lambda self: len(self.model) > 0)
    @rule(pairs=st.lists(st.tuples(_ELEMENT, _ELEMENT), max_size=10), at_once=st.booleans())
    def union(self, pairs: list[tuple[int, int]], at_once: bool) -> None:
        """Join some, one by one or in one call."""
        pairs = [(one % len(self.model), other % len(self.model)) for one, other in pairs]
        if at_once:
            self.alike("union_many", [one for one, _ in pairs], [other for _, other in pairs])
        else:
            for pair in pairs:
                self.alike("union", *pair)

    @precondition(lambda self: len(self.model) > 0)
    @rule(one=_ELEMENT, other=_ELEMENT)
    def look(self, one: int, other: int) -> None:
        """Read two elements in every way; the root of a set may be any of its elements."""
        one, other = one % len(self.model), other % len(self.model)
        together = self.alike("connected", one, other)
        self.alike("size", one)
        for verb in (self.real.root, self.real.find, self.real.root):
            assert (verb(one) == verb(other)) is together
            assert verb(one) == self.real.find(one)
            assert verb(one) in self.model.set_of[one]

    @rule(index=st.sampled_from([-1, 0, 1, 2**40]))
    def look_outside(self, index: int) -> None:
        """Use an element that is not there."""
        element = index if index < 0 else len(self.model) + index
        for verb in (self.real.find, self.real.root):
            assert outcome(verb, element) is IndexError
        self.alike("size", element)
        self.alike("union", element, element)
        self.alike("union_many", [0, 0], [0, element])

    def change(self, other: Any) -> None:
        """Join all, and one more."""
        other.add()
        other.union_many(np.zeros(len(other), int), np.arange(len(other)))
        assert other.n_sets == 1
        assert other != self.real

    def compare(self) -> None:
        """Compare everything."""
        assert len(self.real) == len(self.model)
        assert self.real.n_sets == self.model.n_sets
        self.alike("labels")


# ----------------------------------------------------------------------------------- token lists, indexes
TOKEN = st.one_of(st.integers(0, 4), st.just(2**31 - 1))
SEGMENTS = st.lists(st.lists(TOKEN, min_size=1, max_size=10), max_size=4)
POSITION = st.integers(-1, 40)


def token_list_of(segments: list[list[int]]) -> TokenList:
    """Return a token list of segments."""
    return TokenList(list(chain.from_iterable(segments)), np.cumsum([0, *map(len, segments)]))


class TokenListMachine(_Machine):
    """:class:`~structures.TokenList` against a list of segments, each a list of (position, token)."""

    ways = (copy.copy, copy.deepcopy)  # the others remove what is stale

    @initialize(segments=SEGMENTS)
    def start(self, segments: list[list[int]]) -> None:
        """Build list and model."""
        self.real, self.model = token_list_of(segments), TokenModel(segments)

    @rule(position=POSITION, token=TOKEN)
    def merge(self, position: int, token: int) -> None:
        """Merge anywhere, possible or not."""
        self.alike("merge", position, token)

    @rule(i=st.integers(0, 40), token=TOKEN)
    def merge_live(self, i: int, token: int) -> None:
        """Merge at a position that holds a token."""
        positions = self.model.positions()
        if positions:
            self.alike("merge", positions[i % len(positions)], token)

    @rule(position=POSITION)
    def look(self, position: int) -> None:
        """Read one position in every way."""
        for verb in ("next", "prev", "token", "segment_at"):
            self.alike(verb, position)

    @rule(number=st.integers(-1, 4))
    def segment(self, number: int) -> None:
        """Read a segment."""
        self.alike("segment", number)
        self.alike("segment_positions", number)

    @rule()
    def compact(self) -> None:
        """Remove the tombstones."""
        self.alike("compact")

    def change(self, other: Any) -> None:
        """Leave one token in each segment."""
        other.compact()
        while len(other) > other.n_segments:
            last = next(p for p in other.positions().tolist() if other.next(p) >= 0)
            other.merge(last, 3)

    @rule(way=st.sampled_from([pickled, through_arrays]))
    def continue_without_tombstones(self, way: Callable[[Any], Any]) -> None:
        """Replace the list by one built from its content."""
        self.real, old = way(self.real), self.real
        self.model.compact()
        assert self.real == old

    def compare(self) -> None:
        """Compare everything."""
        assert len(self.real) == len(self.model.live())
        assert self.real.n_segments == len(self.model.segments)
        assert self.real.n_positions == self.model.n_positions
        assert list(self.real) == self.model.to_arrays()[0]
        self.alike("positions")
        self.alike("to_arrays")


class PairIndexMachine(_Machine):
    """:class:`~structures.PairIndex`, over a token list that merges, against a dict of lists."""

    ways = (copy.copy, copy.deepcopy)  # the others remove what is stale

    @initialize(segments=SEGMENTS, full=st.booleans())
    def start(self, segments: list[list[int]], full: bool) -> None:
        """Build index and model over a token list."""
        tokens = token_list_of(segments)
        self.real = PairIndex.build(tokens) if full else PairIndex(tokens)
        self.model = PairModel(TokenModel(segments))
        if full:
            self.model.rebuild()

    @rule(i=st.integers(0, 40), token=TOKEN, post=st.booleans())
    def merge(self, i: int, token: int, post: bool) -> None:
        """Merge two tokens, and post the new pairs or do not."""
        tokens = self.model.tokens
        mergeable = [position for position in tokens.positions() if tokens.next(position) >= 0]
        if not mergeable:
            return
        position = mergeable[i % len(mergeable)]
        self.real.tokens.merge(position, token)
        tokens.merge(position, token)
        for left in (tokens.prev(position), position) if post else ():
            pair = tokens.pair_at(left)
            if pair is not None:
                self.alike("add", *pair, left)

    @rule(left=TOKEN, right=TOKEN, position=POSITION)
    def add(self, left: int, right: int, position: int) -> None:
        """Post anything, stale postings included."""
        self.alike("add", left, right, position)

    @rule(left=TOKEN, right=TOKEN, positions=st.lists(st.integers(0, 12), max_size=12))
    def add_many(self, left: int, right: int, positions: list[int]) -> None:
        """Post many."""
        self.alike("add_many", left, right, positions)

    @rule(left=TOKEN, right=TOKEN)
    def drop(self, left: int, right: int) -> None:
        """Drop a list that may be missing."""
        self.alike("drop", left, right)

    @rule(i=st.integers(0, 40))
    def drop_known(self, i: int) -> None:
        """Drop a list that is there."""
        if self.model.lists:
            self.alike("drop", *sorted(self.model.lists)[i % len(self.model.lists)])

    @rule()
    def rebuild(self) -> None:
        """Post everything again."""
        self.alike("rebuild")
        assert self.real.stale_fraction() == 0

    @rule()
    def compact(self) -> None:
        """Remove the tombstones of the token list, and rebuild."""
        assert self.real.tokens.compact().tolist() == self.model.tokens.compact()
        self.alike("rebuild")

    @rule(left=TOKEN, right=TOKEN)
    def look(self, left: int, right: int) -> None:
        """Read one pair in every way."""
        self.alike("postings", left, right)
        assert ((left, right) in self.real) == (self.alike("count", left, right) > 0)

    def change(self, other: Any) -> None:
        """Drop everything."""
        other.tokens.compact()
        other.rebuild()
        for pair in other.pairs():
            other.drop(*pair)
        assert (len(other), other.n_postings) == (0, 0)

    @rule(follow=st.booleans())
    def continue_without_stale_postings(self, follow: bool) -> None:
        """Continue with an index built from the content, over the same token list or a pickled one."""
        old = self.real
        self.real = pickled(old) if follow else PairIndex.from_arrays(*old.to_arrays())
        model = self.model
        model.lists = {pair: model.postings(*pair) for pair in model.lists if model.count(*pair)}
        if follow:
            place = {old: new for new, old in enumerate(model.tokens.compact())}
            model.lists = {pair: [place[p] for p in postings] for pair, postings in model.lists.items()}
        else:
            assert self.real == old

    def compare(self) -> None:
        """Compare everything."""
        self.real.tokens._check()
        assert list(self.real.tokens) == self.model.tokens.to_arrays()[0]
        assert len(self.real) == len(self.model.lists)
        assert self.real.n_postings == self.model.n_postings
        self.alike("pairs")
        self.alike("stale_fraction")
        for pair in self.model.lists:
            self.alike("postings", *pair)


# ------------------------------------------------------------------------------------- rows of the k best
_ROW = st.integers(-1, 3)
_DISTANCE = st.one_of(
    st.integers(-2, 6).map(lambda n: n / 2),
    st.sampled_from([float("inf"), float("-inf"), float("nan"), -0.0, 1e-45, 1e300, 0.1]),
    st.floats(width=32),
)
_ID = st.one_of(st.integers(0, 9), st.sampled_from([-1, 2**31 - 1, 2**31, 2**63 - 1]))
_NEW_ID = st.integers(0, 40)
_TRIES = st.lists(st.tuples(_ROW, _DISTANCE, _ID), max_size=4)
_GOOD = st.lists(st.tuples(st.integers(0, 2), st.floats(0, 4, width=32), _NEW_ID), max_size=60)


class KBestMachine(_Machine):
    """:class:`~structures.KBest` against :class:`KBestModel`.

    Examples
    --------
    In a test module; pytest finds the class by its name::

        TestMachine = KBestMachine.TestCase
    """

    @initialize(
        k=st.sampled_from([1, 2, 3, 15, 16, 17, 40]),
        dtype=st.sampled_from(["float32", "float64"]),
        id_dtype=st.sampled_from(["int32", "int64"]),
        flags=st.booleans(),
    )
    def start(self, k: int, dtype: str, id_dtype: str, flags: bool) -> None:
        """Make container and model."""
        self.shape = 3, k, dtype, id_dtype, flags
        self.real, self.model = KBest(*self.shape), KBestModel(*self.shape)

    @rule(row=_ROW, distance=_DISTANCE, id=_ID, verb=st.sampled_from(["push", "push_unchecked"]))
    def push(self, row: int, distance: float, id: int, verb: str) -> None:
        """Push anything."""
        self.alike(verb, row, distance, id)

    @rule(row=_ROW, distance=_DISTANCE, id=_ID, flag=st.booleans())
    def push_with_a_flag(self, row: int, distance: float, id: int, flag: bool) -> None:
        """Push anything with a flag."""
        self.alike("push", row, distance, id, flag)

    @rule(entries=st.one_of(_GOOD, _TRIES), flag=st.booleans())
    def push_many(self, entries: list[tuple[int, float, int]], flag: bool) -> None:
        """Push many, all or nothing."""
        self.alike("push_many", *([entry[i] for entry in entries] for i in range(3)), flag)

    @rule(entries=_GOOD, k=st.integers(1, 20), flag=st.booleans())
    def merge(self, entries: list[tuple[int, float, int]], k: int, flag: bool) -> None:
        """Push the entries of another container."""
        shape = 3, k, *self.shape[2:4], flag
        real, model = KBest(*shape), KBestModel(*shape)
        for other in (real, model):
            for entry in entries:
                other.push_unchecked(*entry, flag)
        assert self.real.merge(real) == self.model.merge(model)

    @rule(row=_ROW)
    def read(self, row: int) -> None:
        """Read one row in every way."""
        for verb in ("worst", "size", "row"):
            self.alike(verb, row)

    def change(self, other: Any) -> None:
        """Leave one entry."""
        other.clear()
        other.push(1, 0.5, 5)
        assert [other.size(row) for row in range(3)] == [0, 1, 0]

    @precondition(lambda self: sum(map(len, self.model.rows)) > 30)
    @rule()
    def clear(self) -> None:
        """Remove everything."""
        self.alike("clear")

    def compare(self) -> None:
        """Compare everything."""
        assert plain(self.real.to_arrays()) == self.model.to_arrays()
