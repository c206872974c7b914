"""The numba types of ``IntMap``, and their methods: kernels that take a map."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.experimental import structref
from numba.extending import intrinsic

from structures import status
from structures.base.mapping import MapType, check_sizes
from structures.base.struct_type import NumbersType, fields_of, method, new, new_like
from structures.compiling.jit import inlined, inner, kernel, late, quiet, twin
from structures.hash_tables.int_map_table import (
    BUCKET,
    EMPTY,
    FEWEST,
    LARGE,
    ROOM,
    VALUE,
    bucket_of,
    buckets_for,
    capacity_of,
    empty_slots,
    entries,
    locate,
    move_all,
    probe,
    vacate,
    wipe,
    write,
)
from structures.primitives.memory import MOST_ITEMS, copy_prefix, new_words
from structures.primitives.priorities import as_count, sum_leaves_range
from structures.primitives.simd import pointer_to, prefetch, rarely
from structures.primitives.words import number_in, word_of

_MEDIUM, _VAST = 1 << 13, 1 << 23  # words: 64 KB, 64 MB


# ------------------------------------------------------------------------------------------------ type
@structref.register
class IntMapType(NumbersType, MapType):
    """numba type of :class:`IntMap`: one concrete type per dtype of the values."""

    width = BUCKET  # words of a bucket

    @property
    def label(self) -> str:
        """The name in messages."""
        return super().label if self.dtype == np.int64 else f"{super().label}({self.dtype})"


def _fields(value_type: Any) -> list[tuple[str, Any]]:
    return fields_of(
        slots=types.int64[::1],  # slots[place] is a key, slots[place + VALUE] the bits of its value
        size=types.int64,
        due=types.int64,  # how many keys the table may have before it has to grow
        zero=value_type,  # the value of a missing key; its type is that of the values
    )


@structref.register
class KeyTableType(IntMapType):
    """numba type of the table of an :class:`IntSet`: a map without values, in buckets of half the size."""

    width = ROOM


key_table_type = KeyTableType(_fields(types.int64))
int_map_type = IntMapType(_fields(types.int64))
TYPES = {"int64": int_map_type, "float64": IntMapType(_fields(types.float64))}


def map_type(dtype: str = "int64") -> IntMapType:
    """Return the numba type of a map, for signatures and struct fields.

    Parameters
    ----------
    dtype : {"int64", "float64"}
        Type of the values.

    Returns
    -------
    numba type

    Raises
    ------
    KeyError
        Another dtype.

    Examples
    --------
    >>> from structures import IntMap
    >>> map_type("float64") == IntMap(dtype=float)._numba_type_
    True
    """
    return TYPES[dtype]


@twin(lambda self: self.struct_type.width)
@intrinsic
def width_of(typingctx, self):
    """Return how many words a bucket has."""
    width = getattr(self, "owner", self).width
    return types.int64(self), lambda context, *_: context.get_constant(types.int64, width)


@kernel
def new_map(typ, zero):
    """Return an empty map of a type, with a zero of the type of its values."""
    self = new(typ)
    self.slots = empty_slots(FEWEST, width_of(self))
    self.size = 0
    self.due = capacity_of(self.slots, width_of(self))
    self.zero = zero
    return self


# ---------------------------------------------------------------------------------- the table, and growth
@inner
def find(self, key):
    """Return a pointer to the entry of a key, or to the empty slot where it belongs."""
    return pointer_to(self.slots, probe(self.slots, key, width_of(self)))


@late
def resize(self, n_buckets):
    """Move all entries to a new table of `n_buckets`."""
    slots = empty_slots(n_buckets, width_of(self))
    move_all(self.slots, slots, width_of(self))
    self.slots = slots
    self.due = capacity_of(slots, width_of(self))
    return True


@inner
def make_room(self):
    """Move to a larger table; return False if there is no memory."""
    n_buckets, n_words = self.slots.size // width_of(self) - 1, self.slots.size
    if n_words >= _VAST:
        return resize(self, n_buckets + n_buckets // 2)
    # Four times as large from 64 KB to 8 MB, where rehashing takes long and memory is cheap.
    return resize(self, n_buckets * (4 if _MEDIUM <= n_words < LARGE else 2))


@method(IntMapType, "reserve")
@quiet
def _reserve(self, n_keys):
    if n_keys >= MOST_ITEMS:
        return status.NO_MEMORY
    if n_keys > self.due and not resize(self, buckets_for(n_keys, width_of(self))):
        return status.NO_MEMORY
    return status.OK


# ---------------------------------------------------------------------------------------- single keys
@late
def _put_and_grow(self, key, word):
    """Make room for a new key, and write its entry."""
    if not make_room(self):
        return False
    write(find(self, key), key, word, width_of(self))
    self.size += 1
    return True


@inner
def put(self, key, entry, word):
    """Write an entry to the slot from :func:`find`, or to another one if the table has to grow."""
    size = self.size + (entry[0] == EMPTY)
    if rarely(size > self.due):
        return status.OK if _put_and_grow(self, key, word) else status.NO_MEMORY
    self.size = size
    write(entry, key, word, width_of(self))
    return status.OK


@method(IntMapType, "set")
@inlined
def _set(self, key, value):
    return put(self, key, find(self, key), word_of(as_count(value, self.zero)))


@method(IntMapType, "add")
@inlined
def _add(self, key, delta=1):
    entry = find(self, key)
    value = number_in(entry[VALUE], self.zero)  # of an empty slot: 0
    delta = as_count(delta, self.zero)
    if rarely(sum_leaves_range(value, delta)):
        return status.OVERFLOW if value + delta == value + delta else status.NOT_A_NUMBER
    return put(self, key, entry, word_of(value + delta))


@method(IntMapType, "get")
@quiet
def _get(self, key, default=0):
    entry = find(self, key)
    return number_in(entry[VALUE], self.zero) if entry[0] != EMPTY else as_count(default, self.zero)


@inner
def discard(self, key):
    """Remove a key; return whether it was there."""
    place = locate(self.slots, key, width_of(self))
    if place < 0:
        return False
    vacate(self.slots, place, width_of(self))
    self.size -= 1
    return True


@method(IntMapType, "pop")
@quiet
def _pop(self, key, default=0):
    place = locate(self.slots, key, width_of(self))
    if place < 0:
        return as_count(default, self.zero)
    value = number_in(self.slots[place + VALUE], self.zero)
    vacate(self.slots, place, width_of(self))
    self.size -= 1
    return value


@method(IntMapType, "remove")
@quiet
def _remove(self, key):
    return status.OK if discard(self, key) else status.MISSING


@method(IntMapType, "contains")
@quiet
def _contains(self, key):
    return find(self, key)[0] != EMPTY


@method(IntMapType, "prefetch")
@quiet
def _prefetch(self, key):
    """Prefetch the cache line where the search for `key` starts."""
    prefetch(self.slots, bucket_of(self.slots, key, width_of(self)))


# ------------------------------------------------------------------------------------------- the whole
@method(IntMapType, "to_arrays")
@kernel
def _to_arrays(self):
    keys, words = entries(self.slots, self.size)
    values = np.full(self.size, self.zero)
    for i in range(self.size):
        values[i] = number_in(words[i], self.zero)
    return keys, values


@method(IntMapType, "clear")
@quiet
def _clear(self):
    wipe(self.slots, 0, self.slots.size, width_of(self))
    self.size = 0
    return status.OK


@method(IntMapType, "copy")
@kernel
def _copy(self):
    other = new_like(self)
    other.slots = self.slots.copy()
    other.size = self.size
    other.due = self.due
    other.zero = self.zero
    return other


@method(IntMapType, "assign")
@quiet
def _assign(self, other):
    """Copy the content of another map; return True, or null (false) if there is no memory."""
    slots = new_words(other.slots.size)
    copy_prefix(other.slots, other.slots.size, slots)
    self.slots = slots
    self.size = other.size
    self.due = other.due
    return True


@method(IntMapType, "set_many")
@quiet
def _set_many(self, keys, values):
    if keys.size != values.size:
        return status.OUT_OF_RANGE
    # Reserve first, so that nothing fails halfway. New keys are counted only if that may avoid growth.
    n_new = keys.size
    if self.size + n_new > capacity_of(self.slots, width_of(self)):
        for i in range(keys.size):
            n_new -= _contains(self, keys[i])
    if _reserve(self, self.size + n_new) < 0:
        return status.NO_MEMORY
    for i in range(keys.size):
        _set(self, keys[i], values[i])
    return status.OK


@kernel
def map_of(typ, zero, keys, values):
    """Return a map made from arrays, or release it and raise as the Python class does."""
    check_sizes(keys, values)
    self = new_map(typ, zero)
    if _set_many(self, keys, values) < 0:
        raise MemoryError
    return self


@kernel
def state(self):
    """Return the state that ``_check()`` tests."""
    return self.slots.copy(), self.size, self.due


@method(IntMapType, "nbytes")
@quiet
def _nbytes(self):
    return self.slots.nbytes
