r"""Runs the automaton as :mod:`bpe.scanning.matching` does, but never twice over what has failed.

::

    pattern  a[^\n]*b|.      text  a a a a a a a a a a a a      every search is in the same state after its a
    search from byte 0             . . . . . . . . m . . .      no match beyond the first a: remembered (m) that
    search from byte 1               . . . . . . . !            from there on, this state has failed; it ends (!)

Remembered are pairs of an endless state (:mod:`bpe.scanning.tails`) and the first character that begins in a
*bucket* of eight bytes. So a search reads at most a bucket of what another one has read in the same state, and
a text is cut in O(n) for each endless state at worst, in all other cases in O(n).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bpe.scanning.matching import NO_MATCH, UNDECIDED, decode, find_match
from bpe.scanning.tables import ALIVE, DELAY_MASK, ROW_SHIFT
from structures.kernels import inner

BUCKET_SHIFT = 3


class Failed(NamedTuple):
    """What has failed in a text: for each bucket a set of endless states, from bucket `first` on."""

    sets: Any
    first: Any


def n_failed(start: int, stop: int, tail_bytes: int) -> int:
    """Return how many bytes it takes to remember what fails from `start` to `stop`."""
    return ((stop >> BUCKET_SHIFT) - (start >> BUCKET_SHIFT) + 1) * tail_bytes


@inner
def find(view, data, i, stop, is_open, entry, failed):
    """Find a match as :func:`bpe.scanning.matching.find_match` does; `failed` is None, or what to remember."""
    if failed is None:
        return find_match(view, data, i, stop, is_open, entry)
    return find_once(view, data, i, stop, is_open, entry, failed)


@inner
def symbol_at(view, data, i, stop):
    """Return the symbol at byte `i`, and its width, which is 0 if `stop` may cut the character in two."""
    if i >= stop:
        return view.n_symbols, 1
    character, width = decode(data, i, stop)
    return np.int64(view.symbol_of[character]), width


@inner
def set_at(view, before, i, entry, failed):
    """Return where the set of byte `i` holds a state, as (byte, bit); (-1, 0) where none is remembered.

    The character before the byte began at byte `before`.
    """
    bucket = i >> BUCKET_SHIFT
    tail = np.int64(view.tail_of[entry >> ROW_SHIFT])
    if bucket == before >> BUCKET_SHIFT or tail < 0:
        return -1, 0
    return (bucket - failed.first) * view.tail_bytes + (tail >> 3), 1 << (tail & 7)


@inner
def find_once(view, data, i, stop, is_open, entry, failed):
    """Find a match; end where another search has failed in the same state, and remember where this one does."""
    end = i if entry & DELAY_MASK else NO_MATCH
    before, long_before = i, i
    tail, tail_entry = i, entry  # after the last match found
    while entry & ALIVE and i <= stop:
        symbol, width = symbol_at(view, data, i, stop)
        if is_open and (i == stop or width == 0):
            return UNDECIDED
        width = max(width, 1)
        entry = np.int64(view.next_entry[(entry >> ROW_SHIFT) + symbol])
        delay = entry & DELAY_MASK
        if delay == 1:
            end = i + width
        elif delay != 0:
            end = i if delay == 2 else before if delay == 3 else long_before
        long_before = before
        before = i
        i += width
        if delay != 0:
            tail, tail_entry = i, entry
        elif i < stop:
            byte, bit = set_at(view, before, i, entry, failed)
            if byte >= 0 and np.int64(failed.sets[byte]) & bit:
                break
    if tail >> BUCKET_SHIFT != i >> BUCKET_SHIFT:
        remember(view, data, tail, min(i, stop), stop, tail_entry, failed)
    return end


@inner
def remember(view, data, i, end, stop, entry, failed):
    """Remember the endless states of a tail that begins at byte `i` and ends at byte `end`."""
    while True:
        symbol, width = symbol_at(view, data, i, stop)
        before = i
        i += max(width, 1)
        if i >= end:
            break
        entry = np.int64(view.next_entry[(entry >> ROW_SHIFT) + symbol])
        byte, bit = set_at(view, before, i, entry, failed)
        if byte >= 0:
            failed.sets[byte] = np.int64(failed.sets[byte]) | bit
