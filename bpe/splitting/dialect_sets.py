r"""Sets and classes of characters in the dialects of other engines.

A set such as ``[\p{L}&&[^\p{Han}]]`` is read into its members, an array of truth values, one for each code
point: union, intersection, difference and complement are ``|``, ``&``, ``& ~`` and ``~``. Its text is kept
where the ``regex`` package reads the same set from it; else its ranges are written. The package says what the
members of classes are, so that sets go by the same tables of Unicode as the rest of an expression.
"""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Callable
from typing import NamedTuple, NoReturn

import numpy as np

from bpe.splitting.compiled.classes import CASED, N_CODE_POINTS, ranges_of

_CATEGORIES = """
    L Letter LC Cased_Letter Lu Uppercase_Letter Ll Lowercase_Letter Lt Titlecase_Letter Lm Modifier_Letter
    Lo Other_Letter M Mark Mn Nonspacing_Mark Mc Spacing_Mark Me Enclosing_Mark N Number Nd Decimal_Number
    Nl Letter_Number No Other_Number P Punctuation Pc Connector_Punctuation Pd Dash_Punctuation
    Ps Open_Punctuation Pe Close_Punctuation Pi Initial_Punctuation Pf Final_Punctuation Po Other_Punctuation
    S Symbol Sm Math_Symbol Sc Currency_Symbol Sk Modifier_Symbol So Other_Symbol Z Separator
    Zs Space_Separator Zl Line_Separator Zp Paragraph_Separator C Other Cc Control Cf Format Cn Unassigned
    Co Private_Use"""
_OTHERS = """
    Any Assigned Alphabetic Uppercase Lowercase White_Space Ideographic Emoji
    Arabic Armenian Bengali Bopomofo Braille Cherokee Common Coptic Cyrillic Devanagari Ethiopic Georgian
    Greek Gujarati Gurmukhi Han Hangul Hebrew Hiragana Inherited Kannada Katakana Khmer Lao Latin Malayalam
    Mongolian Myanmar Oriya Sinhala Syriac Tamil Telugu Thaana Thai Tibetan Yi"""
_NAMES = {name.replace("_", "").lower(): name for name in (_CATEGORIES + _OTHERS).split()}
PROPERTY = re.compile(r"\\([pP])(?:\{(\^?)([^}]*)\}|([a-zA-Z]))")

_HEX = "0-9A-Fa-f"
_HEXES = {"h": f"[{_HEX}]", "H": f"[^{_HEX}]"}
_WORD = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}"
_FRACTIONS = "²³¹¼½¾"  # members of Oniguruma's \w, but not in a set
_CLASSES = {
    True: {"w": r"\w", "W": r"\W", **_HEXES},
    False: {"w": f"[{_WORD}{_FRACTIONS}]", "W": f"[^{_WORD}{_FRACTIONS}]", **_HEXES},
}
_CLASSES_IN_SETS = {True: _CLASSES[True], False: {"w": f"[{_WORD}]", "W": f"[^{_WORD}]", **_HEXES}}
# Of names such as [:alpha:]. Those of Rust are of ASCII.
_POSIX = {
    True: {
        "alnum": "[0-9A-Za-z]",
        "alpha": "[A-Za-z]",
        "ascii": r"[\x00-\x7f]",
        "blank": r"[\t\x20]",
        "cntrl": r"[\x00-\x1f\x7f]",
        "digit": "[0-9]",
        "graph": "[!-~]",
        "lower": "[a-z]",
        "print": r"[\x20-~]",
        "punct": r"[!-/:-@\[-`{-~]",
        "space": r"[\t-\r\x20]",
        "upper": "[A-Z]",
        "word": "[0-9A-Za-z_]",
        "xdigit": f"[{_HEX}]",
    },
    False: {
        "alnum": r"[\p{Alphabetic}\p{Nd}]",
        "alpha": r"\p{Alphabetic}",
        "ascii": r"[\x00-\x7f]",
        "blank": r"[\t\p{Zs}]",
        "cntrl": r"\p{Cc}",
        "digit": r"\p{Nd}",
        "lower": r"\p{Lowercase}",
        "space": r"\s",
        "upper": r"\p{Uppercase}",
        "xdigit": f"[{_HEX}]",
    },
}
_POSIX_NAME = re.compile(r"\[:(\^?)(\w+):\]")
_CODE = {
    True: re.compile(
        r"\\(?:x\{([0-9a-fA-F]{1,8})\}|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,8})\}"
        r"|U([0-9a-fA-F]{8})|U\{([0-9a-fA-F]{1,8})\})"
    ),
    False: re.compile(r"\\(?:x\{([0-9a-fA-F]{1,8})\}|x([0-7][0-9a-fA-F])|u([0-9a-fA-F]{4}))"),
}
_CONTROLS = {"n": 10, "r": 13, "t": 9, "f": 12, "v": 11, "a": 7, "e": 27}
_OPERATORS = {True: ("&&", "--", "~~"), False: ("&&",)}
_COMPLEMENT = re.compile(r"\\[DSWP]")
_DEEPEST = 50


def property_of(found: re.Match[str], is_rust: bool, at: int) -> str:
    """Return a property as the ``regex`` package writes it."""
    letter, negated, name, short = found.groups()
    known = _NAMES.get(re.sub(r"[\s_-]", "", short or name).lower())
    if known is None or (short and not is_rust):
        raise ValueError(f"the property {found.group()!r:.60} at character {at} cannot be translated")
    if negated:
        letter = "P" if letter == "p" else "p"
    elif known == (short or name):
        return found.group()
    return rf"\{letter}{{{known}}}"


class _Items(NamedTuple):
    """A part of a set."""

    text: str | None  # what stands for it between brackets in the regex package; None if nothing short does
    members: Callable[[], np.ndarray]
    without: str | None = None  # the same of the other characters, if it is a set such as [^a-c]


class SetReader:
    """Reads the sets of one expression."""

    def __init__(self, source: str, is_rust: bool) -> None:
        self.source, self.is_rust = source, is_rust
        self.classes = _CLASSES[is_rust]

    def read(self, at: int, any_case: bool) -> tuple[str, int]:
        """Return the set that begins at a place as the ``regex`` package must read it, and where it ends."""
        text, found, end = self._bracket(at, any_case, 0)
        # The package takes some sets with the complement of a class, such as [^\s\S], for all characters.
        if any_case or text is None or _COMPLEMENT.search(text):
            text = _text_or_ranges(text, found.members(), any_case)
        return text, end

    def of_class(self, text: str, any_case: bool) -> str:
        """Return a class outside a set, given as the ``regex`` package writes it."""
        return (
            _text_or_ranges(text, self._class(text, self.is_rust).members(), any_case) if any_case else text
        )

    def of_character(self, character: str, text: str) -> str:
        """Return a character in any case."""
        return _text_or_ranges(text, with_cases(range_of(ord(character), ord(character))), True)

    def code(self, at: int) -> tuple[int, int] | None:
        r"""Return the code of an escape such as ``\x41``, and where it ends; None if there is none."""
        found = _CODE[self.is_rust].match(self.source, at)
        if not found:
            return None
        code = int(next(filter(None, found.groups())), 16)
        if code >= 0x110000 or 0xD800 <= code < 0xE000:
            raise ValueError(f"U+{code:04X} at character {at} is not a character")
        return code, found.end()

    # ------------------------------------------------------------------------------------ parts of a set
    def _fail(self, what: str, at: int) -> NoReturn:
        raise ValueError(f"{what} in the set at character {at} cannot be translated")

    def _bracket(self, start: int, any_case: bool, depth: int) -> tuple[str | None, _Items, int]:
        """Return the text of a set for the ``regex`` package, as a part of another set, and where it ends."""
        if depth > _DEEPEST:
            self._fail("such deep nesting", start)
        is_negated = self.source.startswith("^", start + 1)
        operands, operators, at = self._operands(start, start + 1 + is_negated, any_case, depth)
        folds = any_case and (self.is_rust or depth == 0)

        def members() -> np.ndarray:
            each = [_union(operand) for operand in operands]
            if any_case and self.is_rust:
                each = list(map(with_cases, each))
            whole = each[0]
            for operator, other in zip(operators, each[1:], strict=True):
                whole = _combined(whole, operator, other)
            if folds:
                if not self.is_rust and not is_negated and (whole & _multi_letter_characters()).any():
                    self._fail("a letter that is several letters in another case,", start)
                whole = with_cases(whole)
            return ~whole if is_negated else whole

        inside = [_inside(operand) for operand in operands]
        if operators:
            text = None if is_negated else _with_looks(operands, operators, inside)
            return text, _Items(None, members), at
        text = None if inside[0] is None else f"[{'^' if is_negated else ''}{inside[0]}]"
        if is_negated:
            return text, _Items(None, members, inside[0]), at
        return text, _Items(inside[0], members), at

    def _operands(
        self, start: int, first: int, any_case: bool, depth: int
    ) -> tuple[list[list[_Items]], list[str], int]:
        """Return the operands and the operators of a set, and where it ends."""
        source, at = self.source, first
        operands: list[list[_Items]] = [[]]
        operators: list[str] = []
        while not (source.startswith("]", at) and at > first):
            if at >= len(source):
                raise ValueError(f"invalid: missing ] of the set at character {start}")
            if source[at : at + 2] in _OPERATORS[self.is_rust]:
                operators.append(source[at : at + 2])
                if not operands[-1]:
                    self._fail(f"{operators[-1]!r} without something before it", at)
                operands.append([])
                at += 2
                continue
            item, at = self._item(at, first, any_case, depth)
            operands[-1].append(item)
        if not operands[-1]:
            self._fail(f"{operators[-1]!r} without something after it", at)
        return operands, operators, at + 1

    def _item(self, at: int, first: int, any_case: bool, depth: int) -> tuple[_Items, int]:
        """Return one item of a set, a class, a set, a character or a range, and where it ends."""
        source = self.source
        if found := _POSIX_NAME.match(source, at):
            name = _POSIX[self.is_rust].get(found.group(2))
            if name is None:
                self._fail(f"{found.group()!r:.40}", at)
            item = self._class(name, False)
            if found.group(1):
                item = _Items(None, lambda: ~members_of(name), item.text)
            return item, self._no_range(found.end())
        if source[at] == "[":
            _, item, end = self._bracket(at, any_case, depth + 1)
            return item, self._no_range(end)
        if found := PROPERTY.match(source, at):
            item = self._class(property_of(found, self.is_rust, at), any_case and self.is_rust)
            return item, self._no_range(found.end())
        letter = source[at + 1 : at + 2] if source[at] == "\\" else ""
        if letter and letter in "dDsS":
            return self._class("\\" + letter, False), self._no_range(at + 2)
        if known := _CLASSES_IN_SETS[self.is_rust].get(letter):
            return self._class(known, False), self._no_range(at + 2)
        code, end = self._character(at, first)
        if not source.startswith("-", end) or source.startswith("-]", end):
            return _Items(self._written(at, end, code), lambda: range_of(code, code)), end
        if self.is_rust and source.startswith("--", end) and not source.startswith("---", end):
            return _Items(self._written(at, end, code), lambda: range_of(code, code)), end
        if source[end + 1 : end + 2] in ("-", "["):
            self._fail("'-'", end)
        second = end + 1
        last, end = self._character(second, first)
        if last < code:
            raise ValueError(f"invalid: a range that ends before it begins, at character {at}")
        text = f"{self._written(at, second - 1, code)}-{self._written(second, end, last)}"
        return _Items(text, lambda: range_of(code, last)), self._no_range(end)

    def _written(self, at: int, end: int, code: int) -> str:
        text = self.source[at:end]
        if len(text) == 1:
            is_doubled = text in "&~|" and text in (self.source[at - 1], self.source[end])
            return "\\" + text if is_doubled or text in "]-^" else text
        return text if text[1] in "nrt" or not text[1].isalnum() else written(code)

    def _class(self, text: str, with_case: bool) -> _Items:
        """Return a class; a negated one leaves out the other cases, too, of what it leaves out."""

        def members() -> np.ndarray:
            if not with_case:
                return members_of(text)
            if text.startswith(r"\P"):
                return ~with_cases(members_of(r"\p" + text[2:]))
            return with_cases(members_of(text))

        if text.startswith("[^"):
            return _Items(None, members, text[2:-1])
        return _Items(text[1:-1] if text.startswith("[") else text, members)

    def _no_range(self, end: int) -> int:
        """Return the end of an item that cannot begin a range; refuse a "-" there unless it ends the set."""
        if self.source.startswith("-", end) and not self.source.startswith("-]", end):
            if self.is_rust and self.source.startswith("--", end) and not self.source.startswith("---", end):
                return end
            self._fail("'-'", end)
        return end

    def _character(self, at: int, first: int) -> tuple[int, int]:
        source = self.source
        if code := self.code(at):
            return code
        character = source[at : at + 1]
        if character == "\\":
            letter = source[at + 1 : at + 2]
            if letter in _CONTROLS:
                return _CONTROLS[letter], at + 2
            if letter and letter in string.punctuation + " ":
                return ord(letter), at + 2
            self._fail(repr("\\" + letter), at)
        if character == "-" and at != first and not source.startswith("-]", at):
            self._fail("'-'", at)
        if character == "-" and source.startswith("--", at):
            self._fail("'--'", at)
        if not character or 0xD800 <= ord(character) < 0xE000:
            self._fail(repr(character), at)
        return ord(character), at + 1


def _union(items: list[_Items]) -> np.ndarray:
    return functools.reduce(np.logical_or, (item.members() for item in items))


def _inside(items: list[_Items]) -> str | None:
    """Return what stands for some items between brackets; None if nothing short does."""
    texts = [item.text for item in items]
    return None if None in texts else "".join(map(str, texts))


def _with_looks(operands: list[list[_Items]], operators: list[str], inside: list[str | None]) -> str | None:
    """Write an intersection or a difference as a set with assertions before it, which is short."""
    looks = ""
    for operator, items, text in zip(operators, operands[1:], inside[1:], strict=True):
        if operator == "&&" and len(items) == 1 and items[0].without is not None:
            looks += f"(?![{items[0].without}])"
        elif text is None or operator == "~~":
            return None
        else:
            looks += f"(?{'=' if operator == '&&' else '!'}[{text}])"
    return None if inside[0] is None else f"(?:{looks}[{inside[0]}])"


def _combined(one: np.ndarray, operator: str, other: np.ndarray) -> np.ndarray:
    return {"&&": one & other, "--": one & ~other, "~~": one ^ other}[operator]


def _text_or_ranges(text: str | None, members: np.ndarray, any_case: bool) -> str:
    """Return the text of a set if the ``regex`` package reads these members from it, else their ranges."""
    if text is not None and np.array_equal(members_of(f"(?i:{text})" if any_case else text), members):
        return text
    ranges = expression_of(members)
    return f"(?-i:{ranges})" if any_case else ranges


# ------------------------------------------------------------------------------- sets as truth values
# The package takes these for forms of "i"; the other engines do not.
_TURKIC = [0x130, 0x131]


def members_of(source: str) -> np.ndarray:
    """Return the members of an expression that matches single characters: (N_CODE_POINTS,) bool."""
    edges = np.zeros(N_CODE_POINTS + 1, np.int8)
    ranges = ranges_of(source)
    edges[ranges[:, 0]] += 1
    edges[ranges[:, 1]] -= 1
    return np.cumsum(edges[:-1], dtype=np.int8).astype(bool)


def range_of(first: int, last: int) -> np.ndarray:
    """Return the set of the code points from `first` to `last`."""
    members = np.zeros(N_CODE_POINTS, bool)
    members[first : last + 1] = True
    return members


def with_cases(members: np.ndarray) -> np.ndarray:
    """Return a set together with the other cases of its members, by Unicode's simple case folding."""
    found = members.copy()
    cased = _cased()
    if some := "".join(map(written, cased[members[cased]].tolist())):
        import regex

        others = regex.findall(f"(?i:[{some}])", "".join(map(chr, cased.tolist())))
        found[list(map(ord, others))] = True
    return found


@functools.cache
def _cased() -> np.ndarray:
    """Return the code points that have another case, except those for which the engines differ."""
    is_cased = members_of(CASED)
    is_cased[_TURKIC] = False
    return np.flatnonzero(is_cased)


def expression_of(members: np.ndarray) -> str:
    """Return a set as the ranges that the ``regex`` package reads."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], members, [False]]).astype(np.int8)))
    parts = [
        written(start) if end == start + 1 else f"{written(start)}-{written(end - 1)}"
        for start, end in edges.reshape(-1, 2).tolist()
    ]
    return f"[{''.join(parts)}]" if parts else r"[^\x00-\U0010ffff]"  # the package takes [^\s\S] for all


def written(code: int) -> str:
    """Return a code point as the ``regex`` package reads it, inside and outside of a set."""
    if code < 0x80 and chr(code).isalnum():
        return chr(code)
    return rf"\x{code:02x}" if code < 0x80 else rf"\u{code:04x}" if code < 0x10000 else rf"\U{code:08x}"


@functools.cache
def _multi_letter_characters() -> np.ndarray:
    """Return the set of characters that are several letters in another case, such as "ß"."""
    members = range_of(1, 0)
    cased = np.flatnonzero(members_of(r"\p{Changes_When_Casefolded}")).tolist()
    members[[code for code in [*cased, *range(0xDF, 0xE0)] if len(chr(code).casefold()) > 1]] = True
    return members


@functools.cache
def multi_letter_folds() -> frozenset[str]:
    """Return the letters that are one character in another case, such as "ss"."""
    return frozenset(chr(code).casefold() for code in np.flatnonzero(_multi_letter_characters()).tolist())
