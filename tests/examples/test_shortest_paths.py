# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT

from itertools import pairwise

import numpy as np
import pytest
import shortest_paths

from tests.optional import required

dijkstra = required("scipy.sparse.csgraph").dijkstra

scipy_sparse = required("scipy.sparse")


def random_graph(rng, n_nodes, n_edges, integral):
    starts = np.zeros(n_nodes + 1, np.int64)
    starts[1:] = np.cumsum(np.bincount(rng.integers(0, n_nodes, n_edges), minlength=n_nodes))
    weights = rng.integers(1, 4, n_edges).astype(float) if integral else rng.random(n_edges) + 1e-9
    return starts, rng.integers(0, n_nodes, n_edges), weights


@pytest.mark.parametrize("integral", [False, True], ids=["real", "ties"])
@pytest.mark.parametrize(("n_nodes", "n_edges"), [(1, 0), (1, 3), (9, 5), (40, 300), (3000, 9000)])
def test_distances_are_those_of_scipy(n_nodes, n_edges, integral):
    rng = np.random.default_rng(n_nodes)
    starts, ends, weights = random_graph(rng, n_nodes, n_edges, integral)
    paths = shortest_paths.ShortestPaths(starts, ends, weights)
    matrix = scipy_sparse.csr_array((weights, ends, starts), (n_nodes, n_nodes))
    weight_of = {}
    for node in range(n_nodes):
        for edge in range(starts[node], starts[node + 1]):
            key = node, int(ends[edge])
            weight_of[key] = min(weight_of.get(key, np.inf), weights[edge])
    for source in rng.integers(0, n_nodes, 3).tolist():
        distance, came_from = paths.from_node(source)
        np.testing.assert_array_equal(distance, dijkstra(matrix, indices=source))
        for goal in rng.integers(0, n_nodes, 50).tolist():
            path = shortest_paths.path_to(came_from, goal)
            if np.isinf(distance[goal]):
                assert path == [goal]
            else:
                assert path[0] == source
                length = sum(weight_of[pair] for pair in pairwise(path))
                assert np.isclose(length, distance[goal])


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (([0, 1], [0], [-1.0]), "0 or more"),
        (([0, 1], [0], [np.nan]), "0 or more"),
        (([0, 1], [1], [1.0]), "must lead to nodes"),
        (([0, 1], [-1], [1.0]), "must lead to nodes"),
        (([0, 2], [0], [1.0]), "starts must rise"),
        (([1, 1], [0], [1.0]), "starts must rise"),
        (([0, 2, 1], [0], [1.0]), "starts must rise"),
        (([0, 1], [0], [1.0, 2.0]), "1 ends but 2 weights"),
    ],
)
def test_graphs_that_are_none_are_refused(graph, message):
    with pytest.raises(ValueError, match=message):
        shortest_paths.ShortestPaths(*graph)


def test_the_source_is_a_node():
    with pytest.raises(IndexError, match=r"nodes are 0 \.\.\. 1, not 2"):
        shortest_paths.ShortestPaths([0, 0, 0], [], []).from_node(2)
