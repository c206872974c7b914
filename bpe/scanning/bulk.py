"""The bulk of a text, 64 places at a time, by windows; what they leave open goes to the automaton.

::

    bytes     t  h  e  _  d  o  n  '  t  _  C3 A9 t  C3 A9 . . .
    places    0  1  2  3  4  5  6  7  8  9  10    12 13            a character each
    groups    1  1  1  2  1  1  1  4  1  2  1     1  1             a bit each; 0 for what is not UTF-8
    found     .  .  .  |  .  .  .  |  .  |  .     .  .             of 64 places: a piece ends there
    unsure    .  .  .  .  .  .  .  .  ?  .  .     .  .             the automaton must tell, from the last end
"""

from __future__ import annotations

import numpy as np

from bpe.scanning.matching import find_match
from bpe.scanning.windows import AHEAD, BEHIND, PLACES
from structures.kernels import (
    BYTE_LANES,
    byte_lanes_in_products,
    byte_lanes_with,
    inner,
    load_word,
    local_bytes,
    local_words,
    lowest_lane,
    translate_byte_lanes,
)

__all__ = ["cut_bulk"]

CHUNK = 1024  # characters that are held at a time
_ROOM_GROUPS = BEHIND + CHUNK + 2 * BYTE_LANES  # windows reach so far
_ROOM_PLACES = CHUNK + 1
_READ = 8  # bytes that are read of a character
# By the width of a character, a byte each from 1 on: the bits of its first byte that are data; what the rest
# of them is; log2 of the first character of this width.
_DATA_BITS = 0x070F1F7F
_LEAD_BITS = 0xF0E0C000
_LEAST_BITS = 0x100B0700


@inner
def group_at(view, text, i, width):
    """Return the group of the character at byte `i`, 0 where there is none of `width` bytes.

    A character of the text begins behind them, or the text ends there.
    """
    word = load_word(text, i)
    by_width = 8 * ((width - 1) & 3)
    data_bits = (_DATA_BITS >> by_width) & 0xFF
    character = (
        (word & data_bits) << 18 | (word & 0x3F00) << 4 | (word & 0x3F0000) >> 10 | (word >> 24 & 0x3F)
    )
    character >>= 6 * ((4 - width) & 3)
    is_valid = (word & (0xFF ^ data_bits)) == (_LEAD_BITS >> by_width) & 0xFF
    is_valid &= (width == 1) | (character >> ((_LEAST_BITS >> by_width) & 0xFF) != 0)
    is_valid &= (width <= 4) & (character <= 0x10FFFF) & (character >> 11 != 0xD800 >> 11)
    group = view.group_of[view.symbol_of[character if is_valid else 0]]
    return np.int64(group) if is_valid else 0


@inner
def read_characters(view, text, i, stop, groups, places):
    """Read at most :data:`CHUNK` characters from byte `i` on; return how many, and whether all are ASCII.

    Character c has group ``groups[BEHIND + c]`` and the bytes from ``places[c]`` to ``places[c + 1]``; if all
    are ASCII, `places` is not written. What is not UTF-8 may be one character or many, all of no group.
    """
    n, is_ascii, start = 0, True, i
    while n <= CHUNK - BYTE_LANES and i + BYTE_LANES + _READ <= stop:
        beyond_ascii = byte_lanes_with(text, i, 0x80)
        if beyond_ascii == 0:
            translate_byte_lanes(
                text, i, view.range_starts, view.range_changes, view.n_ranges, groups, BEHIND + n
            )
            if not is_ascii:
                for lane in range(BYTE_LANES):
                    places[n + lane] = i + lane
            n += BYTE_LANES
            i += BYTE_LANES
        else:
            if is_ascii:
                for c in range(n):
                    places[c] = start + c
                is_ascii = False
            begins = ~beyond_ascii | byte_lanes_with(text, i, 0x40) | 1
            begins &= begins - 1
            first, lane = n, 0
            while begins != 0:
                places[n] = i + lane
                n += 1
                lane = lowest_lane(begins)
                begins &= begins - 1
            if n == first:
                places[n] = i
                n += 1
                lane = BYTE_LANES
            i += lane  # the last character goes on, perhaps
            places[n] = i
            for c in range(first, n):
                groups[BEHIND + c] = group_at(view, text, places[c], places[c + 1] - places[c])
    places[n] = i
    return n, is_ascii


@inner
def place_of(places, start, is_ascii, c):
    """Return the place of a character, of those that :func:`read_characters` has read from `start` on."""
    return start + c if is_ascii else places[c]


@inner
def look(view, groups, c):
    """Return the places, from character `c` on, where pieces end, and those that windows do not decide."""
    n_ends = view.n_ends
    found = byte_lanes_in_products(groups, c, view.products, 0, n_ends, PLACES)
    unsure = byte_lanes_in_products(groups, c, view.products, n_ends, view.n_products, PLACES)
    in_groups = byte_lanes_with(groups, c, 0xFF) & byte_lanes_with(groups, c + PLACES - 1, 0xFF)
    if in_groups != -1:
        for k in range(PLACES):
            unsure |= ~byte_lanes_with(groups, c + k, 0xFF)
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
    groups, places = local_bytes(_ROOM_GROUPS), local_words(_ROOM_PLACES)
    entry = view.start_entry_of[0]
    for k in range(BEHIND):  # what is before the segment decides nothing
        groups[k] = 0
    last = start  # where the last piece ends; all places up to there are decided
    chunk, c = start, 1  # where the first character begins; the first whose place is not decided
    while True:
        n_characters, is_ascii = read_characters(view, text, chunk, stop, groups, places)
        behind = n_characters - AHEAD + 1
        if behind <= c:
            return n
        word = c  # the character of lane 0
        while word < behind:
            found, unsure = look(view, groups, word)
            n_lanes = min(behind - word, BYTE_LANES)
            while c < word + n_lanes:
                undecided = np.int64(-1) << (c - word)
                if n_lanes < BYTE_LANES:
                    undecided &= (np.int64(1) << n_lanes) - 1
                found &= undecided
                unsure &= undecided
                open_lane = lowest_lane(unsure) if unsure != 0 else BYTE_LANES
                surely = found if unsure == 0 else found & ((np.int64(1) << open_lane) - 1)
                while surely != 0:
                    last = place_of(places, chunk, is_ascii, word + lowest_lane(surely))
                    ends[n] = last
                    n += 1
                    surely &= surely - 1
                if unsure == 0:
                    c = word + n_lanes
                    break
                c = word + open_lane
                while last < place_of(places, chunk, is_ascii, c):
                    end = find_match(view, text, last, stop, True, entry)
                    if end <= last:
                        return n
                    last = end
                    ends[n] = end
                    n += 1
                while c < n_characters and place_of(places, chunk, is_ascii, c) <= last:
                    c += 1
            word = c
        if last >= places[n_characters]:
            chunk, c = last, 1
        else:
            chunk, c = place_of(places, chunk, is_ascii, max(c - BEHIND, 0)), min(c, BEHIND)
