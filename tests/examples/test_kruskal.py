# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT

import kruskal
import numpy as np
import pytest


def slow_spanning_tree(n, edges):
    """Take the cheapest edge that joins two components, as long as there is one."""
    component, chosen = list(range(n)), []
    for cost, left, right in sorted(edges):
        if component[left] != component[right]:
            chosen.append((cost, left, right))
            old, new = component[left], component[right]
            component = [new if which == old else which for which in component]
    return chosen


@pytest.mark.parametrize(("n", "n_edges"), [(1, 0), (60, 40), (60, 150)])
def test_the_same_tree(n, n_edges):
    rng = np.random.default_rng(n_edges)
    left, right, costs = rng.integers(0, n, n_edges), rng.integers(0, n, n_edges), rng.permutation(n_edges)
    chosen = kruskal.spanning_tree(n, left, right, costs)
    edges = list(zip(costs.tolist(), left.tolist(), right.tolist(), strict=True))
    found = sorted(edge for edge, is_in in zip(edges, chosen, strict=True) if is_in)
    assert found == slow_spanning_tree(n, edges)
