"""``DisjointSets`` against a forest written by hand, in Kruskal's algorithm on sorted edges."""

import numba
import numpy as np

from structures import DisjointSets, kernel

from ._common import SIZES, Comparison


@kernel
def join_all(sets, left, right):
    chosen = np.zeros(left.size, np.bool_)
    for edge in range(left.size):
        chosen[edge] = sets.union(left[edge], right[edge])
    return chosen, sets.labels()


@numba.njit(cache=True, nogil=True)
def find_by_hand(parent, node):
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@numba.njit(cache=True, nogil=True)
def join_all_by_hand(n, left, right):
    parent, size = np.arange(n), np.ones(n, np.int64)
    chosen = np.zeros(left.size, np.bool_)
    for edge in range(left.size):
        one, other = find_by_hand(parent, left[edge]), find_by_hand(parent, right[edge])
        if one == other:
            continue
        if size[one] < size[other]:
            one, other = other, one
        parent[other] = one
        size[one] += size[other]
        chosen[edge] = True
    label_of, labels, n_sets = np.full(n, -1), np.empty(n, np.int64), 0
    for node in range(n):
        root = find_by_hand(parent, node)
        if label_of[root] < 0:
            label_of[root] = n_sets
            n_sets += 1
        labels[node] = label_of[root]
    return chosen, labels


class Kruskal(Comparison):
    """Five random edges a node, as many as a sparse graph has; then the labels of the components."""

    params = SIZES
    param_names = ("nodes",)

    def prepare(self, n):
        rng = np.random.default_rng(5)
        self.n, self.edges = n, (rng.integers(0, n, 5 * n), rng.integers(0, n, 5 * n))

    def ours(self):
        return join_all(DisjointSets(self.n), *self.edges)

    def theirs(self):
        return join_all_by_hand(self.n, *self.edges)
