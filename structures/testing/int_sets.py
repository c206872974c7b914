"""For tests of :class:`~structures.IntSet`: its model, its state machine, its language."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, multiple, rule

from structures.compiling.jit import kernel
from structures.hash_tables.int_set import IntSet
from structures.status import MISSING, OK
from structures.testing.machines import KEY, KNOWN, _RoomyMachine, pickled, through_arrays
from structures.testing.models import outcome
from structures.testing.programs import Language
from structures.testing.strategies import keys


class IntSetModel(set[int]):
    """:class:`~structures.IntSet`: a set.

    Examples
    --------
    >>> IntSetModel([3, 1]).to_array()
    [1, 3]
    """

    def contains_many(self, keys: Iterable[int]) -> list[bool]:
        """Return for many keys whether they are there."""
        return [key in self for key in keys]

    def to_array(self) -> list[int]:
        """Return the keys, ascending."""
        return sorted(self)


# ---------------------------------------------------------------------------------------------- machine
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

    @rule(way=st.sampled_from([copy.copy, copy.deepcopy, pickled, through_arrays]), change_old=st.booleans())
    def continue_with_a_copy(self, way: Callable[[Any], Any], change_old: bool) -> None:
        """Continue with a copy and change the original, or the other way round."""
        other = self.copied(way, change_old)
        other.clear()
        other.add(5)
        other._check()
        assert list(other) == [5]

    @rule(key=KNOWN)
    def compare(self, key: int) -> None:
        """Compare with sets that have the same keys, or one more or less."""
        other = self.container(self.model)
        assert self.real == other
        (other.discard if key in other else other.add)(key)
        assert self.real != other

    @invariant()
    def has_the_content_of_the_model(self) -> None:
        """Compare everything."""
        assert list(self.real) == self.model.to_array()


# --------------------------------------------------------------------------------------------- language
class SetOperation(IntEnum):
    """The operations of the language here; a number is the step between keys."""

    ADD = 0
    UPDATE = 1
    DISCARD = 2
    REMOVE = 3
    CONTAINS = 4
    CONTAINS_MANY = 5
    TO_ARRAY = 6
    LOOP = 7
    EQUALS = 8
    COPY = 9
    RESERVE = 10
    CLEAR = 11


MANY = 4  # the keys of an operation with many


@kernel
def _run_set(container, operations, keys, numbers, first, second):
    for i in range(operations.size):
        operation, key = operations[i], keys[i]
        if operation == SetOperation.ADD:
            first[i] = container.add(key)
        elif operation == SetOperation.UPDATE:
            first[i] = container.update(key + numbers[i] * np.arange(MANY))
        elif operation == SetOperation.DISCARD:
            first[i] = container.discard(key)
        elif operation == SetOperation.REMOVE:
            first[i] = container.remove(key)
        elif operation == SetOperation.CONTAINS:
            first[i], second[i] = key in container, len(container)
        elif operation == SetOperation.CONTAINS_MANY:
            found = container.contains_many(key + numbers[i] * np.arange(MANY))
            for j in range(MANY):
                first[i] += found[j] << j
        elif operation == SetOperation.TO_ARRAY:
            in_order = container.to_array()
            first[i] = in_order.sum()
            if in_order.size > 0:
                second[i] = in_order[in_order.size // 2]
        elif operation == SetOperation.LOOP:
            for known in container:
                container.discard(key)  # a loop runs over what was there when it began
                first[i] = known
                if known >= key:
                    break
        elif operation == SetOperation.EQUALS:
            other = container.copy()
            other.add(key)
            first[i], second[i] = other == container, other != container
        elif operation == SetOperation.COPY:
            container = container.copy()
        elif operation == SetOperation.RESERVE:
            first[i] = container.reserve(key % 100)
        elif operation == SetOperation.CLEAR and key == 0:  # not as often as the others
            first[i] = container.clear()
    return container


def _many(key: int, step: int) -> list[int]:
    return (key + step * np.arange(MANY)).tolist()


def _remove(model: IntSetModel, key: int) -> int:
    found = OK if key in model else MISSING
    model.discard(key)
    return found


def _in_order(model: IntSetModel) -> tuple[int, int]:
    in_order = model.to_array()
    return int(np.array(in_order, np.int64).sum()), in_order[len(in_order) // 2] if in_order else 0


def _loop(model: IntSetModel, key: int) -> int:
    in_order = model.to_array()
    if in_order:
        model.discard(key)
    return next((known for known in in_order if known >= key), in_order[-1] if in_order else 0)


def _meaning(operation: SetOperation, model: IntSetModel, key: int, number: int) -> tuple[int, int]:
    match operation:
        case SetOperation.ADD:
            model.add(key)
        case SetOperation.UPDATE:
            model.update(_many(key, number))
        case SetOperation.DISCARD:
            model.discard(key)
        case SetOperation.REMOVE:
            return _remove(model, key), 0
        case SetOperation.CONTAINS:
            return key in model, len(model)
        case SetOperation.CONTAINS_MANY:
            return sum(found << j for j, found in enumerate(model.contains_many(_many(key, number)))), 0
        case SetOperation.TO_ARRAY:
            return _in_order(model)
        case SetOperation.LOOP:
            return _loop(model, key), 0
        case SetOperation.EQUALS:
            return key in model, key not in model
        case SetOperation.CLEAR if key == 0:
            model.clear()
    return OK, 0


def _meaning_of(operation: SetOperation) -> Callable[[Any, int, Any], tuple[Any, Any]]:
    return lambda model, key, number: _meaning(operation, model, key, number)


INT_SET_LANGUAGE = Language(_run_set, {operation: _meaning_of(operation) for operation in SetOperation})
"""The language of IntSet."""
