"""``MaxHeap`` and ``MinHeap``: addressable multiset heaps. One slot per key; its count is its priority.

An implicit 4-ary heap over int64 *ranks*, least rank on top. The rank of a count is an int64 in the same
order (for float64, its bits); a :class:`MaxHeap` takes the complement, so that the same kernels serve both
heaps. Equal ranks are ordered by a *tie*: the key, or with ``ties="fifo"`` the age, a number that grows.

One array holds the entries, and a number for each key, its *id*. The four children of a slot are a row of
eight words, a cache line; the first of them is found without branches and without vectors::

    slot 0 is the root; the children of slot s are 4 * s + 1 ... 4 * s + 4, all in row s + 1

    table    | R - - root - - - tie | rank x 4 tie x 4 | ... R rows | ids by slot | slots by id | keys by id |
                                                                      two a word    two a word    for "fifo"
    map      key -> id

An entry that moves writes its slot at its id: four bytes, where the id's neighbours are those of keys that
came at about the same time. The map is not touched. A key that leaves the heap stays in the map, its id has
the slot -1, and it has this id again if it comes back. When the map is full, and such keys are a fifth of it,
or when there are no more ids, or no memory for a larger map, the map is cleared and the keys of all entries
are entered again.

A full table is made anew, twice as large, from 50 MB on half as large again. What takes longest then is the
first access to the new memory. So that no call takes long, a large one is allocated, and its pages are
written to, ahead of need, with every 64 of the last entries that the table takes. So it is with the map.

Invariants
----------
1. Heap order: no entry precedes its parent, by (rank, tie).
2. In the row of the last entry, ranks and ties past the end are the greatest int64.
3. The slot of the id of each of the first ``size`` slots is this slot.
4. ``map`` has the id of the key of each of these slots. Its other keys have ids with the slot -1.
5. The ids in the map are 0 ... ``n_ids`` - 1; there is room for 6 a row.
6. The table has 13 words a row, 19 with keys. ``size`` is at most ``due``, which is at most 4 R - 3. There
   are less than 2**31 ids: for more, there is no memory.

Complexity
----------
===================================  =====================================================
peek, get, ``in``                    O(1) expected
set, add, sub, remove, pop           O(log n), at most log4(n) levels; amortized over growth
update_many, pop_many                O(log n) an item
from_arrays, copy, ties              O(n); ties O(number of ties)
nlargest, nsmallest of k             O(k log k)
memory                               26 bytes a slot, 38 with ``ties="fifo"``; and the map, 26 to 51 a key,
                                     at most 64 with the keys that have left and are not yet thrown out
===================================  =====================================================

Source: d-ary heaps, D. B. Johnson, Priority queues with update (1975); the layout of the table is our own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from structures import status
from structures.base.container import named_by_package
from structures.base.in_njit import (
    class_method,
    constructor,
    dtype_of_numbers,
    must_be_entries,
    only_empty,
)
from structures.base.queue import Counted
from structures.base.struct_type import bind
from structures.priority_queues.multiset_heap_blocks import (
    ALL,
    ARITY,
    ARITY_BITS,
    GONE,
    IDS,
    IDS_A_ROW,
    KEYS,
    ROW,
    SLOTS,
    capacity_of,
)
from structures.priority_queues.multiset_heap_kernels import (
    MaxHeapType,
    MinHeapType,
    fill,
    heap_of,
    heap_type,
    new_heap,
    state,
)
from structures.status import DTYPE_HINT, INT64_MAX, as_array, dtype_name, error, float64_array, int64_array


class _Heap(Counted):
    """What both heaps share; see :class:`MaxHeap` and :class:`MinHeap`."""

    __slots__ = ()
    _greatest_first: bool
    _float_hint = DTYPE_HINT

    def __new__(cls, items: Any = (), dtype: Any = None, *, ties: str = "key") -> Any:
        if isinstance(items, (type, np.dtype, str)):
            items, dtype = (), items
        keys, counts = cls._unzipped(items)
        return cls._build(keys, counts, cls._dtype_of(counts) if dtype is None else dtype, ties)

    @classmethod
    def type(cls, dtype: Any = None, ties: str = "key") -> Any:
        """Return the numba type of a heap, for ``List.empty_list``, for specifications and signatures.

        Parameters
        ----------
        dtype : {int64, float64}, optional
            Type of the counts, int64 by default.
        ties : {"key", "fifo"}
            What is first of equal counts: the smallest key, or what came first.

        Returns
        -------
        numba type

        Raises
        ------
        TypeError
            Another dtype.
        ValueError
            `ties` is neither of the two.

        Complexity
        ----------
        O(1).

        Examples
        --------
        >>> from numba.typed import List
        >>> heaps = List.empty_list(MinHeap.type(float))
        >>> heaps.append(MinHeap(float))
        """
        if not isinstance(ties, str) or ties not in ("key", "fifo"):
            raise ValueError(f'ties must be "key" or "fifo", not {ties!r}')
        return heap_type(cls._greatest_first, dtype_name(np.int64 if dtype is None else dtype), ties)

    @classmethod
    def from_arrays(cls, keys: Any, counts: Any, ties: str = "key") -> Any:
        """Build a heap from distinct keys and their counts; float counts make a float64 heap.

        Parameters
        ----------
        keys : (n,) array_like of int
            With ``ties="fifo"``, in the order in which they came.
        counts : (n,) array_like of int or float
        ties : {"key", "fifo"}
            What is first of equal counts: the smallest key, or what came first.

        Returns
        -------
        MaxHeap or MinHeap

        Raises
        ------
        ValueError
            A key is a duplicate, a count is not a number, the arrays differ in length, or `ties` is another.

        Complexity
        ----------
        O(n) expected.

        Examples
        --------
        >>> MaxHeap.from_arrays([7, 8, 9], [1, 3, 2]).peek()
        (8, 3)
        """
        return cls._build(keys, counts, cls._dtype_of(counts), ties)

    @staticmethod
    def _dtype_of(counts: Any) -> Any:
        """Return the dtype of the heap that `counts` make; an empty list makes an int64 heap."""
        return np.float64 if as_array(counts).dtype.kind == "f" else np.int64

    @classmethod
    def _build(cls, keys: Any, counts: Any, dtype: Any, ties: str) -> Any:
        heap_type = cls.type(dtype, ties)
        keys = int64_array(keys)
        counts = (int64_array if heap_type.dtype == np.int64 else float64_array)(counts, "counts")
        cls._same_length(keys, counts, "counts")
        self = cls._like(new_heap(heap_type, *heap_type.start))
        failure, i = fill(self, keys, counts) if keys.size else (status.OK, 0)
        if failure < 0:
            raise error(failure, int(keys[i]) if i < keys.size else f"{keys.size} keys")
        return self

    def __reduce__(self) -> Any:
        made_by, arrays, attributes = super().__reduce__()
        return made_by, arrays if self.tie_order == "key" else (*arrays, self.tie_order), attributes

    def _equals(self, other: Any) -> bool:
        return self.tie_order == other.tie_order and super()._equals(other)

    def _content(self) -> tuple[np.ndarray, ...]:
        return super()._content() if self.tie_order == "key" else self.to_arrays()

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the counts: int64 or float64."""
        return self._type.dtype

    @property
    def tie_order(self) -> str:
        """What is first of equal counts: the smallest "key", or what came first, "fifo"."""
        return self._type.ties

    def _check(self) -> None:
        """Assert the numbered invariants of the module docstring."""
        import structures.hash_tables.int_map  # noqa: F401  binds the class of `id_of`

        table, id_of, n_ids, due = state(self)
        size = len(self)
        n_rows = int(table[0])
        assert table.size == n_rows * (KEYS if self.tie_order == "key" else ALL), "6: sections"
        assert size <= due <= capacity_of(table), "6: capacity"
        lanes = table[: ROW * n_rows].reshape(-1, 2, ARITY)
        rank, tie = (lanes[:, i].ravel()[ARITY - 1 :] for i in range(2))
        ids = table[IDS * n_rows : SLOTS * n_rows].view(np.int32)[:size]
        slot_of = table[SLOTS * n_rows : KEYS * n_rows].view(np.int32)[:n_ids]
        for slot in range(1, size):
            above = (slot - 1) >> ARITY_BITS
            assert (rank[above], tie[above]) < (rank[slot], tie[slot]), f"1: slot {slot} precedes its parent"
        row_end = -(-(size - 1) // ARITY) * ARITY + 1
        assert np.all(rank[max(size, 1) : row_end] == INT64_MAX), "2: ranks past the end"
        assert np.all(tie[max(size, 1) : row_end] == INT64_MAX), "2: ties past the end"
        assert np.array_equal(slot_of[ids], np.arange(size)), "3: slots and ids"
        keys = tie[:size] if self.tie_order == "key" else table[KEYS * n_rows :][ids]
        id_of._check()
        in_map = dict(id_of.items())
        assert [in_map[key] for key in keys.tolist()] == ids.tolist(), "4: keys and ids"
        n_gone = sum(slot_of[number] == GONE for number in in_map.values())
        assert len(in_map) == size + n_gone, "4: keys that are not in the heap"
        assert sorted(in_map.values()) == list(range(n_ids)), "5: ids"
        assert n_ids <= IDS_A_ROW * n_rows, "5: room for ids"


class MaxHeap(_Heap):
    """Addressable multiset heap, greatest count first; of equal counts, the smallest key or what came first.

    ``h[key] = count`` stores any count, also 0 and below; :meth:`add` and :meth:`sub` are the verbs of a
    multiset: a count of 0 removes the key, a count below 0 is an error. Calls from several
    threads take turns (:mod:`structures.base.locks`).

    With ``ties="fifo"`` the entry that came first leaves first, of those with equal counts. An entry whose
    count changes to another one is as new as if it had left and come again; one that is set to the count it
    has keeps its age. Copies and pickles keep the order of ages, and ``==`` compares it.

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
    ties : {"key", "fifo"}
        What is first of equal counts: the smallest key, or what came first.

    Raises
    ------
    TypeError
        `dtype` is another type, or a key or a count is not a number of its type.
    ValueError
        A key is a duplicate, a count is not a number, or `ties` is neither of the two.
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
    """Addressable multiset heap, least count first; of equal counts, the smallest key or what came first.

    The same as :class:`MaxHeap`, except for the order.

    Parameters
    ----------
    items : mapping or iterable of (int, int or float), optional
        Initial keys and counts; a repeated key is a ``ValueError``.
    dtype : {int64, float64}, optional
        Type of the counts; by default the type of the initial ones, int64 if there are none.
    ties : {"key", "fifo"}
        What is first of equal counts: the smallest key, or what came first.

    Raises
    ------
    TypeError
        `dtype` is another type, or a key or a count is not a number of its type.
    ValueError
        A key is a duplicate, a count is not a number, or `ties` is neither of the two.
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
def _max_heap(items=None, dtype=None, ties="key"):
    return _made(MaxHeap, items, dtype, ties)


@constructor(MinHeap)
def _min_heap(items=None, dtype=None, ties="key"):
    return _made(MinHeap, items, dtype, ties)


def _made(facade: Any, items: Any, dtype: Any, ties: Any) -> Any:
    """Return the code that makes a heap in compiled code."""
    if isinstance(items, types.Type):
        raise only_empty(facade, "keys, counts")
    heap_type = facade.type(dtype if items is None else items, ties)
    zero, complement = heap_type.start
    return lambda items=None, dtype=None, ties="key": new_heap(heap_type, zero, complement)


@class_method(MaxHeap, "from_arrays")
@class_method(MinHeap, "from_arrays")
def _from_arrays(cls, keys, counts, ties="key"):
    is_float = dtype_of_numbers(counts, "counts").kind == "f"
    heap_type = cls.facade.type(np.float64 if is_float else np.int64, ties)
    must_be_entries(heap_type, keys, "counts", counts)
    zero, complement = heap_type.start
    return lambda cls, keys, counts, ties="key": heap_of(heap_type, zero, complement, keys, counts)


__test__ = named_by_package(MaxHeap, MinHeap)
