"""The types of a sorted map's keys and values, and the ranges of its keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from structures.base.mapping import Keyed
from structures.sorted_maps.sorted_map_many import count_within, entries_within, remove_within
from structures.status import float64, float64_array, int64, int64_array


class Ranged(Keyed):
    """Base of :class:`Ordered`: keys of one of two types, and ranges of keys."""

    __slots__ = ()
    _type: Any

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the values: int64 or float64."""
        return self._type.dtype

    @property
    def key_dtype(self) -> np.dtype:
        """The dtype of the keys: int64 or float64."""
        return self._type.key_dtype

    def _key(self, key: Any) -> Any:
        if self.key_dtype == np.int64:
            return int64(key)
        number = float64(key, "key")
        if number != number:
            raise ValueError("key is not a number")
        return number

    def _keys(self, keys: Any) -> np.ndarray:
        if self.key_dtype == np.int64:
            return int64_array(keys, "keys", "make it with key_dtype=float for float keys")
        array = float64_array(keys, "keys")
        if np.isnan(array).any():
            raise ValueError(f"keys[{np.argmax(np.isnan(array))}] is not a number")
        return array

    def _is_key(self, key: Any) -> bool:
        if self.key_dtype == np.int64:
            return self._is_int64(key)
        return isinstance(key, (float, int, np.floating, np.integer)) and bool(key == key)

    def _ends(self, low: Any, high: Any) -> tuple[Any, Any, bool, bool]:
        """Return both ends, and whether they are given."""
        keys = (self._key(0 if end is None else end) for end in (low, high))
        return *keys, low is not None, high is not None

    # ------------------------------------------------------------------------------------------- ranges
    def count(self, low: Any = None, high: Any = None) -> int:
        """Return how many keys are in ``[low, high)``.

        Parameters
        ----------
        low, high : int or float, optional
            Without one of them, the range has no end on this side.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            An end is not a number.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> from structures import SortedMap
        >>> m = SortedMap({10: 1, 20: 2, 30: 3})
        >>> m.count(10, 30), m.count(high=15)
        (2, 1)
        """
        return count_within(self, *self._ends(low, high))

    def range_arrays(self, low: Any = None, high: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the keys in ``[low, high)``, ascending, and their values.

        Parameters
        ----------
        low, high : int or float, optional
            Without one of them, the range has no end on this side.

        Returns
        -------
        keys : (m,) int64 or float64
        values : (m,) int64 or float64

        Raises
        ------
        ValueError
            An end is not a number.

        Complexity
        ----------
        O(log n + m).

        Examples
        --------
        >>> from structures import SortedMap
        >>> SortedMap({10: 1, 20: 2, 30: 3}).range_arrays(15)
        (array([20, 30]), array([2, 3]))
        """
        return entries_within(self, *self._ends(low, high))

    def keys(self, low: Any = None, high: Any = None) -> np.ndarray:
        """Return the keys, ascending; those of :meth:`range_arrays`."""
        return self.range_arrays(low, high)[0]

    def values(self, low: Any = None, high: Any = None) -> np.ndarray:
        """Return the values, by ascending key; those of :meth:`range_arrays`."""
        return self.range_arrays(low, high)[1]

    def items(self, low: Any = None, high: Any = None) -> Iterator[tuple[Any, Any]]:
        """Iterate over the (key, value) of :meth:`range_arrays`, as they are at the call."""
        keys, values = self.range_arrays(low, high)
        return zip(keys.tolist(), values.tolist(), strict=True)

    def to_arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all keys, ascending, and their values, as ``from_arrays`` takes them."""
        return self.range_arrays()

    def _equals(self, other: Any) -> bool:
        if self._type == other._type:
            return self._kernels.equals(self, other)
        return all(map(np.array_equal, self.to_arrays(), other.to_arrays()))  # 1 == 1.0

    def remove_range(self, low: Any = None, high: Any = None) -> int:
        """Remove the keys in ``[low, high)``; return how many there were.

        Parameters
        ----------
        low, high : int or float, optional
            Without one of them, the range has no end on this side.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            An end is not a number; the map is as it was.

        Complexity
        ----------
        O(log n) for each key that is removed.

        Examples
        --------
        >>> from structures import SortedMap
        >>> m = SortedMap({10: 1, 20: 2, 30: 3})
        >>> m.remove_range(high=25), m.keys()
        (2, array([30]))
        """
        return remove_within(self, *self._ends(low, high))
