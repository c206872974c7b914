"""The languages of our containers: their operations, compiled, and what these mean to the models."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

from structures.compiling.jit import kernel
from structures.hash_tables.int_map import IntMap
from structures.hash_tables.int_set import IntSet
from structures.neighbours.k_best import KBest
from structures.priority_queues.count_buckets import CountBuckets
from structures.priority_queues.indexed_heap import IndexedMaxHeap, IndexedMinHeap
from structures.priority_queues.multiset_heap import MaxHeap, MinHeap
from structures.sorted_maps.sorted_map import SortedMap
from structures.status import MISSING, NEGATIVE, NOT_A_NUMBER, OK, OUT_OF_RANGE, OVERFLOW
from structures.testing.int_sets import INT_SET_LANGUAGE
from structures.testing.models import NotANumber, PairModel, TokenModel
from structures.testing.programs import Language
from structures.testing.rows import K_BEST_LANGUAGE
from structures.testing.sorted_machines import SORTED_LANGUAGE
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
    Operation.CONTAINS: lambda model, key, number: (key in model, len(model)),
    Operation.COPY: _nothing,
    Operation.RESERVE: _nothing,
    Operation.CLEAR: lambda model, key, number: _status(model.clear) if key == 0 else (OK, 0),
}
_MAP: _Meanings = {
    **_KEYED,
    Operation.GET: lambda model, key, number: (1, model.get(key, number)),
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


def _sum(numbers: list[Any]) -> Any:
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
    Operation.GET: lambda model, key, number: (1, model.get(key, number)),
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
    if model.next(_live(model, key)) >= 0:
        model.merge(_live(model, key), number)
    return OK, 0


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

LANGUAGES: dict[type, Language] = {
    IntMap: Language(_run_map, _MAP),
    IntSet: INT_SET_LANGUAGE,
    MaxHeap: Language(_run_heap, _HEAP),
    MinHeap: Language(_run_heap, _HEAP),
    IndexedMaxHeap: Language(_run_indexed, _INDEXED),
    IndexedMinHeap: Language(_run_indexed, _INDEXED),
    CountBuckets: Language(_run_buckets, _BUCKETS),
    TokenList: Language(_run_tokens, _TOKENS),
    PairIndex: Language(_run_index, _INDEX),
    KBest: K_BEST_LANGUAGE,
    SortedMap: SORTED_LANGUAGE,
}
"""The language of each container; token lists and indexes are not empty, and their numbers are tokens."""
