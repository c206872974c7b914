"""Random programs on the containers, compared with their models."""

import numpy as np
import pytest

from structures import (
    CountBuckets,
    IndexedMaxHeap,
    IndexedMinHeap,
    IntMap,
    MaxHeap,
    MinHeap,
    PairIndex,
    TokenList,
    pair_index_kernels,
)
from structures.count_buckets_kernels import new_count_buckets
from structures.indexed_heap_kernels import indexed_heap_type, new_indexed_heap
from structures.int_map_kernels import new_int_map
from structures.multiset_heap_kernels import heap_type, new_heap
from structures.pair_index_kernels import new_pair_index
from structures.status import INT64_MAX, INT64_MIN, NO_MEMORY, OK, OUT_OF_RANGE, OVERFLOW
from structures.testing import (
    LANGUAGES,
    HeapModel,
    IndexedHeapModel,
    MapModel,
    PairModel,
    TokenModel,
    check_program,
    random_program,
)
from structures.token_list_kernels import new_token_list

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


def new_heap_of(heap_class, dtype="int64"):
    is_max = heap_class is MaxHeap
    return new_heap(heap_type(is_max, dtype), np.dtype(dtype).type(0), -1 if is_max else 0)


@shapes
def test_maps(n_keys, numbers, rare):
    check_program(LANGUAGES[IntMap], new_int_map(), MapModel(), program_of(IntMap, n_keys, numbers, rare))


@pytest.mark.parametrize("dtype", ["int64", "float64"])
@pytest.mark.parametrize("heap_class", [MaxHeap, MinHeap])
@shapes
def test_heaps(n_keys, numbers, rare, heap_class, dtype):
    model = HeapModel(least_first=heap_class is MinHeap)
    heap = new_heap_of(heap_class, dtype)
    check_program(LANGUAGES[heap_class], heap, model, program_of(heap_class, n_keys, numbers, rare, dtype))


@pytest.mark.parametrize("by_age", [0, 1])
@pytest.mark.parametrize("dtype", ["int64", "float64", "float32"])
@pytest.mark.parametrize("heap_class", [IndexedMaxHeap, IndexedMinHeap])
@shapes
def test_indexed_heaps(n_keys, numbers, rare, heap_class, dtype, by_age):
    n_keys = max(n_keys, 99)
    if dtype == "float32":
        numbers = [min(max(number, -8), 8) for number in numbers]
    typ = indexed_heap_type(heap_class is IndexedMaxHeap, dtype)
    complement = -1 if heap_class is IndexedMaxHeap else 0
    heap = new_indexed_heap(typ, n_keys, np.dtype(dtype).type(0), complement, by_age)
    model = IndexedHeapModel({}, n_keys, heap_class is IndexedMinHeap, bool(by_age))
    check_program(LANGUAGES[heap_class], heap, model, program_of(heap_class, n_keys, numbers, rare, dtype))


@shapes
def test_buckets(n_keys, numbers, rare):
    program = program_of(CountBuckets, n_keys, numbers, rare)
    check_program(LANGUAGES[CountBuckets], new_count_buckets(8), HeapModel(), program)


@pytest.mark.parametrize("failing", [None, 0, 5, 39])
def test_many_at_once(failing):
    rng = np.random.default_rng(3)
    for container, model in [
        (new_int_map(), MapModel()),
        (new_heap_of(MaxHeap), HeapModel()),
        (new_count_buckets(8), HeapModel()),
    ]:
        first = rng.integers(0, 30, 40)
        assert container.update_many(first, np.ones(40, np.int64)) == (0, 40)
        model.update_many(first.tolist(), [1] * 40)
        keys, deltas = rng.integers(0, 60, 40), rng.integers(1, 9, 40)
        if failing is None:
            assert container.update_many(keys, deltas) == (0, 40)
            model.update_many(keys.tolist(), deltas.tolist())
        else:
            keys[failing], deltas[failing] = 7, INT64_MAX
            assert container.update_many(keys, deltas) == (OVERFLOW, failing)
        assert container.update_many(keys, deltas[:3]) == (OUT_OF_RANGE, 3)
        container._check()
        assert dict(container.items()) == dict(model.items())


def segments_of(longest, n_kinds):
    rng = np.random.default_rng(longest)
    return [rng.integers(0, n_kinds, size).tolist() for size in rng.integers(1, longest + 1, 8)]


def list_of(segments):
    tokens = np.array([token for segment in segments for token in segment], np.int64)
    return new_token_list(tokens, np.cumsum([0, *map(len, segments)]))


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
    index, model = new_pair_index(list_of(segments)), PairModel(TokenModel(segments))
    assert index.rebuild()
    model.rebuild()
    check_program(LANGUAGES[PairIndex], index, model, program)


def test_an_index_without_memory_forgets_the_pair(monkeypatch):
    index = new_pair_index(new_token_list(np.array([1, 2]), np.array([0, 2])))
    assert index.add(1, 2, 0) == OK
    monkeypatch.setattr(pair_index_kernels, "_repool", lambda self, wanted: False)
    many = np.arange(index.pool.size + 1)
    assert index.add_many(3, 4, many) == NO_MEMORY
    assert len(index) == 1
    assert index.add_many(1, 2, many) == NO_MEMORY
    assert (len(index), index.count(1, 2)) == (1, 1)
    index._check()
