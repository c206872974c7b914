r"""Places where a text can be cut in two without a change to any piece, by two neighbouring characters.

::

    The|_quick|_brown          gpt2: a letter, then a space. The current piece always ends between them, also
                               if the text ends there.
    two__three                 gpt2: a space, then a space. The run of spaces may continue: no cut.

The places follow from the automaton. Let *a* and *b* be neighbours, and take every state that the automaton
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

from bpe.scanning.automaton import Automaton


class Cuts:
    r"""The pairs of characters between which the texts of a pattern can be cut.

    Parameters
    ----------
    automata : sequence of Automaton
        The automata of the expressions, in the order of application; each has at most 256 symbols.

    Complexity
    ----------
    O(states * symbols ** 2).

    Examples
    --------
    >>> from bpe.scanning.automaton import compile_automaton
    >>> Cuts([compile_automaton(r"\w+|\s+")]).between(np.array([97, 98, 32, 32])).tolist()
    [False, True, False]
    """

    def __init__(self, automata: Sequence[Automaton]) -> None:
        looks_behind = any(automaton.looks_behind for automaton in automata)
        # For each expression: the symbol of each code point; and, by the symbols of two neighbours, whether
        # the matches on both sides are independent, and whether also a piece ends between them.
        self._stages: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for automaton in automata if not looks_behind else ():
            independent = _independent(automaton)
            covered = _always_in_a_match(automaton)
            ends = independent & (covered[:, None] | covered[None, :])
            self._stages.append((automaton.symbol_of.astype(np.uint8), independent, ends))

    def between(self, characters: np.ndarray) -> np.ndarray:
        """Say between which neighbours a text can be cut.

        Parameters
        ----------
        characters : (n,) integers
            Code points; a byte that is not valid UTF-8 is U+DC00 plus its value.

        Returns
        -------
        (n - 1,) bool
            Item i is for characters i and i + 1, with any text before and after these two.

        Complexity
        ----------
        O(n).
        """
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


def _independent(automaton: Automaton) -> np.ndarray:
    """Return, by two neighbouring symbols, whether no match contains both and none depends on both."""
    n, end = automaton.n_symbols, automaton.n_symbols
    independent = np.ones((n, n), bool)
    states = _reachable(automaton)
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


def _reachable(automaton: Automaton) -> list[int]:
    """Return the live states that can be reached from the start."""
    found = sorted({int(automaton.start_of[0]), int(automaton.start_not_empty_of[0])})
    for state in found:
        for follower in np.unique(automaton.next_state[state, : automaton.n_symbols]).tolist():
            if automaton.alive[follower] and follower not in found:
                found.append(follower)
    return found
