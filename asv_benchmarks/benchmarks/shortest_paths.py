"""Dijkstra's algorithm on random graphs, by the queues that one would use without this library."""

import heapq

import numba
import numpy as np


def random_graph(n_nodes, n_edges):
    """Return a directed graph as CSR arrays: starts of the rows, ends of the edges, weights in [0, 1)."""
    rng = np.random.default_rng(7)
    starts = np.zeros(n_nodes + 1, np.int32)
    starts[1:] = np.cumsum(np.bincount(rng.integers(0, n_nodes, n_edges), minlength=n_nodes))
    return starts, rng.integers(0, n_nodes, n_edges).astype(np.int32), rng.random(n_edges)


# --------------------------------------------------------------------------------- heapq with stale entries
@numba.njit(cache=True, nogil=True)
def distances_heapq(starts, ends, weights, source):
    """Return the distances of all nodes; a node is in the queue once for each time it came nearer."""
    distance = np.full(starts.size - 1, np.inf)
    distance[source] = 0.0
    queue = [(0.0, np.int64(source))]
    while len(queue) > 0:
        travelled, node = heapq.heappop(queue)
        if travelled > distance[node]:
            continue
        for edge in range(starts[node], starts[node + 1]):
            end = ends[edge]
            reached = travelled + weights[edge]
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
        node, travelled = node_at[0], priority_at[0]
        slot_of[node] = -1
        size -= 1
        if size > 0:
            sift_down(priority_at, node_at, slot_of, size, 0, priority_at[size], node_at[size])
        for edge in range(starts[node], starts[node + 1]):
            end = ends[edge]
            reached = travelled + weights[edge]
            if reached < distance[end]:
                distance[end] = reached
                slot = slot_of[end]
                if slot < 0:
                    slot = size
                    size += 1
                sift_up(priority_at, node_at, slot_of, slot, reached, end)
    return distance


# ------------------------------------------------------------------------------------------- no queue
@numba.njit(cache=True, nogil=True)
def relax_all(starts, ends, weights, order, final):
    """Do all that is not the queue's work, when the order of the nodes is known."""
    distance = np.full(starts.size - 1, np.inf)
    distance[order[0]] = 0.0
    for node in order:
        for edge in range(starts[node], starts[node + 1]):
            reached = final[node] + weights[edge]
            if reached < distance[ends[edge]]:
                distance[ends[edge]] = reached
    return distance
