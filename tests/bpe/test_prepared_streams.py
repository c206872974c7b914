"""Texts of tokenizers with steps come in parts, cut anywhere: the ids are those of the whole, in little memory."""

import json
import random
import warnings

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bpe
from bpe.pipeline.added_tokens import AddedToken, AddedTokens
from bpe.pipeline.token_cuts import TokenCuts
from tests.bpe.test_prepared import (
    BYTE_LEVEL,
    METASPACE,
    NORMALIZERS,
    OF_BYTES,
    OF_TEXT,
    SPACE,
    random_document,
    replace,
    sequence,
)


def split(pattern, behavior, invert=False):
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


WORDS, SPACES = {"Regex": r"\w+"}, {"Regex": r"\s+"}
STRIP_LEFT = {"type": "Strip", "strip_left": True, "strip_right": False}
DIGITS = {"type": "Digits", "individual_digits": True}
MORE_NORMALIZERS = [
    STRIP_LEFT,
    {"type": "StripAccents"},
    {"type": "NFKC"},
    {"type": "NFD"},
    {"type": "Nmt"},
    sequence("normalizers", STRIP_LEFT, {"type": "Prepend", "prepend": "a"}),
    sequence("normalizers", {"type": "StripAccents"}, {"type": "Prepend", "prepend": SPACE}, replace(" ", SPACE)),
    sequence("normalizers", replace("a", ""), {"type": "Prepend", "prepend": "b"}),
    sequence("normalizers", replace("ab", "x"), replace("  ", " "), replace(" ", SPACE)),
    {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": SPACE},
    {"type": "Replace", "pattern": {"Regex": "a b|b$"}, "content": "x"},
    {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "lowercase": True},
]
MORE_OF_TEXT = [
    METASPACE | {"split": False},
    METASPACE | {"prepend_scheme": "first", "split": False},
    {"type": "Whitespace"},
    {"type": "BertPreTokenizer"},
    {"type": "FixedLength", "length": 3},
    {"type": "Punctuation", "behavior": "MergedWithNext"},
    {"type": "CharDelimiterSplit", "delimiter": "b"},
    *(split(WORDS, each) for each in ("Isolated", "Removed", "MergedWithNext", "Contiguous")),
    *(split(SPACES, each, True) for each in ("Removed", "MergedWithPrevious", "Isolated")),
    split({"String": "ab"}, "MergedWithNext"),
    split({"String": "a"}, "MergedWithNext"),
    split({"String": " "}, "Contiguous"),
    split({"Regex": r"(?<=a)b|\s+(?!\S)"}, "Isolated"),
    sequence("pretokenizers", DIGITS, METASPACE),
    sequence("pretokenizers", {"type": "WhitespaceSplit"}, METASPACE | {"prepend_scheme": "first"}),
    sequence("pretokenizers", split(WORDS, "Removed", True), METASPACE),
    sequence("pretokenizers", METASPACE, DIGITS, {"type": "Punctuation", "behavior": "Isolated"}),
]
MORE_OF_BYTES = [
    BYTE_LEVEL | {"use_regex": False, "add_prefix_space": True},
    sequence("pretokenizers", {"type": "Whitespace"}, BYTE_LEVEL | {"add_prefix_space": True}),
    sequence("pretokenizers", DIGITS, BYTE_LEVEL | {"add_prefix_space": True}),
    sequence("pretokenizers", BYTE_LEVEL | {"use_regex": False}, split({"String": "Ġ"}, "MergedWithNext")),
    sequence("pretokenizers", split(SPACES, "Removed"), BYTE_LEVEL),
]
FLAGS = ("single_word", "lstrip", "rstrip", "normalized")
PIECES = [
    *"abcx.12, \n",
    *[" ", " ", "  ", "\t", SPACE, "é", "日", "本", "e", "\u0301", "A", "😀", "Ω", "ab", "\r\n"],
    *["<s>", "<x>", "</s>", "<", "s>", "<s", "\u3000", "\ufb01", "\uac00\u1160"],
]
BYTES = [b"\xff", b"\xe6", b"\x97", b"\xf0\x9f", b"\xc3", b"\xa9"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
DATAS = st.lists(st.sampled_from([*map(str.encode, PIECES), *BYTES]), max_size=40).map(b"".join)


def steps_of(document, chance):
    """Change steps and flags of a document by chance: to such as streams have to mind."""
    is_text = document["pre_tokenizer"] is None or document["pre_tokenizer"] in OF_TEXT
    document["normalizer"] = chance.choice(NORMALIZERS + MORE_NORMALIZERS)
    choices = OF_TEXT + MORE_OF_TEXT if is_text else OF_BYTES + MORE_OF_BYTES
    document["pre_tokenizer"] = chance.choice(choices)
    for token in document["added_tokens"]:
        token |= {name: chance.random() < 0.25 for name in FLAGS}
        if chance.random() < 0.2:
            token |= dict.fromkeys(FLAGS, False)
    return document


def opened(document, folder):
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(document))
    return bpe.Tokenizer.from_huggingface(path)


def cut_anywhere(text, chance):
    n = chance.choice([0, 1, 3, 10, len(text)])
    places = sorted(chance.choices(range(len(text) + 1), k=n))
    return [text[start:stop] for start, stop in zip([0, *places], [*places, len(text)], strict=True)]


def attempt(call, *arguments, **options):
    """Return a result; None if no token stands for some bytes."""
    try:
        return call(*arguments, **options)
    except ValueError as error:
        assert "no token of the vocabulary stands for" in str(error)  # noqa: PT017
        return None


def check(tok, text, chance, **options):
    whole = attempt(tok.encode, text, **options)
    stream = tok.stream_encoder(**options)
    growing = tok.appendable_encoder(**options)
    ids, known = [], text[:0]
    for part in cut_anywhere(text, chance):
        new = attempt(stream.feed, part)
        if new is None:
            assert whole is None
            return
        growing.append(part)
        ids += new
        known += part
        assert whole is None or ids == whole[: len(ids)], "what is out stays"
        if chance.random() < 0.3 and whole is not None:
            assert attempt(growing.ids) == attempt(tok.encode, known, **options)
    assert attempt(lambda: ids + stream.finish()) == whole


@pytest.mark.parametrize("seed", range(150))
def test_a_stream_is_its_whole(seed, tmp_path):
    chance = random.Random(seed)
    document = random_document(chance)
    if seed % 5:
        document = steps_of(document, chance)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tok = opened(document, tmp_path)

    @settings(max_examples=40)
    @given(TEXTS | DATAS, st.randoms(use_true_random=False), st.booleans())
    def check_all(text, chance, is_ordinary):
        check(tok, text, chance, **({"specials": "ordinary"} if is_ordinary else {"allowed_special": "all"}))

    check_all()
