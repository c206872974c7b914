"""Many pieces merged in rounds, one rank after the other; long pieces in windows, each by rounds.

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

Windows of long pieces
----------------------
Merging a piece of a mebibyte at once takes five times as long a byte as one of some kilobytes: its lists do
not fit into the cache. So a window is merged by itself, and the next one begins at a token near its end::

    piece      a b c d e f g h i j k l m n o p q ...
    window     ab cde fg hi jk l                      all but the last tokens are right, probably
    next                    jk lm nop q               begins at `jk`; its first token is `jk`, too: certainly

Why that is certain: merges are in order. What happens inside a token, before it is made, depends on its bytes
alone, as no merge crosses its ends. In the first window ``hi`` and ``jk`` stand side by side, and no merge
has joined a part of one with a part of the other. If ``jk`` is a token of the next window, too, the parts at
the join are the same at every rank in both, and in the whole piece. So no merge crosses the join there,
either.

If the next window begins with another token, the window before it is merged again, twice as large. If that
one does not begin with the token that it has to, the end of a window has changed what is far before it; then
the piece is merged as a whole.
"""

import numpy as np

from bpe.encoding.kernels.linked_pieces import LOW_HALF, merge_at, put_piece, view_of
from bpe.encoding.kernels.pair_ranks import NO_RANK
from structures.kernels import inner, lowest_lane, pointer_to, quiet, smaller

WINDOW = 4096
"""Bytes of a window; a shorter piece is merged as a whole."""

BYTES_A_TOKEN_BACK = 512
"""A window of this many bytes goes back by one token; a larger one by more."""

NO_ROOM = -1
_NOWHERE = -1
_ANY = -1


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


# ---------------------------------------------------------------------------------------------- windows
@inner
def write_window(self, ids, n):
    """Write the ids of the piece at the first places; return the last place, and the new `n`."""
    tokens, next_of, id_at = pointer_to(self.tokens, 0), pointer_to(self.next_of, 0), pointer_to(ids, 0)
    place = last = 0
    while place >= 0:
        id_at[n] = tokens[place]
        n += 1
        last, place = place, np.int64(next_of[place])
    return last, n


@inner
def merge_windows(self, data, start, end, ids, n):
    """Merge ``data[start:end]`` in windows, and write its ids from index `n` on.

    O(bytes), if windows settle; as :func:`merge_in_rounds` where they do not.
    """
    view, whole = view_of(self), (start, n, _ANY)
    size, wanted = WINDOW, _ANY  # the first token that the window has to have
    before, size_before = whole, WINDOW  # where the window before this one begins, and its size
    while True:
        stop = smaller(start + size, end)
        if stop - start > self.tokens.size:
            return NO_ROOM
        put_piece(self, data, start, stop, 0)
        merge_in_rounds(self, stop - start)
        if wanted != _ANY and view.tokens[0] != wanted:
            size = 2 * size_before if start != before[0] else end - whole[0]
            start, n, wanted = before if start != before[0] else whole
            continue
        last, n_after = write_window(self, ids, n)
        if stop == end:
            return n_after
        back = size // BYTES_A_TOKEN_BACK
        if n_after - n < back + 2:  # the next window has to begin later than this one
            size *= 2
            continue
        for _ in range(back):
            last = np.int64(view.prev_of[last])
        before, size_before = (start, n, wanted), size
        start, n, wanted = start + last, n_after - back - 1, np.int64(view.tokens[last])
        size = WINDOW
