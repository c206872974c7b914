r"""The part of the ``regex`` language that can be compiled, as a tree.

The part has classes and literals, groups, alternation, repetition (greedy, lazy, possessive), lookahead of a
few characters, lookbehind of one character, anchors, and the flags ``i``, ``s`` and ``m``. The package has
accepted the expression already, so the only errors here are about what the part lacks.

Every node has `is_nullable`: whether it matches the empty string.

Compiling is limited in steps (:class:`StepBudget`), not in time: the same expression takes the same number of
them on any machine.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

from bpe.splitting.regex_engine import SET


class UnsupportedError(Exception):
    """The expression cannot be compiled; the message says which part of it is the reason."""


MAX_STEPS = 1_500_000
"""Steps that the expressions of a pattern may take to compile. One takes about a microsecond."""


class StepBudget:
    """Steps that compiling may still take; every stage spends its own."""

    def __init__(self, limit: int = MAX_STEPS) -> None:
        self.limit = limit
        self.spent = 0

    def spend(self, steps: int) -> None:
        """Count steps that are about to be taken; raise if they are too many."""
        self.spent += steps
        if self.spent > self.limit:
            raise UnsupportedError(f"it takes more than {self.limit} steps to compile")


@dataclass(frozen=True)
class Chars:
    """One character of a class; `source` is its expression in the ``regex`` package."""

    source: str
    is_nullable: ClassVar[bool] = False


@dataclass(frozen=True)
class Seq:
    """The items one after the other; without items, the empty string."""

    items: tuple[Node, ...]

    @functools.cached_property
    def is_nullable(self) -> bool:
        return all(item.is_nullable for item in self.items)


@dataclass(frozen=True)
class Alt:
    """The first alternative with which the whole expression matches."""

    items: tuple[Node, ...]

    @functools.cached_property
    def is_nullable(self) -> bool:
        return any(item.is_nullable for item in self.items)


@dataclass(frozen=True)
class Repeat:
    """`least` to `most` times; without limit if `most` is None."""

    item: Node
    least: int
    most: int | None
    greedy: bool

    @functools.cached_property
    def is_nullable(self) -> bool:
        return self.least == 0 or self.item.is_nullable


@dataclass(frozen=True)
class Atomic:
    """The first match of `item`; no other match of it is tried if the rest fails."""

    item: Node

    @functools.cached_property
    def is_nullable(self) -> bool:
        return self.item.is_nullable


@dataclass(frozen=True)
class Look:
    """An assertion: `item` matches (or does not match, if not `wanted`) ahead or behind."""

    item: Node
    ahead: bool
    wanted: bool
    is_nullable: ClassVar[bool] = True


@dataclass(frozen=True)
class Anchor:
    """An assertion: the text ends here or, if not `end`, begins here."""

    end: bool
    is_nullable: ClassVar[bool] = True


Node: TypeAlias = Chars | Seq | Alt | Repeat | Atomic | Look | Anchor

_QUANTIFIER = re.compile(r"(?:([?*+])|\{(\d+)(,?)(\d*)\}|\{,(\d+)\})([?+]?)")
_GROUP = re.compile(r"\((?:\?(?:P?<(?![=!])\w+>|([ims]*)(?:-([ims]+))?:|(<?[=!])|(>)))?")
_FLAGS_FIRST = re.compile(r"\(\?([ims]+)\)")
_ESCAPE = re.compile(
    r"\\(?:[pP](?:\{[^}]*\}|\w)|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}"
    r"|[dDsSwWnrtfva]|[^A-Za-z0-9])",
    re.DOTALL,
)
_MOST = 1000  # of a counted repetition: each is a copy
_MOST_ATOMS = 10_000


class _Parser:
    """Recursive descent; a method for each level of the grammar."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.n_atoms = 0

    def take(self, expression: re.Pattern[str]) -> re.Match[str] | None:
        match = expression.match(self.source, self.at)
        if match:
            self.at = match.end()
        return match

    def unsupported(self, what: str) -> UnsupportedError:
        return UnsupportedError(f"{what} at character {self.at}")

    def alternatives(self, flags: frozenset[str]) -> Node:
        branches = [self.sequence(flags)]
        while self.source.startswith("|", self.at):
            self.at += 1
            branches.append(self.sequence(flags))
        return branches[0] if len(branches) == 1 else Alt(tuple(branches))

    def sequence(self, flags: frozenset[str]) -> Node:
        items: list[Node] = []
        while self.at < len(self.source) and self.source[self.at] not in "|)":
            items.append(self.repeated(self.atom(flags)))
        return items[0] if len(items) == 1 else Seq(tuple(items))

    def repeated(self, item: Node) -> Node:
        quantifier = self.take(_QUANTIFIER)
        if not quantifier:
            return item
        sign, least, comma, most, only_most, suffix = quantifier.groups()
        if sign:
            bounds = {"?": (0, 1), "*": (0, None), "+": (1, None)}[sign]
        elif only_most:
            bounds = (0, int(only_most))
        else:
            bounds = (int(least), int(most) if most else None if comma else int(least))
        if isinstance(item, (Look, Anchor)) or max(filter(None, bounds), default=0) > _MOST:
            raise self.unsupported("this repetition")
        if _QUANTIFIER.match(self.source, self.at):
            raise self.unsupported("a repetition of a repetition")
        repeat = Repeat(item, bounds[0], bounds[1], greedy=suffix != "?")
        return Atomic(repeat) if suffix == "+" else repeat

    def atom(self, flags: frozenset[str]) -> Node:
        self.n_atoms += 1
        if self.n_atoms > _MOST_ATOMS:
            raise UnsupportedError("an expression that is too large")
        character = self.source[self.at]
        if character == "(":
            return self.group(flags)
        if character in "{*+?":
            raise self.unsupported(f"the sign {character!r}")
        if character == "[":
            found = self.take(SET)
            if not found:
                raise self.unsupported("this set")
            return _chars(found.group(), flags)
        if character == "\\":
            return self.escape(flags)
        self.at += 1
        if character == "^":
            line_start = Look(_chars(r"\n", frozenset()), ahead=False, wanted=True)
            return Alt((Anchor(end=False), line_start)) if "m" in flags else Anchor(end=False)
        if character == "$":
            newline = _chars(r"\n", frozenset())
            before = newline if "m" in flags else Seq((newline, Anchor(end=True)))
            return Alt((Anchor(end=True), Look(before, ahead=True, wanted=True)))
        return _chars("." if character == "." else re.escape(character), flags)

    def escape(self, flags: frozenset[str]) -> Node:
        letter = self.source[self.at + 1 : self.at + 2]
        if letter in ("A", "Z", "z"):
            self.at += 2
            return Anchor(end=letter != "A")
        if letter in ("b", "B"):
            self.at += 2
            word = _chars(r"\w", flags)
            behind = {wanted: Look(word, ahead=False, wanted=wanted) for wanted in (True, False)}
            ahead = {wanted: Look(word, ahead=True, wanted=wanted) for wanted in (True, False)}
            other = letter == "b"  # whether the two sides differ
            return Alt(tuple(Seq((behind[side], ahead[side != other])) for side in (True, False)))
        found = self.take(_ESCAPE)
        if not found:
            raise self.unsupported(f"'\\{letter}'")
        return _chars(found.group(), flags)

    def group(self, flags: frozenset[str]) -> Node:
        found = self.take(_GROUP)
        if not found or self.source.startswith("?", self.at):
            raise self.unsupported(f"the group {self.source[self.at : self.at + 4]!r}")
        switched_on, switched_off, look, atomic = found.groups()
        inner = (flags | set(switched_on or "")) - set(switched_off or "")
        item = self.alternatives(frozenset(inner))
        self.at += 1  # the closing parenthesis
        if look:
            return Look(item, ahead=look[0] != "<", wanted=look[-1] == "=")
        return Atomic(item) if atomic else item


def _chars(source: str, flags: frozenset[str]) -> Chars:
    # Only these two flags change what a class holds.
    relevant = "".join(sorted(flags & {"i", "s"}))
    return Chars(f"(?{relevant}:{source})" if relevant else source)


@functools.lru_cache(maxsize=16)
def parse(source: str) -> Node:
    """Return the tree of a valid expression of the ``regex`` package."""
    parser = _Parser(source)
    flags = frozenset[str]()
    while found := parser.take(_FLAGS_FIRST):
        flags |= set(found.group(1))
    tree = parser.alternatives(flags)
    if parser.at < len(source):
        raise parser.unsupported(f"the sign {source[parser.at]!r}")
    return tree


def merge_lookaheads_into_sets(node: Node) -> Node:
    r"""Return a tree that matches the same; the lookahead in ``(?!\p{Han})\p{L}`` is a part of the set."""
    match node:
        case Seq():
            items: list[Node] = []
            for item in map(merge_lookaheads_into_sets, reversed(node.items)):
                after = items[-1] if items else None
                if (
                    isinstance(item, Look)
                    and item.ahead
                    and isinstance(item.item, Chars)
                    and isinstance(after, Chars)
                ):
                    sign = "=" if item.wanted else "!"
                    items[-1] = Chars(f"(?:(?{sign}{item.item.source}){after.source})")
                else:
                    items.append(item)
            return items[0] if len(items) == 1 else Seq(tuple(reversed(items)))
        case Alt():
            return Alt(tuple(map(merge_lookaheads_into_sets, node.items)))
        case Repeat() | Atomic() | Look():
            return replace(node, item=merge_lookaheads_into_sets(node.item))
    return node


_CODES = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "a": 7}
_ITEM = re.compile(
    r"\[:\^?\w+:\]|\\(?:[pP](?:\{[^}]*\}|\w)|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)|[^\\]",
    re.DOTALL,
)


def without_flags(source: str) -> tuple[str, str]:
    """Return the flags of a class, as `_chars` writes them, and the class without them."""
    found = re.fullmatch(r"\(\?([is]+):(.*)\)", source, re.DOTALL)
    return (found.group(1), found.group(2)) if found else ("", source)


def items_of(content: str) -> list[tuple[str, str | None]] | None:
    """Return the items between the brackets of a set: ranges as pairs, others with None; None if unclear."""
    parts = [match.group() for match in _ITEM.finditer(content)]
    if sum(map(len, parts)) != len(content):
        return None
    items: list[tuple[str, str | None]] = []
    i = 0
    while i < len(parts):
        is_range = parts[i + 1 : i + 2] == ["-"] and i + 2 < len(parts)
        items.append((parts[i], parts[i + 2] if is_range else None))
        i += 3 if is_range else 1
    return items


def code_of(item: str) -> int | None:
    """Return the code point of a character as an expression writes it; None for a class."""
    if len(item) == 1:
        return ord(item)
    if not item.startswith("\\"):
        return None
    if item[1] in "xuU" and len(item) > 2:
        return int(item[2:], 16)
    if len(item) > 2:
        return None
    if item[1] in _CODES:
        return _CODES[item[1]]
    return None if item[1].isalnum() else ord(item[1])
