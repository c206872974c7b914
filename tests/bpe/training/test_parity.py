"""Parity-aware training against its slow twin, after every merge, and against that of tokenizers."""

import json
import random
import re
from functools import cache

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe import reference
from bpe.cli import main
from bpe.training.options import Options
from bpe.training.parity import Languages, bytes_in
from bpe.training.start import fresh_start
from bpe.vocabulary.byte_level import text_of
from tests.optional import required


@cache  # not when the module is imported: each process of the tests would compile it then
def both():
    english = bpe.WordCounts({"the": 90, "then": 80, "there": 70})
    return {"en": english, "de": bpe.WordCounts({"der": 3, "den": 2})}


words = st.one_of(st.text("aab c", min_size=1, max_size=9), st.text("abxé", min_size=1, max_size=6))
texts = st.dictionaries(words, st.integers(1, 4), min_size=1, max_size=6)
rules = st.fixed_dictionaries(
    {
        "ties": st.sampled_from(["smallest", "lexicographic", "gpt2"]),
        "min_count": st.integers(1, 3),
        "window": st.none() | st.integers(1, 6),
        "alpha": st.sampled_from([0.5, 1.0, 1.2, 2.0]),
    }
)


@st.composite
def trainings(draw):
    """Draw languages, and dev texts, ratios or nothing."""
    n = draw(st.integers(1, 3))
    languages, several = (
        draw(st.lists(texts, min_size=n, max_size=n)),
        st.lists(texts, min_size=n, max_size=n),
    )
    ratios = st.lists(st.sampled_from([0.5, 1.0, 2.57]), min_size=n, max_size=n)
    kind = draw(st.sampled_from(["dev", "ratios", "nothing"]))
    measure = {kind: draw(several if kind == "dev" else ratios)} if kind != "nothing" else {}
    return languages, measure


def counts_of(texts):
    return [bpe.WordCounts(text) for text in texts]


def in_bytes(texts):
    return [dict(counts.items()) for counts in counts_of(texts)]


@given(trainings(), rules)
@settings(max_examples=40)
def test_every_merge_is_that_of_the_reference_and_leaves_all_counts_right(training, rules):
    languages, measure = training
    dev = measure.get("dev")
    slow = in_bytes(languages)
    expected = reference.train_parity(slow, 10_000, **rules, **({"dev": in_bytes(dev)} if dev else measure))
    learned = Languages(
        counts_of(languages),
        fresh_start([]),
        counts_of(dev or []),
        ratios=measure.get("ratios", []),
        window=rules["window"] or 0,
        alpha=rules["alpha"],
        options=Options(ties=rules["ties"], min_count=rules["min_count"]),
    )
    learned.make_room(len(expected) + 1)
    learned.check()
    for merge in expected:
        learned.run(learned.n_done + 1)
        learned.check()
        assert learned.log[-1].tolist() == [*merge]
    learned.run(learned.n_done + 1)
    assert learned.n_done == len(expected)


@given(trainings(), rules, st.integers(0, 12))
@settings(max_examples=25)
def test_the_tokenizer_has_the_merges_of_the_reference(training, rules, n_global):
    languages, measure = training
    options = {kind: in_bytes(each) if kind == "dev" else each for kind, each in measure.items()}
    rules = rules | {"n_global": n_global}
    expected = reference.train_parity(in_bytes(languages), 20, **rules, **options)

    def named(texts):
        return {
            str(i): bpe.WordCounts(text, special_tokens=["<|x|>"]) if isinstance(text, dict) else text
            for i, text in enumerate(texts)
        }

    options = {kind: named(each) for kind, each in measure.items()}
    if "dev" in options:  # in any order
        options["dev"] = dict(reversed(options["dev"].items()))
    tok = bpe.train_parity(named(languages), 277, **rules, **options)
    assert tok.merges == [(left, right) for left, right, *_ in expected]
    assert tok.special_tokens == {"<|x|>": 256 + len(expected)}
    assert tok.decode(tok.encode("aab é")) == "aab é"


def test_the_layout_of_another_trainer():
    counts = {
        name: bpe.WordCounts(dict(each.items()), special_tokens=["<|x|>"]) for name, each in both().items()
    }
    for n_global in (0, 2):
        tok = bpe.train_parity(counts, 260, n_global=n_global, like="huggingface")
        assert tok.special_tokens == {"<|x|>": 0}
        assert tok.token_bytes(1) == b"!"
        assert [tok.token_bytes(number) for number in (257, 258, 259)] == [b"he", b"the", b"then"]


def test_a_turn_is_given_to_the_language_that_is_worst():
    turns = reference.Turns([10, 10, 12], window=3, alpha=1.0)
    assert [turns.next([10, 10, 12]) for _ in range(6)] == [2, 2, 0, 0, 2, 2]
    ratios = reference.Turns([10, 10], ratios=[1.0, 2.0])
    assert [ratios.next([10, 10]), ratios.next([10, 4])] == [1, 0]
    few = reference.Turns([9, 5], window=2, alpha=0.5)  # all have had enough: the best one
    assert [few.next([9, 5]) for _ in range(6)] == [0, 1, 1, 0, 1, 1]
    few.out = {0, 1}
    assert few.next([9, 5]) is None


def test_a_small_language_is_served_as_well():
    plain = bpe.train(both()["en"] + both()["de"], 260)
    fair = bpe.train_parity(
        both(), 260, dev={"de": bpe.WordCounts({"den": 1}), "en": bpe.WordCounts({"the": 1})}
    )
    assert plain.count("der") == 3
    assert fair.count("der") == fair.count("the") == 1


def test_progress_and_a_large_size():
    seen = []
    tok = bpe.train_parity(both(), 1000, n_global=3, progress=lambda *at: seen.append(at))
    assert seen[-1][0] <= seen[-1][1]
    assert tok.vocab_size == 256 + len(tok.merges) < 1000
    assert [tok.count(word) for word in ("there", "then", "der", "den")] == [1, 1, 1, 1]


def test_min_count_and_max_token_length():
    tok = bpe.train_parity(both(), 300, min_count=3, max_token_length=2)
    assert {tok.token_bytes(number) for number in range(256, tok.vocab_size)} == {b"he", b"re", b"de"}


# -------------------------------------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (lambda: {"languages": {}}, ValueError, "there are no languages"),
        (lambda: {"languages": {"en": bpe.WordCounts()}}, ValueError, "^language 'en' has no words"),
        (lambda: {"languages": {"en": ["text"]}}, TypeError, "language 'en' must be WordCounts, not list"),
        (
            lambda: {"languages": {"en": both()["en"], "de": bpe.WordCounts({"der": 1}, pattern="cl100k")}},
            ValueError,
            "languages 'en' and 'de' have different patterns: count all texts with the same ones",
        ),
        (
            lambda: {"dev": {"en": both()["en"]}},
            ValueError,
            r"dev must have the languages \['en', 'de'\], not \['en'\]",
        ),
        (
            lambda: {"dev": both() | {"de": bpe.WordCounts()}},
            ValueError,
            r"language 'de \(dev\)' has no words",
        ),
        (lambda: {"dev": both(), "ratios": {"en": 1, "de": 1}}, ValueError, "dev texts or ratios, not both"),
        (lambda: {"ratios": {"en": 1}}, ValueError, r"ratios must have the languages"),
        (
            lambda: {"ratios": {"en": 1, "de": 0}},
            ValueError,
            "the ratio of 'de' must be a finite number above 0",
        ),
        (
            lambda: {"ratios": {"en": 1, "de": float("nan")}},
            ValueError,
            "the ratio of 'de' must be a finite number",
        ),
        (lambda: {"window": 0}, ValueError, "window must be at least 1"),
        (lambda: {"window": 2.5}, TypeError, "integer"),
        (lambda: {"alpha": 0}, ValueError, "alpha must be a finite number above 0"),
        (lambda: {"alpha": None}, TypeError, "alpha must be a number, not NoneType"),
        (lambda: {"ratios": {"en": 1, "de": "2"}}, TypeError, "the ratio of 'de' must be a number, not str"),
        (lambda: {"n_global": -1}, ValueError, "n_global must be at least 0"),
        (
            lambda: {"ties": "first"},
            ValueError,
            "ties must be one of 'smallest', 'lexicographic', 'gpt2', not 'first'",
        ),
        (lambda: {"vocab_size": 9}, ValueError, "vocab_size must be at least 256"),
        (lambda: {"max_token_length": 0}, ValueError, "max_token_length must be at least 1"),
        (
            lambda: {"languages": {"en": bpe.WordCounts({"a": 2**63 - 1})}},
            OverflowError,
            r"pass 2\*\*62 bytes",
        ),
    ],
)
def test_senseless_arguments(given, error, message):
    with pytest.raises(error, match=message):
        bpe.train_parity(**({"languages": both(), "vocab_size": 270} | given()))


def test_bytes_are_counted_exactly_up_to_the_limit():
    assert bytes_in(bpe.WordCounts({"ab": 2**60 + 1, "c": 1})) == 2**61 + 3


# -------------------------------------------------------------------------------------------- the command
@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, counts in both().items():
        counts.save(f"{name}.counts")
        bpe.WordCounts({next(iter(counts)): 1}).save(f"{name}-dev.counts")
    return tmp_path


def run(*arguments):
    command = ["train-parity", *arguments, "--vocab-size", "260", "-o", "tok.json"]
    return CliRunner().invoke(main, [*map(str, command)])


def test_the_command(folder):
    dev = "--dev", "de=de-dev.counts", "--dev", "en=en-dev.counts"
    result = run(
        "en.counts", "de.counts", *dev, "--window", 5, "--alpha", 1.5, "--n-global", 1, "--ties", "gpt2"
    )
    assert (result.exit_code, result.stdout) == (0, "")
    expected = bpe.train_parity(
        both(),
        260,
        dev={name: bpe.WordCounts.load(f"{name}-dev.counts") for name in both()},
        window=5,
        alpha=1.5,
        n_global=1,
        ties="gpt2",
    )
    assert bpe.Tokenizer.load("tok.json") == expected
    assert run("en.counts", "de.counts", "--ratio", "en=1", "--ratio", "de=2.5", "--quiet").output == ""
    assert bpe.Tokenizer.load("tok.json") == bpe.train_parity(both(), 260, ratios={"en": 1, "de": 2.5})
    assert (
        "tok.json: 258 tokens, not 260: no language has a pair left" in run("de-dev.counts", "--quiet").stderr
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["en.counts", "missing.counts"], "no such file: missing.counts"),
        (["en.counts", "en.counts"], "en.counts: there is already a language 'en'"),
        (["en.counts", "--dev", "en-dev.counts"], "--dev en-dev.counts: write NAME=VALUE"),
        (["en.counts", "--ratio", "en=much"], "a ratio must be a number, not 'much'"),
        (["en.counts", "--ratio", "en=1", "--ratio", "en=2"], "--ratio en=2: 'en' was already given"),
        (["en.counts", "--dev", "de=de-dev.counts"], r"dev must have the languages \['en'\], not \['de'\]"),
    ],
)
def test_senseless_commands(folder, arguments, message):
    result = run(*arguments)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert re.search(message, result.stderr)
    assert not (folder / "tok.json").exists()


# --------------------------------------------------------------------------------------------- tokenizers
TEXTS = ["abc  ", "aab é€😀 ", "abcdefgh \n.,1", "aaaabbbccdé ", "xyzab"]


def theirs(languages, n_merges, dev=None, ratios=None, **options):
    tokenizers = required("tokenizers", minversion="0.23")
    tok = tokenizers.Tokenizer(tokenizers.models.BPE())
    tok.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.ParityBpeTrainer(num_merges=n_merges, show_progress=False, **options)
    iterators = [[iter(text) for text in texts] if texts else None for texts in (languages, dev)]
    trainer.train_from_iterator(tok, *iterators, ratios)
    return [tuple(pair) for pair in json.loads(tok.to_str())["model"]["merges"]]


def ours(languages, n_merges, dev=None, ratios=None, **options):
    def named(texts):
        return {str(i): bpe.count_words(text) for i, text in enumerate(texts)}

    tok = bpe.train_parity(
        named(languages),
        256 + n_merges,
        dev=dev and named(dev),
        ratios=ratios and {str(i): ratio for i, ratio in enumerate(ratios)},
        ties="gpt2",
        **options,
    )
    return [tuple(text_of(tok.token_bytes(number)) for number in pair) for pair in tok.merges]


def random_text(generator, length):
    letters = generator.choice(TEXTS)
    return ["".join(generator.choices(letters, k=length)) for _ in range(generator.randint(1, 3))]


@pytest.mark.parametrize("seed", range(24))
def test_the_merges_are_those_of_tokenizers(seed):
    generator = random.Random(seed)
    n = generator.randint(1, 4)
    languages = [random_text(generator, generator.choice([20, 300, 900])) for _ in range(n)]
    measure = {}
    if seed % 3 == 0:
        measure["dev"] = [random_text(generator, 80) for _ in range(n)]
    elif seed % 3 == 1:
        measure["ratios"] = [generator.choice([0.5, 1.0, 2.57]) for _ in range(n)]
    n_global, min_count = generator.choice([0, 4, 15]), generator.choice([1, 2, 3])
    assert ours(languages, 40, **measure, n_global=n_global, min_count=min_count) == theirs(
        languages, 40, **measure, global_merges=n_global, min_frequency=min_count
    )


@pytest.mark.parametrize("seed", range(9))
def test_the_window_is_that_of_tokenizers(seed):
    generator = random.Random(seed)
    # No language may run out: in a window, tokenizers could then go on for ever.
    languages = [random_text(generator, 900) for _ in range(generator.randint(2, 4))]
    languages = [[*text, "".join(generator.choices("bcdefgh é", k=900))] for text in languages]
    measure = {"dev": [text[:1] for text in languages]} if seed % 3 == 0 else {}
    if seed % 3 == 1:
        measure["ratios"] = [generator.choice([0.5, 1.0, 2.57]) for _ in languages]
    window, alpha = generator.choice([1, 3, 10, 30]), generator.choice([0.5, 1.0, 1.2, 2.0])
    assert ours(languages, 60, **measure, window=window, alpha=alpha) == theirs(
        languages, 60, **measure, variant="window", window_size=window, alpha=alpha
    )
