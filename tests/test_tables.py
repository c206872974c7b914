"""The commands that print tables run at tiny sizes: both sides agree, and every row comes out."""

import importlib
import re
from pathlib import Path

import pytest

import bpe
import structures  # noqa: F401  # loads numba: the commands then leave the choice of its cache be

FOLDER = Path(__file__).parents[1] / "asv_benchmarks"
ROW = re.compile(r"\| .* \| [\d.]+ (ns|µs) \| [\d.]+ (ns|µs) \| [\d.]+ \|")


@pytest.mark.parametrize(
    ("command", "needed", "n_rows"),
    [("k_best_table", (), 16), ("examples_table", ("scipy", "skimage"), 13), ("heaps_table", (), 8)],
)
def test_small(capsys, monkeypatch, command, needed, n_rows):
    for name in needed:
        pytest.importorskip(name, reason="one of those compared with")
    monkeypatch.syspath_prepend(FOLDER)
    importlib.import_module(command).main(["--small"])
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")][2:]
    assert all(ROW.fullmatch(row) for row in rows), rows
    assert len(rows) == n_rows


def test_first_use(capsys, monkeypatch):
    """One use, in processes of its own; what it takes depends on the machine."""
    monkeypatch.syspath_prepend(FOLDER)
    importlib.import_module("first_use_table").main(["--small"])
    output = capsys.readouterr().out
    assert re.search(r"^\| IntMap( \| -?[\d.]+){4} \|$", output, re.MULTILINE)
    assert re.search(r"^An empty heap inside `@njit`: \d+ ns\.$", output, re.MULTILINE)


def test_loading(capsys, monkeypatch, tmp_path):
    pytest.importorskip("tokenizers", reason="what is compared with")
    path = tmp_path / "tokenizer.json"
    bpe.train(["low lower"], vocab_size=259, pattern="gpt2", progress=False).save_huggingface(path)
    monkeypatch.syspath_prepend(FOLDER)
    importlib.import_module("loading_table").main([str(path), "--rounds", "1"])
    rows = capsys.readouterr().out.splitlines()[2:]
    assert len(rows) == 1
    assert re.fullmatch(rf"\| {re.escape(str(path))} \| [\d.]+ \| [\d.]+ \| [\d.]+ \|", rows[0])


def test_loading_checks_ids(monkeypatch):
    tokenizers = pytest.importorskip("tokenizers", reason="what is compared with")
    monkeypatch.syspath_prepend(FOLDER)
    ours = bpe.train(["low lower"], vocab_size=259, pattern="gpt2", progress=False)
    other = bpe.train(["Hello, Hello"], vocab_size=259, pattern="gpt2", progress=False).to_huggingface()
    assert isinstance(other, tokenizers.Tokenizer)
    with pytest.raises(SystemExit, match="give other ids"):
        importlib.import_module("loading_table").check(ours, other, "a file")
