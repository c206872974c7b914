"""The compiled half of :mod:`structures.multiset_heap`, whose docstring draws the arrays.

Kernels on plain arrays come first, then the type, then its methods: kernels that take a container.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import Any

import numpy as np
from numba import types
from numba.experimental import structref

from structures import status
from structures.counted import CountedType
from structures.int_map_kernels import int_map_type, new_int_map
from structures.jit import inner, kernel, quiet
from structures.memory import copy_prefix, new_words
from structures.priorities import (
    as_count,
    difference_leaves_range,
    from_order,
    sum_leaves_range,
    to_order,
)
from structures.simd import least_lanes, least_lanes_among, lowest_lane
from structures.sorting import sort
from structures.status import INT64_MAX
from structures.struct_type import fields_of, method, new_like

ARITY_BITS = 3
ARITY = 1 << ARITY_BITS
BLOCK = 3 * ARITY
KEY, HANDLE = ARITY, 2 * ARITY  # from the rank of an entry to its key and its handle


# ------------------------------------------------------------------------------ kernels on plain arrays
@inner
def place_of(slot):
    """Return where in ``blocks`` the rank of `slot` stands."""
    lane = slot + ARITY - 1
    return (lane >> ARITY_BITS) * BLOCK + (lane & (ARITY - 1))


@inner
def blocks_for(n_slots):
    """Return how many blocks have room for `n_slots`."""
    return (n_slots + 2 * ARITY - 2) // ARITY


@inner
def capacity_of(n_blocks):
    """Return how many slots there are in `n_blocks`."""
    return n_blocks * ARITY - ARITY + 1


@inner
def write_entry(blocks, slot_of, slot, rank, key, handle):
    """Put an entry into a slot."""
    place = place_of(slot)
    blocks[place] = rank
    blocks[place + KEY] = key
    blocks[place + HANDLE] = handle
    slot_of[handle] = slot


@inner
def sift_up(blocks, slot_of, slot, rank, key, handle):
    """Move the hole at `slot` up to where the entry belongs, and put it there."""
    while slot > 0:
        parent = (slot - 1) >> ARITY_BITS
        place = place_of(parent)
        above = blocks[place]
        if above < rank or (above == rank and blocks[place + KEY] < key):
            break
        write_entry(blocks, slot_of, slot, above, blocks[place + KEY], blocks[place + HANDLE])
        slot = parent
    write_entry(blocks, slot_of, slot, rank, key, handle)


@inner
def sift_down(blocks, slot_of, size, slot, rank, key, handle):
    """Move the hole at `slot` down to where the entry belongs, and put it there."""
    while ARITY * slot + 1 < size:
        first = ARITY * slot + 1
        row = (slot + 1) * BLOCK
        lanes = least_lanes(blocks, row)
        if first + ARITY > size:
            lanes &= (1 << (size - first)) - 1
        if lanes & (lanes - 1):
            lanes = least_lanes_among(blocks, row + KEY, lanes)
        lane = lowest_lane(lanes)
        below = blocks[row + lane]
        if rank < below or (rank == below and key < blocks[row + lane + KEY]):
            break
        write_entry(blocks, slot_of, slot, below, blocks[row + lane + KEY], blocks[row + lane + HANDLE])
        slot = first + lane
    write_entry(blocks, slot_of, slot, rank, key, handle)


@inner
def change_rank(blocks, slot_of, size, slot, rank):
    """Give the entry at `slot` another rank and move it to where it then belongs."""
    place = place_of(slot)
    old, key, handle = blocks[place], blocks[place + KEY], blocks[place + HANDLE]
    if rank < old:
        sift_up(blocks, slot_of, slot, rank, key, handle)
    else:
        sift_down(blocks, slot_of, size, slot, rank, key, handle)


@inner
def cut_entry(blocks, slot_of, size, slot):
    """Take the entry at `slot` out; its handle becomes the free handle of the last slot."""
    handle = blocks[place_of(slot) + HANDLE]
    last = place_of(size - 1)
    rank, key, last_handle = blocks[last], blocks[last + KEY], blocks[last + HANDLE]
    write_entry(blocks, slot_of, size - 1, INT64_MAX, 0, handle)
    if slot != size - 1:
        # The last entry fills the hole: from below it belongs down, from another branch perhaps up.
        parent = place_of((slot - 1) >> ARITY_BITS)
        if slot > 0 and (rank < blocks[parent] or (rank == blocks[parent] and key < blocks[parent + KEY])):
            sift_up(blocks, slot_of, slot, rank, key, last_handle)
        else:
            sift_down(blocks, slot_of, size - 1, slot, rank, key, last_handle)


@inner
def heapify(blocks, slot_of, size):
    """Establish the heap order over the first `size` slots (Floyd)."""
    for slot in range((size - 2) // ARITY, -1, -1):
        place = place_of(slot)
        sift_down(blocks, slot_of, size, slot, blocks[place], blocks[place + KEY], blocks[place + HANDLE])


@kernel
def tied_keys(blocks, size):
    """Return the keys whose rank is that of the root, ``(n,) int64``, ascending."""
    tied = np.empty(8, np.int64)  # slots, in the order of the visit
    n = min(size, 1)
    tied[0] = 0
    visited = 0
    while visited < n:
        first = ARITY * tied[visited] + 1
        visited += 1
        for slot in range(first, min(first + ARITY, size)):
            if blocks[place_of(slot)] == blocks[place_of(0)]:
                if n == tied.size:
                    grown = np.empty(2 * n, np.int64)
                    copy_prefix(tied, n, grown)
                    tied = grown
                tied[n] = slot
                n += 1
    keys = np.empty(n, np.int64)
    for i in range(n):
        keys[i] = blocks[place_of(tied[i]) + KEY]
    sort(keys)
    return keys


@inner
def fill_free(blocks, slot_of, start):
    """Make every slot from `start` on a free one that holds the handle of its own number."""
    for slot in range(start, slot_of.size):
        write_entry(blocks, slot_of, slot, INT64_MAX, 0, slot)


@kernel
def first_slots(blocks, size, n):
    """Return the slots of the first `n` of `size` entries in order, ``(n,) int64``."""
    slots = np.empty(n, np.int64)
    # The next one is the root or a child of one before it; a second heap holds those that may be.
    n_blocks = blocks_for(min((ARITY - 1) * n + 1, size))
    front = np.empty(n_blocks * BLOCK, np.int64)
    slot_of = np.empty(capacity_of(n_blocks), np.int64)
    fill_free(front, slot_of, 0)
    origin = np.zeros(slot_of.size, np.int64)  # origin[handle in front]: slot in blocks
    n_front = 1
    write_entry(front, slot_of, 0, blocks[place_of(0)], blocks[place_of(0) + KEY], 0)
    for i in range(n):
        slots[i] = origin[front[place_of(0) + HANDLE]]
        cut_entry(front, slot_of, n_front, 0)
        n_front -= 1
        first = ARITY * slots[i] + 1
        for slot in range(first, min(first + ARITY, size)):
            place = place_of(slot)
            handle = front[place_of(n_front) + HANDLE]
            origin[handle] = slot
            sift_up(front, slot_of, n_front, blocks[place], blocks[place + KEY], handle)
            n_front += 1
    return slots


# ------------------------------------------------------------------------------------------------ type
class HeapType(CountedType):
    """numba type of the heaps: one concrete type per class and dtype of the counts."""

    @cached_property
    def dtype(self) -> np.dtype:
        """The dtype of the counts."""
        return np.dtype(np.float64 if isinstance(self.field_dict["zero"], types.Float) else np.int64)

    @property
    def float_parameters(self) -> Collection[str]:
        """The parameters that are counts, if those are float64."""
        return ("count", "n", "deltas", "default") if self.dtype == np.float64 else ()


@structref.register
class MaxHeapType(HeapType):
    """numba type of :class:`MaxHeap`."""


@structref.register
class MinHeapType(HeapType):
    """numba type of :class:`MinHeap`."""


def _fields(count_type: Any) -> list[tuple[str, Any]]:
    return fields_of(
        blocks=types.int64[::1],  # blocks[BLOCK * b + lane] is a rank; + KEY its key, + HANDLE its handle
        slot_of=types.int64[::1],  # slot_of[handle]
        handle_of=int_map_type,
        size=types.int64,
        complement=types.int64,  # -1 turns the order of counts around (MaxHeap), 0 keeps it
        zero=count_type,  # the count of a missing key; its type is that of the counts
    )


_TYPES = {
    (kind, dtype): kind(_fields(count_type))
    for kind in (MaxHeapType, MinHeapType)
    for dtype, count_type in (("int64", types.int64), ("float64", types.float64))
}


def heap_type(greatest_first: bool, dtype: str = "int64") -> HeapType:
    """Return the numba type of a heap, for signatures and struct fields.

    Parameters
    ----------
    greatest_first : bool
        The type of :class:`MaxHeap` if true, of :class:`MinHeap` if false.
    dtype : {"int64", "float64"}
        Type of the counts.

    Returns
    -------
    numba type

    Raises
    ------
    KeyError
        Another dtype.

    Examples
    --------
    >>> from structures import MaxHeap
    >>> heap_type(True) == MaxHeap()._numba_type_
    True
    """
    return _TYPES[MaxHeapType if greatest_first else MinHeapType, dtype]


@kernel
def new_heap(typ, zero, complement):
    """Return an empty heap of a type, with a zero of the type of its counts."""
    self = structref.new(typ)
    self.blocks = np.empty(BLOCK, np.int64)
    for i in range(BLOCK):
        self.blocks[i] = INT64_MAX
    self.slot_of = np.empty(1, np.int64)
    fill_free(self.blocks, self.slot_of, 0)
    self.handle_of = new_int_map()
    self.size = 0
    self.complement = complement
    self.zero = zero
    return self


@inner
def _grow(self, n_keys):
    n_blocks = blocks_for(n_keys)
    blocks = new_words(n_blocks * BLOCK)
    copy_prefix(self.blocks, self.blocks.size, blocks)
    for i in range(self.blocks.size, blocks.size):
        blocks[i] = INT64_MAX
    slot_of = new_words(capacity_of(n_blocks))
    copy_prefix(self.slot_of, self.slot_of.size, slot_of)
    fill_free(blocks, slot_of, self.slot_of.size)
    self.blocks = blocks
    self.slot_of = slot_of
    return True


@method(HeapType, "reserve")
@quiet
def _reserve(self, n_keys):
    if n_keys > self.slot_of.size and not _grow(self, n_keys):
        return status.NO_MEMORY
    # A quarter more than there will be keys: so many may leave before the rest are put in anew.
    return self.handle_of.reserve(n_keys + n_keys // 4 + 1)


@inner
def _slot(self, key):
    """Return the slot of a key, -1 where it is not in the heap."""
    handle = self.handle_of.get(key, -1)
    if handle < 0:
        return -1
    slot = self.slot_of[handle]
    return slot if slot < self.size and self.blocks[place_of(slot) + KEY] == key else -1


@inner
def _forget_gone_keys(self):
    self.handle_of.clear()
    for slot in range(self.size):
        place = place_of(slot)
        self.handle_of.set(self.blocks[place + KEY], self.blocks[place + HANDLE])


@inner
def _count_at(self, slot):
    return from_order(self.blocks[place_of(slot)] ^ self.complement, self.zero)


@inner
def _insert(self, key, rank):
    slot = self.size
    if slot == self.slot_of.size and not _grow(self, 2 * slot + 1):
        return status.NO_MEMORY
    if self.handle_of.is_full() and 5 * slot < 4 * self.handle_of.size:
        _forget_gone_keys(self)
    handle = self.blocks[place_of(slot) + HANDLE]
    if self.handle_of.set(key, handle) < 0:
        if slot == self.handle_of.size:
            return status.NO_MEMORY
        _forget_gone_keys(self)
        self.handle_of.set(key, handle)
    self.size = slot + 1
    sift_up(self.blocks, self.slot_of, slot, rank, key, handle)
    return status.OK


@method(HeapType, "set")
@quiet
def _set(self, key, count):
    if count != count:
        return status.NOT_A_NUMBER
    rank = to_order(as_count(count, self.zero)) ^ self.complement
    slot = _slot(self, key)
    if slot < 0:
        return _insert(self, key, rank)
    change_rank(self.blocks, self.slot_of, self.size, slot, rank)
    return status.OK


@inner
def _cut(self, slot):
    cut_entry(self.blocks, self.slot_of, self.size, slot)
    self.size -= 1
    return status.OK


@inner
def _become(self, key, slot, count, leaves_range):
    """Give `key`, which stands at `slot` (below 0: nowhere), the count that a sum has come to."""
    if leaves_range:
        return status.OVERFLOW if count == count else status.NOT_A_NUMBER
    if count < self.zero:
        return status.NEGATIVE
    if count == self.zero:
        return _cut(self, slot) if slot >= 0 else status.OK
    rank = to_order(count) ^ self.complement
    if slot < 0:
        return _insert(self, key, rank)
    change_rank(self.blocks, self.slot_of, self.size, slot, rank)
    return status.OK


@method(HeapType, "add")
@quiet
def _add(self, key, n=1):
    slot = _slot(self, key)
    count = _count_at(self, slot) if slot >= 0 else self.zero
    delta = as_count(n, self.zero)
    return _become(self, key, slot, count + delta, sum_leaves_range(count, delta))


@method(HeapType, "sub")
@quiet
def _sub(self, key, n=1):
    slot = _slot(self, key)
    count = _count_at(self, slot) if slot >= 0 else self.zero
    delta = as_count(n, self.zero)
    return _become(self, key, slot, count - delta, difference_leaves_range(count, delta))


@method(HeapType, "remove")
@quiet
def _remove(self, key):
    slot = _slot(self, key)
    return _cut(self, slot) if slot >= 0 else status.MISSING


@method(HeapType, "get")
@quiet
def _get(self, key, default=0):
    slot = _slot(self, key)
    return _count_at(self, slot) if slot >= 0 else as_count(default, self.zero)


@method(HeapType, "contains")
@quiet
def _contains(self, key):
    return _slot(self, key) >= 0


@method(HeapType, "prefetch")
@quiet
def _prefetch(self, key):
    self.handle_of.prefetch(key)


@method(HeapType, "peek")
@quiet
def _peek(self):
    if self.size == 0:
        return 0, self.zero
    return self.blocks[place_of(0) + KEY], _count_at(self, 0)


@method(HeapType, "pop")
@quiet
def _pop(self):
    top = _peek(self)
    if self.size > 0:
        _cut(self, 0)
    return top


@method(HeapType, "ties")
@kernel
def _ties(self):
    return tied_keys(self.blocks, self.size)


@method(MaxHeapType, "nlargest")
@method(MinHeapType, "nsmallest")
@kernel
def _first_many(self, k):
    slots = first_slots(self.blocks, self.size, min(max(k, 0), self.size))
    keys = np.empty(slots.size, np.int64)
    counts = np.full(slots.size, self.zero)
    for i in range(slots.size):
        keys[i] = self.blocks[place_of(slots[i]) + KEY]
        counts[i] = _count_at(self, slots[i])
    return keys, counts


@method(HeapType, "copy")
@kernel
def _copy(self):
    other = new_like(self)
    other.blocks = self.blocks.copy()
    other.slot_of = self.slot_of.copy()
    other.handle_of = self.handle_of.copy()
    other.size = self.size
    other.complement = self.complement
    other.zero = self.zero
    return other


@method(HeapType, "clear")
@quiet
def _clear(self):
    self.handle_of.clear()
    fill_free(self.blocks, self.slot_of, 0)
    self.size = 0
    return status.OK


@quiet
def fill(self, keys, counts):
    """Fill an empty heap. Returns (status, index of the item that failed)."""
    n = keys.size
    if (n > self.slot_of.size and not _grow(self, n)) or self.handle_of.reserve(n) < 0:
        return status.NO_MEMORY, n
    for i in range(n):
        if counts[i] != counts[i]:
            return status.NOT_A_NUMBER, i
        if self.handle_of.contains(keys[i]):
            return status.DUPLICATE, i
        self.handle_of.set(keys[i], i)
        write_entry(self.blocks, self.slot_of, i, to_order(counts[i]) ^ self.complement, keys[i], i)
    self.size = n
    heapify(self.blocks, self.slot_of, n)
    return status.OK, n


@method(HeapType, "to_arrays")
@kernel
def _to_arrays(self):
    return self.copy().pop_many(self.size)


@kernel
def state(self):
    """Return the arrays and what else the invariants are about."""
    return self.blocks.copy(), self.slot_of.copy(), self.handle_of.copy()


@method(HeapType, "nbytes")
@quiet
def _nbytes(self):
    return self.blocks.nbytes + self.slot_of.nbytes + self.handle_of.nbytes()
