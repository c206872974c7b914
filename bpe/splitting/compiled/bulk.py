"""Cuts the bulk of segments by windows, 64 places at a time; open places are left to the automaton.

::

    bytes     t  h  e  _  d  o  n  '  t  _  C3 A9 t  C3 A9 . . .
    places    0  1  2  3  4  5  6  7  8  9  10    12 13            a character each
    groups    1  1  1  2  1  1  1  4  1  2  1     1  1             a bit each; 0 where bytes are not UTF-8
    found     .  .  .  |  .  .  .  |  .  |  .     .  .             a piece ends at these of the 64 places
    undecided .  .  .  .  .  .  .  .  ?  .  .     .  .             the automaton decides, from the last end on

A chunk of about a thousand characters takes four steps: its characters are read, the windows decide what they
can, the automaton decides the places that are left open, and the ends are written.

Many short segments are in one chunk. The edge after each is a character without a byte, which has a group of
its own if the pattern leaves one::

    bytes     a  _  t  e  x  t     a  n  o  t  h  e  r
    places    0  1  2  3  4  5  6  6  7  8  9  10 11 12        the edge has the place of what follows it
    found     .  |  .  .  .  .  |  .  .  .  .  .  .  .         a piece ends before the edge, none after it
"""

import numpy as np

from bpe.splitting.compiled.matching import NO_MATCH, UNDECIDED, find_match
from bpe.splitting.compiled.windows import AHEAD, BEHIND, PLACES
from structures.kernels import (
    BYTE_LANES,
    byte_lanes_in_products,
    byte_lanes_with,
    count_lanes,
    highest_lane,
    inner,
    larger,
    load_word,
    local_bytes,
    local_words,
    lowest_lane,
    smaller,
    translate_byte_lanes,
)

CHUNK = 1024  # places decided at a time
_ENOUGH = CHUNK + BEHIND + AHEAD - 1  # characters for these
_MOST = _ENOUGH + BYTE_LANES
_ROOM_GROUPS = BEHIND + _MOST + 2 * BYTE_LANES  # windows reach this far
_ROOM_PLACES = _MOST + BYTE_LANES  # lanes without a character are read, too
_ROOM_WORDS = -(-_MOST // BYTE_LANES)
_READ = 8  # bytes read for a character
# Three tables with one byte for each width of a character, from width 1 on: the data bits of its first byte;
# the value of the other bits of that byte; log2 of the first character of this width.
_DATA_BITS = 0x070F1F7F
_LEAD_BITS = 0xF0E0C000
_LEAST_BITS = 0x100B0700
_MARKS, _CONTINUED = 0xC0C0C000, 0x80808000  # what the later bytes of a character begin with
BEYOND_ASCII = np.int64(-0x7F7F7F7F7F7F7F80)  # the top bit of each of eight bytes
_AT_ONCE = 16
_INSIDE = -1
_ANY = 1  # a group that stands for any, where nothing depends on it


@inner
def first_character(symbol_of, group_of, word):
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
    return np.int64(group_of[symbol_of[character]]), width


@inner
def read_ascii(view, text, start, groups, places):
    """Do as :func:`read_characters` for ASCII; return whether there is nothing else."""
    beyond = 0
    for i in range(0, _MOST - BYTE_LANES + 1, BYTE_LANES):
        translate_byte_lanes(text, start + i, view.ranges, groups, BEHIND + i)
        beyond |= byte_lanes_with(text, start + i, 0x80)
    for c in range(_ENOUGH + 1):
        places[c] = start + c
    return beyond == 0


@inner
def read_characters(view, text, n, start, stop, readable, groups, places):
    """Read characters from byte `start` on, none across `stop`; return their number, and the byte after them.

    `n` are there before; when there are about :data:`CHUNK`, no more are read. Character c has the group
    ``groups[BEHIND + c]`` and the bytes from ``places[c]`` to ``places[c + 1]``. A byte that is not of valid
    UTF-8 is a character without a group. Bytes are read many at a time, also those from `stop` to `readable`,
    of which nothing depends.
    """
    if n == 0 and start + _MOST <= stop and read_ascii(view, text, start, groups, places):
        return _ENOUGH, start + _ENOUGH
    i = start
    while (n < _ENOUGH) & (i < stop) & (i + BYTE_LANES + _READ <= readable):
        # All lanes are written; what follows the first character beyond ASCII is overwritten then.
        translate_byte_lanes(text, i, view.ranges, groups, BEHIND + n)
        for lane in range(BYTE_LANES):
            places[n + lane] = i + lane
        n_ascii = smaller(lowest_lane(byte_lanes_with(text, i, 0x80)), stop - i)
        n += n_ascii
        i += n_ascii
        # One after the other, until eight bytes of ASCII follow.
        word = load_word(text, i)
        while (word & BEYOND_ASCII != 0) & (n < _MOST) & (i < stop) & (i + 2 * _READ <= readable):
            group, width = first_character(view.steps.symbol_of, view.group_of, word)
            if i + width > stop:
                places[n] = i
                return n, i
            groups[BEHIND + n] = group
            places[n] = i
            n += 1
            i += width
            word = load_word(text, i)
    places[n] = i
    return n, i


@inner
def read_segments(view, text, start, segment, segments, readable, groups, places, edges):
    """Read about :data:`CHUNK` characters of segments, from byte `start` of one of them on.

    The edge after a segment is a character, too, without a byte. Return the number of characters, the segment
    that goes on after them, and the number of `edges`.
    """
    n, i, n_edges, (segment_ends, is_open) = 0, start, 0, segments
    while True:
        stop = np.int64(segment_ends[segment])
        n, i = read_characters(view, text, n, i, stop, readable, groups, places)
        following = segment_after(segment_ends, segment, stop)
        is_last = following == segment_ends.size
        if n >= _ENOUGH or i + BYTE_LANES + _READ > readable or (is_last and is_open):
            return n, segment, n_edges
        if i < stop:  # the segment ends inside a character
            groups[BEHIND + n] = 0
            i += 1
        else:
            groups[BEHIND + n], edges[n_edges], segment = edge_of(view), n, following
            n_edges += 1
        n += 1
        places[n] = i
        if segment == segment_ends.size:  # windows look ahead: with one more character, this edge is decided
            groups[BEHIND + n], places[n + 1] = _ANY, i
            return n + 1, segment, n_edges


@inner
def edge_of(view):
    """Return the group of the edge of segments; 0 if it has none."""
    return np.int64(view.group_of[view.steps.n_symbols])


@inner
def segment_after(segment_ends, segment, place):
    """Return the first segment that ends after a place, near a segment; their number if there is none."""
    while segment > 0 and segment_ends[segment - 1] > place:
        segment -= 1
    while segment < segment_ends.size and segment_ends[segment] <= place:
        segment += 1
    return segment


@inner
def look(view, groups, c):
    """Return bit sets of 64 places from character `c` on: a piece ends there; the windows do not decide."""
    found = byte_lanes_in_products(groups, c, view.ends, PLACES)
    undecided = byte_lanes_in_products(groups, c, view.open, PLACES)
    # A window with a character without a group decides nothing: it is one of the first four, or the last.
    first, last = ~byte_lanes_with(groups, c, 0xFF), ~byte_lanes_with(groups, c + PLACES - 1, 0xFF)
    if first | last != 0:
        undecided |= first | first >> 1 | first >> 2 | first >> 3
        undecided |= last | last << 1 | last << 2 | last << 3
    return found, undecided


@inner
def look_at_all(view, groups, first, after, found, undecided):
    """Look at the places from `first` to `after`, a word for 64 of them; return the number of words.

    Nothing is found where the windows do not decide.
    """
    n_words = 0
    for c in range(first, after, BYTE_LANES):
        ends, is_open = look(view, groups, c)
        found[n_words] = ends & ~is_open
        undecided[n_words] = is_open
        n_words += 1
    n_lanes = (after - first - 1) % BYTE_LANES + 1  # of the last word
    last = np.int64(-1) if n_lanes == BYTE_LANES else (np.int64(1) << n_lanes) - 1
    found[n_words - 1] &= last
    undecided[n_words - 1] &= last
    return n_words


@inner
def cut_at_edges(edges, n_edges, first, after, found, undecided):
    """Let a piece end before each edge, and none after it."""
    for k in range(n_edges):
        for c in range(larger(edges[k], first), smaller(edges[k] + 2, after)):
            word, bit = (c - first) // BYTE_LANES, np.int64(1) << ((c - first) % BYTE_LANES)
            undecided[word] &= ~bit
            found[word] &= ~bit
            if c == edges[k]:
                found[word] |= bit


@inner
def drop_after(found, word, lane, n_words):
    """Drop what was found from a lane of a word on."""
    found[word] &= (np.int64(1) << lane) - 1
    for k in range(word + 1, n_words):
        found[k] = 0


@inner
def decide(steps, text, places, at, edges, segments, found, undecided):
    """Decide the places that windows leave open: the automaton runs from the end before each of them.

    `at` is the end of the last piece before the words, in bytes; a place where no match begins, such as that
    end, or -1; the first character of the words; the one after their last; the segment of the last character
    that was read; and the number of edges. What is decided moves from `undecided` to `found`. Return
    :data:`_INSIDE` if all is; else where the piece across the end of the words ends, or :data:`UNDECIDED`:
    `found` stops before it. And the last place where no match begins.
    """
    last, gap, first, after, segment, n_edges = at
    (segment_ends, is_open), edge = segments, 0
    entry, n_words = steps.start_entry_of[0], (after - first + BYTE_LANES - 1) // BYTE_LANES
    for word in range(n_words):
        begin = first + word * BYTE_LANES
        while undecided[word] != 0:
            lane = lowest_lane(undecided[word])
            c, before = begin + lane, found[word] & ((np.int64(1) << lane) - 1)
            start, end = places[begin + highest_lane(before)] if before != 0 else last, NO_MATCH
            while edge < n_edges and edges[edge] < c:
                edge += 1
            is_last = edge == n_edges
            stop = np.int64(segment_ends[segment]) if is_last else places[edges[edge]]
            goes_on = is_last & is_open & (segment == segment_ends.size - 1)
            if start != gap:
                end = find_match(steps, text, start, stop, goes_on, entry)
            if end == NO_MATCH:
                # What is between two matches goes on at least up to here: it ends where a match begins.
                gap = start
                end = find_match(steps, text, places[c], stop, goes_on, entry)
                if end == NO_MATCH:
                    undecided[word] &= undecided[word] - 1
                    continue
                end = smaller(end, places[c])
            if end == UNDECIDED or end >= places[after]:
                drop_after(found, word, lane, n_words)
                return end, gap
            c = larger(c + end - places[c], c)  # if all characters are of one byte
            if c >= after or places[c] != end or places[c - 1] == end:  # an edge has no byte
                c = begin + lane
                while places[c] < end:
                    c += 1
            c -= first
            here, lane = c // BYTE_LANES, c % BYTE_LANES
            found[here] |= np.int64(1) << lane
            for k in range(word, here):
                undecided[k] = 0
            undecided[here] &= np.int64(-2) << lane
        if found[word] != 0:
            last = places[begin + highest_lane(found[word])]
    return _INSIDE, gap


@inner
def put_ends(places, c, found, has_room, ends, n):
    """Write the ends of pieces to `ends`, from index `n` on; return the new `n`.

    A piece ends at each place from character `c` on that is set in `found`. Where there is room,
    :data:`_AT_ONCE` are written in any case, so that the processor need not guess how many there are; the
    surplus is overwritten later.
    """
    k, n_found = 0, count_lanes(found)
    if has_room:
        for k in range(_AT_ONCE):
            ends[n + k] = places[c + lowest_lane(found)]
            found &= found - 1
        k = _AT_ONCE
    while k < n_found:
        ends[n + k] = places[c + lowest_lane(found)]
        found &= found - 1
        k += 1
    return n + n_found


@inner
def cut_bulk(view, text, start, segments, readable, ends, n):
    """Write the ends of the pieces of segments to `ends`, except for the last ones.

    `segments` are where they end, and whether the last one is open. The text can be read up to `readable`,
    which is the end of the last one or after it. Return the new `n`; the end of the last piece; the place
    from which the search for the next match goes on, which is this end, or in what lies between two matches;
    and the segment there.
    """
    groups, places, edges = local_bytes(_ROOM_GROUPS), local_words(_ROOM_PLACES), local_words(_MOST)
    found, undecided = local_words(_ROOM_WORDS), local_words(_ROOM_WORDS)
    for k in range(BEHIND - 1):
        groups[k] = _ANY
    groups[BEHIND - 1] = edge_of(view)  # a piece begins as a text does
    segment_ends = segments[0]
    n_first, last, gap = n, start, np.int64(-1)  # `last`: end of the last piece
    chunk, first = start, 1  # where its first character begins; the first character that is not decided
    place = start  # up to here, all is decided
    segment = segment_after(segment_ends, 0, start)
    while segment < segment_ends.size:
        n_characters, segment, n_edges = read_segments(
            view, text, chunk, segment, segments, readable, groups, places, edges
        )
        after = n_characters - AHEAD + 1
        if after <= first:
            break
        n_words = look_at_all(view, groups, first, after, found, undecided)
        cut_at_edges(edges, n_edges, first, after, found, undecided)
        what = (last, gap, first, after, segment, n_edges)
        end, gap = decide(view.steps, text, places, what, edges, segments, found, undecided)
        for word in range(n_words):
            c = first + word * BYTE_LANES
            has_room = (places[c] + _AT_ONCE <= segment_ends[-1]) & (c + BYTE_LANES <= n_characters)
            n = put_ends(places, c, found[word], has_room, ends, n)
        if end >= 0:
            ends[n] = end
            n += 1
        last = np.int64(ends[n - 1]) if n > n_first else start
        place = last if end == UNDECIDED else larger(last, places[after])
        if end == UNDECIDED or n_characters < _ENOUGH:
            break
        if end >= 0:
            chunk, first = end, 1
        else:  # the windows look back, but not across an edge
            c = larger(after - BEHIND, 0)
            for k in range(n_edges):
                if edges[k] < after:
                    c = larger(c, edges[k] + 1)
            chunk, first = places[c], larger(after - c, 1)
        segment = segment_after(segment_ends, segment, chunk)
    segment = segment_after(segment_ends, segment, last)
    if place < last + BYTE_LANES:
        return n, last, last, segment  # a few bytes are read again sooner
    is_gap = gap == last
    if not is_gap:
        stop, entry = np.int64(segment_ends[segment]), view.steps.start_entry_of[0]
        is_gap = find_match(view.steps, text, last, stop, True, entry) == NO_MATCH
    return n, last, place if is_gap else last, segment
