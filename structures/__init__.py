"""Indexed priority containers compiled with numba, for Python and for your own ``@njit`` functions."""

from structures.byte_counter import ByteCounter
from structures.count_buckets import CountBuckets
from structures.hashing import pack_pair, unpack_pair
from structures.int_map import IntMap
from structures.int_set import IntSet
from structures.jit import kernel
from structures.multiset_heap import MaxHeap, MinHeap
from structures.pair_index import PairIndex
from structures.token_list import TokenList

__all__ = [
    "ByteCounter",
    "CountBuckets",
    "IntMap",
    "IntSet",
    "MaxHeap",
    "MinHeap",
    "PairIndex",
    "TokenList",
    "kernel",
    "pack_pair",
    "unpack_pair",
]
