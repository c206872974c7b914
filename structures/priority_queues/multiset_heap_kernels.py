"""The numba types of ``MaxHeap`` and ``MinHeap``: how keys get ids, and how ids are reassigned."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.experimental import structref

from structures import status
from structures.base.struct_type import method, new_like
from structures.compiling.jit import inner, kernel, late, quiet
from structures.hash_tables.int_map_kernels import find, int_map_type, make_room, new_map, put
from structures.hash_tables.int_map_table import BUCKET, EMPTY, VALUE, write
from structures.primitives.memory import MOST_ITEMS, copy_prefix, new_words
from structures.primitives.simd import larger, rarely, smaller
from structures.priority_queues.tournament_kernels import (
    HeapType,
    bytes_of,
    copy_tournament,
    first_many,
    forget_all,
    grow_tournament,
    heap_fields,
    is_in,
    make_leaves,
    n_leaves_of,
)
from structures.priority_queues.tournament_layout import build, fill_absent, padded

_FEW = 1 << 10  # leaves; a smaller heap grows to four to eight times its size


class MultisetHeapType(HeapType):
    """numba type of heaps of any keys: one concrete type per class, dtype and order of ties."""


@structref.register
class MaxHeapType(MultisetHeapType):
    """numba type of :class:`MaxHeap`."""

    complement = -1


@structref.register
class MinHeapType(MultisetHeapType):
    """numba type of :class:`MinHeap`."""


def _fields(priority_type: Any, ties: str) -> list[tuple[str, Any]]:
    return heap_fields(
        priority_type,
        map=int_map_type,  # key -> id
        key_of=types.int64[::1],  # key_of[id], where the age of an entry is not its key; else empty
        **({"fifo": types.int8} if ties == "fifo" else {}),  # only so that the types differ
    )


_TYPES = {
    (kind, str(priority_type), ties): kind(_fields(priority_type, ties))
    for kind in (MaxHeapType, MinHeapType)
    for priority_type in (types.int64, types.float64)
    for ties in ("key", "fifo")
}

method(MaxHeapType, "nlargest")(first_many)
method(MinHeapType, "nsmallest")(first_many)


def heap_type(greatest_first: bool, dtype: str = "int64", ties: str = "key") -> MultisetHeapType:
    """Return the numba type of a heap, for signatures and struct fields.

    Parameters
    ----------
    greatest_first : bool
        The type of :class:`MaxHeap` if true, of :class:`MinHeap` if false.
    dtype : {"int64", "float64"}
        Type of the priorities.
    ties : {"key", "fifo"}
        What is first of equal priorities: the smallest key, or what came first.

    Returns
    -------
    numba type

    Raises
    ------
    KeyError
        Another dtype or order of ties.

    Examples
    --------
    >>> from structures import MaxHeap
    >>> heap_type(True) == MaxHeap()._numba_type_
    True
    """
    return _TYPES[MaxHeapType if greatest_first else MinHeapType, dtype, ties]


# ------------------------------------------------------------------------------------------------- room
@inner
def _make_key_of(self, n):
    self.key_of = new_words(n)
    return True


@method(MultisetHeapType, "_start")
@kernel
def _start(self, n):
    self.map = new_map(int_map_type, 0)
    self.n = 0
    n_leaves = padded(larger(n, 1))
    has_room = make_leaves(self, n_leaves, True) and _make_key_of(self, n_leaves * self.by_age)
    if not has_room or self.map.reserve(n) < 0:
        make_leaves(self, padded(1), True)
        _make_key_of(self, padded(1) * self.by_age)
    return status.OK


@late
def _grow(self, n_leaves):
    key_of = new_words(n_leaves * self.by_age)
    copy_prefix(self.key_of, self.n * self.by_age, key_of)
    if not grow_tournament(self, n_leaves):
        return False
    self.key_of = key_of
    return True


@late
def _reassign_ids(self):
    """Give the keys in the heap the first ids, which frees the ids of keys that have left."""
    self.map.clear()
    n = 0
    for key_id in range(self.n):
        key = self._key_at(key_id)
        if is_in(self, key_id):
            if key_id == self.last:
                self.last = n
            self.ranks[n] = self.ranks[key_id]
            self.ages[n] = self.ages[key_id]
            if self.by_age:
                self.key_of[n] = key
            put(self.map, key, find(self.map, key), n)
            n += 1
    fill_absent(self.ranks, n)
    fill_absent(self.ages, n)
    build(self.ranks, self.winners, self.ages)
    self.n = n
    return True


@late
def _make_id_room(self):
    """Make sure that there is an id for one more key; return False if there is no memory."""
    if 4 * self.size > 3 * self.n:
        has_leaf = self.n < n_leaves_of(self) or _grow(self, larger(2 * self.n, smaller(8 * self.n, _FEW)))
        if has_leaf and (self.map.size < self.map.due or make_room(self.map)):
            return True
    return self.size < self.n and _reassign_ids(self)


@inner
def _new_id(self, key, entry):
    key_id = self.n
    if rarely((key_id == n_leaves_of(self)) | (self.map.size >= self.map.due)):
        if not _make_id_room(self):
            return status.NO_MEMORY
        entry = find(self.map, key)
        key_id = self.n
    write(entry, key, key_id, BUCKET)
    self.map.size += 1
    if self.by_age:
        self.key_of[key_id] = key
    self.n = key_id + 1
    return key_id


@method(MultisetHeapType, "reserve")
@quiet
def _reserve(self, n_keys):
    if n_keys >= MOST_ITEMS:
        return status.NO_MEMORY
    # A third more than the keys: this many may leave before ids are reassigned.
    n_leaves = larger(n_leaves_of(self), padded(n_keys + n_keys // 3 + 1))
    if self.map.reserve(n_leaves) < 0:
        return status.NO_MEMORY
    if n_leaves > n_leaves_of(self) and not _grow(self, n_leaves):
        return status.NO_MEMORY
    return status.OK


# ------------------------------------------------------------------------------------------ keys and ids
@method(MultisetHeapType, "_id_for")
@inner
def _id_for(self, key):
    entry = find(self.map, key)
    return entry[VALUE] if entry[0] != EMPTY else _new_id(self, key, entry)


@method(MultisetHeapType, "_id_of")
@inner
def _id_of(self, key):
    entry = find(self.map, key)
    return entry[VALUE] if entry[0] != EMPTY else status.MISSING


@method(MultisetHeapType, "_key_at")
@inner
def _key_at(self, at):
    if self.by_age:
        n_leaves = n_leaves_of(self)
        return self.key_of[at if at < n_leaves else self.winners[at - n_leaves]]
    return self.ages[at]


@method(MultisetHeapType, "prefetch")
@quiet
def _prefetch(self, key):
    self.map.prefetch(key)


# ------------------------------------------------------------------------------------------- the whole
@method(MultisetHeapType, "copy")
@kernel
def _copy(self):
    other = new_like(self)
    copy_tournament(self, other)
    other.map = self.map.copy()
    other.key_of = new_words(self.key_of.size)
    copy_prefix(self.key_of, self.n * self.by_age, other.key_of)
    return other


@method(MultisetHeapType, "clear")
@quiet
def _clear(self):
    self.map.clear()
    forget_all(self)
    self.n = 0
    self.next_age = 0
    return status.OK


@kernel
def state(self):
    """Return the keys and ids, for ``_check()``."""
    return self.key_of.copy(), self.map.copy()


@method(MultisetHeapType, "nbytes")
@quiet
def _nbytes(self):
    return bytes_of(self) + self.key_of.nbytes + self.map.nbytes
