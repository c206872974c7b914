"""The tables of containers run, at tiny sizes: both sides agree, and every row comes out."""

import importlib
import re
from pathlib import Path

import structures  # noqa: F401  # loads numba: the command then leaves the choice of its cache be
from tests.optional import required

FOLDER = Path(__file__).parents[1] / "asv_benchmarks"
ROW = re.compile(r"\| .* \| [\d.]+ (ns|µs|ms|s) \| [\d.]+ (ns|µs|ms|s) \|( [\d.]+ \|)?")


def test_small(capsys, monkeypatch):
    for name in ("heapdict", "pqdict", "sortedcontainers"):
        required(name)
    monkeypatch.syspath_prepend(FOLDER)
    importlib.import_module("containers_table").main(["--small"])
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    measured = [row for row in rows if ROW.fullmatch(row)]
    assert len(measured) == len(rows) - 4  # the two headings
    assert len(measured) >= 16


def test_sorted_small(capsys, monkeypatch):
    for name in ("heapdict", "pqdict", "sortedcontainers"):  # containers_table.py has the means
        required(name)
    monkeypatch.syspath_prepend(FOLDER)
    importlib.import_module("sorted_table").main(["--small"])
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert len([row for row in rows if ROW.fullmatch(row)]) == len(rows) - 2 == 4
