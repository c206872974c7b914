"""Small corpora, in plain Python: the same tokenizer as compiled code learns, and where that takes over."""

import gzip
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe
from bpe.splitting import pattern as plain_splitting
from bpe.training import plain_trainer as small_corpus
from bpe.training.options import Options
from bpe.training.plain_trainer import MOST_BYTES, MOST_DISTINCT_BYTES, learn_small

documents = st.lists(st.text("aabc \n'<s>\u00e9\u4e2d", max_size=40) | st.binary(max_size=10), max_size=6)


@pytest.fixture(autouse=True)
def small_as_usual(monkeypatch):
    monkeypatch.setattr(plain_splitting, "_n_compiled_only", 0)


def on_small(corpus, vocab_size=300, pattern="gpt2", special_tokens=(), min_count=1):
    n_merges, options = vocab_size - 256 - len(special_tokens), Options(min_count=min_count)
    split_by = bpe.Pattern.of(pattern)
    small = learn_small(bpe.Corpus.of(corpus), split_by, special_tokens, n_merges, options)
    return small and bpe.Tokenizer._of(small.vocabulary, split_by)


def by_compiled_code(corpus, vocab_size=300, pattern="gpt2", special_tokens=(), min_count=1):
    counts = bpe.count_words(corpus, pattern, special_tokens)
    trainer = bpe.Trainer(counts, min_count=min_count)
    trainer.run(vocab_size)
    return trainer.tokenizer()


@given(
    documents,
    st.integers(258, 300),
    st.sampled_from(["gpt2", "cl100k", "whitespace"]),
    st.sampled_from([(), ("<s>",), ("<s>", "bc")]),
    st.integers(1, 4),
)
def test_same_tokenizer(corpus, vocab_size, pattern, special_tokens, min_count):
    options = vocab_size, pattern, special_tokens, min_count
    found = on_small(corpus, *options)
    if found is None:
        with pytest.raises(ValueError, match="the corpus is empty"):
            by_compiled_code(corpus, *options)
        return
    assert found == by_compiled_code(corpus, *options)
    assert found.special_tokens == by_compiled_code(corpus, *options).special_tokens


def test_of_a_book(book):
    found = on_small([book], 2_000, "o200k", ["<|end|>"])
    assert found == by_compiled_code([book], 2_000, "o200k", ["<|end|>"])
    assert bpe.train([book], 2_000, pattern="o200k", special_tokens=["<|end|>"]) == found


def test_of_files(tmp_path, book):
    (tmp_path / "a.txt").write_text(book[:9_000], encoding="utf-8")
    (tmp_path / "b.jsonl").write_text(json.dumps({"text": book[9_000:12_000]}) + "\n", encoding="utf-8")
    (tmp_path / "c.txt.gz").write_bytes(gzip.compress(book[12_000:15_000].encode()))
    assert on_small(tmp_path) == by_compiled_code(tmp_path)
    assert bpe.train(tmp_path, 300) == by_compiled_code(tmp_path)


def test_what_is_not_small(tmp_path, book, monkeypatch):
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(b"a " * MOST_BYTES))
    assert on_small(tmp_path / "bomb.gz") is None
    assert on_small([b"a " * (MOST_BYTES // 4)] * 2) is not None
    assert on_small([b"a " * (MOST_BYTES // 2), b"a"]) is None
    assert on_small(iter([book])) is None  # can be read only once
    assert on_small([book], pattern="none") is None
    assert on_small([book], pattern=r"\w+|\W") is None  # strangers' expressions may take long
    (tmp_path / "large.txt").write_bytes(b"a " * MOST_BYTES)
    with monkeypatch.context() as patch:
        patch.setattr(bpe.Corpus, "documents", None)  # a large file is not even opened
        assert on_small(tmp_path / "large.txt") is None
    monkeypatch.setattr(small_corpus, "MOST_DISTINCT_BYTES", 100)
    assert on_small([book]) is None
    assert MOST_DISTINCT_BYTES < MOST_BYTES


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a pipe with a name")
@pytest.mark.parametrize("times", [1, 200])  # small, and not
def test_a_pipe_is_read_once(tmp_path, book, times):
    pipe, text = tmp_path / "pipe", book[:9_000].encode() * times
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        written = pool.submit(pipe.write_bytes, text)
        found = bpe.train(pipe, 300)
        assert written.result() == len(text)
    assert found == by_compiled_code([text])


def test_errors_are_those_of_compiled_code(tmp_path):
    for given_to in (list, iter):
        with pytest.raises(ValueError, match="vocab_size must be at least 257"):
            bpe.train(given_to(["low"]), 100, special_tokens=["<s>"])
        with pytest.raises(ValueError, match="the corpus is empty"):
            bpe.train(given_to([""]), 300)
        with pytest.raises(TypeError):
            bpe.train(given_to([7]), 300)
        with pytest.raises(ValueError, match="unknown pattern"):
            bpe.train(given_to(["low"]), 300, pattern="no_such")
        with pytest.raises(TypeError, match="in a list"):
            bpe.train(given_to(["low"]), 300, special_tokens="<s>")
        with pytest.raises(TypeError):
            bpe.train(given_to(["low"]), 300, min_count="2")
    with pytest.raises(FileNotFoundError):
        bpe.train(tmp_path / "none", 300)
    with pytest.raises(TypeError, match="bare str"):
        bpe.train("low", 300)


@pytest.mark.parametrize(
    "options",
    [
        {"ties": "lexicographic"},
        {"ties": "first"},
        {"keep": lambda left, right: True},
        {"like": "gigatoken"},
        {"max_token_length": 3},
        {"like": "huggingface"},
        {"limit_alphabet": 20, "initial_alphabet": b""},
        {"initial_alphabet": b"ab"},
        {"superwords": bpe.Boundless()},
        {"progress": lambda done, total: None},
    ],
)
def test_other_rules_need_compiled_code(monkeypatch, options):
    def no_call(*arguments, **options):
        raise AssertionError

    monkeypatch.setattr("bpe.training.plain_trainer.learn", no_call)
    bpe.train(["low lower lowest"], 262, **options)
    with pytest.raises(AssertionError):
        bpe.train(["low lower lowest"], 262, min_count=2, progress=True)


def test_nothing_is_compiled():
    code = "import bpe, sys; print(bpe.train(['low low lower'], 258).merges, 'numba' in sys.modules)"
    env = {"PYTHONPATH": str(Path(bpe.__file__).parent.parent)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert done.stdout == "[(108, 111), (256, 119)] False\n"
