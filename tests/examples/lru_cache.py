# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT
"""A cache that evicts the least recently used entry, inside ``@njit``: an ``IntMap`` and a ring of slots.

What it shows: values of a map are places in arrays of your own. Each key of the cache has a slot; the slots
are on a ring, from the most recently used one to the least recently used one, by the arrays ``newer`` and
``older``. A use moves its slot to the front, and what is evicted is at the back. ::

    ring      HEAD <-> slot 2 <-> slot 0 <-> slot 1 <-> HEAD        older ->
    key_at                 8          5          9                   9 goes next

Complexity: O(1) expected a request; 24 bytes for each entry, and the map.

A :class:`~structures.MinHeap` of the times of last use does the same in a few lines (its page has them), in
O(log n) a request.

Timing: ``python asv_benchmarks/examples_table.py lru_cache``.
"""

import numpy as np
from numba import njit

from structures import IntMap

HEAD = 0


@njit(cache=True)
def put_in_front(slot, newer, older):
    """Put a slot that is on no ring behind the head."""
    second = older[HEAD]
    newer[slot], older[slot] = HEAD, second
    older[HEAD] = newer[second] = slot


@njit(cache=True)
def take_out(slot, newer, older):
    """Take a slot out of its ring."""
    older[newer[slot]] = older[slot]
    newer[older[slot]] = newer[slot]


@njit(cache=True)
def look_up(requests, slot_of, key_at, newer, older, is_hit):
    """Serve all requests, and say of each whether it was in the cache."""
    capacity = key_at.size - 1
    for i in range(requests.size):
        key = requests[i]
        slot = slot_of.get(key, HEAD)
        is_hit[i] = slot != HEAD
        if slot == HEAD:  # a miss
            slot = newer[HEAD] if len(slot_of) == capacity else len(slot_of) + 1
            if len(slot_of) == capacity:
                del slot_of[key_at[slot]]
                take_out(slot, newer, older)
            slot_of[key] = slot
            key_at[slot] = key
        else:
            take_out(slot, newer, older)
        put_in_front(slot, newer, older)


class LRUCache:
    """The keys that were used last, at most `capacity`.

    Parameters
    ----------
    capacity : int
        1 or more.

    Examples
    --------
    >>> cache = LRUCache(2)
    >>> cache.look_up([7, 8, 7, 9, 8]).tolist()
    [False, False, True, False, False]
    >>> cache.keys()  # most recently used first
    [8, 9]
    """

    def __init__(self, capacity):
        if capacity < 1:
            raise ValueError(f"capacity must be 1 or more, not {capacity}")
        self._slot_of = IntMap()
        self._key_at = np.zeros(capacity + 1, np.int64)  # slot 0 is the head of the ring
        self._newer, self._older = np.zeros((2, capacity + 1), np.int64)

    def look_up(self, requests):
        """Return for each of many keys whether it was in the cache, ``(n,) bool``; each is in it then."""
        requests = np.asarray(requests, np.int64)
        is_hit = np.empty(requests.size, np.bool_)
        look_up(requests, self._slot_of, self._key_at, self._newer, self._older, is_hit)
        return is_hit

    def keys(self):
        """Return the keys, most recently used first."""
        keys, slot = [], self._older[HEAD]
        while slot != HEAD:
            keys.append(int(self._key_at[slot]))
            slot = self._older[slot]
        return keys
