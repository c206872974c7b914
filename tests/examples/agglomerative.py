# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT
"""Agglomerative clustering: the nearest pair of clusters from an ``IndexedMinHeap``, until one is left.

What it shows: a heap of pairs that may be out of date. Each cluster has one entry: the pair with the nearest
of the clusters that come after it, and their distance as the count. Distances only grow as clusters merge, so
that an entry out of date is too small, comes to the top too early, and is put right there. A change of one
distance is one change of a count.

Complexity: O(n^2) for most inputs, O(n^3) at worst; O(n^2) memory for the distances.

Source: D. Müllner, Modern hierarchical, agglomerative clustering algorithms (2011), the generic algorithm; G.
N. Lance, W. T. Williams, A general theory of classificatory sorting strategies (1967), for the distances.

Timing: ``python asv_benchmarks/examples_table.py``.
"""

import numpy as np
from numba import njit

from structures import IndexedMinHeap

METHODS = {"average": 0, "complete": 1}


@njit(cache=True)
def nearest_after(distances, is_cluster, cluster):
    """Return the nearest of the clusters after one, -1 if there is none."""
    nearest = -1
    for other in range(cluster + 1, distances.shape[0]):
        if is_cluster[other] and (nearest < 0 or distances[cluster, other] < distances[cluster, nearest]):
            nearest = other
    return nearest


@njit(cache=True)
def merge_all(distances, method, merges):
    """Fill `merges`, ``(n - 1, 4)``; `distances`, ``(n, n)``, are used up."""
    n = distances.shape[0]
    is_cluster = np.ones(n, np.bool_)
    number, size = np.arange(n), np.ones(n)
    nearest = np.full(n, -1)
    pairs = IndexedMinHeap(n, np.float64)
    least = np.full(n, np.inf)  # the counts again, to read without a search for the key
    for cluster in range(n - 1):
        nearest[cluster] = nearest_after(distances, is_cluster, cluster)
        pairs[cluster] = least[cluster] = distances[cluster, nearest[cluster]]
    for step in range(n - 1):
        one, distance = pairs.peek()
        while not is_cluster[nearest[one]] or distances[one, nearest[one]] != distance:  # out of date
            nearest[one] = nearest_after(distances, is_cluster, one)
            pairs[one] = least[one] = distances[one, nearest[one]]
            one, distance = pairs.peek()
        other = nearest[one]  # becomes the merged cluster; the place of `one` is given up
        merges[step, 0] = min(number[one], number[other])
        merges[step, 1] = max(number[one], number[other])
        merges[step, 2] = distance
        merges[step, 3] = size[one] + size[other]
        pairs.remove(one)
        is_cluster[one] = False
        for third in range(n):
            if is_cluster[third] and third != other:
                first, second = distances[one, third], distances[other, third]
                if method == 0:
                    joined = (size[one] * first + size[other] * second) / (size[one] + size[other])
                else:
                    joined = max(first, second)
                distances[third, other] = distances[other, third] = joined
                if third < other:
                    if nearest[third] == one:
                        nearest[third] = other
                    if joined < least[third]:
                        nearest[third] = other
                        pairs[third] = least[third] = joined
        nearest[other] = nearest_after(distances, is_cluster, other)
        if nearest[other] >= 0:
            pairs[other] = least[other] = distances[other, nearest[other]]
        number[other] = n + step
        size[other] += size[one]


def linkage(distances, method="average"):
    """Return the merges in the order of their distances, as ``scipy.cluster.hierarchy.linkage`` does.

    Parameters
    ----------
    distances : (n, n) array_like of float
        Symmetric; not-a-number is refused.
    method : {"average", "complete"}
        The distance of two clusters: the mean of the distances of their points, or the greatest.

    Returns
    -------
    (n - 1, 4) float64
        Of each merge the two clusters, their distance, and how many points they have together. Cluster
        ``n + i`` is that of merge ``i``; smaller numbers are points.

    Examples
    --------
    >>> linkage([[0, 1, 4], [1, 0, 6], [4, 6, 0]])
    array([[0., 1., 1., 2.],
           [2., 3., 5., 3.]])
    """
    distances = np.array(distances, np.float64)
    if distances.ndim != 2 or not np.array_equal(distances, distances.T):
        raise ValueError("distances must be a symmetric matrix of numbers")
    merges = np.zeros((max(len(distances) - 1, 0), 4))
    merge_all(distances, METHODS[method], merges)
    return merges
