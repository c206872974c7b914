"""``MaxHeap`` and ``MinHeap``: addressable multiset heaps. Any int64 is a key; its count is its priority.

A map gives each key a number, its *id*. The ids are the leaves of a tournament that grows
(:mod:`structures.priority_queues.tournament`, which has invariants 1 to 4)::

    map      key -> id
    key_of   key_of[id], with ties="fifo"; empty with ties="key", as the key is ages[id] then

A key that leaves the heap stays in the map, and gets the same id if it comes back. When ids run out and at
least a quarter of them belong to keys that left, the map is cleared and the keys in the heap get the first
ids. Otherwise the tournament grows: its leaves are copied, and the levels above them are rebuilt.

The methods are defined in :mod:`structures.base` and :mod:`structures.priority_queues.tournament`.

Invariants
----------
5. ``map`` has the id of each key in the heap; with ``ties="key"``, the age of an entry is its key.
6. The ids in the map, of all keys in it, are 0 ... ``n`` - 1.

Complexity
----------
===================================  =====================================================
peek, get, ``in``                    O(1) expected
set, add, sub, remove, pop           O(log n), log32(n) levels, amortized over growth; O(1)
                                     levels expected for a key that is not the top
add_many, pop_many                   O(log n) per item
nlargest, nsmallest of k             O(k log n)
ties                                 O(m log n) for m keys
from_arrays, copy                    O(n)
to_arrays, items                     O(n) for each byte that varies
memory                               17 to 34 bytes per key, 25 to 50 with ``ties="fifo"``; and the
                                     map, 26 to 51; a third more with keys that have left
===================================  =====================================================
"""

from __future__ import annotations

from typing import Any, Self, overload

import numpy as np
from numba import types

from structures.base.container import named_by_package
from structures.base.in_njit import (
    class_method,
    constructor,
    dtype_of_numbers,
    must_be_entries,
    only_empty,
)
from structures.base.struct_type import bind
from structures.base.typing import Number, Pairs
from structures.priority_queues.multiset_heap_kernels import (
    MaxHeapType,
    MinHeapType,
    heap_type,
    state,
)
from structures.priority_queues.tournament import GreatestFirst, KeyedHeap, LeastFirst, by_age_of
from structures.priority_queues.tournament_kernels import heap_of, is_by_age, new_heap, tournament
from structures.priority_queues.tournament_layout import ABSENT
from structures.status import as_array, dtype_name, float64_array, int64_array


class _MultisetHeap(KeyedHeap[Number]):
    """What both heaps share; see :class:`MaxHeap` and :class:`MinHeap`."""

    __slots__ = ()

    @overload
    def __new__(cls, items: Pairs[int, Number] = ..., dtype: None = ..., *, ties: str = ...) -> Self: ...
    @overload
    def __new__(cls, items: type[Number], *, ties: str = ...) -> Self: ...
    @overload
    def __new__(cls, items: Any = ..., *, dtype: type[Number], ties: str = ...) -> Self: ...
    @overload
    def __new__(cls, items: Any = ..., dtype: Any = ..., *, ties: str = ...) -> Self: ...
    def __new__(cls, items: Any = (), dtype: Any = None, *, ties: str = "key") -> Self:
        if isinstance(items, (type, np.dtype, str)):  # MaxHeap(float)
            if dtype is not None:
                raise TypeError(f"the dtype is given twice: {items!r} and {dtype!r}")
            items, dtype = (), items
        keys, priorities = cls._unzipped(items)
        return cls._build(keys, priorities, cls._dtype_of(priorities) if dtype is None else dtype, ties)

    @classmethod
    def type(cls, dtype: Any = None, ties: str = "key") -> Any:
        """Return the numba type of a heap, for ``List.empty_list``, field specifications and signatures.

        Parameters
        ----------
        dtype : {int64, float64}, optional
            Type of the priorities, int64 by default.
        ties : {"key", "fifo"}
            Which of equal priorities is first: the smallest key, or the key that came first.

        Returns
        -------
        numba type

        Raises
        ------
        TypeError
            Another dtype.
        ValueError
            `ties` is not one of its choices.

        Complexity
        ----------
        O(1).

        Examples
        --------
        >>> from numba.typed import List
        >>> heaps = List.empty_list(MinHeap.type(float))
        >>> heaps.append(MinHeap(float))
        """
        by_age_of(ties)
        return heap_type(cls._greatest_first, dtype_name(np.int64 if dtype is None else dtype), ties)

    @classmethod
    def from_arrays(cls, keys: Any, priorities: Any, ties: str = "key") -> Self:
        """Build a heap from distinct keys and their priorities; float priorities make a float64 heap.

        Parameters
        ----------
        keys : (n,) array_like of int
            With ``ties="fifo"``, in the order in which they came.
        priorities : (n,) array_like of int or float
        ties : {"key", "fifo"}
            Which of equal priorities is first: the smallest key, or the key that came first.

        Returns
        -------
        MaxHeap or MinHeap

        Raises
        ------
        ValueError
            A key is a duplicate, a priority is NaN, the arrays differ in length, or `ties` is not one of its
            choices.

        Complexity
        ----------
        O(n) expected.

        Examples
        --------
        >>> MaxHeap.from_arrays([7, 8, 9], [1, 3, 2]).peek()
        (8, 3)
        """
        return cls._build(keys, priorities, cls._dtype_of(priorities), ties)

    @staticmethod
    def _dtype_of(priorities: Any) -> Any:
        """Return the dtype of the heap that `priorities` make; an empty list makes an int64 heap."""
        return np.float64 if as_array(priorities).dtype.kind == "f" else np.int64

    @classmethod
    def _build(cls, keys: Any, priorities: Any, dtype: Any, ties: str) -> Self:
        numba_type = cls.type(dtype, ties)
        keys = int64_array(keys)
        checked = int64_array if numba_type.dtype == np.int64 else float64_array
        return cls._filled(numba_type, keys.size, ties, keys, checked(priorities, "priorities"))

    def __reduce__(self) -> Any:
        made_by, arrays, attributes = super().__reduce__()
        if self.tie_order == "fifo":
            arrays = (*arrays, self.tie_order)
        return made_by, arrays, attributes

    def _equals(self, other: Any) -> bool:
        return self.tie_order == other.tie_order and super()._equals(other)

    @property
    def tie_order(self) -> str:
        """Which of equal priorities is first: the smallest key ("key"), or the first that came ("fifo")."""
        return "fifo" if is_by_age(self) else "key"

    def _check(self) -> None:
        """Assert the numbered invariants of the module docstring."""
        import structures.hash_tables.int_map  # noqa: F401  binds the class of `id_of`

        super()._check()
        key_of, id_of = state(self)
        ranks, _, ages, n, last = tournament(self)
        id_of._check()
        assert sorted(id_of.values().tolist()) == list(range(n)), "6: ids"
        for key, key_id in id_of.items():
            if (ranks[key_id], ages[key_id]) != (ABSENT, ABSENT) or key_id == last:
                assert (key_of if self.tie_order == "fifo" else ages)[key_id] == key, "5: keys and ids"


class MaxHeap(GreatestFirst[Number], _MultisetHeap[Number]):
    """Priority queue of keys, ``h[key] = priority``: the greatest priority first, then the smallest key.

    A priority is any number, also 0 and below. :meth:`add` and :meth:`sub` are for heaps of counts: a count
    of 0 removes the key, a count below 0 is an error. Calls from threads take turns.

    With ``ties="fifo"``, the key that came first leaves first, of those with equal priorities. A key whose
    priority changes counts as new, as if it had left and come again; setting the same priority changes
    nothing. Copies and pickles keep the order of ages, and ``==`` compares it.

    Inside ``@njit`` there are the same methods and operators. Without ``boundscheck`` nothing raises there,
    except ``from_arrays``, as in Python, and methods that return an array if there is no memory for it: a
    missing key has the priority 0, an empty heap returns ``(0, 0)`` (check ``len(h)`` first), and methods
    that change the heap return a status, below 0 for a failure. A float for an integer is a typing error
    there.

    Methods for single keys:

    * ``h[key]``, ``h[key] = priority``, ``del h[key]``, ``key in h``, ``len(h)``
    * :meth:`get`, :meth:`add`, :meth:`sub`, :meth:`setdefault`

    Methods for the top:

    * :meth:`peek`, :meth:`pop`, :meth:`replace`, :meth:`pop_many`, :meth:`ties`, :meth:`nlargest`

    Methods for many keys and the whole:

    * :meth:`from_arrays`, :meth:`add_many`, :meth:`get_many`, :meth:`set_many`, :meth:`remove_many`
    * :meth:`items`, :meth:`to_arrays`; iteration is in pop order
    * :meth:`copy`, :meth:`clear`, :meth:`reserve`, :attr:`nbytes`, :attr:`dtype`; ``==``, pickle

    Parameters
    ----------
    items : mapping or iterable of (int, int or float), optional
        Initial keys and priorities; a repeated key is a ``ValueError``. ``MaxHeap(float)`` is
        ``MaxHeap(dtype=float)``.
    dtype : {int64, float64}, optional
        Type of the priorities; by default the type of the initial ones, int64 if there are none.
    ties : {"key", "fifo"}
        Which of equal priorities is first: the smallest key, or the key that came first.

    Raises
    ------
    TypeError
        `dtype` is another type, or a key or a priority is not a number of its type.
    ValueError
        A key is a duplicate, a priority is NaN, or `ties` is not one of its choices.
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


class MinHeap(LeastFirst[Number], _MultisetHeap[Number]):
    """Priority queue of keys, ``h[key] = priority``: the least priority first, then the smallest key.

    The same as :class:`MaxHeap`, except for the order.

    Parameters
    ----------
    items : mapping or iterable of (int, int or float), optional
        Initial keys and priorities; a repeated key is a ``ValueError``.
    dtype : {int64, float64}, optional
        Type of the priorities; by default the type of the initial ones, int64 if there are none.
    ties : {"key", "fifo"}
        Which of equal priorities is first: the smallest key, or the key that came first.

    Raises
    ------
    TypeError
        `dtype` is another type, or a key or a priority is not a number of its type.
    ValueError
        A key is a duplicate, a priority is NaN, or `ties` is not one of its choices.
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
    if isinstance(items, types.Type):  # values, known only when it runs; MaxHeap(float) gives a dtype
        raise only_empty(facade, "keys, priorities")
    numba_type = facade.type(dtype if items is None else items, ties)
    zero, complement = numba_type.start
    by_age = by_age_of(ties)
    return lambda items=None, dtype=None, ties="key": new_heap(numba_type, 0, zero, complement, by_age)


@class_method(MaxHeap, "from_arrays")
@class_method(MinHeap, "from_arrays")
def _from_arrays(cls, keys, priorities, ties="key"):
    is_float = dtype_of_numbers(priorities, "priorities").kind == "f"
    numba_type = cls.facade.type(np.float64 if is_float else np.int64, ties)
    must_be_entries(numba_type, keys, "priorities", priorities)
    start = *numba_type.start, by_age_of(ties)
    return lambda cls, keys, priorities, ties="key": heap_of(numba_type, keys.size, start, keys, priorities)


__test__ = named_by_package(MaxHeap, MinHeap)
