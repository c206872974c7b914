"""Counts of runs: they add up, are files, and train what one text in memory does; weights, clusters."""

import copy
import io
import os
import pickle
import random
import struct
import zlib
from collections import Counter
from functools import cache, reduce
from itertools import pairwise
from operator import add, iadd

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe import reference
from bpe.cli import main
from bpe.corpus import Corpus
from bpe.corpus.parts import parts_of
from bpe.counting import file_format as kinds
from bpe.counting.weights import UNIT
from bpe.splitting.boundaries import cut_inside
from bpe.splitting.special_search import SpecialSearch
from bpe.superwords import boundless, counted_runs, piece_ids, runs_file
from bpe.superwords.counted_runs import _count_runs_of_part
from bpe.superwords.run_counts import PARTS, cut_between_runs, joins
from bpe.support import files as atomic_files
from tests.optional import optional

dask = optional("dask")
distributed = optional("distributed")

SPECIAL = "<|x|>"
SONG = "by the way, of the sea, by the way of the sea\nof the way by the sea 1234 by the way.\n"
RULES = {"superwords": bpe.Boundless()}
words = st.sampled_from(["ab", " ab", " c", " ab c", SPECIAL, "é", "..", "\n"])
texts = st.lists(
    st.one_of(st.text("aab  c.\n1", max_size=20), st.lists(words, max_size=14).map("".join)),
    min_size=1,
    max_size=4,
).filter(lambda each: any(text.replace(SPECIAL, "") for text in each))
patterns = st.sampled_from(["gpt2", "[a-b]", "(?<=b)a|b|c|."])


def documents_of(each, pattern="gpt2"):
    """Return the pieces of each document, and of each part between special tokens."""
    cut = bpe.Pattern.of(pattern).split_bytes
    return [cut(part.encode()) for text in each for part in text.split(SPECIAL)]


def has_letter(piece):
    return any(letter.isalpha() for letter in piece.decode(errors="replace"))


def slow_runs(each, pattern="gpt2", may_join=has_letter):
    found = Counter()
    for document in documents_of(each, pattern):
        found.update(map(tuple, reference.superwords.runs_of(document, may_join)))
    return found


def parts_of_tokenizer(tok):
    """Return the merges and the supermerges of a tokenizer, in bytes."""
    pairs, n = tok.merges_bytes, tok.engine.vocabulary.n_super
    return pairs[: len(pairs) - n], pairs[len(pairs) - n :]


def slow_tokenizer(each, n_merges, pattern="gpt2", **rules):
    merges, supermerges = reference.train_boundless(
        documents_of(each, pattern), n_merges, has_letter, **rules
    )
    token_bytes = reference.vocabulary([merge.pair for merge in merges])
    return (
        [(token_bytes[merge.left], token_bytes[merge.right]) for merge in merges],
        [merge[:2] for merge in supermerges],
    )


# --------------------------------------------------------------------------------------------------- counting
@given(texts, patterns, st.integers(1, 9))
@settings(max_examples=60)
def test_runs_are_those_of_the_reference(each, pattern, batch_bytes):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(piece_ids, "_BATCH_BYTES", batch_bytes)
        counts = bpe.count_runs(each, pattern, [SPECIAL])
    assert dict(counts) == slow_runs(each, pattern)
    assert list(counts.words.items()) == list(bpe.count_words(each, pattern, [SPECIAL]).items())
    some = bpe.count_runs(each, pattern, [SPECIAL], parts="^ ?a")
    assert dict(some) == slow_runs(each, pattern, lambda piece: piece.lstrip(b" ")[:1] == b"a")


@given(texts, texts, texts, patterns)
@settings(max_examples=40)
def test_counts_of_parts_are_those_of_the_whole_in_the_same_order(one, two, three, pattern):
    each = [bpe.count_runs(part, pattern, [SPECIAL]) for part in (one, two, three)]
    before = [list(counts) for counts in each]
    whole = bpe.count_runs(one + two + three, pattern, [SPECIAL])
    for total in (each[0] + each[1] + each[2], each[0] + (each[1] + each[2])):
        assert list(total) == list(whole)
        assert list(total.words.items()) == list(whole.words.items())
        assert total == whole == each[2] + each[1] + each[0]
    assert [list(counts) for counts in each] == before
    twice = copy.copy(whole)
    twice += twice
    assert dict(twice) == {run: 2 * count for run, count in whole}
    assert (twice == whole) == (not len(whole.words))


@given(
    texts,
    texts,
    st.integers(1, 40),
    patterns,
    st.sampled_from([{}, {}, {"min_count": 2}, {"max_token_length": 5}, {"ties": "lexicographic"}]),
)
@settings(max_examples=60)
def test_files_that_are_added_train_what_one_text_in_memory_does(
    tmp_path_factory, one, two, n_merges, pattern, rules
):
    folder = tmp_path_factory.getbasetemp()
    for name, part in (("one", one), ("two", two)):
        bpe.count_runs(part, pattern, [SPECIAL]).save(folder / f"{name}.runs")
    one_file, two_file = (bpe.RunCounts.load(folder / f"{name}.runs") for name in ("one", "two"))
    tok = bpe.train(one_file + two_file, 257 + n_merges, **RULES, **rules)
    assert parts_of_tokenizer(tok) == slow_tokenizer(one + two, n_merges, pattern, **rules)
    options = {"pattern": pattern, "special_tokens": [SPECIAL], **RULES, **rules}
    assert tok == bpe.train(one + two, 257 + n_merges, threads=2, **options)
    assert tok == bpe.train({"2": two_file, "1": one_file}, 257 + n_merges, **RULES, **rules)


def test_training_takes_the_runs_of_the_counts_not_of_a_text(monkeypatch):
    counts = bpe.count_runs([SONG * 3])
    expected = bpe.train([SONG * 3], 320, **RULES)
    assert expected.engine.vocabulary.n_super
    monkeypatch.setattr(piece_ids, "piece_ids", None)
    assert bpe.train(counts, 320, **RULES) == expected


def test_the_greatest_counts_are_cut_at_rare_pairs(monkeypatch):
    """What cannot be merged is left out before anything is learned."""
    seen = []
    learner = boundless.Supermerges
    monkeypatch.setattr(boundless, "Supermerges", lambda runs, *a: seen.append(runs) or learner(runs, *a))
    counts = bpe.count_runs(["by the way " * 50 + "of the sea "])
    bpe.train(counts, 262, **RULES)
    assert len(seen[0].tokens) < len(counts.rows().tokens)


@given(texts, st.integers(1, 4))
@settings(max_examples=40)
def test_pruned_counts_train_the_same_where_merges_count_enough(each, least):
    counts = bpe.count_runs(each, special_tokens=[SPECIAL])
    pruned = counts.prune(least)
    assert pruned.words == counts.words
    pairs = Counter()
    for run, count in counts:
        for pair in pairwise(run):
            pairs[pair] += count
    assert all(pairs[pair] >= least for run, _ in pruned for pair in pairwise(run))
    tok = bpe.train(counts, 300, min_count=least, **RULES)
    assert tok == bpe.train(pruned, 300, min_count=least, **RULES)


def test_a_long_run_in_many_batches(monkeypatch):
    monkeypatch.setattr(piece_ids, "_BATCH_BYTES", 100)
    counts = bpe.count_runs(["by the way " * 1000])
    assert [len(run) for run, _ in counts] == [3000]


def test_what_counts_say_of_themselves():
    counts = bpe.count_runs(["of the sea, of the sea", SPECIAL], "o200k", [SPECIAL], parts="[a-z]")
    assert (counts.pattern.name, counts.special_tokens, counts.parts) == ("o200k", (SPECIAL,), "[a-z]")
    assert repr(counts) == "<RunCounts of 2 runs of 5 words, pattern 'o200k'>"
    assert pickle.loads(pickle.dumps(counts)) == copy.deepcopy(counts) == counts
    assert counts != counts.prune(2)
    assert counts != counts.words
    counts.words.add("more")  # a copy
    assert "more" not in counts.words
    for other in (3, counts.words):
        with pytest.raises(TypeError):
            counts + other
        with pytest.raises(TypeError):
            counts += other
    with pytest.raises(TypeError, match="RunCounts cannot be constructed: count a text"):
        bpe.RunCounts()
    with pytest.raises(ValueError, match="the corpus is empty: there is no text"):
        bpe.count_runs([SPECIAL], special_tokens=[SPECIAL])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pattern": "o200k"}, "counts with different patterns cannot be added: .*gpt2.*o200k"),
        ({"special_tokens": ["<y>"]}, "counts with different special tokens cannot be added"),
        ({"parts": "a"}, r"counts with different parts cannot be added: '\\\\p\{L\}' and 'a'"),
    ],
)
def test_counts_of_different_rules_are_not_added(options, message):
    counts = bpe.count_runs(["of the sea"])
    with pytest.raises(ValueError, match=message):
        counts += bpe.count_runs(["of the sea"], **options)
    assert counts == bpe.count_runs(["of the sea"])
    with pytest.raises(
        ValueError, match=r"sources 'a' and 'b' have different (patterns|special tokens|parts)"
    ):
        bpe.train({"a": counts, "b": bpe.count_runs(["of the sea"], **options)}, 300, **RULES)


@cache
def of_the_sea():
    return bpe.count_runs(["of the sea"])


@pytest.mark.parametrize(
    ("source", "options", "error", "message"),
    [
        (of_the_sea, {}, ValueError, r"are for superwords=bpe.Boundless\(\), not for superwords=None"),
        (of_the_sea, {"superwords": bpe.SuperBPE(1)}, ValueError, "not for superwords=SuperBPE"),
        (of_the_sea, {"superwords": bpe.Boundless("a")}, ValueError, "were counted with parts=.*: omit"),
        (of_the_sea, {**RULES, "pattern": "o200k"}, ValueError, "have their own pattern and special tokens"),
        (of_the_sea, {**RULES, "special_tokens": ["a"]}, ValueError, "have their own pattern and special"),
        (of_the_sea, {**RULES, "weights": {"a": 1}}, ValueError, "weights are for sources with names"),
        (of_the_sea, {**RULES, "limit_alphabet": 256}, ValueError, "from all bytes: omit limit_alphabet"),
        (of_the_sea, {**RULES, "keep": print}, ValueError, "bpe.Boundless does not support keep"),
        (
            lambda: of_the_sea().words,
            RULES,
            ValueError,
            r"the text itself, not from WordCounts; bpe.Boundless\(\) also from RunCounts",
        ),
        (
            lambda: {"a": of_the_sea(), "b": of_the_sea().words},
            RULES,
            TypeError,
            "source 'b' must be RunCounts, .* not WordCounts",
        ),
        (
            lambda: {"a": of_the_sea().words, "b": of_the_sea()},
            {},
            TypeError,
            "source 'b' must be WordCounts, not RunCounts",
        ),
        (
            lambda: {"a": of_the_sea()},
            {**RULES, "weights": {"b": 1}},
            ValueError,
            "weight for 'b', which is not a source",
        ),
    ],
)
def test_what_cannot_be_trained(source, options, error, message):
    with pytest.raises(error, match=message):
        bpe.train(source(), 300, **options)


def test_wrong_parts():
    with pytest.raises(ValueError, match=r"parts: invalid .*: unterminated"):
        bpe.count_runs(["a"], parts="[")


# ---------------------------------------------------------------------------------------------------- weights
@given(
    texts,
    texts,
    st.tuples(st.integers(1, 9), st.integers(1, 9)),
    st.integers(1, 30),
    st.sampled_from([1, 1, 2]),
)
@settings(max_examples=40)
def test_weights_hold_for_words_and_runs(one, two, quarters, n_merges, min_count):
    documents = [documents_of(each) for each in (one, two)]
    times = [n for each, n in zip(documents, quarters, strict=True) for _ in each]
    least = {"min_count": 4 * min_count} if min_count > 1 else {}
    merges, supermerges = reference.train_boundless(
        reduce(iadd, documents, []), n_merges, has_letter, document_counts=times, **least
    )
    sources = {
        name: bpe.count_runs(each, special_tokens=[SPECIAL]) for name, each in (("one", one), ("two", two))
    }
    weights = {name: n / 4 for name, n in zip(sources, quarters, strict=True)}
    tok = bpe.train(sources, 257 + n_merges, weights=weights, min_count=min_count, **RULES)
    assert list(parts_of_tokenizer(tok)[1]) == [merge[:2] for merge in supermerges]
    assert len(parts_of_tokenizer(tok)[0]) == len(merges)
    backwards = dict(reversed(sources.items()))
    assert bpe.train(backwards, 257 + n_merges, weights=weights, min_count=min_count, **RULES) == tok


@pytest.mark.parametrize("min_count", [1, 2])
def test_weights_of_a_half_and_three_tenths(min_count):
    """Not exact in binary: the reference counts in units of 1 / UNIT, too."""
    english, german = ["of the sea, by the way of the sea"] * 5, ["auf der See, auf dem Weg der See"] * 8
    documents = [documents_of(each) for each in (english, german)]
    factors = [round(0.5 * UNIT), round(0.3 * UNIT)]
    assert factors == [UNIT // 2, 314573]
    times = [factor for each, factor in zip(documents, factors, strict=True) for _ in each]
    least = {"min_count": min_count * UNIT} if min_count > 1 else {}
    sources = {"en": bpe.count_runs(english), "de": bpe.count_runs(german)}
    for n_merges in (10, 30, 60):
        merges, supermerges = reference.train_boundless(
            reduce(iadd, documents, []), n_merges, has_letter, document_counts=times, **least
        )
        weights = {"en": 0.5, "de": 0.3}
        tok = bpe.train(sources, 256 + n_merges, weights=weights, min_count=min_count, **RULES)
        token_bytes = reference.vocabulary([merge.pair for merge in merges])
        expected = [(token_bytes[merge.left], token_bytes[merge.right]) for merge in merges]
        assert parts_of_tokenizer(tok) == (expected, [merge[:2] for merge in supermerges])
        assert supermerges or n_merges == 10


def test_weights_of_one_and_of_nothing():
    sources = {"song": bpe.count_runs([SONG]), "more": bpe.count_runs(["by the sea " * 9])}
    whole = bpe.train(sources["song"] + sources["more"], 320, **RULES)
    for weights in (None, {"song": 1, "more": 1.0}):
        assert bpe.train(sources, 320, weights=weights, **RULES) == whole
    alone = bpe.train(sources["song"], 320, **RULES)
    assert bpe.train(sources, 320, weights={"song": 0.25, "more": 0}, **RULES) == alone


def with_words_counting(counts, n):
    """Return counts whose words and runs count n times as much."""
    tokens, offsets, numbers = counts.rows()
    runs = type(counts._runs).from_arrays(tokens.view("u1"), offsets * 4, numbers * n)
    return bpe.RunCounts._of_parts(counts.words.scale(n), runs, counts.parts)


def test_counts_that_leave_int64_are_refused():
    large = with_words_counting(of_the_sea(), 2**43 - 1)
    assert bpe.train({"x": large}, 270, weights={"x": 1}, **RULES) == bpe.train(of_the_sea(), 270, **RULES)
    with pytest.raises(OverflowError, match=r"a count of source 'x' times 1.5 passes 2\*\*63 - 1"):
        bpe.train({"x": large}, 300, weights={"x": 1.5}, **RULES)
    with pytest.raises(OverflowError, match="a weighted count passes"):
        bpe.train({"x": large, "y": large}, 300, weights={"x": 1, "y": 1}, **RULES)
    larger = with_words_counting(of_the_sea(), 2**62)
    before = list(larger)
    with pytest.raises(OverflowError, match="of"):
        larger += larger
    assert list(larger) == before


# ------------------------------------------------------------------------------------------------------ files
@given(texts, patterns, st.sampled_from([(), (SPECIAL,), ("é", "zz")]))
@settings(max_examples=40)
def test_save_and_load(tmp_path_factory, each, pattern, specials):
    path = tmp_path_factory.getbasetemp() / "some.runs"
    counts = bpe.count_runs([*each, "zzz"], pattern, specials)
    counts.save(path)
    loaded = bpe.RunCounts.load(path)
    assert loaded == counts
    assert list(loaded) == list(counts)
    assert list(loaded.words.items()) == list(counts.words.items())
    assert (loaded.pattern, loaded.special_tokens, loaded.parts) == (pattern, tuple(specials), PARTS) or (
        loaded.pattern == counts.pattern
    )
    loaded._runs._check()


def content_of(counts):
    rules = counts.words._counter, counts._runs, counts.pattern, counts.special_tokens, counts.parts
    return runs_file.dump(runs_file.Counted(*rules))


def signed(data):
    return data + struct.pack("<I", zlib.crc32(data))


@pytest.mark.parametrize("is_signed", [False, True])
def test_damaged_files(is_signed):
    """With a right checksum, everything else is checked, and counts that are read fit each other."""
    content, chance, n_errors = (
        content_of(bpe.count_runs([SONG] * 3, special_tokens=[SPECIAL])),
        random.Random(1),
        0,
    )
    for _ in range(600):
        data = bytearray(content)
        for _ in range(chance.choice([1, 1, 3])):
            at = chance.randrange(len(data) + 1)
            data[at : at + chance.randrange(9)] = chance.randbytes(chance.randrange(9))
        data = bytes(data)
        if is_signed and len(data) > 4:
            data = signed(data[:-4])
        try:
            words, runs, *_ = runs_file.read(io.BytesIO(data))
        except ValueError:
            n_errors += 1
        else:
            assert is_signed or data == content
            runs._check()
            uses, tokens = Counter(), runs_file.unpacked_runs(runs)
            for i, count in enumerate(tokens.counts.tolist()):
                for number in tokens.tokens[tokens.offsets[i] : tokens.offsets[i + 1]].tolist():
                    uses[number] += count
            assert all(uses[number] <= words[words.word(number)] for number in uses)
    assert n_errors > 200


def changed(**entries):
    """Return the file of two words and a run, with other entries or other last bytes."""
    body = entries.pop("body", b"\2\2" + b"\2\4" + b"of sea" + b"\2" + b"\2" + b"\0\1")
    header = {
        "pattern": "gpt2",
        "unicode": "1",
        "special_tokens": [],
        "n_words": 2,
        "n_bytes": 6,
        "count_bytes": 1,
        "length_bytes": 1,
        "parts": "o|s",
        "n_runs": 1,
        "n_numbers": 2,
        "run_count_bytes": 1,
        "run_length_bytes": 1,
        "number_bytes": 1,
    } | entries
    text = runs_file.pack(runs_file._KIND, header, [body])
    return text


START = b"\2\2" + b"\2\4" + b"of sea"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a file of counts of runs: it begins with"),
        (b"some text that is long enough", "not a file of counts of runs: it begins with"),
        (kinds.RUNS[:5], "cut off at byte 5"),
        (changed()[:-10], r"cut off at byte \d+ of \d+"),
        (changed().replace(b"\1", b"\2", 1), "version 2 at byte 8, but this release reads version 1"),
        (changed(n_runs=-1), 'the header at byte 16 is not valid: "n_runs" is not a size'),
        (changed(n_numbers=None), '"n_numbers" is not a size'),
        (changed(number_bytes=3), '"number_bytes" is not one of'),
        (changed(parts=3), '"parts" is not an expression'),
        (changed(parts="["), "parts: invalid .*unterminated"),
        (changed(n_numbers=10**15), r"cut off at byte \d+ of \d+"),
        (changed(body=START + b"\2\2\0\1\0"), "1 extra bytes"),
        (changed(body=START + b"\0\2\0\1"), r"the count at byte \d+ is out of range"),
        (changed(body=START + b"\2\1\0\1"), r"the length at byte \d+ is out of range"),
        (changed(body=START + b"\2\3\0\1"), r"the run lengths do not add up to the 2 numbers"),
        (
            changed(body=START + b"\2\2\0\2"),
            r"the number at byte \d+ is not that of a word: there are 2 words",
        ),
        (changed(body=START + b"\3\2\0\1"), "the runs hold word 0, b'of', more often than it counts"),
        (changed(body=START + b"\1\2\1\1")[:-1] + b"x", "damaged: the checksum"),
        (
            changed(n_runs=2, n_numbers=4, body=START + b"\1\1\2\2\0\1\0\1"),
            "a run occurs twice",
        ),
        (changed(n_runs=2, n_numbers=3, body=START + b"\1\1\2\2\0\1\0"), "do not add up"),
    ],
)
def test_what_is_wrong_with_a_file(tmp_path, data, message):
    path = tmp_path / "some.runs"
    path.write_bytes(changed())
    assert dict(bpe.RunCounts.load(path)) == {(b"of", b" sea"): 2}
    path.write_bytes(data)
    with pytest.raises(ValueError, match=rf"some\.runs: .*({message})") as caught:
        bpe.RunCounts.load(path)
    assert "\n" not in str(caught.value)


def test_counts_of_one_kind_are_not_read_as_the_other(tmp_path):
    of_the_sea().save(tmp_path / "some.runs")
    of_the_sea().words.save(tmp_path / "some.counts")
    with pytest.raises(ValueError, match=r"some\.runs: counts of runs, which RunCounts\.load reads"):
        bpe.WordCounts.load(tmp_path / "some.runs")
    with pytest.raises(ValueError, match=r"some\.counts: counts of words, which WordCounts\.load reads"):
        bpe.RunCounts.load(tmp_path / "some.counts")


def test_writing_that_is_interrupted_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "some.runs"
    of_the_sea().save(path)
    others = bpe.count_runs([SONG])

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(atomic_files.os, "replace", stop)
        with pytest.raises(KeyboardInterrupt):
            others.save(path)
    assert bpe.RunCounts.load(path) == of_the_sea()
    assert os.listdir(tmp_path) == ["some.runs"]


# ----------------------------------------------------------------------------------------- parts and clusters
LETTERS = [*"aA1é漢 \n,.'b", " ", SPECIAL, "<|x", "|>", "ll", " two", " the,", "\ufffd"]


@pytest.mark.parametrize("specials", [(), (SPECIAL, " ", "b"), ("a", "ab.")])
@pytest.mark.parametrize("parts", [PARTS, "^ ?(two|the)$"])
@pytest.mark.parametrize("name", ["gpt2", "o200k", "[a-b]+|."])
@settings(deadline=None, max_examples=40)
@given(
    each=st.lists(
        st.lists(st.sampled_from(LETTERS).map(str.encode) | st.just(b"\xff"), max_size=60).map(b"".join),
        min_size=1,
        max_size=3,
    ),
    part_bytes=st.integers(1, 60),
    window_bytes=st.integers(1, 60),
    errors=st.sampled_from(["keep", "replace", "skip"]),
)
def test_parts_of_texts(tmp_path_factory, name, parts, specials, each, part_bytes, window_bytes, errors):
    folder = tmp_path_factory.getbasetemp()
    paths = [folder / f"{i}.txt" for i in range(len(each))]
    for path, data in zip(paths, each, strict=True):
        path.write_bytes(data)
    source, pattern = Corpus(paths, errors=errors), bpe.Pattern.of(name)
    whole = counted_runs.count_part(source, pattern, specials, parts, False)

    def cut(data, pattern, search):
        return cut_between_runs(data, pattern, search, joins(parts))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bpe.corpus.parts.WINDOW_BYTES", window_bytes)
        groups = parts_of(source, pattern, frozenset(specials), part_bytes, cut)
    counted = [
        _count_runs_of_part(group, {"errors": errors}, None, pattern, specials, parts) for group in groups
    ]
    if counted:
        total = reduce(add, counted)
        assert list(total) == list(whole)
        assert list(total.words.items()) == list(whole.words.items())


def test_texts_are_cut_between_runs_and_not_only_between_pieces(tmp_path, monkeypatch):
    """The places differ from those of words, and they are found."""
    monkeypatch.setattr("bpe.corpus.parts.WINDOW_BYTES", 1000)
    (tmp_path / "a.txt").write_text("some words of a text, and more of it\n" * 5000)
    pattern, search = bpe.Pattern.of("gpt2"), SpecialSearch(frozenset())
    data = b"e words of a text, and more of"
    assert cut_inside(data, pattern, search) == 27
    assert cut_between_runs(data, pattern, search, joins(PARTS)) == 18
    assert cut_between_runs(data.replace(b",", b""), pattern, search, joins(PARTS)) == 0
    cut = lambda data, pattern, search: cut_between_runs(data, pattern, search, joins(PARTS))  # noqa: E731
    assert len(parts_of(Corpus(tmp_path), pattern, frozenset(), 30_000, cut)) == 6


@pytest.fixture(scope="module")
def client():
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 2}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("part_bytes", [1000, 1 << 30])
def test_a_cluster_counts_what_one_process_does(client, tmp_path, book, part_bytes, monkeypatch):
    (tmp_path / "a.txt").write_text(book)
    (tmp_path / "b.jsonl").write_text('{"text": "fifteen men on the"}\n' * 1000)
    monkeypatch.setattr("bpe.counting.clusters._LEAST_PART_BYTES", part_bytes)
    monkeypatch.setattr("bpe.counting.clusters._MOST_PART_BYTES", part_bytes)
    local, done = bpe.count_runs(tmp_path, "cl100k", [SPECIAL]), []
    for scheduler in (client, client.scheduler.address):
        counts = bpe.count_runs(
            tmp_path, "cl100k", [SPECIAL], scheduler=scheduler, progress=lambda *call: done.append(call)
        )
        assert list(counts) == list(local)
        assert counts == local
    size = Corpus(tmp_path).n_bytes
    assert done[-1] == (size, size)
    output = tmp_path / "cluster.runs"
    arguments = ["count-words", str(tmp_path), "--runs", "--pattern", "cl100k", "--special-token", SPECIAL]
    arguments += ["--scheduler", client.scheduler.address, "-o", str(output), "--quiet"]
    result = CliRunner().invoke(main, arguments)
    assert (result.exit_code, result.output) == (0, "")
    assert bpe.RunCounts.load(output) == local


@pytest.mark.filterwarnings("default")
def test_what_a_cluster_does_not_take(client, tmp_path):
    with pytest.raises(ValueError, match="a list of one document holds documents, not files only"):
        bpe.count_runs(["a document"], scheduler=client)
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(ValueError, match="the corpus is empty: there is no text"):
        bpe.count_runs(tmp_path / "empty.txt", scheduler=client)
    with pytest.raises(TypeError, match="scheduler must be a Client or an address, not int"):
        bpe.count_runs(tmp_path / "empty.txt", scheduler=3)


# ------------------------------------------------------------------------------------------------ the command
@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "song.txt").write_text(SONG)
    (tmp_path / "more.txt").write_text("by the sea " * 9)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, [*arguments, "--quiet"])


def trained(*arguments):
    return run("train", *arguments, "--superwords", "boundless", "--vocab-size", "275", "-o", "tok.json")


def test_the_commands(folder):
    for name in ("song", "more"):
        assert run("count-words", f"{name}.txt", "--runs", "-o", f"{name}.runs").output == ""
    assert run("count-words", "song.runs", "more.runs", "-o", "all.runs").output == ""
    song, more = (bpe.RunCounts.load(f"{name}.runs") for name in ("song", "more"))
    assert bpe.RunCounts.load("all.runs") == song + more
    assert trained("all.runs").output == ""
    whole = bpe.train(song + more, 275, **RULES)
    assert bpe.Tokenizer.load("tok.json") == whole
    assert trained("song.txt", "more.txt").output == ""
    assert bpe.Tokenizer.load("tok.json") == whole
    assert trained("song.runs=0.5", "more.runs=0.3").output == ""
    sources = {"song.runs": song, "more.runs": more}
    weighed = bpe.train(sources, 275, weights={"song.runs": 0.5, "more.runs": 0.3}, **RULES)
    assert bpe.Tokenizer.load("tok.json") == weighed
    assert trained("song.runs", "more.runs", "--temperature", "3").output == ""
    weights = bpe.temperature_weights({name: counts.words for name, counts in sources.items()}, 3)
    assert bpe.Tokenizer.load("tok.json") == bpe.train(sources, 275, weights=weights, **RULES)
    assert (
        run("count-words", "song.txt", "--runs", "--superword-parts", "^ ?the$", "-o", "the.runs").output
        == ""
    )
    assert len(bpe.RunCounts.load("the.runs")) == 0
    result = CliRunner().invoke(main, ["count-words", "song.txt", "--runs", "--json", "-o", "song.runs"])
    assert f'"runs": {len(song)}' in result.stdout
    result = CliRunner().invoke(main, ["count-words", "song.txt", "--runs", "-o", "song.runs"])
    assert f"{len(song)} distinct runs" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "a.runs"], "files of counts of runs require --superwords boundless"),
        (
            ["train", "a.runs", "--superwords", "superbpe", "--first-merges", "1"],
            "files of counts of runs require --superwords boundless",
        ),
        (
            ["train", "a.runs", "a.counts", "--superwords", "boundless"],
            "a.runs holds counts of runs, a.counts",
        ),
        (
            ["train", "a.runs=1", "a.counts=1", "--superwords", "boundless"],
            "a.runs holds counts of runs, a.cou",
        ),
        (
            ["train", "a.runs", "b.runs", "--superwords", "boundless"],
            "b.runs: counts with different patterns",
        ),
        (
            ["train", "a.runs", "song.txt", "--superwords", "boundless"],
            "a.runs holds counts, song.txt does not",
        ),
        (
            ["train", "a.counts", "--superwords", "boundless"],
            "not from files of counts of words; boundless also",
        ),
        (
            ["train", "a.runs", "--superwords", "boundless", "--superword-parts", "a"],
            "were counted with parts=",
        ),
        (["count-words", "a.counts", "--runs"], "a.counts holds counts of words: count the runs of the text"),
        (["count-words", "song.txt", "--superword-parts", "a"], "--superword-parts requires --runs"),
        (
            ["count-words", "a.runs", "--special-token", "a"],
            "files of counts already have a pattern and special tokens",
        ),
    ],
)
def test_senseless_commands(folder, arguments, message):
    of_the_sea().save("a.runs")
    of_the_sea().words.save("a.counts")
    bpe.count_runs(["of the sea"], "o200k").save("b.runs")
    size = ["--vocab-size", "300"] if arguments[0] == "train" else []
    result = run(*arguments, *size, "-o", "out")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1), result.output
    assert message in result.stderr
    assert not (folder / "out").exists()


def test_sums_by_reduce():
    each = [bpe.count_runs([line]) for line in SONG.splitlines(keepends=True)]
    assert reduce(add, each) == bpe.count_runs(SONG.splitlines(keepends=True))
