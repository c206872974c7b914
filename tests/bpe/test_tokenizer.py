import base64
import errno
import json
import os
import pickle
import random
import re
import stat

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bpe
from bpe import reference
from bpe.formats import native
from bpe.support import files
from bpe.support.text import as_bytes, as_text
from bpe.tokenizer import Tokenizer
from bpe.vocabulary.vocabulary import Vocabulary
from tests.optional import required

thorough = settings(deadline=None, max_examples=300)
BYTES = [bytes([value]) for value in range(256)]
SPECIALS = ["<|end|>", "<|fim|>", "  <x> "]  # those of the fixture
LETTERS = [*"aetsh eTS1'!\n\r\t|<>x", "é", "ß", "漢", "か", "\u0301", "½", "😀", "\u3000", "\xa0"]
texts = st.lists(st.sampled_from([*LETTERS, *SPECIALS, " the", "ing", "<|", "end|>"])).map("".join)
# Characters that are not yet in Unicode may be so for tiktoken already, which has tables of its own.
any_texts = texts | st.text(st.characters(exclude_categories=["Cn"]))
choices = st.just("all") | st.sets(st.sampled_from([*SPECIALS, "no such token", "the"]))


@pytest.fixture(scope="session")
def oracle(tokenizer):
    tiktoken = required("tiktoken")
    return tiktoken.Encoding(
        "tiny",
        pat_str=bpe.PATTERNS["gpt2"],
        mergeable_ranks={tokenizer.token_bytes(i): i for i in range(256 + len(tokenizer.merges))},
        special_tokens=tokenizer.special_tokens,
    )


@pytest.fixture(scope="session")
def slowly(tokenizer):
    ranks = reference.rank_pairs(tokenizer.merges)

    def encode(text):
        pieces = bpe.Pattern.of("gpt2").split_bytes(as_bytes(text))
        return [number for piece in pieces for number in reference.encode_by_rank(piece, ranks)]

    return encode


# ------------------------------------------------------------------------------------------ encoding
@thorough
@given(text=any_texts)
def test_encode_ordinary_against_reference(tokenizer, slowly, text):
    clean = as_text(text)
    ids = tokenizer.encode_ordinary(text)
    assert ids == slowly(clean)
    assert tokenizer.decode(ids) == clean


@thorough
@given(data=st.binary())
@example(data=b"\xff the <|end|> \xe2\x82")
def test_bytes_round_trip(tokenizer, slowly, data):
    ids = tokenizer.encode_ordinary(data)
    assert ids == slowly(as_text(data))
    assert tokenizer.decode_bytes(ids) == data
    assert tokenizer.decode(ids) == data.decode("utf-8", "replace")


def test_a_book(tokenizer, oracle, book, monkeypatch):
    expected = oracle.encode_ordinary(book)
    assert tokenizer.encode(book) == expected
    assert tokenizer.decode(expected) == book
    monkeypatch.setattr("bpe.encoding.encoder.BLOCK_BYTES", 1000)
    assert tokenizer.encode(book) == expected


@thorough
@given(text=any_texts, allowed=choices, disallowed=choices | st.just(()))
def test_specials_as_in_tiktoken(tokenizer, oracle, text, allowed, disallowed):
    options = {"allowed_special": allowed, "disallowed_special": disallowed}
    try:
        expected = oracle.encode(text, **options)
    except ValueError as error:
        token = str(error).partition("special token ")[2].partition(".\n")[0]
        with pytest.raises(ValueError, match="holds the special token") as caught:
            tokenizer.encode(text, **options)
        assert f"special token {token} at character" in str(caught.value)
        return
    assert tokenizer.encode(text, **options) == expected
    assert tokenizer.encode_to_numpy(text, **options).tolist() == expected
    assert tokenizer.encode_batch([text, text], 2, **options) == [expected, expected]


def test_special_tokens(tokenizer):
    text = "é<|fim|>the<|end|>"
    with pytest.raises(
        ValueError, match=r"^text holds the special token '<\|fim\|>' at character 1\. .*allowed"
    ):
        tokenizer.encode(text)
    with pytest.raises(ValueError, match="at byte 2"):
        tokenizer.encode(text.encode())
    with pytest.raises(ValueError, match=r"<\|end\|>.* at character 11"):
        tokenizer.encode(text, allowed_special={"<|fim|>"})
    the = tokenizer.encode("the")
    e = tokenizer.encode("é")
    assert tokenizer.encode(text, allowed_special="all") == [*e, 601, *the, 600]
    assert tokenizer.encode(text.encode(), allowed_special="all") == [*e, 601, *the, 600]
    assert tokenizer.encode(text, disallowed_special=()) == tokenizer.encode_ordinary(text)
    assert (
        tokenizer.encode(text, allowed_special=["<|fim|>"], disallowed_special=[])[:5]
        == [
            *e,
            601,
            *tokenizer.encode_ordinary("the<|end|>"),
        ][:5]
    )
    assert tokenizer.decode([600, *the]) == "<|end|>the"
    with pytest.raises(ValueError, match="'the'"):
        tokenizer.encode("in the", disallowed_special={"the"})
    for wrong in ("<|fim|>", b"all", [1]):
        with pytest.raises(TypeError, match="allowed_special must be 'all' or a collection of str"):
            tokenizer.encode("the", allowed_special=wrong)
    with pytest.raises(TypeError, match="disallowed_special must be"):
        tokenizer.encode("the", disallowed_special="<|fim|>")


def test_the_longest_special_token_wins():
    tokenizer = Tokenizer(
        token_bytes=BYTES, merges=[], pattern="none", special_tokens={"<a>": 256, "<a>b": 257, "b<": 258}
    )
    assert tokenizer.encode("<a>b<a>", allowed_special="all") == [257, 256]
    assert tokenizer.encode("<a>b", allowed_special={"<a>"}, disallowed_special=()) == [256, 98]
    assert tokenizer.encode("b<a>", allowed_special="all") == [258, 97, 62]


def test_surrogates(tokenizer):
    assert tokenizer.decode(tokenizer.encode("\ud83d\ude00 a\ud800 \udcff")) == "😀 a\ufffd \ufffd"
    replaced = Tokenizer(token_bytes=BYTES, merges=[], pattern="none", special_tokens={"\ufffd": 256})
    assert replaced.encode("\ud800", disallowed_special="all") == list("\ufffd".encode()), "as in tiktoken"


def test_batches(tokenizer):
    batch = ["the sea", b"\xff", "", "a ship" * 100]
    expected = [tokenizer.encode(text) for text in batch]
    for threads in (None, 1, 2, 7):
        assert tokenizer.encode_batch(batch, threads=threads) == expected
        ids, offsets = tokenizer.encode_batch_to_numpy(iter(batch), threads)
        assert (ids.dtype, offsets.dtype) == (np.uint32, np.int64)
        assert offsets.tolist() == np.cumsum([0, *map(len, expected)]).tolist()
        assert ids.tolist() == [number for part in expected for number in part]
    assert tokenizer.encode_batch([]) == []
    ids, offsets = tokenizer.encode_batch_to_numpy([])
    assert (ids.size, offsets.tolist()) == (0, [0])
    array = tokenizer.encode_to_numpy("the sea")
    assert (array.dtype, array.tolist()) == (np.uint32, expected[0])
    for threads in (1, 2):
        with pytest.raises(ValueError, match=r"^text 1 holds the special token"):
            tokenizer.encode_batch(["fine", "no<|end|>"], threads)
        with pytest.raises(TypeError, match="text 1 must be str or bytes, not int"):
            tokenizer.encode_batch(["fine", 3], threads)
    with pytest.raises(ValueError, match="at least 1, not 0"):
        tokenizer.encode_batch(["fine"], 0)
    with pytest.raises(TypeError, match="put it in a list"):
        tokenizer.encode_batch("one text")
    for function in (tokenizer.encode, tokenizer.encode_ordinary, tokenizer.encode_to_numpy):
        with pytest.raises(TypeError, match="text must be str or bytes, not NoneType"):
            function(None)


# ------------------------------------------------------------------------------------------ decoding
def test_decode(tokenizer):
    ids = tokenizer.encode("the sea")
    for form in (ids, tuple(ids), iter(ids), np.array(ids), np.array(ids, np.uint32), list(np.array(ids))):
        assert tokenizer.decode(form) == "the sea"
    assert tokenizer.decode_bytes([]) == b""
    assert tokenizer.decode_bytes(np.array([])) == b""
    assert tokenizer.decode_batch([ids, [], np.array(ids)]) == ["the sea", "", "the sea"]
    half = tokenizer.encode("é")[:1] if len(tokenizer.encode("é")) > 1 else [0xC3]
    assert tokenizer.decode(half) == "\ufffd"
    assert tokenizer.decode(half, errors="ignore") == ""
    with pytest.raises(UnicodeDecodeError):
        tokenizer.decode(half, errors="strict")


@pytest.mark.parametrize("form", [list, np.array])
@pytest.mark.parametrize("number", [-1, 603, 580, 2**40])
def test_ids_out_of_range(tokenizer, number, form):
    what = "is not used" if number == 580 else "is out of range"
    for function in (tokenizer.decode, tokenizer.decode_bytes, lambda ids: tokenizer.decode_batch([ids])):
        with pytest.raises(ValueError, match=rf"ids\[2\]: {number} {what}; ids are 0 to 602"):
            function(form([1, 2, number, -5]))
    with pytest.raises(ValueError, match=f"{number} {what}"):
        tokenizer.token_bytes(number)


@pytest.mark.parametrize("ids", [[1, 2.0], ["a"], [None], np.array([1.0]), np.array([[1]])])
def test_ids_of_wrong_type(tokenizer, ids):
    with pytest.raises(TypeError, match=r"ids\[\d\] must be an integer"):
        tokenizer.decode(ids)


# ---------------------------------------------------------------------------------------- vocabulary
def test_vocabulary(tokenizer, merges):
    assert tokenizer.vocab_size == 603
    assert tokenizer.merges == merges
    assert tokenizer.special_tokens == {token: 600 + i for i, token in enumerate(SPECIALS)}
    assert tokenizer.pattern == bpe.Pattern.of("gpt2")
    tokenizer.merges.clear()
    tokenizer.special_tokens.clear()
    assert tokenizer.merges == merges
    assert len(tokenizer.special_tokens) == 3
    for number in (0, 255, 256, 400, 600):
        assert tokenizer.token_id(tokenizer.token_bytes(number)) == number
    assert tokenizer.token_bytes(601) == b"<|fim|>"
    assert tokenizer.token_id("<|fim|>") == 601
    for unknown in (b"no such token", "\xe9\xe9", b""):
        with pytest.raises(KeyError):
            tokenizer.token_id(unknown)
    assert "603 tokens, 3 special, pattern 'gpt2'" in repr(tokenizer)


def make(**changes):
    parts = {"token_bytes": [*BYTES, b"ab", b"abc"], "merges": [(97, 98), (256, 99)], "pattern": "none"}
    return Tokenizer(**{**parts, **changes})


def test_equality():
    one = make()
    assert one == make()
    assert hash(one) == hash(make())
    for other in (
        make(merges=[(97, 98)]),
        make(pattern="gpt2"),
        make(special_tokens={"<a>": 258}),
        make(token_bytes=[*BYTES, b"ab", b"abc", b"d!"]),
        make(token_bytes=[*BYTES, b"abc", b"ab"], merges=[(97, 98), (257, 99)]),
        "something else",
    ):
        assert one != other


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        ({"token_bytes": [*BYTES, b"ab", b"ab"]}, ValueError, "ids 256 and 257 are both b'ab'"),
        ({"token_bytes": [*BYTES, b"ab", b""]}, ValueError, "id 257 is empty"),
        ({"token_bytes": [*BYTES, "ab"]}, TypeError, "id 256 must be bytes, not str"),
        ({"token_bytes": {**dict(enumerate(BYTES)), -1: b"ab"}}, ValueError, "an id must be in .*, not -1"),
        ({"token_bytes": {**dict(enumerate(BYTES)), 2**31: b"ab"}}, ValueError, "an id must be in"),
        ({"token_bytes": {**dict(enumerate(BYTES)), "a": b"ab"}}, TypeError, "an id must be an integer"),
        ({"merges": [(97, 98), (256, 300)]}, ValueError, r"merge 1, \(256, 300\), names id 300"),
        ({"merges": [(97, -98)]}, ValueError, "names id -98, which is not a token"),
        ({"merges": [(97, 98), (256, 98)]}, ValueError, r"merge 1, .* makes b'abb', which is not a token"),
        ({"merges": [(97, 98), (97, 98)]}, ValueError, "merge 1, .* repeats merge 0"),
        ({"merges": [(97, 98, 99)]}, TypeError, "merge 0 must be a pair of integers"),
        ({"merges": [(b"a", b"b"), (b"ab", b"?!")]}, ValueError, r"merge 1, .* names b'\?!', which is no"),
        ({"merges": [(b"a", b"b"), (b"ab", b"b")]}, ValueError, "merge 1, .* makes b'abb', which is no"),
        ({"merges": [(b"a", b"b"), (97, 98)]}, ValueError, "merge 1, .* repeats merge 0"),
        ({"merges": [(b"a", 98)]}, TypeError, "merge 0 must be a pair of integers, or of bytes, not"),
        ({"merges": [("a", "b")]}, TypeError, "merge 0 must be a pair of integers, or of bytes, not"),
        ({"merges": [97]}, TypeError, "merge 0 must be a pair of integers"),
        ({"merges": ["ab"]}, TypeError, "merge 0 must be a pair of integers"),
        ({"special_tokens": {"<a>": 97}}, ValueError, "'<a>' has id 97, the id of token b'a'"),
        ({"special_tokens": {"<a>": 300, "<b>": 300}}, ValueError, "'<a>' and '<b>' have the same id 300"),
        ({"special_tokens": {"": 300}}, ValueError, "special token 0 is empty"),
        ({"special_tokens": {"<a>": -1}}, ValueError, "the id of special token '<a>' must be in"),
        ({"special_tokens": {"<a>": 2**31}}, ValueError, "the id of special token '<a>' must be in"),
        ({"special_tokens": {"<a>": 1.5}}, TypeError, "must be an integer, not float"),
        ({"special_tokens": 3}, TypeError, "must be a list of str, or map str to id, not be int"),
        ({"special_tokens": "<a>"}, TypeError, r"must be in a list: write \['<a>'\]"),
        ({"special_tokens": ["<a>", "<a>"]}, ValueError, "duplicate special token '<a>'"),
        ({"special_tokens": [b"<a>"]}, TypeError, "special token 0 must be str, not bytes"),
        (
            {"allowed_special": ["<a>"]},
            ValueError,
            "allowed_special holds '<a>', which is not a special token",
        ),
        ({"allowed_special": "<a>"}, TypeError, "allowed_special must be 'all' or a collection of str"),
        ({"special_tokens": {1: 300}}, TypeError, "special token 0 must be str"),
        ({"pattern": "nonsense"}, ValueError, "unknown pattern"),
    ],
)
def test_wrong_parts(changes, kind, message):
    with pytest.raises(kind, match=message):
        make(**changes)
    with pytest.raises(TypeError):
        Tokenizer([])


# --------------------------------------------------------------------------- other people's vocabularies
def shuffled(tokenizer, seed):
    """The same tokenizer with other ids, special tokens first, and some ids not used."""
    numbers = list(range(3, 3 + 2 * (256 + len(tokenizer.merges))))
    new = random.Random(seed).sample(numbers, 256 + len(tokenizer.merges))
    return new, Tokenizer(
        token_bytes={new[i]: tokenizer.token_bytes(i) for i in range(len(new))},
        merges=[(new[left], new[right]) for left, right in tokenizer.merges],
        pattern=tokenizer.pattern,
        special_tokens={token: i for i, token in enumerate(SPECIALS)},
    )


@settings(deadline=None)
@given(text=texts, seed=st.integers(0, 3))
def test_any_ids(tokenizer, text, seed):
    new, other = shuffled(tokenizer, seed)
    new = dict(enumerate(new)) | {600: 0, 601: 1, 602: 2}
    ids = other.encode(text, allowed_special="all")
    assert ids == [new[number] for number in tokenizer.encode(text, allowed_special="all")]
    assert other.decode(ids) == as_text(text)


ODD = {
    "shuffled": lambda tokenizer: shuffled(tokenizer, 1)[1],
    "no merges": lambda tokenizer: Tokenizer(token_bytes=BYTES, merges=[], pattern="none"),
    "tokens without merges": lambda tokenizer: make(
        token_bytes=[*BYTES, b"ab", b"abc", b"\xff\xfe", None, b"x\n"]
    ),
    "merges before their parts": lambda tokenizer: make(merges=[(256, 99), (97, 98)]),
    "two ways to a token": lambda tokenizer: make(
        token_bytes=[*BYTES, b"ab", b"abc", b"bc"], merges=[(97, 98), (98, 99), (97, 258), (256, 99)]
    ),
    "own pattern": lambda tokenizer: make(pattern=[r"\d\n'\"", "é😀\ud800?"]),
    "odd special tokens": lambda tokenizer: make(special_tokens={"é \n\"'\\ 😀": 258, "a": 2**31 - 1}),
}


# --------------------------------------------------------------------------------------------- files
@pytest.mark.parametrize("odd", [lambda tokenizer: tokenizer, *ODD.values()], ids=["plain", *ODD])
def test_save_and_load(tokenizer, odd, tmp_path):
    tokenizer = odd(tokenizer)
    path = tmp_path / "tok.json"
    for name in (path, str(path)):
        tokenizer.save(name)
        assert Tokenizer.load(name) == tokenizer
    assert os.listdir(tmp_path) == ["tok.json"]
    document = json.loads(path.read_bytes())
    assert (document["format"], document["version"]) == ("bpe-structures", 1)
    assert document["merges"] == numbers(*np.ravel(tokenizer.merges))
    copy = pickle.loads(pickle.dumps(tokenizer))
    assert copy == tokenizer
    text = "the abc <|end|>"
    assert copy.encode_ordinary(text) == tokenizer.encode_ordinary(text)


def test_ordinary_files_hold_nothing_derived(tokenizer, tmp_path):
    path = tmp_path / "tok.json"
    tokenizer.save(path)
    wanted = ["format", "version", "pattern", "unicode", "special_tokens", "merges", "crc32"]
    assert list(json.loads(path.read_bytes())) == wanted
    assert json.loads(path.read_bytes())["pattern"] == "gpt2"
    tokenizer.encode("some words to be remembered")
    assert len(pickle.dumps(tokenizer)) < 20 * len(tokenizer.merges)


def numbers(*values):
    return base64.b64encode(np.array(values, "<i4").tobytes()).decode()


def test_written_by_hand(tmp_path):
    path = tmp_path / "tok.json"
    path.write_text(
        '{"format": "bpe-structures", "version": 1, "pattern": "none", "unicode": "15.0.0",'
        ' "special_tokens": {}, "merges": "YQAAAGIAAAAAAQAAYwAAAA=="}'
    )
    assert Tokenizer.load(path) == make()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "another"}, '"format" is not'),
        ({"version": 6}, "written by a newer release"),
        ({"version": 0}, '"version" is 0'),
        ({"version": "1"}, '"version" is'),
        ({"version": True}, '"version" is True'),
        ({"pattern": "nonsense"}, "unknown pattern 'nonsense'"),
        ({"pattern": "("}, "invalid regular expression"),
        ({"pattern": [1]}, '"pattern" is not a name or a list'),
        ({"pattern": None}, '"pattern" is missing'),
        ({"merges": None}, '"merges" is missing'),
        ({"unicode": 15}, '"unicode" is not a str'),
        ({"merges": [[97, 98]]}, '"merges" is not a str'),
        ({"merges": "YQAAAGIAAAB"}, '"merges" is not base64'),
        ({"merges": "é"}, '"merges" is not base64'),
        ({"merges": "YQAAAGIA"}, '"merges" is cut off: 6 bytes are not a whole number of rows of 8'),
        ({"merges": numbers(97, 98, 97, -5)}, r'"merges"\[1\] is not an id: \[97, -5\]'),
        (
            {"merges": numbers(97, 98, 257, 99)},
            r"merge 1, \(257, 99\), names id 257, which is not a token yet",
        ),
        ({"merges": numbers(97, 10**9)}, "names id 1000000000, which is not a token yet"),
        ({"merges": numbers(97, 98, 97, 98)}, "ids 256 and 257 are both b'ab'"),
        ({"special_tokens": []}, '"special_tokens" is not an object'),
        ({"special_tokens": {"a": "b"}}, r'"special_tokens"\[\'a\'\] is not an id'),
        ({"special_tokens": {"b": 97}}, "has id 97"),
        ({"byte_ids": [0] * 256}, "byte 1 makes id 0, which is"),
        ({"byte_ids": [0]}, "not a list of 256 ids"),
        ({"byte_ids": [-2, *range(1, 256)]}, r'"byte_ids"\[0\] is not an id: -2'),
        ({"merged_ids": numbers(256)}, '2 "merges" but 1 "merged_ids"'),
        ({"merged_ids": numbers(256, -(2**31))}, r'"merged_ids"\[1\] is not an id'),
        ({"merged_ids": [256]}, '"merged_ids" is not a str'),
        ({"merged_ids": numbers(256, 256)}, "merge 1 makes id 256, which is already b'ab'"),
        ({"other_tokens": {"x": "YQ=="}}, "'x' is not an id"),
        ({"other_tokens": {"300": "?"}}, r"\['300'\] is not base64"),
        ({"other_tokens": {"300": 1}}, r"\['300'\] is not base64"),
        ({"other_tokens": {"300": ""}}, "id 300 is empty"),
        ({"other_tokens": {"300": "YQ=="}}, "both b'a'"),
        ({"extra": 1}, "unknown entry 'extra'"),
        ({"crc32": 1}, "damaged"),
    ],
)
def test_wrong_files(changes, message, tmp_path):
    path = tmp_path / "tok.json"
    document = native.document_of(make().engine.vocabulary, make().pattern) | changes
    path.write_text(json.dumps({key: value for key, value in document.items() if value is not None}))
    with pytest.raises(ValueError, match=f"tok.json: .*{message}"):
        Tokenizer.load(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"format": "bpe-structures"', "not JSON at line 1"),
        (b"\xff", r"it begins with b'\\xff'"),
        (b"null", "it begins with b'null'"),
        (b'{"a":' * 100_000, "nested"),
        (b'{"format": "bpe-structures", "format": "bpe-structures"}', "duplicate entry 'format'"),
        (b'{"format": NaN}', "NaN is not a JSON number"),
        (b"9" * 10_000, "tok.json"),
        (b'{\n"format": "bpe-structures", "\x93": 1}', "not UTF-8"),
    ],
)
def test_foreign_files(data, message, tmp_path):
    path = tmp_path / "tok.json"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=message):
        Tokenizer.load(path)


@pytest.mark.filterwarnings("ignore:.*has the name of a")
@pytest.mark.parametrize("name", ["vocab.json", "tokenizer.json", "a.tiktoken", "a.model", "a"])
def test_load_reads_what_save_wrote_under_any_name(tokenizer, name, tmp_path):
    tokenizer.save(tmp_path / name)
    assert Tokenizer.load(tmp_path / name) == tokenizer


def test_old_names_name_the_new_ones(tokenizer):
    for old, new in (("open", "load"), ("truncated", "with_vocab_size")):
        for owner in (Tokenizer, tokenizer):
            with pytest.raises(AttributeError, match=f"^Tokenizer.{old} is now Tokenizer.{new}$"):
                getattr(owner, old)


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        Tokenizer.load(tmp_path / "tok.json")
    with pytest.raises(ValueError, match="a folder without a tokenizer"):
        Tokenizer.load(tmp_path)


def damaged(data, chance):
    """Change some bytes: cut off, take out, put in, swap, flip."""
    data = bytearray(data)
    for _ in range(chance.choice([1, 1, 1, 2, 5])):
        i, j = sorted(chance.sample(range(len(data) + 1), 2))
        match chance.randrange(5):
            case 0:
                del data[i:]
            case 1:
                del data[i : min(j, i + 9)]
            case 2:
                data[i:i] = chance.choice(
                    [b"9", b"-", b'"', b",", b"[", b"{}", b"null", b"\xff", b"1e9", b" "]
                )
            case 3:
                data[i : i + 1], data[j - 1 : j] = data[j - 1 : j], data[i : i + 1]
            case 4:
                data[i : i + 1] = bytes([chance.randrange(256)])
        if not data:
            break
    return bytes(data)


@pytest.mark.parametrize("seed", range(4))
def test_vocabularies_in_little_time(seed):
    """What is unfolded at once is what is put together token by token; what is wrong is left to that."""
    chance = random.Random(seed)
    n_at_once = n_wrong = 0
    for _ in range(300):
        byte_ids = chance.sample(range(300), 256) if chance.random() < 0.5 else list(range(256))
        others = {chance.randrange(300, 310): b"ab" + bytes([97 + chance.randrange(3)]) * chance.randrange(3)}
        others = others if chance.random() < 0.5 else {}
        known, made, pairs = [*byte_ids[97:99], *others], [], []
        for number in range(310, 310 + chance.randrange(12)):
            pairs.append((chance.choice(known), chance.choice(known)))
            made.append(number if chance.random() < 0.99 else chance.randrange(330))
            known.append(number if chance.random() < 0.99 else chance.randrange(330))
        given = {"byte_ids": byte_ids, "made": np.array(made, np.int64), "others": others}
        pairs_array = np.array(pairs, np.int64).reshape(-1, 2)
        try:
            token_bytes = Vocabulary.assemble(pairs, byte_ids, made, others)
            wanted = Vocabulary(token_bytes, pairs, {"<end>": 400})
        except ValueError as error:
            with pytest.raises(ValueError, match=re.escape(str(error))):
                Vocabulary.of_merges(pairs_array, {"<end>": 400}, **given)
            n_wrong += 1
            continue
        found = Vocabulary.of_merges(pairs_array, {"<end>": 400}, **given)
        is_at_once = "bytes_of" not in vars(found)
        assert is_at_once or len(set(made)) < len(made), "two merges make the same"
        n_at_once += is_at_once
        for name in ("merges", "merged_ids", "id_of", "bytes_of", "byte_ids", "special_tokens", "size"):
            assert getattr(found, name) == getattr(wanted, name)
    assert min(n_at_once, n_wrong) > 50


def test_vocabularies_out_of_the_ordinary():
    def put_together(pairs, **given):
        """Whether all tokens were put together at once."""
        return "bytes_of" in vars(Vocabulary.of_merges(np.array(pairs, np.int64).reshape(-1, 2), {}, **given))

    chain = [(97, 97), *((number, 97) for number in range(256, 330))]
    assert not put_together(chain[:60])
    assert Vocabulary.of_merges(np.array(chain[:60]), {}).bytes_of[315] == b"a" * 61
    assert put_together(chain), "deep"
    assert put_together([(97, 97), *((number, number) for number in range(256, 277))]), "long"
    assert put_together([], others={10**9: b"ab"})
    with pytest.raises(ValueError, match="the token of id 300 is empty"):
        put_together([], others={300: b""})
    with pytest.raises(ValueError, match="names id -1, which is not a token yet"):
        put_together([(97, -1)])
    with pytest.raises(ValueError, match="special token '<end>' has id 97, the id of token b'a'"):
        Vocabulary.of_merges(np.empty((0, 2), np.int64), {"<end>": 97})
    many = {f"<{i}>": 256 + i for i in range(200)}
    assert Vocabulary.of_merges(np.empty((0, 2), np.int64), many).size == 456
    with pytest.raises(ValueError, match="special token '<0>' has id 256, the id of token b'ab'"):
        Vocabulary.of_merges(np.array([[97, 98]]), many)


@pytest.mark.parametrize("checksum", [True, False])
@pytest.mark.parametrize("odd", ["shuffled", "tokens without merges", "own pattern", "odd special tokens"])
def test_damaged_files(tokenizer, odd, checksum, tmp_path):
    """Damage is a ValueError; without the checksum, some goes unnoticed, but nothing else is raised."""
    path = tmp_path / "tok.json"
    small = Tokenizer(
        token_bytes=Vocabulary.assemble(tokenizer.merges[:5]), merges=tokenizer.merges[:5], pattern="gpt2"
    )
    original = ODD[odd](small)
    document = native.document_of(original.engine.vocabulary, original.pattern)
    whole = native.dump(document) if checksum else json.dumps(document).encode()
    chance = random.Random(odd)
    for _ in range(150):
        data = damaged(whole, chance)
        path.write_bytes(data)
        try:
            loaded = Tokenizer.load(path)
        except ValueError as error:
            assert "tok.json: " in str(error)  # noqa: PT017
        else:
            assert not checksum or loaded == original


def test_truncated_files(tokenizer, tmp_path):
    path = tmp_path / "tok.json"
    tokenizer.save(path)
    whole = path.read_bytes()
    for size in range(0, len(whole) - 2, 37):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"tok\.json: not (JSON|a tokenizer)"):
            Tokenizer.load(path)


# -------------------------------------------------------------------------------------- atomic_write
@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
def test_a_crash_leaves_the_old_file(step, tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def crash(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, step, crash)
    with pytest.raises(KeyboardInterrupt):
        files.atomic_write(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_link_that_leads_to_itself(tmp_path):
    path = tmp_path / "loop"
    path.symlink_to(path)
    with pytest.raises(OSError, match=re.escape(f"{os.strerror(errno.ELOOP)}: '{path}'")):
        files.atomic_write(path, b"new")
    assert path.is_symlink()


def test_atomic_write(tmp_path):
    path = tmp_path / "file"
    files.atomic_write(path, b"new")
    assert path.read_bytes() == b"new"
    plain = tmp_path / "plain"
    plain.touch()
    assert path.stat().st_mode == plain.stat().st_mode
    path.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(path)
    files.atomic_write(str(link), b"newer")
    assert link.is_symlink()
    assert path.read_bytes() == b"newer"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    with pytest.raises(IsADirectoryError, match="is a folder"):
        files.atomic_write(tmp_path, b"")
    with pytest.raises(FileNotFoundError, match="no such folder"):
        files.atomic_write(tmp_path / "no" / "file", b"")
    files.atomic_write(os.devnull, b"gone")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_permissions_of_new_files(tmp_path, monkeypatch):
    """The mask of the process is not touched, which other threads make files by."""
    path = tmp_path / "file"
    before = os.umask(0o027)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(os, "umask", None)
            files.atomic_write(path, b"new")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o606)
        with files.replacing(path):
            (temporary,) = {*tmp_path.iterdir()} - {path}
            assert stat.S_IMODE(temporary.stat().st_mode) == 0o600, "nobody else may read it meanwhile"
        assert stat.S_IMODE(path.stat().st_mode) == 0o606
    finally:
        os.umask(before)
