"""The languages of our containers: their operations, compiled, and what these mean to the models."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable
from enum import IntEnum
from functools import partial
from typing import Any

import numpy as np

from structures.compiling.jit import kernel
from structures.deques.deque import Deque
from structures.disjoint_sets.disjoint_sets import DisjointSets
from structures.hash_tables.int_map import IntMap
from structures.hash_tables.int_set import IntSet
from structures.neighbors.k_best import KBest
from structures.priority_queues.count_buckets import CountBuckets
from structures.priority_queues.heap import Heap
from structures.priority_queues.indexed_heap import IndexedMaxHeap, IndexedMinHeap
from structures.priority_queues.multiset_heap import MaxHeap, MinHeap
from structures.sorted_maps.sorted_map import SortedMap
from structures.status import MISSING, NEGATIVE, NOT_A_NUMBER, OK, OUT_OF_RANGE, OVERFLOW
from structures.testing.models import (
    DisjointSetsModel,
    IntSetModel,
    KBestModel,
    NotANumber,
    PairModel,
    SortedModel,
    TokenModel,
)
from structures.testing.programs import Language
from structures.tokens.pair_index import PairIndex
from structures.tokens.token_list import TokenList

_STATUS = {
    KeyError: MISSING,
    IndexError: OUT_OF_RANGE,
    ValueError: NEGATIVE,
    OverflowError: OVERFLOW,
    NotANumber: NOT_A_NUMBER,
}
_Meanings = dict[int, Callable[[Any, int, Any], tuple[Any, Any]]]


class Operation(IntEnum):
    """The operations of the languages of maps, heaps, token lists and indexes."""

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
    # indexed heaps
    IMPROVE = 15
    # buckets
    PEEK_MIN = 20
    POP_MIN = 21
    ENDS = 22
    KEYS_AT = 23
    COUNTS = 24
    NLARGEST = 25
    KEYS_IN = 26
    NEAR_COUNTS = 27
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
            first[i], second[i] = container[key] == container.get(key), container.get(key, number)
        elif operation == Operation.CONTAINS:
            first[i], second[i] = key in container, len(container)
        elif operation == Operation.POP:
            second[i] = container.pop(key, number)
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
    except (KeyError, IndexError, ValueError, OverflowError) as error:
        return _STATUS[type(error)], 0
    return OK, 0


def _nothing(model: Any, key: int, number: Any) -> tuple[int, int]:
    return OK, 0


_KEYED: _Meanings = {
    Operation.ADD: lambda model, key, number: _status(model.add, key, number),
    Operation.SET: lambda model, key, number: _status(model.__setitem__, key, number),
    Operation.REMOVE: lambda model, key, number: _status(model.__delitem__, key),
    Operation.GET: lambda model, key, number: (1, model.get(key, number)),
    Operation.CONTAINS: lambda model, key, number: (key in model, len(model)),
    Operation.COPY: _nothing,
    Operation.RESERVE: _nothing,
    Operation.CLEAR: lambda model, key, number: _status(model.clear) if key == 0 else (OK, 0),
}
_MAP: _Meanings = {
    **_KEYED,
    Operation.POP: lambda model, key, number: (0, model.pop(key, number)),
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
def _run_indexed(heap, operations, keys, numbers, first, second):
    start = 0
    for i in range(operations.size + 1):
        if i < operations.size and operations[i] != Operation.IMPROVE:
            continue
        rows = slice(start, i)
        heap = _run_heap(heap, operations[rows], keys[rows], numbers[rows], first[rows], second[rows])
        start = i + 1
        if i < operations.size:
            first[i] = heap.improve(keys[i], numbers[i])
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
        elif operation == Operation.KEYS_IN:
            found = buckets.keys_in(number, number + 5 if number < 10 else number)
            first[i] = found[0] if found.size > 0 else 0
            second[i] = found.size + buckets.keys_in(number).size + buckets.keys_in(high=number).size
        elif operation == Operation.NEAR_COUNTS:
            first[i], second[i] = buckets.ceiling_count(number, -7), buckets.floor_count(number)
    return buckets


def _sum(numbers: Iterable[Any]) -> Any:
    total = sum(numbers)
    return total if isinstance(total, float) else (total + 2**63) % 2**64 - 2**63  # as compiled code adds


def _sums(arrays: tuple[list[int], list[Any]]) -> tuple[int, Any]:
    return _sum(arrays[0]), _sum(arrays[1])


def _sum_and_size(found: list[Any]) -> tuple[Any, int]:
    return _sum(found), len(found)


def _keys_in(model: Any, key: int, number: Any) -> tuple[int, int]:
    found = model.keys_in(number, number + 5 if number < 10 else number)
    beside = len(model.keys_in(number)) + len(model.keys_in(None, number))
    return found[0] if found else 0, len(found) + beside


_HEAP: _Meanings = {
    **_KEYED,
    Operation.SUB: lambda model, key, number: _status(model.sub, key, number),
    Operation.PEEK: lambda model, key, number: model.peek() if model else (0, 0),
    Operation.POP: lambda model, key, number: model.pop((0, 0)),
    Operation.POP_MANY: lambda model, key, number: _sums(model.pop_many(key % 8)),
    Operation.TIES: lambda model, key, number: _sum_and_size(model.ties()),
}


def _improve(model: Any, key: int, number: Any) -> tuple[int, int]:
    try:
        return int(model.improve(key, number)), 0
    except IndexError:
        return OUT_OF_RANGE, 0


def _set_silently(model: Any, key: int, number: Any) -> tuple[int, int]:
    _status(model.__setitem__, key, number)  # ``heap[key] = number`` does not return its status
    return OK, 0


_INDEXED: _Meanings = {**_HEAP, Operation.SET: _set_silently, Operation.IMPROVE: _improve}
_BUCKETS: _Meanings = {
    **_HEAP,
    Operation.PEEK_MIN: lambda model, key, number: model.peek_min() if model else (0, 0),
    Operation.POP_MIN: lambda model, key, number: model.pop_min((0, 0)),
    Operation.ENDS: lambda model, key, number: (model.max_count(), model.min_count()) if model else (0, 0),
    Operation.KEYS_AT: lambda model, key, number: _sum_and_size(model.keys_at(number)),
    Operation.COUNTS: lambda model, key, number: _sum_and_size(model.counts()),
    Operation.NLARGEST: lambda model, key, number: _sums(model.first_many(key % 8)),
    Operation.KEYS_IN: _keys_in,
    Operation.NEAR_COUNTS: lambda model, key, number: (
        model.ceiling_count(number, -7),
        model.floor_count(number, 0),
    ),
}


# ----------------------------------------------------------------------------------- token lists, indexes
@kernel
def _run_tokens(tokens, operations, keys, numbers, first, second):
    for i in range(operations.size):
        operation, key, number = operations[i], keys[i], numbers[i]
        positions = tokens.positions()
        position = positions[key % positions.size]
        if operation == Operation.MERGE:
            first[i] = tokens.merge(position, number)
        elif operation == Operation.LINKS:
            first[i], second[i] = tokens.prev(position), tokens.next(position)
        elif operation == Operation.TOKEN:
            first[i], second[i] = tokens.token(key % tokens.n_positions), len(tokens)
        elif operation == Operation.SEGMENT:
            segment = tokens.segment_at(position)
            first[i], second[i] = tokens.segment_positions(segment).sum(), tokens.segment(segment).sum()
        elif operation == Operation.CONTAINS:
            first[i], second[i] = tokens.segment_at(position), tokens.n_segments
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
        position = key % tokens.n_positions
        left, right = key % 5, number
        if operation == Operation.MERGE and tokens.token(position) >= 0 and tokens.next(position) >= 0:
            first[i] = tokens.merge(position, number)
            before, after = tokens.prev(position), tokens.next(position)
            if before >= 0:
                index.add(tokens.token(before), number, before)
            if after >= 0:
                index.add(number, tokens.token(after), position)
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
    return _status(model.merge, _live(model, key), number)


def _links(model: TokenModel, key: int, number: int) -> tuple[int, int]:
    return model.prev(_live(model, key)), model.next(_live(model, key))


def _segment_at(model: TokenModel, key: int) -> int:
    return model.segment_at(_live(model, key))


def _segment(model: TokenModel, key: int, number: int) -> tuple[int, int]:
    segment = _segment_at(model, key)
    return sum(model.segment_positions(segment)), sum(model.segment(segment))


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


_TOKENS: _Meanings = {
    Operation.MERGE: _merge,
    Operation.LINKS: _links,
    Operation.TOKEN: lambda model, key, number: (model.token(key % model.n_positions), len(model.live())),
    Operation.SEGMENT: _segment,
    Operation.CONTAINS: lambda model, key, number: (_segment_at(model, key), len(model.segments)),
    Operation.COPY: _nothing,
    Operation.COMPACT: lambda model, key, number: _status(model.compact) if number == 0 else (OK, 0),
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
    Operation.REBUILD: lambda model, key, number: _status(model.rebuild) if number == 0 else (OK, 0),
}


# -------------------------------------------------------------------------------------------- sorted maps
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
def _change_sorted(sorted_map, operation, key, number, first, second):
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
def _read_sorted(sorted_map, operation, key, number, first, second):
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
def _read_many_sorted(sorted_map, operation, key, number, first, second):
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
def _run_sorted(sorted_map, operations, keys, numbers, first, second):
    for i in range(operations.size):
        operation, key, number = operations[i], keys[i], numbers[i]
        if operation == SortedOperation.COPY:
            sorted_map = sorted_map.copy()
        elif operation < SortedOperation.GET:
            _change_sorted(sorted_map, operation, key, number, first[i:], second[i:])
        elif operation < SortedOperation.MANY:
            _read_sorted(sorted_map, operation, key, number, first[i:], second[i:])
        else:
            _read_many_sorted(sorted_map, operation, key, number, first[i:], second[i:])
    return sorted_map


def _past(key: int) -> int:
    """Return the end of a range that starts at a key."""
    return _sum([key, FAR])


def _down_from(key: int) -> list[int]:
    return [_sum([key, -i]) for i in range(FAR)]


def _sorted_select(model: SortedModel, key: int, number: Any) -> tuple[Any, Any]:
    return model.select(key) if 0 <= key < len(model) else (NO_KEY, number)


def _sorted_range(model: SortedModel, key: int, number: Any) -> tuple[Any, Any]:
    found, values = model.range_arrays(key, _past(key))
    return _sum(found), values[-1] if values else 0


def _sorted_many(model: SortedModel, key: int, number: Any) -> tuple[Any, Any]:
    wanted = _down_from(key)
    floors, ceilings = model.floor_many(wanted, (NO_KEY, 0)), model.ceiling_many(wanted, (0, 0))
    total = sum(floors[0]) + sum(ceilings[0]) + sum(model.rank_many(wanted))
    return _sum([total]), max(model.get_many(wanted, number))


def _sorted_walk(model: SortedModel, key: int, number: Any) -> tuple[Any, Any]:
    found = [other for other in model.in_order() if other > key]
    return _sum(found), model[found[-1]] if found else 0


def _sorted_set_many(model: SortedModel, key: int, number: Any) -> tuple[Any, Any]:
    return _status(model.set_many, _down_from(key), range(FAR))


_SORTED: _Meanings = {
    SortedOperation.ADD: lambda model, key, number: _status(model.add, key, number),
    SortedOperation.SET: lambda model, key, number: _status(model.__setitem__, key, number),
    SortedOperation.REMOVE: lambda model, key, number: _status(model.__delitem__, key),
    SortedOperation.POP: lambda model, key, number: (0, model.pop(key, number)),
    SortedOperation.SETDEFAULT: lambda model, key, number: (0, model.setdefault(key, number)),
    SortedOperation.POP_MIN: lambda model, key, number: model.pop_min((NO_KEY, number)),
    SortedOperation.POP_MAX: lambda model, key, number: model.pop_max((0, 0)),
    SortedOperation.SET_MANY: _sorted_set_many,
    SortedOperation.REMOVE_RANGE: lambda model, key, number: (model.remove_range(key, _past(key)), 0),
    SortedOperation.CLEAR: lambda model, key, number: _status(model.clear) if key == 0 else (OK, 0),
    SortedOperation.RESERVE: _nothing,
    SortedOperation.COPY: _nothing,
    SortedOperation.GET: lambda model, key, number: (1, model.get(key, number)),
    SortedOperation.CONTAINS: lambda model, key, number: (key in model, len(model)),
    SortedOperation.FLOOR: lambda model, key, number: model.floor(key, (NO_KEY, number)),
    SortedOperation.LOWER: lambda model, key, number: model.lower(key, (NO_KEY, number)),
    SortedOperation.CEILING: lambda model, key, number: model.ceiling(key, (NO_KEY, number)),
    SortedOperation.HIGHER: lambda model, key, number: model.higher(key, (0, 0)),
    SortedOperation.RANK: lambda model, key, number: (model.rank(key), model.count(key, _past(key))),
    SortedOperation.SELECT: _sorted_select,
    SortedOperation.PEEK: lambda model, key, number: (
        model.peek_min((0, 0))[0],
        model.peek_max((0, 0))[1],
    ),
    SortedOperation.RANGE: _sorted_range,
    SortedOperation.MANY: _sorted_many,
    SortedOperation.WALK: _sorted_walk,
}


# --------------------------------------------------------------------------------------------------- sets
class SetOperation(IntEnum):
    """The operations of the language of sets; a number is the step between keys."""

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


def _set_keys(key: int, step: int) -> list[int]:
    return (key + step * np.arange(MANY)).tolist()


def _remove_from_set(model: IntSetModel, key: int) -> int:
    found = OK if key in model else MISSING
    model.discard(key)
    return found


def _set_in_order(model: IntSetModel) -> tuple[int, int]:
    in_order = model.to_array()
    return int(np.array(in_order, np.int64).sum()), in_order[len(in_order) // 2] if in_order else 0


def _loop_over_set(model: IntSetModel, key: int) -> int:
    in_order = model.to_array()
    if in_order:
        model.discard(key)
    return next((known for known in in_order if known >= key), in_order[-1] if in_order else 0)


def _set_meaning(operation: SetOperation, model: IntSetModel, key: int, number: int) -> tuple[int, int]:
    match operation:
        case SetOperation.ADD:
            model.add(key)
        case SetOperation.UPDATE:
            model.update(_set_keys(key, number))
        case SetOperation.DISCARD:
            model.discard(key)
        case SetOperation.REMOVE:
            return _remove_from_set(model, key), 0
        case SetOperation.CONTAINS:
            return key in model, len(model)
        case SetOperation.CONTAINS_MANY:
            return sum(found << j for j, found in enumerate(model.contains_many(_set_keys(key, number)))), 0
        case SetOperation.TO_ARRAY:
            return _set_in_order(model)
        case SetOperation.LOOP:
            return _loop_over_set(model, key), 0
        case SetOperation.EQUALS:
            return key in model, key not in model
        case SetOperation.CLEAR if key == 0:
            model.clear()
    return OK, 0


_SET: _Meanings = {operation: partial(_set_meaning, operation) for operation in SetOperation}


# ------------------------------------------------------------------------------------- rows of the k best
class RowOperation(IntEnum):
    """The operations of the language of rows; a key is a row and an id, a number a distance."""

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


def _pushed(call: Callable[..., Any], *arguments: Any) -> int:
    """Return the number that compiled code returns, 0 for an entry that is refused."""
    try:
        return int(call(*arguments))
    except ValueError:
        return 0


def _push_rows(model: KBestModel, entries: Iterable[tuple[int, float, int]]) -> int:
    return sum(_pushed(model.push, *entry, model.flags) for entry in entries)


def _set_flag(model: KBestModel, row: int, id: int) -> int:
    entries = model.rows[row]
    if not entries:
        return 0
    distance, known_as, flag = entries[id % len(entries)]
    entries[id % len(entries)] = distance, known_as, model.flags and not flag
    return int(flag)


def _row_meaning(operation: RowOperation, model: KBestModel, key: int, number: float) -> tuple[int, float]:
    n_rows = len(model.rows)
    id, row = divmod(key, n_rows)
    entries = model.rows[row]
    match operation:
        case RowOperation.PUSH:
            return _pushed(model.push, row, number, id, model.flags and id % 2 == 1), 0
        case RowOperation.PUSH_UNCHECKED:
            return _pushed(model.push_unchecked, row, number, id), 0
        case RowOperation.PUSH_MANY:
            many = (row, number, id), (n_rows - 1, number + 0.5, id), (row, number, id + 1)
            return _push_rows(model, many), 0
        case RowOperation.MERGE:
            return _pushed(model.push, row, number, id, model.flags), n_rows
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


_ROWS: _Meanings = {operation: partial(_row_meaning, operation) for operation in RowOperation}


# ------------------------------------------------------------------------------- priorities with payloads
class PairOperation(IntEnum):
    """The operations of the language of a ``Heap``; the payload is half the key, the number a priority."""

    PUSH = 0
    CHANGE = 1
    REMOVE = 2
    POP = 3
    PUSHPOP = 4
    REPLACE = 5
    PEEK = 6
    NSMALLEST = 7
    COPY = 8
    RESERVE = 9
    CLEAR = 10


@kernel
def _run_pairs(heap, operations, keys, numbers, first, second):
    for i in range(operations.size):
        operation, payload, priority = operations[i], keys[i] >> 1, numbers[i]
        if operation == PairOperation.PUSH:
            first[i] = heap.push(priority, payload) < 0
        elif operation == PairOperation.CHANGE:
            first[i] = heap.change(heap.push(0, payload), priority)
        elif operation == PairOperation.REMOVE:
            first[i] = heap.remove(heap.push(priority, payload))
        elif operation == PairOperation.POP:
            second[i], first[i] = heap.pop()
        elif operation == PairOperation.PUSHPOP:
            second[i], first[i] = heap.pushpop(priority, payload)
        elif operation == PairOperation.REPLACE and len(heap) > 0:
            second[i], first[i] = heap.replace(priority, payload)
        elif operation == PairOperation.PEEK:
            second[i], first[i] = heap.peek()
        elif operation == PairOperation.NSMALLEST:
            priorities, payloads = heap.nsmallest(payload % 8)
            if payloads.size > 0:
                second[i], first[i] = priorities[-1], payloads[-1]
        elif operation == PairOperation.COPY:
            heap = heap.copy()
        elif operation == PairOperation.RESERVE:
            first[i] = heap.reserve(payload % 100)
        elif operation == PairOperation.CLEAR and payload == 0:  # not as often as the others
            first[i] = heap.clear()
    return heap


def _pair_meaning(
    operation: PairOperation, model: list[tuple[Any, int]], key: int, priority: Any
) -> tuple[int, Any]:
    """Do the same with a list that ``heapq`` keeps in order."""
    payload, found = key >> 1, (0, 0)
    match operation:
        case PairOperation.PUSH | PairOperation.CHANGE:
            heapq.heappush(model, (priority, payload))
        case PairOperation.POP if model:
            found = heapq.heappop(model)
        case PairOperation.PUSHPOP:
            found = heapq.heappushpop(model, (priority, payload))
        case PairOperation.REPLACE if model:
            found = heapq.heapreplace(model, (priority, payload))
        case PairOperation.PEEK if model:
            found = model[0]
        case PairOperation.NSMALLEST:
            found = (sorted(model)[: payload % 8] or [(0, 0)])[-1]
        case PairOperation.CLEAR if payload == 0:
            model.clear()
    return found[1], found[0]


_PAIRS: _Meanings = {operation: partial(_pair_meaning, operation) for operation in PairOperation}


# ------------------------------------------------------------------------------------------------ deques
class DequeOperation(IntEnum):
    """The operations of the language of deques; a key is an index."""

    APPEND = 0
    APPENDLEFT = 1
    POP = 2
    POPLEFT = 3
    GET = 4
    SET = 5
    EXTEND = 6
    LOOP = 7
    COPY = 8
    RESERVE = 9
    CLEAR = 10


@kernel
def _run_deque(ring, operations, keys, numbers, first, second):
    for i in range(operations.size):
        operation, index, number = operations[i], keys[i], numbers[i]
        if operation == DequeOperation.APPEND:
            first[i] = ring.append(number)
        elif operation == DequeOperation.APPENDLEFT:
            first[i] = ring.appendleft(number)
        elif operation == DequeOperation.POP:
            second[i] = ring.pop()
        elif operation == DequeOperation.POPLEFT:
            second[i] = ring.popleft()
        elif operation == DequeOperation.GET:
            first[i], second[i] = len(ring), ring[index]
        elif operation == DequeOperation.SET:
            first[i] = ring.set(index, number)
        elif operation == DequeOperation.EXTEND:
            first[i] = ring.extend(np.array([number, number]))
        elif operation == DequeOperation.LOOP:
            for value in ring:
                ring.clear()  # a loop runs over what was there when it began
                first[i] += 1
                second[i] = value
        elif operation == DequeOperation.COPY:
            ring = ring.copy()
        elif operation == DequeOperation.RESERVE:
            first[i] = ring.reserve(index % 100)
        elif operation == DequeOperation.CLEAR and index == 0:  # not as often as the others
            first[i] = ring.clear()
    return ring


def _deque_meaning(operation: DequeOperation, model: deque[Any], index: int, number: Any) -> tuple[int, Any]:
    is_there = -len(model) <= index < len(model)
    match operation:
        case DequeOperation.APPEND:
            model.append(number)
        case DequeOperation.APPENDLEFT:
            model.appendleft(number)
        case DequeOperation.POP:
            return 0, model.pop() if model else 0
        case DequeOperation.POPLEFT:
            return 0, model.popleft() if model else 0
        case DequeOperation.GET:
            return len(model), model[index] if is_there else 0
        case DequeOperation.SET:
            return _status(model.__setitem__, index, number)
        case DequeOperation.EXTEND:
            model.extend([number, number])
        case DequeOperation.LOOP:
            found = len(model), model[-1] if model else 0
            model.clear()
            return found
        case DequeOperation.CLEAR if index == 0:
            model.clear()
    return OK, 0


_DEQUE: _Meanings = {operation: partial(_deque_meaning, operation) for operation in DequeOperation}


# ----------------------------------------------------------------------------------------- disjoint sets
class UnionOperation(IntEnum):
    """The operations of the language of disjoint sets; key and number are elements."""

    ADD = 0
    UNION = 1
    UNION_MANY = 2
    FIND = 3
    CONNECTED = 4
    SIZES = 5
    LABELS = 6
    COPY = 7
    RESERVE = 8


@kernel
def _run_sets(sets, operations, keys, numbers, first, second):
    for i in range(operations.size):
        operation, n = operations[i], len(sets)
        one, other = (keys[i] % n, numbers[i] % n) if n > 0 else (0, 0)
        if operation == UnionOperation.ADD:
            first[i] = sets.add()
        elif operation == UnionOperation.RESERVE:
            first[i] = sets.reserve(keys[i] % 100)
        elif operation == UnionOperation.COPY:
            sets = sets.copy()
        elif n == 0:
            continue
        elif operation == UnionOperation.UNION:
            first[i] = sets.union(one, other)
        elif operation == UnionOperation.UNION_MANY:
            first[i] = sets.union_many(np.array([one, other]), np.array([other, n // 2]))
        elif operation == UnionOperation.FIND:
            first[i], second[i] = sets.root(one) == sets.root(other), sets.find(one) == sets.find(other)
        elif operation == UnionOperation.CONNECTED:
            first[i], second[i] = sets.connected(one, other), sets.size(one)
        elif operation == UnionOperation.SIZES:
            first[i], second[i] = n, sets.n_sets
        elif operation == UnionOperation.LABELS:
            labels = sets.labels()
            first[i], second[i] = labels[one], labels[other]
    return sets


def _union_meaning(
    operation: UnionOperation, model: DisjointSetsModel, key: int, number: int
) -> tuple[int, int]:
    n = len(model)
    if operation == UnionOperation.ADD:
        return model.add(), 0
    if n == 0:
        return OK, 0
    one, other = key % n, number % n
    match operation:
        case UnionOperation.UNION:
            return model.union(one, other), 0
        case UnionOperation.UNION_MANY:
            return model.union_many([one, other], [other, n // 2]), 0
        case UnionOperation.FIND:
            return model.connected(one, other), model.connected(one, other)
        case UnionOperation.CONNECTED:
            return model.connected(one, other), model.size(one)
        case UnionOperation.SIZES:
            return n, model.n_sets
        case UnionOperation.LABELS:
            labels = model.labels()
            return labels[one], labels[other]
    return OK, 0


_UNIONS: _Meanings = {operation: partial(_union_meaning, operation) for operation in UnionOperation}


# -------------------------------------------------------------------------------------------------- all
LANGUAGES: dict[type, Language] = {
    Deque: Language(_run_deque, _DEQUE),
    DisjointSets: Language(_run_sets, _UNIONS),
    Heap: Language(_run_pairs, _PAIRS),
    IntMap: Language(_run_map, _MAP),
    IntSet: Language(_run_set, _SET),
    MaxHeap: Language(_run_heap, _HEAP),
    MinHeap: Language(_run_heap, _HEAP),
    IndexedMaxHeap: Language(_run_indexed, _INDEXED),
    IndexedMinHeap: Language(_run_indexed, _INDEXED),
    CountBuckets: Language(_run_buckets, _BUCKETS),
    TokenList: Language(_run_tokens, _TOKENS),
    PairIndex: Language(_run_index, _INDEX),
    KBest: Language(_run_rows, _ROWS),
    SortedMap: Language(_run_sorted, _SORTED),
}
"""The language of each container; token lists and indexes are not empty, and their numbers are tokens.

The model of a ``Heap`` is a list for ``heapq``, that of a ``Deque`` a ``collections.deque``.
"""
