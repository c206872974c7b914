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

The windows in which a piece ends are a union of *products*: sets of groups, one set for each place.

The verdicts are found like this. A text and its true pieces are a path through *configurations*. A
configuration is the state of the current piece and the states of all earlier pieces that could still become
longer, but must not. All configurations are run over every window. If all paths that survive, with any text
after the window, agree whether a piece ends at the bar, then the window decides.

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

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from bpe.splitting.compiled.automaton import MAX_DELAY, NO_MATCH, Automaton
from bpe.splitting.compiled.classes import N_CODE_POINTS
from bpe.splitting.compiled.syntax import StepBudget, UnsupportedError

BEHIND, AHEAD = 3, 2
GROUPS = 8
PLACES = BEHIND + AHEAD
_MAX_CONFIGURATIONS = 2_000
_MAX_PRODUCTS = 64
_ENTRIES = 100  # of the transition table, which are looked at in one step of the budget

# Roughly how often a character occurs in text and source code: the rarest lose their group.
_FREQUENT_FIRST = (
    " etaoinsrhldcumfpgwybvk\n,.ITASxCMBPH'\"EWDRLNO-jFGzqUJVKY0123456789_()\t/;:=<>*#![]{}?QXZ$+&|\\@%^~`\r"
)

_NO, _YES, _OPEN = 0, 1, 2

# An earlier piece: the state reached from its beginning, the number of symbols since its end (up to a limit),
# and whether the match that ended there is the last one found.
EarlierPiece: TypeAlias = tuple[int, int, int]
Configuration: TypeAlias = tuple[int, frozenset[EarlierPiece]]


@dataclass(frozen=True)
class Windows:
    """The windows of an automaton."""

    group_of: np.ndarray  # (symbols,) uint8: the bit of the group, by symbol
    # Products, (n, PLACES) uint8 each: the windows in which a piece ends, and the open ones. The former may
    # cover open windows, where they mean nothing.
    ends: np.ndarray
    open: np.ndarray


# ------------------------------------------------------------------------------------------------ groups
def _always_matches(automaton: Automaton) -> bool:
    """Return whether every place of every text has a match that is not empty."""
    if (automaton.start_of != automaton.start_not_empty_of).any():
        return False
    symbols = slice(0, automaton.n_symbols)  # a text is not empty; later the end may follow
    unmatched = [int(automaton.start_of[0])]
    known = np.arange(len(automaton.next_state)) == unmatched[0]
    for state in unmatched:
        followers = automaton.next_state[state, symbols]
        followers = np.unique(followers[automaton.delay_of[followers] == NO_MATCH])
        if not automaton.alive[followers].all():
            return False
        unmatched += followers[~known[followers]].tolist()
        known[followers] = True
        symbols = slice(None)
    return True


def _grouped(automaton: Automaton, symbols: list[int], budget: StepBudget) -> list[list[int]]:
    """Return groups of symbols that lead from every state to the same next state."""
    budget.spend(automaton.next_state.size // _ENTRIES + len(automaton.next_state))
    rows = automaton.next_state[automaton.reachable([automaton.start_of[0]], symbols)]
    groups: dict[tuple[int, ...], list[int]] = {}
    for symbol in symbols:
        groups.setdefault(tuple(rows[:, symbol].tolist()), []).append(symbol)
    return list(groups.values())


def _choose_groups(automaton: Automaton, budget: StepBudget) -> list[list[int]]:
    """Return at most :data:`GROUPS` groups of the symbols."""
    blocks = range(0, N_CODE_POINTS, 1 << 16)  # numpy makes an int64 of each
    n_characters = sum(
        np.bincount(automaton.symbol_of[i : i + (1 << 16)], minlength=automaton.n_symbols) for i in blocks
    )
    ascii_frequencies = [1 / (1 + (_FREQUENT_FIRST + chr(c)).index(chr(c))) for c in range(128)]
    of_ascii = np.bincount(automaton.symbol_of[:128], ascii_frequencies, automaton.n_symbols)
    frequency = of_ascii + 1e-5 * n_characters
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


# ----------------------------------------------------------------------------------------- configurations
def _can_be_right(automaton: Automaton, budget: StepBudget) -> np.ndarray:
    """Return, by the parts of an EarlierPiece, whether some text after it makes its end right."""
    follower = automaton.next_state
    can_be_right = np.zeros((len(follower), MAX_DELAY + 2, 2), np.bool_)
    while True:
        budget.spend(2 * (MAX_DELAY + 2) * follower.size // _ENTRIES)
        before = can_be_right.copy()
        for age in range(MAX_DELAY + 2):
            older = min(age + 1, MAX_DELAY + 1)
            for is_last in (0, 1):
                delay = automaton.delay_of[follower]
                later = np.where(delay == NO_MATCH, is_last, delay == older)
                holds = np.where(automaton.alive[follower], before[follower, older, later], later)
                can_be_right[:, age, is_last] = holds.any(axis=1)
        if (can_be_right == before).all():
            return can_be_right


class _Paths:
    """The paths of true pieces through the configurations of an automaton."""

    def __init__(self, automaton: Automaton, groups: list[list[int]], budget: StepBudget) -> None:
        self.budget = budget
        self.next_state = automaton.next_state.tolist()
        self.delay_of = automaton.delay_of.tolist()
        self.alive = automaton.alive.tolist()
        self.start = int(automaton.start_of[0])
        self.n_symbols = automaton.n_symbols
        self.groups = groups
        self.can_be_right = _can_be_right(automaton, budget)
        self.number_of: dict[Configuration, int] = {}
        self.configurations: list[Configuration] = []
        # [configuration][group]: the next configurations, and whether a piece ends before them
        self.steps: list[list[set[tuple[int, bool]]]] = []

    def explore(self) -> bool:
        """Find all configurations and their successors; return whether they are few enough."""
        self.number((self.start, frozenset()))
        while len(self.steps) < len(self.configurations) <= _MAX_CONFIGURATIONS:
            configuration = self.configurations[len(self.steps)]
            self.budget.spend(self.n_symbols * (1 + len(configuration[1])))
            follows = [set(self.step(configuration, symbol)) for symbol in range(self.n_symbols)]
            self.steps.append([set.union(*(follows[symbol] for symbol in group)) for group in self.groups])
        return len(self.configurations) <= _MAX_CONFIGURATIONS

    def number(self, configuration: Configuration) -> int:
        if configuration not in self.number_of:
            self.number_of[configuration] = len(self.configurations)
            self.configurations.append(configuration)
        return self.number_of[configuration]

    def follow(self, earlier: EarlierPiece, symbol: int) -> EarlierPiece | bool:
        """Return an earlier piece after a symbol; if it is decided, whether the end of the piece is right."""
        state, age, is_last = earlier
        state = self.next_state[state][symbol]
        age = min(age + 1, MAX_DELAY + 1)
        delay = self.delay_of[state]
        if delay != NO_MATCH:
            is_last = int(delay == age)
        return (state, age, is_last) if self.alive[state] else bool(is_last)

    def step(self, configuration: Configuration, symbol: int) -> Iterator[tuple[int, bool]]:
        """Yield the configurations after a symbol, and whether a piece ends before each."""
        state, earlier_pieces = configuration
        kept = set()
        for earlier in earlier_pieces:
            after = self.follow(earlier, symbol)
            if after is False or (after is not True and not self.can_be_right[after]):
                return
            if after is not True:
                kept.add(after)
        state = self.next_state[state][symbol]
        if self.alive[state]:
            yield self.number((state, frozenset(kept))), False
        earlier = (state, 0, int(self.delay_of[state] == 0))
        if not self.alive[state]:
            if earlier[2]:
                yield self.number((self.start, frozenset(kept))), True
        elif self.can_be_right[earlier]:
            yield self.number((self.start, frozenset([*kept, earlier]))), True

    def verdicts(self) -> np.ndarray:
        """Return the verdict of every window: (groups,) * PLACES."""
        n = len(self.groups)
        verdict_of: dict[tuple[int, frozenset[tuple[int, int]]], np.ndarray] = {}

        def run(place: int, found: frozenset[tuple[int, int]]) -> np.ndarray:
            """Return the verdicts after `found`: pairs (configuration, whether a piece ended)."""
            if place == PLACES:
                ended = {bit for _, bit in found}
                return np.array(_OPEN if len(ended) > 1 else max(ended, default=_NO), np.uint8)
            key = place, found
            if key not in verdict_of:
                verdict_of[key] = np.stack([run(place + 1, self.advance(place, found, g)) for g in range(n)])
            return verdict_of[key]

        return run(0, frozenset((i, 0) for i in range(len(self.configurations))))

    def advance(
        self, place: int, found: frozenset[tuple[int, int]], group: int
    ) -> frozenset[tuple[int, int]]:
        at_bar = place == BEHIND - 1
        self.budget.spend(1 + len(found))
        return frozenset(
            (after, int(ended) if at_bar else bit)
            for i, bit in found
            for after, ended in self.steps[i][group]
        )


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
    if automaton.looks_behind or not _always_matches(automaton):
        return None
    budget = budget or StepBudget()
    try:
        groups = _choose_groups(automaton, budget)
        paths = _Paths(automaton, groups, budget)
        if not paths.explore():
            return None
        verdicts = paths.verdicts()
    except UnsupportedError:
        return None
    ends = _products(verdicts == _YES, verdicts != _NO)
    open_ = _products(verdicts == _OPEN, verdicts == _OPEN)
    if len(ends) + len(open_) > _MAX_PRODUCTS:
        return None
    bit_of = np.zeros(automaton.n_symbols, np.uint8)
    for i, group in enumerate(groups):
        bit_of[group] = 1 << i
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
_N_ASCII = 128


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
    symbols = np.unique(automaton.symbol_of[:_N_ASCII])
    after = automaton.next_state[start, symbols]
    later = automaton.next_state[after][:, symbols]
    found, found_later = automaton.delay_of[after] != NO_MATCH, automaton.delay_of[later] != NO_MATCH
    # By the first symbol and the second.
    may_begin = found[:, None] | (automaton.alive[after][:, None] & (automaton.alive[later] | found_later))
    alike = np.concatenate([may_begin, may_begin.T], axis=1)
    _, first_of, group = np.unique(alike, axis=0, return_index=True, return_inverse=True)
    if len(first_of) > GROUPS or may_begin.all() or not may_begin.any():
        return None
    bits = 1 << np.arange(len(first_of))
    group_of = np.zeros(automaton.n_symbols, np.uint8)
    group_of[symbols] = bits[group.ravel()]
    seconds = may_begin[np.ix_(first_of, first_of)] @ bits
    products = [(bit, second) for bit, second in zip(bits.tolist(), seconds.tolist(), strict=True) if second]
    return Prefilter(group_of, np.array(products, np.uint8).reshape(-1, PREFIX))
