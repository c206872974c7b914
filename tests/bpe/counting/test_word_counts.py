import copy
import io
import os
import pickle
import random
import struct
import subprocess
import sys
import time
import zlib
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe.corpus import Corpus
from bpe.counting import counts_file
from bpe.counting import file_format as kinds
from bpe.counting import pieces as counting
from bpe.counting.clusters import count_words
from bpe.counting.pieces import count_documents
from bpe.counting.word_counts import WordCounts
from bpe.splitting.special_search import SpecialSearch
from bpe.support.text import as_bytes, as_text
from bpe.vocabulary.vocabulary import check_specials

END = "<|end|>"
documents = st.lists(st.text("ab1 \n'é", max_size=30) | st.binary(max_size=10), max_size=5)


def split_special(text, tokens):
    """Yield (is_special, part): the longest token at each place, found the slow way."""
    place, start = 0, 0
    while place < len(text):
        token = max((t for t in tokens if text.startswith(t, place)), key=len, default=None)
        if token is None:
            place += 1
            continue
        if start < place:
            yield False, text[start:place]
        yield True, token
        place = start = place + len(token)
    if start < len(text):
        yield False, text[start:]


def count_slowly(corpus, pattern, specials=()):
    counts = Counter()
    for document in corpus:
        for is_special, part in split_special(as_text(document), frozenset(specials)):
            if not is_special:
                counts.update(map(as_bytes, bpe.split(pattern, part)))
    return counts


# --------------------------------------------------------------------------------------- from a corpus
@pytest.mark.parametrize("pattern", [*bpe.PATTERNS, r"\d"])
@settings(deadline=None)
@given(documents)
def test_from_documents(pattern, corpus):
    expected = count_slowly(corpus, pattern)
    if not expected:
        with pytest.raises(ValueError, match="the corpus is empty"):
            count_words(corpus, pattern)
        return
    counts = count_words(corpus, pattern)
    assert list(counts.items()) == list(expected.items()), "same order"
    assert counts.pattern == bpe.Pattern.of(pattern)


class InBlocks(Corpus):
    """A corpus that is read some bytes at a time."""

    block_bytes = 1

    def documents(self, advance):
        return super().documents(advance, block_bytes=self.block_bytes)


@settings(deadline=None, max_examples=50)
@given(
    st.text("ab1 \n'é!<|end>", max_size=200) | st.binary(max_size=50),
    st.sampled_from(list(bpe.PATTERNS)),
    st.integers(1, 40),
    st.integers(1, 40),
)
def test_from_a_file(tmp_path_factory, text, pattern, block_bytes, batch_bytes):
    path = tmp_path_factory.mktemp("corpus") / "text.txt"
    data = (text.encode() if isinstance(text, str) else text) + END.encode() + b"a b"
    path.write_bytes(data)
    corpus = InBlocks(path)
    corpus.block_bytes = block_bytes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bpe.counting.pieces.BATCH_BYTES", batch_bytes)
        counts = count_words(corpus, pattern, [END])
    assert list(counts.items()) == list(count_slowly([data], pattern, [END]).items())


@pytest.mark.filterwarnings("ignore:the split pattern cannot be compiled")
@settings(deadline=None)
@given(documents)
def test_patterns_that_cannot_be_compiled(corpus):
    pattern = r"(\w)\1|\w"
    assert not bpe.Pattern.of(pattern).compiled
    counts = count_words([*corpus, f"aab{END}ab"], pattern, [END])
    assert list(counts.items()) == list(count_slowly([*corpus, f"aab{END}ab"], pattern, [END]).items())


# Expressions for which pieces depend on all the text before them, or on the character before.
HOSTILE = ["(?s:.{3})|(?s:.)", "(?<=a)b+|(?s:.)", r"\d{1,2}", "(?s:a.*)"]


@pytest.mark.parametrize("pattern", [*bpe.PATTERNS, *HOSTILE])
@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.lists(st.text("ab 1\n'é<|end>").map(str.encode), min_size=1), max_size=8),
    st.integers(2, 4),
    st.integers(1, 100),
    st.booleans(),
)
def test_threads_change_nothing(pattern, documents, threads, batch_bytes, with_special):
    specials = [END] if with_special else []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bpe.counting.pieces.BATCH_BYTES", batch_bytes)
        patch.setattr("bpe.counting.pieces._FIRST_BRIDGE", 4)
        counter = count_documents(documents, bpe.Pattern.of(pattern), frozenset(specials), threads)
    expected = count_slowly([b"".join(document) for document in documents], pattern, specials)
    assert list(counter.items()) == list(expected.items())


def counts_of(documents, pattern, threads, batch_bytes, bridge=256):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bpe.counting.pieces.BATCH_BYTES", batch_bytes)
        patch.setattr("bpe.counting.pieces._FIRST_BRIDGE", bridge)
        counter = count_documents(documents, bpe.Pattern.of(pattern), frozenset(), threads)
    return list(counter.items())


@pytest.mark.parametrize("batch_bytes", [500, 3000])
def test_a_bridge_between_parts_does_not_end_a_piece(batch_bytes):
    """The last part starts at the second of two digits: no piece of its own is right, up to its end."""
    text = bytes(random.Random(4).choices(b"0123456789", k=30_010))
    expected = list(count_slowly([text], r"\d{1,2}|\D").items())
    for threads in (1, 3):
        assert counts_of([[text]], r"\d{1,2}|\D", threads, batch_bytes) == expected


def test_a_pattern_may_look_at_the_whole_character_before_a_batch():
    pattern = r"(?<=[é€😀])b+|(?s:.)"
    assert bpe.Pattern.of(pattern).compiled
    text = "ébb€bbb😀bb bb" * 8
    expected = list(count_slowly([text], pattern).items())
    for batch_bytes in range(1, 30):
        blocks = [text.encode()[i : i + batch_bytes] for i in range(0, len(text.encode()), batch_bytes)]
        assert counts_of([blocks], pattern, 1, batch_bytes) == expected


@pytest.mark.parametrize(
    ("threads", "way"), [(1, "_count_batches"), (2, "_count_batches"), (3, "_count_batches_in_threads")]
)
def test_which_way_is_taken(monkeypatch, threads, way):
    ways = []
    for name in ("_count_batches", "_count_batches_in_threads"):
        function = getattr(counting, name)
        monkeypatch.setattr(counting, name, lambda *a, f=function, n=name: ways.append((n, a[-1])) or f(*a))
    counter = count_documents([[b"one one"]], bpe.Pattern.of("gpt2"), frozenset(), threads)
    assert list(counter.items()) == [(b"one", 1), (b" one", 1)]
    assert ways == [(way, threads)]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_an_error_while_threads_work(threads):
    def documents():
        yield from [[b"some text" * 1_000_000]] * 2
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        count_documents(documents(), bpe.Pattern.of("gpt2"), frozenset(), threads)


def test_number_of_threads():
    for threads in (2, np.int8(3)):
        assert count_words(["a"], threads=threads) == WordCounts({"a": 1})
    with pytest.raises(ValueError, match="threads must be at least 1"):
        count_words(["a"], threads=0)


def test_specials_are_neither_counted_nor_crossed():
    counts = count_words([f"one{END}one{END}{END} {END}"], special_tokens=[END])
    assert dict(counts.items()) == {b"one": 2, b" ": 1}
    assert counts.special_tokens == (END,)


def test_empty_corpora(tmp_path):
    path = tmp_path / "empty.txt"
    path.touch()
    for corpus in (path, [path], [], [path, b""], iter([])):
        with pytest.raises(ValueError, match="the corpus is empty"):
            count_words(corpus)
    with pytest.raises(ValueError, match=r"empty\.txt"):
        count_words(path)
    with pytest.raises(ValueError, match="there is no text, or only special tokens"):
        count_words([END], special_tokens=[END])


def test_arguments_are_checked_before_reading():
    for wrong in ({"pattern": "nonsense"}, {"special_tokens": [""]}):
        with pytest.raises(ValueError, match=r"unknown pattern|empty"):
            count_words(iter(range(0)), **wrong)
    with pytest.raises(TypeError, match="in a list"):
        count_words("text.txt")
    with pytest.raises(TypeError, match="progress"):
        count_words(["a"], progress="yes")


def test_progress(tmp_path, capsys):
    path = tmp_path / "text.txt"
    path.write_bytes(b"some words")
    calls = []
    count_words([path, path], progress=lambda *call: calls.append(call))
    assert calls == [(10, 20), (20, 20)]
    calls.clear()
    count_words(["é"], progress=lambda *call: calls.append(call))
    assert calls == [(2, None)]
    count_words(path, progress=True)
    assert capsys.readouterr() == ("", ""), "stderr is not a terminal here"

    class Stopped(Exception):
        pass

    def stop(done, total):
        raise Stopped

    with pytest.raises(Stopped):
        count_words(path, progress=stop)


def test_bar_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    count_words(["some words"], progress=True)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "counting" in captured.err


PEAK = """
import resource, sys
from pathlib import Path
from bpe import count_words
peaks = []
for path in sys.argv[1:]:
    count_words(Path(path), special_tokens=["<|end|>"], threads=2)
    peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
print(peaks[1] - peaks[0])
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="sizes in kilobytes")
def test_memory_does_not_grow_with_the_corpus(tmp_path, book):
    small, large = tmp_path / "small.txt", tmp_path / "large.txt"
    text = f"{book}<|end|>" * 10
    small.write_text(text * 20)
    large.write_text(text * 100)  # 100 MB
    environment = {**os.environ, "PYTHONPATH": str(Path(bpe.__file__).resolve().parent.parent)}
    done = subprocess.run(
        [sys.executable, "-c", PEAK, small, large],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) < 30_000


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


def test_pickles_name_the_public_class():
    for protocol in (2, 5):
        data = pickle.dumps(WordCounts({"low": 5}), protocol)
        assert b"bpe.counting" not in data
        assert dict(pickle.loads(data).items()) == {b"low": 5}
    assert bpe.Trainer.__module__ == bpe.WordCounts.__module__ == "bpe"


@settings(deadline=None)
@given(documents, documents)
def test_adding(first, second):
    first, second = ["x", *first], ["x", *second]
    counts = count_words(first)
    counts += count_words(second)
    assert list(counts.items()) == list(count_words(first + second).items())


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


def test_items_is_a_view():
    counts = WordCounts({"low": 5})
    items = counts.items()
    counts.add("new")
    assert len(items) == 2
    assert (b"new", 1) in items
    assert list(items) == [(b"low", 5), (b"new", 1)]


# ------------------------------------------------------------------------------------------- changes
def test_add():
    counts = WordCounts({"low": 5}, special_tokens=[END])
    counts.add("low")
    counts.add("é", np.int64(3))
    assert dict(counts.items()) == {b"low": 6, "é".encode(): 3}
    for word, n, kind in [("", 1, ValueError), (END, 1, ValueError), ("a", 0, ValueError), (1, 1, TypeError)]:
        with pytest.raises(kind):
            counts.add(word, n)
    with pytest.raises(OverflowError):
        counts.add("low", 2**63 - 1)
    assert dict(counts.items()) == {b"low": 6, "é".encode(): 3}


def test_sum():
    first, second = WordCounts({"low": 5}), WordCounts({"new": 1, "low": 2})
    assert list((first + second).items()) == [(b"low", 7), (b"new", 1)]
    assert dict(first.items()) == {b"low": 5}
    with pytest.raises(ValueError, match="patterns"):
        first + WordCounts({"low": 1}, pattern="o200k")
    with pytest.raises(TypeError):
        first + {}


@given(
    st.lists(st.integers(1, 2**62), min_size=1, max_size=5),
    st.fractions(min_value=Fraction(1, 10**9), max_value=1)
    | st.integers(1, 2)
    | st.floats(1e-300, 1.9, exclude_min=True),
)
def test_scale(numbers, factor):
    counts = WordCounts({f"w{i}": number for i, number in enumerate(numbers)})
    exact = Fraction(str(factor)) if isinstance(factor, float) else Fraction(factor)
    if max(numbers) * exact > 2**63 - 1:
        with pytest.raises(OverflowError):
            counts.scale(factor)
        return
    scaled = counts.scale(factor)
    assert [count for _, count in scaled.items()] == [max(1, int(number * exact)) for number in numbers]
    assert list(scaled) == list(counts)
    assert [count for _, count in counts.items()] == numbers


def test_scale_by_what():
    counts = WordCounts({"low": 10, "new": 1}, pattern="o200k", special_tokens=[END])
    assert counts.scale(0.3) == WordCounts({"low": 3, "new": 1}, pattern="o200k", special_tokens=[END])
    assert counts.scale(np.float64(0.3)) == counts.scale(0.3)
    for factor in (0, -1, float("nan"), float("inf"), Fraction(-1, 2)):
        with pytest.raises(ValueError, match="above 0"):
            counts.scale(factor)
    for factor in ("2", None, True, 1j):
        with pytest.raises(TypeError, match="must be an int, a float or a Fraction"):
            counts.scale(factor)
    with pytest.raises(OverflowError, match=r"b'low' times 9\d+ passes"):
        counts.scale(9 * 10**18)


@given(st.dictionaries(st.binary(min_size=1, max_size=20), st.integers(1, 5)), st.integers(-1, 6))
def test_filter_and_prune(words, least):
    counts = WordCounts(words, pattern="o200k")
    pruned = counts.prune(least)
    assert list(pruned.items()) == [(word, count) for word, count in words.items() if count >= least]
    assert pruned.pattern == counts.pattern
    long = counts.filter(lambda word, count: len(word) > 3 and count > 1)
    assert list(long.items()) == [item for item in words.items() if len(item[0]) > 3 and item[1] > 1]
    assert list(counts.items()) == list(words.items())


def test_train_from_counts_of_any_make():
    words = {"low": 5, "lower": 2, "newest": 6}
    expected = bpe.train(WordCounts(words), vocab_size=262)
    assert expected.vocab_size == 262
    assert bpe.train(WordCounts(words.items()), vocab_size=262) == expected
    assert bpe.train(WordCounts(words).scale(2).prune(2).filter(lambda *_: True), vocab_size=262) == expected


# --------------------------------------------------------------------------------------------- files
PATTERNS = ["gpt2", r"\w+", [r"\d", "a"]]
# Words with many lengths, and counts of all widths.
WORDS = st.dictionaries(
    st.binary(min_size=1, max_size=20) | st.just(b"x" * 300), st.integers(1, 300) | st.integers(1, 2**63 - 1)
)


@settings(deadline=None)
@given(WORDS, st.sampled_from(PATTERNS), st.sampled_from([[], ["<|end|>"], ["é", "b" * 50]]))
def test_save_and_load(tmp_path_factory, words, pattern, specials):
    path = tmp_path_factory.getbasetemp() / "words.counts"
    words = {word: count for word, count in words.items() if "é".encode() not in word}
    counts = WordCounts(words, pattern=pattern, special_tokens=specials)
    counts.save(path)
    loaded = WordCounts.load(path)
    assert loaded == counts
    assert list(loaded.items()) == list(words.items())
    loaded._counter._check()


def content_of(counts):
    return counts_file.dump(*counts.to_arrays(), counts.pattern, counts.special_tokens)


@pytest.fixture(scope="module")
def content():
    words = {f"word {i}": i * i + 1 for i in range(60)}
    return content_of(WordCounts(words, pattern=[r"\w+"], special_tokens=[END]))


def mutation(data, random):
    data = bytearray(data)
    for _ in range(random.choice([1, 1, 1, 3])):
        at = random.randrange(len(data) + 1)
        match random.randrange(5):
            case 0:
                data[at : at + 1] = bytes([random.randrange(256)])
            case 1:
                del data[at : at + random.randrange(1, 20)]
            case 2:
                data[at:at] = random.randbytes(random.randrange(1, 20))
            case 3:
                del data[at:]
            case 4:
                data[at : at + 8] = random.choice([b"\xff" * 8, bytes(8), b"9" * 8, b"[" * 8])
    return bytes(data)


@pytest.mark.parametrize("is_signed", [False, True])
def test_damaged_files(content, is_signed):
    """With a right checksum, everything else is checked, and counts that are read are whole."""
    chance = random.Random(1)
    n_errors = 0
    for _ in range(1000):
        data = mutation(content, chance)
        if is_signed and len(data) > 4:
            data = data[:-4] + struct.pack("<I", zlib.crc32(data[:-4]))
        try:
            counter, _, specials = counts_file.read(io.BytesIO(data))
        except ValueError:
            n_errors += 1
        else:
            assert is_signed or data == content
            counter._check()
            assert all(count > 0 for _, count in counter.items())
            assert not any(special.encode() in word for word in counter for special in specials)
    assert n_errors > 300


def signed(header, body=b""):
    data = struct.pack("<8sII", kinds.WORDS, 1, len(header)) + header + body
    return data + struct.pack("<I", zlib.crc32(data))


HEADER = (
    b'{"pattern": "gpt2", "unicode": "1", "special_tokens": ["<|end|>"], "n_words": %d, '
    b'"n_bytes": %d, "count_bytes": %d, "length_bytes": 1}'
)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a file of word counts: it begins with"),
        (b"some text that is long enough", "not a file of word counts: it begins with"),
        (kinds.WORDS[:5], "cut off at byte 5"),
        (signed(b"{}").replace(b"\1", b"\2", 1), "version 2 at byte 8"),
        (signed(b"{}"), "the header at byte 16 is not valid: .* is not a size"),
        (signed(b"{"), "the header at byte 16 is not valid: not JSON"),
        (signed(b"[" * 100_000), "not valid: not JSON"),
        (signed(b"9" * 10_000), "not valid: not (JSON|a JSON object)"),
        (signed(b"[]"), "not valid: not a JSON object"),
        (signed(HEADER % (10**18, 10**18, 8)), r"cut off at byte \d+ of \d+"),
        (signed(HEADER % (10**4000, 1, 8)), "cut off|not JSON"),
        (signed(HEADER % (1, 2, 3), b"\1\2ab"), '"count_bytes" is not one of'),
        (signed(HEADER % (1, 2, 1), b"\1\2abc"), "1 extra bytes from byte"),
        (signed(HEADER % (1, 2, 1), b"\0\2ab"), r"the count at byte \d+ is out of range"),
        (signed(HEADER % (1, 2, 8), b"\xff" * 8 + b"\2ab"), r"the count at byte \d+ is out of range"),
        (signed(HEADER % (2, 2, 1), b"\1\1\2\0ab"), r"the length at byte \d+ is out of range"),
        (signed(HEADER % (1, 2, 1), b"\1\3ab"), r"do not add up to the 2 bytes from byte \d+"),
        (signed(HEADER % (2, 2, 1), b"\1\1\1\1aa"), "a word occurs twice"),
        (signed(HEADER % (1, 8, 1), b"\1\x08a<|end|>"), r"word 0 holds the special token '<\|end\|>'"),
        (signed(HEADER.replace(b"gpt2", b"(") % (0, 0, 1)), "invalid regular expression"),
        (signed(HEADER.replace(b"<|end|>", b"") % (0, 0, 1)), "special token 0 is empty"),
        (signed(HEADER.replace(b'"gpt2"', b"[]") % (0, 0, 1)), "expression"),
        (signed(HEADER.replace(b'"gpt2"', b"3") % (0, 0, 1)), '"pattern" is neither a name'),
        (signed(HEADER.replace(b'"1"', b"1") % (0, 0, 1)), '"unicode"'),
        (signed(HEADER.replace(b'["<|end|>"]', b"[1]") % (0, 0, 1)), '"special_tokens"'),
        (signed(HEADER % (1, 2, 1), b"\1\2ab")[:-1] + b"x", r"damaged: the checksum at byte"),
    ],
)
def test_what_is_wrong_with_a_file(tmp_path, data, message):
    path = tmp_path / "words.counts"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=rf"words\.counts: .*({message})"):
        WordCounts.load(path)


def test_a_special_token_may_lie_across_words(tmp_path):
    counts = WordCounts({"a<|en": 1, "d|>": 2}, special_tokens=[END])
    counts.save(tmp_path / "words.counts")
    assert WordCounts.load(tmp_path / "words.counts") == counts


def test_files_of_other_kinds(tmp_path):
    with pytest.raises(FileNotFoundError):
        WordCounts.load(tmp_path / "missing.counts")
    with pytest.raises(IsADirectoryError):
        WordCounts.load(tmp_path)
    with pytest.raises(FileNotFoundError, match="no such folder"):
        WordCounts({"a": 1}).save(tmp_path / "no" / "words.counts")


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no endless file")
def test_endless_files():
    with pytest.raises(ValueError, match="not a file of word counts"):
        WordCounts.load("/dev/zero")


# ------------------------------------------------------------------------------------ special tokens
def test_longest_special_first():
    tokens = frozenset(["<a>", "<a>b", "a"])
    assert SpecialSearch(tokens).split(b"<a>bc<a>ca") == [b"", b"<a>b", b"c", b"<a>", b"c", b"a", b""]
    assert list(SpecialSearch(tokens).find_all(b"c<a>b")) == [(1, 5)]
    assert list(SpecialSearch(tokens).find_all(b"c")) == []
    assert SpecialSearch(frozenset()).split(b"text") == [b"text"]
    assert SpecialSearch(frozenset([".*", "x"])).split(b".*") == [b"", b".*", b""]


@settings(deadline=None)
@given(
    text=st.text("ab<>", max_size=12),
    tokens=st.frozensets(st.text("ab<>", min_size=1, max_size=4), max_size=4),
)
def test_special_tokens_are_found_as_the_slow_search_finds_them(text, tokens):
    search, data = SpecialSearch(tokens), text.encode()
    slow = list(split_special(text, tokens))
    assert [part.decode() for part in search.split(data)[1::2]] == [
        part for is_token, part in slow if is_token
    ]
    assert b"".join(search.split(data)) == data
    crossed = search.crossed(data)
    for place in range(len(data) + 1):
        across = any(
            data.startswith(token.encode(), start) and start < place < start + len(token)
            for token in tokens
            for start in range(len(data))
        )
        assert crossed[place] == across


@pytest.mark.parametrize(
    ("tokens", "kind", "message"),
    [
        (END, TypeError, r"in a list: write \['<\|end\|>'\]"),
        ([b"a"], TypeError, "special token 0 must be str"),
        (["a", ""], ValueError, "special token 1 is empty"),
        (["a", "b", "a"], ValueError, "duplicate special token 'a'"),
        (["\ud800"], ValueError, "surrogate"),
    ],
)
def test_wrong_specials(tokens, kind, message):
    with pytest.raises(kind, match=message):
        check_specials(tokens)


@pytest.mark.parametrize(
    "expression", [r"(?<=a)bc|(?s:.)", r"(?<!a)bc|(?s:.)", r"\Bbc|(?s:.)", r"^bc|(?s:.)"]
)
def test_a_piece_does_not_look_at_the_document_before(expression, monkeypatch):
    """Where a batch ends at the end of a document, and all of it is known."""
    monkeypatch.setattr(counting, "BATCH_BYTES", 1)
    pattern = bpe.Pattern.of(expression)
    counter = count_documents([[b"a"], [b"bc"]], pattern, frozenset())
    assert dict(counter.items()) == dict.fromkeys(pattern.split_bytes(b"a") + pattern.split_bytes(b"bc"), 1)


def test_offsets_stay_until_they_are_counted(book, monkeypatch):
    """Counting that lags behind cutting gives the same counts."""
    expected = dict(count_words([book[:60_000]], threads=1).items())
    count = counting._count_pieces

    def late(*arguments):
        time.sleep(0.01)
        count(*arguments)

    monkeypatch.setattr(counting, "BATCH_BYTES", 500)
    monkeypatch.setattr(counting, "_count_pieces", late)
    assert dict(count_words([book[:60_000]], threads=3).items()) == expected
