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

from structures import status
from structures.counted import Counted
from structures.facade import named_by_package
from structures.multiset_heap_blocks import (
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
from structures.multiset_heap_kernels import (
    MaxHeapType,
    MinHeapType,
    fill,
    heap_type,
    new_heap,
    state,
)
from structures.status import INT64_MAX, as_array, error, float64_array, int64_array, name_of_dtype
from structures.struct_type import bind


class _Heap(Counted):
    """What both heaps share; see :class:`MaxHeap` and :class:`MinHeap`."""

    __slots__ = ()
    _greatest_first: bool

    def __new__(cls, items: Any = (), dtype: Any = None, ties: str = "key") -> Any:
        keys, counts = cls._unzipped(items)
        return cls._build(keys, counts, cls._dtype_of(counts) if dtype is None else dtype, ties)

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
        name = name_of_dtype(dtype)
        if not isinstance(ties, str) or ties not in ("key", "fifo"):
            raise ValueError(f'ties must be "key" or "fifo", not {ties!r}')
        keys = int64_array(keys)
        counts = (int64_array if name == "int64" else float64_array)(counts, "counts")
        cls._same_length(keys, counts, "counts")
        zero = 0 if name == "int64" else 0.0
        self = cls._like(new_heap(heap_type(cls._greatest_first, name, ties), zero, -cls._greatest_first))
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
__test__ = named_by_package(MaxHeap, MinHeap)
