"""The numba types of indexed heaps, where a key is its own id, and the methods that only they have."""

from __future__ import annotations

from numba import types
from numba.experimental import structref

from structures import status
from structures.base.struct_type import method, new_like
from structures.compiling.jit import inner, kernel, quiet
from structures.primitives.memory import MOST_ITEMS
from structures.primitives.simd import larger, prefetch
from structures.priority_queues.tournament_kernels import (
    HeapType,
    bytes_of,
    copy_tournament,
    first_many,
    forget_all,
    heap_fields,
    heap_of,
    improve,
    make_leaves,
    n_leaves_of,
)
from structures.priority_queues.tournament_layout import padded


class IndexedHeapType(HeapType):
    """numba type of the indexed heaps: one concrete type per class and dtype of the priorities."""


@structref.register
class IndexedMaxHeapType(IndexedHeapType):
    """numba type of :class:`IndexedMaxHeap`."""

    complement = -1


@structref.register
class IndexedMinHeapType(IndexedHeapType):
    """numba type of :class:`IndexedMinHeap`."""


TYPES = {
    kind: {str(each): kind(heap_fields(each)) for each in (types.int64, types.float64, types.float32)}
    for kind in (IndexedMaxHeapType, IndexedMinHeapType)
}

method(IndexedMaxHeapType, "nlargest")(first_many)
method(IndexedMinHeapType, "nsmallest")(first_many)
method(IndexedHeapType, "improve")(improve)


def indexed_heap_type(greatest_first: bool, dtype: str = "int64") -> IndexedHeapType:
    """Return the numba type of an indexed heap, for signatures and struct fields.

    Parameters
    ----------
    greatest_first : bool
        The type of :class:`IndexedMaxHeap` if true, of :class:`IndexedMinHeap` if false.
    dtype : {"int64", "float64", "float32"}
        Type of the priorities.

    Returns
    -------
    numba type

    Raises
    ------
    KeyError
        Another dtype.

    Examples
    --------
    >>> from structures import IndexedMinHeap
    >>> indexed_heap_type(False, "float32") == IndexedMinHeap(5, dtype="float32")._numba_type_
    True
    """
    return TYPES[IndexedMaxHeapType if greatest_first else IndexedMinHeapType][dtype]


@method(IndexedHeapType, "_start")
@quiet
def _start(self, n):
    self.n = larger(n, 0)
    if n >= MOST_ITEMS or not make_leaves(self, padded(larger(n, 1)), self.by_age):
        self.n = 0
        make_leaves(self, padded(1), self.by_age)
    return status.OK


@kernel
def indexed_heap_of(typ, start, keys, priorities, n):
    """Return a heap made from arrays, or raise as the Python class does."""
    n_keys = 0
    if n is None:
        for i in range(keys.size):
            n_keys = larger(n_keys, keys[i] + 1)
    else:
        n_keys = larger(n, 0)
    return heap_of(typ, n_keys, start, keys, priorities)


@method(IndexedHeapType, "_id_of")
@method(IndexedHeapType, "_id_for")
@inner
def _id_of(self, key):
    # If the key is not in range(n), one of the two is negative.
    return key if (key | (self.n - 1 - key)) >= 0 else status.OUT_OF_RANGE


@method(IndexedHeapType, "_key_at")
@inner
def _key_at(self, at):
    n_leaves = n_leaves_of(self)
    return at if at < n_leaves else self.winners[at - n_leaves]


@method(IndexedHeapType, "prefetch")
@quiet
def _prefetch(self, key):
    prefetch(self.ranks, key)


@method(IndexedHeapType, "_before_setdefault")
@quiet
def _before_setdefault(self, key, default):
    if _id_of(self, key) < 0:
        return status.OUT_OF_RANGE
    return status.NOT_A_NUMBER if default != default and not self.contains(key) else status.OK


@method(IndexedHeapType, "_before_replace")
@quiet
def _before_replace(self, key, priority):
    if _id_of(self, key) < 0:
        return status.OUT_OF_RANGE
    if priority != priority:
        return status.NOT_A_NUMBER
    return status.OK if self.size > 0 else status.EMPTY


@method(IndexedHeapType, "replace")
@quiet
def _replace(self, key, priority):
    if _id_of(self, key) < 0 or priority != priority:
        return self.peek()
    top = self.pop()
    self.set(key, priority)
    return top


@method(IndexedHeapType, "reserve")
@quiet
def _reserve(self, n_keys):
    return status.OK if n_keys <= self.n else status.NO_MEMORY


@method(IndexedHeapType, "copy")
@kernel
def _copy(self):
    other = new_like(self)
    copy_tournament(self, other)
    return other


@method(IndexedHeapType, "clear")
@quiet
def _clear(self):
    if self.size > self.n >> 5:
        forget_all(self)
    while self.size > 0:
        self.pop()
    return status.OK


@method(IndexedHeapType, "n_keys")
@quiet
def _n_keys(self):
    return self.n


@method(IndexedHeapType, "nbytes")
@quiet
def _nbytes(self):
    return bytes_of(self)
