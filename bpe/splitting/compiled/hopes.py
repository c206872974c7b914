r"""Hopes: the two characters with which a match may begin, for patterns whose matches are far apart.

A pattern such as that of SuperBPE matches numbers and some punctuation, and what lies between its matches, a
sentence or so, is a piece. Most places there are *hopeless*: the automaton finds no match after two
characters. 63 places at a time are looked at, as with :mod:`bpe.splitting.compiled.windows`: characters of ASCII that
are alike have a bit, and two neighbours that may begin a match are in a *product* of two sets of bits::

    pattern    \d+|[.,]{2,}
    text       o n e ,   2 0 . .
    bits       1 1 1 2 1 4 4 2 2          1: no part of a match, 2: [.,], 4: \d
    products   (4, any)  (2, 2)
    hopes                * *  *           * is where the automaton is asked
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bpe.splitting.compiled.automaton import NO_MATCH, Automaton
from bpe.splitting.compiled.windows import GROUPS

HOPED = 2  # characters
_N_ASCII = 128


@dataclass(frozen=True)
class Hopes:
    """The hopes of an automaton."""

    group_of: np.ndarray
    products: np.ndarray


def derive_hopes(automaton: Automaton) -> Hopes | None:
    r"""Return the hopes of an automaton; None where they would not help."""
    start = int(automaton.start_of[0])
    if automaton.looks_behind or automaton.delay_of[start] != NO_MATCH or automaton.covers:
        return None
    symbols = np.unique(automaton.symbol_of[:_N_ASCII])
    after = automaton.next_state[start, symbols]
    later = automaton.next_state[after][:, symbols]
    found, found_later = automaton.delay_of[after] != NO_MATCH, automaton.delay_of[later] != NO_MATCH
    # By the first symbol and the second.
    is_hope = found[:, None] | (automaton.alive[after][:, None] & (automaton.alive[later] | found_later))
    alike = np.concatenate([is_hope, is_hope.T], axis=1)
    _, first_of, group = np.unique(alike, axis=0, return_index=True, return_inverse=True)
    if len(first_of) > GROUPS or is_hope.all() or not is_hope.any():
        return None
    bits = 1 << np.arange(len(first_of))
    group_of = np.zeros(automaton.n_symbols, np.uint8)
    group_of[symbols] = bits[group.ravel()]
    seconds = is_hope[np.ix_(first_of, first_of)] @ bits
    products = [(bit, second) for bit, second in zip(bits.tolist(), seconds.tolist(), strict=True) if second]
    return Hopes(group_of, np.array(products, np.uint8).reshape(-1, HOPED))
