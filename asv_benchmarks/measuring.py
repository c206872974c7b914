"""What the commands of this folder share: options, the best of some runs, two sides of a comparison."""

from __future__ import annotations

import gc
import os
import platform
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
NOVEL = ROOT / "tests" / "data" / "treasure_island.txt"
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)

small_option = click.option("--small", is_flag=True, help="Tiny sizes: to see that it runs, not for figures.")
times_option = click.option("--times", default=3, help="Runs, of which the fastest counts.")
texts_argument = click.argument("texts", nargs=-1, required=True, type=FILE)
vocabularies_argument = click.argument("folder", metavar="VOCABULARIES", type=FOLDER)


def best(run: Callable[[], Any], times: int = 1) -> float:
    """Return the least time of some runs, in seconds, without pauses of the garbage collector."""
    took = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(times):
            start = time.perf_counter()
            run()
            took.append(time.perf_counter() - start)
    finally:
        gc.enable()
    return min(took)


class Side(NamedTuple):
    """One way to do some work."""

    name: str
    run: Callable[[Any], Any]  # does it with what `new` makes, and returns what must be the same
    new: Callable[[], Any] = lambda: None  # is not timed


def same_arrays(one: Any, other: Any) -> bool:
    return len(one) == len(other) and all(map(np.array_equal, one, other))


def compare(
    work: str, ours: Side, theirs: Side, seconds: float, agree: Callable[[Any, Any], bool] = same_arrays
) -> tuple[float, float]:
    """Return the best time of each side, measured in turns; end if the results differ.

    There are three rounds, or up to nine within `seconds`, or one where that is 0.
    """
    if not agree(ours.run(ours.new()), theirs.run(theirs.new())):
        sys.exit(f"{work}: the results of {ours.name} and {theirs.name} differ")
    least = [float("inf")] * 2
    end = time.perf_counter() + seconds
    for n_done in range(9 if seconds else 1):
        if n_done >= 3 and time.perf_counter() > end:
            break
        for i, side in enumerate((ours, theirs)):
            made = side.new()
            least[i] = min(least[i], best(lambda run=side.run, made=made: run(made)))
    return least[0], least[1]


def print_head() -> None:
    """Print what the figures depend on, and the head of a table of :func:`print_row`."""
    click.echo(
        f"Python {platform.python_version()}, numba {version('numba')}, {os.cpu_count()} processors; "
        f"load {os.getloadavg()[0]:.1f} at the start\n"
    )
    click.echo(
        "| work | ours | instead | an operation | instead | times as fast |\n|---|---|---|---|---|---|"
    )


def print_row(work: str, n: int, ours: Side, theirs: Side, seconds: float, agree: Any = same_arrays) -> None:
    """Compare two sides that do `n` operations, and print a row."""
    mine, other = compare(work, ours, theirs, seconds, agree)
    cells = [work, ours.name, theirs.name, in_units(mine / n), in_units(other / n), f"{other / mine:.2f}"]
    click.echo(f"| {' | '.join(cells)} |")


def in_units(seconds: float) -> str:
    return f"{seconds * 1e9:.0f} ns" if seconds < 1e-6 else f"{seconds * 1e6:.1f} µs"


def chosen(names: tuple[str, ...], known: dict[str, Any]) -> list[str]:
    """Return the names that are given, all that are known if none is."""
    if unknown := {*names} - {*known}:
        raise click.UsageError(f"no {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    return [*(names or known)]
