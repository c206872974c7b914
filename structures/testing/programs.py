"""Programs as arrays: thousands of operations in one call of compiled code, compared with the model.

What a state machine does from Python, a program does through the methods inside ``@njit``, and a hundred
times as fast. It is three arrays: an operation, a key and a number a row. A compiled *driver* runs it on the
container and writes two results a row; the *meanings* of the operations, functions of the model, tell what
they should have been. :data:`LANGUAGES` has one :class:`Language` for each container. Write your own for
what you build::

    @structures.kernel
    def run(cache, operations, keys, numbers, first, second):
        for i in range(operations.size):
            if operations[i] == 0:
                cache.put(keys[i], numbers[i])
            elif operations[i] == 1:
                first[i], second[i] = cache.get(keys[i])
        return cache

    language = Language(run, {
        0: lambda model, key, number: (0, model.put(key, number) or 0),
        1: lambda model, key, number: model.get(key),
    })
    program = random_program(language, rng, 100_000)
    check_program(language, Cache(), CacheModel(), program)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from structures.count_buckets import CountBuckets
from structures.int_map import IntMap
from structures.jit import kernel
from structures.multiset_heap import MaxHeap, MinHeap
from structures.pair_index import PairIndex
from structures.status import MISSING, NEGATIVE, NOT_A_NUMBER, OK, OVERFLOW
from structures.testing.models import NotANumber, PairModel, TokenModel
from structures.token_list import TokenList

__all__ = ["LANGUAGES", "Language", "Operation", "Program", "check_program", "random_program"]

_STATUS = {KeyError: MISSING, ValueError: NEGATIVE, OverflowError: OVERFLOW, NotANumber: NOT_A_NUMBER}
_Meanings = dict[int, Callable[[Any, int, Any], tuple[Any, Any]]]


class Operation(IntEnum):
    """The operations of the languages here."""

    ADD = 0
    SET = 1
    SUB = 2
    REMOVE = 3
    GET = 4
    CONTAINS = 5
    COPY = 6
    CLEAR = 7
    RESERVE = 8
    # heaps and buckets
    PEEK = 10
    POP = 11
    POP_MANY = 12
    TIES = 13
    # buckets
    PEEK_MIN = 20
    POP_MIN = 21
    ENDS = 22
    KEYS_AT = 23
    COUNTS = 24
    NLARGEST = 25
    # token lists and indexes
    MERGE = 30
    LINKS = 31
    TOKEN = 32
    SEGMENT = 33
    COMPACT = 34
    COUNT = 35
    POSTINGS = 36
    DROP = 37
    REBUILD = 38
    STALE = 39
    PAIRS = 40


class Program(NamedTuple):
    """Rows of operations.

    Attributes
    ----------
    operations : (n,) int64
        Keys of :attr:`Language.meanings`.
    keys : (n,) int64
    numbers : (n,) int64 or float64
    """

    operations: np.ndarray
    keys: np.ndarray
    numbers: np.ndarray


class Language(NamedTuple):
    """What the operations of a program mean, compiled and in plain Python.

    Attributes
    ----------
    driver : callable
        ``driver(container, operations, keys, numbers, first, second)`` runs a program, writes the results
        of row ``i`` to ``first[i]``, int64, and ``second[i]``, of the dtype of the numbers, and returns
        the container.
    meanings : mapping from int to callable
        ``meanings[operation](model, key, number)`` changes the model and returns both results. The first
        two operations are those that put something in.

    Examples
    --------
    >>> sorted(LANGUAGES[IntMap].meanings)[:2]
    [<Operation.ADD: 0>, <Operation.SET: 1>]
    """

    driver: Any
    meanings: Mapping[int, Callable[[Any, int, Any], tuple[Any, Any]]]


def random_program(
    language: Language,
    rng: np.random.Generator,
    n_rows: int,
    keys: Any = range(-2, 10),
    numbers: Any = range(-2, 4),
    rare: float = 0.2,
    dtype: str = "int64",
) -> Program:
    """Return a program that puts in more than it takes out.

    Parameters
    ----------
    language : Language
    rng : numpy.random.Generator
    n_rows : int
    keys, numbers : array_like
        What to choose from.
    rare : float
        Share of rows with any operation; the others have one of the two that put something in.
    dtype : {"int64", "float64"}
        Of the numbers.

    Returns
    -------
    Program

    Examples
    --------
    >>> program = random_program(LANGUAGES[MaxHeap], np.random.default_rng(0), 5, dtype="float64")
    >>> program.operations.size, program.numbers.dtype
    (5, dtype('float64'))
    """
    operations = np.array(list(language.meanings), np.int64)
    n_choices = np.where(rng.random(n_rows) < rare, operations.size, 2)
    return Program(
        operations[rng.integers(0, n_choices)],
        rng.choice(np.asarray(keys, np.int64), n_rows),
        rng.choice(np.asarray(numbers, dtype), n_rows),
    )


def check_program(language: Language, container: Any, model: Any, program: Program) -> Any:
    """Run a program on a container and on its model, and compare every result.

    Parameters
    ----------
    language : Language
    container : object
    model : object
        Both with the same content, and changed alike.
    program : Program

    Returns
    -------
    container
        What the driver returned, after its ``_check()``.

    Raises
    ------
    AssertionError
        The first row with other results than expected, or a broken invariant.

    Examples
    --------
    >>> from structures.testing import MapModel
    >>> language, model = LANGUAGES[IntMap], MapModel()
    >>> program = random_program(language, np.random.default_rng(0), 1000)
    >>> check_program(language, IntMap(), model, program) == IntMap(model)
    True
    """
    first = np.zeros(program.operations.size, np.int64)
    second = np.zeros(program.operations.size, program.numbers.dtype)
    container = language.driver(container, *program, first, second)
    rows = zip(*(column.tolist() for column in (*program, first, second)), strict=True)
    for row, (operation, key, number, *got) in enumerate(rows):
        expected = language.meanings[operation](model, key, number)
        verb = next(known for known in language.meanings if known == operation)
        assert tuple(got) == tuple(expected), (
            f"row {row}: {verb!r} {key} {number} gave {tuple(got)}, not {expected}"
        )
    container._check()
    return container


# ------------------------------------------------------------------------------------------------- maps
@kernel
def _run_map(container, operations, keys, numbers, first, second):
    for i in range(operations.size):
        operation, key, number = operations[i], keys[i], numbers[i]
        if operation == Operation.ADD:
            first[i] = container.add(key, number)
        elif operation == Operation.SET:
            container[key] = number
        elif operation == Operation.REMOVE:
            first[i] = container.remove(key)
        elif operation == Operation.GET:
            first[i], second[i] = container[key], container.get(key, number)
        elif operation == Operation.CONTAINS:
            first[i], second[i] = key in container, len(container)
        elif operation == Operation.POP:
            first[i] = container.pop(key, number)
        elif operation == Operation.COPY:
            container = container.copy()
        elif operation == Operation.RESERVE:
            first[i] = container.reserve(key % 100)
        elif operation == Operation.CLEAR and key == 0:  # not as often as the others
            first[i] = container.clear()
    return container


def _status(call: Callable[..., Any], *arguments: Any) -> tuple[int, int]:
    try:
        call(*arguments)
    except (KeyError, ValueError, OverflowError) as error:
        return _STATUS[type(error)], 0
    return OK, 0


def _nothing(model: Any, key: int, number: Any) -> tuple[int, int]:
    return OK, 0


_KEYED: _Meanings = {
    Operation.ADD: lambda model, key, number: _status(model.add, key, number),
    Operation.SET: lambda model, key, number: _status(model.__setitem__, key, number),
    Operation.REMOVE: lambda model, key, number: _status(model.__delitem__, key),
    Operation.CONTAINS: lambda model, key, number: (key in model, len(model)),
    Operation.COPY: _nothing,
    Operation.RESERVE: _nothing,
    Operation.CLEAR: lambda model, key, number: _status(model.clear) if key == 0 else (OK, 0),
}
_MAP: _Meanings = {
    **_KEYED,
    Operation.GET: lambda model, key, number: (model.get(key), model.get(key, number)),
    Operation.POP: lambda model, key, number: (model.pop(key, number), 0),
}


# ------------------------------------------------------------------------------------- heaps and buckets
@kernel
def _run_heap(heap, operations, keys, numbers, first, second):
    for i in range(operations.size):
        operation, key, number = operations[i], keys[i], numbers[i]
        if operation == Operation.ADD:
            first[i] = heap.add(key, number)
        elif operation == Operation.SET:
            heap[key] = number
        elif operation == Operation.SUB:
            first[i] = heap.sub(key, number)
        elif operation == Operation.REMOVE:
            first[i] = heap.remove(key)
        elif operation == Operation.GET:
            first[i], second[i] = heap[key] == heap.get(key), heap.get(key, number)
        elif operation == Operation.CONTAINS:
            first[i], second[i] = key in heap, len(heap)
        elif operation == Operation.PEEK:
            first[i], second[i] = heap.peek()
        elif operation == Operation.POP:
            first[i], second[i] = heap.pop()
        elif operation == Operation.POP_MANY:
            popped, counts = heap.pop_many(key % 8)
            first[i], second[i] = popped.sum(), counts.sum()
        elif operation == Operation.TIES:
            found = heap.ties()
            first[i], second[i] = found.sum(), found.size
        elif operation == Operation.COPY:
            heap = heap.copy()
        elif operation == Operation.RESERVE:
            first[i] = heap.reserve(key % 100)
        elif operation == Operation.CLEAR and key == 0:
            first[i] = heap.clear()
    return heap


@kernel
def _run_buckets(buckets, operations, keys, numbers, first, second):
    start = 0
    for i in range(operations.size + 1):
        if i < operations.size and operations[i] < Operation.PEEK_MIN:
            continue
        rows = slice(start, i)
        buckets = _run_heap(buckets, operations[rows], keys[rows], numbers[rows], first[rows], second[rows])
        start = i + 1
        if i == operations.size:
            break
        operation, key, number = operations[i], keys[i], numbers[i]
        if operation == Operation.PEEK_MIN:
            first[i], second[i] = buckets.peek_min()
        elif operation == Operation.POP_MIN:
            first[i], second[i] = buckets.pop_min()
        elif operation == Operation.ENDS:
            first[i], second[i] = buckets.max_count(), buckets.min_count()
        elif operation == Operation.KEYS_AT:
            found = buckets.keys_at(number)
            first[i], second[i] = found.sum(), found.size
        elif operation == Operation.COUNTS:
            found = buckets.counts()
            first[i], second[i] = found.sum(), found.size
        elif operation == Operation.NLARGEST:
            found, counts = buckets.nlargest(key % 8)
            first[i], second[i] = found.sum(), counts.sum()
    return buckets


def _sum(numbers: list[Any]) -> Any:
    total = sum(numbers)
    return total if isinstance(total, float) else (total + 2**63) % 2**64 - 2**63  # as compiled code adds


def _sums(arrays: tuple[list[int], list[Any]]) -> tuple[int, Any]:
    return _sum(arrays[0]), _sum(arrays[1])


def _sum_and_size(found: list[Any]) -> tuple[Any, int]:
    return _sum(found), len(found)


_HEAP: _Meanings = {
    **_KEYED,
    Operation.SUB: lambda model, key, number: _status(model.sub, key, number),
    Operation.GET: lambda model, key, number: (1, model.get(key, number)),
    Operation.PEEK: lambda model, key, number: model.peek() if model else (0, 0),
    Operation.POP: lambda model, key, number: model.pop((0, 0)),
    Operation.POP_MANY: lambda model, key, number: _sums(model.pop_many(key % 8)),
    Operation.TIES: lambda model, key, number: _sum_and_size(model.ties()),
}
_BUCKETS: _Meanings = {
    **_HEAP,
    Operation.PEEK_MIN: lambda model, key, number: model.peek_min() if model else (0, 0),
    Operation.POP_MIN: lambda model, key, number: model.pop_min((0, 0)),
    Operation.ENDS: lambda model, key, number: (model.max_count(), model.min_count()) if model else (0, 0),
    Operation.KEYS_AT: lambda model, key, number: _sum_and_size(model.keys_at(number)),
    Operation.COUNTS: lambda model, key, number: _sum_and_size(model.counts()),
    Operation.NLARGEST: lambda model, key, number: _sums(model.first_many(key % 8)),
}


# ----------------------------------------------------------------------------------- token lists, indexes
@kernel
def _run_tokens(tokens, operations, keys, numbers, first, second):
    for i in range(operations.size):
        operation, key, number = operations[i], keys[i], numbers[i]
        positions = tokens.positions()
        position = positions[key % positions.size]
        if operation == Operation.MERGE and tokens.next(position) >= 0:
            first[i] = tokens.merge(position, number)
        elif operation == Operation.LINKS:
            first[i], second[i] = tokens.prev(position), tokens.next(position)
        elif operation == Operation.TOKEN:
            first[i], second[i] = tokens.token(key % tokens.n_positions()), len(tokens)
        elif operation == Operation.SEGMENT:
            segment = tokens.segment_at(position)
            first[i], second[i] = tokens.segment_positions(segment).sum(), tokens.segment(segment).sum()
        elif operation == Operation.CONTAINS:
            first[i], second[i] = tokens.segment_at(position), tokens.n_segments()
        elif operation == Operation.COPY:
            tokens = tokens.copy()
        elif operation == Operation.COMPACT and number == 0:
            first[i] = tokens.compact()
    return tokens


@kernel
def _run_index(index, operations, keys, numbers, first, second):
    for i in range(operations.size):
        operation, key, number = operations[i], keys[i], numbers[i]
        tokens = index.tokens
        position = key % tokens.n_positions()
        left, right = key % 5, number
        if operation == Operation.MERGE and tokens.token(position) >= 0 and tokens.next(position) >= 0:
            first[i] = tokens.merge(position, number)
            before, behind = tokens.prev(position), tokens.next(position)
            if before >= 0:
                index.add(tokens.token(before), number, before)
            if behind >= 0:
                index.add(number, tokens.token(behind), position)
        elif operation == Operation.COUNT:
            first[i] = index.count(left, right)
        elif operation == Operation.POSTINGS:
            found = index.postings(left, right)
            first[i], second[i] = found.sum(), found.size
        elif operation == Operation.ADD:
            first[i] = index.add(left, right, position)
        elif operation == Operation.DROP:
            first[i] = index.drop(left, right)
        elif operation == Operation.STALE:
            first[i] = int(1e9 * index.stale_fraction())
        elif operation == Operation.CONTAINS:
            first[i], second[i] = (left, right) in index, len(index)
        elif operation == Operation.PAIRS:
            found = index.pairs()
            first[i], second[i] = found[:, 0].sum(), found[:, 1].sum()
        elif operation == Operation.COPY:
            index = index.copy()
        elif operation == Operation.REBUILD and number == 0:
            index.rebuild()
    return index


def _live(model: TokenModel, key: int) -> int:
    positions = model.positions()
    return positions[key % len(positions)]


def _merge(model: TokenModel, key: int, number: int) -> tuple[int, int]:
    if model.next(_live(model, key)) >= 0:
        model.merge(_live(model, key), number)
    return OK, 0


def _segment(model: TokenModel, key: int, number: int) -> tuple[int, int]:
    segment = model.segment_at(_live(model, key))
    return sum(model.segment_positions(segment)), sum(model.segment(segment))


def _compact(model: TokenModel, key: int, number: int) -> tuple[int, int]:
    if number == 0:
        model.compact()
    return OK, 0


def _merge_and_post(model: PairModel, key: int, number: int) -> tuple[int, int]:
    tokens = model.tokens
    position = key % tokens.n_positions
    if tokens.pair_at(position) is not None:
        tokens.merge(position, number)
        for left in (tokens.prev(position), position):
            pair = tokens.pair_at(left)
            if pair is not None:
                model.add(*pair, left)
    return OK, 0


def _rebuild(model: PairModel, key: int, number: int) -> tuple[int, int]:
    if number == 0:
        model.rebuild()
    return OK, 0


_TOKENS: _Meanings = {
    Operation.MERGE: _merge,
    Operation.LINKS: lambda model, key, number: (
        model.prev(_live(model, key)),
        model.next(_live(model, key)),
    ),
    Operation.TOKEN: lambda model, key, number: (model.token(key % model.n_positions), len(model.live())),
    Operation.SEGMENT: _segment,
    Operation.CONTAINS: lambda model, key, number: (
        model.segment_at(_live(model, key)),
        len(model.segments),
    ),
    Operation.COPY: _nothing,
    Operation.COMPACT: _compact,
}
_INDEX: _Meanings = {
    Operation.MERGE: _merge_and_post,
    Operation.COUNT: lambda model, key, number: (model.count(key % 5, number), 0),
    Operation.POSTINGS: lambda model, key, number: _sum_and_size(model.postings(key % 5, number)),
    Operation.ADD: lambda model, key, number: _status(
        model.add, key % 5, number, key % model.tokens.n_positions
    ),
    Operation.DROP: lambda model, key, number: _status(model.drop, key % 5, number),
    Operation.STALE: lambda model, key, number: (int(1e9 * model.stale_fraction()), 0),
    Operation.CONTAINS: lambda model, key, number: (model.count(key % 5, number) > 0, len(model.lists)),
    Operation.PAIRS: lambda model, key, number: tuple(
        sum(side) for side in zip((0, 0), *model.lists, strict=True)
    ),
    Operation.COPY: _nothing,
    Operation.REBUILD: _rebuild,
}

LANGUAGES: dict[type, Language] = {
    IntMap: Language(_run_map, _MAP),
    MaxHeap: Language(_run_heap, _HEAP),
    MinHeap: Language(_run_heap, _HEAP),
    CountBuckets: Language(_run_buckets, _BUCKETS),
    TokenList: Language(_run_tokens, _TOKENS),
    PairIndex: Language(_run_index, _INDEX),
}
"""The language of each container. Token lists and indexes must not be empty, and their numbers are tokens."""
