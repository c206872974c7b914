"""The bulk of a text, 64 places at a time, by windows; what they leave open goes to the automaton.

::

    bytes     t  h  e  _  d  o  n  '  t  _  . . .
    groups    1  1  1  2  1  1  1  0  1  2          a bit each; 0 is hard
    ends      .  .  .  |  .  .  .  ?  ?  ?  ?       of 64 places: a piece ends, and: the automaton must tell

The automaton starts where the last piece ends, and hands back behind a stretch without hard characters that
is long enough for a window: see :mod:`bpe.scanning.windows` for why that is needed.
"""

from __future__ import annotations

import numpy as np

from bpe.scanning.matching import find_match
from bpe.scanning.windows import AHEAD, BEHIND, PLACES
from structures.jit import quiet
from structures.simd import BYTE_LANES, byte_lanes_with, local_bytes, lowest_lane, translate_byte_lanes

__all__ = ["cut_bulk"]

CHUNK = 4096  # bytes whose groups are held at a time
_FRONT = 64  # room before them
_ROOM = _FRONT + CHUNK + BYTE_LANES


@quiet
def lanes_in(view, groups, i, test, n_products):
    """Return the places, from `i` on, whose windows are in a product, and where its tests end.

    The tests of a product are in a row: how many they are, and for each the place in the window and the
    groups.
    """
    tests = view.tests
    lanes = 0
    for _ in range(n_products):
        stop = test + 1 + 2 * np.int64(tests[test])
        in_product = np.int64(-1)
        test += 1
        while test < stop:
            in_product &= byte_lanes_with(groups, i - BEHIND + tests[test], tests[test + 1])
            test += 2
        lanes |= in_product
    return lanes, test


@quiet
def look(view, groups, i):
    """Return the places, from `i` on, where pieces end, and those that the windows do not decide."""
    ends, test = lanes_in(view, groups, i, 0, view.n_ends)
    unsure, test = lanes_in(view, groups, i, test, view.n_open)
    soft = byte_lanes_with(groups, i - BEHIND, 0xFF) & byte_lanes_with(groups, i + AHEAD - 1, 0xFF)
    if soft != -1:
        for k in range(PLACES):
            unsure |= ~byte_lanes_with(groups, i - BEHIND + k, 0xFF)
    return ends, unsure


@quiet
def is_soft(groups, start, stop):
    """Say whether no character is hard."""
    for i in range(start, stop):  # noqa: SIM110  # compiled code
        if groups[i] == 0:
            return False
    return True


@quiet
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
    last = start  # where the last piece ends
    while stop - last >= 2 * BYTE_LANES:
        first = last
        size = min(stop - first, CHUNK) & -BYTE_LANES
        shift = first - _FRONT
        for i in range(0, size, BYTE_LANES):
            translate_byte_lanes(
                text, first + i, view.range_starts, view.range_changes, view.n_ranges, groups, _FRONT + i
            )
        for k in range(PLACES):  # beyond the chunk all is as good as hard
            groups[_FRONT - 1 - k] = 0
            groups[_FRONT + size + k] = 0
        word = first  # the place of lane 0
        decided = first  # all places up to here are
        while word < first + size:
            found, unsure = look(view, groups, word - shift)
            if decided >= word:
                undecided = np.int64(-2) << (decided - word)
                found &= undecided
                unsure &= undecided
            place = word + lowest_lane(unsure) if unsure != 0 else word + BYTE_LANES
            if unsure != 0:
                found &= (np.int64(1) << (place - word)) - 1
            while found != 0:
                last = word + lowest_lane(found)
                ends[n] = last
                n += 1
                found &= found - 1
            word += BYTE_LANES
            if unsure == 0:
                continue
            clean = last  # no character from here to the last end is hard
            while last < place or last - clean < BEHIND - 1:
                end = find_match(view, text, last, stop, True, entry)
                if end <= last:
                    return n
                ends[n] = end
                n += 1
                if end > first + size:
                    last = end
                    break
                if not is_soft(groups, last - shift, end - shift):
                    clean = end
                last = end
            decided = last
            word = last - (last - first) % BYTE_LANES
    return n
