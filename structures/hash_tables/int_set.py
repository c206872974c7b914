"""``IntSet``: a set of int64 keys, in a hash table like that of :class:`~structures.IntMap`, without values.

A bucket is half a cache line, with four keys, which one vector instruction compares::

    bucket     0             1                n buckets
    slots    | k0 k1 -- -- | k2 -- -- -- | ... || here? s e e d |
                                              '- the key that equals EMPTY is here

Searches, deletion and growth are those of the map (:mod:`structures.hash_tables.int_map`), by the same
kernels.

Invariants
----------
1. ``slots`` has four words for each of n buckets and the spare one; the last three words are the seed.
2. ``size`` is that of the table: the number of occupied slots, at most ``due``, 5/8 of all slots (the spare
   bucket not counted).
3. Every key is found: no bucket from its first bucket to the one before its own has an empty slot.
4. No key is in the table twice; the occupied slots of a bucket come first.

Complexity
----------
==========================  ==================================================
add, discard, remove, in    O(1) expected, amortized over growth
bulk forms                  O(1) expected per item
``& | - ^ <=``, isdisjoint  O(capacity of both) expected
reserve, copy               O(capacity)
iteration, to_array         O(capacity), and O(n) for each byte that varies among the keys
memory                      8 bytes per slot: 13 to 26 bytes per key, up to 51 in a table of 256 KB to 8 MB;
                            13 to 26 in a larger one, 13 to 19 from 64 MB on
==========================  ==================================================

Source: the hash table of :mod:`structures.hash_tables.int_map`.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

import numpy as np

from structures.base.container import Facade, named_by_package
from structures.base.in_njit import check_arguments, class_method, constructor, must_be_integers
from structures.base.struct_type import bind
from structures.hash_tables.int_map_table import EMPTY, ROOM, capacity_of, locate
from structures.hash_tables.int_set_kernels import (
    IntSetType,
    int_set_of,
    int_set_type,
    new_int_set,
    state,
)
from structures.primitives.hashing import SEED
from structures.status import int64, int64_array

if TYPE_CHECKING:

    class _Set(Facade, AbstractSet[int]): ...
else:
    _Set = Facade  # the class is registered below: as a base, Set would have another metaclass


class IntSet(_Set):
    """Set of int64 keys, for ``isinstance`` a :class:`collections.abc.Set`.

    Calls from threads take turns. Inside ``@njit`` there are the same methods and
    operators, except ``|=``: use :meth:`update` with an array. Without ``boundscheck`` nothing raises there,
    except if there is no memory for an array or a set that is returned: ``remove`` of a missing key returns a
    status below 0.

    Iteration is by ascending key. Nobody can choose keys that collide: the hash depends on a random seed.

    Methods for single keys:

    * ``key in s``, ``len(s)``, :meth:`add`, :meth:`discard`, :meth:`remove`

    Methods for many keys:

    * :meth:`from_array`, :meth:`update`, ``|=``, :meth:`contains_many`, :meth:`to_array`

    Methods for two sets:

    * ``s & t``, ``s | t``, ``s - t``, ``s ^ t``: a new set; ``s <= t``, ``s < t``, ``s == t``;
      :meth:`isdisjoint`. In Python, one of the two may be any other set of integers, which takes longer

    Methods for the whole:

    * :meth:`copy`, :meth:`clear`, :meth:`reserve`, :attr:`nbytes`; ``==``, pickle

    Parameters
    ----------
    keys : iterable of int, optional
        Initial keys; they may repeat.

    Raises
    ------
    TypeError
        A key is not an integer.
    OverflowError
        A key does not fit int64.

    Examples
    --------
    >>> s = IntSet([3, 1, 3])
    >>> s.add(2)
    >>> list(s), 5 in s
    ([1, 2, 3], False)
    """

    __slots__ = ()
    _only_type = int_set_type

    def __new__(cls, keys: Any = ()) -> IntSet:
        return cls.from_array(_keys_of(keys))

    @classmethod
    def from_array(cls, keys: Any) -> IntSet:
        """Build a set from an array of keys, which may repeat.

        Parameters
        ----------
        keys : (n,) array_like of int

        Returns
        -------
        IntSet

        Complexity
        ----------
        O(n) expected.

        Examples
        --------
        >>> len(IntSet.from_array([3, 4, 3]))
        2
        """
        self = cls._like(new_int_set())
        self.update(keys)
        return self

    from_arrays = from_array

    def to_arrays(self) -> tuple[np.ndarray]:
        """Return the keys as pickles store them, a tuple of one array."""
        return (self.to_array(),)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, AbstractSet) and not isinstance(other, IntSet):
            return set(self) == other
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]  # containers change

    def __contains__(self, key: Any) -> bool:
        return self._is_int64(key) and self._type.entries.contains(self, int(key))

    def __iter__(self) -> Iterator[int]:
        return iter(self.to_array().tolist())

    def _combined(self, verb: str, combine: Any, other: Any) -> Any:
        """Return a new set of this one and another, or NotImplemented if the other is not a set."""
        if isinstance(other, IntSet):
            return self._like(getattr(self._kernels, verb)(self, other))
        if isinstance(other, AbstractSet):
            return self.from_array(list(combine(set(self), set(other))))
        return NotImplemented

    def __and__(self, other: AbstractSet[Any]) -> IntSet:
        return self._combined("_and", operator.and_, other)

    def __or__(self, other: AbstractSet[Any]) -> IntSet:
        return self._combined("_or", operator.or_, other)

    def __sub__(self, other: AbstractSet[Any]) -> IntSet:
        return self._combined("_sub", operator.sub, other)

    def __xor__(self, other: AbstractSet[Any]) -> IntSet:
        return self._combined("_xor", operator.xor, other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __rsub__(self, other: AbstractSet[Any]) -> IntSet:
        if isinstance(other, AbstractSet):
            return self.from_array(list(set(other) - set(self)))
        return NotImplemented

    def __le__(self, other: AbstractSet[Any]) -> bool:
        return _is_subset(self, other)

    def __ge__(self, other: AbstractSet[Any]) -> bool:
        return _is_subset(other, self)

    def __lt__(self, other: AbstractSet[Any]) -> bool:
        return self != other and self <= other

    def __gt__(self, other: AbstractSet[Any]) -> bool:
        return self != other and self >= other

    def __ior__(self, other: Any) -> IntSet:  # type: ignore[misc]  # any keys, as update
        self.update(other)
        return self

    def add(self, key: int) -> None:
        """Add a key, if it is not in the set.

        Parameters
        ----------
        key : int

        Raises
        ------
        MemoryError
            There is no memory to grow; the set is as it was.

        Complexity
        ----------
        O(1) expected, amortized.

        Examples
        --------
        >>> s = IntSet()
        >>> s.add(5); s.add(5)
        >>> len(s)
        1
        """
        self._done(self._type.entries.add(self, int64(key)), key)

    def discard(self, key: int) -> None:
        """Remove a key, if it is in the set.

        Parameters
        ----------
        key : int

        Complexity
        ----------
        O(1) expected.

        Examples
        --------
        >>> s = IntSet([3])
        >>> s.discard(3)
        >>> s.discard(3)
        >>> len(s)
        0
        """
        self._type.entries.discard(self, int64(key))

    def remove(self, key: int) -> None:
        """Remove a key.

        Parameters
        ----------
        key : int

        Raises
        ------
        KeyError
            The key is missing.

        Complexity
        ----------
        O(1) expected.

        Examples
        --------
        >>> s = IntSet([5])
        >>> s.remove(5); len(s)
        0
        """
        self._done(self._type.entries.remove(self, int64(key)), key)

    def update(self, keys: Any) -> None:
        """Add many keys; if one of them is invalid, none is added.

        Parameters
        ----------
        keys : (n,) array_like of int, or another iterable of int
            They may repeat.

        Raises
        ------
        TypeError
            A key is not an integer; the set is as it was.
        OverflowError
            A key does not fit int64; the set is as it was.
        MemoryError
            There is no memory to grow; the set is as it was.

        Complexity
        ----------
        O(n) expected.

        Examples
        --------
        >>> s = IntSet([1])
        >>> s.update([2, 3])
        >>> s |= IntSet([4])
        >>> list(s)
        [1, 2, 3, 4]
        """
        keys = int64_array(_keys_of(keys))
        if keys.size:
            self._done(self._kernels.update(self, keys), f"{keys.size} keys")

    def isdisjoint(self, other: Iterable[Any]) -> bool:
        """Return whether no key is in both sets.

        Parameters
        ----------
        other : IntSet, or in Python any iterable

        Returns
        -------
        bool

        Raises
        ------
        TypeError
            The other is not an iterable.

        Complexity
        ----------
        O(capacity of the smaller set) expected.

        Examples
        --------
        >>> IntSet([1, 2]).isdisjoint(IntSet([2, 3]))
        False
        """
        if not isinstance(other, IntSet):
            return set(self).isdisjoint(other)
        return self._kernels.isdisjoint(self, other)

    def contains_many(self, keys: Any) -> np.ndarray:
        """Return, for each of many keys, whether it is in the set.

        Parameters
        ----------
        keys : (n,) array_like of int

        Returns
        -------
        (n,) bool

        Complexity
        ----------
        O(n) expected.

        Examples
        --------
        >>> IntSet([1, 2]).contains_many([2, 3])
        array([ True, False])
        """
        return self._kernels.contains_many(self, int64_array(keys))

    def to_array(self) -> np.ndarray:
        """Return the keys; :meth:`from_array` takes them back.

        Returns
        -------
        (n,) int64
            Ascending.

        Complexity
        ----------
        O(capacity), and O(n) for each byte that varies among the keys.

        Examples
        --------
        >>> IntSet([7, 5]).to_array()
        array([5, 7])
        """
        return self._kernels.to_array(self)

    def clear(self) -> None:
        """Remove every key; the capacity stays."""
        self._kernels.clear(self)

    def reserve(self, n_keys: int) -> None:
        """Make room for `n_keys` keys in total, so that the table does not grow earlier.

        Parameters
        ----------
        n_keys : int

        Raises
        ------
        ValueError
            `n_keys` is negative.
        MemoryError
            There is not enough memory; the set is as it was.

        Complexity
        ----------
        O(n_keys).

        Examples
        --------
        >>> s = IntSet()
        >>> s.reserve(1000)
        """
        self._done(self._kernels.reserve(self, self._room(n_keys, "n_keys")), f"{n_keys} keys")

    def _check(self) -> None:
        """Assert the numbered invariants of the module docstring."""
        slots, size, due = state(self)
        keys = self.to_array()
        buckets = slots.reshape(-1, ROOM)
        is_empty = buckets[:-1] == EMPTY
        n_keys = np.count_nonzero(~is_empty) + (slots[-ROOM] != EMPTY)
        assert np.array_equal(slots[-SEED.size :], SEED), "1: the seed"
        assert len(self) == size == n_keys == keys.size, "2: size"
        assert size <= due == capacity_of(slots, ROOM) <= 5 * ROOM * len(is_empty) // 8, "2: load"
        for key in keys.tolist():
            assert locate(slots, key, ROOM) >= 0, f"3: {key} is not found"
        assert np.unique(keys).size == size, "4: a key is in the table twice"
        assert not np.any(is_empty[:, :-1] & ~is_empty[:, 1:]), "4: an empty slot before an occupied one"


def _keys_of(keys: Any) -> Any:
    """Return keys as something that numpy converts to an array, unlike an iterator or a set."""
    if isinstance(keys, IntSet):
        return keys.to_array()
    return keys if isinstance(keys, (np.ndarray, list, tuple, range)) else list(keys)


def _is_subset(one: Any, other: Any) -> Any:
    """Return whether all keys of a set are in another, or NotImplemented if one of the two is not a set."""
    if isinstance(one, IntSet) and isinstance(other, IntSet):
        return one._kernels._le(one, other)
    if isinstance(one, AbstractSet) and isinstance(other, AbstractSet):
        return set(one) <= set(other)
    return NotImplemented


bind(IntSetType, IntSet)
if not TYPE_CHECKING:
    AbstractSet.register(IntSet)


@constructor(IntSet)
def _int_set(keys=None):
    if keys is None:
        return lambda keys=None: new_int_set()
    _must_be_keys(keys)
    return lambda keys=None: int_set_of(keys)


@class_method(IntSet, "from_array")
@class_method(IntSet, "from_arrays")
def _from_array(cls, keys):
    _must_be_keys(keys)
    return lambda cls, keys: int_set_of(keys)


def _must_be_keys(keys: Any) -> None:
    """Raise if the argument in compiled code is not an array of keys."""
    must_be_integers(keys, "keys")
    check_arguments(int_set_type, ("keys",), (keys,))


__test__ = named_by_package(IntSet)
