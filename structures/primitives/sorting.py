"""Sorting of int64 keys: numba takes more than a second to compile the ``sort`` of an array.

Keys alone are sorted by merging, from the bottom up; short runs are sorted by insertion. Keys with values are
sorted byte by byte, from the lowest; bytes that all keys have in common are skipped.

Source: Knuth, The Art of Computer Programming, 5.2.1, S; 5.2.4, S; 5.2.5, R.
"""

from structures.compiling.jit import inner, kernel
from structures.primitives.memory import copy_prefix, new_words
from structures.primitives.simd import smaller

RUN = 16
BYTES = 256
_SIGN = -(2**63)


@inner
def insert_each(keys, start, end):
    """Sort ``keys[start:end]``, a short run, in place."""
    for i in range(start + 1, end):
        key = keys[i]
        hole = i
        while hole > start and keys[hole - 1] > key:
            keys[hole] = keys[hole - 1]
            hole -= 1
        keys[hole] = key


@inner
def merge(source, start, middle, end, target):
    """Merge two neighboring sorted runs into the same place of another array."""
    left, right, i = start, middle, start
    while left < middle and right < end:
        one, other = source[left], source[right]
        target[i] = smaller(one, other)
        left += one <= other  # no branch: the processor could not predict it
        right += one > other
        i += 1
    for rest in range(left, middle):
        target[i] = source[rest]
        i += 1
    for rest in range(right, end):
        target[rest] = source[rest]


@kernel
def sort(keys):
    """Sort an array in place, ascending. O(n log n)."""
    n = keys.size
    for start in range(0, n, RUN):
        insert_each(keys, start, smaller(start + RUN, n))
    if n > RUN:
        source, target = keys, new_words(n)
        width = RUN
        while width < n:
            for start in range(0, n, 2 * width):
                merge(source, start, smaller(start + width, n), smaller(start + 2 * width, n), target)
            source, target = target, source
            width *= 2
        copy_prefix(source, n, keys)


@inner
def start_bytes(keys, shift, start_of):
    """Write to ``start_of[byte]`` where the keys with that byte start when they are sorted by it."""
    for byte in range(BYTES):
        start_of[byte] = 0
    for i in range(keys.size):
        start_of[((keys[i] ^ _SIGN) >> shift) & (BYTES - 1)] += 1
    start = 0
    for byte in range(BYTES):
        start, start_of[byte] = start + start_of[byte], start


@inner
def sort_entries(keys, values, other_keys, other_values, start_of):
    """Sort keys, ascending, and their values with them; return whether the result is in the other arrays.

    O(n) for each byte that varies. `start_of` has room for :data:`BYTES` numbers.
    """
    varying = 0
    for i in range(keys.size):
        varying |= keys[i] ^ keys[0]
    is_in_others = False
    for shift in range(0, 64, 8):
        if (varying >> shift) & (BYTES - 1) != 0:
            start_bytes(keys, shift, start_of)
            for i in range(keys.size):
                byte = ((keys[i] ^ _SIGN) >> shift) & (BYTES - 1)  # negative keys come first
                other_keys[start_of[byte]] = keys[i]
                other_values[start_of[byte]] = values[i]
                start_of[byte] += 1
            keys, other_keys = other_keys, keys
            values, other_values = other_values, values
            is_in_others = not is_in_others
    return is_in_others
