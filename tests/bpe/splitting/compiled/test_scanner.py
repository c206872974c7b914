"""Patterns compiled to tables, compared with the ``regex`` package."""

import dataclasses
import os
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
import regex
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numba import njit

import bpe
from bpe.splitting.compiled.automaton import compile_automaton
from bpe.splitting.compiled.scanner import Scanner, scanner_of
from bpe.splitting.compiled.syntax import UnsupportedError, parse
from bpe.splitting.compiled.tables import tables_of, view_of
from bpe.splitting.compiled.windows import derive_windows
from bpe.splitting.pattern import _SPECIALIZED as SPECIALIZED
from bpe.splitting.regex_engine import split_by_expression
from bpe.support.text import as_bytes, as_text

DEPTH = int(os.environ.get("FUZZ_DEPTH", "1"))


def examples(n):
    return settings(deadline=None, max_examples=n * DEPTH)


ODD = {
    "tiktoken's cl100k": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
    "numbers and words": r"\d+(?:\.\d+)?|\w+|(?s:.)",
    "gaps": r"[a-z]+(?=\s|$)|\d{2,3}?",
    "empty matches": r"a*|(?=1)",
    "lines": r"(?m)^.*$",
    "edges": r"\A\s+|\s+\Z|\bA\w*|\S+?\B",
    "only words": r"\w+",
    "behind": r"(?<=a)b+|(?<!\s)[A-Z]\w*|'(?!s)|(?s:.)",
    "lazy": r"x*?y|\w{2,3}?\d|\W{1,2}+",
    "prefixes": r"(?:ab|a)(?:c|bcd)?|b",
    "case-insensitive": "(?i)(?:ß|ss|k|\u017f|'re|[a-f])+|\\PL",
    "far ahead": r"\w+(?=\s\S|!!\n)|\s+(?=a)|(?s:.)",
    "triples": r"(?s:.{3})|(?s:.)",
    "steps": (r"\d{1,2}", r"(?:ab|a)+c|x*|[^\x00-\x7f]+", r"\s+(?!\S)|\s+|\w+(?= )"),
}
assert not bpe.PATTERNS.keys() & ODD.keys()
PATTERNS = {**bpe.PATTERNS, **ODD}
NAMED = [name for name in bpe.PATTERNS if name != "none"]

SEAMS = [*"aAbcsStTrReEdDlLmMvVxyk \n\r\t'1 23!/.,\"_", "\u017f", "\u212a", "ß", "ǅ", "ʰ", "é", "文", "か"]
SEAMS += [
    "\u0301",
    "Ⅷ",
    "½",
    "٣",
    "\x0b",
    "\x85",
    "\u2028",
    "\u3000",
    "\u2019",
    "€",
    "\x00",
    "\x1c",
    "😀",
    "\U0010ffff",
]


def sources_of(name):
    sources = PATTERNS[name]
    return (sources,) if isinstance(sources, str) else sources


def by_regex(sources, data):
    """Return where pieces start and end, the slow, obvious way."""
    pieces = [as_text(data)] if data else []
    for source in sources:
        finer = []
        for piece in pieces:
            edges = {0, len(piece)}
            for match in regex.finditer(source, piece):
                edges |= {*match.span()}
            finer += [piece[start:end] for start, end in pairwise(sorted(edges))]
        pieces = finer
    lengths = [len(piece.encode("utf-8", "surrogateescape")) for piece in pieces]
    return np.cumsum([0, *lengths]).tolist()


def cut_by_regex(sources, text):
    """Return the pieces themselves, faster."""
    pieces = [text]
    for source in sources:
        pieces = [part for piece in pieces for part in split_by_expression(source, piece)]
    return pieces


def documents(max_size=60):
    text = st.text(st.sampled_from(SEAMS) | st.characters(exclude_categories=["Cs"]), max_size=max_size)
    return st.lists(text.map(str.encode) | st.binary(max_size=3), max_size=3).map(b"".join)


def long_documents():
    """Draw texts that are long enough for windows, each with few kinds of characters."""
    alphabet = st.lists(st.sampled_from(SEAMS[:48]), min_size=2, max_size=8)
    seed = st.tuples(alphabet, st.integers(150, 700), st.randoms(use_true_random=False))
    return seed.map(lambda drawn: "".join(drawn[2].choices(drawn[0], k=drawn[1])).encode())


@cache
def characters_in_use(step):
    """Return the first characters, a regular sample of the others, and a few unassigned ones."""
    every = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
    used, unused = (regex.findall(kind, every[0x3000:]) for kind in (r"[^\p{Cn}\p{Co}]", r"[\p{Cn}\p{Co}]"))
    return [*every[:0x3000], *used[::step], *unused[:: 16 * step]]


@cache
def every_character():
    """Return all characters as bytes, and where each ends."""
    characters = [chr(c).encode() for c in [*range(0xD800), *range(0xE000, 0x110000)]]
    return b"".join(characters), np.cumsum(list(map(len, characters))).astype(np.int32)


def scanner_for(sources):
    """Return the scanner of expressions; those of named patterns have code, as users have them."""
    return scanner_of(tuple(sources), SPECIALIZED)


# ------------------------------------------------------------------------------------- the same pieces
@pytest.mark.parametrize("name", PATTERNS)
class TestAgainstRegex:
    @examples(100)
    @given(data=documents())
    def test_short(self, name, data):
        sources = sources_of(name)
        assert scanner_for(sources).split(data) == by_regex(sources, data)

    @examples(50)
    @given(data=long_documents())
    def test_long(self, name, data):
        sources = sources_of(name)
        assert scanner_for(sources).split(data) == by_regex(sources, data)

    def test_every_character(self, name):
        sources = sources_of(name)
        # Between letters, digits, spaces and line ends. The regex package is slow with unusual expressions.
        characters = characters_in_use(1 if SPECIALIZED.issuperset(sources) else 7)
        text = "".join(f"{c}a{c}1{c} {c}\n" for c in characters)
        offsets = scanner_for(sources).split(text.encode())
        assert np.array_equal(
            np.diff(offsets), [len(piece.encode()) for piece in cut_by_regex(sources, text)]
        )

    def test_every_character_alone(self, name):
        characters, ends = every_character()
        data, scanner = bytearray(characters), scanner_for(sources_of(name))
        offsets = scanner.refine(data, scanner.cut(data, ends))
        assert offsets[0] == 0
        assert np.array_equal(offsets[1:], ends)

    def test_every_byte(self, name):
        sources = sources_of(name)
        for data in [b"%b", b"a%b", b"%ba 1", b"'%b", b"\xc3%b", b"\xf0\x90%b", b"\xed%b\x80", b"\xe0%b\x80"]:
            for byte in range(256):
                given = data % bytes([byte])
                assert scanner_for(sources).split(given) == by_regex(sources, given), given

    @examples(30)
    @given(data=documents() | long_documents(), draw=st.data())
    def test_blocks(self, name, data, draw):
        """A text cut anywhere into blocks has the same pieces."""
        sources = sources_of(name)
        scanner = scanner_for(sources)
        places = sorted(draw.draw(st.lists(st.integers(0, max(0, len(data) - 1)), max_size=5)))
        pieces, done = [0], 0
        for place in [*places, len(data)]:
            held = np.array([place], np.int32)
            offsets = scanner.cut(bytearray(data), held, start=done, text_start=0, is_open=place < len(data))
            pieces += scanner.refine(bytearray(data), offsets)[1:].tolist()
            done = pieces[-1]
        assert pieces == scanner.split(data)

    @examples(50)
    @given(data=documents() | long_documents(), draw=st.data())
    def test_decided(self, name, data, draw):
        """Decided pieces stay, whatever text follows, and the rest has the other pieces by itself."""
        scanner = scanner_of(sources_of(name))
        whole, known = scanner.split(data), draw.draw(st.integers(0, len(data)))
        place = scanner.decided(bytearray(data[:known]))
        n_before = whole.index(place)
        assert place <= known
        assert scanner.split(data[:known])[: n_before + 1] == whole[: n_before + 1]
        assert [place + offset for offset in scanner.split(data[place:])] == whole[n_before:]

    @examples(100)
    @given(parts=st.lists(documents(8).filter(bool), max_size=8))
    def test_segments(self, name, parts):
        scanner = scanner_of(sources_of(name))
        ends = np.cumsum([0, *map(len, parts)])
        pieces = [0]
        for start, part in zip(ends.tolist(), parts, strict=False):
            pieces += [start + offset for offset in scanner.split(part)[1:]]
        data = bytearray(b"".join(parts))
        assert scanner.refine(data, scanner.cut(data, ends[1:].astype(np.int32))).tolist() == pieces


CLASSES = ["a", "b", "'", r"\s", r"\S", r"\w", r"\d", "[^ab]", "[a-c1]", r"\p{L}", ".", r"\n", "(?i:A)"]
ASSERTIONS = [r"\b", "^", "$", "(?<=a)", r"(?<!\s)", r"\Z", r"\A", "(?m:^)", "(?m:$)", r"(?!\S)", "(?=a|b1)"]
QUANTIFIERS = [sign + suffix for sign in ["?", "*", "+", "{1,2}", "{2}", "{,2}"] for suffix in ["", "?", "+"]]


def expressions():
    return st.recursive(
        st.sampled_from(CLASSES) | st.sampled_from(CLASSES) | st.sampled_from(ASSERTIONS),
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=3).map("".join),
            st.lists(inner, min_size=1, max_size=3).map("|".join).map("(?:{})".format),
            st.tuples(inner, st.sampled_from(QUANTIFIERS)).map(lambda drawn: f"(?:{drawn[0]}){drawn[1]}"),
            inner.map("(?={})".format),
            inner.map("(?!{})".format),
            inner.map("(?>{})".format),
        ),
        max_leaves=6,
    )


@examples(400)
@given(
    st.lists(expressions(), min_size=1, max_size=3).map("|".join),
    st.lists(st.text("aabbA1' \n\t.é_", max_size=10), min_size=5, max_size=5),
)
def test_any_expression(source, texts):
    try:
        scanner = Scanner([source])
    except UnsupportedError:
        assume(False)
    for text in [*texts, "".join(texts) * 10]:
        data = text.encode()
        assert scanner.split(data) == by_regex([source], data), text


@settings(examples(100), suppress_health_check=[HealthCheck.filter_too_much])
@given(
    st.lists(st.lists(expressions(), min_size=1, max_size=2).map("|".join), min_size=1, max_size=3),
    st.lists(st.text("aabbA1' \n\t.é_", max_size=10), min_size=5, max_size=5),
)
def test_any_expressions_decide(sources, texts):
    try:
        scanner = Scanner(sources)
    except UnsupportedError:
        assume(False)
    data = "".join(texts).encode()
    whole, done = scanner.split(data), 0
    for known in range(len(data) + 1):
        place = done + scanner.decided(bytearray(data[done:known]))
        assert place in whole
        done = place
    assert [done + offset for offset in scanner.split(data[done:])] == whole[whole.index(done) :]
    assert done == 0 or not scanner.looks_behind


@pytest.mark.parametrize("name", [*NAMED, "numbers and words", "empty matches", "far ahead", "steps"])
def test_most_of_a_text_is_decided(name, book):
    """A stream holds no more than a piece or two."""
    scanner, data, done, held = scanner_of(sources_of(name)), book[:20_000].encode(), 0, []
    for known in range(100, len(data), 100):
        done += scanner.decided(bytearray(data[done:known]))
        held.append(known - done)
    assert max(held) < 150


# ------------------------------------------------------------------------------------------ the windows
WINDOWED = ["gpt2", "cl100k", "o200k", "llama3", "qwen2", "whitespace", "none", "tiktoken's cl100k"]
WINDOWED += ["numbers and words", "far ahead", "triples", "lazy", "only words", "case-insensitive"]


@pytest.mark.parametrize("name", PATTERNS)
def test_which_have_windows(name):
    """Those that look behind, match empty texts, memoize or have a prefilter have no windows."""
    scanner = scanner_of(sources_of(name))
    assert scanner.has_windows == (name in WINDOWED and not scanner.memoizes)


@cache
def windows_of(source):
    automaton = compile_automaton(source)
    return automaton, derive_windows(automaton)


def pieces_with(windows, automaton, data):
    scanner = Scanner(["a"])
    scanner._tables = [tables_of(automaton, windows)]
    return scanner.split(data)


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k"])
def test_windows_cut_the_text(name, book):
    """If the products of the windows are widened to everything, nearly every place ends a piece."""
    automaton, windows = windows_of(*sources_of(name))
    data = book.encode()
    right = by_regex(sources_of(name), data)
    assert pieces_with(windows, automaton, data) == right
    assert pieces_with(None, automaton, data) == right
    everywhere = dataclasses.replace(windows, ends=windows.ends[:1] | 0xFF)
    assert len(pieces_with(everywhere, automaton, data)) > 0.9 * len(data)
    scanner = Scanner(sources_of(name))
    scanner._tables = [tables_of(automaton, everywhere, specialized=True)]
    assert len(scanner.split(data)) > 0.9 * len(data), "windows in code are used, not the tables"


@pytest.mark.parametrize("name", ["gpt2", "cl100k"])
def test_windows_cut_next_to_edges(name):
    automaton, windows = windows_of(*sources_of(name))
    everywhere = dataclasses.replace(windows, ends=windows.ends[:1] | 0xFF, open=windows.open[:0])
    data, ends = bytearray(b"ab" * 1000), np.arange(2, 2001, 2, np.int32)
    for used, wanted in ((windows, ends), (everywhere, np.arange(1, 1900))):
        scanner = Scanner(["a"])
        scanner._tables = [tables_of(automaton, used)]
        assert np.isin(wanted, scanner.cut(data, ends)).all()
    assert np.array_equal(scanner.cut(data, ends)[-10:], ends[-10:])


def test_windows_cut_what_lies_between_matches(book):
    automaton, windows = windows_of(PATTERNS["only words"])
    data = (book + "..., !! " * 500 + "x").encode()
    assert pieces_with(windows, automaton, data) == by_regex(sources_of("only words"), data)
    everywhere = dataclasses.replace(windows, ends=windows.ends[:1] | 0xFF)
    assert len(pieces_with(everywhere, automaton, data)) > 0.9 * len(data)


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "llama3", "qwen2"])
def test_named_patterns_have_code_of_their_own(name, book):
    """A stranger's pattern is never compiled; the same expression is cut by code and by tables alike."""
    sources = sources_of(name)
    specialized, in_tables = bpe.Pattern.of(name).scanner, Scanner(sources)
    strangers = bpe.Pattern.of(sources[0] + "|x").scanner
    types = [scanner._tables[0]._numba_type_ for scanner in (specialized, in_tables, strangers)]
    assert types[0] != types[1] == types[2]
    chance, seams = np.random.default_rng(0), [*SEAMS, *LETTERS, "Привет", "日本語", "don't ", "“the”"]
    texts = ["".join(seams[i] for i in chance.integers(0, len(seams), n)) for n in range(0, 900, 9)]
    for text in [book[:200_000], *texts]:
        data = bytearray(text.encode())
        assert specialized.split(data) == in_tables.split(data)
        for place in chance.integers(0, len(data) + 1, 5):
            data[place : place + 1] = bytes([chance.integers(256)])
        assert specialized.split(data) == in_tables.split(data) == by_regex(sources, data)


LETTERS = "éÉßǅʰ文か\u017f\u0301\u0661\u2028\u00a0\U0001f600"


@pytest.mark.parametrize("name", WINDOWED)
@examples(100)
@given(data=st.data())
def test_windows_decide(name, data):
    """The verdict of a window is right in every text that contains it."""
    source = sources_of(name)[0]
    automaton, windows = windows_of(source)
    characters = [*map(chr, range(128)), *LETTERS]
    group_of = {c: int(windows.group_of[automaton.symbol_of[ord(c)]]) for c in characters}
    soft = [c for c, group in group_of.items() if group]
    text = st.text(st.sampled_from(soft), min_size=1, max_size=20)
    edge = int(windows.group_of[-1])
    assert edge != 0 or name == "o200k", "its groups are too many"
    segments = data.draw(st.lists(text, min_size=1, max_size=3 if edge else 1))
    # Any text may follow. The windows at the edges of the text are not complete and do not count.
    rest = data.draw(st.text(st.sampled_from(SEAMS), max_size=6))
    groups, is_end = [], []  # by character; an edge is one, too
    for k, segment in enumerate(segments, 1):
        is_last = k == len(segments)
        of_segment = by_regex([source], (segment + rest if is_last else segment).encode())
        place_of = np.cumsum([0, *(len(c.encode()) for c in segment)]).tolist()
        is_end += [place in of_segment[1:] for place in place_of[: len(segment)]]
        groups += map(group_of.get, segment)
        if not is_last:
            groups.append(edge)
            is_end.append(True)

    def is_in(products, window):
        return any(all(a & b for a, b in zip(product, window, strict=True)) for product in products)

    for place in range(3, len(groups) - 1):
        window = groups[place - 3 : place + 2]
        if not is_in(windows.open, window):
            assert is_in(windows.ends, window) == is_end[place], place


# Bytes of the form of characters: too long for what they stand for, surrogates, or past the last character.
NOT_UTF_8 = [
    b"\xc1\xa1",
    b"\xe0\x81\xa1",
    b"\xf0\x80\x81\xa1",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xf8\x88\x80\x80\x80",
]


@pytest.mark.parametrize("bad", NOT_UTF_8)
@pytest.mark.parametrize("name", ["gpt2", "o200k"])
def test_what_only_looks_like_a_character_is_none(name, bad):
    data = b"".join(b"word" * (i % 3) + "é".encode() * (i % 2) + bad + b"word " for i in range(200))
    pattern = bpe.Pattern.of(name)
    assert pattern.scanner.has_windows
    expected = [as_bytes(piece) for piece in pattern._split_by_regex(as_text(data))]
    assert pattern.split_bytes(data) == expected


def test_one_expression_that_looks_behind_leaves_no_cuts():
    pattern = bpe.Pattern.of([r"[a-z ]+|[^a-z ]", r"\b[a-z]+|(?s:.)"])
    assert pattern.scanner.looks_behind
    assert pattern.cuts("one two!three").size == 0


# ---------------------------------------------------------------------------------------- what is refused
@pytest.mark.parametrize(
    ("source", "what"),
    [
        (r"(a)\1", r"'\\1' at character 3"),
        (r"(?:a*)*", "repetition of an expression that may be empty"),
        (r"(?>ab|a)c", "atomic group"),
        (r"(?<=ab)c", "lookbehind of more than one"),
        (r"(?=a+b)c", "a lookahead of this kind"),
        (r"(?=abcd)a", "more than 3 characters"),
        (r"a{1,9999}", "this repetition"),
        (r"(?:ab){e<=1}", "the sign '{' at character 6"),
        (r"(?x) a", "group"),
        (r"\X", r"'\\X'"),
        (r"(?|a|b)", "group"),
        (r"(?:[ab]{0,500}c){9}", "too large|too many"),
    ],
)
def test_refused(source, what):
    regex.compile(source)
    with pytest.raises(UnsupportedError, match=what):
        Scanner([source])


def test_regex_splits_what_is_not_compiled():
    pattern = bpe.Pattern.of(r"(\w)\1|\w|_")  # used by no other test: it warns once
    with pytest.warns(RuntimeWarning, match=r"cannot be compiled: '\\1' at character 4") as warned:
        assert pattern.split("aab c") == ["aa", "b", " ", "c"]
    assert warned[0].filename == __file__
    assert pattern.split_bytes(b"aab") == [b"aa", b"b"]  # without another warning
    assert not pattern.compiled
    assert pattern.scanner is None


def test_syntax():
    assert parse("(?i)a|b") == parse("(?i:a|b)")
    assert parse("(?P<name>a)(?<other>b)") == parse("(a)(b)") == parse("ab")
    assert parse(r"[[:alpha:]\]]x") == parse(r"(?:[[:alpha:]\]])(x)")
    assert parse("(?i:a(?-i:b))") != parse("(?i:ab)")


# --------------------------------------------------------------------------------------------- long runs
@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "deepseek", "none"])
@pytest.mark.parametrize("unit", ["a", " ", "\n", "\n ", "7", "'s", "é", "A", "\u0301"])
def test_runs(name, unit):
    sources = sources_of(name)
    data = (unit * 5_000).encode()
    assert scanner_of(sources).split(data) == by_regex(sources, data)


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k"])
@pytest.mark.parametrize(
    "unit", ["don't ", "     x", "123456", "\n \n  y", "é'ö", "x" * 1500, "'" * 70 + "s "]
)
def test_the_edges_of_chunks(name, unit):
    """What the windows leave open is decided where a chunk of characters ends, too."""
    sources, specialized = sources_of(name), bpe.Pattern.of(name).scanner
    for n in [*range(1018, 1034), *range(2040, 2060)]:
        for fill in ("it is ", "é è "):
            data = ((fill * n)[:n] + unit + fill * 250).encode()
            assert specialized.split(data) == by_regex(sources, data)


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k"])
def test_what_follows_a_segment_does_not_change_it(name, book):
    """The windows read bytes after its end: of other segments, or the rest of a character that is cut."""
    scanner, chance = bpe.Pattern.of(name).scanner, np.random.default_rng(0)
    seams = [*SEAMS, *LETTERS, "Привет", "日本語", "don't ", "“the”", "1234", "\n \n", *book[:2000].split()]
    for most in (3, 20, 90, 300, 3000):
        data = " ".join(seams[i] for i in chance.integers(0, len(seams), 2000)).encode()
        ends = np.cumsum(chance.integers(0, most, len(data)))
        ends = np.append(ends[ends < len(data)], [len(data)] * 2).astype(np.int32)
        pieces = [0]
        for start, end in pairwise([0, *ends.tolist()]):
            pieces += [start + place for place in scanner.split(data[start:end])[1:]]
        assert scanner.cut(bytearray(data), ends).tolist() == pieces
        is_open = scanner.cut(bytearray(data), ends[:-1], is_open=True).tolist()
        assert is_open == pieces[: len(is_open)]


def test_searching_is_compiled_once_for_all_patterns():
    """What searches takes a view of the automaton, whose type is that of all tables."""

    @njit
    def searches(tables, failed):
        return view_of(tables, failed, 0).automaton.looks_behind

    for name in ("gpt2", "cl100k", r"[a-z]+|\d+b"):
        searches(bpe.Pattern.of(name).scanner._tables[0], np.zeros(0, np.uint8))
    views = [compiled.signature.return_type for compiled in view_of.overloads.values()]
    assert len(set(views)) >= 3
    assert len({dict(zip(view.fields, view.types, strict=True))["automaton"] for view in views}) == 1
