"""``KBest``: the k nearest candidates of each of many rows, as nearest-neighbor searches keep them.

An entry is a distance and an id, and optionally a flag. A row keeps the k entries of least distance; of equal
distances, the least id comes first. So the content does not depend on the order of the pushes. Rows are
always sorted::

    width = k, rounded up to 16 lanes

               place     0     1     2    k-1
    distances  row 0  [ 0.1 | 0.4 | 0.7 | inf || inf ... ]   inf and -1: an empty place
    ids        row 0  [  8  |  3  |  5  |  -1 || -1  ... ]
    flags      row 0  [  0  |  1  |  1  |  0  ||  0  ... ]   empty if entries have no flags
               row 1  [ ...

A push first compares with the entry at place k - 1, which most candidates do not precede. For the others, one
pass over the row, 16 lanes at a time, searches for the id and finds the place; a second pass moves the
entries after it. Neither has a branch that depends on the data. A binary heap has such branches, and also has
to search for the id: from k = 15 on it takes longer. At k = 5, and at k = 200 without a search for ids, it is
faster by a fifth.

Invariants
----------
1. Each row is sorted by distance, equal distances by id, where -1 is the greatest id.
2. An empty place has the distance inf, the id -1 and the flag 0; so do the lanes past k.
3. ``width`` is a multiple of 16, at least k; there are ``n_rows * width`` distances, ids, and flags, if any.
4. No distance is NaN; no id is below -1.

Complexity
----------
======================================  =====================================================
push of an entry that is not kept       O(1): one comparison
push of an entry that is kept           O(k / 16)
worst                                   O(1)
size, row                               O(k)
merge, to_arrays, copy, ``==``, clear   O(n_rows * k); merge: times the cost of a push
memory                                  8 bytes for float32 and int32, times k rounded up to 16
======================================  =====================================================

Source: the update of the lists of neighbors in W. Dong, C. Moses, K. Li, Efficient k-nearest neighbor graph
construction for generic similarity measures (2011); the sorted lanes are our own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from structures.base.container import Facade, named_by_package
from structures.base.in_njit import constructor, must_be_integer
from structures.base.struct_type import bind
from structures.neighbors.k_best_kernels import (
    KBestType,
    arrays_with_flags,
    checked_k_best,
    fill,
    k_best_type,
    new_k_best,
    row_with_flags,
    shape,
    state,
    take_rows,
)
from structures.neighbors.k_best_layout import NO_ID, ROW_LANES
from structures.status import as_array, float64, float64_array, int64, int64_array


# ---------------------------------------------------------------------------------------------- checks
def _dtypes_of(dtype: Any, id_dtype: Any) -> tuple[str, str]:
    """Return the names of the dtypes of distances and ids."""
    distance_type = np.dtype(dtype)
    id_type = np.dtype("int64" if id_dtype is int else id_dtype)  # np.dtype(int) may be narrower
    if distance_type not in (np.float32, np.float64):
        raise TypeError(f"dtype must be float32 or float64, not {distance_type}")
    if id_type not in (np.int32, np.int64):
        raise TypeError(f"id_dtype must be int32 or int64, not {id_type}")
    return distance_type.name, id_type.name


def _row_of(row: Any, n_rows: int) -> int:
    """Return a row index, or raise if it is out of range."""
    row = int64(row, "row")
    if not 0 <= row < n_rows:
        raise IndexError(f"row {row} is out of range for {n_rows} rows")
    return row


def _flag_of(flag: Any, has_flags: bool) -> bool:
    """Return a flag as a bool, or raise if entries have no flags."""
    if flag and not has_flags:
        raise ValueError("entries have no flags: make the container with flags=True")
    return bool(flag)


def _entry_of(distance: Any, id: Any, id_dtype: np.dtype) -> tuple[float, int]:
    """Return a distance and an id, or raise if one of them is invalid."""
    distance, id = float64(distance, "distance"), int64(id, "id")
    if distance != distance:
        raise ValueError("distance must be a number, not nan")
    if not 0 <= id <= np.iinfo(id_dtype).max:
        raise ValueError(f"id must be 0 or more, and {id_dtype}, not {id}")
    return distance, id


def _entries_of(
    rows: Any, distances: Any, ids: Any, n_rows: int, id_dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return checked rows, distances and ids of entries, ``(n,)`` each."""
    rows, ids = int64_array(rows, "rows"), int64_array(ids, "ids")
    distances = float64_array(distances, "distances")
    if not rows.size == distances.size == ids.size:
        raise ValueError(f"{rows.size} rows, {distances.size} distances and {ids.size} ids")
    is_wrong = (rows < 0) | (rows >= n_rows)
    if is_wrong.any():
        i = int(np.argmax(is_wrong))
        raise IndexError(f"rows[{i}] is {rows[i]}, out of range for {n_rows} rows")
    _refuse(np.isnan(distances), distances, "distances", "numbers")
    _refuse((ids < 0) | (ids > np.iinfo(id_dtype).max), ids, "ids", f"0 or more, and {id_dtype}")
    return rows, distances, ids


def _tables_of(distances: Any, ids: Any, flags: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return checked distances, ids and flags of all rows, ``(n_rows, k)`` each; without flags, all false."""
    distances, ids = np.asarray(distances), as_array(ids)
    flags = np.zeros(ids.shape, np.bool_) if flags is None else np.asarray(flags)
    if distances.ndim != 2 or not distances.shape == ids.shape == flags.shape:
        shapes = ", ".join(str(array.shape) for array in (distances, ids, flags))
        raise ValueError(f"the arrays must have one shape, (n_rows, k), not {shapes}")
    distance_type = np.float32 if distances.dtype == np.float32 else np.float64
    id_type = np.int32 if ids.dtype == np.int32 else np.int64
    wide, wide_ids = float64_array(distances.ravel(), "distances"), int64_array(ids.ravel(), "ids")
    _refuse(wide_ids < NO_ID, wide_ids, "ids", "-1 or more")
    _refuse(np.isnan(wide) & (wide_ids != NO_ID), wide, "distances", "numbers")
    return distances.astype(distance_type), ids.astype(id_type), flags.astype(np.bool_)


def _refuse(is_wrong: np.ndarray, values: np.ndarray, name: str, what: str) -> None:
    """Raise an error that names the first wrong value, if there is one."""
    if is_wrong.any():
        i = int(np.argmax(is_wrong))
        raise ValueError(f"{name} must be {what}, not {values[i]} at index {i}")


# ----------------------------------------------------------------------------------------------- class
class KBest(Facade):
    """Rows of the k nearest candidates: the least distances and their ids, sorted.

    An id is in a row at most once, with the distance that was pushed first; :meth:`push_unchecked` does not
    check this. Distances are rounded to the dtype, those past float32 to infinity. Of equal distances, the
    least ids are kept and come first. So, unless an id is pushed with different distances, the result does
    not depend on the order of pushes.

    Inside ``@njit`` there are the same methods. Only the constructor raises there; no other arguments are
    checked, except that an entry is not kept if its distance is NaN or its id does not fit. ``row(row)`` and
    ``to_arrays()`` return no flags. There are methods for single places, of which
    0 is the best: ``entry(row, place)`` returns (distance, id), ``flag(row, place)`` a flag, and
    ``set_flag(row, place, flag)`` changes it. ``sort(row)`` is for code written for heaps: it does nothing,
    because rows are always sorted.

    A push reads and writes only its own row. So the threads of a ``prange`` may share a container without
    locks, as long as only one thread at a time uses each row. Calls from Python lock the container.

    * :meth:`push`, :meth:`push_unchecked`, :meth:`push_many`, :meth:`merge`
    * :meth:`worst`, :meth:`size`, :meth:`row`, ``len(q)`` (rows)
    * :meth:`to_arrays`, :meth:`from_arrays`, :meth:`copy`, :meth:`clear`, :attr:`nbytes`; ``==``, pickle
    * :attr:`n_rows`, :attr:`k`, :attr:`dtype`, :attr:`id_dtype`, :attr:`has_flags`

    Parameters
    ----------
    n_rows : int
    k : int
        The maximal number of entries of a row, at least 1.
    dtype : {float32, float64}, optional
        Type of the distances.
    id_dtype : {int32, int64}, optional
        Type of the ids, which are at least 0.
    flags : bool, optional
        Whether each entry has a flag, for instance to mark new entries.

    Raises
    ------
    TypeError
        A dtype is not one of its choices.
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
    _type: Any

    def __new__(
        cls, n_rows: int, k: int, dtype: Any = np.float32, id_dtype: Any = np.int32, flags: bool = False
    ) -> KBest:
        n_rows, k = cls._room(n_rows, "n_rows"), cls._room(k, "k")
        if k < 1:
            raise ValueError("k must be 1 or more, not 0")
        row_type = cls.type(dtype, id_dtype)
        if n_rows * (k + ROW_LANES) >= 2**46:
            raise MemoryError(f"no memory for {n_rows} rows of {k} entries")
        infinity, no_id = row_type.last
        self = cls._like(new_k_best(row_type, 0, k, infinity, no_id, bool(flags)))
        cls._done(take_rows(self, n_rows), f"{n_rows} rows of {k} entries")
        return self

    @classmethod
    def type(cls, dtype: Any = np.float32, id_dtype: Any = np.int32) -> Any:
        """Return the numba type of these containers, for ``List.empty_list`` and field specifications.

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
            A dtype is not one of its choices.

        Complexity
        ----------
        O(1).

        Examples
        --------
        >>> KBest.type(np.float64) == KBest.type()
        False
        """
        return k_best_type(*_dtypes_of(dtype, id_dtype))

    @classmethod
    def from_arrays(cls, distances: Any, ids: Any, flags: Any = None) -> KBest:
        """Build a container from the entries of each row, in any order.

        Parameters
        ----------
        distances : (n_rows, k) array_like of float
            float32 makes a container of float32, anything else one of float64.
        ids : (n_rows, k) array_like of int
            -1 for an empty place; int32 makes a container of int32, anything else one of int64. An id may
            be in a row twice.
        flags : (n_rows, k) array_like of bool, optional
            Without them, entries have no flags.

        Returns
        -------
        KBest

        Raises
        ------
        TypeError
            An array does not have the right kind of numbers.
        ValueError
            The arrays differ in shape or have no columns; a distance is NaN, or an id is below -1.

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
        distances, ids, flags = _tables_of(distances, ids, flags)
        n_rows, k = distances.shape
        self = cls(n_rows, k, distances.dtype, ids.dtype, has_flags)
        fill(self, distances.ravel(), ids.ravel(), flags.ravel())
        return self

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.n_rows} rows of {self.k}>"

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return shape(self)[0]

    @property
    def k(self) -> int:
        """The maximal number of entries of a row."""
        return shape(self)[1]

    @property
    def has_flags(self) -> bool:
        """Whether entries have flags."""
        return shape(self)[2]

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the distances: float32 or float64."""
        return self._type.dtypes[0]

    @property
    def id_dtype(self) -> np.dtype:
        """The dtype of the ids: int32 or int64."""
        return self._type.dtypes[1]

    # --------------------------------------------------------------------------------------------- reading
    def worst(self, row: int) -> float:
        """Return the greatest distance of a full row, else inf: candidates beyond it are not kept.

        Parameters
        ----------
        row : int

        Returns
        -------
        float

        Raises
        ------
        IndexError
            There is no such row.

        Complexity
        ----------
        O(1).

        Examples
        --------
        >>> q = KBest(n_rows=1, k=1)
        >>> q.worst(0), q.push(0, 0.5, 7), q.worst(0)
        (inf, True, 0.5)
        """
        return self._kernels.worst(self, _row_of(row, self.n_rows))

    def size(self, row: int) -> int:
        """Return the number of entries of a row.

        Parameters
        ----------
        row : int

        Returns
        -------
        int

        Raises
        ------
        IndexError
            There is no such row.

        Complexity
        ----------
        O(empty places of the row).

        Examples
        --------
        >>> KBest(n_rows=1, k=1).size(0)
        0
        """
        return self._kernels.size(self, _row_of(row, self.n_rows))

    def row(self, row: int) -> tuple[np.ndarray, ...]:
        """Return the entries of a row, best first.

        Parameters
        ----------
        row : int

        Returns
        -------
        distances : (n,) float32 or float64
        ids : (n,) int32 or int64
        flags : (n,) bool
            Only if entries have flags.

        Raises
        ------
        IndexError
            There is no such row.

        Complexity
        ----------
        O(k).

        Examples
        --------
        >>> q = KBest(n_rows=1, k=5, flags=True)
        >>> q.push(0, 0.5, 7, flag=True), q.row(0)
        (True, (array([0.5], dtype=float32), array([7], dtype=int32), array([ True])))
        """
        row = _row_of(row, self.n_rows)
        if not self.has_flags:
            return self._kernels.row(self, row)
        distances, ids, flags = row_with_flags(self, row)
        return distances, ids, flags.view(np.bool_)

    def to_arrays(self) -> tuple[np.ndarray, ...]:
        """Return the entries of all rows, best first; empty places have the distance inf and the id -1.

        Returns
        -------
        distances : (n_rows, k) float32 or float64
        ids : (n_rows, k) int32 or int64
        flags : (n_rows, k) bool
            Only if entries have flags.

        Complexity
        ----------
        O(n_rows * k).

        Examples
        --------
        >>> q = KBest(n_rows=1, k=2)
        >>> q.push(0, 0.5, 7), q.to_arrays()
        (True, (array([[0.5, inf]], dtype=float32), array([[ 7, -1]], dtype=int32)))
        """
        if not self.has_flags:
            return self._kernels.to_arrays(self)
        distances, ids, flags = arrays_with_flags(self)
        return distances, ids, flags.view(np.bool_)

    # --------------------------------------------------------------------------------------------- pushing
    def _given(self, row: Any, distance: Any, id: Any, flag: Any) -> tuple[int, float, int, bool]:
        """Return the arguments of a push, checked."""
        n_rows, _, has_flags = shape(self)
        return _row_of(row, n_rows), *_entry_of(distance, id, self.id_dtype), _flag_of(flag, has_flags)

    def push(self, row: int, distance: float, id: int, flag: bool = False) -> bool:
        """Put an entry into a row, if it is among the best k and its id is new.

        Parameters
        ----------
        row : int
        distance : float
        id : int
        flag : bool, optional

        Returns
        -------
        bool
            Whether it was kept.

        Raises
        ------
        IndexError
            There is no such row.
        ValueError
            `distance` is NaN, `id` is below 0 or does not fit its dtype, or entries have no flags.

        Complexity
        ----------
        O(k / 16), O(1) if it is not kept.

        Examples
        --------
        >>> q = KBest(n_rows=1, k=2)
        >>> [q.push(0, 0.5, 7), q.push(0, 0.5, 7), q.push(0, 0.25, 8), q.push(0, 0.75, 9)]
        [True, False, True, False]
        """
        return self._kernels.push(self, *self._given(row, distance, id, flag))

    def push_unchecked(self, row: int, distance: float, id: int, flag: bool = False) -> bool:
        """Put an entry into a row, if it is among the best k, even if its id is already in the row.

        Parameters
        ----------
        row : int
        distance : float
        id : int
        flag : bool, optional

        Returns
        -------
        bool
            Whether it was kept.

        Raises
        ------
        IndexError, ValueError
            As :meth:`push`.

        Complexity
        ----------
        O(k / 16), O(1) if it is not kept.

        Examples
        --------
        >>> KBest(n_rows=1, k=2).push_unchecked(0, 0.5, 7)
        True
        """
        return self._kernels.push_unchecked(self, *self._given(row, distance, id, flag))

    def push_many(self, rows: Any, distances: Any, ids: Any, flag: bool = False) -> int:
        """Push many entries one by one, as :meth:`push` does; none is pushed if one is invalid.

        Parameters
        ----------
        rows : (n,) array_like of int
        distances : (n,) array_like of float
        ids : (n,) array_like of int
        flag : bool, optional
            The flag of all entries.

        Returns
        -------
        int
            How many were kept; later ones may have displaced some of them.

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
        entries = _entries_of(rows, distances, ids, n_rows, self.id_dtype)
        return self._kernels.push_many(self, *entries, _flag_of(flag, has_flags))

    def merge(self, other: KBest) -> int:
        """Push all entries of another container into the same rows here, with their flags.

        Parameters
        ----------
        other : KBest
            Must have the same number of rows; `k` may differ.

        Returns
        -------
        int
            How many were kept.

        Raises
        ------
        TypeError, ValueError
            `other` is not a KBest, has wider ids, or another number of rows.

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
            raise TypeError(f"ids of {other.id_dtype} do not fit {self.id_dtype}")
        if other.n_rows != self.n_rows:
            raise ValueError(f"{other.n_rows} rows cannot be merged into {self.n_rows} rows")
        return self._kernels.merge(self, other)

    def clear(self) -> None:
        """Empty all rows."""
        self._kernels.clear(self)

    def _content(self) -> tuple[np.ndarray, ...]:
        return self.to_arrays()

    def _equals(self, other: Any) -> bool:
        return self.has_flags == other.has_flags and super()._equals(other)

    def _check(self) -> None:
        """Assert the numbered invariants of the module docstring."""
        *arrays, width = state(self)
        n_rows, k, has_flags = shape(self)
        assert width % ROW_LANES == 0, "3: width"
        assert k <= width, "3: width"
        assert [array.size for array in arrays] == [
            n_rows * width,
            n_rows * width,
            has_flags * n_rows * width,
        ]
        distances, ids = (array.reshape(n_rows, width) for array in arrays[:2])
        flags = arrays[2].reshape(n_rows, width) if has_flags else 0 * ids
        assert not np.isnan(distances).any(), "4: a distance is NaN"
        assert np.all(ids >= NO_ID), "4: ids"
        is_empty = ids == NO_ID
        is_empty[:, k:] = True
        assert np.all((distances == np.inf) & (ids == NO_ID) & (flags == 0) | ~is_empty), "2: empty places"
        near, far = distances[:, :-1], distances[:, 1:]
        unsigned = ids.view(f"u{ids.itemsize}")
        is_tie = (near == far) & (unsigned[:, :-1] <= unsigned[:, 1:])
        assert np.all((near < far) | is_tie), "1: order"


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
