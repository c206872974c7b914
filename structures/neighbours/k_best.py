"""``KBest``: the k nearest candidates of each of many rows, as nearest-neighbour searches keep them.

An entry is a distance and an id, and maybe a flag. A row keeps the k entries of least distance; of equal
distances, those of least id come first. So the content does not depend on the order of the pushes. Rows are
sorted at all times::

    width = k, rounded up to 16 lanes

               place     0     1     2    k-1
    distances  row 0  [ 0.1 | 0.4 | 0.7 | inf || inf ... ]   inf and -1: an empty place
    ids        row 0  [  8  |  3  |  5  |  -1 || -1  ... ]
    flags      row 0  [  0  |  1  |  1  |  0  ||  0  ... ]   no array if entries have no flags
               row 1  [ ...

A push compares with the entry at place k - 1 first, which most candidates do not precede. For the others one
pass over the row, 16 lanes at a time, finds the id, if it is there, and the place; a second pass moves what
comes after it. Both have no branch that depends on the numbers. A binary heap has such branches and looks for
the id as well: from k = 15 on it takes longer. At k = 5, and where no ids are looked for at k = 200, it is
faster by a fifth.

Invariants
----------
1. Each row is sorted by distance, equal distances by id, where -1 is the greatest id.
2. An empty place has the distance inf, the id -1 and no flag; so have the lanes past k.
3. ``width`` is a multiple of 16, at least k; there are ``n_rows * width`` distances, ids, and flags, if any.
4. No distance is not-a-number; no id is below -1.

Complexity
----------
======================================  =====================================================
push that does not come in              O(1): one comparison
push that comes in                      O(k / 16)
worst                                   O(1)
size, row                               O(k)
merge, to_arrays, copy, ``==``, clear   O(n_rows * k), merge times the cost of a push
memory                                  8 bytes for float32 and int32, times k rounded up to 16
======================================  =====================================================

Source: the update of the lists of neighbours in W. Dong, C. Moses, K. Li, Efficient k-nearest neighbor graph
construction for generic similarity measures (2011); the sorted lanes are our own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from structures.base.container import named_by_package
from structures.base.in_njit import constructor, must_be_integer
from structures.base.struct_type import bind
from structures.neighbours.k_best_checks import (
    dtypes_of,
    entries_of,
    entry_of,
    flag_of,
    row_of,
    tables_of,
)
from structures.neighbours.k_best_kernels import (
    KBestType,
    checked_k_best,
    fill,
    k_best_type,
    new_k_best,
    shape,
    take_rows,
)
from structures.neighbours.k_best_reading import SortedRows
from structures.neighbours.sorted_lanes import ROW_LANES


class KBest(SortedRows):
    """Rows of the k nearest candidates: the least distances and their ids, sorted.

    An id is in a row once, with the distance that was pushed first; :meth:`push_unchecked` does not look.
    Distances are rounded to the dtype. Of equal distances, the least ids are kept and come first. So,
    unless an id is pushed with different distances, the result does not depend on the order of pushes.

    Inside ``@njit`` the same verbs are methods. Only the constructor raises there; of the other arguments
    nothing is checked, except that a distance that is not a number and an id that does not fit do not come
    in. ``row(row)`` and ``to_arrays()`` return no flags,
    and ``nbytes()`` is a call. There are methods for single places, 0 the best: ``entry(row, place)``
    returns (distance, id), ``flag(row, place)`` a flag, and ``set_flag(row, place, flag)`` changes it.
    ``sort(row)`` is for code written for heaps: it does nothing, rows are sorted at all times.

    A push reads and writes its own row only. So the threads of a ``prange`` may share a container without
    locks, as long as each row is used by one thread at a time. Calls from Python take turns
    (:mod:`structures.base.locks`).

    * :meth:`push`, :meth:`push_unchecked`, :meth:`push_many`, :meth:`merge`
    * :meth:`worst`, :meth:`size`, :meth:`row`, ``len(q)`` (rows)
    * :meth:`to_arrays`, :meth:`from_arrays`, :meth:`copy`, :meth:`clear`, :attr:`nbytes`; ``==``, pickle
    * :attr:`n_rows`, :attr:`k`, :attr:`dtype`, :attr:`id_dtype`, :attr:`has_flags`

    Parameters
    ----------
    n_rows : int
    k : int
        The greatest number of entries of a row, 1 or more.
    dtype : {float32, float64}, optional
        Type of the distances.
    id_dtype : {int32, int64}, optional
        Type of the ids; they are 0 or more.
    flags : bool, optional
        Whether each entry has a flag, for instance to mark the new ones.

    Raises
    ------
    TypeError
        A dtype is another one.
    ValueError
        `n_rows` is negative, or `k` is below 1.
    MemoryError
        There is not enough memory.

    Examples
    --------
    >>> q = KBest(n_rows=2, k=3)
    >>> q.push_many([0, 0, 0, 0], [0.5, 0.25, 0.75, 0.125], [7, 3, 9, 4])
    4
    >>> q.row(0)
    (array([0.125, 0.25 , 0.5  ], dtype=float32), array([4, 3, 7], dtype=int32))
    >>> q.worst(0), q.worst(1)
    (0.5, inf)
    """

    __slots__ = ()

    def __new__(
        cls, n_rows: int, k: int, dtype: Any = np.float32, id_dtype: Any = np.int32, flags: bool = False
    ) -> KBest:
        n_rows, k = cls._room(n_rows, "n_rows"), cls._room(k, "k")
        if k < 1:
            raise ValueError("k must be 1 or more, not 0")
        row_type = cls.type(dtype, id_dtype)
        if n_rows * (k + ROW_LANES) >= 2**46:
            raise MemoryError(f"no memory for {n_rows} rows of {k} entries")
        self = cls._like(new_k_best(row_type, 0, k, *row_type.last, bool(flags)))
        cls._done(take_rows(self, n_rows), f"{n_rows} rows of {k} entries")
        return self

    @classmethod
    def type(cls, dtype: Any = np.float32, id_dtype: Any = np.int32) -> Any:
        """Return the numba type of these containers, for ``List.empty_list`` and specifications.

        Parameters
        ----------
        dtype : {float32, float64}, optional
        id_dtype : {int32, int64}, optional

        Returns
        -------
        numba type

        Raises
        ------
        TypeError
            A dtype is another one.

        Complexity
        ----------
        O(1).

        Examples
        --------
        >>> KBest.type(np.float64) == KBest.type()
        False
        """
        return k_best_type(*dtypes_of(dtype, id_dtype))

    @classmethod
    def from_arrays(cls, distances: Any, ids: Any, flags: Any = None) -> KBest:
        """Build a container of the entries of each row, in any order.

        Parameters
        ----------
        distances : (n_rows, k) array_like of float
            float32 makes a container of float32, everything else one of float64.
        ids : (n_rows, k) array_like of int
            -1 for an empty place; int32 makes a container of int32, everything else one of int64. An id
            may be in a row twice.
        flags : (n_rows, k) array_like of bool, optional
            Without them, entries have no flags.

        Returns
        -------
        KBest

        Raises
        ------
        TypeError
            An array is not of numbers of its kind.
        ValueError
            The arrays differ in shape, or a row has no place; a distance is not a number, or an id is below
            -1.

        Complexity
        ----------
        O(n_rows * k) pushes.

        Examples
        --------
        >>> q = KBest.from_arrays([[0.5, 0.25, 0.0]], [[7, 3, -1]])
        >>> q.row(0)
        (array([0.25, 0.5 ]), array([3, 7]))
        """
        has_flags = flags is not None
        distances, ids, flags = tables_of(distances, ids, flags)
        n_rows, k = distances.shape
        self = cls(n_rows, k, distances.dtype, ids.dtype, has_flags)
        fill(self, distances.ravel(), ids.ravel(), flags.ravel())
        return self

    def _given(self, row: Any, distance: Any, id: Any, flag: Any) -> tuple[int, float, int, bool]:
        """Return the arguments of a push, checked."""
        n_rows, _, has_flags = shape(self)
        return row_of(row, n_rows), *entry_of(distance, id, self.id_dtype), flag_of(flag, has_flags)

    def push(self, row: int, distance: float, id: int, flag: bool = False) -> bool:
        """Put an entry into a row, if it is among the best k and its id is not there yet.

        Parameters
        ----------
        row : int
        distance : float
        id : int
        flag : bool, optional

        Returns
        -------
        bool
            Whether it came in.

        Raises
        ------
        IndexError
            There is no such row.
        ValueError
            `distance` is not a number, `id` is below 0 or does not fit its dtype, or entries have no flags.

        Complexity
        ----------
        O(k / 16), O(1) if it does not come in.

        Examples
        --------
        >>> q = KBest(n_rows=1, k=2)
        >>> [q.push(0, 0.5, 7), q.push(0, 0.5, 7), q.push(0, 0.25, 8), q.push(0, 0.75, 9)]
        [True, False, True, False]
        """
        return self._kernels.push(self, *self._given(row, distance, id, flag))

    def push_unchecked(self, row: int, distance: float, id: int, flag: bool = False) -> bool:
        """Put an entry into a row, if it is among the best k, even if its id is there already.

        Parameters
        ----------
        row : int
        distance : float
        id : int
        flag : bool, optional

        Returns
        -------
        bool
            Whether it came in.

        Raises
        ------
        IndexError, ValueError
            As :meth:`push`.

        Complexity
        ----------
        O(k / 16), O(1) if it does not come in.

        Examples
        --------
        >>> KBest(n_rows=1, k=2).push_unchecked(0, 0.5, 7)
        True
        """
        return self._kernels.push_unchecked(self, *self._given(row, distance, id, flag))

    def push_many(self, rows: Any, distances: Any, ids: Any, flag: bool = False) -> int:
        """Push entry after entry, as :meth:`push` does; nothing is pushed if one is refused.

        Parameters
        ----------
        rows : (n,) array_like of int
        distances : (n,) array_like of float
        ids : (n,) array_like of int
        flag : bool, optional
            The flag of all of them.

        Returns
        -------
        int
            How many came in; some of them may have left again.

        Raises
        ------
        IndexError
            There is no such row.
        ValueError
            The arrays differ in length, or as :meth:`push`.

        Complexity
        ----------
        The cost of :meth:`push`, for each entry.

        Examples
        --------
        >>> KBest(n_rows=2, k=1).push_many([0, 0, 1], [0.5, 0.25, 0.5], [7, 8, 9])
        3
        """
        n_rows, _, has_flags = shape(self)
        entries = entries_of(rows, distances, ids, n_rows, self.id_dtype)
        return self._kernels.push_many(self, *entries, flag_of(flag, has_flags))

    def merge(self, other: KBest) -> int:
        """Push all entries of another container into the same rows here, with their flags.

        Parameters
        ----------
        other : KBest
            It has as many rows; its `k` may be another.

        Returns
        -------
        int
            How many came in.

        Raises
        ------
        TypeError, ValueError
            `other` is not a KBest, its ids are wider, or it has another number of rows.

        Complexity
        ----------
        The cost of :meth:`push`, for each entry of `other`.

        Examples
        --------
        >>> one, other = KBest(n_rows=1, k=2), KBest(n_rows=1, k=2)
        >>> one.push(0, 0.5, 7), other.push(0, 0.25, 8), one.merge(other)
        (True, True, 1)
        >>> one.row(0)[1]
        array([8, 7], dtype=int32)
        """
        if not isinstance(other, KBest):
            raise TypeError(f"other must be a KBest, not {type(other).__name__}")
        if other.id_dtype.itemsize > self.id_dtype.itemsize:
            raise TypeError(f"ids of {other.id_dtype} do not go into ids of {self.id_dtype}")
        if other.n_rows != self.n_rows:
            raise ValueError(f"{other.n_rows} rows do not go into {self.n_rows} rows")
        return self._kernels.merge(self, other)

    def clear(self) -> None:
        """Empty all rows."""
        self._kernels.clear(self)


bind(KBestType, KBest)


@constructor(KBest)
def _k_best(n_rows, k, dtype=np.float32, id_dtype=np.int32, flags=False):
    must_be_integer(n_rows, "n_rows")
    must_be_integer(k, "k")
    row_type = KBest.type(dtype, id_dtype)
    infinity, no_id = row_type.last
    return lambda n_rows, k, dtype=np.float32, id_dtype=np.int32, flags=False: checked_k_best(
        row_type, np.int64(n_rows), np.int64(k), infinity, no_id, flags
    )


__test__ = named_by_package(KBest)
