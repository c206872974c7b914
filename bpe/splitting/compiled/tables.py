"""``Tables``: an automaton and its windows, as kernels read them."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.experimental import structref

from bpe.splitting.compiled.automaton import Automaton
from bpe.splitting.compiled.lookahead import Tails
from bpe.splitting.compiled.windows import HOPED, PLACES, Hopes, Windows, as_code, ranges_of_groups
from structures.kernels import Constant, StructType, fields_of, inner, kernel, new, part_or, pointer_to

# An entry of the transition table has three parts: the row of the next state from bit 4 on, whether it is
# alive, and the delay of its match + 1.
ROW_SHIFT = 4
ALIVE = 8
DELAY_MASK = 7

BUCKET_SHIFT = 3  # eight bytes are a bucket


@structref.register
class TablesType(StructType):
    """numba type of :class:`Tables`."""


@functools.lru_cache(maxsize=64)
def tables_type(code_type: Any) -> TablesType:
    """Return the numba type of tables; kernels are compiled for each, with its windows as constants."""
    fields = fields_of(
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
        n_ranges=types.int64,  # 0: neither windows nor hopes
        products=types.int32[::1],  # of the ends, then the open ones; or hopes: one element for each place
        n_ends=types.int64,
        n_products=types.int64,
        n_hopes=types.int64,  # 0: windows, if anything
        code=code_type,  # the windows as constants (`windows.as_code`), or None
        tail_of=types.int16[::1],  # by row: the number of an endless state; -1 of others
        tail_bytes=types.int64,  # of a set of endless states, a bit each; 0: nothing is remembered
    )
    return TablesType(fields)


class Tables(structref.StructRefProxy):
    """Handle of the tables in Python; it is passed to kernels."""

    __slots__ = ()


structref.define_boxing(TablesType, Tables)


@kernel
def _new_tables(typ, of_automaton, of_windows, of_tails, code):
    self = new(typ)
    self.symbol_of, self.next_entry, starts, self.n_symbols, self.looks_behind = of_automaton
    self.start_entry_of, self.start_entry_not_empty_of = starts
    self.group_of, self.range_starts, self.range_changes, self.products, numbers = of_windows
    self.n_ranges = self.range_starts.size
    self.n_ends, self.n_products, self.n_hopes = numbers
    self.tail_of, self.tail_bytes = of_tails
    self.code = code
    return self


class AutomatonView(NamedTuple):
    """Pointers into the tables of an automaton, for kernels: without references to count.

    It has the same type for all tables, so that what searches is compiled once.
    """

    symbol_of: Any
    next_entry: Any
    start_entry_of: Any
    start_entry_not_empty_of: Any
    n_symbols: Any
    looks_behind: Any
    has_hopes: Any
    hope_ranges: Any  # of ASCII characters with one group, as `translate_byte_lanes` takes them
    hopes: Any  # products, as `byte_lanes_in_products` takes them; windows and hopes are never both there
    tail_of: Any
    tail_bytes: Any
    failed: Any  # what to remember: for each bucket of bytes a set of endless states
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
    """Return a view of tables, to cut from byte `start` on. The caller keeps both arguments alive."""
    ranges = pointer_to(self.range_starts, 0), pointer_to(self.range_changes, 0), self.n_ranges
    products, n_ends = pointer_to(self.products, 0), self.n_ends
    automaton = AutomatonView(
        pointer_to(self.symbol_of, 0),
        pointer_to(self.next_entry, 0),
        pointer_to(self.start_entry_of, 0),
        pointer_to(self.start_entry_not_empty_of, 0),
        self.n_symbols,
        self.looks_behind,
        self.n_hopes > 0,
        ranges,
        (products, 0, self.n_hopes),
        pointer_to(self.tail_of, 0),
        self.tail_bytes,
        pointer_to(failed, 0),
        start >> BUCKET_SHIFT,
    )
    windows = WindowsView(
        StepsView(automaton.symbol_of, automaton.next_entry, automaton.start_entry_of, automaton.n_symbols),
        pointer_to(self.group_of, 0),
        part_or(self.code, 0, ranges),
        part_or(self.code, 1, (products, 0, n_ends)),
        part_or(self.code, 2, (products, n_ends, self.n_products)),
    )
    return View(automaton, self.n_ranges > 0 and self.n_hopes == 0, windows)


def tables_of(
    automaton: Automaton,
    windows: Windows | None,
    tails: Tails | None = None,
    hopes: Hopes | None = None,
    *,
    in_code: bool = False,
) -> Tables:
    """Return the tables of an automaton, of its windows or its hopes, and of its tails if they meet.

    If they are to be `in_code`, and there are some, the windows become constants of machine code.
    """
    width = automaton.n_symbols + 1
    row_of = np.arange(len(automaton.delay_of)) * width
    entry_of = row_of << ROW_SHIFT | np.where(automaton.alive, ALIVE, 0) | (automaton.delay_of + 1)
    of_automaton = (
        automaton.symbol_of,
        entry_of[automaton.next_state].ravel().astype(np.int32),
        (entry_of[automaton.start_of], entry_of[automaton.start_not_empty_of]),
        automaton.n_symbols,
        automaton.looks_behind,
    )
    group_of = hopes.group_of if hopes else np.empty(0, np.uint8)
    ends = unsure = np.empty((0, PLACES), np.uint8)
    hoped = hopes.products if hopes else np.empty((0, HOPED), np.uint8)
    if windows:
        group_of, ends, unsure, hoped = windows.group_of, windows.ends, windows.open, hoped[:0]
    of_windows = (
        group_of,
        *map(_four_times, ranges_of_groups(automaton, group_of)),
        _four_times(np.concatenate([each.ravel() for each in (ends, unsure, hoped)])),
        (len(ends), len(ends) + len(unsure), len(hoped)),
    )
    code = Constant(as_code(automaton, windows)) if windows and in_code else None
    tail_of = np.full(len(row_of) * width if tails else 0, -1, np.int16)
    if tails:
        tail_of[row_of[tails.endless]] = np.arange(len(tails.endless))
    of_tails = tail_of, -(-len(tails.endless) // 8) if tails else 0
    typ = tables_type(types.none if code is None else code.numba_type)
    return _new_tables(typ, of_automaton, of_windows, of_tails, code)


def _four_times(array: np.ndarray) -> np.ndarray:
    return np.repeat(array.ravel(), 4).view(np.int32)
