"""``SuperwordOptions``: how superwords are learned."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index as as_index
from typing import Literal, NamedTuple, TypeAlias

from bpe.splitting.pattern import Pattern
from bpe.training.start import choice

Superwords: TypeAlias = Literal["superbpe", "boundless"]

SUPERWORDS: tuple[Superwords, ...] = ("superbpe", "boundless")
_METHOD_OF: dict[str, Superwords] = {
    "first_merges": "superbpe",
    "superwords_pattern": "superbpe",
    "superword_parts": "boundless",
    "max_phrase": "boundless",
    "min_phrase_count": "boundless",
}


def check_first_merges(first_merges: int | None, n_merges: int) -> int:
    """Return how many of `n_merges` merges are learned in words; raise ValueError if it is out of range."""
    if first_merges is None:
        raise ValueError("superwords='superbpe' needs first_merges: how many merges stay inside words")
    if not 0 <= as_index(first_merges) <= n_merges:
        raise ValueError(
            f"first_merges must be from 0 to {n_merges}, the merges of the vocabulary, not {first_merges}"
        )
    return first_merges


class SuperwordOptions(NamedTuple):
    """How superwords are learned, as :func:`bpe.train` takes it."""

    superwords: Superwords | None = None
    first_merges: int | None = None
    superwords_pattern: str | Iterable[str] | Pattern | None = None
    superword_parts: str | None = None
    max_phrase: int | None = None
    min_phrase_count: int | None = None

    def checked(self, n_merges: int) -> SuperwordOptions:
        """Return these options; a ValueError where they do not fit together, or do not fit `n_merges`."""
        if self.superwords is not None:
            choice(self.superwords, "superwords", SUPERWORDS)
        for name, method in _METHOD_OF.items():
            if getattr(self, name) is not None and self.superwords != method:
                raise ValueError(
                    f"{name} is for superwords={method!r}, not for superwords={self.superwords!r}"
                )
        if self.superwords == "superbpe":
            check_first_merges(self.first_merges, n_merges)
        if self.max_phrase is not None and as_index(self.max_phrase) < 2:
            raise ValueError(f"max_phrase must be at least 2, not {self.max_phrase}")
        if self.min_phrase_count is not None:
            if self.max_phrase is None:
                raise ValueError("min_phrase_count is for max_phrase: give that, too")
            if as_index(self.min_phrase_count) < 1:
                raise ValueError(f"min_phrase_count must be at least 1, not {self.min_phrase_count}")
        if self.superword_parts is not None:
            from bpe.counting.run_edges import joins

            joins(self.superword_parts)  # raises
        return self
