"""``IntMap``: a hash table from int64 to int64 or float64, open addressing with linear probing of buckets.

One array holds everything. A bucket is a cache line with four slots, its keys before its values, so that one
vector instruction compares all four::

    bucket        0                           1                n buckets
    slots    | k0 k1 -- -- v0 v1 0 0 | k2 -- -- -- v2 0 0 0 | ... || here? -- -- -- v  s e e d   |
               place            place + VALUE                     '- the key that equals EMPTY is here

The first bucket of a key is given by its hash, as a fraction of n. If that is full, the key goes to the next
bucket with a free slot, around the end of the table. Deletion fills the hole with the last entry of the
bucket, or with an entry that had to pass it. So there are no tombstones, and a search ends at the first
bucket with an empty slot.

A full table grows to twice its size, to four times from 64 KB to 8 MB, and by half from 64 MB on. As first
buckets are in the order of the hashes, the old table is read and the new one written from left to right.

The hash depends on a random seed (:mod:`structures.primitives.hashing`), so that nobody can choose keys that
collide. The order of iteration depends neither on the seed nor on the table: keys are sorted when they are
read. A table with its entries in order of insertion, like a dict, would need one more access per search.

Invariants
----------
1. ``slots`` has eight words for each of n buckets and the spare one; the last three words are the seed.
2. ``size`` is the number of occupied slots, at most ``due``, 5/8 of all slots (the spare bucket not counted).
3. Every key is found: no bucket from its first bucket to the one before its own has an empty slot.
4. No key is in the table twice; the occupied slots of a bucket come first; the value of an empty slot is 0
   (except for the seed, in the spare bucket).

Complexity
----------
==========================  ==================================================
get, add, set, pop, in      O(1) expected; O(n) when growth rehashes, amortized O(1)
bulk forms                  O(1) expected per item
reserve, copy               O(capacity)
iteration, to_arrays        O(capacity), and O(n) for each byte that varies among the keys
memory                      16 bytes per slot: 26 to 51 bytes per key, up to 102 in a table of 256 KB to
                            8 MB; 26 to 51 in a larger one, 26 to 38 from 64 MB on
==========================  ==================================================

Source: buckets, linear probing, deletion without tombstones: Knuth, The Art of Computer Programming, 6.4.
"""

from __future__ import annotations

from typing import Any, Self, overload

import numpy as np
from numba import types

from structures.base.container import NOT_GIVEN, OfNumbers, named_by_package
from structures.base.in_njit import class_method, constructor, must_be_entries, only_empty
from structures.base.mapping import Map
from structures.base.struct_type import bind
from structures.base.typing import Default, Number
from structures.hash_tables.int_map_kernels import TYPES, IntMapType, map_of, new_map, state
from structures.hash_tables.int_map_table import BUCKET, EMPTY, ROOM, capacity_of, locate
from structures.primitives.hashing import SEED
from structures.status import DTYPE_HINT, int64, int64_array


class IntMap(OfNumbers, Map[int, Number]):
    """Hash map from int64 to int64, or to float64.

    Calls from threads take turns. Inside ``@njit`` there are the same methods and
    operators. Without ``boundscheck`` nothing raises there, except if there is no memory for an array that is
    returned: a missing key gives the default, and methods that change the map return a status, below 0 for a
    failure. A float for an integer is a typing error there. The iterations of a ``prange`` may read a map
    from outside, but not change it.

    Iteration is by ascending key. Nobody can choose keys that collide: the hash depends on a random seed.

    Methods for single keys:

    * ``m[key]``, ``m[key] = value``, ``del m[key]``, ``key in m``, ``len(m)``
    * :meth:`get`, :meth:`add`, :meth:`pop`

    Methods for many keys:

    * :meth:`from_arrays`, :meth:`update`, :meth:`set_many`, :meth:`add_many`, :meth:`get_many`
    * :meth:`keys`, :meth:`values`, :meth:`items`, :meth:`to_arrays`

    Methods for the whole:

    * :meth:`copy`, :meth:`clear`, :meth:`reserve`, :attr:`nbytes`, :attr:`dtype`; ``==``, pickle

    Parameters
    ----------
    items : mapping or iterable of (int, int or float), optional
        Initial entries; a repeated key has its last value.
    dtype : {int64, float64}, optional
        Type of the values.

    Raises
    ------
    TypeError
        `dtype` is another type, or a key or a value is not a number of its type.
    OverflowError
        A number does not fit int64.

    Examples
    --------
    >>> m = IntMap({1: 10})
    >>> m.add(1, 5)
    >>> m.add(2, 7)
    >>> m[1], m[2], m.get(3, -1)
    (15, 7, -1)
    """

    __slots__ = ()
    _types = TYPES
    _float_hint = DTYPE_HINT

    @overload
    def __new__(cls, items: type[Number]) -> Self: ...
    @overload
    def __new__(cls, items: Any = ..., dtype: type[Number] = ...) -> Self: ...
    @overload
    def __new__(cls, items: Any = ..., dtype: Any = ...) -> Self: ...
    def __new__(cls, items: Any = (), dtype: Any = np.int64) -> Self:
        if isinstance(items, (type, np.dtype, str)):
            items, dtype = (), items
        return cls.from_arrays(*cls._unzipped(items), dtype)

    @classmethod
    def from_arrays(cls, keys: Any, values: Any, dtype: Any = np.int64) -> Self:
        """Build a map from two arrays; a repeated key has its last value.

        Parameters
        ----------
        keys : (n,) array_like of int
        values : (n,) array_like of int or float
        dtype : {int64, float64}, optional
            Type of the values.

        Returns
        -------
        IntMap

        Raises
        ------
        ValueError
            The arrays differ in length.

        Complexity
        ----------
        O(n) expected.

        Examples
        --------
        >>> IntMap.from_arrays([3, 4], [30, 40])[4]
        40
        """
        made_type = cls.type(dtype)
        self = cls._like(new_map(made_type, made_type.start))
        keys, values = self._entries(keys, values)
        if keys.size:
            self._done(self._kernels.set_many(self, keys, values), f"{keys.size} keys")
        return self

    def __reduce__(self) -> Any:
        made_by, arrays, attributes = super().__reduce__()
        return made_by, (*arrays, "float64") if self.dtype == np.float64 else arrays, attributes

    def _entries(self, keys: Any, values: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return checked arrays of keys and values, of the same length."""
        keys, values = int64_array(keys), self._numbers(values, "values")
        self._same_length(keys, values, "values")
        return keys, values

    def add(self, key: int, delta: Any = 1) -> None:
        """Add `delta` to the value of `key`; a missing key counts as 0, and a sum of 0 stays.

        Parameters
        ----------
        key : int
        delta : int or float

        Raises
        ------
        OverflowError
            The sum does not fit int64; the map is as it was.
        ValueError
            The sum of floats is NaN; the map is as it was.

        Complexity
        ----------
        O(1) expected, amortized.

        Examples
        --------
        >>> m = IntMap()
        >>> m.add(5, 3); m.add(5)
        >>> m[5]
        4
        """
        self._done(self._type.entries.add(self, int64(key), self._number(delta, "delta")), key)

    def pop(self, key: int, default: Default = NOT_GIVEN) -> Number | Default:
        """Remove `key` and return its value.

        Parameters
        ----------
        key : int
        default : object, optional
            Returned for a missing key.

        Returns
        -------
        int or float

        Raises
        ------
        KeyError
            The key is missing and no default was given.

        Complexity
        ----------
        O(1) expected.

        Examples
        --------
        >>> m = IntMap({1: 10})
        >>> m.pop(1), m.pop(1, 0)
        (10, 0)
        """
        key = int64(key)
        return self._checked("_checked_pop_key", key, what=key, default=default)

    def to_arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all keys and values; :meth:`from_arrays` takes them back.

        Returns
        -------
        keys : (n,) int64
            Ascending.
        values : (n,) int64 or float64

        Complexity
        ----------
        O(capacity), and O(n) for each byte that varies among the keys.

        Examples
        --------
        >>> IntMap({1: 10}).to_arrays()
        (array([1]), array([10]))
        """
        return self._kernels.to_arrays(self)

    def _check(self) -> None:
        """Assert the numbered invariants of the module docstring."""
        slots, size, due = state(self)
        keys, _ = self._kernels.to_arrays(self)
        buckets = slots.reshape(-1, 2, ROOM)
        is_empty = buckets[:, 0] == EMPTY
        assert slots.size % BUCKET == 0, "1: capacity"
        assert np.array_equal(slots[-SEED.size :], SEED), "1: the seed"
        assert size == np.count_nonzero(~is_empty) == keys.size, "2: size"
        assert size <= due == capacity_of(slots, BUCKET) <= 5 * ROOM * (len(buckets) - 1) // 8, "2: load"
        for key in keys.tolist():
            assert locate(slots, key, BUCKET) >= 0, f"3: {key} is not found"
        assert np.unique(keys).size == size, "4: a key is in the table twice"
        assert not np.any(is_empty[:, :-1] & ~is_empty[:, 1:]), "4: an empty slot before an occupied one"
        buckets[-1, 1, 1:] = 0
        assert not np.any(buckets[:, 1][is_empty]), "4: an empty slot has a value"


bind(IntMapType, IntMap)


@constructor(IntMap)
def _int_map(items=None, dtype=None):
    if isinstance(items, types.Type):
        raise only_empty(IntMap, "keys, values")
    made_type = IntMap.type(dtype if items is None else items)
    zero = made_type.start
    return lambda items=None, dtype=None: new_map(made_type, zero)


@class_method(IntMap, "from_arrays")
def _from_arrays(cls, keys, values, dtype=None):
    made_type = IntMap.type(dtype)
    must_be_entries(made_type, keys, "values", values)
    zero = made_type.start
    return lambda cls, keys, values, dtype=None: map_of(made_type, zero, keys, values)


__test__ = named_by_package(IntMap)
