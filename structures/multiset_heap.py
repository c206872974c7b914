"""``MaxHeap`` and ``MinHeap``: addressable multiset heaps. One slot per key; its count is its priority.

An implicit 8-ary heap over int64 *ranks*, least rank on top: a :class:`MinHeap` ranks by the order of
its counts, a :class:`MaxHeap` by its complement, so that one set of kernels serves both, and float64
counts go by their order-preserving bits. Ties go by key, smallest first.

The eight children of a slot are one block of 24 words, read with two vector instructions::

    slot 0 is the root; the children of slot s are 8 * s + 1 ... 8 * s + 8, all in block s + 1

    blocks     rank x 8 | key x 8 | handle x 8    one such row per block; the root is lane 7 of row 0
                                       |
    slot_of[handle] -> slot  <---------'
    handle_of[key]  -> handle (an IntMap)

A handle is a small number that a key keeps while it is in the heap, so that moving an entry updates one
array element instead of a hash table. The handle lanes of the slots past the end hold the free handles.
Nor does removing a key touch the hash table: a key that has left is told by the other key, or none, at the
slot that its handle leads to. Such keys are thrown out when the table would have to grow for them.

Invariants
----------
1. Heap order: no entry precedes its parent, by (rank, key).
2. ``slot_of`` and the handle lanes are inverse permutations of the capacity.
3. ``handle_of`` maps the key of each of the first ``size`` slots to its handle; its other keys have left.
4. The rank lanes of the slots past the end hold the greatest int64.
5. The capacity is ``8 * number of blocks - 7``, at least ``size``.

Complexity
----------
===================================  =====================================================
peek, get, ``in``                    O(1) expected
set, add, sub, remove, pop           O(log n), at most log8(n) levels; amortised over growth
update_many, pop_many                O(log n) an item
from_arrays, copy, ties              O(n); ties O(number of ties)
memory                               32 bytes a slot; 26 to 51 a key in the map,
                                     where keys that have left count until it is full
===================================  =====================================================

Source: d-ary heaps, D. B. Johnson, Priority queues with update (1975); the block layout is our own.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numba import types
from numba.experimental import structref

from structures import int_map, status
from structures.counted import Counted, CountedType
from structures.jit import copy_prefix, kernel, quiet
from structures.memory import new_words
from structures.priorities import (
    as_count,
    difference_leaves_range,
    from_order,
    sum_leaves_range,
    to_order,
)
from structures.simd import least_lanes, least_lanes_among, lowest_lane
from structures.status import INT64_MAX, error, int64_array
from structures.struct_type import bind, fields_of, method, new_like

__all__ = ["HeapType", "MaxHeap", "MinHeap", "heap_type"]

ARITY_BITS = 3
ARITY = 1 << ARITY_BITS
BLOCK = 3 * ARITY
KEY, HANDLE = ARITY, 2 * ARITY  # from the rank of an entry to its key and its handle


# ------------------------------------------------------------------------------ kernels on plain arrays
@quiet
def place_of(slot):
    """Return where in ``blocks`` the rank of `slot` stands."""
    lane = slot + ARITY - 1
    return (lane >> ARITY_BITS) * BLOCK + (lane & (ARITY - 1))


@quiet
def write_entry(blocks, slot_of, slot, rank, key, handle):
    """Put an entry into a slot."""
    place = place_of(slot)
    blocks[place] = rank
    blocks[place + KEY] = key
    blocks[place + HANDLE] = handle
    slot_of[handle] = slot


@quiet
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


@quiet
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


@quiet
def change_rank(blocks, slot_of, size, slot, rank):
    """Give the entry at `slot` another rank and move it to where it then belongs."""
    place = place_of(slot)
    old, key, handle = blocks[place], blocks[place + KEY], blocks[place + HANDLE]
    if rank < old:
        sift_up(blocks, slot_of, slot, rank, key, handle)
    else:
        sift_down(blocks, slot_of, size, slot, rank, key, handle)


@quiet
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


@quiet
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
    keys.sort()
    return keys


@quiet
def fill_free(blocks, slot_of, start):
    """Make every slot from `start` on a free one that holds the handle of its own number."""
    for slot in range(start, slot_of.size):
        write_entry(blocks, slot_of, slot, INT64_MAX, 0, slot)


# ------------------------------------------------------------------------------------------------ type
class HeapType(CountedType):
    """numba type of the heaps: one concrete type per class and dtype of the counts."""

    @cached_property
    def dtype(self) -> np.dtype:
        """The dtype of the counts."""
        return np.dtype(np.float64 if isinstance(self.field_dict["zero"], types.Float) else np.int64)


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
        handle_of=int_map.int_map_type,
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
    >>> heap_type(True) == MaxHeap()._numba_type_
    True
    """
    return _TYPES[MaxHeapType if greatest_first else MinHeapType, dtype]


@kernel
def _new(heap_class, zero, complement):
    self = structref.new(heap_class)
    self.blocks = np.empty(BLOCK, np.int64)
    for i in range(BLOCK):
        self.blocks[i] = INT64_MAX
    self.slot_of = np.empty(1, np.int64)
    fill_free(self.blocks, self.slot_of, 0)
    self.handle_of = int_map.new_int_map(0)
    self.size = 0
    self.complement = complement
    self.zero = zero
    return self


@quiet
def _grow(self, n_keys):
    n_blocks = (n_keys + 2 * ARITY - 2) // ARITY
    blocks = new_words(n_blocks * BLOCK)
    copy_prefix(self.blocks, self.blocks.size, blocks)
    for i in range(self.blocks.size, blocks.size):
        blocks[i] = INT64_MAX
    slot_of = new_words(n_blocks * ARITY - ARITY + 1)
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
    return self.handle_of.reserve(n_keys)


@quiet
def _slot(self, key):
    """Return the slot of a key, -1 where it is not in the heap."""
    handle = self.handle_of.get(key, -1)
    if handle < 0:
        return -1
    slot = self.slot_of[handle]
    return slot if slot < self.size and self.blocks[place_of(slot) + KEY] == key else -1


@quiet
def _forget_gone_keys(self):
    self.handle_of.clear()
    for slot in range(self.size):
        place = place_of(slot)
        self.handle_of.set(self.blocks[place + KEY], self.blocks[place + HANDLE])


@quiet
def _count_at(self, slot):
    return from_order(self.blocks[place_of(slot)] ^ self.complement, self.zero)


@quiet
def _insert(self, key, rank):
    slot = self.size
    if slot == self.slot_of.size and not _grow(self, 2 * slot + 1):
        return status.NO_MEMORY
    if self.handle_of.is_full() and 2 * slot < self.handle_of.size:
        _forget_gone_keys(self)
    handle = self.blocks[place_of(slot) + HANDLE]
    if self.handle_of.set(key, handle) < 0:
        return status.NO_MEMORY
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


@quiet
def _cut(self, slot):
    cut_entry(self.blocks, self.slot_of, self.size, slot)
    self.size -= 1
    return status.OK


@quiet
def _become(self, key, slot, count):
    """Give `key`, which stands at `slot` (below 0: nowhere), the count that a sum has come to."""
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
    if sum_leaves_range(count, delta):
        return status.OVERFLOW
    return _become(self, key, slot, count + delta)


@method(HeapType, "sub")
@quiet
def _sub(self, key, n=1):
    slot = _slot(self, key)
    count = _count_at(self, slot) if slot >= 0 else self.zero
    delta = as_count(n, self.zero)
    if difference_leaves_range(count, delta):
        return status.OVERFLOW
    return _become(self, key, slot, count - delta)


@method(HeapType, "remove")
@quiet
def _remove(self, key):
    slot = _slot(self, key)
    return _cut(self, slot) if slot >= 0 else status.MISSING


@method(HeapType, "get")
@quiet
def _get(self, key):
    slot = _slot(self, key)
    return _count_at(self, slot) if slot >= 0 else self.zero


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
def _fill(self, keys, counts):
    """Fill an empty heap. Returns (status, index of the item that failed)."""
    n = keys.size
    if _reserve(self, n) < 0:
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
def _state(self):
    return self.blocks.copy(), self.slot_of.copy(), self.handle_of.copy()


@method(HeapType, "nbytes")
@quiet
def _nbytes(self):
    return self.blocks.nbytes + self.slot_of.nbytes + self.handle_of.nbytes()


# ---------------------------------------------------------------------------------------------- facade
class _Heap(Counted):
    """The verbs that both heaps share; see :class:`MaxHeap` and :class:`MinHeap`."""

    __slots__ = ()
    _kind: Any
    _complement: int

    def __new__(cls, items: Any = (), dtype: Any = np.int64) -> Any:
        keys, counts = cls._unzipped(items)
        is_float = np.dtype(dtype) == np.float64
        return cls.from_arrays(keys, np.array(counts, dtype) if is_float or not keys else counts)

    @classmethod
    def from_arrays(cls, keys: Any, counts: Any) -> Any:
        """Build a heap from distinct keys and their counts; float counts make a float64 heap.

        Parameters
        ----------
        keys : (n,) array_like of int
        counts : (n,) array_like of int or float

        Returns
        -------
        MaxHeap or MinHeap

        Raises
        ------
        ValueError
            A key stands there twice, a count is not a number, or the arrays differ in length.

        Complexity
        ----------
        O(n) expected.

        Examples
        --------
        >>> MaxHeap.from_arrays([7, 8, 9], [1, 3, 2]).peek()
        (8, 3)
        """
        keys = int64_array(keys)
        is_float = np.asarray(counts).dtype.kind == "f"
        counts = np.ascontiguousarray(counts, np.float64) if is_float else int64_array(counts, "counts")
        cls._same_length(keys, counts, "counts")
        zero = 0.0 if is_float else 0
        self = _new(_TYPES[cls._kind, "float64" if is_float else "int64"], zero, cls._complement)
        failure, i = _fill(self, keys, counts) if keys.size else (status.OK, 0)
        if failure < 0:
            raise error(failure, int(keys[i]) if i < keys.size else f"{keys.size} keys")
        return self

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the counts: int64 or float64.

        Examples
        --------
        >>> MinHeap(dtype=float).dtype
        dtype('float64')
        """
        return self._type.dtype

    def _check(self) -> None:
        """Assert the numbered invariants of the module docstring."""
        blocks, slot_of, handle_of = _state(self)
        size, capacity = len(self), slot_of.size
        lanes = blocks.reshape(-1, 3, ARITY)
        rank, key, handle = (lanes[:, i].ravel()[ARITY - 1 :] for i in range(3))
        for slot in range(1, size):
            above = (slot - 1) >> ARITY_BITS
            assert (rank[above], key[above]) < (rank[slot], key[slot]), f"1: slot {slot} precedes its parent"
        assert np.array_equal(slot_of[handle], np.arange(capacity)), "2: slots and handles"
        handle_of._check()
        assert np.array_equal(handle_of.get_many(key[:size], -1), handle[:size]), "3: keys and handles"
        assert np.all(rank[size:] == INT64_MAX), "4: ranks past the end"
        assert rank.size == capacity >= size, "5: capacity"


class MaxHeap(_Heap):
    """Addressable multiset heap, greatest count first, ties by smallest key.

    ``h[key] = count`` stores any count, also 0 and below; :meth:`add` and :meth:`sub` are the verbs of a
    multiset: a count that comes to 0 removes the key, below 0 is an error. One writer at a time.

    Inside ``@njit`` the same verbs are there as methods and operators. Nothing raises there: a missing
    key has the count 0, an empty heap gives ``(0, 0)`` (look at ``len(h)`` first), and verbs that change
    return a status, below 0 for a failure.

    Methods for single keys:

    * ``h[key]``, ``h[key] = count``, ``del h[key]``, ``key in h``, ``len(h)``
    * :meth:`get`, :meth:`add`, :meth:`sub`

    Methods for the top:

    * :meth:`peek`, :meth:`pop`, :meth:`pop_many`, :meth:`ties`, :meth:`nlargest`

    Methods for many keys and the whole:

    * :meth:`from_arrays`, :meth:`update_many`, :meth:`items`, :meth:`to_arrays`; iteration is in pop order
    * :meth:`copy`, :meth:`clear`, :meth:`reserve`, :attr:`nbytes`, :attr:`dtype`; ``==``, pickle

    Parameters
    ----------
    items : mapping or iterable of (int, int or float), optional
        Initial keys and counts; a repeated key is a ``ValueError``.
    dtype : {int64, float64}
        Type of the counts of a heap that starts empty.

    Examples
    --------
    >>> h = MaxHeap({1: 10, 2: 20})
    >>> h.add(1, 15)
    >>> h.pop()
    (1, 25)
    """

    __slots__ = ()
    _kind = MaxHeapType
    _complement = -1

    def nlargest(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the first `k` entries, or all there are, in order; they stay in the heap.

        Parameters
        ----------
        k : int

        Returns
        -------
        keys : (m,) int64
        counts : (m,) int64 or float64

        Raises
        ------
        ValueError
            `k` is negative.

        Complexity
        ----------
        O(n + k log n).

        Examples
        --------
        >>> MaxHeap({7: 2, 8: 5, 9: 1}).nlargest(2)
        (array([8, 7]), array([5, 2]))
        """
        return self.copy().pop_many(k)


class MinHeap(_Heap):
    """Addressable multiset heap, least count first, ties by smallest key.

    As :class:`MaxHeap` in everything but the order.

    Parameters
    ----------
    items : mapping or iterable of (int, int or float), optional
        Initial keys and counts; a repeated key is a ``ValueError``.
    dtype : {int64, float64}
        Type of the counts of a heap that starts empty.

    Examples
    --------
    >>> distance = MinHeap(dtype=float)
    >>> distance[3] = 2.5
    >>> distance[4] = 0.5
    >>> distance.pop()
    (4, 0.5)
    """

    __slots__ = ()
    _kind = MinHeapType
    _complement = 0

    def nsmallest(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the first `k` entries, or all there are, in order; they stay in the heap.

        Parameters
        ----------
        k : int

        Returns
        -------
        keys : (m,) int64
        counts : (m,) int64 or float64

        Raises
        ------
        ValueError
            `k` is negative.

        Complexity
        ----------
        O(n + k log n).

        Examples
        --------
        >>> MinHeap({7: 2, 8: 5, 9: 1}).nsmallest(2)
        (array([9, 7]), array([1, 2]))
        """
        return self.copy().pop_many(k)


bind(MaxHeapType, MaxHeap)
bind(MinHeapType, MinHeap)
