"""Heaps with ``ties="fifo"``, and heaps whose ids or tables are renewed."""

import copy
import pickle

import numpy as np
import pytest
from numba import njit

from structures import MaxHeap, MinHeap
from structures.priority_queues.multiset_heap_kernels import heap_type
from structures.status import INT64_MAX, INT64_MIN
from structures.testing import LANGUAGES, HeapMachine, HeapModel, check_program, random_program

# Both orders and both dtypes. What differs is one comparison and one width, and each kind is compiled again.
KINDS = [(MaxHeap, "int64"), (MinHeap, "float64")]
NAMES = ["max-int", "min-float"]
BOTH = pytest.mark.parametrize("heap_class", [MaxHeap, MinHeap])


# ------------------------------------------------------------------------------------ against the model
class FifoMachine(HeapMachine):
    is_fifo = True


class FloatFifoMinMachine(FifoMachine):
    container, least_first, dtype = MinHeap, True, "float64"


TestFifo = FifoMachine.TestCase
TestFloatFifoMin = FloatFifoMinMachine.TestCase


@pytest.mark.parametrize(("heap_class", "dtype"), KINDS, ids=NAMES)
@pytest.mark.parametrize(
    ("n_keys", "numbers", "rare"),
    [
        (4, range(-3, 4), 0.7),  # often empty
        (300, [1], 0.1),  # moves by one
        (300, range(3), 0.2),  # many ties
        (2000, range(-5, 100), 0.05),
        (100, [INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX], 0.3),
    ],
    ids=["empty", "ones", "ties", "large", "ends"],
)
def test_programs(rng, heap_class, dtype, n_keys, numbers, rare):
    language, spread = LANGUAGES[heap_class], range(-n_keys // 3, n_keys)
    program = random_program(language, rng, 4000, keys=spread, numbers=numbers, rare=rare, dtype=dtype)
    model = HeapModel(least_first=heap_class is MinHeap, is_fifo=True)
    heap = check_program(language, heap_class(dtype=dtype, ties="fifo"), model, program)
    assert list(heap.items()) == model.items()
    assert heap.ties().tolist() == model.ties()
    look = heap.nlargest if heap_class is MaxHeap else heap.nsmallest
    assert tuple(array.tolist() for array in look(n_keys // 2)) == model.first_many(n_keys // 2)
    assert heap.tie_order == "fifo"


# ------------------------------------------------------------------------------------------------- ages
def test_ages():
    heap = MinHeap([(9, 1), (3, 1), (5, 1)], ties="fifo")
    assert list(heap) == [9, 3, 5]
    heap[9] = 1  # the count it has: it keeps its age
    heap.add(3, 0)
    assert list(heap) == [9, 3, 5]
    heap[9] = 2
    heap[9] = 1  # as if it had left and come again
    assert list(heap) == [3, 5, 9]
    del heap[3]
    heap[3] = 1
    assert heap.ties().tolist() == list(heap) == [5, 9, 3]
    assert list(MinHeap({9: 1, 3: 1})) == [3, 9]


@BOTH
def test_the_order_of_ages_is_a_part_of_the_content(heap_class):
    one = heap_class([(9, 1), (3, 1)], ties="fifo")
    other = heap_class([(3, 1), (9, 1)], ties="fifo")
    assert one != other
    assert one != heap_class({9: 1, 3: 1})
    assert one == heap_class.from_arrays([9, 3], [1, 1], "fifo") == copy.deepcopy(one)
    for copied in (
        one.copy(),
        pickle.loads(pickle.dumps(one)),
        heap_class.from_arrays(*one.to_arrays(), "fifo"),
    ):
        copied[5] = 1
        copied._check()
        assert list(copied) == [9, 3, 5]
    assert heap_class({1: 2.5}, ties="fifo").dtype == np.float64


@BOTH
def test_a_bulk_update_that_fails_keeps_the_ages(heap_class):
    heap = heap_class([(9, 1), (3, 1), (5, 1), (4, 2)], ties="fifo")
    before = heap.copy()
    for changed, deltas in [([9, 4, 9, 7, 3], [1, 1, -2, 3, -2]), ([9, 5, 9, 3], [-1, -1, 5, -2])]:
        with pytest.raises(ValueError, match="key 3 would fall below 0"):
            heap.add_many(changed, deltas)
        heap._check()
        assert heap == before
    heap.add_many([9, 5], [2, 2])
    assert heap.nlargest(2)[0].tolist() == [9, 5] if heap_class is MaxHeap else list(heap)[-2:] == [9, 5]


@BOTH
@pytest.mark.parametrize("ties", ["lifo", None, 1, ["key"]], ids=repr)
def test_other_orders_of_ties_are_refused(heap_class, ties):
    with pytest.raises(ValueError, match='ties must be "key" or "fifo", not '):
        heap_class(ties=ties)
    with pytest.raises(ValueError, match="ties must be"):
        heap_class.from_arrays([1], [2], ties)


def test_ages_inside_njit():
    @njit
    def use(heap):
        for key in range(100, 0, -1):
            heap[key] = key % 3
        heap[99] = 5
        heap[99] = 0
        order = np.empty(len(heap), np.int64)
        for i in range(order.size):
            order[i] = heap.pop()[0]
        return order

    keys = list(range(100, 0, -1))
    expected = sorted(keys, key=lambda key: key % 3)
    expected.remove(99)
    expected.insert(32, 99)
    assert use(MinHeap(ties="fifo")).tolist() == expected
    assert heap_type(False, ties="fifo") == MinHeap(ties="fifo")._numba_type_ != MinHeap()._numba_type_
    with pytest.raises(KeyError):
        heap_type(True, "int64", "lifo")


def test_many_keys_leave_and_others_come():
    """Ids and the map are renewed; also of ties by age, where ids have keys."""
    for ties in ("key", "fifo"):
        heap = MinHeap(ties=ties)
        for key in range(500):
            heap[key] = 500 - key
        for key in range(500, 5000):
            heap[key] = key * 7919 % 1009
            if key % 3:
                heap[key - 400] = 3
            heap.pop()
            if key % 500 == 0:
                heap._check()
        assert len(heap) == len(set(heap))
        heap._check()


@pytest.mark.parametrize("ties", ["key", "fifo"])
def test_growth_of_a_large_heap(ties):
    @njit
    def fill(heap, start, end):
        for key in range(start, end):
            heap[key] = end - key

    heap, n = MinHeap(ties=ties), 2**18
    fill(heap, 0, n)
    copied = heap.copy()
    fill(heap, n, n + 1)
    fill(copied, n, n + 1)
    assert heap == copied
    keys, counts = heap.to_arrays()
    assert np.array_equal(np.sort(keys), np.arange(n + 1))
    assert np.all(np.diff(counts) >= 0)
    heap.clear()
    assert list(heap) == []
