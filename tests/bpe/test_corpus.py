import io
import os
import threading
from types import SimpleNamespace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bpe
from bpe import corpus
from bpe.specials import last_decided, split_special
from bpe.text import as_bytes, as_text

NAMES = list(bpe.PATTERNS)
SPECIALS = frozenset(["<|a|>", "<|a|>\n<|b|>", " <| two words |> ", " <|", "\n\n", "b"])
LETTERS = [*"aA1é漢 \n\r\t!/'<|>b", *SPECIALS, "ll", " two", "\udcff"]

thorough = settings(deadline=None, max_examples=200)
texts = st.lists(st.sampled_from(LETTERS), max_size=40).map("".join)


def blocks_of(text, size):
    return [text[i : i + size] for i in range(0, len(text), size)]


def pieces_of(text, pattern, specials=frozenset()):
    return [
        piece
        for is_special, part in split_special(text, specials)
        for piece in ([(part,)] if is_special else pattern.split(part))
    ]


# ------------------------------------------------------------------------------------------- cutting
@pytest.mark.parametrize("specials", [frozenset(), SPECIALS], ids=["plain", "specials"])
@pytest.mark.parametrize("name", NAMES)
@thorough
@given(text=texts, size=st.integers(1, 20))
@example(text="a<|a|>\n<|b|> b \n\n \n b a a" * 3, size=5)
def test_block_size_changes_nothing(name, specials, text, size):
    pattern = bpe.Pattern.of(name)
    cuts = []

    def cut(beginning):
        cuts.append(corpus.safe_cut(beginning, pattern, specials))
        return cuts[-1]

    parts = list(corpus.stretches(blocks_of(text, size), cut))
    assert "".join(parts) == text
    assert all(parts)
    together = [piece for part in parts for piece in pieces_of(part, pattern, specials)]
    assert together == pieces_of(text, pattern, specials)


def test_stretches_are_cut_and_looked_at_rarely():
    looked_at = []

    def never(text):
        looked_at.append(len(text))
        return 0

    assert list(corpus.stretches(["x" * 10] * 1000, never)) == ["x" * 10_000]
    assert sum(looked_at) < 4 * 10_000
    gpt2 = bpe.Pattern.of("gpt2")
    text = "some words\n" * 1000
    parts = list(corpus.stretches(blocks_of(text, 100), lambda t: corpus.safe_cut(t, gpt2, frozenset())))
    assert len(parts) > 100


@thorough
@given(texts, texts)
def test_last_decided(text, more):
    end, horizon = last_decided(text, SPECIALS)
    starts, place = [], 0
    for is_special, part in split_special(text + more, SPECIALS):
        if is_special:
            starts.append((place, place + len(part)))
        place += len(part)
    assert max((stop for start, stop in starts if start < horizon), default=0) == end


# ------------------------------------------------------------------------------------------- reading
def read(source, **options):
    return ["".join(document) for document in corpus.Reader(source).documents(**options)]


@thorough
@given(data=st.binary() | st.text().map(str.encode), size=st.integers(1, 7))
def test_files_are_decoded_exactly(data, size):
    blocks = list(corpus.Reader._blocks(io.BytesIO(data), lambda n: None, size))
    assert "".join(blocks) == as_text(data)
    assert as_bytes("".join(blocks)) == data


def test_files(tmp_path):
    first, second = tmp_path / "first.txt", tmp_path / "second.txt"
    first.write_bytes("\ufeffcafé\r\n".encode())
    second.write_bytes(b"\xff\x00")
    assert read(first) == ["\ufeffcafé\r\n"]
    assert read([first, second], block_bytes=1) == ["\ufeffcafé\r\n", "\udcff\x00"]
    assert read(iter([first, "one", b"two"])) == ["\ufeffcafé\r\n", "one", "two"]
    assert corpus.Reader(first).n_bytes == 10
    assert corpus.Reader([first, second]).n_bytes == 12
    assert corpus.Reader(["one", second]).n_bytes is None
    assert corpus.Reader(iter([first])).n_bytes is None
    advances = []
    assert len(read([first, second], advance=advances.append, block_bytes=6)) == 2
    assert advances == [6, 4, 2]


def test_documents_in_memory():
    advances = []
    assert read(("é", b"\xff", bytearray(b"a"), ""), advance=advances.append) == ["é", "\udcff", "a", ""]
    assert advances == [2, 1, 1]
    assert list(next(corpus.Reader(["some text"]).documents(block_bytes=4))) == ["some", " tex", "t"]


def test_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"caf\xc3\xa9 \xff")))
    reader = corpus.Reader(corpus.STDIN)
    assert reader.n_bytes is None
    assert str(reader) == "standard input"
    assert ["".join(document) for document in reader.documents(block_bytes=4)] == ["café \udcff"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"from a pipe",))
    writer.start()
    reader = corpus.Reader(pipe)
    assert reader.n_bytes is None
    assert ["".join(document) for document in reader.documents()] == ["from a pipe"]
    writer.join()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("text.txt", r"bare str.*pathlib\.Path.*in a list"),
        (b"text", "bare bytes"),
        (None, "not NoneType"),
        (3, "not int"),
        ([1], "document 0 of the corpus must be str or bytes, not int"),
        (["a", None], "document 1 of the corpus"),
    ],
)
def test_wrong_types(source, message):
    with pytest.raises(TypeError, match=message):
        read(source)


def test_missing_files(tmp_path):
    missing = tmp_path / "missing.txt"
    for source in (missing, [missing], ("text", missing)):
        with pytest.raises(FileNotFoundError, match=r"missing\.txt"):
            corpus.Reader(source)
    with pytest.raises(FileNotFoundError, match=r"missing\.txt"):
        read(iter([missing]))
    with pytest.raises(IsADirectoryError, match="is a folder"):
        corpus.Reader(tmp_path)


def test_surrogates_of_documents():
    assert as_text("\ud83d\ude00") == "😀"
    assert as_text("a\udcffb\ud800") == "a\ufffdb\ufffd"
