"""The invariants of indexed heaps, by the numbers that they have in the docstring of ``indexed_heap``."""

import numpy as np

from structures.primitives.simd import ROW
from structures.priority_queues.indexed_heap_tree import ABSENT


def assert_invariants(
    ranks: np.ndarray, winners: np.ndarray, ages: np.ndarray, n: int, size: int, by_age: bool
) -> None:
    """Assert them for the arrays of a heap of `size` of `n` keys, with or without ages."""
    n_leaves = ranks.size - winners.size
    key_of = np.append(np.arange(n_leaves), winners)
    if not ages.size:
        ages = np.where(ranks == ABSENT, ABSENT, key_of)
    base, width = 0, n_leaves
    while base + width < ranks.size:
        rows = slice(base, base + width)
        order = np.lexsort((ages[rows].reshape(-1, ROW), ranks[rows].reshape(-1, ROW)), axis=1)
        first = base + ROW * np.arange(width // ROW) + order[:, 0]
        above = slice(base + width, base + width + width // ROW)
        assert np.array_equal(ranks[above], ranks[first]), "1: the least ranks"
        assert np.array_equal(ages[above], ages[first]), "1: the least ages"
        is_in = ages[first] != ABSENT
        assert np.array_equal(key_of[above][is_in], key_of[first][is_in]), "1: winners"
        base, width = base + width, -(-width // ROW // ROW) * ROW
        assert np.all(ranks[above.stop : base + width] == ABSENT), "2: the rest of a row"
        assert np.all(ages[above.stop : base + width] == ABSENT), "2: the rest of a row"
    assert ranks.size == base + 1, "4: the root is the last word"
    assert n_leaves == max(-(-n // ROW), 1) * ROW, "4: level 0"
    is_in = ages[:n_leaves] != ABSENT
    assert np.all(ranks[:n_leaves][~is_in] == ABSENT), "2: absent keys"
    assert not np.any(is_in[n:]), "2: past the end"
    assert np.count_nonzero(is_in) == size, "2: size"
    (keys,) = np.nonzero(is_in)
    assert np.unique(ages[keys]).size == size, "3: ages differ"
    assert by_age or np.array_equal(ages[keys], keys), "3: keys are ages"
