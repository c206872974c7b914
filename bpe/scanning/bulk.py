"""Cuts the bulk of a text by windows, 64 places at a time; open places are left to the automaton.

::

    bytes     t  h  e  _  d  o  n  '  t  _  C3 A9 t  C3 A9 . . .
    places    0  1  2  3  4  5  6  7  8  9  10    12 13            a character each
    groups    1  1  1  2  1  1  1  4  1  2  1     1  1             a bit each; 0 where bytes are not UTF-8
    found     .  .  .  |  .  .  .  |  .  |  .     .  .             a piece ends at these of the 64 places
    unsure    .  .  .  .  .  .  .  .  ?  .  .     .  .             the automaton decides, from the last end on
"""

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

CHUNK = 1024  # characters held at a time
_ROOM_GROUPS = BEHIND + CHUNK + 2 * BYTE_LANES  # windows reach this far
_ROOM_PLACES = CHUNK + 1
_READ = 8  # bytes read for a character
# Three tables with one byte for each width of a character, from width 1 on: the data bits of its first byte;
# the value of the other bits of that byte; log2 of the first character of this width.
_DATA_BITS = 0x070F1F7F
_LEAD_BITS = 0xF0E0C000
_LEAST_BITS = 0x100B0700


@inner
def group_at(view, text, i, width):
    """Return the group of the character of `width` bytes at byte `i`; 0 if these bytes are not valid UTF-8.

    After them the next character begins, or the text ends.
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
    """Read at most :data:`CHUNK` characters from byte `i` on; return their number and whether all are ASCII.

    Character c has the group ``groups[BEHIND + c]`` and the bytes from ``places[c]`` to ``places[c + 1]``. If
    all are ASCII, `places` is not written. Bytes that are not UTF-8 become one character or several, without
    a group.
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
            i += lane  # the last character may continue
            places[n] = i
            for c in range(first, n):
                groups[BEHIND + c] = group_at(view, text, places[c], places[c + 1] - places[c])
    places[n] = i
    return n, is_ascii


@inner
def place_of(places, start, is_ascii, c):
    """Return the byte at which character `c` of those read from `start` on begins."""
    return start + c if is_ascii else places[c]


@inner
def look(view, groups, c):
    """Return two bit sets of places from character `c` on: pieces end there; the windows do not decide."""
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
    """Write the ends of pieces, as :func:`bpe.scanning.cutting.cut_segment` does, but for the last bytes.

    Parameters
    ----------
    view : View
    text : pointer to uint8
    start, stop : int
        A piece begins at `start`; the segment reaches `stop` at least.
    ends : pointer to int32
    n : int

    Returns
    -------
    int
        Number of ends after the call.
    """
    groups, places = local_bytes(_ROOM_GROUPS), local_words(_ROOM_PLACES)
    entry = view.start_entry_of[0]
    for k in range(BEHIND):  # the text before the segment decides nothing
        groups[k] = 0
    last = start  # end of the last piece; all places up to it are decided
    chunk, c = start, 1  # where the first character begins; the first character whose place is not decided
    while True:
        n_characters, is_ascii = read_characters(view, text, chunk, stop, groups, places)
        c_stop = n_characters - AHEAD + 1
        if c_stop <= c:
            return n
        word = c  # the character of lane 0
        while word < c_stop:
            found, unsure = look(view, groups, word)
            n_lanes = min(c_stop - word, BYTE_LANES)
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
