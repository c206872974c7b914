"""``ByteCounter``: byte strings counted and numbered, each distinct one stored once.

A hash table with linear probing, whose slots are half a cache line, so that counting a short word again
touches one line and nothing else::

    slots      word 0    word 1    id + 1 | tag   count    4 int64 a slot
    "the"      "the"     0              1 |   4      12    up to 16 bytes: padded with zeros; tag: length + 1
    (empty)    0         0                    0       0
    longer     hash      length         2 |  18       3    over 16 bytes: tag 18, the bytes only in the pool

    pool       t h e i n t e r n a t i o n a l i s a t i o n . .     every word once, in order of id
    offsets    0     3                                       23      word i is pool[offsets[i]:offsets[i + 1]]

A word starts at its home slot, the top bits of its hash, and moves right past occupied slots, around the
end of the table. The id of a word is the number of distinct words before it; words are never removed.

Invariants
----------
1. The capacity is a power of two, ``shift == 64 - log2(capacity)``, and ``slots`` has ``4 * capacity``
   elements, all zero in an empty slot.
2. ``size`` is the number of occupied slots, at most half the capacity; each id below it stands there once.
3. ``offsets`` rises from 0, and both it and ``pool`` have room for what they hold.
4. Word 0, word 1 and tag of a slot are those of the word that its id has in the pool.
5. Every word is found where it is: no empty slot and no equal word lies between its home and there.

Complexity
----------
==========================  ==================================================================
add, get, set, id_of        O(length) expected; O(n) when growth rehashes, amortised O(length)
bulk forms                  the same for each word, but many cache misses at a time
word                        O(length)
to_arrays, copy, reserve    O(capacity + bytes)
memory                      64 to 128 bytes a word after growth, and 8 to 16 more; its bytes once or twice
==========================  ==================================================================

The hash is not keyed: who chooses the words can make them collide.

Source: linear probing, Knuth, The Art of Computer Programming, 6.4, L; the multiply-and-fold hash is that
of wyhash (Wang Yi).
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Any

import numpy as np
from numba import types
from numba.experimental import structref

from structures import status
from structures.facade import Facade
from structures.jit import copy_prefix, kernel, quiet
from structures.memory import new_words
from structures.priorities import sum_leaves_range
from structures.simd import load_word, multiply_fold, pointer_to, prefetch
from structures.status import error, int64, int64_array
from structures.struct_type import StructType, bind, fields_of, method, new_like

__all__ = ["ByteCounter", "ByteCounterType", "byte_counter_type"]

INLINE = 16  # bytes of a word that its slot holds
LONG = INLINE + 2  # the tag of longer words
TAG_BITS = 5
TAG = (1 << TAG_BITS) - 1
# The fractional digits of the golden ratio and of the square roots of 2 and 3, odd.
_SEED_0 = 0x9E3779B97F4A7C15 - 2**64
_SEED_1 = 0x6A09E667F3BCC909
_SEED_LONG = 0xBB67AE8584CAA73B - 2**64
_MIN_BITS = 3
_BLOCK = 128


# ------------------------------------------------------------------------------ kernels on plain arrays
@quiet
def capacity_bits(n_words):
    """Return log2 of the smallest capacity that holds `n_words` at a load of at most 1/2."""
    bits = _MIN_BITS
    while (1 << bits) < 2 * n_words:
        bits += 1
    return bits


@quiet
def wipe(slots):
    """Make every slot an empty one."""
    for i in range(slots.size):
        slots[i] = 0


@kernel
def empty_slots(bits):
    """Return the ``slots`` array of an empty table of ``2**bits`` slots."""
    slots = new_words(4 << bits)
    wipe(slots)
    return slots


@quiet
def gather(word, start, n):
    """Return `n` bytes, at most 8, of a word, padded with zeros."""
    gathered = 0
    for i in range(n):
        gathered |= np.int64(word[start + i]) << (8 * i)
    return gathered


@quiet
def low_bytes(word, n):
    """Return 8 bytes with all but the lowest `n` zero."""
    return word & ~((np.int64(-1) << (4 * n)) << (4 * n))  # in two steps: a shift by 64 is not defined


@quiet
def hash_long(word, length):
    """Hash a word of 8 bytes at least."""
    hashed = length
    for i in range(0, length - 8, 8):
        hashed = multiply_fold(hashed ^ load_word(word, i), _SEED_LONG)
    return multiply_fold(hashed ^ load_word(word, length - 8), _SEED_LONG)


@quiet
def rare_key_of(word, length):
    """Return what :func:`key_of` does for a long word, or one so near the end that loads would pass it."""
    if length > INLINE:
        return hash_long(word, length), length, LONG
    n_first = min(length, 8)
    return gather(word, 0, n_first), gather(word, 8, length - n_first), length + 1


@quiet
def key_of(word, length, n_readable):
    """Return word 0, word 1 and the tag of a word; `n_readable` bytes, `length` at least, may be read."""
    if length > INLINE or n_readable < INLINE:
        return rare_key_of(word, length)
    n_first = min(length, 8)
    return low_bytes(load_word(word, 0), n_first), low_bytes(load_word(word, 8), length - n_first), length + 1


@quiet
def home_of(word_0, word_1, shift):
    """Return the slot of a table of ``2**(64 - shift)`` where a key is looked for first."""
    hashed = multiply_fold(word_0 ^ _SEED_0, word_1 ^ _SEED_1)
    return np.int64(np.uint64(hashed) >> np.uint64(shift))


@quiet
def equal_bytes(left, right, length):
    """Say whether two words of the same length, 8 bytes at least, are equal."""
    for i in range(0, length - 8, 8):
        if load_word(left, i) != load_word(right, i):
            return False
    return load_word(left, length - 8) == load_word(right, length - 8)


@quiet
def id_in(slots, slot):
    """Return the id of the word in an occupied slot."""
    return (slots[4 * slot + 2] >> TAG_BITS) - 1


@quiet
def locate(slots, shift, offsets, pool, word, word_0, word_1, tag):
    """Return the slot of a word, or ``~slot`` of the empty slot where it belongs."""
    mask = (slots.size >> 2) - 1
    slot = home_of(word_0, word_1, shift)
    while True:
        meta = slots[4 * slot + 2]
        if (slots[4 * slot] ^ word_0) | (slots[4 * slot + 1] ^ word_1) | ((meta & TAG) ^ tag) == 0:
            if tag != LONG or equal_bytes(pointer_to(pool, offsets[id_in(slots, slot)]), word, word_1):
                return slot
        elif meta == 0:
            return ~slot
        slot = (slot + 1) & mask


@quiet
def rehash(old_slots, slots, shift):
    """Insert every entry of `old_slots` into the empty table `slots`."""
    mask = (slots.size >> 2) - 1
    for old in range(0, old_slots.size, 4):
        if old_slots[old + 2] != 0:
            slot = home_of(old_slots[old], old_slots[old + 1], shift)
            while slots[4 * slot + 2] != 0:
                slot = (slot + 1) & mask
            for i in range(4):
                slots[4 * slot + i] = old_slots[old + i]


@quiet
def vacate(slots, shift, slot):
    """Empty an occupied slot, shifting the entries behind it back towards their homes."""
    mask = (slots.size >> 2) - 1
    hole = slot
    probe = (hole + 1) & mask
    while slots[4 * probe + 2] != 0:
        home = home_of(slots[4 * probe], slots[4 * probe + 1], shift)
        # The entry may move if its home does not lie cyclically in (hole, probe].
        if ((probe - home) & mask) >= ((probe - hole) & mask):
            for i in range(4):
                slots[4 * hole + i] = slots[4 * probe + i]
            hole = probe
        probe = (probe + 1) & mask
    for i in range(4):
        slots[4 * hole + i] = 0


@kernel
def counts_by_id(slots, n_words):
    """Return the counts, ``(n_words,) int64``, in order of id."""
    counts = np.empty(n_words, np.int64)
    for i in range(0, slots.size, 4):
        if slots[i + 2] != 0:
            counts[id_in(slots, i >> 2)] = slots[i + 3]
    return counts


# ------------------------------------------------------------------------------------------------ type
@structref.register
class ByteCounterType(StructType):
    """numba type of :class:`ByteCounter`."""


byte_counter_type = ByteCounterType(
    fields_of(
        slots=types.int64[::1],  # slots[4 * slot:4 * slot + 4]: word 0, word 1, id + 1 and tag, count
        offsets=types.int64[::1],  # offsets[id] and offsets[id + 1] bound a word in the pool
        pool=types.uint8[::1],  # the bytes of all words
        size=types.int64,
        shift=types.int64,
    )
)


@kernel
def new_byte_counter():
    """Return an empty counter."""
    self = structref.new(byte_counter_type)
    self.slots = empty_slots(_MIN_BITS)
    self.offsets = np.zeros(1 << _MIN_BITS, np.int64)
    self.pool = np.empty(8 << _MIN_BITS, np.uint8)
    self.size = 0
    self.shift = 64 - _MIN_BITS
    return self


@quiet
def _resize_slots(self, bits):
    slots = empty_slots(bits)
    rehash(self.slots, slots, 64 - bits)
    self.slots = slots
    self.shift = 64 - bits
    return True


@quiet
def _resize_offsets(self, n):
    offsets = new_words(n)
    copy_prefix(self.offsets, self.size + 1, offsets)
    self.offsets = offsets
    return True


@quiet
def _resize_pool(self, n):
    pool = np.empty(n, np.uint8)
    copy_prefix(self.pool, self.offsets[self.size], pool)
    self.pool = pool
    return True


@method(ByteCounterType, "reserve")
@quiet
def _reserve(self, n_words, n_bytes=0):
    bits = capacity_bits(n_words)
    if bits > 64 - self.shift and not _resize_slots(self, bits):
        return status.NO_MEMORY
    if n_words >= self.offsets.size and not _resize_offsets(self, n_words + 1):
        return status.NO_MEMORY
    if n_bytes > self.pool.size and not _resize_pool(self, n_bytes):
        return status.NO_MEMORY
    return status.OK


@quiet
def _make_room(self, n_bytes):
    """Make room for one more word of `n_bytes`; return a status."""
    used = self.offsets[self.size] + n_bytes
    if used > self.pool.size and not _resize_pool(self, max(used, 2 * self.pool.size)):
        return status.NO_MEMORY
    if self.size + 1 >= self.offsets.size and not _resize_offsets(self, 2 * self.offsets.size):
        return status.NO_MEMORY
    if 8 * (self.size + 1) > self.slots.size and not _resize_slots(self, 65 - self.shift):
        return status.NO_MEMORY
    return status.OK


@quiet
def _insert(self, word, word_0, word_1, tag, count):
    """Insert a word that is missing; return its id, below 0 a status."""
    length = word_1 if tag == LONG else tag - 1
    failure = _make_room(self, length)
    if failure < 0:
        return failure
    slots, offsets, pool, word_id = self.slots, self.offsets, self.pool, self.size
    slot = ~locate(slots, self.shift, offsets, pool, word, word_0, word_1, tag)
    slots[4 * slot] = word_0
    slots[4 * slot + 1] = word_1
    slots[4 * slot + 2] = ((word_id + 1) << TAG_BITS) | tag
    slots[4 * slot + 3] = count
    at = offsets[word_id]
    for i in range(length):
        pool[at + i] = word[i]
    offsets[word_id + 1] = at + length
    self.size = word_id + 1
    return word_id


@quiet
def _find_key(self, word, word_0, word_1, tag):
    return locate(self.slots, self.shift, self.offsets, self.pool, word, word_0, word_1, tag)


@quiet
def _find(self, word, length, n_readable):
    """Return the slot of a word, or ``~slot`` of the empty slot where it belongs."""
    word_0, word_1, tag = key_of(word, length, n_readable)
    return _find_key(self, word, word_0, word_1, tag)


@quiet
def _find_id(self, word_id):
    """Return the slot of the word of an id."""
    start, end = self.offsets[word_id], self.offsets[word_id + 1]
    return _find(self, pointer_to(self.pool, start), end - start, self.pool.size - start)


@quiet
def _probe_and_add(self, word, word_0, word_1, tag, n):
    slot = _find_key(self, word, word_0, word_1, tag)
    if slot < 0:
        return _insert(self, word, word_0, word_1, tag, n)
    slots = self.slots
    count = slots[4 * slot + 3]
    if sum_leaves_range(count, n):
        return status.OVERFLOW
    slots[4 * slot + 3] = count + n
    return id_in(slots, slot)


@quiet
def _add_key(self, word, word_0, word_1, tag, n):
    # A short word at home is by far the most frequent case. Whatever else may be, the other kernel
    # knows; it is too long to be inlined where this one is.
    slots = self.slots
    home = home_of(word_0, word_1, self.shift)
    differs = (slots[4 * home] ^ word_0) | (slots[4 * home + 1] ^ word_1)
    differs |= (slots[4 * home + 2] & TAG) ^ tag
    count = slots[4 * home + 3]
    if differs != 0 or tag == LONG or sum_leaves_range(count, n):
        return _probe_and_add(self, word, word_0, word_1, tag, n)
    slots[4 * home + 3] = count + n
    return id_in(slots, home)


@method(ByteCounterType, "add")
@quiet
def _add(self, data, start, end, n=1):
    """Add to the count of ``data[start:end]``; return the id of the word, below 0 a status."""
    word = pointer_to(data, start)
    word_0, word_1, tag = key_of(word, end - start, data.size - start)
    return _add_key(self, word, word_0, word_1, tag, n)


@quiet
def _set_word(self, word, length, n_readable, count):
    word_0, word_1, tag = key_of(word, length, n_readable)
    slot = _find_key(self, word, word_0, word_1, tag)
    if slot < 0:
        return _insert(self, word, word_0, word_1, tag, count)
    self.slots[4 * slot + 3] = count
    return id_in(self.slots, slot)


@method(ByteCounterType, "set")
@quiet
def _set(self, data, start, end, count):
    """Set the count of ``data[start:end]``; return the id of the word, below 0 a status."""
    return _set_word(self, pointer_to(data, start), end - start, data.size - start, count)


@quiet
def _count_in(self, slot, default):
    return self.slots[4 * slot + 3] if slot >= 0 else default


@method(ByteCounterType, "get")
@quiet
def _get(self, data, start, end, default=0):
    slot = _find(self, pointer_to(data, start), end - start, data.size - start)
    return _count_in(self, slot, default)


@method(ByteCounterType, "id_of")
@quiet
def _id_of(self, data, start, end):
    """Return the id of ``data[start:end]``, -1 where it is missing."""
    slot = _find(self, pointer_to(data, start), end - start, data.size - start)
    return id_in(self.slots, slot) if slot >= 0 else status.MISSING


@method(ByteCounterType, "count")
@quiet
def _count(self, word_id):
    return _count_in(self, _find_id(self, word_id), 0)


@method(ByteCounterType, "word")
@kernel
def _word(self, word_id):
    return self.pool[self.offsets[word_id] : self.offsets[word_id + 1]].copy()


@quiet
def _take_back(self, data, offsets, counts, n_added, n_words):
    """Undo the addition of the first `n_added` strings to a counter that had `n_words` words before."""
    for i in range(n_added):
        start, end = offsets[i], offsets[i + 1]
        slot = _find(self, pointer_to(data, start), end - start, data.size - start)
        self.slots[4 * slot + 3] -= counts[i] if counts.size > 0 else 1
    for word_id in range(n_words, self.size):
        vacate(self.slots, self.shift, _find_id(self, word_id))
    self.size = n_words


@quiet
def _add_all(self, data, offsets, counts, keys):
    """Add all or nothing. Returns (status, index of the string that failed)."""
    n_words = self.size
    n = offsets.size - 1
    for first in range(0, n, _BLOCK):
        after = min(first + _BLOCK, n)
        # The cache lines of a block are all on their way before the first is needed.
        for i in range(first, after):
            start, end = offsets[i], offsets[i + 1]
            word_0, word_1, tag = key_of(pointer_to(data, start), end - start, data.size - start)
            prefetch(self.slots, 4 * home_of(word_0, word_1, self.shift))
            key = 3 * (i - first)
            keys[key] = word_0
            keys[key + 1] = word_1
            keys[key + 2] = tag
        for i in range(first, after):
            key = 3 * (i - first)
            delta = counts[i] if counts.size > 0 else 1
            word = pointer_to(data, offsets[i])
            failure = _add_key(self, word, keys[key], keys[key + 1], keys[key + 2], delta)
            if failure < 0:
                _take_back(self, data, offsets, counts, i, n_words)
                return failure, i
    return status.OK, n


@method(ByteCounterType, "update_many")
@kernel
def _update_many(self, data, offsets, counts):
    return _add_all(self, data, offsets, counts, np.empty(3 * _BLOCK, np.int64))


@method(ByteCounterType, "merge")
@kernel
def _merge(self, other):
    # Copies: `other` may be `self`.
    counts = counts_by_id(other.slots, other.size)
    return _update_many(self, other.pool, other.offsets[: other.size + 1].copy(), counts)


@method(ByteCounterType, "equals")
@quiet
def _equals(self, other):
    """Say whether both hold the same words with the same counts."""
    if self.size != other.size:
        return False
    slots = other.slots
    for at in range(0, slots.size, 4):
        if slots[at + 2] != 0:
            word = pointer_to(other.pool, other.offsets[id_in(slots, at >> 2)])
            slot = _find_key(self, word, slots[at], slots[at + 1], slots[at + 2] & TAG)
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
def _look_up(self, word_id):
    """Return word 0, word 1 and the tag of the word of an id, and the slot where it is found."""
    start, end = self.offsets[word_id], self.offsets[word_id + 1]
    word = pointer_to(self.pool, start)
    word_0, word_1, tag = key_of(word, end - start, self.pool.size - start)
    return word_0, word_1, tag, _find_key(self, word, word_0, word_1, tag)


@kernel
def _state(self):
    return self.slots.copy(), self.offsets.copy(), self.pool.copy(), self.shift


# ---------------------------------------------------------------------------------------------- facade
_CHUNK = 1 << 16
_ONE_EACH = np.empty(0, np.int64)


def _bytes_of(word: Any) -> Any:
    """Return a word, or raise ``TypeError`` where it is none."""
    if isinstance(word, (bytes, bytearray)):
        return word
    if isinstance(word, memoryview):
        return word.tobytes()
    hint = "; encode it first: word.encode()" if isinstance(word, str) else ""
    raise TypeError(f"a word must be bytes, not {type(word).__name__}{hint}")


def _array_of(word: Any) -> np.ndarray:
    """Return the bytes of a word as an array: a writable one, for which all kernels are compiled."""
    return np.frombuffer(bytearray(_bytes_of(word)), np.uint8)


def _joined(words: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return the bytes of all words, and where each starts."""
    words = [word if type(word) is bytes else _bytes_of(word) for word in words]
    offsets = np.zeros(len(words) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, words), np.int64, len(words)), out=offsets[1:])
    return np.frombuffer(bytearray().join(words), np.uint8), offsets


def _byte_array(data: Any) -> np.ndarray:
    """Return `data` as a C-contiguous ``(n,) uint8`` array."""
    if isinstance(data, (bytes, bytearray, memoryview)):
        return np.frombuffer(data, np.uint8)
    data = np.asarray(data)
    if data.ndim != 1 or data.dtype != np.uint8:
        raise TypeError(f"data must be bytes or (n,) uint8, not {data.shape} {data.dtype}")
    return np.ascontiguousarray(data)


class ByteCounter(Facade):
    r"""Counts byte strings, and numbers them in order of first appearance.

    A dict from bytes to int that can count millions of strings a second where a compiled loop cuts them
    out of a buffer. Counts are int64, 0 and below included; a word stays, whatever its count. The *id* of
    a word is the number of distinct words that came before it.

    One writer at a time. Inside ``@njit`` a word is ``data[start:end]`` of a C-contiguous uint8 array:
    ``c.add(data, start, end, n)``, ``c.set(data, start, end, count)`` (both return the id, or a status
    below 0), ``c.get(data, start, end, default)``, ``c.id_of(data, start, end)`` (-1 where missing),
    ``c.count(id)``, ``c.word(id)``, ``c.update_many(data, offsets, counts)`` and ``c.merge(other)``
    (which return a status and the index of what failed; no counts mean 1 each), ``c.to_arrays()``,
    ``c.reserve``, ``c.copy``, ``c.clear``, ``len(c)``. Nothing raises there; ids and offsets are not
    checked.

    Methods for single words:

    * ``c[word]``, ``c[word] = count``, ``word in c``, ``len(c)``
    * :meth:`add`, :meth:`get`, :meth:`id_of`, :meth:`word`

    Methods for many words:

    * :meth:`update`, :meth:`update_many`, :meth:`merge`, :meth:`from_arrays`
    * :meth:`most_common`, :meth:`items`, :meth:`to_arrays`, iteration in order of id

    Methods for the whole:

    * :meth:`copy`, :meth:`clear`, :meth:`reserve`, :attr:`nbytes`; pickle; ``==``, which as with a dict
      leaves the order out

    Parameters
    ----------
    items : mapping or iterable of (bytes, int), optional
        Initial counts; those of a repeated word add up.

    Raises
    ------
    TypeError
        A word is not bytes, or a count not an integer.
    OverflowError
        A count does not fit int64.

    Examples
    --------
    >>> c = ByteCounter({b"low": 5})
    >>> c.update([b"lower", b"low"])
    >>> c[b"low"], c.get(b"newest"), c.id_of(b"lower"), c.word(1)
    (6, 0, 1, b'lower')
    """

    __slots__ = ()

    def __new__(cls, items: Any = ()) -> ByteCounter:
        self = new_byte_counter()
        if items:
            self._add_items(items)
        return self

    @classmethod
    def from_arrays(cls, data: Any, offsets: Any, counts: Any) -> ByteCounter:
        """Build a counter; those of a repeated word add up.

        Parameters
        ----------
        data : bytes or (n_bytes,) uint8
        offsets : (n + 1,) array_like of int
            Word i is ``data[offsets[i]:offsets[i + 1]]``.
        counts : (n,) array_like of int

        Returns
        -------
        ByteCounter

        Raises
        ------
        ValueError
            The offsets fall or leave the data, or there are not as many counts as words.
        OverflowError
            A count does not fit int64.

        Complexity
        ----------
        O(n + bytes) expected.

        Examples
        --------
        >>> list(ByteCounter.from_arrays(b"lowest", [0, 3, 6], [5, 2]).items())
        [(b'low', 5), (b'est', 2)]
        """
        self = new_byte_counter()
        self.update_many(data, offsets, counts)
        return self

    def _add_items(self, items: Any) -> None:
        pairs = list(items.items() if hasattr(items, "items") else items)
        counts = int64_array([count for _, count in pairs], "counts")
        self.update_many(*_joined([word for word, _ in pairs]), counts)

    def __getitem__(self, word: Any) -> int:
        data = _array_of(word)
        count = self._kernels.get(self, data, 0, data.size)
        if not count and self._kernels.id_of(self, data, 0, data.size) < 0:
            raise KeyError(word)
        return count

    def __setitem__(self, word: Any, count: int) -> None:
        data = _array_of(word)
        self._done(self._kernels.set(self, data, 0, data.size, int64(count, "count")), reprlib.repr(word))

    def __contains__(self, word: Any) -> bool:
        data = _array_of(word)
        return self._kernels.id_of(self, data, 0, data.size) >= 0

    def __iter__(self) -> Iterator[bytes]:
        data, offsets, _ = self.to_arrays()
        return self._cut(data, offsets)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self._kernels.equals(self, other)

    @staticmethod
    def _cut(data: np.ndarray, offsets: np.ndarray) -> Iterator[bytes]:
        buffer = data.tobytes()
        return (buffer[start:end] for start, end in pairwise(offsets.tolist()))

    def get(self, word: Any, default: Any = 0) -> Any:
        """Return the count of `word`, or `default` where it is missing.

        Parameters
        ----------
        word : bytes
        default : object

        Returns
        -------
        int

        Raises
        ------
        TypeError
            The word is not bytes.

        Complexity
        ----------
        O(length) expected.

        Examples
        --------
        >>> ByteCounter({b"low": 5}).get(b"low"), ByteCounter().get(b"low", None)
        (5, None)
        """
        data = _array_of(word)
        count = self._kernels.get(self, data, 0, data.size)
        return count if count or self._kernels.id_of(self, data, 0, data.size) >= 0 else default

    def add(self, word: Any, n: int = 1) -> None:
        """Add `n` to the count of `word`, from 0 where it is missing; a word stays, whatever its count.

        Parameters
        ----------
        word : bytes
        n : int

        Raises
        ------
        TypeError
            The word is not bytes, or `n` not an integer.
        OverflowError
            The sum does not fit int64; the counter is as it was.

        Complexity
        ----------
        O(length) expected, amortised.

        Examples
        --------
        >>> c = ByteCounter()
        >>> c.add(b"low", 4); c.add(b"low")
        >>> c[b"low"]
        5
        """
        data = _array_of(word)
        self._done(self._kernels.add(self, data, 0, data.size, int64(n, "n")), reprlib.repr(word))

    def id_of(self, word: Any) -> int:
        """Return the id of a word.

        Parameters
        ----------
        word : bytes

        Returns
        -------
        int
            In ``[0, len(c))``, in order of first appearance.

        Raises
        ------
        KeyError
            The word is missing.
        TypeError
            The word is not bytes.

        Complexity
        ----------
        O(length) expected.

        Examples
        --------
        >>> ByteCounter({b"low": 5, b"lower": 2}).id_of(b"lower")
        1
        """
        data = _array_of(word)
        word_id = self._kernels.id_of(self, data, 0, data.size)
        if word_id < 0:
            raise KeyError(word)
        return word_id

    def word(self, word_id: int) -> bytes:
        """Return the word of an id.

        Parameters
        ----------
        word_id : int

        Returns
        -------
        bytes

        Raises
        ------
        IndexError
            There is no such id.

        Complexity
        ----------
        O(length).

        Examples
        --------
        >>> ByteCounter({b"low": 5, b"lower": 2}).word(1)
        b'lower'
        """
        word_id = int64(word_id, "word_id")
        if not 0 <= word_id < len(self):
            raise IndexError(f"id {word_id} is out of range for {len(self)} words")
        return self._kernels.word(self, word_id).tobytes()

    def update(self, words: Any) -> None:
        """Count every word of an iterable once, or add the counts of a mapping; all or nothing.

        Parameters
        ----------
        words : iterable of bytes, or mapping from bytes to int

        Raises
        ------
        TypeError
            A word is not bytes; the counter is as it was.
        OverflowError
            A sum does not fit int64; the counter is as it was.

        Complexity
        ----------
        O(length) expected for each word; memory for the distinct ones.

        Examples
        --------
        >>> c = ByteCounter()
        >>> c.update(b"low lower low".split())
        >>> c
        <ByteCounter of 2>
        """
        if isinstance(words, (bytes, bytearray, memoryview, str)):
            raise TypeError(f"words must be an iterable of bytes, not {type(words).__name__}")
        if hasattr(words, "items"):
            self._add_items(words)
            return
        more = new_byte_counter()
        iterator = iter(words)
        while chunk := list(islice(iterator, _CHUNK)):
            more.update_many(*_joined(chunk))
        self.merge(more)

    def update_many(self, data: Any, offsets: Any, counts: Any = None) -> None:
        """Add ``counts[i]`` to the count of ``data[offsets[i]:offsets[i + 1]]``, for every i in order.

        Parameters
        ----------
        data : bytes or (n_bytes,) uint8
        offsets : (n + 1,) array_like of int
            Not falling, inside the data.
        counts : (n,) array_like of int, optional
            1 each by default.

        Raises
        ------
        TypeError
            The data are not bytes.
        ValueError
            The offsets fall or leave the data, or there are not as many counts as words.
        OverflowError
            A sum does not fit int64; the counter is as it was.

        Complexity
        ----------
        O(n + bytes) expected; where it fails, O(capacity) more at worst.

        Examples
        --------
        >>> c = ByteCounter()
        >>> c.update_many(b"lowlow", [0, 3, 6])
        >>> c[b"low"]
        2
        """
        data, offsets = _byte_array(data), int64_array(offsets, "offsets")
        if (
            offsets.size == 0
            or offsets[0] < 0
            or offsets[-1] > data.size
            or np.any(offsets[1:] < offsets[:-1])  # not np.diff: a difference may overflow
        ):
            raise ValueError(f"offsets must start at 0 or later, not fall, and end at {data.size} at most")
        n = offsets.size - 1
        numbers = _ONE_EACH if counts is None else int64_array(counts, "counts")
        if counts is not None and numbers.size != n:
            raise ValueError(f"{n} words but {numbers.size} counts")
        failure, i = self._kernels.update_many(self, data, offsets, numbers)
        if failure < 0:
            raise error(failure, reprlib.repr(data[offsets[i] : offsets[i + 1]].tobytes()))

    def merge(self, other: ByteCounter) -> None:
        """Add the counts of another counter; words that are new come after ours, in their order.

        Parameters
        ----------
        other : ByteCounter

        Raises
        ------
        TypeError
            `other` is not a ByteCounter.
        OverflowError
            A sum does not fit int64; the counter is as it was.

        Complexity
        ----------
        O(capacity + bytes) of `other`, expected.

        Examples
        --------
        >>> c = ByteCounter({b"low": 5})
        >>> c.merge(ByteCounter({b"lower": 2, b"low": 1}))
        >>> list(c.items())
        [(b'low', 6), (b'lower', 2)]
        """
        if not isinstance(other, ByteCounter):
            raise TypeError(f"other must be a ByteCounter, not {type(other).__name__}")
        failure, word_id = self._kernels.merge(self, other)
        if failure < 0:
            raise error(failure, reprlib.repr(other.word(word_id)))

    def items(self) -> Iterator[tuple[bytes, int]]:
        """Iterate over (word, count), as they are at the call, in order of id.

        Returns
        -------
        iterator of (bytes, int)

        Complexity
        ----------
        That of :meth:`to_arrays`, at the call.

        Examples
        --------
        >>> list(ByteCounter({b"low": 5, b"lower": 2}).items())
        [(b'low', 5), (b'lower', 2)]
        """
        data, offsets, counts = self.to_arrays()
        return zip(self._cut(data, offsets), counts.tolist(), strict=True)

    def most_common(self, k: int | None = None) -> list[tuple[bytes, int]]:
        """Return the words of the greatest counts, the greatest first; ties: first appearance first.

        Parameters
        ----------
        k : int, optional
            How many at most; all by default.

        Returns
        -------
        list of (bytes, int)

        Raises
        ------
        ValueError
            `k` is negative.

        Complexity
        ----------
        O(capacity + bytes), and O(m log m) for the m words that count no less than the last one returned.

        Examples
        --------
        >>> ByteCounter({b"low": 2, b"lower": 5, b"newest": 2}).most_common(2)
        [(b'lower', 5), (b'low', 2)]
        """
        data, offsets, counts = self.to_arrays()
        k = counts.size if k is None else min(self._room(k, "k"), counts.size)
        rising = ~counts  # the order turned round, without the overflow that a minus sign has
        ids = np.arange(counts.size)
        if 0 < k < counts.size:
            ids = np.flatnonzero(rising <= np.partition(rising, k - 1)[k - 1])
        ids = ids[np.argsort(rising[ids], kind="stable")[:k]]
        bounds = zip(offsets[ids].tolist(), offsets[ids + 1].tolist(), counts[ids].tolist(), strict=True)
        return [(data[start:end].tobytes(), count) for start, end, count in bounds]

    def to_arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return all words and counts in order of id; :meth:`from_arrays` takes them back.

        Returns
        -------
        data : (n_bytes,) uint8
            The words, one after the other.
        offsets : (n + 1,) int64, bytes
            Word i is ``data[offsets[i]:offsets[i + 1]]``.
        counts : (n,) int64

        Complexity
        ----------
        O(capacity + bytes).

        Examples
        --------
        >>> data, offsets, counts = ByteCounter({b"low": 5, b"lower": 2}).to_arrays()
        >>> data.tobytes(), offsets, counts
        (b'lowlower', array([0, 3, 8]), array([5, 2]))
        """
        return self._kernels.to_arrays(self)

    def clear(self) -> None:
        """Remove every word; the capacity stays.

        Complexity
        ----------
        O(capacity).

        Examples
        --------
        >>> c = ByteCounter({b"low": 5})
        >>> c.clear()
        >>> len(c)
        0
        """
        self._kernels.clear(self)

    def reserve(self, n_words: int, n_bytes: int = 0) -> None:
        """Make room for `n_words` words of `n_bytes` in all, so that no growth happens until then.

        Parameters
        ----------
        n_words : int
        n_bytes : int

        Raises
        ------
        ValueError
            A number is negative.
        MemoryError
            There is no room; the counter holds what it held.

        Complexity
        ----------
        O(n_words + bytes held).

        Examples
        --------
        >>> c = ByteCounter()
        >>> c.reserve(1000, 10_000)
        """
        n_words, n_bytes = self._room(n_words, "n_words"), self._room(n_bytes, "n_bytes")
        self._done(self._kernels.reserve(self, n_words, n_bytes), f"{n_words} words of {n_bytes} bytes")

    def _check(self) -> None:
        """Assert the numbered invariants of the module docstring."""
        slots, offsets, pool, shift = _state(self)
        capacity, size = 1 << (64 - shift), len(self)
        assert slots.size == 4 * capacity, "1: capacity"
        rows = slots.reshape(capacity, 4)
        occupied = np.flatnonzero(rows[:, 2])
        assert not rows[rows[:, 2] == 0].any(), "1: an empty slot holds something"
        assert occupied.size == size, "2: size"
        assert 2 * size <= capacity, "2: load"
        assert sorted((rows[occupied, 2] >> TAG_BITS) - 1) == list(range(size)), "2: ids"
        assert offsets.size > size, "3: room for offsets"
        assert offsets[0] == 0, "3: the first offset"
        assert np.all(np.diff(offsets[: size + 1]) >= 0), "3: an offset falls"
        assert offsets[size] <= pool.size, "3: room for bytes"
        for slot in occupied.tolist():
            word_0, word_1, meta, _ = rows[slot].tolist()
            word_id = (meta >> TAG_BITS) - 1
            *key, found = _look_up(self, word_id)
            assert key == [word_0, word_1, meta & TAG], f"4: key of word {word_id}"
            assert found == slot, f"5: word {word_id} is in slot {slot}, found in {found}"


bind(ByteCounterType, ByteCounter)
