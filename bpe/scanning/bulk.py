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
    count_lanes,
    inner,
    larger,
    load_word,
    local_bytes,
    local_words,
    lowest_lane,
    smaller,
    translate_byte_lanes,
)

CHUNK = 1024  # characters held at a time
_ROOM_GROUPS = BEHIND + CHUNK + 2 * BYTE_LANES  # windows reach this far
_ROOM_PLACES = CHUNK + 2 * BYTE_LANES  # lanes without a character are read, too
_READ = 8  # bytes read for a character
# Three tables with one byte for each width of a character, from width 1 on: the data bits of its first byte;
# the value of the other bits of that byte; log2 of the first character of this width.
_DATA_BITS = 0x070F1F7F
_LEAD_BITS = 0xF0E0C000
_LEAST_BITS = 0x100B0700
_MARKS, _CONTINUED = 0xC0C0C000, 0x80808000  # what the later bytes of a character begin with
BEYOND_ASCII = np.int64(-0x7F7F7F7F7F7F7F80)  # the top bit of each of eight bytes
_AT_ONCE = 16


@inner
def first_character(view, word):
    """Return the group and the width of the character with which the bytes of a word begin.

    A byte that is not of valid UTF-8 is a character by itself, without a group: 0.
    """
    first = word & 0xFF
    width = 1 + (first >= 0xC0) + (first >= 0xE0) + (first >= 0xF0)
    by_width = 8 * (width - 1)
    data_bits = (_DATA_BITS >> by_width) & 0xFF
    character = (
        (word & data_bits) << 18 | (word & 0x3F00) << 4 | (word & 0x3F0000) >> 10 | (word >> 24 & 0x3F)
    ) >> (6 * (4 - width))
    checked = (np.int64(1) << (8 * width)) - 256  # the bits of all bytes but the first
    is_valid = (first ^ (_LEAD_BITS >> by_width)) & (0xFF ^ data_bits) == 0
    is_valid &= (word & checked & _MARKS) == (_CONTINUED & checked)
    is_valid &= (width == 1) | (character >> ((_LEAST_BITS >> by_width) & 0xFF) != 0)
    is_valid &= (character <= 0x10FFFF) & (character >> 11 != 0xD800 >> 11)
    if not is_valid:
        return 0, 1
    return np.int64(view.group_of[view.symbol_of[character]]), width


@inner
def read_characters(view, text, start, stop, groups, places):
    """Read at most :data:`CHUNK` characters from byte `start` on; return their number.

    Character c has the group ``groups[BEHIND + c]`` and the bytes from ``places[c]`` to ``places[c + 1]``. A
    byte that is not of valid UTF-8 is a character without a group.
    """
    n, i = 0, start
    while n <= CHUNK - BYTE_LANES and i + BYTE_LANES + _READ <= stop:
        # All lanes are written; what follows the first character beyond ASCII is overwritten then.
        translate_byte_lanes(text, i, view.ranges, groups, BEHIND + n)
        for lane in range(BYTE_LANES):
            places[n + lane] = i + lane
        n_ascii = lowest_lane(byte_lanes_with(text, i, 0x80))
        n += n_ascii
        i += n_ascii
        # One after the other, until eight bytes of ASCII follow.
        word = load_word(text, i)
        while (word & BEYOND_ASCII != 0) & (n < CHUNK) & (i + 2 * _READ <= stop):
            group, width = first_character(view, word)
            groups[BEHIND + n] = group
            places[n] = i
            n += 1
            i += width
            word = load_word(text, i)
    places[n] = i
    return n


@inner
def look(view, groups, c):
    """Return two bit sets of places from character `c` on: pieces end there; the windows do not decide."""
    found = byte_lanes_in_products(groups, c, view.ends, PLACES)
    unsure = byte_lanes_in_products(groups, c, view.open, PLACES)
    # A window with a character without a group decides nothing: it is one of the first four, or the last.
    first, last = ~byte_lanes_with(groups, c, 0xFF), ~byte_lanes_with(groups, c + PLACES - 1, 0xFF)
    if first | last != 0:
        unsure |= first | first >> 1 | first >> 2 | first >> 3
        unsure |= last | last << 1 | last << 2 | last << 3
    return found, unsure


@inner
def put_ends(places, word, found, has_room, ends, n):
    """Write the ends of pieces at the places of a bit set to `ends`, from index `n` on; return the new `n`.

    Where there is room, :data:`_AT_ONCE` are written in any case, so that the processor need not guess how
    many there are. What is too much is overwritten later.
    """
    k, n_found = 0, count_lanes(found)
    if has_room:
        for k in range(_AT_ONCE):
            ends[n + k] = places[word + lowest_lane(found)]
            found &= found - 1
        k = _AT_ONCE
    while k < n_found:
        ends[n + k] = places[word + lowest_lane(found)]
        found &= found - 1
        k += 1
    return n + n_found


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
    n_first, last = n, start  # `last`: end of the last piece
    chunk, word = start, 1  # where the first character begins; the first character whose place is not decided
    while True:
        n_characters = read_characters(view, text, chunk, stop, groups, places)
        after = n_characters - AHEAD + 1
        if after <= word:
            return n
        while word < after:
            found, unsure = look(view, groups, word)
            n_lanes = smaller(after - word, BYTE_LANES)
            has_room = n_lanes == BYTE_LANES  # a byte for each lane
            left = np.int64(-1) if has_room else (np.int64(1) << n_lanes) - 1
            c = word + n_lanes
            while True:
                unsure &= left
                decided = left & ((unsure & -unsure) - 1)
                n = put_ends(places, word, found & decided, has_room, ends, n)
                if unsure == 0:
                    break
                last = np.int64(ends[n - 1]) if n > n_first else start
                c = word + lowest_lane(unsure)
                while last < places[c]:
                    end = find_match(view, text, last, stop, True, entry)
                    if end <= last:
                        return n
                    last = end
                    ends[n] = end
                    n += 1
                while c < n_characters and places[c] <= last:
                    c += 1
                has_room = False
                if c >= word + n_lanes:
                    break
                left &= np.int64(-1) << (c - word)
                c = word + n_lanes
            word = c
        last = np.int64(ends[n - 1]) if n > n_first else start
        if last >= places[n_characters]:
            chunk, word = last, 1
        else:
            chunk, word = places[larger(word - BEHIND, 0)], smaller(word, BEHIND)
