"""The numba type of ``IntSet``, and its methods: kernels that take a set."""

import numpy as np
from numba import types
from numba.experimental import structref

from structures import status
from structures.base.mapping import AHEAD
from structures.base.struct_type import StructType, fields_of, method, new, new_like
from structures.compiling.jit import inlined, inner, kernel, quiet
from structures.hash_tables.int_map_kernels import find, int_map_type, new_map, put
from structures.hash_tables.int_map_table import EMPTY
from structures.primitives.simd import smaller


@structref.register
class IntSetType(StructType):
    """numba type of :class:`IntSet`."""


int_set_type = IntSetType(
    fields_of(
        map=int_map_type,  # key -> 0
        size=types.int64,  # that of the map
    )
)


@kernel
def new_int_set():
    """Return an empty set."""
    self = new(int_set_type)
    self.map = new_map(int_map_type, 0)
    self.size = 0
    return self


@method(IntSetType, "add")
@inlined
def _add(self, key):
    failure = put(self.map, key, find(self.map, key), 0)
    self.size = self.map.size
    return failure


@method(IntSetType, "remove")
@quiet
def _remove(self, key):
    found = self.map.remove(key)
    self.size = self.map.size
    return found


@method(IntSetType, "discard")
@quiet
def _discard(self, key):
    _remove(self, key)
    return status.OK


@method(IntSetType, "contains")
@quiet
def _contains(self, key):
    return self.map.contains(key)


@method(IntSetType, "prefetch")
@quiet
def _prefetch(self, key):
    self.map.prefetch(key)


@method(IntSetType, "reserve")
@quiet
def _reserve(self, n_keys):
    return self.map.reserve(n_keys)


@inner
def _count_new(self, keys):
    n = 0
    for i in range(keys.size):
        n += find(self.map, keys[i])[0] == EMPTY
    return n


@method(IntSetType, "update")
@quiet
def _update(self, keys):
    """Add all keys of an array, or none if there is no memory."""
    if self.map.reserve(self.size + _count_new(self, keys)) < 0:
        return status.NO_MEMORY
    for i in range(keys.size):
        self.map.prefetch(keys[smaller(i + AHEAD, keys.size - 1)])
        put(self.map, keys[i], find(self.map, keys[i]), 0)
    self.size = self.map.size
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
        self.map.prefetch(keys[smaller(i + AHEAD, keys.size - 1)])
        found[i] = self.map.contains(keys[i])
    return found


@method(IntSetType, "to_array")
@method(IntSetType, "__iter__")
@kernel
def _to_array(self):
    return self.map.keys()


@method(IntSetType, "copy")
@kernel
def _copy(self):
    other = new_like(self)
    other.map = self.map.copy()
    other.size = self.size
    return other


@method(IntSetType, "clear")
@quiet
def _clear(self):
    self.size = 0
    return self.map.clear()


@method(IntSetType, "equals")
@kernel
def _equals(self, other):
    return self.map.equals(other.map)


@kernel
def map_of(self):
    """Return a copy of the map, for ``_check()``."""
    return self.map.copy()


@method(IntSetType, "nbytes")
@quiet
def _nbytes(self):
    return self.map.nbytes()
