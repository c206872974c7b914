"""Each file of a corpus encoded to files of its own: what is there, what is skipped, what is done again."""

import dataclasses
import gzip
import json
import os
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import bpe
from bpe import cli
from bpe.id_files import encode as id_files
from bpe.id_files import shards
from bpe.id_files import shards as manifest
from bpe.id_files.shards import Manifest
from tests.optional import optional

parquet = optional("pyarrow.parquet")

TEXTS = {"a.txt": "the sea", "b/a.txt": "of the sea", "b/c/é.txt.gz": "a ship", "empty.txt": ""}


@pytest.fixture
def books(tmp_path):
    folder = tmp_path / "books"
    for name, text in TEXTS.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return folder


def ids_in(folder):
    """Return the ids of all shards, by the names of the outputs."""
    return {
        path.relative_to(folder).as_posix(): np.fromfile(path, "<u2").tolist()
        for path in folder.rglob("*.bin")
    }


def expected(tokenizer, texts=TEXTS):
    return {f"{name}.bin": tokenizer.encode(text) for name, text in texts.items()}


def files_in(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def counted(monkeypatch):
    """Return a list that grows by the name of each file that is encoded."""
    names, encode = [], shards.encode_files

    def watched(engine, corpus, out, *rest, **options):
        names.append(out.name)
        return encode(engine, corpus, out, *rest, **options)

    monkeypatch.setattr(shards, "encode_files", watched)
    return names


def test_shards(tokenizer, books, tmp_path, monkeypatch):
    names, reports = counted(monkeypatch), []
    out = tmp_path / "new" / "ids"
    done = tokenizer.encode_shards(books, out, progress=lambda *report: reports.append(report))
    assert ids_in(out) == expected(tokenizer)
    ends = {name + end for name in TEXTS for end in (".bin", ".offsets.npy")}
    assert files_in(out) == {*ends, "shards.jsonl"}
    assert (done.folder, done.manifest, done.dtype) == (out, out / "shards.jsonl", np.uint16)
    n_tokens = sum(map(len, ids_in(out).values()))
    n_bytes = sum(map(len, TEXTS.values()))
    assert (done.n_shards, done.n_documents, done.n_bytes, done.n_tokens) == (4, 4, n_bytes, n_tokens)
    assert (done.n_skipped, done.n_again, len(names)) == (0, 0, 4)
    size = bpe.Corpus(books).n_bytes
    assert reports[-1] == (size, size)
    again = tokenizer.encode_shards(books, out, progress=lambda *report: reports.append(report))
    assert (again.n_skipped, again.n_tokens, len(names)) == (4, n_tokens, 4)
    assert reports[-1] == (size, size)


def test_what_has_changed_is_encoded_again(tokenizer, books, tmp_path, monkeypatch):
    out = tmp_path / "ids"
    tokenizer.encode_shards(books, out)
    names = counted(monkeypatch)
    (books / "a.txt").write_text("another sea")
    (books / "new.txt").write_text("new")
    os.remove(out / "b" / "a.txt.bin")
    done = tokenizer.encode_shards(books, out)
    assert sorted(names) == ["a.txt.bin", "a.txt.bin", "new.txt.bin"]
    assert (done.n_shards, done.n_skipped, done.n_again) == (5, 2, 2)
    assert ids_in(out) == expected(tokenizer, {**TEXTS, "a.txt": "another sea", "new.txt": "new"})
    assert tokenizer.encode_shards(books, out).n_skipped == 5


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"dtype": "uint32"}, r"other options: dtype \('uint16' there, 'uint32' here\)"),
        ({"to": "parquet"}, r"other options: to \('bin' there, 'parquet' here\)"),
        ({"end_token": "<|end|>"}, r"other options: end_token \(None there, 600 here\)"),
        ({"allowed_special": "all"}, r"other options: special tokens that are allowed \(\[\] there"),
    ],
)
def test_other_options(tokenizer, books, tmp_path, given, what):
    tokenizer.encode_shards(books, tmp_path / "ids")
    before = ids_in(tmp_path / "ids")
    with pytest.raises(
        ValueError, match=rf"ids has shards that were made with {what}.*: name another folder"
    ):
        tokenizer.encode_shards(books, tmp_path / "ids", **given)
    assert ids_in(tmp_path / "ids") == before


def test_another_tokenizer(tokenizer, books, tmp_path):
    tokenizer.encode_shards(books, tmp_path / "ids")
    with pytest.raises(ValueError, match="made with other options: tokenizer: name another folder"):
        tokenizer.with_special_tokens(["<|new|>"]).encode_shards(books, tmp_path / "ids")


@pytest.mark.parametrize("to", ["parquet", "megatron", "nanogpt"])
def test_formats(tokenizer, books, tmp_path, to):
    out = tmp_path / "ids"
    tokenizer.encode_shards(books, out, to=to, end_token="<|end|>")
    ids = [*tokenizer.encode("of the sea"), 600]
    if to == "parquet":
        assert parquet.read_table(out / "b" / "a.txt.parquet")["ids"].to_pylist() == [ids]
    else:
        assert ids_in(out)["b/a.txt.bin"] == ids
    assert (out / "b" / "a.txt.idx").exists() == (to == "megatron")
    assert tokenizer.encode_shards(books, out, to=to, end_token="<|end|>").n_skipped == 4


def test_a_run_that_was_interrupted_goes_on(tokenizer, books, tmp_path, monkeypatch):
    """Complete shards are skipped, the one that was not is resumed, the cut line of the list is removed."""
    monkeypatch.setattr(id_files, "BATCH_BYTES", 1)
    monkeypatch.setattr(id_files, "SECONDS", 0)
    (books / "b" / "d.jsonl").write_text('{"text": "the sea"}\n' * 3)
    out, write, n_batches = tmp_path / "ids", id_files._write_batch, 0

    def killed(*given):
        nonlocal n_batches
        n_batches += 1
        if n_batches == 5:
            raise KeyboardInterrupt
        write(*given)

    monkeypatch.setattr(id_files, "_write_batch", killed)
    with pytest.raises(KeyboardInterrupt):
        tokenizer.encode_shards(books, out, threads=1)
    assert set(ids_in(out)) == {"a.txt.bin", "b/a.txt.bin", "b/c/é.txt.gz.bin"}
    assert (out / "b" / "d.jsonl.bin.state").exists()
    with open(out / manifest.NAME, "ab") as file:
        file.write(b'{"source": "cut o')
    done = tokenizer.encode_shards(books, out, threads=1)
    assert (done.n_shards, done.n_skipped, done.n_again) == (5, 3, 0)
    assert n_batches == 5 + 2 + 1  # of three documents the first was done; and the empty file
    three = {"b/d.jsonl.bin": tokenizer.encode("the sea") * 3}
    assert ids_in(out) == {**expected(tokenizer), **three}
    assert len((out / manifest.NAME).read_text().splitlines()) == 6
    assert not [name for name in files_in(out) if name.endswith((".part", ".state"))]


def test_what_makes_no_shards(tokenizer, books, tmp_path):
    out = tmp_path / "ids"
    for corpus, folder, problem in (
        (["a document"], out, "holds documents, not files only"),
        ([bpe.corpus.STDIN], out, "- is not a file: only files are encoded to shards"),
        ([books, books / "a.txt"], out, r"a\.txt is in the corpus twice"),
        (books, books / "ids", "ids is in .*books, which is read: name a folder outside of it"),
        (books, books, "books is in .*books, which is read"),
    ):
        with pytest.raises(ValueError, match=problem):
            tokenizer.encode_shards(corpus, folder)
    with pytest.raises(ValueError, match="to must be one of bin, "):
        tokenizer.encode_shards(books, out, to="csv")
    with pytest.raises(FileExistsError, match=r"a\.txt"):
        tokenizer.encode_shards([books / "b"], books / "a.txt")
    with pytest.raises(NotADirectoryError, match=r"a\.txt/ids"):
        tokenizer.encode_shards([books / "b"], books / "a.txt" / "ids")
    assert not out.exists()


def test_same_names(tokenizer, books, tmp_path):
    """Files of one name keep their folders; a shard never takes the place of another source's."""
    out = tmp_path / "ids"
    tokenizer.encode_shards([books / "a.txt", books / "b" / "*.txt"], out)
    assert set(ids_in(out)) == {"a.txt.bin", "b/a.txt.bin"}
    with pytest.raises(
        ValueError, match=r"ids/a\.txt\.bin is made of .*books/a\.txt, not of .*books/b/a\.txt"
    ):
        tokenizer.encode_shards([books / "b" / "a.txt"], out)


def test_options_of_the_corpus_of_any_integer_type(tokenizer, books, tmp_path):
    corpus = bpe.Corpus(books, max_record_bytes=np.int64(1000))
    assert tokenizer.encode_shards(corpus, tmp_path / "ids", threads=np.int8(2)).n_skipped == 0
    assert tokenizer.encode_shards(books, tmp_path / "others", threads=np.int8(2)).n_shards == 4


def test_the_format_of_the_corpus(tokenizer, tmp_path):
    """It is that of each file, and one of the options that all shards share."""
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "a.txt").write_text('{"text": "the sea"}\n')
    corpus = bpe.Corpus(tmp_path / "books", format="jsonl")
    tokenizer.encode_shards(corpus, tmp_path / "ids")
    assert ids_in(tmp_path / "ids") == {"a.txt.bin": tokenizer.encode("the sea")}
    with pytest.raises(ValueError, match=r"other options: format \("):
        tokenizer.encode_shards(tmp_path / "books", tmp_path / "ids")


def test_a_text_that_is_refused(tokenizer, books, tmp_path):
    (books / "b" / "a.txt").write_text("the <|end|>")
    with pytest.raises(ValueError, match=r"b/a\.txt holds the special token '<\|end\|>'"):
        tokenizer.encode_shards(books, tmp_path / "ids")
    (books / "b" / "a.txt").write_text("the end")
    assert tokenizer.encode_shards(books, tmp_path / "ids").n_skipped == 1


SHARD = json.dumps(dataclasses.asdict(shards.Shard("a.txt", 7, 1, ["a.txt.bin"], 6, 1, 3, 7)))


@pytest.mark.parametrize(
    ("data", "line"),
    [
        *((data, 1) for data in (b"no list", b"[]", b'{"format": "other"}', b"\0", b"[" * 100_000)),
        *((data, 2) for data in (b'{"source": 1}', SHARD.encode())),
    ],
)
def test_damaged_lists(tokenizer, books, tmp_path, data, line):
    tokenizer.encode_shards(books, tmp_path / "ids")
    path = tmp_path / "ids" / "shards.jsonl"
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"".join(each + b"\n" for each in [*lines[: line - 1], data]))
    with pytest.raises(ValueError, match=rf"shards\.jsonl, line {line}: not a line of a list of shards"):
        tokenizer.encode_shards(books, tmp_path / "ids")
    path.write_bytes(b"")
    assert tokenizer.encode_shards(books, tmp_path / "ids").n_skipped == 0


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX locks")
def test_two_at_once(tokenizer, books, tmp_path):
    out = tmp_path / "ids"
    out.mkdir()
    with (
        Manifest(out, {"other": "work"}),
        pytest.raises(BlockingIOError, match="another process is writing it: wait for it to finish"),
    ):
        tokenizer.encode_shards(books, out)
    assert files_in(out) == {"shards.jsonl"}


# ----------------------------------------------------------------------------------------------- command
def run(*arguments):
    result = CliRunner().invoke(cli.main, list(map(str, arguments)))
    assert result.exit_code in (0, 2), result.output
    return result


def test_command(tokenizer, books, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tokenizer.save("tok.json")
    result = run("encode", "tok.json", "books", "-o", "ids", "--shards")
    assert result.exit_code == 0, result.output
    n_tokens = sum(len(tokenizer.encode(text)) for text in TEXTS.values())
    assert result.stderr == f"ids: 4 shards, {n_tokens} tokens as uint16, from 23 B\n"
    assert ids_in(tmp_path / "ids") == expected(tokenizer)
    os.remove("ids/a.txt.bin")
    result = run("encode", "tok.json", "books", "-o", "ids", "--shards")
    assert "; 3 complete before; 1 encoded again, as the source had changed" in result.stderr
    summary = json.loads(run("encode", "tok.json", "books", "-o", "ids", "--shards", "--json").stdout)
    assert (summary["shards"], summary["skipped"], summary["again"]) == (4, 4, 0)
    for given, problem in (
        (["--shards"], "--shards requires -o"),
        (["--scheduler", "tcp://127.0.0.1:9", "-o", "ids"], "--scheduler requires --shards"),
        (["--shards", "-o", "books/ids"], "books/ids is in books, which is read"),
        (["--shards", "-o", "tok.json"], "tok.json is a file, not a folder"),
        (["--shards", "-o", "ids", "--to", "parquet"], "other options: to ('bin' there, 'parquet' here)"),
    ):
        result = run("encode", "tok.json", "books", *given)
        assert (result.exit_code, result.stdout) == (2, "")
        assert problem in result.stderr
        assert len(result.stderr.splitlines()) == 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(tokenizer, books, tmp_path):
    (tmp_path / "ids").mkdir(mode=0o500)
    with pytest.raises(PermissionError, match="ids"):
        tokenizer.encode_shards(books, tmp_path / "ids")
