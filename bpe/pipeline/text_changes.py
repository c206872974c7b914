r"""The changes that normalizers are made of.

Each :class:`TextChange` changes a text in two ways, which give the same text: :meth:`TextChange.plain` is
fast, and :meth:`TextChange.tracked` keeps where each character came from.

Each also says where a text can be cut: :meth:`TextChange.heads` is asked about a cut before a character c. If
changing both parts is the same as changing the whole, whatever else is before and after, it answers with what
the second part may begin with, after the change. Otherwise it answers None. What a part begins with is a
character, or ``""``: anything, or nothing at all. So the cut goes through several changes, one after the
other.

The normal forms of Unicode, NFC, NFD, NFKC and NFKD, are by the tables of Python.

But: ``tokenizers`` has tables of its own, which are those of Unicode 9. It takes a mark that is newer for a
letter, and leaves a character as it is that has a newer decomposition.
``unicodedata.unidata_version`` says which version Python's tables have.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from itertools import groupby
from typing import TYPE_CHECKING, Literal, TypeAlias

from bpe.pipeline.entries import MAX_CONTENT, SearchPattern
from bpe.pipeline.tracked import Tracked
from bpe.splitting.regex_engine import lazy_regex

if TYPE_CHECKING:
    import regex


Heads: TypeAlias = frozenset[str] | None
ANYTHING: frozenset[str] = frozenset({""})
MAX_GROWTH = 100
"""How many characters a normalizer may make of each; and :data:`bpe.pipeline.entries.MAX_CONTENT` more."""
# What Rust takes for white space: U+001C to U+001F are not, as they are for Python.
WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
)


def most_of(n_characters: int) -> int:
    """Return how many characters may be made of a text that is not empty, all its segments together."""
    return MAX_GROWTH * n_characters + MAX_CONTENT


def check_size(size: int, most: int) -> None:
    """Raise a ValueError if a text would have more characters than it may."""
    if size > most:
        raise ValueError(
            f"the normalizer makes a text of {size} characters, and at most {most} are allowed here: "
            f"{MAX_GROWTH} for each character given, and {MAX_CONTENT}"
        )


class TextChange:
    """A change of texts that are not empty."""

    is_at_beginning = False
    """Whether only the beginning of the text is changed."""

    def plain(self, text: str, most: int) -> str:
        """Return the changed text, or raise a ValueError if it has more characters than `most`."""
        raise NotImplementedError

    def tracked(self, text: Tracked, most: int) -> Tracked:
        """Return the changed text with its origins."""
        raise NotImplementedError

    def heads(self, before: str, after: str) -> Heads:
        """Return what the second part begins with if a text can be cut here; see the module docstring."""
        raise NotImplementedError


class ByCharacter(TextChange):
    """A change of each character by itself."""

    def __init__(self, new_of: Callable[[str], str]) -> None:
        self.new_of = new_of
        self._table = _Table(new_of)
        self._keeps_ascii = all(new_of(chr(code)) == chr(code) for code in range(128))

    def plain(self, text: str, most: int) -> str:
        return text if self._keeps_ascii and text.isascii() else text.translate(self._table)

    def tracked(self, text: Tracked, most: int) -> Tracked:
        if self._keeps_ascii and text.text.isascii():
            return text
        parts = [*map(self.new_of, text.text)]
        return text.taking("".join(parts), [i for i, part in enumerate(parts) for _ in part])

    def heads(self, before: str, after: str) -> Heads:
        return frozenset({self.new_of(after)[:1]}) if after else ANYTHING


class _Table(dict[int, str]):
    """What ``str.translate`` looks characters up in."""

    _MOST = 10_000

    def __init__(self, new_of: Callable[[str], str]) -> None:
        super().__init__()
        self.new_of = new_of

    def __missing__(self, code: int) -> str:
        new = self.new_of(chr(code))
        if len(self) < self._MOST:
            self[code] = new
        return new


class Lowercase(ByCharacter):
    """Lower case, of each character by itself: a sigma at the end of a word is like any other."""

    def __init__(self) -> None:
        super().__init__(str.lower)

    def plain(self, text: str, most: int) -> str:
        return text.replace("\u03a3", "\u03c3").lower()


class Prepend(TextChange):
    """A text put before the given one."""

    is_at_beginning = True

    def __init__(self, new: str) -> None:
        self.new = new

    def plain(self, text: str, most: int) -> str:
        return self.new + text

    def tracked(self, text: Tracked, most: int) -> Tracked:
        return text.prepended(self.new)

    def heads(self, before: str, after: str) -> Heads:
        return frozenset({after})


class StripLeft(TextChange):
    """White space at the beginning left out."""

    is_at_beginning = True

    def plain(self, text: str, most: int) -> str:
        return text.lstrip(WHITE_SPACE)

    def tracked(self, text: Tracked, most: int) -> Tracked:
        return text[len(text) - len(text.text.lstrip(WHITE_SPACE)) :]

    def heads(self, before: str, after: str) -> Heads:
        return frozenset({after})


class StripRight(TextChange):
    """White space at the end left out. No text can be cut: white space may be at the end of a part only."""

    def plain(self, text: str, most: int) -> str:
        return text.rstrip(WHITE_SPACE)

    def tracked(self, text: Tracked, most: int) -> Tracked:
        return text[: len(text.text.rstrip(WHITE_SPACE))]

    def heads(self, before: str, after: str) -> Heads:
        return None


# An expression that matches one character of a class, or a run of them that is as long as it can be.
_RUN = lazy_regex(
    r"(?P<one>[^\\.^$|?*+(){}\[\]]|(?P<class>\\[dDsSwWnrtfv]|\\[pP]\{\^?[\w=]+\})|\\[^\w\s]"
    r"|\[\^?(?:[^\\\[\]]|(?&class)|\\[^\w\s])+\])(?P<times>\+|\{[1-9][0-9]*,\})?"
)


class Replace(TextChange):
    """Every match of a pattern replaced by a text."""

    def __init__(self, pattern: SearchPattern, new: str) -> None:
        self.pattern, self.new = pattern, new
        self._heads_of_new = frozenset({new[:1]})
        # What one character of a match is, if nothing else is known of it, and whether it is all of a match.
        self._one: regex.Pattern[str] | None = None
        self._is_all = pattern.text is not None and len(pattern.text) == 1
        if self._is_all:
            self._one = lazy_regex(pattern.source)()
        elif pattern.text is None and (run := _RUN().fullmatch(pattern.source)):
            self._one, self._is_all = lazy_regex(run["one"])(), not run["times"]

    def plain(self, text: str, most: int) -> str:
        old = self.pattern.text
        if old is None:
            spans = self._spans(text, most)
            if not spans:
                return text
            ends = [0, *(end for _, end in spans)]
            starts = [*(start for start, _ in spans), len(text)]
            return self.new.join([text[end:start] for end, start in zip(ends, starts, strict=True)])
        if len(self.new) > len(old):
            check_size(len(text) + text.count(old) * (len(self.new) - len(old)), most)
        return text.replace(old, self.new)

    def tracked(self, text: Tracked, most: int) -> Tracked:
        return text.edited(self._spans(text.text, most), self.new)

    def _spans(self, text: str, most: int) -> list[tuple[int, int]]:
        spans = self.pattern.spans(text)
        check_size(len(text) + sum(len(self.new) - (end - start) for start, end in spans), most)
        return spans

    def heads(self, before: str, after: str) -> Heads:
        is_one = bool(after) and self._one is not None and self._one.fullmatch(after) is not None
        if self._is_all:
            return self._heads_of_new if is_one else frozenset({after})
        if not after or is_one:
            return None
        if self._one:
            return frozenset({after})
        text = self.pattern.text
        if not text or after in text[1:]:
            return None
        return self._heads_of_new | {after} if after == text[0] else frozenset({after})


FormName: TypeAlias = Literal["NFC", "NFD", "NFKC", "NFKD"]
# Python sorts marks by insertion, which takes quadratic time where they are not in order. The last two
# characters become marks.
_MANY_MARKS = lazy_regex(r"[\p{M}\uff9e\uff9f]{500,}")
# After a line end, before ASCII: nothing is composed or reordered across this place.
_LINE = re.compile(r"(?<=\n)(?=[\x00-\x7f])")
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
        parts, start, done = list[Tracked](), 0, 0
        for line in _LINE.split(text.text):
            end = start + len(line)
            if self.plain(line, most) != line:
                parts += [text[done:start], text[start:end].changed(self._changes(line))]
                done = end
            start = end
        return Tracked.joined([*parts, text[done:]])

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
        """Return whether a character neither moves nor combines with any before it.

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
