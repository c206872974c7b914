"""What a sorted map answers about the order of its keys: ends, neighbours and ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from structures.base.mapping import NOTHING
from structures.sorted_maps.sorted_map_many import nearest, nearest_many
from structures.sorted_maps.sorted_map_ranges import Ranged
from structures.status import int64


class Ordered(Ranged):
    """Base of :class:`SortedMap`: what it answers about single keys and their neighbours."""

    __slots__ = ()

    def _must_have_keys(self) -> None:
        if not len(self):
            raise KeyError(f"{type(self).__name__} is empty")

    # ---------------------------------------------------------------------------------------- both ends
    def peek_min(self) -> tuple[Any, Any]:
        """Return (key, value) of the least key.

        Returns
        -------
        key, value : int or float

        Raises
        ------
        KeyError
            The map is empty.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> from structures import SortedMap
        >>> SortedMap({7: 2, 9: 5}).peek_min()
        (7, 2)
        """
        self._must_have_keys()
        return self._kernels.peek_min(self)

    def peek_max(self) -> tuple[Any, Any]:
        """Return (key, value) of the greatest key.

        Returns
        -------
        key, value : int or float

        Raises
        ------
        KeyError
            The map is empty.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> from structures import SortedMap
        >>> SortedMap({7: 2, 9: 5}).peek_max()
        (9, 5)
        """
        self._must_have_keys()
        return self._kernels.peek_max(self)

    # --------------------------------------------------------------------------------- neighbours of a key
    def floor(self, key: Any, default: Any = NOTHING) -> Any:
        """Return (key, value) of the greatest key that is `key` or less.

        Parameters
        ----------
        key : int or float
        default : object, optional
            Returned if there is none. Inside ``@njit`` a pair: ``(0, 0)`` if it is not given.

        Returns
        -------
        key, value : int or float

        Raises
        ------
        KeyError
            There is none, and no default was given.
        ValueError
            `key` is not a number.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> from structures import SortedMap
        >>> m = SortedMap({10: 1, 20: 2})
        >>> m.floor(19), m.floor(20), m.floor(9, (-1, 0))
        ((10, 1), (20, 2), (-1, 0))
        """
        return self._nearest(key, True, True, default)

    def ceiling(self, key: Any, default: Any = NOTHING) -> Any:
        """Return (key, value) of the least key that is `key` or greater.

        Parameters
        ----------
        key : int or float
        default : object, optional
            Returned if there is none. Inside ``@njit`` a pair: ``(0, 0)`` if it is not given.

        Returns
        -------
        key, value : int or float

        Raises
        ------
        KeyError
            There is none, and no default was given.
        ValueError
            `key` is not a number.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> from structures import SortedMap
        >>> m = SortedMap({10: 1, 20: 2})
        >>> m.ceiling(10), m.ceiling(11), m.ceiling(21, None)
        ((10, 1), (20, 2), None)
        """
        return self._nearest(key, False, True, default)

    def lower(self, key: Any, default: Any = NOTHING) -> Any:
        """Return (key, value) of the greatest key less than `key`.

        Parameters
        ----------
        key : int or float
        default : object, optional
            Returned if there is none. Inside ``@njit`` a pair: ``(0, 0)`` if it is not given.

        Returns
        -------
        key, value : int or float

        Raises
        ------
        KeyError
            There is none, and no default was given.
        ValueError
            `key` is not a number.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> from structures import SortedMap
        >>> SortedMap({10: 1, 20: 2}).lower(20)
        (10, 1)
        """
        return self._nearest(key, True, False, default)

    def higher(self, key: Any, default: Any = NOTHING) -> Any:
        """Return (key, value) of the least key greater than `key`: a step of a walk through the keys.

        Parameters
        ----------
        key : int or float
        default : object, optional
            Returned if there is none. Inside ``@njit`` a pair: ``(0, 0)`` if it is not given.

        Returns
        -------
        key, value : int or float

        Raises
        ------
        KeyError
            There is none, and no default was given.
        ValueError
            `key` is not a number.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> from structures import SortedMap
        >>> SortedMap({10: 1, 20: 2}).higher(10)
        (20, 2)
        """
        return self._nearest(key, False, False, default)

    def _nearest(self, key: Any, is_below: bool, or_at: bool, default: Any) -> Any:
        is_there, found, value = nearest(self, self._key(key), is_below, or_at)
        if is_there:
            return found, value
        if default is NOTHING:
            raise KeyError(f"no key {'at or ' * or_at}{'below' if is_below else 'above'} {key}")
        return default

    def floor_many(self, keys: Any, default: Any = NOTHING) -> tuple[np.ndarray, np.ndarray]:
        """Return, for each of many keys, the greatest key that is not greater, and the value of that key.

        Parameters
        ----------
        keys : (m,) array_like of int or float
            In any order.
        default : (key, value), optional
            Stands where there is none. Inside ``@njit``: ``(0, 0)`` if it is not given.

        Returns
        -------
        keys : (m,) int64 or float64
        values : (m,) int64 or float64

        Raises
        ------
        KeyError
            For some key there is none, and no default was given.
        ValueError
            A key is not a number.

        Complexity
        ----------
        O(log n) a key.

        Examples
        --------
        The price at some points in time:

        >>> from structures import SortedMap
        >>> price_at = SortedMap({10: 2.5, 20: 3.5})
        >>> price_at.floor_many([25, 12, 5], (-1, 0.0))
        (array([20, 10, -1]), array([3.5, 2.5, 0. ]))
        """
        return self._nearest_many(keys, True, default)

    def ceiling_many(self, keys: Any, default: Any = NOTHING) -> tuple[np.ndarray, np.ndarray]:
        """Return, for each of many keys, the least key that is not less, and the value of that key.

        Parameters
        ----------
        keys : (m,) array_like of int or float
            In any order.
        default : (key, value), optional
            Stands where there is none. Inside ``@njit``: ``(0, 0)`` if it is not given.

        Returns
        -------
        keys : (m,) int64 or float64
        values : (m,) int64 or float64

        Raises
        ------
        KeyError
            For some key there is none, and no default was given.
        ValueError
            A key is not a number.

        Complexity
        ----------
        O(log n) a key.

        Examples
        --------
        >>> from structures import SortedMap
        >>> SortedMap({10: 1, 20: 2}).ceiling_many([12, 5])
        (array([20, 10]), array([2, 1]))
        """
        return self._nearest_many(keys, False, default)

    def _nearest_many(self, keys: Any, is_below: bool, default: Any) -> tuple[np.ndarray, np.ndarray]:
        keys = self._keys(keys)
        pair = (0, 0) if default is NOTHING else default
        pair = self._key(pair[0]), self._number(pair[1], "default")
        found, values, missing = nearest_many(self, keys, is_below, pair)
        if default is NOTHING and missing < keys.size:
            where = f"at or {'below' if is_below else 'above'}"
            raise KeyError(f"no key {where} keys[{missing}], {keys[missing]}")
        return found, values

    # ------------------------------------------------------------------------------------------- ranks
    def rank(self, key: Any) -> int:
        """Return how many keys are less than `key`, which need not be there.

        Parameters
        ----------
        key : int or float

        Returns
        -------
        int

        Raises
        ------
        ValueError
            `key` is not a number.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> from structures import SortedMap
        >>> m = SortedMap({10: 1, 20: 2})
        >>> m.rank(10), m.rank(15), m.rank(99)
        (0, 1, 2)
        """
        return self._kernels.rank(self, self._key(key))

    def rank_many(self, keys: Any) -> np.ndarray:
        """Return how many keys are less, for each of many keys.

        Parameters
        ----------
        keys : (m,) array_like of int or float
            In any order.

        Returns
        -------
        (m,) int64

        Raises
        ------
        ValueError
            A key is not a number.

        Complexity
        ----------
        O(log n) a key.

        Examples
        --------
        >>> from structures import SortedMap
        >>> SortedMap({10: 1, 20: 2}).rank_many([99, 15])
        array([2, 1])
        """
        return self._kernels.rank_many(self, self._keys(keys))

    def select(self, i: int) -> tuple[Any, Any]:
        """Return (key, value) of the key with rank `i`; that with rank 0 is the least.

        Inside ``@njit``, ``select(i, default)`` gives a default pair where there is none.

        Parameters
        ----------
        i : int
            In ``range(len(m))``.

        Returns
        -------
        key, value : int or float

        Raises
        ------
        IndexError
            There is no such key.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> from structures import SortedMap
        >>> m = SortedMap({10: 1, 20: 2, 30: 3})
        >>> m.select(len(m) // 2)
        (20, 2)
        """
        i = int64(i, "i")
        if not 0 <= i < len(self):
            raise IndexError(f"rank {i} of {len(self)} keys")
        return self._kernels.select(self, i)
