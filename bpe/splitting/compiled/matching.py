r"""Runs the automaton over bytes, to find the end of the match that begins at a place.

::

    bytes      'c'  C3 A9   ' '    FF       . . .
    character  'c'  'é'     ' '    U+DCFF           a byte that is not UTF-8 is a character of its own
    symbol      4    4       1      7               symbol_of[character]
    entry      72   72      ...                     next_entry[row + symbol], where row is entry >> ROW_SHIFT

Where searches may look far ahead, and again and again, what failed is memoized::

    pattern  a[^\n]*b|.      text  a a a a a a a a a a a a     after its a, each search is in the same state
    search from byte 0             . . . . . . . . m . . .     no b: from m on, this state has failed
    search from byte 1               . . . . . . . !           the same state at m: this search fails, too

Memoized are pairs of an endless state (:mod:`bpe.splitting.compiled.lookahead`) and the first character that
begins in a *bucket* of eight bytes. So a search reads at most a bucket of what another one has read in the
same state. The work is O(n), and at worst O(n) for each endless state.
"""

import numpy as np

from bpe.splitting.compiled.tables import ALIVE, BUCKET_SHIFT, DELAY_MASK, ROW_SHIFT
from structures.kernels import inner

NO_MATCH = -1
UNDECIDED = -2  # it depends on the bytes that follow


@inner
def decode(data, i, stop):
    """Return the character at byte `i` and its width in bytes; the width is 0 if `stop` may cut it in two.

    A byte that does not begin valid UTF-8 is a character of its own: 0xDC00 plus the byte, as with Python's
    "surrogateescape".
    """
    first = np.int64(data[i])
    if first < 0x80:
        return first, 1
    alone = 0xDC00 + first
    if first < 0xC2 or first > 0xF4:
        return alone, 1
    width = 2 + (first >= 0xE0) + (first >= 0xF0)
    # After some first bytes the second has narrower bounds: overlong forms, surrogates and code points above
    # U+10FFFF are not valid.
    low = 0xA0 if first == 0xE0 else 0x90 if first == 0xF0 else 0x80
    high = 0x9F if first == 0xED else 0x8F if first == 0xF4 else 0xBF
    character = first & (0x7F >> width)
    for k in range(1, width):
        if i + k >= stop:
            return alone, 0
        byte = np.int64(data[i + k])
        if byte < low or byte > high:
            return alone, 1
        low, high = 0x80, 0xBF
        character = character << 6 | byte & 0x3F
    return character, width


@inner
def symbol_before(automaton, data, i, start):
    """Return the symbol of the character that ends at byte `i`; at `start`, the symbol of the edge."""
    if i <= start:
        return automaton.n_symbols
    for width in range(min(4, i - start), 1, -1):
        character, found = decode(data, i - width, i)
        if found == width:
            return np.int64(automaton.symbol_of[character])
    if data[i - 1] < 0x80:
        return np.int64(automaton.symbol_of[data[i - 1]])
    return np.int64(automaton.symbol_of[0xDC00 + np.int64(data[i - 1])])


@inner
def find_match(view, data, i, stop, is_open, entry):
    """Return where the match that begins at byte `i` ends, or :data:`NO_MATCH`, or :data:`UNDECIDED`.

    `entry` is that of the first state. The segment ends at `stop` or, if it `is_open`, continues there.
    """
    symbol_of, next_entry = view.symbol_of, view.next_entry
    end = i if entry & DELAY_MASK else NO_MATCH
    before, long_before = i, i
    while entry & ALIVE:
        if i < stop:
            character, width = np.int64(data[i]), 1
            if character >= 0x80:
                character, width = decode(data, i, stop)
                if width == 0:
                    if is_open:
                        return UNDECIDED
                    width = 1
            symbol = np.int64(symbol_of[character])
        elif i > stop:
            return end  # nothing follows the end of the segment
        elif is_open:
            return UNDECIDED
        else:
            symbol, width = view.n_symbols, 1
        entry = np.int64(next_entry[(entry >> ROW_SHIFT) + symbol])
        delay = entry & DELAY_MASK
        if delay == 1:
            end = i + width
        elif delay != 0:
            end = i if delay == 2 else before if delay == 3 else long_before
        long_before = before
        before = i
        i += width
    return end


# -------------------------------------------------------------------------------------- memoized failures
def n_failed_bytes(start: int, stop: int, set_bytes: int) -> int:
    """Return how many bytes it takes to memoize what fails from byte `start` to `stop`."""
    return ((stop >> BUCKET_SHIFT) - (start >> BUCKET_SHIFT) + 1) * set_bytes


@inner
def find_in_linear_time(automaton, data, i, stop, is_open, entry):
    """Find a match as :func:`find_match` does, in linear time for all matches of a text together."""
    if automaton.set_bytes == 0:
        return find_match(automaton, data, i, stop, is_open, entry)
    return find_match_memoized(automaton, data, i, stop, is_open, entry)


@inner
def symbol_at(automaton, data, i, stop):
    """Return the symbol at byte `i`, and its width, which is 0 if `stop` may cut the character in two."""
    if i >= stop:
        return automaton.n_symbols, 1
    character, width = decode(data, i, stop)
    return np.int64(automaton.symbol_of[character]), width


@inner
def failed_bit_of(automaton, before, i, entry):
    """Return the (byte, bit) of `failed` for a state at byte `i`; (-1, 0) where nothing is memoized.

    The character before byte `i` began at byte `before`.
    """
    bucket = i >> BUCKET_SHIFT
    endless = np.int64(automaton.endless_of[entry >> ROW_SHIFT])
    if bucket == before >> BUCKET_SHIFT or endless < 0:
        return -1, 0
    return (bucket - automaton.first_bucket) * automaton.set_bytes + (endless >> 3), 1 << (endless & 7)


@inner
def find_match_memoized(automaton, data, i, stop, is_open, entry):
    """Find a match, but stop where another search failed in the same state; memoize what failed."""
    end = i if entry & DELAY_MASK else NO_MATCH
    before, long_before = i, i
    ahead, ahead_entry = i, entry  # where the lookahead begins: after the last match found
    while entry & ALIVE and i <= stop:
        symbol, width = symbol_at(automaton, data, i, stop)
        if is_open and (i == stop or width == 0):
            return UNDECIDED
        width = max(width, 1)
        entry = np.int64(automaton.next_entry[(entry >> ROW_SHIFT) + symbol])
        delay = entry & DELAY_MASK
        if delay == 1:
            end = i + width
        elif delay != 0:
            end = i if delay == 2 else before if delay == 3 else long_before
        long_before = before
        before = i
        i += width
        if delay != 0:
            ahead, ahead_entry = i, entry
        elif i < stop:
            byte, bit = failed_bit_of(automaton, before, i, entry)
            if byte >= 0 and np.int64(automaton.failed[byte]) & bit:
                break
    if ahead >> BUCKET_SHIFT != i >> BUCKET_SHIFT:
        memoize_failed(automaton, data, ahead, min(i, stop), stop, ahead_entry)
    return end


@inner
def memoize_failed(automaton, data, i, end, stop, entry):
    """Memoize the endless states of a lookahead from byte `i` to byte `end`."""
    while True:
        symbol, width = symbol_at(automaton, data, i, stop)
        before = i
        i += max(width, 1)
        if i >= end:
            break
        entry = np.int64(automaton.next_entry[(entry >> ROW_SHIFT) + symbol])
        byte, bit = failed_bit_of(automaton, before, i, entry)
        if byte >= 0:
            automaton.failed[byte] = np.int64(automaton.failed[byte]) | bit
