"""Unicode's normal forms: NFC, NFD, NFKC and NFKD, by the tables of Python.

But: ``tokenizers`` has tables of its own, which are those of Unicode 9. It takes a mark that is newer for a
letter, and leaves a character as it is that has a newer decomposition.
``unicodedata.unidata_version`` says which version Python's tables have.
"""

from __future__ import annotations

import unicodedata
from itertools import groupby
from typing import Literal, TypeAlias

from bpe.pipeline.text_changes import ANYTHING, Heads, TextChange
from bpe.pipeline.tracked import Tracked
from bpe.splitting.regex_engine import when_needed

FormName: TypeAlias = Literal["NFC", "NFD", "NFKC", "NFKD"]
# Python sorts marks by insertion, which takes quadratic time where they are not in order. The last two
# characters become marks.
_MANY_MARKS = when_needed(r"[\p{M}\uff9e\uff9f]{500,}")
_JAMO_THAT_COMBINE = ("\u1160", "\u11ff")
# ASCII that nothing after it combines with. "<", "=" and ">" combine with a stroke, letters with accents.
_ALONE = frozenset(map(chr, range(128))) - set("<=>") - {c for c in map(chr, range(128)) if c.isalpha()}


class UnicodeForm(TextChange):
    """A normal form of Unicode."""

    def __init__(self, name: FormName) -> None:
        self.name = name
        self._decomposed: Literal["NFD", "NFKD"] = "NFKD" if "K" in name else "NFD"

    def plain(self, text: str, most: int) -> str:
        if text.isascii():
            return text
        if _MANY_MARKS().search(text, concurrent=False):
            text = _MANY_MARKS().sub(lambda found: self._in_order(found[0]), text, concurrent=False)
        return unicodedata.normalize(self.name, text)

    def _in_order(self, marks: str) -> str:
        """Return marks, decomposed, in the order that all normal forms have."""
        decomposed = {mark: unicodedata.normalize(self._decomposed, mark) for mark in {*marks}}
        parts: list[str] = []
        for _, some in groupby("".join(map(decomposed.__getitem__, marks)), _is_fixed):
            parts += sorted(some, key=unicodedata.combining)  # the order of fixed ones is 0
        return "".join(parts)

    def tracked(self, text: Tracked, most: int) -> Tracked:
        return text.changed(self._changes(text.text))

    def _changes(self, text: str) -> list[tuple[str, int]]:
        """Return the changes to a text, as :mod:`bpe.pipeline.tracked` has them."""
        changes: list[tuple[str, int]] = []
        marks: list[tuple[int, str, int]] = []
        for character in text:
            for i, part in enumerate(unicodedata.normalize(self._decomposed, character)):
                order = unicodedata.combining(part)
                if order == 0 and marks:
                    changes += [mark[1:] for mark in sorted(marks, key=_order)]
                    marks.clear()
                if order == 0:
                    changes.append((part, min(i, 1)))
                else:
                    marks.append((order, part, min(i, 1)))
        changes += [mark[1:] for mark in sorted(marks, key=_order)]
        return changes if self.name == self._decomposed else _composed(changes)

    def heads(self, before: str, after: str) -> Heads:
        if not after or not self._is_boundary(after):
            return None
        if self.name == self._decomposed:
            return frozenset({unicodedata.normalize(self.name, after)[0]})
        return frozenset({after}) if after in _ALONE else ANYTHING

    def _is_boundary(self, after: str) -> bool:
        """Say whether a character neither moves nor combines with any before it.

        Not all such characters are known: what is not of the Basic Multilingual Plane counts as if it did.
        """
        first = unicodedata.normalize(self._decomposed, after)[0]
        low, high = _JAMO_THAT_COMBINE
        return (
            after <= "\uffff"
            and unicodedata.combining(first) == 0
            and unicodedata.category(first)[0] not in "MC"
            and not low <= first <= high
        ) or after in "\t\n\r"


def _is_fixed(mark: str) -> bool:
    return unicodedata.combining(mark) == 0


def _order(mark: tuple[int, str, int]) -> int:
    return mark[0]


def _composed(changes: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Compose the characters of a decomposed text."""
    composed: list[tuple[str, int]] = []
    base, last_order = -1, 0  # the last letter that marks can join, and the order of the mark before
    for new, change in changes:
        order = unicodedata.combining(new)
        if base >= 0 and (last_order < order or base == len(composed) - 1):
            old, old_change = composed[base]
            pair = unicodedata.normalize("NFC", old + new)
            if len(pair) == 1:
                composed[base] = pair, old_change + change - 1
                continue
        if order == 0:
            base = len(composed)
        last_order = order
        composed.append((new, change))
    return composed
