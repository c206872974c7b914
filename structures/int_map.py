"""``IntMap``: a hash table from int64 to int64, open addressing with linear probing.

One array holds everything, a key beside its value, so that one operation touches one cache line::

    slot          0         1         2               capacity
    slots    | key  val | EMPTY 0 | key  val | ... || EMPTY/0  val |
                                                     '- the key that equals EMPTY lives here

A key starts at its home slot, the top bits of its hash, and moves right past occupied slots, around the
end of the table. Deletion shifts the entries behind the hole back towards their homes, so that there are
no tombstones and a probe always ends at the first empty slot.

Invariants
----------
1. The capacity is a power of two, ``shift == 64 - log2(capacity)``, and ``slots`` has
   ``2 * (capacity + 1)`` elements.
2. ``size`` is the number of occupied slots, at most 5/8 of the capacity (the spare slot not counted).
3. Every key is found: no empty slot lies between its home and where it is.
4. No key stands there twice; the value of an empty slot is 0.

Complexity
----------
==========================  ==================================================
get, add, set, pop, in      O(1) expected; O(n) when growth rehashes, amortised O(1)
bulk forms                  O(1) expected an item
reserve, copy, iteration    O(capacity)
memory                      16 bytes a slot: 26 to 51 bytes a key after growth
==========================  ==================================================

Source: linear probing with backward-shift deletion, Knuth, The Art of Computer Programming, 6.4, R.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.experimental import structref

from structures import status
from structures.hashing import mix
from structures.jit import kernel, quiet
from structures.keyed import Keyed, KeyedType
from structures.memory import new_words
from structures.priorities import sum_leaves_range
from structures.simd import prefetch
from structures.status import int64, int64_array
from structures.struct_type import bind, fields_of, method, new_like

__all__ = ["IntMap", "IntMapType", "int_map_type"]

EMPTY = status.INT64_MIN
_MIN_BITS = 3


# ------------------------------------------------------------------------------ kernels on plain arrays
@quiet
def capacity_bits(n_keys):
    """Return log2 of the smallest capacity that holds `n_keys` at a load of at most 5/8."""
    bits = _MIN_BITS
    while (5 << bits) < 8 * n_keys:
        bits += 1
    return bits


@quiet
def wipe(slots):
    """Make every slot an empty one."""
    for slot in range(slots.size >> 1):
        slots[2 * slot] = EMPTY
        slots[2 * slot + 1] = 0


@kernel
def empty_slots(bits):
    """Return the ``slots`` array of an empty table of ``2**bits`` slots and the spare one."""
    slots = new_words(2 * ((1 << bits) + 1))
    wipe(slots)
    return slots


@quiet
def probe(slots, shift, key):
    """Return the slot of `key`, or the empty one where it belongs.

    One exit for both, so that nobody has to predict whether a key is there.
    """
    spare = (slots.size >> 1) - 1
    if key == EMPTY:
        return spare
    slot = mix(key, shift)
    while (slots[2 * slot] != key) & (slots[2 * slot] != EMPTY):
        slot = (slot + 1) & (spare - 1)
    return slot


@quiet
def locate(slots, shift, key):
    """Return the slot of `key`, or ``~slot`` of the empty slot where it belongs."""
    slot = probe(slots, shift, key)
    return slot if slots[2 * slot] != EMPTY else ~slot


@quiet
def occupy(slots, slot, key, value):
    """Write an entry into the slot that :func:`probe` named."""
    # In the spare slot any key but EMPTY says "here": its key is known.
    slots[2 * slot] = 0 if key == EMPTY else key
    slots[2 * slot + 1] = value


@quiet
def vacate(slots, shift, slot):
    """Empty an occupied slot, shifting the entries behind it back towards their homes."""
    spare = (slots.size >> 1) - 1
    mask = spare - 1
    hole = slot
    if slot != spare:
        probe = (hole + 1) & mask
        while slots[2 * probe] != EMPTY:
            home = mix(slots[2 * probe], shift)
            # The entry may move if its home does not lie cyclically in (hole, probe].
            if ((probe - home) & mask) >= ((probe - hole) & mask):
                slots[2 * hole] = slots[2 * probe]
                slots[2 * hole + 1] = slots[2 * probe + 1]
                hole = probe
            probe = (probe + 1) & mask
    slots[2 * hole] = EMPTY
    slots[2 * hole + 1] = 0


@quiet
def rehash(old_slots, slots, shift):
    """Insert every entry of `old_slots` into the empty table `slots`."""
    old_spare = (old_slots.size >> 1) - 1
    for slot in range(old_spare):
        key = old_slots[2 * slot]
        if key != EMPTY:
            occupy(slots, probe(slots, shift, key), key, old_slots[2 * slot + 1])
    slots[-2] = old_slots[-2]
    slots[-1] = old_slots[-1]


@kernel
def entries(slots, n_keys):
    """Return keys and values, each ``(n_keys,) int64``, in the order of the table."""
    keys = np.empty(n_keys, np.int64)
    values = np.empty(n_keys, np.int64)
    spare = (slots.size >> 1) - 1
    n = 0
    for slot in range(spare + 1):
        if slots[2 * slot] != EMPTY:
            keys[n] = slots[2 * slot] if slot != spare else EMPTY
            values[n] = slots[2 * slot + 1]
            n += 1
    return keys, values


# ------------------------------------------------------------------------------------------------ type
@structref.register
class IntMapType(KeyedType):
    """numba type of :class:`IntMap`."""


int_map_type = IntMapType(
    fields_of(
        slots=types.int64[::1],  # slots[2 * slot] is a key, slots[2 * slot + 1] its value
        size=types.int64,
        shift=types.int64,
    )
)


@kernel
def new_int_map(n_keys):
    """Return an empty map with room for `n_keys`."""
    self = structref.new(int_map_type)
    bits = capacity_bits(n_keys)
    self.slots = empty_slots(bits)
    self.size = 0
    self.shift = 64 - bits
    return self


@quiet
def _resize(self, n_keys):
    bits = capacity_bits(n_keys)
    slots = empty_slots(bits)
    rehash(self.slots, slots, 64 - bits)
    self.slots = slots
    self.shift = 64 - bits
    return True


@method(IntMapType, "reserve")
@quiet
def _reserve(self, n_keys):
    if capacity_bits(n_keys) > 64 - self.shift and not _resize(self, n_keys):
        return status.NO_MEMORY
    return status.OK


@method(IntMapType, "is_full")
@quiet
def _is_full(self):
    """Say whether one more key makes the table grow."""
    return 8 * (self.size + 1) > 5 * ((self.slots.size >> 1) - 1)


@method(IntMapType, "set")
@quiet
def _set(self, key, value):
    if _is_full(self) and not _resize(self, self.size + 1):
        return status.NO_MEMORY
    slot = probe(self.slots, self.shift, key)
    self.size += self.slots[2 * slot] == EMPTY
    occupy(self.slots, slot, key, value)
    return status.OK


@method(IntMapType, "add")
@quiet
def _add(self, key, delta):
    if _is_full(self) and not _resize(self, self.size + 1):
        return status.NO_MEMORY
    slot = probe(self.slots, self.shift, key)
    value = self.slots[2 * slot + 1]  # of an empty slot: 0
    if sum_leaves_range(value, delta):
        return status.OVERFLOW
    self.size += self.slots[2 * slot] == EMPTY
    occupy(self.slots, slot, key, value + delta)
    return status.OK


@method(IntMapType, "get")
@quiet
def _get(self, key, default=0):
    slot = locate(self.slots, self.shift, key)
    return self.slots[2 * slot + 1] if slot >= 0 else default


@method(IntMapType, "pop")
@quiet
def _pop(self, key, default=0):
    slot = locate(self.slots, self.shift, key)
    if slot < 0:
        return default
    value = self.slots[2 * slot + 1]
    vacate(self.slots, self.shift, slot)
    self.size -= 1
    return value


@method(IntMapType, "contains")
@quiet
def _contains(self, key):
    return locate(self.slots, self.shift, key) >= 0


@method(IntMapType, "prefetch")
@quiet
def _prefetch(self, key):
    """Ask for the cache line where `key` is looked for first."""
    prefetch(self.slots, 2 * mix(key, self.shift))


@method(IntMapType, "to_arrays")
@kernel
def _to_arrays(self):
    return entries(self.slots, self.size)


@method(IntMapType, "clear")
@quiet
def _clear(self):
    wipe(self.slots)
    self.size = 0
    return status.OK


@method(IntMapType, "copy")
@kernel
def _copy(self):
    other = new_like(self)
    other.slots = self.slots.copy()
    other.size = self.size
    other.shift = self.shift
    return other


@method(IntMapType, "remove")
@quiet
def _remove(self, key):
    slot = locate(self.slots, self.shift, key)
    if slot < 0:
        return status.MISSING
    vacate(self.slots, self.shift, slot)
    self.size -= 1
    return status.OK


@method(IntMapType, "assign")
@quiet
def _assign(self, other):
    """Take over the content of another map; null where there is no memory."""
    self.slots = other.slots.copy()
    self.size = other.size
    self.shift = other.shift
    return True


@quiet
def _set_many(self, keys, values):
    # Room is made first, so that nothing can fail half-way.
    if _reserve(self, self.size + keys.size) < 0:
        return status.NO_MEMORY
    for i in range(keys.size):
        _set(self, keys[i], values[i])
    return status.OK


@quiet
def _get_many(self, keys, default):
    values = np.empty(keys.size, np.int64)
    for i in range(keys.size):
        values[i] = _get(self, keys[i], default)
    return values


@kernel
def _state(self):
    return self.slots.copy(), self.size, self.shift


@method(IntMapType, "nbytes")
@quiet
def _nbytes(self):
    return self.slots.nbytes


# ---------------------------------------------------------------------------------------------- facade
class IntMap(Keyed):
    """Hash map from int64 to int64.

    One writer at a time. Inside ``@njit`` the same verbs are there as methods and operators; nothing
    raises there: a missing key reads as the default, and verbs that change return a status, below 0
    for a failure. Iteration goes in the order of the table: arbitrary, but the same for the same history.

    Methods for single keys:

    * ``m[key]``, ``m[key] = value``, ``del m[key]``, ``key in m``, ``len(m)``
    * :meth:`get`, :meth:`add`, :meth:`pop`

    Methods for many keys:

    * :meth:`from_arrays`, :meth:`update_many`, :meth:`set_many`, :meth:`get_many`
    * :meth:`keys`, :meth:`values`, :meth:`items`, :meth:`to_arrays`

    Methods for the whole:

    * :meth:`copy`, :meth:`clear`, :meth:`reserve`, :attr:`nbytes`; ``==``, pickle

    Parameters
    ----------
    items : mapping or iterable of (int, int), optional
        Initial entries; of a repeated key the last value stays.

    Examples
    --------
    >>> m = IntMap({1: 10})
    >>> m.add(1, 5)
    >>> m.add(2, 7)
    >>> m[1], m[2], m.get(3, -1)
    (15, 7, -1)
    """

    __slots__ = ()

    def __new__(cls, items: Any = ()) -> IntMap:
        return cls.from_arrays(*cls._unzipped(items))

    @classmethod
    def from_arrays(cls, keys: Any, values: Any) -> IntMap:
        """Build a map from two arrays; of a repeated key the last value stays.

        Parameters
        ----------
        keys, values : (n,) array_like of int

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
        self = new_int_map(0)
        if len(keys):
            self.set_many(keys, values)
        return self

    def add(self, key: int, delta: int = 1) -> None:
        """Add `delta` to the value of `key`; a missing key counts as 0, a sum of 0 stays in the map.

        Parameters
        ----------
        key, delta : int

        Raises
        ------
        OverflowError
            The sum does not fit int64; the map is as it was.

        Complexity
        ----------
        O(1) expected, amortised.

        Examples
        --------
        >>> m = IntMap()
        >>> m.add(5, 3); m.add(5)
        >>> m[5]
        4
        """
        self._done(_add(self, int64(key), int64(delta, "delta")), key)

    def pop(self, key: int, *default: int) -> int:
        """Remove `key` and return its value.

        Parameters
        ----------
        key : int
        default : int, optional
            Returned for a missing key.

        Returns
        -------
        int

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
        if not _contains(self, key):
            if default:
                return default[0]
            raise KeyError(key)
        return _pop(self, key, 0)

    def set_many(self, keys: Any, values: Any) -> None:
        """Set ``keys[i]`` to ``values[i]`` for every i, in order; of a repeated key the last value stays.

        Parameters
        ----------
        keys, values : (n,) array_like of int

        Raises
        ------
        ValueError
            The arrays differ in length.

        Complexity
        ----------
        O(n) expected.

        Examples
        --------
        >>> m = IntMap()
        >>> m.set_many([1, 2], [10, 20])
        >>> m[2]
        20
        """
        keys, values = int64_array(keys), int64_array(values, "values")
        self._same_length(keys, values, "values")
        self._done(_set_many(self, keys, values), "all keys")

    def get_many(self, keys: Any, default: int = 0) -> np.ndarray:
        """Return the values of many keys, `default` for the missing ones.

        Parameters
        ----------
        keys : (n,) array_like of int
        default : int

        Returns
        -------
        (n,) int64

        Complexity
        ----------
        O(n) expected.

        Examples
        --------
        >>> IntMap({1: 10}).get_many([1, 2], -1)
        array([10, -1])
        """
        return _get_many(self, int64_array(keys), int64(default, "default"))

    def keys(self) -> np.ndarray:
        """Return the keys.

        Returns
        -------
        (n,) int64
            In the order of the table.

        Complexity
        ----------
        O(capacity).

        Examples
        --------
        >>> IntMap({1: 10}).keys()
        array([1])
        """
        return _to_arrays(self)[0]

    def values(self) -> np.ndarray:
        """Return the values, in the order of :meth:`keys`.

        Returns
        -------
        (n,) int64

        Complexity
        ----------
        O(capacity).

        Examples
        --------
        >>> IntMap({1: 10}).values()
        array([10])
        """
        return _to_arrays(self)[1]

    def to_arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all keys and values; :meth:`from_arrays` takes them back.

        Returns
        -------
        keys, values : (n,) int64
            In the order of the table.

        Complexity
        ----------
        O(capacity).

        Examples
        --------
        >>> IntMap({1: 10}).to_arrays()
        (array([1]), array([10]))
        """
        return _to_arrays(self)

    def _check(self) -> None:
        """Assert the numbered invariants of the module docstring."""
        slots, size, shift = _state(self)
        capacity = 1 << (64 - shift)
        keys, _ = _to_arrays(self)
        assert slots.size == 2 * (capacity + 1), "1: capacity"
        assert size == np.count_nonzero(slots[::2] != EMPTY), "2: size"
        assert 8 * (size - (slots[-2] != EMPTY)) <= 5 * capacity, "2: load"
        for key in keys.tolist():
            assert locate(slots, shift, key) >= 0, f"3: {key} is not found"
        assert np.unique(keys).size == size, "4: a key stands twice"
        assert not np.any(slots[1:-2:2][slots[:-2:2] == EMPTY]), "4: an empty slot has a value"


bind(IntMapType, IntMap)
