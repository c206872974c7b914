"""Tokenizers with steps, and texts that come in parts, cut anywhere: ids of the whole, in little memory."""

import json
import random
import time
import tracemalloc
import warnings
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bpe
from bpe.encoding.streams import Begins
from bpe.id_files import encode as id_files
from bpe.pipeline import added_tokens as token_cuts
from bpe.pipeline.added_tokens import AddedToken, AddedTokens, TokenCuts
from bpe.vocabulary.byte_level import text_of
from tests.bpe.pipeline.test_engine import (
    BYTE_LEVEL,
    BYTE_TOKENS,
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
    sequence(
        "normalizers", {"type": "StripAccents"}, {"type": "Prepend", "prepend": SPACE}, replace(" ", SPACE)
    ),
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


@pytest.mark.parametrize("seed", range(120))
def test_a_stream_is_its_whole(seed, tmp_path):
    chance = random.Random(seed)
    document = random_document(chance)
    if seed % 5:
        document = steps_of(document, chance)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tok = opened(document, tmp_path)

    @settings(max_examples=15)
    @given(TEXTS | DATAS, st.randoms(use_true_random=False), st.booleans())
    def check_all(text, chance, is_ordinary):
        check(
            tok, text, chance, **({"disallowed_special": ()} if is_ordinary else {"allowed_special": "all"})
        )

    check_all()


# ------------------------------------------------------------------------------------------------- memory
LLAMA = sequence("normalizers", {"type": "Prepend", "prepend": SPACE}, replace(" ", SPACE))
QWEN = sequence(
    "pretokenizers",
    split(
        {"Regex": r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"},
        "Isolated",
    ),
    BYTE_LEVEL | {"use_regex": False},
)
BY_SPACE = split({"String": " "}, "MergedWithPrevious")
TEXT = "one two, three 日本 thé e\u0301 12 <x>!\n"
# For each: what is done to a text, and how many bytes may be held of an ordinary one.
HELD = {
    "Gemma": (replace(" ", SPACE), BY_SPACE, 80),
    "Gemma 1": (replace(" ", SPACE), None, 80),
    "Llama 2": (LLAMA, None, 80),
    "Mistral": (None, METASPACE | {"prepend_scheme": "first", "split": False}, 80),
    "T5": (None, METASPACE, 80),
    "Qwen": ({"type": "NFC"}, QWEN, 80),
    "Command-R": ({"type": "NFC"}, sequence("pretokenizers", DIGITS, BYTE_LEVEL), 80),
    "RoBERTa": (None, BYTE_LEVEL | {"add_prefix_space": True}, 80),
    "BERT": (
        {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "lowercase": True},
        {"type": "BertPreTokenizer"},
        80,
    ),
    "words": ({"type": "NFKC"}, split(WORDS, "Removed", True), 80),
    "strip": ({"type": "Strip", "strip_left": True, "strip_right": True}, METASPACE, None),
    "expression": ({"type": "Replace", "pattern": {"Regex": "a b"}, "content": "x"}, METASPACE, None),
    "length": (None, {"type": "FixedLength", "length": 3}, None),
}


def tokenizer_with(normalizer, pre_tokenizer, folder, **flags):
    """Return a tokenizer with some steps, all bytes or characters, and few merges."""
    is_bytes = "ByteLevel" in json.dumps(pre_tokenizer)
    letters = (
        [text_of(bytes([value])) for value in range(256)]
        if is_bytes
        else [*dict.fromkeys(TEXT + SPACE), "ne"]
    )
    letters = ["<unk>", *letters, *([] if is_bytes else BYTE_TOKENS)]
    added = {"id": len(letters), "content": "<x>", "special": False} | dict.fromkeys(FLAGS, False) | flags
    model = {
        "type": "BPE",
        "vocab": {token: number for number, token in enumerate(letters)},
        "merges": [] if is_bytes else [["n", "e"]],
        "unk_token": "<unk>",
        "fuse_unk": True,
        "byte_fallback": not is_bytes,
    }
    document = {
        "added_tokens": [added],
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "decoder": None,
        "model": model,
    }
    return opened(document, folder)


@pytest.mark.parametrize("name", HELD)
@pytest.mark.parametrize(
    "flags", [{}, {"lstrip": True}, {"rstrip": True, "single_word": True}, {"normalized": True}]
)
def test_what_is_held(name, flags, tmp_path):
    normalizer, pre_tokenizer, most = HELD[name]
    tok = tokenizer_with(normalizer, pre_tokenizer, tmp_path, **flags)
    for size, n in ((1, 25), (9, 200), (1000, 200)):
        text = TEXT.replace("<x>", "") * n
        stream, ids, n_held = tok.stream_encoder(), [], 0
        for start in range(0, len(text), size):
            ids += stream.feed(text[start : start + size])
            n_held = max(n_held, len(stream._held))
        assert ids + stream.finish() == tok.encode(text)
        assert n_held <= most if most else n_held == len(text.encode())


@pytest.mark.parametrize("name", ["Gemma", "Llama 2", "Qwen"])
def test_memory_for_a_long_text(name, tmp_path):
    tok = tokenizer_with(*HELD[name][:2], tmp_path)
    line = TEXT * 100
    n_lines = 1 + 4_000_000 // len(line.encode())
    ids = tok.encode_iterable(line for _ in range(n_lines))
    first = tok.encode(line)
    assert [next(ids) for _ in range(1000)] == first[:1000]
    tracemalloc.start()
    n_ids = 1000 + sum(1 for _ in ids)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert n_ids > 0.9 * len(first) * n_lines
    assert most < 8_000_000, (
        "some blocks of 64 kB, and what their ids take; the text has 4 MB, and its ids 100 MB"
    )


def test_a_cut_right_after_a_token(tmp_path):
    """Also where a segment cannot be cut: its end is stripped."""
    tok = tokenizer_with(*HELD["strip"][:2], tmp_path)
    stream = tok.stream_encoder()
    text = "one <x> two <x> three"
    ids = stream.feed(text)
    assert bytes(stream._held) == b" three"
    assert ids + stream.finish() == tok.encode(text)
    assert stream._begins is Begins.TEXT


@pytest.mark.parametrize("name", ["Mistral", "RoBERTa"])
def test_an_interrupt_leaves_a_stream_where_it_was(name, tmp_path, monkeypatch):
    tok = tokenizer_with(*HELD[name][:2], tmp_path)
    text = "one <x> two <x> three"
    for fed in range(1, len(text) + 1):
        stream = tok.stream_encoder()
        with monkeypatch.context() as patch:
            patch.setattr(type(tok.engine), "encoder_for", interrupted)
            with suppress(KeyboardInterrupt):
                stream.feed(text[:fed])
        assert stream.feed(text[fed:]) + stream.finish() == tok.encode(text)


def interrupted(*given, **options):
    raise KeyboardInterrupt


def test_texts_without_a_place_take_no_quadratic_time(tmp_path):
    start = time.perf_counter()
    for name, text in (("Llama 2", "日" * 50_000), ("Qwen", "\u0301" * 50_000), ("strip", "a " * 50_000)):
        tok = tokenizer_with(*HELD[name][:2], tmp_path)
        stream, ids = tok.stream_encoder(), []
        for place in range(0, len(text), 100):
            ids += stream.feed(text[place : place + 100])
        assert ids + stream.finish() == tok.encode(text)
    assert time.perf_counter() - start < 60, "a quadratic one would take minutes"


# ------------------------------------------------------------------------------------------- files of ids
@pytest.fixture
def small(monkeypatch):
    """Small blocks and batches, and a note behind each; returns the lengths of what is encoded at once."""
    monkeypatch.setattr(id_files, "BATCH_BYTES", 300)
    monkeypatch.setattr(id_files, "SECONDS", 0)
    documents, lengths, encoded = bpe.Corpus.documents, [], id_files._encoded
    monkeypatch.setattr(
        bpe.Corpus,
        "documents",
        lambda self, advance=lambda n: None, **others: documents(self, advance, block_bytes=200, **others),
    )

    def watched(engine, batch, *rest):
        lengths.extend(len(segment.data) for segment in batch)
        return encoded(engine, batch, *rest)

    monkeypatch.setattr(id_files, "_encoded", watched)
    return lengths


ODD = b"\xff one \xe6\x97 two \xf0\x9f three \xff\xff "


@pytest.mark.parametrize("name", ["Gemma", "Llama 2", "T5", "Qwen", "BERT", "strip"])
@pytest.mark.parametrize("threads", [1, 2])
def test_files_of_ids(name, threads, tmp_path, small):
    tok = tokenizer_with(*HELD[name][:2], tmp_path)
    tok = tok.with_special_tokens(["<end>"])
    documents = [TEXT * 100, "", " ", b"one", TEXT.encode() * 20 + ODD * 30, "<x>" * 500, TEXT * 30]

    def check(**options):
        done = tok.encode_files(documents, tmp_path / "ids.bin", threads=threads, **options)
        ids, offsets = np.fromfile(done.ids, done.dtype), np.load(done.offsets)
        parts = [part.tolist() for part in np.split(ids, offsets[1:-1])]
        assert parts == [tok.encode(document, **options) for document in documents]

    check()
    assert (max(small) < 2000) == (name != "strip")
    documents[3] = TEXT * 9 + "<end>" + TEXT * 9
    check(allowed_special="all")
    with pytest.raises(ValueError, match=r"document 3(, from byte \d+ on,)? holds the special token '<end>'"):
        check()


@pytest.mark.parametrize("n_batches", [1, 2, 5, 9])
def test_files_that_go_on_inside_a_document(n_batches, tmp_path, small, monkeypatch):
    tok = tokenizer_with(*HELD["Llama 2"][:2], tmp_path)
    documents = [TEXT * 100, TEXT * 50]
    write, left = id_files._write_batch, [n_batches]

    def interrupted(*given):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return write(*given)

    with monkeypatch.context() as patch:
        patch.setattr(id_files, "_write_batch", interrupted)
        with pytest.raises(KeyboardInterrupt):
            tok.encode_files(documents, tmp_path / "ids.bin", threads=1)
    done = tok.encode_files(documents, tmp_path / "ids.bin", threads=1)
    assert done.is_resumed
    ids = np.fromfile(done.ids, done.dtype).tolist()
    assert ids == tok.encode(documents[0]) + tok.encode(documents[1])


# ------------------------------------------------------------------------------------------- added tokens
TOKENS = st.lists(
    st.builds(
        AddedToken, st.sampled_from(["<x>", "x", "xx", " x ", " ", "xa", "a", "\n"]), *[st.booleans()] * 3
    ),
    max_size=4,
    unique_by=lambda token: token.content,
)
PARTS = st.lists(st.sampled_from(["<x>", "x", "a", " ", "\n", "!", "  "]), max_size=14).map("".join)


def found_in(search, text):
    """Return the texts between tokens, and the tokens."""
    found = [""]
    for part in search.split(text):
        found += [part.token, ""] if part.token else []
        found[-1] += "" if part.token else text[part.start : part.end]
    return found


def joined(first, second):
    return [*first[:-1], first[-1] + second[0], *second[1:]]


@settings(max_examples=1500)
@given(TOKENS, PARTS, PARTS)
@example([AddedToken(" x ", rstrip=True), AddedToken("\n")], " x  \n  a", "")
@example([AddedToken("x", single_word=True)], "xx!", "")
@example([AddedToken("x", lstrip=True)], "a  ", " x")
@example([AddedToken("x", rstrip=True)], "ax ", " a")
@example([AddedToken("a"), AddedToken("xa", single_word=True)], "xax", "!")
def test_free_places(tokens, text, more):
    """Both parts have the tokens of the whole, whatever comes after them."""
    search, whole = AddedTokens(tokens), text + more
    cuts, wanted = TokenCuts(search, text), found_in(search, whole)
    places = {place for place in range(1, len(text) + 1) if cuts.is_in_segment(place)}
    starts = [*(part.start for part in cuts.parts[1:]), len(text)]
    for part, start in zip(cuts.parts, starts, strict=False):
        if part.token and part.end <= start and cuts.is_free(part.end):
            places.add(part.end)
    for place in places:
        parts = found_in(search, whole[:place]), found_in(search, whole[place:])
        assert joined(*parts) == wanted, place


@settings(max_examples=1000)
@given(TOKENS, PARTS, st.integers(1, 9))
@example([AddedToken("x", single_word=True), AddedToken("<x>")], "x<x>xx<x>a <x>x", 2)
@example([AddedToken(" x ", rstrip=True), AddedToken("\n")], "x x  \n \n a", 1)
def test_the_end_of_a_text_is_looked_at_alone(tokens, text, most):
    """Its parts and free places are those that are found from the beginning."""
    search = AddedTokens(tokens)
    whole = TokenCuts(search, text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(token_cuts, "MOST_PLACES", most)
        cuts = TokenCuts(search, text)
    found = [(part.end, part.token) for part in whole.parts if part.end > cuts.lowest]
    assert [(part.end, part.token) for part in cuts.parts] == found
    for place in range(cuts.lowest + 1, len(text) + 1):
        assert cuts.is_free(place) == whole.is_free(place)
        assert cuts.is_in_segment(place) == whole.is_in_segment(place)
    for part in cuts.parts:
        if part.token is None:
            assert part in whole.parts


def test_free_places_are_found():
    plain = AddedTokens([AddedToken("<x>")])
    assert [place for place in range(12) if TokenCuts(plain, "ab <x> ab<x").is_in_segment(place)] == [
        1,
        2,
        3,
        7,
        8,
        9,
    ]
    flags = AddedTokens([AddedToken("x", single_word=True, lstrip=True)])
    assert [place for place in range(12) if TokenCuts(flags, "ax  b  b x b").is_in_segment(place)] == [
        3,
        4,
        5,
        6,
        7,
        8,
    ]
    assert TokenCuts(AddedTokens([]), "ab").is_in_segment(2)
    cuts = TokenCuts(plain, "a<x>??")
    assert cuts.is_in_segment(1)
    assert cuts.parts[-1].token == "<x>"
    far = TokenCuts(plain, "<x>" + "a" * 5000)
    assert [len(far.parts), far.is_in_segment(4900)] == [1, True]
