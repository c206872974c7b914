"""Weights of sources: exact in fixed point, applied once; temperatures, and the errors."""

import math
from collections import Counter
from fractions import Fraction
from functools import cache

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe.cli import main
from bpe.counting.weights import UNIT, weigh
from bpe.reference import train_indexed


@cache  # not when the module is imported: each process of the tests would compile it then
def english():
    return bpe.WordCounts({"the": 90, "then": 80, "there": 70})


@cache
def german():
    return bpe.WordCounts({"der": 3, "den": 2, "then": 1})


def both():
    return {"en": english(), "de": german()}


texts = st.dictionaries(st.text("aab c", min_size=1, max_size=8), st.integers(1, 9), min_size=1, max_size=6)
weights_of_two = st.tuples(st.integers(1, 9), st.integers(1, 9)).map(lambda pair: [each / 4 for each in pair])


@given(texts, texts, weights_of_two, st.sampled_from(["smallest", "lexicographic"]), st.integers(1, 4))
@settings(max_examples=40)
def test_merges_are_those_of_the_weighed_counts(one, other, weights, ties, min_count):
    weighed = Counter()
    for text, weight in zip((one, other), weights, strict=True):
        for word, count in text.items():
            weighed[word.encode()] += round(4 * weight) * count
    least = 4 * min_count if min_count > 1 else 1
    expected = train_indexed(weighed, 10_000, ties=ties, min_count=least)
    sources = {"one": bpe.WordCounts(one), "other": bpe.WordCounts(other)}
    options = {"weights": dict(zip(sources, weights, strict=True)), "ties": ties, "min_count": min_count}
    trainer = bpe.Trainer(sources, **options)
    trainer.run(10_000)
    trainer.check()
    assert [(*merge[:3], merge.count * 4 // UNIT) for merge in trainer.merges] == [(*m,) for m in expected]
    backwards = bpe.train(dict(reversed(sources.items())), 10_000, **options)
    assert backwards == trainer.tokenizer()
    resumed = bpe.Trainer.resume(trainer.tokenizer().with_vocab_size(256), sources, **options)
    resumed.run(10_000)
    assert resumed.merges == trainer.merges


@given(texts, texts)
@settings(max_examples=20)
def test_weights_of_one_change_nothing(one, other):
    sources = {"one": bpe.WordCounts(one), "other": bpe.WordCounts(other)}
    expected = bpe.train(sources["one"] + sources["other"], 300)
    assert bpe.train(sources, 300) == bpe.train(sources, 300, weights={"one": 1, "other": 1.0}) == expected


def test_a_weight_of_nothing_leaves_a_source_out():
    assert bpe.train(both(), 300, weights={"en": 0, "de": 2}) == bpe.train(german(), 300)
    counts, unit = weigh(both(), {"en": 0, "de": Fraction(1, 2)})
    assert dict(counts.items()) == {word: count * unit // 2 for word, count in german().items()}


def test_rare_pairs_of_light_sources_are_merged():
    tok = bpe.train({"x": bpe.WordCounts({"ab": 1})}, 300, weights={"x": 1e-6})
    assert tok.merges == [(97, 98)]


def test_counts_that_leave_int64_are_refused():
    large = bpe.WordCounts({"ab": 2**43 - 1})
    assert weigh({"x": large}, {"x": 1})[0]["ab"] == (2**43 - 1) * UNIT
    with pytest.raises(OverflowError, match=r"a count of source 'x' times 1.5 passes 2\*\*63 - 1"):
        bpe.train({"x": large}, 300, weights={"x": 1.5})
    with pytest.raises(OverflowError, match="a weighted count passes"):
        bpe.train({"x": large, "y": large}, 300, weights={"x": 1, "y": 1})


def test_temperatures():
    sizes = {name: counts.n_text_bytes for name, counts in both().items()}
    assert sizes == {"en": 3 * 90 + 4 * 80 + 5 * 70, "de": 9 + 6 + 4}
    assert bpe.temperature_weights(both(), 1) == {"en": 1, "de": 1}
    for temperature in (0.5, 2, 5, math.inf):
        weights = bpe.temperature_weights(both(), temperature)
        shares = {name: weights[name] * sizes[name] for name in both()}
        expected = (sizes["en"] / sizes["de"]) ** (1 / temperature)
        assert shares["en"] / shares["de"] == pytest.approx(expected)
        assert max(weights.values()) == 1
    assert bpe.WordCounts({"ab": 2**62, "abc": 2**62}).n_text_bytes == 5 * 2**62


# -------------------------------------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("sources", "weights", "error", "message"),
    [
        (both, {"en": 1}, ValueError, "there is no weight for source 'de'"),
        (
            both,
            {"en": 1, "de": 1, "fr": 1},
            ValueError,
            "weight for 'fr', which is not a source; the sources are .*'en', 'de'",
        ),
        (both, {"en": 1, "de": -0.5}, ValueError, "the weight of 'de' must be a finite number from 0 to"),
        (both, {"en": 1, "de": math.nan}, ValueError, "the weight of 'de' must be a finite number"),
        (both, {"en": 1, "de": math.inf}, ValueError, "the weight of 'de' must be a finite number"),
        (both, {"en": 1, "de": 2**60}, ValueError, "the weight of 'de' must be a finite number"),
        (both, {"en": 1, "de": 1e-9}, ValueError, "the weight of 'de' is 1e-09: less than 1 / 1048576"),
        (both, {"en": 1, "de": "2"}, TypeError, "the weight of 'de' must be a number, not str"),
        (both, {"en": 1, "de": True}, TypeError, "the weight of 'de' must be a number, not bool"),
        (both, {"en": 0, "de": 0}, ValueError, "all weights are 0"),
        (dict, {}, ValueError, "there are no sources"),
        (lambda: {"en": bpe.WordCounts()}, None, ValueError, "source 'en' has no words"),
        (lambda: {"en": ["text"]}, None, TypeError, "source 'en' must be WordCounts, not list"),
        (english, {"en": 1}, ValueError, "weights are for sources with names"),
        (lambda: ["text"], {"en": 1}, ValueError, "weights are for WordCounts with names"),
        (
            lambda: {"en": english(), "x": bpe.WordCounts({"a": 1}, pattern="o200k")},
            None,
            ValueError,
            "sources 'en' and 'x' have different patterns: count all texts",
        ),
    ],
)
def test_senseless_weights(sources, weights, error, message):
    with pytest.raises(error, match=message):
        bpe.train(sources(), 300, weights=weights)


@pytest.mark.parametrize(
    ("temperature", "error"), [(0, ValueError), (-1, ValueError), (math.nan, ValueError), ("2", TypeError)]
)
def test_senseless_temperatures(temperature, error):
    with pytest.raises(error, match="temperature must be a number"):
        bpe.temperature_weights(both(), temperature)


# -------------------------------------------------------------------------------------------- the command
@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, counts in both().items():
        counts.save(f"{name}.counts")
    (tmp_path / "text.txt").write_text("the text")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, ["train", *arguments, "--vocab-size", "258", "-o", "tok.json", "--quiet"])


def test_the_command(folder):
    assert run("en.counts=0.01", "de.counts=20").output == ""
    assert bpe.Tokenizer.load("tok.json") == bpe.train(both(), 258, weights={"en": 0.01, "de": 20})
    assert run("en.counts", "de.counts", "--temperature", "5").output == ""
    assert bpe.Tokenizer.load("tok.json") == bpe.train(
        both(), 258, weights=bpe.temperature_weights(both(), 5)
    )
    (folder / "lang=1").write_text("the the the")  # a file, not a weight
    assert run("lang=1").output == ""
    (folder / "tok.json").unlink()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["en.counts=1", "de.counts"], "only 1 of 2 files have a weight: write FILE=WEIGHT for all"),
        (["en.counts=1", "--temperature", "2"], "give weights, as for en.counts, or --temperature, not both"),
        (["en.counts=1", "en.counts=2"], "en.counts=2: en.counts already has a weight"),
        (
            ["en.counts=1", "--special-token", "<|x|>"],
            "files of counts already have a pattern and special tokens",
        ),
        (["en.counts=-1"], "the weight of 'en.counts' must be a finite number"),
        (["en.counts=nan"], "the weight of 'en.counts' must be a finite number"),
        (["missing.counts=1"], "no such file: missing.counts"),
        (["text.txt=1"], "text.txt: "),
        (["en.counts", "--temperature", "0"], "temperature must be a number above 0"),
    ],
)
def test_senseless_commands(folder, arguments, message):
    result = run(*arguments)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1), result.output
    assert message in result.stderr
    assert not (folder / "tok.json").exists()
