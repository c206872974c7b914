import contextlib
import importlib
import pickle
import re
from itertools import pairwise, product

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bpe
from bpe.pattern import _SPELLINGS

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


# ------------------------------------------------------------------------------------------ last_cut
@pytest.mark.parametrize("name", NAMES)
class TestLastCut:
    def all_cuts(self, pattern, text):
        places, stop = [], len(text)
        while (place := pattern.last_cut(text, 0, stop)) > 0:
            assert 0 < place <= stop
            places.append(place)
            stop = place - 1
        return places

    def test_short_texts(self, name):
        pattern = bpe.Pattern.of(name)
        for letters in product("a1漢/!\n\r \t'\u0301", repeat=4):
            text = "".join(letters)
            whole = pattern.split(text)
            for place in self.all_cuts(pattern, text):
                assert pattern.split(text[:place]) + pattern.split(text[place:]) == whole, (text, place)

    @thorough
    @given(text=texts(60))
    def test_random(self, name, text):
        pattern = bpe.Pattern.of(name)
        whole = pattern.split(text)
        for place in self.all_cuts(pattern, text):
            assert pattern.split(text[:place]) + pattern.split(text[place:]) == whole, place

    def test_ordinary_text_has_places(self, name):
        text = "The first line, of many.\nAnd so on\n文。\n文"
        assert bpe.Pattern.of(name).last_cut(text) == {"none": 0, "gpt2": 37, "whitespace": 37}.get(name, 38)
        assert bpe.Pattern.of(name).last_cut(text, 12, 14) == 12
        assert bpe.Pattern.of(name).last_cut(text, 8, 16) == (8 if name == "none" else 15)


def test_unnamed_patterns_have_no_places():
    assert bpe.Pattern.of(r"\S+|\s+").last_cut("one two three") == 0


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
        ("(" * 100_000, ValueError, r"^invalid regular expression '\(+'?: .{1,200}$"),
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


def test_bytes_are_refused():
    with pytest.raises(TypeError, match="split_bytes"):
        bpe.split("gpt2", b"text")


@settings(deadline=None, max_examples=500)
@given(st.text("()[]{}?*+|\\pLN<>=!:^-09,aV&~#P&'", min_size=1, max_size=12))
def test_odd_expressions_are_compiled_or_refused(source):
    with contextlib.suppress(ValueError):
        bpe.Pattern.of(source)


def test_the_function_has_the_name_of_its_module():
    importlib.import_module("bpe.pattern")
    assert bpe.split("none", "text") == ["text"]
    assert set(bpe.__all__) <= set(dir(bpe))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        bpe.nonsense  # noqa: B018
