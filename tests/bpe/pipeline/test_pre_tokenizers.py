"""Pre-tokenizers: the pieces and offsets of ``tokenizers``; the fast way and the slow one agree."""

import itertools
import json
import pickle
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bpe.pipeline.entries import SearchPattern
from bpe.pipeline.patterns import pattern_like
from bpe.pipeline.pre_tokenizers import PreTokenizer
from bpe.pipeline.splits import BEHAVIORS, Split
from bpe.pipeline.tracked import Tracked
from bpe.splitting.pattern import PATTERNS
from bpe.vocabulary.byte_level import bytes_of
from tests.optional import optional

tokenizers = optional("tokenizers")


# ---------------------------------------------------------------------------------------------- entries
def sequence(*steps):
    return {"type": "Sequence", "pretokenizers": list(steps)}


def split(pattern, behavior="Isolated", invert=False, kind="Regex"):
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior, "invert": invert}


def byte_level(add_prefix_space=False, use_regex=False):
    return {
        "type": "ByteLevel",
        "add_prefix_space": add_prefix_space,
        "trim_offsets": True,
        "use_regex": use_regex,
    }


def metaspace(scheme="always", **more):
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, **more}


DIGITS = {"type": "Digits", "individual_digits": True}
RUNS = {"type": "Digits", "individual_digits": False}
SPACES = {"type": "WhitespaceSplit"}
_CASES = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_OTHERS = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_WORDS = rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+@|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*@|\p{{N}}"
O200K = _WORDS.replace("@", f"{_CASES}?") + "{1,3}" + _OTHERS
NEMO = _WORDS.replace("@", "") + _OTHERS
CLIP = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
# The pre-tokenizers of models, as their files have them.
MODELS = {
    "GPT-2": byte_level(use_regex=True),
    "GPT-4": sequence(split(PATTERNS["llama3"], "Removed", True), byte_level()),
    "GPT-4o": sequence(split(O200K, "Removed", True), byte_level()),
    "Llama 3": sequence(split(PATTERNS["llama3"]), byte_level()),
    "Qwen 2.5": sequence(split(PATTERNS["qwen2"]), byte_level()),
    "DeepSeek V3": sequence(*map(split, PATTERNS["deepseek"]), byte_level()),
    "Mistral Nemo": sequence(split(NEMO), byte_level()),
    "Falcon": sequence(
        {"type": "Punctuation", "behavior": "Contiguous"},
        byte_level(use_regex=True),
        RUNS,
        split("[0-9][0-9][0-9]"),
    ),
    "BLOOM": sequence(split(r" ?[^(\s|[.,!?…。，、।۔،])]+"), byte_level()),  # noqa: RUF001
    "StarCoder": sequence(DIGITS, byte_level(use_regex=True)),
    "CLIP": sequence(split(CLIP, "Removed", True), byte_level()),
    "Gemma 3": split(" ", "MergedWithPrevious", kind="String"),
    "Mistral": metaspace("first", split=False),
    "T5": sequence(SPACES, metaspace("always")),
    "old Metaspace": {"type": "Metaspace", "replacement": "▁", "str_rep": "▁", "add_prefix_space": True},
    "Command-R": sequence(DIGITS, byte_level(use_regex=True)),
    "RoBERTa": byte_level(add_prefix_space=True, use_regex=True),
    "BERT": {"type": "BertPreTokenizer"},
}
STEPS = [
    *MODELS.values(),
    DIGITS,
    RUNS,
    SPACES,
    {"type": "Whitespace"},
    {"type": "CharDelimiterSplit", "delimiter": "a"},
    {"type": "UnicodeScripts"},
    {"type": "FixedLength", "length": 1},
    {"type": "FixedLength", "length": 3},
    *({"type": "Punctuation", "behavior": behavior} for behavior in BEHAVIORS),
    *(metaspace(scheme, split=cut) for scheme in ("always", "first", "never") for cut in (True, False)),
    {"type": "Metaspace", "replacement": "a", "prepend_scheme": "always"},
    sequence(byte_level(), metaspace(), byte_level()),
    *(byte_level(*flags) for flags in itertools.product([True, False], repeat=2)),
    *(
        split(pattern, behavior, invert, kind)
        for pattern, kind in [
            (" ", "String"),
            ("aa", "String"),
            ("", "String"),
            (".", "String"),
            (r"\d|\w", "Regex"),
            (r"(a|b)+(1)?", "Regex"),
            (r"(?=\p{N})", "Regex"),
            (r"(?<=a)", "Regex"),
            (r"(?<=a)b|1", "Regex"),
            (r"(?i)ab| ", "Regex"),
            (r"a|ab|b(?!1)", "Regex"),
        ]
        for behavior in BEHAVIORS
        for invert in (False, True)
    ),
]
IDS = [json.dumps(entry)[:90] for entry in STEPS]

# ------------------------------------------------------------------------------------------------ texts
TEXTS = [
    "",
    " ",
    "a",
    "Hello, world! It's 2024; we'll pay $1,234.50 (or 12345€)…",
    "  two  spaces \t tab\r\n\r\nlines\n",
    "<|endoftext|>I'M don't HELLOworld's camelCase ÉCOLE",
    "e\u0301\u0323 ﬁ ς Σ İ ı ß \u1100\u1161\u11a8 한국어 中文。，日本語ー",  # noqa: RUF001
    "👩\u200d👩\u200d👧 🇩🇪🇫🇷 \ufffd \0 \u0378 \ufeff",
    "x▁y▁▁z ▁ Ġq",
    "¼½²Ⅷ٣१२३4 1 22 333 4444 55555",
    "\u3000\xa0\x85\u2028a\u200bb\x1c\x1d",
    "مرحبا، كيف حالك؟ नमस्ते। سلام۔",  # noqa: RUF001
    "aaa aba ab1b1 b--a",
    "$+<=>^`|~ « » ¿ ¡ ‽ _ -",
]
ALPHABET = "aab1 2 .,'-_$▁\n\t\r éÉß中ー٣½\u0301\u200d😀。Ġ▁s|<"
texts = st.text(alphabet=ALPHABET, max_size=20) | st.sampled_from(TEXTS)


def theirs(entry):
    """Return what ``tokenizers`` makes of an entry."""
    document = {"version": "1.0", "added_tokens": [], "pre_tokenizer": entry}
    document["model"] = {"type": "BPE", "vocab": {}, "merges": []}
    return tokenizers.Tokenizer.from_str(json.dumps(document)).pre_tokenizer


def agree(ours, peer, text):
    pieces = ours.tracked_one_by_one(Tracked.of(text), True)
    expected = [found for found in peer.pre_tokenize_str(text) if found[0]]  # without steps, "" is a piece
    written = [bytes_of(piece) if ours.is_byte_level else piece.encode() for piece, _ in expected]
    assert [piece.data for piece in pieces] == written, text
    assert [(piece.starts[0], piece.ends[-1]) for piece in pieces] == [place for _, place in expected], text
    assert all(len(piece.data) == len(piece.starts) == len(piece.ends) for piece in pieces)
    for is_first in (True, False):
        slow = ours.tracked_one_by_one(Tracked.of(text), is_first)
        fast = ours.tracked(Tracked.of(text), is_first)
        assert ours(text, is_first) == fast.pieces == [piece.data for piece in slow], (text, is_first)
        assert fast.starts.tolist() == [start for piece in slow for start in piece.starts]
        assert fast.ends.tolist() == [end for piece in slow for end in piece.ends]


@pytest.mark.parametrize("entry", STEPS, ids=IDS)
def test_steps(entry):
    ours, peer = PreTokenizer.of(entry), theirs(entry)
    for text in TEXTS:
        agree(ours, peer, text)

    @settings(max_examples=60, deadline=None)
    @given(texts)
    def by_chance(text):
        agree(ours, peer, text)

    by_chance()


def refusal(steps):
    """Return why steps in turn are refused; None if they are not."""
    flat = [part for step in steps for part in step.get("pretokenizers", [step])]
    kinds = [part["type"] for part in flat]
    n_longer = 0
    for i, part in enumerate(flat):
        puts = part["type"] in ("ByteLevel", "Metaspace") and part.get("add_prefix_space", True)
        puts = puts and part.get("prepend_scheme") != "never"
        n_longer += puts + (part["type"] == "ByteLevel")
        is_last = "ByteLevel" in kinds[:i] and "ByteLevel" not in kinds[i:]
        if puts and part.get("replacement") == "▁" and is_last and n_longer <= 4:
            return "puts '▁' before pieces after ByteLevel"
    return "makes a text longer" if n_longer > 4 else None


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(STEPS), max_size=4), texts)
@example([metaspace("first", split=False), {"type": "FixedLength", "length": 1}, metaspace("first")], "1")
def test_sequences(steps, text):
    entry = sequence(*steps)
    if message := refusal(steps):
        with pytest.raises(ValueError, match=message):
            PreTokenizer.of(entry)
    else:
        agree(PreTokenizer.of(entry), theirs(entry), text)


@pytest.mark.parametrize("entry", [None, sequence(), sequence(sequence())])
def test_nothing(entry):
    ours = PreTokenizer.of(entry)
    assert ours.is_nothing
    assert not ours.is_byte_level
    assert ours("a é", True) == ["a é".encode()]
    assert ours("", True) == []
    assert ours.tracked(Tracked.of(""), True).pieces == []


def test_bytes_of_a_character_may_be_parted():
    """After ByteLevel a character is as many as it has bytes; each of them came from the whole character."""
    ours = PreTokenizer.of(sequence(byte_level(), {"type": "FixedLength", "length": 2}))
    assert ours("a中b", True) == [b"a\xe4", b"\xb8\xad", b"b"]
    pieces = ours.tracked_one_by_one(Tracked.of("a中b"), True)
    assert [piece.starts.tolist() for piece in pieces] == [[0, 1], [1, 1], [2]]
    twice = PreTokenizer.of(sequence(byte_level(), byte_level()))
    assert twice("é", True) == ["Ã©".encode()]


def test_origins_are_those_of_the_given_text():
    normalized = Tracked.of("Héllo  World").edited([(1, 2)], "e").edited([(5, 7)], "_")
    for entry in (metaspace("first", replacement="_"), sequence(DIGITS, byte_level(True, True))):
        ours = PreTokenizer.of(entry)
        assert ours.tracked(normalized, False).pieces == ours(normalized.text, False)
    pieces = PreTokenizer.of(metaspace("first", replacement="_")).tracked_one_by_one(normalized, True)
    assert [(piece.data, piece.starts.tolist()) for piece in pieces] == [
        (b"_Hello", [0, 0, 1, 2, 3, 4]),
        (b"_World", [6, 7, 8, 9, 10, 11]),
    ]


@settings(deadline=None)
@given(st.text(alphabet="ab 1,.бвא日ああアー漢\u0301\u0378é한½\n\xa0Ωבλ", max_size=12))
def test_scripts(text):
    """A space goes with what is before it; what is of no script, too; both are dropped at the beginning."""
    wanted = tokenizers.pre_tokenizers.UnicodeScripts().pre_tokenize_str(text)
    ours = PreTokenizer.of({"type": "UnicodeScripts"})
    assert ours(text, True) == [piece.encode() for piece, _ in wanted]
    tracked = ours.tracked_one_by_one(Tracked.of(text), True)
    assert [(piece.starts[0], piece.ends[-1]) for piece in tracked] == [span for _, span in wanted]


def test_first_is_where_the_text_begins():
    drop = split("a", "Removed", kind="String")
    ours = PreTokenizer.of(sequence(drop, metaspace("first")))
    assert ours("ab", True) == [b"b"]
    assert ours("ba", True) == ["▁b".encode()]
    assert ours("ba", False) == [b"b"]
    ours = PreTokenizer.of(sequence(split("a", kind="String"), metaspace("first")))
    assert ours("aba", True) == ["▁a".encode(), b"b", b"a"]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (5, "pre_tokenizer is not an object with a type: 5"),
        ({"type": "Delimiter", "delimiter": "a"}, "unknown type 'Delimiter'. Known are ByteLevel, Metaspace"),
        (sequence(DIGITS, None), r"^pre_tokenizer.pretokenizers\[1\] is not an object"),
        ({"type": "Sequence"}, "has no 'pretokenizers', which must be a list"),
        ({"type": "CharDelimiterSplit", "delimiter": "ab"}, "pre_tokenizer.delimiter must be one character"),
        ({"type": "CharDelimiterSplit"}, "has no 'delimiter'"),
        ({"type": "Digits", "individual_digits": 1}, "individual_digits must be true or false, not 1"),
        ({"type": "Punctuation", "behavior": "isolated"}, "behavior must be one of Isolated, .* 'isolated'"),
        ({"type": "FixedLength", "length": 0}, "length must be at least 1, not 0"),
        ({"type": "FixedLength", "length": True}, "length must be an integer, not True"),
        ({"type": "Metaspace", "replacement": ""}, "replacement must be one character, not ''"),
        ({"type": "Metaspace", "replacement": "\ud800"}, "half of a surrogate pair"),
        (metaspace("First"), "prepend_scheme must be 'always', 'first' or 'never', not 'First'"),
        (metaspace("always", add_prefix_space=False), "prepend_scheme 'always': the two do not go together"),
        (metaspace(split=1), "split must be true or false, not 1"),
        (byte_level(None), "add_prefix_space must be true or false, not None"),
        ({"type": "Split", "pattern": "a", "behavior": "Isolated"}, "pattern must be an object with either"),
        ({"type": "Split", "pattern": {"String": "a"}}, "has no 'behavior'"),
        (split("a", invert=None), "invert must be true or false"),
        (split("(a"), "pattern.Regex: invalid"),
        (split(r"a\Rb"), "pattern.Regex: .* at character 1 cannot be translated"),
        (sequence(byte_level(), metaspace()), "puts '▁' before pieces after ByteLevel"),
        (sequence(*[byte_level()] * 5), "makes a text longer 5 times.* at most 4"),
        (sequence(*[DIGITS] * 33), "pre_tokenizer has 33 steps; at most 32 can be read"),
        (sequence(*[split("a" * 60_000, kind="String")] * 2), "more than 100000 parts in all"),
    ],
)
def test_refused(entry, message):
    with pytest.raises(ValueError, match=message):
        PreTokenizer.of(entry)


@pytest.mark.parametrize(
    "entry",
    [
        {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True, "prepend_scheme": "never"},
        {"type": "Metaspace", "replacement": "▁", "add_prefix_space": False, "prepend_scheme": "never"},
        {"type": "Metaspace", "replacement": "▁", "split": None, "add_prefix_space": None, "str_rep": None},
        {"type": "Metaspace", "replacement": " ", "str_rep": "x"},
        {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False},
        {"type": "Punctuation"},
        {"type": "FixedLength"},
        {"type": "Whitespace", "more": 1},
    ],
)
def test_what_entries_may_leave_out(entry):
    for text in TEXTS:
        agree(PreTokenizer.of(entry), theirs(entry), text)


def test_old_entries():
    never = PreTokenizer.of({"type": "Metaspace", "replacement": "▁", "add_prefix_space": False})
    assert never("one two", True) == [b"one", "▁two".encode()]
    assert PreTokenizer.of({"type": "ByteLevel"})("a b", True) == [b" a", b" b"]


def test_equal_by_entry():
    one, same, other = (PreTokenizer.of(entry, "x") for entry in (DIGITS, dict(DIGITS), RUNS))
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert pickle.loads(pickle.dumps(one)) == one
    assert one.entry == DIGITS


def test_time_is_bounded(monkeypatch):
    """All pieces of a text have one limit together."""
    monkeypatch.setattr("bpe.splitting.regex_engine.SECONDS", 0.2)
    ours = PreTokenizer.of(sequence(SPACES, split("(a|aa)+b|c")))
    words = [f"{'a' * 24}{n}" for n in range(1000)]
    ours(words[0], True)
    for way in (lambda: ours(" ".join(words), True), lambda: ours.tracked(Tracked.of(" ".join(words)), True)):
        with pytest.raises(TimeoutError, match="takes more than 0 seconds"):
            way()


def is_unassigned(character):
    return unicodedata.category(character) == "Cn"


@pytest.mark.parametrize(
    ("entry", "n_codes", "is_new"),
    [
        (RUNS, 0x110000, is_unassigned),
        (SPACES, 0x110000, lambda c: False),
        ({"type": "Whitespace"}, 0x3000, is_unassigned),
        ({"type": "Punctuation"}, 0x110000, lambda c: ord(c) > 0x600),  # their table is of Unicode 8
    ],
    ids=lambda value: value["type"] if isinstance(value, dict) else "",
)
def test_every_character(entry, n_codes, is_new):
    """Which characters are cut off differs in those only that are newer than the older table."""
    text = "a" + "".join(f"{chr(code)}a" for code in range(n_codes) if not 0xD800 <= code < 0xE000)
    ours = PreTokenizer.of(entry).tracked_one_by_one(Tracked.of(text), True)
    mine = {place for piece in ours for place in (piece.starts[0], piece.ends[-1])}
    found = {place for _, span in theirs(entry).pre_tokenize_str(text) for place in span}
    others = {text[place] if text[place] != "a" else text[place - 1] for place in mine ^ found}
    assert [c for c in others if not is_new(c)] == []
    assert len(others) < 400


# ------------------------------------------------------------------------------------------- as a pattern
PATTERN_OF_MODEL = {
    "GPT-2", "GPT-4", "GPT-4o", "Llama 3", "Qwen 2.5", "DeepSeek V3", "Mistral Nemo", "BLOOM", "StarCoder",
    "Command-R", "Gemma 3",
}  # fmt: skip


def test_models_that_cut_like_a_pattern():
    found = {name for name, entry in MODELS.items() if pattern_like(PreTokenizer.of(entry))}
    assert found == PATTERN_OF_MODEL


ALIKE = [
    None,
    *(entry for entry in STEPS if pattern_like(PreTokenizer.of(entry))),
    *(split(r"[abé]", behavior, invert) for behavior in BEHAVIORS[2:] for invert in (False, True)),
    split(r"\s+(?!a)|(?m:.)", "Removed", True),
]


@pytest.mark.filterwarnings("ignore:the split pattern cannot be compiled")
@pytest.mark.parametrize("entry", ALIKE, ids=lambda entry: json.dumps(entry)[:90])
def test_patterns_cut_alike(entry):
    ours = PreTokenizer.of(entry)
    pattern = pattern_like(ours)

    @settings(max_examples=50, deadline=None)
    @given(texts)
    def by_chance(text):
        assert pattern.split_bytes(text.encode()) == ours(text, True)

    by_chance()
    for text in TEXTS:
        assert pattern.split_bytes(text.encode()) == ours(text, True)


PARTS = [
    r"a",
    r"b+",
    r"[ab]+",
    r"\s+",
    r"\s+(?!\S)",
    r"\S",
    r"[^a]",
    r"[^ab]+",
    r"\w+",
    r"\W",
    r"a(?!b)",
    r"a+b",
]
PARTS += [r"(?<=a)b", r"(?<!a)b", r"a\z", r"\Ab", r"(?m:.)(?=a)", r"[^a](?!\z)", r"a{2,3}"]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=5).map("|".join))
def test_matches_that_cover_every_text(source):
    """Where a pattern is found, no short text has a gap; where none is, some text has one."""
    split_ = Split(SearchPattern.of({"Regex": source}, "pattern"), "Removed")
    gaps = [
        text
        for n in range(1, 5)
        for text in map("".join, itertools.product("abc !", repeat=n))
        if split_.pieces(text)
    ]
    entry = split(source, "Removed", True)
    is_alike = pattern_like(PreTokenizer.of(entry)) is not None
    if is_alike:
        assert gaps == []
    elif not any(sign in source for sign in ("(?<", r"\A")):  # where matches begin is decided roughly
        assert gaps


@pytest.mark.parametrize(
    ("entry", "is_fast"),
    [
        (metaspace("first"), True),
        (sequence(split(r"\s+", "MergedWithNext"), byte_level()), True),
        (sequence(DIGITS, {"type": "FixedLength", "length": 2}), True),
        (split(" ", "Removed", kind="String"), False),
        (sequence(DIGITS, metaspace("always")), False),
    ],
)
def test_which_are_cut_all_at_once(entry, is_fast, monkeypatch):
    slow, n_calls = PreTokenizer.tracked_one_by_one, []
    monkeypatch.setattr(PreTokenizer, "tracked_one_by_one", lambda *given: n_calls.append(1) or slow(*given))
    ours = PreTokenizer.of(entry)
    assert ours.tracked(Tracked.of("a é 12 "), True).pieces == ours("a é 12 ", 1)
    assert len(n_calls) == (not is_fast)
