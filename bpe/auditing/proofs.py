r"""Proofs that no text is encoded to a token.

**By ranks.** Let a token be in the ids of some piece. No merge has crossed the two ends of its bytes there.
So the merges inside of them are those of its bytes alone: at each step, the pair that is merged has the
lowest rank of the whole piece, and is the leftmost of them, so it is that of its bytes alone, too. So if the
bytes of a token, as one piece, do not merge to it, no piece gives it, whatever is around: it is *rank-dead*.
A token that is taken whole is given by a piece with exactly its bytes. (Encoding with dropout leaves merges
out, and may give it all the same.)

**By the pattern.** A piece is a match, or lies between two matches. The states are taken that the automaton
can have after any beginning of a match; the characters of the token are read from all of them; and what may
follow is read on. If this finds no match that ends after the token, no match holds it. If the pattern covers
every text, or a match begins at one of these characters whatever follows, no piece between matches holds it,
either: the token is *pattern-dead*. The states that are taken are more than those of real texts, so that a
proof is right, but may be missing.

A character that the token has only a part of may be any character with these bytes, or each byte may stand
by itself, as it does in bytes that are not UTF-8. All of these are tried.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bpe.splitting.compiled.automaton import MAX_DELAY, NO_MATCH, Automaton, compile_automaton
from bpe.splitting.compiled.syntax import UnsupportedError
from bpe.splitting.pattern import Pattern

_WIDEST = 4  # bytes of a character
_LONGEST = 1024  # bytes of a token that are read: what no piece holds a part of, none holds
_FEW = 16  # characters in which a match is looked for


class Pieces:
    """What the pieces of a pattern can hold."""

    def __init__(self, pattern: Pattern) -> None:
        self._stages: list[_Stage] | None
        try:
            self._stages = [_Stage(compile_automaton(source)) for source in pattern.sources]
        except UnsupportedError:
            self._stages = None

    def can_hold(self, token: bytes) -> bool:
        """Return whether a piece may hold these bytes; False is proved."""
        return self._stages is None or all(stage.can_hold(token[:_LONGEST]) for stage in self._stages)

    def can_be(self, token: bytes) -> bool:
        """Return whether a piece may have exactly these bytes; else as :meth:`can_hold`."""
        # A later expression cuts what an earlier one held.
        if self._stages is None or len(self._stages) > 1 or len(token) > _LONGEST:
            return self.can_hold(token)
        return self._stages[0].can_be(token)


class _Stage:
    """The pieces of one expression."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self.starts = np.unique(np.concatenate([automaton.start_of, automaton.start_not_empty_of]))
        within = np.array(automaton.reachable(self.starts.tolist(), slice(0, automaton.n_symbols)))
        self.within = within[automaton.alive[within]]
        self.covers = automaton.covers
        after = automaton.next_state[self.starts, : automaton.n_symbols]
        self.always = (automaton.delay_of[after] == 0).all(
            axis=0
        )  # by symbol: it is in a match wherever it is

    def can_hold(self, token: bytes) -> bool:
        for symbols in self._spellings(token):
            if not symbols or self._in_gap(symbols):
                return True
            states = self._after(self.within, symbols)
            if len(states) and self._match_may_end_after(states):
                return True
        return False

    def can_be(self, token: bytes) -> bool:
        symbols = next(self._spellings(token))  # a piece has whole characters
        if self._in_gap(symbols):
            return True
        states, (delay_of, next_state) = self._after(self.starts, symbols), self._tables
        edge = self.automaton.n_symbols
        for later in range(MAX_DELAY + 1):
            if (delay_of[states] == later).any() or (delay_of[next_state[states, edge]] == later + 1).any():
                return True
            states = np.unique(next_state[states, :edge])
        return False

    @property
    def _tables(self) -> tuple[np.ndarray, np.ndarray]:
        return self.automaton.delay_of, self.automaton.next_state

    def _in_gap(self, symbols: list[list[int]]) -> bool:
        """Return whether these may lie between two matches: none begins there, whatever follows."""
        return not self.covers and not any(
            self._match_begins(symbols[i : i + _FEW]) for i in range(len(symbols))
        )

    def _match_begins(self, symbols: list[list[int]]) -> bool:
        """Return whether every text that begins with these has a match there."""
        states = self.starts
        for which in symbols:
            states = self._after(states, [which])
            states = states[self.automaton.delay_of[states] == NO_MATCH]
            if not len(states):
                return True
        return False

    def _after(self, states: np.ndarray, symbols: list[list[int]]) -> np.ndarray:
        """Return the states after some symbols, of each of which several may be read."""
        for which in symbols:
            states = np.unique(self.automaton.next_state[states][:, which])
        return states

    def _match_may_end_after(self, states: np.ndarray) -> bool:
        """Return whether a match may be found that has all symbols which were read before these states."""
        (delay_of, next_state), edge = self._tables, self.automaton.n_symbols
        for later in range(MAX_DELAY + 1):
            at_edge = next_state[states, edge]
            for found, longest in ((delay_of[states], later), (delay_of[at_edge], later + 1)):
                if ((found != NO_MATCH) & (found <= longest)).any():
                    return True
            states = np.unique(next_state[states, :edge])
        states = np.array(self.automaton.reachable(states.tolist(), slice(0, edge)))
        return bool((delay_of[np.append(states, next_state[states, edge])] != NO_MATCH).any())

    def _spellings(self, token: bytes) -> Iterator[list[list[int]]]:
        """Yield, for each way to read the bytes, the symbols that each character may have."""
        symbol_of = self.automaton.symbol_of
        n_tails = len(token) - len(token.lstrip(bytes(range(0x80, 0xC0))))
        for n_before in range(min(n_tails, _WIDEST - 1) + 1):  # bytes of a character that begins before
            rest = token[n_before:]
            yield [[int(symbol_of[code])] for code in _codes(rest)]
            for start in range(max(0, len(rest) - _WIDEST + 1), len(rest)):
                codes = codes_beginning_with(rest[start:])
                if codes is not None:
                    whole = [[int(symbol_of[code])] for code in _codes(rest[:start])]
                    yield [*whole, np.unique(symbol_of[codes.start : codes.stop]).tolist()]


def _codes(data: bytes) -> list[int]:
    return [ord(character) for character in data.decode("utf-8", "surrogateescape")]


def codes_beginning_with(data: bytes) -> range | None:
    r"""Return the code points of the characters whose UTF-8 begins with some bytes, and goes on."""
    first = data[0]
    width = 2 if 0xC2 <= first < 0xE0 else 3 if 0xE0 <= first < 0xF0 else 4 if 0xF0 <= first < 0xF5 else 0
    if len(data) >= width or any(byte & 0xC0 != 0x80 for byte in data[1:]):
        return None
    code = first & (0x7F >> width)
    for byte in data[1:]:
        code = code << 6 | byte & 0x3F
    missing = 6 * (width - len(data))
    low = max(code << missing, {2: 0x80, 3: 0x800, 4: 0x10000}[width])
    high = min((code + 1) << missing, 0x110000)
    return range(low, high) if low < high else None
