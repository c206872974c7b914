"""``Heap``: a priority queue of (priority, payload) pairs, like ``heapq``, without keys.

An entry has an id in a tournament (:mod:`structures.priority_queues.tournament`, which has invariants 1, 2
and 4). The payload of an entry is used as its age there. So entries leave in the order of ``heapq`` with
tuples: the least priority first, and of equal priorities the least payload. The id is the handle that
:meth:`Heap.push` returns. The id of an entry that has left is given to the next one.

Invariants
----------
5. No payload is the greatest int64, which marks ids that are not in the heap.
6. The first ``n - size`` words of ``free_ids`` are the ids below ``n`` that are not in the heap.

Complexity
----------
==========================================  ===============================================
peek                                        O(1)
push, pop, pushpop, replace, change,        O(log n), log32(n) levels; push O(1) levels
remove                                      expected for random priorities
nsmallest of k                              O(k log n)
to_arrays, iteration, ``==``                O(n log n)
heapify, copy, reserve, clear               O(n)
memory                                      25 bytes per entry, up to four times that after
                                            growth of a small heap
==========================================  ===============================================

Source: Knuth, The Art of Computer Programming, 5.4.1, trees of winners; Python's ``heapq`` for the methods.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, Self, overload

import numpy as np
from numba import types

from structures import status
from structures.base.container import OfNumbers, named_by_package
from structures.base.in_njit import class_method, constructor, dtype_of_numbers, must_be_entries
from structures.base.struct_type import bind
from structures.base.typing import Number
from structures.priority_queues.heap_kernels import (
    TYPES,
    PlainHeapType,
    fill,
    free_ids_of,
    heap_of_pairs,
)
from structures.priority_queues.tournament import check_tournament
from structures.priority_queues.tournament_kernels import has_room, new_heap, tournament
from structures.priority_queues.tournament_layout import ABSENT
from structures.status import as_array, float64_array, int64, int64_array, number


class Heap(OfNumbers, Generic[Number]):
    """Priority queue of (priority, payload) pairs, least first; pairs may repeat.

    The queue for events, tasks and search nodes, where nothing is looked up by key. For keys whose priority
    changes, there are :class:`MinHeap` and, if they are 0 ... n - 1, :class:`IndexedMinHeap`. A payload is an
    integer, for instance the index of a record in an array of yours.

    Pairs leave in the order of ``heapq`` with tuples ``(priority, payload)``: of equal priorities, the least
    payload is first. Calls from threads take turns.

    :meth:`push` returns a handle, with which an entry may be changed or removed until it leaves. Handles are
    small integers; the handle of an entry that has left is given to a later one. Of two equal pairs, either
    may leave first. A copy has the same handles, an unpickled heap has new ones.

    Inside ``@njit`` there are the same methods. Without ``boundscheck`` nothing raises there, except if there
    is no memory for an array that is returned: an empty heap returns ``(0, 0)`` (check ``len(h)`` first), and
    ``push``, ``change`` and ``remove`` return a status below 0 for a failure. A float for an integer is a
    typing error there.

    Methods for single entries:

    * :meth:`push`, :meth:`pop`, :meth:`peek`, :meth:`pushpop`, :meth:`replace`
    * :meth:`change`, :meth:`remove`, by handle

    Methods for the whole:

    * :meth:`heapify`, :meth:`to_arrays`, :meth:`nsmallest`; iteration is over pairs in the order of ``pop``
    * :meth:`copy`, :meth:`clear`, :meth:`reserve`, :attr:`nbytes`, :attr:`dtype`; ``len``, ``==``, pickle

    Parameters
    ----------
    dtype : {int64, int32, float64, float32}
        Type of the priorities.

    Raises
    ------
    TypeError
        Another dtype.

    Examples
    --------
    >>> from structures import Heap
    >>> h = Heap(float)
    >>> late, soon = h.push(2.5, 7), h.push(0.5, 9)
    >>> h.change(late, 0.25)
    >>> h.pop(), len(h)
    ((0.25, 7), 1)
    """

    __slots__ = ()
    _types = TYPES

    @overload
    def __new__(cls, dtype: type[Number] = ...) -> Self: ...
    @overload
    def __new__(cls, dtype: Any = ...) -> Self: ...
    def __new__(cls, dtype: Any = np.int64) -> Self:
        heap_type = cls.type(dtype)
        return cls._like(new_heap(heap_type, 0, heap_type.start, 0, 0))

    @classmethod
    def heapify(cls, priorities: Any, payloads: Any) -> Self:
        """Build a heap from arrays, with the dtype of the priorities; the handle of pair i is i.

        Parameters
        ----------
        priorities : (n,) array_like of int or float
            Arrays of int32 and float32 make heaps of that dtype, others int64 or float64 heaps.
        payloads : (n,) array_like of int

        Returns
        -------
        Heap

        Raises
        ------
        ValueError
            A priority is not a number, or the arrays differ in length.
        OverflowError
            A number does not fit int64, or a payload is 2**63 - 1.

        Complexity
        ----------
        O(n).

        Examples
        --------
        >>> from structures import Heap
        >>> Heap.heapify([3, 1, 2], [7, 8, 9]).pop()
        (1, 8)
        """
        priorities, payloads = as_array(priorities), int64_array(payloads, "payloads")
        if priorities.ndim != 1 or priorities.dtype.name not in cls._types:
            is_float = priorities.dtype.kind == "f"
            priorities = (float64_array if is_float else int64_array)(priorities, "priorities")
        if priorities.size != payloads.size:
            raise ValueError(f"{priorities.size} priorities but {payloads.size} payloads")
        heap_type = cls.type(priorities.dtype)
        self = cls._like(new_heap(heap_type, priorities.size, heap_type.start, 0, 0))
        cls._done(
            status.OK if has_room(self, priorities.size) else status.NO_MEMORY, f"{payloads.size} pairs"
        )
        failure, i = fill(self, np.ascontiguousarray(priorities), payloads)
        if failure < 0:
            cls._payload(payloads[i], f"payloads[{i}]")
        cls._done(failure, f"payload {payloads[min(i, payloads.size - 1)]}" if payloads.size else "")
        return self

    from_arrays = heapify

    def _priority(self, value: Any) -> Any:
        """Return a priority in the range of the dtype, or raise."""
        return number(value, "priority", self.dtype)

    @staticmethod
    def _payload(value: Any, name: str = "payload") -> int:
        """Return a payload, or raise."""
        payload = int64(value, name)
        if payload == ABSENT:
            raise OverflowError(f"{name} must be below 2**63 - 1")
        return payload

    def _pair(self, priority: Any, payload: Any) -> tuple[Number, int]:
        """Return a checked pair, or raise."""
        priority, payload = self._priority(priority), self._payload(payload)
        if priority != priority:
            self._done(status.NOT_A_NUMBER, f"payload {payload}")
        return priority, payload

    def push(self, priority: Any, payload: int) -> int:
        """Insert a pair.

        Parameters
        ----------
        priority : int or float
        payload : int
            Below 2**63 - 1.

        Returns
        -------
        int
            The handle of the entry, for :meth:`change` and :meth:`remove`.

        Raises
        ------
        ValueError
            `priority` is not a number.
        OverflowError
            A number is out of range.
        MemoryError
            There is no memory to grow; the heap is as it was.

        Complexity
        ----------
        O(log n); O(1) levels expected for random priorities.

        Examples
        --------
        >>> from structures import Heap
        >>> h = Heap()
        >>> h.push(5, 7), h.push(5, 7)
        (0, 1)
        """
        handle = self._type.entries.push(self, *self._pair(priority, payload))
        self._done(handle, "one more entry")
        return handle

    def pop(self) -> tuple[Number, int]:
        """Remove the least pair and return it.

        Returns
        -------
        priority : int or float
        payload : int

        Raises
        ------
        IndexError
            The heap is empty.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> from structures import Heap
        >>> h = Heap.heapify([3, 1], [7, 8])
        >>> h.pop(), h.pop()
        ((1, 8), (3, 7))
        """
        return self._checked("_checked_pop")

    def peek(self) -> tuple[Number, int]:
        """Return the least pair.

        Returns
        -------
        priority : int or float
        payload : int

        Raises
        ------
        IndexError
            The heap is empty.

        Complexity
        ----------
        O(1).

        Examples
        --------
        >>> from structures import Heap
        >>> Heap.heapify([3, 1], [7, 8]).peek()
        (1, 8)
        """
        return self._checked("_checked_peek")

    def pushpop(self, priority: Any, payload: int) -> tuple[Number, int]:
        """Insert a pair, then remove the least one and return it; faster than both in turn.

        Where the new pair stays, it has the handle of the one that leaves.

        Parameters
        ----------
        priority : int or float
        payload : int

        Returns
        -------
        priority : int or float
        payload : int

        Raises
        ------
        ValueError
            `priority` is not a number; the heap is as it was.
        OverflowError
            A number is out of range; the heap is as it was.

        Complexity
        ----------
        O(log n); O(1) where the new pair is the least.

        Examples
        --------
        >>> from structures import Heap
        >>> h = Heap.heapify([3, 1], [7, 8])
        >>> h.pushpop(0, 9), h.pushpop(2, 9)
        ((0, 9), (1, 8))
        """
        return self._type.entries.pushpop(self, *self._pair(priority, payload))

    def replace(self, priority: Any, payload: int) -> tuple[Number, int]:
        """Remove the least pair and return it, and insert another, which gets its handle.

        Parameters
        ----------
        priority : int or float
        payload : int

        Returns
        -------
        priority : int or float
        payload : int

        Raises
        ------
        IndexError
            The heap is empty.
        ValueError
            `priority` is not a number; the heap is as it was.
        OverflowError
            A number is out of range; the heap is as it was.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> from structures import Heap
        >>> h = Heap.heapify([3, 1], [7, 8])
        >>> h.replace(0, 9), h.peek()
        ((1, 8), (0, 9))
        """
        return self._checked("_checked_replace", *self._pair(priority, payload))

    def change(self, handle: int, priority: Any) -> None:
        """Give an entry another priority; its payload and its handle stay.

        Parameters
        ----------
        handle : int
            What :meth:`push` returned, of an entry that has not left.
        priority : int or float

        Raises
        ------
        KeyError
            No entry has the handle.
        ValueError
            `priority` is not a number; the heap is as it was.
        OverflowError
            `priority` does not fit the dtype; the heap is as it was.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> from structures import Heap
        >>> h = Heap.heapify([3, 1], [7, 8])
        >>> h.change(0, -5)
        >>> h.peek()
        (-5, 7)
        """
        changed = self._type.entries.change(self, int64(handle, "handle"), self._priority(priority))
        self._done(changed, f"handle {handle}")

    def remove(self, handle: int) -> None:
        """Remove an entry.

        Parameters
        ----------
        handle : int
            What :meth:`push` returned, of an entry that has not left.

        Raises
        ------
        KeyError
            No entry has the handle.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> from structures import Heap
        >>> h = Heap.heapify([3, 1], [7, 8])
        >>> h.remove(1)
        >>> h.peek()
        (3, 7)
        """
        self._done(self._type.entries.remove(self, int64(handle, "handle")), f"handle {handle}")

    def nsmallest(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the first `k` pairs in order, or all if there are fewer; they stay in the heap.

        Parameters
        ----------
        k : int

        Returns
        -------
        priorities : (m,) of the dtype of the heap
        payloads : (m,) int64

        Raises
        ------
        ValueError
            `k` is negative.

        Complexity
        ----------
        O(k log n).

        Examples
        --------
        >>> from structures import Heap
        >>> Heap.heapify([3, 1, 2], [7, 8, 9]).nsmallest(2)
        (array([1, 2]), array([8, 9]))
        """
        return self._kernels.nsmallest(self, self._room(k, "k"))

    def to_arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all pairs in the order of :meth:`pop`, as :meth:`heapify` takes them.

        Returns
        -------
        priorities : (n,) of the dtype of the heap
        payloads : (n,) int64

        Complexity
        ----------
        O(n log n).

        Examples
        --------
        >>> from structures import Heap
        >>> Heap.heapify([3, 1], [7, 8]).to_arrays()
        (array([1, 3]), array([8, 7]))
        """
        return self._kernels.to_arrays(self)

    def __iter__(self) -> Iterator[tuple[Number, int]]:
        return zip(*(array.tolist() for array in self.to_arrays()), strict=True)

    def _content(self) -> tuple[np.ndarray, ...]:
        """Return the pairs in the order of popping."""
        return self.to_arrays()

    def clear(self) -> None:
        """Remove every entry; the memory stays."""
        self._kernels.clear(self)

    def reserve(self, n: int) -> None:
        """Make room for `n` entries in all, so that there is no growth until then.

        Parameters
        ----------
        n : int

        Raises
        ------
        ValueError
            `n` is negative.
        MemoryError
            There is not enough memory; the heap is as it was.

        Complexity
        ----------
        O(n).

        Examples
        --------
        >>> from structures import Heap
        >>> h = Heap()
        >>> h.reserve(1000)
        """
        self._done(self._kernels.reserve(self, self._room(n, "n")), f"{n} entries")

    def _check(self) -> None:
        """Assert the numbered invariants of the module docstring."""
        payloads = check_tournament(self)
        assert not np.any(payloads == ABSENT), "5: payloads"
        ranks, _, ages, n, _ = tournament(self)
        is_in = (ranks[:n] != ABSENT) | (ages[:n] != ABSENT)
        assert np.array_equal(np.sort(free_ids_of(self)), np.nonzero(~is_in)[0]), "6: free ids"


bind(PlainHeapType, Heap)


@constructor(Heap)
def _heap(dtype=np.int64):
    heap_type = Heap.type(dtype)
    zero = heap_type.start
    return lambda dtype=np.int64: new_heap(heap_type, 0, zero, 0, 0)


@class_method(Heap, "heapify")
@class_method(Heap, "from_arrays")
def _heapify(cls, priorities, payloads):
    dtype = dtype_of_numbers(priorities, "priorities")
    heap_type = Heap.type(np.int32 if priorities.dtype == types.int32 else dtype)
    must_be_entries(heap_type, payloads, "priorities", priorities)
    zero = heap_type.start
    return lambda cls, priorities, payloads: heap_of_pairs(heap_type, zero, priorities, payloads)


__test__ = named_by_package(Heap)
