r"""Turns a tree into a deterministic automaton that finds the same match as a backtracking engine.

A backtracking engine tries the alternatives one after the other and takes the first with which the whole
expression matches. Here all attempts run side by side, as *threads* in order of priority. When a thread
matches, the threads of lower priority are dropped; those of higher priority continue and may still override
the match. An ordered set of threads is a state of the automaton. The number of states is finite, and all of
them are made in advance.

A lookahead becomes a duty of its thread: the next one, two or three symbols must be in given sets, or the
thread dies. If the duties of a match are met later than its end, the match is reported later, with the number
of symbols since its end::

    pattern  \s+(?!\S)|\s+      read   ' '    ' '    'x'
                                state  1      2      dead
                                match  at 1   at 2   one symbol ago: at 1... overridden, in this order

Source: Pike's threads in order (Cox, "Regular Expression Matching: the Virtual Machine Approach", 2009), made
deterministic as RE2 does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from bpe.splitting.compiled.classes import ranges_of, symbols_of
from bpe.splitting.compiled.syntax import (
    Alt,
    Atomic,
    Chars,
    Edge,
    Look,
    Node,
    Repeat,
    Seq,
    UnsupportedError,
    Work,
    parse,
    with_looks_in_sets,
)

MAX_DELAY = 3
"""How many symbols a lookahead may read at most."""

NO_MATCH = -1

_MAX_INSTRUCTIONS = 5_000
_MAX_SEQUENCES = 100  # of duties, for one lookahead
_MAX_ENTRIES = 400_000  # of the transition table
_FEW = 20  # symbols that are looked at in one step of work

Symbols: TypeAlias = frozenset[int]
Duties: TypeAlias = tuple[Symbols, ...]  # what the next symbols must be
# A thread: its place in the program, its duties and, after it has matched, the number of symbols since then.
Thread: TypeAlias = tuple[int, Duties, int]


@dataclass(frozen=True)
class Automaton:
    """The states of one expression and the transitions between them.

    Symbols are numbers. One more number, after the last symbol, stands for the edge of the text: for its end
    as the next symbol, for its beginning as the symbol before.
    """

    symbol_of: np.ndarray
    next_state: np.ndarray
    delay_of: np.ndarray
    start_of: np.ndarray
    start_not_empty_of: np.ndarray
    alive: np.ndarray

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
        pending = np.unique(self.start_of).tolist()  # more states than a match of some text begins in
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

    def __init__(self, tree: Node, work: Work) -> None:
        self.work = work
        self.sources: dict[str, int] = {}
        _collect(tree, self.sources)
        self.symbol_of, members = symbols_of([ranges_of(source, work) for source in self.sources], work)
        self.n_symbols = len(members)
        self.edge = self.n_symbols
        self.all: Symbols = frozenset(range(self.n_symbols + 1))
        work.add(members.size // _FEW)
        self._members = [frozenset(np.flatnonzero(column).tolist()) for column in members.T]
        # By instruction: ("chars", symbols, next), ("fork", nexts in order), ("ahead", duties, next),
        # ("behind", symbols, next).
        self.instructions: list[tuple] = [("match",)]
        self.first = self._build(tree, _MATCH)

    def _symbols(self, node: Chars) -> Symbols:
        return self._members[self.sources[node.source]]

    def _add(self, *instruction: object) -> int:
        if len(self.instructions) >= _MAX_INSTRUCTIONS:
            raise UnsupportedError("a very large expression")
        self.instructions.append(instruction)
        return len(self.instructions) - 1

    def _build(self, node: Node, then: int) -> int:
        """Return the instruction that matches `node` and continues with `then`."""
        self.work.add(1)
        match node:
            case Chars():
                return self._add("chars", self._symbols(node), then)
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
            case Edge(end):
                return self._add(
                    *(("ahead", (frozenset([self.edge]),)) if end else ("behind", {self.edge})), then
                )
            case Look(item, ahead):
                return self._look_ahead(node, then) if ahead else self._look_behind(node, then)
        raise AssertionError(node)

    def _repeat(self, node: Repeat, then: int, guard: Symbols | None) -> int:
        """Build a repetition. If it ends before `most`, a symbol of `guard` must not follow."""
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
                return self._repeat(item, then, self._symbols(item.item))
            return self._build(Repeat(item.item, item.least, item.least, greedy=True), then)
        # At the end of the expression nothing after the group can fail, unless the match must not be empty.
        if isinstance(item, Chars) or (then == _MATCH and not item.is_nullable):
            return self._build(item, then)
        raise UnsupportedError("an atomic group or a possessive repetition of more than one class")

    def _look_behind(self, node: Look, then: int) -> int:
        if not isinstance(node.item, Chars):
            raise UnsupportedError("a lookbehind of more than one character")
        symbols = self._symbols(node.item)
        return self._add("behind", symbols if node.wanted else self.all - symbols, then)

    def _look_ahead(self, node: Look, then: int) -> int:
        sequences = [duties for duties, _ in self._sequences(node)]
        return self._add("fork", [self._add("ahead", duties, then) for duties in sequences])

    def _sequences(self, node: Node, at_end: bool = True) -> list[tuple[Duties, int]]:
        """Return the sequences of duties with which `node` matches ahead, each with its number of symbols.

        One of the sequences must be met. `at_end` says that nothing follows `node` in the lookahead.
        """
        match node:
            case Chars():
                return [((self._symbols(node),), 1)]
            case Edge(end=True):
                return [((frozenset([self.edge]),), 0)]
            case Look(item, ahead=True, wanted=wanted):
                sequences = [duties for duties, _ in self._sequences(item)]
                return [(duties, 0) for duties in (sequences if wanted else self._others(sequences))]
            case Alt(items):
                return [sequence for item in items for sequence in self._sequences(item, at_end)]
            case Seq(items):
                heads: list[tuple[Duties, int]] = [((), 0)]
                for i, item in enumerate(items):
                    tails = self._sequences(item, at_end and i == len(items) - 1)
                    self.work.add(len(heads) * len(tails) * (1 + self.n_symbols // _FEW))
                    joined = [
                        (_both(duties, (self.all,) * taken + more), taken + also)
                        for duties, taken in heads
                        for more, also in tails
                    ]
                    heads = [(duties, taken) for duties, taken in joined if duties is not None]
                    if len(heads) > _MAX_SEQUENCES:
                        raise UnsupportedError("a lookahead with so many alternatives")
                    if max((len(duties) for duties, _ in heads), default=0) > MAX_DELAY:
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

    def _others(self, sequences: Iterable[Duties]) -> list[Duties]:
        """Return sequences of duties: one of them is met exactly where none of `sequences` is."""
        sequences = list(sequences)
        if () in sequences:
            return []
        self.work.add(len(self.all) * (1 + len(sequences)))
        symbols_by_tails: dict[tuple[Duties, ...], set[int]] = {}
        for symbol in self.all:
            tails = tuple(duties[1:] for duties in sequences if symbol in duties[0])
            symbols_by_tails.setdefault(tails, set()).add(symbol)
        others: list[Duties] = []
        for tails, symbols in symbols_by_tails.items():
            head = (frozenset(symbols),)
            others += [head + tail for tail in self._others(tails)] if tails else [head]
        return others


def _collect(node: Node, sources: dict[str, int]) -> None:
    """Give a number to each class of a tree."""
    if isinstance(node, Chars):
        sources.setdefault(node.source, len(sources))
    elif isinstance(node, (Seq, Alt)):
        for item in node.items:
            _collect(item, sources)
    elif not isinstance(node, Edge):
        _collect(node.item, sources)


# ----------------------------------------------------------------------------------------------- states
def _both(duties: Duties, more: Duties) -> Duties | None:
    """Return duties that demand both; None if they contradict each other."""
    short, long = sorted((duties, more), key=len)
    joined = tuple(a & b for a, b in zip(short, long, strict=False)) + long[len(short) :]
    return joined if all(joined) else None


class _States:
    """Makes the states, each when it is first reached."""

    def __init__(self, program: _Program) -> None:
        self.program = program
        self.work = program.work
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
                raise UnsupportedError("an expression with very many states")
        return self.number_of[key]

    def close(self, threads: Iterable[Thread], before: int, may_match: bool = True) -> int:
        """Follow threads until each waits for a symbol, and return the state they form."""
        waiting: list[Thread] = []
        seen: set[Thread] = set()
        pending = list(threads)[::-1]
        while pending:
            thread = pending.pop()
            at, duties, age = thread
            self.work.add(1 + len(duties) * self.step_of_sets)
            if thread in seen or (at, (), age) in seen:  # the one without duties matches as much
                continue
            seen.add(thread)
            instruction = self.program.instructions[at]
            if at == _MATCH:
                if age == 0 and not may_match:
                    continue
                if not duties:
                    return self.number(age, tuple(waiting))  # threads of lower priority are dropped
                waiting.append(thread)
            elif instruction[0] == "chars":
                # The instruction reads the next symbol: its duty may be impossible to meet.
                if not duties or duties[0] & instruction[1]:
                    waiting.append(thread)
            elif instruction[0] == "fork":
                self.work.add(len(instruction[1]))
                pending += [(then, duties, age) for then in reversed(instruction[1])]
            elif instruction[0] == "behind":
                if before in instruction[1]:
                    pending.append((instruction[2], duties, age))
            else:
                both = _both(duties, instruction[1])
                if both is not None:
                    pending.append((instruction[2], both, age))
        return self.number(NO_MATCH, tuple(waiting))

    def step(self, state: int, symbol: int) -> int:
        """Return the state after a symbol."""
        threads: list[Thread] = []
        self.work.add(1 + len(self.keys[state][1]))
        for at, duties, age in self.keys[state][1]:
            if duties and symbol not in duties[0]:
                continue
            if at == _MATCH:
                threads.append((_MATCH, duties[1:], age + 1))
            else:
                _, symbols, then = self.program.instructions[at]
                if symbol in symbols:
                    threads.append((then, duties[1:], 0))
        return self.close(threads, symbol)


def compile_automaton(source: str, work: Work | None = None) -> Automaton:
    r"""Compile an expression."""
    try:
        program = _Program(with_looks_in_sets(parse(source)), work or Work())
    except RecursionError:
        raise UnsupportedError("groups in groups, deeper than the stack has room for") from None
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
