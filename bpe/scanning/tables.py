"""``Tables``: an automaton as kernels read it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.experimental import structref

from bpe.scanning.automaton import Automaton
from bpe.scanning.syntax import UnsupportedError
from bpe.scanning.windows import PLACES, Windows
from structures.kernels import StructType, fields_of, inner, kernel, pointer_to

__all__ = ["ALIVE", "DELAY_MASK", "ROW_SHIFT", "Tables", "View", "tables_of", "view_of"]

# An entry of the transition table: row of the next state, whether it is alive, delay of its match + 1.
ROW_SHIFT = 4
ALIVE = 8
DELAY_MASK = 7


_MAX_SYMBOLS = 255


@structref.register
class TablesType(StructType):
    """numba type of :class:`Tables`."""


tables_type = TablesType(
    fields_of(
        symbol_of=types.uint8[::1],  # by character
        next_entry=types.int32[::1],  # by row + symbol: row of the next state, if it is alive, delay + 1
        start_entry_of=types.int64[::1],  # by the symbol before
        start_entry_not_empty_of=types.int64[::1],
        n_symbols=types.int64,
        looks_behind=types.boolean,
        group_of=types.uint8[::1],  # by symbol: the bit of its group
        # Of bytes, each four times over:
        range_starts=types.int32[::1],  # where the group changes, by ASCII character
        range_changes=types.int32[::1],  # exclusive or of the groups on both sides
        n_ranges=types.int64,  # 0: no windows
        products=types.int32[::1],  # those of the ends, then the open ones; one element a place
        n_ends=types.int64,
        n_products=types.int64,
    )
)


class Tables(structref.StructRefProxy):
    """Python's handle of the tables: something to hand to kernels."""

    __slots__ = ()


structref.define_boxing(TablesType, Tables)


@kernel
def _new_tables(
    symbol_of,
    next_entry,
    start_entry_of,
    start_entry_not_empty_of,
    n_symbols,
    looks_behind,
    group_of,
    range_starts,
    range_changes,
    products,
    n_ends,
):
    self = structref.new(tables_type)
    self.symbol_of = symbol_of
    self.next_entry = next_entry
    self.start_entry_of = start_entry_of
    self.start_entry_not_empty_of = start_entry_not_empty_of
    self.n_symbols = n_symbols
    self.looks_behind = looks_behind
    self.group_of = group_of
    self.range_starts = range_starts
    self.range_changes = range_changes
    self.n_ranges = range_starts.size
    self.products = products
    self.n_ends = n_ends
    self.n_products = products.size // PLACES
    return self


class View(NamedTuple):
    """Pointers into the tables of a pattern, for kernels to read from: there are no references to count."""

    symbol_of: Any
    next_entry: Any
    start_entry_of: Any
    start_entry_not_empty_of: Any
    n_symbols: Any
    looks_behind: Any
    group_of: Any
    range_starts: Any
    range_changes: Any
    n_ranges: Any
    products: Any
    n_ends: Any
    n_products: Any


@inner
def view_of(self):
    """Return a view of tables that the caller keeps alive."""
    return View(
        pointer_to(self.symbol_of, 0),
        pointer_to(self.next_entry, 0),
        pointer_to(self.start_entry_of, 0),
        pointer_to(self.start_entry_not_empty_of, 0),
        self.n_symbols,
        self.looks_behind,
        pointer_to(self.group_of, 0),
        pointer_to(self.range_starts, 0),
        pointer_to(self.range_changes, 0),
        self.n_ranges,
        pointer_to(self.products, 0),
        self.n_ends,
        self.n_products,
    )


def tables_of(automaton: Automaton, windows: Windows | None) -> Tables:
    """Return the tables of an automaton, and of its windows if it has any.

    Raises
    ------
    UnsupportedError
        It has more symbols than a byte can tell apart.
    """
    if automaton.n_symbols > _MAX_SYMBOLS:
        raise UnsupportedError(f"an expression with more than {_MAX_SYMBOLS} kinds of characters")
    width = automaton.n_symbols + 1
    row_of = np.arange(len(automaton.delay_of)) * width
    entry_of = row_of << ROW_SHIFT | np.where(automaton.alive, ALIVE, 0) | (automaton.delay_of + 1)
    return _new_tables(
        automaton.symbol_of.astype(np.uint8),
        entry_of[automaton.next_state].ravel().astype(np.int32),
        entry_of[automaton.start_of],
        entry_of[automaton.start_not_empty_of],
        automaton.n_symbols,
        automaton.looks_behind,
        windows.group_of if windows else np.empty(0, np.uint8),
        *map(_four_times, _ranges_of(automaton, windows)),
        _four_times(np.concatenate([windows.ends, windows.open]) if windows else np.empty(0, np.uint8)),
        len(windows.ends) if windows else 0,
    )


def _four_times(array: np.ndarray) -> np.ndarray:
    return np.repeat(array.ravel(), 4).view(np.int32)


def _ranges_of(automaton: Automaton, windows: Windows | None) -> tuple[np.ndarray, np.ndarray]:
    """Return where the group changes among the ASCII characters, and by what."""
    if windows is None:
        return np.empty(0, np.uint8), np.empty(0, np.uint8)
    group_of = windows.group_of[automaton.symbol_of[:128]]
    change = np.concatenate([group_of[:1], group_of[1:] ^ group_of[:-1]])
    starts = np.flatnonzero(change)
    return starts.astype(np.uint8), change[starts]
