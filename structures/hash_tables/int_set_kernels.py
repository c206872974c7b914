"""The numba type of ``IntSet``, and its methods: kernels that take a set."""

import numpy as np
from numba import types
from numba.experimental import structref

from structures import status
from structures.base.mapping import AHEAD
from structures.base.struct_type import StructType, fields_of, method, new, new_like
from structures.compiling.jit import inlined, inner, kernel, quiet
from structures.hash_tables.int_map_kernels import find, key_table_type, new_map, put
from structures.hash_tables.int_map_table import EMPTY, gather_keys, key_at, next_key
from structures.primitives.memory import new_words
from structures.primitives.simd import smaller
from structures.primitives.sorting import BYTES, sort_entries


@structref.register
class IntSetType(StructType):
    """numba type of :class:`IntSet`."""


int_set_type = IntSetType(
    fields_of(
        table=key_table_type,
        size=types.int64,  # that of the table
    )
)


@kernel
def new_int_set():
    """Return an empty set."""
    self = new(int_set_type)
    self.table = new_map(key_table_type, 0)
    self.size = 0
    return self


@method(IntSetType, "add")
@inlined
def _add(self, key):
    failure = put(self.table, key, find(self.table, key), 0)
    self.size = self.table.size
    return failure


@method(IntSetType, "remove")
@quiet
def _remove(self, key):
    found = self.table.remove(key)
    self.size = self.table.size
    return found


@method(IntSetType, "discard")
@quiet
def _discard(self, key):
    _remove(self, key)
    return status.OK


@method(IntSetType, "contains")
@quiet
def _contains(self, key):
    return self.table.contains(key)


@method(IntSetType, "prefetch")
@quiet
def _prefetch(self, key):
    self.table.prefetch(key)


@method(IntSetType, "reserve")
@quiet
def _reserve(self, n_keys):
    return self.table.reserve(n_keys)


@inner
def _count_new(self, keys):
    n = 0
    for i in range(keys.size):
        n += find(self.table, keys[i])[0] == EMPTY
    return n


@method(IntSetType, "update")
@quiet
def _update(self, keys):
    """Add all keys of an array, or none if there is no memory."""
    if self.table.reserve(self.size + _count_new(self, keys)) < 0:
        return status.NO_MEMORY
    for i in range(keys.size):
        self.table.prefetch(keys[smaller(i + AHEAD, keys.size - 1)])
        put(self.table, keys[i], find(self.table, keys[i]), 0)
    self.size = self.table.size
    return status.OK


@kernel
def int_set_of(keys):
    """Return a set made from an array, or release it and raise if there is no memory."""
    self = new_int_set()
    if _update(self, keys) < 0:
        raise MemoryError
    return self


@method(IntSetType, "contains_many")
@kernel
def _contains_many(self, keys):
    found = np.empty(keys.size, np.bool_)
    for i in range(keys.size):
        self.table.prefetch(keys[smaller(i + AHEAD, keys.size - 1)])
        found[i] = self.table.contains(keys[i])
    return found


@method(IntSetType, "to_array")
@method(IntSetType, "__iter__")
@kernel
def _to_array(self):
    keys = gather_keys(self.table.slots, self.size)
    others = new_words(keys.size)
    # The keys are their own values, which are written twice, to the same place.
    return others if sort_entries(keys, keys, others, others, new_words(BYTES)) else keys


# ------------------------------------------------------------------------------------------- two sets
@inner
def _has_key_that(self, is_in, other):
    """Return whether a key of a set is in another one, or that one is not."""
    slots = self.table.slots
    place = next_key(slots, 0)
    while place < slots.size:
        if other.table.contains(key_at(slots, place)) == is_in:
            return True
        place = next_key(slots, place + 1)
    return False


@method(IntSetType, "_le")
@quiet
def _le(self, other):
    return self.size <= other.size and not _has_key_that(self, False, other)


@method(IntSetType, "isdisjoint")
@quiet
def _isdisjoint(self, other):
    if self.size > other.size:
        return not _has_key_that(other, True, self)
    return not _has_key_that(self, True, other)


@quiet
def _add_those_that(self, keys, is_in, other):
    """Add the keys that are in another set, or those that are not; they come to the front of `keys`."""
    n = 0
    for i in range(keys.size):
        other.table.prefetch(keys[smaller(i + AHEAD, keys.size - 1)])
        key = keys[i]
        if other.table.contains(key) == is_in:
            keys[n] = key
            n += 1
    if self.table.reserve(self.size + n) < 0:
        return status.NO_MEMORY
    for i in range(n):
        self.table.prefetch(keys[smaller(i + AHEAD, n - 1)])
        put(self.table, keys[i], find(self.table, keys[i]), 0)
    self.size = self.table.size
    return status.OK


@kernel
def _with_those_that(made, self, is_in, other):
    """Add keys of one set to the one that is made, and return it."""
    if _add_those_that(made, gather_keys(self.table.slots, self.size), is_in, other) < 0:
        raise MemoryError
    return made


@method(IntSetType, "_and")
@kernel
def _and(self, other):
    if self.size > other.size:
        return _with_those_that(new_int_set(), other, True, self)
    return _with_those_that(new_int_set(), self, True, other)


@method(IntSetType, "_sub")
@kernel
def _sub(self, other):
    return _with_those_that(new_int_set(), self, False, other)


@method(IntSetType, "_or")
@kernel
def _or(self, other):
    return _with_those_that(_copy(self), other, False, self)


@method(IntSetType, "_xor")
@kernel
def _xor(self, other):
    return _with_those_that(_sub(self, other), other, False, self)


# -------------------------------------------------------------------------------------------- the whole
@method(IntSetType, "copy")
@kernel
def _copy(self):
    other = new_like(self)
    other.table = self.table.copy()
    other.size = self.size
    return other


@method(IntSetType, "clear")
@quiet
def _clear(self):
    self.size = 0
    return self.table.clear()


@method(IntSetType, "equals")
@quiet
def _equals(self, other):
    return self.size == other.size and not _has_key_that(self, False, other)


@kernel
def state(self):
    """Return the state that ``_check()`` tests."""
    return self.table.slots.copy(), self.table.size, self.table.due


@method(IntSetType, "nbytes")
@quiet
def _nbytes(self):
    return self.table.nbytes
