r"""Regular expressions in the dialects of other engines.

The expressions of a pattern are written for the ``regex`` package. Other engines read the same signs in other
ways: ``.``, ``$``, ``\w``, ``\s``, ``(?s)`` and the content of a set differ from engine to engine. So the
expression is parsed (:mod:`bpe.splitting.compiled.syntax`) and written again with signs that all engines read alike. A
class of characters that no property of Unicode names is written as ranges.

===========  ==========================================================================
oniguruma    ``tokenizers`` (with ``Regex``)
rust         ``tiktoken``
javascript   ``RegExp`` with the flag ``u``
python       the ``regex`` package itself, but without capturing groups, for minbpe
===========  ==========================================================================

:mod:`bpe.splitting.dialects` reads the first two of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from bpe.splitting.compiled.sets import code_of, items_of, without_flags
from bpe.splitting.compiled.syntax import (
    Alt,
    Atomic,
    Chars,
    Edge,
    Look,
    Node,
    Repeat,
    Seq,
    UnsupportedError,
    parse,
)
from bpe.splitting.pattern import READ_ALIKE

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


# ---------------------------------------------------------------------------------------------- writing
def render(source: str, dialect: str) -> str:
    r"""Write an expression in another dialect."""
    if dialect in ("oniguruma", "rust") and source in READ_ALIKE:
        return source  # the usual form, which other programs may look for
    try:
        return _Writer(DIALECTS[dialect]).alternatives(parse(source))
    except UnsupportedError as error:
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
            case Edge():
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
