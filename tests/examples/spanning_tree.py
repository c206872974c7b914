# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT
"""The minimum spanning tree of a graph: Prim's algorithm with ``IndexedMinHeap``.

What it shows: a heap of floats made inside ``@njit``, where a key is a vertex and its count the lightest edge
that joins it to the tree. The count falls when a lighter edge is found, so that no vertex is in the heap
twice. A graph in parts gives a tree of each part.

Complexity: O(m log n) for n vertices and m edges, with at most n entries in the heap.

Source: R. C. Prim, Shortest connection networks and some generalizations (1957).

Timing: ``python asv_benchmarks/examples_table.py``.
"""

import numpy as np
from numba import njit

from structures import IndexedMinHeap

NOBODY = -1


@njit(cache=True)
def grow(starts, neighbors, weights, parent, to_parent):
    """Fill `parent` and `to_parent`, ``(n,)``; a root has the parent -1."""
    is_in_tree = np.zeros(parent.size, np.bool_)
    fringe = IndexedMinHeap(parent.size, np.float64)
    for root in range(parent.size):
        if is_in_tree[root]:
            continue
        fringe[root] = 0.0
        while len(fringe) > 0:
            vertex, _ = fringe.pop()
            is_in_tree[vertex] = True
            for edge in range(starts[vertex], starts[vertex + 1]):
                other = neighbors[edge]
                if not is_in_tree[other] and weights[edge] < to_parent[other]:
                    to_parent[other] = weights[edge]
                    parent[other] = vertex
                    fringe[other] = weights[edge]  # a vertex seen for the first time, or nearer now


def minimum_spanning_tree(starts, neighbors, weights):
    """Return the parent of every vertex in the tree, and the weight of the edge to it.

    Parameters
    ----------
    starts : (n + 1,) array_like of int
        The edges of vertex ``v`` are ``starts[v] ... starts[v + 1] - 1``, as in a sparse matrix (CSR).
    neighbors : (m,) array_like of int
        The other vertex of each edge. Each edge is there from both of its ends.
    weights : (m,) array_like of float

    Returns
    -------
    parent : (n,) int64
        -1 for the first vertex of each part of the graph.
    to_parent : (n,) float64
        inf where there is no parent.

    Examples
    --------
    A triangle with the weights 1 (vertices 0 and 1), 2 (1 and 2), 3 (0 and 2):

    >>> minimum_spanning_tree([0, 2, 4, 6], [1, 2, 0, 2, 0, 1], [1, 3, 1, 2, 3, 2])
    (array([-1,  0,  1]), array([inf,  1.,  2.]))
    """
    starts, neighbors = np.asarray(starts, np.int64), np.asarray(neighbors, np.int64)
    weights = np.asarray(weights, np.float64)
    parent = np.full(starts.size - 1, NOBODY)
    to_parent = np.full(starts.size - 1, np.inf)
    grow(starts, neighbors, weights, parent, to_parent)
    return parent, to_parent
