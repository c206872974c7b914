# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT

import heapq

import lfu_cache
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from structures import CountBuckets, MinHeap


class Slow:
    """Says what goes by looking at every entry: [uses, when it entered, value] of each key."""

    def __init__(self, capacity):
        self.capacity = capacity
        self.entries = {}
        self.clock = 0

    def get(self, key, default=None):
        if key not in self.entries:
            return default
        self.entries[key][0] += 1
        return self.entries[key][2]

    def put(self, key, value):
        if key not in self.entries:
            if len(self.entries) == self.capacity:
                del self.entries[min(self.entries, key=self.entries.get)]
            self.clock += 1
            self.entries[key] = [0, self.clock, None]
        self.entries[key][0] += 1
        self.entries[key][2] = value


@given(st.integers(1, 5), st.lists(st.tuples(st.sampled_from("abcdefgh"), st.booleans()), max_size=80))
def test_as_the_slow_one(capacity, program):
    cache, slow = lfu_cache.LFUCache(capacity), Slow(capacity)
    for value, (key, stores) in enumerate(program):
        if stores:
            cache.put(key, value)
            slow.put(key, value)
        else:
            assert cache.get(key, -1) == slow.get(key, -1)
        assert len(cache) == len(slow.entries) <= capacity
        assert {key for key in "abcdefgh" if key in cache} == set(slow.entries)


def slow_hits(requests, capacity):
    uses, hits = {}, 0
    for key in requests:
        if key in uses:
            hits += 1
        elif len(uses) == capacity:
            del uses[min(uses, key=lambda held: (uses[held], held))]
        uses[key] = uses.get(key, 0) + 1
    return hits, uses


@njit(cache=True)
def hits_with_heap(requests, capacity, uses):
    """Do the same with a ``MinHeap``."""
    hits = 0
    for key in requests:
        if key in uses:
            hits += 1
        elif len(uses) == capacity:
            uses.pop()
        uses.add(key, 1)
    return hits


def hits_with_heapq(requests, capacity):
    """Do the same in Python: one entry for each key, whose uses are corrected when it reaches the top."""
    uses, queue, hits = {}, [], 0
    for key in requests:
        if key in uses:
            hits += 1
            uses[key] += 1
            continue
        if len(uses) == capacity:
            while queue[0][0] != uses[queue[0][1]]:
                heapq.heapreplace(queue, (uses[queue[0][1]], queue[0][1]))
            del uses[heapq.heappop(queue)[1]]
        uses[key] = 1
        heapq.heappush(queue, (1, key))
    return hits


@pytest.mark.parametrize("capacity", [1, 2, 10, 1000])
def test_a_trace_inside_njit(capacity):
    requests = np.random.default_rng(capacity).zipf(1.3, 2000) % 300 - 5
    uses = CountBuckets()
    hits = lfu_cache.count_hits(requests, capacity, uses)
    assert (hits, dict(uses)) == slow_hits(requests.tolist(), capacity)
    uses._check()
    assert (
        hits_with_heap(requests, capacity, MinHeap()) == hits_with_heapq(requests.tolist(), capacity) == hits
    )


def test_no_room_is_refused():
    with pytest.raises(ValueError, match="1 or more"):
        lfu_cache.LFUCache(0)
