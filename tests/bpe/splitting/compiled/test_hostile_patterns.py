"""Patterns made to take long: compiling them, and cutting with them, has limits."""

import json
import random
from collections import Counter

import numpy as np
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe.splitting import regex_engine as regular_expressions
from bpe.splitting.compiled.automaton import compile_automaton
from bpe.splitting.compiled.classes import _found_by_regex, ranges_of, symbols_of
from bpe.splitting.compiled.configurations import _can_be_met
from bpe.splitting.compiled.cutting import cut
from bpe.splitting.compiled.lookahead import MAX_LOOKAHEAD, find_lookahead
from bpe.splitting.compiled.matching import n_failed_bytes
from bpe.splitting.compiled.scanner import Scanner
from bpe.splitting.compiled.syntax import MAX_STEPS, StepBudget, UnsupportedError
from bpe.splitting.compiled.windows import derive_windows
from bpe.splitting.regex_engine import (
    MAX_DEPTH,
    MAX_EXPRESSIONS,
    MAX_LENGTH,
    check_expression,
    check_expressions,
)

TIKTOKEN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)


def without_han(names):
    """Return a set with the members of some categories but Han, written as ranges."""
    edges = np.unique(np.concatenate([ranges_of(f"[{names}]").ravel(), ranges_of(r"\p{Han}").ravel()]))
    han, wanted = (
        np.searchsorted(ranges_of(source).ravel(), edges[:-1], side="right") % 2 == 1
        for source in (r"\p{Han}", f"[{names}]")
    )
    ranges = [(edges[i], edges[i + 1]) for i in np.flatnonzero(wanted & ~han)]
    return "".join(rf"\U{start:08x}-\U{end - 1:08x}" for start, end in ranges)


def like_kimi():
    upper, lower = (without_han(rf"\p{{L{a}}}\p{{L{b}}}\p{{Lm}}\p{{Lo}}\p{{M}}") for a, b in ("ut", "ll"))
    end = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    return (
        rf"[\p{{Han}}]+|[^\r\n\p{{L}}\p{{N}}]?[{upper}]*[{lower}]+{end}"
        rf"|[^\r\n\p{{L}}\p{{N}}]?[{upper}]+[{lower}]*{end}"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    )


# ---------------------------------------------------------------------------------------- ordinary ones
@pytest.mark.parametrize("name", [*bpe.PATTERNS, "tiktoken's cl100k", "like Kimi"])
def test_known_patterns_are_far_below_the_limits(name):
    other = {"tiktoken's cl100k": TIKTOKEN, "like Kimi": None}
    sources = bpe.PATTERNS.get(name) or other[name] or like_kimi()
    sources = (sources,) if isinstance(sources, str) else sources
    scanner = Scanner(sources)
    assert scanner.steps < MAX_STEPS / 5
    assert sum(map(len, sources)) < MAX_LENGTH / 2
    assert not scanner.memoizes  # linear by proof: no search has to memoize anything
    assert scanner.has_windows == (name != "deepseek")
    for source in sources:
        assert len(find_lookahead(compile_automaton(source)).endless) < MAX_LOOKAHEAD / 50


# -------------------------------------------------------------------------------------------- compiling
def alternatives(n, width):
    rng = random.Random(n)
    return ["".join(rng.choices("abcdefgh", k=width)) for _ in range(n)]


ATTACKS = {
    "set without an end": lambda n: "[" * n,
    "class without an end": lambda n: "[[:a" * n,
    "property without an end": lambda n: r"\p{" * n,
    "large set": lambda n: f"[a{'b' * n}]",
    "large set, case": lambda n: f"(?i:[{'a-f' * n}])",
    "many characters, case": lambda n: f"(?i)[{''.join(map(chr, range(0x100, 0x100 + n)))}]",
    "sets that only the package reads": lambda n: "|".join(rf"[\b{chr(0x4E00 + i)}]" for i in range(n)),
    "alternatives of small sets": lambda n: "|".join(f"[{a}]" for a in alternatives(n, 4)),
    "sets of their own": lambda n: "|".join(f"[{chr(2 * i)}{chr(2 * i + 1)}]x" for i in range(200, 200 + n)),
    "sets that overlap": lambda n: "|".join(f"[{chr(200 + i)}-{chr(400 + i)}]+x" for i in range(n)),
    "alternatives of words": lambda n: "|".join(alternatives(n, 9)),
    "long literal": lambda n: "abcdefghij" * n,
    "long literal, case": lambda n: "(?i)" + "".join(map(chr, range(0x400, 0x460))) * n,
    "states": lambda n: f"(?:.*a.{{{n}}})+",
    "states of two": lambda n: f"(?:a|b)*a(?:a|b){{{n}}}|.",
    "states that do not end": lambda n: "|".join(f"(?:a{{{p}}})*{chr(98 + p)}" for p in range(2, n)) + "|.",
    "counted": lambda n: f"(?:[ab]{{0,{n}}}c){{9}}",
    "counted, nested": lambda n: f"(?:(?:a{{1,{n}}}b){{1,{n}}}c){{1,{n}}}",
    "optional": lambda n: "a?" * n + "|.",
    "stars": lambda n: "a*b*" * n + "c|.",
    "nested stars": lambda n: "(?:" * n + "a" + "+b)+" * n + "|.",
    "lookaheads": lambda n: "(?=[a-c]|bc)" * n + "a|.",
    "lookaheads refused": lambda n: "(?!abc|bcd|cde)" * n + "[a-z]+|.",
    "lookahead of many": lambda n: f"(?!{'|'.join(alternatives(n, 3))})[a-h]|.",
    "lookahead of products": lambda n: f"(?={'(?:a|b|c)' * n})[a-c]|.",
    "lookaheads in lookaheads": lambda n: "(?!" * n + "ab" + ")" * n + "a|.",
    "deep groups": lambda n: "(?:" * n + "a" + ")" * n,
    "deep captures": lambda n: "(" * n + "a" + "|b)" * n,
    "deep options": lambda n: "(?:a" * n + ")?" * n + "|.",
    "deep counts": lambda n: "(?:" * n + "a" + "{1,2})" * n,
    "deep atomic groups": lambda n: "(?>a" * n + "b" + ")" * n,
    "boundaries": lambda n: r"\b\B" * n + "a|.",
    "lines": lambda n: "(?m:^a$|" * n + "b" + ")" * n,
    "windows": lambda n: "|".join(f"[{chr(97 + i)}-{chr(103 + i)}]{{1,{n}}}" for i in range(19)) + "|(?s:.)",
    "empty": lambda n: "(?:)" * n + "a",
}
SIZES = (10, 90, 1_000, 20_000)


@pytest.mark.filterwarnings("ignore:Possible:FutureWarning")
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ATTACKS)
def test_compiling_is_limited(name, size):
    """Every pattern is compiled, split by the package or refused, in a limited number of steps."""
    source = ATTACKS[name](size)
    budget, windows_budget, problem = StepBudget(), StepBudget(), ""
    try:
        bpe.Pattern.of([source])
        automaton = compile_automaton(source, budget)
        if not find_lookahead(automaton, budget).meet:
            derive_windows(automaton, windows_budget)
    except (ValueError, UnsupportedError) as error:
        problem = str(error)
    # Steps are counted before they are made, so that the last ones, beyond the limit, are not.
    assert budget.spent < MAX_STEPS * 1.1
    assert windows_budget.spent < MAX_STEPS * 1.1
    assert len(problem) < 1_000


LINEAR = {
    "large set": 400,
    "alternatives of words": 40,
    "optional": 10,
    "lookaheads": 50,
    "deep groups": 20,
    "sets that only the package reads": 20,
    "long literal": 6,
}


@pytest.mark.parametrize("name", LINEAR)
def test_twice_the_size_takes_twice_the_steps(name):
    done = []
    for size in (LINEAR[name], 2 * LINEAR[name], 4 * LINEAR[name]):
        budget = StepBudget()
        compile_automaton(ATTACKS[name](size), budget)
        done.append(budget.spent)
    # "optional" has n states of up to n threads each, but n is small.
    assert done[2] < (5 if name != "optional" else 20) * done[0], done


def test_what_comes_before_configurations_is_limited():
    """It takes steps for each entry of the automaton, however few configurations there are."""
    automaton = compile_automaton("ab" * 1000)
    with pytest.raises(UnsupportedError, match="more than 500 steps"):
        _can_be_met(automaton, StepBudget(500))


def test_a_set_without_an_end_is_looked_for_once(monkeypatch):
    looked = []

    class Counting:
        @staticmethod
        def match(source, at):
            looked.append(at)
            return regular_expressions._PART.match(source, len(source))  # None

    monkeypatch.setattr(regular_expressions, "SET", Counting)
    assert check_expression("[" * 1_000) == 1_000
    assert looked == [0]


# What is large for the package itself.
@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("a" * (MAX_LENGTH + 1), f"has {MAX_LENGTH + 1} characters, which is more than"),
        ("(?:a{1000}){1000}", "repeats too much at character 11"),
        ("(" * (MAX_DEPTH + 1), f"more than {MAX_DEPTH} open groups at character {MAX_DEPTH}"),
        # A comment can hide what looks like a set, or stand before a count.
        ("(?x)#[\n(?:a{1000}){1000}#]", "repeats too much"),
        ("(?ix)(?:a{1000}) {1000}", "repeats too much"),
        ("(?i-s:(?x:(?:a{1000})#b\n{1000}))", "repeats too much"),
        ("(?:a{1000})(?#b){1000}", "repeats too much"),
        ("a{99999999999999999999}", "repeats too much"),
        ("(?:" * 30 + "a" + "b)+" * 30, "repeats too much"),  # the package writes (...)+ twice
        ("(?:" * 30 + "a" + "b){1,}?" * 30, "repeats too much"),
    ],
)
def test_large_for_the_package(source, problem):
    with pytest.raises(ValueError, match=problem):
        bpe.Pattern.of([source])


def test_many_expressions():
    check_expressions(["a"] * MAX_EXPRESSIONS)
    with pytest.raises(ValueError, match=f"{MAX_EXPRESSIONS + 1} expressions, which is more than"):
        bpe.Pattern.of(["a"] * (MAX_EXPRESSIONS + 1))
    with pytest.raises(ValueError, match=f"the pattern has {2 * MAX_LENGTH - 2} characters"):
        bpe.Pattern.of(["a" * (MAX_LENGTH - 1)] * 2)
    with pytest.raises(ValueError, match="have more than 100000 parts in all"):
        bpe.Pattern.of(["a{90000}"] * 2)


def test_work_is_shared_by_the_expressions_of_a_pattern():
    one, other, both = (Scanner(sources).steps for sources in (["a+"], ["b+"], ["a+", "b+"]))
    assert both == one + other
    with pytest.raises(UnsupportedError, match=f"more than {MAX_STEPS} steps"):
        Scanner(["|".join(rf"[\b{chr(0x4E00 + i)}]" for i in range(40))] * 5)


def test_groups_deeper_than_the_stack():
    source = "(?:a|" * MAX_DEPTH + "b" + ")" * MAX_DEPTH

    def at_depth(n):
        if n:
            return at_depth(n - 1)
        try:
            return compile_automaton(source).n_symbols
        except UnsupportedError as error:
            return str(error)

    found = {at_depth(n) for n in range(0, 600, 20)}
    assert found <= {3, "groups that are nested too deeply"}
    assert 3 in found


# ------------------------------------------------------------------------------------------------- sets
ITEMS = ["a", "Z", "k", "é", "-", "]", "[", "^", r"\d", r"\s", r"\W", r"\p{Lu}", r"\P{L}", "0-9", "a-f"]
ITEMS += [
    r"\x00-\x1f",
    r"\]",
    r"\-",
    "[:alpha:]",
    "[:^digit:]",
    "&",
    "|",
    "~",
    ":",
    r"\u212a",
    "\u017f-\u017f",
    "K-s",
]


@pytest.mark.filterwarnings("ignore:Possible:FutureWarning")
def test_sets_are_those_of_the_package():
    rng, tried = random.Random(0), 0
    while tried < 250:
        source = f"[{rng.choice(['', '^'])}{''.join(rng.choices(ITEMS, k=rng.randint(1, 5)))}]"
        source = source if tried % 4 else f"(?i:{source})"
        try:
            members = _found_by_regex(source)
        except UnsupportedError:
            continue
        if regex.compile(f"(?:{source})").groups == 0 and source.count("[") == source.count("]"):
            assert np.array_equal(ranges_of(source), members), source
            tried += 1


def test_symbols():
    """Code points have one symbol if they are in the same classes, as one by one."""
    rng = np.random.default_rng(0)
    classes = [np.sort(rng.choice(300, 8, replace=False)).reshape(-1, 2) for _ in range(6)]
    symbol_of, members = symbols_of(classes)
    assert symbol_of.dtype == np.uint8
    for code in range(310):
        inside = [bool(((ranges[:, 0] <= code) & (code < ranges[:, 1])).any()) for ranges in classes]
        assert members[symbol_of[code]].tolist() == inside
    assert len(np.unique(members, axis=0)) == len(members)


# --------------------------------------------------------------------------------------------- matching
MEMOIZING = [
    r"a[^\n]*b|.",
    r"\s+$|\s|\S+",
    r"[a-z]+(?=\s|$)|\d{2,3}?",
    r"(?:a{7})*b|(?:a{11})*c|a",
    r"(?:ab)*c|.",
    r"\w+(?=\s\S|!!\n)|\s+(?=a)|(?s:.)",
    r"(?<=a)[^\n]*b|a*?c|\s",
]


@pytest.mark.parametrize("source", MEMOIZING)
def test_which_memoize(source):
    scanner = Scanner([source])
    assert scanner.memoizes
    assert not scanner.has_windows
    assert scanner.only_tables is None


@pytest.mark.parametrize(
    "source", [r"a+|\s+|.", r"a{1,200}b|.", r"(?:ab)+|.", r"\s*\n|\s+|\S+", r"\d+(?:\.\d+)?|\w|."]
)
def test_which_need_not(source):
    assert not Scanner([source]).memoizes


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (f"a{{{MAX_LOOKAHEAD + 20}}}b|.", f"more than {MAX_LOOKAHEAD} characters beyond its match"),
        (f"(?:a{{{MAX_LOOKAHEAD + 20}}})*b|.", "far beyond its match, in too many states"),
    ],
)
def test_far_lookahead_is_refused(source, problem):
    with pytest.raises(UnsupportedError, match=problem):
        Scanner([source])


def by_regex(source, text):
    edges = {0, len(text)}
    for match in regex.finditer(source, text, timeout=1):
        edges |= {*match.span()}
    lengths = [len(text[:edge].encode()) for edge in sorted(edges)]
    return lengths if text else [0]


def cut_and_look(source, segments):
    """Return the offsets of all segments, and how much was memoized."""
    scanner = Scanner([source])
    data = np.frombuffer(bytearray(b"".join(segments)), np.uint8)
    ends = np.cumsum([len(segment) for segment in segments]).astype(np.int32)
    failed = np.zeros(n_failed_bytes(0, len(data), scanner._set_bytes[0]), np.uint8)
    out = np.empty(len(data) + 1, np.int32)
    n = cut(scanner._tables[0], data, 0, 0, ends, False, out, failed)
    assert scanner.cut(data, ends).tolist() == out[: n + 1].tolist()
    return out[: n + 1].tolist(), np.unpackbits(failed).sum()


ATOMS = ["a", "b", "é", "[ab]", "[^b]", r"\s", ".", r"\p{L}", "[^\n]", "(?:ab)", "(?:a|éb)"]
SIGNS = ["", "", "*", "+", "*?", "{2,3}", "?", "+?"]


def expressions():
    piece = st.tuples(st.sampled_from(ATOMS), st.sampled_from(SIGNS)).map("".join)
    branch = st.tuples(
        st.lists(piece, min_size=1, max_size=3).map("".join),
        st.sampled_from(["", "", "c", "!", "(?=c)", "$", "(?! )"]),
    ).map("".join)
    looped = st.tuples(branch, st.sampled_from(["{}", "{}", "(?:{}a)*!", "(?<=a){}"])).map(
        lambda drawn: drawn[1].format(drawn[0])
    )
    return st.lists(looped, min_size=1, max_size=3).map("|".join)


def texts():
    runs = st.tuples(
        st.sampled_from(["a", "b", "ab", " ", "é", "a b", "aé", "\n", "c", "!"]), st.integers(1, 40)
    )
    return st.lists(runs.map(lambda drawn: drawn[0] * drawn[1]), max_size=5).map("".join)


def test_any_expression_that_memoizes():
    seen = Counter()

    @settings(deadline=None, max_examples=600)
    @given(source=expressions(), parts=st.lists(texts(), min_size=1, max_size=3))
    def check(source, parts):
        try:
            scanner = Scanner([source])
        except UnsupportedError:
            return
        segments = [part.encode() for part in parts if part]
        found, n_memoized = cut_and_look(source, segments)
        expected, start = [0], 0
        try:
            for segment in segments:
                expected += [start + offset for offset in by_regex(source, segment.decode())[1:]]
                start += len(segment)
        except TimeoutError:  # exponential in the package
            return
        assert found == expected
        seen[scanner.memoizes, bool(n_memoized)] += 1

    check()
    assert seen[True, True] > 20  # something failed, and was memoized
    assert seen[False, False] > 20
    assert not seen[False, True]


@settings(deadline=None, max_examples=200)
@given(
    source=st.sampled_from(MEMOIZING),
    data=st.tuples(texts().map(str.encode), st.binary(max_size=3), texts().map(str.encode)).map(b"".join),
    draw=st.data(),
)
def test_blocks(source, data, draw):
    """A text cut anywhere into blocks has the same pieces; so has what is decided, and the rest."""
    scanner = Scanner([source])
    whole, done, pieces = scanner.split(data), 0, [0]
    for place in [*sorted(draw.draw(st.lists(st.integers(0, len(data)), max_size=4))), len(data)]:
        ends = np.array([place], np.int32)
        is_open = place < len(data)
        pieces += scanner.cut(bytearray(data), ends, start=done, text_start=0, is_open=is_open).tolist()[1:]
        done = pieces[-1]
    assert pieces == whole
    place = scanner.decided(bytearray(data[: len(data) // 2]))
    assert place in whole
    assert [place + offset for offset in scanner.split(data[place:])] == whole[whole.index(place) :]


@settings(deadline=None, max_examples=100)
@given(texts())
def test_several_expressions(text):
    sources = (r"[a-z]+(?=!)|\d", r"a[^\n]*b|.", r"\s+$|\s|\S+")
    pattern = bpe.Pattern.of(sources)
    pieces = [text] if text else []
    for source in sources:
        pieces = [part for piece in pieces for part in bpe.Pattern.of([source]).split(piece)]
        assert pieces == [part for part in pieces if part]
    assert pattern.split(text) == pieces
    assert regular_expressions.split_by_expressions(sources, text) == pieces
    half = pattern.decided(text[: len(text) // 2].encode())
    assert (
        pattern.split_bytes(text.encode()[half:])
        == [piece.encode() for piece in pattern.split(text) if piece][
            len(pattern.split_bytes(text.encode()[:half])) :
        ]
    )


# ------------------------------------------------------------------------------- split by the package
SLOW = r"(?:a|aa)+$|(a)\1b"  # exponential; each test that warns has its own


@pytest.fixture
def little_time(monkeypatch):
    monkeypatch.setattr(regular_expressions, "SECONDS", 0.05)
    monkeypatch.setattr(regular_expressions, "SECONDS_PER_MEGABYTE", 0)


def test_the_package_has_a_time_limit(little_time):
    pattern = bpe.Pattern.of(SLOW)
    with pytest.warns(RuntimeWarning, match="cannot be compiled"):
        assert pattern.split("aab") == ["aab"]
    message = r"pattern '\(\?:a\|aa\)\+\$\|\(a\)\\\\1b' takes more than 0 seconds for a text of 61 characters"
    with pytest.raises(TimeoutError, match=message):
        pattern.split("a" * 60 + "c")
    with pytest.raises(TimeoutError, match="use one that is compiled"):
        pattern.split_bytes(b"a" * 60 + b"c")


def test_the_limit_is_for_the_text_not_for_each_piece(little_time):
    pieces = "aaaaaaaaaaaaaaaaaaaac " * 10_000
    with pytest.raises(TimeoutError):
        regular_expressions.split_by_expressions([r"\S+|\s+", r"(?:a|aa)+$|(a)\1b"], pieces)


def test_ordinary_texts_have_time_enough(book):
    with pytest.warns(RuntimeWarning, match="cannot be compiled"):
        pieces = bpe.Pattern.of(r"(\w)\1|\w+?|\s+|[^\w\s]").split(book)
    assert "".join(pieces) == book


def test_no_memory_for_recursion(monkeypatch):
    def no_memory(*_):
        raise MemoryError

    monkeypatch.setattr(regular_expressions, "split_by_expression", no_memory)
    with pytest.raises(MemoryError, match="no memory for the pattern 'a'"):
        regular_expressions.split_by_expressions(["a"], "a")


# ------------------------------------------------------------------------------------- files of others
NOT_COMPILED = r"(?>ab|a)c|(?s:.)"


def test_compiled_only():
    assert bpe.Pattern.of("gpt2", compiled_only=True) == bpe.Pattern.of("gpt2")
    assert bpe.Pattern.of(bpe.Pattern.of("gpt2"), compiled_only=True).name == "gpt2"
    with pytest.raises(ValueError, match=r"cannot be compiled: an atomic group .* compiled_only refuses it"):
        bpe.Pattern.of([NOT_COMPILED], compiled_only=True)
    with pytest.raises(ValueError, match="it takes more than"):
        bpe.Pattern.of(["(?:.*a.{14})+"], compiled_only=True)


@pytest.mark.parametrize("format", ["native", "huggingface", "minbpe"])
def test_readers_can_refuse_what_is_not_compiled(format, tmp_path):
    path = tmp_path / "tok.txt"
    tokens = [bytes([i]) for i in range(256)]
    tok = bpe.Tokenizer(token_bytes=tokens, merges=[], pattern="llama3")
    save, load = {
        "native": (tok.save, bpe.Tokenizer.load),
        "huggingface": (tok.save_huggingface, bpe.Tokenizer.from_huggingface),
        "minbpe": (tok.save_minbpe, bpe.Tokenizer.from_minbpe),
    }[format]
    save(path)
    assert load(path, compiled_only=True).pattern == tok.pattern
    text = path.read_text()
    if format == "native":
        bpe.Tokenizer(token_bytes=tokens, merges=[], pattern=NOT_COMPILED).save(path)
    elif format == "minbpe":
        path.write_text(text.replace(text.splitlines()[1], NOT_COMPILED))
    else:
        document = json.loads(text)
        document["pre_tokenizer"]["pretokenizers"][0]["pattern"] = {"Regex": "(?>ab|a)c|(?m:.)"}
        path.write_text(json.dumps(document))
    with pytest.raises(ValueError, match=r"tok\.txt: the split pattern cannot be compiled"):
        load(path, compiled_only=True)
    bpe.splitting.pattern._scanner.cache_clear()  # it warns once
    loaded = load(path)
    assert loaded.pattern.sources == (NOT_COMPILED,)
    with pytest.warns(RuntimeWarning, match="cannot be compiled"):
        assert loaded.encode("abc") == [97, 98, 99]


def test_a_tokenizer_json_of_many_splits():
    split = {"type": "Split", "pattern": {"Regex": "a"}, "behavior": "Isolated", "invert": False}
    from bpe.pipeline.patterns import pattern_of

    for n, message in [(100_000, "more than 1000 steps"), (33, "33 steps; at most 32")]:
        with pytest.raises(ValueError, match=message):
            pattern_of({"type": "Sequence", "pretokenizers": [split] * n})
    split["pattern"] = {"Regex": r"\w" * 10_000}  # each is written as a set of nine items
    with pytest.raises(ValueError, match="characters, which is more than"):
        pattern_of({"type": "Sequence", "pretokenizers": [split]})


REGEX = {"Regex": "a+b"}
REPLACE = {"type": "Replace", "pattern": REGEX, "content": "x"}
SPLIT = {"type": "Split", "pattern": REGEX, "behavior": "Removed", "invert": False}
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


@pytest.mark.parametrize(
    "steps",
    [
        {"normalizer": REPLACE},
        {"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, REPLACE]}},
        {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [SPLIT, BYTES]}},
        {"decoder": REPLACE},
    ],
)
def test_compiled_only_refuses_steps_of_the_regex_package(steps, tmp_path):
    path = tmp_path / "tokenizer.json"
    bpe.train(["low lower"], 258, pattern="gpt2", progress=False).save_huggingface(path)
    document = json.loads(path.read_text())
    assert bpe.Tokenizer.load(path, compiled_only=True).encode("low") == [257]
    path.write_text(json.dumps(document | {"normalizer": {"type": "NFC"}}))
    assert bpe.Tokenizer.load(path, compiled_only=True).encode("low") == [257]
    path.write_text(json.dumps(document | steps))
    bpe.Tokenizer.load(path)
    with pytest.raises(
        ValueError, match=r"tokenizer.json: the regex package would run 'a\+b', of a step: compiled_only"
    ):
        bpe.Tokenizer.load(path, compiled_only=True)
