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


def tokens():
    return TokenList([1, 2, 1, 2, 3], [0, 2, 5])


MAKE = {
    "IntMap": lambda: IntMap({1: 2, -5: 2**40, 0: -1}),
    "MaxHeap": lambda: MaxHeap({3: 7, 9: 7, -2: 1}),
    "MinHeap": lambda: MinHeap({3: 7, 9: 7, -2: 1}),
    "MinHeap_float64": lambda: MinHeap({3: 1.5, 9: -2.5}, np.float64),
    "CountBuckets": lambda: CountBuckets({4: 10, 5: 10, 6: 1}),
    "ByteCounter": lambda: ByteCounter({b"one": 1, b"": 2, b"a longer string of bytes": 3}),
    "TokenList": tokens,
    "PairIndex": lambda: PairIndex.build(tokens()),
    "IntMap_float64": lambda: IntMap({1: 0.5}, float),
    "IntSet": lambda: IntSet([3, -5]),
    "MinHeap_fifo": lambda: MinHeap([(9, 7), (3, 7)], ties="fifo"),
    "IndexedMaxHeap": lambda: IndexedMaxHeap.from_arrays([3, 9, 2], [7, 7, 1], 10),
    "IndexedMinHeap": lambda: IndexedMinHeap.from_arrays([3, 9, 2], np.float32([1.5, 1.5, -1]), 10, "fifo"),
    "KBest": lambda: KBest.from_arrays([[0.5, 1.5]], [[7, 3]]),
    "Deque": lambda: Deque.from_array(np.int32([3, 9, 3])),
    "Heap": lambda: Heap.heapify(np.float32([0.5, -1, -1]), [3, 9, 9]),
    "DisjointSets": lambda: DisjointSets.from_labels([0, 1, 0]),
    "SortedMap": lambda: SortedMap({1.5: 2, -5.0: 3}),
}


def test_every_container_is_tested():
    classes = {name for name in structures.__all__ if isinstance(getattr(structures, name), type)}
    assert classes <= {type(make()).__name__ for make in MAKE.values()}


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", MAKE)
def test_a_pickle_names_the_package_alone(name, protocol):
    container = MAKE[name]()
    written = pickle.dumps(container, protocol)
    assert b"structures" in written
    assert b"structures." not in written
    strings = [str(argument) for _, argument, _ in pickletools.genops(written)]
    assert not [text for text in strings if text.startswith("structures.")]
    assert pickle.loads(written) == container
