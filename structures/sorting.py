"""Sorting of int64 keys: numba takes more than a second to compile the ``sort`` of an array.

A merge sort from the bottom up; short runs are sorted by insertion.

Source: Knuth, The Art of Computer Programming, 5.2.1, S and 5.2.4, S.
"""

from structures.jit import inner, kernel
from structures.memory import copy_prefix, new_words
from structures.simd import smaller

RUN = 16


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
