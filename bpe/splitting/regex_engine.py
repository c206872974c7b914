"""Expressions of the ``regex`` package: checked, compiled once, and run over a text by the package.

Anybody may have written an expression. So its size is limited before the package sees it, and so is the time
that it may take for a text.
"""

from __future__ import annotations

import functools
import importlib.metadata
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:  # the package is loaded when an expression is compiled: named patterns do without
    import regex

MAX_EXPRESSIONS = 32
"""How many expressions a pattern may have."""
MAX_LENGTH = 250_000
"""How many characters they may have in all."""
MAX_PARTS = 100_000
"""How many parts they may have in all: characters and sets, each as often as it is repeated."""
MAX_DEPTH = 100
"""How many groups may be open at a place."""

_PART = re.compile(r"\\.|(?:(?P<sign>[?*+])|\{(?P<least>\d*)(?P<to>,(?P<most>\d*))?\})[?+]?|.", re.DOTALL)
SET = re.compile(r"\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]", re.DOTALL)
# The flag x, or a comment: then what looks like a set may not be one.
_MAY_HAVE_COMMENTS = re.compile(r"\(\?(?:#|[a-zA-Z0-9-]*x)")


def check_expressions(sources: Sequence[str]) -> None:
    """Raise ``ValueError`` if there are too many expressions in a pattern, or they are too large."""
    if len(sources) > MAX_EXPRESSIONS:
        raise ValueError(f"the pattern has {len(sources)} expressions, which is more than {MAX_EXPRESSIONS}")
    if sum(map(len, sources)) > MAX_LENGTH:
        raise ValueError(
            f"the pattern has {sum(map(len, sources))} characters, which is more than {MAX_LENGTH}"
        )
    if sum(map(check_expression, sources)) > MAX_PARTS:
        raise ValueError(f"the expressions of the pattern have more than {MAX_PARTS} parts in all")


@functools.lru_cache(maxsize=64)
def check_expression(source: str) -> int:
    """Return the number of parts of an expression, valid or not; raise ``ValueError`` if it is too large."""
    if len(source) > MAX_LENGTH:
        raise ValueError(f"the expression has {len(source)} characters, which is more than {MAX_LENGTH}")
    may_have_comments = _MAY_HAVE_COMMENTS.search(source) is not None
    has_sets = not may_have_comments
    sizes, last, at = [0], 0, 0  # of the open groups, and of the part that a repetition would repeat
    while at < len(source):
        found = None
        if has_sets and source[at] == "[":
            found = SET.match(source, at)
            has_sets = found is not None  # if a set has no end here, none has one later
        found = found or _PART.match(source, at)
        if found is None:  # a backslash at the end
            break
        part, times = found.group(), _times(found)
        if times:
            sizes[-1] += last * (times - 1)
            last *= times
        elif part == "(":
            sizes.append(0)
        elif part == ")" and len(sizes) > 1:
            inner = sizes.pop()
            sizes[-1] += inner
            last = max(last, inner) if may_have_comments else inner
        else:
            last = max(last, 1) if may_have_comments else 1  # a repetition may follow after a comment
            sizes[-1] += 1
        if sizes[-1] > MAX_PARTS:
            raise ValueError(
                f"the expression repeats too much at character {at}: it has more than {MAX_PARTS} parts"
            )
        if len(sizes) > MAX_DEPTH + 1:
            raise ValueError(f"the expression has more than {MAX_DEPTH} open groups at character {at}")
        at = found.end()
    return sum(sizes)


def _times(found: re.Match[str]) -> int:
    """Return how many copies of a part a repetition makes, in the package or here; 0 if it is not one."""
    sign, least, to, most = (found.groupdict().get(name) for name in ("sign", "least", "to", "most"))
    if sign:
        return 2 if sign == "+" else 1
    if least is None:
        return 0
    fewest, greatest = (int((digits or "0")[:9]) for digits in (least, most))
    # The package writes {2} as two copies and a loop.
    return max(1, greatest, fewest + (fewest > 1 or (fewest == 1 and to is not None)))


@functools.lru_cache(maxsize=64)
def compiled(source: str) -> regex.Pattern[str]:
    """Compile an expression; raise ``ValueError`` if it is not valid."""
    import regex

    check_expression(source)
    try:
        return regex.compile(source, cache_pattern=False)  # each may take megabytes
    except Exception as error:  # not only regex.error: odd sources raise OverflowError and others
        position = getattr(error, "pos", None)
        where = f" at character {position}" if position is not None else ""
        what = getattr(error, "msg", None) or str(error) or type(error).__name__
        raise ValueError(f"invalid regular expression {source!r:.200}: {what}{where}") from None


def lazy_regex(source: str) -> Callable[[], regex.Pattern[str]]:
    """Return a function that compiles an expression of ours at its first call."""

    @functools.cache
    def compiled_once() -> regex.Pattern[str]:
        import regex

        return regex.compile(source)

    return compiled_once


SECONDS, SECONDS_PER_MEGABYTE = 10, 20
"""How many seconds of processor time a text may take: some, and more for each million characters."""


class _Deadline(NamedTuple):
    """When work for a text has to stop, and how long the text is."""

    end: float  # by the clock of time.thread_time, as everywhere here
    n_characters: int


_SHARED: ContextVar[_Deadline | None] = ContextVar("_SHARED", default=None)


def _seconds(n_characters: int) -> float:
    return SECONDS + SECONDS_PER_MEGABYTE * n_characters / 1_000_000


@contextmanager
def shared_deadline(n_characters: int) -> Iterator[None]:
    """Give all expressions that run meanwhile, in this thread, the time of one text together.

    Without this, each part of a text has the time of a text, however many there are.
    """
    token = _SHARED.set(_Deadline(time.thread_time() + _seconds(n_characters), n_characters))
    try:
        yield
    finally:
        _SHARED.reset(token)


@contextmanager
def _explained(source: str, text: str) -> Iterator[None]:
    """Name the expression in errors of too much time or memory, and say what to do."""
    try:
        yield
    except TimeoutError:
        shared = _SHARED.get()
        n_characters = shared.n_characters if shared else len(text)
        raise TimeoutError(
            f"the pattern {source!r:.200} takes more than {_seconds(n_characters):.0f} seconds for a text of "
            f"{n_characters} characters. It is run by the regex package, in which some patterns take "
            "exponential time: use one that is compiled, or cut the text into shorter ones"
        ) from None
    except MemoryError:
        raise MemoryError(f"the regex package has no memory for the pattern {source!r:.200}") from None


def deadline_of(text: str) -> float:
    """Return when work for a text has to stop; inside :func:`shared_deadline`, the same for all texts."""
    shared = _SHARED.get()
    return shared.end if shared else time.thread_time() + _seconds(len(text))


def _search_options(end: float | None) -> dict[str, Any]:
    """Return the options of a search that stops at a time."""
    # Not concurrent: releasing the GIL for every match takes longer than the match.
    return {"concurrent": False, "timeout": None if end is None else max(end - time.thread_time(), 1e-6)}


def spans_of(source: str, text: str, end: float | None = None) -> list[tuple[int, int]]:
    """Return the spans of the matches of an expression, in the order in which they are found."""
    limits = _search_options(end or deadline_of(text))
    with _explained(source, text):
        return [match.span() for match in compiled(source).finditer(text, **limits)]


def split_around_matches(source: str, text: str, end: float | None = None) -> tuple[list[str], list[str]]:
    """Return the texts around the matches of an expression, one more than these, and the matches."""
    expression, limits = compiled(f"({source})"), _search_options(end or deadline_of(text))
    with _explained(source, text):
        parts = expression.split(text, **limits)
    step = 1 + expression.groups
    return parts[::step], parts[1::step]


def split_by_expressions(sources: Sequence[str], text: str) -> list[str]:
    """Cut a text by each expression in turn, as :func:`split_by_expression` does."""
    end = deadline_of(text)
    pieces = [text] if text else []
    for source in sources:
        with _explained(source, text):
            pieces = [part for piece in pieces for part in split_by_expression(source, piece, end)]
    return pieces


def split_by_expression(source: str, text: str, end: float | None = None) -> list[str]:
    """Return the matches of an expression and the texts between them; none is empty."""
    import regex

    expression = compiled(source)
    is_in_order = not expression.flags & regex.REVERSE and r"\K" not in source
    if is_in_order:
        if expression.groups:  # findall would return the groups
            pieces = [match.group() for match in expression.finditer(text, **_search_options(end))]
        else:
            pieces = expression.findall(text, **_search_options(end))
        if sum(map(len, pieces)) == len(text):
            return pieces if all(pieces) else [piece for piece in pieces if piece]
    ends = {place for match in expression.finditer(text, **_search_options(end)) for place in match.span()}
    return [text[start:stop] for start, stop in pairwise(sorted({0, len(text), *ends}))]


@functools.cache
def unicode_version() -> str:
    """Return the Unicode version of the package's tables, which only the package's description names."""
    try:
        description = importlib.metadata.distribution("regex").read_text("METADATA") or ""
    except importlib.metadata.PackageNotFoundError:
        description = ""
    found = re.search(r"supports Unicode (\d+(?:\.\d+)+)", description)
    if found:
        return found.group(1)
    import regex

    return f"of regex {regex.__version__}"
