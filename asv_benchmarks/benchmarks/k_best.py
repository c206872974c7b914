"""``KBest`` against heaps in plain arrays, as nearest-neighbor libraries write them by hand."""

import numba
import numpy as np

from structures import KBest, kernel

from ._common import SMALL, Comparison

N_POINTS = 50 if SMALL else 20_000
N_CANDIDATES = 20 if SMALL else 300  # of each point


def candidates_of(n_points, n_candidates, k):
    """Return random candidates of random points, ``(n_points, n_candidates)``: real distances, and ids.

    There are at least four times as many as the k best.
    """
    rng = np.random.default_rng(1)
    points = rng.random((n_points, 8), dtype=np.float32)
    shape = n_points, max(n_candidates, 4 * k)
    ids = rng.integers(0, n_points, shape).astype(np.int32)
    distances = np.empty(shape, np.float32)
    for row in range(n_points):
        distances[row] = np.linalg.norm(points[ids[row]] - points[row], axis=1)
    return distances, ids


def pairs_of(distances, ids):
    """Return the candidates as pairs in random order: both points, and the distance."""
    order = np.random.default_rng(2).permutation(ids.size)
    rows = np.repeat(np.arange(ids.shape[0], dtype=np.int32), ids.shape[1])
    return rows[order], ids.ravel()[order], distances.ravel()[order]


# ----------------------------------------------------------------------------------------- our side
@kernel
def push_rows(q, distances, ids):
    n = 0
    for row in range(ids.shape[0]):
        for i in range(ids.shape[1]):
            n += q.push(row, distances[row, i], ids[row, i])
    return n


@kernel
def push_pairs(q, ones, others, distances):
    """Offer each point of a pair to the other one, as NN-descent does."""
    n = 0
    for i in range(ones.size):
        n += q.push(ones[i], distances[i], others[i])
        n += q.push(others[i], distances[i], ones[i])
    return n


# ----------------------------------------------------------------------------------------- by hand
def empty_heaps(n_rows, k):
    """Return distances and ids of rows that are binary heaps, the greatest distance on top."""
    return np.full((n_rows, k), np.inf, np.float32), np.full((n_rows, k), -1, np.int32)


# Inlined, and with arrays of one dimension: otherwise numba counts references, which takes 20 to 80 ns.
@numba.njit(cache=True, nogil=True, forceinline=True)
def sift_in(distances, ids, distance, candidate):
    """Put an entry in the place of the root, and move it down to where it belongs."""
    size = distances.size
    hole = 0
    while True:
        left, right = 2 * hole + 1, 2 * hole + 2
        if left >= size:
            break
        child = right if right < size and distances[right] > distances[left] else left
        if distances[child] <= distance:
            break
        distances[hole] = distances[child]
        ids[hole] = ids[child]
        hole = child
    distances[hole] = distance
    ids[hole] = candidate


@numba.njit(cache=True, nogil=True, forceinline=True)
def heap_push(heap_distances, heap_ids, row, distance, candidate):
    """Push, unless the candidate is no better than the root, or is there."""
    distances, ids = heap_distances[row], heap_ids[row]
    if distance >= distances[0]:
        return 0
    for i in range(ids.size):
        if ids[i] == candidate:
            return 0
    sift_in(distances, ids, distance, candidate)
    return 1


@numba.njit(cache=True, nogil=True)
def heap_push_rows(heap_distances, heap_ids, distances, ids):
    n = 0
    for row in range(ids.shape[0]):
        for i in range(ids.shape[1]):
            n += heap_push(heap_distances, heap_ids, row, distances[row, i], ids[row, i])
    return n


@numba.njit(cache=True, nogil=True)
def heap_push_pairs(heap_distances, heap_ids, ones, others, distances):
    n = 0
    for i in range(ones.size):
        n += heap_push(heap_distances, heap_ids, ones[i], distances[i], others[i])
        n += heap_push(heap_distances, heap_ids, others[i], distances[i], ones[i])
    return n


def same_neighbors(ours, theirs):
    """Say whether rows hold the same; a heap keeps any of those at the greatest distance."""
    our_distances, our_ids = ours.to_arrays()[:2]
    order = np.lexsort((theirs[1].view(np.uint32), theirs[0]), axis=1)
    distances, ids = (np.take_along_axis(array, order, axis=1) for array in theirs)
    is_last = distances == distances[:, -1:]
    return np.array_equal(our_distances, distances) and bool(np.all((our_ids == ids) | is_last))


class KBestPush(Comparison):
    """Candidates of one row after the other."""

    params = (5, 15, 50, 200)
    param_names = ("k",)

    def prepare(self, k):
        self.candidates = candidates_of(N_POINTS if k < 100 else N_POINTS // 5, N_CANDIDATES, k)
        self.shape = self.candidates[0].shape[0], k

    def renew(self):
        self.rows, self.heaps = KBest(*self.shape), empty_heaps(*self.shape)

    def ours(self):
        push_rows(self.rows, *self.candidates)
        return self.rows

    def theirs(self):
        heap_push_rows(*self.heaps, *self.candidates)
        return self.heaps

    def agree(self, our_result, their_result):
        return same_neighbors(our_result, their_result)
