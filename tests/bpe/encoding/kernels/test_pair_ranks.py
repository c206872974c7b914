"""The packed ranks of pairs against a dict, with the invariants of the table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe.encoding.kernels.pair_ranks import LINE, NO_RANK, filled_lines, pack_ranks, ranks_of_all
from structures.primitives.simd import _py_multiply_fold

MOST = 2**21 - 1
ids = st.one_of(st.integers(0, 5), st.integers(0, MOST - 1))
COLLIDING = (-1, 0)  # of pairs that begin with 0, the product has all bits set: the last line is their home


def check(lines, n_pairs):
    """Assert the invariants, by number."""
    words, (shift, secret, another) = lines[:-LINE].reshape(-1, LINE), lines[-LINE : -LINE + 3].tolist()
    assert len(words) == 1 << (64 - shift), "invariant 1"
    assert n_pairs <= 4 * len(words), "invariant 1"
    used = words != -1
    assert used.sum() == n_pairs
    assert (used == (np.arange(LINE) < used.sum(axis=1)[:, None])).all(), "filled from the left"
    for line, place in np.argwhere(used).tolist():
        pair = int(words[line, place]) >> 21
        folded = int(_py_multiply_fold((pair >> 21) ^ secret, (pair & MOST) ^ another)) % 2**64
        way = [(folded >> shift) + k for k in range((line - (folded >> shift)) % len(words))]
        assert used[np.array(way, int) % len(words)].all(), "invariant 2"


def check_ranks(lines, rank_of, others=()):
    asked = [*rank_of, *others]
    found = ranks_of_all(lines, np.array(asked, np.int64).reshape(-1, 2)).tolist()
    assert found == [rank_of.get(pair, NO_RANK) for pair in asked]


@given(st.lists(st.tuples(ids, ids), min_size=1, max_size=80), st.lists(st.tuples(ids, ids)))
def test_against_a_dict(pairs, others):
    rank_of = {pair: rank for rank, pair in enumerate(pairs)}
    lines = pack_ranks(np.array(pairs))
    check(lines, len(rank_of))
    check_ranks(lines, rank_of, others)


@pytest.mark.parametrize("n", [7, 8, 9, 20, 32])
def test_pairs_that_share_a_home(n):
    pairs = [(0, k + 1) for k in range(n)]
    lines = filled_lines(np.array(pairs), 3, COLLIDING)
    check(lines, n)
    assert (lines[-2 * LINE : -LINE] != -1).sum() == min(n, LINE)  # the rest is in the first lines
    check_ranks(lines, {pair: rank for rank, pair in enumerate(pairs)}, [(0, n + 1), (1, 1)])


@given(ids, ids)
def test_ids_that_do_not_fit_have_no_rank(left, right):
    lines = pack_ranks(np.array([(left, right)]))
    check_ranks(lines, {(left, right): 0}, [(left, right | 2**21), (left | 2**31, right), (2**22 - 1, MOST)])


@pytest.mark.parametrize("pairs", [[], [(0, MOST)], [(MOST, 0)], [(2**31 - 1, 1)]])
def test_pairs_that_do_not_fit(pairs):
    assert pack_ranks(np.array(pairs, np.int64).reshape(-1, 2)).size == LINE
