"""Indexed priority containers compiled with numba, for Python and for your own ``@njit`` functions."""

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
