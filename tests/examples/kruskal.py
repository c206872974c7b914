# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT
"""The minimum spanning tree of a list of edges: Kruskal's algorithm with ``DisjointSets``.

What it shows: ``union`` returns whether two sets were joined, that is, whether an edge closes no circle. The
sets are made inside ``@njit``.

Complexity: O(m log m) for m edges, which are sorted.

Source: J. B. Kruskal, On the shortest spanning subtree of a graph and the traveling salesman problem (1956).

Timing: ``python asv_benchmarks/examples_table.py``.
"""

import numpy as np
from numba import njit

from structures import DisjointSets


@njit(cache=True)
def choose(n, left, right, cheapest_first):
    """Return which edges are in the tree, ``(m,) bool``; edge i joins ``left[i]`` and ``right[i]``."""
    sets = DisjointSets(n)
    chosen = np.zeros(left.size, np.bool_)
    for edge in cheapest_first:
        chosen[edge] = sets.union(left[edge], right[edge])
        if sets.n_sets == 1:
            break
    return chosen


def spanning_tree(n, left, right, costs):
    """Return which edges of a graph are in its minimum spanning tree.

    Parameters
    ----------
    n : int
        Number of nodes.
    left, right : (m,) array_like of int
        The nodes that each edge joins.
    costs : (m,) array_like of int or float

    Returns
    -------
    (m,) bool
        Of equal costs, the first edges are taken. A graph in parts gives a tree of each part.

    Examples
    --------
    >>> spanning_tree(4, [0, 1, 2, 0], [1, 2, 0, 3], [5, 1, 2, 9])
    array([False,  True,  True,  True])
    """
    return choose(n, np.asarray(left), np.asarray(right), np.argsort(costs, kind="stable"))
