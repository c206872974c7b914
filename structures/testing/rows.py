"""For tests of :class:`~structures.KBest`: its model, its state machine, its language."""

from __future__ import annotations

import copy
from bisect import bisect_left
from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from structures.compiling.jit import kernel
from structures.neighbours.k_best import KBest
from structures.testing.models import outcome, plain
from structures.testing.programs import Language

_Entry = tuple[float, int, bool]


class KBestModel:
    """:class:`~structures.KBest`: a sorted list of (distance, id, flag) for each row.

    Parameters
    ----------
    n_rows, k : int
    dtype, id_dtype : dtype
    flags : bool

    Examples
    --------
    >>> model = KBestModel(1, 2)
    >>> [model.push(0, distance, 7) for distance in (0.5, 0.25)]
    [True, False]
    """

    def __init__(
        self, n_rows: int, k: int, dtype: Any = np.float32, id_dtype: Any = np.int32, flags: bool = False
    ) -> None:
        self.k, self.flags = k, flags
        self.round = np.dtype(dtype).type
        self.greatest_id = int(np.iinfo(id_dtype).max)
        self.rows: list[list[_Entry]] = [[] for _ in range(n_rows)]

    def _entries(self, row: int) -> list[_Entry]:
        if not 0 <= row < len(self.rows):
            raise IndexError(row)
        return self.rows[row]

    def _entry(self, distance: float, id: int, flag: bool) -> _Entry:
        if distance != distance or not 0 <= id <= self.greatest_id or (flag and not self.flags):
            raise ValueError((distance, id, flag))
        with np.errstate(over="ignore"):
            return float(self.round(distance)), id, flag

    def push_unchecked(self, row: int, distance: float, id: int, flag: bool = False) -> bool:
        """Insert an entry."""
        entries, entry = self._entries(row), self._entry(distance, id, flag)
        if len(entries) == self.k and entry[:2] >= entries[-1][:2]:
            return False
        entries.insert(bisect_left([other[:2] for other in entries], entry[:2]), entry)
        del entries[self.k :]
        return True

    def push(self, row: int, distance: float, id: int, flag: bool = False) -> bool:
        """Insert an entry, if its id is new."""
        entries, _ = self._entries(row), self._entry(distance, id, flag)
        is_in = id in [other for _, other, _ in entries]
        return not is_in and self.push_unchecked(row, distance, id, flag)

    def push_many(self, rows: Any, distances: Any, ids: Any, flag: bool = False) -> int:
        """Push all or nothing."""
        entries = list(zip(rows, distances, ids, strict=True))
        for row, _, _ in entries:
            self._entries(row)
        for _, distance, id in entries:
            self._entry(distance, id, False)
        if flag and not self.flags:
            raise ValueError(flag)
        return sum(self.push(*entry, flag) for entry in entries)

    def merge(self, other: KBestModel) -> int:
        """Push the entries of another one."""
        return sum(
            self.push(row, distance, id, flag and self.flags)
            for row, entries in enumerate(other.rows)
            for distance, id, flag in list(entries)
        )

    def worst(self, row: int) -> float:
        """Return the last distance of a full row."""
        entries = self._entries(row)
        return entries[-1][0] if len(entries) == self.k else float("inf")

    def size(self, row: int) -> int:
        """Return the number of entries."""
        return len(self._entries(row))

    def row(self, row: int) -> tuple[list[Any], ...]:
        """Return distances, ids, and flags if there are any."""
        entries = self._entries(row)
        return tuple([entry[i] for entry in entries] for i in range(2 + self.flags))

    def to_arrays(self) -> tuple[list[Any], ...]:
        """Return distances, ids, and flags of all rows, padded."""
        full = [entries + [(float("inf"), -1, False)] * (self.k - len(entries)) for entries in self.rows]
        return tuple([[entry[i] for entry in entries] for entries in full] for i in range(2 + self.flags))

    def clear(self) -> None:
        """Remove everything."""
        for entries in self.rows:
            entries.clear()


# ---------------------------------------------------------------------------------------------- machine
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


class KBestMachine(RuleBasedStateMachine):
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

    def alike(self, verb: str, *arguments: Any) -> Any:
        """Assert that a method returns, or raises, the same in container and model."""
        got = outcome(getattr(self.real, verb), *arguments)
        expected = outcome(getattr(self.model, verb), *arguments)
        assert got == expected, f"{verb}{arguments} returned {got}, not {expected}"
        return got

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

    @rule(
        way=st.sampled_from([copy.copy, copy.deepcopy, lambda real: real.from_arrays(*real.to_arrays())]),
        change_old=st.booleans(),
    )
    def continue_with_a_copy(self, way: Callable[[Any], Any], change_old: bool) -> None:
        """Continue with a copy and change the original, or the other way round."""
        other = way(self.real)
        assert other == self.real
        if change_old:
            self.real, other = other, self.real
        other.clear()
        other.push(1, 0.5, 5)
        other._check()
        assert [other.size(row) for row in range(3)] == [0, 1, 0]

    @precondition(lambda self: sum(map(len, self.model.rows)) > 30)
    @rule()
    def clear(self) -> None:
        """Remove everything."""
        self.alike("clear")

    @invariant()
    def holds(self) -> None:
        """Check the container's own invariants, and compare everything."""
        if hasattr(self, "real"):
            self.real._check()
            assert plain(self.real.to_arrays()) == self.model.to_arrays()


# --------------------------------------------------------------------------------------------- language
class RowOperation(IntEnum):
    """The operations of the language here; a key is a row and an id, a number a distance."""

    PUSH = 0
    PUSH_UNCHECKED = 1
    PUSH_MANY = 2
    MERGE = 3
    WORST = 4
    SIZE = 5
    ENTRY = 6
    SET_FLAG = 7
    ROW = 8
    TO_ARRAYS = 9
    COPY = 10
    CLEAR = 11


@kernel
def _run_rows(q, operations, keys, numbers, first, second):
    for i in range(operations.size):
        operation, distance = operations[i], numbers[i]
        id, row = divmod(keys[i], q.n_rows)
        if operation == RowOperation.PUSH:
            first[i] = q.push(row, distance, id, id & 1)
        elif operation == RowOperation.PUSH_UNCHECKED:
            first[i] = q.push_unchecked(row, distance, id)
        elif operation == RowOperation.PUSH_MANY:
            rows, ids = np.array([row, q.n_rows - 1, row]), np.array([id, id, id + 1])
            first[i] = q.push_many(rows, np.array([distance, distance + 0.5, distance]), ids, True)
        elif operation == RowOperation.MERGE:
            other = q.copy()
            other.clear()
            other.push(row, distance, id, True)
            first[i], second[i] = q.merge(other), len(other)
        elif operation == RowOperation.WORST:
            second[i] = q.worst(row)
        elif operation == RowOperation.SIZE:
            first[i], second[i] = q.size(row), q.k
        elif operation == RowOperation.ENTRY and q.size(row) > 0:
            place = id % q.size(row)
            second[i], first[i] = q.entry(row, place)
        elif operation == RowOperation.SET_FLAG and q.size(row) > 0:
            place = id % q.size(row)
            first[i] = q.flag(row, place)
            q.set_flag(row, place, not q.flag(row, place))
        elif operation == RowOperation.ROW:
            q.sort(row)
            distances, ids = q.row(row)
            first[i] = ids.sum()
            if distances.size > 0:
                second[i] = distances[distances.size - 1]
        elif operation == RowOperation.TO_ARRAYS:
            distances, ids = q.to_arrays()
            first[i], second[i] = ids.sum(), distances[row, 0]
        elif operation == RowOperation.COPY:
            q = q.copy()
        elif operation == RowOperation.CLEAR and id == 0:  # not as often as the others
            q.clear()
    return q


def _tried(call: Callable[..., Any], *arguments: Any) -> int:
    """Return the number that compiled code returns, 0 for an entry that is refused."""
    try:
        return int(call(*arguments))
    except ValueError:
        return 0


def _push_many(model: KBestModel, entries: Iterable[tuple[int, float, int]]) -> int:
    return sum(_tried(model.push, *entry, model.flags) for entry in entries)


def _set_flag(model: KBestModel, row: int, id: int) -> int:
    entries = model.rows[row]
    if not entries:
        return 0
    distance, known_as, flag = entries[id % len(entries)]
    entries[id % len(entries)] = distance, known_as, model.flags and not flag
    return int(flag)


def _meaning(operation: RowOperation, model: KBestModel, key: int, number: float) -> tuple[int, float]:
    n_rows = len(model.rows)
    id, row = divmod(key, n_rows)
    entries = model.rows[row]
    match operation:
        case RowOperation.PUSH:
            return _tried(model.push, row, number, id, model.flags and id % 2 == 1), 0
        case RowOperation.PUSH_UNCHECKED:
            return _tried(model.push_unchecked, row, number, id), 0
        case RowOperation.PUSH_MANY:
            many = (row, number, id), (n_rows - 1, number + 0.5, id), (row, number, id + 1)
            return _push_many(model, many), 0
        case RowOperation.MERGE:
            return _tried(model.push, row, number, id, model.flags), n_rows
        case RowOperation.WORST:
            return 0, model.worst(row)
        case RowOperation.SIZE:
            return len(entries), model.k
        case RowOperation.ENTRY:
            distance, known_as, _ = entries[id % len(entries)] if entries else (0, 0, False)
            return known_as, distance
        case RowOperation.SET_FLAG:
            return _set_flag(model, row, id), 0
        case RowOperation.ROW:
            return sum(entry[1] for entry in entries), entries[-1][0] if entries else 0
        case RowOperation.TO_ARRAYS:
            distances, ids = model.to_arrays()[:2]
            return sum(map(sum, ids)), distances[row][0]
        case RowOperation.CLEAR if id == 0:
            model.clear()
    return 0, 0


def _meaning_of(operation: RowOperation) -> Callable[[Any, int, Any], tuple[Any, Any]]:
    return lambda model, key, number: _meaning(operation, model, key, number)


K_BEST_LANGUAGE = Language(_run_rows, {operation: _meaning_of(operation) for operation in RowOperation})
"""The language of KBest."""
