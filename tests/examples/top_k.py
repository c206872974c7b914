# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT
"""The most frequent keys of a stream: Space-Saving on ``MinHeap``, and an exact count; the greatest numbers.

What it shows: an addressable heap that stays at m entries. The count of a key in the summary grows by one;
any other key replaces the least frequent one and takes over its count. The summary never has more than m
keys, no matter how long the stream is.

For a stream of n items and every key of the summary, where ``error`` is the count that the key took over::

    count - error <= its true count <= count          error <= least count in the summary <= n / m
    a key that occurs more than n / m times is in the summary

Complexity: O(log m) an item and O(m) memory; :func:`top_k_exact` O(1) expected an item, O(d) memory for
d distinct keys, and O(d + k log d) at the end; :func:`greatest` O(1) for a number that is not among them,
else O(log k).

Source: A. Metwally, D. Agrawal, A. El Abbadi, Efficient computation of frequent and top-k elements in data
streams (2005).
"""

import numpy as np
from numba import njit

from structures import Heap, IntMap, MaxHeap, MinHeap


@njit(cache=True)
def space_saving(items, n_counters, summary, errors):
    """Go through `items`, ``(n,) int64``, with a summary of at most `n_counters` keys."""
    for key in items:
        if key in summary or len(summary) < n_counters:
            summary.add(key, 1)
        else:
            evicted, count = summary.pop()
            errors.pop(evicted, 0)
            summary[key] = count + 1
            errors[key] = count


class TopK:
    """The most frequent keys of a stream, in bounded memory.

    Parameters
    ----------
    n_counters : int
        The m above, 1 or more: more counters, smaller errors.

    Examples
    --------
    >>> top = TopK(n_counters=3)
    >>> top.update([7, 7, 7, 8, 8, 9, 7])
    >>> top.most_common(2)
    [(7, 4, 0), (8, 2, 0)]
    """

    def __init__(self, n_counters):
        if n_counters < 1:
            raise ValueError(f"n_counters must be 1 or more, not {n_counters}")
        self.n_counters = n_counters
        self._summary = MinHeap()  # key -> its count, at least the true one
        self._errors = IntMap()  # key -> the count that it took over; missing: 0

    def update(self, items):
        """Go through more of the stream."""
        space_saving(np.asarray(items, np.int64), self.n_counters, self._summary, self._errors)

    def most_common(self, k):
        """Return (key, count, error) of the first `k` keys of the summary, greatest count first."""
        keys, counts = MaxHeap.from_arrays(*self._summary.to_arrays()).pop_many(k)
        errors = self._errors.get_many(keys)
        return list(zip(keys.tolist(), counts.tolist(), errors.tolist(), strict=True))


@njit(cache=True)
def count(items, counts):
    """Add 1 to the count of every item."""
    for key in items:
        counts.add(key, 1)


def top_k_exact(items, k):
    """Return the `k` most frequent keys and their counts, ties by smallest key.

    Counting needs no order: a hash table does it. Then a heap of the counts is built in O(d).

    Examples
    --------
    >>> top_k_exact([7, 9, 8, 7, 8, 7], 2)
    (array([7, 8]), array([3, 2]))
    """
    counts = IntMap()
    count(np.asarray(items, np.int64), counts)
    return MaxHeap.from_arrays(*counts.to_arrays()).pop_many(k)


@njit(cache=True)
def keep_greatest(numbers, k, heap):
    """Go through `numbers` with a heap of the k greatest, the least of them first."""
    for i in range(numbers.size):
        if len(heap) < k:
            heap.push(numbers[i], i)
        elif numbers[i] > heap.peek()[0]:
            heap.replace(numbers[i], i)


def greatest(numbers, k):
    """Return the `k` greatest numbers of a stream, descending.

    Examples
    --------
    >>> greatest([3, 1, 4, 1, 5, 9, 2, 6], 3)
    array([9, 6, 5])
    """
    numbers = np.asarray(numbers)
    heap = Heap(numbers.dtype)
    if k > 0:
        keep_greatest(numbers, k, heap)
    return heap.to_arrays()[0][::-1]
