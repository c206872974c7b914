"""The first texts, in plain Python: the same ids as compiled code, and where that takes over."""

import gc
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import bpe
from bpe.encoding import plain_encoder
from bpe.encoding.encoder import Encoder
from bpe.encoding.plain_encoder import LONGEST_PIECE, LONGEST_TEXT, MOST_WORK, PlainEncoder
from bpe.formats.ranks import vocabulary_of_ranks, with_atomic_ids
from bpe.splitting import pattern as plain_splitting
from bpe.splitting.pattern import Pattern, plain_splitter
from bpe.vocabulary.vocabulary import Vocabulary

texts = st.text("abc \n'st\u00e9\u4e2d7", max_size=60).map(str.encode) | st.binary(max_size=20)
texts |= st.text().map(lambda text: text.encode("utf-8", "replace"))
words = st.lists(st.text("aabc", min_size=2, max_size=4).map(str.encode), max_size=12, unique=True)


@pytest.fixture(autouse=True)
def fresh_process(monkeypatch):
    monkeypatch.setattr(plain_splitting, "_n_compiled_only", 0)
    monkeypatch.setattr(plain_encoder, "_done", 0)


@pytest.fixture
def tokenizer(merges):
    return bpe.Tokenizer(
        token_bytes=Vocabulary.assemble(merges),
        merges=merges,
        pattern="gpt2",
        special_tokens=["<|end|>"],
    )


def is_plain(encoder):
    """Whether no text has needed compiled code."""
    return isinstance(encoder, PlainEncoder) and "_encoder" not in vars(encoder)


def compare(plain, compiled, data, ends):
    """Compare two encoders; plain Python encodes the texts unless a piece of them is too long."""
    split, edges = plain._split, [0, *ends.tolist()]
    parts = [data, *(data[start:end] for start, end in pairwise(edges))]
    longest = max((len(piece) for part in parts for piece in split(part)), default=0)
    assert plain.encode(data) == compiled.encode(data)
    found = plain.encode_to_numpy(data)
    assert (found.tolist(), found.dtype) == (compiled.encode(data), np.uint32)
    assert plain.count(data) == compiled.count(data)
    for mine, theirs in zip(
        plain.encode_segments(data, ends), compiled.encode_segments(data, ends), strict=True
    ):
        assert (mine.tolist(), mine.dtype) == (theirs.tolist(), theirs.dtype)
    assert is_plain(plain) is (longest <= LONGEST_PIECE)


# ------------------------------------------------------------------------------------------- the same ids
@given(texts, st.lists(st.integers(0, 60), max_size=3), st.sampled_from(["gpt2", "cl100k", "o200k"]))
@example(b"a" * LONGEST_PIECE, [7], "gpt2")
@example(b"a" * (LONGEST_PIECE + 1), [7], "gpt2")
def test_pairs(merges, data, ends, name):
    plain_encoder._done = 0
    vocabulary = Vocabulary(Vocabulary.assemble(merges), merges, {})
    compiled = Encoder(vocabulary, Pattern.of(name))
    plain = PlainEncoder.of(vocabulary, Pattern.of(name), lambda: compiled)
    compare(plain, compiled, data, np.array([*sorted(min(end, len(data)) for end in ends), len(data)]))


@given(words, texts)
@example([b"aa"], b"a" * LONGEST_PIECE)
@example([b"aa"], b"a" * (LONGEST_PIECE + 1))
def test_ranks(tokens, data):
    plain_encoder._done = 0
    ranks = {token: rank for rank, token in enumerate([*(bytes([value]) for value in range(256)), *tokens])}
    vocabulary = vocabulary_of(ranks)
    assert "pairs" not in vars(vocabulary)
    found = vocabulary_of(ranks)
    assert len(found.pairs) <= len(tokens)
    assert "pairs" in vars(found)
    compiled = Encoder(found, Pattern.of("gpt2"))
    plain = PlainEncoder.of(vocabulary, Pattern.of("gpt2"), lambda: compiled)
    compare(plain, compiled, data, np.array([len(data)]))


def vocabulary_of(ranks):
    return vocabulary_of_ranks({rank: token for token, rank in ranks.items()}, dict(ranks), {})


@given(st.lists(texts, max_size=5), st.booleans())
def test_tokens_taken_whole(data, is_ranked):
    plain_encoder._done = 0
    tokens = [*(bytes([value]) for value in range(256)), b"st", b"abc", b" abc"]
    vocabulary = Vocabulary(tokens, [(ord("s"), ord("t"))], {}).replace(atomic_ids=[257, 258])
    compiled = Encoder(vocabulary, Pattern.of("gpt2"))
    plain = PlainEncoder.of(vocabulary, Pattern.of("gpt2"), lambda: compiled)
    row = b" abc".join(data)
    assert plain.encode(row) == compiled.encode(row)
    assert plain.encode(b" abcabc") == compiled.encode(b" abcabc") != plain.encode(b" abc") == [258]


@given(st.lists(st.sampled_from([b" abc", b"st", b" xyz", b"a"]), max_size=5))
def test_tokens_that_no_merge_reaches(parts):
    """They are found at the first use, by compiled code: not for the first texts."""
    plain_encoder._done = 0
    tokens = [*(bytes([value]) for value in range(256)), b"st", b" abc", b" xyz"]
    words = with_atomic_ids(Vocabulary(tokens, [(ord("s"), ord("t"))], {}))
    plain = PlainEncoder.of(words, Pattern.of("gpt2"), lambda: None)
    found = [plain.encode(part) for part in (b"".join(parts), *parts)]
    assert "atomic_ids" not in vars(words)
    compiled = Encoder(words, Pattern.of("gpt2"))
    assert words.atomic_ids == (257, 258)
    assert found == [compiled.encode(part) for part in (b"".join(parts), *parts)]


def test_of_a_book(tokenizer, book):
    encoder = Encoder(tokenizer.engine.vocabulary, tokenizer.pattern)
    some = book[:50_000].encode()
    assert tokenizer.encode(book[:50_000]) == encoder.encode(some)
    assert tokenizer.encode("it<|end|>", allowed_special="all")[-1] == 556
    assert [each.tolist() for each in tokenizer.encode_batch_to_numpy(["one two", "three"])] == [
        encoder.encode(b"one two") + encoder.encode(b"three"),
        [0, len(encoder.encode(b"one two")), len(encoder.encode(b"one twothree"))],
    ]
    assert is_plain(tokenizer.engine.encoder)


@pytest.mark.parametrize("name", [name for name in bpe.PATTERNS if name not in ("none", "deepseek")])
@given(data=texts)
def test_plain_splitting(name, data):
    assert plain_splitter(Pattern.of(name))(data) == Pattern.of(name).split_bytes(data)


# ---------------------------------------------------------------------------------- compiled code goes on
def test_from_some_text_on(tokenizer, book):
    encoder = Encoder(tokenizer.engine.vocabulary, tokenizer.pattern)
    plain = tokenizer.engine.encoder
    shared = tokenizer.with_allowed_special("all")
    n_plain = 0
    for start in range(0, 1_400_000, 40_000):
        part = book[start % 80_000 :][:40_000]
        n_plain += is_plain(plain)
        assert tokenizer.encode(part) == encoder.encode(part.encode())
        assert plain_encoder._done <= MOST_WORK
    assert 2 < n_plain < 35
    assert plain.encode == plain._encoder.encode  # nothing stands between
    assert plain._merge is None  # memory
    assert shared.engine.encoder is plain
    assert first_of(tokenizer.engine.vocabulary, "gpt2") is not None  # little work is left for others


@pytest.mark.parametrize("name", ["encode", "encode_to_numpy", "count", "encode_segments"])
@pytest.mark.parametrize(
    "data", [b"a" * (LONGEST_PIECE + 1), b"a " * LONGEST_TEXT, b"one " * 50 + b" " * 300]
)
def test_a_hard_text(tokenizer, name, data):
    encoder = Encoder(tokenizer.engine.vocabulary, tokenizer.pattern)
    given = (data, np.array([len(data)])) if name == "encode_segments" else (data,)
    found, expected = getattr(tokenizer.engine.encoder, name)(*given), getattr(encoder, name)(*given)
    if name == "encode_segments":
        found, expected = found[0], expected[0]
    assert np.array_equal(found, expected)
    assert not is_plain(tokenizer.engine.encoder)
    assert plain_encoder._done <= MOST_WORK


def test_work_in_vain_counts(tokenizer):
    hard = b"one two three four five " + b"x" * (LONGEST_PIECE + 1)
    fresh = [tokenizer.with_special_tokens([f"<{i}>"]) for i in range(3)]
    before = plain_encoder._done
    for each in fresh:
        each.encode(hard)
    assert plain_encoder._done - before >= 3 * len(hard)


def test_ends_that_do_not_fit(tokenizer):
    for ends in ([1], [3, 2, 4], [5]):
        with pytest.raises(ValueError, match=r"ends"):
            tokenizer.engine.encoder.encode_segments(b"four", np.array(ends))
        tokenizer = tokenizer.with_special_tokens([f"<{len(ends)}{ends[0]}>"])


def test_other_methods_are_those_of_compiled_code(tokenizer):
    assert tokenizer.engine.encoder.pieces(b"one two")[0].tolist() == [0, 3, 7]
    assert not is_plain(tokenizer.engine.encoder)
    with pytest.raises(AttributeError):
        _ = tokenizer.engine.encoder.no_such_name


def test_threads_meanwhile(merges, book):
    parts = [book[i : i + 700] for i in range(0, 90_000, 700)] * 16
    encoder = Encoder(Vocabulary(Vocabulary.assemble(merges), merges, {}), Pattern.of("gpt2"))
    expected = [encoder.encode(part.encode()) for part in parts]
    for _ in range(3):
        plain_encoder._done = 0
        tok = bpe.Tokenizer(token_bytes=Vocabulary.assemble(merges), merges=merges, pattern="gpt2")
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(tok.encode, parts)) == expected
        assert not is_plain(tok.engine.encoder)


def test_a_fork_goes_on(tokenizer):
    tokenizer.encode("one")
    code = (
        "import os, bpe; tok = bpe.train(['low low'], 258); tok.encode('low'); pid = os.fork()\n"
        "ids = tok.encode('low')\n"
        "os._exit(0 if ids == [257] else 1) if pid == 0 else print(os.waitpid(pid, 0)[1], ids)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0 [257]\n"


# ------------------------------------------------------------------------------------------- when it is not
def first_of(vocabulary, pattern):
    return PlainEncoder.of(vocabulary, Pattern.of(pattern), lambda: None)


def test_which_vocabularies(monkeypatch):
    tokens = [bytes([value]) for value in range(256)]
    assert first_of(Vocabulary(tokens, [], {}), "gpt2") is not None
    assert first_of(Vocabulary(tokens, [], {}), "none") is None
    assert first_of(Vocabulary(tokens, [], {}), "deepseek") is None  # three expressions, one after the other
    assert first_of(Vocabulary(tokens, [], {}), r"\w+|\W") is None  # strangers' expressions may take long
    assert first_of(Vocabulary(tokens[:200], [], {}), "gpt2") is None  # bytes without a token
    monkeypatch.setattr(plain_encoder, "MOST_MERGES", 0)
    pair = Vocabulary([*tokens, b"hi"], [(104, 105)], {})
    assert first_of(pair, "gpt2") is None
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    assert first_of(Vocabulary(tokens, [], {}), "gpt2") is None


def test_superwords_need_compiled_code():
    tok = bpe.train(["of the sea of the sea"], 275, superwords=bpe.Boundless())
    assert tok.engine.vocabulary.n_super
    assert type(tok.engine.encoder).__name__ == "RunEncoder"


# -------------------------------------------------------------------------------- what a process loads
@pytest.fixture
def rank_file(tokenizer, tmp_path):
    tokenizer.save_tiktoken(tmp_path / "ranks.tiktoken")
    tokenizer.save(tmp_path / "native.json")
    tokenizer.save_huggingface(tmp_path / "tokenizer.json")
    return tmp_path


@pytest.mark.parametrize("name", ["ranks.tiktoken", "native.json", "tokenizer.json"])
def test_nothing_is_compiled_for_a_short_text(rank_file, tokenizer, name):
    pattern = ', pattern="gpt2", special_tokens={}' if name == "ranks.tiktoken" else ""
    code = (
        f"import bpe, sys; tok = bpe.Tokenizer.load('{name}'{pattern})\n"
        "ids = tok.encode('The sea was calm.'); batch = tok.encode_batch(['one', 'two'])\n"
        "assert tok.decode(ids) == 'The sea was calm.' and tok.count('one') == len(batch[0])\n"
        "print(ids, batch, 'numba' in sys.modules)"
    )
    run = [sys.executable, "-c", code]
    env = {"PYTHONPATH": str(Path(bpe.__file__).parent.parent)}
    done = subprocess.run(run, cwd=rank_file, capture_output=True, text=True, check=True, env=env)
    expected = tokenizer.encode("The sea was calm."), tokenizer.encode_batch(["one", "two"])
    assert done.stdout == f"{expected[0]} {expected[1]} False\n"


# ----------------------------------------------------------------------------- merges that are not found yet
def test_merges_are_found_when_asked_for(rank_file, tokenizer):
    path = rank_file / "ranks.tiktoken"
    opened = bpe.Tokenizer.load(path, pattern="gpt2", special_tokens={})
    vocabulary = opened.engine.vocabulary
    assert opened.vocab_size == tokenizer.vocab_size - 1
    assert opened.token_bytes(300) == tokenizer.token_bytes(300)
    assert opened.decode(opened.encode("The sea")) == "The sea"
    assert "pairs" not in vars(vocabulary)
    assert opened.merges == tokenizer.merges
    assert "pairs" in vars(vocabulary)
    assert opened == bpe.Tokenizer.load(path, pattern="gpt2", special_tokens={})
    assert opened.with_special_tokens(["<|end|>"]) == tokenizer
    assert opened.vocab == {number: token for number, token in tokenizer.vocab.items() if number < 556}
    fresh = bpe.Tokenizer.load(path, pattern="gpt2", special_tokens={})
    copies = fresh.with_special_tokens(["<|end|>"]), fresh.with_allowed_special("all")
    assert [each.merges for each in copies] == [tokenizer.merges] * 2
    assert hash(opened) == hash(bpe.Tokenizer.load(path, pattern="gpt2", special_tokens={}))


def test_threads_that_ask_for_merges(rank_file, tokenizer):
    for _ in range(10):
        vocabulary = bpe.Tokenizer.load(
            rank_file / "ranks.tiktoken", pattern="gpt2", special_tokens={}
        ).engine.vocabulary

        def look(i, vocabulary=vocabulary):
            return vocabulary.pairs.tolist(), len(vocabulary.bytes_of)

        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(look, range(8))) == [(list(map(list, tokenizer.merges)), 556)] * 8
    gc.collect()


# ------------------------------------------------------------------------------------------------- warmup
def test_warmup(tokenizer):
    """What comes after is encoded by compiled code, though plain Python had begun."""
    ids = tokenizer.encode("the sea")
    assert is_plain(tokenizer.engine.encoder)
    tokenizer.warmup()
    assert not is_plain(tokenizer.engine.encoder)
    assert tokenizer.encode("the sea") == ids
    assert plain_splitting.is_plain_allowed()


def test_warmup_without_all_bytes():
    """Only texts that can be encoded are."""
    few = bpe.Tokenizer(token_bytes=[b"a", b"b", b"ab"], merges=[(0, 1)], pattern="gpt2")
    few.warmup()
    assert few.encode("abab") == [2, 2]


def test_everything_compiled_later(tokenizer):
    ids = tokenizer.encode("the sea")
    with bpe.everything_compiled():
        assert is_plain(tokenizer.engine.encoder)
        assert tokenizer.encode("the sea") == ids
        assert not is_plain(tokenizer.engine.encoder)
