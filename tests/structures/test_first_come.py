"""Heaps with ``ties="fifo"``, and heaps whose ids or tables are renewed."""

import copy
import pickle

import numpy as np
import pytest
from numba import njit

from structures import MaxHeap, MinHeap
from structures.multiset_heap_kernels import heap_type

KINDS = [(MaxHeap, "int64"), (MinHeap, "int64"), (MaxHeap, "float64"), (MinHeap, "float64")]
NAMES = ["max-int", "min-int", "max-float", "min-float"]
BOTH = pytest.mark.parametrize("heap_class", [MaxHeap, MinHeap])


class FifoModel:
    """Entries with ages in a dict; slow and simple."""

    def __init__(self, least_first):
        self.entries, self.age, self.sign = {}, 0, 1 if least_first else -1

    def set(self, key, count):
        if key not in self.entries or self.entries[key][0] != count:
            self.age += 1
            self.entries[key] = count, self.age

    def add(self, key, n):
        count = self.entries.get(key, (0, 0))[0] + n
        if count < 0:
            raise ValueError(key)
        if count == 0:
            self.entries.pop(key, None)
        else:
            self.set(key, count)

    def items(self):
        in_order = sorted(self.entries.items(), key=lambda item: (self.sign * item[1][0], item[1][1]))
        return [(key, count) for key, (count, _) in in_order]


def ties_of(items):
    return [key for key, count in items if count == items[0][1]]


@pytest.mark.parametrize(("heap_class", "dtype"), KINDS, ids=NAMES)
@pytest.mark.parametrize("n_keys", [5, 60, 900])
def test_first_come_first_out_against_a_model(rng, heap_class, dtype, n_keys):
    heap, model = heap_class(dtype=dtype, ties="fifo"), FifoModel(heap_class is MinHeap)
    look = heap.nlargest if heap_class is MaxHeap else heap.nsmallest
    for step in range(3000):
        key, number, verb = (int(number) for number in rng.integers((n_keys, 5, 8)))
        if verb < 3:
            heap[key] = number + 1
            model.set(key, number + 1)
        elif verb < 5:
            heap.add(key, number)
            model.add(key, number)
        elif verb == 5 and key in heap:
            number = min(number, int(heap[key]))
            heap.sub(key, number)
            model.add(key, -number)
        elif verb == 6 and key in heap:
            del heap[key], model.entries[key]
        elif verb == 7 and len(heap):
            assert heap.peek() == model.items()[0]
            assert heap.pop() == model.items()[0]
            del model.entries[model.items()[0][0]]
        if step % 300 == 0:
            heap._check()
            items = model.items()
            assert list(heap.items()) == items
            assert (
                list(zip(*(array.tolist() for array in look(n_keys // 2)), strict=True))
                == items[: n_keys // 2]
            )
            assert not items or heap.ties().tolist() == ties_of(items)
            heap = heap.copy() if step % 600 else pickle.loads(pickle.dumps(heap))
            look = heap.nlargest if heap_class is MaxHeap else heap.nsmallest
            assert heap.tie_order == "fifo"
    assert list(heap.items()) == model.items()


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
            heap.update_many(changed, deltas)
        heap._check()
        assert heap == before
    heap.update_many([9, 5], [2, 2])
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
def test_the_next_table_is_prepared_ahead(ties):
    @njit
    def fill(heap, start, end):
        for key in range(start, end):
            heap[key] = end - key

    heap, n = MinHeap(ties=ties), 2**18 - 3  # what 2**16 rows take
    fill(heap, 0, 63 * n // 64)
    before = heap.nbytes
    fill(heap, 63 * n // 64, n)
    assert heap.nbytes > 2 * before - (before // 2)  # the next table is there
    copied = heap.copy()
    assert copied.nbytes == before
    fill(heap, n, n + 1)
    fill(copied, n, n + 1)
    assert heap == copied
    keys, counts = heap.to_arrays()
    assert np.array_equal(np.sort(keys), np.arange(n + 1))
    assert np.all(np.diff(counts) >= 0)
    heap.clear()
    assert list(heap) == []
