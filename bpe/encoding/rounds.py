"""``Rounds``: pieces merged by the ranks of a vocabulary, many at once.

The rule is one: among all adjacent pairs of a piece, merge the one of lowest rank, the leftmost of several,
until no pair has a rank. Pieces do not meet, and what a merge makes is only part of pairs of higher rank, in
every vocabulary that was learned. So all places of one rank are merged in a round, in any order but where
they overlap; then those of the next rank that there is::

    place      0  1  2  3  4   5  6  7
    tokens     t  h  e  r  e   t  h  e       one piece, and another
    behind     1  2  3  4  -   6  7  -       the next token of the piece; before: the one before
    ranks      9  2  -  5  -   9  2  -       of the pair that begins here
    first_of   [2] -> 6, 1   [5] -> 3   [9] -> 5, 0     entries: a place, and the next entry of the rank
    waiting    . . 1 . . 1 . . . 1           a bit a rank: whether it may have a place
    somewhere  1                             a bit 64 ranks: whether any of them may

A pair that loses its rank leaves its entry where it is, to be passed over. Merges of a round do not depend on
each other, and so a processor waits for many look-ups of pairs at a time, where one piece after the other
would have it wait for each.

Invariants, before and after every merge
----------------------------------------
1. ``behind`` and ``before`` link the tokens of each piece, from its first place on, and are -1 at its ends.
2. ``ranks[place]`` is the rank of the tokens at `place` and ``behind[place]``, :data:`NO_RANK` if they
   have none.
3. A place that has a rank has an entry in the list of that rank; ``waiting`` has the bit of every rank whose
   list is not empty, and ``somewhere`` that of every word of ``waiting`` with a bit.
4. There are at most 3 entries a place: one for each pair of bytes, and two for each merge.

Where a merge makes a pair of lower rank, as merges that nobody has learned may, the round ends there, and all
rounds go from left to right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.experimental import structref

from structures import IntMap, kernel, pack_pair
from structures.kernels import StructType, fields_of, inner, int_map_type, lowest_lane, pointer_to, quiet

__all__ = [
    "NO_RANK",
    "Ranks",
    "Rounds",
    "are_in_order",
    "arrays_for",
    "merge_pieces",
    "new_rounds",
    "put_piece",
    "rounds_type",
    "set_arrays",
    "state",
]

NO_RANK = 2**31 - 1
_NOWHERE = -1
_MOST_PLACES = (2**31 - 1) // 3  # entries are counted in int32


def are_in_order(pairs: np.ndarray, made: np.ndarray) -> bool:
    """Say whether every merge is of tokens that are made by earlier merges only.

    Parameters
    ----------
    pairs : (merges, 2) int64
    made : (merges,) int64
        The id that each makes.
    """
    n = len(made)
    numbers = np.append(pairs, made)
    if n and numbers.max() > 16 * n:  # far apart: counted from 0
        numbers = np.unique(numbers, return_inverse=True)[1]
        pairs, made = numbers[: 2 * n].reshape(n, 2), numbers[2 * n :]
    made_last = np.full(numbers.max(initial=0) + 1, -1)
    made_last[made] = np.arange(n)  # of several the last one stays
    return bool((made_last[pairs].max(axis=1, initial=-1) < np.arange(n)).all())


class Ranks(NamedTuple):
    """The merges of a vocabulary, as kernels read them; never written to.

    Attributes
    ----------
    rank_of_pair : IntMap
        Packed pair -> rank.
    rank_of_bytes : (65536,) int64
        The rank of two bytes, the first times 256, :data:`NO_RANK` without one.
    id_of_rank : (merges,) int64
        The id that each merge makes.
    id_of_byte : (256,) int64
    in_order : bool
        As :func:`are_in_order` tells.
    """

    rank_of_pair: IntMap
    rank_of_bytes: np.ndarray
    id_of_rank: np.ndarray
    id_of_byte: np.ndarray
    in_order: bool

    @classmethod
    def of(cls, pairs: np.ndarray, made: np.ndarray, byte_ids: Sequence[int]) -> Ranks:
        """Return the ranks of merges.

        Parameters
        ----------
        pairs : (merges, 2) int64
        made : (merges,) int64
            The id that each makes.
        byte_ids : sequence of 256 int
        """
        rank_of_pair = IntMap()
        if rank_pairs(rank_of_pair, pairs[:, 0] << 32 | pairs[:, 1]) < 0:
            raise MemoryError(f"no memory for {len(pairs)} merges")
        id_of_byte = np.array(byte_ids, np.int64)
        bytes_in_order = np.argsort(id_of_byte)
        bytes_of = bytes_in_order[np.searchsorted(id_of_byte, pairs, sorter=bytes_in_order) & 0xFF]
        ranks = np.flatnonzero((id_of_byte[bytes_of] == pairs).all(axis=1))
        rank_of_bytes = np.full(1 << 16, NO_RANK, np.int64)
        rank_of_bytes[bytes_of[ranks, 0] << 8 | bytes_of[ranks, 1]] = ranks
        return cls(rank_of_pair, rank_of_bytes, made, id_of_byte, are_in_order(pairs, made))


@quiet
def rank_pairs(rank_of_pair, pairs):
    """Give packed pairs their ranks; return a status, below 0 where there is no memory."""
    status = 0
    for rank in range(pairs.size):
        status = min(status, rank_of_pair.set(pairs[rank], rank))
    return status


# ------------------------------------------------------------------------------------------------- type
@structref.register
class RoundsType(StructType):
    """numba type of :class:`Rounds`."""


rounds_type = RoundsType(
    fields_of(
        tokens=types.uint32[::1],  # by place
        behind=types.int32[::1],
        before=types.int32[::1],
        ranks=types.int32[::1],
        entries=types.int32[::1],  # of entry i, the place at 2 * i, and the next entry behind it
        n_entries=types.int64[::1],  # one number
        marked=types.int64[::1],  # a bit a place, none but while places are put in order
        first_of=types.int32[::1],  # by rank
        waiting=types.int64[::1],
        somewhere=types.int64[::1],
        rank_of_pair=int_map_type,
        id_of_rank=types.int64[::1],
        id_of_byte=types.int64[::1],
        rank_of_bytes=types.int64[::1],
        in_order=types.boolean,  # of the merges: whether rounds follow each other upwards
    )
)


class Rounds(structref.StructRefProxy):
    """Python's handle of room for pieces that are merged: something to hand to kernels."""

    __slots__ = ()


structref.define_boxing(RoundsType, Rounds)


class View(NamedTuple):
    """Pointers into the arrays, for kernels: there are no references to count."""

    tokens: Any
    behind: Any
    before: Any
    ranks: Any
    entries: Any
    n_entries: Any
    marked: Any
    first_of: Any
    waiting: Any
    somewhere: Any


@inner
def view_of(self):
    """Return a view of arrays that the caller keeps alive."""
    return View(
        pointer_to(self.tokens, 0),
        pointer_to(self.behind, 0),
        pointer_to(self.before, 0),
        pointer_to(self.ranks, 0),
        pointer_to(self.entries, 0),
        pointer_to(self.n_entries, 0),
        pointer_to(self.marked, 0),
        pointer_to(self.first_of, 0),
        pointer_to(self.waiting, 0),
        pointer_to(self.somewhere, 0),
    )


@kernel
def set_arrays(self, tokens, behind, before, ranks, entries, marked):
    """Set the arrays of places, as :func:`arrays_for` returns them; no piece is there."""
    self.tokens = tokens
    self.behind, self.before = behind, before
    self.ranks, self.entries, self.marked = ranks, entries, marked


@kernel
def make_rounds(
    tokens,
    behind,
    before,
    ranks,
    entries,
    marked,
    n_entries,
    first_of,
    waiting,
    somewhere,
    rank_of_pair,
    rank_of_bytes,
    id_of_rank,
    id_of_byte,
    in_order,
):
    """Return rounds of these parts."""
    self = structref.new(rounds_type)
    set_arrays(self, tokens, behind, before, ranks, entries, marked)
    self.n_entries = n_entries
    self.first_of = first_of
    self.waiting = waiting
    self.somewhere = somewhere
    self.rank_of_pair = rank_of_pair
    self.rank_of_bytes = rank_of_bytes
    self.id_of_rank = id_of_rank
    self.id_of_byte = id_of_byte
    self.in_order = in_order
    return self


def arrays_for(n_places: int) -> tuple[np.ndarray, ...]:
    """Return arrays for pieces of `n_places` bytes together."""
    if n_places > _MOST_PLACES:
        raise MemoryError(f"a piece of {n_places} bytes is too long: cut the text, or use another pattern")
    of_places = (np.empty(n_places, np.int32) for _ in range(3))
    entries = np.empty(6 * n_places, np.int32)
    return np.empty(n_places, np.uint32), *of_places, entries, np.zeros((n_places >> 6) + 1, np.int64)


def new_rounds(n_places: int, ranks: Ranks) -> Rounds:
    """Return room for pieces of `n_places` bytes together."""
    n_ranks = len(ranks.id_of_rank)
    return make_rounds(
        *arrays_for(n_places),
        np.zeros(1, np.int64),
        np.full(n_ranks, _NOWHERE, np.int32),
        np.zeros((n_ranks >> 6) + 1, np.int64),
        np.zeros((n_ranks >> 12) + 1, np.int64),
        *ranks,
    )


# ---------------------------------------------------------------------------------------------- kernels
@inner
def wait_for(view, rank):
    """Note that a rank may have a place."""
    view.waiting[rank >> 6] |= np.int64(1) << (rank & 63)
    view.somewhere[rank >> 12] |= np.int64(1) << (rank >> 6 & 63)


@inner
def enlist(view, place, rank):
    """Give the pair at `place` a rank."""
    wait_for(view, rank)
    entry = view.n_entries[0]
    view.n_entries[0] = entry + 1
    view.ranks[place] = rank
    view.entries[2 * entry] = place
    view.entries[2 * entry + 1] = view.first_of[rank]
    view.first_of[rank] = entry


@inner
def put_piece(self, data, start, end, place):
    """Put ``data[start:end]``, one byte at least, at `place` and behind it, where there is room."""
    view, text = view_of(self), pointer_to(data, start)
    n = end - start
    for i in range(n):
        view.tokens[place + i] = self.id_of_byte[text[i]]
        view.behind[place + i] = place + i + 1
        view.before[place + i] = place + i - 1
        view.ranks[place + i] = NO_RANK
    view.before[place] = view.behind[place + n - 1] = _NOWHERE
    for i in range(n - 1):
        rank = self.rank_of_bytes[np.int64(text[i]) << 8 | np.int64(text[i + 1])]
        if rank < NO_RANK:
            enlist(view, place + i, rank)


@inner
def rank_at(self, view, place, behind):
    """Return the rank of the pair of tokens at two places."""
    pair = pack_pair(np.int64(view.tokens[place]), np.int64(view.tokens[behind]))
    return self.rank_of_pair.get(pair, NO_RANK)


@inner
def merge_at(self, view, place, new_id):
    """Merge the pair at `place`; return the lowest rank of the pairs that this makes."""
    gone = np.int64(view.behind[place])
    behind, before = np.int64(view.behind[gone]), np.int64(view.before[place])
    view.tokens[place] = new_id
    view.behind[place] = behind
    view.ranks[gone] = view.ranks[place] = NO_RANK
    lowest = NO_RANK
    if behind >= 0:
        view.before[behind] = place
        lowest = rank_at(self, view, place, behind)
        if lowest != NO_RANK:
            enlist(view, place, lowest)
    if before >= 0:
        rank = rank_at(self, view, before, place)
        view.ranks[before] = rank
        if rank != NO_RANK:
            enlist(view, before, rank)
            lowest = min(lowest, rank)
    return lowest


@inner
def reverse_list(view, rank):
    """Turn the list of a rank round; return whether its places are now in ascending order."""
    entry, behind = np.int64(view.first_of[rank]), np.int64(_NOWHERE)
    is_sorted, lowest = True, NO_RANK
    while entry >= 0:
        further = np.int64(view.entries[2 * entry + 1])
        view.entries[2 * entry + 1] = behind
        is_sorted &= view.entries[2 * entry] < lowest
        lowest = np.int64(view.entries[2 * entry])
        behind, entry = entry, further
    view.first_of[rank] = behind
    return is_sorted


@inner
def merge_from_left(self, view, rank, new_id):
    """Merge the places of a rank from left to right, until a lower rank is made; return the lowest made.

    The list of the rank is left as it is where that happens.
    """
    lowest = NO_RANK
    is_sorted = reverse_list(view, rank)  # the last entry stood first
    entry = np.int64(view.first_of[rank])
    if is_sorted:
        while entry >= 0 and lowest > rank:
            place = np.int64(view.entries[2 * entry])
            if view.ranks[place] == rank:
                lowest = min(lowest, merge_at(self, view, place, new_id))
            entry = np.int64(view.entries[2 * entry + 1])
    else:
        word = last_word = np.int64(view.entries[2 * entry]) >> 6
        while entry >= 0:
            place = np.int64(view.entries[2 * entry])
            view.marked[place >> 6] |= np.int64(1) << (place & 63)
            word, last_word = min(word, place >> 6), max(last_word, place >> 6)
            entry = np.int64(view.entries[2 * entry + 1])
        while word <= last_word:
            while view.marked[word] != 0:
                place = word << 6 | lowest_lane(view.marked[word])
                view.marked[word] &= view.marked[word] - 1
                if view.ranks[place] == rank and lowest > rank:
                    lowest = min(lowest, merge_at(self, view, place, new_id))
            word += 1
    if lowest > rank:
        view.first_of[rank] = _NOWHERE
    return lowest


@quiet
def merge_pieces(self):
    """Merge all pieces, to the end: a piece is what is linked from its first place on.

    O(n + merges / 4096) for n bytes, and O(n / 64) for each rank of two equal tokens; O(n ** 2) at worst
    where merges are not in order.
    """
    view = view_of(self)
    group, n_groups = 0, self.somewhere.size
    while group < n_groups:
        words = view.somewhere[group]
        if words == 0:
            group += 1
            continue
        word = group << 6 | lowest_lane(words)
        ranks = view.waiting[word]
        if ranks == 0:
            view.somewhere[group] = words & (words - 1)
            continue
        view.waiting[word] = ranks & (ranks - 1)
        rank = word << 6 | lowest_lane(ranks)
        entry = np.int64(view.first_of[rank])
        while entry >= 0 and view.ranks[view.entries[2 * entry]] != rank:
            entry = np.int64(view.entries[2 * entry + 1])
        view.first_of[rank] = entry
        if entry < 0:
            continue
        place, new_id = np.int64(view.entries[2 * entry]), self.id_of_rank[rank]
        if self.in_order and view.tokens[place] != view.tokens[view.behind[place]]:
            view.first_of[rank] = _NOWHERE
            while entry >= 0:
                place = np.int64(view.entries[2 * entry])
                if view.ranks[place] == rank:
                    merge_at(self, view, place, new_id)
                entry = np.int64(view.entries[2 * entry + 1])
        else:
            lowest = merge_from_left(self, view, rank, new_id)
            if view.first_of[rank] >= 0:
                wait_for(view, rank)
            group = min(group, lowest >> 12)
    view.n_entries[0] = 0


@kernel
def state(self):
    """Return tokens, behind, before, ranks, first_of, waiting, somewhere and marked."""
    return (
        self.tokens.copy(),
        self.behind.copy(),
        self.before.copy(),
        self.ranks.copy(),
        self.first_of.copy(),
        self.waiting.copy(),
        self.somewhere.copy(),
        self.marked.copy(),
    )
