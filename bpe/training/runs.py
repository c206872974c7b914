"""Counted pieces as arrays: their order, their *runs*, and the counts of their pairs.

A posting weighs what its piece counts. Pieces of the same count that follow each other are one *run*.
Postings ascend, so runs are met in order. Where pieces are in the order of their counts, there are no more
runs than different counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from structures import IntMap, kernel, pack_pair

BEGIN, COUNT = 0, 1  # weights[..., run]
INT64_MAX = 2**63 - 1


@kernel
def in_order(data, offsets, order):
    """Return pieces in another order, as `data` and `offsets`: piece ``order[0]`` first."""
    data_in_order = np.empty_like(data)
    offsets_in_order = np.zeros_like(offsets)
    end = 0
    for i in range(order.size):
        for k in range(offsets[order[i]], offsets[order[i] + 1]):
            data_in_order[end] = data[k]
            end += 1
        offsets_in_order[i + 1] = end
    return data_in_order, offsets_in_order


@kernel(quiet=True)
def count_pairs(data, offsets, weight_of, byte_ids, counts, queue):
    """Fill an empty queue with the count of every adjacent pair; say whether all stay below ``2**63``."""
    for piece in range(weight_of.size):
        for i in range(offsets[piece], offsets[piece + 1] - 1):
            pair = np.int64(data[i]) << 8 | np.int64(data[i + 1])
            if counts[pair] > INT64_MAX - weight_of[piece]:
                return False
            counts[pair] += weight_of[piece]
    for pair in range(counts.size):
        if counts[pair] > 0:
            queue.set(pack_pair(byte_ids[pair >> 8], byte_ids[pair & 0xFF]), counts[pair])
    return True


@kernel
def count_id_pairs(tokens, offsets, weight_of, pairs):
    """Add the count of every adjacent pair of pieces of ids to a map; return a status."""
    status = 0
    for piece in range(weight_of.size):
        for i in range(offsets[piece], offsets[piece + 1] - 1):
            status = min(status, pairs.add(pack_pair(tokens[i], tokens[i + 1]), weight_of[piece]))
    return status


@kernel
def fill(queue, pairs):
    """Fill an empty queue with the counts of pairs; return a status."""
    status = 0
    for pair, count in pairs.items():
        status = min(status, queue.set(pair, count))
    return status


def fill_queue(tokens: np.ndarray, offsets: np.ndarray, weight_of: np.ndarray, queue: Any) -> None:
    """Fill an empty queue with the count of every adjacent pair of pieces of ids."""
    pairs = IntMap()  # a queue would find its place anew for each occurrence
    if count_id_pairs(tokens, offsets, weight_of, pairs) < 0 or fill(queue, pairs) < 0:
        raise MemoryError("no memory for the pairs of tokens")


def runs_of(offsets: np.ndarray, weight_of: np.ndarray) -> np.ndarray:
    """Return `weights` of pieces: (2, n_runs) int64."""
    first = np.flatnonzero(np.diff(weight_of, prepend=0))  # no piece counts 0
    return np.stack([offsets[first], weight_of[first]])


@kernel(quiet=True)
def run_at(weights, position, run):
    """Return the run that `position` lies in, which is `run` or a later one: O(log of the distance)."""
    step = 1
    while run + step < weights.shape[1] and weights[BEGIN, run + step] <= position:
        run += step
        step *= 2
    while step > 1:
        step //= 2
        if run + step < weights.shape[1] and weights[BEGIN, run + step] <= position:
            run += step
    return run
