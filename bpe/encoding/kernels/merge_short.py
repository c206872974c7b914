"""Short pieces, merged in one line of the cache each, many interleaved.

A merge waits for two look-ups of pairs, which wait for the merge before. So all pieces ask for the lines that
their next merges will read, then each makes one merge, and so on::

    place     0  1  2  3  4
    tokens    t  h  e  r  e           of one piece
    ranks     9  2  -  5  -  -  ...   sixteen; the pair that begins here. The least is found at once
    alive     1  1  1  1  1           a bit for each place that has a token

    merge 1   t  he .  r  e           `he` keeps the place of its left token; the bit of the right one goes
    ranks     7  -  -  5  -  -  ...   of the pairs that `he` is in now: two look-ups

Of the pairs with the lowest rank the leftmost is merged, as in :mod:`bpe.encoding.kernels.linked_pieces`; so
the merges may be in any order. No step has a branch that depends on the text.

A piece without a merge left is finished. Its tokens go to its places among the linked pieces, where all
pieces are read from.
"""

import numpy as np

from bpe.encoding.kernels.linked_pieces import view_of
from bpe.encoding.kernels.pair_ranks import NO_RANK, first_line, rank_in
from structures.kernels import (
    SIXTEEN,
    after,
    fill_sixteen,
    highest_lane,
    inner,
    least_of_sixteen,
    local_numbers,
    local_words,
    lowest_lane,
    pointer_to,
    prefetch,
    put_in_sixteen,
    smaller,
)

MOST_BYTES = SIXTEEN
"""The longest piece that is merged so."""

AT_ONCE = 64
"""How many pieces are interleaved."""

_ROOM = AT_ONCE * SIXTEEN
_NOWHERE = -1
_ONE = np.int64(1)
_LAST = SIXTEEN - 1  # a bit set that keeps a place in its row


@inner
def begin(self, text, n_bytes, tokens, ranks):
    """Write the tokens of the bytes of a piece, and the ranks of their pairs."""
    first_of, rank_of = pointer_to(self.id_of_byte, 0), pointer_to(self.rank_of_bytes, 0)
    fill_sixteen(ranks, 0, NO_RANK)
    tokens[0] = first_of[text[0]]
    for i in range(1, n_bytes):
        tokens[i] = first_of[text[i]]
        ranks[i - 1] = rank_of[np.int64(text[i - 1]) << 8 | np.int64(text[i])]


@inner
def around(alive, place):
    """Return bits for the tokens before a pair, for its right token, for those behind it; and two places.

    These are the places of the tokens next to it; any if there are none.
    """
    before, behind = alive & ((_ONE << place) - 1), alive & (np.int64(-2) << place)
    gone, behind = behind & -behind, behind & (behind - 1)
    return before, gone, behind, highest_lane(before) & _LAST, lowest_lane(behind) & _LAST


@inner
def prefetch_ranks(self, table, new_id, place, alive, tokens):
    """Ask for the lines of the table that :func:`merge_once` will read."""
    _, _, _, left, right = around(alive, place)
    prefetch(self.packed_ranks, first_line(table, new_id, tokens[right]))
    prefetch(self.packed_ranks, first_line(table, tokens[left], new_id))


@inner
def merge_once(table, new_id, place, alive, tokens, ranks):
    """Merge the pair at `place`; return the places that have a token then."""
    before, gone, behind, left, right = around(alive, place)
    tokens[place] = new_id
    rank = rank_in(table, new_id, tokens[right]) | (0 - (behind == 0)) & NO_RANK
    left_rank = rank_in(table, tokens[left], new_id)
    put_in_sixteen(ranks, 0, gone, NO_RANK)
    put_in_sixteen(ranks, 0, _ONE << place, rank)
    put_in_sixteen(ranks, 0, (0 + (before != 0)) << left, left_rank)
    return alive ^ gone


@inner
def end(view, tokens, alive, place):
    """Write the tokens of a piece to its places, and link them."""
    first, last = place, place
    while alive != 0:
        lane = lowest_lane(alive)
        view.tokens[first + lane] = tokens[lane]
        view.next_of[last] = first + lane
        last = first + lane
        alive &= alive - 1
    view.next_of[last] = _NOWHERE


@inner
def merge_interleaved(self, data, offsets, pieces, places, n):
    """Merge pieces of at most :data:`MOST_BYTES` bytes until no pair has a rank."""
    all_tokens, all_ranks = local_words(_ROOM), local_numbers(_ROOM)
    alive_of, unfinished, next_merges = local_words(AT_ONCE), local_words(AT_ONCE), local_words(AT_ONCE)
    view, id_of_rank = view_of(self), pointer_to(self.id_of_rank, 0)
    for first in range(0, n, AT_ONCE):
        n_here, n_unfinished = smaller(AT_ONCE, n - first), 0
        for k in range(n_here):
            start, stop = np.int64(offsets[pieces[first + k]]), np.int64(offsets[pieces[first + k] + 1])
            ranks = after(all_ranks, k * SIXTEEN)
            begin(self, pointer_to(data, start), stop - start, after(all_tokens, k * SIXTEEN), ranks)
            alive_of[k] = (_ONE << (stop - start)) - 1
        for k in range(n_here):
            least, lanes = least_of_sixteen(all_ranks, k * SIXTEEN)
            unfinished[n_unfinished], next_merges[n_unfinished] = k, least << SIXTEEN | lanes
            n_unfinished += least != NO_RANK
        while n_unfinished > 0:
            for i in range(n_unfinished):
                k, merge = unfinished[i], next_merges[i]
                new_id, tokens = id_of_rank[merge >> SIXTEEN], after(all_tokens, k * SIXTEEN)
                prefetch_ranks(self, view.table, new_id, lowest_lane(merge), alive_of[k], tokens)
            n_left = 0
            for i in range(n_unfinished):
                k, merge = unfinished[i], next_merges[i]
                new_id, tokens = id_of_rank[merge >> SIXTEEN], after(all_tokens, k * SIXTEEN)
                ranks = after(all_ranks, k * SIXTEEN)
                alive_of[k] = merge_once(view.table, new_id, lowest_lane(merge), alive_of[k], tokens, ranks)
                least, lanes = least_of_sixteen(ranks, 0)
                unfinished[n_left], next_merges[n_left] = k, least << SIXTEEN | lanes
                n_left += least != NO_RANK
            n_unfinished = n_left
        for k in range(n_here):
            end(view, after(all_tokens, k * SIXTEEN), alive_of[k], places[first + k])
