"""The kernels and the numba type of :mod:`structures.int_map`, whose docstring draws the arrays.

Kernels on plain arrays come first, then the type, then its methods.
"""

from numba import types
from numba.experimental import structref

from structures import status
from structures.hashing import mix, secret_of
from structures.jit import inner, kernel, quiet
from structures.keyed import KeyedType
from structures.memory import copy_prefix, new_words
from structures.priorities import sum_leaves_range
from structures.secret import put_secret
from structures.simd import lanes_with, lowest_lane, pointer_to, prefetch, rarely
from structures.sorting import BYTES, sort_entries
from structures.struct_type import fields_of, method, new, new_like

EMPTY = status.INT64_MIN
ROOM = 4  # slots a bucket
BUCKET = 2 * ROOM  # words
VALUE = ROOM  # from the place of a key to that of its value
_MIN_BITS = 1
_MEDIUM, _LARGE = 1 << 13, 1 << 20  # words: 64 KB, 8 MB


# ------------------------------------------------------------------------------ kernels on plain arrays
@inner
def bucket_bits(n_keys):
    """Return log2 of the least number of buckets that hold `n_keys` at a load of at most 5/8."""
    bits = _MIN_BITS
    while (5 * ROOM << bits) < 8 * n_keys:
        bits += 1
    return bits


@inner
def wipe(slots):
    """Empty every slot, and write the secret."""
    for bucket in range(0, slots.size, BUCKET):
        for lane in range(ROOM):
            slots[bucket + lane] = EMPTY
            slots[bucket + lane + VALUE] = 0
    put_secret(slots)


@kernel
def empty_slots(bits):
    """Return the ``slots`` array of an empty table of ``2**bits`` buckets and the spare one."""
    slots = new_words(BUCKET * ((1 << bits) + 1))
    wipe(slots)
    return slots


@inner
def home_of(slots, shift, key):
    """Return the bucket where the search for a key starts."""
    return BUCKET * mix(key, secret_of(slots), shift)


@inner
def probe(slots, shift, key):
    """Return the place of `key`, or of the empty slot where it belongs.

    One exit for both, so that the processor need not predict whether a key is there.
    """
    spare = slots.size - BUCKET
    bucket = home_of(slots, shift, key)  # in any case: a loop of searches reads the secret once
    if key == EMPTY:
        return spare
    lanes = lanes_with(slots, bucket, key, EMPTY)
    while lanes == 0:
        bucket = (bucket + BUCKET) & (spare - 1)
        lanes = lanes_with(slots, bucket, key, EMPTY)
    return bucket + lowest_lane(lanes)


@inner
def locate(slots, shift, key):
    """Return the place of `key`, or ``~place`` of the empty slot where it belongs."""
    place = probe(slots, shift, key)
    return place if slots[place] != EMPTY else ~place


@inner
def occupy(slots, place, key, value):
    """Write an entry at the place that :func:`probe` returned."""
    entry = pointer_to(slots, place)
    # In the spare bucket any key but EMPTY marks an occupied slot: its key is known.
    entry[0] = 0 if key == EMPTY else key
    entry[VALUE] = value


@inner
def beyond(slots, shift, bucket):
    """Return the place of an entry that passed a full bucket on its way, or the bucket's last one."""
    mask = slots.size - BUCKET - 1
    other = bucket
    while True:
        other = (other + BUCKET) & mask
        for place in range(other, other + ROOM):
            if slots[place] == EMPTY:
                return bucket + ROOM - 1
            # It passed the bucket if its home does not lie cyclically in (bucket, other].
            if ((other - home_of(slots, shift, slots[place])) & mask) >= ((other - bucket) & mask):
                return place


@inner
def vacate(slots, shift, place):
    """Empty an occupied slot: the last entry of its bucket fills it, or one that passed the bucket."""
    hole = place
    while hole < slots.size - BUCKET:
        bucket = hole & -BUCKET
        n_free = lanes_with(slots, bucket, EMPTY, EMPTY)
        last = bucket + lowest_lane(n_free) - 1 if n_free else beyond(slots, shift, bucket)
        slots[hole] = slots[last]
        slots[hole + VALUE] = slots[last + VALUE]
        hole = last
        if last < bucket + ROOM and last >= bucket:
            break
    slots[hole] = EMPTY
    slots[hole + VALUE] = 0


@inner
def occupied(slots, bucket):
    """Return how many slots of a bucket are occupied. A vector load would wait for recent stores."""
    keys = pointer_to(slots, bucket)
    # From 0 on: without the compiler, the sum of two of numpy's bools is a bool.
    return 0 + (keys[0] != EMPTY) + (keys[1] != EMPTY) + (keys[2] != EMPTY) + (keys[3] != EMPTY)


@inner
def rehash(old_slots, slots, shift):
    """Insert every entry of `old_slots` into the empty table `slots`, which is written from left to right."""
    old_spare, spare = old_slots.size - BUCKET, slots.size - BUCKET
    for old_bucket in range(0, old_spare, BUCKET):
        place = old_bucket
        while place < old_bucket + ROOM and old_slots[place] != EMPTY:
            bucket = home_of(slots, shift, old_slots[place])
            n = occupied(slots, bucket)
            while n == ROOM:
                bucket = (bucket + BUCKET) & (spare - 1)
                n = occupied(slots, bucket)
            target = pointer_to(slots, bucket + n)
            target[0] = old_slots[place]
            target[VALUE] = old_slots[place + VALUE]
            place += 1
    slots[spare] = old_slots[old_spare]
    slots[spare + VALUE] = old_slots[old_spare + VALUE]


@kernel
def entries(slots, n_keys):
    """Return keys and values, each ``(n_keys,) int64``, by ascending key."""
    keys = new_words(n_keys)
    values = new_words(n_keys)
    spare = slots.size - BUCKET
    n = 0
    for bucket in range(0, slots.size, BUCKET):
        place = bucket
        while place < bucket + ROOM and slots[place] != EMPTY:
            keys[n] = slots[place] if place != spare else EMPTY
            values[n] = slots[place + VALUE]
            n += 1
            place += 1
    other_keys, other_values = new_words(n_keys), new_words(n_keys)
    if sort_entries(keys, values, other_keys, other_values, new_words(BYTES)):
        return other_keys, other_values
    return keys, values


# ------------------------------------------------------------------------------------------------ type
@structref.register
class IntMapType(KeyedType):
    """numba type of :class:`IntMap`."""


int_map_type = IntMapType(
    fields_of(
        slots=types.int64[::1],  # slots[place] is a key, slots[place + VALUE] its value
        size=types.int64,
        shift=types.int64,
    )
)


@kernel
def new_int_map():
    """Return an empty map."""
    self = new(int_map_type)
    bits = bucket_bits(0)
    self.slots = empty_slots(bits)
    self.size = 0
    self.shift = 64 - bits
    return self


@inner
def _resize(self, n_keys):
    bits = bucket_bits(n_keys)
    slots = empty_slots(bits)
    rehash(self.slots, slots, 64 - bits)
    self.slots = slots
    self.shift = 64 - bits
    return True


@method(IntMapType, "reserve")
@quiet
def _reserve(self, n_keys):
    if bucket_bits(n_keys) > 64 - self.shift and not _resize(self, n_keys):
        return status.NO_MEMORY
    return status.OK


@method(IntMapType, "is_full")
@quiet
def _is_full(self):
    """Return whether one more key makes the table grow."""
    return 8 * (self.size + 1) > 5 * (self.slots.size // 2 - ROOM)


@inner
def exceeds(self, size):
    """Return whether `size` keys are too many for the table."""
    return 16 * size > 5 * (self.slots.size - BUCKET)


@inner
def _grow_for(self, key):
    """Grow; return the place where a new key then belongs, or -1 if there is no memory."""
    n_keys = self.size + 1
    if _MEDIUM <= self.slots.size < _LARGE:
        n_keys *= 2  # four times as large: filling it again takes long, and it needs little memory
    return probe(self.slots, self.shift, key) if _resize(self, n_keys) else -1


@inner
def put(self, key, place, value):
    """Write an entry at the place that :func:`probe` returned, or elsewhere if the table has to grow."""
    size = self.size + (pointer_to(self.slots, place)[0] == EMPTY)
    if rarely(exceeds(self, size)):
        place = _grow_for(self, key)
        if place < 0:
            return status.NO_MEMORY
    self.size = size
    occupy(self.slots, place, key, value)
    return status.OK


@method(IntMapType, "set")
@quiet
def _set(self, key, value):
    return put(self, key, probe(self.slots, self.shift, key), value)


@method(IntMapType, "add")
@quiet
def _add(self, key, delta=1):
    place = probe(self.slots, self.shift, key)
    entry = pointer_to(self.slots, place)
    value = entry[VALUE]  # of an empty slot: 0
    size = self.size + (entry[0] == EMPTY)
    if rarely(exceeds(self, size)):
        place = _grow_for(self, key)
        if place < 0:
            return status.NO_MEMORY
    if rarely(sum_leaves_range(value, delta)):
        return status.OVERFLOW
    self.size = size
    occupy(self.slots, place, key, value + delta)
    return status.OK


@method(IntMapType, "get")
@quiet
def _get(self, key, default=0):
    entry = pointer_to(self.slots, probe(self.slots, self.shift, key))
    return entry[VALUE] if entry[0] != EMPTY else default


@method(IntMapType, "pop")
@quiet
def _pop(self, key, default=0):
    place = locate(self.slots, self.shift, key)
    if place < 0:
        return default
    value = self.slots[place + VALUE]
    vacate(self.slots, self.shift, place)
    self.size -= 1
    return value


@method(IntMapType, "contains")
@quiet
def _contains(self, key):
    return locate(self.slots, self.shift, key) >= 0


@method(IntMapType, "prefetch")
@quiet
def _prefetch(self, key):
    """Ask for the cache line where the search for `key` starts."""
    prefetch(self.slots, home_of(self.slots, self.shift, key))


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
    place = locate(self.slots, self.shift, key)
    if place < 0:
        return status.MISSING
    vacate(self.slots, self.shift, place)
    self.size -= 1
    return status.OK


@method(IntMapType, "assign")
@quiet
def _assign(self, other):
    """Copy the content of another map; return True, or null if there is no memory."""
    slots = new_words(other.slots.size)
    copy_prefix(other.slots, other.slots.size, slots)
    self.slots = slots
    self.size = other.size
    self.shift = other.shift
    return True


@method(IntMapType, "set_many")
@quiet
def _set_many(self, keys, values):
    if keys.size != values.size:
        return status.OUT_OF_RANGE
    # Room is made first: nothing fails half-way. Only new keys need it, which are counted if it matters.
    n_new = keys.size
    if bucket_bits(self.size + n_new) > 64 - self.shift:
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
    values = new_words(keys.size)
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
    """Return what the invariants are about, for ``_check()``."""
    return self.slots.copy(), self.size, self.shift


@method(IntMapType, "nbytes")
@quiet
def _nbytes(self):
    return self.slots.nbytes
