"""``PairSketch``: upper bounds of the counts of adjacent pairs of ids, without a table of the pairs.

::

    ids      7 12 9 -1 7 12            -1: a gap
    cells    0 | 2 | 0 | 0 | 1 | 0 ...     pair (7, 12) counts in the second cell, (12, 9) in the fifth

A hash of the pair selects the cell in which it counts. Pairs that share a cell count together, so a cell is
never too low. There are at least as many cells as ids, up to 256 MB of them. Where pairs are many more than
cells, rare pairs look less rare; this costs time, but does not change the result.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bpe.superwords.piece_ids import GAP
from bpe.support.threads import in_background, map_in_threads, n_threads
from structures.kernels import inner, multiply_fold, quiet

_FEWEST_BITS, _MOST_BITS = 10, 26
_FULL = 2**31 - 1  # where a cell stops
_FACTOR = 0x1E3779B97F4A7C15
_VALUES = 1 << 16  # that :func:`count_values` tells apart
_MOST_THREADS = 2  # each takes memory for all cells


@inner
def cell_of(sketch, left, right):
    """Return the cell of a pair."""
    folded = multiply_fold((np.int64(left) << 32) ^ np.int64(right) ^ _FACTOR, np.int64(_FACTOR))
    return np.int64(np.uint64(folded) >> np.uint64(sketch.shift))


@inner
def bound_of(sketch, left, right):
    """Return an upper bound of the count of a pair."""
    return np.int64(sketch.cells[cell_of(sketch, left, right)])


@quiet
def count_in_cells(ids, sketch):
    """Count all adjacent pairs."""
    cells = sketch.cells
    for i in range(1, ids.size):
        if ids[i - 1] != GAP and ids[i] != GAP:
            cell = cell_of(sketch, ids[i - 1], ids[i])
            cells[cell] += np.int32(cells[cell] != _FULL)


@quiet
def add_cells(cells, sums):
    """Add cells to other cells."""
    for i in range(cells.size):
        sums[i] = np.int32(min(np.int64(sums[i]) + np.int64(cells[i]), np.int64(_FULL)))


@quiet
def count_values(cells, n_of):
    """Add to ``n_of[value]`` how many cells have this value; the last item is for all greater values, too."""
    for i in range(cells.size):
        n_of[min(np.int64(cells[i]), n_of.size - 1)] += 1


class PairSketch(NamedTuple):
    """Upper bounds of the counts of pairs, in cells."""

    cells: np.ndarray  # (2**n,) int32
    shift: int  # 64 - n: what a hash is shifted by

    @classmethod
    def of(cls, ids: np.ndarray, threads: int | None = 1) -> PairSketch:
        """Return the sketch of an array of ids with gaps, counted by at most two threads."""
        n_bits = min(_MOST_BITS, max(_FEWEST_BITS, (2 * len(ids)).bit_length()))
        threads = min(n_threads(threads), _MOST_THREADS)
        edges = np.linspace(0, len(ids), threads + 1).astype(np.int64).tolist()

        def count(edges: tuple[int, int]) -> PairSketch:
            sketch = cls(np.zeros(1 << n_bits, np.int32), 64 - n_bits)
            count_in_cells(ids[max(0, edges[0] - 1) : edges[1]], sketch)
            return sketch

        first, *others = in_background(lambda: [*map_in_threads(count, pairwise(edges), threads)])
        for other in others:
            add_cells(other.cells, first.cells)
        return first

    def count_at_rank(self, n: int) -> int:
        """Return a count that about `n` pairs reach: the greatest that `n` cells reach, but at least 1."""
        n_of = np.zeros(_VALUES, np.int64)
        count_values(self.cells, n_of)
        reached = np.cumsum(n_of[::-1])[::-1]  # how many cells have at least this value, by value
        return max(1, int(np.searchsorted(-reached, -n, side="right")) - 1)
