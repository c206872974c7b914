"""``IndexedMaxHeap`` and ``IndexedMinHeap``: priority queues of the keys 0 ... n - 1, without a hash table.

A key is its own id in a tournament (:mod:`structures.priority_queues.tournament`, which has invariants 1 to
4). There is memory for all n keys.

Invariants
----------
5. Ages are below ``next_age`` with ``ties="fifo"``, else the keys.

Complexity
----------
===================================  =====================================================
peek, get, ``in``                    O(1)
set, add, sub, remove, pop, improve  O(log n), log32(n) levels; O(1) levels expected for a key
                                     that enters with a random priority, or is not the top
add_many, pop_many                   O(log n) per item
nlargest, nsmallest of k             O(k log n)
ties                                 O(m log n) for m keys
to_arrays, items                     O(m log n) for m keys
clear                                O(log n) for each key in the heap, at most O(n)
construction, from_arrays, copy      O(n)
memory                               8.5 bytes per key of the range; 17 with ages
===================================  =====================================================

Source: the methods are those of the indexed priority queue of Sedgewick and Wayne, Algorithms, 2.4.
"""

from __future__ import annotations

from typing import Any, Self, overload

import numpy as np

from structures import status
from structures.base.container import named_by_package
from structures.base.in_njit import (
    class_method,
    constructor,
    dtype_of_numbers,
    must_be_entries,
    must_be_integer,
)
from structures.base.struct_type import bind
from structures.base.typing import Number
from structures.priority_queues.indexed_heap_kernels import (
    TYPES,
    IndexedMaxHeapType,
    IndexedMinHeapType,
    indexed_heap_of,
)
from structures.priority_queues.tournament import GreatestFirst, KeyedHeap, LeastFirst, by_age_of
from structures.priority_queues.tournament_kernels import is_by_age, new_heap, tournament
from structures.priority_queues.tournament_layout import ABSENT
from structures.status import (
    as_array,
    float32,
    float32_array,
    float64_array,
    int64,
    int64_array,
)


class _IndexedHeap(KeyedHeap[Number]):
    """What both heaps share; see :class:`IndexedMaxHeap` and :class:`IndexedMinHeap`."""

    __slots__ = ()

    @overload
    def __new__(cls, n: int, dtype: type[Number] = ..., ties: str = ...) -> Self: ...
    @overload
    def __new__(cls, n: int, dtype: Any = ..., ties: str = ...) -> Self: ...
    def __new__(cls, n: int, dtype: Any = np.int64, ties: str = "key") -> Self:
        heap_type, nothing = cls.type(dtype), np.empty(0, np.int64)
        return cls._filled(heap_type, cls._room(n, "n"), ties, nothing, nothing)

    @classmethod
    def from_arrays(cls, keys: Any, priorities: Any, n: int | None = None, ties: str = "key") -> Self:
        """Build a heap from distinct keys and their priorities; its dtype is that of the priorities.

        Parameters
        ----------
        keys : (m,) array_like of int
        priorities : (m,) array_like of int or float
            An array of float32 makes a float32 heap, other floats a float64 heap.
        n : int, optional
            How many keys there can be; by default, the greatest key plus 1.
        ties : {"key", "fifo"}
            Which of equal priorities is first: the smallest key, or the first in the arrays.

        Returns
        -------
        IndexedMaxHeap or IndexedMinHeap

        Raises
        ------
        IndexError
            A key is not in ``range(n)``.
        ValueError
            A key is a duplicate, a priority is NaN, the arrays differ in length, or `ties` is not one of its
            choices.

        Complexity
        ----------
        O(n).

        Examples
        --------
        >>> from structures import IndexedMaxHeap
        >>> IndexedMaxHeap.from_arrays([7, 8, 9], [1, 3, 2]).peek()
        (8, 3)
        """
        keys, priorities = int64_array(keys), as_array(priorities)
        if priorities.dtype.kind != "f":
            priorities = int64_array(priorities, "priorities")
        elif priorities.dtype != np.float32:
            priorities = float64_array(priorities, "priorities")
        n = cls._room(int(keys.max(initial=-1)) + 1 if n is None else n, "n")
        return cls._filled(cls.type(priorities.dtype), n, ties, keys, priorities)

    def __reduce__(self) -> Any:
        arguments = (*self.to_arrays(), self.n_keys, "fifo" if is_by_age(self) else "key")
        return type(self).from_arrays, arguments, self._attributes() or None

    @property
    def n_keys(self) -> int:
        """How many keys there can be: 0 ... ``n_keys - 1``."""
        return self._type.entries.n_keys(self)

    def _number(self, value: Any, name: str) -> Any:
        return float32(value, name) if self.dtype == np.float32 else super()._number(value, name)

    def _numbers(self, values: Any, name: str) -> np.ndarray:
        return float32_array(values, name) if self.dtype == np.float32 else super()._numbers(values, name)

    def _in_range(self, key: int) -> int:
        """Return a key, or raise if it is out of range."""
        if not 0 <= int64(key) < self.n_keys:
            self._done(status.OUT_OF_RANGE, key)
        return key

    def __getitem__(self, key: int) -> Number:
        return super().__getitem__(self._in_range(key))

    def replace(self, key: int, priority: Any) -> tuple[int, Number]:
        """Remove the top and set `key` to `priority`; return (key, priority) of the old top.

        Parameters
        ----------
        key : int
            May be in the heap, or be its top.
        priority : int or float

        Returns
        -------
        key : int
        priority : int or float

        Raises
        ------
        KeyError
            There are no keys.
        IndexError
            `key` is not in ``range(n_keys)``; the heap is as it was.
        ValueError
            `priority` is NaN; the heap is as it was.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> from structures import IndexedMinHeap
        >>> h = IndexedMinHeap.from_arrays([7, 8], [2, 5], n=10)
        >>> h.replace(9, 4), h.peek()
        ((7, 2), (9, 4))
        """
        return super().replace(self._in_range(key), priority)

    def improve(self, key: int, priority: Any) -> bool:
        """Insert `key`, or give it `priority` if that is nearer to the top than its present priority.

        This is known as *decrease-key* or *push-or-decrease*. In compiled code it returns 1 or 0, or a status
        below 0: ``if h.improve(key, priority) > 0``.

        Parameters
        ----------
        key : int
        priority : int or float

        Returns
        -------
        bool
            Whether the key was inserted or its priority changed.

        Raises
        ------
        IndexError
            `key` is not in ``range(n_keys)``.
        ValueError
            `priority` is NaN.

        Complexity
        ----------
        O(log n); O(1) levels expected for a random priority.

        Examples
        --------
        >>> from structures import IndexedMinHeap
        >>> h = IndexedMinHeap(10)
        >>> h.improve(7, 5), h.improve(7, 6), h.improve(7, 4)
        (True, False, True)
        >>> h.pop()
        (7, 4)
        """
        changed = self._type.entries.improve(self, int64(key), self._number(priority, self._noun))
        self._done(changed, key)
        return changed > 0

    def _check(self) -> None:
        """Assert the numbered invariants of the module docstring."""
        super()._check()
        ranks, winners, ages, _, _ = tournament(self)
        (keys,) = np.nonzero(ages[: ranks.size - winners.size] != ABSENT)
        assert np.array_equal(ages[keys], keys) or is_by_age(self), "5: keys are ages"


class IndexedMaxHeap(GreatestFirst[Number], _IndexedHeap[Number]):
    """Priority queue of the keys 0 ... n - 1, ``h[key] = priority``: the greatest priority first.

    For keys that are already numbered: nodes of a graph, pixels, vertices of a mesh. It has the methods of
    :class:`MaxHeap` and is several times as fast, but takes memory for all n keys. One heap can be used for
    many searches: :meth:`clear` takes time only for the keys in the heap.

    A priority is any number, also 0 and below. :meth:`add` and :meth:`sub` are for heaps of counts: a count
    of 0 removes the key, a count below 0 is an error. Calls from threads take turns.

    Inside ``@njit`` there are the same methods and operators. Without ``boundscheck`` nothing raises there,
    except if there is no memory for an array that is returned: a missing key has the priority 0, an empty
    heap returns ``(0, 0)`` (check ``len(h)`` first), and methods that change the heap return a status, below
    0 for a failure. A float for an integer is a typing error there.

    Methods for single keys:

    * ``h[key]``, ``h[key] = priority``, ``del h[key]``, ``key in h``, ``len(h)``
    * :meth:`improve`, :meth:`get`, :meth:`add`, :meth:`sub`
    * ``h.prefetch(key)``, only in compiled code: starts to load what the next call with that key will need

    Methods for the top:

    * :meth:`peek`, :meth:`pop`, :meth:`pop_many`, :meth:`ties`, :meth:`nlargest`

    Methods for many keys and the whole:

    * :meth:`from_arrays`, :meth:`add_many`, :meth:`items`, :meth:`to_arrays`; iteration is in pop order
    * :meth:`copy`, :meth:`clear`, :attr:`nbytes`, :attr:`dtype`, :attr:`n_keys`; ``==``, pickle

    Parameters
    ----------
    n : int
        How many keys there can be.
    dtype : {int64, float64, float32}
        Type of the priorities.
    ties : {"key", "fifo"}
        Which of equal priorities is first: the smallest key, or the key that came first. A key whose priority
        changes counts as new, as if it had left and come again; setting the same priority changes nothing.

    Raises
    ------
    TypeError
        `n` is not an integer, or `dtype` is another type.
    ValueError
        `n` is negative, or `ties` is not one of its choices.
    MemoryError
        There is not enough memory.

    Examples
    --------
    >>> from structures import IndexedMaxHeap
    >>> h = IndexedMaxHeap(100, ties="fifo")
    >>> h[7] = 5; h[3] = 5; h[4] = 1
    >>> list(h.items())
    [(7, 5), (3, 5), (4, 1)]
    """

    __slots__ = ()
    _types = TYPES[IndexedMaxHeapType]


class IndexedMinHeap(LeastFirst[Number], _IndexedHeap[Number]):
    """Priority queue of the keys 0 ... n - 1, ``h[key] = priority``: the least priority first.

    The same as :class:`IndexedMaxHeap`, except for the order.

    Parameters
    ----------
    n : int
        How many keys there can be.
    dtype : {int64, float64, float32}
        Type of the priorities.
    ties : {"key", "fifo"}
        Which of equal priorities is first: the smallest key, or the key that came first. A key whose priority
        changes counts as new, as if it had left and come again; setting the same priority changes nothing.

    Raises
    ------
    TypeError
        `n` is not an integer, or `dtype` is another type.
    ValueError
        `n` is negative, or `ties` is not one of its choices.
    MemoryError
        There is not enough memory.

    Examples
    --------
    >>> from structures import IndexedMinHeap
    >>> distance = IndexedMinHeap(10, dtype=float)
    >>> distance[3] = 2.5
    >>> distance[4] = 0.5
    >>> distance.pop()
    (4, 0.5)
    """

    __slots__ = ()
    _types = TYPES[IndexedMinHeapType]


bind(IndexedMaxHeapType, IndexedMaxHeap)
bind(IndexedMinHeapType, IndexedMinHeap)


@constructor(IndexedMaxHeap)
def _indexed_max_heap(n, dtype=np.int64, ties="key"):
    return _made(IndexedMaxHeap, n, dtype, ties)


@constructor(IndexedMinHeap)
def _indexed_min_heap(n, dtype=np.int64, ties="key"):
    return _made(IndexedMinHeap, n, dtype, ties)


def _made(facade: Any, n: Any, dtype: Any, ties: Any) -> Any:
    """Return the code that makes a heap in compiled code."""
    must_be_integer(n, "n")
    heap_type, by_age = facade.type(dtype), by_age_of(ties)
    zero, complement = heap_type.start
    return lambda n, dtype=np.int64, ties="key": new_heap(heap_type, n, zero, complement, by_age)


@class_method(IndexedMaxHeap, "from_arrays")
@class_method(IndexedMinHeap, "from_arrays")
def _from_arrays(cls, keys, priorities, n=None, ties="key"):
    heap_type, by_age = cls.facade.type(dtype_of_numbers(priorities, "priorities")), by_age_of(ties)
    must_be_entries(heap_type, keys, "priorities", priorities)
    must_be_integer(0 if n is None else n, "n")
    start = *heap_type.start, by_age
    return lambda cls, keys, priorities, n=None, ties="key": indexed_heap_of(
        heap_type, start, keys, priorities, n
    )


__test__ = named_by_package(IndexedMaxHeap, IndexedMinHeap)
