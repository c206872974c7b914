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
from structures.fields import swap_fields
from structures.int_map_kernels import find, int_map_type, make_room, new_int_map
from structures.int_map_table import EMPTY, VALUE, write
from structures.jit import inner, kernel, quiet
from structures.keyed import AHEAD
from structures.memory import new_words
from structures.multiset_heap_blocks import (
    ALL,
    GONE,
    IDS_A_ROW,
    KEYS,
    TIE,
    capacity_of,
    change_entry,
    cut_entry,
    first_slots,
    heapify,
    move_all,
    new_table,
    open_slot,
    parts_of,
    rank_at,
    rows_for,
    sift_up,
    tied_slots,
    touch,
    write_entry,
)
from structures.priorities import as_count, difference_leaves_range, from_order, sum_leaves_range, to_order
from structures.simd import larger, rarely, smaller
from structures.sorting import BYTES, sort_entries
from structures.struct_type import fields_of, method, new_like
from structures.ties import is_first_come

_FEWEST = 4  # rows
_LARGE, _VAST = 1 << 17, 1 << 21  # slots: 3 MB, 50 MB
_LAST = 64  # for the last 1/64 of the entries that a large table takes, the next one is prepared
_KEYS_A_STEP, _WORDS_A_STEP = (
    64,
    64 * 64 * 8,
)  # a table of n slots has 3 n or 4 n words, the next one up to 8 n


# ------------------------------------------------------------------------------------------------ type
class HeapType(CountedType):
    """numba type of the heaps: one concrete type per class, dtype of the counts and order of ties."""

    @cached_property
    def dtype(self) -> np.dtype:
        """The dtype of the counts."""
        return np.dtype(np.float64 if isinstance(self.field_dict["zero"], types.Float) else np.int64)

    @cached_property
    def ties(self) -> str:
        """What is first of equal counts: the smallest "key", or what came first, "fifo"."""
        return "fifo" if "fifo" in self.field_dict else "key"

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


def _fields(count_type: Any, ties: str) -> list[tuple[str, Any]]:
    return fields_of(
        table=types.int64[::1],  # entries, their ids, and the slots of ids
        next=types.int64[::1],  # the larger table that is being prepared, if any
        n_ready=types.int64,  # words of `next` that are prepared
        due=types.int64,  # an entry that makes the heap larger than this has to do some work first
        map=int_map_type,  # key -> id
        n_ids=types.int64,  # ids in use, also by keys that have left: the next new key gets this one
        size=types.int64,
        complement=types.int64,  # -1 reverses the order of counts (MaxHeap), 0 keeps it
        zero=count_type,  # the count of a missing key; its type is that of the counts
        next_age=types.int64,  # of what comes next, where ages order equal counts
        **({"fifo": types.int8} if ties == "fifo" else {}),  # so that the types differ
    )


_TYPES = {
    (kind, dtype, ties): kind(_fields(count_type, ties))
    for kind in (MaxHeapType, MinHeapType)
    for dtype, count_type in (("int64", types.int64), ("float64", types.float64))
    for ties in ("key", "fifo")
}


def heap_type(greatest_first: bool, dtype: str = "int64", ties: str = "key") -> HeapType:
    """Return the numba type of a heap, for signatures and struct fields.

    Parameters
    ----------
    greatest_first : bool
        The type of :class:`MaxHeap` if true, of :class:`MinHeap` if false.
    dtype : {"int64", "float64"}
        Type of the counts.
    ties : {"key", "fifo"}
        What is first of equal counts: the smallest key, or what came first.

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


@kernel
def new_heap(typ, zero, complement):
    """Return an empty heap of a type, with a zero of the type of its counts."""
    self = structref.new(typ)
    self.table = new_table(_FEWEST, _words_a_row(self))
    self.next = new_words(0)
    self.n_ready = 0
    _plan(self)
    self.map = new_int_map()
    self.n_ids = 0
    self.size = 0
    self.complement = complement
    self.zero = zero
    self.next_age = 0
    return self


# ---------------------------------------------------------------------------------------------- ages
@inner
def _tie_of(self, key):
    """Return what orders a key that comes now among those of equal counts: the key, or its age."""
    if is_first_come(self):
        self.next_age += 1
        return self.next_age
    return key


@inner
def _key_at(self, slot):
    """Return the key of the entry in a slot."""
    if is_first_come(self):
        number = np.int64(parts_of(self.table)[1][slot])
        return self.table[KEYS * self.table[0] + number]
    return self.table[rank_at(slot) + TIE]


# ------------------------------------------------------------------------------------- growth and ids
@inner
def _words_a_row(self):
    return ALL if is_first_come(self) else KEYS


@inner
def _plan(self):
    """Prepare no larger table yet; see to it that the next one will be there in time."""
    had_next = self.n_ready > 0
    self.n_ready = 0
    capacity = capacity_of(self.table)
    self.due = capacity if capacity < _LARGE else capacity - capacity // _LAST
    if had_next:
        self.next = new_words(0)
    return True


@inner
def _resize(self, n_slots):
    """Make a table for `n_slots`, and copy everything."""
    n_rows = rows_for(n_slots)
    table = new_words(n_rows * _words_a_row(self))
    move_all(self.table, self.size, self.n_ids, table, n_rows)
    self.table = table
    return _plan(self)


@inner
def _start_next(self):
    """Allocate a table that is twice as large, or half as large again if it is vast."""
    n_rows = self.table[0]
    more = n_rows // (1 if capacity_of(self.table) < _VAST else 2)
    self.next = new_words((n_rows + more) * _words_a_row(self))
    return True


@inner
def _prepare(self, n_words):
    """Write to some pages of the next table: the first access to memory takes longest."""
    end = smaller(self.n_ready + n_words, self.next.size)
    touch(self.next, self.n_ready, end)
    self.n_ready = end


@inner
def _make_room(self):
    """Do the work that is due before one more entry comes; null if there is no memory."""
    capacity = capacity_of(self.table)
    if capacity < _LARGE:
        return _resize(self, 2 * capacity + 1)
    has_next = self.n_ready > 0 or _start_next(self)
    if self.size < capacity:
        if has_next:
            _prepare(self, _WORDS_A_STEP)
        self.due = smaller(self.size + _KEYS_A_STEP, capacity) if has_next else capacity
        return True
    if has_next:
        _prepare(self, self.next.size)
        move_all(self.table, self.size, self.n_ids, self.next, self.next.size // _words_a_row(self))
        swap_fields(self, "table", "next")
        _plan(self)
    return has_next


@method(HeapType, "reserve")
@quiet
def _reserve(self, n_keys):
    # A quarter more than the keys: so many may leave before the others are entered again.
    if self.map.reserve(n_keys + n_keys // 4 + 1) < 0:
        return status.NO_MEMORY
    if n_keys > capacity_of(self.table) and not _resize(self, n_keys):
        return status.NO_MEMORY
    return status.OK


@inner
def _keys_of_all(self, keys):
    """Write the keys of the first slots."""
    for slot in range(keys.size):
        keys[slot] = _key_at(self, slot)


@inner
def _enter_again(self):
    """Clear the map, and enter the keys of all entries; the keys that have left are forgotten."""
    keys = new_words(self.size if is_first_come(self) else 0)
    _keys_of_all(self, keys)
    self.map.clear()
    _, ids, slot_of = parts_of(self.table)
    for slot in range(self.size):
        number = np.int32(slot)
        if is_first_come(self):
            self.table[KEYS * self.table[0] + slot] = keys[slot]
        else:
            self.map.prefetch(_key_at(self, smaller(slot + AHEAD, self.size - 1)))
        ids[slot] = number
        slot_of[slot] = number
        key = _key_at(self, slot)
        write(find(self.map, key), key, slot)
    self.map.size = self.size
    self.n_ids = self.size
    return True


@inner
def _new_id(self, key, entry):
    """Return an id for a new key, and enter it; below 0 if there is no memory."""
    is_full = self.map.size >= self.map.due
    if rarely(is_full | (self.n_ids == IDS_A_ROW * self.table[0])):
        # Where ids run out, a third of them belong to keys that have left.
        if not is_full or 5 * self.size < 4 * self.map.size:
            if not _enter_again(self):
                return status.NO_MEMORY
        elif not make_room(self.map) and (self.map.size == self.size or not _enter_again(self)):
            return status.NO_MEMORY
        entry = find(self.map, key)
    number = self.n_ids
    self.n_ids = number + 1
    self.map.size += 1
    write(entry, key, number)
    return number


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
    if rarely(slot >= self.due) and not _make_room(self):
        return status.NO_MEMORY
    number = entry[VALUE]  # a key that has left may still have an id
    if entry[0] == EMPTY:
        number = _new_id(self, key, entry)
        if rarely(number < 0):
            return number
    if is_first_come(self):
        self.table[KEYS * self.table[0] + number] = key
    open_slot(self.table, slot)
    self.size = slot + 1
    sift_up(parts_of(self.table), slot, rank, _tie_of(self, key), number)
    return status.OK


@inner
def _change(self, key, slot, rank):
    """Give the entry at a slot another rank, if it is another; then its age is another too."""
    if rank != self.table[rank_at(slot)]:
        tie = _tie_of(self, key)
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
    if leaves_range:
        return status.OVERFLOW if count == count else status.NOT_A_NUMBER
    if count < self.zero:
        return status.NEGATIVE
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
    return _key_at(self, 0), _count_at(self, 0)


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
        keys[i] = _key_at(self, slots[i])


@inner
def _restore(self, key, rank, tie):
    """Give a key the rank and the tie that it had."""
    if not self.contains(key):
        self.set(key, self.zero)
    change_entry(parts_of(self.table), self.size, _slot(self, key), rank, tie)


@method(HeapType, "update_many")
@kernel
def _update_many(self, keys, deltas):
    """Add all or nothing, also to the ages. Returns (status, index of the item that failed)."""
    if keys.size != deltas.size:
        return status.OUT_OF_RANGE, smaller(keys.size, deltas.size)
    slots, ranks, ties = new_words(keys.size), new_words(keys.size), new_words(keys.size)
    for i in range(keys.size):
        self.prefetch(keys[smaller(i + AHEAD, keys.size - 1)])
        slots[i] = _slot(self, keys[i])
        if slots[i] >= 0:
            ranks[i] = self.table[rank_at(slots[i])]
            ties[i] = self.table[rank_at(slots[i]) + TIE]
        failure = self.add(keys[i], deltas[i])
        if failure < 0:
            for j in range(i - 1, -1, -1):
                if slots[j] >= 0:
                    _restore(self, keys[j], ranks[j], ties[j])
                else:
                    self.remove(keys[j])
            return failure, i
    return status.OK, keys.size


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
    other.next = new_words(0)
    other.n_ready = 0
    _plan(other)
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
    _plan(self)
    self.n_ids = 0
    self.size = 0
    self.next_age = 0
    return status.OK


@quiet
def fill(self, keys, counts):
    """Fill an empty heap. Returns (status, index of the item that failed)."""
    n = keys.size
    if self.map.reserve(n) < 0 or (n > capacity_of(self.table) and not _resize(self, n)):
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
        rank = to_order(counts[i]) ^ self.complement
        write_entry(parts_of(self.table), i, rank, _tie_of(self, keys[i]), i)
    self.map.size = n
    self.n_ids = n
    self.size = n
    heapify(parts_of(self.table), n)
    return status.OK, n


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
