"""``Scanner``: a split pattern compiled to tables. It cuts bytes into pieces."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from bpe.scanning.automaton import compile_automaton
from bpe.scanning.cuts import Cuts
from bpe.scanning.cutting import cut
from bpe.scanning.gaps import end_of_gap
from bpe.scanning.tables import Tables, tables_of
from bpe.scanning.windows import derive_windows


class Scanner:
    r"""Cuts bytes into the pieces of a pattern.

    Several threads may use one scanner at once; the kernels release the GIL.

    Parameters
    ----------
    sources : sequence of str
        Valid expressions of the ``regex`` package. The first one cuts the segments; each further one cuts the
        pieces of the one before.

    Raises
    ------
    UnsupportedError
        An expression cannot be compiled.

    Attributes
    ----------
    has_windows : bool
        Whether the bulk of a text is cut by windows, 64 places at a time.
    looks_behind : bool
        Whether pieces depend on the character before them.
    cuts : Cuts
        Between which characters a text can be cut.

    Complexity
    ----------
    About ten milliseconds for each class of characters that is new to the process.

    Examples
    --------
    >>> scanner = Scanner([r"\w+|\s+"])
    >>> scanner.cut(bytearray(b"one two")).tolist()
    [0, 3, 4, 7]
    """

    def __init__(self, sources: Sequence[str]) -> None:
        automata = [compile_automaton(source) for source in sources]
        windows = [derive_windows(automaton) for automaton in automata]
        self.has_windows = all(windows)
        self.looks_behind = any(automaton.looks_behind for automaton in automata)
        self._tables = [tables_of(*pair) for pair in zip(automata, windows, strict=True)]
        self.cuts = Cuts(automata)

    @property
    def only_tables(self) -> Tables | None:
        """The tables, for kernels; None if there are several expressions."""
        return self._tables[0] if len(self._tables) == 1 else None

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

        Parameters
        ----------
        data : bytearray or (n_bytes,) uint8
            Less than 2 GiB.
        segment_ends : (segments,) int32, optional
            Rising. The first segment begins at `start`, each further one where the one before ends. By
            default, there is one segment with all bytes.
        start : int
            Where to begin, or to continue in the first segment.
        text_start : int, optional
            Where the first segment begins, for patterns that look behind; at `start` by default.
        is_open : bool
            Whether the last segment continues after its end here. If so, only pieces are cut that no
            continuation changes.
        out : int32 array, optional
            Where to write the offsets. It has room for one more than the number of bytes.

        Returns
        -------
        offsets : (pieces + 1,) int32
            Piece i is ``data[offsets[i]:offsets[i + 1]]``.

        Complexity
        ----------
        O(n) for n bytes with the named patterns.

        Examples
        --------
        >>> Scanner(["[a-z]+"]).cut(bytearray(b"ab1c"), is_open=True).tolist()
        [0, 2]
        """
        data = np.asarray(data)  # a bytearray shares its memory
        if segment_ends is None:
            segment_ends = np.array([len(data)], np.int32)
        text_start = start if text_start is None else text_start
        if out is None:
            stop = int(segment_ends[-1]) if len(segment_ends) else start
            out = np.empty(stop - start + 1, np.int32)
        n = cut(self._tables[0], data, start, text_start, segment_ends, is_open, out)
        return out[: n + 1]

    def refine(self, data: bytearray | np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Apply all expressions but the first to the pieces of the first.

        Parameters
        ----------
        data : bytearray or (n_bytes,) uint8
        offsets : (pieces + 1,) int32
            As :meth:`cut` returns them.

        Returns
        -------
        (more pieces + 1,) int32
            `offsets` itself if there is one expression only.

        Complexity
        ----------
        As :meth:`cut`.

        Examples
        --------
        >>> data = np.frombuffer(bytearray(b"a1b"), np.uint8)
        >>> Scanner(["[0-9]", "[a-z]"]).refine(data, np.array([0, 2, 3], np.int32)).tolist()
        [0, 1, 2, 3]
        """
        data = np.asarray(data)  # a bytearray shares its memory
        for tables in self._tables[1:]:
            start = int(offsets[0])
            finer = np.empty(int(offsets[-1]) - start + 1, np.int32)
            n = cut(tables, data, start, start, offsets[1:], False, finer)
            offsets = finer[: n + 1]
        return offsets

    def decided(self, data: bytearray | np.ndarray) -> int:
        r"""Return how far the pieces of a text are decided, whatever text follows.

        The rest of the text, from there on, has the same pieces by itself.

        Parameters
        ----------
        data : bytearray or (n_bytes,) uint8
            The beginning of a text.

        Returns
        -------
        int
            An offset in bytes. 0 if nothing is decided, or if the pattern looks behind.

        Complexity
        ----------
        As :meth:`cut`.

        Examples
        --------
        >>> Scanner([r"\w+|\s+"]).decided(bytearray(b"one two thr"))
        8
        >>> Scanner(["[0-9]", "[a-z]+"]).decided(bytearray(b"1 one, t"))
        5
        """
        if self.looks_behind:
            return 0
        data = np.asarray(data)  # a bytearray shares its memory
        place, stop = 0, len(data)
        for tables in self._tables:
            # The last gap of this expression has no end yet, but the next expression can already cut it.
            offsets = np.empty(stop - place + 1, np.int32)
            n = cut(tables, data, place, place, np.array([stop], np.int32), True, offsets)
            place = int(offsets[n])
            if tables is not self._tables[-1]:
                stop = end_of_gap(tables, data, place, stop)
        return place

    def split(self, data: bytes) -> list[int]:
        r"""Cut bytes into pieces.

        Parameters
        ----------
        data : bytes
            Less than 2 GiB.

        Returns
        -------
        list of int
            Piece i is ``data[offsets[i]:offsets[i + 1]]``.

        Complexity
        ----------
        As :meth:`cut`.

        Examples
        --------
        >>> Scanner(["[0-9]", "[a-z]+"]).split(b"ab1cd!")
        [0, 2, 3, 5, 6]
        """
        held = bytearray(data)  # the kernels are compiled for writable arrays
        return self.refine(held, self.cut(held)).tolist()


@functools.lru_cache(maxsize=64)
def scanner_of(sources: tuple[str, ...]) -> Scanner:
    """Return the scanner of some expressions; scanners made before are kept.

    Raises
    ------
    UnsupportedError
        An expression cannot be compiled.
    """
    return Scanner(sources)
