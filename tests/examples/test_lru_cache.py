# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT

from collections import OrderedDict
from itertools import chain

import lru_cache
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st


def with_ordered_dict(requests, capacity):
    """Return which requests are in the cache, and its keys at the end, most recently used first."""
    used, is_hit = OrderedDict(), []
    for key in requests:
        is_hit.append(key in used)
        if is_hit[-1]:
            used.move_to_end(key)
        else:
            if len(used) == capacity:
                used.popitem(last=False)
            used[key] = None
    return is_hit, list(reversed(used))


@given(st.integers(1, 6), st.lists(st.lists(st.integers(-4, 9), max_size=30), max_size=3))
def test_as_an_ordered_dict(capacity, parts):
    cache = lru_cache.LRUCache(capacity)
    is_hit = [hit for part in parts for hit in cache.look_up(part).tolist()]
    assert (is_hit, cache.keys()) == with_ordered_dict(chain(*parts), capacity)


@pytest.mark.parametrize("capacity", [1, 100, 10_000])
def test_a_long_trace(capacity):
    requests = np.random.default_rng(capacity).zipf(1.3, 20_000) % 5000
    cache = lru_cache.LRUCache(capacity)
    is_hit = cache.look_up(requests).tolist()
    assert (is_hit, cache.keys()) == with_ordered_dict(requests.tolist(), capacity)


def test_no_room_is_refused():
    with pytest.raises(ValueError, match="1 or more"):
        lru_cache.LRUCache(0)
