"""Measure the examples against the libraries that people use for the same, and print a Markdown table.

    python asv_benchmarks/examples_table.py [NAME ...] [--small]

NAME is one or more of the examples in ``tests/examples``, by default all that have another side: scipy,
scikit-image, numpy, ``heapq`` or plain Python. The rules are those of ``containers_table.py``; a time is that
of one element of the input.
"""

# Before numba: `benchmarks` tells it where to keep compiled code.
from benchmarks._common import zipfian
from benchmarks.shortest_paths import random_graph

# isort: split
import heapq
import sys
from collections import Counter

import click
import numba
import numpy as np
from measuring import NOVEL, ROOT, Side, chosen, print_head, print_row, same_arrays, small_option
from scipy.cluster import hierarchy
from scipy.ndimage import gaussian_filter
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import dijkstra, minimum_spanning_tree
from scipy.spatial import cKDTree
from scipy.spatial.distance import pdist, squareform
from skimage.graph import MCP, MCP_Geometric
from skimage.segmentation import watershed as skimage_watershed

from structures import CountBuckets, MinHeap


# ---------------------------------------------------------------------------------------- neighbors, trees
def nearest_neighbors(size):
    import nearest_neighbors as example

    n, k = 20 * size, 15
    n_threads = numba.get_num_threads()
    for n_dimensions in (4, 32):
        points = np.random.default_rng(1).random((n, n_dimensions), dtype=np.float32)

        def by_tree(_, points=points):
            distances, ids = cKDTree(points).query(points, k + 1, workers=n_threads)
            return distances[:, 1:], ids[:, 1:]

        def by_partition(_, points=points):
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
            yield (
                f"{k} nearest of {n:,} points in {n_dimensions} dimensions, {n_threads} threads",
                n,
                lambda _, points=points: example.neighbors(points, k),
                Side(name, theirs),
                agree,
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

    yield (
        f"minimum spanning tree, {n:,} vertices, {len(pairs):,} edges",
        len(pairs),
        lambda _: example.minimum_spanning_tree(graph.indptr, graph.indices, graph.data),
        Side("scipy, minimum_spanning_tree", lambda _: minimum_spanning_tree(graph)),
        agree,
    )


def shortest_paths(size):
    import shortest_paths as example

    starts, ends, weights = random_graph(200 * size, 1000 * size)
    paths = example.ShortestPaths(starts, ends, weights)
    matrix = csr_array((weights, ends, starts), (starts.size - 1, starts.size - 1))
    yield (
        f"shortest paths in a graph of {starts.size - 1:,} nodes and {ends.size:,} edges",
        ends.size,
        lambda _: paths.from_node(0)[0],
        Side("scipy, dijkstra", lambda _: dijkstra(matrix, indices=0)),
        np.array_equal,
    )


def agglomerative(size):
    import agglomerative as example

    n = 20 * min(size, 100)
    distances = pdist(np.random.default_rng(3).random((n, 4)))
    square = squareform(distances)

    def agree(ours, theirs):
        return np.array_equal(ours[:, [0, 1, 3]], theirs[:, [0, 1, 3]]) and np.allclose(ours, theirs)

    for method in example.METHODS:
        yield (
            f"clusters of {n:,} points, {method} linkage",
            n * n,
            lambda _, method=method: example.linkage(square, method),
            Side("scipy, linkage", lambda _, method=method: hierarchy.linkage(distances, method)),
            agree,
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
    yield (
        f"least-cost paths from a cell to {costs.size:,} cells",
        costs.size,
        lambda _: example.least_costs(costs, [start])[0],
        Side(
            "scikit-image, MCP_Geometric",
            lambda _: MCP_Geometric(costs, fully_connected=True).find_costs([start])[0],
        ),
        lambda ours, theirs: np.allclose(ours, theirs, rtol=1e-9),
    )


def priority_flood(size):
    import priority_flood as example
    import test_priority_flood

    for name, smooth in (("rough", 0.5), ("smooth", 8)):
        elevation = raster(size, smooth)
        part = np.ascontiguousarray(elevation[:150, :150])
        yield (
            f"depressions of a {name} terrain of {elevation.size:,} cells",
            elevation.size,
            lambda _, elevation=elevation: example.filled(elevation),
            Side(
                "scikit-image, reconstruction",
                lambda _, elevation=elevation: test_priority_flood.by_erosion(elevation),
            ),
            np.array_equal,
        )
    yield (
        f"depressions of {part.size:,} cells",
        part.size,
        lambda _: example.filled(part),
        Side("plain Python, heapq", lambda _: test_priority_flood.with_heapq(part)),
        np.array_equal,
    )


def watershed(size):
    import watershed as example

    noise = raster(size, 4)
    places = np.random.default_rng(5).permutation(noise.size)[: max(noise.size // 2000, 2)]
    markers = np.zeros(noise.shape, np.int32)
    markers.flat[places] = np.arange(1, places.size + 1)
    gray = np.digitize(noise, np.linspace(noise.min(), noise.max(), 64)).astype(np.int32)
    gray.flat[places] = -np.arange(1, places.size + 1)  # levels of their own: their order is defined
    for name, levels in (("real levels", noise), ("64 levels", gray)):
        yield (
            f"watersheds of {places.size:,} markers, {noise.size:,} cells, {name}",
            noise.size,
            lambda _, levels=levels: example.watershed(levels, markers),
            Side(
                "scikit-image, watershed",
                lambda _, levels=levels: skimage_watershed(levels, markers, connectivity=1),
            ),
            np.array_equal,
        )


def a_star(size):
    import a_star as example

    for name, high in (("1 to 1.02", 1.02), ("1 to 5", 5)):
        side = int((1000 * size) ** 0.5) + 4
        costs = np.random.default_rng(6).uniform(1, high, (side, side))
        start, goal = (side // 2, side // 4), (side // 2, 3 * side // 4)

        def by_scikit_image(_, costs=costs, start=start, goal=goal):
            totals, _ = MCP(costs, fully_connected=False).find_costs([start], [goal])
            return totals[goal] - costs[start]

        yield (
            f"one path on a grid of {costs.size:,} cells that cost {name}",
            costs.size,
            lambda _, costs=costs, start=start, goal=goal: example.shortest_path(costs, start, goal)[0],
            Side("scikit-image, MCP, up to the goal", by_scikit_image),
            np.isclose,
        )


# ------------------------------------------------------------------------------------------ runs and edges
def kruskal(size):
    import kruskal as example

    n, n_edges = 100 * size, 500 * size
    rng = np.random.default_rng(2)
    pairs = np.sort(rng.integers(0, n, (n_edges, 2)), axis=1)
    pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
    weights = rng.permutation(len(pairs)) + 1.0
    left, right = np.ascontiguousarray(pairs.T)
    graph = coo_array((weights, (left, right)), (n, n)).tocsr()
    yield (
        f"minimum spanning tree of a list of {len(pairs):,} edges",
        len(pairs),
        lambda _: np.sort(weights[example.spanning_tree(n, left, right, weights)]),
        Side("scipy, minimum_spanning_tree", lambda _: np.sort(minimum_spanning_tree(graph).data)),
        np.array_equal,
    )


def k_way_merge(size):
    import k_way_merge as example

    for n_runs in (10, 3000):
        runs = np.sort(np.random.default_rng(7).random((n_runs, 300 * size // n_runs + 1)), axis=1)
        lists = runs.tolist()
        others = (
            Side("heapq.merge", lambda _, lists=lists: list(heapq.merge(*lists))),
            Side("numpy, a stable sort of all", lambda _, runs=runs: np.sort(runs, axis=None, kind="stable")),
        )
        for other in others:
            yield (
                f"a merge of {n_runs:,} runs of {runs.shape[1]:,} numbers",
                runs.size,
                lambda _, runs=runs: example.merge(runs)[0],
                other,
                np.array_equal,
            )


def sliding_median(size):
    import sliding_median as example
    import test_sliding_median as test

    series = np.random.default_rng(8).normal(size=200 * size).cumsum().round(1)
    numbers = series.tolist()
    for width in (21, 1001, 20_001):
        width = min(width, series.size // 4 * 2 + 1)
        for name, theirs in (
            ("scipy, median_filter", lambda _, width=width: test.by_scipy(series, width)),
            ("a sorted list in Python", lambda _, width=width: test.by_sorted_list(numbers, width)),
        ):
            yield (
                f"medians of {series.size:,} numbers, windows of {width:,}",
                series.size,
                lambda _, width=width: example.sliding_median(series, width),
                Side(name, theirs),
                np.array_equal,
            )


# -------------------------------------------------------------------------------------- events and ranges
def event_simulation(size):
    import event_simulation as example
    import test_event_simulation as test

    up_times, repair_times = np.random.default_rng(9).exponential(size=(2, 1000))
    n_machines, n_events = 10 * size, 200 * size
    given = up_times, repair_times / (2 * n_machines), n_machines, 1, n_events / n_machines
    for name, run in (
        ("heapq of tuples in numba", test.with_heapq_in_numba),
        ("heapq in Python", test.with_heapq),
    ):
        yield (
            f"simulation of {n_machines:,} machines, {n_events:,} events or so",
            n_events,
            lambda _: example.simulate(*given),
            Side(name, lambda _, run=run: run(*given)),
            lambda ours, theirs: ours[0] == theirs[0] and np.allclose(ours[1], theirs[1]),
        )


def intervals(size):
    import intervals as example
    import test_intervals as test

    n = 200 * size
    rng = np.random.default_rng(10)
    starts = rng.integers(0, 4 * n, n)
    stops, is_added = starts + rng.integers(1, 9, n), rng.random(n) < 0.7
    lists = [array.tolist() for array in (starts, stops, is_added)]

    def ours(_):
        some = example.Intervals()
        some.change(starts, stops, is_added)
        return some.to_arrays()

    yield (
        f"{n:,} ranges added to a set of integers, or removed",
        n,
        ours,
        Side("SortedDict, in Python", lambda _: test.with_sorted_dict(*lists)),
        same_arrays,
    )


# ------------------------------------------------------------------------------------------ keys and counts
def lru_cache(size):
    import lru_cache as example
    import test_lru_cache as test

    requests = zipfian(1000 * size, 100 * size)
    listed = requests.tolist()
    capacity = 10 * size
    yield (
        f"LRU cache of {capacity:,} keys, {requests.size:,} requests",
        requests.size,
        lambda _: example.LRUCache(capacity).look_up(requests),
        Side("OrderedDict, in Python", lambda _: test.with_ordered_dict(listed, capacity)[0]),
        np.array_equal,
    )


def lfu_cache(size):
    import lfu_cache as example
    import test_lfu_cache as test

    requests = zipfian(1000 * size, 100 * size)
    listed = requests.tolist()
    capacity = 10 * size
    for name, theirs in (
        ("MinHeap", lambda _: test.hits_with_heap(requests, capacity, MinHeap())),
        ("dict and heapq, in Python", lambda _: test.hits_with_heapq(listed, capacity)),
    ):
        yield (
            f"LFU cache of {capacity:,} keys, {requests.size:,} requests",
            requests.size,
            lambda _: example.count_hits(requests, capacity, CountBuckets()),
            Side(name, theirs),
            np.array_equal,
        )


def top_k(size):
    import top_k as example

    items, k = zipfian(1000 * size, 100 * size), 100
    listed = items.tolist()

    def by_counter(_):
        first = heapq.nsmallest(k, Counter(listed).items(), lambda entry: (-entry[1], entry[0]))
        return [key for key, _ in first]

    def by_numpy(_):
        keys, counts = np.unique(items, return_counts=True)
        return keys[np.lexsort((keys, -counts))[:k]]

    for name, theirs in (("Counter and heapq", by_counter), ("numpy, unique and lexsort", by_numpy)):
        yield (
            f"the {k} most frequent of {items.size:,} keys",
            items.size,
            lambda _: example.top_k_exact(items, k)[0],
            Side(name, theirs),
            np.array_equal,
        )
    numbers = np.random.default_rng(11).permutation(1000 * size)
    listed_numbers = numbers.tolist()
    for name, theirs in (
        ("heapq.nlargest of a list", lambda _: heapq.nlargest(k, listed_numbers)),
        ("numpy, partition and sort", lambda _: np.sort(np.partition(numbers, -k)[-k:])[::-1]),
    ):
        yield (
            f"the {k} greatest of {numbers.size:,} numbers",
            numbers.size,
            lambda _: example.greatest(numbers, k),
            Side(name, theirs),
            np.array_equal,
        )


def huffman(size):
    import huffman as example
    import test_huffman as test

    weights = np.random.default_rng(12).zipf(1.2, 100 * size) % 10**6 + 1
    listed = weights.tolist()
    yield (
        f"Huffman code of {weights.size:,} symbols, its lengths",
        weights.size,
        lambda _: example.code_lengths(weights),
        Side("heapq, in Python", lambda _: test.lengths_with_heapq(listed)),
        lambda ours, theirs: ours @ weights == np.array(theirs) @ weights,
    )


# ------------------------------------------------------------------------------------------------- Re-Pair
def re_pair(size):
    import re_pair as example
    import re_pair_reference

    text = NOVEL.read_bytes()[: 2000 * size]

    def in_python(_):
        rules, sequence = re_pair_reference.compress(text)
        return np.array(rules).reshape(-1, 2), sequence

    yield (
        f"Re-Pair of {len(text):,} bytes",
        len(text),
        lambda _: example.compress(text),
        Side("in plain Python, occurrence by occurrence", in_python),
        same_arrays,
    )


WORKS = {
    each.__name__: each
    for each in (
        nearest_neighbors,
        spanning_tree,
        least_cost,
        priority_flood,
        watershed,
        a_star,
        agglomerative,
        kruskal,
        shortest_paths,
        k_way_merge,
        sliding_median,
        event_simulation,
        intervals,
        lru_cache,
        lfu_cache,
        top_k,
        huffman,
        re_pair,
    )
}


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@small_option
def main(names, small):
    """Print a row for each comparison."""
    sys.path += [str(ROOT), str(ROOT / "tests" / "examples")]
    print_head()
    for name in chosen(names, WORKS):
        for work, n, ours, theirs, agree in WORKS[name](1 if small else 1000):
            print_row(work, n, Side(f"{name}.py", ours), theirs, 0 if small else 6, agree)


if __name__ == "__main__":
    main()
