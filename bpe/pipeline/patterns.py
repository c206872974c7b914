r"""Patterns as pre-tokenizers of a ``tokenizer.json``, and the pre-tokenizers that cut like a pattern.

A pre-tokenizer can do more than a pattern: it drops parts of a text, and changes others. These cut like one:

===========================================  ==========================================================
``ByteLevel`` with ``use_regex``             the pattern "gpt2"
``ByteLevel`` without it                     bytes as characters; nothing is cut
``Split``, ``Isolated``                      its expression, as Oniguruma reads it, or its string
``Split``, ``Removed``, inverted             the same, if the matches cover every text; of the expressions of
                                             GPT-4 and GPT-4o there, "cl100k" and "o200k"
``Split``, ``Contiguous``                    one piece for each run of matches, not for each match
``Split``, ``MergedWith...``, of characters  one piece for each of them, with what is before or after
``Digits``, ``Punctuation``                  as a ``Split`` of their characters
``Sequence``                                 one after the other, ``ByteLevel`` last
===========================================  ==========================================================

The expressions of GPT-4 and GPT-4o
-----------------------------------
Their files on the model hub have ``(?i:'s|...)`` for ``'s|'S|...``, and tokenizers 1.0 knows no other
spelling. To 1.0, both are the same. To Oniguruma, which earlier releases use, ``(?i:'s)`` is also an
apostrophe with a long s, U+017F. Here these files have the named patterns, as in 1.0: where a text has that
long s after an apostrophe, tokenizers 0.23 gives other ids.

tokenizers 1.0 has no engine for expressions: it has code for a list of them, in one spelling each, and
refuses all others (:func:`is_read_by_1_0`).

Expressions in the dialects of other engines
--------------------------------------------
The expressions of a pattern are written for the ``regex`` package. Other engines read the same signs in other
ways: ``.``, ``$``, ``\w``, ``\s``, ``(?s)`` and the content of a set differ from engine to engine. So the
expression is parsed (:mod:`bpe.splitting.compiled.syntax`) and written again with signs that all engines read
alike. A class of characters that no property of Unicode names is written as ranges.

===========  ==========================================================================
oniguruma    ``tokenizers`` (with ``Regex``)
rust         ``tiktoken``
javascript   ``RegExp`` with the flag ``u``
python       the ``regex`` package itself, but without capturing groups, for minbpe
===========  ==========================================================================

:mod:`bpe.splitting.dialects` reads the first two of them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from bpe.pipeline.pre_tokenizers import Cut, Operation, PreTokenizer, Put, Step, WriteBytes
from bpe.pipeline.splits import Split
from bpe.splitting.compiled.syntax import (
    Alt,
    Anchor,
    Atomic,
    Chars,
    Look,
    Node,
    Repeat,
    Seq,
    UnsupportedError,
    code_of,
    items_of,
    parse,
    without_flags,
)
from bpe.splitting.pattern import PATTERNS, READ_ALIKE, Dialect, Pattern, translated
from bpe.splitting.regex_engine import check_expressions

_HINT = "bpe splits by patterns only: train a new tokenizer with one (--pattern)"


# How the files of GPT-4 and GPT-4o on the model hub spell these patterns, whose matches cover every text.
_ON_THE_HUB = {
    "cl100k": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "o200k": (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
}


@functools.cache
def _named_by() -> dict[str, str]:
    """Return the named patterns that these expressions stand for, once they are translated."""
    return {translated(source, "oniguruma"): str(PATTERNS[name]) for name, source in _ON_THE_HUB.items()}


def pre_tokenizer_of(pattern: Pattern) -> dict[str, Any]:
    """Return the pre-tokenizer of a pattern, as written in a ``tokenizer.json``."""
    if pattern.name == "gpt2":
        return byte_level(use_regex=True)
    if pattern.name == "none":
        return byte_level(use_regex=False)
    if spelled := _ON_THE_HUB.get(pattern.name or ""):
        splits = [_split(spelled, "Removed", invert=True)]
    else:
        splits = [_split(render(source, "oniguruma"), "Isolated") for source in pattern.sources]
    return {"type": "Sequence", "pretokenizers": [*splits, byte_level(use_regex=False)]}


# Mistral's, which is the one of GPT-4o without contractions, and with single digits.
_TEKKEN = _ON_THE_HUB["o200k"].replace("(?i:'s|'t|'re|'ve|'m|'ll|'d)?", "").replace(r"\p{N}{1,3}", r"\p{N}")


def is_read_by_1_0(pattern: Pattern) -> bool:
    """Return whether tokenizers 1.0 has code for a pattern as it is written in a ``tokenizer.json``."""
    return pattern.name not in (None, "whitespace") or pattern.sources == (_TEKKEN,)


def _split(expression: str, behavior: str, *, invert: bool = False) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": expression}, "behavior": behavior, "invert": invert}


def byte_level(*, use_regex: bool) -> dict[str, Any]:
    """Return the step that writes bytes as characters and, if `use_regex`, splits as GPT-2 does."""
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": use_regex}


def pattern_of(pre_tokenizer: Any) -> Pattern:
    """Return the pattern of a pre-tokenizer with ``ByteLevel``."""
    read = PreTokenizer.of(pre_tokenizer)
    pattern = _pattern(read)
    if not read.is_byte_level:
        raise ValueError(
            "pre_tokenizer has no ByteLevel: its tokens are characters, and those of bpe are bytes"
        )
    return pattern


def pattern_like(pre_tokenizer: PreTokenizer) -> Pattern | None:
    r"""Return the pattern that cuts every text like a pre-tokenizer."""
    try:
        return _pattern(pre_tokenizer)
    except ValueError:
        return None


def _pattern(pre_tokenizer: PreTokenizer) -> Pattern:
    """Return the pattern that cuts like a pre-tokenizer; raise if there is none."""
    sources: list[str] = []
    last: Step | None = None
    for step in pre_tokenizer.steps:
        if last and last.type == "ByteLevel":
            raise ValueError(f"{step.where} comes after ByteLevel, which leaves bytes, not text. {_HINT}")
        sources += [source for operation in step.operations for source in _sources(operation, step)]
        last = step
    check_expressions(sources)
    return Pattern.of(sources or "none")


def _sources(operation: Operation, step: Step) -> list[str]:
    """Return the expressions that cut as an operation does."""
    match operation:
        case WriteBytes():
            return []
        case Put() if step.type == "ByteLevel":
            raise ValueError(
                f"{step.where}: add_prefix_space puts a space before every text, which bpe never does. "
                "Set it to false, and put the space into the text"
            )
        case Cut(split) if step.type in ("ByteLevel", "Split", "Punctuation", "Digits"):
            if split.rule == "Kept" and split.source in _named_by():
                return [_named_by()[split.source]]
            if source := source_like(split):
                return [source]
            raise ValueError(
                f"{step.where}: {step.type} with behavior {split.behavior!r}"
                f"{' and invert' if split.invert else ''} is not a pattern: it changes "
                f"pieces. {_HINT}"
            )
    raise ValueError(f"{step.where}: {step.type!r} is not a pattern. {_HINT}")


def source_like(split: Split) -> str:
    """Return the expression that cuts every text like a split; empty if there is none."""
    source = split.source
    match split.rule:
        case "Isolated" | "Contiguous":
            return source
        case "Kept" if _covers(source):
            return source
        case "MergedWithPrevious" if _is_one_character(source):
            return f"{_but(source)}*{source}|{_but(source)}+"
        case "MergedWithNext" if _is_one_character(source):
            return f"{source}{_but(source)}*|{_but(source)}+"
    return ""


def _but(source: str) -> str:
    """Return an expression of the characters that another one of one character does not match."""
    return rf"(?:(?!{source})[\s\S])"


def _is_one_character(source: str) -> bool:
    """Return whether each match of an expression is one character, and depends on no other."""
    try:
        return isinstance(parse(source), Chars)
    except UnsupportedError:
        return False


def _covers(source: str) -> bool:
    """Return whether it is certain that the matches of an expression cover every text."""
    from bpe.splitting.compiled.automaton import compile_automaton  # loads numpy

    try:
        return compile_automaton(source).covers
    except UnsupportedError:
        return False


# ----------------------------------------------------------------------- dialects of other engines
# The general categories of Unicode: all engines know these names.
_CATEGORY = re.compile(r"\\([pP])\{?(LC|L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?|C[cfno]?)\}?")
_SPACE = r"[\t-\r\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"  # the members of \s
_JOINERS = [0x200C, 0x200D]
_MOST_RANGES = 2000


@dataclass(frozen=True)
class _Dialect:
    escape: Callable[[int], str]
    """Writes a code point beyond ASCII, or a special sign, as a literal."""
    space: str | None = None
    """The name of white space inside a set, if the engine means the same characters."""
    has_atomic: bool = True
    end: str = r"\z"
    start: str = r"\A"


DIALECTS = {
    "oniguruma": _Dialect(lambda code: rf"\x{{{code:x}}}" if code > 127 else rf"\x{code:02x}", space=r"\s"),
    "rust": _Dialect(lambda code: rf"\x{{{code:x}}}", space=r"\s"),
    "javascript": _Dialect(
        lambda code: rf"\u{{{code:x}}}", has_atomic=False, end=r"(?![\s\S])", start=r"(?<![\s\S])"
    ),
    "python": _Dialect(lambda code: rf"\U{code:08x}", space=r"\s", end=r"\Z"),
}


def render(source: str, dialect: str) -> str:
    r"""Write an expression in another dialect; raise if that cannot be read again."""
    if dialect in ("oniguruma", "rust") and source in READ_ALIKE:
        return source  # the usual form, which other programs may look for
    try:
        written = _Writer(DIALECTS[dialect]).alternatives(parse(source))
        if dialect in ("oniguruma", "rust"):
            translated(written, cast("Dialect", dialect))
        return written
    except (UnsupportedError, ValueError) as error:
        raise ValueError(
            f"the expression {source!r:.200} cannot be rewritten for this format: {error}. "
            "The native format holds any expression"
        ) from None


class _Writer:
    def __init__(self, dialect: _Dialect) -> None:
        self.dialect = dialect
        self.n_groups = 0

    def alternatives(self, node: Node) -> str:
        return "|".join(map(self.sequence, node.items)) if isinstance(node, Alt) else self.sequence(node)

    def sequence(self, node: Node) -> str:
        return "".join(map(self.atom, node.items)) if isinstance(node, Seq) else self.atom(node)

    def atom(self, node: Node) -> str:
        match node:
            case Chars():
                return self.chars(node.source)
            case Repeat():
                return self.repeat(node)
            case Look():
                signs = ("" if node.ahead else "<") + ("=" if node.wanted else "!")
                return f"(?{signs}{self.alternatives(node.item)})"
            case Anchor():
                return self.dialect.end if node.end else self.dialect.start
            case Atomic():
                inner = self.alternatives(node.item)
                if self.dialect.has_atomic:
                    return f"(?>{inner})"
                self.n_groups += 1  # an engine does not backtrack into an assertion
                name = f"atomic{self.n_groups}"
                return rf"(?=(?<{name}>{inner}))\k<{name}>"
        return f"(?:{self.alternatives(node)})"

    def repeat(self, node: Repeat) -> str:
        item = self.atom(node.item)
        if not isinstance(node.item, (Chars, Alt, Seq)):
            item = f"(?:{item})"
        least, most = node.least, node.most
        sign = {(0, 1): "?", (0, None): "*", (1, None): "+"}.get((least, most))
        if sign is None:
            sign = f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"
        # Oniguruma reads {2}? as an optional {2}.
        return item + sign + ("" if node.greedy or least == most else "?")

    # ------------------------------------------------------------------------------------------ classes
    def chars(self, source: str) -> str:
        flags, source = without_flags(source)
        if source == ".":
            return r"[\s\S]" if "s" in flags else r"[^\n]"
        if "i" in flags:
            return self.as_ranges(f"(?i:{source})")
        if source in (r"\S", r"\D", r"\W"):
            item = self.item(source.lower())
            return r"\S" if item == r"\s" else f"[^{item}]"
        if not source.startswith("["):
            item = self.item(source)
            if item is None:
                return self.as_ranges(source)
            return item if code_of(source) is not None or re.fullmatch(_ONE_CLASS, item) else f"[{item}]"
        is_negated = source.startswith("[^")
        items = items_of(source[1 + is_negated : -1])
        written = [self.item(*item) for item in items] if items is not None else [None]
        if None in written:
            return self.as_ranges(source)
        return f"[{'^' if is_negated else ''}{''.join(map(str, written))}]"

    def item(self, first: str, last: str | None = None) -> str | None:
        """Write a character, a range or a class inside a set; None if not all engines have a name for it."""
        if last is not None:
            start, end = code_of(first), code_of(last)
            return None if start is None or end is None else f"{self.one(start)}-{self.one(end)}"
        if first == r"\s":
            return self.dialect.space or self.chars(_SPACE)[1:-1]
        if first == r"\d":
            return r"\p{Nd}"
        if first == r"\w":
            return r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}" + "".join(map(self.one, _JOINERS))
        if named := _CATEGORY.fullmatch(first):
            return rf"\{named.group(1)}{{{named.group(2)}}}"
        code = code_of(first)
        return None if code is None else self.one(code)

    def one(self, code: int) -> str:
        character = chr(code)
        if code in _NAMES:
            return _NAMES[code]
        if character.isascii() and (character.isalnum() or character in " !\"#%',/:;<=>@_`"):
            return character
        if character.isascii() and character in "$()*+.?[]\\^{|}":
            return "\\" + character
        return self.dialect.escape(code)

    def one_or_range(self, first: int, last: int) -> str:
        return self.one(first) if first == last else f"{self.one(first)}-{self.one(last)}"

    def as_ranges(self, source: str) -> str:
        from bpe.splitting.compiled.classes import ranges_of  # loads numpy

        ranges: list[tuple[int, int]] = []
        for start, end in ranges_of(source).tolist():  # surrogates have no UTF-8
            ranges += [(start, min(end, 0xD800)), (max(start, 0xE000), end)]
        ranges = [(start, end) for start, end in ranges if start < end]
        if len(ranges) > _MOST_RANGES:
            raise UnsupportedError(f"{source!r} is {len(ranges)} ranges of characters, and has no other name")
        if not ranges:
            return r"[^\s\S]"
        written = "".join(self.one_or_range(start, end - 1) for start, end in ranges)
        is_one = len(ranges) == 1 and ranges[0][1] - ranges[0][0] == 1
        return written if is_one else f"[{written}]"


_NAMES = {9: r"\t", 10: r"\n", 11: r"\v", 12: r"\f", 13: r"\r"}
_ONE_CLASS = r"\\s|\\[pP]\{\w+\}"
