"""``TiktokenEncoding`` and ``decode_with_offsets``: as tiktoken's own, results and classes of errors."""

import codecs
import inspect
import json
import os
import pickle
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe
from bpe.support.text import codes_beginning_with
from bpe.tokenizer import Tokenizer
from bpe.vocabulary.vocabulary import Vocabulary
from tests.optional import optional

tiktoken = optional("tiktoken")

PARTS = [*" aethsx'\n1", "é", "漢", "😀", "\u0301", "the", " sea", "<|end|>", "<|endoftext|>", "<|"]
texts = st.lists(st.sampled_from(PARTS), max_size=20).map("".join)
odd_texts = st.lists(st.sampled_from([*PARTS, "\ud83d", "\ude00", "\udcff"]), max_size=20).map("".join)
SPECIALS = {"<|endoftext|>": 600, "<|end|>": 605}  # there are ids without a token


@pytest.fixture(scope="module")
def pair(merges):
    """The adapter, and tiktoken's object."""
    tok = Tokenizer(
        token_bytes=Vocabulary.assemble(merges), merges=merges, pattern="gpt2", special_tokens=SPECIALS
    )
    return bpe.TiktokenEncoding(tok, "mine"), tok.to_tiktoken("mine")


def outcome(call):
    """Return what a call gives, with its type, or the class of its error."""
    try:
        value = call()
    except Exception as error:
        return type(error)
    return type(value), value.tolist() if isinstance(value, np.ndarray) else value


def check_same(pair, method, *args, **options):
    mine, theirs = (
        outcome(lambda encoding=each: getattr(encoding, method)(*args, **options)) for each in pair
    )
    assert mine == theirs, (method, args, options)


# ---------------------------------------------------------------------------------------------- methods
def test_all_methods_are_there_with_the_same_parameters():
    for name, theirs in inspect.getmembers(tiktoken.Encoding):
        if name.startswith("_"):
            continue
        mine = inspect.getattr_static(bpe.TiktokenEncoding, name)
        if not inspect.isfunction(theirs):
            assert isinstance(mine, property), name
            continue
        one, other = inspect.signature(mine).parameters, inspect.signature(theirs).parameters
        assert list(one) == list(other), name
        for parameter in one:
            assert one[parameter].kind == other[parameter].kind, (name, parameter)
            mine_default, their_default = one[parameter].default, other[parameter].default
            assert mine_default == their_default, (name, parameter)
    assert {*dir(tiktoken.Encoding)} - {*dir(bpe.TiktokenEncoding)} <= {
        name for name in dir(tiktoken.Encoding) if name.startswith("_")
    }


OPTIONS = [
    {},
    {"allowed_special": "all"},
    {"disallowed_special": ()},
    {"allowed_special": {"<|end|>"}},
    {"allowed_special": {"<|end|>"}, "disallowed_special": ()},
    {"disallowed_special": {"the"}},
]


@given(text=texts, options=st.sampled_from(OPTIONS))
def test_encode(pair, text, options):
    check_same(pair, "encode", text, **options)
    check_same(pair, "encode_to_numpy", text, **options)
    check_same(pair, "encode_batch", [text, "the"], **options)
    check_same(pair, "encode_ordinary", text)
    check_same(pair, "encode_ordinary_batch", [text, text[1:]], num_threads=2)


@given(text=odd_texts)
def test_surrogates(pair, text):
    check_same(pair, "encode", text, disallowed_special=())
    check_same(pair, "encode_ordinary", text)
    check_same(pair, "encode_single_token", text)


def test_no_special_token_is_allowed_by_the_tokenizer(pair):
    tok = pair[0].tokenizer.with_allowed_special("all")
    with pytest.raises(ValueError, match="special token"):
        bpe.TiktokenEncoding(tok).encode("<|end|>")


IDS = [*range(0, 606, 7), 600, 601, 605, 606, 195, 169, 10**6, 2**32 - 1, 2**32, 2**70, -1, 1.5, "a", None]


@given(
    ids=st.lists(st.sampled_from(IDS), max_size=6), errors=st.sampled_from(["strict", "replace", "ignore"])
)
def test_decode(pair, ids, errors):
    check_same(pair, "decode", ids)
    check_same(pair, "decode", ids, errors)
    check_same(pair, "decode_bytes", ids)
    check_same(pair, "decode_tokens_bytes", ids)
    check_same(pair, "decode_with_offsets", ids)
    check_same(pair, "decode_batch", [ids, [104]], errors=errors, num_threads=2)
    check_same(pair, "decode_bytes_batch", [ids, [104]])


@pytest.mark.parametrize("number", IDS)
def test_single_tokens(pair, number):
    check_same(pair, "decode_single_token_bytes", number)
    if type(number) is int:  # else an AssertionError there
        check_same(pair, "is_special_token", number)
    else:
        with pytest.raises(TypeError):
            pair[0].is_special_token(number)
    check_same(pair, "decode_with_offsets", [number])


@pytest.mark.parametrize(
    "token", ["the", "<|end|>", b"<|end|>", b"\xff", "é", "nowhere", b"\xff\xfe", "", b"", 3, None]
)
def test_encode_single_token(pair, token):
    check_same(pair, "encode_single_token", token)


def check_what_is_no_method(pair):
    mine, theirs = pair
    for name in ("name", "eot_token", "n_vocab", "max_token_value", "special_tokens_set"):
        assert getattr(mine, name) == getattr(theirs, name), name
    assert mine.token_byte_values() == theirs.token_byte_values()


def test_what_is_no_tokenizer(pair):
    for wrong in ("tok.json", Path("tok.json"), pair[1], None):
        with pytest.raises(
            TypeError, match=rf"takes a Tokenizer, not {type(wrong).__name__}: Tokenizer\.load"
        ):
            bpe.TiktokenEncoding(wrong)


def test_what_is_no_method(pair):
    check_what_is_no_method(pair)
    mine = pair[0]
    plain = Tokenizer(token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern="gpt2")
    with pytest.raises(KeyError, match="endoftext"):
        _ = bpe.TiktokenEncoding(plain).eot_token
    with pytest.raises(ValueError, match="threads must be at least 1"):
        mine.encode_batch(["the"], num_threads=0)
    assert repr(mine) == "<TiktokenEncoding 'mine'>"
    copy = pickle.loads(pickle.dumps(mine))
    assert (copy.name, copy.tokenizer) == (mine.name, mine.tokenizer)


def test_no_more_threads_than_processors(pair, monkeypatch):
    seen = []
    monkeypatch.setattr(
        Tokenizer, "encode_batch", lambda self, texts, threads, **special: seen.append(threads)
    )
    monkeypatch.setattr("bpe.tiktoken_encoding.n_threads", lambda threads: 3 if threads is None else threads)
    for num_threads in (1, 3, 8):
        pair[0].encode_batch(["the"], num_threads=num_threads)
    assert seen == [1, 3, 3]


# ---------------------------------------------------------------------------------------------- offsets
@given(text=texts, cut=st.integers(0, 3))
def test_offsets(pair, text, cut):
    ids = pair[1].encode(text, allowed_special="all")[cut:]
    check_same(pair, "decode_with_offsets", ids)
    assert all(type(place) is int for place in outcome(lambda: pair[0].decode_with_offsets([104]))[1][1])


def test_offsets_are_those_of_encode_with_offsets(tokenizer, book):
    ids, starts, _ = tokenizer.encode_with_offsets(book + "é漢😀")
    for form in (ids, ids.tolist(), iter(ids.tolist())):
        assert tokenizer.decode_with_offsets(form) == (book + "é漢😀", starts.tolist())


def test_offsets_of_empty_tokens(tokenizer):
    vocabulary = tokenizer.engine.vocabulary.replace(idle_tokens={"": 700})
    tok = Tokenizer._of(vocabulary, tokenizer.pattern)
    assert tok.decode_with_offsets([700, 104, 700, 105, 700]) == ("hi", [0, 0, 1, 1, 2])
    assert tok.decode_with_offsets([700]) == ("", [0])
    assert tok.decode_with_offsets([]) == ("", [])


def test_offsets_that_there_are_not(tokenizer):
    with pytest.raises(UnicodeDecodeError):
        tokenizer.decode_with_offsets([195])
    with pytest.raises(ValueError, match=r"ids\[1\]: 999 is out of range"):
        tokenizer.decode_with_offsets([104, 999])
    kept = {"pre_tokenizer": {"type": "Metaspace", "replacement": "▁"}, "decoder": {"type": "Metaspace"}}
    kept["decoder"]["replacement"] = "▁"
    vocabulary = tokenizer.engine.vocabulary.replace(extras=json.dumps({"document": kept}))
    tok = Tokenizer._of(vocabulary, tokenizer.pattern)
    for encoding in (tok, bpe.TiktokenEncoding(tok)):
        with pytest.raises(ValueError, match="decoder of this tokenizer changes the texts of tokens"):
            encoding.decode_with_offsets([104])


# -------------------------------------------------------------------------------------- unstable ends
MORE = ["", " ", "  ", "a", "e", "s", "t", "x", " a", "\n", "\n\n", "1", "'", "!", "é", "漢", "\u0301"]


def check_unstable(pair, text, **options):
    """What tiktoken lacks is of texts that it encodes so itself; what it has in addition is of no text."""
    mine, theirs = pair
    (stable, rows), (their_stable, their_rows) = (
        each.encode_with_unstable(text, **options) for each in (mine, theirs)
    )
    found, others = (
        {(*start, *row) for row in some} for start, some in ((stable, rows), (their_stable, their_rows))
    )
    assert len(found) == len(rows)
    assert all(rows)
    differing = [(row, True) for row in found - others] + [(row, False) for row in others - found]
    for row, is_of_a_text in differing[:: len(differing) // 300 + 1]:
        data = theirs.decode_bytes(row)
        assert data.startswith(text.encode())
        is_found = any(encodes(theirs, data + more, row, **options) for more in continuations(data))
        assert is_found == is_of_a_text, (text, row)
    return len(found), len(found - others), len(others - found)


def encodes(theirs, data, row, **options):
    return tuple(theirs.encode(data.decode(), **options)[: len(row)]) == row


def continuations(data):
    """Yield bytes with which some bytes become a text."""
    _, n = codecs.utf_8_decode(data, "strict", False)
    if n == len(data):
        yield from (more.encode() for more in MORE)
        return
    codes = codes_beginning_with(data[n:])
    for code in codes[:: max(len(codes) // 300, 1)]:
        if not 0xD800 <= code < 0xE000:
            yield from (chr(code).encode()[len(data) - n :] + more.encode() for more in ("", "a", " "))


@given(text=texts, options=st.sampled_from([{"disallowed_special": ()}, {"allowed_special": "all"}]))
def test_encode_with_unstable(pair, text, options):
    check_unstable(pair, text, **options)


def test_where_tiktoken_differs(book):
    tok = bpe.train([book, "we're " * 300], 700, pattern="gpt2", progress=False)
    mine = bpe.TiktokenEncoding(tok)
    stable, rows = mine.encode_with_unstable("I'r")
    assert mine.decode(stable) == "I"
    assert tok.encode("'re") in rows  # tiktoken says that "'" is certain
    n, n_missing, n_more = check_unstable((mine, tok.to_tiktoken("theirs")), "I'r")
    assert (n, n_missing) == (len(rows), 1)
    assert n_more > 0


def test_unstable_ends_after_special_tokens(pair):
    mine, theirs = pair
    for text in ("", "the<|end|>"):
        assert mine.encode_with_unstable(text, allowed_special="all") == (
            theirs.encode_with_unstable(text, allowed_special="all")[0], []
        )  # fmt: skip
    with pytest.raises(ValueError, match=r"special token '<\|end\|>' at character 1"):
        mine.encode_with_unstable("a<|end|>")
    assert mine.encode_with_unstable("a<|end|>th", allowed_special="all")[0] == mine.encode(
        "a<|end|>", allowed_special="all"
    )


# --------------------------------------------------------------------------------------------- real ones
@pytest.mark.skipif("VOCABS" not in os.environ, reason="VOCABS names no folder of real vocabularies")
@pytest.mark.parametrize(("file", "pattern"), [("gpt2", "gpt2"), ("cl100k_base", "cl100k")])
def test_real_vocabularies(file, pattern, book):
    folder = Path(os.environ["VOCABS"])
    described = json.loads((folder / f"{file}.json").read_text("utf-8"))
    tok = Tokenizer.from_tiktoken(
        folder / f"{file}.tiktoken", pattern=pattern, special_tokens=described["special_tokens"]
    )
    ranks = {tok.token_bytes(number): number for number in tok.engine.vocabulary.id_of.values()}
    theirs = tiktoken.Encoding(
        file,
        pat_str=described["pat_str"],
        mergeable_ranks=ranks,
        special_tokens=described["special_tokens"],
    )
    pair = bpe.TiktokenEncoding(tok, file), theirs
    check_what_is_no_method(pair)
    chance = random.Random(1)
    parts = [book[start : start + 200] for start in range(0, 40_000, 1_000)]
    parts += ["".join(chance.choices(PARTS, k=30)) for _ in range(200)]
    for text in parts:
        for options in ({}, {"allowed_special": "all"}, {"disallowed_special": ()}):
            check_same(pair, "encode", text, **options)
        ids = theirs.encode(text, allowed_special="all")
        for some in (ids, ids[1:], chance.choices(range(theirs.n_vocab), k=5)):
            for method in ("decode", "decode_bytes", "decode_tokens_bytes", "decode_with_offsets"):
                check_same(pair, method, some)
    check_same(pair, "encode_batch", parts, disallowed_special=())
    for start in range(0, 20_000, 500):
        check_unstable(pair, book[start : start + 1 + start % 97])
