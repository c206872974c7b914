"""Mutants: small wrong changes of a source text, one at a time.

Only what functions do is changed. Left alone are docstrings, annotations, decorators, assertions and checks
of invariants, messages of errors, and prefetching, which has no effect that a test could see.
"""

from __future__ import annotations

import ast
import bisect
import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

OPERATORS = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.BitXor: ("^", "|"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}
UNARY = {ast.Not: "not ", ast.USub: "-", ast.Invert: "~"}
CALLS = {"min": "max", "max": "min", "smaller": "larger", "larger": "smaller", "any": "all", "all": "any"}
UNSEEN_CALLS = {"prefetch"}
UNSEEN_KEYWORDS = {"strict"}
UNSEEN_FUNCTIONS = {"_check", "prefetch", "_prefetch"}
DROPPED = (ast.AugAssign, ast.Delete, ast.Raise, ast.Break, ast.Continue)


class Mutant(NamedTuple):
    """One change.

    Attributes
    ----------
    path : str
        The file, from the root of the project.
    function : str
    line : str
        The line before the change, without its indentation.
    becomes : str
        The line after the change.
    nth : int
        Counts changes that have everything above in common.
    number : int
        Of the line, from 1. It and what follows are not part of the key.
    start, end : int
        What is replaced, in bytes of the file.
    text : str
        What comes instead.
    """

    path: str
    function: str
    line: str
    becomes: str
    nth: int
    number: int
    start: int
    end: int
    text: str

    @property
    def key(self) -> tuple[str, str, str, str, int]:
        """What tells the change from all others, as long as its line stays."""
        return self[:5]

    @property
    def change(self) -> str:
        """The change in a line, which names it within its function."""
        return f"without {self.line}" if self.becomes == "pass" else self.becomes

    def apply(self, source: bytes) -> bytes:
        """Return the changed file."""
        return source[: self.start] + self.text.encode() + source[self.end :]


class _Finder(ast.NodeVisitor):
    def __init__(self, source: bytes) -> None:
        self.source = source
        self.line_starts = [0]
        for line in source.splitlines(keepends=True):
            self.line_starts.append(self.line_starts[-1] + len(line))
        self.names: list[str] = []
        self.in_function = False
        self.found: list[tuple[str, int, int, str]] = []

    # ------------------------------------------------------------------------------- places in the text
    def _start(self, node: ast.AST) -> int:
        return self.line_starts[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.AST) -> int:
        return self.line_starts[node.end_lineno - 1] + node.end_col_offset

    def _replace(self, start: int, end: int, text: str) -> None:
        if self.in_function:
            self.found.append((".".join(self.names), start, end, text))

    def _swap(self, left: ast.AST, operator: ast.AST, right: ast.AST) -> None:
        """Swap the operator that stands between two expressions."""
        if type(operator) in OPERATORS:
            old, new = OPERATORS[type(operator)]
            start = self.source.index(old.encode(), self._end(left), self._start(right))
            self._replace(start, start + len(old), new)

    def _drop(self, statement: ast.AST) -> None:
        self._replace(self._start(statement), self._end(statement), "pass")

    def _negate(self, condition: ast.AST) -> None:
        if isinstance(condition, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
            start = self._start(condition)
            self._replace(start, start, "not ")

    # ---------------------------------------------------------------------------------------- what to visit
    def visit(self, node: ast.AST) -> None:
        if isinstance(node, DROPPED):
            self._drop(node)
        super().visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.names.append(node.name)
        for statement in node.body:
            self.visit(statement)
        self.names.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name in UNSEEN_FUNCTIONS:
            return
        self.names.append(node.name)
        outside, self.in_function = self.in_function, True
        for part in (*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body):
            self.visit(part)
        self.in_function = outside
        self.names.pop()

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self.visit(node.value)

    def visit_Assert(self, node: ast.Assert) -> None:
        pass

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        pass

    # ------------------------------------------------------------------------------------------ statements
    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call) and not _is_unseen(node.value):
            self._drop(node)
            self.visit(node.value)
        elif isinstance(node.value, (ast.Yield, ast.YieldFrom)):
            self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        pass  # it is dropped as a whole; its message is not looked at

    def visit_Assign(self, node: ast.Assign) -> None:
        if all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets):
            self._drop(node)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._swap(node.target, node.op, node.value)
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        # Other names are of another type than 0 as a rule, and OK is 0.
        is_ok = isinstance(node.value, ast.Attribute) and node.value.attr == "OK"
        if node.value and not is_ok and not isinstance(node.value, (ast.Constant, ast.Tuple, ast.Name)):
            self._replace(self._start(node.value), self._end(node.value), "0")
        self.generic_visit(node)

    def visit_If(self, node: ast.If | ast.While | ast.IfExp) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    visit_While = visit_IfExp = visit_If

    # ----------------------------------------------------------------------------------------- expressions
    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
            self._swap(left, operator, right)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self._swap(node.left, node.op, node.right)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._swap(left, node.op, right)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if type(node.op) in UNARY:
            start = self._start(node)
            self._replace(start, start + len(UNARY[type(node.op)]), "")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if _is_unseen(node):
            return
        if isinstance(node.func, ast.Name) and node.func.id in CALLS:
            self._replace(self._start(node.func), self._end(node.func), CALLS[node.func.id])
        self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg not in UNSEEN_KEYWORDS:
            self.visit(node.value)

    def visit_Constant(self, node: ast.Constant) -> None:
        start, end = self._start(node), self._end(node)
        if isinstance(node.value, bool):
            self._replace(start, end, str(not node.value))
        elif isinstance(node.value, (int, float)):
            self._replace(start, end, repr(node.value + 1))
            if node.value > 0:
                self._replace(start, end, repr(node.value - 1))


def _is_unseen(call: ast.Call) -> bool:
    return getattr(call.func, "attr", getattr(call.func, "id", None)) in UNSEEN_CALLS


def mutants_of(path: str, source: bytes) -> Iterator[Mutant]:
    """Yield every mutant of a file."""
    finder = _Finder(source)
    finder.visit(ast.parse(source))
    same: Counter[tuple[str, str, str]] = Counter()
    for function, start, end, text in sorted(finder.found, key=lambda found: found[1:3]):
        number = bisect.bisect_right(finder.line_starts, start)
        line_start = finder.line_starts[number - 1]
        line = source[line_start : source.find(b"\n", start)].decode().strip()
        rest = source[end : source.find(b"\n", end)]
        becomes = (source[line_start:start] + text.encode() + rest).decode().strip()
        nth = same[function, line, becomes]
        same[function, line, becomes] += 1
        yield Mutant(path, function, line, becomes, nth, number, start, end, text)


def sample(mutants: list[Mutant], size: int, seed: int) -> list[Mutant]:
    """Return some of the mutants, chosen by a hash of their keys.

    A change of the source changes the choice only as far as its lines are concerned.
    """

    def rank(mutant: Mutant) -> bytes:
        return hashlib.sha256(repr((seed, mutant.key)).encode()).digest()

    return sorted(mutants, key=rank)[:size]
