"""Rounds: many pieces merged at once, one rank after the other.

For merges that are in order, as all learned ones are: each joins tokens that earlier merges make. Then a
merge makes only pairs of higher rank. So a *round* merges all places of one rank, in any order; the next
round those of the next rank that occurs. Only pairs of two equal tokens may overlap: they are merged from
left to right. The places of each rank are in a list::

    place      0  1  2  3  4   5  6  7
    tokens     t  h  e  r  e   t  h  e       as in :mod:`bpe.encoding.kernels.linked_pieces`
    ranks      9  2  -  5  -   9  2  -
    first_of   [2] -> 6, 1   [5] -> 3   [9] -> 5, 0     entries: a place, and the next entry of the rank
    waiting    . . 1 . . 1 . . . 1           a bit for each rank: it may have a place
    somewhere  1                             a bit for each 64 ranks: one of them may have a place

A pair that loses its rank leaves its entry in the list; the round skips it. The merges of a round do not
depend on each other, so the processor can wait for many look-ups of pairs at a time. If pieces were merged
one after the other, it would wait for each of them.

Invariants, before and after every merge
----------------------------------------
1. A place that has a rank has an entry in the list of that rank.
2. ``waiting`` has the bit of every rank whose list is not empty; ``somewhere`` has the bit of every word of
   ``waiting`` that is not zero.
3. There are at most 3 entries for each place: one for each pair of bytes, and two for each merge.
"""

import numpy as np

from bpe.encoding.kernels.linked_pieces import LOW_HALF, merge_at, view_of
from bpe.encoding.kernels.pair_ranks import NO_RANK
from structures.kernels import inner, lowest_lane, quiet

_NOWHERE = -1


@inner
def enlist(view, place, rank):
    """Enter a place into the list of its rank."""
    view.waiting[rank >> 6] |= np.int64(1) << (rank & 63)
    view.somewhere[rank >> 12] |= np.int64(1) << (rank >> 6 & 63)
    entry = view.n_entries[0]
    view.n_entries[0] = entry + 1
    view.entries[entry] = np.int64(view.first_of[rank]) << 32 | place
    view.first_of[rank] = entry


@inner
def merge_and_enlist(self, view, place, new_id):
    """Merge the pair at `place`, and enter the pairs that this makes into their lists."""
    rank, prev_place, prev_rank = merge_at(self, view, place, new_id)
    if rank != NO_RANK:
        enlist(view, place, rank)
    if prev_rank != NO_RANK:
        enlist(view, prev_place, prev_rank)


@inner
def merge_from_left(self, view, rank, entry, new_id):
    """Merge the places of a rank from left to right; `entry` is the first entry of its list."""
    word = last_word = (view.entries[entry] & LOW_HALF) >> 6
    while entry >= 0:
        place = view.entries[entry] & LOW_HALF
        view.marked[place >> 6] |= np.int64(1) << (place & 63)
        word, last_word = min(word, place >> 6), max(last_word, place >> 6)
        entry = view.entries[entry] >> 32
    while word <= last_word:
        while view.marked[word] != 0:
            place = word << 6 | lowest_lane(view.marked[word])
            view.marked[word] &= view.marked[word] - 1
            if view.ranks[place] == rank:
                merge_and_enlist(self, view, place, new_id)
        word += 1


@quiet
def merge_in_rounds(self, n_places):
    """Merge all pieces until no pair has a rank.

    O(n + merges / 4096) for n bytes, and O(n / 64) more for each rank of two equal tokens.
    """
    view = view_of(self)
    for place in range(n_places):
        if view.ranks[place] != NO_RANK:
            enlist(view, place, np.int64(view.ranks[place]))
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
        view.first_of[rank] = _NOWHERE
        while entry >= 0 and view.ranks[view.entries[entry] & LOW_HALF] != rank:
            entry = view.entries[entry] >> 32
        if entry < 0:
            continue
        place, new_id = view.entries[entry] & LOW_HALF, self.id_of_rank[rank]
        if view.tokens[place] == view.tokens[view.next_of[place]]:
            merge_from_left(self, view, rank, entry, new_id)
            continue
        while entry >= 0:
            place = view.entries[entry] & LOW_HALF
            if view.ranks[place] == rank:
                merge_and_enlist(self, view, place, new_id)
            entry = view.entries[entry] >> 32
    view.n_entries[0] = 0
