"""``LinkedPieces``: pieces as linked lists of tokens, and the ranks of their pairs.

All merging follows one rule: among the adjacent pairs of a piece, merge the one with the lowest rank; if
several have it, the leftmost. Repeat until no pair has a rank. Three kernels do this, for the same arrays:

* :mod:`bpe.encoding.kernels.merge_short`: many short pieces at once, for merges in any order;
* :mod:`bpe.encoding.kernels.merge_rounds`: many pieces at once, for merges that are in order;
* :mod:`bpe.encoding.kernels.merge_heap`: one piece, for merges in any order, with or without dropout.

::

    place      0  1  2  3  4   5  6  7
    tokens     t  h  e  r  e   t  h  e       two pieces, side by side
    next_of    1  2  3  4  -   6  7  -       the place of the next token of the piece
    prev_of    -  0  1  2  3   -  5  6       the place of the previous token
    ranks      9  2  -  5  -   9  2  -       the rank of the pair that begins here

A merge keeps the place of its left token. The place of the right token is not used any more.

Invariants, before and after every merge
----------------------------------------
1. ``next_of`` and ``prev_of`` link the tokens of each piece, from its first place on. They are -1 at its
   ends.
2. ``ranks[place]`` is the rank of the pair of the tokens at `place` and ``next_of[place]``. It is
   ``NO_RANK`` where that pair has no rank, at the last token of a piece, and at places no longer used.
3. A pair that has lost its place never comes back to it: the tokens that begin at a place only grow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numba import types

from bpe.encoding.kernels.pair_ranks import LINE, NO_RANK, has_lines, pack_ranks, rank_in, table_of
from structures import ByteCounter, IntMap, kernel, pack_pair
from structures.kernels import (
    Record,
    byte_counter_type,
    inner,
    int_map_type,
    new,
    pointer_to,
    quiet,
)

LOW_HALF = 2**32 - 1  # of an entry
_NOWHERE = -1
_MOST_PLACES = (2**31 - 1) // 3  # entries are counted in int32


def are_in_order(pairs: np.ndarray, made: np.ndarray) -> bool:
    """Return whether each merge joins tokens that no later merge makes, nor the merge itself."""
    n, n_numbers = len(made), max(pairs.max(initial=0), made.max(initial=0)) + 1
    if n_numbers > 16 * n:  # far apart: number them from 0
        numbers = np.unique(np.append(pairs, made), return_inverse=True)[1]
        pairs, made = numbers[: 2 * n].reshape(n, 2), numbers[2 * n :]
        n_numbers = 3 * n
    made_last = np.full(n_numbers, -1, np.int32)
    made_last[made] = np.arange(n)  # if several merges make an id, the last one stays
    return bool((np.maximum(*made_last[pairs.T]) < np.arange(n)).all())


class Ranks(NamedTuple):
    """The merges of a vocabulary, as kernels read them."""

    tables: RankTables
    n_ranks: int
    in_order: bool

    @classmethod
    def of(
        cls,
        pairs: np.ndarray,
        made: np.ndarray,
        byte_ids: Sequence[int],
        atomic: Mapping[bytes, int] = MappingProxyType({}),
    ) -> Ranks:
        """Return the ranks of merges."""
        packed, rank_of_pair, rank_of_bytes = pack_ranks(pairs), IntMap(), np.empty(1 << 16, np.int64)
        id_of_byte = np.array(byte_ids, np.int64)
        keys = pairs[:0, 0] if packed.size > LINE else pairs[:, 0] << 32 | pairs[:, 1]
        if rank_pairs(packed, rank_of_pair, rank_of_bytes, keys, id_of_byte) < 0:
            raise MemoryError(f"no memory for {len(pairs)} merges")
        tables = RankTables(packed, rank_of_pair, rank_of_bytes, made, id_of_byte, ByteCounter(atomic))
        return cls(tables, len(made), are_in_order(pairs, made[: len(pairs)]))


@quiet
def rank_pairs(packed_ranks, rank_of_pair, rank_of_bytes, keys, id_of_byte):
    """Give pairs their ranks, then all pairs of bytes; return a status, below 0 if memory ran out."""
    table, status = table_of(packed_ranks), rank_of_pair.reserve(keys.size)
    for rank in range(keys.size):
        status = min(status, rank_of_pair.set(keys[rank], rank))
    for one in range(256):
        for other in range(256):
            left, right = id_of_byte[one], id_of_byte[other]
            rank_of_bytes[one << 8 | other] = rank_of(table, rank_of_pair, left, right)
    return status


@inner
def rank_of(table, rank_of_pair, left, right):
    """Return the rank of a pair; ``NO_RANK`` if it has none."""
    if has_lines(table):
        return rank_in(table, left, right)
    return rank_of_pair.get(pack_pair(left, right), NO_RANK)


# ------------------------------------------------------------------------------------------------- type
_RANKS = {
    "packed_ranks": types.int64[::1],  # as in `packed_ranks`
    "rank_of_pair": int_map_type,  # pair -> rank, where pairs do not fit there, or come later
    "rank_of_bytes": types.int64[::1],  # at the first byte times 256 plus the second; `NO_RANK` for none
    "id_of_rank": types.int64[::1],  # the id that each merge makes
    "id_of_byte": types.int64[::1],
    "atomic": byte_counter_type,  # token that is looked up before merging (`ignore_merges`) -> its id
}


class RankTables(Record, **_RANKS):
    """The tables that kernels read. Threads share it.

    At the tables themselves, calls would take turns, and after a fork in the middle of one the child could
    not use them.
    """


class LinkedPieces(
    Record,
    tokens=types.uint32[::1],  # by place
    next_of=types.int32[::1],
    prev_of=types.int32[::1],
    ranks=types.int32[::1],
    entries=types.int64[::1],  # three a place: the lists of the rounds, or the heap
    # For the rounds:
    marked=types.int64[::1],  # a bit for each place, zero except while places are sorted
    n_entries=types.int64[::1],  # one number
    first_of=types.int32[::1],  # by rank
    waiting=types.int64[::1],
    somewhere=types.int64[::1],
    # For the heap:
    dropout=types.float64,  # the probability that a pair is skipped
    random=types.uint64[::1],  # one number, the state of the random generator
    in_order=types.boolean,
    **_RANKS,
):
    """Pieces that are merged."""


_TYPE = LinkedPieces.type()


class View(NamedTuple):
    """Pointers to the arrays, and the table of ranks, for kernels: they have no references to count."""

    tokens: Any
    next_of: Any
    prev_of: Any
    ranks: Any
    entries: Any
    marked: Any
    n_entries: Any
    first_of: Any
    waiting: Any
    somewhere: Any
    table: Any


@inner
def view_of(self):
    """Return a view of arrays that the caller keeps alive."""
    return View(
        pointer_to(self.tokens, 0),
        pointer_to(self.next_of, 0),
        pointer_to(self.prev_of, 0),
        pointer_to(self.ranks, 0),
        pointer_to(self.entries, 0),
        pointer_to(self.marked, 0),
        pointer_to(self.n_entries, 0),
        pointer_to(self.first_of, 0),
        pointer_to(self.waiting, 0),
        pointer_to(self.somewhere, 0),
        table_of(self.packed_ranks),
    )


@kernel
def set_arrays(self, arrays):
    """Set the arrays by place, as :func:`arrays_for` returns them."""
    self.tokens, self.next_of, self.prev_of, self.ranks, self.entries, self.marked = arrays


@kernel
def make_pieces(arrays, lists, chance, tables, in_order):
    """Return room for pieces, made of these parts."""
    self = new(_TYPE)
    set_arrays(self, arrays)
    self.n_entries, self.first_of, self.waiting, self.somewhere = lists
    self.dropout, self.random = chance
    self.packed_ranks = tables.packed_ranks
    self.rank_of_pair = tables.rank_of_pair
    self.rank_of_bytes = tables.rank_of_bytes
    self.id_of_rank = tables.id_of_rank
    self.id_of_byte = tables.id_of_byte
    self.atomic = tables.atomic
    self.in_order = in_order
    return self


def arrays_for(n_places: int) -> tuple[np.ndarray, ...]:
    """Return the arrays by place, for pieces of `n_places` bytes together."""
    if n_places > _MOST_PLACES:
        raise MemoryError(f"a piece of {n_places} bytes is too long: cut the text, or use another pattern")
    links_and_ranks = (np.empty(n_places, np.int32) for _ in range(3))
    marked = np.zeros((n_places >> 6) + 1, np.int64)
    return np.empty(n_places, np.uint32), *links_and_ranks, np.empty(3 * n_places, np.int64), marked


def new_pieces(
    n_places: int, ranks: Ranks, dropout: float = 0.0, random: np.ndarray | None = None
) -> LinkedPieces:
    """Return room for pieces of `n_places` bytes together."""
    n_ranks = ranks.n_ranks if ranks.in_order else 0  # otherwise there are no rounds
    first_of = np.full(n_ranks, _NOWHERE, np.int32)
    waiting, somewhere = (np.zeros((n_ranks >> bits) + 1, np.int64) for bits in (6, 12))
    lists = (np.zeros(1, np.int64), first_of, waiting, somewhere)
    chance = (float(dropout), np.zeros(1, np.uint64) if random is None else random)
    return make_pieces(arrays_for(n_places), lists, chance, ranks.tables, ranks.in_order)


# ---------------------------------------------------------------------------------------------- kernels
@inner
def put_piece(self, data, start, end, place):
    """Put ``data[start:end]``, one byte at least, at `place` and after it. There must be room."""
    view, text = view_of(self), pointer_to(data, start)
    n = end - start
    for i in range(n):
        view.tokens[place + i] = self.id_of_byte[text[i]]
        view.next_of[place + i] = place + i + 1
        view.prev_of[place + i] = place + i - 1
    view.prev_of[place] = view.next_of[place + n - 1] = _NOWHERE
    for i in range(n - 1):
        view.ranks[place + i] = self.rank_of_bytes[np.int64(text[i]) << 8 | np.int64(text[i + 1])]
    view.ranks[place + n - 1] = NO_RANK


@inner
def rank_at(self, view, place, next_place):
    """Return the rank of the pair of tokens at two places."""
    left, right = np.int64(view.tokens[place]), np.int64(view.tokens[next_place])
    return rank_of(view.table, self.rank_of_pair, left, right)


@inner
def merge_at(self, view, place, new_id):
    """Merge the pair at `place`.

    Return the new rank at `place`, the previous place, and the new rank there (``NO_RANK`` if there is none).
    """
    gone = np.int64(view.next_of[place])
    next_place, prev_place = np.int64(view.next_of[gone]), np.int64(view.prev_of[place])
    view.tokens[place] = new_id
    view.next_of[place] = next_place
    view.ranks[gone] = NO_RANK
    rank = prev_rank = NO_RANK
    if next_place >= 0:
        view.prev_of[next_place] = place
        rank = rank_at(self, view, place, next_place)
    view.ranks[place] = rank
    if prev_place >= 0:
        prev_rank = rank_at(self, view, prev_place, place)
        view.ranks[prev_place] = prev_rank
    return rank, prev_place, prev_rank


@kernel
def state(self):
    """Return copies of the arrays, by name, for tests."""
    return (
        self.tokens.copy(),
        self.next_of.copy(),
        self.prev_of.copy(),
        self.ranks.copy(),
        self.marked.copy(),
        self.first_of.copy(),
        self.waiting.copy(),
        self.somewhere.copy(),
    )
