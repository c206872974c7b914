"""``asv_benchmarks/encoding_table.py`` runs, at tiny sizes; where ids differ, it prints no figure."""

import importlib
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import bpe
from tests.optional import required

FOLDER = Path(__file__).parents[1] / "asv_benchmarks"
BOOK = Path(__file__).parent / "data" / "treasure_island.txt"

required("tiktoken")


@pytest.fixture
def command(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    module = importlib.import_module("encoding_table")
    for name, size in (("PART", 20_000), ("HARD", 1000), ("SHORT_TEXTS", 300)):
        monkeypatch.setattr(module, name, size)
    return module


@pytest.fixture
def vocabularies(command, tmp_path):
    for name, pattern in command.PATTERNS.items():
        tok = bpe.train([BOOK.read_text("utf-8")[:50_000]], 400, pattern=pattern, progress=False)
        tok.save_tiktoken(tmp_path / f"{name}.tiktoken")
        given = {"pat_str": tok.to_tiktoken()._pat_str, "special_tokens": {"<|end|>": 1000}}
        (tmp_path / f"{name}.json").write_text(json.dumps(given))
    return tmp_path


def test_every_row(command, vocabularies):
    result = CliRunner().invoke(command.main, [str(vocabularies), str(BOOK), "--times", "1"])
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert [line.split(" | ")[1] for line in lines[2:5]] == [*command.PATTERNS]
    assert sum(line.startswith("| ") for line in lines) == 3 + 1 + 6 + 1
    assert "encode_batch of 300 of these: " in lines[-2]
    assert lines[-1].startswith("load cl100k_base: rank file ")


def test_ids_that_differ(command, vocabularies):
    given = json.loads((vocabularies / "gpt2.json").read_text())
    (vocabularies / "gpt2.json").write_text(json.dumps({**given, "pat_str": r"(?s)."}))
    result = CliRunner().invoke(command.main, [str(vocabularies), str(BOOK), "--times", "1"])
    assert result.exit_code == 1
    assert "gpt2 treasure_island.txt: differs at byte " in result.output
    assert "| treasure_island.txt |" not in result.output


def test_speed_chart(command, vocabularies, tmp_path):
    required("matplotlib")
    required("tokenizers")
    chart = tmp_path / "speed.svg"
    module = importlib.import_module("speed_chart")
    result = CliRunner().invoke(module.main, [str(vocabularies), str(BOOK), str(chart), "--times", "1"])
    assert result.exit_code == 0, result.output
    names = [line.split(":")[0] for line in result.output.splitlines()]
    assert {"bpe", "tiktoken", "tokenizers"} <= {*names}
    assert all(f">{name}</text>" in chart.read_text("utf-8") for name in names)


def test_pictures(command, vocabularies, tmp_path, monkeypatch):
    for package in ("matplotlib", "gigatoken", "tokenizers", "heapdict", "pqdict", "sortedcontainers"):
        required(package)
    module = importlib.import_module("gallery_plots")
    for name, sizes in (("LENGTHS", [10, 1000]), ("SIZES", [100])):
        monkeypatch.setattr(module, name, sizes)
    given = [str(vocabularies), str(BOOK), str(tmp_path), "--small"]
    assert CliRunner().invoke(module.main, given, catch_exceptions=False).exit_code == 0
    page = (Path(__file__).parents[1] / "docs" / "plots.rst").read_text("utf-8")
    drawn = {path.stem for path in tmp_path.glob("*.svg")}
    assert drawn == {"scripts", "merge_tree", "lengths", "heaps", "sizes"}
    assert all(f"pictures/{name}.svg" in page for name in drawn)

    before = (tmp_path / "merge_tree.svg").read_bytes()
    CliRunner().invoke(module.main, [*given, "--only", "merge_tree"], catch_exceptions=False)
    assert (tmp_path / "merge_tree.svg").read_bytes() == before
    assert b"<dc:date>" not in before
    assert CliRunner().invoke(module.main, [*given, "--only", "moon"]).exit_code == 2
