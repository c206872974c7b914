"""The numba types of :mod:`structures.multiset_heap` and their methods: kernels that take a container."""

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
from structures.multiset_heap_blocks import (
    ARITY,
    BLOCK,
    KEY,
    PLACE,
    blocks_for,
    capacity_of,
    change_rank,
    cut_entry,
    first_slots,
    heapify,
    open_slot,
    place_of,
    sift_up,
    tied_keys,
    write_entry,
)
from structures.priorities import (
    as_count,
    difference_leaves_range,
    from_order,
    refusal,
    sum_leaves_range,
    to_order,
)
from structures.simd import larger, pointer_to, rarely, smaller
from structures.struct_type import fields_of, method, new, new_like


# ------------------------------------------------------------------------------------------------ type
class HeapType(CountedType):
    """numba type of the heaps: one concrete type per class and dtype of the counts."""

    @cached_property
    def dtype(self) -> np.dtype:
        """The dtype of the counts."""
        return np.dtype(np.float64 if isinstance(self.field_dict["zero"], types.Float) else np.int64)

    @property
    def start(self) -> tuple[Any, int]:
        """The count of a missing key, and the complement, of a new heap."""
        return self.dtype.type(0), -isinstance(self, MaxHeapType)

    @property
    def label(self) -> str:
        """The name in messages."""
        return f"{super().label}({self.dtype})"

    @property
    def float_parameters(self) -> Collection[str]:
        """The parameters that are counts, if those are float64."""
        return self.number_parameters if self.dtype == np.float64 else ()


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
        complement=types.int64,  # -1 reverses the order of counts (MaxHeap), 0 keeps it
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
    self = new(typ)
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
    """Make a new map with room for `n_keys` keys, without the keys that have left."""
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
    # A quarter more than the keys: so many may leave before the map is made again.
    n_keys += n_keys // 4 + 1
    if bucket_bits(n_keys) > 64 - self.map.shift and not _renew_map(self, n_keys):
        return status.NO_MEMORY
    return status.OK


@inner
def _place(self, key):
    """Return the place of a key in the map, or of the empty slot where it belongs."""
    return probe(self.map.slots, self.map.shift, key)


@inner
def _slot_at(self, place):
    """Return the slot of the key at a place of the map, or -1 if it is not in the heap."""
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
    """Give `key`, which is at `slot` (below 0: not in the heap), the count that a sum is."""
    refused = refusal(count, leaves_range, self.zero)
    if refused < 0:
        return refused
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
    """Return what the invariants are about, for ``_check()``."""
    return self.blocks.copy(), self.map.copy()


@method(HeapType, "nbytes")
@quiet
def _nbytes(self):
    return self.blocks.nbytes + self.map.nbytes()
