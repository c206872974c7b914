import gzip
import io
import json
import os
import random
import struct
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bpe
from bpe.corpus import STDIN, Corpus
from bpe.corpus.validity import clean_blocks, clean_document
from bpe.splitting import boundaries
from bpe.splitting.special_search import SpecialSearch
from bpe.support.text import as_bytes, as_text
from tests.optional import optional, required

pyarrow = optional("pyarrow")
parquet = optional("pyarrow.parquet")
zstandard = optional("zstandard")

NAMES = list(bpe.PATTERNS)
SPECIALS = frozenset(["<|a|>", "<|a|>\n<|b|>", " <| two words |> ", " <|", "\n\n", "b"])
LETTERS = [*"aA1é漢 \n\r\t!/'<|>b", *sorted(SPECIALS), "ll", " two", "\udcff"]

thorough = settings(deadline=None, max_examples=200)
texts = st.lists(st.sampled_from(LETTERS), max_size=40).map("".join)


def blocks_of(text, size):
    return [text[i : i + size] for i in range(0, len(text), size)]


def split_special(text, tokens):
    """Yield (is_special, part): the longest token at each place, found the slow way."""
    place, start = 0, 0
    while place < len(text):
        token = max((t for t in tokens if text.startswith(t, place)), key=len, default=None)
        if token is None:
            place += 1
            continue
        if start < place:
            yield False, text[start:place]
        yield True, token
        place = start = place + len(token)
    if start < len(text):
        yield False, text[start:]


def pieces_of(text, pattern, specials=frozenset()):
    return [
        piece
        for is_special, part in split_special(text, specials)
        for piece in ([(part,)] if is_special else pattern.split(part))
    ]


# ------------------------------------------------------------------------------------------- cutting
ODD = [r"[a-z]+(?=1)|\s", r"(?<=a)b|\w", r"(\w)\1|\w+"]  # the last two are decided at special tokens only


@pytest.mark.parametrize("specials", [frozenset(), SPECIALS], ids=["plain", "specials"])
@pytest.mark.parametrize("tail_bytes", [7, 4096])
@pytest.mark.parametrize("name", [*NAMES, *ODD])
@pytest.mark.filterwarnings("ignore:the split pattern cannot be compiled")
@thorough
@given(text=texts, size=st.integers(1, 20))
@example(text="a<|a|>\n<|b|> b \n\n \n b a a" * 3, size=5)
def test_block_size_changes_nothing(name, tail_bytes, specials, text, size):
    pattern, data, search = bpe.Pattern.of(name), as_bytes(text), SpecialSearch(specials)
    together, held = [], b""
    with mock.patch.object(boundaries, "_LAST_BYTES", tail_bytes):
        for block in blocks_of(data, size):
            held += block
            place, end = boundaries.decided(held, pattern, search)
            assert 0 <= place <= end <= len(held)
            known = pieces_of(as_text(held[:end]), pattern, specials)
            while place > 0:
                together.append(known.pop(0))
                held, place = held[len(bytes_in(together[-1])) :], place - len(bytes_in(together[-1]))
            assert place == 0, "a piece is cut"
    assert together + pieces_of(as_text(held), pattern, specials) == pieces_of(text, pattern, specials)


def bytes_in(piece):
    return as_bytes(piece[0] if isinstance(piece, tuple) else piece)


@thorough
@given(texts, texts)
def test_last_decided(text, more):
    end, horizon = SpecialSearch(SPECIALS).last_decided(as_bytes(text))
    starts, place = [], 0
    for is_special, part in split_special(text + more, SPECIALS):
        n_bytes = len(as_bytes(part))
        if is_special:
            starts.append((place, place + n_bytes))
        place += n_bytes
    assert max((stop for start, stop in starts if start < horizon), default=0) == end


# ------------------------------------------------------------------------------------------- reading
def read(source, field="text", errors="keep", **options):
    documents = Corpus(source, field=field, errors=errors).documents(**options)
    return [b"".join(document) for document in documents]


def test_files(tmp_path):
    first, second = tmp_path / "first.txt", tmp_path / "second"
    first.write_bytes("\ufeffcafé\r\n".encode())
    second.write_bytes(b"\xff\x00")
    assert read(first) == ["\ufeffcafé\r\n".encode()]
    assert read([first, second], block_bytes=1) == [first.read_bytes(), b"\xff\x00"]
    assert read(iter([first, "one", b"two"])) == [first.read_bytes(), b"one", b"two"]
    assert Corpus(first).n_bytes == 10
    assert Corpus([first, second]).n_bytes == 12
    assert Corpus(["one", second]).n_bytes is None
    assert Corpus(iter([first])).n_bytes is None
    advances = []
    assert len(read([first, second], advance=advances.append, block_bytes=6)) == 2
    assert advances == [6, 4, 2]
    again = Corpus([first])
    assert list(map(list, again.documents())) == list(map(list, again.documents()))


def test_documents_in_memory():
    advances = []
    documents = ("é", b"\xff", bytearray(b"a"), "")
    assert read(documents, advance=advances.append) == ["é".encode(), b"\xff", b"a", b""]
    assert advances == [2, 1, 1, 0]
    assert list(next(Corpus(["some text"]).documents(block_bytes=4))) == [b"some", b" tex", b"t"]


def test_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"caf\xc3\xa9 \xff")))
    source = Corpus(STDIN)
    assert source.n_bytes is None
    assert str(source) == "standard input"
    assert list(map(list, source.documents(block_bytes=4))) == [[b"caf\xc3", b"\xa9 \xff"]]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
@pytest.mark.parametrize("name", ["pipe", "pipe.jsonl.gz", "pipe.parquet"])
def test_pipe(tmp_path, name):
    data = file_of(name, ["from a pipe"])
    pipe = tmp_path / name
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(data,))
    writer.start()
    source = Corpus(pipe)
    assert source.n_bytes is None
    assert [b"".join(document) for document in source.documents()] == [b"from a pipe"]
    writer.join()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("text.txt", r"bare str.*pathlib\.Path.*in a list"),
        (b"text", "bare bytes"),
        (None, "not NoneType"),
        (3, "not int"),
        ([1], "document 0 of the corpus must be str or bytes, not int"),
        ([{"text": "a"}], r"document 0 of the corpus is a dict: give its text, as in \(row\["),
        (["a", None], "document 1 of the corpus"),
    ],
)
def test_wrong_types(source, message):
    with pytest.raises(TypeError, match=message):
        read(source)


def test_names_of_files_that_would_be_read_as_texts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("book.txt", "b.txt"):
        Path(name).write_text("low lower", "utf-8")
    Path("books/old").mkdir(parents=True)
    for names in (
        ["book.txt"],
        ("book.txt", "b.txt"),
        ["book.txt"] * 100 + ["a text"],
        ["b.txt", Path("b.txt")],
        ["books/old"],
    ):
        with pytest.raises(
            ValueError, match=r"files or folders, such as '(book\.txt|b\.txt|books/old)': .*pathlib\.Path"
        ):
            Corpus(names)
    with pytest.raises(ValueError, match="are names of files"):
        bpe.train(["book.txt"], 260)
    for texts in (
        ["book.txt", "a text"],
        ["missing.txt"],
        ["books"],
        ["./"],
        ["a\0b"],
        ["x" * 5000],
        [""],
        [],
    ):
        assert read(texts) == [text.encode() for text in texts]
    assert read([b"book.txt"]) == [b"book.txt"]
    assert read([Path("book.txt")]) == [b"low lower"]


def test_wrong_options():
    with pytest.raises(ValueError, match=r"errors must be one of 'keep', 'strict', .*, not 'ignore'"):
        Corpus(["a"], errors="ignore")
    with pytest.raises(TypeError, match="field must be str, not int"):
        Corpus(["a"], field=3)


def test_missing_files(tmp_path):
    missing = tmp_path / "missing.txt"
    for source in (missing, [missing], ("text", missing)):
        with pytest.raises(FileNotFoundError, match=r"missing\.txt"):
            Corpus(source)
    with pytest.raises(FileNotFoundError, match=r"missing\.txt"):
        read(iter([missing]))


# -------------------------------------------------------------------------------------- folders, globs
def test_folders(tmp_path):
    for name in ("b/z.txt", "b/a.jsonl", "a.txt.gz", "c.TXT", "notes.md", ".hidden.txt", ".git/x.txt", "d"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(file_of(name.lower(), [name]))
    (tmp_path / "link.txt").symlink_to(tmp_path / "notes.md")
    (tmp_path / "loop").symlink_to(tmp_path)
    with pytest.warns(
        UserWarning, match=r"not read, as of a folder only .* are: \S+/d and 1 more; name others by"
    ):
        assert read(tmp_path) == [b"a.txt.gz", b"b/a.jsonl", b"b/z.txt", b"c.TXT", b"notes.md"]
    assert read([tmp_path / "b", "x"]) == [b"b/a.jsonl", b"b/z.txt", b"x"]
    assert read(iter([tmp_path / "b"])) == [b"b/a.jsonl", b"b/z.txt"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"empty has no \.txt, \.jsonl, \.parquet files: name others by"):
        Corpus(tmp_path / "empty")


def test_globs(tmp_path):
    for name in ("b.md", "a.md", "sub/c.md", "x[1].md", "other.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    assert read(tmp_path / "?.md") == [b"a.md", b"b.md"]
    assert read(tmp_path / "**" / "*.md") == [b"a.md", b"b.md", b"sub/c.md", b"x[1].md"]
    assert read(tmp_path / "x[1].md") == [b"x[1].md"], "a file of that name comes first"
    assert Corpus(tmp_path / "?.md").n_bytes == 8
    with pytest.raises(FileNotFoundError, match=r"no file matches .*\*\.rst"):
        Corpus(tmp_path / "*.rst")


# ------------------------------------------------------------------------------- formats, compression
FORMATS = ["x", "x.txt", "x.jsonl", "x.parquet"]
COMPRESSIONS = {"": lambda data: data, ".gz": gzip.compress, ".zst": zstandard.compress}


def file_of(name, documents, field="text"):
    """Return the content of a file with some documents."""
    path = Path(name)
    compression = path.suffix if path.suffix in COMPRESSIONS else ""
    kind = path.with_suffix("").suffix if compression else path.suffix
    if kind == ".jsonl":
        data = "".join(json.dumps({field: document}) + "\n" for document in documents).encode()
    elif kind == ".parquet":
        buffer = io.BytesIO()
        column = pyarrow.array(documents, pyarrow.string())
        table = pyarrow.table({field: column, "n": range(len(documents))})
        parquet.write_table(table, buffer, row_group_size=100, use_dictionary=False)
        data = buffer.getvalue()
    else:
        data = "".join(documents).encode()
    return COMPRESSIONS[compression](data)


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("name", FORMATS)
@settings(deadline=None, max_examples=30)
@given(documents=st.lists(st.text(), max_size=5), block_bytes=st.integers(1, 100))
def test_formats(tmp_path_factory, name, compression, documents, block_bytes):
    path = tmp_path_factory.getbasetemp() / (name + compression)
    path.write_bytes(file_of(path.name, documents))
    expected = [document.encode() for document in documents]
    if not path.name.startswith(("x.jsonl", "x.parquet")):
        expected = [b"".join(expected)]
    advances = []
    assert read(path, block_bytes=block_bytes, advance=advances.append) == expected
    if documents:
        assert sum(advances) == Corpus(path).n_bytes == path.stat().st_size


@pytest.mark.parametrize("block_bytes", [7, 1 << 16, 1 << 20])
@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_several_frames(tmp_path, suffix, block_bytes):
    texts = [b"one", b"", random.Random(0).randbytes(1000) * 200, bytes(1_000_000), b" two"]
    path = tmp_path / f"x{suffix}"
    frames = list(map(COMPRESSIONS[suffix], texts))
    if suffix == ".zst":  # some tools write such frames in between: they are skipped
        frames[2:2] = [struct.pack("<II", 0x184D2A50, 5000) + bytes(5000)]
    path.write_bytes(b"".join(frames))
    blocks = list(next(iter(Corpus(path).documents(block_bytes=block_bytes))))
    assert b"".join(blocks) == b"".join(texts)
    assert max(map(len, blocks)) <= block_bytes


def test_json_lines(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(
        b'\xef\xbb\xbf{"text": "a\\nb"}\r\n\n  \n{"id": 1, "text": "\xc3\xa9 \\ud83d\\ude00"}\n'
        b'{"text": null}\n{"text": ""}\n{"text": "x", "text": "last"}'
    )
    expected = ["a\nb", "é 😀", "", "last"]
    for block_bytes in (1, 10, 1000):
        assert read(path, block_bytes=block_bytes) == [text.encode() for text in expected]
    path.write_bytes(file_of("x.jsonl", ["one"], field="body"))
    assert read(path, field="body") == [b"one"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"text": "cut o', "not JSON, damaged or cut off: Unterminated string"),
        (b"[1]", "list instead of an object with the field 'text'"),
        (b'"text"', "str instead of an object"),
        (
            b'{"a": 1, "b": 2}',
            r"no field 'text'; the fields are: 'a', 'b'\. Choose one with bpe\.Corpus\(path, field=",
        ),
        (b"{}", "the fields are: none"),
        (b'{"text": 3}', "the field 'text' is int, not text"),
        (b"[" * 100_000, "not JSON"),
        (b'{"n": ' + b"9" * 5000 + b"}", "no field 'text'; the fields are: 'n'"),
    ],
)
def test_wrong_json_lines(tmp_path, line, message):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"text": "one"}\n\n' + line + b"\n")
    with pytest.raises(ValueError, match=rf"x\.jsonl, line 3 at byte 17: .*{message}"):
        read(path)
    (tmp_path / "x.jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(ValueError, match=rf"x\.jsonl\.gz \(decompressed\), line 3 at byte 17: .*{message}"):
        read(tmp_path / "x.jsonl.gz")


@pytest.mark.parametrize(
    "kind",
    [
        *("string", "large_string", "string_view", "binary", "large_binary", "binary_view"),
        pyarrow.dictionary(pyarrow.int32(), pyarrow.string()),
    ],
)
def test_parquet(tmp_path, kind):
    path = tmp_path / "x.parquet"
    texts = ["é", None, "", "two", "é"] * 100
    column = pyarrow.array(texts, pyarrow.string())
    if isinstance(kind, str):
        column = column.cast(getattr(pyarrow, kind)())
    else:
        column = column.dictionary_encode()
    parquet.write_table(pyarrow.table({"n": range(500), "body": column}), path, row_group_size=130)
    assert read(path, field="body") == [text.encode() for text in texts if text is not None]
    with pytest.raises(
        ValueError, match=r"x\.parquet: there is no field 'text'; the fields are: 'n', 'body'"
    ):
        read(path)
    with pytest.raises(ValueError, match=r"x\.parquet: the column 'n' is int64, not text"):
        read(path, field="n")


def test_parquet_without_rows(tmp_path):
    path = tmp_path / "x.parquet"
    parquet.write_table(pyarrow.table({"text": pyarrow.array([], pyarrow.string())}), path)
    assert read(path) == []


@pytest.mark.parametrize("module", ["pyarrow", "zstandard"])
def test_extras(tmp_path, monkeypatch, module):
    path = tmp_path / {"pyarrow": "x.parquet", "zstandard": "x.zst"}[module]
    path.write_bytes(file_of(path.name, ["one"]))
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        ImportError, match=rf"requires the package {module}: pip install 'bpe-structures\[\w+\]'"
    ):
        read(path)


# ------------------------------------------------------------------------------------- damaged files
@pytest.mark.parametrize("name", ["x.gz", "x.zst", "x.jsonl.gz", "x.jsonl", "x.parquet", "x.parquet.zst"])
def test_truncated_files(tmp_path, name):
    """A file that is cut off anywhere is never read as a complete one."""
    path = tmp_path / name
    data = file_of(name, ["some text, " * 50, "and more " * 5])
    cuts = range(len(data)) if len(data) < 200 else range(0, len(data) - 1, len(data) // 100)
    path.write_bytes(data)
    whole = read(path)
    for cut in cuts:
        path.write_bytes(data[:cut])
        try:
            documents = read(path)
        except ValueError as error:
            assert name in str(error)  # noqa: PT017
            assert "byte" in str(error) or "row 0" in str(error)  # noqa: PT017
        else:  # complete lines, and perhaps a last line without its end
            assert name == "x.jsonl"
            assert data[: cut + 1].endswith((b"\n", b"}")) or data[:cut].endswith(b"\n") or cut == 0
            assert documents == whole[: len(documents)]


@pytest.mark.parametrize("name", ["x.gz", "x.zst", "x.parquet", "x.parquet.gz", "x.jsonl.zst"])
def test_damaged_files(tmp_path, name):
    path = tmp_path / name
    data = file_of(name, ["some text, " * 50, "and more " * 5])
    for at in range(0, len(data), max(1, len(data) // 100)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
        try:
            read(path)
        except ValueError as error:
            assert name in str(error)  # noqa: PT017


def test_wrong_content_for_the_suffix(tmp_path):
    for name in ("x.gz", "x.zst", "x.parquet"):
        for data in (b"", b"plain text in a file of the wrong name"):
            (tmp_path / name).write_bytes(data)
            with pytest.raises(ValueError, match=rf"{name}: .*damaged or cut off at (byte|row) \d+"):
                read(tmp_path / name)


@pytest.mark.parametrize("name", [*FORMATS, "x.txt.gz"])
@pytest.mark.parametrize("change", ["append", "touch", "truncate"])
def test_files_that_change_while_they_are_read(tmp_path, name, change):
    path = tmp_path / name
    path.write_bytes(file_of(name, [f"document {i}\n" for i in range(1000)]))
    size = path.stat().st_size

    def read_and_change():
        documents = Corpus(path).documents(block_bytes=100)
        first = iter(next(documents))
        next(first)
        if change == "append":
            with open(path, "ab") as file:
                file.write(b"\n" * 10_000)
        elif change == "truncate":
            os.truncate(path, size // 2)
        else:
            os.utime(path, ns=(0, 0))
        list(first)
        for document in documents:
            list(document)

    with pytest.raises(
        ValueError, match=rf"{name}\b.*(changed (from {size} to|in place)|cut off at (byte|row))"
    ):
        read_and_change()


# ----------------------------------------------------------------------------- bytes that are not UTF-8
@thorough
@given(data=st.binary(max_size=30) | st.text().map(str.encode), size=st.integers(1, 7))
@example(data=b"\xe2\x82 \xf0\x9f\x98", size=1)
def test_invalid_bytes_in_text(data, size):
    def cleaned(errors):
        return b"".join(clean_blocks(blocks_of(data, size), errors, "x.txt"))

    assert cleaned("keep") == data
    assert cleaned("replace") == data.decode("utf-8", "replace").encode()
    assert cleaned("skip") == data.decode("utf-8", "ignore").encode()
    try:
        data.decode()
    except UnicodeDecodeError as error:
        with pytest.raises(ValueError, match=rf"x\.txt: not UTF-8 at byte {error.start}; to read it"):
            cleaned("strict")
    else:
        assert cleaned("strict") == data


@given(document=st.binary(max_size=9) | st.text() | st.text("a\ud83d\ude00\udcff"))
def test_invalid_documents(document):
    kept = clean_document(document, "keep", "it")
    replaced = clean_document(document, "replace", "it")
    if isinstance(document, bytes):
        assert kept == document
        is_valid = b"\xff" not in document and document.decode("utf-8", "ignore").encode() == document
        assert replaced == document.decode("utf-8", "replace").encode()
    else:
        assert kept == replaced == as_bytes(as_text(document))
        try:
            document.encode("utf-16", "surrogatepass").decode("utf-16")
            is_valid = True
        except UnicodeDecodeError:
            is_valid = False
    assert clean_document(document, "skip", "it") == (kept if is_valid else None)
    if is_valid:
        assert clean_document(document, "strict", "it") == kept
    else:
        with pytest.raises(ValueError, match=r"it: (not UTF-8 at byte|has a lone surrogate)"):
            clean_document(document, "strict", "it")


def test_errors_of_a_corpus(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(
        b'{"text": "one"}\n{"text": "a\xff\\u00e9"}\n{"text": "\\udc80\\ud800"}\n{"text": "\\udc80\xff"}'
    )
    last = b"\xef\xbf\xbd"
    assert read(path) == [b"one", b"a\xff\xc3\xa9", last * 2, b"\x80\xff"]
    assert read(path, errors="replace") == [b"one", b"a" + last + b"\xc3\xa9", last * 2, last * 2]
    assert read(path, errors="skip") == [b"one"]
    with pytest.raises(ValueError, match=r"x\.jsonl: not UTF-8 at byte 27"):
        read(path, errors="strict")
    text = tmp_path / "x.txt"
    text.write_bytes(b"a\xff b")
    assert [read(text, errors=errors) for errors in ("keep", "replace", "skip")] == [
        [b"a\xff b"],
        ["a\ufffd b".encode()],
        [b"a b"],
    ]
    with pytest.raises(ValueError, match=r"x\.txt: not UTF-8 at byte 1"):
        read(text, errors="strict")
    table = tmp_path / "x.parquet"
    parquet.write_table(pyarrow.table({"text": [b"one", b"\xff"]}), table)
    assert [read(table, errors=errors) for errors in ("keep", "replace", "skip")] == [
        [b"one", b"\xff"],
        [b"one", last],
        [b"one"],
    ]
    with pytest.raises(ValueError, match=r"x\.parquet, row 1 of 'text': not UTF-8 at byte 0"):
        read(table, errors="strict")
    with pytest.raises(ValueError, match=r"document 1 of the corpus: not UTF-8 at byte 1"):
        read(["a", b"a\xff"], errors="strict")
    assert read(["a", b"a\xff", "b"], errors="skip") == [b"a", b"b"]


def test_surrogates_of_documents():
    assert as_text("\ud83d\ude00") == "😀"
    assert as_text("a\udcffb\ud800") == "a\ufffdb\ufffd"


# -------------------------------------------------------------------------------------------- memory
PEAK = """
import resource, sys
from pathlib import Path
from bpe.corpus import Corpus

for name in sys.argv[2:]:
    __import__(name)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
n = sum(len(block) for document in Corpus(Path(sys.argv[1])).documents() for block in document)
print(n, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="sizes in kilobytes")
@pytest.mark.parametrize("name", ["x.txt", "x.jsonl.gz", "x.zst", "x.jsonl", "x.parquet"])
def test_memory_does_not_grow_with_the_corpus(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(file_of(name, ["some text " * 20_000] * 500))  # 100 MB
    modules = ["pyarrow.parquet"] if name == "x.parquet" else []
    environment = {**os.environ, "PYTHONPATH": str(Path(bpe.__file__).resolve().parent.parent)}
    done = subprocess.run(
        [sys.executable, "-c", PEAK, path, *modules],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    n_bytes, n_kilobytes = map(int, done.stdout.split())
    assert n_bytes == 100_000_000
    assert n_kilobytes < 30_000


def test_a_parquet_file_with_a_wrong_name_of_a_column(tmp_path):
    """The name is not UTF-8: an error of the codec, which does not name the file, comes from the reader."""
    path = tmp_path / "x.parquet"
    required("pyarrow.parquet").write_table(required("pyarrow").table({"text": ["a"], "nn": [1]}), path)
    path.write_bytes(path.read_bytes().replace(b"nn", b"\xf5\xf5"))
    with pytest.raises(ValueError, match=r"x\.parquet: Parquet data damaged or cut off at row 0"):
        read(path)
