"""Cuts texts into pieces: the matches, and the gaps between them.

The text has been cut into segments before, and each segment is cut by itself. Segments are documents, the
parts between special tokens, or the pieces of another expression.

Finds how far a text has no match, when only its beginning is known.
"""

import numpy as np

from bpe.splitting.compiled.bulk import BEYOND_ASCII, cut_bulk
from bpe.splitting.compiled.matching import NO_MATCH, UNDECIDED, decode, find, symbol_before
from bpe.splitting.compiled.tables import ALIVE, DELAY_MASK, ROW_SHIFT, view_of
from bpe.splitting.compiled.windows import HOPED
from structures.kernels import (
    BYTE_LANES,
    byte_lanes_in_products,
    byte_lanes_with,
    inner,
    load_word,
    local_bytes,
    lowest_lane,
    pointer_to,
    quiet,
    translate_byte_lanes,
)


@quiet
def end_of_gap(self, data, start, stop, failed):
    """Return the first place where a match begins, or might begin if more text follows."""
    text, automaton = pointer_to(data, 0), view_of(self, failed, start).automaton
    place = start
    while place < stop:
        end = find(automaton, text, place, stop, True, automaton.start_entry_of[0])
        if end == place:  # empty: the gap before it is a piece already
            end = find(automaton, text, place, stop, True, automaton.start_entry_not_empty_of[0])
        width = decode(text, place, stop)[1]
        if end != NO_MATCH or width == 0:
            return place
        place += width
    return stop


_ROOM = BYTE_LANES + 1  # the last lane is read with its neighbour


@inner
def next_hope(automaton, data, place, stop):
    """Return a place, not before `place`, from which on :func:`skip_hopeless` goes on; many are skipped."""
    groups = local_bytes(_ROOM)
    while place + BYTE_LANES < stop and load_word(data, place) & BEYOND_ASCII == 0:
        translate_byte_lanes(data, place, automaton.hope_ranges, groups, 0)
        found = byte_lanes_in_products(groups, 0, automaton.hopes, HOPED)
        found |= byte_lanes_with(data, place, 0x80) | byte_lanes_with(data, place + 1, 0x80)
        n = lowest_lane(found)
        if n < BYTE_LANES - 1:  # the last lane has no neighbour among the groups
            return place + n
        place += BYTE_LANES - 1
    return place


@inner
def skip_hopeless(automaton, data, place, stop):
    """Return the first place, not before `place`, where the first two characters may begin a match.

    It looks at ASCII only, and for patterns that do not look behind.
    """
    if automaton.has_hopes:
        place = next_hope(automaton, data, place, stop)
    entry = automaton.start_entry_of[0]
    if entry & DELAY_MASK != 0:
        return place
    symbol_of, row = automaton.symbol_of, entry >> ROW_SHIFT
    while place < stop and data[place] < 0x80:
        entry = np.int64(automaton.next_entry[row + np.int64(symbol_of[data[place]])])
        if entry & (ALIVE | DELAY_MASK) != 0:
            if entry & DELAY_MASK != 0 or place + 1 >= stop or data[place + 1] >= 0x80:
                break
            symbol = np.int64(symbol_of[data[place + 1]])
            if automaton.next_entry[(entry >> ROW_SHIFT) + symbol] & (ALIVE | DELAY_MASK) != 0:
                break
        place += 1
    return place


@inner
def cut_segment(view, data, start, stop, is_open, text_start, ends, n):
    """Write the ends of the pieces of a segment to `ends`, from index `n` on; return the new `n`."""
    automaton = view.automaton
    gap = -1  # where the characters without a match begin
    place = start
    if view.has_windows:
        n_before = n
        n = cut_bulk(view.windows, data, start, stop, ends, n)
        if n > n_before:
            place = np.int64(ends[n - 1])
    while place < stop:
        before = symbol_before(automaton, data, place, text_start) if automaton.looks_behind else 0
        end = find(automaton, data, place, stop, is_open, automaton.start_entry_of[before])
        if end == place:
            # An empty match is not a piece, but it ends the gap before it.
            if gap >= 0:
                ends[n] = place
                n += 1
                gap = -1
            end = find(automaton, data, place, stop, is_open, automaton.start_entry_not_empty_of[before])
        if end == UNDECIDED:
            break
        if end == NO_MATCH:
            if gap < 0:
                gap = place
            width = decode(data, place, stop)[1]
            if width == 0 and is_open:
                break
            place += max(width, 1)
            if not automaton.looks_behind:
                place = skip_hopeless(automaton, data, place, stop)
        else:
            if gap >= 0:
                ends[n] = place
                n += 1
                gap = -1
            place = end
            ends[n] = place
            n += 1
    if gap >= 0 and not is_open:
        ends[n] = stop
        n += 1
    return n


@inner
def cut_segments(self, data, start, text_start, segment_ends, is_open, offsets, failed):
    """:func:`cut` for compiled callers."""
    text, ends = pointer_to(data, 0), pointer_to(offsets, 0)
    view = view_of(self, failed, start)
    ends[0] = start
    n = 1
    for segment in range(segment_ends.size):
        stop = np.int64(segment_ends[segment])
        continues = is_open and segment == segment_ends.size - 1
        n = cut_segment(view, text, start, stop, continues, text_start, ends, n)
        start = text_start = stop
    return n - 1


@quiet
def cut(self, data, start, text_start, segment_ends, is_open, offsets, failed):
    """Cut segments into pieces; return the number of pieces."""
    return cut_segments(self, data, start, text_start, segment_ends, is_open, offsets, failed)
