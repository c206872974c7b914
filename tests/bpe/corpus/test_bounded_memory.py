"""What is in memory at a time has a limit: of a record, of a document that is printed."""

import contextlib
import gzip
import json
import os
import re
import tracemalloc
from itertools import chain, pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import bpe
from bpe import cli
from bpe.corpus import reading
from bpe.encoding.streams import encode_blocks
from bpe.splitting.specials import Rules
from tests.optional import required


def run(*arguments, stdin=None):
    return CliRunner().invoke(cli.main, [str(argument) for argument in arguments], input=stdin)


def peak_of(work):
    """Return how many bytes were in use at most, by Python and numpy."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.fixture
def small_blocks(monkeypatch):
    documents = bpe.Corpus.documents
    monkeypatch.setattr(
        bpe.Corpus,
        "documents",
        lambda self, advance=lambda n: None, **others: documents(
            self, advance, block_bytes=1 << 14, **others
        ),
    )


# ---------------------------------------------------------------------------------------------- records
@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_a_line_that_is_too_long(tmp_path, suffix):
    lines = b'{"text": "the sea"}\n{"text": "%s"}\n' % (b"a" * 5000)
    path = tmp_path / f"x.jsonl{suffix}"
    path.write_bytes(compressed(lines, suffix))
    for block_bytes in (100, 1 << 20):
        corpus = bpe.Corpus(path, max_record_bytes=5012)
        assert [b"".join(each) for each in corpus.documents(block_bytes=block_bytes)] == [
            b"the sea",
            b"a" * 5000,
        ]
        found = bpe.Corpus(path, max_record_bytes=5011).documents(block_bytes=block_bytes)
        assert b"".join(next(found)) == b"the sea"
        with pytest.raises(
            ValueError, match=r"x\.jsonl.*, line 2 at byte 20: a record of more than 5011 bytes; .*"
        ):
            next(found)
    with pytest.raises(ValueError, match="max_record_bytes must be at least 1, not 0"):
        bpe.Corpus(path, max_record_bytes=0)


def compressed(data, suffix):
    if suffix == ".zst":
        return required("zstandard").ZstdCompressor(level=19).compress(data)
    return gzip.compress(data) if suffix else data


def test_a_row_that_is_too_long(tmp_path):
    arrow, parquet = required("pyarrow"), required("pyarrow.parquet")
    path = tmp_path / "x.parquet"
    parquet.write_table(arrow.table({"text": ["the sea", None, "a" * 5000]}), path)
    assert len(list(bpe.Corpus(path, max_record_bytes=5000).documents())) == 2
    found = bpe.Corpus(path, max_record_bytes=4999).documents()
    assert b"".join(next(found)) == b"the sea"
    with pytest.raises(ValueError, match=r"x\.parquet, row 2 of 'text': a record of more than 4999 bytes"):
        next(found)


def test_long_rows_are_read_a_few_at_a_time(tmp_path, monkeypatch):
    arrow, parquet = required("pyarrow"), required("pyarrow.parquet")
    path = tmp_path / "x.parquet"
    parquet.write_table(arrow.table({"text": [f"{i}" * 1_000_000 for i in range(40)], "n": range(40)}), path)
    sizes, batches = [], parquet.ParquetFile.iter_batches
    monkeypatch.setattr(
        parquet.ParquetFile,
        "iter_batches",
        lambda self, n, columns: sizes.append(n) or batches(self, n, columns=columns),
    )
    assert sum(1 for _ in bpe.Corpus(path).documents()) == 40
    parquet.write_table(arrow.table({"text": ["the sea"] * 40}), path)
    assert sum(1 for _ in bpe.Corpus(path).documents()) == 40
    assert 1 <= sizes[0] < 20
    assert sizes[1] == 256


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_a_line_without_an_end_is_not_held(tmp_path, suffix):
    """Memory does not grow with the line, also where the file is small: what is too long is not read on."""
    peaks = []
    for n_bytes in (20_000_000, 40_000_000):  # zstd comes in 16 MiB at most
        path = tmp_path / f"{n_bytes}.jsonl{suffix}"
        path.write_bytes(compressed(b'{"text": "' + b"a" * n_bytes, suffix))

        def work(path=path):
            with pytest.raises(ValueError, match="a record of more than 100000 bytes"):
                list(bpe.Corpus(path, max_record_bytes=100_000).documents())

        work()
        peaks.append(peak_of(work))
    assert peaks[1] - peaks[0] < 1_000_000


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_decompression_comes_in_blocks(tmp_path, suffix):
    """A file of some kB that holds 64 MB: never more than some blocks at a time."""
    path = tmp_path / f"x.txt{suffix}"
    path.write_bytes(compressed(b"a" * (1 << 26), suffix))
    blocks = []

    def work():
        for block in reading.FilePart(path).blocks():
            blocks.append(len(block))

    work()
    assert sum(blocks) == 1 << 26
    assert max(blocks) <= reading.BLOCK_BYTES


def test_the_limit_on_the_command_line(tmp_path, monkeypatch, tokenizer):
    monkeypatch.chdir(tmp_path)
    tokenizer.save("tok.json")
    Path("x.jsonl").write_text('{"text": "the sea"}\n')
    for command in (["count-words"], ["train", "--vocab-size", 258], ["encode", "tok.json"]):
        result = run(*command, "x.jsonl", "--max-record-bytes", 18, "-o", "x.bin")
        assert result.exit_code == 2
        assert re.match(
            r"bpe: x\.jsonl, line 1 at byte 0: a record of more than 18 bytes; .*--max-record-bytes\)\n",
            result.stderr,
        )
        assert run(*command, "x.jsonl", "--max-record-bytes", 19, "-o", "x.bin").exit_code == 0


# ---------------------------------------------------------------------------------- ids that are printed
def test_ids_are_printed_while_a_document_is_encoded(tmp_path, tokenizer, book, small_blocks):
    """The memory hardly grows with the document: before, it grew by 30 bytes for each."""
    tokenizer.save(tmp_path / "tok.json")
    peaks = []
    for n_times in (8, 16):
        (tmp_path / "long.txt").write_text(book * n_times)

        def work():
            with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
                cli.main(
                    ["encode", str(tmp_path / "tok.json"), str(tmp_path / "long.txt")], standalone_mode=False
                )

        work()
        peaks.append(peak_of(work))
    assert peaks[1] - peaks[0] < 8 * len(book), "a byte for each byte"


@pytest.mark.parametrize("options", [[], ["--json"], ["--allow-special"], ["--ordinary", "--json"]])
def test_what_is_printed_is_what_encode_gives(tmp_path, tokenizer, book, small_blocks, options):
    tokenizer.save(tmp_path / "tok.json")
    special = "the <|end|> of <|fim|>" * 900 if {"--ordinary", "--allow-special"} & {*options} else "the sea"
    documents = [book[:40_000], "", special, "é" * 20_000]
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in documents))
    result = run("encode", tmp_path / "tok.json", path, *options)
    rules = {"allowed_special": "all"} if "--allow-special" in options else {}
    rules = {"disallowed_special": ()} if "--ordinary" in options else rules
    all_ids = [tokenizer.encode(text, **rules) for text in documents]
    lines = [json.dumps(ids) if "--json" in options else " ".join(map(str, ids)) for ids in all_ids]
    assert result.stdout == "".join(line + "\n" for line in lines)


SPECIALS = ["<a>", "<a>b", "a>", "b<", "<<"]


@given(
    text=st.text("<>ab ", max_size=40).map(str.encode),
    cuts=st.lists(st.integers(0, 40)),
    disallowed=st.sets(st.sampled_from(SPECIALS)),
    allowed=st.sets(st.sampled_from(SPECIALS)),
)
def test_blocks_have_the_ids_and_errors_of_the_whole(text, cuts, disallowed, allowed):
    engine = ENGINE
    rules = Rules(frozenset(allowed), frozenset(disallowed - allowed))
    edges = sorted({0, *(cut for cut in cuts if cut < len(text)), len(text)})
    blocks = [text[i:j] for i, j in pairwise(edges)]

    def told(work):
        try:
            return work()
        except ValueError as error:
            return str(error)

    whole = told(lambda: engine.encoder_for(text, rules, text).encode(text))
    assert told(lambda: list(chain.from_iterable(encode_blocks(engine, blocks, rules)))) == whole


ENGINE = bpe.Tokenizer(
    token_bytes=[*(bytes([value]) for value in range(256)), b"ab"],
    merges=[(97, 98)],
    pattern="gpt2",
    special_tokens={token: 257 + i for i, token in enumerate(SPECIALS)},
).engine


def test_errors_of_reading_have_no_other_words(tmp_path, tokenizer):
    tokenizer.save(tmp_path / "tok.json")
    (tmp_path / "x.gz").write_bytes(gzip.compress(b"the sea" * 100)[:-5])
    result = run("encode", tmp_path / "tok.json", tmp_path / "x.gz")
    assert re.match(r"bpe: /.*x\.gz: gz data damaged or cut off", result.stderr)
    assert result.stderr.count("\n") == 1
