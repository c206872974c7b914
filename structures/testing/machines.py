"""State machines: all methods of a container in any order, compared with a model after every step.

Each is a ``hypothesis.stateful.RuleBasedStateMachine``. Its rules draw keys from a bundle, so that keys
recur. An exception is a result like any other. After every rule the container checks its invariants and must
have the content of the model.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
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

from structures.hash_tables.int_map import IntMap
from structures.priority_queues.count_buckets import CountBuckets
from structures.priority_queues.multiset_heap import MaxHeap
from structures.testing.models import HeapModel, MapModel, outcome, plain
from structures.testing.strategies import counts, keys

KNOWN = Bundle("known")
COUNT = st.runner().flatmap(lambda machine: counts(machine.dtype))
KEY = st.runner().flatmap(lambda machine: machine.keys())
SOME = st.dictionaries(KEY, COUNT, min_size=1, max_size=20)
TOO_MANY = 2**47


def pickled(container: Any) -> Any:
    """Return the pickled and unpickled container."""
    return pickle.loads(pickle.dumps(container))


def through_arrays(container: Any) -> Any:
    """Return a container built from the arrays of another."""
    from_arrays, arrays, *_ = container.__reduce__()
    return from_arrays(*arrays)


# ------------------------------------------------------------------------------------- keys with numbers
class _Machine(RuleBasedStateMachine):
    real: Any
    model: Any

    def alike(self, verb: str, *arguments: Any) -> Any:
        """Assert that a method returns, or raises, the same in container and model."""
        got = outcome(getattr(self.real, verb), *arguments)
        expected = outcome(getattr(self.model, verb), *map(plain, arguments))
        assert got == expected, f"{verb}{arguments} returned {got}, not {expected}"
        return got

    def copied(self, way: Callable[[Any], Any], change_old: bool) -> Any:
        """Continue with the container or with its copy; return the other of the two, to be changed."""
        other = way(self.real)
        assert other == self.real
        if change_old:
            self.real, other = other, self.real
        return other


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

    @invariant()
    def holds(self) -> None:
        """Check the container's own invariants."""
        self.real._check()
        assert len(self.real) == len(self.model)


class _KeyedMachine(_RoomyMachine):
    """The methods that maps and heaps share."""

    container: Any
    dtype = "int64"
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

    @rule(key=KNOWN)
    def delete(self, key: int) -> None:
        """Remove a key."""
        self.alike("__delitem__", key)

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

    @rule(way=st.sampled_from([copy.copy, copy.deepcopy, pickled, through_arrays]), change_old=st.booleans())
    def continue_with_a_copy(self, way: Callable[[Any], Any], change_old: bool) -> None:
        """Continue with a copy and change the original, or the other way round."""
        other = self.copied(way, change_old)
        other.clear()
        other[5] = 5
        other._check()
        assert list(other.items()) == [(5, 5)]

    @invariant()
    def has_the_content_of_the_model(self) -> None:
        """Compare everything."""
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

    @rule(items=st.lists(st.tuples(KNOWN, COUNT), max_size=8))
    def set_many(self, items: list[tuple[int, int]]) -> None:
        """Assign many."""
        self.alike("set_many", [key for key, _ in items], [value for _, value in items])

    @rule(wanted=st.lists(st.one_of(KNOWN, keys()), max_size=8), default=COUNT)
    def get_many(self, wanted: list[int], default: int) -> None:
        """Read many."""
        self.alike("get_many", wanted, default)

    @rule()
    def iterate(self) -> None:
        """Compare all ways to read everything."""
        items = list(self.real.items())
        assert list(self.real) == self.real.keys().tolist() == [key for key, _ in items]
        assert self.real.values().tolist() == [value for _, value in items]
        assert self.real == self.new_container(self.model)


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
