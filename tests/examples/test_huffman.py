# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT

from heapq import heapify, heappop, heappush
from itertools import pairwise
from pathlib import Path

import huffman
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

WEIGHTS = st.lists(st.integers(0, 9) | st.integers(0, 10**6), min_size=1, max_size=40).filter(any)


def cost_with_heapq(weights):
    """Return the number of bits of an optimal code: the sum of all weights above the leaves."""
    queue = [weight for weight in weights if weight]
    heapify(queue)
    cost = queue[0] if len(queue) == 1 else 0
    while len(queue) > 1:
        weight = heappop(queue) + heappop(queue)
        cost += weight
        heappush(queue, weight)
    return cost


def lengths_with_heapq(weights):
    """Return the lengths of an optimal code."""
    queue = [(weight, node) for node, weight in enumerate(weights)]
    heapify(queue)
    parent_of = [0] * (2 * len(weights) - 1)
    for node in range(len(weights), len(parent_of)):
        first, one = heappop(queue)
        second, other = heappop(queue)
        parent_of[one] = parent_of[other] = node
        heappush(queue, (first + second, node))
    depth_of = [0] * len(parent_of)
    for node in range(len(parent_of) - 2, -1, -1):
        depth_of[node] = depth_of[parent_of[node]] + 1
    return depth_of[: len(weights)]


def assert_canonical(lengths):
    codes = huffman.canonical_codes(lengths)
    words = {symbol: f"{codes[symbol]:0{n}b}" for symbol, n in enumerate(lengths) if n}
    assert all(len(word) == lengths[symbol] for symbol, word in words.items())
    in_order = sorted(words, key=lambda symbol: (lengths[symbol], symbol))
    ascending = [words[symbol] for symbol in in_order]
    assert ascending == sorted(ascending)
    for word, following in pairwise(ascending):
        assert not following.startswith(word)


@given(WEIGHTS)
def test_codes_are_optimal(weights):
    lengths = huffman.code_lengths(weights)
    assert int(np.dot(lengths, weights)) == cost_with_heapq(weights)
    if min(weights) > 0 and len(weights) > 1:
        assert lengths.tolist() == lengths_with_heapq(weights)
    assert [n > 0 for n in lengths] == [weight > 0 for weight in weights]
    assert_canonical(lengths)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=60))
def test_round_trip(symbols):
    lengths = huffman.code_lengths(np.bincount(symbols))
    data = huffman.encode(symbols, lengths)
    assert len(data) == -(-sum(int(lengths[symbol]) for symbol in symbols) // 8)
    assert huffman.decode(data, lengths, len(symbols)).tolist() == symbols


def test_equal_weights_give_equal_lengths():
    assert huffman.code_lengths([3] * 8).tolist() == [3] * 8


def test_of_optimal_codes_the_flattest():
    assert huffman.code_lengths([2, 1, 1, 2, 2]).max() == 3
    assert huffman.code_lengths([2, 2, 1, 1]).tolist() == [2, 2, 2, 2]  # 1, 2, 3, 3 costs as much


def test_nothing():
    lengths = huffman.code_lengths([0, 0])
    assert lengths.tolist() == [0, 0]
    assert huffman.decode(huffman.encode([], lengths), lengths, 0).tolist() == []


def test_a_novel():
    text = (Path(__file__).parents[1] / "data" / "treasure_island.txt").read_bytes()
    symbols = np.frombuffer(text, np.uint8)
    counts = np.bincount(symbols, minlength=256)
    lengths = huffman.code_lengths(counts)
    data = huffman.encode(symbols, lengths)
    assert huffman.decode(data, lengths, len(text)).astype(np.uint8).tobytes() == text
    share = counts[counts > 0] / len(text)
    entropy = -(share * np.log2(share)).sum()
    assert entropy <= 8 * len(data) / len(text) < entropy + 0.05  # the bound of the theory is + 1
