"""A corpus to a file of ids, in one go or in many."""

import gzip
import json
import os
import random
import signal
import sys
import time
from itertools import pairwise

import numpy as np
import pytest

import bpe
from bpe.id_files import encode as files
from bpe.id_files import output
from bpe.vocabulary.vocabulary import Vocabulary
from tests.forks import Child

ODD = {
    "looks ahead": r"[a-z]+(?=e)|\s+(?!\S)|\w",
    "gaps": r"[a-z]+(?=\s|$)|\d{2,3}?",
    "steps": [r"\d{1,2}", r"(?:th|t)+e|x*|[^\x00-\x7f]+", r"\s+(?!\S)|\s+|\w+(?= )"],
    "looks behind": r"(?<=a)[a-z]+|\w| +",
}
HELD = {"none", "looks behind"}


@pytest.fixture
def corpus(tmp_path, book):
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "a.txt").write_text(book[:30_000])
    (folder / "b.jsonl").write_text(
        "".join(json.dumps({"text": book[i : i + 97]}) + "\n" for i in range(0, 5000, 97))
    )
    (folder / "c.txt").write_bytes(b"")
    (folder / "d.txt.gz").write_bytes(gzip.compress(book[30_000:60_000].encode()))
    (folder / "e.txt").write_bytes(b"no UTF-8: \xff\xc3")
    return folder


@pytest.fixture
def small(monkeypatch):
    """Many batches, and a note behind each."""
    monkeypatch.setattr(files, "BATCH_BYTES", 700)
    monkeypatch.setattr(files, "SECONDS", 0)
    documents = bpe.Corpus.documents
    monkeypatch.setattr(
        bpe.Corpus,
        "documents",
        lambda self, advance=lambda n: None, **others: documents(self, advance, block_bytes=500, **others),
    )


def expected_of(tokenizer, corpus, **options):
    return [tokenizer.encode(b"".join(document), **options) for document in bpe.Corpus.of(corpus).documents()]


def check(written, expected):
    offsets = np.load(written.offsets)
    if written.ids.suffix == ".npy":
        ids = np.load(written.ids, mmap_mode="r")
        assert ids.dtype == written.dtype
    else:
        ids = np.fromfile(written.ids, written.dtype)
    assert offsets.dtype == np.int64
    assert [ids[i:j].tolist() for i, j in pairwise(offsets)] == expected
    assert (written.n_documents, written.n_tokens) == (len(expected), len(ids))
    folder = written.ids.parent
    assert {path.name for path in folder.iterdir() if path.is_file()} == {
        written.ids.name,
        written.offsets.name,
    }


@pytest.mark.parametrize("name", ["ids.bin", "ids.npy", "ids"])
@pytest.mark.parametrize("dtype", [None, np.uint16, "uint32"])
@pytest.mark.parametrize("threads", [1, 2])
def test_files(tokenizer, corpus, tmp_path, small, name, dtype, threads):
    reports = []
    written = tokenizer.encode_files(
        corpus,
        tmp_path / name,
        dtype=dtype,
        threads=threads,
        progress=lambda done, total: reports.append((done, total)),
    )
    assert written.dtype == np.dtype(dtype or np.uint16)
    check(written, expected_of(tokenizer, corpus))
    size = sum(path.stat().st_size for path in corpus.iterdir())
    assert reports[-1] == (size, size)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("pattern", ["cl100k", "deepseek", "none", *ODD])
def test_any_pattern(merges, book, tmp_path, small, monkeypatch, pattern, threads):
    """Of those compiled that do not look behind, no long document is in memory as a whole."""
    tokenizer = bpe.Tokenizer(
        token_bytes=Vocabulary.assemble(merges),
        merges=merges,
        pattern=ODD.get(pattern, pattern),
        special_tokens={"<|end|>": 600, "<|fim|>": 601},
    )
    longest, many = 0, files.encode_groups

    def watched(engine, texts, *rest):
        nonlocal longest
        longest = max(longest, *map(len, texts))
        return many(engine, texts, *rest)

    monkeypatch.setattr(files, "encode_groups", watched)
    documents = [book[:25_000] + "<|fim|>" + book[:5000], "", book[:700] + "<|end|>" * 100, "é" * 3000]
    for options in ({"allowed_special": "all"}, {"disallowed_special": ()}):
        written = tokenizer.encode_files(documents, tmp_path / "ids.bin", threads=threads, **options)
        check(written, [tokenizer.encode(document, **options) for document in documents])
    with pytest.raises(ValueError, match=r"document 0(, from byte \d+ on,)? holds .* '<\|fim\|>'"):
        tokenizer.encode_files(documents, tmp_path / "ids.bin", threads=threads)
    assert (longest > 20_000) == (pattern in HELD)
    assert longest < 7000 or pattern in HELD  # one document is a single piece


def test_documents_in_memory(tokenizer, tmp_path):
    documents = ["one", b"", "two<|end|>two", "é\ud800"]
    written = tokenizer.encode_files(iter(documents), str(tmp_path / "ids.bin"), allowed_special="all")
    expected = [tokenizer.encode(document, allowed_special="all") for document in documents]
    check(written, expected)
    check(tokenizer.encode_files([], tmp_path / "ids.bin"), [])
    check(
        tokenizer.encode_files(documents, tmp_path / "ids.bin", disallowed_special=()),
        [tokenizer.encode_ordinary(document) for document in documents],
    )


def test_through_a_symbolic_link(tokenizer, tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "ids.bin").write_bytes(b"old")
    (tmp_path / "near.bin").symlink_to(tmp_path / "far" / "ids.bin")
    written = tokenizer.encode_files(["the sea"], tmp_path / "near.bin")
    assert written.ids.is_symlink()
    assert np.fromfile(written.ids, written.dtype).tolist() == tokenizer.encode("the sea")
    assert np.load(written.offsets).tolist() == [0, written.n_tokens]


def test_the_dtype(merges, tmp_path):
    tokens = {value: bytes([value]) for value in range(256)}
    wide = bpe.Tokenizer(token_bytes=tokens | {65536: b"ab"}, merges=[(97, 98)], pattern="none")
    written = wide.encode_files(["abc"], tmp_path / "ids.bin")
    assert written.dtype == np.uint32
    check(written, [[65536, 99]])
    with pytest.raises(ValueError, match="the greatest id is 65536, too much for uint16"):
        wide.encode_files(["abc"], tmp_path / "ids.bin", dtype="uint16")
    with pytest.raises(ValueError, match="dtype must be uint16 or uint32, not int64"):
        wide.encode_files(["abc"], tmp_path / "ids.bin", dtype=np.int64)
    check(written, [[65536, 99]])


def test_what_is_wrong(tokenizer, tmp_path, small):
    with pytest.raises(FileNotFoundError, match="no such folder"):
        tokenizer.encode_files(["a"], tmp_path / "no" / "ids.bin")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        tokenizer.encode_files(["a"], tmp_path)
    with pytest.raises(TypeError, match="bare str"):
        tokenizer.encode_files("a", tmp_path / "ids.bin")
    with pytest.raises(ValueError, match=r"document 2 holds the special token '<\|fim\|>' at byte 4"):
        tokenizer.encode_files(["one", "two", "the <|fim|>"], tmp_path / "ids.bin")
    assert os.listdir(tmp_path) == [], "nothing was done"
    long = "the sea " * 500
    with pytest.raises(ValueError, match=r"document 1, from byte \d+ on, holds the special token"):
        tokenizer.encode_files(["one", long + "<|fim|>"], tmp_path / "ids.bin")
    with pytest.warns(RuntimeWarning, match="an earlier run was not completed"):
        written = tokenizer.encode_files(
            ["one", long + "<|fim|>"], tmp_path / "ids.bin", allowed_special="all"
        )
    check(written, [tokenizer.encode("one"), tokenizer.encode(long + "<|fim|>", allowed_special="all")])


def test_an_old_file_stays_until_the_new_one_is_complete(tokenizer, corpus, tmp_path, small):
    first = tokenizer.encode_files(["the old one"], tmp_path / "ids.bin")
    old = first.ids.read_bytes(), first.offsets.read_bytes()

    def stop(done, total):
        if done > 20_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tokenizer.encode_files(corpus, tmp_path / "ids.bin", progress=stop)
    assert (first.ids.read_bytes(), first.offsets.read_bytes()) == old
    check(tokenizer.encode_files(corpus, tmp_path / "ids.bin"), expected_of(tokenizer, corpus))


@pytest.mark.parametrize("name", ["ids.bin", "ids.npy"])
def test_interrupted_anywhere(tokenizer, corpus, tmp_path, small, name):
    """Each run goes on where the one before was stopped, and the sum of all is the whole."""
    expected = expected_of(tokenizer, corpus)
    chance = random.Random(name)
    n_runs, encoded = 0, []
    many = files.encode_groups

    def watched(engine, texts, *rest):
        encoded.append(sum(map(len, texts)))
        return many(engine, texts, *rest)

    files.encode_groups = watched
    try:
        while True:
            n_left = chance.randrange(1, 40)

            def stop(done, total):
                nonlocal n_left
                n_left -= 1
                if n_left < 0:
                    raise KeyboardInterrupt

            n_runs += 1
            try:
                # What is passed over is read as well, and must not stop us for ever.
                patience = stop if n_runs < 30 else False
                written = tokenizer.encode_files(corpus, tmp_path / name, progress=patience)
                break
            except KeyboardInterrupt:
                assert not (tmp_path / name).exists()
    finally:
        files.encode_groups = many
    check(written, expected)
    assert n_runs > 3
    size = sum(len(b"".join(document)) for document in bpe.Corpus(corpus).documents())
    assert sum(encoded) < 2 * size


def test_another_work_starts_again(tokenizer, corpus, tmp_path, small):
    def stop(done, total):
        if done > 20_000:
            raise KeyboardInterrupt

    def interrupted(**options):
        with pytest.raises(KeyboardInterrupt):
            tokenizer.encode_files(corpus, tmp_path / "ids.bin", progress=stop, **options)
        assert (tmp_path / "ids.bin.state").exists()

    def check_starts_again(why, **options):
        message = f"an earlier run was not completed, and cannot be continued: {why}; this one starts"
        with pytest.warns(RuntimeWarning, match=message):
            written = tokenizer.encode_files(corpus, tmp_path / "ids.bin", **options)
        check(written, expected_of(tokenizer, corpus))

    interrupted()
    check_starts_again("it had another tokenizer, other options or other texts", dtype="uint32")
    interrupted()
    with open(corpus / "a.txt", "a") as file:
        file.write("more")
    check_starts_again("it had another tokenizer, other options or other texts")
    interrupted()
    os.truncate(tmp_path / "ids.bin.part", 10)
    check_starts_again("what it wrote was changed")
    interrupted()
    note = (tmp_path / "ids.bin.state").read_bytes()
    for damage in (b"", b"[]", b"{", note.replace(b"tokens", b"token")):
        (tmp_path / "ids.bin.state").write_bytes(damage)
        check_starts_again("ids.bin.state is damaged, or of another release")
    for part in ("ids.bin.part", "ids.offsets.npy.part"):  # a kill before the first note
        (tmp_path / part).touch()
        check_starts_again("it was stopped before it saved anything")


def test_documents_that_changed_meanwhile(tokenizer, tmp_path, small):
    def documents(last):
        yield from ("the sea " * 50 for _ in range(20))
        if last is None:
            raise KeyboardInterrupt
        yield last

    with pytest.raises(KeyboardInterrupt):
        tokenizer.encode_files(documents(None), tmp_path / "ids.bin")
    with pytest.raises(ValueError, match="the corpus does not begin with the 20 documents"):
        tokenizer.encode_files(["the sea " * 50, "another"] * 20, tmp_path / "ids.bin")
    with pytest.raises(ValueError, match="does not begin with"):
        tokenizer.encode_files(["the sea " * 50], tmp_path / "ids.bin")
    check(
        tokenizer.encode_files(documents("last"), tmp_path / "ids.bin"),
        [tokenizer.encode("the sea " * 50)] * 20 + [tokenizer.encode("last")],
    )


@pytest.mark.parametrize("moment", [0, 1, 2])
def test_killed_while_the_files_are_renamed(tokenizer, tmp_path, monkeypatch, moment):
    documents = ["the sea", "the ship"]
    replace, n_left = os.replace, moment + 1  # the first is that of the note

    def stopping(source, target):
        nonlocal n_left
        n_left -= 1
        if n_left < 0:
            raise KeyboardInterrupt
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(output.os, "replace", stopping)
        if moment < 2:
            with pytest.raises(KeyboardInterrupt):
                tokenizer.encode_files(documents, tmp_path / "ids.bin")
            assert (tmp_path / "ids.bin.state").exists()
    check(
        tokenizer.encode_files(documents, tmp_path / "ids.bin"),
        [tokenizer.encode(text) for text in documents],
    )


ENCODE = """
import sys
from pathlib import Path
import bpe
from bpe.id_files import encode as files
files.BATCH_BYTES, files.SECONDS = 20_000, 0
bpe.Tokenizer.load(sys.argv[1]).encode_files(Path(sys.argv[2]), sys.argv[3], threads=2)
"""


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_killed_at_random_moments(tokenizer, book, tmp_path):
    (tmp_path / "corpus").mkdir()
    for i in range(20):
        (tmp_path / "corpus" / f"{i:02}.txt").write_text(book[1000 * i :], "utf-8")
    tokenizer.save(tmp_path / "tok.json")
    (tmp_path / "out").mkdir()
    out = tmp_path / "out" / "ids.bin"
    command = [sys.executable, "-c", ENCODE, tmp_path / "tok.json", tmp_path / "corpus", out]
    chance = random.Random(1)
    n_kills = 0
    while not out.exists():
        with Child(command) as process:
            deadline = time.monotonic() + 60
            while not (out.parent / "ids.bin.state").exists() and process.poll() is None:
                assert time.monotonic() < deadline
                time.sleep(0.01)
            if n_kills < 4:
                time.sleep(chance.uniform(0, 0.2))
                process.send_signal(signal.SIGKILL)
                n_kills += 1
    expected = expected_of(tokenizer, tmp_path / "corpus")
    offsets = np.load(tmp_path / "out" / "ids.offsets.npy")
    ids = np.fromfile(out, np.uint16)
    assert [ids[i:j].tolist() for i, j in pairwise(offsets)] == expected
