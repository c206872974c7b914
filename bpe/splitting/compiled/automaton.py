r"""Makes a deterministic automaton of a tree; it finds the same match as a backtracking engine.

A backtracking engine tries the alternatives one after the other and takes the first with which the whole
expression matches. Here all attempts run side by side, as *threads* in order of priority. When a thread
matches, the threads of lower priority are dropped; those of higher priority continue and may still override
the match. An ordered set of threads is a state of the automaton. The number of states is finite, and all of
them are made in advance.

A lookahead becomes *conditions* of its thread: the next one, two or three symbols must be in given sets, or
the thread ends. If the conditions of a match are met later than its end, the match is reported later, with
the number of symbols since its end, its *delay*::

    pattern  \s+(?!\S)|\s+      read   ' '    ' '    'x'
                                state  1      2      dead
                                match  at 1   at 2   one symbol ago: at 1... overridden, in this order

Source: Pike's threads in order (Cox, "Regular Expression Matching: the Virtual Machine Approach", 2009), made
deterministic as RE2 does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from bpe.splitting.compiled.classes import ranges_of, symbols_of
from bpe.splitting.compiled.syntax import (
    Alt,
    Anchor,
    Atomic,
    Chars,
    Look,
    Node,
    Repeat,
    Seq,
    StepBudget,
    UnsupportedError,
    merge_lookaheads_into_sets,
    parse,
)

MAX_DELAY = 3
"""How many symbols a lookahead may read at most."""

NO_MATCH = -1

_MAX_INSTRUCTIONS = 5_000
_MAX_SEQUENCES = 100  # of conditions, for one lookahead
_MAX_ENTRIES = 400_000  # of the transition table
_FEW = 20  # symbols that are looked at in one step of the budget

Symbols: TypeAlias = frozenset[int]
Conditions: TypeAlias = tuple[Symbols, ...]  # what the next symbols must be
# A thread: its place in the program, its conditions and, after its match, the number of symbols since then.
Thread: TypeAlias = tuple[int, Conditions, int]


@dataclass(frozen=True)
class Automaton:
    """The states of one expression and the transitions between them.

    Symbols are numbers. One more number, after the last symbol, stands for the edge of the text: for its end
    as the next symbol, for its beginning as the symbol before.
    """

    symbol_of: np.ndarray  # (0x110000,) uint8: by code point
    next_state: np.ndarray  # (states, symbols + 1) int64
    # (states,) int64: at this state, a match is found that ended this many symbols ago; it replaces every
    # earlier one. NO_MATCH if none is found.
    delay_of: np.ndarray
    start_of: np.ndarray  # (symbols + 1,) int64: the state in which a match begins, by the symbol before it
    start_not_empty_of: np.ndarray  # the same, for a match that must not be empty
    alive: np.ndarray  # (states,) bool: whether a match can still follow

    @property
    def n_symbols(self) -> int:
        """Number of symbols, without the edge of the text."""
        return self.next_state.shape[1] - 1

    @property
    def looks_behind(self) -> bool:
        """Whether matches depend on the character before them."""
        return bool(np.ptp(self.start_of) or np.ptp(self.start_not_empty_of))

    @property
    def covers(self) -> bool:
        """Whether every text is matches and nothing else; False if some match may be empty."""
        if not np.array_equal(self.start_of, self.start_not_empty_of):
            return False
        edge = self.n_symbols
        pending = np.unique(self.start_of).tolist()  # perhaps more states than texts begin in
        known = set(pending)
        for state in pending:
            for follower in set(self.next_state[state, :edge].tolist()):
                if self.delay_of[follower] != NO_MATCH:
                    continue
                if self.delay_of[self.next_state[follower, edge]] == NO_MATCH:
                    return False  # a text that ends here has no match where it begins
                if follower not in known:
                    known.add(follower)
                    pending.append(follower)
        return True

    def reachable(self, first: Iterable[int], symbols: slice | list[int]) -> list[int]:
        """Return the states that can be reached from the `first` with some symbols, these included."""
        found = sorted(set(first))
        known = np.zeros(len(self.next_state), np.bool_)
        known[found] = True
        for state in found:
            followers = self.next_state[state, symbols]
            fresh = np.unique(followers[~known[followers]])
            known[fresh] = True
            found += fresh.tolist()
        return found


# --------------------------------------------------------------------------------------------- programs
_MATCH = 0  # the last instruction of every program


class _Program:
    """Instructions, each with its successor; they are built from the end."""

    def __init__(self, tree: Node, budget: StepBudget) -> None:
        self.budget = budget
        self.sources: dict[str, int] = {}
        _collect(tree, self.sources)
        self.symbol_of, members = symbols_of([ranges_of(source, budget) for source in self.sources], budget)
        self.n_symbols = len(members)
        self.edge = self.n_symbols
        self.all: Symbols = frozenset(range(self.n_symbols + 1))
        budget.spend(members.size // _FEW)
        self._members = [frozenset(np.flatnonzero(column).tolist()) for column in members.T]
        # By instruction: ("chars", symbols, next), ("fork", nexts in order), ("ahead", conditions, next),
        # ("behind", symbols, next).
        self.instructions: list[tuple[Any, ...]] = [("match",)]
        self.first = self._build(tree, _MATCH)

    def _symbols_of(self, node: Chars) -> Symbols:
        return self._members[self.sources[node.source]]

    def _add(self, *instruction: object) -> int:
        if len(self.instructions) >= _MAX_INSTRUCTIONS:
            raise UnsupportedError("an expression that is too large")
        self.instructions.append(instruction)
        return len(self.instructions) - 1

    def _build(self, node: Node, then: int) -> int:
        """Return the instruction that matches `node` and continues with `then`."""
        self.budget.spend(1)
        match node:
            case Chars():
                return self._add("chars", self._symbols_of(node), then)
            case Seq(items):
                for item in reversed(items):
                    then = self._build(item, then)
                return then
            case Alt(items):
                return self._add("fork", [self._build(item, then) for item in items])
            case Repeat():
                return self._repeat(node, then, None)
            case Atomic(item):
                return self._atomic(item, then)
            case Anchor(end):
                return self._add(
                    *(("ahead", (frozenset([self.edge]),)) if end else ("behind", {self.edge})), then
                )
            case Look(item, ahead):
                return self._look_ahead(node, then) if ahead else self._look_behind(node, then)
        raise AssertionError(node)

    def _repeat(self, node: Repeat, then: int, guard: Symbols | None) -> int:
        """Build a repetition; where it ends before `most`, no symbol of `guard` may follow."""
        if node.most not in (0, 1) and node.item.is_nullable:
            raise UnsupportedError("a repetition of an expression that may be empty")
        leave = then if guard is None else self._add("ahead", (self.all - guard,), then)

        def fork(inside: int) -> list[int]:
            return [inside, leave] if node.greedy else [leave, inside]

        if node.most is None:
            loop = self._add("fork", [])
            self.instructions[loop] = ("fork", fork(self._build(node.item, loop)))
            then = loop
        else:
            for _ in range(node.most - node.least):
                then = self._add("fork", fork(self._build(node.item, then)))
        for _ in range(node.least):
            then = self._build(node.item, then)
        return then

    def _atomic(self, item: Node, then: int) -> int:
        if isinstance(item, Repeat) and isinstance(item.item, Chars):
            if item.greedy:
                return self._repeat(item, then, self._symbols_of(item.item))
            return self._build(Repeat(item.item, item.least, item.least, greedy=True), then)
        # At the end of the expression nothing after the group can fail, unless the match must not be empty.
        if isinstance(item, Chars) or (then == _MATCH and not item.is_nullable):
            return self._build(item, then)
        raise UnsupportedError("an atomic group or a possessive repetition of more than one class")

    def _look_behind(self, node: Look, then: int) -> int:
        if not isinstance(node.item, Chars):
            raise UnsupportedError("a lookbehind of more than one character")
        symbols = self._symbols_of(node.item)
        return self._add("behind", symbols if node.wanted else self.all - symbols, then)

    def _look_ahead(self, node: Look, then: int) -> int:
        sequences = [conditions for conditions, _ in self._sequences(node)]
        return self._add("fork", [self._add("ahead", conditions, then) for conditions in sequences])

    def _sequences(self, node: Node, at_end: bool = True) -> list[tuple[Conditions, int]]:
        """Return sequences of conditions, one of which is met where `node` matches ahead, and their symbols.

        These are the number of symbols that `node` takes. `at_end`: nothing follows it in the lookahead.
        """
        match node:
            case Chars():
                return [((self._symbols_of(node),), 1)]
            case Anchor(end=True):
                return [((frozenset([self.edge]),), 0)]
            case Look(item, ahead=True, wanted=wanted):
                sequences = [conditions for conditions, _ in self._sequences(item)]
                return [(conditions, 0) for conditions in (sequences if wanted else self._others(sequences))]
            case Alt(items):
                return [sequence for item in items for sequence in self._sequences(item, at_end)]
            case Seq(items):
                heads: list[tuple[Conditions, int]] = [((), 0)]
                for i, item in enumerate(items):
                    endings = self._sequences(item, at_end and i == len(items) - 1)
                    self.budget.spend(len(heads) * len(endings) * (1 + self.n_symbols // _FEW))
                    joined = [
                        (_both(conditions, (self.all,) * taken + more), taken + also)
                        for conditions, taken in heads
                        for more, also in endings
                    ]
                    heads = [(conditions, taken) for conditions, taken in joined if conditions is not None]
                    if len(heads) > _MAX_SEQUENCES:
                        raise UnsupportedError("a lookahead with too many alternatives")
                    if max((len(conditions) for conditions, _ in heads), default=0) > MAX_DELAY:
                        raise UnsupportedError(f"a lookahead of more than {MAX_DELAY} characters")
                return heads
            case Repeat(item, least, most):
                # At the end the least number is enough: more of them change nothing.
                counts = [least] if at_end else range(least, (MAX_DELAY if most is None else most) + 1)
                if at_end or most is not None:
                    return [
                        sequence for n in counts for sequence in self._sequences(Seq((item,) * n), at_end)
                    ]
        raise UnsupportedError("a lookahead of this kind")

    def _others(self, sequences: Iterable[Conditions]) -> list[Conditions]:
        """Return sequences of conditions: one of them is met exactly where none of `sequences` is."""
        sequences = list(sequences)
        if () in sequences:
            return []
        self.budget.spend(len(self.all) * (1 + len(sequences)))
        symbols_by_rests: dict[tuple[Conditions, ...], set[int]] = {}
        for symbol in self.all:
            rests = tuple(conditions[1:] for conditions in sequences if symbol in conditions[0])
            symbols_by_rests.setdefault(rests, set()).add(symbol)
        others: list[Conditions] = []
        for rests, symbols in symbols_by_rests.items():
            head = (frozenset(symbols),)
            others += [head + rest for rest in self._others(rests)] if rests else [head]
        return others


def _collect(node: Node, sources: dict[str, int]) -> None:
    """Collect the classes of a tree, each with its number."""
    if isinstance(node, Chars):
        sources.setdefault(node.source, len(sources))
    elif isinstance(node, (Seq, Alt)):
        for item in node.items:
            _collect(item, sources)
    elif not isinstance(node, Anchor):
        _collect(node.item, sources)


def _both(conditions: Conditions, more: Conditions) -> Conditions | None:
    """Return conditions that require both; None if they contradict each other."""
    short, long = sorted((conditions, more), key=len)
    joined = tuple(a & b for a, b in zip(short, long, strict=False)) + long[len(short) :]
    return joined if all(joined) else None


# ----------------------------------------------------------------------------------------------- states
class _States:
    """Makes the states, each when it is first reached."""

    def __init__(self, program: _Program) -> None:
        self.program = program
        self.budget = program.budget
        self.step_of_sets = 1 + program.n_symbols // _FEW
        self.number_of: dict[tuple[int, tuple[Thread, ...]], int] = {}
        self.keys: list[tuple[int, tuple[Thread, ...]]] = []
        self.number(NO_MATCH, ())

    def number(self, delay: int, threads: tuple[Thread, ...]) -> int:
        key = delay, threads
        if key not in self.number_of:
            self.number_of[key] = len(self.keys)
            self.keys.append(key)
            if len(self.keys) * (self.program.n_symbols + 1) > _MAX_ENTRIES:
                raise UnsupportedError("an expression with too many states")
        return self.number_of[key]

    def close(self, threads: Iterable[Thread], before: int, may_match: bool = True) -> int:
        """Follow threads, given in order of priority, until each waits for a symbol; return their state.

        `before` is the symbol before. `may_match` says whether a thread may match without a further symbol.
        """
        waiting: list[Thread] = []
        seen: set[Thread] = set()
        pending = list(threads)[::-1]
        while pending:
            thread = pending.pop()
            at, conditions, age = thread
            self.budget.spend(1 + len(conditions) * self.step_of_sets)
            if thread in seen or (at, (), age) in seen:  # the one without conditions matches at least as much
                continue
            seen.add(thread)
            instruction = self.program.instructions[at]
            if at == _MATCH:
                if age == 0 and not may_match:
                    continue
                if not conditions:
                    return self.number(age, tuple(waiting))  # threads of lower priority are dropped
                waiting.append(thread)
            elif instruction[0] == "chars":
                # The instruction reads the next symbol, whose condition may be impossible to meet.
                if not conditions or conditions[0] & instruction[1]:
                    waiting.append(thread)
            elif instruction[0] == "fork":
                self.budget.spend(len(instruction[1]))
                pending += [(then, conditions, age) for then in reversed(instruction[1])]
            elif instruction[0] == "behind":
                if before in instruction[1]:
                    pending.append((instruction[2], conditions, age))
            else:
                both = _both(conditions, instruction[1])
                if both is not None:
                    pending.append((instruction[2], both, age))
        return self.number(NO_MATCH, tuple(waiting))

    def step(self, state: int, symbol: int) -> int:
        """Return the state after a symbol."""
        threads: list[Thread] = []
        self.budget.spend(1 + len(self.keys[state][1]))
        for at, conditions, age in self.keys[state][1]:
            if conditions and symbol not in conditions[0]:
                continue
            if at == _MATCH:
                threads.append((_MATCH, conditions[1:], age + 1))
            else:
                _, symbols, then = self.program.instructions[at]
                if symbol in symbols:
                    threads.append((then, conditions[1:], 0))
        return self.close(threads, symbol)


def compile_automaton(source: str, budget: StepBudget | None = None) -> Automaton:
    """Compile a valid expression of the ``regex`` package; ``UnsupportedError`` says why one cannot be."""
    try:
        program = _Program(merge_lookaheads_into_sets(parse(source)), budget or StepBudget())
    except RecursionError:
        raise UnsupportedError("groups that are nested too deeply") from None
    states = _States(program)
    first = [(program.first, (), 0)]
    symbols = range(program.n_symbols + 1)
    start_of = [states.close(first, before) for before in symbols]
    start_not_empty_of = [states.close(first, before, may_match=False) for before in symbols]
    rows: list[list[int]] = []
    while len(rows) < len(states.keys):
        rows.append([states.step(len(rows), symbol) for symbol in symbols])
    return Automaton(
        symbol_of=program.symbol_of,
        next_state=np.array(rows, np.int64),
        delay_of=np.array([delay for delay, _ in states.keys], np.int64),
        start_of=np.array(start_of, np.int64),
        start_not_empty_of=np.array(start_not_empty_of, np.int64),
        alive=np.array([bool(threads) for _, threads in states.keys]),
    )
