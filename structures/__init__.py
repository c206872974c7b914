"""Heaps, sorted maps and hash tables compiled with numba, for Python and for your own ``@njit`` functions.

A container is loaded at its first use, so that a process loads only those that it uses.
"""

import importlib
from typing import TYPE_CHECKING, Any

# numba must know these before it reads a function: operators, loops of prange, and pack_pair.
from structures.base import container, locks  # noqa: F401
from structures.primitives import hashing  # noqa: F401

if TYPE_CHECKING:
    from structures.compiling.jit import kernel
    from structures.deques.deque import Deque
    from structures.disjoint_sets.disjoint_sets import DisjointSets
    from structures.first_use import warmup
    from structures.hash_tables.byte_counter import ByteCounter
    from structures.hash_tables.int_map import IntMap
    from structures.hash_tables.int_set import IntSet
    from structures.neighbors.k_best import KBest
    from structures.primitives.hashing import pack_pair, unpack_pair
    from structures.priority_queues.count_buckets import CountBuckets
    from structures.priority_queues.heap import Heap
    from structures.priority_queues.indexed_heap import IndexedMaxHeap, IndexedMinHeap
    from structures.priority_queues.multiset_heap import MaxHeap, MinHeap
    from structures.sorted_maps.sorted_map import SortedMap
    from structures.tokens.pair_index import PairIndex
    from structures.tokens.token_list import TokenList

__all__ = [
    "ByteCounter",
    "CountBuckets",
    "Deque",
    "DisjointSets",
    "Heap",
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
    "warmup",
]

_MODULE_OF = {
    "ByteCounter": "structures.hash_tables.byte_counter",
    "CountBuckets": "structures.priority_queues.count_buckets",
    "Deque": "structures.deques.deque",
    "DisjointSets": "structures.disjoint_sets.disjoint_sets",
    "Heap": "structures.priority_queues.heap",
    "IndexedMaxHeap": "structures.priority_queues.indexed_heap",
    "IndexedMinHeap": "structures.priority_queues.indexed_heap",
    "IntMap": "structures.hash_tables.int_map",
    "IntSet": "structures.hash_tables.int_set",
    "KBest": "structures.neighbors.k_best",
    "MaxHeap": "structures.priority_queues.multiset_heap",
    "MinHeap": "structures.priority_queues.multiset_heap",
    "PairIndex": "structures.tokens.pair_index",
    "SortedMap": "structures.sorted_maps.sorted_map",
    "TokenList": "structures.tokens.token_list",
    "kernel": "structures.compiling.jit",
    "pack_pair": "structures.primitives.hashing",
    "unpack_pair": "structures.primitives.hashing",
    "warmup": "structures.first_use",
}


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(module), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})
