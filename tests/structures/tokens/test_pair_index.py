import copy
import pickle
from collections import defaultdict

import numpy as np
import pytest
from numba import njit

from structures import PairIndex, TokenList, pack_pair
from structures.status import MISSING, OK
from structures.testing import (
    LANGUAGES,
    PairIndexMachine,
    PairModel,
    TokenModel,
    check_program,
    random_program,
)
from structures.testing.machines import token_list_of

TestMachine = PairIndexMachine.TestCase
LARGEST = 2**31 - 1


def slow_postings(tokens):
    """Return pair -> positions, by a look at every position."""
    postings = defaultdict(list)
    for position in tokens.positions().tolist():
        after = tokens.next(position)
        if after >= 0:
            postings[tokens.token(position), tokens.token(after)].append(position)
    return dict(postings)


def as_dict(index):
    return {(left, right): index.postings(left, right).tolist() for left, right in index.pairs().tolist()}


# -------------------------------------------------------------------------------------------- programs
@pytest.mark.parametrize("longest", [1, 2, 25])
def test_programs(rng, longest):
    sizes = rng.integers(1, longest + 1, 8)
    segments = [rng.integers(0, 3, size).tolist() for size in sizes]
    language = LANGUAGES[PairIndex]
    program = random_program(language, rng, 400, keys=range(1000), numbers=range(6), rare=0.7)
    model = PairModel(TokenModel(segments))
    model.rebuild()
    index = check_program(language, PairIndex.build(token_list_of(segments)), model, program)
    assert as_dict(index) == {pair: model.postings(*pair) for pair in model.lists}


# --------------------------------------------------------------------------------------------- building
@pytest.mark.parametrize("n_kinds", [1, 2, 5, 1000])
def test_build_equals_a_slow_search(rng, n_kinds):
    segments = [rng.integers(0, n_kinds, size).tolist() for size in rng.integers(1, 60, 40)]
    tokens = token_list_of(segments)
    index = PairIndex.build(tokens)
    index._check()
    assert as_dict(index) == slow_postings(tokens)
    assert index.n_postings == sum(map(len, segments)) - len(segments)
    for _ in range(200):
        position = int(rng.choice(tokens.positions()))
        if tokens.next(position) >= 0:
            tokens.merge(position, int(rng.integers(n_kinds)))
    held = {pair: found for pair, found in as_dict(index).items() if found}
    now = slow_postings(tokens)
    assert all(set(found) <= set(now[pair]) for pair, found in held.items())
    index.rebuild()
    index._check()
    assert (as_dict(index), index.stale_fraction()) == (now, 0.0)


def test_runs_overlap():
    index = PairIndex.build(TokenList([7] * 5))
    assert index.postings(7, 7).tolist() == [0, 1, 2, 3]
    index.tokens.merge(1, 8)
    assert index.postings(7, 7).tolist() == [3]
    assert (index.count(7, 7), index.n_postings, index.stale_fraction()) == (1, 4, 0.75)
    assert index.postings(7, 8).size == 0


@pytest.mark.parametrize("segments", [[], [[5]], [[5], [6]]], ids=repr)
def test_no_pairs(segments):
    index = PairIndex.build(token_list_of(segments))
    index._check()
    assert (len(index), index.n_postings, index.stale_fraction(), index.count(5, 6)) == (0, 0, 0.0, 0)
    assert index.pairs().shape == (0, 2)
    assert index.postings(5, 6).dtype == np.int64
    assert pickle.loads(pickle.dumps(index)) == index == index.copy()


def test_the_greatest_tokens():
    index = PairIndex.build(TokenList([LARGEST, LARGEST, 0, LARGEST]))
    assert as_dict(index) == {(0, LARGEST): [2], (LARGEST, 0): [1], (LARGEST, LARGEST): [0]}
    assert (LARGEST, LARGEST) in index
    assert (0, 0) not in index


@pytest.mark.parametrize(
    "pair", [(1, -1), (1, 2**31), (2**64, 1), (1.0, 2), (1,), (1, 2, 3), 5, "ab", None], ids=repr
)
def test_an_index_holds_nothing_but_pairs(pair):
    assert pair not in PairIndex.build(TokenList([1, 2]))


# ------------------------------------------------------------------------------------------------ verbs
def test_a_posting_may_become_valid_again():
    tokens = TokenList([1, 2, 3])
    index = PairIndex.build(tokens)
    tokens.merge(1, 5)
    assert index.count(1, 2) == 0
    tokens.merge(0, 1)
    index.rebuild()
    assert len(index) == 0


def test_lists_and_room_are_used_again():
    tokens = TokenList(np.arange(200))
    index = PairIndex.build(tokens)
    for n in range(100):
        index.add_many(300 + n % 7, 1, range(n % 60))
        index.drop(300 + n % 7, 1)
        index._check()
    nbytes = index.nbytes
    for n in range(1000):
        index.add_many(300 + n % 7, n % 3, np.arange(n % 60))
        index.add(300 + n % 7, n % 3, n % 200)
        index.drop(300 + n % 7, n % 3)
    index._check()
    assert index.nbytes <= 2 * nbytes
    assert len(index) == 199


def test_many_lists_grow_side_by_side():
    tokens = TokenList(np.arange(1000) % 10)
    index, model = PairIndex(tokens), PairModel(TokenModel([(np.arange(1000) % 10).tolist()]))
    rng = np.random.default_rng(0)
    for left, position in rng.integers(0, 1000, (3000, 2)).tolist():
        index.add(left % 20, (left + 1) % 10, position)
        model.add(left % 20, (left + 1) % 10, position)
    index._check()
    assert index.n_postings == model.n_postings == 3000
    assert index.pairs().tolist() == model.pairs()
    for pair in [(3, 4), (13, 4), (0, 1), (9, 0)]:
        in_place = [p for p in model.lists[pair] if (p % 10, (p + 1) % 10) == pair and p < 999]
        assert index.postings(*pair).tolist() == in_place


def test_errors_change_nothing():
    tokens = TokenList([1, 2, 1, 2])
    index = PairIndex.build(tokens)
    before = index.copy()
    for position in (-1, 4, 2**40):
        with pytest.raises(IndexError, match=f"position {position} is out of range for 4 positions"):
            index.add(1, 2, position)
        with pytest.raises(IndexError):
            index.add_many(5, 6, [0, position])
    for pair in ((-1, 2), (1, 2**31)):
        for verb in (index.postings, index.count, index.drop, lambda left, right: index.add(left, right, 0)):
            with pytest.raises(ValueError, match="must be in"):
                verb(*pair)
    for verb in (index.postings, index.count, index.drop):
        with pytest.raises(TypeError):
            verb(1.0, 2)
    with pytest.raises(TypeError):
        index.add(1, 2, 0.0)
    with pytest.raises(TypeError):
        index.add_many(1, 2, [0.0])
    with pytest.raises(KeyError) as caught:
        index.drop(7, 7)
    assert caught.value.args == ((7, 7),)
    with pytest.raises(TypeError, match="must be a TokenList"):
        PairIndex([1, 2])
    index._check()
    assert index == before
    assert len(index) == 2


def test_from_arrays():
    tokens = TokenList([1, 2, 1, 2, 3])
    index = PairIndex.build(tokens)
    assert PairIndex.from_arrays(*index.to_arrays()) == index
    arrays = tokens, [pack_pair(1, 2)], [0, 2], [2, 0]
    assert as_dict(PairIndex.from_arrays(*arrays)) == {(1, 2): [2, 0]}
    with pytest.raises(IndexError):
        PairIndex.from_arrays(tokens, [pack_pair(1, 2)], [0, 1], [5])
    with pytest.raises(ValueError, match="not a packed pair"):
        PairIndex.from_arrays(tokens, [-1], [0, 1], [0])


@pytest.mark.parametrize(
    ("pairs", "offsets", "positions"),
    [
        ([1 << 32 | 2], [0], [0]),
        ([1 << 32 | 2], [0, 2], [0]),
        ([1 << 32 | 2], [1, 1], [0]),
        ([1 << 32 | 2], [0, 1, 1], [0]),
        ([5, 6], [0, 2, 1], [0]),
        ([], [], []),
        ([2**31], [0, 1], [0]),
        ([-1], [0, 1], [0]),
        ([5], [[0, 1]], [0]),
    ],
)
def test_wrong_arrays(pairs, offsets, positions):
    with pytest.raises(ValueError, match=r"offsets must ascend|not a packed pair|one dimension"):
        PairIndex.from_arrays(TokenList([1, 2]), pairs, offsets, positions)


def test_arrays_and_pickles_have_no_stale_postings():
    """A pair that has stale postings only is not in arrays and pickles, and comparisons ignore it."""
    index = PairIndex.build(TokenList([1, 2, 3, 1, 2]))
    index.tokens.merge(1, 9)
    index.add(9, 1, 1)
    index.add_many(7, 7, [])
    assert index.pairs().tolist() == [[1, 2], [2, 3], [3, 1], [7, 7], [9, 1]]
    for other in (pickle.loads(pickle.dumps(index)), PairIndex.from_arrays(*index.to_arrays())):
        other._check()
        assert other.pairs().tolist() == [[1, 2], [9, 1]]
        assert (other.n_postings, other.stale_fraction()) == (2, 0.0)
    other = PairIndex.from_arrays(*index.to_arrays())
    assert other == index == index.copy()
    assert index.copy().pairs().tolist() == index.pairs().tolist()
    index.tokens.merge(0, 1)
    assert pickle.loads(pickle.dumps(index)).to_arrays()[3].tolist() == [1]


class MyIndex(PairIndex):
    pass


class MyTokens(TokenList):
    pass


def test_subclasses():
    tokens = MyTokens([1, 2, 1, 2])
    index = MyIndex.build(tokens)
    index.label = tokens.label = "mine"
    for one in (tokens, index):
        for other in (one, one.copy(), pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
            assert (type(other), other.label) == (type(one), "mine")
            assert other == one
    assert type(MyTokens.from_arrays(*tokens.to_arrays())) is MyTokens
    assert type(MyIndex.from_arrays(*index.to_arrays())) is type(MyIndex(tokens)) is MyIndex
    assert index == PairIndex.build(TokenList([1, 2, 1, 2]))
    assert type(index.tokens) is TokenList
    index.tokens.merge(0, 5)
    assert list(tokens) == [5, 1, 2]


def test_equality_ignores_stale_postings():
    one, other = (PairIndex.build(TokenList([1, 2, 3, 4])) for _ in range(2))
    assert one == other
    one.add(1, 2, 3)
    assert one == other
    one.drop(1, 2)
    assert one != other
    other.tokens.merge(0, 5)
    assert one != other
    assert one != 5
    assert repr(one) == "<PairIndex of 2 pairs, 2 postings>"
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


def test_the_token_list_is_shared_but_not_with_a_copy():
    tokens = TokenList([1, 2, 3])
    index = PairIndex.build(tokens)
    copied = index.copy()
    index.tokens.merge(0, 9)
    assert list(tokens) == [9, 3]
    assert index.tokens == tokens
    assert list(copied.tokens) == [1, 2, 3]
    assert (index.count(1, 2), copied.count(1, 2)) == (0, 1)
    del tokens
    assert list(index.tokens) == [9, 3]


@pytest.mark.reads_statuses
def test_verbs_inside_njit():
    @njit
    def use(index):
        tokens = index.tokens
        merged = tokens.merge(0, 9)
        added = index.add(9, 1, 0), index.add_many(5, 5, np.array([0, 1]))
        start, end = index.span(1, 2)
        raw = 0
        for i in range(start, end):
            raw += index.posting(i) + 1
        dropped = index.drop(2, 1), index.drop(2, 1)
        return merged, added, raw, index.postings(1, 2), index.count(9, 1), dropped, index.stale_fraction()

    index = PairIndex.build(TokenList([1, 2, 1, 2]))
    merged, added, raw, postings, count, dropped, stale = use(index)
    index._check()
    assert (merged, added, raw, postings.tolist(), count) == (OK, (OK, OK), 4, [2], 1)
    assert (dropped, stale) == ((OK, MISSING), 0.6)
    assert as_dict(index) == {(1, 2): [2], (5, 5): [], (9, 1): [0]}


def test_reading_inside_njit():
    @njit
    def use(index):
        copied = index.copy()
        copied.tokens.merge(0, 9)
        tokens, pairs, offsets, positions = copied.to_arrays()
        contained = (1, 2) in index, (np.int32(2), np.uint8(1)) in index, (2, 2) in index
        return contained, len(index), index.pairs(), len(tokens), pairs, offsets, positions, copied

    index = PairIndex.build(TokenList([1, 2, 1, 2]))
    contained, size, pairs, n_tokens, *arrays, copied = use(index)
    assert (contained, size, n_tokens) == ((True, True, False), 2, 3)
    assert pairs.tolist() == index.pairs().tolist() == [[1, 2], [2, 1]]
    assert [array.tolist() for array in arrays] == [[pack_pair(1, 2)], [0, 1], [2]]
    assert (list(index.tokens), list(copied.tokens), (2, 1) in copied) == ([1, 2, 1, 2], [9, 1, 2], False)
    copied._check()


def test_positions_past_the_end_of_a_compacted_list_hold_nothing():
    tokens = TokenList(np.tile([1, 2], 100_000))
    index = PairIndex.build(tokens)
    for position in range(0, 200_000, 2):
        tokens.merge(position, 9)
    tokens.compact()
    assert index.count(1, 2) == 0
    assert index.postings(1, 2).size == 0
    index.rebuild()
    index._check()
