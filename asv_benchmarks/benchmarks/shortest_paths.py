"""Dijkstra's algorithm on random graphs, with ``IndexedMinHeap`` and with what one would use instead."""

import heapq

import numba
import numpy as np

from structures import IndexedMinHeap
from structures.kernels import prefetch

from ._common import SMALL, Comparison

GRAPHS = (50,) if SMALL else (20_000, 500_000)  # nodes, with five edges each
SOURCE = 0


def random_graph(n_nodes, n_edges):
    """Return a directed graph as CSR arrays: starts of the rows, ends of the edges, weights in [0, 1)."""
    rng = np.random.default_rng(7)
    starts = np.zeros(n_nodes + 1, np.int32)
    starts[1:] = np.cumsum(np.bincount(rng.integers(0, n_nodes, n_edges), minlength=n_nodes))
    return starts, rng.integers(0, n_nodes, n_edges).astype(np.int32), rng.random(n_edges)


# ------------------------------------------------------------------------------------------------- ours
@numba.njit(cache=True, nogil=True)
def distances(queue, starts, ends, weights, source):
    """Return the distances of all nodes; the queue is a heap of this library."""
    distance = np.full(starts.size - 1, np.inf)
    distance[source] = 0.0
    queue[source] = 0.0
    while len(queue) > 0:
        node, traveled = queue.pop()
        for edge in range(starts[node], starts[node + 1]):
            end = ends[edge]
            reached = traveled + weights[edge]
            if reached < distance[end]:
                distance[end] = reached
                queue[end] = reached
    return distance


@numba.njit(cache=True, nogil=True)
def distances_ahead(queue, starts, ends, weights, source):
    """Do the same, with the edges of the node prefetched that is likely to be next."""
    distance = np.full(starts.size - 1, np.inf)
    distance[source] = 0.0
    queue[source] = 0.0
    while len(queue) > 0:
        node, traveled = queue.pop()
        next_edge = starts[queue.peek()[0]]
        prefetch(ends, next_edge)
        prefetch(weights, next_edge)
        for edge in range(starts[node], starts[node + 1]):
            end = ends[edge]
            reached = traveled + weights[edge]
            if reached < distance[end]:
                distance[end] = reached
                queue.improve(end, reached)
    return distance


# --------------------------------------------------------------------------------- heapq with stale entries
@numba.njit(cache=True, nogil=True)
def distances_heapq(starts, ends, weights, source):
    """Return the distances of all nodes; a node is in the queue once for each time it came nearer."""
    distance = np.full(starts.size - 1, np.inf)
    distance[source] = 0.0
    queue = [(0.0, np.int64(source))]
    while len(queue) > 0:
        traveled, node = heapq.heappop(queue)
        if traveled > distance[node]:
            continue
        for edge in range(starts[node], starts[node + 1]):
            end = ends[edge]
            reached = traveled + weights[edge]
            if reached < distance[end]:
                distance[end] = reached
                heapq.heappush(queue, (reached, np.int64(end)))
    return distance


# --------------------------------------------------------------------------------------- a heap by hand
# Four children a slot, priorities in the order of the slots, and the slot of every node in an array. Least
# child by three comparisons without branches, or holes that go down to a leaf first, are no faster here.
@numba.njit(cache=True, nogil=True)
def sift_up(priority_at, node_at, slot_of, slot, priority, node):
    while slot > 0:
        above = (slot - 1) >> 2
        if priority_at[above] <= priority:
            break
        priority_at[slot] = priority_at[above]
        node_at[slot] = node_at[above]
        slot_of[node_at[slot]] = slot
        slot = above
    priority_at[slot] = priority
    node_at[slot] = node
    slot_of[node] = slot


@numba.njit(cache=True, nogil=True)
def sift_down(priority_at, node_at, slot_of, size, slot, priority, node):
    while 4 * slot + 1 < size:
        first = 4 * slot + 1
        least = first
        for child in range(first + 1, min(first + 4, size)):
            if priority_at[child] < priority_at[least]:
                least = child
        if priority <= priority_at[least]:
            break
        priority_at[slot] = priority_at[least]
        node_at[slot] = node_at[least]
        slot_of[node_at[slot]] = slot
        slot = least
    priority_at[slot] = priority
    node_at[slot] = node
    slot_of[node] = slot


@numba.njit(cache=True, nogil=True)
def distances_by_hand(starts, ends, weights, source):
    """Return the distances of all nodes; a node that comes nearer moves up in the queue."""
    n = starts.size - 1
    distance = np.full(n, np.inf)
    priority_at = np.empty(n)
    node_at = np.empty(n, np.int32)
    slot_of = np.full(n, -1, np.int32)
    distance[source] = 0.0
    sift_up(priority_at, node_at, slot_of, 0, 0.0, source)
    size = 1
    while size > 0:
        node, traveled = node_at[0], priority_at[0]
        slot_of[node] = -1
        size -= 1
        if size > 0:
            sift_down(priority_at, node_at, slot_of, size, 0, priority_at[size], node_at[size])
        for edge in range(starts[node], starts[node + 1]):
            end = ends[edge]
            reached = traveled + weights[edge]
            if reached < distance[end]:
                distance[end] = reached
                slot = slot_of[end]
                if slot < 0:
                    slot = size
                    size += 1
                sift_up(priority_at, node_at, slot_of, slot, reached, end)
    return distance


# ------------------------------------------------------------------------------------------- for asv
class ShortestPaths(Comparison):
    """``IndexedMinHeap`` in Dijkstra's algorithm against a heap that is written for it by hand."""

    params = GRAPHS
    param_names = ("nodes",)

    def prepare(self, n_nodes):
        self.graph = random_graph(n_nodes, 5 * n_nodes)
        self.queue = IndexedMinHeap(n_nodes, dtype=float)

    def ours(self):
        return (distances(self.queue, *self.graph, SOURCE),)

    def theirs(self):
        return (distances_by_hand(*self.graph, SOURCE),)


class ShortestPathsAhead(ShortestPaths):
    """The same with prefetches, against ``heapq``."""

    def ours(self):
        return (distances_ahead(self.queue, *self.graph, SOURCE),)

    def theirs(self):
        return (distances_heapq(*self.graph, SOURCE),)


class FirstInFirstOut(Comparison):
    """A queue where equal counts leave in the order in which they came, against ``heapq`` with numbers."""

    params = (100,) if SMALL else (10_000, 1_000_000)
    param_names = ("keys",)

    def prepare(self, n):
        self.counts = np.random.default_rng(8).integers(0, 256, n)
        self.queue = IndexedMinHeap(n, ties="fifo")

    def ours(self):
        return push_pop(self.queue, self.counts)

    def theirs(self):
        return push_pop_numbered(self.counts)


@numba.njit(cache=True, nogil=True)
def push_pop(queue, counts):
    """Push keys in pairs and pop one for each pair, then the others; return them in this order."""
    out = np.empty(counts.size, np.int64)
    n = 0
    for key in range(counts.size):
        queue[key] = counts[key]
        if key % 2:
            out[n] = queue.pop()[0]
            n += 1
    while len(queue) > 0:
        out[n] = queue.pop()[0]
        n += 1
    return (out,)


@numba.njit(cache=True, nogil=True)
def push_pop_numbered(counts):
    """Do the same with tuples (count, number of the push, key)."""
    out = np.empty(counts.size, np.int64)
    queue = [(np.int64(0), np.int64(0), np.int64(0)) for _ in range(0)]
    n = 0
    for key in range(counts.size):
        heapq.heappush(queue, (counts[key], np.int64(key), np.int64(key)))
        if key % 2:
            out[n] = heapq.heappop(queue)[2]
            n += 1
    while len(queue) > 0:
        out[n] = heapq.heappop(queue)[2]
        n += 1
    return (out,)
