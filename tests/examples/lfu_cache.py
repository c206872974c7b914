# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT
"""A cache that evicts the least frequently used entry, on ``CountBuckets``.

What it shows: each use moves a count by one, which takes the buckets constant time; ``pop_min`` is the other
end of the same container. Keys of the container are int64. The class numbers its entries in the order in
which they enter, so that any hashable object can be a key of the cache.

The entry with the fewest uses is evicted; among equals, the one that entered first, because the container
gives the smallest key first. To enter counts as a use. An evicted key that comes back starts with one use.

:func:`count_hits` is the same policy inside ``@njit``, for a whole trace of integers. There the integers are
the keys, so that among equals the smallest is evicted.

Complexity: a hit O(1) expected; an eviction O(log m) amortized for m entries with the fewest uses.

Source: the O(1) scheme of K. Shah, A. Mitra, D. Matani, An O(1) algorithm for implementing the LFU cache
eviction scheme (2010), of which ``CountBuckets`` is the general form.
"""

from numba import njit

from structures import CountBuckets


class LFUCache:
    """Mapping of at most `capacity` entries.

    Parameters
    ----------
    capacity : int
        1 or more.

    Examples
    --------
    >>> cache = LFUCache(2)
    >>> cache.put("a", 1); cache.put("b", 2)
    >>> cache.get("a")
    1
    >>> cache.put("c", 3)  # b has been used once, a twice
    >>> "b" in cache, "a" in cache
    (False, True)
    """

    def __init__(self, capacity):
        if capacity < 1:
            raise ValueError(f"capacity must be 1 or more, not {capacity}")
        self.capacity = capacity
        self._uses = CountBuckets()  # number of an entry -> times used
        self._number_of = {}  # key -> number of its entry
        self._entries = {}  # number -> (key, value)
        self._n_entered = 0

    def __len__(self):
        return len(self._entries)

    def __contains__(self, key):
        return key in self._number_of

    def get(self, key, default=None):
        """Return the value of `key`, which counts as a use, or `default`, which does not."""
        number = self._number_of.get(key)
        if number is None:
            return default
        self._uses.add(number)
        return self._entries[number][1]

    def put(self, key, value):
        """Store a value, which counts as a use; a new entry makes room for itself."""
        number = self._number_of.get(key)
        if number is None:
            if len(self) == self.capacity:
                self.evict()
            number = self._number_of[key] = self._n_entered
            self._n_entered += 1
        self._uses.add(number)
        self._entries[number] = key, value

    def evict(self):
        """Remove the entry with the fewest uses; return its (key, value)."""
        number, _ = self._uses.pop_min()
        key, value = self._entries.pop(number)
        del self._number_of[key]
        return key, value


@njit(cache=True)
def count_hits(requests, capacity, uses):
    """Return how many of the requests, ``(n,) int64``, a cache of keys finds; `uses` holds its content.

    Examples
    --------
    >>> import numpy as np
    >>> count_hits(np.array([7, 7, 8, 9, 7]), 2, CountBuckets())
    2
    """
    hits = 0
    for key in requests:
        if key in uses:
            hits += 1
        elif len(uses) == capacity:
            uses.pop_min()
        uses.add(key, 1)
    return hits
