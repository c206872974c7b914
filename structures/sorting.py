"""Sorting of int64 keys: numba takes more than a second to compile the ``sort`` of an array.

Keys alone are sorted by merging, from the bottom up; short runs are sorted by insertion. Keys with values are
sorted digit by digit, from the lowest; digits that all keys have in common are left out.

Source: Knuth, The Art of Computer Programming, 5.2.1, S; 5.2.4, S; 5.2.5, R.
"""

from structures.jit import inner, kernel
from structures.memory import copy_prefix, new_words
from structures.simd import smaller

RUN = 16
_MANY = 1 << 16  # entries, from where on larger digits are faster
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
    """Merge two neighbouring sorted runs into the same place of another array."""
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
def digit_of(key, shift, mask):
    """Return a digit of a key; negative keys come first."""
    return ((key ^ _SIGN) >> shift) & mask


@inner
def start_digits(keys, shift, mask, start_of):
    """Write where the keys of each digit start when they are sorted by it."""
    for digit in range(mask + 1):
        start_of[digit] = 0
    for i in range(keys.size):
        start_of[digit_of(keys[i], shift, mask)] += 1
    start = 0
    for digit in range(mask + 1):
        start, start_of[digit] = start + start_of[digit], start


@kernel
def sort_entries(keys, values):
    """Sort keys in place, ascending, and their values with them. O(n) for each digit."""
    n = keys.size
    varying = 0
    for i in range(n):
        varying |= keys[i] ^ keys[0]
    width = 8 if n < _MANY else 11
    mask = (1 << width) - 1
    start_of = new_words(mask + 1)
    from_keys, from_values, to_keys, to_values = keys, values, new_words(n), new_words(n)
    n_passes = 0
    for shift in range(0, 64, width):
        if (varying >> shift) & mask != 0:
            start_digits(from_keys, shift, mask, start_of)
            for i in range(n):
                digit = digit_of(from_keys[i], shift, mask)
                to_keys[start_of[digit]] = from_keys[i]
                to_values[start_of[digit]] = from_values[i]
                start_of[digit] += 1
            from_keys, to_keys = to_keys, from_keys
            from_values, to_values = to_values, from_values
            n_passes += 1
    if n_passes & 1:
        copy_prefix(from_keys, n, keys)
        copy_prefix(from_values, n, values)
