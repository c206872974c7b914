r"""Windows: the few characters around a place that decide, without a state, whether a piece ends there.

The :data:`BEHIND` characters before a place and the :data:`AHEAD` characters after it nearly always decide if
a piece ends there. The automaton tells which windows decide, and how::

    window     t h e | _ d        a piece ends at the bar, with any text around the window
               e _ d | o g        no piece ends at the bar
               n ' r | e a        (gpt2) it depends on characters further away: *open*

Symbols that the automaton treats alike are one *group*. There are at most :data:`GROUPS` groups; each is a
bit of a byte, so that a set of groups is a byte, too. If there were more groups, the symbols that cause them
(for gpt2 the apostrophe: without it, no letter differs from another) share the last group, or have no group;
then their windows are open. Open windows are left to the automaton.

The edge after a segment is a group of its own, if there are not too many: a piece ends before it.

The windows in which a piece ends are a union of *products*: sets of groups, one set for each place.

The verdicts are found like this. A text and its true pieces, which are matches and what lies between two of
them, are a path through *configurations* (:mod:`bpe.splitting.compiled.configurations`). All configurations
are run over every window. If all paths that survive, with any text after the window, agree whether a piece
ends at the bar, then the window decides.

Patterns whose matches are far apart have a *prefilter* instead: the two characters with which a match may
begin. A pattern such as that of SuperBPE matches numbers and some punctuation, and what lies between its
matches, a sentence or so, is a piece. At most places there the automaton finds no match after two characters.
63 places at a time are looked at: characters of ASCII that are alike have a bit, and two neighbors that may
begin a match are in a product of two sets of bits::

    pattern     \d+|[.,]{2,}
    text        o n e ,   2 0 . .
    bits        1 1 1 2 1 4 4 2 2          1: no part of a match, 2: [.,], 4: \d
    products    (4, any)  (2, 2)
    candidates            * *  *           * is where the automaton is asked
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bpe.splitting.compiled.automaton import NO_MATCH, Automaton
from bpe.splitting.compiled.classes import N_CODE_POINTS
from bpe.splitting.compiled.configurations import Configurations
from bpe.splitting.compiled.syntax import StepBudget, UnsupportedError

BEHIND, AHEAD = 3, 2
GROUPS = 8
PLACES = BEHIND + AHEAD
_MAX_PRODUCTS = 64
_ENTRIES = 100  # of the transition table, which are looked at in one step of the budget

# Roughly how often a character occurs in text and source code: the rarest lose their group.
_FREQUENT_FIRST = (
    " etaoinsrhldcumfpgwybvk\n,.ITASxCMBPH'\"EWDRLNO-jFGzqUJVKY0123456789_()\t/;:=<>*#![]{}?QXZ$+&|\\@%^~`\r"
)

_NO, _YES, _OPEN, _NEVER = 0, 1, 2, 3  # the last: no text has this window


@dataclass(frozen=True)
class Windows:
    """The windows of an automaton."""

    group_of: np.ndarray  # (symbols + 1,) uint8: the bit of the group, by symbol; the last is the edge's
    # Products, (n, PLACES) uint8 each: the windows in which a piece ends, and the open ones. The former may
    # cover open windows, where they mean nothing.
    ends: np.ndarray
    open: np.ndarray


# ------------------------------------------------------------------------------------------------ groups
def _grouped(automaton: Automaton, symbols: list[int], budget: StepBudget) -> list[list[int]]:
    """Return groups of symbols that lead from every state to the same next state."""
    budget.spend(automaton.next_state.size // _ENTRIES + len(automaton.next_state))
    rows = automaton.next_state[automaton.reachable([automaton.start_of[0]], symbols)]
    groups: dict[tuple[int, ...], list[int]] = {}
    for symbol in symbols:
        groups.setdefault(tuple(rows[:, symbol].tolist()), []).append(symbol)
    return list(groups.values())


def _ascii_frequency(automaton: Automaton) -> np.ndarray:
    """Return, by symbol, roughly how often its characters of ASCII occur."""
    frequencies = [1 / (1 + (_FREQUENT_FIRST + chr(c)).index(chr(c))) for c in range(128)]
    return np.bincount(automaton.symbol_of[:128], frequencies, automaton.n_symbols)


def _choose_groups(automaton: Automaton, budget: StepBudget) -> list[list[int]]:
    """Return at most :data:`GROUPS` groups of the symbols."""
    blocks = range(0, N_CODE_POINTS, 1 << 16)  # numpy makes an int64 of each
    n_characters = sum(
        np.bincount(automaton.symbol_of[i : i + (1 << 16)], minlength=automaton.n_symbols) for i in blocks
    )
    frequency = _ascii_frequency(automaton) + 1e-5 * n_characters
    alike = sorted(range(automaton.n_symbols), key=lambda symbol: -frequency[symbol])
    groups = _grouped(automaton, alike, budget)
    others: list[int] = []
    while len(groups) > GROUPS:
        # Give up the symbol that frees most groups for its frequency.
        without = {symbol: [other for other in alike if other != symbol] for symbol in alike}
        gain = {
            symbol: len(groups) - len(_grouped(automaton, left, budget)) for symbol, left in without.items()
        }
        given_up = max(alike, key=lambda symbol: gain[symbol] / frequency[symbol])
        others.append(given_up)
        alike = without[given_up]
        groups = _grouped(automaton, alike, budget)
    return [*groups, others] if others and len(groups) < GROUPS else groups


# ---------------------------------------------------------------------------------------------- verdicts
def _find_verdicts(automaton: Automaton, groups: list[list[int]], budget: StepBudget) -> np.ndarray:
    """Return the verdict of every window: (groups,) * PLACES; a group without symbols is the edge."""
    found = Configurations([automaton], [(symbol,) for symbol in range(automaton.n_symbols)], budget)
    ways = [{(here, False), *((after, True) for after in cuts)} for here, cuts in enumerate(found.cuts_of)]
    # [configuration][group]: the configurations after it, and whether a piece ends before them
    steps: list[list[set[tuple[int, bool]]]] = []
    for row in found.next_of.tolist():
        after = [{row[symbol] for symbol in group} - {-1} for group in groups]
        steps.append([set().union(*(ways[here] for here in each)) for each in after])
    verdict_of: dict[tuple[int, frozenset[tuple[int, bool]]], np.ndarray] = {}

    def run(place: int, paths: frozenset[tuple[int, bool]]) -> np.ndarray:
        """Return the verdicts after some paths: pairs (configuration, whether a piece ended at the bar)."""
        if place == PLACES:
            ended = {bit for _, bit in paths}
            verdict = _OPEN if len(ended) > 1 else _YES if True in ended else _NO
            return np.array(verdict if ended else _NEVER, np.uint8)
        if (place, paths) not in verdict_of:
            budget.spend(len(groups) * (1 + len(paths)))
            verdict_of[place, paths] = np.stack(
                [run(place + 1, read(place, paths, g)) for g in range(len(groups))]
            )
        return verdict_of[place, paths]

    def read(place: int, paths: frozenset[tuple[int, bool]], group: int) -> frozenset[tuple[int, bool]]:
        """Return the paths after one more character."""
        at_bar = place == BEHIND - 1
        if not groups[group]:  # the text ends before the edge, and another begins after it
            bits = {bit for here, bit in paths if found.may_end[here]}
            bits = {place == BEHIND} if bits and place in (BEHIND - 1, BEHIND) else bits
            return frozenset((here, bit) for here in found.first for bit in bits)
        after = ((after, ended, bit) for here, bit in paths for after, ended in steps[here][group])
        return frozenset((here, ended if at_bar else bit) for here, ended, bit in after)

    return run(0, frozenset((here, False) for here in range(len(steps))))


# --------------------------------------------------------------------------------------------- products
def _products(wanted: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Cover the `wanted` windows by products inside the `allowed` windows; stop where there are too many.

    This is greedy. A product grows from a window that is not covered yet: first to all groups of a place,
    with the outermost places first, then by single groups.
    """
    n = wanted.shape[0]
    left = wanted.copy()
    products: list[list[int]] = []
    outermost_first = sorted(range(PLACES), key=lambda place: -abs(place - BEHIND + 0.5))

    def allowed_at(place: int) -> np.ndarray:
        """Return which groups of a place the product may have, whatever it has of them now."""
        wider = allowed[np.ix_(*chosen[:place], np.arange(n), *chosen[place + 1 :])]
        return wider.all(axis=tuple(k for k in range(PLACES) if k != place))

    while left.any() and len(products) <= _MAX_PRODUCTS:
        chosen = [np.array([group]) for group in np.unravel_index(left.argmax(), left.shape)]
        for place in outermost_first:
            if allowed_at(place).all():
                chosen[place] = np.arange(n)
        for place in reversed(outermost_first):
            chosen[place] = np.flatnonzero(allowed_at(place))
        left[np.ix_(*chosen)] = False
        products.append([sum(1 << group for group in groups.tolist()) for groups in chosen])
    return np.array(products, np.uint8).reshape(-1, PLACES)


def derive_windows(automaton: Automaton, budget: StepBudget | None = None) -> Windows | None:
    """Return the windows of an automaton; None if they would not help or take too many steps."""
    if automaton.looks_behind or not np.array_equal(automaton.start_of, automaton.start_not_empty_of):
        return None
    budget = budget or StepBudget()
    try:
        groups = _choose_groups(automaton, budget)
        if len(groups) < GROUPS:
            groups.append([])
        verdicts = _find_verdicts(automaton, groups, budget)
    except UnsupportedError:
        return None
    ends = _products(verdicts == _YES, verdicts != _NO)
    open_ = _products(verdicts == _OPEN, verdicts >= _OPEN)
    if len(ends) + len(open_) > _MAX_PRODUCTS:
        return None
    bit_of = np.zeros(automaton.n_symbols + 1, np.uint8)
    for i, group in enumerate(groups):
        bit_of[group or [automaton.n_symbols]] = 1 << i
    return Windows(bit_of, ends, open_)


def ranges_of_groups(automaton: Automaton, group_of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ASCII characters at which the group changes, and the exclusive or of both groups.

    Both are (ranges,) uint8; empty if there are no groups.
    """
    if not group_of.size:
        return group_of, group_of
    groups = group_of[automaton.symbol_of[:128]]
    change = np.concatenate([groups[:1], groups[1:] ^ groups[:-1]])
    starts = np.flatnonzero(change)
    return starts.astype(np.uint8), change[starts]


def as_constants(automaton: Automaton, windows: Windows) -> tuple[Any, Any, Any]:
    """Return the ranges of groups (pairs), the ends and the open windows (products) as constants of kernels.

    In a product, None stands for any group.
    """
    any_group = int(np.bitwise_or.reduce(windows.group_of))

    def rows(products: np.ndarray) -> tuple[tuple[int | None, ...], ...]:
        return tuple(tuple(None if x == any_group else x for x in row) for row in products.tolist())

    starts, changes = ranges_of_groups(automaton, windows.group_of)
    ranges = tuple(zip(starts.tolist(), changes.tolist(), strict=True))
    return ranges, rows(windows.ends), rows(windows.open)


# ------------------------------------------------------------------------------------------- prefilter
PREFIX = 2  # characters
_MOST_CANDIDATES = 1 / 8  # of the places of usual text: windows are faster where there are more


@dataclass(frozen=True)
class Prefilter:
    """The prefilter of an automaton."""

    group_of: np.ndarray  # (symbols,) uint8: the bit of the group, by symbol; 0 of symbols that ASCII lacks
    products: np.ndarray  # (n, PREFIX) uint8: sets of groups of two characters with which a match may begin


def derive_prefilter(automaton: Automaton) -> Prefilter | None:
    """Return the prefilter of an automaton; None where it would not help."""
    start = int(automaton.start_of[0])
    if automaton.looks_behind or automaton.delay_of[start] != NO_MATCH or automaton.covers:
        return None
    frequency = _ascii_frequency(automaton)
    symbols = np.flatnonzero(frequency)
    after = automaton.next_state[start, symbols]
    later = automaton.next_state[after][:, symbols]
    found, found_later = automaton.delay_of[after] != NO_MATCH, automaton.delay_of[later] != NO_MATCH
    # By the first symbol and the second.
    may_begin = found[:, None] | (automaton.alive[after][:, None] & (automaton.alive[later] | found_later))
    share = frequency[symbols] / frequency.sum()
    if share @ may_begin @ share > _MOST_CANDIDATES or not may_begin.any():
        return None
    alike = np.concatenate([may_begin, may_begin.T], axis=1)
    _, first_of, group = np.unique(alike, axis=0, return_index=True, return_inverse=True)
    if len(first_of) > GROUPS:
        return None
    bits = 1 << np.arange(len(first_of))
    group_of = np.zeros(automaton.n_symbols, np.uint8)
    group_of[symbols] = bits[group.ravel()]
    seconds = may_begin[np.ix_(first_of, first_of)] @ bits
    products = [(bit, second) for bit, second in zip(bits.tolist(), seconds.tolist(), strict=True) if second]
    return Prefilter(group_of, np.array(products, np.uint8).reshape(-1, PREFIX))
