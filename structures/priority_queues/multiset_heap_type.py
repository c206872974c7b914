"""The numba types of ``MaxHeap`` and ``MinHeap``: how heaps are made, grow, and give ids to keys."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import Any

import numpy as np
from numba import types
from numba.experimental import structref

from structures import status
from structures.base.container import swap_fields
from structures.base.mapping import AHEAD
from structures.base.queue import CountedType
from structures.base.struct_type import fields_of, method, new
from structures.compiling.jit import inner, kernel, late, quiet
from structures.hash_tables.int_map_kernels import find, int_map_type, make_room, new_map
from structures.hash_tables.int_map_table import write
from structures.primitives.memory import aligned_words, new_words
from structures.primitives.simd import rarely, smaller
from structures.priority_queues.multiset_heap_blocks import (
    ALL,
    IDS_A_ROW,
    KEYS,
    MOST_ROWS,
    TIE,
    capacity_of,
    move_all,
    new_table,
    parts_of,
    rank_at,
    rows_for,
)
from structures.priority_queues.ties import is_first_come

_FEWEST = 4  # rows
_PAGE = 512  # words
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
        return np.dtype(np.float64 if isinstance(self.field_dict.get("zero"), types.Float) else np.int64)

    @cached_property
    def ties(self) -> str:
        """What is first of equal counts: the smallest "key", or what came first, "fifo"."""
        return "fifo" if "fifo" in self.field_dict else "key"

    @property
    def start(self) -> tuple[Any, int]:
        """The count of a missing key, and the complement, of a new heap."""
        return self.dtype.type(0), -isinstance(self, MaxHeapType)

    @property
    def label(self) -> str:
        """The name in messages."""
        return f"{super().label}({self.dtype}{', fifo' * (self.ties == 'fifo')})"

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
    self = new(typ)
    self.table = new_table(_FEWEST, _words_a_row(self))
    self.next = aligned_words(0)
    self.n_ready = 0
    self.due = capacity_of(self.table)
    self.map = new_map(int_map_type, 0)
    self.n_ids = 0
    self.size = 0
    self.complement = complement
    self.zero = zero
    self.next_age = 0
    return self


# ---------------------------------------------------------------------------------------------- ages
@inner
def tie_of(self, key):
    """Return what orders a key that comes now among those of equal counts: the key, or its age."""
    if is_first_come(self):
        self.next_age += 1
        return self.next_age
    return key


@inner
def key_at(self, slot):
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
def plan(self):
    """Prepare no larger table yet; see to it that the next one will be there in time."""
    had_next = self.n_ready > 0
    self.n_ready = 0
    capacity = capacity_of(self.table)
    self.due = capacity if capacity < _LARGE else capacity - capacity // _LAST
    if had_next:
        self.next = aligned_words(0)
    return True


@late
def resize(self, n_slots):
    """Make a table for `n_slots`, and copy everything."""
    n_rows = rows_for(n_slots)
    if n_rows > MOST_ROWS:
        return False
    table = new_words(n_rows * _words_a_row(self))
    move_all(self.table, self.size, self.n_ids, table, n_rows)
    self.table = table
    return plan(self)


@inner
def _start_next(self):
    """Allocate a table that is twice as large, or half as large again if it is vast."""
    n_rows = self.table[0]
    more = n_rows // (1 if capacity_of(self.table) < _VAST else 2)
    if n_rows + more > MOST_ROWS:
        return False
    self.next = new_words((n_rows + more) * _words_a_row(self))
    return True


@inner
def _prepare(self, n_words):
    """Write to some pages of the next table: the first access to memory takes longest."""
    end = smaller(self.n_ready + n_words, self.next.size)
    for word in range(self.n_ready, end, _PAGE):
        self.next[word] = 0
    self.n_ready = end


@late
def _grow_large(self):
    """Do the work that is due before one more entry comes to a large table."""
    capacity = capacity_of(self.table)
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
        plan(self)
    return has_next


@inner
def make_table_room(self):
    """Do the work that is due before one more entry comes; False if there is no memory."""
    capacity = capacity_of(self.table)
    return resize(self, 2 * capacity + 1) if capacity < _LARGE else _grow_large(self)


@method(HeapType, "reserve")
@quiet
def _reserve(self, n_keys):
    # A quarter more than the keys: so many may leave before the others are entered again.
    if self.map.reserve(n_keys + n_keys // 4 + 1) < 0:
        return status.NO_MEMORY
    # From a large table, room for some more: else the last keys would prepare the next table.
    n_slots = n_keys if n_keys < _LARGE else n_keys + n_keys // (_LAST - 1) + 1
    if n_keys > capacity_of(self.table) and not resize(self, n_slots):
        return status.NO_MEMORY
    return status.OK


@late
def _enter_again(self):
    """Clear the map, and enter the keys of all entries; the keys that have left are forgotten."""
    keys = new_words(self.size if is_first_come(self) else 0)
    for slot in range(keys.size):
        keys[slot] = key_at(self, slot)
    self.map.clear()
    _, ids, slot_of = parts_of(self.table)
    for slot in range(self.size):
        number = np.int32(slot)
        if is_first_come(self):
            self.table[KEYS * self.table[0] + slot] = keys[slot]
        else:
            self.map.prefetch(key_at(self, smaller(slot + AHEAD, self.size - 1)))
        ids[slot] = number
        slot_of[slot] = number
        key = key_at(self, slot)
        write(find(self.map, key), key, slot)
    self.map.size = self.size
    self.n_ids = self.size
    return True


@late
def _make_id_room(self):
    """See to it that there is an id for one more key; False if there is no memory."""
    # Where ids run out, a third of them belong to keys that have left.
    is_full = self.map.size >= self.map.due
    if is_full and 5 * self.size >= 4 * self.map.size and make_room(self.map):
        return True
    return self.map.size > self.size and _enter_again(self)


@inner
def new_id(self, key, entry):
    """Return an id for a new key, and enter it; below 0 if there is no memory."""
    if rarely((self.map.size >= self.map.due) | (self.n_ids == IDS_A_ROW * self.table[0])):
        if not _make_id_room(self):
            return status.NO_MEMORY
        entry = find(self.map, key)
    number = self.n_ids
    self.n_ids = number + 1
    self.map.size += 1
    write(entry, key, number)
    return number
