"""Added tokens with flags, against ``tokenizers``; the rules that it has no word on, one by one."""

import json
import time
import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bpe.pipeline.added_tokens import AddedToken, AddedTokens, Part, two_searches
from bpe.pipeline.normalizers import Normalizer
from bpe.pipeline.tracked import Tracked
from tests.optional import optional

tokenizers = optional("tokenizers")

words = st.sampled_from(
    ["a", "b", "A", "ab", "<", ">", " ", "  ", "\n", "\x1c", "\u2003", "é", "_", "-", "<a>", "\u200d"]
)
texts = st.lists(words, max_size=20).map("".join)
flags = st.tuples(*[st.booleans()] * 4)
token_lists = st.dictionaries(st.lists(words, min_size=1, max_size=3).map("".join), flags, max_size=6).map(
    lambda flags_of: [AddedToken(content, *flags) for content, flags in flags_of.items()]
)


def oracle_of(tokens, text, normalizer=None):
    """Return a tokenizer to which every other character is a token."""
    characters = sorted({*text, *Normalizer.of(normalizer)(text), *"▁"})
    return tokenizers.Tokenizer.from_str(
        json.dumps(
            {
                "version": "1.0",
                "truncation": None,
                "padding": None,
                "added_tokens": [
                    {**token._asdict(), "id": len(characters) + i, "special": False}
                    for i, token in enumerate(tokens)
                ],
                "normalizer": normalizer,
                "pre_tokenizer": None,
                "post_processor": None,
                "decoder": None,
                "model": {"type": "BPE", "vocab": {c: i for i, c in enumerate(characters)}, "merges": []},
            }
        )
    )


def encoded(oracle, text):
    try:
        encoding = oracle.encode(text)
    except BaseException as error:  # its panics are no Exception
        assume("AddedVocabulary bad split" not in str(error))
        raise
    return list(zip(encoding.ids, encoding.offsets, strict=True))


def found(oracle, tokens, text, normalizer=None):
    """Return ids and offsets as `encoded` does."""
    normalizer = Normalizer.of(normalizer)
    first, second = two_searches(tokens, normalizer)
    pairs = []
    for part in first.split(text):
        if part.token is not None:
            pairs.append((oracle.token_to_id(part.token), part[:2]))
            continue
        normalized = normalizer.tracked(Tracked.of(text)[part.start : part.end])
        for start, end, token in second.split(normalized.text):
            spans = [(start, end)] if token is not None else [(i, i + 1) for i in range(start, end)]
            for i, j in spans:
                number = oracle.token_to_id(token or normalized.text[i:j])
                pairs.append((number, (int(normalized.starts[i]), int(normalized.ends[j - 1]))))
    return pairs


@given(token_lists, texts)
def test_ids_and_offsets(tokens, text):
    oracle = oracle_of(tokens, text)
    assert found(oracle, tokens, text) == encoded(oracle, text)


REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
NORMALIZERS = [
    {"type": "Lowercase"},
    {"type": "Prepend", "prepend": "▁"},
    {"type": "Strip", "strip_left": True, "strip_right": True},
    {"type": "NFD"},
    {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, REPLACE]},
]


@given(token_lists, texts, st.sampled_from(NORMALIZERS))
def test_ids_and_offsets_of_normalized_tokens(tokens, text, entry):
    normalized = [Normalizer.of(entry)(token.content) for token in tokens if token.normalized]
    assume(all(normalized))  # else it runs out of memory
    assume(len({*normalized}) == len(normalized))  # else it takes any of them
    oracle = oracle_of(tokens, text, entry)
    assert found(oracle, tokens, text, entry) == encoded(oracle, text)


def assigned_characters():
    """Return them, but not the many that are like others: ideographs, syllables of Hangul, private use.

    Those that are assigned since then, the tables of the two engines may not both know.
    """
    few = [*range(0x3400), *range(0xA000, 0xAC00), *range(0xD7A4, 0x20000), *range(0xE0000, 0xE0200)]
    return [chr(number) for number in few if unicodedata.category(chr(number)) not in ("Cn", "Cs", "Co")]


def test_flags_next_to_all_characters():
    tokens = [
        AddedToken("<w>", single_word=True),
        AddedToken("<l>", lstrip=True),
        AddedToken("<r>", rstrip=True),
    ]
    near = [f"<w>{character}<w>-<r>{character}-{character}<l>-" for character in assigned_characters()]
    text = "".join(near)
    oracle = oracle_of(tokens, "-")
    ids = {oracle.token_to_id(token.content) for token in tokens}
    encoding = oracle.encode(text)
    theirs = [span for number, span in zip(encoding.ids, encoding.offsets, strict=True) if number in ids]
    assert [part[:2] for part in AddedTokens(tokens).split(text) if part.token] == theirs


# ------------------------------------------------------------------------------------------- rule by rule
OVERTAKEN = "x   b"  # tokenizers fails: the second token would begin after its end


@pytest.mark.parametrize(
    ("tokens", "text", "expected"),
    [
        ([AddedToken("ab", single_word=True), AddedToken("b")], "aab b", ["aab ", "<b>"]),
        ([AddedToken("ab", single_word=True), AddedToken("a")], "abb ab", ["abb ", "<ab>"]),
        ([AddedToken("x", lstrip=True)], "a \n x", ["a", "< \n x>"]),
        ([AddedToken("x", lstrip=True)], "x x", ["<x>", "< x>"]),
        ([AddedToken("x", rstrip=True), AddedToken("y", lstrip=True)], "x y", ["<x >", "<y>"]),
        ([AddedToken("x", rstrip=True), AddedToken(" ")], "x  b", ["<x  >", "< >", "< >", "b"]),
        # What goes on after the last token that is taken, is text again.
        (
            [AddedToken(".", rstrip=True), AddedToken(" ", single_word=True)],
            ".  b",
            ["<.  >", "< >", " b"],
        ),
        (
            [AddedToken(".", rstrip=True), AddedToken(" ", single_word=True), AddedToken("y", lstrip=True)],
            ".  y",
            ["<.  >", "< >", "< y>"],
        ),
        # Nothing is left for the second one.
        ([AddedToken("x", rstrip=True), AddedToken(" ", lstrip=True)], "x b", ["<x >", "b"]),
        ([AddedToken("x", rstrip=True), AddedToken(" ", lstrip=True)], OVERTAKEN, ["<x   >", "b"]),
        ([], "a", ["a"]),
        ([AddedToken("a")], "", []),
        ([AddedToken("é")], "éaé", ["<é>", "a", "<é>"]),
    ],
)
def test_rules(tokens, text, expected):
    parts = AddedTokens(tokens).split(text)
    shown = [text[start:end] if token is None else f"<{text[start:end]}>" for start, end, token in parts]
    assert shown == expected
    if text != OVERTAKEN:
        oracle = oracle_of(tokens, text)
        assert found(oracle, tokens, text) == encoded(oracle, text)


def test_tokens_that_are_normalized_to_the_same_or_to_nothing():
    tokens = [AddedToken(" Ab "), AddedToken("aB"), AddedToken(" ")]
    search = AddedTokens(tokens, lambda text: text.lower().strip())
    assert search.split("ab ") == [Part(0, 2, " Ab "), Part(2, 3, None)]


def test_time_is_linear():
    """Tokens in white space do not read all of it, again and again."""
    text = "x" + " " * 300_000
    for tokens in (
        [AddedToken(" ", rstrip=True), AddedToken("x", rstrip=True)],
        [AddedToken(" ", lstrip=True, rstrip=True)],
        [AddedToken("é", lstrip=True), AddedToken("x", lstrip=True)],
    ):
        start = time.process_time()
        AddedTokens(tokens).split(text)
        assert time.process_time() - start < 20  # quadratic time would be minutes
