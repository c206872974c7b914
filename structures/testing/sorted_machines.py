"""For tests of :class:`~structures.SortedMap`: its model, its state machine, its language."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import initialize, multiple, rule

from structures.compiling.jit import kernel
from structures.sorted_maps.sorted_map import SortedMap
from structures.status import MISSING, NOT_A_NUMBER, OK, OVERFLOW
from structures.testing.machines import COUNT, KNOWN, _KeyedMachine
from structures.testing.models import MapModel, NotANumber
from structures.testing.programs import Language
from structures.testing.strategies import counts

_Entry = tuple[Any, Any]


class SortedModel(MapModel):
    """:class:`~structures.SortedMap`: a dict whose keys are sorted for every call.

    Examples
    --------
    >>> model = SortedModel({10: 1, 20: 2})
    >>> model.floor(15)
    (10, 1)
    """

    def in_order(self) -> list[Any]:
        """Return the keys, ascending."""
        return sorted(dict.keys(self))

    def _entry(self, i: int, default: tuple[Any, ...] = ()) -> Any:
        """Return the entry of a rank."""
        if 0 <= i < len(self):
            key = self.in_order()[i]
            return key, self[key]
        if not default:
            raise KeyError(i)
        return default[0]

    def floor(self, key: Any, *default: Any) -> Any:
        """Return the entry at or below a key."""
        return self._entry(bisect_right(self.in_order(), key) - 1, default)

    def lower(self, key: Any, *default: Any) -> Any:
        """Return the entry below a key."""
        return self._entry(bisect_left(self.in_order(), key) - 1, default)

    def ceiling(self, key: Any, *default: Any) -> Any:
        """Return the entry at or above a key."""
        return self._entry(bisect_left(self.in_order(), key), default)

    def higher(self, key: Any, *default: Any) -> Any:
        """Return the entry above a key."""
        return self._entry(bisect_right(self.in_order(), key), default)

    def _many(self, verb: Callable[..., Any], keys: Iterable[Any], default: Any) -> tuple[list[Any], ...]:
        found = [verb(key, *default) for key in keys]
        return [key for key, _ in found], [value for _, value in found]

    def floor_many(self, keys: Iterable[Any], *default: Any) -> tuple[list[Any], ...]:
        """Return many floors."""
        return self._many(self.floor, keys, default)

    def ceiling_many(self, keys: Iterable[Any], *default: Any) -> tuple[list[Any], ...]:
        """Return many ceilings."""
        return self._many(self.ceiling, keys, default)

    def rank(self, key: Any) -> int:
        """Return how many keys are less."""
        return bisect_left(self.in_order(), key)

    def rank_many(self, keys: Iterable[Any]) -> list[int]:
        """Return many ranks."""
        return [self.rank(key) for key in keys]

    def select(self, i: int) -> _Entry:
        """Return the entry of a rank."""
        if not 0 <= i < len(self):
            raise IndexError(i)
        return self._entry(i)

    def peek_min(self, *default: Any) -> Any:
        """Return the first entry."""
        return self._entry(0, default)

    def peek_max(self, *default: Any) -> Any:
        """Return the last entry."""
        return self._entry(len(self) - 1 if self else 0, default)

    def _cut(self, entry: Any) -> Any:
        if self:
            del self[entry[0]]
        return entry

    def pop_min(self, *default: Any) -> Any:
        """Remove the first entry."""
        return self._cut(self.peek_min(*default))

    def pop_max(self, *default: Any) -> Any:
        """Remove the last entry."""
        return self._cut(self.peek_max(*default))

    def between(self, low: Any = None, high: Any = None) -> list[Any]:
        """Return the keys of a range."""
        found = self.in_order()
        return [key for key in found if (low is None or key >= low) and (high is None or key < high)]

    def range_arrays(self, low: Any = None, high: Any = None) -> tuple[list[Any], list[Any]]:
        """Return the keys and values of a range."""
        found = self.between(low, high)
        return found, [self[key] for key in found]

    def count(self, low: Any = None, high: Any = None) -> int:
        """Return the number of keys in a range."""
        return len(self.between(low, high))

    def remove_range(self, low: Any = None, high: Any = None) -> int:
        """Remove the keys of a range."""
        found = self.between(low, high)
        self.remove_many(found)
        return len(found)

    def remove_many(self, keys: Iterable[Any]) -> int:
        """Remove keys that may be missing."""
        n = len(self)
        for key in keys:
            super().pop(key, None)
        return n - len(self)


# --------------------------------------------------------------------------------------------- the machine
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

    def new_model(self, items: dict[int, Any]) -> SortedModel:
        """Return the model."""
        return SortedModel(items)

    @rule(key=KNOWN, default=DEFAULT)
    def nearest(self, key: Any, default: list[_Entry]) -> None:
        """Read the neighbours of a key, with or without a default."""
        for verb in ("floor", "lower", "ceiling", "higher"):
            self.alike(verb, key, *default)
        self.alike("rank", key)

    @rule(wanted=st.lists(KNOWN, max_size=8), default=DEFAULT, value=COUNT)
    def read_many(self, wanted: list[Any], default: list[_Entry], value: Any) -> None:
        """Read many at once."""
        array = np.array(wanted, self.real.key_dtype)
        for verb in ("floor_many", "ceiling_many"):
            self.alike(verb, array, *default)
        self.alike("rank_many", array)
        self.alike("get_many", array, value)

    @rule(i=st.integers(-1, 30))
    def select(self, i: int) -> None:
        """Select by rank."""
        self.alike("select", i)

    @rule()
    def peek(self) -> None:
        """Read both ends."""
        self.alike("peek_min")
        self.alike("peek_max")

    @rule(verb=st.sampled_from(["pop_min", "pop_max"]), default=st.lists(st.none(), max_size=1))
    def pop_end(self, verb: str, default: list[None]) -> None:
        """Pop from an end."""
        self.alike(verb, *default)

    @rule(key=KNOWN, default=st.lists(st.integers(-3, 3), max_size=1))
    def pop(self, key: Any, default: list[int]) -> None:
        """Remove a key, with or without a default."""
        self.alike("pop", key, *default)

    @rule(key=KNOWN, value=COUNT)
    def setdefault(self, key: Any, value: Any) -> None:
        """Set a key if it is missing."""
        self.alike("setdefault", key, value)

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

    @rule(known=st.lists(KNOWN, max_size=4))
    def remove_many(self, known: list[Any]) -> None:
        """Remove many, some of which may be missing."""
        self.alike("remove_many", np.array(known, self.real.key_dtype))

    @rule(items=st.lists(st.tuples(KNOWN, COUNT), max_size=8))
    def set_many(self, items: list[tuple[Any, Any]]) -> None:
        """Assign many."""
        values = np.array([value for _, value in items], self.dtype)
        self.alike("set_many", np.array([key for key, _ in items], self.real.key_dtype), values)

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

    dtype = "float64"
    some = st.dictionaries(counts("float64"), COUNT, min_size=1, max_size=20)

    @initialize(target=KNOWN, items=some, empty=st.booleans())
    def start(self, items: dict[Any, Any], empty: bool) -> Any:
        """Build map and model."""
        first = {} if empty else items
        self.real = self.container(first, np.float64, np.float64)
        self.model = self.new_model(first)
        return multiple(*items)

    @rule(target=KNOWN, items=some)
    def put_in_many(self, items: dict[Any, Any]) -> Any:
        """Assign to new keys, which go into the bundle."""
        for key, value in items.items():
            self.alike("__setitem__", key, value)
        return multiple(*items)


# -------------------------------------------------------------------------------------------- the language
class SortedOperation(IntEnum):
    """The operations of the language of sorted maps."""

    ADD = 0
    SET = 1
    REMOVE = 2
    POP = 3
    SETDEFAULT = 4
    POP_MIN = 5
    POP_MAX = 6
    SET_MANY = 7
    REMOVE_RANGE = 8
    CLEAR = 9
    RESERVE = 10
    COPY = 11
    # questions
    GET = 20
    CONTAINS = 21
    FLOOR = 22
    LOWER = 23
    CEILING = 24
    HIGHER = 25
    RANK = 26
    SELECT = 27
    PEEK = 28
    RANGE = 29
    MANY = 30
    WALK = 31


FAR = 9  # the length of a range
NO_KEY = -7


@kernel
def _change(sorted_map, operation, key, number, first, second):
    if operation == SortedOperation.ADD:
        first[0] = sorted_map.add(key, number)
    elif operation == SortedOperation.SET:
        sorted_map[key] = number
    elif operation == SortedOperation.REMOVE:
        first[0] = sorted_map.remove(key)
    elif operation == SortedOperation.POP:
        second[0] = sorted_map.pop(key, number)
    elif operation == SortedOperation.SETDEFAULT:
        second[0] = sorted_map.setdefault(key, number)
    elif operation == SortedOperation.POP_MIN:
        first[0], second[0] = sorted_map.pop_min((NO_KEY, number))
    elif operation == SortedOperation.POP_MAX:
        first[0], second[0] = sorted_map.pop_max()
    elif operation == SortedOperation.SET_MANY:
        first[0] = sorted_map.set_many(key + np.arange(0, -FAR, -1), np.arange(FAR))
    elif operation == SortedOperation.REMOVE_RANGE:
        first[0] = sorted_map.remove_range(key, key + FAR)
    elif operation == SortedOperation.CLEAR and key == 0:  # not as often as the others
        first[0] = sorted_map.clear()
    elif operation == SortedOperation.RESERVE:
        first[0] = sorted_map.reserve(key % 1000)


@kernel
def _ask(sorted_map, operation, key, number, first, second):
    if operation == SortedOperation.GET:
        first[0], second[0] = sorted_map[key] == sorted_map.get(key), sorted_map.get(key, number)
    elif operation == SortedOperation.CONTAINS:
        first[0], second[0] = key in sorted_map, len(sorted_map)
    elif operation == SortedOperation.FLOOR:
        first[0], second[0] = sorted_map.floor(key, (NO_KEY, number))
    elif operation == SortedOperation.LOWER:
        first[0], second[0] = sorted_map.lower(key, (NO_KEY, number))
    elif operation == SortedOperation.CEILING:
        first[0], second[0] = sorted_map.ceiling(key, (NO_KEY, number))
    elif operation == SortedOperation.HIGHER:
        first[0], second[0] = sorted_map.higher(key)
    elif operation == SortedOperation.RANK:
        first[0], second[0] = sorted_map.rank(key), sorted_map.count(key, key + FAR)
    elif operation == SortedOperation.SELECT:
        first[0], second[0] = sorted_map.select(key, (NO_KEY, number))
    elif operation == SortedOperation.PEEK:
        first[0], second[0] = sorted_map.peek_min()[0], sorted_map.peek_max()[1]
    elif operation == SortedOperation.RANGE:
        keys, values = sorted_map.range_arrays(key, key + FAR)
        first[0] = keys.sum()
        if keys.size > 0:
            second[0] = values[-1]


@kernel
def _ask_much(sorted_map, operation, key, number, first, second):
    if operation == SortedOperation.MANY:
        wanted = key + np.arange(0, -FAR, -1)
        first[0] = sorted_map.floor_many(wanted, (NO_KEY, number))[0].sum()
        first[0] += sorted_map.ceiling_many(wanted)[0].sum() + sorted_map.rank_many(wanted).sum()
        second[0] = sorted_map.get_many(wanted, number).max()
    elif operation == SortedOperation.WALK:
        entry = sorted_map.higher(key)
        for _ in range(sorted_map.count(low=key) - (key in sorted_map)):
            first[0] += np.int64(entry[0])
            second[0] = entry[1]
            entry = sorted_map.higher(entry[0])


@kernel
def _run(sorted_map, operations, keys, numbers, first, second):
    for i in range(operations.size):
        operation, key, number = operations[i], keys[i], numbers[i]
        if operation == SortedOperation.COPY:
            sorted_map = sorted_map.copy()
        elif operation < SortedOperation.GET:
            _change(sorted_map, operation, key, number, first[i:], second[i:])
        elif operation < SortedOperation.MANY:
            _ask(sorted_map, operation, key, number, first[i:], second[i:])
        else:
            _ask_much(sorted_map, operation, key, number, first[i:], second[i:])
    return sorted_map


_STATUS = {KeyError: MISSING, OverflowError: OVERFLOW, NotANumber: NOT_A_NUMBER}


def _status(call: Callable[..., Any], *arguments: Any) -> tuple[int, int]:
    try:
        call(*arguments)
    except (KeyError, OverflowError, NotANumber) as error:
        return _STATUS[type(error)], 0
    return OK, 0


def _sum(numbers: Iterable[Any]) -> Any:
    """Return a sum as compiled code adds."""
    return (sum(numbers) + 2**63) % 2**64 - 2**63


def _past(key: int) -> int:
    """Return the end of a range that starts at a key."""
    return _sum([key, FAR])


def _down_from(key: int) -> list[int]:
    return [_sum([key, -i]) for i in range(FAR)]


def _select(model: SortedModel, key: int, number: Any) -> _Entry:
    return model.select(key) if 0 <= key < len(model) else (NO_KEY, number)


def _range(model: SortedModel, key: int, number: Any) -> _Entry:
    found, values = model.range_arrays(key, _past(key))
    return _sum(found), values[-1] if values else 0


def _many(model: SortedModel, key: int, number: Any) -> _Entry:
    wanted = _down_from(key)
    floors, ceilings = model.floor_many(wanted, (NO_KEY, 0)), model.ceiling_many(wanted, (0, 0))
    total = sum(floors[0]) + sum(ceilings[0]) + sum(model.rank_many(wanted))
    return _sum([total]), max(model.get_many(wanted, number))


def _walk(model: SortedModel, key: int, number: Any) -> _Entry:
    found = [other for other in model.in_order() if other > key]
    return _sum(found), model[found[-1]] if found else 0


def _set_many(model: SortedModel, key: int, number: Any) -> _Entry:
    return _status(model.set_many, _down_from(key), range(FAR))


SORTED_LANGUAGE = Language(
    _run,
    {
        SortedOperation.ADD: lambda model, key, number: _status(model.add, key, number),
        SortedOperation.SET: lambda model, key, number: _status(model.__setitem__, key, number),
        SortedOperation.REMOVE: lambda model, key, number: _status(model.__delitem__, key),
        SortedOperation.POP: lambda model, key, number: (0, model.pop(key, number)),
        SortedOperation.SETDEFAULT: lambda model, key, number: (0, model.setdefault(key, number)),
        SortedOperation.POP_MIN: lambda model, key, number: model.pop_min((NO_KEY, number)),
        SortedOperation.POP_MAX: lambda model, key, number: model.pop_max((0, 0)),
        SortedOperation.SET_MANY: _set_many,
        SortedOperation.REMOVE_RANGE: lambda model, key, number: (model.remove_range(key, _past(key)), 0),
        SortedOperation.CLEAR: lambda model, key, number: _status(model.clear) if key == 0 else (OK, 0),
        SortedOperation.RESERVE: lambda model, key, number: (OK, 0),
        SortedOperation.COPY: lambda model, key, number: (OK, 0),
        SortedOperation.GET: lambda model, key, number: (1, model.get(key, number)),
        SortedOperation.CONTAINS: lambda model, key, number: (key in model, len(model)),
        SortedOperation.FLOOR: lambda model, key, number: model.floor(key, (NO_KEY, number)),
        SortedOperation.LOWER: lambda model, key, number: model.lower(key, (NO_KEY, number)),
        SortedOperation.CEILING: lambda model, key, number: model.ceiling(key, (NO_KEY, number)),
        SortedOperation.HIGHER: lambda model, key, number: model.higher(key, (0, 0)),
        SortedOperation.RANK: lambda model, key, number: (model.rank(key), model.count(key, _past(key))),
        SortedOperation.SELECT: _select,
        SortedOperation.PEEK: lambda model, key, number: (
            model.peek_min((0, 0))[0],
            model.peek_max((0, 0))[1],
        ),
        SortedOperation.RANGE: _range,
        SortedOperation.MANY: _many,
        SortedOperation.WALK: _walk,
    },
)
