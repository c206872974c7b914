"""Pairs where tokens may be joined, against a dict; phrases and their memory, against plain merging."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe.encoding.kernels import joining
from bpe.encoding.kernels.joining import ID_BYTES, MOST_IDS, SHORT_IDS, TIED, Joiner, PairFilter, may_join
from bpe.encoding.kernels.memory import BATCH, KNOWN_BYTES
from bpe.vocabulary.vocabulary import Vocabulary
from structures import kernel

FIRST = 8  # ids of first tokens
LETTERS = b"abcd"
MOST_KNOWN = KNOWN_BYTES // ID_BYTES
parts = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=30)


@kernel
def all_that_join(pair_filter, ids, found):
    for i in range(found.size):
        found[i] = may_join(pair_filter, ids[i], ids[i + 1])


@kernel
def sizes_of(memory):
    return memory.n_short, len(memory.known), memory.pool_size


# ------------------------------------------------------------------------------------------------ pairs
@given(parts, st.sampled_from([0, MOST_IDS - 200]))
@settings(max_examples=40)
def test_every_pair_of_a_merge_has_a_bit_and_few_other_pairs_have(drawn, offset):
    pairs, edges, expected = [], {number: (number, number) for number in range(offset, offset + FIRST)}, set()
    for rank, (left, right) in enumerate(drawn):
        pair = tuple(offset + number % (FIRST + rank) for number in (left, right))
        pairs.append(pair)
        expected.add((edges[pair[0]][1], edges[pair[1]][0]))
        edges[offset + FIRST + rank] = edges[pair[0]][0], edges[pair[1]][1]
    n = offset + FIRST + len(pairs)
    made = np.arange(offset + FIRST, n)
    pair_filter = PairFilter.of(np.array(pairs, np.int64).reshape(-1, 2), made, n, is_loose=False)
    ids = np.array([[a, b] for a in range(offset, n) for b in range(offset, n)]).ravel()
    found = np.empty(len(ids) - 1, np.int64)
    all_that_join(pair_filter, ids, found)
    seen = [pair for pair, may in zip(pairwise(ids.tolist()), found.tolist(), strict=True) if may]
    assert {*pairwise(ids.tolist())} & expected <= {*seen}
    assert sum(pair not in expected for pair in seen) <= 0.25 * len(found)


def test_loose_joints_are_the_parts_of_merges():
    pair_filter = PairFilter.of(np.array([[1, 2], [4, 1]]), np.array([3, 3]), 6, is_loose=True)
    ids = np.array([[a, b] for a in range(8) for b in range(8)]).ravel()
    found = np.empty(len(ids) - 1, np.int64)
    all_that_join(pair_filter, ids, found)
    assert found.tolist() == [a in (1, 2, 4) and b in (1, 2, 4) for a, b in pairwise(ids.tolist())]


# ------------------------------------------------------------------------------------------------- joining
def vocabulary_of(drawn):
    """Return letters and merges of them; some make a token that is there already."""
    tokens = [bytes([value]) for value in range(256)]
    of_merges, pairs = [*LETTERS], {}
    for left, right in drawn:
        left, right = (of_merges[number % len(of_merges)] for number in (left, right))
        joined = tokens[left] + tokens[right]
        if (left, right) in pairs or len(joined) > 40:
            continue
        if joined not in tokens:
            tokens.append(joined)
        pairs[left, right] = tokens.index(joined)
        of_merges.append(pairs[left, right])
    return Vocabulary(tokens, [*pairs], {})


def plainly(vocabulary, ids):
    """Merge what is between ids that are tied, the lowest rank first, from the left."""
    rank_of = {tuple(pair): rank for rank, pair in enumerate(vocabulary.pairs.tolist())}
    ids = [*ids]
    while True:
        ranks = [rank_of.get(pair, len(rank_of)) for pair in pairwise(ids)]
        best = min(ranks, default=len(rank_of))
        if best == len(rank_of):
            return [number & (TIED - 1) for number in ids]
        at = ranks.index(best)
        ids[at : at + 2] = [int(vocabulary.made[best])]


def joined_plainly(vocabulary, segments):
    rows = [plainly(vocabulary, segment) for segment in segments]
    return [number for row in rows for number in row], np.cumsum([*map(len, rows)]).tolist()


def joined_by(joiner, segments):
    ids = np.array([number for segment in segments for number in segment], np.uint32)
    joined, ends = joiner.joined(ids, np.cumsum([*map(len, segments)]))
    return joined.tolist(), ends.tolist()


letters = st.sampled_from([*LETTERS, ord("z"), LETTERS[0] | TIED, LETTERS[1] | TIED, MOST_IDS + 1])
segments_of_letters = st.lists(st.lists(letters, min_size=1, max_size=60), min_size=1, max_size=12)


@given(parts, segments_of_letters, st.sampled_from([1, 1, 40]))
@settings(max_examples=100)
def test_phrases_are_joined_as_by_plain_merging_and_remembered(drawn, segments, times):
    vocabulary = vocabulary_of(drawn)
    joiner = Joiner(vocabulary, len(vocabulary.pairs))
    expected = joined_plainly(vocabulary, segments * times)
    assert joined_by(joiner, segments * times) == expected
    short = [segment for segment in segments if len(segment) * ID_BYTES <= KNOWN_BYTES]
    expected = joined_plainly(vocabulary, short)
    vocabulary.made[:] = ord("!")  # whatever is merged from now on is wrong
    assert joined_by(joiner, short) == expected


LADDER = vocabulary_of([(0, 1), (4, 4), (5, 5), (6, 6), (2, 0)])  # ab, abab, ..., ca: c a is a joint, too


@pytest.mark.parametrize(
    "n", [1, 2, SHORT_IDS, SHORT_IDS + 1, MOST_KNOWN, MOST_KNOWN + 1, BATCH, BATCH + 1, 9_999]
)
def test_phrases_of_any_length(n):
    phrase = (b"ab" * n)[:n]
    joiner = Joiner(LADDER, 5)
    for _ in range(2):
        joined, ends = joined_by(joiner, [phrase, b"c", phrase + b"zz"])
        assert b"".join(LADDER.bytes_of[number] for number in joined) == phrase + b"c" + phrase + b"zz"
        n_joined = n // 16 + (n % 16).bit_count()
        assert ends == [n_joined, n_joined + 1, 2 * n_joined + 3]
        if n <= BATCH:
            assert joined[:n_joined] == plainly(LADDER, phrase)
    n_short, n_longer, _ = sizes_of(joiner._idle[0])
    assert n_short > 0 or not 1 < n <= SHORT_IDS
    assert n_longer > 0 or not SHORT_IDS < n <= MOST_KNOWN


def test_a_memory_that_overflows_is_emptied(monkeypatch):
    monkeypatch.setattr(joining, "KNOWN_PHRASES", 2 * BATCH)
    vocabulary = vocabulary_of([(a, b) for a in range(4) for b in range(4)])
    joiner, chance = Joiner(vocabulary, len(vocabulary.pairs)), np.random.default_rng(1)
    segments = chance.choice([*LETTERS], (3000, 6)).tolist()
    assert joined_by(joiner, segments) == joined_plainly(vocabulary, segments)
    n_short, n_longer, _ = sizes_of(joiner._idle[0])
    assert 0 < n_short + n_longer <= 2 * BATCH
    assert len({*map(tuple, segments)}) > 2 * BATCH
