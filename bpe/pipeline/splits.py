r"""How a text is cut at the matches of a pattern: the behaviors of ``tokenizers``.

Matches and the text between them are the parts of a text. Some of them are joined, some are dropped:

======================  ========================================================
``Isolated``            each part is a piece
``Removed``             each part but for the matches, which are dropped
``MergedWithPrevious``  a match is joined to what is before it
``MergedWithNext``      a match is joined to what is after it
``Contiguous``          matches that touch are joined
======================  ========================================================

With ``invert``, what is between matches counts as matches, and the matches do not.

One pattern is written here: that of ``UnicodeScripts``, which cuts a text where the script changes. Hiragana
and Katakana count as Han. A space goes with what is before it, and so does a character of no script in
Unicode 9, whose scripts ``tokenizers`` knows. At the beginning of a text, both are dropped.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from operator import add

from bpe.pipeline.entries import SearchPattern
from bpe.splitting.regex_engine import spans_of, split_around_matches

BEHAVIORS = ("Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous")
"""What can be done with the parts of a text."""

# What is joined to the match after it is, inverted, a match that is joined to what is before it.
_INVERTED = {
    "Isolated": "Isolated",
    "Removed": "Kept",
    "MergedWithPrevious": "MergedWithNext",
    "MergedWithNext": "MergedWithPrevious",
    "Contiguous": "Contiguous",
}


@dataclass(frozen=True)
class Split:
    """Cuts a text at the matches of a pattern."""

    pattern: SearchPattern
    behavior: str
    invert: bool = False

    @property
    def rule(self) -> str:
        """The behavior without `invert`; "Kept" if only the matches are kept."""
        return _INVERTED[self.behavior] if self.invert else self.behavior

    @property
    def source(self) -> str:
        """The expression that matches what the rule is about: all matches that touch, if it joins those."""
        source = self.pattern.source
        return f"(?:{source})+" if self.behavior == "Contiguous" else source

    def pieces(self, text: str, end: float | None = None) -> list[str]:
        """Return the pieces of a text."""
        if self.pattern.text and self.behavior != "Contiguous":
            between = text.split(self.pattern.text)
            found = [self.pattern.text] * (len(between) - 1)
        else:
            between, found = split_around_matches(self.source, text, end)
        match self.rule:
            case "Removed":
                parts = between
            case "Kept":
                parts = found
            case "MergedWithPrevious":
                parts = [*map(add, between, found), between[-1]]
            case "MergedWithNext":
                parts = [between[0], *map(add, found, between[1:])]
            case _:
                parts = [""] * (len(between) + len(found))
                parts[::2], parts[1::2] = between, found
        return list(filter(None, parts))

    def spans(self, text: str, end: float | None = None) -> list[tuple[int, int]]:
        """Return where the pieces of a text are: the slow way, part by part."""
        spans: list[tuple[int, int]] = []
        was_match: bool | None = None
        for start, stop, is_match in self._parts(text, end):
            if was_match is not None and self._joins(was_match, is_match):
                spans[-1] = (spans[-1][0], stop)
            elif not (is_match and self.behavior == "Removed"):
                spans.append((start, stop))
            was_match = is_match
        return [(start, stop) for start, stop in spans if start < stop]

    def _parts(self, text: str, end: float | None) -> Iterator[tuple[int, int, bool]]:
        """Yield where each part is, and whether it counts as a match."""
        last = 0
        for start, stop in spans_of(self.pattern.source, text, end):
            if last < start:
                yield last, start, self.invert
            yield start, stop, not self.invert
            last = stop
        if last < len(text):
            yield last, len(text), self.invert

    def _joins(self, was_match: bool, is_match: bool) -> bool:
        """Whether a part is joined to the part before it."""
        match self.behavior:
            case "MergedWithPrevious":
                return is_match and not was_match
            case "MergedWithNext":
                return was_match and not is_match
            case "Contiguous":
                return was_match == is_match
        return False


# -------------------------------------------------------------------------------- scripts of characters
_CODES = (
    "Adlm Aghb Ahom Arab Armi Armn Avst Bali Bamu Bass Batk Beng Bhks Bopo Brah Brai Bugi Buhd Cakm "
    "Cans Cari Cham Cher Copt Cprt Cyrl Deva Dsrt Dupl Egyp Elba Ethi Geor Glag Goth Gran Grek Gujr "
    "Guru Hang Hano Hatr Hebr Hluw Hmng Hrkt Hung Ital Java Kali Khar Khmr Khoj Knda Kthi Lana Laoo "
    "Latn Lepc Limb Lina Linb Lisu Lyci Lydi Mahj Mand Mani Marc Mend Merc Mero Miao Mlym Modi Mong "
    "Mroo Mtei Mult Mymr Narb Nbat Newa Nkoo Ogam Olck Orkh Orya Osge Osma Palm Pauc Perm Phag Phli "
    "Phlp Phnx Prti Rjng Runr Samr Sarb Saur Sgnw Shaw Shrd Sidd Sind Sinh Sora Sund Sylo Syrc Tagb "
    "Takr Tale Talu Taml Tang Tavt Telu Tfng Tglg Thaa Thai Tibt Tirh Ugar Vaii Wara Xpeo Xsux Yiii "
    "Zinh "
)
"""The scripts of Unicode 9 but for Han and Common, by their codes in ISO 15924."""

_HAN = r"\p{Hani}\p{Hira}\p{Kana}\u30fc"
_SCRIPTS = [rf"\p{{{code}}}" for code in _CODES.split()]


@functools.cache
def runs_of_scripts() -> str:
    r"""Return an expression that matches each run of characters of one script."""
    known = _HAN + "".join(_SCRIPTS) + r"\p{Zyyy}"
    follows = rf"[ ]|[^{known}]"
    common = r"(?![ \u30fc])\p{Zyyy}"
    scripts = [rf"[{_HAN}]", *_SCRIPTS, common]
    return "|".join(f"{script}(?:{script}|{follows})*+" for script in scripts)
