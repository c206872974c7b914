r"""Classes of code points: which characters a pattern tells apart.

The ``regex`` package says what the members of a named class such as ``\p{L}`` are, and which characters
differ in case only, so that both use the same tables of Unicode. Sets are put together from these, as sorted
ranges.
Code points that no class of a pattern tells apart are one *symbol*::

    code points   . . . '0' . . '9' . . 'A' . . . 'Z' . . .
    ranges of     [    )[         )[   )[           )[
    symbols       0      1          0    2            0

What it says about the classes of the named patterns is written down in ``classes.json``, so that the package,
an extension that may not be ready for free-threaded Python, is loaded only where a pattern needs it::

    {
    "unicode": "17.0.0",             the version of the package's tables: with another, the package is asked
    "classes": {"\\p{L}": [65, 26, 6, 26, ...], ...},    gaps and lengths of the ranges, in turn
    "cases": {"115": [83, 115, 383], ...}                what differs from a letter in case only
    }

:func:`table` makes it again; a test compares both.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bpe.splitting.compiled.syntax import StepBudget, UnsupportedError, code_of, items_of, without_flags
from bpe.splitting.regex_engine import unicode_version

N_CODE_POINTS = 0x110000
MAX_SYMBOLS = 255
CASED = r"[\p{Changes_When_Casemapped}\p{Changes_When_Casefolded}]"
_NAMED = {r"\s", r"\S", r"\d", r"\D", r"\w", r"\W"}

# Steps of a StepBudget:
_RUN = 10_000  # one run over all code points
_RUN_MORE = 1_000  # for each further character of the class: the package looks at the items one by one
_CASE = 50  # to find what differs in case only from one character
_EDGES = 20  # edges of ranges that are one step


def ranges_of(source: str, budget: StepBudget | None = None) -> np.ndarray:
    """Return the members of an expression that matches single characters: (n, 2) half-open ranges, rising."""
    budget = budget or StepBudget()
    flags, plain = without_flags(source)
    ignores_case = "i" in flags
    if (code := code_of(plain)) is not None and plain != ".":
        return _merged([[code, code + 1]], ignores_case, budget)
    if plain.startswith("["):
        ranges = _ranges_of_set(plain, ignores_case, budget)
        if ranges is not None:
            return ranges
    budget.spend(_RUN + _RUN_MORE * len(plain))
    return _members_of(source)


def _ranges_of_set(source: str, ignores_case: bool, budget: StepBudget) -> np.ndarray | None:
    """Return the members of a set; None where only the package can tell."""
    is_negated = source.startswith("[^")
    content = source[1 + is_negated : -1]
    items = items_of(content)
    if items is None:
        return None
    budget.spend(len(content))
    pairs: list[list[int]] = []
    named: dict[str, None] = {}
    for first, last in items:
        start = code_of(first)
        end = start if last is None else code_of(last)
        if start is not None and end is not None and first != "[":
            pairs.append([start, end + 1])
        elif last is None and not ignores_case and (first[:2] in (r"\p", r"\P", "[:") or first in _NAMED):
            named[first] = None
        else:
            return None
    parts = [_merged(pairs, ignores_case, budget)]
    for name in named:
        budget.spend(_RUN)
        parts.append(_members_of(f"[{name}]"))
    ranges = _union(np.concatenate(parts)) if named else parts[0]
    if not is_negated:
        return ranges
    others = _complement(ranges)
    return others if len(others) else None  # [^\s\S] is every character for the package


@functools.lru_cache(maxsize=256)
def _members_of(source: str) -> np.ndarray:
    """Return the members of an expression that matches single characters, from the file or the package."""
    known = known_ranges(source)
    return _found_by_regex(source) if known is None else known


def _found_by_regex(source: str) -> np.ndarray:
    import regex

    try:
        members = regex.compile(f"(?:{source})++")
    except regex.error as error:
        raise UnsupportedError(f"{source!r:.80} by itself: {error}") from None
    spans = [match.span() for match in members.finditer(_every_character(), concurrent=False)]
    ranges = np.array(spans, np.int64).reshape(-1, 2)
    ranges.setflags(write=False)
    return ranges


@functools.cache
def _every_character() -> str:
    return np.arange(N_CODE_POINTS, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")


# ------------------------------------------------------------------------------------------------- case
def _merged(pairs: list[list[int]], ignores_case: bool, budget: StepBudget) -> np.ndarray:
    """Return ranges sorted and joined; with what differs from a member in case only, if `ignores_case`."""
    ranges = _union(np.array(pairs, np.int64).reshape(-1, 2))
    if not ignores_case:
        return ranges
    codes = _cased_characters()[1]
    members = codes[np.searchsorted(ranges.ravel(), codes, side="right") % 2 == 1].tolist()
    budget.spend(_CASE * len(members))
    more = [[other, other + 1] for code in members for other in _cases_of(code)]
    return _union(np.concatenate([ranges, np.array(more, np.int64).reshape(-1, 2)]))


@functools.cache
def _cased_characters() -> tuple[str, np.ndarray]:
    """Return the characters that differ from another in case only, also as code points."""
    ranges = _members_of(CASED)
    codes = np.concatenate([np.arange(start, end) for start, end in ranges])
    return "".join(map(chr, codes)), codes


@functools.lru_cache(maxsize=4096)
def _cases_of(code: int) -> list[int]:
    known = known_cases(code)
    return _cases_by_regex(code) if known is None else known


def _cases_by_regex(code: int) -> list[int]:
    import regex

    return [ord(c) for c in regex.findall(f"(?i:{regex.escape(chr(code))})", _cased_characters()[0])]


# ---------------------------------------------------------------------------------------- classes.json
FILE = Path(__file__).with_suffix(".json")
_IN_BRACKETS = re.compile(r"\[(\\(?:p\{\w+\}|[sS]))\]")


@functools.cache
def _table() -> dict[str, Any]:
    """Return the content of the file; an empty table if it is of another version of Unicode."""
    table = json.loads(FILE.read_text("ascii"))
    return table if table["unicode"] == unicode_version() else {"classes": {}, "cases": {}}


def known_ranges(source: str) -> np.ndarray | None:
    r"""Return the ranges of a class such as ``\s`` or ``[\s]``; None where the package must be asked."""
    found = _IN_BRACKETS.fullmatch(source)
    steps = _table()["classes"].get(found.group(1) if found else source)
    if steps is None:
        return None
    ranges = np.cumsum(steps).reshape(-1, 2)
    ranges.setflags(write=False)
    return ranges


def known_cases(code: int) -> list[int] | None:
    """Return what differs from a character in case only, and itself; None where the package must be asked."""
    return _table()["cases"].get(str(code))


def table() -> dict[str, Any]:
    """Return what belongs in the file, as the package says."""
    categories = ("L", "N", "M", "P", "S", "Lu", "Ll", "Lt", "Lm", "Lo")
    classes = (*(rf"\p{{{name}}}" for name in categories), r"\s", r"\S", "(?s:.)", CASED)
    ranges = {source: _found_by_regex(source).ravel() for source in classes}
    return {
        "unicode": unicode_version(),
        "classes": {source: np.diff(edges, prepend=0).tolist() for source, edges in ranges.items()},
        "cases": {str(code): _cases_by_regex(code) for code in range(128) if chr(code).isalpha()},
    }


# ----------------------------------------------------------------------------------------------- ranges
def _union(ranges: np.ndarray) -> np.ndarray:
    """Return sorted ranges with the members of all given ones, which may overlap."""
    if len(ranges) < 2:
        return ranges
    ranges = ranges[np.argsort(ranges[:, 0])]
    reach = np.maximum.accumulate(ranges[:, 1])
    begins = np.concatenate([[True], ranges[1:, 0] > reach[:-1]])
    ends = np.concatenate([begins[1:], [True]])
    return np.stack([ranges[begins, 0], reach[ends]], axis=1)


def _complement(ranges: np.ndarray) -> np.ndarray:
    """Return the ranges between sorted ranges."""
    edges = np.concatenate([[0], ranges.ravel(), [N_CODE_POINTS]]).reshape(-1, 2)
    return edges[edges[:, 0] < edges[:, 1]]


# ---------------------------------------------------------------------------------------------- symbols
def symbols_of(
    classes: Sequence[np.ndarray], budget: StepBudget | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Give code points one symbol if they are members of the same classes; return symbols and memberships."""
    budget = budget or StepBudget()
    edges = np.unique(np.concatenate([[0, N_CODE_POINTS], *(ranges.ravel() for ranges in classes)]))
    starts = edges[:-1]
    symbol_at = np.zeros(len(starts), np.int64)  # by start of a range between two edges
    members = np.empty((1, 0), np.bool_)  # (symbols, classes)
    for ranges in classes:
        budget.spend(len(starts) // _EDGES + MAX_SYMBOLS)
        # A start is inside a range of a class if the number of the class's edges up to it is odd.
        inside = np.searchsorted(ranges.ravel(), starts, side="right") % 2
        told_apart, symbol_at = np.unique(2 * symbol_at + inside, return_inverse=True)
        symbol_at = symbol_at.reshape(-1)
        members = np.column_stack([members[told_apart // 2], told_apart % 2 == 1])
        if len(members) > MAX_SYMBOLS:
            raise UnsupportedError(f"an expression with more than {MAX_SYMBOLS} kinds of characters")
    return np.repeat(symbol_at.astype(np.uint8), np.diff(edges)), members  # by code point; by symbol
