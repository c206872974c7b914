"""``Tables``: an automaton, its windows and its lookahead, as kernels read them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from bpe.splitting.compiled.automaton import Automaton
from bpe.splitting.compiled.lookahead import Lookahead
from bpe.splitting.compiled.windows import PLACES, PREFIX, Prefilter, Windows, as_constants, ranges_of_groups
from structures.kernels import Constant, Record, inner, part_or, pointer_to

# An entry of the transition table has three parts: the row of the next state from bit 4 on, whether it is
# alive, and the delay of its match + 1.
ROW_SHIFT = 4
ALIVE = 8
DELAY_MASK = 7

BUCKET_SHIFT = 3  # eight bytes are a bucket


class Tables(
    Record,
    symbol_of=types.uint8[::1],  # by character
    next_entry=types.int32[::1],  # by row + symbol
    start_entry_of=types.int64[::1],  # by the symbol before
    start_entry_not_empty_of=types.int64[::1],
    n_symbols=types.int64,
    looks_behind=types.boolean,
    group_of=types.uint8[::1],  # by symbol: the bit of its group
    # Bytes, each repeated four times in an int32:
    range_starts=types.int32[::1],  # where the group changes, by ASCII character
    range_changes=types.int32[::1],  # exclusive or of the groups before and after
    n_ranges=types.int64,  # 0: neither windows nor a prefilter
    # One element for each place: of the windows' ends, then the open ones; or of the prefilter.
    products=types.int32[::1],
    n_ends=types.int64,
    n_products=types.int64,
    n_prefilter=types.int64,  # products; 0: windows, if anything
    constants=None,  # the windows as a constant (`windows.as_constants`), or None
    endless_of=types.int16[::1],  # by row: the number of an endless state; -1 of others
    set_bytes=types.int64,  # of a set of endless states, a bit each; 0: nothing is memoized
):
    """An automaton, its windows and its lookahead, for kernels."""


class AutomatonView(NamedTuple):
    """Pointers into the tables of an automaton: no references to count, and the same type for all tables."""

    symbol_of: Any
    next_entry: Any
    start_entry_of: Any
    start_entry_not_empty_of: Any
    n_symbols: Any
    looks_behind: Any
    has_prefilter: Any
    prefilter_ranges: Any  # of ASCII characters with one group, as `translate_byte_lanes` takes them
    prefilter: Any  # products, as `byte_lanes_in_products` takes them; without windows only
    endless_of: Any
    set_bytes: Any
    failed: Any  # for each bucket of bytes, the set of endless states that failed there
    first_bucket: Any


class StepsView(NamedTuple):
    """The part of :class:`AutomatonView` that finds matches; windows need no more of it."""

    symbol_of: Any
    next_entry: Any
    start_entry_of: Any
    n_symbols: Any


class WindowsView(NamedTuple):
    """Pointers to what cuts by windows; the windows may be constants, each with a type of its own."""

    steps: Any
    group_of: Any
    ranges: Any  # as the automaton's, by the groups of the windows
    ends: Any  # products: the windows in which a piece ends, as `byte_lanes_in_products` takes them
    open: Any  # products: the windows that do not decide


class View(NamedTuple):
    """Pointers into tables."""

    automaton: Any
    has_windows: Any
    windows: Any


@inner
def view_of(self, failed, start):
    """Return a view of tables, to cut from byte `start` on; the caller keeps both arguments alive."""
    ranges = pointer_to(self.range_starts, 0), pointer_to(self.range_changes, 0), self.n_ranges
    products, n_ends = pointer_to(self.products, 0), self.n_ends
    automaton = AutomatonView(
        pointer_to(self.symbol_of, 0),
        pointer_to(self.next_entry, 0),
        pointer_to(self.start_entry_of, 0),
        pointer_to(self.start_entry_not_empty_of, 0),
        self.n_symbols,
        self.looks_behind,
        self.n_prefilter > 0,
        ranges,
        (products, 0, self.n_prefilter),
        pointer_to(self.endless_of, 0),
        self.set_bytes,
        pointer_to(failed, 0),
        start >> BUCKET_SHIFT,
    )
    windows = WindowsView(
        StepsView(automaton.symbol_of, automaton.next_entry, automaton.start_entry_of, automaton.n_symbols),
        pointer_to(self.group_of, 0),
        part_or(self.constants, 0, ranges),
        part_or(self.constants, 1, (products, 0, n_ends)),
        part_or(self.constants, 2, (products, n_ends, self.n_products)),
    )
    return View(automaton, self.n_ranges > 0 and self.n_prefilter == 0, windows)


def tables_of(
    automaton: Automaton,
    windows: Windows | None,
    lookahead: Lookahead | None = None,
    prefilter: Prefilter | None = None,
    *,
    specialized: bool = False,
) -> Tables:
    """Return the tables of an automaton and its windows or its prefilter; they memoize if the lookahead must.

    `specialized` windows become constants of machine code.
    """
    width = automaton.n_symbols + 1
    row_of = np.arange(len(automaton.delay_of)) * width
    entry_of = row_of << ROW_SHIFT | np.where(automaton.alive, ALIVE, 0) | (automaton.delay_of + 1)
    group_of = prefilter.group_of if prefilter else np.empty(0, np.uint8)
    ends = open_ = np.empty((0, PLACES), np.uint8)
    prefixes = prefilter.products if prefilter else np.empty((0, PREFIX), np.uint8)
    if windows:
        group_of, ends, open_, prefixes = windows.group_of, windows.ends, windows.open, prefixes[:0]
    range_starts, range_changes = map(_four_times, ranges_of_groups(automaton, group_of))
    set_bytes = lookahead.set_bytes if lookahead else 0
    endless_of = np.full(len(row_of) * width if set_bytes else 0, -1, np.int16)
    if lookahead and set_bytes:
        endless_of[row_of[lookahead.endless]] = np.arange(len(lookahead.endless))
    return Tables(
        symbol_of=automaton.symbol_of,
        next_entry=entry_of[automaton.next_state].ravel().astype(np.int32),
        start_entry_of=entry_of[automaton.start_of],
        start_entry_not_empty_of=entry_of[automaton.start_not_empty_of],
        n_symbols=automaton.n_symbols,
        looks_behind=automaton.looks_behind,
        group_of=group_of,
        range_starts=range_starts,
        range_changes=range_changes,
        n_ranges=range_starts.size,
        products=_four_times(np.concatenate([each.ravel() for each in (ends, open_, prefixes)])),
        n_ends=len(ends),
        n_products=len(ends) + len(open_),
        n_prefilter=len(prefixes),
        constants=Constant(as_constants(automaton, windows)) if windows and specialized else None,
        endless_of=endless_of,
        set_bytes=set_bytes,
    )


def _four_times(array: np.ndarray) -> np.ndarray:
    return np.repeat(array.ravel(), 4).view(np.int32)
