# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import spanning_tree

from tests.optional import required

coo_array = required("scipy.sparse").coo_array
minimum_spanning_tree = required("scipy.sparse.csgraph").minimum_spanning_tree


def random_graph(n, n_edges, weights):
    """Return a symmetric CSR matrix with the weights `weights(n_edges)`."""
    rng = np.random.default_rng(n + n_edges)
    pairs = np.sort(rng.integers(0, n, (3 * n_edges, 2)), axis=1)
    pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
    pairs = rng.permutation(pairs)[:n_edges]
    values = weights(rng, len(pairs))
    rows, columns = np.concatenate([pairs, pairs[:, ::-1]]).T
    return coo_array((np.tile(values, 2), (rows, columns)), (n, n)).tocsr()


def edges_of(parent, to_parent):
    return {
        (*sorted((vertex, int(above))), float(weight))
        for vertex, (above, weight) in enumerate(zip(parent, to_parent, strict=True))
        if above >= 0
    }


def edges_of_scipy(graph):
    tree = minimum_spanning_tree(graph).tocoo()
    pairs = zip(*(side.tolist() for side in tree.coords), tree.data.tolist(), strict=True)
    return {(*sorted((one, other)), weight) for one, other, weight in pairs}


@pytest.mark.parametrize(("n", "n_edges"), [(1, 0), (2, 1), (30, 20), (30, 200), (500, 600), (500, 5000)])
def test_the_same_tree(n, n_edges):
    graph = random_graph(n, n_edges, lambda rng, m: rng.permutation(m) + 1.0)  # distinct: there is one tree
    found = spanning_tree.minimum_spanning_tree(graph.indptr, graph.indices, graph.data)
    assert edges_of(*found) == edges_of_scipy(graph)


def test_ties_have_the_same_total():
    graph = random_graph(300, 2000, lambda rng, m: rng.integers(1, 5, m).astype(float))
    parent, to_parent = spanning_tree.minimum_spanning_tree(graph.indptr, graph.indices, graph.data)
    assert to_parent[parent >= 0].sum() == minimum_spanning_tree(graph).sum()
