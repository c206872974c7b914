"""Keys of byte strings: two 64-bit words that a table compares instead of the bytes.

::

    "the"     word 0  t h e . . . . .      word 1  . . . . . . . 4      up to 15 bytes, then length + 1
    longer    word 0  a hash               word 1  length        17     and the bytes are compared, too

Short strings with equal keys are equal. The keys of many strings are computed several at a time: the compiler
turns the loops of :func:`keys_of` into vector instructions.
"""

import numpy as np

from structures.compiling.jit import inner
from structures.primitives.hashing import mix_words, seed_of
from structures.primitives.simd import larger, load_word, multiply_fold, pointer_to, prefetch, smaller

INLINE = 15
"""The length of the longest string whose key holds all its bytes."""

_LENGTH_BITS = 56
_LONG = np.int64((INLINE + 2) << _LENGTH_BITS)
_READ = 16  # bytes that are read from a string, even if it is shorter


@inner
def is_long(word_1):
    """Return whether a key belongs to a string of more than :data:`INLINE` bytes."""
    return word_1 >= _LONG


@inner
def length_of(word_1):
    """Return the length of the string of a key."""
    if is_long(word_1):
        return word_1 - _LONG
    return (word_1 >> _LENGTH_BITS) - 1


@inner
def key_of_words(word_0, word_1, length):
    """Return the key of a short string from two words: 16 bytes that start with it."""
    n_second = smaller(larger(length - 8, 0), 7)
    unused = 4 * (8 - smaller(length, 8))  # half the bits: a shift by 64 is not defined
    first = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(unused) >> np.uint64(unused)
    second = (np.int64(1) << (8 * n_second)) - 1
    return word_0 & np.int64(first), (word_1 & second) | (length + 1) << _LENGTH_BITS


@inner
def gather(string, start, n):
    """Return `n` bytes, at most 8, of a string, padded with zeros."""
    gathered = 0
    for i in range(n):
        gathered |= np.int64(string[start + i]) << (8 * i)
    return gathered


@inner
def hash_long(string, length, seed):
    """Hash a string of at least 8 bytes."""
    hashed, factor = length ^ seed[1], seed[2]
    for i in range(0, length - 8, 8):
        hashed = multiply_fold(hashed ^ load_word(string, i), factor)
    return multiply_fold(hashed ^ load_word(string, length - 8), factor)


@inner
def key_of_rare(string, length, seed):
    """Return the key of a string that is long, or too near the end of the data for loads of 16 bytes."""
    if length > INLINE:
        return hash_long(string, length, seed), length | _LONG
    n_first = smaller(length, 8)
    return key_of_words(gather(string, 0, n_first), gather(string, 8, length - n_first), length)


@inner
def key_of(string, length, n_readable, seed):
    """Return word 0 and word 1 of a string; `n_readable` bytes, not less than `length`, may be read."""
    if length > INLINE or n_readable < _READ:
        return key_of_rare(string, length, seed)
    return key_of_words(load_word(string, 0), load_word(string, 8), length)


@inner
def keys_of(data, starts, ends, n, seed, word_0s, word_1s):
    """Write the keys of `n` strings ``data[starts[i]:ends[i]]``, where `starts` does not decrease."""
    bytes_at = pointer_to(data, 0)
    if np.int64(starts[n - 1]) + _READ > data.size:
        for i in range(n):
            start = np.int64(starts[i])
            length = np.int64(ends[i]) - start
            word_0s[i], word_1s[i] = key_of(pointer_to(data, start), length, data.size - start, seed)
        return
    longest = 0
    for i in range(n):
        start = np.int64(starts[i])
        length = np.int64(ends[i]) - start
        longest = larger(longest, length)
        word_0s[i], word_1s[i] = key_of_words(
            load_word(bytes_at, start), load_word(bytes_at, start + 8), length
        )
    if longest > INLINE:
        for i in range(n):
            start = np.int64(starts[i])
            length = np.int64(ends[i]) - start
            if length > INLINE:
                word_0s[i], word_1s[i] = key_of_rare(pointer_to(data, start), length, seed)


@inner
def first_slots_of(word_0s, word_1s, n, shift, slots, first_slots):
    """Write the first slots of `n` keys in a table of four words per slot, and prefetch their cache lines."""
    seed = seed_of(slots)
    seed_0, seed_1, factor = seed[0], seed[1], seed[2]  # for the compiler, first_slots could overwrite them
    for i in range(n):
        first_slots[i] = 4 * mix_words(word_0s[i], word_1s[i], seed_0, seed_1, factor, shift)
    for i in range(n):
        prefetch(slots, first_slots[i])


@inner
def equal_bytes(left, right, length):
    """Return whether two strings of the same length, at least 8 bytes, are equal."""
    for i in range(0, length - 8, 8):
        if load_word(left, i) != load_word(right, i):
            return False
    return load_word(left, length - 8) == load_word(right, length - 8)
