r"""Expressions of other engines, translated for the ``regex`` package.

===========  =====================================================================================
regex        the ``regex`` package itself: nothing is translated
rust         Rust's ``fancy-regex``, which tiktoken runs
oniguruma    Oniguruma with the syntax of Ruby, which ``tokenizers`` runs
===========  =====================================================================================

The engines read many signs alike, but not all: ``&&`` in a set, ``$``, ``\h``, ``(?m)``, ``[[:alpha:]]``. A
part that means the same is kept as it is written. A part that means something else is written so that the
``regex`` package matches what the engine of the dialect does: an intersection becomes an assertion before a
set; where nothing short means the same, a set becomes its ranges. All else is refused by name; nothing is
guessed. Among what is refused: references to groups, ``\G``, ``\K``, ``\R``, ``\X``, ``\b{...}``, flags other
than ``i``, ``m`` and ``s``, flags in the middle, comments, a repetition of a repetition or of what may be
empty, and expressions that match the empty text here and some text there.

But: which characters are letters, and which are forms of one letter, the ``regex`` package says, by its
tables of Unicode. Another engine may have older ones, and then differs in the characters that are new.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

from bpe.splitting.dialect_sets import PROPERTY, SetReader, multi_letter_folds, property_of
from bpe.splitting.regex_engine import check_expression, compiled

DIALECTS = ("regex", "rust", "oniguruma")


def translated(source: str, dialect: str) -> str:
    """Return an expression of a dialect for the ``regex`` package; raise ``ValueError`` if there is none."""
    if dialect not in DIALECTS:
        raise ValueError(f"dialect must be one of {', '.join(map(repr, DIALECTS))}, not {dialect!r:.50}")
    if dialect == "regex":
        return source
    check_expression(source)
    try:
        written = _Translator(source, dialect == "rust").expression()
    except RecursionError:
        raise ValueError("the expression is nested too deeply") from None
    try:
        compiled(written)
    except ValueError as error:
        raise ValueError(f"invalid: {error}") from None
    return written


class _Part(NamedTuple):
    """A part of an expression, translated."""

    text: str
    may_be_empty: bool
    may_have_text: bool


@dataclass(frozen=True)
class _Flags:
    """The flags at a place of an expression."""

    any_case: bool = False
    any_line: bool = False  # "." matches a line end, too
    lines: bool = False  # "^" and "$" match at lines


_ASSERTION = (True, False)
_ONE = (False, True)
_GROUP = re.compile(
    r"\((?:\?(?:(?P<look><?[=!])|(?P<atomic>>)|P?<\w+>|(?P<on>[ims]*)(?:-(?P<off>[ims]+))?:)|(?!\?))"
)
_FIRST_FLAGS = re.compile(r"\(\?([ims]+)\)")
_QUANTIFIER = re.compile(r"(?:([?*+])|\{(?=,?[0-9])([0-9]*)(,?)([0-9]*)\})([?+]?)")
# To Oniguruma, "{" is text where no repetition is complete; but a number that is too great is an error.
_TEXT_BRACE = re.compile(r"\{(?!(?:[0-9]+(?:,[0-9]*)?|,[0-9]+)\}|[0-9,]*[0-9]{6})")
_SAME = frozenset("dDsSnrtfva")
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;=?@[\\]^_`{|}~ ")
_MOST = 1000  # of a counted repetition; engines differ in how many they allow


class _Translator:
    """Recursive descent; a method for each level of the grammar returns its part, translated."""

    def __init__(self, source: str, is_rust: bool) -> None:
        self.source, self.is_rust = source, is_rust
        self.at = 0
        self.sets = SetReader(source, is_rust)
        self.letters_before = ""  # just before, if case makes no difference

    def fail(self, what: str, at: int | None = None) -> NoReturn:
        raise ValueError(f"{what} at character {self.at if at is None else at} cannot be translated")

    def take(self, expression: re.Pattern[str]) -> re.Match[str] | None:
        found = expression.match(self.source, self.at)
        if found:
            self.at = found.end()
        return found

    # -------------------------------------------------------------------------------------- structure
    def expression(self) -> str:
        flags, first = _Flags(), ""
        while found := self.take(_FIRST_FLAGS):
            flags, letters = self.flags(flags, found.group(1), "", found.start())
            first += f"(?{letters})" if letters else ""
        whole = self.alternatives(flags)
        if self.at < len(self.source):
            raise ValueError(f"invalid: ')' at character {self.at} closes nothing")
        if whole.may_be_empty and (whole.may_have_text or self.is_rust):
            raise ValueError(
                "the expression can match the empty text: what its engine does then cannot be translated"
            )
        return first + whole.text

    def flags(self, flags: _Flags, on: str, off: str, at: int) -> tuple[_Flags, str]:
        """Return the flags after a change, and how the change is written."""
        if not self.is_rust and "s" in on + off:
            self.fail(f"the flag 's' in {self.source[at : at + 8]!r}", at)
        dot = "s" if self.is_rust else "m"
        state = {"i": flags.any_case, dot: flags.any_line}
        lines = flags.lines
        for letters, value in ((on, True), (off, False)):
            state.update((letter, value) for letter in letters if letter in state)
            lines = value if self.is_rust and "m" in letters else lines
        kept = [
            "".join(name for name, letter in (("i", "i"), ("s", dot)) if letter in some) for some in (on, off)
        ]
        return _Flags(state["i"], state[dot], lines), kept[0] + (f"-{kept[1]}" if kept[1] else "")

    def alternatives(self, flags: _Flags) -> _Part:
        parts = [self.sequence(flags)]
        while self.source.startswith("|", self.at):
            self.at += 1
            self.letters_before = ""
            parts.append(self.sequence(flags))
        return _Part(
            "|".join(part.text for part in parts),
            any(part.may_be_empty for part in parts),
            any(part.may_have_text for part in parts),
        )

    def sequence(self, flags: _Flags) -> _Part:
        parts = []
        while self.at < len(self.source) and self.source[self.at] not in "|)":
            parts.append(self.repeated(flags))
        return _Part(
            "".join(part.text for part in parts),
            all(part.may_be_empty for part in parts),
            any(part.may_have_text for part in parts),
        )

    def repeated(self, flags: _Flags) -> _Part:
        at = self.at
        item = self.atom(flags)
        start = self.at
        found = self.take(_QUANTIFIER)
        if not found:
            return item
        sign, least, comma, most, suffix = found.groups()
        text, low = found.group(), 1 if sign == "+" else 0
        if sign is None:
            low = int(least or "0")
            high = int(most) if most else low
            if high < low or max(low, high) > _MOST or (not most and not comma and not low) or most == "0":
                self.fail(repr(text), start)
            if not self.is_rust and (suffix == "+" or (suffix and not comma)):
                self.fail(repr(text), start)  # a repetition of a repetition there
        if _QUANTIFIER.match(self.source, self.at):
            self.fail(f"the repetition of a repetition {self.source[start : self.at + 3]!r:.30}", start)
        if item.may_be_empty:
            self.fail(f"the repetition of what may be empty, {self.source[at : self.at]!r:.60},", at)
        if self.letters_before and sign != "?":
            self.check_letters(self.letters_before[-1], at, self.letters_before)
        return _Part(item.text + text, low == 0, True)

    # ------------------------------------------------------------------------------------------ atoms
    def atom(self, flags: _Flags) -> _Part:
        at, character = self.at, self.source[self.at]
        before, self.letters_before = self.letters_before, ""
        if character == "(":
            return self.group(flags)
        is_text = not self.is_rust and _TEXT_BRACE.match(self.source, at)
        if character in "?*+{" and not is_text:
            self.fail(f"the sign {character!r}")
        if character == "[":
            text, self.at = self.sets.read(at, flags.any_case)
            return _Part(text, *_ONE)
        if character == "\\":
            return self.escape(flags, before)
        self.at += 1
        if character == "^":
            in_lines = "(?m:^)" if self.is_rust else r"(?:\A|(?<=\n)(?!\Z))"
            return _Part(in_lines if flags.lines or not self.is_rust else "^", *_ASSERTION)
        if character == "$":
            return _Part("(?m:$)" if flags.lines or not self.is_rust else r"\Z", *_ASSERTION)
        if character == ".":
            return _Part(".", *_ONE)
        return self.literal(
            character, flags, at, before, "\\" + character if character in "]{}" else character
        )

    def literal(self, character: str, flags: _Flags, at: int, before: str, text: str) -> _Part:
        if 0xD800 <= ord(character) < 0xE000:
            raise ValueError(f"U+{ord(character):04X} at character {at} is not a character")
        if not flags.any_case:
            return _Part(text, *_ONE)
        if not self.is_rust:
            self.check_letters(character, at, before)
        if character.isascii() and character not in "iI":
            return _Part(text, *_ONE)
        return _Part(self.sets.of_character(character, text), *_ONE)

    def check_letters(self, letters: str, at: int, before: str) -> None:
        """Refuse letters that Oniguruma takes for one character in any case: "ss" for "ß"."""
        for letter in letters:
            self.letters_before = before = before + letter.casefold()
            if len(letter.casefold()) > 1 or any(before.endswith(fold) for fold in multi_letter_folds()):
                self.fail(f"{letter!r} in any case, which may match a different number of letters,", at)

    def escape(self, flags: _Flags, before: str) -> _Part:
        at, letter = self.at, self.source[self.at + 1 : self.at + 2]
        if found := self.take(PROPERTY):
            name = property_of(found, self.is_rust, at)
            return _Part(self.sets.of_class(name, flags.any_case), *_ONE)
        if code := self.sets.code(at):
            number, self.at = code
            return self.literal(chr(number), flags, at, before, re.escape(chr(number)))
        self.at += 2
        if letter and letter in _PUNCTUATION:
            return self.literal(letter, flags, at, before, "\\" + letter)
        if letter and letter in "Az":
            return _Part(r"\A" if letter == "A" else r"\Z", *_ASSERTION)
        if letter == "Z":
            return _Part(r"(?=\n*\Z)" if self.is_rust else r"(?=\n?\Z)", *_ASSERTION)
        if letter and letter in "bB" and not self.source.startswith("{", self.at):
            return _Part(self.edge(letter), *_ASSERTION)
        if letter in _SAME:
            return _Part("\\" + letter, *_ONE)
        if text := self.sets.classes.get(letter):
            return _Part(text, *_ONE)
        if letter == "e":
            return _Part(r"\x1b", *_ONE)
        self.fail(repr(self.source[at : at + 3]) if letter in ("b", "B") else repr("\\" + letter), at)

    def edge(self, letter: str) -> str:
        if self.is_rust:
            return "\\" + letter
        word = self.sets.classes["w"]
        if letter == "b":
            return f"(?:(?<={word})(?!{word})|(?<!{word})(?={word}))"
        return f"(?:(?<={word})(?={word})|(?<!{word})(?!{word}))"

    def group(self, flags: _Flags) -> _Part:
        at = self.at
        found = self.take(_GROUP)
        if not found or (found.group().startswith("(?P") and not self.is_rust):
            put = ": put it first, or in a group" if _FIRST_FLAGS.match(self.source, at) else ""
            text = self.source[at : at + 6].partition(")")
            raise ValueError(f"{text[0] + text[1]!r} at character {at} cannot be translated{put}")
        start = found.group()
        if found.group("on") is not None:
            flags, letters = self.flags(flags, found.group("on"), found.group("off") or "", at)
            start = f"(?{letters}:"
        elif start.endswith(">") and not found.group("atomic"):
            start = "("  # a name
        item = self.alternatives(flags)
        if not self.source.startswith(")", self.at):
            raise ValueError(f"invalid: missing ) of the group at character {at}")
        self.at += 1
        self.letters_before = ""
        is_look = bool(found.group("look"))
        return _Part(f"{start}{item.text})", *(_ASSERTION if is_look else item[1:]))
