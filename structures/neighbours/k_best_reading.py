"""What can be read of a :class:`structures.KBest`: its shape, its rows, all of it as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from structures.base.container import Facade
from structures.neighbours.k_best_checks import assert_sorted, row_of
from structures.neighbours.k_best_kernels import arrays_with_flags, row_with_flags, shape, state
from structures.neighbours.sorted_lanes import ROW_LANES


class SortedRows(Facade):
    """Base of :class:`structures.KBest`: rows that are sorted, read one by one or all at once."""

    __slots__ = ()
    _type: Any

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
        """The greatest number of entries of a row."""
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

    def worst(self, row: int) -> float:
        """Return the greatest distance of a full row, inf before: no candidate beyond it comes in.

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
        >>> from structures import KBest
        >>> q = KBest(n_rows=1, k=1)
        >>> q.worst(0), q.push(0, 0.5, 7), q.worst(0)
        (inf, True, 0.5)
        """
        return self._kernels.worst(self, row_of(row, self.n_rows))

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
        >>> from structures import KBest
        >>> KBest(n_rows=1, k=1).size(0)
        0
        """
        return self._kernels.size(self, row_of(row, self.n_rows))

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
        >>> from structures import KBest
        >>> q = KBest(n_rows=1, k=5, flags=True)
        >>> q.push(0, 0.5, 7, flag=True), q.row(0)
        (True, (array([0.5], dtype=float32), array([7], dtype=int32), array([ True])))
        """
        row = row_of(row, self.n_rows)
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
        >>> from structures import KBest
        >>> q = KBest(n_rows=1, k=2)
        >>> q.push(0, 0.5, 7), q.to_arrays()
        (True, (array([[0.5, inf]], dtype=float32), array([[ 7, -1]], dtype=int32)))
        """
        if not self.has_flags:
            return self._kernels.to_arrays(self)
        distances, ids, flags = arrays_with_flags(self)
        return distances, ids, flags.view(np.bool_)

    def _content(self) -> tuple[np.ndarray, ...]:
        return self.to_arrays()

    def _equals(self, other: Any) -> bool:
        return self.has_flags == other.has_flags and super()._equals(other)

    def _check(self) -> None:
        """Assert the numbered invariants of :mod:`structures.neighbours.k_best`."""
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
        assert_sorted(distances, ids, arrays[2].reshape(n_rows, width) if has_flags else 0 * ids, k)
