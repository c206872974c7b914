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
from structures.int_map_kernels import (
    EMPTY,
    VALUE,
    bucket_bits,
    empty_slots,
    exceeds,
    int_map_type,
    new_int_map,
    occupy,
    probe,
)
from structures.jit import inner, kernel, quiet
from structures.keyed import AHEAD
from structures.memory import copy_prefix, new_words
from structures.priorities import (
    as_count,
    difference_leaves_range,
    from_order,
    sum_leaves_range,
    to_order,
)
from structures.simd import larger, least_lanes, least_lanes_among, lowest_lane, pointer_to, rarely, smaller
from structures.sorting import sort
from structures.status import INT64_MAX
from structures.struct_type import fields_of, method, new_like

ARITY_BITS = 3
ARITY = 1 << ARITY_BITS
BLOCK = 3 * ARITY
KEY, PLACE = ARITY, 2 * ARITY  # from the rank of an entry to its key and to its place in the map


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
def write_entry(blocks, map_slots, slot, rank, key, place):
    """Put an entry into a slot, and tell the map."""
    entry = pointer_to(blocks, place_of(slot))
    entry[0] = rank
    entry[KEY] = key
    entry[PLACE] = place
    pointer_to(map_slots, place)[VALUE] = slot + 1


@inner
def sift_up(blocks, map_slots, slot, rank, key, place):
    """Move the hole at `slot` up to where the entry belongs, and put it there."""
    while slot > 0:
        parent = (slot - 1) >> ARITY_BITS
        above = pointer_to(blocks, place_of(parent))
        if above[0] < rank or (above[0] == rank and above[KEY] < key):
            break
        write_entry(blocks, map_slots, slot, above[0], above[KEY], above[PLACE])
        slot = parent
    write_entry(blocks, map_slots, slot, rank, key, place)


@inner
def sift_down(blocks, map_slots, size, slot, rank, key, place):
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
        below = pointer_to(blocks, row + lane)
        if rank < below[0] or (rank == below[0] and key < below[KEY]):
            break
        write_entry(blocks, map_slots, slot, below[0], below[KEY], below[PLACE])
        slot = first + lane
    write_entry(blocks, map_slots, slot, rank, key, place)


@inner
def change_rank(blocks, map_slots, size, slot, rank):
    """Give the entry at `slot` another rank and move it to where it then belongs."""
    entry = pointer_to(blocks, place_of(slot))
    if rank < entry[0]:
        sift_up(blocks, map_slots, slot, rank, entry[KEY], entry[PLACE])
    else:
        sift_down(blocks, map_slots, size, slot, rank, entry[KEY], entry[PLACE])


@inner
def cut_entry(blocks, map_slots, size, slot):
    """Take the entry at `slot` out; the last one fills the hole."""
    pointer_to(map_slots, blocks[place_of(slot) + PLACE])[VALUE] = 0
    last = pointer_to(blocks, place_of(size - 1))
    rank, key, place = last[0], last[KEY], last[PLACE]
    last[0] = INT64_MAX
    if slot != size - 1:
        # From below it belongs down, from another branch perhaps up.
        above = pointer_to(blocks, place_of((slot - 1) >> ARITY_BITS))
        if slot > 0 and (rank < above[0] or (rank == above[0] and key < above[KEY])):
            sift_up(blocks, map_slots, slot, rank, key, place)
        else:
            sift_down(blocks, map_slots, size - 1, slot, rank, key, place)


@inner
def open_slot(blocks, slot):
    """Make the row of a slot past the end fit to be read, if the slot is its first."""
    lane = slot + ARITY - 1
    if lane & (ARITY - 1) == 0:
        for rank in range(BLOCK * (lane >> ARITY_BITS), BLOCK * (lane >> ARITY_BITS) + ARITY):
            blocks[rank] = INT64_MAX


@inner
def heapify(blocks, map_slots, size):
    """Establish the heap order over the first `size` slots (Floyd)."""
    for slot in range((size - 2) // ARITY, -1, -1):
        entry = pointer_to(blocks, place_of(slot))
        sift_down(blocks, map_slots, size, slot, entry[0], entry[KEY], entry[PLACE])


@kernel
def tied_keys(blocks, size):
    """Return the keys whose rank is that of the root, ``(n,) int64``, ascending."""
    tied = new_words(8)  # slots, in the order of the visit
    n = smaller(size, 1)
    tied[0] = 0
    visited = 0
    while visited < n:
        first = ARITY * tied[visited] + 1
        visited += 1
        for slot in range(first, smaller(first + ARITY, size)):
            if blocks[place_of(slot)] == blocks[place_of(0)]:
                if n == tied.size:
                    grown = new_words(2 * n)
                    copy_prefix(tied, n, grown)
                    tied = grown
                tied[n] = slot
                n += 1
    keys = new_words(n)
    for i in range(n):
        keys[i] = blocks[place_of(tied[i]) + KEY]
    sort(keys)
    return keys


@kernel
def first_slots(blocks, size, n):
    """Return the slots of the first `n` of `size` entries in order, ``(n,) int64``."""
    slots = new_words(n)
    # The next one is the root or a child of one before it; a second heap holds those that may be.
    front = new_words(blocks_for(smaller((ARITY - 1) * n + 1, size)) * BLOCK)
    open_slot(front, 0)
    n_known = 1
    known = np.zeros(smaller(ARITY * n + 1, size) + VALUE + 1, np.int64)  # known[place in front]: its slot
    moved = known.copy()  # in front nobody asks where an entry is
    n_front = 1
    write_entry(front, moved, 0, blocks[place_of(0)], blocks[place_of(0) + KEY], 0)
    for i in range(n):
        slots[i] = known[front[place_of(0) + PLACE]]
        cut_entry(front, moved, n_front, 0)
        n_front -= 1
        first = ARITY * slots[i] + 1
        for slot in range(first, smaller(first + ARITY, size)):
            known[n_known] = slot
            open_slot(front, n_front)
            entry = pointer_to(blocks, place_of(slot))
            sift_up(front, moved, n_front, entry[0], entry[KEY], n_known)
            n_front += 1
            n_known += 1
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
        blocks=types.int64[::1],  # blocks[BLOCK * b + lane] is a rank; + KEY its key, + PLACE its place
        map=int_map_type,  # key -> slot + 1, 0 for a key that has left
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
    self.blocks = new_words(BLOCK)
    open_slot(self.blocks, -(ARITY - 1))
    self.map = new_int_map()
    self.size = 0
    self.complement = complement
    self.zero = zero
    return self


@inner
def _grow(self, n_keys):
    blocks = new_words(blocks_for(n_keys) * BLOCK)
    copy_prefix(self.blocks, self.blocks.size, blocks)
    self.blocks = blocks
    return True


@inner
def _enter_all(self):
    """Enter the keys of all slots into the map, which is empty."""
    for slot in range(self.size):
        self.map.prefetch(self.blocks[place_of(smaller(slot + AHEAD, self.size - 1)) + KEY])
        entry = pointer_to(self.blocks, place_of(slot))
        place = probe(self.map.slots, self.map.shift, entry[KEY])
        occupy(self.map.slots, place, entry[KEY], slot + 1)
        entry[PLACE] = place
    self.map.size = self.size


@inner
def _renew_map(self, n_keys):
    """Make the map anew, with room for so many keys, without those that have left."""
    map_slots, shift = empty_slots(bucket_bits(n_keys)), 64 - bucket_bits(n_keys)
    self.map.slots = map_slots
    self.map.shift = shift
    _enter_all(self)
    return True


@method(HeapType, "reserve")
@quiet
def _reserve(self, n_keys):
    if n_keys > capacity_of(self.blocks.size // BLOCK) and not _grow(self, n_keys):
        return status.NO_MEMORY
    # A quarter more than there will be keys: so many may leave before the rest are put in anew.
    n_keys += n_keys // 4 + 1
    if bucket_bits(n_keys) > 64 - self.map.shift and not _renew_map(self, n_keys):
        return status.NO_MEMORY
    return status.OK


@inner
def _place(self, key):
    """Return the place of a key in the map, or the empty one where it belongs."""
    return probe(self.map.slots, self.map.shift, key)


@inner
def _slot_at(self, place):
    """Return the slot of the key at a place of the map, -1 where it is not in the heap."""
    return pointer_to(self.map.slots, place)[VALUE] - 1


@inner
def _slot(self, key):
    return _slot_at(self, _place(self, key))


@inner
def _count_at(self, slot):
    return from_order(pointer_to(self.blocks, place_of(slot))[0] ^ self.complement, self.zero)


@quiet
def _make_room(self, key):
    """Make room for one more key; return its place in the map, or a status below 0."""
    if self.size == capacity_of(self.blocks.size // BLOCK) and not _grow(self, 2 * self.size + 1):
        return status.NO_MEMORY
    if self.map.is_full() and pointer_to(self.map.slots, _place(self, key))[0] == EMPTY:
        many_have_left = 5 * self.size < 4 * self.map.size
        if many_have_left or not _renew_map(self, self.map.size + 1):
            if self.size == self.map.size:
                return status.NO_MEMORY
            self.map.clear()
            _enter_all(self)
    return _place(self, key)


@inner
def _insert(self, key, place, rank):
    slot = self.size
    map_size = self.map.size + (pointer_to(self.map.slots, place)[0] == EMPTY)
    if rarely((slot == capacity_of(self.blocks.size // BLOCK)) | exceeds(self.map, map_size)):
        place = _make_room(self, key)
        if place < 0:
            return status.NO_MEMORY
        map_size = self.map.size + (pointer_to(self.map.slots, place)[0] == EMPTY)
    self.map.size = map_size
    occupy(self.map.slots, place, key, slot + 1)
    open_slot(self.blocks, slot)
    self.size = slot + 1
    sift_up(self.blocks, self.map.slots, slot, rank, key, place)
    return status.OK


@method(HeapType, "set")
@quiet
def _set(self, key, count):
    if count != count:
        return status.NOT_A_NUMBER
    rank = to_order(as_count(count, self.zero)) ^ self.complement
    place = _place(self, key)
    slot = _slot_at(self, place)
    if slot < 0:
        return _insert(self, key, place, rank)
    change_rank(self.blocks, self.map.slots, self.size, slot, rank)
    return status.OK


@inner
def _cut(self, slot):
    cut_entry(self.blocks, self.map.slots, self.size, slot)
    self.size -= 1
    return status.OK


@inner
def _become(self, key, place, slot, count, leaves_range):
    """Give `key`, which is at `slot` (below 0: nowhere), the count that a sum has come to."""
    if leaves_range:
        return status.OVERFLOW if count == count else status.NOT_A_NUMBER
    if count < self.zero:
        return status.NEGATIVE
    if count == self.zero:
        return _cut(self, slot) if slot >= 0 else status.OK
    rank = to_order(count) ^ self.complement
    if slot < 0:
        return _insert(self, key, place, rank)
    change_rank(self.blocks, self.map.slots, self.size, slot, rank)
    return status.OK


@method(HeapType, "add")
@quiet
def _add(self, key, n=1):
    place = _place(self, key)
    slot = _slot_at(self, place)
    count = _count_at(self, slot) if slot >= 0 else self.zero
    delta = as_count(n, self.zero)
    return _become(self, key, place, slot, count + delta, sum_leaves_range(count, delta))


@method(HeapType, "sub")
@quiet
def _sub(self, key, n=1):
    place = _place(self, key)
    slot = _slot_at(self, place)
    count = _count_at(self, slot) if slot >= 0 else self.zero
    delta = as_count(n, self.zero)
    return _become(self, key, place, slot, count - delta, difference_leaves_range(count, delta))


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
    self.map.prefetch(key)


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
    slots = first_slots(self.blocks, self.size, smaller(larger(k, 0), self.size))
    keys = new_words(slots.size)
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
    other.map = self.map.copy()
    other.size = self.size
    other.complement = self.complement
    other.zero = self.zero
    return other


@method(HeapType, "clear")
@quiet
def _clear(self):
    self.map.clear()
    self.size = 0
    return status.OK


@quiet
def fill(self, keys, counts):
    """Fill an empty heap. Returns (status, index of the item that failed)."""
    n = keys.size
    if n > capacity_of(self.blocks.size // BLOCK) and not _grow(self, n):
        return status.NO_MEMORY, n
    if self.map.reserve(n) < 0:
        return status.NO_MEMORY, n
    for i in range(n):
        self.map.prefetch(keys[smaller(i + AHEAD, n - 1)])
        if counts[i] != counts[i]:
            return status.NOT_A_NUMBER, i
        place = _place(self, keys[i])
        if pointer_to(self.map.slots, place)[0] != EMPTY:
            return status.DUPLICATE, i
        occupy(self.map.slots, place, keys[i], i + 1)
        open_slot(self.blocks, i)
        write_entry(self.blocks, self.map.slots, i, to_order(counts[i]) ^ self.complement, keys[i], place)
    self.map.size = n
    self.size = n
    heapify(self.blocks, self.map.slots, n)
    return status.OK, n


@method(HeapType, "to_arrays")
@kernel
def _to_arrays(self):
    return self.copy().pop_many(self.size)


@quiet
def place_in(slot_of, key):
    """Return the place of a key in a map."""
    return probe(slot_of.slots, slot_of.shift, key)


@kernel
def state(self):
    """Return the arrays and what else the invariants are about."""
    return self.blocks.copy(), self.map.copy()


@method(HeapType, "nbytes")
@quiet
def _nbytes(self):
    return self.blocks.nbytes + self.map.nbytes()
