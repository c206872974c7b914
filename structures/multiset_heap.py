"""``MaxHeap`` and ``MinHeap``: addressable multiset heaps. One slot per key; its count is its priority.

An implicit 8-ary heap over int64 *ranks*, least rank on top. The rank of a count is an int64 in the same
order (for float64, its bits); a :class:`MaxHeap` takes the complement, so that the same kernels serve both
heaps. Ties are ordered by key, smallest first.

The eight children of a slot are one block of 24 words, read with two vector instructions::

    slot 0 is the root; the children of slot s are 8 * s + 1 ... 8 * s + 8, all in block s + 1

    blocks         rank x 8 | key x 8 | place x 8    one such row per block; the root is lane 7 of row 0
                                           |
    map.slots      ... key --> slot + 1 <--'         an IntMap; an entry knows its place in it

An entry that moves writes its slot at its place in the map, without a search for its key. A key that leaves
the heap stays in the map with the value 0, which is what a missing key reads as; so no other key moves there.
Such keys are thrown out when the map is full and they are a fifth of it, or when there is no memory for a
larger map. A map that grows is made again from the rows, which then get their new places.

Invariants
----------
1. Heap order: no entry precedes its parent, by (rank, key).
2. ``map`` has slot + 1 for the key of each of the first ``size`` slots, and 0 for its other keys.
3. The place of each of these entries is the place of its key in the map.
4. In the row of the last entry, the rank lanes past the end hold the greatest int64.
5. The capacity is ``8 * number of blocks - 7``, at least ``size``.

Complexity
----------
===================================  =====================================================
peek, get, ``in``                    O(1) expected
set, add, sub, remove, pop           O(log n), at most log8(n) levels; amortised over growth
update_many, pop_many                O(log n) an item
from_arrays, copy, ties              O(n); ties O(number of ties)
nlargest, nsmallest of k             O(k log k)
memory                               24 bytes a slot; 26 to 51 a key in the map, at most 64 with
                                     the keys that have left and are not yet thrown out
===================================  =====================================================

Source: d-ary heaps, D. B. Johnson, Priority queues with update (1975); the block layout is our own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from structures import status
from structures.counted import Counted
from structures.facade import named_by_package
from structures.made_inside import constructor
from structures.multiset_heap_blocks import ARITY, ARITY_BITS
from structures.multiset_heap_kernels import (
    MaxHeapType,
    MinHeapType,
    fill,
    heap_type,
    new_heap,
    place_in,
    state,
)
from structures.status import DTYPE_HINT, INT64_MAX, as_array, dtype_name, error, float64_array, int64_array
from structures.struct_type import bind


class _Heap(Counted):
    """What both heaps share; see :class:`MaxHeap` and :class:`MinHeap`."""

    __slots__ = ()
    _greatest_first: bool
    _float_hint = DTYPE_HINT

    def __new__(cls, items: Any = (), dtype: Any = None) -> Any:
        if isinstance(items, (type, np.dtype, str)):
            items, dtype = (), items
        keys, counts = cls._unzipped(items)
        return cls._build(keys, counts, cls._dtype_of(counts) if dtype is None else dtype)

    @classmethod
    def type(cls, dtype: Any = None) -> Any:
        """Return the numba type of a heap, for ``List.empty_list``, for specifications and signatures.

        Parameters
        ----------
        dtype : {int64, float64}, optional
            Type of the counts, int64 by default.

        Returns
        -------
        numba type

        Raises
        ------
        TypeError
            Another dtype.

        Complexity
        ----------
        O(1).

        Examples
        --------
        >>> from numba.typed import List
        >>> heaps = List.empty_list(MinHeap.type(float))
        >>> heaps.append(MinHeap(float))
        """
        return heap_type(cls._greatest_first, dtype_name(np.int64 if dtype is None else dtype))

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
            A key is a duplicate, a count is not a number, or the arrays differ in length.

        Complexity
        ----------
        O(n) expected.

        Examples
        --------
        >>> MaxHeap.from_arrays([7, 8, 9], [1, 3, 2]).peek()
        (8, 3)
        """
        return cls._build(keys, counts, cls._dtype_of(counts))

    @staticmethod
    def _dtype_of(counts: Any) -> Any:
        """Return the dtype of the heap that `counts` make; an empty list makes an int64 heap."""
        return np.float64 if as_array(counts).dtype.kind == "f" else np.int64

    @classmethod
    def _build(cls, keys: Any, counts: Any, dtype: Any) -> Any:
        heap_type = cls.type(dtype)
        keys = int64_array(keys)
        counts = (int64_array if heap_type.dtype == np.int64 else float64_array)(counts, "counts")
        cls._same_length(keys, counts, "counts")
        self = cls._like(new_heap(heap_type, *heap_type.start))
        failure, i = fill(self, keys, counts) if keys.size else (status.OK, 0)
        if failure < 0:
            raise error(failure, int(keys[i]) if i < keys.size else f"{keys.size} keys")
        return self

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the counts: int64 or float64."""
        return self._type.dtype

    def _check(self) -> None:
        """Assert the numbered invariants of the module docstring."""
        blocks, slot_of = state(self)
        size = len(self)
        lanes = blocks.reshape(-1, 3, ARITY)
        rank, key, place = (lanes[:, i].ravel()[ARITY - 1 :] for i in range(3))
        for slot in range(1, size):
            above = (slot - 1) >> ARITY_BITS
            assert (rank[above], key[above]) < (rank[slot], key[slot]), f"1: slot {slot} precedes its parent"
        slot_of._check()
        slots = {key: value - 1 for key, value in slot_of.items() if value != 0}
        assert slots == {key: slot for slot, key in enumerate(key[:size].tolist())}, "2: keys and slots"
        for slot in range(size):
            assert place_in(slot_of, key[slot]) == place[slot], f"3: the place of slot {slot}"
        row_end = -(-(size - 1) // ARITY) * ARITY + 1
        assert np.all(rank[max(size, 1) : row_end] == INT64_MAX), "4: ranks past the end"
        assert rank.size >= max(size, 1), "5: capacity"


class MaxHeap(_Heap):
    """Addressable multiset heap, greatest count first, ties by smallest key.

    ``h[key] = count`` stores any count, also 0 and below; :meth:`add` and :meth:`sub` are the verbs of a
    multiset: a count of 0 removes the key, a count below 0 is an error. Calls from several
    threads take turns (:mod:`structures.claims`).

    Inside ``@njit`` the same verbs are methods and operators. Nothing raises there, except when there is no
    memory for an array that is returned: a missing key has the count 0, an empty heap gives ``(0, 0)`` (check
    ``len(h)`` first), and verbs that change the heap return a status, below 0 for a failure. A float for an
    integer is a typing error there.

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
    dtype : {int64, float64}, optional
        Type of the counts; by default the type of the initial ones, int64 if there are none.

    Raises
    ------
    TypeError
        `dtype` is another type, or a key or a count is not a number of its type.
    ValueError
        A key is a duplicate, or a count is not a number.
    OverflowError
        A number does not fit int64.

    Examples
    --------
    >>> h = MaxHeap({1: 10, 2: 20})
    >>> h.add(1, 15)
    >>> h.pop()
    (1, 25)
    """

    __slots__ = ()
    _greatest_first = True

    def nlargest(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the first `k` entries in order, or all if there are fewer; they stay in the heap.

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
        O(k log k), whatever the size of the heap.

        Examples
        --------
        >>> MaxHeap({7: 2, 8: 5, 9: 1}).nlargest(2)
        (array([8, 7]), array([5, 2]))
        """
        return self._kernels.nlargest(self, self._room(k, "k"))


class MinHeap(_Heap):
    """Addressable multiset heap, least count first, ties by smallest key.

    The same as :class:`MaxHeap`, except for the order.

    Parameters
    ----------
    items : mapping or iterable of (int, int or float), optional
        Initial keys and counts; a repeated key is a ``ValueError``.
    dtype : {int64, float64}, optional
        Type of the counts; by default the type of the initial ones, int64 if there are none.

    Raises
    ------
    TypeError
        `dtype` is another type, or a key or a count is not a number of its type.
    ValueError
        A key is a duplicate, or a count is not a number.
    OverflowError
        A number does not fit int64.

    Examples
    --------
    >>> distance = MinHeap(dtype=float)
    >>> distance[3] = 2.5
    >>> distance[4] = 0.5
    >>> distance.pop()
    (4, 0.5)
    """

    __slots__ = ()
    _greatest_first = False

    def nsmallest(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the first `k` entries in order, or all if there are fewer; they stay in the heap.

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
        O(k log k), whatever the size of the heap.

        Examples
        --------
        >>> MinHeap({7: 2, 8: 5, 9: 1}).nsmallest(2)
        (array([9, 7]), array([1, 2]))
        """
        return self._kernels.nsmallest(self, self._room(k, "k"))


bind(MaxHeapType, MaxHeap)
bind(MinHeapType, MinHeap)


@constructor(MaxHeap)
def _max_heap(items=None, dtype=None):
    return _made(MaxHeap, items, dtype)


@constructor(MinHeap)
def _min_heap(items=None, dtype=None):
    return _made(MinHeap, items, dtype)


def _made(facade: Any, items: Any, dtype: Any) -> Any:
    """Return the code that makes a heap in compiled code."""
    if isinstance(items, types.Type):
        name = facade.__name__
        raise TypeError(f"compiled code makes an empty {name}, or {name}.from_arrays(keys, counts)")
    heap_type = facade.type(dtype if items is None else items)
    zero, complement = heap_type.start
    return lambda items=None, dtype=None: new_heap(heap_type, zero, complement)


__test__ = named_by_package(MaxHeap, MinHeap)
