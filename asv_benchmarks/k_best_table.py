"""Measure ``KBest`` against heaps written by hand, and print a Markdown table.

    python asv_benchmarks/k_best_table.py [--small]

Each of many points gets random candidates with their distances, float32, and keeps the k nearest. The heaps
are two plain arrays, with a binary heap in each row. With ``--small`` everything is tiny: to see that it
runs, not for the figures.

Both sides do the work once and the results are compared; then they take turns, and of each the best round
counts. A figure is for one candidate. The other side is in ``benchmarks/k_best.py``, to be read. It does not
sort the rows at the end, which a caller would want; ours are sorted at all times.
"""

import argparse
import os
import platform
import sys

# Before numba: `benchmarks` tells it where to keep compiled code.
from benchmarks._common import best_time
from benchmarks.k_best import (
    candidates_of,
    empty_heaps,
    heap_push_pairs,
    heap_push_rows,
    heap_push_rows_unchecked,
    pairs_of,
    push_pairs,
    push_rows,
    push_rows_flagged,
    push_rows_unchecked,
    same_neighbours,
)

# isort: split
import numba

from structures import KBest

WORKS = {
    "row after row": (push_rows, heap_push_rows),
    "row after row, ids not looked for": (push_rows_unchecked, heap_push_rows_unchecked),
    "row after row, with flags; heaps without": (push_rows_flagged, heap_push_rows),
    "pairs of points in random order": (push_pairs, heap_push_pairs),
}


def row_of(work, n_points, k, arguments, n, n_rounds):
    """Return a row of the table."""
    ours, theirs = WORKS[work]
    flags = ours is push_rows_flagged
    rows, heaps = KBest(n_points, k, flags=flags), empty_heaps(n_points, k)
    n_in = ours(rows, *arguments)
    theirs(*heaps, *arguments)
    if "not looked" not in work and not same_neighbours(rows, heaps):
        sys.exit(f"{work}, k = {k}: the results differ")
    best = [float("inf")] * 2
    for _ in range(n_rounds):
        rows, heaps = KBest(n_points, k, flags=flags), empty_heaps(n_points, k)
        for side, (push, given) in enumerate(((ours, (rows,)), (theirs, heaps))):
            seconds = best_time(lambda push=push, given=given: push(*given, *arguments))
            best[side] = min(best[side], seconds)
    figures = " | ".join(f"{seconds / n * 1e9:.1f} ns" for seconds in best)
    return f"| {work} | {k} | {n_in / n:.0%} | {figures} | {best[1] / best[0]:.2f} |"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="tiny sizes, to see that it runs")
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--candidates", type=int, default=300, help="of each point, 4 k at least")
    options = parser.parse_args(arguments)
    n_candidates, n_rounds = (10, 1) if options.small else (options.candidates, 5)
    print(
        f"Python {platform.python_version()}, numba {numba.__version__}, {os.cpu_count()} processors; "
        f"load {os.getloadavg()[0]:.1f} at the start\n"
    )
    print("| candidates | k | come in | KBest | heaps by hand | times as fast |\n|---|---|---|---|---|---|")
    for k in (15, 5, 50, 200):
        n_points = 40 if options.small else options.points // (10 if k == 200 else 1)
        distances, ids = candidates_of(n_points, n_candidates, k)
        for work in WORKS:
            given = distances, ids
            if work.startswith("pairs"):
                given = pairs_of(distances, ids)
            n = ids.size * (2 if work.startswith("pairs") else 1)
            print(row_of(work, n_points, k, given, n, n_rounds), flush=True)


if __name__ == "__main__":
    main()
