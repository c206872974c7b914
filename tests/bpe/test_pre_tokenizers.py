"""Pre-tokenizers: the pieces and offsets of ``tokenizers``; the fast way and the slow one agree."""

import itertools
import json
import pickle

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe.formats.byte_level import bytes_of
from bpe.pattern import PATTERNS
from bpe.pipeline.pre_tokenizers import PreTokenizer
from bpe.pipeline.splits import BEHAVIORS, Split
from bpe.pipeline.steps import SearchPattern
from bpe.pipeline.tracked import Tracked

tokenizers = pytest.importorskip("tokenizers")


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
_END = r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
O200K = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CASES}?|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CASES}?{_END}"
)
NEMO = rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*|\p{{N}}{_END[12:]}"
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
    "BLOOM": sequence(split(r" ?[^(\s|[.,!?…。，、।۔،])]+"), byte_level()),
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
    {"type": "FixedLength", "length": 1},
    {"type": "FixedLength", "length": 3},
    *({"type": "Punctuation", "behavior": behavior} for behavior in BEHAVIORS),
    *(metaspace(scheme, split=cut) for scheme in ("always", "first", "never") for cut in (True, False)),
    {"type": "Metaspace", "replacement": "a", "prepend_scheme": "always"},
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
    "e\u0301\u0323 ﬁ ς Σ İ ı ß \u1100\u1161\u11a8 한국어 中文。，日本語ー",
    "👩\u200d👩\u200d👧 🇩🇪🇫🇷 \ufffd \0 \u0378 \ufeff",
    "x▁y▁▁z ▁ Ġq",
    "¼½²Ⅷ٣१२३4 1 22 333 4444 55555",
    "\u3000\xa0\x85\u2028a\u200bb\x1c\x1d",
    "مرحبا، كيف حالك؟ नमस्ते। سلام۔",
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
    pieces = ours.tracked(Tracked.of(text), True)
    expected = [found for found in peer.pre_tokenize_str(text) if found[0]]  # without steps, "" is a piece
    written = [bytes_of(piece) if ours.is_byte_level else piece.encode() for piece, _ in expected]
    assert [piece.data for piece in pieces] == written, text
    assert [(piece.starts[0], piece.ends[-1]) for piece in pieces] == [place for _, place in expected], text
    assert all(len(piece.data) == len(piece.starts) == len(piece.ends) for piece in pieces)
    for is_first in (True, False):
        slow = [piece.data for piece in ours.tracked(Tracked.of(text), is_first)]
        assert ours(text, is_first) == slow, (text, is_first)


@pytest.mark.parametrize("entry", STEPS, ids=IDS)
def test_steps(entry):
    ours, peer = PreTokenizer.of(entry), theirs(entry)
    for text in TEXTS:
        agree(ours, peer, text)

    @settings(max_examples=60)
    @given(texts)
    def by_chance(text):
        agree(ours, peer, text)

    by_chance()


@settings(max_examples=3000)
@given(st.lists(st.sampled_from(STEPS), max_size=4), texts)
def test_sequences(steps, text):
    entry = sequence(*steps)
    try:
        ours = PreTokenizer.of(entry)
    except ValueError as error:
        assert regex.search("makes a text longer|which stands for no byte|stands for none", str(error))
        return
    agree(ours, theirs(entry), text)
