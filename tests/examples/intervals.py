# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT
"""A set of integers as intervals without overlaps, in a ``SortedMap`` from start to end.

What it shows: ``floor`` and ``lower`` find the interval in which a number is, and ``remove_range`` takes out
all that a new one covers, in one call. ::

    intervals   [2, 5)     [7, 9)      [12, 15)       {2: 5, 7: 9, 12: 15}
    add         4 ............. 12                    {2: 15}: what touches or overlaps becomes one
    remove      3 .. 4                                {2: 3, 4: 15}

Complexity: O(log n) a call for n intervals, and O(log n) for each that vanishes.

Timing: ``python asv_benchmarks/examples_table.py intervals``.
"""

import numpy as np
from numba import njit

from structures import SortedMap


@njit(cache=True)
def add(ends, start, end):
    """Add the numbers from `start` to before `end`, at least one."""
    before, before_end = ends.floor(start, (start, start))
    _, last_end = ends.floor(end, (start, end))
    ends.remove_range(start, end + 1)
    ends[before if before_end >= start else start] = max(end, last_end)


@njit(cache=True)
def remove(ends, start, end):
    """Remove the numbers from `start` to before `end`, at least one."""
    before, before_end = ends.lower(start, (start, start))
    _, last_end = ends.lower(end, (start, start))
    ends.remove_range(start, end)
    if before_end > start:
        ends[before] = start
    if last_end > end:
        ends[end] = last_end


@njit(cache=True)
def contains(ends, number):
    """Return whether a number is in the set."""
    return ends.floor(number, (number, number))[1] > number


@njit(cache=True)
def change(ends, starts, stops, is_added):
    """Add or remove many ranges, one after the other."""
    for i in range(starts.size):
        if starts[i] < stops[i]:
            if is_added[i]:
                add(ends, starts[i], stops[i])
            else:
                remove(ends, starts[i], stops[i])


class Intervals:
    """A set of integers, of which many are next to each other.

    Examples
    --------
    >>> some = Intervals()
    >>> some.add(2, 5); some.add(7, 9); some.add(12, 15)
    >>> some.add(4, 12); some.remove(3, 4)
    >>> some.to_arrays()
    (array([2, 4]), array([ 3, 15]))
    >>> 3 in some, 14 in some
    (False, True)
    """

    def __init__(self):
        self._ends = SortedMap()

    def add(self, start, end):
        """Add the numbers of ``range(start, end)``."""
        self.change([start], [end], [True])

    def remove(self, start, end):
        """Remove the numbers of ``range(start, end)``."""
        self.change([start], [end], [False])

    def change(self, starts, stops, is_added):
        """Add or remove many ranges, in order."""
        starts, stops = np.asarray(starts, np.int64), np.asarray(stops, np.int64)
        change(self._ends, starts, stops, np.asarray(is_added, np.bool_))

    def __contains__(self, number):
        return contains(self._ends, number)

    def to_arrays(self):
        """Return where the intervals start and where they end, ascending."""
        return self._ends.to_arrays()
