"""Users' kernels that make and take containers give the same as Python."""

import numpy as np
import pytest
from numba import config, njit
from numba.typed import List

import structures as st
from structures.kernels import entry_for


@njit
def counts(keys):
    """Use what differs: verbs that only compiled code has, statuses, loops, containers in containers."""
    heap, floats, kept = st.MaxHeap(), st.MinHeap(np.float64), List.empty_list(st.IntMap.type())
    for key in keys:
        if heap.add(key) < 0 or floats.set(key, 1.5 * key) < 0:
            return -1, 0.0, 0, 0
        heap.prefetch(key)
    total, weight = 0, 0.0
    for key, count in heap.items():
        heap.clear()
        total = 10 * total + key * count
    for key in floats:
        weight += key * floats[key]
    seen = st.IntMap()
    kept.append(seen)
    status, n = seen.add_many(keys, keys)
    n_removed = kept[0].remove_many(keys[:1]) + floats.contains(keys[1]) + (keys[0] in seen)
    return total, weight, status + n, n_removed


@njit
def lists(tokens):
    linked = st.TokenList(tokens)
    index = st.PairIndex.build(linked)
    if index.add(1, 2, 0) < 0:
        return -1, 0, 0, 0
    linked.merge(0, 9)
    total = 0
    for token in linked:
        total = 10 * total + token
    return total, linked.n_positions, index.count(1, 2), linked == linked.copy()


@st.kernel
def loops(container, other):
    """Loop over a container that changes, and compare, in a kernel of this package's kind."""
    total = 0
    for key in container:
        container.remove(key)
        total = 10 * total + key
    return total, container == other, container != other, container == other.copy()


@st.kernel
def combined(one, other):
    return one & other, one | other, one - other, one ^ other, one <= other, one.isdisjoint(other)


def test_sets_in_kernels():
    *made, is_subset, is_disjoint = combined(st.IntSet([1, 2, 3]), st.IntSet([3, -(2**63)]))
    assert [list(each) for each in made] == [[3], [-(2**63), 1, 2, 3], [1, 2], [-(2**63), 1, 2]]
    assert (is_subset, is_disjoint) == (False, False)


def test_loops_and_comparisons_in_kernels():
    for kind in (st.IntMap, st.MaxHeap, st.CountBuckets, st.SortedMap):
        assert loops(kind({2: 5, 3: 4}), kind()) == (23, True, False, True)
        assert loops(kind({2: 5}), kind({2: 5})) == (2, False, True, False)
    heap = st.IndexedMaxHeap.from_arrays([2, 3], [5, 4])
    assert loops(heap, st.IndexedMaxHeap(4)) == (23, True, False, True)
    assert loops(st.IntSet([3, 2]), st.IntSet()) == (23, True, False, True)


def test_they_give_the_same():
    assert config.DISABLE_JIT
    assert counts(np.array([5, 3, 5, 4])) == (1034, 75.0, 4, 2)
    assert lists(np.array([1, 2, 1, 2])) == (912, 4, 1, True)


@njit
def counted_words(counter, data, offsets):
    status = counter.add(data, 0, 3, 2)
    known = counter.get(data, 0, 3), counter.id_of(data, 0, 3), counter.id_of(data, 1, 3)
    counter.add_many(data, offsets, np.ones(offsets.size - 1, np.int64))
    return status, known


def test_words_in_arrays():
    """A ByteCounter takes them in compiled code only; bytes, as in Python, stay possible."""
    counter = st.ByteCounter()
    data, offsets = np.frombuffer(b"lowest", np.uint8), np.array([0, 3, 6])
    assert counted_words(counter, data, offsets) == (0, (2, 0, -1))
    counter.add(b"low")
    assert dict(counter.items()) == {b"low": 4, b"est": 1}


def test_failures_raise():
    @njit
    def missing(heap):
        return heap[7]

    with pytest.raises(KeyError):
        missing(st.MaxHeap())
    with pytest.raises(ValueError, match="fall below 0"):
        st.MaxHeap().sub(1)


CLASSES = [
    st.IntMap,
    st.SortedMap,
    st.MaxHeap,
    st.CountBuckets,
    st.ByteCounter,
    st.Deque,
    st.DisjointSets,
    st.Heap,
]


@pytest.mark.parametrize("container", CLASSES)
def test_classes(container):
    made = container()
    assert made == container() == made.copy()
    assert len(made) == 0
    made._check()


def test_the_entry_of_a_kernel_is_the_kernel():
    """There are no types that it would have to be found by."""
    assert entry_for(counts, np.arange(1)) is counts
