"""Measuring: where tokens lie in a text, how many there are, how much text fits."""

from __future__ import annotations

from operator import index
from typing import AnyStr

import numpy as np

from bpe.encoding.engine import NO_TOKENS, Base, Ordinary
from bpe.encoding.intervals import IntervalCounter
from bpe.encoding.streams import StreamEncoder
from bpe.specials import Rules, Specials
from bpe.text import utf8_of

__all__ = ["Measuring"]

_FIRST_BLOCK = 4096


class Measuring(Base):
    """Base of :class:`bpe.Tokenizer`: offsets and numbers of tokens.

    * :meth:`encode_with_offsets`, :meth:`count`, :meth:`truncate`, :meth:`interval_counter`

    Examples
    --------
    >>> import bpe
    >>> issubclass(bpe.Tokenizer, Measuring)
    True
    """

    def encode_with_offsets(
        self,
        text: str | bytes,
        *,
        allowed_special: Specials = NO_TOKENS,
        disallowed_special: Specials = "all",
        specials: Ordinary = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Encode a text, and say where each token lies in it.

        Parameters
        ----------
        text : str or bytes
        allowed_special, disallowed_special, specials
            As for :meth:`encode`.

        Returns
        -------
        ids : (n,) uint32
        starts, ends : (n,) int64
            Token i is of ``text[starts[i]:ends[i]]``: of characters in a str, of bytes in bytes. A character
            that is cut by tokens belongs to each of them.

        Raises
        ------
        ValueError, TypeError
            As :meth:`encode`.

        Complexity
        ----------
        As :meth:`encode`.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> tok.encode_with_offsets("low\u00e9")
        (array([257, 195, 169], dtype=uint32), array([0, 3, 3]), array([3, 4, 4]))
        """
        data = utf8_of(text)
        rules = self._rules_of(allowed_special, disallowed_special, specials)
        ids = self._encode_bytes(data, text, rules)
        lengths = self._table.lengths(ids)
        ends = np.cumsum(lengths)
        starts = ends - lengths
        if isinstance(text, str) and len(data) != len(text):
            n_begun = np.cumsum(_begins_character(data))  # characters that begin up to each byte
            position_of = _positions(text, int(n_begun[-1]))
            starts, ends = position_of[n_begun[starts] - 1], position_of[n_begun[ends - 1]]
        return ids, starts, ends

    def count(
        self,
        text: str | bytes,
        limit: int | None = None,
        *,
        allowed_special: Specials = NO_TOKENS,
        disallowed_special: Specials = "all",
        specials: Ordinary = None,
    ) -> int:
        """Return the number of tokens of a text.

        Parameters
        ----------
        text : str or bytes
        limit : int, optional
            Of a text with more tokens, ``limit + 1`` is returned, and only the beginning is read: what comes
            behind is not looked through for special tokens either.
        allowed_special, disallowed_special, specials
            As for :meth:`encode`.

        Returns
        -------
        int

        Raises
        ------
        ValueError, TypeError
            As :meth:`encode`; or the limit is below 0.

        Complexity
        ----------
        As :meth:`encode`; with a limit, for some multiple of so many tokens.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> tok.count("low lower"), tok.count("low lower" * 1000, limit=10)
        (5, 11)
        """
        rules = self._rules_of(allowed_special, disallowed_special, specials)
        if limit is not None:
            return min(len(self._first_ids(text, _not_negative(limit, "limit") + 1, rules)), limit + 1)
        data = utf8_of(text)
        if any(needle in data for needle in rules.needles):
            return len(self._encode_bytes(data, text, rules))
        return self._encoder.count(data)

    def truncate(
        self,
        text: AnyStr,
        max_tokens: int,
        *,
        allowed_special: Specials = NO_TOKENS,
        disallowed_special: Specials = "all",
        specials: Ordinary = None,
    ) -> AnyStr:
        """Return the beginning of a text that has at most so many tokens.

        The result is the text itself if that has no more. Else it is the longest beginning that

        * is the text of the first k tokens of the whole, ``k <= max_tokens``,
        * ends between characters, and
        * has these very k tokens: ``encode(result) == encode(text)[:k]``.

        Parameters
        ----------
        text : str or bytes
        max_tokens : int
        allowed_special, disallowed_special, specials
            As for :meth:`encode`.

        Returns
        -------
        str or bytes
            As the text.

        Raises
        ------
        ValueError, TypeError
            As :meth:`encode`, for what is read; or `max_tokens` is below 0.

        Complexity
        ----------
        As :meth:`encode`, for some multiple of so many tokens: what is behind is not read.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> tok.truncate("low lower", 3), tok.truncate("\u00e9", 1)
        ('low low', '')
        """
        rules = self._rules_of(allowed_special, disallowed_special, specials)
        most = _not_negative(max_tokens, "max_tokens")
        ids = self._first_ids(text, most + 1, rules)
        if len(ids) <= most:
            return text
        ids = ids[:most]
        ends = np.cumsum(self._table.lengths(ids))
        # No text has fewer bytes than characters; some more, to see whether the last is complete.
        data = utf8_of(text[: int(ends[-1]) + 4 if most else 0])
        for k in range(most, 0, -1):
            end = int(ends[k - 1])
            if _is_between_characters(data, end):
                # A piece can change by what no longer follows it, but none before a place like this.
                place = _last_word(data, end) if self._knows_cuts else 0
                first = int(np.searchsorted(ends, place, side="right"))
                if place and ends[first - 1] != place:  # inside a special token
                    place = first = 0
                again = self._encode_special([data[place:end]], rules.allowed)[0]
                if np.array_equal(again, ids[first:k]):
                    return text[: _length_in(text, data[:end])]
        return text[:0]

    def interval_counter(self, text: str | bytes) -> IntervalCounter:
        """Return a counter of the tokens of any part of a text.

        Parameters
        ----------
        text : str or bytes
            Special tokens in it are text: counts are those of :meth:`encode_ordinary`.

        Returns
        -------
        IntervalCounter
            ``count(start, stop)`` and ``count_many(starts, stops)`` give exactly the number of tokens of
            ``text[start:stop]``, encoded by itself.

        Raises
        ------
        TypeError
            The text is neither str nor bytes.

        Complexity
        ----------
        As :meth:`encode`. A count takes about as long as to encode some words at both ends; of patterns
        without a name, and of "none", as long as to encode the part.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> counter = tok.interval_counter("low lower low")
        >>> counter.count(0, 5), counter.count_many([0, 1, 4], [13, 13, 9])
        (3, array([7, 8, 3]))
        """
        return IntervalCounter(self, text)

    def _first_ids(self, text: str | bytes, n: int, rules: Rules) -> np.ndarray:
        """Return the ids of a text: all, or `n` and more of the first."""
        size = max(_FIRST_BLOCK, 8 * n)
        if len(text) <= size:
            return self._encode_bytes(utf8_of(text), text, rules)
        stream, place = StreamEncoder(self, rules, "text"), 0
        ids: list[int] = []
        while len(ids) < n:
            block = text[place : place + size]
            if not block:
                ids += stream.finish()
                break
            ids += stream.feed(block)
            place, size = place + size, 2 * size
        return np.array(ids, np.uint32)


def _not_negative(number: int, name: str) -> int:
    if index(number) < 0:
        raise ValueError(f"{name} must be at least 0, not {number}")
    return index(number)


def _begins_character(data: bytes) -> np.ndarray:
    """Return for each byte whether a character begins there."""
    return (np.frombuffer(data, np.uint8) & 0xC0) != 0x80


def _positions(text: str, n_characters: int) -> np.ndarray:
    """Return where each of the characters of the UTF-8 begins in a str, and where the last ends.

    A surrogate pair is two in the str, and one in its UTF-8.
    """
    if n_characters == len(text):
        return np.arange(len(text) + 1)
    kind = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4") >> 10
    is_second = np.zeros(len(text) + 1, bool)
    is_second[1:-1] = (kind[:-1] == 0xD800 >> 10) & (kind[1:] == 0xDC00 >> 10)
    return np.flatnonzero(~is_second)


def _length_in(text: str | bytes, data: bytes) -> int:
    """Return how much of a text, as it was given, some first bytes of it are."""
    if not isinstance(text, str):
        return len(data)
    n_characters = int(np.count_nonzero(_begins_character(data)))
    if text[:n_characters].encode("utf-8", "replace") == data:
        return n_characters
    given = text[: 2 * n_characters]
    return int(_positions(given, -1)[n_characters])


def _is_between_characters(data: bytes, place: int) -> bool:
    """Say whether no character is cut by a place; what is no UTF-8 has none."""
    for start in range(place - 1, max(place - 4, -1), -1):
        if data[start] & 0xC0 != 0x80:
            size = 1 if data[start] < 0xC0 else 2 if data[start] < 0xE0 else 3 if data[start] < 0xF0 else 4
            if start + size <= place:
                return True
            try:
                data[start : start + size].decode()
            except UnicodeDecodeError:
                return True
            return len(data) < start + size
    return True


def _last_word(data: bytes, end: int) -> int:
    """Return the last place before `end` of a space behind an ASCII letter or sign, 0 without one."""
    place = data.rfind(b" ", 1, end)
    while place > 0 and not 0x20 < data[place - 1] < 0x7F:
        place = data.rfind(b" ", 1, place)
    return max(place, 0)
