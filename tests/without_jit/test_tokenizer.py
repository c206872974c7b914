"""Tokenizers as users have them, where Python does what compiled code does elsewhere."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import bpe
from bpe import reference
from bpe.cli import main

TEXT = "The cat's 123 naïve 中文 😀 sat on  the mat and the other cats\n sat on other mats. " * 2
pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(scope="module")
def tokenizer():
    return bpe.train([TEXT], 280, progress=False)


@pytest.fixture(scope="module")
def expected(tokenizer):
    ranks = reference.rank_pairs(tokenizer.merges)
    pieces = tokenizer.pattern.split(TEXT)
    return [number for piece in pieces for number in reference.encode_by_rank(piece.encode(), ranks)]


def test_merges(tokenizer):
    pieces = [piece.encode() for piece in tokenizer.pattern.split(TEXT)]
    assert tokenizer.merges == [merge.pair for merge in reference.train_chunked(pieces, 24)]


def test_texts(tokenizer, expected):
    assert tokenizer.encode(TEXT) == expected
    assert tokenizer.decode(expected) == TEXT
    assert tokenizer.encode_batch([TEXT, "", TEXT], threads=2) == [expected, [], expected]
    assert tokenizer.decode_batch([expected, []]) == [TEXT, ""]
    assert tokenizer.encode_to_numpy(TEXT).tolist() == expected
    assert repr(tokenizer.count(TEXT)) == str(len(expected)), "an int of Python"
    assert tokenizer.decode(tokenizer.encode_with_dropout(TEXT, 0.5, seed=1)) == TEXT
    ids, starts, ends = tokenizer.encode_with_offsets(TEXT)
    assert [*ids] == expected
    assert [TEXT[start:end] for start, end in zip(starts, ends, strict=True)][:2] == ["The", " c"]
    assert tokenizer.encode(tokenizer.truncate(TEXT, 9)) == expected[:9]


def test_streams(tokenizer, expected):
    stream, decoder, appended = (
        tokenizer.stream_encoder(),
        tokenizer.stream_decoder(),
        tokenizer.appendable_encoder(),
    )
    ids = [number for i in range(0, len(TEXT), 7) for number in stream.feed(TEXT[i : i + 7])]
    assert ids + stream.finish() == expected
    assert "".join(map(decoder.feed, ([number] for number in expected))) + decoder.finish() == TEXT
    for i in range(0, len(TEXT), 50):
        appended.append(TEXT[i : i + 50])
    assert appended.count() == len(expected)


def test_special_tokens(tokenizer):
    some = tokenizer.with_special_tokens(["<|end|>"])
    assert some.encode("mat<|end|>", allowed_special="all") == [*tokenizer.encode("mat"), 280]
    many = tokenizer.with_special_tokens([f"<{n}>" for n in range(300)])
    assert many.encode("mat<0><299>", allowed_special="all") == [*tokenizer.encode("mat"), 280, 579]


@pytest.mark.parametrize("superwords", [bpe.SuperBPE(first_merges=5), bpe.Boundless()])
def test_superwords(superwords):
    tokenizer = bpe.train([TEXT], 275, superwords=superwords, progress=False)
    ids = tokenizer.encode(TEXT)
    assert tokenizer.decode(ids) == TEXT
    assert any(b" " in tokenizer.token_bytes(number).strip() for number in ids)


def test_surgery(tokenizer):
    more, _ = tokenizer.extend(["zebra zebra zebra"], 2, progress=False)
    assert more.merges[:-2] == tokenizer.merges
    fewer, _ = tokenizer.prune([TEXT], vocab_size=270, progress=False)
    assert fewer.decode(fewer.encode(TEXT)) == TEXT


def test_parity():
    texts = {"en": {b" the": 5, b" then": 2}, "de": {b"der": 3, b"dem": 4}}
    counts = {
        name: bpe.WordCounts({w.decode(): n for w, n in words.items()}) for name, words in texts.items()
    }
    learned = bpe.train_parity(counts, 260, ratios={"en": 1.0, "de": 2.0}, progress=False)
    expected = reference.train_parity([*texts.values()], 4, ratios=[1.0, 2.0])
    assert learned.merges == [merge.pair for merge in expected]


def test_pipelines(tokenizer, expected, tmp_path):
    tokenizer.save_huggingface(tmp_path / "tokenizer.json")
    document = json.loads((tmp_path / "tokenizer.json").read_text("utf-8"))
    document["normalizer"] = {"type": "Replace", "pattern": {"String": "z"}, "content": "The"}
    (tmp_path / "tokenizer.json").write_text(json.dumps(document), "utf-8")
    assert bpe.Tokenizer.load(tmp_path).encode(TEXT.replace("The", "z")) == expected


def test_commands(tmp_path, monkeypatch, expected):
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text(TEXT, "utf-8")
    for command in (
        "count-words a.txt -o a.counts",
        "train a.counts --vocab-size 280 -o tok.json",
        "encode tok.json a.txt -o ids.npy",
        "report tok.json a.txt -o page.html",
    ):
        result = CliRunner().invoke(main, [*command.split(), "--quiet"])
        assert (result.exit_code, result.output) == (0, ""), command
    assert np.load("ids.npy").tolist() == expected
    result = CliRunner().invoke(main, ["decode", "tok.json", "ids.npy"])
    assert result.stdout_bytes == TEXT.encode()
