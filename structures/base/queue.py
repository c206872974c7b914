"""Keys with an order, by priorities, which may be counts; the top is read and removed."""

from __future__ import annotations

from typing import Any

import numpy as np

from structures import status
from structures.base.container import NOT_GIVEN
from structures.base.mapping import Keyed, KeyedType
from structures.base.struct_type import method
from structures.base.typing import Default, Number
from structures.compiling.jit import inner, kernel, quiet
from structures.primitives.memory import new_words
from structures.primitives.simd import larger, smaller
from structures.status import error, int64


class CountedType(KeyedType):
    """Base of the types that also have ``sub``, ``peek``, ``pop``, ``pop_many``, ``replace`` and ``ties``."""


@method(CountedType, "_before_peek")
@method(CountedType, "_before_peek_min")
@method(CountedType, "_before_pop")
@method(CountedType, "_before_pop_min")
@method(CountedType, "_before_max_count")
@method(CountedType, "_before_min_count")
@quiet
def _before_pop(self):
    return status.OK if self.size > 0 else status.EMPTY


@method(CountedType, "_before_replace")
@quiet
def _before_replace(self, key, priority):
    return status.NOT_A_NUMBER if priority != priority else _before_pop(self)


@inner
def _pop_into(self, keys, priorities):
    for i in range(keys.size):
        keys[i], priorities[i] = self.pop()


@method(CountedType, "pop_many")
@kernel
def _pop_many(self, k):
    n = smaller(larger(k, 0), self.size)
    keys = new_words(n)
    priorities = np.full(n, self.get(0))  # the dtype of the priorities
    _pop_into(self, keys, priorities)
    return keys, priorities


@method(CountedType, "replace")
@quiet
def _replace(self, key, priority):
    top = self.pop()
    self.set(key, priority)
    return top


class Counted(Keyed[int, Number]):
    """Base of the classes that have a top: keys with priorities, which are counts in ``CountBuckets``."""

    __slots__ = ()
    _noun = "priority"

    def add(self, key: int, n: Any = 1) -> None:
        """Add `n` to the count of `key`; a missing key counts as 0, a sum of 0 removes the key.

        Parameters
        ----------
        key : int
        n : int or float

        Raises
        ------
        ValueError
            The count would be below 0, or the sum is NaN; the container is as it was.
        OverflowError
            The sum does not fit int64; the container is as it was.

        Complexity
        ----------
        A heap: O(log n). Buckets: O(1) expected, amortized, to a neighboring count; O(log k) expected to
        any other of k distinct counts.

        Examples
        --------
        >>> from structures import MaxHeap
        >>> h = MaxHeap()
        >>> h.add(7); h.add(8, 3)
        >>> h.peek()
        (8, 3)
        """
        self._done(self._type.entries.add(self, int64(key), self._number(n, "n")), key)

    def sub(self, key: int, n: Any = 1) -> None:
        """Subtract `n` from the count of `key`; a difference of 0 removes the key.

        Parameters
        ----------
        key : int
        n : int or float

        Raises
        ------
        ValueError
            The count would be below 0, or the difference is NaN; the container is as it was.
        OverflowError
            The difference does not fit int64; the container is as it was.

        Complexity
        ----------
        The cost of :meth:`add`.

        Examples
        --------
        >>> from structures import MaxHeap
        >>> h = MaxHeap({7: 2})
        >>> h.sub(7); h[7]
        1
        >>> h.sub(7); 7 in h
        False
        """
        self._done(self._type.entries.sub(self, int64(key), self._number(n, "n")), key)

    def peek(self) -> tuple[int, Number]:
        """Return (key, priority) of the top; of equal priorities, the one that :meth:`pop` would return.

        Returns
        -------
        key : int
        priority : int or float

        Raises
        ------
        KeyError
            There are no keys.

        Complexity
        ----------
        A heap: O(1). Buckets: O(log n) amortized.

        Examples
        --------
        >>> from structures import MinHeap
        >>> MinHeap({9: 2, 7: 5, 8: 2}).peek()
        (8, 2)
        """
        return self._checked("_checked_peek")

    def pop(self, *unnamed: Any, default: Default = NOT_GIVEN) -> tuple[int, Number] | Default:
        """Remove the top; return its (key, priority).

        Parameters
        ----------
        *unnamed : object
            Nothing. In heapdict and pqdict, ``pop(key)`` removes that key; here this is ``del h[key]``.
        default : object, optional
            Returned if there are no keys.

        Returns
        -------
        key : int
        priority : int or float

        Raises
        ------
        KeyError
            There are no keys and no default was given.
        TypeError
            An argument without a name was given.

        Complexity
        ----------
        O(log n), for buckets amortized.

        Examples
        --------
        >>> from structures import MaxHeap
        >>> h = MaxHeap({7: 2})
        >>> h.pop(), h.pop(default=None)
        ((7, 2), None)
        """
        if unnamed:
            raise TypeError(
                "pop() removes the top: to remove a key, del h[key]; a default is pop(default=...)"
            )
        return self._checked("_checked_pop", default=default)

    def replace(self, key: int, priority: Any) -> tuple[int, Number]:
        """Remove the top and set `key` to `priority`; return (key, priority) of the old top.

        Parameters
        ----------
        key : int
            May be in the container, or be its top.
        priority : int or float

        Returns
        -------
        key : int
        priority : int or float

        Raises
        ------
        KeyError
            There are no keys.
        ValueError
            `priority` is NaN; the container is as it was.

        Complexity
        ----------
        The cost of :meth:`pop` and of ``h[key] = priority``.

        Examples
        --------
        >>> from structures import MinHeap
        >>> h = MinHeap({7: 2, 8: 5})
        >>> h.replace(9, 4), h.peek()
        ((7, 2), (9, 4))
        """
        key, priority = int64(key), self._number(priority, self._noun)
        if priority != priority:
            raise error(status.NOT_A_NUMBER, key)
        return self._checked("_checked_replace", key, priority)

    def pop_many(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Remove and return the first `k` entries, or all if there are fewer, in the order of :meth:`pop`.

        Parameters
        ----------
        k : int

        Returns
        -------
        keys : (m,) int64
        priorities : (m,) int64 or float64

        Raises
        ------
        ValueError
            `k` is negative.

        Complexity
        ----------
        The cost of :meth:`pop`, for each entry.

        Examples
        --------
        >>> from structures import MaxHeap
        >>> MaxHeap({7: 2, 8: 5, 9: 1}).pop_many(2)
        (array([8, 7]), array([5, 2]))
        """
        return self._kernels.pop_many(self, self._room(k, "k"))

    def ties(self) -> np.ndarray:
        """Return the keys that share the priority of the top.

        Returns
        -------
        (m,) int64
            In the order of :meth:`pop`: ascending, or by age with ``ties="fifo"``. Empty if there are no
            keys.

        Complexity
        ----------
        O(m log n) for heaps, O(m log m) for buckets.

        Examples
        --------
        >>> from structures import MaxHeap
        >>> MaxHeap({9: 5, 7: 5, 8: 2}).ties()
        array([7, 9])
        """
        return self._kernels.ties(self)

    def to_arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all keys and priorities in the order of :meth:`pop`, as ``from_arrays`` takes them.

        Returns
        -------
        keys : (n,) int64
        priorities : (n,) int64 or float64

        Complexity
        ----------
        O(n log n).

        Examples
        --------
        >>> from structures import MinHeap
        >>> MinHeap({7: 2, 8: 1}).to_arrays()
        (array([8, 7]), array([1, 2]))
        """
        return self._kernels.to_arrays(self)
