r"""Lookahead: what a search reads beyond the end of its match, and whether it can be read again and again.

::

    pattern  a[^\n]*b|.      text  a a a a a a        every search reads to the end of the text, and its
                                   ========           match is the first character: n searches, n * n steps
    pattern  \s*\n|\s|\S     text  \n _ _ _ x         the search from the newline reads the spaces, and again
                                      =====           each space reads all others

(An assertion such as ``(?=a)`` is something else: :class:`bpe.splitting.compiled.syntax.Look`.)

A search *looks ahead* after the last match it finds. There it is in states that a match does not end in, and
from which it can end without one. From some of these, the *endless* ones, a text of any length can lead to
others of the kind. From all others, the lookahead ends after a few characters.

If two searches are never in one endless state at one place of a text, then only as many searches can read
a place as there are such states, and the work is linear. Pairs of states tell: one of a search that began
earlier, one of a search that begins where the first one looks ahead. If a pair meets, the kernels must
memoize what failed (:mod:`bpe.splitting.compiled.matching`).

Source: Reps, "Maximal-munch tokenization in linear time", 1998, which always memoizes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bpe.splitting.compiled.automaton import MAX_DELAY, NO_MATCH, Automaton
from bpe.splitting.compiled.syntax import StepBudget, UnsupportedError

MAX_LOOKAHEAD = 256
"""How many states may be endless, and how many characters a lookahead without them may have."""

_ENTRIES = 50  # entries of the transition table which are looked at in one step of the budget
_MAX_STATES = 2_000  # for which pairs are looked at
_PAIR_STEPS = 200_000


@dataclass(frozen=True)
class Lookahead:
    """The lookahead of an automaton."""

    endless: np.ndarray  # (n,) int64: the endless states
    meet: bool  # whether two searches may meet in one of them

    @property
    def set_bytes(self) -> int:
        """Bytes of a set of endless states, a bit each; 0 if nothing has to be memoized."""
        return -(-len(self.endless) // 8) if self.meet else 0


def find_lookahead(automaton: Automaton, budget: StepBudget | None = None) -> Lookahead:
    """Return the lookahead of an automaton; ``UnsupportedError`` where :data:`MAX_LOOKAHEAD` is exceeded."""
    budget = budget or StepBudget()
    endless = _endless(automaton, budget)
    n_endless = int(endless.sum())
    if n_endless > MAX_LOOKAHEAD:
        raise UnsupportedError("an expression that looks far beyond its match, in too many states")
    return Lookahead(np.flatnonzero(endless), bool(n_endless) and _may_meet(automaton, endless, budget))


def _endless(automaton: Automaton, budget: StepBudget) -> np.ndarray:
    """Return whether each state is endless: (states,) bool."""
    no_match = automaton.delay_of == NO_MATCH
    follower = automaton.next_state
    # A search ends where no match can follow, or after the end of the text.
    ends = (no_match & ~automaton.alive)[follower]
    ends[:, -1] |= no_match[follower[:, -1]]
    left = no_match & automaton.alive & ends.any(axis=1)
    steps = 1 + follower.size // _ENTRIES
    for _ in range(MAX_LOOKAHEAD + 1):
        budget.spend(steps)
        before = left
        left = no_match & automaton.alive & (left | left[follower].any(axis=1))
        if (left == before).all():
            break
    else:
        raise _looks_far()
    for _ in range(MAX_LOOKAHEAD + 1):
        budget.spend(steps)
        ending = left & ~left[follower[:, :-1]].any(axis=1)
        if not ending.any():
            return left
        left &= ~ending
    raise _looks_far()


def _looks_far() -> UnsupportedError:
    return UnsupportedError(f"an expression that looks more than {MAX_LOOKAHEAD} characters beyond its match")


def _may_meet(automaton: Automaton, endless: np.ndarray, budget: StepBudget) -> bool:
    """Return whether two searches may meet in an endless state; True where it takes too long to find out."""
    n, symbols = len(automaton.next_state), slice(0, automaton.n_symbols)
    if n > _MAX_STATES:
        return True
    follower, delay_of, alive = automaton.next_state[:, symbols], automaton.delay_of, automaton.alive
    known = np.zeros((n, n), np.bool_)
    pair_budget = StepBudget(min(_PAIR_STEPS, budget.limit - budget.spent))

    def step(pairs: np.ndarray) -> np.ndarray:
        """Return the pairs of live states after each symbol."""
        budget.spend(len(pairs) * (1 + automaton.n_symbols // _ENTRIES))
        pair_budget.spend(len(pairs) * (1 + automaton.n_symbols // _ENTRIES))
        after = np.stack([follower[pairs[:, 0]].ravel(), follower[pairs[:, 1]].ravel()], axis=1)
        return np.unique(after[alive[after].all(axis=1)], axis=0)

    # The second search begins where the first one's match ended: at most MAX_DELAY symbols before this.
    starts = np.unique(np.concatenate([automaton.start_of, automaton.start_not_empty_of]))
    entered = np.unique(follower[alive])
    young = np.stack([each.ravel() for each in np.meshgrid(entered, starts[alive[starts]])], axis=1)
    empty_first = np.stack([automaton.start_of, automaton.start_not_empty_of], axis=1)
    young = np.concatenate([young, empty_first[empty_first[:, 0] != empty_first[:, 1]]])
    young = young[alive[young].all(axis=1)]
    fresh = [young]
    try:
        for age in range(1, MAX_DELAY + 1):
            young = step(young)
            fresh.append(young[delay_of[young[:, 0]] == age])
        pairs = np.unique(np.concatenate(fresh), axis=0)
        while len(pairs):
            if ((pairs[:, 0] == pairs[:, 1]) & endless[pairs[:, 0]]).any():
                return True
            known[pairs[:, 0], pairs[:, 1]] = True
            pairs = step(pairs)
            pairs = pairs[endless[pairs[:, 0]] & ~known[pairs[:, 0], pairs[:, 1]]]
    except UnsupportedError:
        return True
    return False
