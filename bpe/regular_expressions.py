"""Expressions of the ``regex`` package: checked, compiled once, and run over a text the plain way."""

from __future__ import annotations

import functools
import importlib.metadata
import re

import regex

MAX_PARTS = 100_000
"""How many parts an expression may have: its characters and sets, each as often as it is repeated."""

_PART = re.compile(
    r"\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\{(?P<least>\d*)(?:,(?P<most>\d*))?\}|.", re.DOTALL
)


def check_expression(source: str) -> None:
    """Raise if an expression has more than :data:`MAX_PARTS`, counted repetitions written out.

    Parameters
    ----------
    source : str
        Any text; whether it is a valid expression is not checked here.

    Raises
    ------
    ValueError
        The expression is too large.

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
    sizes, last = [0], 0  # of the open groups, and of the part that a repetition would repeat
    for found in _PART.finditer(source):
        part, least = found.group(), found.group("least")
        if least is not None:
            times = max(1, *(int(digits[:9] or "0") for digits in (least, found.group("most") or "")))
            sizes[-1] += last * (times - 1)
            last *= times
        elif part == "(":
            sizes.append(0)
        elif part == ")" and len(sizes) > 1:
            last = sizes.pop()
            sizes[-1] += last
        elif part not in "?*+":
            last = 1
            sizes[-1] += 1
        if sizes[-1] > MAX_PARTS:
            raise ValueError(
                f"the expression repeats too much at character {found.start()}: "
                f"it has more than {MAX_PARTS} parts"
            )


@functools.lru_cache(maxsize=256)
def compiled(source: str) -> regex.Pattern[str]:
    """Compile an expression.

    Raises
    ------
    ValueError
        It is invalid or too large; the message says where.
    """
    check_expression(source)
    try:
        return regex.compile(source)
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
