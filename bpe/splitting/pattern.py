r"""Split patterns: how a text is cut into pieces, which no token crosses.

A pattern is a regular expression, or a sequence of them: the first cuts the text, each further one cuts the
pieces of the one before. Every match is a piece, and so is all text between two matches: nothing is lost.

Expressions are those of the ``regex`` package, which defines what they match; its tables say what is a
letter, a number or white space (:attr:`Pattern.unicode_version`). Most are compiled to tables
(:mod:`bpe.splitting.compiled`) that split many times as fast. What cannot be compiled is split by the package
itself, with a warning. An expression that is written for another engine, whose dialect the caller names, is
translated first (:mod:`bpe.splitting.dialects`); a pattern keeps the translation.

A pattern also answers two questions about parts of a text:

* Where can a text be cut in two, whatever stands before and after? :meth:`Pattern.cuts`,
  :meth:`Pattern.last_cut`
* How many pieces of a text are known, whatever follows? :meth:`Pattern.decided`

But: a pattern does not know special tokens. Those are cut out first (:mod:`bpe.splitting.specials`);
:mod:`bpe.splitting.boundaries` answers both questions with them.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from bpe.splitting.regex_engine import check_expressions, compiled, split_by_expressions, unicode_version
from bpe.support.text import as_bytes, as_text
from bpe.support.warning import warn

if TYPE_CHECKING:
    import numpy as np

    from bpe.splitting.compiled.scanner import Scanner


# ------------------------------------------------------------------------------------------ named patterns
_CONTRACTIONS = "('s|'S|'t|'T|'re|'rE|'Re|'RE|'ve|'vE|'Ve|'VE|'m|'M|'ll|'lL|'Ll|'LL|'d|'D)"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
PATTERNS: dict[str, str | tuple[str, ...]] = {
    "gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "cl100k": (
        rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}"
        rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACES}"
    ),
    "o200k": (
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTIONS}?"
        rf"|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTIONS}?"
        rf"|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"
    ),
    "llama3": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
        rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACES}"
    ),
    "qwen2": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
        rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACES}"
    ),
    "deepseek": (
        r"\p{N}{1,3}",
        "[一-龥\u3040-\u309f\u30a0-\u30ff]+",
        r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"""
        "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*"
        "|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
    ),
    "whitespace": r"\s*\S+|\s+",
    "none": r"(?s:.+)",
}
r"""Names and what they stand for.

=============  =========================================================================================
gpt2           of GPT-2's encoder
cl100k, o200k  of tiktoken's encodings ``cl100k_base`` and ``o200k_base``, whose names may be used, too
llama3         of the ``tokenizer.json`` of Meta-Llama-3
qwen2          of the ``tokenizer.json`` of Qwen2; as llama3, but each digit by itself
deepseek       of the ``tokenizer.json`` of DeepSeek-V3: three expressions, applied in turn
whitespace     a word with the white space before it; the white space at the end of a text by itself
none           the whole text is one piece
=============  =========================================================================================
"""

_NAME_OF = {(sources,) if isinstance(sources, str) else sources: name for name, sources in PATTERNS.items()}
_SOURCES_OF = {name: sources for sources, name in _NAME_OF.items()}
# Another way to write the same, which is used as much.
_SPELLINGS: dict[tuple[str, ...], str] = {
    (r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",): "gpt2"
}
_OTHER_NAMES = {"r50k_base": "gpt2", "p50k_base": "gpt2", "cl100k_base": "cl100k", "o200k_base": "o200k"}
_NAMES = frozenset({*PATTERNS, *_OTHER_NAMES})
_HELP = f"Named patterns: {', '.join(PATTERNS)}"
_NAMED = frozenset().union(*_NAME_OF)  # their expressions
# Their windows become machine code; those of several expressions would take too long to compile.
_SPECIALIZED = frozenset(sources[0] for sources in _NAME_OF if len(sources) == 1)
# The other engines read these as the package does.
READ_ALIKE = {source for sources, name in _NAME_OF.items() if name != "none" for source in sources}
Dialect: TypeAlias = Literal["regex", "rust", "oniguruma"]
_REFUSED = "compiled_only refuses it; without it, the regex package splits, which may take a long time"
_INT32_MAX = 2**31 - 1
_WINDOW = 256  # characters or bytes that are looked through first for the last cut


@functools.lru_cache(maxsize=64)
def _problem(sources: tuple[str, ...]) -> str:
    """Return why expressions cannot be compiled; empty if they can."""
    from bpe.splitting.compiled import scanner, syntax  # not at import: they load the compiler

    try:
        scanner.scanner_of(sources, _SPECIALIZED)
    except syntax.UnsupportedError as error:
        return str(error)
    return ""


@functools.lru_cache(maxsize=64)
def _scanner(sources: tuple[str, ...]) -> Scanner | None:
    """Return the compiled pattern; None, with a warning the first time, where it cannot be compiled."""
    if not (problem := _problem(sources)):
        from bpe.splitting.compiled.scanner import scanner_of

        return scanner_of(sources, _SPECIALIZED)
    warn(
        f"the split pattern cannot be compiled: {problem}. The regex package splits instead: the same "
        "pieces, many times slower, on one thread",
        RuntimeWarning,
    )
    return None


# ------------------------------------------------------------------------------------------------- pattern
def translated(source: str, dialect: Dialect) -> str:
    """Translate an expression of a dialect for the ``regex`` package."""
    if dialect == "regex" or source in READ_ALIKE:
        return source
    from bpe.splitting import dialects  # not at import: most patterns need none

    return dialects.translated(source, dialect)


@dataclass(frozen=True, init=False)
class Pattern:
    r"""A split pattern.

    Make one with :meth:`of`, which knows names, too. Immutable, hashable, picklable; equal where the
    expressions are, once they are translated.

    * :meth:`split`, :meth:`split_bytes`
    * :meth:`cuts`, :meth:`last_cut`, :meth:`decided`
    * :attr:`sources`, :attr:`name`, :attr:`spec`, :attr:`compiled`, :attr:`unicode_version`

    Parameters
    ----------
    sources : str or iterable of str
        A regular expression, or several that are applied in turn.
    dialect : {"regex", "rust", "oniguruma"}
        The engine that they are written for: the ``regex`` package, the one of tiktoken, or the one of
        ``tokenizers``. They are translated for the ``regex`` package.

    Raises
    ------
    ValueError
        There is no expression, or one is empty, invalid or cannot be translated.

    Examples
    --------
    >>> Pattern.of("gpt2").split("Hello world!")
    ['Hello', ' world', '!']
    >>> Pattern(r"[a-z&&[^aeiou]]+", dialect="rust").split("strength")
    ['str', 'e', 'ngth']
    """

    __module__ = "bpe"  # the name in pickles: users import it from there
    sources: tuple[str, ...]

    def __init__(self, sources: str | Iterable[str], dialect: Dialect = "regex") -> None:
        given = (sources,) if isinstance(sources, str) else tuple(sources)
        if not given or not all(given):
            raise ValueError(f"a pattern requires an expression that is not empty. {_HELP}")
        for name in _NAMES.intersection(given):
            raise ValueError(
                f"{name!r} is the name of a pattern, not an expression: Pattern.of({name!r}) makes it, and "
                f"bpe.PATTERNS[{_OTHER_NAMES.get(name, name)!r}] has what it stands for"
            )
        try:
            sources = tuple(translated(source, dialect) for source in given)
            check_expressions(sources)
            for source in (each for each in sources if each not in _NAMED):  # these are valid
                compiled(source)
        except ValueError as error:
            raise ValueError(f"{error}. {_HELP}") from None
        object.__setattr__(self, "sources", sources)

    def __repr__(self) -> str:
        return f"Pattern.of({self.spec!r})"

    @classmethod
    def of(
        cls,
        pattern: str | Iterable[str] | Pattern,
        dialect: Dialect = "regex",
        *,
        compiled_only: bool = False,
    ) -> Pattern:
        r"""Return the pattern that a name, an expression or a sequence of expressions stands for.

        Parameters
        ----------
        pattern : str, iterable of str or Pattern
            A str of nothing but ASCII letters, digits, ``_`` and ``-`` is a name, any other an expression.
        dialect : {"regex", "rust", "oniguruma"}
            The engine that expressions are written for. A name or a Pattern means the same in each.
        compiled_only : bool
            Refuse what cannot be compiled, and would be split by the ``regex`` package. For patterns that you
            did not write: those that are compiled take linear time for every text.

        Returns
        -------
        Pattern

        Raises
        ------
        ValueError
            There is no pattern of the name, or an expression is invalid, too large, or not compiled, or has a
            part that cannot be translated.
        TypeError
            It is not one of these.

        Complexity
        ----------
        O(n) for n characters, and with `compiled_only` as much work as compiling may take; the last patterns
        are remembered.

        Examples
        --------
        >>> Pattern.of("qwen2").name, Pattern.of("cl100k_base").name
        ('qwen2', 'cl100k')
        >>> Pattern.of(r"\w+").split("one two")
        ['one', ' ', 'two']
        >>> Pattern.of(["[0-9]", "[a-z]+"]).split("ab12!")
        ['ab', '1', '2', '!']
        """
        if compiled_only:
            found = cls.of(pattern, dialect)
            if problem := _problem(found.sources):
                raise ValueError(f"the split pattern cannot be compiled: {problem}. {_REFUSED}")
            return found
        if isinstance(pattern, Pattern):
            return pattern
        if isinstance(pattern, str):
            if (name := _OTHER_NAMES.get(pattern, pattern)) in PATTERNS:
                return cls(_SOURCES_OF[name])
            if re.fullmatch("[A-Za-z0-9_-]+", pattern):
                raise ValueError(
                    f"unknown pattern {pattern!r:.100}. {_HELP}. "
                    f"If you mean a regular expression, write '(?:{pattern:.100})'"
                )
            pattern = [pattern]
        given: Any = pattern
        if isinstance(given, Iterable) and not isinstance(given, (bytes, bytearray)):
            sources = tuple(given)
            if all(isinstance(source, str) for source in sources):
                return (
                    cls(_SOURCES_OF[_SPELLINGS[sources]]) if sources in _SPELLINGS else cls(sources, dialect)
                )
        raise TypeError(
            f"a pattern must be a name, a regular expression or a list of these, not {pattern!r}. {_HELP}"
        )

    @property
    def name(self) -> str | None:
        """The name in :data:`PATTERNS`, or None."""
        return _NAME_OF.get(self.sources)

    @property
    def spec(self) -> str | list[str]:
        """The name, else the expressions: :meth:`of` makes the same pattern of it."""
        return self.name or list(self.sources)

    @property
    def compiled(self) -> bool:
        """Whether compiled tables do the splitting, not the ``regex`` package."""
        return _scanner(self.sources) is not None

    @property
    def scanner(self) -> Scanner | None:
        """The compiled pattern; None, with a ``RuntimeWarning`` the first time, if it cannot be compiled."""
        return _scanner(self.sources)

    @property
    def unicode_version(self) -> str:
        """The version of Unicode that says what is a letter, a number or a space."""
        return unicode_version()

    # -------------------------------------------------------------------------------------- splitting
    def split(self, text: str) -> list[str]:
        """Cut a text into pieces.

        Parameters
        ----------
        text : str

        Returns
        -------
        list of str
            Joined, they are the text; none is empty.

        Complexity
        ----------
        O(n) if it is compiled; else what the ``regex`` package takes.

        Raises
        ------
        TimeoutError
            It is not compiled, and takes longer than 10 seconds, and 20 more for each million characters.

        Examples
        --------
        >>> Pattern.of("cl100k").split("I'll pay 12345!")
        ['I', "'ll", ' pay', ' ', '123', '45', '!']
        """
        scanner = _scanner(self.sources)
        try:
            data = text.encode()
        except UnicodeEncodeError:  # a surrogate is a character here, and has no bytes of its own
            scanner = None
        if scanner is None or len(data) > _INT32_MAX:
            return self._split_by_regex(text)
        offsets = scanner.split(data)
        if len(data) == len(text):
            return [text[start:end] for start, end in pairwise(offsets)]
        return [data[start:end].decode() for start, end in pairwise(offsets)]

    def split_bytes(self, data: bytes) -> list[bytes]:
        r"""Cut bytes into pieces; a byte that is not valid UTF-8 is neither letter nor number nor space.

        Parameters
        ----------
        data : bytes

        Returns
        -------
        list of bytes
            Joined, they are the data; none is empty.

        Complexity
        ----------
        As :meth:`split`.

        Examples
        --------
        >>> Pattern.of("gpt2").split_bytes(b"one\xff two")
        [b'one', b'\xff', b' two']
        """
        scanner = _scanner(self.sources)
        if scanner is None or len(data) > _INT32_MAX:
            return [as_bytes(piece) for piece in self._split_by_regex(as_text(data))]
        return [data[start:end] for start, end in pairwise(scanner.split(data))]

    def _split_by_regex(self, text: str) -> list[str]:
        return split_by_expressions(self.sources, text)

    # ---------------------------------------------------------------------------- parts of a longer text
    def cuts(self, text: str | bytes) -> np.ndarray:
        """Return the places where a text can be cut in two without a change to any piece.

        ``split(text) == split(text[:p]) + split(text[p:])`` for each place p, and for every text that holds
        this one. A place is found by the two characters around it.

        Parameters
        ----------
        text : str or bytes
            A part of a text; of bytes, a character may be cut at both ends.

        Returns
        -------
        (n,) int64
            Characters of a str, bytes of bytes, ``0 < p < len(text)``, ascending. A pattern that looks behind
            or is not compiled has none, "none" has none either.

        Complexity
        ----------
        O(n).

        Examples
        --------
        >>> Pattern.of("gpt2").cuts("one two, three").tolist()
        [3, 7, 8]
        """
        import numpy as np  # with the scanner: a pattern alone needs neither

        scanner = _scanner(self.sources)
        return np.empty(0, np.int64) if scanner is None else scanner.cuts.places(text)

    def last_cut(self, text: str | bytes, start: int = 0, stop: int | None = None) -> int:
        """Return the last place where a text can be cut in two without a change to any piece.

        Parameters
        ----------
        text : str or bytes
        start, stop : int
            The range to look in, ``start < p <= stop``; the whole text by default.

        Returns
        -------
        int
            A place, as :meth:`cuts` has it; `start` where there is none in the range.

        Complexity
        ----------
        O(n) from the end of the range to the place.

        Examples
        --------
        >>> Pattern.of("gpt2").last_cut("one two thr")
        7
        """
        width = 1 if isinstance(text, str) else 4  # of the character after the place
        stop = len(text) if stop is None else min(stop, len(text))
        scanner = _scanner(self.sources)
        if (
            isinstance(text, bytes)
            and scanner
            and (near := scanner.cuts.last_near(text, start, stop)) > start
        ):
            return near
        size = _WINDOW
        while stop > start:
            first = max(start, stop - size)
            places = self.cuts(text[first : stop + width]) + first
            places = places[(places > start) & (places <= stop)]
            if len(places):
                return int(places[-1])
            stop = first if first == start else first + width
            size *= 4
        return start

    def decided(self, data: bytes) -> int:
        """Return how far the pieces of a text are known, whatever follows.

        Parameters
        ----------
        data : bytes
            The beginning of a text, cut anywhere.

        Returns
        -------
        int
            A byte where a piece ends: up to there, the pieces are those of the whole text. 0 where nothing is
            known, as with a pattern that looks behind or is not compiled.

        Complexity
        ----------
        O(n).

        Examples
        --------
        >>> Pattern.of("gpt2").decided(b"one two thr")
        7
        """
        scanner = _scanner(self.sources)
        return scanner.decided(bytearray(data)) if scanner and data else 0


__test__ = {"Pattern": Pattern}  # doctest passes over a class that has the name of another module


def split(pattern: str | Iterable[str] | Pattern, text: str) -> list[str]:
    """Cut a text into pieces.

    Parameters
    ----------
    pattern : str, iterable of str or Pattern
        A name in :data:`PATTERNS`, a regular expression, several to be applied in turn, or a Pattern.
    text : str

    Returns
    -------
    list of str
        Joined, they are the text; none is empty.

    Raises
    ------
    ValueError
        There is no pattern of the name, an expression is invalid, or the arguments are swapped.
    TypeError
        The text is not a str, or the pattern none of these.
    TimeoutError
        As :meth:`Pattern.split`.

    Complexity
    ----------
    O(n) if the pattern is compiled; else what the ``regex`` package takes.

    Examples
    --------
    >>> split("gpt2", "Hello  world!")
    ['Hello', ' ', ' world', '!']
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be str, not {type(text).__name__}; for bytes: Pattern.split_bytes")
    if text in _NAMES and isinstance(pattern, str) and pattern not in _NAMES:
        raise ValueError(f"the pattern comes first: split({text!r}, text), or Pattern.of(...).split(text)")
    return Pattern.of(pattern).split(text)


# ------------------------------------------------------------------------------------------- plain Python
_n_compiled_only = 0  # contexts of `everything_compiled` that are open


@contextmanager
def everything_compiled() -> Iterator[None]:
    """Do all work by compiled code in this process while the context is open, for texts of any size.

    Otherwise plain Python encodes the first short texts of a process, and trains on small corpora, because
    that takes less time than to load compiled code. The results are the same. Use it where you measure, and
    to load, or compile, in advance what later work needs. It may be nested, and be a decorator.

    Yields
    ------
    None

    Complexity
    ----------
    O(1).

    Examples
    --------
    >>> import bpe
    >>> tok = bpe.train(["low lower lowest"], vocab_size=260)
    >>> with bpe.everything_compiled():
    ...     ids = tok.encode("lower")  # loads compiled code, or compiles it
    >>> tok.decode(ids)
    'lower'
    """
    global _n_compiled_only
    _n_compiled_only += 1
    try:
        yield
    finally:
        _n_compiled_only -= 1


def is_plain_allowed() -> bool:
    """Return whether plain Python may do what compiled code does: no :func:`everything_compiled` is open."""
    return not _n_compiled_only


def plain_splitter(pattern: Pattern) -> Callable[[bytes], list[bytes]] | None:
    """Return a function that cuts small texts as :meth:`Pattern.split_bytes`, but compiles and loads nothing.

    None where the ``regex`` package may take long, every piece is a whole text, or there is no GIL, which the
    package may turn on again.
    """
    has_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    if pattern.name in (None, "none") or len(pattern.sources) > 1 or not is_plain_allowed() or not has_gil:
        return None
    try:
        import regex  # noqa: F401  # compiled code cuts by these patterns without it
    except ImportError:
        return None
    return lambda data: [as_bytes(piece) for piece in split_by_expressions(pattern.sources, as_text(data))]
