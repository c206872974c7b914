"""Cutting small texts by a pattern in plain Python, while nothing is compiled or loaded.

:mod:`bpe.encoding.plain_encoder` encodes such texts, and :mod:`bpe.training.plain_trainer` learns from them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bpe.splitting.pattern import Pattern
from bpe.splitting.regex_engine import split_by_expressions
from bpe.support.text import as_bytes, as_text

_n_refusing = 0  # contexts of `everything_compiled` that are open


@contextmanager
def everything_compiled() -> Iterator[None]:
    """Let compiled code do everything in this process, for texts of any size, while the context is open."""
    global _n_refusing
    _n_refusing += 1
    try:
        yield
    finally:
        _n_refusing -= 1


def plain_splitter(pattern: Pattern) -> Callable[[bytes], list[bytes]] | None:
    r"""Return what cuts bytes into pieces as :meth:`bpe.Pattern.split_bytes` does, but compiles nothing."""
    has_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    if pattern.name in (None, "none") or len(pattern.sources) > 1 or _n_refusing or not has_gil:
        return None
    try:
        import regex  # noqa: F401  # compiled code cuts by these patterns without it
    except ImportError:
        return None
    return lambda data: [as_bytes(piece) for piece in split_by_expressions(pattern.sources, as_text(data))]
