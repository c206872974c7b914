"""The compiled half of :mod:`structures.int_map`, whose docstring draws the arrays.

Kernels on plain arrays come first, then the type, then its methods: kernels that take a container.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numba.experimental import structref

from structures import status
from structures.hashing import mix
from structures.jit import inner, kernel, quiet
from structures.keyed import KeyedType
from structures.memory import new_words
from structures.priorities import sum_leaves_range
from structures.simd import prefetch
from structures.struct_type import fields_of, method, new_like

EMPTY = status.INT64_MIN
_MIN_BITS = 3


# ------------------------------------------------------------------------------ kernels on plain arrays
@inner
def capacity_bits(n_keys):
    """Return log2 of the smallest capacity that holds `n_keys` at a load of at most 5/8."""
    bits = _MIN_BITS
    while (5 << bits) < 8 * n_keys:
        bits += 1
    return bits


@inner
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


@inner
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


@inner
def locate(slots, shift, key):
    """Return the slot of `key`, or ``~slot`` of the empty slot where it belongs."""
    slot = probe(slots, shift, key)
    return slot if slots[2 * slot] != EMPTY else ~slot


@inner
def occupy(slots, slot, key, value):
    """Write an entry into the slot that :func:`probe` named."""
    # In the spare slot any key but EMPTY says "here": its key is known.
    slots[2 * slot] = 0 if key == EMPTY else key
    slots[2 * slot + 1] = value


@inner
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


@inner
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
def new_int_map():
    """Return an empty map."""
    self = structref.new(int_map_type)
    bits = capacity_bits(0)
    self.slots = empty_slots(bits)
    self.size = 0
    self.shift = 64 - bits
    return self


@inner
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


@inner
def _make_room(self, key):
    """Let a full table grow unless `key` is in it already; say whether the key has a place."""
    return locate(self.slots, self.shift, key) >= 0 or _resize(self, self.size + 1)


@method(IntMapType, "set")
@quiet
def _set(self, key, value):
    if _is_full(self) and not _make_room(self, key):
        return status.NO_MEMORY
    slot = probe(self.slots, self.shift, key)
    self.size += self.slots[2 * slot] == EMPTY
    occupy(self.slots, slot, key, value)
    return status.OK


@method(IntMapType, "add")
@quiet
def _add(self, key, delta=1):
    if _is_full(self) and not _make_room(self, key):
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


@method(IntMapType, "set_many")
@quiet
def _set_many(self, keys, values):
    if keys.size != values.size:
        return status.OUT_OF_RANGE
    # Room is made first, so that nothing can fail half-way; for new keys only, if that makes a difference.
    n_new = keys.size
    if capacity_bits(self.size + n_new) > 64 - self.shift:
        for i in range(keys.size):
            n_new -= _contains(self, keys[i])
    if _reserve(self, self.size + n_new) < 0:
        return status.NO_MEMORY
    for i in range(keys.size):
        _set(self, keys[i], values[i])
    return status.OK


@method(IntMapType, "get_many")
@kernel
def _get_many(self, keys, default=0):
    values = np.empty(keys.size, np.int64)
    for i in range(keys.size):
        values[i] = _get(self, keys[i], default)
    return values


@method(IntMapType, "keys")
@kernel
def _keys(self):
    return entries(self.slots, self.size)[0]


@method(IntMapType, "values")
@kernel
def _values(self):
    return entries(self.slots, self.size)[1]


@kernel
def state(self):
    """Return the arrays and what else the invariants are about."""
    return self.slots.copy(), self.size, self.shift


@method(IntMapType, "nbytes")
@quiet
def _nbytes(self):
    return self.slots.nbytes
