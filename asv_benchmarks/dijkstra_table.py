"""Measure Dijkstra's algorithm with queues of several kinds, and print a Markdown table.

    python asv_benchmarks/dijkstra_table.py [--small]

The graphs are random and directed, in CSR arrays, the weights are float64. With ``--small`` they are tiny: to
see that it runs, not for the figures.

First all ways compute the distances, which must be equal. Then they take turns, in one process, and of each
the best of some rounds counts. The ways are in ``benchmarks/shortest_paths.py``, to be read.
"""

import argparse
import os
import platform
import sys

# Before numba: `benchmarks` tells it where to keep compiled code.
from benchmarks._common import best_time
from benchmarks.shortest_paths import (
    SOURCE,
    distances,
    distances_ahead,
    distances_by_hand,
    distances_heapq,
    random_graph,
    relax_all,
)

# isort: split
import numba
import numpy as np
import scipy
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from structures import IndexedMinHeap, MinHeap


def ways_of(graph):
    """Return functions that compute the distances, by their names; ours first."""
    matrix = csr_array((graph[2], graph[1], graph[0]), (graph[0].size - 1,) * 2)
    final = distances_heapq(*graph, SOURCE)
    order = np.argsort(final, kind="stable")[: np.isfinite(final).sum()]
    n_nodes = graph[0].size - 1
    dense, oldest_first = (IndexedMinHeap(n_nodes, float, ties) for ties in ("key", "fifo"))
    hashed = MinHeap(dtype=float)
    return {
        "IndexedMinHeap": lambda: distances(dense, *graph, SOURCE),
        "IndexedMinHeap, next edges prefetched": lambda: distances_ahead(dense, *graph, SOURCE),
        'IndexedMinHeap, ties="fifo"': lambda: distances(oldest_first, *graph, SOURCE),
        "MinHeap": lambda: distances(hashed, *graph, SOURCE),
        "4-ary heap by hand, in numba": lambda: distances_by_hand(*graph, SOURCE),
        "heapq with stale entries, in numba": lambda: distances_heapq(*graph, SOURCE),
        f"scipy {scipy.__version__}": lambda: dijkstra(matrix, indices=SOURCE),
        "no queue: the order is known": lambda: relax_all(*graph, order, final),
    }


def best_times(ways, n_rounds):
    """Return the best time of each way, after a look at the results."""
    results = {name: way() for name, way in ways.items()}
    first = next(iter(results))
    for name, result in results.items():
        if not np.array_equal(result, results[first]):
            sys.exit(f"{name}: the distances are not those of {first}")
    best = dict.fromkeys(ways, np.inf)
    for _ in range(n_rounds):
        for name, way in ways.items():
            best[name] = min(best[name], best_time(way))
    return best


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="tiny sizes, to see that it runs")
    options = parser.parse_args(arguments)
    sizes = [(50, 200)] if options.small else [(1_000_000, 5_000_000), (200_000, 1_000_000)]
    print(
        f"Python {platform.python_version()}, numba {numba.__version__}, {os.cpu_count()} processors; "
        f"load {os.getloadavg()[0]:.1f} at the start\n"
    )
    print("| graph | queue | seconds | times the first |\n|---|---|---|---|")
    for n_nodes, n_edges in sizes:
        best = best_times(ways_of(random_graph(n_nodes, n_edges)), 1 if options.small else 7)
        first = next(iter(best.values()))
        for name, seconds in best.items():
            graph = f"{n_nodes:,} nodes, {n_edges:,} edges"
            print(f"| {graph} | {name} | {seconds:.3f} | {seconds / first:.2f} |", flush=True)


if __name__ == "__main__":
    main()
