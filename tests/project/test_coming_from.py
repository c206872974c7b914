"""Each of our calls on the pages for people who come from other packages runs."""

import hashlib
import re
from pathlib import Path

import numpy as np
import pytest

import bpe
import structures
from bpe.formats.tiktoken import PUBLISHED, Published
from tests.optional import required

ROOT = Path(__file__).parents[2]
SECTION = re.compile(r"^([^\n]+)\n-{5,}\n(.+?)(?=^[^\n]+\n-{5,}|\Z)", re.MULTILINE | re.DOTALL)


def calls_of(page):
    """Return the calls in the right columns, by section."""
    return {
        heading: re.findall(r"^     - ``(.+?)``", part, re.MULTILINE)
        for heading, part in SECTION.findall(page)
    }


PAGE = (ROOT / "docs" / "bpe" / "coming_from.rst").read_text("utf-8")
CONTAINERS = (ROOT / "docs" / "structures" / "coming_from.rst").read_text("utf-8")
CALLS = calls_of(PAGE)
TEXT = (ROOT / "tests" / "data" / "treasure_island.txt").read_text("utf-8")[:20_000]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text(TEXT, "utf-8")
    return tmp_path


@pytest.fixture
def names(folder, monkeypatch):
    tok = bpe.train([TEXT], 310, pattern="cl100k", progress=False)
    tok.save_tiktoken("cl100k_base.tiktoken")
    digest = hashlib.sha256(Path("cl100k_base.tiktoken").read_bytes()).hexdigest()
    monkeypatch.setitem(PUBLISHED, digest, Published("cl100k_base", "cl100k", {"<|endoftext|>": 400}))
    tok.save_huggingface("tokenizer.json")
    return {
        "bpe": bpe,
        "Path": Path,
        "tok": tok,
        "text": TEXT,
        "texts": [TEXT, TEXT],
        "ids": tok.encode(TEXT),
    }


@pytest.mark.parametrize("package", ["tiktoken", "tokenizers", "SentencePiece", "minbpe"])
def test_calls_run(package, names):
    if package == "SentencePiece":
        sentencepiece = required("sentencepiece")
        sentencepiece.SentencePieceTrainer.train(
            input="text.txt", model_prefix="spm", model_type="bpe", vocab_size=200, hard_vocab_limit=False
        )
    assert len(CALLS[package]) > 5
    for call in CALLS[package]:
        if call == "tok.to_huggingface()":
            required("tokenizers")
        exec(call, names)
        names["ids"] = names["tok"].encode(TEXT)


@pytest.mark.parametrize("package", ["heapq", "heapdict and pqdict", "sortedcontainers", "numba.typed.Dict"])
def test_calls_of_containers_run(package):
    names = {name: getattr(structures, name) for name in structures.__all__}
    keys, values = np.arange(20, 30), np.arange(10, 20)
    names |= {"key": 7, "priority": 1, "value": 2, "low": 5, "high": 25, "i": 0, "k": 2, "n": 3}
    names |= {"keys": keys, "values": values, "priorities": values, "mapping": {20: 1}}
    calls = calls_of(CONTAINERS)[package]
    assert len(calls) >= 5
    for call in calls:
        exec(call, names)
        if "heap" in names and not names["heap"]:  # its last entry was popped
            names["heap"][8] = 3
        if "pairs" in names and len(names["pairs"]) < 2:
            names["pairs"].push(5, 6)
