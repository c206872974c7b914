"""Expressions of the ``regex`` package: checked, compiled once, and run over a text the plain way."""

from __future__ import annotations

import functools
import importlib.metadata
import re

import regex

MAX_LENGTH = 100_000
"""How many characters an expression may have."""
MAX_PARTS = 100_000
"""How many parts an expression may have: its characters and sets, each as often as it is repeated."""
MAX_DEPTH = 100
"""How many groups may be open at a place."""

_PART = re.compile(r"\\.|\{(?P<least>\d*)(?:,(?P<most>\d*))?\}|.", re.DOTALL)
_SET = re.compile(r"\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]", re.DOTALL)
# The flag x, or a comment: then what looks like a set may be none.
_MAY_HAVE_COMMENTS = re.compile(r"\(\?(?:#|[a-zA-Z0-9-]*x)")


def check_expression(source: str) -> None:
    """Raise if an expression is larger than a pattern can be.

    Parameters
    ----------
    source : str
        Any text; whether it is a valid expression is not checked here.

    Raises
    ------
    ValueError
        The expression has more than :data:`MAX_LENGTH` characters, more than :data:`MAX_PARTS` parts, counted
        repetitions written out, or groups deeper than :data:`MAX_DEPTH`.

    Complexity
    ----------
    O(n) for n characters.

    Examples
    --------
    >>> check_expression("[a-z]{1,3}")
    >>> check_expression("(?:a{1000}){1000}")
    Traceback (most recent call last):
    ...
    ValueError: the expression repeats too much at character 11: it has more than 100000 parts
    """
    if len(source) > MAX_LENGTH:
        raise ValueError(f"the expression has {len(source)} characters, which is more than {MAX_LENGTH}")
    may_have_comments = _MAY_HAVE_COMMENTS.search(source) is not None
    has_sets = not may_have_comments
    sizes, last, at = [0], 0, 0  # of the open groups, and of the part that a repetition would repeat
    while at < len(source):
        found = None
        if has_sets and source[at] == "[":
            found = _SET.match(source, at)
            has_sets = found is not None  # what has no end here has none later
        found = found or _PART.match(source, at)
        if found is None:  # a backslash at the end
            break
        part, least = found.group(), found.groupdict().get("least")
        if least is not None:
            times = max(1, *(int(digits[:9] or "0") for digits in (least, found.group("most") or "")))
            sizes[-1] += last * (times - 1)
            last *= times
        elif part == "(":
            sizes.append(0)
        elif part == ")" and len(sizes) > 1:
            inner = sizes.pop()
            sizes[-1] += inner
            last = max(last, inner) if may_have_comments else inner
        elif part not in "?*+":
            last = max(last, 1) if may_have_comments else 1  # a repetition may follow after a comment
            sizes[-1] += 1
        if sizes[-1] > MAX_PARTS:
            raise ValueError(
                f"the expression repeats too much at character {at}: it has more than {MAX_PARTS} parts"
            )
        if len(sizes) > MAX_DEPTH + 1:
            raise ValueError(f"the expression has more than {MAX_DEPTH} open groups at character {at}")
        at = found.end()


@functools.lru_cache(maxsize=64)
def compiled(source: str) -> regex.Pattern[str]:
    """Compile an expression.

    Raises
    ------
    ValueError
        It is invalid or too large; the message says where.
    """
    check_expression(source)
    try:
        return regex.compile(source, cache_pattern=False)  # each may take megabytes
    except Exception as error:  # not only regex.error: odd sources raise OverflowError and others
        position = getattr(error, "pos", None)
        where = f" at character {position}" if position is not None else ""
        what = getattr(error, "msg", None) or str(error) or type(error).__name__
        raise ValueError(f"invalid regular expression {source!r:.200}: {what}{where}") from None


def split_by_expression(source: str, text: str) -> list[str]:
    """Return the matches of an expression and the stretches between them; none is empty.

    Examples
    --------
    >>> split_by_expression("[0-9]", "ab1c")
    ['ab', '1', 'c']
    """
    expression = compiled(source)
    # concurrent=False: releasing the GIL for every match takes longer than the match.
    if expression.groups:  # findall would return the groups
        pieces = [match.group() for match in expression.finditer(text, concurrent=False)]
    else:
        pieces = expression.findall(text, concurrent=False)
    if sum(map(len, pieces)) == len(text):
        return pieces if all(pieces) else [piece for piece in pieces if piece]
    pieces, end = [], 0
    for match in expression.finditer(text, concurrent=False):
        start, stop = match.span()
        if start > end:
            pieces.append(text[end:start])
        if stop > start:
            pieces.append(match.group())
        end = stop
    if end < len(text):
        pieces.append(text[end:])
    return pieces


@functools.cache
def unicode_version() -> str:
    """Return the version of Unicode of the package's tables; only the package's description names it."""
    try:
        description = importlib.metadata.distribution("regex").read_text("METADATA") or ""
    except importlib.metadata.PackageNotFoundError:
        description = ""
    found = re.search(r"supports Unicode (\d+(?:\.\d+)+)", description)
    return found.group(1) if found else f"of regex {regex.__version__}"
