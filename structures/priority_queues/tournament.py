"""The tournament tree that all heaps use: rows of 32 words, and a leaf for each id.

A tournament over int64 *ranks*, least rank first. Every id has a leaf, in the heap or not. The first of a
row of 32 words is written to one word of the level above, with its id. The rank of a priority is an int64 in
the same order (for floats, from the bits); a heap with the greatest first uses the complement. ::

    level 0      0 1 2 ... 31 | 32 ... 63 | ... | ... n - 1 -    the leaf of each id; - past the end
                        |            |
    level 1             0            1  ...  31 | ...            word w has the first of row w below
                                     |
    level 2                          0                           the root: one word

    ranks        level 0 | level 1 | level 2        the greatest int64 for an id that is not in the heap
    winners                level 1 | level 2        the id of each of these ranks
    ages         level 0 | level 1 | level 2        the order of equal ranks; empty where ids order them

An id that enters, or moves toward the top, is written upwards as long as it wins. When an id leaves, or moves
away from the top, the first of the other ids is found in the row of every level where it has won, most often
nowhere. The addresses of the rows follow from the id, so the processor loads all of them at once. A row is
read with a few vector instructions. In an implicit heap with an array of positions, the address of the next
row depends on the comparisons in the last one, and each move of an entry also writes its position.

Of equal priorities, the smallest key is first (``ties="key"``), or the key that came first
(``ties="fifo"``): it has the least *age*, a number that increases with each entry. A key that gets another
priority counts as new, as if it had left and come again; setting the same priority keeps the age. With
``ties="key"`` the key is the age. If ids are keys, this needs no array, until a priority has the rank that
marks absent ids.

In a ``Heap`` of (priority, payload) pairs the payload is the age, so that pairs leave in the order of tuples.

A heap of any keys may have one entry with the rank and the age that mark absent ids: the greatest key with
the last of all priorities. Its id is in the field ``last``.

Invariants
----------
1. Each word above level 0 has the least (rank, age) of its row below, and ``winners`` has the id of that
   entry; without ages, the id is the age. If no id of a row is in the heap, or only ``last``, rank and age
   are those of absent ids, and the winner is arbitrary.
2. Ids that are not in the heap, and the rest of the last row of a level, have the greatest int64 as rank and,
   if there are ages, as age. ``size`` ids are in the heap, all of them below ``n``.
3. All ages of ids in the heap differ, except those of a ``Heap``, whose ages are payloads.
4. Level 0 has whole rows, with room for n ids; each level has a word for each row below; the root is the last
   word.

Source: Knuth, The Art of Computer Programming, 5.4.1, trees of winners.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numba import types

from structures import status
from structures.base.container import OfNumbers
from structures.base.queue import Counted
from structures.base.typing import Number
from structures.primitives.simd import ROW
from structures.priority_queues.tournament_kernels import (
    NOBODY,
    fill,
    has_room,
    is_by_age,
    new_heap,
    tournament,
)
from structures.priority_queues.tournament_layout import ABSENT, padded
from structures.status import DTYPE_HINT, error


def by_age_of(ties: Any) -> int:
    """Return 1 for "fifo", 0 for "key", or raise."""
    if isinstance(ties, types.Type):
        raise TypeError('ties must be written in the call: "key" or "fifo"')
    if not isinstance(ties, str) or ties not in ("key", "fifo"):
        raise ValueError(f'ties must be "key" or "fifo", not {ties!r}')
    return int(ties == "fifo")


def check_tournament(self: Any) -> np.ndarray:
    """Assert the numbered invariants of the module docstring, except 3; return the ages in the heap."""
    ranks, winners, ages, n, last = tournament(self)
    n_leaves = ranks.size - winners.size
    id_of = np.append(np.arange(n_leaves), winners)
    if not ages.size:
        assert not is_by_age(self), "3: ages"
        ages = np.where(ranks == ABSENT, ABSENT, id_of)
    base, width = 0, n_leaves
    while base + width < ranks.size:
        rows = slice(base, base + width)
        order = np.lexsort((ages[rows].reshape(-1, ROW), ranks[rows].reshape(-1, ROW)), axis=1)
        first = base + ROW * np.arange(width // ROW) + order[:, 0]
        above = slice(base + width, base + width + width // ROW)
        assert np.array_equal(ranks[above], ranks[first]), "1: the least ranks"
        assert np.array_equal(ages[above], ages[first]), "1: the least ages"
        is_first = (ranks[rows].reshape(-1, ROW) == ranks[first, None]) & (
            ages[rows].reshape(-1, ROW) == ages[first, None]
        )
        has_won = is_first & (id_of[rows].reshape(-1, ROW) == id_of[above, None])
        is_in = (ages[first] != ABSENT) | (ranks[first] != ABSENT)
        assert np.all(has_won.any(axis=1)[is_in]), "1: winners"
        base, width = base + width, padded(width // ROW)
        assert np.all(ranks[above.stop : base + width] == ABSENT), "2: the rest of a row"
        assert np.all(ages[above.stop : base + width] == ABSENT), "2: the rest of a row"
    assert ranks.size == base + 1, "4: the root is the last word"
    assert n_leaves % ROW == 0 < n_leaves >= n, "4: level 0"
    is_in = (ranks[:n_leaves] != ABSENT) | (ages[:n_leaves] != ABSENT)
    if last != NOBODY:
        assert not is_in[last], "2: the last entry"
        is_in[last] = True
    assert not np.any(is_in[n:]), "2: past the end"
    assert np.count_nonzero(is_in) == len(self), "2: size"
    return ages[:n_leaves][is_in]


class KeyedHeap(OfNumbers, Counted[Number]):
    """Base of all heaps of keys."""

    __slots__ = ()
    _greatest_first: bool
    _float_hint = DTYPE_HINT

    @classmethod
    def _filled(cls, heap_type: Any, n: int, ties: str, keys: np.ndarray, priorities: np.ndarray) -> Self:
        """Return a heap of distinct keys with priorities, with room for `n` ids."""
        cls._same_length(keys, priorities, "priorities")
        zero, complement = heap_type.start
        self = cls._like(new_heap(heap_type, n, zero, complement, by_age_of(ties)))
        cls._done(status.OK if has_room(self, n) else status.NO_MEMORY, f"{n} keys")
        failure, i = fill(self, keys, np.ascontiguousarray(priorities)) if keys.size else (status.OK, 0)
        if failure < 0:
            raise error(failure, int(keys[i]) if i < keys.size else f"{keys.size} keys")
        return self

    def _content(self) -> tuple[np.ndarray, ...]:
        """Return the items in the order of popping, in which ages count."""
        return self.to_arrays()

    def _check(self) -> None:
        """Assert the numbered invariants of the module docstring."""
        ages = check_tournament(self)
        assert np.unique(ages).size == ages.size, "3: ages differ"


class GreatestFirst(KeyedHeap[Number]):
    """Base of heaps with the greatest priority first."""

    __slots__ = ()
    _greatest_first = True

    def nlargest(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the first `k` entries in order, or all if there are fewer; they stay in the heap.

        Parameters
        ----------
        k : int

        Returns
        -------
        keys : (m,) int64
        priorities : (m,) int64 or float64
            Of the dtype of the heap.

        Raises
        ------
        ValueError
            `k` is negative.

        Complexity
        ----------
        O(k log n).

        Examples
        --------
        >>> from structures import MaxHeap
        >>> MaxHeap({7: 2, 8: 5, 9: 1}).nlargest(2)
        (array([8, 7]), array([5, 2]))
        """
        return self._kernels.nlargest(self, self._room(k, "k"))


class LeastFirst(KeyedHeap[Number]):
    """Base of heaps with the least priority first."""

    __slots__ = ()
    _greatest_first = False

    def nsmallest(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the first `k` entries in order, or all if there are fewer; they stay in the heap.

        Parameters
        ----------
        k : int

        Returns
        -------
        keys : (m,) int64
        priorities : (m,) int64 or float64
            Of the dtype of the heap.

        Raises
        ------
        ValueError
            `k` is negative.

        Complexity
        ----------
        O(k log n).

        Examples
        --------
        >>> from structures import MinHeap
        >>> MinHeap({7: 2, 8: 5, 9: 1}).nsmallest(2)
        (array([9, 7]), array([1, 2]))
        """
        return self._kernels.nsmallest(self, self._room(k, "k"))
