r"""Proofs that no text is encoded to a token.

**By ranks.** Suppose that a token is in the ids of some piece. No merge has crossed either end of its bytes
there. So the merges inside these bytes are the merges of these bytes alone: at each step, the merged pair is
the leftmost one of the lowest rank in the whole piece; if it lies inside the bytes, it is also the one that
these bytes alone would merge next. Therefore, if the bytes of a token, as one piece, do not merge to the
token, then no piece contains it, whatever surrounds the bytes: it is *rank-dead*. A token that is taken whole
occurs only in a piece with exactly its bytes. (Encoding with dropout skips merges, and may still make it.)

**By the pattern.** A piece is a match, or lies between two matches. Take all states that the automaton can
have after any beginning of a match, read the characters of the token from each of them, and then any
characters that may follow. If no match is found that ends after the token, no match contains it. If, in
addition, the pattern covers every text, or a match begins at one of these characters whatever follows, then
no piece between matches contains it either: the token is *pattern-dead*. These are more states than real
texts reach, so a proof is always correct, but some proofs are not found.

Where the token has only a part of a character, this may be any character with these bytes, or each byte may
be one of its own, as in text that is not valid UTF-8. All of these readings are tried.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bpe.splitting.compiled.automaton import MAX_DELAY, NO_MATCH, Automaton, compile_automaton
from bpe.splitting.compiled.syntax import UnsupportedError
from bpe.splitting.pattern import Pattern
from bpe.support.text import codes_beginning_with

_WIDEST = 4  # bytes of a character
_LONGEST = 1024  # bytes of a token that are read: if no piece contains these, no piece contains the token
_FEW = 16  # characters in which a match must be found


class Pieces:
    """What the pieces of a pattern can contain."""

    def __init__(self, pattern: Pattern) -> None:
        self._stages: list[_Stage] | None
        try:
            self._stages = [_Stage(compile_automaton(source)) for source in pattern.sources]
        except UnsupportedError:
            self._stages = None

    def can_hold(self, token: bytes) -> bool:
        """Return whether a piece may contain these bytes; False is proved, True is not."""
        return self._stages is None or all(stage.can_hold(token[:_LONGEST]) for stage in self._stages)

    def can_be(self, token: bytes) -> bool:
        """Return whether a piece may have exactly these bytes; False is proved, True is not."""
        # With several expressions, a later one cuts the pieces of the earlier ones.
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
        # By symbol: whether it is in a match wherever it occurs.
        self.always = (automaton.delay_of[after] == 0).all(axis=0)

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
        states, edge = self._after(self.starts, symbols), self.automaton.n_symbols
        delay_of, next_state = self.automaton.delay_of, self.automaton.next_state
        for later in range(MAX_DELAY + 1):
            if (delay_of[states] == later).any() or (delay_of[next_state[states, edge]] == later + 1).any():
                return True
            states = np.unique(next_state[states, :edge])
        return False

    def _in_gap(self, symbols: list[list[int]]) -> bool:
        """Return whether these symbols may lie between two matches: no match is certain to begin there."""
        return not self.covers and not any(
            self._match_begins(symbols[i : i + _FEW]) for i in range(len(symbols))
        )

    def _match_begins(self, symbols: list[list[int]]) -> bool:
        """Return whether every text that begins with these symbols has a match there."""
        states = self.starts
        for which in symbols:
            states = self._after(states, [which])
            states = states[self.automaton.delay_of[states] == NO_MATCH]
            if not len(states):
                return True
        return False

    def _after(self, states: np.ndarray, symbols: list[list[int]]) -> np.ndarray:
        """Return the states after a sequence of symbols; at each position, any of several may be read."""
        for which in symbols:
            states = np.unique(self.automaton.next_state[states][:, which])
        return states

    def _match_may_end_after(self, states: np.ndarray) -> bool:
        """Return whether a match may be found that contains all symbols read before these states."""
        delay_of, next_state = self.automaton.delay_of, self.automaton.next_state
        edge = self.automaton.n_symbols
        for later in range(MAX_DELAY + 1):
            at_edge = next_state[states, edge]
            for found, longest in ((delay_of[states], later), (delay_of[at_edge], later + 1)):
                if ((found != NO_MATCH) & (found <= longest)).any():
                    return True
            states = np.unique(next_state[states, :edge])
        states = np.array(self.automaton.reachable(states.tolist(), slice(0, edge)))
        return bool((delay_of[np.append(states, next_state[states, edge])] != NO_MATCH).any())

    def _spellings(self, token: bytes) -> Iterator[list[list[int]]]:
        """Yield, for each reading of the bytes, the possible symbols of each character."""
        symbol_of = self.automaton.symbol_of
        n_continuation = len(token) - len(token.lstrip(bytes(range(0x80, 0xC0))))
        for n_before in range(min(n_continuation, _WIDEST - 1) + 1):
            rest = token[n_before:]  # without the end of a character that begins before the token
            yield [[int(symbol_of[code])] for code in _codes(rest)]
            for start in range(max(0, len(rest) - _WIDEST + 1), len(rest)):
                codes = codes_beginning_with(rest[start:])
                if codes is not None:
                    whole = [[int(symbol_of[code])] for code in _codes(rest[:start])]
                    yield [*whole, np.unique(symbol_of[codes.start : codes.stop]).tolist()]


def _codes(data: bytes) -> list[int]:
    return [ord(character) for character in data.decode("utf-8", "surrogateescape")]
