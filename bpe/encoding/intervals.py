"""Numbers of tokens of parts of one text.

Most patterns have places where a text can be cut in two without a change to any piece, whatever part of the
text is looked at (:meth:`bpe.splitting.pattern.Pattern.cuts`). The tokens up to each place are counted once.
Then only the ends of a part are encoded::

    text        The quick brown fox jumps
    places         |     |     |   |
    [6:22]            ick| brown fox| ju           2 ends are encoded, what is between is looked up
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bpe.support.integers import as_integer, as_integers
from bpe.support.text import as_text, begins_character, code_points, ends_of, utf8_of, widths_of

if TYPE_CHECKING:
    from bpe.encoding.engine import Engine


class IntervalCounter:
    """Counts the tokens of parts of a text; made by ``Tokenizer.interval_counter``.

    Counts are exact: ``counter.count(i, j) == len(tokenizer.encode_ordinary(text[i:j]))``.

    Parameters
    ----------
    engine : Engine
    text : str or bytes

    Raises
    ------
    TypeError
        The text is neither str nor bytes.

    Examples
    --------
    >>> import bpe
    >>> counter = bpe.train(["low lower"], vocab_size=258, progress=False).interval_counter("low lower")
    >>> len(counter), counter.count(0, 9), counter.count(1, 3)
    (9, 5, 2)
    """

    def __init__(self, engine: Engine, text: str | bytes) -> None:
        data = utf8_of(text)
        self._engine, self._text, self._data = engine, text, data
        self._cuts = self._n_before = np.empty(0, np.int64)
        self._byte_of: np.ndarray | None = None  # where each character begins, if not where it is counted
        self._edges: np.ndarray | None = None  # where characters begin and end, if a part may cut them
        self._has_surrogates = False
        if isinstance(text, str) and len(data) != len(text):
            starts = np.flatnonzero(begins_character(data))
            self._byte_of = np.append(starts, len(data))
            try:
                text.encode()
            except UnicodeEncodeError:  # a part of the str may begin or end within a surrogate pair
                self._has_surrogates = True
        elif not data.isascii():
            self._edges = np.cumsum([0, *widths_of(code_points(as_text(data)))])
        if not self._has_surrogates:
            self._cuts = engine.ordinary_cuts(data)
        if len(self._cuts):
            _, _, ends = engine.encode_with_origins(data, engine.ordinary_rules)
            self._n_before = np.searchsorted(ends, self._cuts, side="right")

    def __len__(self) -> int:
        return len(self._text)

    def count(self, start: int, stop: int) -> int:
        """Return the number of tokens of ``text[start:stop]``.

        Parameters
        ----------
        start, stop : int
            Characters of a str, bytes of bytes; ``0 <= start <= stop <= len(text)``.

        Returns
        -------
        int

        Raises
        ------
        IndexError
            The part is not inside the text.
        TypeError
            `start` or `stop` is not an integer.

        Complexity
        ----------
        O(log n), and to encode some pieces.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> tok.interval_counter("low lower").count(4, 7)
        1
        """
        start, stop = as_integer(start, "start"), as_integer(stop, "stop")
        return int(self.count_many([start], [stop])[0])

    def count_many(self, starts: Any, stops: Any) -> np.ndarray:
        """Return the numbers of tokens of many parts.

        Parameters
        ----------
        starts, stops : (n,) integers
            Part i is ``text[starts[i]:stops[i]]``.

        Returns
        -------
        (n,) int64

        Raises
        ------
        IndexError
            A part is not inside the text.
        ValueError
            There are not as many starts as stops.
        TypeError
            One is not an integer.

        Complexity
        ----------
        O(n log n), and to encode some pieces at the ends of each part.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> tok.interval_counter("low lower").count_many([0, 4], [3, 7])
        array([1, 1])
        """
        first, last = as_integers(starts, "starts"), as_integers(stops, "stops")
        if len(first) != len(last):
            raise ValueError(f"{len(first)} starts but {len(last)} stops")
        wrong = np.flatnonzero((first < 0) | (last < first) | (last > len(self._text)))
        if len(wrong):
            i = wrong[0]
            raise IndexError(
                f"part {i}, from {first[i]} to {last[i]}, is not inside the text of {len(self._text)}"
            )
        if self._has_surrogates:
            parts = zip(first.tolist(), last.tolist(), strict=True)
            return np.diff(self._n_ids([utf8_of(self._text[start:stop]) for start, stop in parts]))
        if self._byte_of is not None:
            first, last = self._byte_of[first], self._byte_of[last]
        # The first place after the start of each part, and the last before its end; next to whole characters.
        begin, end = first, last
        if self._edges is not None:
            begin = self._edges[np.searchsorted(self._edges, first)]
            end = self._edges[np.searchsorted(self._edges, last, side="right") - 1]
        low = np.searchsorted(self._cuts, begin, side="right")
        high = np.searchsorted(self._cuts, end, side="left") - 1
        counts = np.zeros(len(first), np.int64)
        has_middle = low <= high
        low, high = low[has_middle], high[has_middle]
        counts[has_middle] = self._n_before[high] - self._n_before[low]
        heads, tails = last.copy(), last.copy()  # without a middle: the head is all, the tail is empty
        heads[has_middle], tails[has_middle] = self._cuts[low], self._cuts[high]
        edges = np.stack([first, heads, tails, last], axis=1).tolist()
        data = self._data
        ends = [part for a, b, c, d in edges for part in (data[a:b], data[c:d])]
        return counts + np.diff(self._n_ids(ends)[::2])

    def _n_ids(self, parts: list[bytes]) -> np.ndarray:
        """Return how many ids there are up to the end of each part, after a 0."""
        row = bytearray().join(parts)
        encoder = self._engine.encoder_for(row, self._engine.ordinary_rules)
        return encoder.encode_segments(row, ends_of(parts))[1]
