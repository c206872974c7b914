"""``Scanner``: a split pattern compiled to tables. It cuts bytes into pieces."""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence

import numpy as np

from bpe.splitting.compiled.automaton import compile_automaton
from bpe.splitting.compiled.cuts import Cuts
from bpe.splitting.compiled.cutting import cut, end_of_unmatched
from bpe.splitting.compiled.lookahead import find_lookahead
from bpe.splitting.compiled.matching import n_failed_bytes
from bpe.splitting.compiled.syntax import StepBudget
from bpe.splitting.compiled.tables import Tables, tables_of
from bpe.splitting.compiled.windows import derive_prefilter, derive_windows


class Scanner:
    """Cuts bytes into the pieces of a pattern; several threads may use one scanner at once.

    The first expression cuts the segments, each further one cuts the pieces of the one before. The windows of
    those in `specialized` become machine code, which is compiled once for each of them.
    """

    def __init__(self, sources: Sequence[str], specialized: Collection[str] = ()) -> None:
        budget = StepBudget()
        self.steps = 0  # that compiling took
        self._tables: list[Tables] = []
        self._set_bytes: list[int] = []  # by expression; 0: it memoizes nothing
        automata, has_windows = [], []
        for source in sources:
            automaton = compile_automaton(source, budget)
            lookahead = find_lookahead(automaton, budget)
            windows_budget = StepBudget()
            prefilter = derive_prefilter(automaton)
            no_windows = lookahead.meet or prefilter is not None
            windows = None if no_windows else derive_windows(automaton, windows_budget)
            self.steps += windows_budget.spent
            automata.append(automaton)
            has_windows.append(windows is not None)
            self._tables.append(
                tables_of(automaton, windows, lookahead, prefilter, specialized=source in specialized)
            )
            self._set_bytes.append(lookahead.set_bytes)
        self.steps += budget.spent
        self.has_windows, self.memoizes = all(has_windows), any(self._set_bytes)
        self.covers = automata[0].covers  # the matches of the first expression are all of every text
        self.looks_behind = any(automaton.looks_behind for automaton in automata)
        self.only_automaton = automata[0] if len(automata) == 1 else None
        self.cuts = Cuts(automata)

    @property
    def only_tables(self) -> Tables | None:
        """The tables, for kernels; None if there are several expressions, or one that memoizes."""
        return self._tables[0] if len(self._tables) == 1 and not self.memoizes else None

    def _cut(
        self,
        stage: int,
        data: np.ndarray,
        start: int,
        text_start: int,
        ends: np.ndarray,
        is_open: bool,
        out: np.ndarray,
    ) -> np.ndarray:
        """Cut segments by one of the expressions, as :meth:`cut` does."""
        stop = int(ends[-1]) if len(ends) else start
        failed = np.zeros(n_failed_bytes(start, stop, self._set_bytes[stage]), np.uint8)
        n = cut(self._tables[stage], data, start, text_start, ends, is_open, out, failed)
        return out[: n + 1]

    def cut(
        self,
        data: bytearray | np.ndarray,
        segment_ends: np.ndarray | None = None,
        *,
        start: int = 0,
        text_start: int | None = None,
        is_open: bool = False,
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        """Cut segments by the first expression; piece i of the result is ``data[offsets[i]:offsets[i + 1]]``.

        The arguments are those of :func:`bpe.splitting.compiled.cutting.cut`; by default, all bytes are one
        segment. If there are more expressions, :meth:`refine` cuts the pieces further.
        """
        data = np.asarray(data)  # a bytearray shares its memory
        if segment_ends is None:
            segment_ends = np.array([len(data)], np.int32)
        text_start = start if text_start is None else text_start
        if out is None:
            stop = int(segment_ends[-1]) if len(segment_ends) else start
            out = np.empty(stop - start + 1, np.int32)
        return self._cut(0, data, start, text_start, segment_ends, is_open, out)

    def refine(self, data: bytearray | np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Cut the pieces of :meth:`cut` by all expressions but the first."""
        data = np.asarray(data)  # a bytearray shares its memory
        for stage in range(1, len(self._tables)):
            start = int(offsets[0])
            finer = np.empty(int(offsets[-1]) - start + 1, np.int32)
            offsets = self._cut(stage, data, start, start, offsets[1:], False, finer)
        return offsets

    def decided(self, data: bytearray | np.ndarray) -> int:
        """Return how many bytes of a text have the same pieces, whatever follows them."""
        if self.looks_behind:
            return 0
        data = np.asarray(data)  # a bytearray shares its memory
        place, stop = 0, len(data)
        for stage, tables in enumerate(self._tables):
            # The text after its last match is not a complete piece yet, but the next expression can cut it.
            out = np.empty(stop - place + 1, np.int32)
            place = int(self._cut(stage, data, place, place, np.array([stop], np.int32), True, out)[-1])
            if tables is not self._tables[-1]:
                failed = np.zeros(n_failed_bytes(place, stop, self._set_bytes[stage]), np.uint8)
                stop = end_of_unmatched(tables, data, place, stop, failed)
        return place

    def split(self, data: bytes) -> list[int]:
        """Return the offsets of the pieces of some bytes, less than 2 GiB."""
        held = bytearray(data)  # the kernels are compiled for writable arrays
        return self.refine(held, self.cut(held)).tolist()


@functools.lru_cache(maxsize=64)
def scanner_of(sources: tuple[str, ...], specialized: frozenset[str] = frozenset()) -> Scanner:
    """Return the scanner of some expressions; the last ones made are cached."""
    return Scanner(sources, specialized)
