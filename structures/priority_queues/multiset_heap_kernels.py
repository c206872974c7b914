"""The methods of the numba types of ``MaxHeap`` and ``MinHeap``: kernels that take a heap."""

import numpy as np

from structures import status
from structures.base.mapping import AHEAD, check_sizes
from structures.base.struct_type import method, new_like
from structures.compiling.jit import inner, kernel, quiet
from structures.hash_tables.int_map_kernels import find
from structures.hash_tables.int_map_table import EMPTY, VALUE, write
from structures.primitives.memory import aligned_words, are_equal, new_words
from structures.primitives.priorities import (
    as_count,
    difference_leaves_range,
    from_order,
    refusal,
    sum_leaves_range,
    to_order,
)
from structures.primitives.simd import larger, rarely, smaller
from structures.primitives.sorting import BYTES, sort_entries
from structures.priority_queues.multiset_heap_blocks import (
    GONE,
    KEYS,
    TIE,
    capacity_of,
    change_entry,
    cut_entry,
    first_slots,
    heapify,
    open_slot,
    parts_of,
    rank_at,
    sift_up,
    tied_slots,
    write_entry,
)
from structures.priority_queues.multiset_heap_type import (
    HeapType,
    MaxHeapType,
    MinHeapType,
    heap_type,
    key_at,
    make_table_room,
    new_heap,
    new_id,
    plan,
    resize,
    tie_of,
)
from structures.priority_queues.ties import is_first_come

__all__ = ["MaxHeapType", "MinHeapType", "fill", "heap_of", "heap_type", "new_heap", "state"]


# ---------------------------------------------------------------------------------------- single keys
@inner
def _slot_in(self, entry):
    """Return the slot of the key whose entry in the map this is, or a number below 0."""
    found = np.int64(parts_of(self.table)[2][entry[VALUE]])
    return found if entry[0] != EMPTY else GONE


@inner
def _slot(self, key):
    return _slot_in(self, find(self.map, key))


@inner
def _count_at(self, slot):
    rank = self.table[rank_at(slot)]
    return from_order(rank ^ self.complement, self.zero)


@inner
def _insert(self, key, entry, rank):
    slot = self.size
    if rarely(slot >= self.due) and not make_table_room(self):
        return status.NO_MEMORY
    number = entry[VALUE]  # a key that has left may still have an id
    if entry[0] == EMPTY:
        number = new_id(self, key, entry)
        if rarely(number < 0):
            return number
    if is_first_come(self):
        self.table[KEYS * self.table[0] + number] = key
    open_slot(self.table, slot)
    self.size = slot + 1
    sift_up(parts_of(self.table), slot, rank, tie_of(self, key), number)
    return status.OK


@inner
def _change(self, key, slot, rank):
    """Give the entry at a slot another rank, if it is another; then its age is another too."""
    if rank != self.table[rank_at(slot)]:
        tie = tie_of(self, key)
        change_entry(parts_of(self.table), self.size, slot, rank, tie)


@method(HeapType, "set")
@quiet
def _set(self, key, count):
    if count != count:
        return status.NOT_A_NUMBER
    rank = to_order(as_count(count, self.zero)) ^ self.complement
    entry = find(self.map, key)
    slot = _slot_in(self, entry)
    if slot < 0:
        return _insert(self, key, entry, rank)
    _change(self, key, slot, rank)
    return status.OK


@inner
def _cut(self, slot):
    _, ids, slot_of = parts_of(self.table)
    slot_of[ids[slot]] = np.int32(GONE)
    cut_entry(parts_of(self.table), self.size, slot)
    self.size -= 1
    return status.OK


@inner
def _become(self, key, entry, slot, count, leaves_range):
    """Give `key`, which is at `slot` (below 0: not in the heap), the count that a sum is."""
    refused = refusal(count, leaves_range, self.zero)
    if refused < 0:
        return refused
    if count == self.zero:
        return _cut(self, slot) if slot >= 0 else status.OK
    rank = to_order(count) ^ self.complement
    if slot < 0:
        return _insert(self, key, entry, rank)
    _change(self, key, slot, rank)
    return status.OK


@method(HeapType, "add")
@quiet
def _add(self, key, n=1):
    entry = find(self.map, key)
    slot = _slot_in(self, entry)
    count = _count_at(self, slot) if slot >= 0 else self.zero
    delta = as_count(n, self.zero)
    return _become(self, key, entry, slot, count + delta, sum_leaves_range(count, delta))


@method(HeapType, "sub")
@quiet
def _sub(self, key, n=1):
    entry = find(self.map, key)
    slot = _slot_in(self, entry)
    count = _count_at(self, slot) if slot >= 0 else self.zero
    delta = as_count(n, self.zero)
    return _become(self, key, entry, slot, count - delta, difference_leaves_range(count, delta))


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
    return key_at(self, 0), _count_at(self, 0)


@method(HeapType, "pop")
@quiet
def _pop(self):
    top = _peek(self)
    if self.size > 0:
        _cut(self, 0)
    return top


# ------------------------------------------------------------------------------------------ many keys
@inner
def _keys_in(self, slots, keys):
    for i in range(slots.size):
        keys[i] = key_at(self, slots[i])


@inner
def _restore(self, key, rank, tie):
    """Give a key the rank and the tie that it had."""
    if not self.contains(key):
        self.set(key, self.zero)
    change_entry(parts_of(self.table), self.size, _slot(self, key), rank, tie)


@method(HeapType, "_change_many")
@kernel
def _change_many(self, keys, numbers, is_sum):
    """Add or set all or nothing, ages too. Returns (status, index of the item that failed)."""
    if keys.size != numbers.size:
        return status.OUT_OF_RANGE, smaller(keys.size, numbers.size)
    slots, ranks, ties = new_words(keys.size), new_words(keys.size), new_words(keys.size)
    for i in range(keys.size):
        self.prefetch(keys[smaller(i + AHEAD, keys.size - 1)])
        slots[i] = _slot(self, keys[i])
        if slots[i] >= 0:
            ranks[i] = self.table[rank_at(slots[i])]
            ties[i] = self.table[rank_at(slots[i]) + TIE]
        failure = self.add(keys[i], numbers[i]) if is_sum else self.set(keys[i], numbers[i])
        if failure < 0:
            for j in range(i - 1, -1, -1):
                if slots[j] >= 0:
                    _restore(self, keys[j], ranks[j], ties[j])
                else:
                    self.remove(keys[j])
            return failure, i
    return status.OK, keys.size


@method(HeapType, "equals")
@kernel
def _equals(self, other):
    """Return whether both have the same keys with the same counts, in the same order."""
    keys, counts = self.to_arrays()
    other_keys, other_counts = other.to_arrays()
    return are_equal(keys, other_keys) and are_equal(counts, other_counts)


@method(HeapType, "ties")
@kernel
def _ties(self):
    """Return the keys with the count of the top, in the order in which they would leave."""
    slots = tied_slots(self.table, self.size)
    keys, orders = new_words(slots.size), new_words(slots.size)
    _keys_in(self, slots, keys)
    for i in range(slots.size):
        orders[i] = self.table[rank_at(slots[i]) + TIE]
    other_keys = new_words(slots.size)
    return other_keys if sort_entries(orders, keys, slots, other_keys, new_words(BYTES)) else keys


@method(MaxHeapType, "nlargest")
@method(MinHeapType, "nsmallest")
@kernel
def _first_many(self, k):
    n = smaller(larger(k, 0), self.size)
    slots = first_slots(self.table, self.size, n)
    keys = new_words(slots.size)
    counts = np.full(slots.size, self.zero)
    _keys_in(self, slots, keys)
    for i in range(slots.size):
        counts[i] = _count_at(self, slots[i])
    return keys, counts


@method(HeapType, "copy")
@kernel
def _copy(self):
    other = new_like(self)
    other.table = self.table.copy()
    other.next = aligned_words(0)
    other.n_ready = 0
    plan(other)
    other.map = self.map.copy()
    other.n_ids = self.n_ids
    other.size = self.size
    other.complement = self.complement
    other.zero = self.zero
    other.next_age = self.next_age
    return other


@method(HeapType, "clear")
@quiet
def _clear(self):
    self.map.clear()
    plan(self)
    self.n_ids = 0
    self.size = 0
    self.next_age = 0
    return status.OK


@quiet
def fill(self, keys, counts):
    """Fill an empty heap. Returns (status, index of the item that failed)."""
    n = keys.size
    if self.map.reserve(n) < 0 or (n > capacity_of(self.table) and not resize(self, n)):
        return status.NO_MEMORY, n
    for i in range(n):
        self.map.prefetch(keys[smaller(i + AHEAD, n - 1)])
        if counts[i] != counts[i]:
            return status.NOT_A_NUMBER, i
        entry = find(self.map, keys[i])
        if entry[0] != EMPTY:
            return status.DUPLICATE, i
        write(entry, keys[i], i)
        if is_first_come(self):
            self.table[KEYS * self.table[0] + i] = keys[i]
        open_slot(self.table, i)
        rank = to_order(as_count(counts[i], self.zero)) ^ self.complement
        write_entry(parts_of(self.table), i, rank, tie_of(self, keys[i]), i)
    self.map.size = n
    self.n_ids = n
    self.size = n
    heapify(parts_of(self.table), n)
    return status.OK, n


@kernel
def heap_of(typ, zero, complement, keys, counts):
    """Return a heap of arrays, or raise as the class in Python does; the heap is released then."""
    check_sizes(keys, counts)
    self = new_heap(typ, zero, complement)
    failure, _ = fill(self, keys, counts)
    if failure == status.NOT_A_NUMBER:
        raise ValueError("a count is not a number")
    if failure == status.DUPLICATE:
        raise ValueError("a key is a duplicate")
    if failure < 0:
        raise MemoryError
    return self


@method(HeapType, "to_arrays")
@kernel
def _to_arrays(self):
    return self.copy().pop_many(self.size)


@kernel
def state(self):
    """Return what the invariants are about, for ``_check()``."""
    return self.table.copy(), self.map.copy(), self.n_ids, self.due


@method(HeapType, "nbytes")
@quiet
def _nbytes(self):
    prepared = self.next.nbytes if self.n_ready > 0 else 0
    return self.table.nbytes + prepared + self.map.nbytes()
