"""Pickles name no module inside the package."""

import pickle
import pickletools

import numpy as np
import pytest

import structures
from structures import (
    ByteCounter,
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

TOKENS = TokenList([1, 2, 1, 2, 3], [0, 2, 5])
CONTAINERS = {
    "IntMap": IntMap({1: 2, -5: 2**40, 0: -1}),
    "MaxHeap": MaxHeap({3: 7, 9: 7, -2: 1}),
    "MinHeap": MinHeap({3: 7, 9: 7, -2: 1}),
    "MinHeap_float64": MinHeap({3: 1.5, 9: -2.5}, np.float64),
    "CountBuckets": CountBuckets({4: 10, 5: 10, 6: 1}),
    "ByteCounter": ByteCounter({b"one": 1, b"": 2, b"a longer string of bytes": 3}),
    "TokenList": TOKENS,
    "PairIndex": PairIndex.build(TOKENS),
    "IntMap_float64": IntMap({1: 0.5}, float),
    "IntSet": IntSet([3, -5]),
    "MinHeap_fifo": MinHeap([(9, 7), (3, 7)], ties="fifo"),
    "IndexedMaxHeap": IndexedMaxHeap.from_arrays([3, 9, 2], [7, 7, 1], 10),
    "IndexedMinHeap": IndexedMinHeap.from_arrays([3, 9, 2], np.float32([1.5, 1.5, -1]), 10, "fifo"),
    "KBest": KBest.from_arrays([[0.5, 1.5]], [[7, 3]]),
    "Deque": Deque.from_array(np.int32([3, 9, 3])),
    "Heap": Heap.heapify(np.float32([0.5, -1, -1]), [3, 9, 9]),
    "DisjointSets": DisjointSets.from_labels([0, 1, 0]),
    "SortedMap": SortedMap({1.5: 2, -5.0: 3}),
}


def test_every_container_is_tested():
    classes = {name for name in structures.__all__ if isinstance(getattr(structures, name), type)}
    assert classes <= {type(container).__name__ for container in CONTAINERS.values()}


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", CONTAINERS)
def test_a_pickle_names_the_package_alone(name, protocol):
    container = CONTAINERS[name]
    written = pickle.dumps(container, protocol)
    assert b"structures" in written
    assert b"structures." not in written
    strings = [str(argument) for _, argument, _ in pickletools.genops(written)]
    assert not [text for text in strings if text.startswith("structures.")]
    assert pickle.loads(written) == container
