"""The commands of ``asv_benchmarks`` run, at tiny sizes; they compare results before they print figures."""

import gc
import importlib
import json
from pathlib import Path

import pytest

import bpe
import structures  # noqa: F401  # loads numba: the commands then leave the choice of its cache be
from tests.optional import required

FOLDER = Path(__file__).parents[1] / "asv_benchmarks"
BOOK = Path(__file__).parent / "data" / "treasure_island.txt"
SMALL = {
    "containers_table": ("heapdict", "numba_utils", "pqdict", "scipy", "sortedcontainers"),
    "examples_table": ("scipy", "skimage", "sortedcontainers"),
}  # what each needs


@pytest.fixture
def command(monkeypatch):
    """A function that runs a command with some arguments."""
    monkeypatch.syspath_prepend(FOLDER)
    gc.freeze()  # the commands collect garbage before each run, but not what the tests before left

    def run(name, *arguments, needs=(), **sizes):
        for package in needs:
            required(package)
        module = importlib.import_module(name)
        for constant, size in sizes.items():
            monkeypatch.setattr(module, constant, size)
        module.main([str(argument) for argument in arguments], standalone_mode=False)

    yield run
    gc.unfreeze()


@pytest.fixture(scope="module")
def vocabularies(tmp_path_factory):
    """A folder of small vocabularies, as the commands take it."""
    required("tiktoken")
    folder = tmp_path_factory.mktemp("vocabularies")
    for name, pattern in {"gpt2": "gpt2", "cl100k_base": "cl100k", "o200k_base": "o200k"}.items():
        tok = bpe.train([BOOK.read_text("utf-8")[:50_000]], 400, pattern=pattern, progress=False)
        tok.save_tiktoken(folder / f"{name}.tiktoken")
        given = {"pat_str": tok.to_tiktoken()._pat_str, "special_tokens": {"<|end|>": 1000}}
        (folder / f"{name}.json").write_text(json.dumps(given))
    return folder


@pytest.mark.parametrize("name", SMALL)
def test_small(command, name):
    command(name, "--small", needs=SMALL[name])


def test_counting(command, tmp_path):
    (tmp_path / "text.txt").write_text("the sea and the ship\n" * 100)
    command("counting_table", "speed", BOOK, "--times", 1, "--run-bytes", 1000)
    command("counting_table", "stream", "--gigabytes", 0.001)
    command("counting_table", "law", tmp_path / "text.txt", VOCAB_SIZE=300)
    command("counting_table", "cluster", tmp_path / "text.txt", "--small", needs=["distributed"])


def test_training(command, tmp_path):
    command("training_table", "large", BOOK, "--vocab-size", 300, "--times", 1)
    arguments = ["--megabytes", 0.4, "--vocab-size", 300, "--row", "ordinary"]
    command("training_table", "superwords", BOOK, *arguments)
    required("tokenizers", minversion="0.23")
    titles = ["Всеобщая декларация прав человека", "세 계 인 권 선 언", "मानव अधिकारों की सार्वभौम घोषणा"]
    documents = [*(f"{title}\n{title}\n" for title in titles), *(f"1 {title * 9}" for title in titles)]
    (tmp_path / "corpus.txt").write_text("<|endoftext|>".join(documents), "utf-8")
    command("training_table", "parity", tmp_path / "corpus.txt", "--vocab-size", 270, "--times", 1)


def test_encoding(command, vocabularies):
    arguments = [vocabularies, BOOK, "--times", 1]
    sizes = {"PART": 20_000, "HARD": 1000, "SHORT_TEXTS": 300, "DECODED": 2000, "TURNS_TAKE": 0}
    command("encoding_table", *arguments, **sizes)


def test_ids(command, vocabularies):
    command("ids_table", "speed", vocabularies, BOOK, "--times", 1, LONG=4000, ALIGNED=500, CALLS=1)
    command("ids_table", "seams", vocabularies, BOOK, SEAMS=20)
    command("ids_table", "windows", vocabularies, BOOK, SEAMS=20)


def test_hf(command, tmp_path):
    bpe.train([BOOK.read_text("utf-8")[:50_000]], 400, progress=False).save(tmp_path / "tok.json")
    sizes = {"SHORT": 9, "DOCUMENT": 90, "WHOLE": 1000, "BATCH": 2, "SECONDS": 0}
    command("hf_table", tmp_path / "tok.json", BOOK, needs=["transformers"], **sizes)


def test_same(command, vocabularies, monkeypatch):
    command("same", "pieces", BOOK, "--pattern", "gpt2")
    monkeypatch.setattr(importlib.import_module("same"), "classified_alike", lambda: list("aé日"))
    command("same", "ids", vocabularies, BOOK, "--name", "gpt2")


def test_pictures(command, vocabularies, tmp_path):
    needs = ["matplotlib", "gigatoken", "tokenizers"]
    arguments = [vocabularies, BOOK, tmp_path, "--small"]
    command("pictures", *arguments, needs=needs, LENGTHS=[10, 1000], SIZES=[100])
    assert len(list(tmp_path.glob("*.svg"))) == 6


def test_wild_tokenizers(command, tmp_path):
    required("tokenizers")
    tok = bpe.train(["low lower"], 260, special_tokens=["<|end|>"], progress=False)
    tok.save_huggingface(tmp_path / "tokenizer.json")
    with pytest.raises(SystemExit) as stopped:
        command("wild_tokenizers", tmp_path, "--bytes", 50, "--texts", BOOK, RUN=20)
    assert stopped.value.code == 0
