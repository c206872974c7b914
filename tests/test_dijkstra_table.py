"""``asv_benchmarks/dijkstra_table.py`` runs, at a tiny size: the distances agree, and every row comes out."""

import importlib
from pathlib import Path

import pytest

import structures  # noqa: F401  # loads numba: the command then leaves the choice of its cache be
from tests.optional import required

FOLDER = Path(__file__).parents[1] / "asv_benchmarks"


def test_small(capsys, monkeypatch):
    required("scipy")
    monkeypatch.syspath_prepend(FOLDER)
    module = importlib.import_module("dijkstra_table")
    module.main(["--small"])
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + 8
    assert rows[2].endswith("| 1.00 |")


def test_no_figures_for_other_distances(monkeypatch):
    required("scipy")
    monkeypatch.syspath_prepend(FOLDER)
    module = importlib.import_module("dijkstra_table")
    with pytest.raises(SystemExit, match="b: the distances are not those of a"):
        module.best_times({"a": lambda: [1.0, 2.0], "b": lambda: [1.0, 3.0]}, 1)
