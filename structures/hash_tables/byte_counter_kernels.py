"""The kernels and the numba type of ``ByteCounter``; the docstring of ``byte_counter`` draws the arrays.

Kernels on plain arrays come first, then the type, then its methods.
"""

from types import MappingProxyType

from numba import types
from numba.experimental import structref

from structures import status
from structures.base.struct_type import StructType, fields_of, method, new, new_like
from structures.compiling.jit import inner, kernel, late, quiet
from structures.hash_tables.byte_keys import equal_bytes, first_slots_of, is_long, key_of, keys_of, length_of
from structures.primitives.hashing import mix_two, put_seed, seed_of
from structures.primitives.memory import MOST_ITEMS, aligned_bytes, copy_prefix, new_words
from structures.primitives.priorities import sum_leaves_range
from structures.primitives.simd import after, larger, local_words, pointer_to, smaller

_MIN_BITS = 3
_BLOCK = 64  # strings whose cache lines are prefetched at a time


# ------------------------------------------------------------------------------ kernels on plain arrays
@inner
def capacity_bits(n_words):
    """Return log2 of the smallest capacity that holds `n_words` at a load of at most 1/2."""
    bits = _MIN_BITS
    while (1 << bits) < 2 * n_words:
        bits += 1
    return bits


@inner
def wipe(slots):
    """Empty every slot."""
    for i in range(slots.size - 4):
        slots[i] = 0


@kernel
def empty_slots(bits):
    """Return the ``slots`` array of an empty table: ``2**bits`` slots, and the row of the seed."""
    slots = new_words((4 << bits) + 4)
    wipe(slots)
    slots[slots.size - 4] = 0
    put_seed(slots)
    return slots


@inner
def locate(slots, shift, offsets, pool, word, word_0, word_1):
    """Return the slot of a word, or ``~slot`` of the empty slot where it belongs."""
    mask = (slots.size >> 2) - 2
    slot = mix_two(word_0, word_1, seed_of(slots), shift)
    while True:
        if (slots[4 * slot] ^ word_0) | (slots[4 * slot + 1] ^ word_1) == 0:
            if not is_long(word_1):
                return slot
            known = pointer_to(pool, offsets[slots[4 * slot + 2]])
            if equal_bytes(known, word, length_of(word_1)):
                return slot
        elif slots[4 * slot + 1] == 0:
            return ~slot
        slot = (slot + 1) & mask


@inner
def rehash(old_slots, slots, shift):
    """Insert every entry of `old_slots` into the empty table `slots`."""
    mask = (slots.size >> 2) - 2
    for old in range(0, old_slots.size - 4, 4):
        if old_slots[old + 1] != 0:
            slot = mix_two(old_slots[old], old_slots[old + 1], seed_of(slots), shift)
            while slots[4 * slot + 1] != 0:
                slot = (slot + 1) & mask
            for i in range(4):
                slots[4 * slot + i] = old_slots[old + i]


@inner
def vacate(slots, shift, slot):
    """Empty an occupied slot, and move the entries after it back toward their first slots."""
    mask = (slots.size >> 2) - 2
    hole = slot
    probe = (hole + 1) & mask
    while slots[4 * probe + 1] != 0:
        first = mix_two(slots[4 * probe], slots[4 * probe + 1], seed_of(slots), shift)
        # The entry may move if its first slot is not, cyclically, in (hole, probe].
        if ((probe - first) & mask) >= ((probe - hole) & mask):
            for i in range(4):
                slots[4 * hole + i] = slots[4 * probe + i]
            hole = probe
        probe = (probe + 1) & mask
    for i in range(4):
        slots[4 * hole + i] = 0


@kernel
def counts_by_id(slots, n_words):
    """Return the counts, ``(n_words,) int64``, in order of id."""
    counts = new_words(n_words)
    for i in range(0, slots.size - 4, 4):
        if slots[i + 1] != 0:
            counts[slots[i + 2]] = slots[i + 3]
    return counts


# ------------------------------------------------------------------------------------------------ type
@structref.register
class ByteCounterType(StructType):
    """numba type of :class:`ByteCounter`."""

    subjects = MappingProxyType(
        {
            **dict.fromkeys(("add", "set", "get", "id_of"), "data[{}:{}]"),
            **dict.fromkeys(("count", "word"), "id {}"),
        }
    )


byte_counter_type = ByteCounterType(
    fields_of(
        slots=types.int64[::1],  # slots[4 * slot:4 * slot + 4]: two words of the key, id, count; the seed
        offsets=types.int64[::1],  # offsets[id] and offsets[id + 1] bound a word in the pool
        pool=types.uint8[::1],  # the bytes of all words
        size=types.int64,
        shift=types.int64,
    )
)


@kernel
def new_byte_counter():
    """Return an empty counter."""
    self = new(byte_counter_type)
    bits = capacity_bits(0)
    self.slots = empty_slots(bits)
    self.offsets = new_words(1 << bits)
    self.offsets[0] = 0
    self.pool = aligned_bytes(8 << bits)
    self.size = 0
    self.shift = 64 - bits
    return self


@late
def _resize_slots(self, bits):
    slots = empty_slots(bits)
    rehash(self.slots, slots, 64 - bits)
    self.slots = slots
    self.shift = 64 - bits
    return True


@late
def _resize_offsets(self, n):
    offsets = new_words(n)
    copy_prefix(self.offsets, self.size + 1, offsets)
    self.offsets = offsets
    return True


@late
def _resize_pool(self, n):
    pool = aligned_bytes(n)
    copy_prefix(self.pool, self.offsets[self.size], pool)
    self.pool = pool
    return True


@method(ByteCounterType, "reserve")
@quiet
def _reserve(self, n_words, n_bytes=0):
    if larger(n_words, n_bytes) >= MOST_ITEMS:
        return status.NO_MEMORY
    bits = capacity_bits(n_words)
    if bits > 64 - self.shift and not _resize_slots(self, bits):
        return status.NO_MEMORY
    if n_words >= self.offsets.size and not _resize_offsets(self, n_words + 1):
        return status.NO_MEMORY
    if n_bytes > self.pool.size and not _resize_pool(self, n_bytes):
        return status.NO_MEMORY
    return status.OK


@inner
def _make_room(self, n_bytes):
    """Make room for one more word of `n_bytes`; return a status."""
    used = self.offsets[self.size] + n_bytes
    if used > self.pool.size and not _resize_pool(self, larger(used, 2 * self.pool.size)):
        return status.NO_MEMORY
    if self.size + 1 >= self.offsets.size and not _resize_offsets(self, 2 * self.offsets.size):
        return status.NO_MEMORY
    if 8 * (self.size + 1) > self.slots.size - 4 and not _resize_slots(self, 65 - self.shift):
        return status.NO_MEMORY
    return status.OK


@inner
def _insert(self, word, word_0, word_1, count):
    """Insert a missing word; return its id, or a status below 0."""
    length = length_of(word_1)
    failure = _make_room(self, length)
    if failure < 0:
        return failure
    slots, offsets, pool, word_id = self.slots, self.offsets, self.pool, self.size
    slot = ~locate(slots, self.shift, offsets, pool, word, word_0, word_1)
    slots[4 * slot] = word_0
    slots[4 * slot + 1] = word_1
    slots[4 * slot + 2] = word_id
    slots[4 * slot + 3] = count
    at = offsets[word_id]
    for i in range(length):
        pool[at + i] = word[i]
    offsets[word_id + 1] = at + length
    self.size = word_id + 1
    return word_id


@inner
def _find_key(self, word, word_0, word_1):
    return locate(self.slots, self.shift, self.offsets, self.pool, word, word_0, word_1)


@inner
def _find(self, word, length, n_readable):
    """Return the slot of a word, or ``~slot`` of the empty slot where it belongs."""
    word_0, word_1 = key_of(word, length, n_readable, seed_of(self.slots))
    return _find_key(self, word, word_0, word_1)


@inner
def _find_id(self, word_id):
    """Return the slot of the word of an id."""
    start, end = self.offsets[word_id], self.offsets[word_id + 1]
    return _find(self, pointer_to(self.pool, start), end - start, self.pool.size - start)


@inner
def _add_key(self, word, word_0, word_1, n):
    slot = _find_key(self, word, word_0, word_1)
    if slot < 0:
        return _insert(self, word, word_0, word_1, n)
    slots = self.slots
    count = slots[4 * slot + 3]
    if sum_leaves_range(count, n):
        return status.OVERFLOW
    slots[4 * slot + 3] = count + n
    return slots[4 * slot + 2]


@method(ByteCounterType, "_before_add")
@method(ByteCounterType, "_before_set")
@method(ByteCounterType, "_before_get")
@method(ByteCounterType, "_before_id_of")
@quiet
def _before_add(self, data, start, end):
    return status.OK if 0 <= start <= end <= data.size else status.OUT_OF_RANGE


@method(ByteCounterType, "_before_get_many")
@method(ByteCounterType, "_before_add_many")
@quiet
def _before_add_many(self, data, offsets):
    """Test that all words are in `data`."""
    for i in range(offsets.size - 1):
        if _before_add(self, data, offsets[i], offsets[i + 1]) < 0:
            return status.OUT_OF_RANGE
    return status.OK


@method(ByteCounterType, "_before_count")
@method(ByteCounterType, "_before_word")
@quiet
def _before_count(self, word_id):
    return status.OK if word_id >= 0 and word_id < self.size else status.OUT_OF_RANGE


@method(ByteCounterType, "add")
@quiet
def _add(self, data, start, end, n=1):
    """Add to the count of ``data[start:end]``; return the id of the word, or a status below 0."""
    word = pointer_to(data, start)
    word_0, word_1 = key_of(word, end - start, data.size - start, seed_of(self.slots))
    return _add_key(self, word, word_0, word_1, n)


@inner
def _set_word(self, word, length, n_readable, count):
    word_0, word_1 = key_of(word, length, n_readable, seed_of(self.slots))
    slot = _find_key(self, word, word_0, word_1)
    if slot < 0:
        return _insert(self, word, word_0, word_1, count)
    self.slots[4 * slot + 3] = count
    return self.slots[4 * slot + 2]


@method(ByteCounterType, "set")
@quiet
def _set(self, data, start, end, count):
    """Set the count of ``data[start:end]``; return the id of the word, or a status below 0."""
    return _set_word(self, pointer_to(data, start), end - start, data.size - start, count)


@inner
def _count_in(self, slot, default):
    return self.slots[4 * slot + 3] if slot >= 0 else default


@method(ByteCounterType, "get")
@quiet
def _get(self, data, start, end, default=0):
    slot = _find(self, pointer_to(data, start), end - start, data.size - start)
    return _count_in(self, slot, default)


@method(ByteCounterType, "get_into")
@quiet
def _get_into(self, data, starts, ends, n, default, counts):
    """Write the counts of `n` strings ``data[starts[i]:ends[i]]`` to ``counts[i]``.

    `starts` and `ends` are pointers, and `starts` does not decrease. Return the greatest distance between the
    first slot of a search and its last.
    """
    slots = pointer_to(self.slots, 0)
    furthest, mask = 0, (1 << (64 - self.shift)) - 1
    word_0s, word_1s, first_slots = local_words(_BLOCK), local_words(_BLOCK), local_words(_BLOCK)
    for first in range(0, n, _BLOCK):
        n_here = smaller(_BLOCK, n - first)
        starts_here, ends_here = after(starts, first), after(ends, first)
        keys_of(data, starts_here, ends_here, n_here, seed_of(self.slots), word_0s, word_1s)
        first_slots_of(word_0s, word_1s, n_here, self.shift, self.slots, first_slots)
        for i in range(n_here):
            at, word_0, word_1 = first_slots[i], word_0s[i], word_1s[i]
            differs = (slots[at] ^ word_0) | (slots[at + 1] ^ word_1)
            if (differs != 0) | is_long(word_1):
                slot = _find_key(self, pointer_to(data, starts_here[i]), word_0, word_1)
                counts[first + i] = _count_in(self, slot, default)
                furthest = larger(furthest, ((slot if slot >= 0 else ~slot) - (at >> 2)) & mask)
            else:
                counts[first + i] = slots[at + 3]
    return furthest


@method(ByteCounterType, "get_many")
@kernel
def _get_many(self, data, offsets, default=0):
    """Return the counts of the strings ``data[offsets[i]:offsets[i + 1]]``."""
    counts = new_words(larger(offsets.size - 1, 0))
    _get_into(self, data, pointer_to(offsets, 0), pointer_to(offsets, 1), counts.size, default, counts)
    return counts


@method(ByteCounterType, "id_of")
@quiet
def _id_of(self, data, start, end):
    """Return the id of ``data[start:end]``, or -1 if it is missing."""
    slot = _find(self, pointer_to(data, start), end - start, data.size - start)
    return self.slots[4 * slot + 2] if slot >= 0 else status.MISSING


@method(ByteCounterType, "count")
@quiet
def _count(self, word_id):
    return _count_in(self, _find_id(self, word_id), 0)


@method(ByteCounterType, "word")
@kernel
def _word(self, word_id):
    return self.pool[self.offsets[word_id] : self.offsets[word_id + 1]].copy()


@late
def _undo(self, data, offsets, counts, n_added, n_words):
    """Undo the addition of the first `n_added` strings; before it, the counter had `n_words` words."""
    for i in range(n_added):
        start, end = offsets[i], offsets[i + 1]
        slot = _find(self, pointer_to(data, start), end - start, data.size - start)
        self.slots[4 * slot + 3] -= counts[i] if counts.size > 0 else 1
    for word_id in range(n_words, self.size):
        vacate(self.slots, self.shift, _find_id(self, word_id))
    self.size = n_words
    return True


@method(ByteCounterType, "add_many")
@quiet
def _add_many(self, data, offsets, counts):
    """Add all strings or none; return (status, index of the string that failed)."""
    n_words = self.size
    n_all = larger(offsets.size - 1, 0)
    if counts.size != n_all and counts.size != 0:
        return status.UNEQUAL, smaller(counts.size, n_all)
    word_0s, word_1s, first_slots = local_words(_BLOCK), local_words(_BLOCK), local_words(_BLOCK)
    for first in range(0, n_all, _BLOCK):
        n = smaller(_BLOCK, n_all - first)
        starts, ends = pointer_to(offsets, first), pointer_to(offsets, first + 1)
        keys_of(data, starts, ends, n, seed_of(self.slots), word_0s, word_1s)
        shift = self.shift
        first_slots_of(word_0s, word_1s, n, shift, self.slots, first_slots)
        slots = pointer_to(self.slots, 0)
        for i in range(n):
            at, word_0, word_1 = first_slots[i], word_0s[i], word_1s[i]
            delta = counts[first + i] if counts.size > 0 else 1
            count = slots[at + 3]
            # Most words are short and in their first slot; _add_key handles the others.
            differs = (slots[at] ^ word_0) | (slots[at + 1] ^ word_1)
            if (differs != 0) | is_long(word_1) | sum_leaves_range(count, delta):
                failure = _add_key(self, pointer_to(data, offsets[first + i]), word_0, word_1, delta)
                if failure < 0:
                    _undo(self, data, offsets, counts, first + i, n_words)
                    return failure, first + i
                if shift != self.shift:
                    shift = self.shift
                    first_slots_of(word_0s, word_1s, n, shift, self.slots, first_slots)
                    slots = pointer_to(self.slots, 0)
            else:
                slots[at + 3] = count + delta
    return status.OK, n_all


@kernel
def byte_counter_of(data, offsets, counts):
    """Return a counter made from arrays, or release it and raise as the Python class does."""
    self = new_byte_counter()
    failure, _ = _add_many(self, data, offsets, counts)
    if failure == status.UNEQUAL:
        raise ValueError("there are not as many counts as words")
    if failure == status.OVERFLOW:
        raise OverflowError("a sum of counts does not fit int64")
    if failure < 0:
        raise MemoryError
    return self


@method(ByteCounterType, "merge")
@kernel
def _merge(self, other):
    # Copies: `other` may be `self`.
    counts = counts_by_id(other.slots, other.size)
    return _add_many(self, other.pool, other.offsets[: other.size + 1].copy(), counts)


@method(ByteCounterType, "equals")
@quiet
def equals(self, other):
    """Return whether both hold the same words with the same counts."""
    if self.size != other.size:
        return False
    slots = other.slots
    for at in range(0, slots.size - 4, 4):
        if slots[at + 1] != 0:
            word = pointer_to(other.pool, other.offsets[slots[at + 2]])
            slot = _find_key(self, word, slots[at], slots[at + 1])
            if slot < 0 or self.slots[4 * slot + 3] != slots[at + 3]:
                return False
    return True


@method(ByteCounterType, "to_arrays")
@kernel
def _to_arrays(self):
    offsets = self.offsets[: self.size + 1].copy()
    return self.pool[: offsets[-1]].copy(), offsets, counts_by_id(self.slots, self.size)


@method(ByteCounterType, "clear")
@quiet
def _clear(self):
    wipe(self.slots)
    self.size = 0
    return status.OK


@method(ByteCounterType, "copy")
@kernel
def _copy(self):
    other = new_like(self)
    other.slots = self.slots.copy()
    other.offsets = self.offsets.copy()
    other.pool = self.pool.copy()
    other.size = self.size
    other.shift = self.shift
    return other


@method(ByteCounterType, "nbytes")
@quiet
def _nbytes(self):
    return self.slots.nbytes + self.offsets.nbytes + self.pool.nbytes


@quiet
def look_up(self, word_id):
    """Return word 0 and word 1 of the key of an id's word, and the slot where a search finds it."""
    start, end = self.offsets[word_id], self.offsets[word_id + 1]
    word = pointer_to(self.pool, start)
    word_0, word_1 = key_of(word, end - start, self.pool.size - start, seed_of(self.slots))
    return word_0, word_1, _find_key(self, word, word_0, word_1)


@kernel
def state(self):
    """Return the state that ``_check()`` tests."""
    return self.slots.copy(), self.offsets.copy(), self.pool.copy(), self.shift
