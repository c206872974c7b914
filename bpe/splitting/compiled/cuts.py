r"""Places where a text can be cut in two without a change to any piece, by two neighboring characters.

::

    The|_quick|_brown          gpt2: a letter, then a space. The current piece always ends between them, also
                               if the text ends there.
    two__three                 gpt2: a space, then a space. The run of spaces may continue: no cut.

The places follow from the automaton. Let *a* and *b* be neighbors, and take every state that the automaton
can have after *a*. The text can be cut between them if, in each of these states,

1. reading *b* ends the search for a match, and the match found does not contain *b*;
2. the end of the text, instead of *b*, gives the same match;

and if *a* or *b* is always part of a match: otherwise both may lie between two matches, in one piece.

Several expressions are applied one after the other. If a piece of one does not end there, a piece of the next
one may, as long as no match of an earlier expression can contain both characters.

A pattern that looks behind has no such places: the character before a text changes its first piece.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bpe.splitting.compiled.automaton import Automaton
from bpe.support.text import as_text, code_points, utf8_of, widths_of

_NEAR = 32  # bytes from the end that are looked at one by one, which is quicker than numpy


class Cuts:
    """The pairs of characters between which the texts of a pattern can be cut."""

    def __init__(self, automata: Sequence[Automaton]) -> None:
        looks_behind = any(automaton.looks_behind for automaton in automata)
        # For each expression: the symbol of each code point; and, by the symbols of two neighbors, whether
        # the matches on both sides are independent, and whether also a piece ends between them.
        self._stages: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for automaton in automata if not looks_behind else ():
            independent = _independent(automaton)
            covered = _always_in_a_match(automaton)
            ends = independent & (covered[:, None] | covered[None, :])
            self._stages.append((automaton.symbol_of, independent, ends))
        # Whether a text can be cut between two characters of ASCII: by the first times 128 plus the second.
        pairs = np.stack(np.divmod(np.arange(1 << 14), 128), axis=1).ravel()
        self._in_ascii = self._between(pairs)[::2].tobytes()

    def places(self, text: str | bytes) -> np.ndarray:
        """Return the places inside a part of a text where the text can be cut, ascending."""
        if isinstance(text, str):
            return np.flatnonzero(self._between(code_points(text))) + 1
        data = utf8_of(text)
        if data.isascii():
            return np.flatnonzero(self._between(np.frombuffer(data, np.uint8))) + 1
        first, last = _whole_characters(data)
        characters = code_points(as_text(data[first:last]))
        ends = first + np.cumsum(widths_of(characters))
        return ends[:-1][self._between(characters)]

    def between(self, before: str, after: str) -> bool | None:
        """Return whether a piece ends between two characters, in any text.

        False says only that no match of an expression has both of them, or depends on both; None, nothing.
        """
        pair = code_points(before + after)
        for symbol_of, independent, ends in self._stages:
            symbols = tuple(symbol_of[pair].tolist())
            if ends[symbols]:
                return True
            if not independent[symbols]:
                return None
        return False if self._stages else None

    def last_near(self, data: bytes, start: int, stop: int) -> int:
        """Return the last place, ``start < p <= stop``, if it is near `stop` and in ASCII; else `start`."""
        in_ascii = self._in_ascii
        for place in range(min(stop, len(data) - 1), max(start, stop - _NEAR), -1):
            before, after = data[place - 1], data[place]
            if before >= 128 or after >= 128:
                break
            if in_ascii[before << 7 | after]:
                return place
        return start

    def _between(self, characters: np.ndarray) -> np.ndarray:
        """Return whether a text can be cut between each two neighbors of n code points: (n - 1,) bool."""
        n = max(len(characters) - 1, 0)
        can_cut, is_open = np.zeros(n, bool), None
        for symbol_of, independent, ends in self._stages:
            symbols = symbol_of[characters].astype(np.intp)
            pairs = symbols[:-1] * len(ends) + symbols[1:]
            ends_here = ends.ravel()[pairs]
            can_cut |= ends_here if is_open is None else ends_here & is_open
            if symbol_of is not self._stages[-1][0]:
                still = independent.ravel()[pairs]
                is_open = still if is_open is None else is_open & still
        return can_cut


def _whole_characters(data: bytes) -> tuple[int, int]:
    """Return the range of bytes without the characters that may be cut off at the ends."""
    first = next((i for i, byte in enumerate(data[:4]) if byte & 0xC0 != 0x80), min(len(data), 4))
    for back in range(1, min(4, len(data) - first) + 1):
        if data[-back] >= 0xC0:  # the first byte of a character of two to four
            width = 2 + (data[-back] >= 0xE0) + (data[-back] >= 0xF0)
            return first, len(data) - (back if width > back else 0)
    return first, len(data)


def _independent(automaton: Automaton) -> np.ndarray:
    """Return, by two neighboring symbols, whether no match contains both and none depends on both."""
    n, end = automaton.n_symbols, automaton.n_symbols
    independent = np.ones((n, n), bool)
    # The live states that can be reached: no dead state leads to a live one.
    starts = [int(automaton.start_of[0]), int(automaton.start_not_empty_of[0])]
    states = automaton.reachable(starts, slice(0, n))
    last_found = automaton.delay_of[automaton.next_state]
    # By state and symbol: no further match can follow, and the last match is the same as at the end of the
    # text, where it cannot contain a later symbol.
    same = ~automaton.alive[automaton.next_state[:, :n]] & (last_found[:, :n] == last_found[:, [end]])
    same &= last_found[:, :n] != 0
    for symbol in range(n):
        after = np.unique(automaton.next_state[states, symbol])
        after = after[automaton.alive[after]]
        independent[symbol] = same[after].all(axis=0)
    return independent


def _always_in_a_match(automaton: Automaton) -> np.ndarray:
    """Return, by symbol, whether every text that begins with it has a match there that contains it."""
    starts = np.unique([automaton.start_of[0], automaton.start_not_empty_of[0]])
    after = automaton.next_state[starts, : automaton.n_symbols]
    return (automaton.delay_of[after] == 0).all(axis=0)
