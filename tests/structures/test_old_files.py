"""Pickles that release 0.1.0 wrote are read; new ones name no module inside the package."""

import pickle
import pickletools
from pathlib import Path

import numpy as np
import pytest

import structures
from structures import (
    ByteCounter,
    CountBuckets,
    IndexedMaxHeap,
    IndexedMinHeap,
    IntMap,
    KBest,
    MaxHeap,
    MinHeap,
    PairIndex,
    SortedMap,
    TokenList,
)

FOLDER = Path(__file__).parents[1] / "data" / "written_by_0.1.0"
TOKENS = TokenList([1, 2, 1, 2, 3], [0, 2, 5])
CONTAINERS = {  # as in make.py.txt
    "IntMap": IntMap({1: 2, -5: 2**40, 0: -1}),
    "MaxHeap": MaxHeap({3: 7, 9: 7, -2: 1}),
    "MinHeap": MinHeap({3: 7, 9: 7, -2: 1}),
    "MinHeap_float64": MinHeap({3: 1.5, 9: -2.5}, np.float64),
    "CountBuckets": CountBuckets({4: 10, 5: 10, 6: 1}),
    "ByteCounter": ByteCounter({b"one": 1, b"": 2, b"a longer string of bytes": 3}),
    "TokenList": TOKENS,
    "PairIndex": PairIndex.build(TOKENS),
}
LATER = {
    "IndexedMaxHeap": IndexedMaxHeap.from_arrays([3, 9, 2], [7, 7, 1], 10),
    "IndexedMinHeap": IndexedMinHeap.from_arrays([3, 9, 2], np.float32([1.5, 1.5, -1]), 10, "fifo"),
    "KBest": KBest.from_arrays([[0.5, 1.5]], [[7, 3]]),
    "SortedMap": SortedMap({1.5: 2, -5.0: 3}),
}


@pytest.mark.parametrize("protocol", [2, 5])
@pytest.mark.parametrize("name", CONTAINERS)
def test_a_pickle_of_0_1_0_is_read(name, protocol):
    old = pickle.loads((FOLDER / f"{name}.protocol{protocol}.pickle").read_bytes())
    assert type(old) is type(CONTAINERS[name])
    assert old == CONTAINERS[name]
    assert getattr(old, "dtype", None) == getattr(CONTAINERS[name], "dtype", None)
    old._check()


def test_order_is_read_too():
    """``==`` leaves the order of a ByteCounter out."""
    old = pickle.loads((FOLDER / "ByteCounter.protocol5.pickle").read_bytes())
    assert list(old.items()) == list(CONTAINERS["ByteCounter"].items())


def test_every_container_is_tested():
    classes = {name for name in structures.__all__ if isinstance(getattr(structures, name), type)}
    assert classes <= {type(container).__name__ for container in (CONTAINERS | LATER).values()}


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", CONTAINERS | LATER)
def test_a_new_pickle_names_the_package_alone(name, protocol):
    container = (CONTAINERS | LATER)[name]
    written = pickle.dumps(container, protocol)
    assert b"structures" in written
    assert b"structures." not in written
    strings = [str(argument) for _, argument, _ in pickletools.genops(written)]
    assert not [text for text in strings if text.startswith("structures.")]
    assert pickle.loads(written) == container
