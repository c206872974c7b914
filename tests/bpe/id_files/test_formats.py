"""Files of ids for other programs, read as those programs read them."""

import json
import os
import re
import struct
from itertools import chain, pairwise

import numpy as np
import pytest
from click.testing import CliRunner

import bpe
from bpe import cli
from bpe.id_files import encode as id_files
from bpe.id_files import formats as megatron
from bpe.id_files import output
from bpe.id_files import tables as id_tables
from tests.optional import optional, required

pyarrow = optional("pyarrow")
parquet = optional("pyarrow.parquet")

TEXTS = ["the sea", "", "of the <|end|>", "a ship"]
END = "<|end|>"


@pytest.fixture
def corpus(tmp_path):
    """Four documents of two files, one of them in a folder below."""
    folder = tmp_path / "corpus"
    (folder / "b").mkdir(parents=True)
    (folder / "a.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS[:3]))
    (folder / "b" / "é.txt").write_text(TEXTS[3])
    return folder


@pytest.fixture
def ids(tokenizer):
    return [tokenizer.encode(text, allowed_special="all") for text in TEXTS]


def read_megatron(path):
    """Read a .bin and its .idx, as the documentation of the format describes them."""
    data = path.with_suffix(".idx").read_bytes()
    assert data[:9] == b"MMIDIDX\x00\x00"
    version, code, n_sequences, n_places = struct.unpack("<QBQQ", data[9:34])
    assert version == 1
    dtype = np.dtype({4: "<i4", 8: "<u2"}[code])
    lengths = np.frombuffer(data, "<i4", n_sequences, 34)
    pointers = np.frombuffer(data, "<i8", n_sequences, 34 + lengths.nbytes)
    documents = np.frombuffer(data, "<i8", n_places, 34 + lengths.nbytes + pointers.nbytes)
    assert len(data) == 34 + lengths.nbytes + pointers.nbytes + documents.nbytes
    ids = path.read_bytes()
    found = [np.frombuffer(ids, dtype, n, place).tolist() for n, place in zip(lengths, pointers, strict=True)]
    return dtype, [list(chain.from_iterable(found[i:j])) for i, j in pairwise(documents)], found


def names_in(folder):
    return {path.name for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("dtype", [None, "uint32"])
@pytest.mark.parametrize("end", [None, END])
def test_megatron(tokenizer, corpus, ids, tmp_path, monkeypatch, dtype, end):
    monkeypatch.setattr(megatron, "_AT_A_TIME", 2)
    options = {"dtype": dtype, "end_token": end, "allowed_special": "all"}
    written = tokenizer.encode_files(corpus, tmp_path / "ids.idx", **options)
    assert names_in(tmp_path) == {"ids.bin", "ids.idx", "ids.offsets.npy"}
    assert (written.ids, written.offsets) == (tmp_path / "ids.bin", tmp_path / "ids.idx")
    found_dtype, documents, sequences = read_megatron(written.ids)
    assert found_dtype == ("<i4" if dtype else "<u2")
    if end:
        ids = [[*some, tokenizer.special_tokens[end]] for some in ids]
    assert documents == ids
    assert sequences == [some for some in ids if some]
    assert written.n_tokens == sum(map(len, ids))
    again = tokenizer.encode_files(corpus, tmp_path / "ids.bin", to="megatron", **options)
    assert again == written
    with pytest.raises(FileExistsError, match=r"ids\.idx is an index of the ids in"):
        tokenizer.encode_files(["other"], tmp_path / "ids.bin")
    os.remove(tmp_path / "ids.idx")
    tokenizer.encode_files(["other"], tmp_path / "ids.bin")


def test_megatron_without_a_document(tokenizer, tmp_path):
    written = tokenizer.encode_files([], tmp_path / "ids.idx")
    assert read_megatron(written.ids) == (np.dtype("<u2"), [], [])


def test_nanogpt(tokenizer, corpus, ids, tmp_path):
    """As its train.py reads them."""
    with pytest.raises(ValueError, match=r"no special token '<\|endoftext\|>' .* it has: '<\|end\|>'"):
        tokenizer.encode_files(corpus, tmp_path / "train.bin", to="nanogpt")
    written = tokenizer.encode_files(
        corpus, tmp_path / "train.bin", to="nanogpt", end_token=END, allowed_special="all"
    )
    data = np.memmap(tmp_path / "train.bin", dtype=np.uint16, mode="r")
    end = tokenizer.special_tokens[END]
    assert data.tolist() == [number for some in ids for number in [*some, end]]
    assert data[np.load(written.offsets)[1:] - 1].tolist() == [end] * 4
    small = bpe.train(["the sea"], vocab_size=257, special_tokens=["<|endoftext|>"])
    small.encode_files(["the", "sea"], tmp_path / "train.bin", to="nanogpt")
    data = np.memmap(tmp_path / "train.bin", dtype=np.uint16, mode="r")
    assert bytes(number if number < 256 else 0 for number in data) == b"the\0sea\0"


def rows_of(path):
    if path.suffix == ".parquet":
        return parquet.read_table(path)
    with pyarrow.memory_map(str(path)) as file:
        return pyarrow.ipc.open_file(file).read_all()


@pytest.mark.parametrize("kind", id_tables.KINDS)
@pytest.mark.parametrize(("n_ids", "n_rows"), [(1 << 22, 1 << 17), (3, 100), (100, 2), (1, 1)])
def test_tables(tokenizer, corpus, ids, tmp_path, monkeypatch, kind, n_ids, n_rows):
    monkeypatch.setattr(id_tables, "BATCH_IDS", n_ids)
    monkeypatch.setattr(id_tables, "BATCH_ROWS", n_rows)
    dtype = "uint32" if n_rows == 2 else None
    out = tmp_path / f"ids.{kind}"
    both = [*(corpus / name for name in ("a.jsonl", "b/é.txt")), b"in memory"]
    written = tokenizer.encode_files(both, out, dtype=dtype, allowed_special="all")
    assert names_in(tmp_path) == {out.name}
    assert (written.ids, written.offsets, written.n_documents) == (out, out, 5)
    table = rows_of(out)
    assert table.schema.field("ids").type.value_type == (pyarrow.uint32() if dtype else pyarrow.uint16())
    assert table["document"].to_pylist() == list(range(5))
    sources = [str(corpus / "a.jsonl")] * 3 + [str(corpus / "b" / "é.txt"), None]
    assert table["source"].to_pylist() == sources
    assert table["ids"].to_pylist() == [*ids, tokenizer.encode("in memory")]
    assert written.n_tokens == sum(map(len, table["ids"].to_pylist()))


def test_a_table_without_a_document(tokenizer, tmp_path):
    tokenizer.encode_files([], tmp_path / "ids.parquet")
    assert parquet.read_table(tmp_path / "ids.parquet").num_rows == 0


def test_tables_in_datasets(tokenizer, corpus, ids, tmp_path):
    datasets = required("datasets")
    for kind in id_tables.KINDS:
        out = tmp_path / f"ids.{kind}"
        tokenizer.encode_files(corpus, out, allowed_special="all")
        rows = datasets.load_dataset(kind, data_files=str(out), cache_dir=str(tmp_path / "cache"))["train"]
        assert rows["ids"] == ids


@pytest.mark.parametrize("name", ["ids.parquet", "ids.arrow", "ids.idx"])
def test_a_run_that_was_killed_goes_on(tokenizer, corpus, ids, tmp_path, monkeypatch, name):
    """In the middle of the text, and while the table is made."""
    monkeypatch.setattr(id_files, "BATCH_BYTES", 1)
    monkeypatch.setattr(id_files, "SECONDS", 0)
    save, n_saved = output.Output.save_state, 0

    def killed(self):
        nonlocal n_saved
        save(self)
        n_saved += 1
        if n_saved == 2:
            raise KeyboardInterrupt

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(output.Output, "save_state", killed)
        with pytest.raises(KeyboardInterrupt):
            tokenizer.encode_files(corpus, tmp_path / name, allowed_special="all", threads=1)
    assert not (tmp_path / name).exists()
    with monkeypatch.context() as patch:
        patch.setattr(id_tables, "_ids_between", full)
        patch.setattr(megatron, "_parts", full)
        with pytest.raises(OSError, match=rf"No space left on device.*: '{re.escape(str(tmp_path / name))}'"):
            tokenizer.encode_files(corpus, tmp_path / name, allowed_special="all", threads=1)
    assert not (tmp_path / name).exists()
    with monkeypatch.context() as patch:
        patch.setattr(bpe.Corpus, "documents", full)  # all text is read
        written = tokenizer.encode_files(corpus, tmp_path / name, allowed_special="all", threads=1)
    assert written.is_resumed
    if name == "ids.idx":
        assert read_megatron(written.ids)[1] == ids
        assert names_in(tmp_path) == {"ids.bin", "ids.idx", "ids.offsets.npy"}
    else:
        assert rows_of(written.ids)["ids"].to_pylist() == ids
        assert names_in(tmp_path) == {name}


def test_wrong_names(tokenizer, tmp_path):
    for to, name, problem in (
        ("parquet", "ids.bin", r"the name of a parquet file ends in \.parquet"),
        ("megatron", "ids", r"the name of a megatron file ends in \.bin or \.idx"),
        ("csv", "ids.csv", "to must be one of bin, npy, nanogpt, megatron, parquet, arrow, not 'csv'"),
    ):
        with pytest.raises(ValueError, match=problem):
            tokenizer.encode_files(["text"], tmp_path / name, to=to)
    assert not names_in(tmp_path)


def test_a_document_that_is_too_long(tmp_path):
    np.save(tmp_path / "x.offsets.npy", np.array([0, 1, 2**31 + 1]))
    with pytest.raises(ValueError, match="document 1 has 2147483648 tokens"):
        megatron.write_index(tmp_path / "x.idx", tmp_path / "x.offsets.npy", np.dtype("<u2"))
    with pytest.raises(ValueError, match="document 1 has 2147483648 tokens"):
        list(id_tables._ranges(np.array([0, 1, 2**31 + 1])))
    assert names_in(tmp_path) == {"x.offsets.npy"}


# ----------------------------------------------------------------------------------------------- command
def run(*arguments):
    result = CliRunner().invoke(cli.main, list(map(str, arguments)))
    assert result.exit_code in (0, 2), result.output
    return result


@pytest.fixture
def folder(tmp_path, tokenizer, corpus, monkeypatch):
    tokenizer.save(tmp_path / "tok.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_commands(folder, ids):
    for to, name in ((None, "ids.parquet"), ("arrow", "ids.arrow")):
        given = ["--to", to] if to else []
        result = run("encode", "tok.json", "corpus", "--allow-special", "-o", name, *given)
        assert result.exit_code == 0, result.output
        assert result.stderr.startswith(f"{name}: 4 documents, ")
        assert rows_of(folder / name)["ids"].to_pylist() == ids
    summary = json.loads(
        run("encode", "tok.json", "corpus", "--allow-special", "-o", "m.idx", "--json", "--quiet").stdout
    )
    assert (summary["output"], summary["offsets"]) == ("m.idx", "m.idx")
    assert read_megatron(folder / "m.bin")[1] == ids
    given = ("--to", "nanogpt", "--end-token", END, "--allow-special")
    assert run("encode", "tok.json", "corpus", "-o", "n.bin", *given).exit_code == 0
    assert np.fromfile("n.bin", "<u2").tolist() == [n for some in ids for n in [*some, 600]]


def test_wrong_commands(folder):
    for given, problem in (
        (["--to", "arrow"], "--to requires -o"),
        (["--end-token", END], "--end-token requires -o"),
        (["-o", "ids.txt"], r"-o ids.txt: the name must end in .bin (ids and nothing else), .npy, .idx, "),
        (["-o", "ids.bin", "--to", "npy"], "ids.bin: the name of a npy file ends in .npy"),
        (["-o", "ids.bin", "--end-token", "no"], "no special token 'no'"),
        (["-o", "ids.bin", "--to", "csv"], "'csv' is not one of"),
    ):
        result = run("encode", "tok.json", "corpus", *given)
        assert (result.exit_code, result.stdout) == (2, "")
        assert problem in result.stderr
