import copy
import pickle
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe.counts import WordCounts
from bpe.specials import check_specials, find_special, split_special
from bpe.text import as_bytes, as_text

END = "<|end|>"
documents = st.lists(st.text("ab1 \n'é", max_size=30) | st.binary(max_size=10), max_size=5)


def count_slowly(corpus, pattern, specials=()):
    counts = Counter()
    for document in corpus:
        for is_special, part in split_special(as_text(document), frozenset(specials)):
            if not is_special:
                counts.update(map(as_bytes, bpe.split(pattern, part)))
    return counts


# --------------------------------------------------------------------------------------- from_corpus
@pytest.mark.parametrize("pattern", [*bpe.PATTERNS, r"\d"])
@settings(deadline=None)
@given(documents)
def test_from_documents(pattern, corpus):
    expected = count_slowly(corpus, pattern)
    if not expected:
        with pytest.raises(ValueError, match="the corpus is empty"):
            WordCounts.from_corpus(corpus, pattern)
        return
    counts = WordCounts.from_corpus(corpus, pattern)
    assert list(counts.items()) == list(expected.items()), "same order"
    assert counts.pattern == bpe.Pattern.of(pattern)


@settings(deadline=None, max_examples=50)
@given(st.text("ab1 \n'é!<|end>", max_size=200), st.sampled_from(list(bpe.PATTERNS)), st.integers(1, 40))
def test_from_a_file(tmp_path_factory, text, pattern, block_bytes):
    path = tmp_path_factory.mktemp("corpus") / "text.txt"
    data = (text + END + "a b").encode()
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bpe.corpus.BLOCK_BYTES", block_bytes)
        counts = WordCounts.from_corpus(path, pattern, [END])
    assert list(counts.items()) == list(count_slowly([data], pattern, [END]).items())


def test_specials_are_neither_counted_nor_crossed():
    counts = WordCounts.from_corpus([f"one{END}one{END}{END} {END}"], special_tokens=[END])
    assert dict(counts.items()) == {b"one": 2, b" ": 1}
    assert counts.special_tokens == (END,)


def test_empty_corpora(tmp_path):
    path = tmp_path / "empty.txt"
    path.touch()
    for corpus in (path, [path], [], [path, b""], iter([])):
        with pytest.raises(ValueError, match="the corpus is empty"):
            WordCounts.from_corpus(corpus)
    with pytest.raises(ValueError, match=r"empty\.txt"):
        WordCounts.from_corpus(path)
    with pytest.raises(ValueError, match="nothing but special tokens"):
        WordCounts.from_corpus([END], special_tokens=[END])


def test_arguments_are_checked_before_reading():
    for wrong in ({"pattern": "nonsense"}, {"special_tokens": [""]}):
        with pytest.raises(ValueError, match=r"unknown pattern|empty"):
            WordCounts.from_corpus(iter(range(0)), **wrong)
    with pytest.raises(TypeError, match="in a list"):
        WordCounts.from_corpus("text.txt")
    with pytest.raises(TypeError, match="progress"):
        WordCounts.from_corpus(["a"], progress="yes")


def test_progress(tmp_path, capsys):
    path = tmp_path / "text.txt"
    path.write_bytes(b"some words")
    calls = []
    WordCounts.from_corpus([path, path], progress=lambda *call: calls.append(call))
    assert calls == [(10, 20), (20, 20)]
    calls.clear()
    WordCounts.from_corpus(["é"], progress=lambda *call: calls.append(call))
    assert calls == [(2, None)]
    WordCounts.from_corpus(path, progress=True)
    assert capsys.readouterr() == ("", ""), "stderr is not a terminal here"

    class Stopped(Exception):
        pass

    def stop(done, total):
        raise Stopped

    with pytest.raises(Stopped):
        WordCounts.from_corpus(path, progress=stop)


def test_bar_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    WordCounts.from_corpus(["some words"], progress=True)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "counting" in captured.err


# ----------------------------------------------------------------------------------------- container
def test_construction():
    counts = WordCounts([("low", 5), (b"low", 1), ("é", np.int64(2))], pattern="qwen2", special_tokens=[END])
    assert dict(counts.items()) == {b"low": 6, "é".encode(): 2}
    assert list(counts) == [b"low", "é".encode()]
    assert (len(counts), counts.total, counts.n_bytes) == (2, 8, 5)
    assert "low" in counts
    assert b"\xc3\xa9" in counts
    assert "no" not in counts
    assert 3 not in counts
    assert counts["é"] == counts[b"\xc3\xa9"] == 2
    with pytest.raises(KeyError, match="'no'"):
        counts["no"]
    assert counts == WordCounts({"é": 2, "low": 6}, pattern="qwen2", special_tokens=[END])
    assert counts != WordCounts({"é": 2, "low": 6}, special_tokens=[END])
    assert counts != WordCounts({"é": 2, "low": 6}, pattern="qwen2")
    assert counts != {b"low": 6}
    assert WordCounts(counts, pattern="qwen2", special_tokens=[END]) == counts
    assert "2 words, 8 in all" in repr(counts)
    with pytest.raises(TypeError):
        hash(counts)


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))])
def test_copies(clone):
    counts = WordCounts({"low": 5, b"\xff": 1}, pattern=[r"\d", "a"], special_tokens=[END])
    twin = clone(counts)
    assert twin == counts
    twin += twin
    assert (twin["low"], counts["low"]) == (10, 5)


@settings(deadline=None)
@given(documents, documents)
def test_adding(first, second):
    first, second = ["x", *first], ["x", *second]
    counts = WordCounts.from_corpus(first)
    counts += WordCounts.from_corpus(second)
    assert list(counts.items()) == list(WordCounts.from_corpus(first + second).items())


def test_adding_what_does_not_fit():
    counts = WordCounts({"a": 1})
    with pytest.raises(ValueError, match=r"different patterns.*gpt2.*qwen2"):
        counts += WordCounts({"a": 1}, pattern="qwen2")
    with pytest.raises(ValueError, match=r"different special tokens.*<\|end\|>"):
        counts += WordCounts({"a": 1}, special_tokens=[END])
    with pytest.raises(TypeError):
        counts += {"a": 1}
    assert dict(counts.items()) == {b"a": 1}


def test_overflow_changes_nothing():
    most = 2**63 - 1
    counts = WordCounts({"b": 1, "a": most})
    with pytest.raises(OverflowError, match="'a'"):
        counts += WordCounts({"b": 1, "a": 1})
    assert dict(counts.items()) == {b"b": 1, b"a": most}
    assert counts.total == most + 1
    with pytest.raises(OverflowError):
        WordCounts([("a", most), ("a", 1)])


@pytest.mark.parametrize(
    ("words", "kind", "message"),
    [
        ({"": 1}, ValueError, "empty"),
        ({"a": 0}, ValueError, "'a' must be at least 1, not 0"),
        ({"a": -1}, ValueError, "at least 1"),
        ({"a": 1.5}, TypeError, "integer, not float"),
        ({1: 1}, TypeError, "a word must be str or bytes"),
        ({f"a{END}": 1}, ValueError, r"holds the special token '<\|end\|>'"),
    ],
)
def test_wrong_words(words, kind, message):
    with pytest.raises(kind, match=message):
        WordCounts(words, special_tokens=[END])


def test_most_common():
    counts = WordCounts({"low": 5, "new": 6, "old": 5})
    assert counts.most_common() == [(b"new", 6), (b"low", 5), (b"old", 5)]
    assert counts.most_common(2) == [(b"new", 6), (b"low", 5)]
    assert counts.most_common(0) == []


def test_to_arrays():
    for words in ({}, {"low": 5}, {"é": 1, b"\xff\x00": 2**62, "a": 3}):
        counts = WordCounts(words)
        data, offsets, numbers = counts.to_arrays()
        assert (data.dtype, offsets.dtype, numbers.dtype) == (np.uint8, np.int64, np.int64)
        assert (data.size, offsets.size, numbers.size) == (counts.n_bytes, len(words) + 1, len(words))
        words = [bytes(data[start:stop]) for start, stop in pairwise(offsets)]
        assert dict(zip(words, numbers.tolist(), strict=True)) == dict(counts.items())
        data[:] = 0  # it is a copy
        assert list(counts) == words


# ------------------------------------------------------------------------------------ special tokens
def test_longest_special_first():
    tokens = frozenset(["<a>", "<a>b", "a"])
    assert list(split_special("<a>bc<a>ca", tokens)) == [
        (True, "<a>b"),
        (False, "c"),
        (True, "<a>"),
        (False, "c"),
        (True, "a"),
    ]
    assert find_special("c<a>b", tokens) == ("<a>b", 1)
    assert find_special("c", tokens) is None
    assert list(split_special("text", frozenset())) == [(False, "text")]
    assert list(split_special(".*", frozenset([".*", "x"]))) == [(True, ".*")]


@pytest.mark.parametrize(
    ("tokens", "kind", "message"),
    [
        (END, TypeError, r"in a list: write \['<\|end\|>'\]"),
        ([b"a"], TypeError, "special token 0 must be str"),
        (["a", ""], ValueError, "special token 1 is empty"),
        (["a", "b", "a"], ValueError, "'a' stands there twice"),
        (["\ud800"], ValueError, "surrogate"),
    ],
)
def test_wrong_specials(tokens, kind, message):
    with pytest.raises(kind, match=message):
        check_specials(tokens)
