# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT

from itertools import groupby, pairwise
from pathlib import Path

import numpy as np
import pytest
import re_pair
import re_pair_reference
from hypothesis import example, given
from hypothesis import strategies as st

from structures import MaxHeap, PairIndex, TokenList, unpack_pair

RUNS = st.lists(st.tuples(st.sampled_from(b"abc"), st.integers(1, 9)), max_size=40).map(
    lambda runs: b"".join(bytes([byte]) * n for byte, n in runs)
)
REPEATS = st.lists(st.sampled_from([b"ab", b"aba", b"c"]), max_size=40).map(b"".join)
TEXTS = RUNS | REPEATS | st.binary(max_size=60)


def pair_counts(sequence):
    """Return how often each pair occurs without overlap: in a run of n equal tokens, n // 2 times."""
    counts = {}
    for pair in pairwise(sequence):
        if pair[0] != pair[1]:
            counts[pair] = counts.get(pair, 0) + 1
    for token, run in groupby(sequence):
        if (n := len(list(run))) > 1:
            counts[token, token] = counts.get((token, token), 0) + n // 2
    return counts


def replaced(sequence, pair, new_token):
    out, i = [], 0
    while i < len(sequence):
        found = tuple(sequence[i : i + 2]) == pair
        out.append(new_token if found else sequence[i])
        i += 2 if found else 1
    return out


def specification(text):
    """Return the grammar; count everything again before every rule."""
    rules, sequence = [], list(text)
    while counts := {pair: count for pair, count in pair_counts(sequence).items() if count > 1}:
        pair = min(counts, key=lambda pair: (-counts[pair], pair))
        sequence = replaced(sequence, pair, re_pair.FIRST_NEW + len(rules))
        rules.append(pair)
    return rules, sequence


def as_lists(grammar):
    return [tuple(rule) for rule in grammar.rules.tolist()], grammar.sequence.tolist()


@given(TEXTS)
@example(b"")
@example(b"a")
@example(b"aaa")
@example(b"aaaa")
@example(b"baaaabaaab")
@example(b"abababab" * 3)
def test_grammar(text):
    grammar = re_pair.compress(text)
    assert as_lists(grammar) == specification(text)
    assert as_lists(grammar) == re_pair_reference.compress(text)
    assert re_pair.expand(grammar) == text
    assert max(pair_counts(grammar.sequence.tolist()).values(), default=0) < 2


@given(TEXTS, st.integers(0, 20))
def test_the_queue_has_the_true_counts_after_any_rule(text, n_rules):
    tokens, queue = TokenList(np.frombuffer(text, np.uint8)), MaxHeap()
    index = PairIndex.build(tokens)
    re_pair.find_rules(tokens, index, queue, np.empty((n_rules, 2), np.int64))
    for container in (tokens, index, queue):
        container._check()
    counts = {pair: count for pair, count in pair_counts(list(tokens)).items() if count > 1}
    assert {unpack_pair(pair): count for pair, count in queue.items()} == counts
    for pair, count in counts.items():
        assert index.count(*pair) >= count


@pytest.mark.parametrize("n", [2**12, 3**8, 12_345])
def test_one_long_run(n):
    grammar = re_pair.compress(b"a" * n)
    assert len(grammar.rules) + len(grammar.sequence) < 2 * n.bit_length()
    assert re_pair.expand(grammar) == b"a" * n


def test_a_novel():
    text = (Path(__file__).parents[1] / "data" / "treasure_island.txt").read_bytes()
    grammar = re_pair.compress(text)
    assert re_pair.expand(grammar) == text
    assert max(pair_counts(grammar.sequence.tolist()).values()) == 1
    assert len(grammar.sequence) < len(text) // 4
    prefix = text[:50_000]
    assert as_lists(re_pair.compress(prefix)) == re_pair_reference.compress(prefix)


def test_random_bytes_are_hardly_compressed():
    text = np.random.default_rng(1).integers(0, 256, 20_000, np.uint8).tobytes()
    assert re_pair.expand(re_pair.compress(text)) == text
