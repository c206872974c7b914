"""``SortedMap``: a map with its keys in order, a B+ tree of wide rows in one array.

A *leaf* holds up to 96 keys, ascending, and their values. A *node* holds up to 64 children and, for each, a
*bound*, which is at least the greatest key below it, and the count of the keys below it. Both are rows of 200
words of one array; the address of a row is the index of its first word. ::

    leaf    | key x 96                | value x 96              | size prev next | 5 unused |
    node    | bound x 64 | child x 64 | count x 64              | size  -    -   | 5 unused |

    node               bound |  30  |  70  | greatest int64     the last child has no bound
                       count |   3  |   2  |   2
                                |      |      '------------.
                                |      '-------.           |
    leaves             | 10 20 30 | <-> | 40 70 | <-> | 80 90 |        prev, next

A search counts the bounds that are less than the key: with vector instructions, and without a branch that the
processor would have to predict. The count is the index of the child, and in the leaf the place of the key.
Words past the end of a row hold the greatest int64, so that the search need not know where the end is.

Keys and values are stored as int64; a float64 becomes an int64 in the same order
(:mod:`structures.primitives.priorities`). So the same kernels serve all types. ``-0.0`` is ``0.0``.

A full row is split into two halves. If keys are inserted in ascending order, the last row of a level is split
into a full one and a new one. A row that is less than a quarter full is joined with a neighbor, if both fit
in one row. Free rows are used again.

Invariants
----------
1. All leaves have the same depth. No row but the root is empty; a root that is a node has at least two
   children.
2. The keys of all leaves in the order of the tree strictly increase; past the end of a leaf is the greatest
   int64.
3. A bound is at least the greatest key below its child and less than all keys of the next child; the last
   child and all places past it have the greatest int64.
4. The count of a child is the number of keys below it; ``size`` is the number of all keys.
5. Of two neighbors with the same parent, at most one is less than a quarter full.
6. Along ``next``, and back along ``prev``, the leaves are in the order of the tree.
7. Each row before ``used`` is in the tree, or on the list of ``n_free`` free rows that starts at ``free``.

Complexity
----------
==============================================  ===================================================
get, set, add, pop, ``in``, ``del``             O(log n)
floor, ceiling, lower, higher, rank, select     O(log n)
peek_min, peek_max, pop_min, pop_max            O(log n)
count; range_arrays, keys, values, items        O(log n); O(log n + m) for m keys
remove_range                                    O(log n) per removed key
get_many, floor_many, ceiling_many, rank_many   O(log n) per key
set_many, add_many of m                         O(m) for each byte that varies, if keys do not ascend;
                                                O(m log n), or O(n + m) for more than n / 16 new keys
remove_many                                     O(log n) per key
from_arrays, copy, to_arrays                    O(n), if the keys ascend
memory                                          17 to 35 bytes per key after insertions, at most 150 after
                                                removals; up to twice that after growth
==============================================  ===================================================

Source: R. Bayer, E. McCreight, Organization and maintenance of large ordered indices (1972); counts as in
Knuth, The Art of Computer Programming, 6.2.3; the layout of the rows is our own.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Self, overload

import numpy as np
from numba import types

from structures.base.container import NOT_GIVEN, named_by_package
from structures.base.in_njit import (
    class_method,
    constructor,
    dtype_of_numbers,
    must_be_entries,
    only_empty,
)
from structures.base.mapping import Map, Numbers
from structures.base.struct_type import bind
from structures.base.typing import Default, Key, Number, Pairs
from structures.sorted_maps.sorted_map_kernels import (
    SortedMapType,
    count_within,
    entries_within,
    nearest,
    nearest_many,
    new_sorted_map,
    remove_within,
    sorted_map_of,
    sorted_map_type,
    state,
)
from structures.sorted_maps.sorted_map_layout import (
    CHILD,
    CHILDREN,
    COUNT,
    FEW_CHILDREN,
    FEW_KEYS,
    KEYS,
    NEXT,
    NONE,
    PREV,
    ROW,
    SIZE,
)
from structures.status import (
    DTYPE_HINT,
    INT64_MAX,
    INT64_MIN,
    KEY_DTYPE_HINT,
    OK,
    as_array,
    dtype_name,
    float64,
    float64_array,
    int64,
    int64_array,
)


class SortedMap(Map[Key, Number]):
    """Sorted map from int64 or float64 keys to int64 or float64 values.

    Iteration is by ascending key. Calls from threads take turns. NaN is
    a ``ValueError`` as a key and as a sum; as a value it is allowed.

    Inside ``@njit`` there are the same methods and operators. Without ``boundscheck`` nothing raises there,
    except if there is no memory for an array that is returned: a missing key gives the default, and methods
    that change the map return a status, below 0 for a failure. Methods that return a pair (key, value) return
    a default pair if there is no such key: ``(0, 0)``, or the argument, as in ``m.floor(key, (-1, 0))``.
    Results are numbers or new arrays, so the map may change during iteration. :meth:`higher` iterates without
    an array::

        key, value = m.peek_min()
        for _ in range(len(m)):
            ...
            key, value = m.higher(key)

    Methods for single keys:

    * ``m[key]``, ``m[key] = value``, ``del m[key]``, ``key in m``, ``len(m)``
    * :meth:`get`, :meth:`add`, :meth:`pop`, :meth:`setdefault`

    Methods for the order:

    * :meth:`floor`, :meth:`ceiling`, :meth:`lower`, :meth:`higher`
    * :meth:`rank`, :meth:`select`
    * :meth:`peek_min`, :meth:`peek_max`, :meth:`pop_min`, :meth:`pop_max`

    Methods for a range ``[low, high)``:

    * :meth:`keys`, :meth:`values`, :meth:`items`, :meth:`range_arrays`, :meth:`count`, :meth:`remove_range`

    Methods for many keys:

    * :meth:`from_arrays`, :meth:`update`, :meth:`set_many`, :meth:`add_many`, :meth:`get_many`
    * :meth:`remove_many`, :meth:`floor_many`, :meth:`ceiling_many`, :meth:`rank_many`, :meth:`to_arrays`

    Methods for the whole:

    * :meth:`copy`, :meth:`clear`, :meth:`reserve`, :attr:`nbytes`, :attr:`dtype`, :attr:`key_dtype`; ``==``,
      pickle

    Parameters
    ----------
    items : mapping or iterable of (int or float, int or float), optional
        Initial entries; a repeated key has its last value.
    dtype : {int64, float64}, optional
        Type of the values; by default the type of the initial ones, int64 if there are none.
    key_dtype : {int64, float64}, optional
        Type of the keys; by default the type of the initial ones, int64 if there are none.

    Raises
    ------
    TypeError
        A dtype is another type, or a key or a value is not a number of its type.
    ValueError
        A key is NaN.
    OverflowError
        A number does not fit int64.

    Examples
    --------
    >>> m = SortedMap({10: 1.5, 20: 2.5, 30: 3.5})
    >>> m.floor(25), m.rank(25), m.select(0)
    ((20, 2.5), 2, (10, 1.5))
    >>> list(m.items(15))
    [(20, 2.5), (30, 3.5)]
    """

    __slots__ = ()
    _float_hint = DTYPE_HINT

    @overload
    def __new__(cls, items: Pairs[Key, Number] = ..., dtype: None = ..., key_dtype: None = ...) -> Self: ...
    @overload
    def __new__(cls, items: type[Number], *, key_dtype: type[Key] = ...) -> Self: ...
    @overload
    def __new__(cls, items: Any = ..., *, dtype: type[Number] = ..., key_dtype: type[Key] = ...) -> Self: ...
    @overload
    def __new__(cls, items: Any = ..., dtype: Any = ..., key_dtype: Any = ...) -> Self: ...
    def __new__(cls, items: Any = (), dtype: Any = None, key_dtype: Any = None) -> Self:
        if isinstance(items, (type, np.dtype, str)):
            items, dtype = (), items
        keys, values = cls._unzipped(items)
        return cls._build(keys, values, key_dtype, dtype)

    @classmethod
    def from_arrays(cls, keys: Any, values: Any) -> Self:
        """Build a map from two arrays, whose types become its types; a repeated key has its last value.

        Parameters
        ----------
        keys : (n,) array_like of int or float
        values : (n,) array_like of int or float

        Returns
        -------
        SortedMap

        Raises
        ------
        ValueError
            A key is NaN, or the arrays differ in length.

        Complexity
        ----------
        O(n) if the keys ascend; else O(n) for each byte that varies among them.

        Examples
        --------
        >>> SortedMap.from_arrays([0.5, 0.25], [30, 40]).peek_min()
        (0.25, 40)
        """
        return cls._build(keys, values, None, None)

    @classmethod
    def _build(cls, keys: Any, values: Any, key_dtype: Any, dtype: Any) -> Self:
        map_type = cls.type(
            cls._dtype_of(values) if dtype is None else dtype,
            cls._dtype_of(keys) if key_dtype is None else key_dtype,
        )
        self = cls._like(new_sorted_map(map_type, *map_type.start))
        if np.size(keys) or np.size(values):
            self.set_many(keys, values)
        return self

    @staticmethod
    def _dtype_of(numbers: Any) -> Any:
        """Return the dtype of keys or values; that of an empty list is int64."""
        return np.float64 if as_array(numbers).dtype.kind == "f" else np.int64

    @classmethod
    def type(cls, dtype: Any = None, key_dtype: Any = None) -> Any:
        """Return the numba type of a map, for ``List.empty_list``, field specifications and signatures.

        Parameters
        ----------
        dtype : {int64, float64}, optional
            Type of the values, int64 by default.
        key_dtype : {int64, float64}, optional
            Type of the keys, int64 by default.

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
        >>> SortedMap.type(float) == SortedMap(dtype=float)._numba_type_
        True
        """
        names = (dtype_name(np.int64 if each is None else each) for each in (key_dtype, dtype))
        return sorted_map_type(*names)

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
            return int64_array(keys, "keys", KEY_DTYPE_HINT)
        array = float64_array(keys, "keys")
        if np.isnan(array).any():
            raise ValueError(f"keys[{np.argmax(np.isnan(array))}] is not a number")
        return array

    def _is_key(self, key: Any) -> bool:
        if self.key_dtype == np.int64:
            return self._is_int64(key)
        return isinstance(key, (float, int, np.floating, np.integer)) and bool(key == key)

    def _ends(self, low: Any, high: Any) -> tuple[Any, Any, bool, bool]:
        """Return both bounds of a range, checked, and whether each is given."""
        keys = (self._key(0 if end is None else end) for end in (low, high))
        return *keys, low is not None, high is not None

    # ------------------------------------------------------------------------------------- single keys
    def add(self, key: Any, delta: Any = 1) -> None:
        """Add `delta` to the value of `key`; a missing key counts as 0, and a sum of 0 stays.

        Parameters
        ----------
        key : int or float
        delta : int or float

        Raises
        ------
        ValueError
            The key or the sum is NaN; the map is as it was.
        OverflowError
            The sum does not fit int64; the map is as it was.

        Complexity
        ----------
        O(log n), amortized over growth.

        Examples
        --------
        >>> m = SortedMap()
        >>> m.add(5, 3); m.add(5)
        >>> m[5]
        4
        """
        self._done(self._type.entries.add(self, self._key(key), self._number(delta, "delta")), key)

    def pop(self, key: Key, default: Default = NOT_GIVEN) -> Number | Default:
        """Remove `key` and return its value.

        Parameters
        ----------
        key : int or float
        default : object, optional
            Returned for a missing key.

        Returns
        -------
        int or float

        Raises
        ------
        KeyError
            The key is missing and no default was given.
        ValueError
            The key is NaN.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> m = SortedMap({1: 10})
        >>> m.pop(1), m.pop(1, 0)
        (10, 0)
        """
        key = self._key(key)
        return self._checked("_checked_pop_key", key, what=key, default=default)

    # --------------------------------------------------------------------------------------- both ends
    def peek_min(self, default: Default = NOT_GIVEN) -> tuple[Key, Number] | Default:
        """Return (key, value) of the least key.

        Parameters
        ----------
        default : object, optional
            Returned if the map is empty. Inside ``@njit`` a pair, by default ``(0, 0)``.

        Returns
        -------
        key, value : int or float

        Raises
        ------
        KeyError
            The map is empty and no default was given.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> SortedMap({7: 2, 9: 5}).peek_min()
        (7, 2)
        """
        return self._checked("_checked_peek_min", default=default)

    def peek_max(self, default: Default = NOT_GIVEN) -> tuple[Key, Number] | Default:
        """Return (key, value) of the greatest key.

        Parameters
        ----------
        default : object, optional
            Returned if the map is empty. Inside ``@njit`` a pair, by default ``(0, 0)``.

        Returns
        -------
        key, value : int or float

        Raises
        ------
        KeyError
            The map is empty and no default was given.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> SortedMap({7: 2, 9: 5}).peek_max()
        (9, 5)
        """
        return self._checked("_checked_peek_max", default=default)

    def pop_min(self, default: Default = NOT_GIVEN) -> tuple[Key, Number] | Default:
        """Remove the least key; return (key, value).

        Parameters
        ----------
        default : object, optional
            Returned if the map is empty. Inside ``@njit`` a pair, by default ``(0, 0)``.

        Returns
        -------
        key, value : int or float

        Raises
        ------
        KeyError
            The map is empty and no default was given.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> m = SortedMap({7: 2, 8: 5})
        >>> m.pop_min(), len(m)
        ((7, 2), 1)
        """
        return self._checked("_checked_pop_min", default=default)

    def pop_max(self, default: Default = NOT_GIVEN) -> tuple[Key, Number] | Default:
        """Remove the greatest key; return (key, value).

        Parameters
        ----------
        default : object, optional
            Returned if the map is empty. Inside ``@njit`` a pair, by default ``(0, 0)``.

        Returns
        -------
        key, value : int or float

        Raises
        ------
        KeyError
            The map is empty and no default was given.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> m = SortedMap({7: 2, 8: 5})
        >>> m.pop_max(), len(m)
        ((8, 5), 1)
        """
        return self._checked("_checked_pop_max", default=default)

    # ---------------------------------------------------------------------------------- neighbors of a key
    def floor(self, key: Any, default: Default = NOT_GIVEN) -> tuple[Key, Number] | Default:
        """Return (key, value) of the greatest key that is `key` or less.

        Parameters
        ----------
        key : int or float
        default : object, optional
            Returned if there is no such key. Inside ``@njit`` a pair, by default ``(0, 0)``.

        Returns
        -------
        key, value : int or float

        Raises
        ------
        KeyError
            There is no such key, and no default was given.
        ValueError
            `key` is NaN.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> m = SortedMap({10: 1, 20: 2})
        >>> m.floor(19), m.floor(20), m.floor(9, (-1, 0))
        ((10, 1), (20, 2), (-1, 0))
        """
        return self._nearest(key, True, True, default)

    def ceiling(self, key: Any, default: Default = NOT_GIVEN) -> tuple[Key, Number] | Default:
        """Return (key, value) of the least key that is `key` or greater.

        Parameters
        ----------
        key : int or float
        default : object, optional
            Returned if there is no such key. Inside ``@njit`` a pair, by default ``(0, 0)``.

        Returns
        -------
        key, value : int or float

        Raises
        ------
        KeyError
            There is no such key, and no default was given.
        ValueError
            `key` is NaN.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> m = SortedMap({10: 1, 20: 2})
        >>> m.ceiling(10), m.ceiling(11), m.ceiling(21, None)
        ((10, 1), (20, 2), None)
        """
        return self._nearest(key, False, True, default)

    def lower(self, key: Any, default: Default = NOT_GIVEN) -> tuple[Key, Number] | Default:
        """Return (key, value) of the greatest key less than `key`.

        Parameters
        ----------
        key : int or float
        default : object, optional
            Returned if there is no such key. Inside ``@njit`` a pair, by default ``(0, 0)``.

        Returns
        -------
        key, value : int or float

        Raises
        ------
        KeyError
            There is no such key, and no default was given.
        ValueError
            `key` is NaN.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> SortedMap({10: 1, 20: 2}).lower(20)
        (10, 1)
        """
        return self._nearest(key, True, False, default)

    def higher(self, key: Any, default: Default = NOT_GIVEN) -> tuple[Key, Number] | Default:
        """Return (key, value) of the least key greater than `key`: the next step of an iteration.

        Parameters
        ----------
        key : int or float
        default : object, optional
            Returned if there is no such key. Inside ``@njit`` a pair, by default ``(0, 0)``.

        Returns
        -------
        key, value : int or float

        Raises
        ------
        KeyError
            There is no such key, and no default was given.
        ValueError
            `key` is NaN.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> SortedMap({10: 1, 20: 2}).higher(10)
        (20, 2)
        """
        return self._nearest(key, False, False, default)

    def _nearest(self, key: Any, is_below: bool, or_at: bool, default: Any) -> Any:
        is_there, found, value = nearest(self, self._key(key), is_below, or_at)
        if is_there:
            return found, value
        if default is NOT_GIVEN:
            raise KeyError(f"no key {'at or ' * or_at}{'below' if is_below else 'above'} {key}")
        return default

    def floor_many(self, keys: Any, default: Any = NOT_GIVEN) -> tuple[np.ndarray, np.ndarray]:
        """Return :meth:`floor` of many keys: the greatest keys that are not greater, and their values.

        Parameters
        ----------
        keys : (m,) array_like of int or float
            In any order.
        default : (key, value), optional
            Used where there is no such key. Inside ``@njit``, ``(0, 0)`` by default.

        Returns
        -------
        keys : (m,) int64 or float64
        values : (m,) int64 or float64

        Raises
        ------
        KeyError
            A key has no such neighbor, and no default was given.
        ValueError
            A key is NaN.

        Complexity
        ----------
        O(log n) per key.

        Examples
        --------
        The price at some points in time:

        >>> price_at = SortedMap({10: 2.5, 20: 3.5})
        >>> price_at.floor_many([25, 12, 5], (-1, 0.0))
        (array([20, 10, -1]), array([3.5, 2.5, 0. ]))
        """
        return self._nearest_many(keys, True, default)

    def ceiling_many(self, keys: Any, default: Any = NOT_GIVEN) -> tuple[np.ndarray, np.ndarray]:
        """Return :meth:`ceiling` of many keys: the least keys that are not less, and their values.

        Parameters
        ----------
        keys : (m,) array_like of int or float
            In any order.
        default : (key, value), optional
            Used where there is no such key. Inside ``@njit``, ``(0, 0)`` by default.

        Returns
        -------
        keys : (m,) int64 or float64
        values : (m,) int64 or float64

        Raises
        ------
        KeyError
            A key has no such neighbor, and no default was given.
        ValueError
            A key is NaN.

        Complexity
        ----------
        O(log n) per key.

        Examples
        --------
        >>> SortedMap({10: 1, 20: 2}).ceiling_many([12, 5])
        (array([20, 10]), array([2, 1]))
        """
        return self._nearest_many(keys, False, default)

    def _nearest_many(self, keys: Any, is_below: bool, default: Any) -> tuple[np.ndarray, np.ndarray]:
        keys = self._keys(keys)
        pair = (0, 0) if default is NOT_GIVEN else default
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f"default must be a pair (key, value), not {default!r:.80}")
        pair = self._key(pair[0]), self._number(pair[1], "default")
        found, values, missing = nearest_many(self, keys, is_below, pair)
        if default is NOT_GIVEN and missing < keys.size:
            where = f"at or {'below' if is_below else 'above'}"
            raise KeyError(f"no key {where} keys[{missing}], {keys[missing]}")
        return found, values

    # ------------------------------------------------------------------------------------------- ranks
    def rank(self, key: Any) -> int:
        """Return how many keys are less than `key`, which need not be in the map.

        Parameters
        ----------
        key : int or float

        Returns
        -------
        int

        Raises
        ------
        ValueError
            `key` is NaN.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> m = SortedMap({10: 1, 20: 2})
        >>> m.rank(10), m.rank(15), m.rank(99)
        (0, 1, 2)
        """
        return self._type.entries.rank(self, self._key(key))

    def rank_many(self, keys: Any) -> np.ndarray:
        """Return :meth:`rank` of many keys: how many keys of the map are less than each.

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
            A key is NaN.

        Complexity
        ----------
        O(log n) per key.

        Examples
        --------
        >>> SortedMap({10: 1, 20: 2}).rank_many([99, 15])
        array([2, 1])
        """
        return self._kernels.rank_many(self, self._keys(keys))

    def select(self, i: int, default: Default = NOT_GIVEN) -> tuple[Key, Number] | Default:
        """Return (key, value) of the key with rank `i`; the least has rank 0.

        Parameters
        ----------
        i : int
            In ``range(len(m))``. Every key counts once, whatever its value is.
        default : object, optional
            Returned if there is no such key. Inside ``@njit`` a pair, by default ``(0, 0)``.

        Returns
        -------
        key, value : int or float

        Raises
        ------
        IndexError
            There is no such key, and no default was given.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> m = SortedMap({10: 1, 20: 2, 30: 3})
        >>> m.select(len(m) // 2)
        (20, 2)
        """
        i = int64(i, "i")
        failure, entry = self._type.entries._checked_select(self, i)
        if failure == OK:
            return entry
        if default is NOT_GIVEN:
            raise IndexError(f"rank {i} is out of range for {len(self)} keys")
        return default

    # ------------------------------------------------------------------------------------------- ranges
    def count(self, low: Any = None, high: Any = None) -> int:
        """Return how many keys are in ``[low, high)``.

        Parameters
        ----------
        low, high : int or float, optional
            Without one of them, the range has no bound on this side.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            A bound is NaN.

        Complexity
        ----------
        O(log n).

        Examples
        --------
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
            Without one of them, the range has no bound on this side.

        Returns
        -------
        keys : (m,) int64 or float64
        values : (m,) int64 or float64

        Raises
        ------
        ValueError
            A bound is NaN.

        Complexity
        ----------
        O(log n + m).

        Examples
        --------
        >>> SortedMap({10: 1, 20: 2, 30: 3}).range_arrays(15)
        (array([20, 30]), array([2, 3]))
        """
        return entries_within(self, *self._ends(low, high))

    def keys(self, low: Any = None, high: Any = None) -> np.ndarray:  # type: ignore[override]
        """Return the keys of :meth:`range_arrays`."""
        return self.range_arrays(low, high)[0].view(Numbers)

    def values(self, low: Any = None, high: Any = None) -> np.ndarray:  # type: ignore[override]
        """Return the values of :meth:`range_arrays`."""
        return self.range_arrays(low, high)[1].view(Numbers)

    def items(  # type: ignore[override]
        self, low: Any = None, high: Any = None
    ) -> Iterator[tuple[Key, Number]]:
        """Iterate over the pairs (key, value) of :meth:`range_arrays`, as they were at the call."""
        keys, values = self.range_arrays(low, high)
        return zip(keys.tolist(), values.tolist(), strict=True)

    def to_arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all keys, ascending, and their values, as ``from_arrays`` takes them."""
        return self.range_arrays()

    def remove_range(self, low: Any = None, high: Any = None) -> int:
        """Remove the keys in ``[low, high)``; return their number.

        Parameters
        ----------
        low, high : int or float, optional
            Without one of them, the range has no bound on this side.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            A bound is NaN; the map is as it was.

        Complexity
        ----------
        O(log n) per removed key.

        Examples
        --------
        >>> m = SortedMap({10: 1, 20: 2, 30: 3})
        >>> m.remove_range(high=25), m.keys()
        (2, array([30]))
        """
        return remove_within(self, *self._ends(low, high))

    # ------------------------------------------------------------------------------------------ the whole
    def _equals(self, other: Any) -> bool:
        if self._type == other._type:
            return self._kernels.equals(self, other)
        return all(map(np.array_equal, self.to_arrays(), other.to_arrays()))  # 1 == 1.0

    def _check(self) -> None:
        """Assert the numbered invariants of the module docstring."""
        rows, root, height, free, n_free = state(self)
        known = []
        leaves = []

        def subtree(row: int, level: int, low: int, high: int) -> int:
            """Check a row whose keys are above `low` and at most `high`; return their number."""
            known.append(row)
            words, size = rows[row : row + ROW].tolist(), int(rows[row + SIZE])
            assert size > (1 if row == root else 0) or level == 0 == height, f"1: row {row} of {size}"
            if level == 0:
                keys = words[:size]
                assert keys == sorted(set(keys)), f"2: the keys of {row}"
                assert all(low < key <= high for key in keys), f"3: the keys of {row} and the bounds above"
                assert words[size:KEYS] == [INT64_MAX] * (KEYS - size), f"2: the end of {row}"
                leaves.append(row)
                return size
            bounds, children = words[: size - 1], words[CHILD : CHILD + size]
            assert words[size - 1 : CHILDREN] == [INT64_MAX] * (CHILDREN - size + 1), f"3: the end of {row}"
            assert bounds == sorted(set(bounds)), f"3: the bounds of {row}"
            lows, highs = [low, *bounds], [*bounds, high]
            counts = [subtree(*each) for each in zip(children, [level - 1] * size, lows, highs, strict=True)]
            assert counts == words[COUNT : COUNT + size], f"4: the counts of {row}"
            few = FEW_KEYS if level == 1 else FEW_CHILDREN
            is_small = [rows[child + SIZE] < few for child in children]
            assert not any(map(all, pairwise(is_small))), f"5: the children of {row}"
            return sum(counts)

        assert subtree(root, height, INT64_MIN - 1, INT64_MAX) == len(self), "4: size"
        chain = [NONE, *leaves, NONE]
        assert [rows[leaf + PREV] for leaf in leaves] == chain[:-2], "6: prev"
        assert [rows[leaf + NEXT] for leaf in leaves] == chain[2:], "6: next"
        n_used = len(known)
        while free != NONE:
            known.append(free)
            free = int(rows[free])
        assert len(known) - n_used == n_free, "7: the number of free rows"
        assert sorted(known) == list(range(0, rows.size, ROW)), "7: a row is in the tree and free, or neither"


bind(SortedMapType, SortedMap)


@constructor(SortedMap)
def _sorted_map(items=None, dtype=None, key_dtype=None):
    if isinstance(items, types.Type):
        raise only_empty(SortedMap, "keys, values")
    map_type = SortedMap.type(dtype if items is None else items, key_dtype)
    key_zero, zero = map_type.start
    return lambda items=None, dtype=None, key_dtype=None: new_sorted_map(map_type, key_zero, zero)


@class_method(SortedMap, "from_arrays")
def _from_arrays(cls, keys, values):
    wide = (
        np.float64 if dtype_of_numbers(each, name).kind == "f" else np.int64
        for each, name in ((values, "values"), (keys, "keys"))
    )
    map_type = SortedMap.type(*wide)
    must_be_entries(map_type, keys, "values", values)
    key_zero, zero = map_type.start
    return lambda cls, keys, values: sorted_map_of(map_type, key_zero, zero, keys, values)


__test__ = named_by_package(SortedMap)
