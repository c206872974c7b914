"""Containers in plain Python, for kernels that run without the compiler."""

import sys
from functools import partial

import pytest
from numba import config
from numba.core import extending
from numba.experimental import structref

from structures import (
    CountBuckets,
    IndexedMaxHeap,
    IndexedMinHeap,
    IntMap,
    MaxHeap,
    MinHeap,
    PairIndex,
    TokenList,
)
from structures.count_buckets_kernels import CountBucketsType
from structures.indexed_heap_kernels import IndexedMaxHeapType, IndexedMinHeapType
from structures.int_map_kernels import IntMapType
from structures.multiset_heap_kernels import MaxHeapType, MinHeapType
from structures.pair_index_kernels import PairIndexType
from structures.struct_type import _find_method
from structures.token_list_kernels import TokenListType

FACADES = {
    CountBucketsType: CountBuckets,
    IndexedMaxHeapType: IndexedMaxHeap,
    IndexedMinHeapType: IndexedMinHeap,
    IntMapType: IntMap,
    MaxHeapType: MaxHeap,
    MinHeapType: MinHeap,
    PairIndexType: PairIndex,
    TokenListType: TokenList,
}

# Without the compiler these tests are started by one of the others.
collect_ignore_glob = [] if config.DISABLE_JIT else ["*.py"]


class Number(int):
    """A number that may be called to get it."""

    def __call__(self):
        return int(self)


class Plain:
    """A container as kernels see it: its fields, and the methods of its type."""

    def __init__(self, struct_type):
        self.struct_type = self._numba_type_ = struct_type

    def __getattr__(self, name):
        method = _find_method(type(self.struct_type), name)
        if method is None:
            raise AttributeError(name)
        # What kernels call may be a property for Python.
        is_property = isinstance(getattr(FACADES[type(self.struct_type)], name, None), property)
        return Number(method(self)) if is_property else partial(method, self)

    def __len__(self):
        return self.size if "size" in self.struct_type.field_dict else self.len()

    def __contains__(self, key):
        return self.contains(key)

    def __getitem__(self, key):
        return self.get(key)

    def __setitem__(self, key, value):
        self.set(key, value)

    @property
    def _kernels(self):
        return FACADES[type(self.struct_type)]._kernels

    def items(self):
        return zip(*(array.tolist() for array in self.to_arrays()), strict=True)

    def _check(self):
        FACADES[type(self.struct_type)]._check(self)


def new(intrinsic, struct_type):
    """Do what the intrinsic does that allocates a container."""
    assert intrinsic is structref.new
    return Plain(struct_type)


@pytest.fixture(autouse=True)
def plain_containers(monkeypatch):
    monkeypatch.setattr(extending._Intrinsic, "__call__", new)
    for name, module in list(sys.modules.items()):
        if name.startswith("structures.") and hasattr(module, "new_like"):
            monkeypatch.setattr(module, "new_like", lambda container: Plain(container.struct_type))
