"""Decoding: what plain Python and the kernels join is what the bytes of tokens are, joined."""

import threading

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bpe
from bpe.encoding import decoding
from bpe.encoding.decoding import BLOCK, FEW, TokenTable
from bpe.splitting import pattern as plain_splitting
from bpe.vocabulary.vocabulary import Vocabulary

# Tokens of all lengths around the 15 bytes of a row and the 8 of a word, and two ids that have none.
TOKENS = {i: bytes([i]) for i in range(256)}
TOKENS |= {256 + n: bytes(range(65, 65 + n)) for n in range(2, 40)}
TOKENS |= {300: b"\0" * 5, 301: b"\0" * 15, 302: b"\xff" * 15, 303: b"\xff" * 16, 304: "é".encode() * 400}
UNUSED = 298


@pytest.fixture(scope="module")
def vocabulary():
    return Vocabulary(TOKENS, [], {"<|end|>": 310})


@pytest.fixture(scope="module")
def table(vocabulary):
    return TokenTable(vocabulary)


@pytest.fixture(autouse=True)
def fresh_process(monkeypatch):
    monkeypatch.setattr(plain_splitting, "_n_compiled_only", 0)
    monkeypatch.setattr(decoding, "_done", 0)


@pytest.fixture
def n_compiled(monkeypatch):
    """Count the calls of the kernels."""
    calls = []
    join = decoding._Worker.join
    monkeypatch.setattr(decoding._Worker, "join", lambda *given: calls.append(given) or join(*given))
    return calls


some_ids = st.sampled_from([*TOKENS, 310])
lists = st.lists(some_ids, min_size=FEW + 1, max_size=3 * FEW)
lists |= st.builds(
    lambda ids, n: ids * n, st.lists(some_ids, min_size=1, max_size=50), st.integers(FEW + 1, 400)
)


def joined(vocabulary, ids):
    """The slow twin."""
    return b"".join(vocabulary.bytes_of[number] for number in ids)


def forms_of(ids):
    yield from (ids, tuple(ids), iter(ids), [np.int64(number) for number in ids])
    for kind in (np.int64, np.uint16, np.uint32, np.uint64, ">u4"):
        yield np.array(ids, kind)
    yield np.repeat(np.array(ids, np.uint32), 2)[::2]
    frozen = np.array(ids, np.uint32)
    frozen.setflags(write=False)
    yield frozen


@settings(deadline=None)
@given(lists)
@example([304] * (FEW + 1))
@example([304] * (2 * BLOCK + 1))  # more bytes than there is room for
@example([65] * BLOCK)
@example([302] * (BLOCK + 1))
def test_the_kernels_join_what_the_slow_twin_joins(vocabulary, table, ids):
    calls, join, expected = [], decoding._Worker.join, joined(vocabulary, ids)
    with pytest.MonkeyPatch.context() as patch, bpe.everything_compiled():
        patch.setattr(decoding._Worker, "join", lambda *given: calls.append(given) or join(*given))
        for form in forms_of(ids):
            before = len(calls)
            assert table.join(form) == expected
            assert len(calls) - before == -(-len(ids) // BLOCK)


@settings(deadline=None)
@given(st.lists(st.lists(some_ids, max_size=200), max_size=8), st.sampled_from([list, np.array, tuple]))
@example([[]] * 3 + [[65] * BLOCK] + [[]], list)
@example([[65, 66], [65] * (BLOCK + 1), [304] * 90, []], np.array)
@example([[65] * (BLOCK - 1), [66], [67] * 90], tuple)
def test_a_batch_is_each_of_its_lists(vocabulary, table, batch, form):
    expected = [joined(vocabulary, ids) for ids in batch]
    given = [form(ids) if ids or form is not np.array else np.empty(0) for ids in batch]
    assert TokenTable(vocabulary).join_each(iter(given)) == expected  # plain
    with bpe.everything_compiled():
        assert table.join_each(iter(given)) == expected


def test_one_call_of_a_kernel_joins_a_batch(table, n_compiled):
    with bpe.everything_compiled():
        assert table.join_each([[65, 66]] * 1000) == [b"AB"] * 1000
    assert len(n_compiled) == 1


@settings(deadline=None)
@given(st.lists(some_ids, max_size=FEW))
def test_few_ids_are_joined_in_plain_python(vocabulary, table, ids):
    with pytest.MonkeyPatch.context() as patch, bpe.everything_compiled():
        patch.delattr(decoding._Worker, "join")
        for form in (ids, tuple(ids), np.array(ids, np.int64)):
            assert table.join(form) == joined(vocabulary, ids)


# -------------------------------------------------------------------------------------- where it changes
def test_compiled_code_takes_over(vocabulary, n_compiled, monkeypatch):
    table = TokenTable(vocabulary)
    for name in ("MOST_PLAIN", "MOST_WITHOUT_NUMBA"):
        monkeypatch.setattr(decoding, name, 1000)
    for _ in range(20):
        assert table.join([65] * FEW) == b"A" * FEW
    for n, is_compiled in ((1000, False), (FEW + 1, False), (FEW + 1, True), (FEW, False)):
        n_compiled.clear()
        assert table.join([65] * n) == b"A" * n
        assert bool(n_compiled) is is_compiled
    assert table.join_each([[65] * n for n in range(FEW)]) == [b"A" * n for n in range(FEW)]
    assert n_compiled


def test_compiled_code_that_is_loaded_is_used(vocabulary, n_compiled):
    table = TokenTable(vocabulary)
    assert table.join([65] * (FEW + 1)) == b"A" * (FEW + 1)
    assert not n_compiled
    with bpe.everything_compiled():  # as `warmup` does
        table.join([65] * (FEW + 1))
    assert table.join([65] * (FEW + 1)) == b"A" * (FEW + 1)
    assert len(n_compiled) == 2


# ------------------------------------------------------------------------------------------------ errors
class One:
    def __index__(self):
        return 1


@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("n", [2, FEW + 5, BLOCK + 5])
def test_errors_name_the_first_wrong_id(table, n, is_compiled, monkeypatch):
    monkeypatch.setattr(plain_splitting, "_n_compiled_only", int(is_compiled))
    for wrong, problem in (
        (UNUSED, "298 is not used; ids are 0 to 310"),
        (311, "311 is out of range; ids are 0 to 310"),
        *((number, f"{number} is out of range") for number in (-1, -245, -310, -311, -312, -622, -623)),
        (2**32 + 65, f"{2**32 + 65} is out of range"),
        (2**70, f"{2**70} is out of range"),
    ):
        ids = [65] * n + [wrong, -5]
        forms = [ids, tuple(ids)] + ([np.array(ids)] if wrong < 2**63 else [])
        for form in forms:
            with pytest.raises(ValueError, match=rf"ids\[{n}\]: {problem}"):
                table.join(form)
            with pytest.raises(ValueError, match=rf"ids\[{n}\]: {problem}"):
                table.join_each([[65] * 50, form, [-7]])
    for wrong, name in ((1.0, "float"), ("a", "str"), (None, "NoneType"), (np.float64(1), "float64")):
        for function in (table.join, lambda ids: table.join_each([[65] * 50, ids])):
            with pytest.raises(TypeError, match=rf"ids\[{n}\] must be an integer, not {name}"):
                function([65] * n + [wrong])
    for wrong in (np.full(n, 1.0), np.full((n, 1), 1)):
        for function in (table.join, lambda ids: table.join_each([[65] * 50, ids])):
            with pytest.raises(TypeError, match=r"ids\[0\] must be an integer"):
                function(wrong)
    for wrong, name in ((65, "int"), (None, "NoneType")):
        for function in (table.join, lambda ids: table.join_each([[65] * 50, ids])):
            with pytest.raises(TypeError, match=rf"^ids must be a list or an array of integers, not {name}$"):
                function(wrong)
    for form in ([True, One()] * n, np.full(2 * n, True)):
        assert table.join(form) == b"\1" * (2 * n)


# ----------------------------------------------------------------------------------------------- streams
@pytest.mark.parametrize("n", [1, 500])
@pytest.mark.parametrize("is_compiled", [False, True])
def test_an_iterator_is_read_once(table, n, is_compiled, monkeypatch):
    if is_compiled:
        monkeypatch.setattr(decoding, "MOST_WITHOUT_NUMBA", -1)
        monkeypatch.setattr(decoding, "MOST_PLAIN", -1)
    ids = [104] * n
    assert table.join(iter(ids)) == table.join(ids) == table.join_each([iter(ids)])[0]
    for join in (table.join, lambda ids: table.join_each([ids])):
        with pytest.raises(ValueError, match=rf"ids\[{n}\]: 1000000000 "):
            join(iter([*ids, 10**9, 105]))


def test_a_stream_holds_no_more_than_a_character(vocabulary):
    """However long a character does not end."""
    stream = bpe.Tokenizer(token_bytes=TOKENS, merges=[], pattern="none").stream_decoder()
    for wrong in (0xF0, 0x9F, 0x98, 0x80, 0x80, 0xFF, 302) * 100:
        stream.feed(wrong)
        assert len(stream._decoder._partial) < 4


def test_threads(vocabulary, table):
    """Each has a worker of its own."""
    ids = [[i % 256] * 200 + [256 + 2 + i % 30] * 50 for i in range(20)]
    expected, wrong = [joined(vocabulary, some) for some in ids], []

    def work():
        for _ in range(30):
            for some, data in zip(ids, expected, strict=True):
                if table.join(some) != data:
                    wrong.append(some)

    with bpe.everything_compiled():
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong
