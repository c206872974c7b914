"""``IndexedMaxHeap`` and ``IndexedMinHeap``: priority queues of the keys 0 ... n - 1, without a hash table.

A tournament over int64 *ranks*, least rank first. Every key has a leaf, in the heap or not. The first of a
row of 32 words is written to one word of the level above, with its key. The rank of a count is an int64 in
the same order (for floats, the bits); an :class:`IndexedMaxHeap` takes the complement. ::

    level 0      0 1 2 ... 31 | 32 ... 63 | ... | ... n - 1 -    the leaf of each key; - past the end
                        |            |
    level 1             0            1  ...  31 | ...            word w has the first of row w below
                                     |
    level 2                          0                           the root: one word

    ranks        level 0 | level 1 | level 2        the greatest int64 for a key that is not in the heap
    winners                level 1 | level 2        the key of each of these ranks
    ages         level 0 | level 1 | level 2        the order of equal ranks; empty where keys order them

A key that comes, or comes nearer to the top, is written upwards as long as it wins. For one that leaves, or
falls back, the first among the others is found in the row of every level; the addresses of the rows follow
from the key, so that the processor loads all of them at once. A row is read with a few vector instructions.
In an implicit heap with the slot of each key in an array, the next row is known when the last one is decided,
and an entry writes its slot whenever it moves; this one has no slots.

Of equal counts, the smallest key is first (``ties="key"``), or the key that came first (``ties="fifo"``): it
has the least *age*, a number that grows with each entry. A key that gets another count comes anew, as if it
had left before; one that is given the count it has keeps its age. Where keys decide, ages are kept only once
a count has the rank that marks absent keys; the key is its age then.

Invariants
----------
1. Each word above level 0 has the least (rank, age) of its row below, and ``winners`` has the key of that
   entry; without ages, the key is the age. Where no key of a row is in the heap, rank and age are those of
   absent keys, and the winner is any.
2. Keys that are not in the heap, and the rest of the last row of a level, have the greatest int64 as rank
   and, if there are ages, as age. ``size`` keys are in the heap.
3. All ages of keys in the heap differ; they are below ``next_age`` with ``ties="fifo"``, else the keys.
4. Level 0 has n words, rounded up to rows; each level has a word for each row below; the root is alone.

Complexity
----------
===================================  =====================================================
peek, get, ``in``                    O(1)
set, add, sub, remove, pop, improve  O(log n), log32(n) levels; O(1) levels expected for a key
                                     that comes with a random count
update_many, pop_many                O(log n) an item
nlargest, nsmallest of k             O(k log n)
ties                                 O(m log n) for m keys
clear                                O(log n) for each key in the heap, at most O(n)
construction, from_arrays, copy      O(n)
memory                               8.5 bytes a key of the range; 17 with ages
===================================  =====================================================

Source: Knuth, The Art of Computer Programming, 5.4.1, trees of winners; the methods are those of the indexed
priority queue of Sedgewick and Wayne, Algorithms, 2.4.
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
    must_be_integer,
)
from structures.base.queue import Counted
from structures.base.struct_type import bind
from structures.priority_queues.indexed_heap_invariants import assert_invariants
from structures.priority_queues.indexed_heap_kernels import (
    fill,
    indexed_heap_of,
    is_by_age,
    new_indexed_heap,
    state,
)
from structures.priority_queues.indexed_heap_type import (
    IndexedMaxHeapType,
    IndexedMinHeapType,
    indexed_heap_type,
)
from structures.status import (
    DTYPE_HINT,
    as_array,
    dtype_name,
    error,
    float32,
    float32_array,
    float64_array,
    int64,
    int64_array,
)


def _by_age(ties: Any) -> int:
    if isinstance(ties, types.Type):
        raise TypeError('ties must be written in the call: "key" or "fifo"')
    if ties not in ("key", "fifo"):
        raise ValueError(f'ties must be "key" or "fifo", not {ties!r}')
    return int(ties == "fifo")


class _IndexedHeap(Counted):
    """What both heaps share; see :class:`IndexedMaxHeap` and :class:`IndexedMinHeap`."""

    __slots__ = ()
    _greatest_first: bool
    _float_hint = DTYPE_HINT

    def __new__(cls, n: int, dtype: Any = np.int64, ties: str = "key") -> Any:
        return cls._new(cls._room(n, "n"), dtype, ties)

    @classmethod
    def type(cls, dtype: Any = np.int64) -> Any:
        """Return the numba type of a heap, for ``List.empty_list``, for specifications and signatures.

        Parameters
        ----------
        dtype : {int64, float64, float32}
            Type of the counts.

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
        >>> from structures import IndexedMinHeap
        >>> IndexedMinHeap.type(float) == IndexedMinHeap(10, float)._numba_type_
        True
        """
        return indexed_heap_type(cls._greatest_first, dtype_name(dtype, ("int64", "float64", "float32")))

    @classmethod
    def _new(cls, n: int, dtype: Any, ties: str) -> Any:
        heap_type = cls.type(dtype)
        self = cls._like(new_indexed_heap(heap_type, n, *heap_type.start, _by_age(ties)))
        self._done(status.OK if self.n_keys == n else status.NO_MEMORY, f"{n} keys")
        return self

    @classmethod
    def from_arrays(cls, keys: Any, counts: Any, n: int | None = None, ties: str = "key") -> Any:
        """Build a heap from distinct keys and their counts; its dtype is that of the counts.

        Parameters
        ----------
        keys : (m,) array_like of int
        counts : (m,) array_like of int or float
            An array of float32 makes a float32 heap, other floats a float64 heap.
        n : int, optional
            How many keys there can be; by default, the greatest key and 1.
        ties : {"key", "fifo"}
            Which of equal counts is first: the smallest key, or the first in the arrays.

        Returns
        -------
        IndexedMaxHeap or IndexedMinHeap

        Raises
        ------
        IndexError
            A key is not in ``range(n)``.
        ValueError
            A key is a duplicate, a count is not a number, the arrays differ in length, or `ties` is another
            word.

        Complexity
        ----------
        O(n).

        Examples
        --------
        >>> from structures import IndexedMaxHeap
        >>> IndexedMaxHeap.from_arrays([7, 8, 9], [1, 3, 2]).peek()
        (8, 3)
        """
        keys, counts = int64_array(keys), as_array(counts)
        if counts.dtype.kind != "f":
            counts = int64_array(counts, "counts")
        elif counts.dtype != np.float32:
            counts = float64_array(counts, "counts")
        cls._same_length(keys, counts, "counts")
        n = int(keys.max(initial=-1)) + 1 if n is None else n
        self = cls._new(cls._room(n, "n"), counts.dtype, ties)
        failure, i = fill(self, keys, np.ascontiguousarray(counts)) if keys.size else (status.OK, 0)
        if failure < 0:
            raise error(failure, int(keys[i]) if i < keys.size else f"{keys.size} keys")
        return self

    def __reduce__(self) -> Any:
        arguments = (*self.to_arrays(), self.n_keys, "fifo" if is_by_age(self) else "key")
        return type(self).from_arrays, arguments, self._attributes() or None

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the counts: int64, float64 or float32."""
        return self._type.dtype

    @property
    def n_keys(self) -> int:
        """How many keys there can be: 0 ... ``n_keys - 1``."""
        return self._kernels.n_keys(self)

    def _number(self, value: Any, name: str) -> Any:
        return float32(value, name) if self.dtype == np.float32 else super()._number(value, name)

    def _numbers(self, values: Any, name: str) -> np.ndarray:
        return float32_array(values, name) if self.dtype == np.float32 else super()._numbers(values, name)

    def _in_range(self, key: int) -> int:
        """Return a key, or raise if it is past the end."""
        if not 0 <= int64(key) < self.n_keys:
            self._done(status.OUT_OF_RANGE, key)
        return key

    def __getitem__(self, key: int) -> Any:
        return super().__getitem__(self._in_range(key))

    def replace(self, key: int, count: Any) -> tuple[int, Any]:
        """Remove the top and set `key` to `count`; return (key, count) of the top that was.

        Parameters
        ----------
        key : int
            May be in the heap, or be its top.
        count : int or float

        Returns
        -------
        key : int
        count : int or float

        Raises
        ------
        KeyError
            There are no keys.
        IndexError
            `key` is not in ``range(n_keys)``; the heap is as it was.
        ValueError
            `count` is not a number; the heap is as it was.

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
        return super().replace(self._in_range(key), count)

    def improve(self, key: int, count: Any) -> bool:
        """Insert `key`, or give it `count` if that is nearer to the top than the count it has.

        It is known as *decrease-key* or *push-or-decrease*. In compiled code it returns 1 or 0, or a status
        below 0: ``if h.improve(key, count) > 0``.

        Parameters
        ----------
        key : int
        count : int or float

        Returns
        -------
        bool
            Whether the key was inserted or has got the count.

        Raises
        ------
        IndexError
            `key` is not in ``range(n_keys)``.
        ValueError
            `count` is not a number.

        Complexity
        ----------
        O(log n); O(1) levels expected for a random count.

        Examples
        --------
        >>> from structures import IndexedMinHeap
        >>> h = IndexedMinHeap(10)
        >>> h.improve(7, 5), h.improve(7, 6), h.improve(7, 4)
        (True, False, True)
        >>> h.pop()
        (7, 4)
        """
        changed = self._kernels.improve(self, int64(key), self._number(count, "count"))
        self._done(changed, key)
        return changed > 0

    def _content(self) -> tuple[np.ndarray, ...]:
        """Return the items in the order of popping, of which the ages are a part."""
        return self.to_arrays()

    def _check(self) -> None:
        """Assert the numbered invariants of the module docstring."""
        ranks, winners, ages = state(self)
        assert_invariants(ranks, winners, ages, self.n_keys, len(self), bool(is_by_age(self)))


class IndexedMaxHeap(_IndexedHeap):
    """Priority queue of the keys 0 ... n - 1, greatest count first.

    For nodes of a graph, pixels, vertices of a mesh: keys that are numbered already. It has the methods of
    :class:`MaxHeap` and is several times as fast, but its memory is for all n keys. One heap serves many
    searches: :meth:`clear` takes time for the keys that are in it only.

    ``h[key] = count`` stores any count, also 0 and below; :meth:`add` and :meth:`sub` are the verbs of a
    multiset: a count of 0 removes the key, a count below 0 is an error. Calls from several
    threads take turns (:mod:`structures.base.locks`).

    Inside ``@njit`` the same verbs are methods and operators. Nothing raises there, except when there is no
    memory for an array that is returned: a missing key has the count 0, an empty heap gives ``(0, 0)`` (check
    ``len(h)`` first), and verbs that change the heap return a status, below 0 for a failure. A float for an
    integer is a typing error there.

    Methods for single keys:

    * ``h[key]``, ``h[key] = count``, ``del h[key]``, ``key in h``, ``len(h)``
    * :meth:`improve`, :meth:`get`, :meth:`add`, :meth:`sub`
    * ``h.prefetch(key)``, in compiled code only: it has the processor load what the next call of that key
      will need

    Methods for the top:

    * :meth:`peek`, :meth:`pop`, :meth:`pop_many`, :meth:`ties`, :meth:`nlargest`

    Methods for many keys and the whole:

    * :meth:`from_arrays`, :meth:`update_many`, :meth:`items`, :meth:`to_arrays`; iteration is in pop order
    * :meth:`copy`, :meth:`clear`, :attr:`nbytes`, :attr:`dtype`, :attr:`n_keys`; ``==``, pickle

    Parameters
    ----------
    n : int
        How many keys there can be.
    dtype : {int64, float64, float32}
        Type of the counts.
    ties : {"key", "fifo"}
        Which of equal counts is first: the smallest key, or the key that came first. A key whose count
        changes comes anew, as if it had left before; one that is given the count it has keeps its turn.

    Raises
    ------
    TypeError
        `n` is not an integer, or `dtype` is another type.
    ValueError
        `n` is negative, or `ties` is another word.
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
    _greatest_first = True

    def nlargest(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the first `k` entries in order, or all if there are fewer; they stay in the heap.

        Parameters
        ----------
        k : int

        Returns
        -------
        keys : (m,) int64
        counts : (m,) int64, float64 or float32

        Raises
        ------
        ValueError
            `k` is negative.

        Complexity
        ----------
        O(k log n).

        Examples
        --------
        >>> from structures import IndexedMaxHeap
        >>> IndexedMaxHeap.from_arrays([7, 8, 9], [2, 5, 1]).nlargest(2)
        (array([8, 7]), array([5, 2]))
        """
        return self._kernels.nlargest(self, self._room(k, "k"))


class IndexedMinHeap(_IndexedHeap):
    """Priority queue of the keys 0 ... n - 1, least count first.

    The same as :class:`IndexedMaxHeap`, except for the order.

    Parameters
    ----------
    n : int
        How many keys there can be.
    dtype : {int64, float64, float32}
        Type of the counts.
    ties : {"key", "fifo"}
        Which of equal counts is first: the smallest key, or the key that came first. A key whose count
        changes comes anew, as if it had left before; one that is given the count it has keeps its turn.

    Raises
    ------
    TypeError
        `n` is not an integer, or `dtype` is another type.
    ValueError
        `n` is negative, or `ties` is another word.
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
    _greatest_first = False

    def nsmallest(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the first `k` entries in order, or all if there are fewer; they stay in the heap.

        Parameters
        ----------
        k : int

        Returns
        -------
        keys : (m,) int64
        counts : (m,) int64, float64 or float32

        Raises
        ------
        ValueError
            `k` is negative.

        Complexity
        ----------
        O(k log n).

        Examples
        --------
        >>> from structures import IndexedMinHeap
        >>> IndexedMinHeap.from_arrays([7, 8, 9], [2, 5, 1]).nsmallest(2)
        (array([9, 7]), array([1, 2]))
        """
        return self._kernels.nsmallest(self, self._room(k, "k"))


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
    heap_type, by_age = facade.type(dtype), _by_age(ties)
    zero, complement = heap_type.start
    return lambda n, dtype=np.int64, ties="key": new_indexed_heap(heap_type, n, zero, complement, by_age)


@class_method(IndexedMaxHeap, "from_arrays")
@class_method(IndexedMinHeap, "from_arrays")
def _from_arrays(cls, keys, counts, n=None, ties="key"):
    heap_type, by_age = cls.facade.type(dtype_of_numbers(counts, "counts")), _by_age(ties)
    must_be_entries(heap_type, keys, "counts", counts)
    must_be_integer(0 if n is None else n, "n")
    start = *heap_type.start, by_age
    return lambda cls, keys, counts, n=None, ties="key": indexed_heap_of(heap_type, start, keys, counts, n)


__test__ = named_by_package(IndexedMaxHeap, IndexedMinHeap)
