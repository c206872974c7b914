r"""``Matcher``: strings in the text of ids that come one by one, such as those at which a model has to stop.

::

    strings    \nUser:   STOP
    ids        Hello   .\n   Us    ing         bytes of the text, cut anywhere
    held               \n    \nUs              may still become a string: not shown yet
    ready      Hello   .           \nUsing     no string can begin in it

What is held is the longest end of the text that a string begins with. An id completes a string if its bytes
hold one, or begin with what a string lacks of which some end of the text is the beginning.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bpe.support.integers import as_integer, mask_of
from bpe.support.text import utf8_of

if TYPE_CHECKING:
    from bpe.encoding.engine import Engine
    from bpe.tokenizer import Tokenizer


class Pushed(NamedTuple):
    """What an id has brought."""

    found: list[tuple[str | bytes, int]]
    """The strings that are complete now, each with the byte of the whole text where it begins."""

    ready: bytes
    """Text that is in no string, and that none can begin in."""


def matcher(tok: Tokenizer, strings: Iterable[str | bytes]) -> Matcher:
    r"""Return what finds strings in the text of ids that come one by one, across any boundary of tokens.

    Parameters
    ----------
    tok : Tokenizer
    strings : iterable of str or bytes
        Special tokens are found by their text.

    Returns
    -------
    Matcher

    Raises
    ------
    ValueError
        There is no string, or one is empty.
    TypeError
        One is neither str nor bytes, or `strings` is a single one.

    Complexity
    ----------
    O(n^2) for n bytes of the longest string.

    Examples
    --------
    >>> import bpe, bpe.ids
    >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
    >>> stop = bpe.ids.matcher(tok, ["we"])
    >>> [stop.push(token_id) for token_id in tok.encode("lower")]
    [Pushed(found=[], ready=b'lo'), Pushed(found=[('we', 2)], ready=b''), Pushed(found=[], ready=b'r')]
    """
    return Matcher(tok.engine, strings)


class Matcher:
    """Strings in the text of ids that come one by one; made by :func:`bpe.ids.matcher`.

    A string is found as soon as its last byte has come; of several that end there, the longest. The search
    continues after it. One thread uses a matcher at a time.

    Examples
    --------
    >>> import bpe, bpe.ids
    >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
    >>> stop = bpe.ids.matcher(tok, ["we"])
    >>> stop.push(119).ready, stop.held, tok.decode([101]), stop.mask().nonzero()[0].tolist()
    (b'', b'w', 'e', [101])
    """

    def __init__(self, engine: Engine, strings: Iterable[str | bytes]) -> None:
        if isinstance(strings, (str, bytes)):
            raise TypeError("strings is a single string: put it in a list")
        given = [*strings]
        self._string_of = {utf8_of(string, f"strings[{i}]"): string for i, string in enumerate(given)}
        if not given or b"" in self._string_of:
            raise ValueError("strings must hold a string, and none that is empty")
        self._engine = engine
        self._longest_first = sorted(self._string_of, key=len, reverse=True)
        self._beginnings = {string[:n] for string in self._string_of for n in range(len(string) + 1)}
        self._first_bytes = frozenset(string[0] for string in self._string_of)
        self._decoder = None if engine.joins_bytes else engine.part_decoder("replace")
        self._held = b""
        self._n_bytes = 0  # of the text so far
        self._tokens: _SortedTokens | None = None  # made when a mask is wanted first

    @property
    def held(self) -> bytes:
        """The end of the text that may become a string; at the end of the text, show it."""
        return self._held

    def push(self, token_id: int) -> Pushed:
        """Take the next id; return the strings that are complete now, and text that can be shown.

        Raises
        ------
        ValueError, TypeError
            It has no token, or is not an integer; it is not taken.

        Complexity
        ----------
        O(b n) for b bytes of the token, n of the longest string; O(b) where no string can begin.

        Examples
        --------
        >>> import bpe, bpe.ids
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> bpe.ids.matcher(tok, ["ow"]).push(257)
        Pushed(found=[('ow', 1)], ready=b'l')
        """
        engine = self._engine
        token_id = as_integer(token_id, "token_id")
        data = (
            engine.decode([token_id])
            if self._decoder is None
            else self._decoder.decode([token_id], False).encode()
        )
        first = self._n_bytes - len(self._held)
        self._n_bytes += len(data)
        if not self._held and self._first_bytes.isdisjoint(data):
            return Pushed([], data)
        found, ready, held = list[tuple[str | bytes, int]](), bytearray(), self._held
        for value in data:
            held += bytes([value])
            n = next((n for n in range(len(held)) if held[n:] in self._beginnings), len(held))
            ready += held[:n]
            first, held = first + n, held[n:]
            string = next((string for string in self._longest_first if held.endswith(string)), None)
            if string is not None:
                begins = len(held) - len(string)
                ready += held[:begins]
                found.append((self._string_of[string], first + begins))
                first, held = first + len(held), b""
        self._held = held
        return Pushed(found, bytes(ready))

    def mask(self, out: np.ndarray | None = None) -> np.ndarray:
        """Return which ids would complete a string if they came next.

        Parameters
        ----------
        out : (vocab_size,) array of bool, optional
            Written to, and returned.

        Returns
        -------
        (vocab_size,) array of bool

        Raises
        ------
        ValueError
            A decoder of a ``tokenizer.json`` changes the texts of tokens, so that they have no bytes of their
            own.

        Complexity
        ----------
        O(n log v + k) for n bytes of the strings, v ids and k that complete one, and a copy of v bytes. The
        first call sorts the tokens.

        Examples
        --------
        >>> import bpe, bpe.ids
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> bpe.ids.matcher(tok, ["ow"]).mask().nonzero()[0].tolist()
        [257]
        """
        if self._decoder is not None:
            raise ValueError("the decoder of this tokenizer changes the texts of tokens: there is no mask")
        self._engine.vocabulary.refuse_far_ids("a mask of ids")
        if self._tokens is None:
            self._tokens = _SortedTokens(self._engine, self._longest_first)
        out = mask_of(self._engine.vocabulary.size, out)
        out[:] = self._tokens.holds_string
        for n in range(len(self._held)):
            begun = self._held[n:]
            for string in self._longest_first:
                if string.startswith(begun):
                    out[self._tokens.beginning_with(string[len(begun) :])] = True
        return out


class _SortedTokens:
    """The ids in the order of their bytes, and which of them hold one of some strings."""

    def __init__(self, engine: Engine, strings: list[bytes]) -> None:
        bytes_of = engine.vocabulary.bytes_of
        pairs = sorted((token, token_id) for token_id, token in bytes_of.items())
        self._tokens = [token for token, _ in pairs]
        self._ids = np.array([token_id for _, token_id in pairs], np.int64)
        self.holds_string = np.zeros(engine.vocabulary.size, bool)
        for string in strings:
            self.holds_string[self._ids[[string in token for token in self._tokens]]] = True

    def beginning_with(self, start: bytes) -> np.ndarray:
        """Return the ids whose bytes begin so."""
        first = bisect_left(self._tokens, start)
        after = start.rstrip(b"\xff")  # the first bytes that come after all these
        stop = len(self._tokens)
        if after:
            stop = bisect_left(self._tokens, after[:-1] + bytes([after[-1] + 1]))
        return self._ids[first:stop]
