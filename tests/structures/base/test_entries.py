"""Calls of containers from Python, for which numba does not look at the types of arguments."""

import numpy as np
import pytest

from structures import Deque, Heap, IntMap, MaxHeap
from structures.base.struct_type import Entries


@pytest.mark.parametrize("first", [True, np.int8(1), np.uint64(1), 1])
def test_the_first_number_does_not_decide_the_type(first):
    m = IntMap()
    entries = Entries(m._kernels)
    entries.set(m, first, first)
    entries.set(m, 2**40, -(2**50))
    assert m == {1: 1, 2**40: -(2**50)}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_floats(dtype):
    h = Heap(dtype)
    entries = Entries(h._kernels)
    entries.push(h, 1.5, True)
    entries.push(h, np.inf, 2**40)
    assert [h.pop(), h.pop()] == [(1.5, 1), (np.inf, 2**40)]


def test_each_type_has_entries_of_its_own():
    of_integers, of_floats = MaxHeap({1: 2**60 + 1}), MaxHeap({1: 0.5})
    for heap, top in ((of_integers, 2**60 + 1), (of_floats, 0.5)) * 2:
        assert heap.peek() == (1, top)
        heap[2] = top + 2
        assert (heap.pop(), len(heap)) == ((2, top + 2), 1)


def test_a_kernel_is_looked_up_once():
    d = Deque()
    d.append(1)
    entry = vars(d._type.entries)["append"]
    assert entry is not d._kernels.append
    d.append(2)
    assert vars(Deque()._type.entries)["append"] is entry
