"""Offsets, counts, truncation, intervals and batches, against the plain encoding of the whole."""

import copy
import ctypes
import functools
import inspect
import json
import pickle
import random
import threading
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
import bpe.ids
from bpe import reference
from bpe.encoding import appendable, streams
from bpe.encoding import batches as encode_module
from bpe.support.text import as_array, as_text
from bpe.tokenizer import Tokenizer
from bpe.vocabulary.vocabulary import Vocabulary
from tests.optional import required

SPECIALS = ["<|end|>", "<|fim|>", "  <x> "]
CHARACTERS = [
    *"aetsh foobarT1'!\n\r\t|<>x",
    "é",
    "ß",
    "漢",
    "か",
    "\u0301",
    "½",
    "😀",
    "\u3000",
    "\xa0",
    "\x85",
]
WORDS = [" the", "ing", "foobar", "<|", "end|>", "   ", " \n", "12345", "don't", " 's"]
texts = st.lists(st.sampled_from(CHARACTERS + WORDS), max_size=40).map("".join)
special_texts = st.lists(st.sampled_from(CHARACTERS + WORDS + SPECIALS), max_size=30).map("".join)
odd_texts = st.lists(st.sampled_from([*CHARACTERS, "\ud83d", "\ude00", "\udcff", *WORDS])).map("".join)
datas = special_texts.map(str.encode) | st.lists(
    st.sampled_from([b"\xff", b"\xc3", b"\xa9", b"\xe2\x82", b" the", b" ", b"a", b"\n", "漢".encode()]),
    max_size=30,
).map(b"".join)
PATTERNS = {
    "gpt2": "gpt2",
    "cl100k": "cl100k",
    "o200k": "o200k",
    "qwen2": "qwen2",
    "deepseek": "deepseek",
    "whitespace": "whitespace",
    "none": "none",
    "looks ahead": r"foo(?=bar)|\s+(?!\S)|\w",
    "looks behind": r"(?<=a)[a-z]+|\w| +",
    "not compiled": r"(\w)\1|\w+",
}
ALLOWED = {"allowed_special": "all"}


def of_pattern(merges, pattern):
    return Tokenizer(
        token_bytes=Vocabulary.assemble(merges),
        merges=merges,
        pattern=pattern,
        special_tokens={token: 600 + i for i, token in enumerate(SPECIALS)},
    )


@pytest.fixture(params=PATTERNS, scope="module")
def any_tokenizer(request, merges):
    tokenizer = of_pattern(merges, PATTERNS[request.param])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert tokenizer.pattern.compiled == (request.param != "not compiled")
    return tokenizer


# ---------------------------------------------------------------------------------------------- encoding
@settings(max_examples=150)
@given(data=datas)
def test_the_engine_is_the_reference(any_tokenizer, data):
    ranks = reference.rank_pairs(any_tokenizer.merges)
    pieces = any_tokenizer.pattern.split_bytes(data)
    assert any_tokenizer.encode_ordinary(data) == [
        number for piece in pieces for number in reference.encode_by_rank(piece, ranks)
    ]


def test_untrusted_text_is_ordinary_text(tokenizer):
    text = "the <|end|>"
    ordinary = tokenizer.encode_ordinary(text)
    assert tokenizer.encode(text, disallowed_special=()) == ordinary
    assert tokenizer.encode_to_numpy(text, disallowed_special=()).tolist() == ordinary
    assert tokenizer.encode_batch([text], disallowed_special=()) == [ordinary]
    assert tokenizer.count(text, disallowed_special=()) == len(ordinary)
    assert tokenizer.stream_encoder(disallowed_special=()).feed(text + " x")[:3] == ordinary[:3]


@settings(max_examples=150)
@given(batch=st.lists(special_texts | odd_texts | datas, max_size=8), threads=st.integers(1, 3))
def test_a_batch_is_its_texts(tokenizer, batch, threads):
    for options in (
        ALLOWED,
        {"disallowed_special": ()},
        {"allowed_special": {"<|fim|>"}, "disallowed_special": ()},
    ):
        expected = [tokenizer.encode(text, **options) for text in batch]
        assert tokenizer.encode_batch(batch, threads, **options) == expected
        ids, offsets = tokenizer.encode_batch_to_numpy(iter(batch), threads, **options)
        assert ids.dtype == np.uint32
        assert ids.tolist() == [number for ids in expected for number in ids]
        assert offsets.tolist() == np.cumsum([0, *map(len, expected)]).tolist()


def test_a_batch_in_groups(tokenizer, book, monkeypatch):
    monkeypatch.setattr(encode_module, "LEAST_BYTES", 100)
    monkeypatch.setattr(encode_module, "MOST_BYTES", 1000)
    monkeypatch.setattr(encode_module, "LONG", 500)
    monkeypatch.setattr(encode_module, "MOST_TEXTS", 30)
    rows = []  # what is not copied; the first ones have more ids than is expected
    monkeypatch.setattr(encode_module, "as_array", lambda row: rows.append(row) or as_array(row))
    batch = [*["\x01" * 700] * 5, *book[:20_000].split("\n"), "é" * 900, "é\ud800" * 300, "", "<|fim|>"]
    batch += [book[:5000], "é<|fim|>" * 200, ""]
    expected = [tokenizer.encode(text, **ALLOWED) for text in batch]
    for threads in (1, 2, 5):
        assert tokenizer.encode_batch(batch, threads, **ALLOWED) == expected
        ids, offsets = tokenizer.encode_batch_to_numpy(batch, threads, **ALLOWED)
        assert ids.tolist() == [number for ids in expected for number in ids]
        assert offsets.tolist() == np.cumsum([0, *map(len, expected)]).tolist()
        with pytest.raises(ValueError, match=rf"^text {len(batch) - 4} holds the special token '<\|fim\|>'"):
            tokenizer.encode_batch(batch, threads)
    assert len(rows) > 30
    assert {row for row in rows if not row.isascii()} == {"é" * 900, "é\ud800" * 300, "é<|fim|>" * 200}


def test_one_thread_writes_ids_where_they_stay(tokenizer, book, monkeypatch):
    monkeypatch.setattr(encode_module, "MOST_BYTES", 1000)  # the room grows a few times
    monkeypatch.setattr(encode_module, "LEAST_BYTES", 100)
    in_place = []

    class Watched(encode_module._GrowingIds):
        def add(self, ids):
            in_place.append(np.may_share_memory(ids, self.room(len(ids))))
            super().add(ids)

    monkeypatch.setattr(encode_module, "_GrowingIds", Watched)
    batch = [*book[:30_000].split("\n\n"), *["\x01" * 3000] * 10, "", "the sea"]
    batch += ["é" * 400, b"\xff the sea" * 200, "a\ud800"]  # read in other ways
    expected = [number for text in batch for number in tokenizer.encode(text)]
    for threads in (1, 2):
        ids, offsets = tokenizer.encode_batch_to_numpy(batch, threads)
        before = ids.copy()
        assert ids.tolist() == expected
        assert offsets[-1] == len(expected)
        assert len(in_place) > 10
        assert all(in_place) if threads == 1 else not any(in_place)
        in_place.clear()
        tokenizer.encode_batch_to_numpy(batch[::-1], threads)
        assert (ids == before).all(), "nobody else writes to it"
        in_place.clear()


def test_arrays_of_ids_are_their_own(tokenizer, book):
    """Whoever gets one can change its size, as of any new array."""
    for ids in (tokenizer.encode_to_numpy(book[:20_000]), tokenizer.encode_to_numpy("the sea")):
        assert ids.flags.owndata
    for threads in (1, 2):
        assert tokenizer.encode_batch_to_numpy(["the sea", book[:20_000]], threads)[0].flags.owndata


@pytest.mark.parametrize("text", ["the sea ", "die K\u00fcste ", "\u6d77 \U0001f30a"])
def test_text_is_read_where_it_is(text):
    array = as_array(text * 1000)  # which nothing else holds
    assert array.base.owner == text * 1000
    assert array.tobytes() == (text * 1000).encode()
    assert np.shares_memory(array, as_array(array.base.owner))
    assert ctypes.pythonapi.PyUnicode_AsUTF8AndSize.argtypes is None, "that of everybody is left alone"


@settings(max_examples=100)
@given(text=special_texts)
def test_strings_cut_by_texts_are_no_special_tokens(tokenizer, text):
    """Texts in a row may bring about what is in none of them."""
    assert tokenizer.encode_batch(["<|e", "nd|>", "a<|", "fim|>"]) == [
        tokenizer.encode(part) for part in ("<|e", "nd|>", "a<|", "fim|>")
    ]


# ----------------------------------------------------------------------------------------------- offsets
@settings(max_examples=200)
@given(text=special_texts | odd_texts)
def test_offsets_of_characters(tokenizer, text):
    ids, starts, ends = tokenizer.encode_with_offsets(text, **ALLOWED)
    assert ids.tolist() == tokenizer.encode(text, **ALLOWED)
    assert (starts.dtype, ends.dtype) == (np.int64, np.int64)
    place = 0
    for number, start, end in zip(ids.tolist(), starts.tolist(), ends.tolist(), strict=True):
        token = tokenizer.token_bytes(number)
        assert start == place or len(as_text(text[start:place])) == 1, "in order, and nothing left out"
        assert start < end
        assert token in as_text(text[start:end]).encode()
        place = end
    assert place == len(text)


@settings(max_examples=100)
@given(data=datas)
def test_offsets_of_bytes(tokenizer, data):
    ids, starts, ends = tokenizer.encode_with_offsets(data, **ALLOWED)
    assert [data[start:end] for start, end in zip(starts, ends, strict=True)] == [
        tokenizer.token_bytes(number) for number in ids
    ]
    assert [0, *ends.tolist()] == [*starts.tolist(), len(data)]


def test_a_character_cut_by_tokens_belongs_to_each():
    tokenizer = Tokenizer(token_bytes=[bytes([value]) for value in range(256)], merges=[], pattern="none")
    ids, starts, ends = tokenizer.encode_with_offsets("a😀é")
    assert ids.tolist() == list("a😀é".encode())
    assert starts.tolist() == [0, 1, 1, 1, 1, 2, 2]
    assert ends.tolist() == [1, 2, 2, 2, 2, 3, 3]
    _, starts, ends = tokenizer.encode_with_offsets("\ud83d\ude00é")  # a pair of surrogates is two characters
    assert starts.tolist() == [0, 0, 0, 0, 2, 2]
    assert ends.tolist() == [2, 2, 2, 2, 3, 3]


# ---------------------------------------------------------------------------------------- count, truncate
@settings(max_examples=100)
@given(text=special_texts | odd_texts | datas, limit=st.integers(0, 50), block=st.sampled_from([1, 7, 4096]))
def test_count(any_tokenizer, text, limit, block):
    exact = len(any_tokenizer.encode(text, **ALLOWED))
    assert any_tokenizer.count(text, **ALLOWED) == exact
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(appendable, "_FIRST_BLOCK", block)
        assert any_tokenizer.count(text, limit, **ALLOWED) == min(exact, limit + 1)


@settings(max_examples=150)
@given(text=special_texts | odd_texts | datas, most=st.integers(0, 40), block=st.sampled_from([1, 7, 4096]))
def test_truncate(any_tokenizer, text, most, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(appendable, "_FIRST_BLOCK", block)
        result = any_tokenizer.truncate(text, most, **ALLOWED)
    ids = any_tokenizer.encode(text, **ALLOWED)
    kept = any_tokenizer.encode(result, **ALLOWED)
    assert type(result) is type(text)
    assert text[: len(result)] == result
    if len(ids) <= most:
        assert result == text
        return
    assert kept == ids[: len(kept)]
    assert len(kept) <= most
    if isinstance(text, bytes):
        assert as_text(text) == as_text(result) + as_text(text[len(result) :]), "no character is cut"
    else:
        assert as_text(text) == as_text(result) + as_text(text[len(result) :])
    # No longer beginning would do.
    _, _, ends = any_tokenizer.encode_with_offsets(text, **ALLOWED)
    for k in range(len(kept) + 1, most + 1):
        longer = text[: ends[k - 1]]
        assert any_tokenizer.encode(longer, **ALLOWED) != ids[:k] or (
            isinstance(text, bytes) and as_text(text) != as_text(longer) + as_text(text[ends[k - 1] :])
        )


def test_count_and_truncate_read_no_more_than_they_need(tokenizer, book, monkeypatch):
    text = book * 5
    encoded = []
    encoder = tokenizer.engine.encoder
    for name in ("encode", "encode_to_numpy", "encode_segments"):
        method = getattr(encoder, name)
        monkeypatch.setattr(
            encoder, name, lambda data, *rest, f=method: encoded.append(len(data)) or f(data, *rest)
        )
    assert tokenizer.count(text, limit=100) == 101
    assert tokenizer.truncate(text, 100)
    assert 0 < sum(encoded) < 30_000
    assert tokenizer.truncate(text, 100) == tokenizer.decode(tokenizer.encode(text[:2000])[:100])
    assert tokenizer.count(text, limit=10**7) == tokenizer.count(text)
    assert tokenizer.truncate(text, 10**7) == text


def test_longer_and_longer_blocks_are_read_where_few_ids_come(merges, monkeypatch):
    """A pattern that looks behind decides nothing before the end."""
    tok = Tokenizer(token_bytes=Vocabulary.assemble(merges), merges=merges, pattern=r"(?<!a)b+|[^b]+|b")
    sizes = []
    feed = streams.StreamEncoder.feed
    monkeypatch.setattr(
        streams.StreamEncoder, "feed", lambda self, text: sizes.append(len(text)) or feed(self, text)
    )
    assert tok.truncate(" " * 300_000, 10) == tok.decode(tok.encode(" " * 300_000)[:10])
    assert len(sizes) > 3
    assert all(after >= 2 * before for before, after in pairwise(sizes[:-1]))


@pytest.mark.parametrize("text", [" ", "the", "日", "😀", "1a"])
def test_a_long_piece_is_not_read_to_its_end(tokenizer, text, monkeypatch):
    """The first ids do not depend on what is far behind them."""
    fed, feed = [], streams.StreamEncoder.feed
    monkeypatch.setattr(
        streams.StreamEncoder, "feed", lambda self, part: fed.append(len(part)) or feed(self, part)
    )
    text *= 200_000
    ids = tokenizer.encode(text)
    assert tokenizer.count(text, limit=1000) == 1001
    part = tokenizer.truncate(text, 1000)
    assert 0 < len(tokenizer.encode(part)) <= 1000
    assert tokenizer.encode(part) == ids[: len(tokenizer.encode(part))]
    assert sum(fed) < 50_000


def test_limits_below_0(tokenizer):
    with pytest.raises(ValueError, match="max_tokens must be at least 0, not -1"):
        tokenizer.truncate("a", -1)
    with pytest.raises(ValueError, match="limit must be at least 0, not -1"):
        tokenizer.count("a", limit=-1)
    with pytest.raises(TypeError):
        tokenizer.truncate("a", 1.5)
    with pytest.raises(ValueError, match="text holds the special token"):
        tokenizer.truncate("a <|end|>", 1)


# --------------------------------------------------------------------------------------------- intervals
@settings(max_examples=100)
@given(text=special_texts | odd_texts | datas, chance=st.randoms(use_true_random=False))
def test_intervals(any_tokenizer, text, chance):
    counter = any_tokenizer.interval_counter(text)
    assert len(counter) == len(text)
    pairs = [sorted(chance.choices(range(len(text) + 1), k=2)) for _ in range(30)] + [[0, len(text)]]
    starts, stops = zip(*pairs, strict=True)
    expected = [len(any_tokenizer.encode_ordinary(text[start:stop])) for start, stop in pairs]
    assert counter.count_many(starts, stops).tolist() == expected
    assert counter.count(*pairs[0]) == expected[0]


@pytest.mark.parametrize("form", [str, str.encode])
def test_intervals_of_a_book(tokenizer, book, form):
    text = form(book + " Приключения капитана Смоллетта и доктора Ливси " * 50)
    counter = tokenizer.interval_counter(text)
    chance = random.Random(1)
    pairs = [sorted(chance.sample(range(len(text)), 2)) for _ in range(40)]
    expected = [len(tokenizer.encode_ordinary(text[start:stop])) for start, stop in pairs]
    assert counter.count_many(*zip(*pairs, strict=True)).tolist() == expected


def test_intervals_outside(tokenizer):
    counter = tokenizer.interval_counter("a text")
    for start, stop in ((-1, 2), (3, 2), (0, 7)):
        with pytest.raises(IndexError, match=f"part 1, from {start} to {stop}, is not inside the text of 6"):
            counter.count_many([0, start], [1, stop])
    with pytest.raises(ValueError, match="1 starts but 2 stops"):
        counter.count_many([0], [1, 2])
    assert counter.count_many([], []).tolist() == []
    for start, stop in ((0.5, 2), ("0", 2), (0, float("nan"))):
        with pytest.raises(TypeError, match=r"st(art|op) must be an integer"):
            counter.count(start, stop)
        with pytest.raises(TypeError, match=r"st(art|op)s must be integers"):
            counter.count_many([start], [stop])
    assert tokenizer.interval_counter("").count(0, 0) == 0


# ---------------------------------------------------------------------------------------------- decoding
@settings(max_examples=100)
@given(
    ids=st.lists(st.integers(0, 555) | st.integers(600, 602), max_size=200),
    errors=st.sampled_from(["replace", "ignore"]),
)
def test_decoding_many_is_decoding_each(tokenizer, ids, errors):
    data = b"".join(map(tokenizer.token_bytes, ids))
    for form in (
        ids,
        np.array(ids, np.int64),
        np.array(ids, np.uint16),
        np.array(ids, np.uint64),
        tuple(ids),
    ):
        assert tokenizer.decode_bytes(form) == data
        assert tokenizer.decode(form, errors) == data.decode("utf-8", errors)


@pytest.mark.parametrize("greatest", [300, 2**31 - 1])
def test_decoding_where_ids_are_far_apart(greatest):
    tokens = {value: bytes([value]) for value in range(256)} | {greatest: b"hi"}
    tokenizer = Tokenizer(token_bytes=tokens, merges=[(104, 105)], pattern="none")
    ids = [greatest, 33] * 100
    for form in (ids, np.array(ids, np.uint32)):
        assert tokenizer.decode(form) == "hi!" * 100
        for wrong in (greatest - 1, 2**40, -1, 2**63):
            with pytest.raises(ValueError, match=rf"ids\[200\]: {wrong} is"):
                tokenizer.decode([*ids, wrong])
    with pytest.raises(ValueError, match=rf"ids\[0\]: {greatest - 1} is not used"):
        tokenizer.decode(np.array([greatest - 1]))
    with pytest.raises(TypeError, match=r"ids\[200\] must be an integer, not float"):
        tokenizer.decode([*ids, 1.0])
    assert tokenizer.encode_with_offsets("hi!")[2].tolist() == [2, 3]


# ---------------------------------------------------------------------------------------------- tiktoken
@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k", "qwen2"])
def test_as_tiktoken(merges, pattern):
    tokenizer = of_pattern(merges, pattern)
    required("tiktoken")
    oracle = tokenizer.to_tiktoken()

    @settings(max_examples=150)
    @given(
        batch=st.lists(special_texts, max_size=5), allowed=st.just("all") | st.sets(st.sampled_from(SPECIALS))
    )
    def check(batch, allowed):
        options = {"allowed_special": allowed, "disallowed_special": ()}
        expected = [oracle.encode(text, **options) for text in batch]
        assert tokenizer.encode_batch(batch, **options) == expected
        for text, ids in zip(batch, expected, strict=True):
            assert tokenizer.encode_with_offsets(text, **options)[0].tolist() == ids
            assert tokenizer.count(text, **options) == len(ids)
            stream = tokenizer.stream_encoder(**options)
            assert [n for character in text for n in stream.feed(character)] + stream.finish() == ids
            assert tokenizer.decode(ids) == oracle.decode(ids)

    check()


def test_options_of_the_wrong_type(tokenizer):
    for name in ("allowed_special", "disallowed_special"):
        for wrong in (3, "<|end|>", b"all", [1], iter(["<|end|>"])):
            for verb in (tokenizer.encode, tokenizer.encode_to_numpy, tokenizer.count):
                with pytest.raises(TypeError, match=f"{name} must be 'all' or a collection of str, not"):
                    verb("a", **{name: wrong})


def test_options_that_there_are_not(tokenizer):
    """The method that was called is named, not one that it calls."""
    n_taking = 0
    for name, method in inspect.getmembers(tokenizer, inspect.ismethod):
        parameters = inspect.signature(method).parameters
        if "add_special_tokens" not in parameters or name.startswith("_") or name == "encode":
            continue
        n_taking += 1
        needed = [key for key, each in parameters.items() if each.default is each.empty]
        with pytest.raises(
            TypeError, match=rf"^Tokenizer\.{name}\(\) got an unexpected keyword argument 'foo'$"
        ):
            method(**dict.fromkeys(needed, "text"), foo=1)
    assert n_taking == 14
    with pytest.raises(TypeError, match=r"encode_batch\(\) .* 'num_threads'\. Did you mean 'threads'\?$"):
        tokenizer.encode_batch(["text"], num_threads=2)
    with pytest.raises(TypeError, match=r"count\(\) .* 'allow_special'\. Did you mean 'allowed_special'\?$"):
        tokenizer.count("text", allow_special="all")
    with pytest.raises(TypeError, match=r"'specials'\. Did you mean 'disallowed_special'\?$"):
        tokenizer.count("text", specials="ordinary")


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "none", r"\w+|\W"])
def test_parts_of_bytes_that_begin_and_end_inside_characters(pattern):
    merges = {b"\xa3a", b"\xe6\x96", b"a\xd9", b"  "}
    ids = {token: 256 + i for i, token in enumerate(sorted(merges))}
    tok = Tokenizer(
        token_bytes=[*(bytes([i]) for i in range(256)), *ids],
        merges=[(token[0], token[1]) for token in ids],
        pattern=pattern,
    )
    for text in ("\u0663abc \u0663 a", "文a 文  b文\u0663a", "😀a 😀\n", "plain text  only"):
        for data in (text.encode(), b"\xff" + text.encode() + b"\xe6\x96"):
            counter = tok.interval_counter(data)
            for start in range(len(data) + 1):
                for stop in range(start, len(data) + 1):
                    expected = len(tok.encode_ordinary(data[start:stop]))
                    assert counter.count(start, stop) == expected, (data, start, stop)


def test_what_surrogates_stand_for():
    tok = Tokenizer(
        token_bytes=[bytes([i]) for i in range(256)],
        merges=[],
        pattern="gpt2",
        special_tokens={"\U0001f600": 300},
    )
    for text, disallowed in (("x\ud800", "\ud800"), ("x\ud83d\ude00", "\ud83d\ude00"), ("x\ufffd", "\ufffd")):
        with pytest.raises(ValueError, match=r"text holds the special token .* at character 1"):
            tok.encode(text, disallowed_special={disallowed})
    with pytest.raises(ValueError, match="at character 1"):
        tok.encode("x\ud83d\ude00")
    assert tok.encode("x\ufffd", disallowed_special={"\ud800"}) == [120, 0xEF, 0xBF, 0xBD]
    assert tok.encode("x\ud800", disallowed_special={"\ufffd"}) == [120, 0xEF, 0xBF, 0xBD]


def test_ids_of_a_tail(tokenizer, book):
    data = book[:3000].encode()
    ids = tokenizer.encode_to_numpy(data, disallowed_special=())
    lengths = [len(tokenizer.token_bytes(number)) for number in ids]
    for n in range(len(ids) + 1):
        n_bytes = sum(lengths[len(ids) - n :])
        assert tokenizer.engine.n_ids_of_tail(ids, n_bytes) == n
        assert tokenizer.engine.n_ids_of_tail(ids.tolist(), n_bytes) == n


def test_copies_and_pickles_of_what_methods_return(tokenizer):
    growing, stream = (
        tokenizer.appendable_encoder(disallowed_special=()),
        tokenizer.stream_encoder(disallowed_special=()),
    )
    growing.append("hello wor")
    known = stream.feed("hello wor")
    for way in (copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))):
        other = way(growing)
        other.append("ld")
        assert other.ids() == tokenizer.encode_ordinary("hello world")
        assert known + way(stream).feed("ld") + way(stream).finish() == tokenizer.encode_ordinary("hello wor")
        assert way(tokenizer.interval_counter("a b")).count(0, 3) == len(tokenizer.encode_ordinary("a b"))
    assert growing.ids() == tokenizer.encode_ordinary("hello wor")


class WithLock(Tokenizer):
    """A class of somebody else, with an attribute that is made at its first use."""

    @functools.cached_property
    def lock(self):
        return threading.Lock()


def test_attributes_made_at_first_use_are_not_pickled():
    tok = WithLock(token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern="gpt2")
    tok.mine, _ = 3, tok.lock
    other = copy.copy(tok)
    assert (other.mine, "lock" in vars(other)) == (3, False)


# -------------------------------------------------------------------------------- tokens, roles, number
def test_tokens_of_a_text(tokenizer):
    text = "the naïve <|end|> sea"
    tokens = tokenizer.tokens(text, allowed_special="all")
    assert b"".join(tokens) == text.encode()
    assert b"<|end|>" in tokens
    assert [tokenizer.token_id(token) for token in tokens] == tokenizer.encode(text, allowed_special="all")
    assert tokenizer.tokens(b"\xff") == [b"\xff"]
    with pytest.raises(ValueError, match="special token"):
        tokenizer.tokens(text)
    with pytest.raises(
        TypeError, match=r"Tokenizer\.tokens\(\) got an unexpected keyword argument 'special'"
    ):
        tokenizer.tokens(text, special="all")


def test_number_of_rows(tokenizer):
    assert len(tokenizer) == tokenizer.vocab_size == max(tokenizer.vocab) + 1


def test_ids_by_role(tokenizer, tmp_path):
    assert tokenizer.role_ids == {}
    tokenizer.save_huggingface(tmp_path)
    roles = {
        "eos_token": {"content": "<|end|>"},
        "pad_token": "<|fim|>",
        "unk_token": "he",
        "bos_token": "no",
    }
    (tmp_path / "special_tokens_map.json").write_text(json.dumps(roles))
    found = Tokenizer.load(tmp_path).role_ids
    assert found == {"eos": 600, "pad": 601, "unk": tokenizer.token_id("he")}
    config = {"pad_token": "<|end|>", "mask_token": None, "model_max_length": 5}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    loaded = Tokenizer.load(tmp_path)
    assert loaded.role_ids == found | {"pad": 600}
    loaded.save(tmp_path / "tok.json")
    assert Tokenizer.load(tmp_path / "tok.json").role_ids == loaded.role_ids


# --------------------------------------------------------------------------------------------- messages
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda tok: tok.truncate("a", "3"), "max_tokens must be an integer, not '3'"),
        (lambda tok: tok.encode_batch(["a"], threads="2"), "threads must be an integer, not '2'"),
        (lambda tok: tok.with_vocab_size(257.0), "vocab_size must be an integer, not 257.0"),
        (lambda tok: bpe.train(["a"], "300"), "vocab_size must be an integer, not '300'"),
        (lambda tok: bpe.train(["a"], 300, special_tokens={"<p>": 0}), "special_tokens must be a list"),
        (lambda tok: bpe.train([str(Path.cwd())], 300), "names of files or folders"),
        (lambda tok: bpe.ids.chunks("text", tok, 5), "tok must be a Tokenizer, not str"),
        (lambda tok: bpe.ids.chunks(tok, "text", [5]), "max_tokens must be an integer"),
        (lambda tok: bpe.ids.chunks(tok, "text", 0), "max_tokens must be at least 1, not 0"),
        (lambda tok: bpe.ids.chunks(tok, "text", 5, 5), "overlap must be from 0 to max_tokens - 1, 4, not 5"),
        (lambda tok: bpe.ids.chunks(tok, "text", 5, chunk_overlap=1), "chunks.*Did you mean 'overlap'"),
        (lambda tok: bpe.ids.append(tok, [97], "b", allow_special="all"), r"append\(\) got an unexpected"),
        (lambda tok: bpe.ids.align_text(tok, tok, "b", special="all"), r"align_text\(\) got an unexpected"),
        (lambda tok: bpe.Tokenizer.load("cl100k_base"), "nothing is downloaded: 'cl100k_base'"),
        (lambda tok: tok.token_id("\u0120the"), "a space is written as a space"),
        (lambda tok: bpe.Pattern("gpt2"), r"Pattern.of\('gpt2'\) makes it"),
        (lambda tok: bpe.split([r"\p{N}", "gpt2"], "a 1"), r"bpe.PATTERNS\['gpt2'\] has what"),
    ],
)
def test_messages(tokenizer, call, message):
    with pytest.raises((TypeError, ValueError, OSError, KeyError), match=message):
        call(tokenizer)


@pytest.mark.parametrize("name", ["tokenizer.json", "a.hf.json", "a.tiktoken", "a.model", "vocab.json"])
def test_a_file_with_the_name_of_another_format(tokenizer, tmp_path, name):
    with pytest.warns(UserWarning, match="but the format of this package") as caught:
        tokenizer.save(tmp_path / name)
    assert caught[0].filename == __file__
    for own in ("a.json", "tokenizer", "a.txt"):
        tokenizer.save(tmp_path / own)
    with pytest.raises(IsADirectoryError, match="a file name is required"):
        tokenizer.save(f"{tmp_path}/none/")


def test_a_stream_without_special_tokens(tokenizer):
    text = "one <|end|> two<|fim|>"
    ids = tokenizer.encode(text, **ALLOWED)
    stream = tokenizer.stream_decoder(skip_special_tokens=True)
    told = "".join(map(stream.feed, ids)) + stream.finish()
    assert told == tokenizer.decode(ids, skip_special_tokens=True) == "one  two"
