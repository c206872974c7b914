"""Cuts texts into pieces: the matches, and the text between them.

The text has been cut into segments before, and each segment is cut by itself. Segments are documents, the
parts between special tokens, or the pieces of another expression.
"""

import numpy as np

from bpe.splitting.compiled.bulk import BEYOND_ASCII, cut_bulk
from bpe.splitting.compiled.matching import NO_MATCH, UNDECIDED, decode, find_in_linear_time, symbol_before
from bpe.splitting.compiled.tables import ALIVE, DELAY_MASK, ROW_SHIFT, view_of
from bpe.splitting.compiled.windows import PREFIX
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

_ROOM = BYTE_LANES + 1  # the last lane is read with its neighbor


@inner
def next_candidate(automaton, data, place, stop):
    """Return a place, from `place` on, before which the prefilter has no candidate."""
    groups = local_bytes(_ROOM)
    while place + BYTE_LANES < stop and load_word(data, place) & BEYOND_ASCII == 0:
        translate_byte_lanes(data, place, automaton.prefilter_ranges, groups, 0)
        found = byte_lanes_in_products(groups, 0, automaton.prefilter, PREFIX)
        found |= byte_lanes_with(data, place, 0x80) | byte_lanes_with(data, place + 1, 0x80)
        n = lowest_lane(found)
        if n < BYTE_LANES - 1:  # the last lane has no neighbor among the groups
            return place + n
        place += BYTE_LANES - 1
    return place


@inner
def skip_to_candidate(automaton, data, place, stop):
    """Return the first place, from `place` on, whose two characters may begin a match.

    Only ASCII is skipped; the pattern does not look behind.
    """
    if automaton.has_prefilter:
        place = next_candidate(automaton, data, place, stop)
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
def cut_segment(automaton, data, start, place, stop, is_open, text_start, ends, n):
    """Write the ends of the pieces of a segment to `ends`, from index `n` on; return the new `n`.

    A piece begins at `start`; no match begins from there to `place`. The segment begins at `text_start`,
    which may be before it, for patterns that look behind. If it `is_open`, it continues after `stop`, and
    only pieces are cut that this cannot change.
    """
    unmatched = start if place > start else -1  # where the characters without a match begin
    while place < stop:
        before = symbol_before(automaton, data, place, text_start) if automaton.looks_behind else 0
        end = find_in_linear_time(automaton, data, place, stop, is_open, automaton.start_entry_of[before])
        if end == place:
            # An empty match is not a piece, but it ends the one before it.
            if unmatched >= 0:
                ends[n] = place
                n += 1
                unmatched = -1
            end = find_in_linear_time(
                automaton, data, place, stop, is_open, automaton.start_entry_not_empty_of[before]
            )
        if end == UNDECIDED:
            break
        if end == NO_MATCH:
            if unmatched < 0:
                unmatched = place
            width = decode(data, place, stop)[1]
            if width == 0 and is_open:
                break
            place += max(width, 1)
            if not automaton.looks_behind:
                place = skip_to_candidate(automaton, data, place, stop)
        else:
            if unmatched >= 0:
                ends[n] = place
                n += 1
                unmatched = -1
            place = end
            ends[n] = place
            n += 1
    if unmatched >= 0 and not is_open:
        ends[n] = stop
        n += 1
    return n


@inner
def cut_segments(self, data, start, text_start, segment_ends, is_open, offsets, failed):
    """Do as :func:`cut`, for compiled callers."""
    text, ends = pointer_to(data, 0), pointer_to(offsets, 0)
    view = view_of(self, failed, start)
    ends[0] = start
    n = 1
    place, segment = start, 0
    if view.has_windows and segment_ends.size > 0:
        segments = segment_ends, is_open
        n, start, place, segment = cut_bulk(view.windows, text, start, segments, data.size, ends, n)
    while segment < segment_ends.size:
        stop = np.int64(segment_ends[segment])
        goes_on = is_open and segment == segment_ends.size - 1
        n = cut_segment(view.automaton, text, start, place, stop, goes_on, text_start, ends, n)
        start = place = text_start = stop
        segment += 1
    return n - 1


@quiet
def cut(self, data, start, text_start, segment_ends, is_open, offsets, failed):
    """Cut segments into pieces; return their number. Piece i is ``data[offsets[i]:offsets[i + 1]]``.

    The first segment continues at `start` and began at `text_start`; each further one begins where the one
    before ends. The last one may be open, as for :func:`cut_segment`. `failed` are zeros
    (:func:`bpe.splitting.compiled.matching.n_failed_bytes`).
    """
    return cut_segments(self, data, start, text_start, segment_ends, is_open, offsets, failed)


@quiet
def end_of_unmatched(self, data, start, stop, failed):
    """Return the first place from `start` on where a match begins, or may begin if more text follows.

    `start` is the end of the last piece that :func:`cut` found; the pattern does not look behind.
    """
    text, automaton = pointer_to(data, 0), view_of(self, failed, start).automaton
    place = start
    while place < stop:
        end = find_in_linear_time(automaton, text, place, stop, True, automaton.start_entry_of[0])
        if end == place:  # empty: the text before it is a piece already
            end = find_in_linear_time(
                automaton, text, place, stop, True, automaton.start_entry_not_empty_of[0]
            )
        width = decode(text, place, stop)[1]
        if end != NO_MATCH or width == 0:
            return place
        place += width
    return stop
