import contextlib
import importlib
import pickle
import re
import warnings
from functools import cache
from itertools import pairwise, product

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bpe
from bpe.splitting.pattern import _SPELLINGS

thorough = settings(deadline=None, max_examples=300)
NAMES = list(bpe.PATTERNS)

# One of every kind of character that some pattern tells from the others.
SEAMS = [
    *"aAsTrReEdDllmMvV",
    "\u017f",
    "ǅ",
    "ʰ",
    "é",
    "文",
    "か",
    "・",
    "\u0301",
    "\u3099",
    "1",
    "Ⅷ",
    "½",
    "٣",
]
SEAMS += [
    *" \t\n\r\x0b\x85\u2028\u3000",
    "'",
    "\u2019",
    "!",
    "/",
    "$",
    "_",
    "€",
    "\x00",
    "\x1c",
    "\u200b",
    "\ue000",
]
SEAMS += ["😀", "\udcff", "\U0010ffff"]


def texts(max_size=40):
    return st.text(st.sampled_from(SEAMS) | st.characters(exclude_categories=[]), max_size=max_size)


def matches_and_gaps(source, text):
    """Cut a text the slow, obvious way."""
    edges = {0, len(text)}
    for match in regex.finditer(source, text):
        edges |= {*match.span()}
    return [text[i:j] for i, j in pairwise(sorted(edges))]


def in_turn(sources, text):
    pieces = [text] if text else []
    for source in [sources] if isinstance(sources, str) else sources:
        pieces = [part for piece in pieces for part in matches_and_gaps(source, piece)]
    return pieces


# ------------------------------------------------------------------------------------ named patterns
def test_names():
    assert set(NAMES) == {"gpt2", "cl100k", "o200k", "llama3", "qwen2", "deepseek", "whitespace", "none"}


@pytest.mark.parametrize("name", NAMES)
@thorough
@given(texts())
@example("")
@example("I'LL say: it's 12345 \r\n\r\n  naïve/ABCdef 文文CDe!\n/x  ")
def test_against_regex(name, text):
    pieces = bpe.split(name, text)
    assert pieces == in_turn(bpe.PATTERNS[name], text)
    assert "".join(pieces) == text
    assert all(pieces)


@pytest.mark.parametrize(
    ("name", "pieces"),
    [
        ("gpt2", ["I", "'ll", " pay", " ", " 12345", "!!", " ", "\n", "ok", "\n"]),
        ("cl100k", ["I", "'ll", " pay", " ", " ", "123", "45", "!!", " \n", "ok", "\n"]),
        ("o200k", ["I'll", " pay", " ", " ", "123", "45", "!!", " \n", "ok", "\n"]),
        ("llama3", ["I", "'ll", " pay", " ", " ", "123", "45", "!!", " \n", "ok", "\n"]),
        ("qwen2", ["I", "'ll", " pay", " ", " ", *"12345", "!!", " \n", "ok", "\n"]),
        ("deepseek", ["I", "'ll", " pay", "  ", "123", "45", "!!", " \n", "ok", "\n"]),
        ("whitespace", ["I'll", " pay", "  12345!!", " \nok", "\n"]),
        ("none", ["I'll pay  12345!! \nok\n"]),
    ],
)
def test_by_hand(name, pieces):
    assert bpe.split(name, "".join(pieces)) == pieces


@pytest.mark.parametrize(("sources", "name"), _SPELLINGS.items())
class TestSpellings:
    """Other ways to write a named pattern do the same, and get its name."""

    @thorough
    @given(text=texts())
    def test_random(self, sources, name, text):
        assert bpe.Pattern.of(sources) == bpe.Pattern.of(name)
        assert bpe.Pattern(sources).split(text) == bpe.split(name, text)

    def test_every_character(self, sources, name):
        text = "".join(f"{chr(c)}a {chr(c)}" for c in range(0x110000))
        assert bpe.Pattern(sources).split(text) == bpe.split(name, text)


# ---------------------------------------------------------------------------------------------- cuts
def check_cuts(text, split, cuts):
    """Check that a text can be cut at every place, and that it is found in any part of the text, too."""
    whole, places = split(text), cuts(text)
    for place in places:
        assert split(text[:place]) + split(text[place:]) == whole, (text, place)
    for start, stop in [(0, 3), (1, 4), (len(text) // 2, len(text))]:
        inside = [start + place for place in cuts(text[start:stop])]
        assert inside == [place for place in places if start < place < min(stop, len(text))]
    return places


# Gaps between matches, expressions in turn, matches that look ahead, empty matches.
OTHERS = [
    r"\w+",
    r"[ab]|\s+",
    r"a*",
    r"\S+|\s+",
    r"a\b|\w+|\W",
    r"[a-z]+(?=1)|\s",
    r"(?:a1)+|.",
    [r"\d", r"\s+|\w"],
    [r"a+", r"\w+", r" ?\W"],
    [r"a1*", r"1"],
]


@pytest.mark.parametrize("spec", [*NAMES, *OTHERS], ids=str)
class TestCuts:
    def test_short_texts(self, spec):
        pattern = bpe.Pattern.of(spec)
        split, cuts = cache(pattern.split), cache(lambda text: pattern.cuts(text).tolist())
        for letters in product("a1漢/!\n\r \t'\u0301", repeat=4):
            check_cuts("".join(letters), split, cuts)

    @thorough
    @given(text=texts(60))
    def test_random(self, spec, text):
        pattern = bpe.Pattern.of(spec)
        check_cuts(text, pattern.split, lambda text: pattern.cuts(text).tolist())

    @thorough
    @given(
        data=st.binary(max_size=20) | st.text("a 1\né漢😀", max_size=12).map(str.encode),
        start=st.integers(0, 8),
    )
    def test_bytes(self, spec, data, start):
        pattern = bpe.Pattern.of(spec)
        whole = pattern.split_bytes(data)
        for place in pattern.cuts(data[start:]) + start:
            assert pattern.split_bytes(data[:place]) + pattern.split_bytes(data[place:]) == whole

    @thorough
    @given(text=texts(60), start=st.integers(0, 30), stop=st.integers(0, 60))
    def test_the_last_cut_is_the_last_of_the_cuts(self, spec, text, start, stop):
        pattern = bpe.Pattern.of(spec)
        inside = [place for place in pattern.cuts(text).tolist() if start < place <= stop]
        assert pattern.last_cut(text, start, stop) == (inside[-1] if inside else start)
        text = text.encode("utf-8", "replace")
        inside = [place for place in pattern.cuts(text).tolist() if place <= stop]
        assert pattern.last_cut(text, 0, stop) == (inside[-1] if inside else 0)


def test_the_last_cut_may_be_far_from_the_end():
    for far in (200, 256, 257, 5_000):
        text = "one two" + "é" * far
        assert bpe.Pattern.of("gpt2").last_cut(text) == 3
        assert bpe.Pattern.of("gpt2").last_cut(text.encode()) == 3
        assert bpe.Pattern.of("gpt2").last_cut(text, 3) == 3


@pytest.mark.parametrize("name", NAMES)
def test_ordinary_text_has_cuts(name):
    pattern = bpe.Pattern.of(name)
    places = pattern.cuts("The first line, of many.\nAnd so on\n文。\n文").tolist()
    words = {3, 9, 15, 18, 28, 31}
    assert places == [] if name == "none" else words <= {*places}
    if name not in ("none", "whitespace"):
        assert {14, 23} <= {*places}  # between a letter and a sign


def test_only_text_can_be_cut():
    with pytest.raises(TypeError, match="text must be str or bytes, not int"):
        bpe.Pattern.of("gpt2").cuts(5)


@pytest.mark.filterwarnings("ignore:the split pattern cannot be compiled")
@pytest.mark.parametrize("source", ["(?:b|a??){0,2}", "(?:a?){3}", "(?:a*b?){1,2}c"])
def test_repetitions_of_what_may_be_empty(source):
    for letters in product("abc ", repeat=4):
        text = "".join(letters)
        assert bpe.split(source, text) == matches_and_gaps(source, text)


@pytest.mark.parametrize("source", [r"(?<=a)b|\w", r"(\w)\1|\w+"])
@pytest.mark.filterwarnings("ignore:the split pattern cannot be compiled")
def test_patterns_that_look_behind_or_are_not_compiled_have_no_cuts(source):
    assert bpe.Pattern.of(source).cuts("one two").tolist() == []
    assert bpe.Pattern.of(source).last_cut("one two", 2) == 2
    assert bpe.Pattern.of(source).decided(b"one two three") == 0


# ------------------------------------------------------------------------------------- expressions of users
@pytest.mark.parametrize(
    "source", [r"\w+", r"a*", r"(a)|(b)", r"\b", r"(?<=a)b", r"(?s).", r"(?=a)", "a{2}?"]
)
@settings(deadline=None)
@given(st.text("ab !é\n", max_size=20))
def test_expressions(source, text):
    assert bpe.split(source, text) == matches_and_gaps(source, text)


@settings(deadline=None)
@given(texts())
def test_sequences(text):
    assert bpe.split([r"\d", "[a-z]+"], text) == in_turn([r"\d", "[a-z]+"], text)


@pytest.mark.parametrize("pattern", ["gpt2", "deepseek", r"\d+"])
@settings(deadline=None)
@given(st.binary(max_size=30) | texts().map(lambda text: text.encode("utf-8", "replace")))
def test_split_bytes(pattern, data):
    pieces = bpe.Pattern.of(pattern).split_bytes(data)
    assert b"".join(pieces) == data
    assert all(pieces)
    if regex.fullmatch(rb"[\x00-\x7f]*", data):
        assert [piece.decode() for piece in pieces] == bpe.split(pattern, data.decode())


# ---------------------------------------------------------------------------------------- the object
def test_of():
    gpt2 = bpe.Pattern.of("gpt2")
    assert bpe.Pattern.of(gpt2) is gpt2
    assert bpe.Pattern.of(bpe.PATTERNS["gpt2"]) == gpt2 == bpe.Pattern.of([bpe.PATTERNS["gpt2"]])
    assert bpe.Pattern.of(bpe.PATTERNS["deepseek"]).name == "deepseek"
    assert (gpt2.name, gpt2.sources, gpt2.spec) == ("gpt2", (bpe.PATTERNS["gpt2"],), "gpt2")
    assert repr(gpt2) == "Pattern.of('gpt2')"
    own = bpe.Pattern.of([r"\d", "[a-z]+"])
    assert (own.name, own.sources, own.spec) == (None, (r"\d", "[a-z]+"), [r"\d", "[a-z]+"])
    assert own != gpt2
    assert len({own, gpt2, bpe.Pattern.of("gpt2")}) == 2
    assert pickle.loads(pickle.dumps(own)) == own
    assert own.compiled
    assert re.fullmatch(r"\d+\.\d+\.\d+", own.unicode_version)
    with pytest.raises(AttributeError):
        own.sources = ()


@pytest.mark.parametrize(
    ("pattern", "kind", "message"),
    [
        ("gpt3", ValueError, r"unknown pattern 'gpt3'.*gpt2, cl100k.*'\(\?:gpt3\)'"),
        ("GPT2", ValueError, "unknown pattern"),
        ("cl100k-base", ValueError, "unknown pattern"),
        ("", ValueError, "not empty"),
        ([], ValueError, "not empty"),
        (["a+", ""], ValueError, "not empty"),
        (r"\w+(", ValueError, r"invalid regular expression.*missing \).*at character 4.*gpt2"),
        (r"(?:(?:a{1000}){1000}){1000}", ValueError, "repeats too much at character 14.* 100000 parts"),
        (["a+", "(?:a|b){99999}{9}"], ValueError, "repeats too much at character 7"),
        ("(" * 100, ValueError, r"^invalid regular expression '\(+'?: .{1,200}$"),
        ("(" * 100_000, ValueError, "^the expression has more than 100 open groups at character 100"),
        (["a+", "["], ValueError, r"invalid regular expression '\['"),
        (r"\p{Nonsense}", ValueError, "unknown property"),
        (b"gpt2", TypeError, "must be a name"),
        (None, TypeError, "must be a name"),
        ([1], TypeError, "must be a name"),
    ],
)
def test_errors(pattern, kind, message):
    with pytest.raises(kind, match=message):
        bpe.split(pattern, "text")


def test_swapped_arguments():
    for name in ("gpt2", "cl100k_base"):
        for text in ("Hello world", r"\w+", "one"):
            with pytest.raises(ValueError, match=rf"the pattern comes first: split\('{name}', text\)"):
                bpe.split(text, name)
    assert bpe.split("gpt2", "cl100k") == ["cl", "100", "k"]
    assert bpe.Pattern.of(r"\w+").split("gpt2") == bpe.split(bpe.Pattern.of(r"\w+"), "gpt2") == ["gpt2"]


def test_bytes_are_refused():
    with pytest.raises(TypeError, match="split_bytes"):
        bpe.split("gpt2", b"text")


@settings(deadline=None, max_examples=500)
@given(st.text("()[]{}?*+|\\pLN<>=!:^-09,aV&~#P&'", min_size=1, max_size=12))
def test_odd_expressions_are_compiled_or_refused(source):
    with contextlib.suppress(ValueError):
        bpe.Pattern.of(source)


def test_the_function_has_the_name_of_its_module():
    importlib.import_module("bpe.splitting.pattern")
    assert bpe.split("none", "text") == ["text"]
    assert set(bpe.__all__) <= set(dir(bpe))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        bpe.nonsense  # noqa: B018


@pytest.mark.parametrize(
    ("source", "pieces"), [("(?r)a", ["a", "a", "a", "b"]), (r"a(?=b\K)", ["xa", "b", "y"])]
)
def test_matches_that_are_not_in_order_cut_all_the_same(source, pieces):
    text = "".join(pieces)
    pattern = bpe.Pattern.of(source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        assert pattern.split(text) == pieces
