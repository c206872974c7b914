r"""Normalizers: what a ``tokenizer.json`` changes of a text before it is cut into pieces.

=====================  ==================================================================================
NFC, NFD, NFKC, NFKD   a normal form of Unicode (:mod:`bpe.pipeline.text_changes`)
Lowercase              each character by itself
StripAccents           marks are left out
Replace                all matches of a text or of an expression become a text
Prepend                a text before what is not empty
Strip                  no white space at the beginning, or at the end
Nmt                    control characters left out, and some others become spaces
Precompiled            SentencePiece's table of characters (:mod:`bpe.pipeline.charsmap`)
BertNormalizer         some of: control characters left out, Chinese characters between spaces, no accents,
                       lower case
ByteLevel              each byte becomes a character, as GPT-2 has them
Sequence               one after the other
=====================  ==================================================================================

But: which characters are marks or letters, Python's tables of Unicode say
(``unicodedata.unidata_version``). Those of ``tokenizers`` are older for marks and newer for lower case. So
results can differ for characters that are newer than Unicode 8, or have been of another kind then.
"""

from __future__ import annotations

import base64
import binascii
import functools
import math
import unicodedata
from collections.abc import Callable
from typing import Any

from bpe.pipeline.charsmap import CharacterMap, LongestKeys
from bpe.pipeline.entries import FromEntry, SearchPattern, content_of, flattened, unknown, value_of
from bpe.pipeline.text_changes import (
    MAX_GROWTH,
    WHITE_SPACE,
    ByCharacter,
    Lowercase,
    Prepend,
    Replace,
    StripLeft,
    StripRight,
    TextChange,
    UnicodeForm,
    check_size,
    most_of,
)
from bpe.pipeline.tracked import Tracked
from bpe.vocabulary.byte_level import text_of

_MOST_KNOWN = 10_000
_GROWTH = {"NFC": 3, "NFD": 4, "NFKC": 18, "NFKD": 18, "Lowercase": 3, "StripAccents": 1}

BOUNDARY = "\uffff"
"""A character that Unicode leaves to programs: no other combines with it, and it stays as it is."""


class Normalizer(FromEntry):
    """What changes a text before it is cut into pieces; make one with :meth:`of`.

    A text that arrives in parts is cut where :meth:`last_cut` says. The first part is for this normalizer,
    all others are for :attr:`later`, which leaves the beginning of its text as it is.

    * :meth:`__call__`, :meth:`tracked`
    * :meth:`last_cut`, :attr:`later`
    * :attr:`entry`, :attr:`is_nothing`
    """

    def __init__(self, entry: Any, where: str = "normalizer") -> None:
        super().__init__(entry, where)
        steps = flattened(self.entry, where, "normalizers")
        self._steps = [step for _, step in steps]
        self._changes: list[TextChange] = []
        for place, step in steps:
            if step["type"] not in _CHANGES_OF:
                raise unknown(step, place, _CHANGES_OF)
            self._changes += _CHANGES_OF[step["type"]](step, place)
        self._is_cut: dict[tuple[str, str], bool] = {}
        self._later: Normalizer | None = None

    @classmethod
    def of(cls, entry: Any, where: str = "normalizer") -> Normalizer:
        """Return the normalizer that an entry describes."""
        return cls(entry, where)

    @property
    def is_nothing(self) -> bool:
        """Whether no text is changed."""
        return not self._changes

    @property
    def is_form(self) -> bool:
        """Whether texts are changed to a normal form of Unicode, if at all."""
        return all(isinstance(change, UnicodeForm) for change in self._changes)

    @functools.cached_property
    def is_local(self) -> bool:
        """Whether texts that :data:`BOUNDARY` joins are normalized as each of them is.

        None of them may become too long by itself.
        """
        growth = 1.0  # how many characters there are at most for each that is given
        for step in self._steps:
            if step["type"] == "Replace":
                old, new = step["pattern"].get("String", ""), step["content"]
                if not old or BOUNDARY in old or BOUNDARY in new:
                    return False
                growth *= max(1, len(new) / len(old))
            else:
                growth *= _GROWTH.get(step["type"], math.inf)
        return growth <= MAX_GROWTH

    def __call__(self, text: str) -> str:
        """Return the normalized text."""
        most = most_of(len(text))
        for change in self._changes:
            if not text:
                break
            text = change.plain(text, most)
            check_size(len(text), most)
        return text

    def tracked(self, text: Tracked) -> Tracked:
        """Return the normalized text, and where its characters came from."""
        most = most_of(len(text))
        for change in self._changes:
            if not len(text):
                break
            text = change.tracked(text, most)
            check_size(len(text), most)
        return text

    # ---------------------------------------------------------------------------- parts of a longer text
    @property
    def later(self) -> Normalizer:
        """The normalizer for all parts of a text but the first: without what changes the beginning."""
        if self._later is None:
            if any(change.is_at_beginning for change in self._changes):
                steps = [
                    step | {"strip_left": False} if step["type"] == "Strip" else step
                    for step in self._steps
                    if step["type"] != "Prepend"
                ]
                self._later = Normalizer.of({"type": "Sequence", "normalizers": steps})
            else:
                self._later = self
        return self._later

    def last_cut(self, text: str, stop: int | None = None) -> int:
        """Return the last place where a text can be cut, whatever comes after it.

        The parts, normalized and joined, are the normalized text: ``n(text + more) == n(text[:p]) +
        n.later((text + more)[p:])``. Not every such place is known. There is none where white space is
        stripped at the end, and none for most expressions.
        """
        for place in range(len(text) if stop is None else stop, 0, -1):
            around = text[place - 1], text[place : place + 1]
            is_cut = self._is_cut.get(around)
            if is_cut is None:
                is_cut = self._can_cut(*around)
                if len(self._is_cut) < _MOST_KNOWN:
                    self._is_cut[around] = is_cut
            if is_cut:
                return place if self._begins_in(text[:place]) else 0
        return 0

    def _can_cut(self, before: str, after: str) -> bool:
        """Return whether all texts can be cut between two characters, the second of which may be unknown."""
        heads = {after}
        for change in self._changes:
            found = [change.heads(before, head) for head in heads]
            if None in found:
                return False
            heads = {head for some in found for head in some or ()}
            before = ""
        return True

    def _begins_in(self, text: str) -> bool:
        """Return whether what changes the beginning has text to change, and leaves some."""
        most = most_of(len(text))
        for i, change in enumerate(self._changes):
            if not any(each.is_at_beginning for each in self._changes[i:]):
                break
            text = change.plain(text, most) if text else ""
            if not text:
                return False
        return True


# ------------------------------------------------------------------------------------------------- steps
def _strip(step: dict[str, Any], where: str) -> list[TextChange]:
    sides = [("strip_left", StripLeft), ("strip_right", StripRight)]
    return [change() for key, change in sides if value_of(step, where, key, bool)]


def _replace(step: dict[str, Any], where: str) -> list[TextChange]:
    pattern = SearchPattern.of(step.get("pattern"), f"{where}.pattern")
    return [Replace(pattern, content_of(step, where, "content"))]


def _prepend(step: dict[str, Any], where: str) -> list[TextChange]:
    new = content_of(step, where, "prepend")
    return [Prepend(new)] if new else []


def _precompiled(step: dict[str, Any], where: str) -> list[TextChange]:
    text = value_of(step, where, "precompiled_charsmap", str)
    where = f"{where}.precompiled_charsmap"
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"{where} is not base64: {error}") from None
    return [LongestKeys(data, where) if step.get("longest") is True else CharacterMap(data, where)]


def _bert(step: dict[str, Any], where: str) -> list[TextChange]:
    lowers = value_of(step, where, "lowercase", bool)
    strips = lowers if step.get("strip_accents") is None else value_of(step, where, "strip_accents", bool)
    changes: list[TextChange] = []
    if value_of(step, where, "clean_text", bool):
        changes.append(ByCharacter(_cleaned))
    if value_of(step, where, "handle_chinese_chars", bool):
        changes.append(ByCharacter(_between_spaces))
    if strips:
        changes += [UnicodeForm("NFD"), ByCharacter(_without_mark_of_no_width)]
    return [*changes, Lowercase()] if lowers else changes


def _without_mark(character: str) -> str:
    return "" if unicodedata.category(character)[0] == "M" else character


def _without_mark_of_no_width(character: str) -> str:
    return "" if unicodedata.category(character) == "Mn" else character


def _cleaned(character: str) -> str:
    if character in "\t\n\r":
        return " "
    if character == "\ufffd" or unicodedata.category(character) in ("Cc", "Cf", "Co"):
        return ""
    return " " if character in WHITE_SPACE else character


_CHINESE = (
    *((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF)),
    *((0x2A700, 0x2B81F), (0x2B920, 0x2CEAF), (0x2F800, 0x2FA1F)),
)


def _between_spaces(character: str) -> str:
    is_chinese = any(low <= ord(character) <= high for low, high in _CHINESE)
    return f" {character} " if is_chinese else character


_NMT = {
    **dict.fromkeys([*range(1, 9), 0xB, *range(0xE, 0x20), 0x7F, 0x8F, 0x9F], ""),
    **dict.fromkeys([9, 0xA, 0xC, 0xD, 0x1680, *range(0x200B, 0x2010), 0x2028, 0x2029, 0x2581], " "),
    **dict.fromkeys([0xFEFF, 0xFFFD], " "),
}


def _nmt(character: str) -> str:
    return _NMT.get(ord(character), character)


def _byte_level(character: str) -> str:
    return text_of(character.encode())


def _form(step: dict[str, Any], where: str) -> list[TextChange]:
    return [UnicodeForm(step["type"])]


def _by_character(new_of: Callable[[str], str]) -> Callable[[dict[str, Any], str], list[TextChange]]:
    return lambda step, where: [ByCharacter(new_of)]


_CHANGES_OF: dict[str, Callable[[dict[str, Any], str], list[TextChange]]] = {
    **dict.fromkeys(["NFC", "NFD", "NFKC", "NFKD"], _form),
    "Lowercase": lambda step, where: [Lowercase()],
    "StripAccents": _by_character(_without_mark),
    "Replace": _replace,
    "Prepend": _prepend,
    "Strip": _strip,
    "Nmt": _by_character(_nmt),
    "Precompiled": _precompiled,
    "BertNormalizer": _bert,
    "ByteLevel": _by_character(_byte_level),
}
