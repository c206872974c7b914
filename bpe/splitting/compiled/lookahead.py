r"""Tails: what a search reads beyond the end of its match, and whether texts can make it read that again.

::

    pattern  a[^\n]*b|.      text  a a a a a a        every search reads to the end of the text, and its
                                   ======== tail      match is the first character: n searches, n * n steps
    pattern  \s*\n|\s|\S     text  \n _ _ _ x         the search from the newline reads the spaces, and again
                                      ===== tail      each space reads all others

A search is in its *tail* after the last match it finds. There it is in states that a match does not end in,
and from which it can end without one. From some of these, the *endless* ones, a text of any length can lead
to others of the kind. From all others, a tail ends after a few characters.

If two searches are never in one endless state at one place of a text, then only as many searches can read
a place as there are such states, and the work is linear. Pairs of states tell: one of a search that was
begun earlier, one of a search that begins where the first is in its tail. If a pair meets, the kernels must
remember what failed (:mod:`bpe.splitting.compiled.matching`).

Source: Reps, "Maximal-munch tokenization in linear time", 1998, which remembers always.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bpe.splitting.compiled.automaton import MAX_DELAY, NO_MATCH, Automaton
from bpe.splitting.compiled.syntax import UnsupportedError, Work

MAX_TAIL = 256
"""How many states may be endless, and how many characters a tail without them may have."""

_ENTRIES = 50  # entries of the transition table which are looked at in one step of work
_MAX_STATES = 2_000  # for which pairs are looked at
_PAIR_STEPS = 200_000


@dataclass(frozen=True)
class Tails:
    """The tails of an automaton."""

    endless: np.ndarray
    meet: bool


def find_tails(automaton: Automaton, work: Work | None = None) -> Tails:
    r"""Return the tails of an automaton."""
    work = work or Work()
    endless = _endless(automaton, work)
    n_endless = int(endless.sum())
    if n_endless > MAX_TAIL:
        raise UnsupportedError("an expression that looks far beyond its match, in very many states")
    return Tails(np.flatnonzero(endless), bool(n_endless) and _may_meet(automaton, endless, work))


def _endless(automaton: Automaton, work: Work) -> np.ndarray:
    """Say which states are endless."""
    no_match = automaton.delay_of == NO_MATCH
    follower = automaton.next_state
    # A search ends where no match can follow, or after the end of the text.
    ends = (no_match & ~automaton.alive)[follower]
    ends[:, -1] |= no_match[follower[:, -1]]
    left = no_match & automaton.alive & ends.any(axis=1)
    steps = 1 + follower.size // _ENTRIES
    for _ in range(MAX_TAIL + 1):
        work.add(steps)
        before = left
        left = no_match & automaton.alive & (left | left[follower].any(axis=1))
        if (left == before).all():
            break
    else:
        raise _looks_far()
    for _ in range(MAX_TAIL + 1):
        work.add(steps)
        ending = left & ~left[follower[:, :-1]].any(axis=1)
        if not ending.any():
            return left
        left &= ~ending
    raise _looks_far()


def _looks_far() -> UnsupportedError:
    return UnsupportedError(f"an expression that looks more than {MAX_TAIL} characters beyond its match")


def _may_meet(automaton: Automaton, endless: np.ndarray, work: Work) -> bool:
    """Say whether two searches may meet in an endless state; also where it takes too long to find out."""
    n, symbols = len(automaton.next_state), slice(0, automaton.n_symbols)
    if n > _MAX_STATES:
        return True
    follower, delay_of, alive = automaton.next_state[:, symbols], automaton.delay_of, automaton.alive
    known = np.zeros((n, n), np.bool_)
    own = Work(min(_PAIR_STEPS, work.limit - work.done))

    def step(pairs: np.ndarray) -> np.ndarray:
        """Return the pairs of live states after each symbol."""
        work.add(len(pairs) * (1 + automaton.n_symbols // _ENTRIES))
        own.add(len(pairs) * (1 + automaton.n_symbols // _ENTRIES))
        after = np.stack([follower[pairs[:, 0]].ravel(), follower[pairs[:, 1]].ravel()], axis=1)
        return np.unique(after[alive[after].all(axis=1)], axis=0)

    # The second search begins where the first one's match ended: at most MAX_DELAY symbols before its tail.
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
