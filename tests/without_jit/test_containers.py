"""Random programs on the containers, compared with their models."""

import heapq
from collections import deque

import numpy as np
import pytest

from structures import (
    CountBuckets,
    Deque,
    DisjointSets,
    Heap,
    IndexedMaxHeap,
    IndexedMinHeap,
    IntMap,
    IntSet,
    KBest,
    MaxHeap,
    MinHeap,
    PairIndex,
    SortedMap,
    TokenList,
)
from structures.status import INT64_MAX, INT64_MIN, NO_MEMORY, OK, OUT_OF_RANGE, OVERFLOW
from structures.testing import (
    LANGUAGES,
    HeapModel,
    IndexedHeapModel,
    IntSetModel,
    KBestModel,
    MapModel,
    PairModel,
    SortedModel,
    TokenModel,
    check_program,
    random_program,
)
from structures.tokens import pair_index_kernels

SHAPES = [
    (4, range(-3, 4), 0.7),  # often empty
    (300, [1], 0.1),
    (300, range(3), 0.2),  # many ties
    (100, [INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX], 0.3),
]
shapes = pytest.mark.parametrize(("n_keys", "numbers", "rare"), SHAPES, ids=["empty", "ones", "ties", "ends"])


def program_of(container_class, n_keys, numbers, rare, dtype="int64"):
    rng = np.random.default_rng(1)
    spread = range(-n_keys // 3, n_keys)
    return random_program(LANGUAGES[container_class], rng, 1500, spread, numbers, rare, dtype)


@shapes
def test_maps(n_keys, numbers, rare):
    check_program(LANGUAGES[IntMap], IntMap(), MapModel(), program_of(IntMap, n_keys, numbers, rare))


@shapes
def test_maps_to_floats(n_keys, numbers, rare):
    program = program_of(IntMap, n_keys, numbers, rare, "float64")
    check_program(LANGUAGES[IntMap], IntMap(dtype=float), MapModel(), program)


@shapes
def test_sets(n_keys, numbers, rare):
    check_program(LANGUAGES[IntSet], IntSet(), IntSetModel(), program_of(IntSet, n_keys, numbers, rare))


@pytest.mark.parametrize("ties", ["key", "fifo"])
@pytest.mark.parametrize("dtype", ["int64", "float64"])
@pytest.mark.parametrize("heap_class", [MaxHeap, MinHeap])
@shapes
def test_heaps(n_keys, numbers, rare, heap_class, dtype, ties):
    model = HeapModel((), heap_class is MinHeap, ties == "fifo")
    heap = heap_class(dtype, ties=ties)
    check_program(LANGUAGES[heap_class], heap, model, program_of(heap_class, n_keys, numbers, rare, dtype))


@pytest.mark.parametrize("ties", ["key", "fifo"])
@pytest.mark.parametrize("dtype", ["int64", "float64", "float32"])
@pytest.mark.parametrize("heap_class", [IndexedMaxHeap, IndexedMinHeap])
@shapes
def test_indexed_heaps(n_keys, numbers, rare, heap_class, dtype, ties):
    n_keys = max(n_keys, 99)
    if dtype == "float32":
        numbers = [min(max(number, -8), 8) for number in numbers]
    heap = heap_class(n_keys, dtype, ties)
    model = IndexedHeapModel({}, n_keys, heap_class is IndexedMinHeap, ties == "fifo")
    check_program(LANGUAGES[heap_class], heap, model, program_of(heap_class, n_keys, numbers, rare, dtype))


@shapes
def test_buckets(n_keys, numbers, rare):
    program = program_of(CountBuckets, n_keys, numbers, rare)
    check_program(LANGUAGES[CountBuckets], CountBuckets(), HeapModel(), program)


@pytest.mark.parametrize("dtype", ["int64", "float64"])
@pytest.mark.parametrize("key_dtype", ["int64", "float64"])
@shapes
def test_sorted_maps(n_keys, numbers, rare, key_dtype, dtype):
    program = program_of(SortedMap, n_keys, numbers, rare, dtype)
    check_program(LANGUAGES[SortedMap], SortedMap(dtype, key_dtype=key_dtype), SortedModel(), program)


@pytest.mark.parametrize("failing", [None, 0, 5, 39])
def test_many_at_once(failing):
    rng = np.random.default_rng(3)
    for container, model in [
        (IntMap(), MapModel()),
        (MaxHeap(), HeapModel()),
        (CountBuckets(), HeapModel()),
    ]:
        first = rng.integers(0, 30, 40)
        container.add_many(first, np.ones(40, np.int64))
        model.add_many(first.tolist(), [1] * 40)
        keys, deltas = rng.integers(0, 60, 40), rng.integers(1, 9, 40)
        if failing is None:
            assert container._kernels.add_many(container, keys, deltas) == (0, 40)
            model.add_many(keys.tolist(), deltas.tolist())
        else:
            keys[failing], deltas[failing] = 7, INT64_MAX
            assert container._kernels.add_many(container, keys, deltas) == (OVERFLOW, failing)
        assert container._kernels.add_many(container, keys, deltas[:3]) == (OUT_OF_RANGE, 3)
        container._check()
        assert dict(container.items()) == dict(model.items())


def segments_of(longest, n_kinds):
    rng = np.random.default_rng(longest)
    return [rng.integers(0, n_kinds, size).tolist() for size in rng.integers(1, longest + 1, 8)]


def list_of(segments):
    tokens = np.array([token for segment in segments for token in segment], np.int64)
    return TokenList(tokens, np.cumsum([0, *map(len, segments)]))


@pytest.mark.parametrize("longest", [1, 2, 25])
def test_lists(longest):
    segments = segments_of(longest, 5)
    program = random_program(
        LANGUAGES[TokenList], np.random.default_rng(2), 300, range(1000), range(6), rare=0.7
    )
    check_program(LANGUAGES[TokenList], list_of(segments), TokenModel(segments), program)


@pytest.mark.parametrize("longest", [1, 2, 25])
def test_indexes(longest):
    segments = segments_of(longest, 3)
    program = random_program(
        LANGUAGES[PairIndex], np.random.default_rng(2), 400, range(1000), range(6), rare=0.7
    )
    index, model = PairIndex(list_of(segments)), PairModel(TokenModel(segments))
    index.rebuild()
    model.rebuild()
    check_program(LANGUAGES[PairIndex], index, model, program)


def test_an_index_without_memory_forgets_the_pair(monkeypatch):
    index = PairIndex(TokenList(np.array([1, 2]), np.array([0, 2])))
    assert index.add(1, 2, 0) == OK
    monkeypatch.setattr(pair_index_kernels, "_repool", lambda self, wanted: False)
    many = np.arange(index._meminfo.pool.size + 1)
    assert index._kernels.add_many(index, 3, 4, many) == NO_MEMORY
    assert len(index) == 1
    assert index._kernels.add_many(index, 1, 2, many) == NO_MEMORY
    assert (len(index), index.count(1, 2)) == (1, 1)
    index._check()


@pytest.mark.parametrize("flags", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("k", [1, 3, 16, 40])
def test_rows(k, dtype, flags):
    numbers = [*np.linspace(0, 10, 9), np.inf, -np.inf, np.nan]
    rng, language = np.random.default_rng(4), LANGUAGES[KBest]
    program = random_program(language, rng, 500, range(300), numbers, 0.3, "float64")
    check_program(
        language, KBest(3, k, dtype, "int64", flags), KBestModel(3, k, dtype, "int64", flags), program
    )


def test_disjoint_sets():
    rng = np.random.default_rng(5)
    sets, model = DisjointSets(30), list(range(30))
    for one, other in rng.integers(0, 30, (40, 2)).tolist():
        assert sets.union(one, other) == (model[one] != model[other])
        model = [model[one] if label == model[other] else label for label in model]
        assert sets.find(one) == sets.root(other)
        sets._check()
    model.append(sets.add())
    assert sets == DisjointSets.from_labels(model)
    assert sets == sets.copy()
    assert sets.size(0) == model.count(model[0])


@pytest.mark.parametrize("dtype", ["int64", "int32", "float64", "float32"])
def test_pairs(dtype):
    rng = np.random.default_rng(6)
    heap, model = Heap(dtype), []
    for priority, payload in rng.integers(-9, 9, (200, 2)).tolist():
        heap.push(priority, payload)
        heapq.heappush(model, (priority, payload))
        if payload % 3 == 0:
            assert heap.pushpop(-priority, payload) == heapq.heappushpop(model, (-priority, payload))
        elif payload % 3 == 1:
            assert heap.replace(5, payload) == heapq.heapreplace(model, (5, payload))
        elif priority < 0:
            assert heap.pop() == heapq.heappop(model)
    heap._check()
    handle = heap.push(3, 100)
    heap.change(handle, -100)
    assert heap.peek() == (-100, 100)
    heap.remove(handle)
    assert list(heap) == sorted(model)
    assert list(zip(*heap.nsmallest(5), strict=True)) == heapq.nsmallest(5, model)
    assert Heap.heapify(*heap.to_arrays()) == heap == heap.copy()


@pytest.mark.parametrize("dtype", ["int64", "int32", "float64", "float32"])
def test_rings(dtype):
    ring, model = Deque(dtype), deque()
    for value in np.random.default_rng(7).integers(-9, 9, 300).tolist():
        verb = ["append", "appendleft", "append", "popleft", "pop"][value % 5]
        arguments = [value] if verb.startswith("append") else []
        if arguments or model:
            assert getattr(ring, verb)(*arguments) in (0, getattr(model, verb)(*arguments))
        ring._check()
    ring.extend([3, 4])
    ring[0], model[0] = 7, 7
    assert list(ring) == [*model, 3, 4]
    assert ring[-1] == 4
    assert ring == ring.copy() == Deque.from_array(ring.to_array())
