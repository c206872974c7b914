"""Text and ids that come in pieces, cut anywhere, are what they are as a whole."""

import random
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe.encoding import appendable, streams
from bpe.encoding.encoder import Encoder
from bpe.encoding.engine import Engine
from bpe.splitting import boundaries
from bpe.splitting.special_search import SpecialSearch
from bpe.support.text import utf8_of
from bpe.tokenizer import Tokenizer
from bpe.vocabulary.vocabulary import Vocabulary

SPECIALS = ["<|end|>", "<|fim|>", "  <x> ", "<|", "é|>"]
ALPHABET = [
    *"aetsh foobar1'!\n\r<|>x",
    "é",
    "漢",
    "\u0301",
    "😀",
    "\u3000",
    " the",
    "foobar",
    "   ",
    "12345",
    "'s",
]
texts = st.lists(st.sampled_from(ALPHABET + SPECIALS), max_size=40).map("".join)
odd_texts = st.lists(st.sampled_from([*ALPHABET, "\ud83d", "\ude00", "\udcff"]), max_size=30).map("".join)
datas = texts.map(str.encode) | st.lists(
    st.sampled_from([b"\xff", b"\xc3", b"\xa9", b"\xe2\x82", b" the", b" ", b"a"]), max_size=30
).map(b"".join)
PATTERNS = {
    **{name: name for name in bpe.PATTERNS},
    "gaps": r"[a-z]+(?=\s|$)|\d{2,3}?",
    "empty matches": r"a*|(?=1)",
    "steps": [r"\d{1,2}", r"(?:th|t)+e|x*|[^\x00-\x7f]+", r"\s+(?!\S)|\s+|\w+(?= )"],
    "looks ahead": r"foo(?=bar)|\s+(?!\S)|\w",
    "looks behind": r"(?<=a)[a-z]+|\w| +",
    "anchors": r"^foo|\w+$|\b\w|.",
    "not compiled": r"(\w)\1|\w+",
}
ALLOWED = {"allowed_special": "all"}
CHOICES = [ALLOWED, {"allowed_special": {"<|", "é|>"}, "disallowed_special": ()}, {"disallowed_special": ()}]


@pytest.fixture(params=PATTERNS, scope="module")
def any_tokenizer(request, merges):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tokenizer = Tokenizer(
            token_bytes=Vocabulary.assemble(merges),
            merges=merges,
            pattern=PATTERNS[request.param],
            special_tokens={token: 600 + i for i, token in enumerate(SPECIALS)},
        )
        tokenizer.pattern.compiled  # noqa: B018  # warns once
    return tokenizer


def cut_anywhere(text, chance):
    places = sorted(chance.choices(range(len(text) + 1), k=chance.randrange(6)))
    return [text[start:stop] for start, stop in zip([0, *places], [*places, len(text)], strict=True)]


# -------------------------------------------------------------------------------------------- streams in
@settings(max_examples=200)
@given(
    text=texts | odd_texts | datas, chance=st.randoms(use_true_random=False), options=st.sampled_from(CHOICES)
)
def test_a_stream_is_its_whole(any_tokenizer, text, chance, options):
    stream = any_tokenizer.stream_encoder(**options)
    for _ in range(2):  # after finish(), it starts again
        ids = []
        for part in cut_anywhere(text, chance):
            ids += stream.feed(part)
            whole = any_tokenizer.encode(text, **options)
            assert ids == whole[: len(ids)], "what is out stays"
        assert ids + stream.rest() == whole
        assert ids + stream.finish() == whole
    assert stream.finish() == []


SEAM = "the  foobar 12345é\u0301 漢字\n\n <|end|>  <x> <|fim|\t'sé|>t1 "


@pytest.mark.parametrize("options", CHOICES, ids=["allowed", "some", "ordinary"])
def test_cut_at_every_byte(any_tokenizer, options):
    data = SEAM.encode() + b"\xff foo\xe2\x82 bar"
    whole = any_tokenizer.encode(data, **options)
    stream = any_tokenizer.stream_encoder(**options)
    for place in range(len(data) + 1):
        assert stream.feed(data[:place]) + stream.feed(data[place:]) + stream.finish() == whole
    assert [n for i in range(len(data)) for n in stream.feed(data[i : i + 1])] + stream.finish() == whole


def check_growing(tok, text, chance):
    growing = tok.appendable_encoder(**ALLOWED)
    whole = tok.encode(text, **ALLOWED)
    given = text[:0]
    for part in cut_anywhere(text, chance):
        growing.append(part)
        given += part
        if chance.random() < 0.7:
            known = growing.known()
            assert known == whole[: len(known)], "what is known stays"
        expected = tok.encode(given, **ALLOWED)
        assert growing.count() == len(expected)
        if chance.random() < 0.5:
            assert growing.ids() == expected
    assert growing.ids() == whole


@contextmanager
def short_pieces_are_long():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Engine, "small", 6)
        patch.setattr(appendable, "_SHORT", 6)
        patch.setattr(appendable, "_WINDOW", 2)
        yield


@settings(max_examples=100)
@given(text=texts | odd_texts | datas, chance=st.randoms(use_true_random=False))
def test_a_growing_text(any_tokenizer, text, chance):
    check_growing(any_tokenizer, text, chance)


# Pieces with few ends in them.
long_pieces = st.sampled_from(["the", "ab", " ", " \n", "é漢", "a1", "aA", "!<|", "'s", "😀"]).flatmap(
    lambda alphabet: st.text(alphabet, min_size=20, max_size=60)
)


@settings(max_examples=100)
@given(
    text=st.tuples(long_pieces, texts | odd_texts, long_pieces).map("".join),
    as_bytes=st.booleans(),
    chance=st.randoms(use_true_random=False),
)
def test_a_growing_piece(any_tokenizer, text, as_bytes, chance):
    with short_pieces_are_long():
        check_growing(any_tokenizer, utf8_of(text) if as_bytes else text, chance)


@settings(max_examples=200)
@given(chance=st.randoms(use_true_random=False), text=st.text("abc", min_size=30, max_size=120))
def test_a_growing_piece_by_any_merges(chance, text):
    """Merges in any order, several that make one token, and tokens that are taken whole."""
    tokens, pairs = [b"a", b"b", b"c"], []
    for _ in range(chance.randrange(25)):
        pair = chance.choice(tokens), chance.choice(tokens)
        if pair not in pairs and len(b"".join(pair)) < 12:
            pairs.append(pair)
            tokens += [] if b"".join(pair) in tokens else [b"".join(pair)]
    chance.shuffle(pairs)
    whole = {text[i:j].encode() for i, j in [sorted(chance.sample(range(len(text)), 2)) for _ in range(3)]}
    whole.add(text[: chance.randrange(1, 30)].encode())
    known = [bytes([value]) for value in range(256)]
    known += [token for token in [*tokens, *sorted(whole)] if len(token) > 1]
    known = [*dict.fromkeys(known)]
    words = Vocabulary(known, pairs, {})
    words = words.replace(atomic_ids=[words.id_of[token] for token in whole])
    with short_pieces_are_long():
        check_growing(Tokenizer._of(words, bpe.Pattern.of("none")), text, chance)


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "none"])
def test_a_growing_piece_takes_linear_work(tokenizer, merges, monkeypatch, name):
    """Bytes are counted that are encoded, searched for tokens or cut, with a count after each part."""
    tok = Tokenizer(
        token_bytes=Vocabulary.assemble(merges), merges=merges, pattern=name, special_tokens={"<|end|>": 600}
    )
    n_done = 0

    def counting(owner, method):
        plain = getattr(owner, method)

        def counted(self, data, *more):
            nonlocal n_done
            n_done += len(data)
            return plain(self, data, *more)

        monkeypatch.setattr(owner, method, counted)

    for method in ("encode", "encode_pieces", "encode_segments"):
        counting(Encoder, method)
    counting(SpecialSearch, "find_all")
    counting(bpe.Pattern, "decided")
    counting(appendable.GrowingPiece, "_read")
    chance = random.Random(name)
    work = []
    for size in (10_000, 40_000):
        text = "".join(chance.choice("the sand"[: 3 + 5 * (name == "none")]) for _ in range(size))
        growing, n_done = tok.appendable_encoder(allowed_special="all"), 0
        for start in range(0, size, 100):
            growing.append(text[start : start + 100])
            growing.count()
        work.append(n_done)
        assert growing.ids() == tok.encode(text)
        assert len(growing.known()) > growing.count() - 300, "the fast way was taken"
    assert work[1] < 5 * work[0]
    assert work[1] < 40 * 40_000


@settings(max_examples=200)
@given(text=texts, chance=st.randoms(use_true_random=False), allowed=st.sets(st.sampled_from(SPECIALS)))
def test_what_is_disallowed_is_seen_wherever_it_is_cut(tokenizer, merges, text, chance, allowed):
    tokenizer = Tokenizer(
        token_bytes=Vocabulary.assemble(merges),
        merges=merges,
        pattern="gpt2",
        special_tokens={token: 600 + i for i, token in enumerate(SPECIALS)},
    )
    stream = tokenizer.stream_encoder(allowed_special=allowed)
    try:
        expected = tokenizer.encode(text, allowed_special=allowed)
    except ValueError:
        parts = cut_anywhere(text, chance)
        with pytest.raises(ValueError, match="the stream holds the special token"):
            list(map(stream.feed, parts))
        return
    assert [n for part in cut_anywhere(text, chance) for n in stream.feed(part)] + stream.finish() == expected


@pytest.mark.parametrize("before", ["", "x", "the sea  ", "x" * 30])
def test_the_place_of_a_disallowed_token_that_comes_byte_by_byte(tokenizer, before):
    for token in tokenizer.special_tokens:
        stream = tokenizer.stream_encoder()
        *others, last = (bytes([byte]) for byte in (before + token).encode())
        for byte in others:
            stream.feed(byte)
        with pytest.raises(ValueError, match=f"at byte {len(before)}\\."):
            stream.feed(last)


def test_a_refused_part_is_not_taken(tokenizer):
    stream = tokenizer.stream_encoder()
    ids = stream.feed("the sea and the <|en")
    with pytest.raises(ValueError, match=r"the stream holds the special token '<\|end\|>' at byte 16"):
        stream.feed("d|> and more")
    with pytest.raises(TypeError, match="text must be str or bytes, not int"):
        stream.feed(3)
    ids += stream.feed("closure")
    assert ids + stream.finish() == tokenizer.encode("the sea and the <|enclosure")
    growing = tokenizer.appendable_encoder()
    growing.append("a <|fim|")
    with pytest.raises(ValueError, match="special token"):
        growing.append(">")
    assert growing.ids() == tokenizer.encode("a <|fim|")


def test_a_growing_text_that_cannot_be_encoded_has_no_older_count():
    tok = Tokenizer(token_bytes={1: b"a", 2: b"b", 3: b" "}, merges=[], pattern="gpt2")
    growing = tok.appendable_encoder()
    growing.append("a")
    assert growing.count() == 1
    for function in (lambda: growing.append(" z ab ab"), growing.count, growing.ids):
        with pytest.raises(ValueError, match="no token of the vocabulary stands for"):
            function()


def test_str_and_bytes_in_turn(tokenizer):
    stream = tokenizer.stream_encoder()
    ids = [
        n
        for part in ("é", b"\xc3", b"\xa9 \xff", "\ud83d", "", b"", "\ude00", "\ud83d", b"x")
        for n in stream.feed(part)
    ]
    assert ids + stream.finish() == tokenizer.encode(b"\xc3\xa9\xc3\xa9 \xff\xf0\x9f\x98\x80\xef\xbf\xbdx")


HELD = {"none", "looks behind", "anchors", "not compiled"}  # to the end, or the next special token


@pytest.mark.parametrize("size", [1, 1000, 10_000])
def test_no_more_is_held_than_the_last_piece(any_tokenizer, request, book, size):
    """So what memory a stream takes is bounded, and ids come out soon."""
    data = book[:60_000].encode()[: 5000 * min(size, 12)]
    stream = any_tokenizer.stream_encoder(disallowed_special=())
    growing = any_tokenizer.appendable_encoder(disallowed_special=())
    n_held, n_out = [], 0
    for place in range(0, len(data), size):
        n_out += sum(len(any_tokenizer.token_bytes(n)) for n in stream.feed(data[place : place + size]))
        n_held.append(min(place + size, len(data)) - n_out)
        growing.append(data[place : place + size])
        assert len(growing._stream._held) == n_held[-1]
    if request.node.callspec.params["any_tokenizer"] in HELD:
        assert n_held[-1] == len(data)
    else:
        assert max(n_held) < 150


@pytest.mark.parametrize("text", ["a" * 100_000, " " * 100_000, "中" * 30_000, "a1" * 50_000])
def test_a_stream_without_a_place_to_cut_takes_no_quadratic_time(any_tokenizer, text):
    start = time.perf_counter()
    stream = any_tokenizer.stream_encoder()
    growing = any_tokenizer.appendable_encoder()
    ids = []
    for place in range(0, len(text), 100):
        ids += stream.feed(text[place : place + 100])
        growing.append(text[place : place + 100])
    assert ids + stream.finish() == growing.ids()
    assert time.perf_counter() - start < 60, "a quadratic one would take minutes"


# ------------------------------------------------------------------------------------------- streams out
@settings(max_examples=200)
@given(ids=st.lists(st.integers(0, 300) | st.integers(600, 602)), chance=st.randoms(use_true_random=False))
def test_decoded_in_parts(tokenizer, ids, chance):
    for errors in ("replace", "ignore", "surrogateescape"):
        stream = tokenizer.stream_decoder(errors)
        for _ in range(2):
            out = "".join(stream.feed(part) for part in cut_anywhere(ids, chance))
            assert out + stream.finish() == tokenizer.decode(ids, errors)


def test_whole_characters_as_soon_as_they_are_complete(tokenizer):
    stream = tokenizer.stream_decoder()
    assert [stream.feed(value) for value in "a😀é".encode()] == ["a", "", "", "", "😀", "", "é"]
    assert stream.feed([0xE2, 0x82]) == ""
    assert stream.finish() == "\ufffd"
    strict = tokenizer.stream_decoder("strict")
    assert strict.feed([97, 0xE2]) == "a"
    for wrong in (97, 10**9):
        with pytest.raises(ValueError, match=r"invalid|ids"):
            strict.feed(wrong)
    with pytest.raises(UnicodeDecodeError):
        strict.finish()
    assert strict.feed([0x82, 0xAC]) == "€", "what failed was not taken"
    with pytest.raises(LookupError):
        tokenizer.stream_decoder("no such")


def test_what_a_model_says_is_read_word_by_word():
    tokenizer = bpe.train(["Приключения капитана"], vocab_size=300, progress=False)
    text = "Приключения капитана"
    stream = tokenizer.stream_decoder()
    assert "".join(stream.feed(number) for number in tokenizer.encode(text)) == text


def test_what_is_held_is_looked_at_only_after_it_has_grown(tokenizer, monkeypatch):
    n_looked = []
    decided = boundaries.decided
    monkeypatch.setattr(
        boundaries, "decided", lambda data, *options: n_looked.append(len(data)) or decided(data, *options)
    )
    stream = tokenizer.stream_encoder()
    ids = [n for _ in range(1000) for n in stream.feed("a" * 100)]
    assert sum(n_looked) < 500_000, "looked at after every part, it would be 50 million bytes"
    assert tokenizer.decode(ids + stream.finish()) == "a" * 100_000


# ------------------------------------------------------------------------------------------- id by id
@settings(max_examples=100)
@given(
    text=texts | odd_texts | datas, chance=st.randoms(use_true_random=False), options=st.sampled_from(CHOICES)
)
@pytest.mark.parametrize("block", [1, 7, streams._BLOCK])
def test_an_iterable_is_its_whole(tokenizer, block, text, chance, options):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "_BLOCK", block)
        parts = cut_anywhere(text, chance)
        assert list(tokenizer.encode_iterable(iter(parts), **options)) == tokenizer.encode(text, **options)


@given(parts=st.lists(odd_texts | datas, max_size=6))
def test_an_iterable_of_str_and_bytes(tokenizer, parts):
    """Each surrogate beside bytes is alone."""
    stream = tokenizer.stream_encoder(**ALLOWED)
    expected = [number for part in parts for number in stream.feed(part)] + stream.finish()
    assert list(tokenizer.encode_iterable(parts, **ALLOWED)) == expected


def test_the_lines_of_a_file(tokenizer, book, tmp_path):
    (tmp_path / "book.txt").write_text(book, "utf-8")
    with open(tmp_path / "book.txt", encoding="utf-8") as lines:
        assert list(tokenizer.encode_iterable(lines)) == tokenizer.encode(book)
    with open(tmp_path / "book.txt", "rb") as lines:
        assert list(tokenizer.encode_iterable(lines)) == tokenizer.encode(book)


@pytest.mark.parametrize("size", [1, 1000, 10_000_000])
def test_only_so_much_is_read_ahead(tokenizer, size):
    read = []

    def parts():
        for number in range(10**9):
            read.append(number)
            yield "the " * (size // 4 + 1)

    ids = tokenizer.encode_iterable(parts())
    assert read == []
    first = [next(ids) for _ in range(10)]
    assert first == tokenizer.encode("the " * 20)[:10]
    assert len(read) <= 2 + 2 * streams._BLOCK / size


def test_what_an_iterable_must_be(tokenizer):
    for single in ("the", b"the"):
        with pytest.raises(TypeError, match="texts is a single text: put it in a list, or use encode"):
            tokenizer.encode_iterable(single)
    with pytest.raises(TypeError, match="text 1 must be str or bytes, not int"):
        list(tokenizer.encode_iterable(["the", 3]))
    with pytest.raises(ValueError, match=r"the text holds the special token '<\|end\|>' at byte 4"):
        list(tokenizer.encode_iterable(["the <|e", "nd|>"]))
    with pytest.raises(TypeError, match="allowed_special must be"):
        tokenizer.encode_iterable([], allowed_special=3)
    assert list(tokenizer.encode_iterable([])) == list(tokenizer.encode_iterable(["", b""])) == []
    assert list(tokenizer.encode_iterable([bytearray(b"the"), memoryview(b" sea")])) == tokenizer.encode(
        "the sea"
    )


# ------------------------------------------------------------------------------------------------- threads
@pytest.mark.parametrize(
    ("kind", "first", "others", "last"),
    [
        ("stream_encoder", "feed", ["feed", "finish", "rest"], "finish"),
        ("appendable_encoder", "append", ["append", "count", "ids", "known"], "ids"),
        ("stream_decoder", "feed", ["feed", "finish"], "finish"),
    ],
)
def test_a_second_thread_meanwhile_is_an_error(tokenizer, monkeypatch, kind, first, others, last):
    """And changes nothing, so that no text is lost or doubled."""
    begun, released, text = threading.Event(), threading.Event(), "the sea and the land"
    where, name = (streams.codecs, "utf_8_decode") if kind == "stream_decoder" else (streams, "utf8_of")
    work = getattr(where, name)

    def slow(*arguments):
        if threading.current_thread() is not threading.main_thread():
            begun.set()
            released.wait(10)
        return work(*arguments)

    ids = tokenizer.encode(text)
    monkeypatch.setattr(where, name, slow)
    shared, given = getattr(tokenizer, kind)(), ids if kind == "stream_decoder" else text
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(getattr(shared, first), given)
        try:
            assert begun.wait(10)
            for other in others:
                with pytest.raises(RuntimeError, match=r"two threads use one [A-Za-z]+ at once"):
                    getattr(shared, other)(*[given] * (other in ("feed", "append")))
        finally:
            released.set()
    known = found.result() or given[:0]
    rest = getattr(shared, last)()
    assert [*known, *rest] == [*(text if kind == "stream_decoder" else ids)]
