r"""Configurations: what is known of the pieces of a text that is still being read, if their ends are guessed.

A text is read from the left, and after each character a piece may end or not. Each guess leaves
*obligations*, which the characters that follow must meet::

    pattern  \s+(?!\S)|\s+     read  ' '  ' '     a guess: the piece ends here
                               obligation         the match that began two characters ago ends here

A *stage* is one expression of a pattern. Its configuration is ``(mode, state, before, obligations)``:

* mode :data:`MATCH`: a match is being read, and the automaton is in `state`
* mode :data:`GAP`: text between two matches is being read
* modes :data:`BEGIN_MATCH` and :data:`BEGIN_GAP`: the same, at the beginning of a piece
* before: the symbol before, if the pattern looks behind; else the edge of the text
* obligations ``(state, age, is_last)``: a search for a match is in `state`, the match has to end `age`
  symbols ago, and `is_last` says whether this is the last match found; with the age :data:`NEVER`, no match
  may be found at all

A configuration of a pattern has one for each of its stages; where a stage cuts, the text of all later stages
ends. Configurations from which no text can be finished are dropped, so that few are left: 1 to 200 for the
patterns in use. What can follow the end of a piece depends on the configuration alone.

1. Reading a symbol leads from a configuration to at most one other.
2. From every configuration, some symbols and ends of pieces lead to the end of a text.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import product
from typing import TypeAlias

import numpy as np

from bpe.splitting.compiled.automaton import MAX_DELAY, NO_MATCH, Automaton
from bpe.splitting.compiled.classes import N_CODE_POINTS
from bpe.splitting.compiled.syntax import StepBudget, UnsupportedError

MATCH, GAP, BEGIN_MATCH, BEGIN_GAP = range(4)
NEVER = -1
_MAX_CONFIGURATIONS = 4_000
_MAX_SYMBOLS = 4_000
_ENTRIES = 100  # of the transition table, which are looked at in one step of the budget

Obligation: TypeAlias = tuple[int, int, int]
StageConfiguration: TypeAlias = tuple[int, int, int, frozenset[Obligation]]
Configuration: TypeAlias = tuple[StageConfiguration, ...]


class _Stage:
    """The configurations of one expression."""

    def __init__(self, automaton: Automaton, budget: StepBudget) -> None:
        self.next_state = automaton.next_state.tolist()
        self.delay_of = automaton.delay_of.tolist()
        self.alive = automaton.alive.tolist()
        self.start_of = automaton.start_of.tolist()
        self.start_not_empty_of = automaton.start_not_empty_of.tolist()
        self.edge = automaton.n_symbols
        self.looks_behind = automaton.looks_behind
        self.may_be_empty = self.start_of != self.start_not_empty_of
        self._can_be_met = _can_be_met(automaton, budget).tolist()

    def begin(
        self, before: int, after_gap: bool, obligations: frozenset[Obligation]
    ) -> Iterator[StageConfiguration]:
        """Yield the configurations at the beginning of a piece that is not empty."""
        before = before if self.looks_behind else self.edge
        first, first_not_empty = self.start_of[before], self.start_not_empty_of[before]
        if self.alive[first]:
            yield BEGIN_MATCH, first, before, obligations
        if not after_gap:
            without = self.with_obligation(obligations, (first, NEVER, 0))
            if without is not None:
                yield BEGIN_GAP, 0, before, without
        if not self.may_be_empty:
            return
        # A match that is empty ends the gap before it, and another is sought that is not.
        empty = self.with_obligation(obligations, (first, 0, int(self.delay_of[first] == 0)))
        if empty is None:
            return
        if self.alive[first_not_empty]:
            yield BEGIN_MATCH, first_not_empty, before, empty
        without = self.with_obligation(empty, (first_not_empty, NEVER, 0))
        if without is not None:
            yield BEGIN_GAP, 0, before, without

    def with_obligation(
        self, obligations: frozenset[Obligation], more: Obligation
    ) -> frozenset[Obligation] | None:
        """Return obligations and one that begins here; None if it cannot be met."""
        state, age, is_last = more
        if age == NEVER and self.delay_of[state] != NO_MATCH:
            return None
        if not self.alive[state]:
            return obligations if age == NEVER or is_last else None
        return obligations | {more} if self._can_be_met[state][age][is_last] else None

    def follow(self, obligation: Obligation, symbol: int) -> Obligation | bool:
        """Return an obligation after a symbol; whether it is met if that is certain."""
        state, age, is_last = obligation
        state = self.next_state[state][symbol]
        delay = self.delay_of[state]
        if age == NEVER:
            if delay != NO_MATCH:
                return False
            return (state, NEVER, 0) if self.alive[state] and symbol != self.edge else True
        age = min(age + 1, MAX_DELAY + 1)
        if delay != NO_MATCH:
            is_last = int(delay == age)
        return (state, age, is_last) if self.alive[state] and symbol != self.edge else bool(is_last)

    def read(self, configuration: StageConfiguration, symbol: int) -> StageConfiguration | None:
        """Return the configuration after a symbol that continues the piece."""
        mode, state, before, obligations = configuration
        if mode == GAP:
            inside = self.with_obligation(obligations, (self.start_of[before], NEVER, 0))
            if inside is None:
                return None
            obligations = inside
        kept = set()
        for obligation in obligations:
            after = self.follow(obligation, symbol)
            if after is True:
                continue
            if after is False or not self._can_be_met[after[0]][after[1]][after[2]]:
                return None
            kept.add(after)
        before = symbol if self.looks_behind else self.edge
        if mode in (GAP, BEGIN_GAP):
            return GAP, 0, before, frozenset(kept)
        state = self.next_state[state][symbol]
        if not self.alive[state] and self.delay_of[state] != 0:
            return None
        return MATCH, state, before, frozenset(kept)

    def ended(self, configuration: StageConfiguration) -> frozenset[Obligation] | None:
        """Return the obligations if the piece ends here; None if it cannot."""
        mode, state, _, obligations = configuration
        if mode == GAP:
            return obligations
        if mode != MATCH:
            return None
        return self.with_obligation(obligations, (state, 0, int(self.delay_of[state] == 0)))

    def cut(self, configuration: StageConfiguration) -> Iterator[StageConfiguration]:
        """Yield the configurations of the next piece if this one ends here, and the text goes on."""
        obligations = self.ended(configuration)
        if obligations is not None:
            yield from self.begin(configuration[2], configuration[0] == GAP, obligations)

    def may_end(self, configuration: StageConfiguration) -> bool:
        """Return whether the text may end here."""
        obligations = self.ended(configuration)
        return obligations is not None and all(self.follow(each, self.edge) is True for each in obligations)


class Configurations:
    """The configurations of a pattern, numbered, as tables.

    `symbols` are those of texts: for each, its number in every one of the expressions. Without a `budget`,
    all steps may be taken.
    """

    def __init__(
        self,
        automata: Sequence[Automaton],
        symbols: Sequence[tuple[int, ...]],
        budget: StepBudget | None = None,
    ) -> None:
        budget = budget or StepBudget(sys.maxsize)
        self._stages = [_Stage(automaton, budget) for automaton in automata]
        self._symbols = symbols
        self._number_of: dict[Configuration, int] = {}
        self._found: list[Configuration] = []
        first = [self._number(each) for each in self._fresh(0)]
        rows, cuts, ends = list[list[int]](), list[list[int]](), list[bool]()
        for configuration in self._found:
            if len(self._found) > _MAX_CONFIGURATIONS:
                raise UnsupportedError("an expression with too many configurations")
            budget.spend(len(symbols) * sum(1 + len(part[3]) for part in configuration))
            rows.append([self._read(configuration, numbers) for numbers in symbols])
            cuts.append([self._number(each) for each in self._cut(configuration)])
            ends.append(self._may_end(configuration, 0))
        self._drop_dead(first, rows, cuts, ends)

    first: list[int]  # where a text begins
    next_of: np.ndarray  # (configurations, symbols) int32: after a symbol; -1: none
    cuts_of: list[list[int]]  # by configuration: those of the next piece if a piece ends here
    may_end: np.ndarray  # (configurations,) bool: whether the text may end here
    may_cut: np.ndarray  # (configurations,) bool: whether the piece may end here, or the text

    def _drop_dead(
        self, first: list[int], rows: list[list[int]], cuts: list[list[int]], ends: list[bool]
    ) -> None:
        """Set the tables, without configurations that no text finishes."""
        sources: list[set[int]] = [set() for _ in rows]
        for number, row in enumerate(rows):
            for after in {*row, *cuts[number]} - {-1}:
                sources[after].add(number)
        live = [number for number, may_end in enumerate(ends) if may_end]
        known = {*live}
        for number in live:
            fresh = sources[number] - known
            known |= fresh
            live.extend(fresh)
        live.sort()
        new_of = np.full(len(rows) + 1, -1, np.int32)  # the last is that of -1
        new_of[live] = np.arange(len(live))
        self.first = [int(new_of[number]) for number in first if number in known]
        self.next_of = new_of[np.array([rows[n] for n in live], np.int64).reshape(-1, len(self._symbols))]
        self.cuts_of = [[int(new_of[after]) for after in cuts[n] if after in known] for n in live]
        self.may_end = np.array([ends[n] for n in live], bool)
        self.may_cut = self.may_end | np.array([bool(after) for after in self.cuts_of], bool)

    def _number(self, configuration: Configuration) -> int:
        if configuration not in self._number_of:
            self._number_of[configuration] = len(self._found)
            self._found.append(configuration)
        return self._number_of[configuration]

    def _fresh(self, first: int) -> Iterator[Configuration]:
        """Yield the configurations of the stages from `first` on where their text begins."""
        yield from product(*(stage.begin(stage.edge, False, frozenset()) for stage in self._stages[first:]))

    def _read(self, configuration: Configuration, symbols: tuple[int, ...]) -> int:
        after = list[StageConfiguration]()
        for stage, part, symbol in zip(self._stages, configuration, symbols, strict=True):
            following = stage.read(part, symbol)
            if following is None:
                return -1
            after.append(following)
        return self._number(tuple(after))

    def _may_end(self, configuration: Configuration, first: int) -> bool:
        """Return whether the text of the stages from `first` on may end here."""
        return all(map(_Stage.may_end, self._stages[first:], configuration[first:]))

    def _cut(self, configuration: Configuration) -> Iterator[Configuration]:
        """Yield the configurations after a cut by each of the stages, which ends the texts of later ones."""
        for n, stage in enumerate(self._stages):
            if self._may_end(configuration, n + 1):
                after = [*stage.cut(configuration[n])]
                for part, rest in product(after, [*self._fresh(n + 1)] if after else []):
                    yield (*configuration[:n], part, *rest)


def _can_be_met(automaton: Automaton, budget: StepBudget) -> np.ndarray:
    """Return, by the parts of an obligation, whether some text after it meets it; the last age is NEVER."""
    follower = automaton.next_state
    delay, alive = automaton.delay_of[follower], automaton.alive[follower].copy()
    alive[:, automaton.n_symbols] = False  # nothing follows the end of the text
    can_be_met = np.zeros((len(follower), MAX_DELAY + 3, 2), np.bool_)
    while True:
        budget.spend(2 * (MAX_DELAY + 2) * follower.size // _ENTRIES)
        before = can_be_met.copy()
        for age in range(MAX_DELAY + 2):
            older = min(age + 1, MAX_DELAY + 1)
            for is_last in (0, 1):
                later = np.where(delay == NO_MATCH, is_last, delay == older)
                holds = np.where(alive, before[follower, older, later], later)
                can_be_met[:, age, is_last] = holds.any(axis=1)
        never = (delay == NO_MATCH) & (~alive | before[follower, NEVER, 0])
        can_be_met[:, NEVER, 0] = never.any(axis=1)
        if (can_be_met == before).all():
            return can_be_met


def joint_symbols(
    automata: Sequence[Automaton], is_used: np.ndarray | None = None
) -> tuple[np.ndarray, list[tuple[int, ...]]]:
    """Return the symbol of each code point, -1 of others; and each symbol's number in all expressions.

    A symbol stands for characters that all expressions treat alike. `is_used`, by code point, says which
    characters texts have; surrogates are none.
    """
    is_used = np.ones(N_CODE_POINTS, bool) if is_used is None else is_used.copy()
    is_used[0xD800:0xE000] = False
    joint = np.zeros(N_CODE_POINTS, np.int64)
    for automaton in automata:
        joint = joint * automaton.n_symbols + automaton.symbol_of
    used = np.flatnonzero(np.bincount(joint, is_used))
    if len(used) > _MAX_SYMBOLS:
        raise UnsupportedError("expressions with too many kinds of characters")
    number_of = np.full(joint.max() + 1, -1, np.int16)
    number_of[used] = np.arange(len(used))
    symbol_of = np.where(is_used, number_of[joint], np.int16(-1))
    symbols, rest = list[np.ndarray](), used
    for automaton in reversed(automata):
        symbols.append(rest % automaton.n_symbols)
        rest = rest // automaton.n_symbols
    return symbol_of, list(zip(*(each.tolist() for each in reversed(symbols)), strict=True))
