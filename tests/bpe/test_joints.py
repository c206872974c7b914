"""Pairs where tokens are joined, against a dict; gaps of the wide pattern, against the regex package."""

import numpy as np
import regex
from hypothesis import given
from hypothesis import strategies as st

import bpe
from bpe.encoding.joints import MOST_IDS, Joints, ranks_of
from bpe.encoding.linked_pieces import NO_RANK
from bpe.training.superbpe import WIDE_PATTERN, wide_pattern_of
from structures import kernel

FIRST = 8  # ids of first tokens


@kernel
def all_ranks(joints, ids, ranks):
    ranks_of(joints, ids, 0, ranks.size, ranks)


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=30),
    st.sampled_from([0, MOST_IDS - 200]),
)
def test_joints_are_those_of_a_dict(drawn, offset):
    pairs, edges, expected = [], {number: (number, number) for number in range(offset, offset + FIRST)}, {}
    for rank, (left, right) in enumerate(drawn):
        pair = tuple(offset + number % (FIRST + rank) for number in (left, right))
        pairs.append(pair)
        joint = edges[pair[0]][1], edges[pair[1]][0]
        edges[offset + FIRST + rank] = edges[pair[0]][0], edges[pair[1]][1]
        expected.setdefault(joint, NO_RANK)
        if joint == pair:
            expected[pair] = rank
    n = offset + FIRST + len(pairs)
    made = np.arange(offset + FIRST, n)
    joints = Joints.of(np.array(pairs, np.int64).reshape(-1, 2), made, n, is_loose=False)
    assert not joints.is_loose
    ids = np.array([[a, b] for a in range(offset, n) for b in range(offset, n)], np.uint32).ravel()
    ranks = np.empty(len(ids) - 1, np.int64)
    all_ranks(joints, ids, ranks)
    seen = zip(ids[:-1].tolist(), ids[1:].tolist(), strict=True)
    assert ranks.tolist() == [expected.get(pair, -1) for pair in seen]


def test_ids_that_are_too_large_for_a_word():
    assert Joints.of(np.empty((0, 2), np.int64), np.empty(0, np.int64), MOST_IDS + 1, is_loose=False).is_loose


@given(st.text("aB1 .,\n\r\té日\u00a0\u0301_", max_size=40))
def test_gaps_of_the_wide_pattern(text):
    pattern, expected, end = wide_pattern_of(None), [], 0
    for match in regex.finditer(WIDE_PATTERN, text):
        expected += [text[end : match.start()], match.group()]
        end = match.end()
    expected.append(text[end:])
    assert pattern.scanner is not None, "it is compiled"
    assert [piece.decode() for piece in pattern.split_bytes(text.encode())] == list(filter(None, expected))
    assert bpe.Pattern.of(pattern.spec) == pattern
