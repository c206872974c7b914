"""``Scanner``: a split pattern compiled to tables. It cuts bytes into pieces."""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence

import numpy as np

from bpe.splitting.compiled.automaton import compile_automaton
from bpe.splitting.compiled.cuts import Cuts
from bpe.splitting.compiled.cutting import cut, end_of_gap
from bpe.splitting.compiled.lookahead import find_tails
from bpe.splitting.compiled.matching import n_failed
from bpe.splitting.compiled.syntax import Work
from bpe.splitting.compiled.tables import Tables, tables_of
from bpe.splitting.compiled.windows import derive_hopes, derive_windows


class Scanner:
    r"""Cuts bytes into the pieces of a pattern.

    Several threads may use one scanner at once; the kernels release the GIL.
    """

    def __init__(self, sources: Sequence[str], in_code: Collection[str] = ()) -> None:
        work = Work()
        self.steps = 0
        self._tables: list[Tables] = []
        self._tail_bytes: list[int] = []  # by expression; 0: it remembers nothing
        automata, has_windows = [], []
        for source in sources:
            automaton = compile_automaton(source, work)
            tails = find_tails(automaton, work)
            work_on_windows = Work()
            windows = None if tails.meet else derive_windows(automaton, work_on_windows)
            self.steps += work_on_windows.done
            automata.append(automaton)
            has_windows.append(windows is not None)
            is_in_code = source in in_code
            self._tables.append(
                tables_of(
                    automaton,
                    windows,
                    tails if tails.meet else None,
                    derive_hopes(automaton) if windows is None else None,
                    in_code=is_in_code,
                )
            )
            self._tail_bytes.append(-(-len(tails.endless) // 8) if tails.meet else 0)
        self.steps += work.done
        self.has_windows, self.remembers = all(has_windows), any(self._tail_bytes)
        self.covers = automata[0].covers
        self.looks_behind = any(automaton.looks_behind for automaton in automata)
        self.only_automaton = automata[0] if len(automata) == 1 else None
        self.cuts = Cuts(automata)

    @property
    def only_tables(self) -> Tables | None:
        """The tables, for kernels; None if there are several expressions, or one that remembers."""
        return self._tables[0] if len(self._tables) == 1 and not self.remembers else None

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
        """Cut segments by one of the expressions."""
        stop = int(ends[-1]) if len(ends) else start
        failed = np.zeros(n_failed(start, stop, self._tail_bytes[stage]), np.uint8)
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
        r"""Cut segments by the first expression.

        If there are more expressions, :meth:`refine` cuts the result further.
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
        """Apply all expressions but the first to the pieces of the first."""
        data = np.asarray(data)  # a bytearray shares its memory
        for stage in range(1, len(self._tables)):
            start = int(offsets[0])
            finer = np.empty(int(offsets[-1]) - start + 1, np.int32)
            offsets = self._cut(stage, data, start, start, offsets[1:], False, finer)
        return offsets

    def decided(self, data: bytearray | np.ndarray) -> int:
        r"""Return how far the pieces of a text are decided, whatever text follows.

        The rest of the text, from there on, has the same pieces by itself.
        """
        if self.looks_behind:
            return 0
        data = np.asarray(data)  # a bytearray shares its memory
        place, stop = 0, len(data)
        for stage, tables in enumerate(self._tables):
            # The last gap of this expression has no end yet, but the next expression can already cut it.
            out = np.empty(stop - place + 1, np.int32)
            place = int(self._cut(stage, data, place, place, np.array([stop], np.int32), True, out)[-1])
            if tables is not self._tables[-1]:
                failed = np.zeros(n_failed(place, stop, self._tail_bytes[stage]), np.uint8)
                stop = end_of_gap(tables, data, place, stop, failed)
        return place

    def split(self, data: bytes) -> list[int]:
        r"""Cut bytes into pieces."""
        held = bytearray(data)  # the kernels are compiled for writable arrays
        return self.refine(held, self.cut(held)).tolist()


@functools.lru_cache(maxsize=64)
def scanner_of(sources: tuple[str, ...], in_code: frozenset[str] = frozenset()) -> Scanner:
    """Return the scanner of some expressions, as :class:`Scanner`; scanners made before are kept."""
    return Scanner(sources, in_code)
