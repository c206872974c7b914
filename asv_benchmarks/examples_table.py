"""Measure the examples against the libraries that people use for the same, and print a Markdown table.

    python asv_benchmarks/examples_table.py [NAME ...] [--small]

NAME is one or more of the examples in ``tests/examples``, by default all that have another side: scipy,
scikit-image or plain Python. With ``--small`` everything is tiny: to see that it runs, not for the figures.

Every row is one process's: first both sides do the work and the results are compared, then they take turns,
and of each the best round counts. Times are for one element of the input.
"""

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

# Before numba: `benchmarks` tells it where to keep compiled code.
from benchmarks._common import best_time

# isort: split
import numba
import numpy as np
from scipy.cluster import hierarchy
from scipy.ndimage import gaussian_filter
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import cKDTree
from scipy.spatial.distance import pdist, squareform
from skimage.graph import MCP_Geometric
from skimage.segmentation import watershed as skimage_watershed

EXAMPLES = Path(__file__).parents[1] / "tests" / "examples"


class Work(NamedTuple):
    """A work, done by an example and by another library."""

    what: str
    their_name: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    agree: Callable[[Any, Any], bool]
    n: int  # elements of the input


def row_of(work, seconds):
    """Return a row of the table: of three rounds, of up to nine within `seconds`, of one where that is 0."""
    if not work.agree(work.ours(), work.theirs()):
        sys.exit(f"{work.what}: the results differ")
    best = [float("inf")] * 2
    end = time.perf_counter() + seconds
    for n_done in range(9 if seconds else 1):
        if n_done >= 3 and time.perf_counter() > end:
            break
        for side, do in enumerate((work.ours, work.theirs)):
            best[side] = min(best[side], best_time(do))
    figures = " | ".join(f"{seconds / work.n * 1e9:.0f} ns" for seconds in best)
    return f"| {work.what} | {work.their_name} | {figures} | {best[1] / best[0]:.2f} |"


# ---------------------------------------------------------------------------------------- neighbours, trees
def nearest_neighbours(size):
    import nearest_neighbours as example

    n, k = 20 * size, 15
    n_threads = numba.get_num_threads()
    for n_dimensions in (4, 32):
        points = np.random.default_rng(1).random((n, n_dimensions), dtype=np.float32)

        def by_tree(points=points):
            distances, ids = cKDTree(points).query(points, k + 1, workers=n_threads)
            return distances[:, 1:], ids[:, 1:]

        def by_partition(points=points):
            squares = (points * points).sum(axis=1)
            ids = np.empty((n, k), np.int64)
            distances = np.empty((n, k), np.float32)
            for start in range(0, n, 256):
                rows = slice(start, start + 256)
                block = squares - 2 * points[rows] @ points.T + squares[rows, None]
                np.fill_diagonal(block[:, start:], np.inf)
                chosen = np.argpartition(block, k, axis=1)[:, :k]
                near = np.take_along_axis(block, chosen, axis=1)
                order = np.argsort(near, axis=1)
                distances[rows] = np.sqrt(np.maximum(np.take_along_axis(near, order, axis=1), 0))
                ids[rows] = np.take_along_axis(chosen, order, axis=1)
            return distances, ids

        def agree(ours, theirs):
            # Sums of float32 in another order, or of float64: the last place may go to another point.
            return np.allclose(ours[0], theirs[0], atol=2e-3) and np.mean(ours[1] == theirs[1]) > 0.99

        for name, theirs in (("scipy, cKDTree", by_tree), ("numpy, product and argpartition", by_partition)):
            yield Work(
                f"{k} nearest of {n:,} points in {n_dimensions} dimensions, {n_threads} threads",
                name,
                lambda points=points: example.neighbours(points, k),
                theirs,
                agree,
                n,
            )


def spanning_tree(size):
    import spanning_tree as example

    n, n_edges = 100 * size, 500 * size
    rng = np.random.default_rng(2)
    pairs = np.sort(rng.integers(0, n, (n_edges, 2)), axis=1)
    pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
    weights = np.tile(rng.permutation(len(pairs)) + 1.0, 2)
    rows, columns = np.concatenate([pairs, pairs[:, ::-1]]).T
    graph = coo_array((weights, (rows, columns)), (n, n)).tocsr()

    def agree(ours, theirs):
        """Say whether the trees have the same edges; weights are distinct, so they name the edges."""
        return np.array_equal(np.sort(ours[1][ours[0] >= 0]), np.sort(theirs.data))

    yield Work(
        f"minimum spanning tree, {n:,} vertices, {len(pairs):,} edges",
        "scipy, minimum_spanning_tree",
        lambda: example.minimum_spanning_tree(graph.indptr, graph.indices, graph.data),
        lambda: minimum_spanning_tree(graph),
        agree,
        len(pairs),
    )


def agglomerative(size):
    import agglomerative as example

    n = 20 * min(size, 100)
    distances = pdist(np.random.default_rng(3).random((n, 4)))
    square = squareform(distances)

    def agree(ours, theirs):
        return np.array_equal(ours[:, [0, 1, 3]], theirs[:, [0, 1, 3]]) and np.allclose(ours, theirs)

    for method in example.METHODS:
        yield Work(
            f"clusters of {n:,} points, {method} linkage",
            "scipy, linkage",
            lambda method=method: example.linkage(square, method),
            lambda method=method: hierarchy.linkage(distances, method),
            agree,
            n * n,
        )


# ------------------------------------------------------------------------------------------------- rasters
def raster(size, smooth):
    """Return a random raster of ``1000 * size`` cells or so, float64."""
    side = int((1000 * size) ** 0.5) + 4
    return gaussian_filter(np.random.default_rng(4).random((side, side)), smooth)


def least_cost(size):
    import least_cost as example

    costs = raster(size, 2) + 0.01
    start = costs.shape[0] // 2, costs.shape[1] // 2
    yield Work(
        f"least-cost paths from a cell to {costs.size:,} cells",
        "scikit-image, MCP_Geometric",
        lambda: example.least_costs(costs, [start])[0],
        lambda: MCP_Geometric(costs, fully_connected=True).find_costs([start])[0],
        lambda ours, theirs: np.allclose(ours, theirs, rtol=1e-9),
        costs.size,
    )


def priority_flood(size):
    import priority_flood as example
    import test_priority_flood

    for name, smooth in (("rough", 0.5), ("smooth", 8)):
        elevation = raster(size, smooth)
        part = np.ascontiguousarray(elevation[:150, :150])
        yield Work(
            f"depressions of a {name} terrain of {elevation.size:,} cells",
            "scikit-image, reconstruction",
            lambda elevation=elevation: example.filled(elevation),
            lambda elevation=elevation: test_priority_flood.by_erosion(elevation),
            np.array_equal,
            elevation.size,
        )
    yield Work(
        f"depressions of {part.size:,} cells",
        "plain Python, heapq",
        lambda: example.filled(part),
        lambda: test_priority_flood.with_heapq(part),
        np.array_equal,
        part.size,
    )


def watershed(size):
    import watershed as example

    noise = raster(size, 4)
    places = np.random.default_rng(5).permutation(noise.size)[: max(noise.size // 2000, 2)]
    markers = np.zeros(noise.shape, np.int32)
    markers.flat[places] = np.arange(1, places.size + 1)
    grey = np.digitize(noise, np.linspace(noise.min(), noise.max(), 64)).astype(np.int32)
    grey.flat[places] = -np.arange(1, places.size + 1)  # levels of their own: their order is defined
    for name, levels in (("real levels", noise), ("64 levels", grey)):
        yield Work(
            f"watersheds of {places.size:,} markers, {noise.size:,} cells, {name}",
            "scikit-image, watershed",
            lambda levels=levels: example.watershed(levels, markers),
            lambda levels=levels: skimage_watershed(levels, markers, connectivity=1),
            np.array_equal,
            noise.size,
        )


ROWS = {
    each.__name__: each
    for each in (nearest_neighbours, spanning_tree, least_cost, priority_flood, watershed, agglomerative)
}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(ROWS)}")
    parser.add_argument("--small", action="store_true", help="tiny sizes, to see that it runs")
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in ROWS:
            parser.error(f"{name} is none of {', '.join(ROWS)}")
    sys.path.append(str(EXAMPLES))
    size, seconds = (1, 0) if options.small else (1000, 6)
    print(
        f"Python {platform.python_version()}, numba {numba.__version__}, {os.cpu_count()} processors; "
        f"load {os.getloadavg()[0]:.1f} at the start\n"
    )
    print("| work | instead | an element | instead | times as fast |\n|---|---|---|---|---|")
    for name in options.names or ROWS:
        for work in ROWS[name](size):
            print(row_of(work, seconds), flush=True)


if __name__ == "__main__":
    main()
