"""The pieces of a batch that are not known: looked up among whole tokens, then merged, all together.

::

    piece           _th      _somethings       e         _something-that-has-no-end...
    looked up       -        -                 101       -              if the vocabulary takes tokens whole
    merged          turns    rounds            -         later          or by a heap, if merges have no order
    place           0        3                 -1        -1             of the first token

Short pieces take turns (:mod:`bpe.encoding.kernels.merge_short`), longer ones are merged in rounds
(:mod:`bpe.encoding.kernels.merge_rounds`). A piece that is too long to be remembered is merged when it comes first.
"""

import numpy as np

from bpe.encoding.heap_merge import merge_by_heap
from bpe.encoding.kernels.linked_pieces import put_piece
from bpe.encoding.kernels.merge_rounds import merge_in_rounds
from bpe.encoding.kernels.merge_short import MOST_BYTES, merge_in_turns
from bpe.encoding.kernels.pair_ranks import NO_RANK, has_lines, table_of
from bpe.encoding.kernels.piece_table import LAST_ROWS
from bpe.encoding.long_pieces import WINDOW
from structures.kernels import after, inner, local_words, pointer_to

KNOWN_BYTES = 127
"""The longest piece that is remembered."""

BATCH = LAST_ROWS
"""How many pieces are looked up at once."""

MISSING = -1
"""What stands for an id that there is not."""

_NOWHERE = -1


@inner
def look_up_whole(unknown, data, offsets, pieces, n, whole):
    """Write the ids of pieces that are taken whole; :data:`MISSING` for others."""
    for k in range(n):
        whole[k] = MISSING
        if len(unknown.whole) > 0:
            starts, ends = pointer_to(offsets, pieces[k]), pointer_to(offsets, pieces[k] + 1)
            unknown.whole.get_into(data, starts, ends, 1, MISSING, after(whole, k))


@inner
def merge_unknown(unknown, data, offsets, pieces, n, whole, places):
    """Merge unknown pieces, as long as there is room; return how many are merged, and write where.

    Of pieces that are too long to be remembered, only the first is merged; the places of others are -1.
    """
    place, room, has_rounds, n_short = 0, unknown.tokens.size, False, 0
    short, short_places = local_words(BATCH), local_words(BATCH)
    most_bytes = MOST_BYTES if has_lines(table_of(unknown.packed_ranks)) else 0
    for k in range(n):
        start, end = np.int64(offsets[pieces[k]]), np.int64(offsets[pieces[k] + 1])
        places[k] = place
        if whole[k] != MISSING or (k > 0 and end - start > KNOWN_BYTES):
            places[k] = _NOWHERE
            continue
        if place + end - start > room or (unknown.in_order and end - start > WINDOW):
            n = k
            break
        if end - start <= most_bytes:
            short[n_short], short_places[n_short] = pieces[k], place
            n_short += 1
            for i in range(place, place + end - start):  # the rounds pass by
                unknown.ranks[i] = NO_RANK
        else:
            put_piece(unknown, data, start, end, place)
            has_rounds |= unknown.in_order
            if not unknown.in_order:
                merge_by_heap(unknown, place, place + end - start)
        place += end - start
    merge_in_turns(unknown, data, offsets, short, short_places, n_short)
    if has_rounds:
        merge_in_rounds(unknown, place)
    return n
