"""Indexed priority containers compiled with numba, for Python and for your own ``@njit`` functions.

A container is loaded at its first use, so that a process loads only those that it uses.
"""

import importlib
from typing import TYPE_CHECKING, Any

from structures import operators  # noqa: F401  # numba must know them before it reads a function that has one
from structures.numba_private import ALL_THERE

if TYPE_CHECKING:
    from structures.byte_counter import ByteCounter
    from structures.count_buckets import CountBuckets
    from structures.hashing import pack_pair, unpack_pair
    from structures.indexed_heap import IndexedMaxHeap, IndexedMinHeap
    from structures.int_map import IntMap
    from structures.int_set import IntSet
    from structures.jit import kernel
    from structures.k_best import KBest
    from structures.multiset_heap import MaxHeap, MinHeap
    from structures.pair_index import PairIndex
    from structures.sorted_map import SortedMap
    from structures.token_list import TokenList

__all__ = [
    "ByteCounter",
    "CountBuckets",
    "IndexedMaxHeap",
    "IndexedMinHeap",
    "IntMap",
    "IntSet",
    "KBest",
    "MaxHeap",
    "MinHeap",
    "PairIndex",
    "SortedMap",
    "TokenList",
    "kernel",
    "pack_pair",
    "unpack_pair",
]

_MODULE_OF = {
    "ByteCounter": "structures.byte_counter",
    "CountBuckets": "structures.count_buckets",
    "IndexedMaxHeap": "structures.indexed_heap",
    "IndexedMinHeap": "structures.indexed_heap",
    "IntMap": "structures.int_map",
    "IntSet": "structures.int_set",
    "KBest": "structures.k_best",
    "MaxHeap": "structures.multiset_heap",
    "MinHeap": "structures.multiset_heap",
    "PairIndex": "structures.pair_index",
    "SortedMap": "structures.sorted_map",
    "TokenList": "structures.token_list",
    "kernel": "structures.jit",
    "pack_pair": "structures.hashing",
    "unpack_pair": "structures.hashing",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(_MODULE_OF[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})


if not ALL_THERE:  # the compiler cannot be told of what is imported in its midst
    for _name in __all__:
        __getattr__(_name)
