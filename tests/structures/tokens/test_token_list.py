from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from structures import TokenList
from structures.status import OK, OUT_OF_RANGE
from structures.testing import LANGUAGES, TokenListMachine, TokenModel, check_program, random_program
from structures.testing.machines import token_list_of
from structures.tokens import token_list_kernels as module

TestMachine = TokenListMachine.TestCase
LARGEST = 2**31 - 1


# -------------------------------------------------------------------------------------------- programs
@pytest.mark.parametrize("longest", [1, 2, 5, 60])
def test_programs(rng, longest):
    sizes = rng.integers(1, longest + 1, 20)
    segments = [rng.integers(0, 3, size).tolist() for size in sizes]
    language = LANGUAGES[TokenList]
    program = random_program(language, rng, 500, keys=range(1000), numbers=[0, 1, 2, 3, LARGEST], rare=0.6)
    model = TokenModel(segments)
    tokens = check_program(language, token_list_of(segments), model, program)
    assert tokens.positions().tolist() == model.positions()
    assert [list(tokens.segment(s)) for s in range(tokens.n_segments)] == [
        model.segment(s) for s in range(tokens.n_segments)
    ]


# ---------------------------------------------------------------------------------------- construction
@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int32", "uint32", "int64", "uint64", ">i4"])
def test_tokens_of_any_integer_type(dtype):
    tokens = TokenList(np.arange(100, dtype=dtype)[::3], np.array([0, 20, 34], np.uint8))
    tokens._check()
    assert list(tokens) == list(range(0, 100, 3))
    assert tokens.n_segments == 2
    assert tokens == TokenList(range(0, 100, 3), [0, 20, 34])


def test_read_only_tokens():
    given = np.frombuffer(bytes(range(10)), np.uint8)
    tokens = TokenList(given)
    tokens.merge(0, 300)
    assert list(tokens) == [300, *range(2, 10)]
    assert given[0] == 0
    assert list(TokenList(bytearray(b"abc"))) == [97, 98, 99]


def test_the_arrays_are_copied():
    given, offsets = np.arange(5), np.array([0, 2, 5])
    tokens = TokenList(given, offsets)
    given[:] = 7
    offsets[1] = 3
    assert list(tokens.segment(0)) == [0, 1]
    tokens._check()


@pytest.mark.parametrize(
    "arguments", [([],), ([], [0]), (np.empty(0, np.uint8),), (np.empty(0), [0])], ids=repr
)
def test_no_tokens(arguments):
    tokens = TokenList(*arguments)
    tokens._check()
    assert (len(tokens), tokens.n_segments, list(tokens)) == (0, 0, [])
    assert tokens.positions().tolist() == tokens.compact().tolist() == []
    assert [array.tolist() for array in tokens.to_arrays()] == [[], [0]]
    assert tokens.copy() == tokens
    with pytest.raises(IndexError):
        tokens.token(0)
    with pytest.raises(IndexError):
        tokens.segment(0)


@pytest.mark.parametrize(
    "wrong", [[-1], [2**31], [0, 5, -(2**63)], np.array([-1], np.int32), [1, 2**40]], ids=repr
)
def test_tokens_out_of_range(wrong):
    with pytest.raises(ValueError, match=r"tokens must be in \[0, 2\*\*31\)"):
        TokenList(wrong)


@pytest.mark.parametrize("wrong", [[1.0], ["a"], [None], [True]], ids=repr)
def test_tokens_of_wrong_types(wrong):
    with pytest.raises(TypeError, match=r"tokens must be integers|tokens\[0\] must be an integer"):
        TokenList(wrong)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64"])
def test_one_dimension(dtype):
    with pytest.raises(ValueError, match="one dimension"):
        TokenList(np.zeros((2, 2), dtype))


@pytest.mark.parametrize(
    "offsets",
    [[], [0], [0, 2], [1, 3], [0, 0, 3], [0, 2, 2, 3], [0, 2, 1, 3], [0, 4], [-1, 3], [3, 0], [0, 3, 3]],
)
def test_wrong_offsets(offsets):
    with pytest.raises(ValueError, match="segment_offsets must ascend strictly from 0"):
        TokenList([1, 2, 3], offsets)


def test_offsets_of_a_wrong_kind():
    with pytest.raises(TypeError, match="segment_offsets must be integers"):
        TokenList([1, 2, 3], [0.0, 3.0])
    with pytest.raises(ValueError, match="one dimension"):
        TokenList([1, 2, 3], [[0, 3]])


# ----------------------------------------------------------------------------------------------- verbs
def test_merges_of_a_run():
    tokens = TokenList([7] * 9)
    for position in (0, 2, 4, 6):
        tokens.merge(position, 8)
        tokens._check()
    assert list(tokens) == [8, 8, 8, 8, 7]
    assert [tokens.next(position) for position in (0, 2, 4, 6, 8)] == [2, 4, 6, 8, -1]
    assert [tokens.prev(position) for position in (0, 2, 4, 6, 8)] == [-1, 0, 2, 4, 6]
    while tokens.next(0) >= 0:
        tokens.merge(0, LARGEST)
    tokens._check()
    assert (list(tokens), tokens.next(0), tokens.prev(0)) == ([LARGEST], -1, -1)
    assert [tokens.token(position) for position in range(9)] == [LARGEST, *[-1] * 8]
    assert tokens.compact().tolist() == [0]
    assert tokens.nbytes == 16 + 16


def test_no_link_crosses_a_segment():
    tokens = TokenList([1, 2, 3, 4], [0, 1, 3, 4])
    assert [tokens.next(position) for position in range(4)] == [-1, 2, -1, -1]
    assert [tokens.prev(position) for position in range(4)] == [-1, -1, 1, -1]
    assert [tokens.segment_at(position) for position in range(4)] == [0, 1, 1, 2]
    for position in (0, 2, 3):
        with pytest.raises(IndexError, match=f"position {position} is the last of its segment"):
            tokens.merge(position, 5)
    tokens.merge(1, 5)
    tokens._check()
    assert [list(tokens.segment(s)) for s in range(3)] == [[1], [5], [4]]


def test_errors_change_nothing():
    tokens = TokenList([1, 2, 3, 4], [0, 3, 4])
    tokens.merge(0, 5)
    before = tokens.positions().tolist(), list(tokens)
    for verb in (tokens.next, tokens.prev, tokens.segment_at, lambda position: tokens.merge(position, 6)):
        with pytest.raises(IndexError, match="no token starts at position 1"):
            verb(1)
        for position in (-1, 4, 2**40):
            with pytest.raises(IndexError, match=f"position {position} is out of range for 4 positions"):
                verb(position)
        with pytest.raises(TypeError, match="position must be an integer"):
            verb(1.0)
    with pytest.raises(IndexError):
        tokens.token(4)
    for token in (-1, 2**31):
        with pytest.raises(ValueError, match="new_token must be in"):
            tokens.merge(0, token)
    with pytest.raises(TypeError, match="new_token must be an integer"):
        tokens.merge(0, 1.5)
    for segment in (-1, 2):
        with pytest.raises(IndexError, match="out of range for 2 segments"):
            tokens.segment(segment)
    tokens._check()
    assert (tokens.positions().tolist(), list(tokens)) == before


def test_equality_ignores_tombstones():
    one, other = TokenList([1, 2, 3]), TokenList([1, 4])
    assert one != other
    one.merge(1, 4)
    assert one == other
    assert one != TokenList([1, 4], [0, 1, 2])
    assert one != [1, 4]
    assert repr(one) == "<TokenList of 2: [1, 4]>"


@given(st.lists(st.lists(st.integers(0, LARGEST), min_size=1, max_size=9), max_size=9))
def test_arrays_round_trip(segments):
    tokens = token_list_of(segments)
    tokens._check()
    assert [list(tokens.segment(s)) for s in range(tokens.n_segments)] == segments
    assert TokenList.from_arrays(*tokens.to_arrays()) == tokens


@njit
def merge_in_njit(tokens, position):
    return tokens.merge(position, 9)


def test_nothing_is_written_past_a_segment():
    """The last token of a segment has no next one, and that of the list nothing at all behind it."""
    tokens = TokenList([5, 6, 7, 8], [0, 3, 4])
    tokens.merge(1, 9)
    for position in (1, 3):
        before = [array.copy() for array in module.state(tokens)]
        assert merge_in_njit(tokens, position) == OUT_OF_RANGE
        assert all(map(np.array_equal, module.state(tokens), before))
    assert (len(tokens), list(tokens)) == (3, [5, 9, 8])


def test_verbs_inside_njit():
    @njit
    def use(tokens):
        status = tokens.merge(np.int32(0), np.uint8(9))
        links = tokens.next(0), tokens.prev(2), tokens.token(1), tokens.segment_at(3)
        copied = tokens.copy()
        compacted = copied.compact()
        sizes = len(tokens), tokens.n_positions, copied.n_positions, tokens.n_segments
        segment = tokens.segment(0), tokens.segment_positions(0)
        return status, links, compacted, sizes, copied.to_arrays(), segment

    status, links, compacted, sizes, arrays, (segment, positions) = use(TokenList([5, 6, 7, 8], [0, 3, 4]))
    assert (status, links, compacted, sizes) == (OK, (2, 0, -1, 1), OK, (3, 4, 3, 2))
    assert [array.tolist() for array in arrays] == [[9, 7, 8], [0, 2, 3]]
    assert (segment.tolist(), positions.tolist()) == ([9, 7], [0, 2])


# --------------------------------------------------------------------------------- kernels on plain arrays
def test_kernels_against_a_list(rng):
    cells, segment_of = np.empty(50, np.int64), np.empty(50, np.int64)
    given = rng.integers(0, LARGEST, 50)
    module.fill_cells(given, np.array([0, 50]), cells, segment_of)
    model = list(enumerate(given.tolist()))
    while len(model) > 1:
        assert module.live_positions(cells, 0, 50, len(model)).tolist() == [p for p, _ in model]
        assert module.count_tokens(cells, 0, 50) == len(model)
        i = int(rng.integers(len(model) - 1))
        position, token = model[i][0], int(rng.integers(LARGEST))
        assert module.join(cells, position, token) == OK
        model[i : i + 2] = [(position, token)]
        for (before, _), (after, _) in pairwise(model):
            assert module.next_of(cells, before) == after
            assert module.prev_of(cells, after) == before
            assert module.run_of(cells, before) == after - before
        assert [module.token_of(cells, p) for p, _ in model] == [token for _, token in model]
    assert module.next_of(cells, 0) == module.prev_of(cells, 0) == -1


def test_a_run_has_a_greatest_length():
    """The length of both runs is checked before anything is written."""
    half = 2**29
    cells = np.zeros(4, np.int64)
    cells[0] = module.cell(5, 1, module.FIRST)
    cells[1] = module.cell(6, 2 * half - 1, module.LAST)
    before = cells.copy()
    assert module.join(cells, 0, 7) < 0
    assert cells.tolist() == before.tolist()
