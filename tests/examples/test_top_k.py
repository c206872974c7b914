# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT

import heapq
from collections import Counter

import numpy as np
import pytest
import top_k
from hypothesis import given
from hypothesis import strategies as st


def assert_bounds(top, items):
    true, entries = Counter(items), top.most_common(len(items))
    assert len(entries) == min(len(true), top.n_counters)
    assert sum(count for _, count, _ in entries) == len(items)
    for key, count, error in entries:
        assert count - error <= true[key] <= count
        assert error <= entries[-1][1] <= len(items) / top.n_counters or error == 0
    for key in true:
        assert true[key] <= len(items) / top.n_counters or key in {held for held, _, _ in entries}


@given(st.lists(st.integers(-3, 8), max_size=60), st.integers(1, 6), st.integers(0, 60))
def test_bounds(items, n_counters, cut):
    top = top_k.TopK(n_counters)
    for part in (items[:cut], items[cut:]):
        top.update(part)
    assert_bounds(top, items)


def slow_space_saving(items, n_counters):
    counts = {}
    for key in items:
        if key in counts or len(counts) < n_counters:
            counts[key] = counts.get(key, 0) + 1
        else:
            evicted = min(counts, key=lambda held: (counts[held], held))
            counts[key] = counts.pop(evicted) + 1
    return counts


def test_a_long_stream():
    items = np.random.default_rng(1).zipf(1.3, 20_000) % 5000
    top = top_k.TopK(200)
    top.update(items)
    assert_bounds(top, items.tolist())
    assert {key: count for key, count, _ in top.most_common(200)} == slow_space_saving(items.tolist(), 200)
    assert [entry[:2] for entry in top.most_common(5)] == Counter(items.tolist()).most_common(5)


@given(st.lists(st.integers(-3, 8), max_size=60), st.integers(0, 15))
def test_exact(items, k):
    keys, counts = top_k.top_k_exact(items, k)
    expected = sorted(Counter(items).items(), key=lambda entry: (-entry[1], entry[0]))[:k]
    assert list(zip(keys.tolist(), counts.tolist(), strict=True)) == expected


@given(st.lists(st.integers(-3, 8), max_size=60), st.integers(0, 15))
def test_the_greatest(numbers, k):
    given = np.array(numbers, np.int64)
    assert top_k.greatest(given, k).tolist() == heapq.nlargest(k, numbers)
    assert top_k.greatest(given / 2, k).tolist() == heapq.nlargest(k, (given / 2).tolist())


def test_no_counters_are_refused():
    with pytest.raises(ValueError, match="1 or more"):
        top_k.TopK(0)
