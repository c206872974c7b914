"""The bulk of a text, 64 places at a time, by windows; what they leave open goes to the automaton.

::

    bytes     t  h  e  _  d  o  n  '  t  _  . . .
    groups    1  1  1  2  1  1  1  4  1  2          a bit each; 0 beyond ASCII
    found     .  .  .  |  .  .  .  |  .  .  .       of 64 places: a piece ends there
    unsure    .  .  .  .  .  .  .  .  ?  .  .       the automaton must tell, from where the last piece ends
"""

from __future__ import annotations

import numpy as np

from bpe.scanning.matching import find_match
from bpe.scanning.windows import BEHIND, PLACES
from structures.jit import inner
from structures.simd import (
    BYTE_LANES,
    byte_lanes_in_products,
    byte_lanes_with,
    local_bytes,
    lowest_lane,
    translate_byte_lanes,
)

__all__ = ["cut_bulk"]

CHUNK = 4096  # bytes whose groups are held at a time
_ROOM = CHUNK + 2 * BYTE_LANES


@inner
def look(view, groups, i):
    """Return the places, from `i` on, where pieces end, and those that the windows do not decide."""
    first, n_ends = i - BEHIND, view.n_ends
    found = byte_lanes_in_products(groups, first, view.products, 0, n_ends, PLACES)
    unsure = byte_lanes_in_products(groups, first, view.products, n_ends, view.n_products, PLACES)
    in_groups = byte_lanes_with(groups, first, 0xFF) & byte_lanes_with(groups, first + PLACES - 1, 0xFF)
    if in_groups != -1:
        for k in range(PLACES):
            unsure |= ~byte_lanes_with(groups, first + k, 0xFF)
    return found, unsure


@inner
def cut_bulk(view, text, start, stop, ends, n):
    """Write ends of pieces, as :func:`bpe.scanning.cutting.cut_segment` does; the last bytes remain.

    Parameters
    ----------
    view : View
    text : pointer to uint8
    start, stop : int
        A piece begins at `start`; the segment goes to `stop` at least.
    ends : pointer to int32
    n : int

    Returns
    -------
    int
        How many ends there are now.
    """
    groups = local_bytes(_ROOM)
    entry = view.start_entry_of[0]
    last = start  # where the last piece ends; all places up to there are decided
    chunk = start
    for k in range(BYTE_LANES):  # what is before the segment decides nothing
        groups[k] = 0
    while stop - chunk >= 2 * BYTE_LANES:
        # A vector more than is looked at, and from the second chunk on one before: windows reach so far.
        size = min((stop - chunk) & -BYTE_LANES, CHUNK)
        for i in range(0 if chunk == start else -BYTE_LANES, size, BYTE_LANES):
            translate_byte_lanes(
                text,
                chunk + i,
                view.range_starts,
                view.range_changes,
                view.n_ranges,
                groups,
                BYTE_LANES + i,
            )
        behind = chunk + size - BYTE_LANES
        word = chunk  # the place of lane 0
        while word < behind:
            found, unsure = look(view, groups, word - chunk + BYTE_LANES)
            first = max(last + 1 - word, 0)  # lane that is not decided
            while first < BYTE_LANES:
                undecided = np.int64(-1) << first
                found &= undecided
                unsure &= undecided
                open_lane = lowest_lane(unsure) if unsure != 0 else BYTE_LANES
                surely = found if unsure == 0 else found & ((np.int64(1) << open_lane) - 1)
                while surely != 0:
                    last = word + lowest_lane(surely)
                    ends[n] = last
                    n += 1
                    surely &= surely - 1
                if unsure == 0:
                    break
                while last < word + open_lane:
                    end = find_match(view, text, last, stop, True, entry)
                    if end <= last:
                        return n
                    last = end
                    ends[n] = end
                    n += 1
                first = last + 1 - word
            word = max(word + BYTE_LANES, last - (last - chunk) % BYTE_LANES)
        chunk = word
    return n
