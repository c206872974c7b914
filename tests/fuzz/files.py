"""Random files of every format: they load and can be used, or the error is a documented one."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from click.testing import CliRunner

import bpe
from bpe import cli
from bpe.formats import native
from bpe.id_files import encode as id_files
from bpe.tokenizer import Tokenizer
from tests.fuzz import texts
from tests.fuzz.damage import damaged, damaged_document, written
from tests.fuzz.tokenizers import vocabulary
from tests.optional import required

pa = required("pyarrow")
pyarrow = required("pyarrow")
required("pyarrow.parquet")
zstandard = required("zstandard")

N_DAMAGES = 10
_NAMES = {
    "native": "t.json",
    "huggingface": "t.hf.json",
    "tiktoken": "t.tiktoken",
    "minbpe": "t.model",
    "gpt2": ".",
}
Note = Callable[[str], object]


def run(chance: random.Random, note: Note) -> None:
    """Write a file of some format, and read it damaged, several times."""
    others = [check_counts, check_corpus, check_ids, check_note]
    check = chance.choice([check_tokenizer, check_tokenizer, *others])
    note(check.__name__)
    with tempfile.TemporaryDirectory() as folder:
        check(chance, note, Path(folder))


def told(name: Any, call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Return the result of a call; None if it raises what it may: with the name of the file, not too long."""
    try:
        return call(*arguments, **options)
    except (ValueError, OSError) as error:
        assert str(name) in str(error), f"no name of the file: {error}"  # noqa: PT017
        assert len(str(error)) < 1500, f"a message of {len(str(error))} characters"  # noqa: PT017
        return None


# ------------------------------------------------------------------------------------------ tokenizers
def a_tokenizer(chance: random.Random, pattern: Any = None) -> Tokenizer:
    """Return a tokenizer of a random vocabulary."""
    given = vocabulary(chance)
    tok = Tokenizer(**{**given, "pattern": pattern or given["pattern"]})
    whole = chance.sample(sorted(given["token_bytes"]), chance.choice([0, 0, 3]))
    return Tokenizer._of(tok.engine.vocabulary.replace(atomic_ids=whole), tok.pattern)


def check_tokenizer(chance: random.Random, note: Note, folder: Path) -> None:
    """Damage the files of a tokenizer."""
    format = chance.choice(sorted(_NAMES))
    path = folder / _NAMES[format]
    for _ in range(1000):  # until one is found that the format can hold
        try:
            tok = a_tokenizer(chance, "gpt2" if format in ("gpt2", "minbpe", "tiktoken") else None)
            tok._write(path, format)
            break
        except ValueError:
            continue
    note(f"format {format}")
    given = {"pattern": "gpt2", "special_tokens": {"<|end|>": 9000}} if format == "tiktoken" else {}
    files = {file.name: file.read_bytes() for file in folder.iterdir()}
    for _ in range(N_DAMAGES):
        name = chance.choice(sorted(files))
        data = _damaged_file(format, name, files[name], chance)
        note(f"{name}: {data[:1500]!r}")
        (folder / name).write_bytes(data)
        found = told(path, Tokenizer._read, path, format, **given)
        if found is not None:
            use(found, chance, folder)
        (folder / name).write_bytes(files[name])


def _damaged_file(format: str, name: str, data: bytes, chance: random.Random) -> bytes:
    if not name.endswith("json"):
        return damaged(data, chance)
    document = json.loads(data)
    document.pop("crc32", None)  # it would find everything
    if chance.random() < 0.4:
        return damaged(json.dumps(document, ensure_ascii=chance.random() < 0.5).encode(), chance)
    document = damaged_document(document, chance)
    if format == "native" and isinstance(document, dict) and chance.random() < 0.5:
        return native.dump(document)
    return written(document, chance)


def use(tok: Tokenizer, chance: random.Random, folder: Path) -> None:
    """Encode, decode and save again."""
    some = texts.data(chance, 40, "abct ") + "".join([*tok.special_tokens][:5]).encode()
    try:
        ids = tok.encode(some, allowed_special="all")
    except ValueError as error:
        assert "no token of the vocabulary stands for" in str(error)  # noqa: PT017
        return
    assert tok.decode_bytes(ids) == some or not tok.is_lossless
    stream = tok.stream_encoder(allowed_special="all")
    assert [n for part in texts.cut(chance, some) for n in stream.feed(part)] + stream.finish() == ids
    for format, name in {**_NAMES, "gpt2": "two"}.items():
        path = folder / f"again-{name}"
        given = {"pattern": tok.pattern, "special_tokens": tok.special_tokens} if format == "tiktoken" else {}
        try:
            tok._write(path, format)
        except ValueError:
            assert format != "native", "the native format holds any"
            continue
        again = Tokenizer._read(path, format, **given)
        assert again.encode(some, allowed_special="all") == ids, format
        assert format != "native" or again == tok


# ---------------------------------------------------------------------------------------------- counts
def check_counts(chance: random.Random, note: Note, folder: Path) -> None:
    """Damage a file of word counts, with the right check sum or a wrong one."""
    path = folder / "words.counts"
    words = {texts.data(chance, 4) or b"a": chance.choice([1, 300, 2**40, 2**62]) for _ in range(20)}
    bpe.WordCounts(words, pattern=chance.choice(["gpt2", r"\w+| "])).save(path)
    whole = path.read_bytes()
    for _ in range(N_DAMAGES):
        content = damaged(whole, chance)
        if chance.random() < 0.5:
            header_at, n_header = 16, int.from_bytes(whole[12:16], "little")
            document = damaged_document(json.loads(whole[header_at : header_at + n_header]), chance)
            header = written(document, chance)
            body = whole[header_at + n_header : -4]
            content = whole[:12] + len(header).to_bytes(4, "little") + header + body + bytes(4)
        if chance.random() < 0.7:
            content = content[:-4] + zlib.crc32(content[:-4]).to_bytes(4, "little")
        note(f"words.counts: {content[:1500]!r}")
        path.write_bytes(content)
        counts = told(path, bpe.WordCounts.load, path)
        if counts is not None:
            _use_counts(counts, folder)


def _use_counts(counts: bpe.WordCounts, folder: Path) -> None:
    assert counts.total == sum(n for _, n in counts.items())
    assert len(counts.most_common()) == len(counts)
    counts.save(folder / "again.counts")
    assert bpe.WordCounts.load(folder / "again.counts") == counts
    if not len(counts):
        return
    try:
        tok = bpe.train(counts, vocab_size=260 + len(counts.special_tokens), progress=False)
    except OverflowError:
        return
    for word in list(counts)[:5]:
        assert tok.decode_bytes(tok.encode_ordinary(word)) == word


# ---------------------------------------------------------------------------------------------- corpora
def check_corpus(chance: random.Random, note: Note, folder: Path) -> None:
    """Damage files of text, in all the forms in which a corpus can be."""
    documents = [chance.choice([texts.data, texts.text])(chance, 20) for _ in range(9)]
    kind, packed = chance.choice([".txt", ".jsonl", ".parquet"]), chance.choice(["", "", ".gz", ".zst"])
    path = folder / f"corpus{kind}{packed}"
    content = _content(documents, kind, chance)
    for _ in range(N_DAMAGES):
        inner = damaged(content, chance) if not packed or chance.random() < 0.5 else content
        if kind == ".jsonl" and chance.random() < 0.5:
            records = [json.loads(line) for line in content.splitlines()]
            records = damaged_document(records, chance)
            inner = b"\n".join(written(record, chance) for record in records if isinstance(records, list))
        pack: Any = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}[packed]
        data = pack(inner)
        data = damaged(data, chance) if packed and inner == content else data
        note(f"{path.name}: {data[:3000]!r}")
        path.write_bytes(data)
        for errors in ("skip", "strict", "replace", "keep"):
            found = [told(path, _read, path, errors, size) for size in (1 << 20, chance.randrange(1, 50))]
            assert found[0] == found[1], errors
        if found[0] is not None and any(found[0]):
            counts = bpe.count_words(path, pattern="gpt2", threads=chance.choice([1, 2]))
            assert counts == bpe.count_words(found[0], pattern="gpt2")


def _read(path: Path, errors: Any, block_bytes: int) -> list[bytes]:
    corpus = bpe.Corpus(path, errors=errors)
    return [b"".join(document) for document in corpus.documents(block_bytes=block_bytes)]


def _content(documents: list[Any], kind: str, chance: random.Random) -> bytes:
    plain = [doc.decode("utf-8", "replace") if isinstance(doc, bytes) else doc for doc in documents]
    if kind == ".jsonl":
        return b"\n".join(
            json.dumps({"text": doc, "n": 1}, ensure_ascii=chance.random() < 0.5).encode() for doc in plain
        )
    if kind == ".parquet":
        file = io.BytesIO()
        is_binary = chance.random() < 0.5
        column = pa.array([str(doc).encode() if is_binary else doc for doc in plain])
        compression = chance.choice(["none", "snappy", "zstd"])
        pa.parquet.write_table(pa.table({"text": column, "n": [*range(9)]}), file, compression=compression)
        return file.getvalue()
    return b"\n".join(doc if isinstance(doc, bytes) else doc.encode() for doc in documents)


# ------------------------------------------------------------------------------------------ ids, notes
def check_ids(chance: random.Random, note: Note, folder: Path) -> None:
    """Damage a file of ids, and decode it on the command line."""
    tok = a_tokenizer(chance)
    tok.save(folder / "tok.json")
    ids = tok.encode_ordinary(texts.text(chance, 100))
    dtype = chance.choice(["uint16"] * (max(ids, default=0) < 1 << 16) + ["uint32", "int64"])
    npy = io.BytesIO()
    np.save(npy, np.array(ids, dtype))
    contents = {
        "ids.npy": npy.getvalue(),
        "ids.bin": np.array(ids, dtype).tobytes(),
        "ids.txt": " ".join(map(str, ids)).encode(),
    }
    for _ in range(N_DAMAGES):
        name = chance.choice(sorted(contents))
        data = damaged(contents[name], chance)
        note(f"{name}: {data[:1500]!r}")
        (folder / name).write_bytes(data)
        command = ["decode", str(folder / "tok.json"), str(folder / name)]
        command += ["--dtype", "uint32" if dtype == "uint32" else "uint16"] if name == "ids.bin" else []
        result = CliRunner().invoke(cli.main, command)
        if isinstance(result.exception, Exception):
            raise result.exception
        assert result.exit_code == 0 or result.stderr.startswith("bpe: "), result.stderr
        assert len(result.stderr) < 1500


def check_note(chance: random.Random, note: Note, folder: Path) -> None:
    """Damage what a run has left that was interrupted; the next one starts again, or continues."""
    tok = a_tokenizer(chance)
    documents = [texts.text(chance, 60) for _ in range(chance.randrange(2, 12))]
    out = folder / chance.choice(["ids.npy", "ids.bin"])
    wanted = [tok.encode(document, allowed_special="all") for document in documents]

    def cut_off() -> Iterator[str]:
        yield from documents[: chance.randrange(1, len(documents) + 1)]
        raise KeyboardInterrupt

    with mock.patch.object(id_files, "BATCH_BYTES", 50):
        for _ in range(N_DAMAGES):
            try:
                tok.encode_files(cut_off(), out, threads=1, allowed_special="all")
            except KeyboardInterrupt:
                left = sorted(path for path in folder.iterdir() if path.suffix in (".part", ".state"))
            for path in left[-1:] if chance.random() < 0.6 else left:
                data = path.read_bytes()
                if path.suffix == ".state" and chance.random() < 0.5:
                    path.write_bytes(written(damaged_document(json.loads(data), chance), chance))
                else:
                    path.write_bytes(damaged(data, chance))
                shown = f", {path.read_bytes()[:500]!r}" if path.suffix == ".state" else ""
                note(f"damaged: {path.name}{shown}")
            found = told("", tok.encode_files, documents, out, threads=1, allowed_special="all")
            if found is not None:
                ids = np.load(out) if out.suffix == ".npy" else np.fromfile(out, found.dtype)
                offsets = np.load(found.offsets)
                assert [part.tolist() for part in np.split(ids, offsets[1:-1])] == wanted
            for path in folder.iterdir():
                os.unlink(path)
