r"""Split patterns: how a text is cut into pieces, which no token crosses.

A pattern is a regular expression, or a sequence of them: the first cuts the text, each further one cuts the
pieces of the one before. Every match is a piece, and so is every stretch between matches: nothing is lost.

Expressions are those of the ``regex`` package, which defines what they match; its tables say what is a
letter, a number or white space (:attr:`Pattern.unicode_version`). Most are compiled to tables
(:mod:`bpe.scanning`) that split many times as fast. What cannot be compiled is split by the package
itself, with a warning.

But: does not know special tokens; cut those out first (:mod:`bpe.specials`).
"""

from __future__ import annotations

import functools
import importlib.metadata
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import regex

from bpe.text import as_bytes, as_text

if TYPE_CHECKING:
    from bpe.scanning import Scanner

__all__ = ["MAX_PARTS", "PATTERNS", "Pattern", "check_expression", "split"]

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
cl100k, o200k  of tiktoken's encodings ``cl100k_base`` and ``o200k_base``
llama3         of the ``tokenizer.json`` of Meta-Llama-3
qwen2          of the ``tokenizer.json`` of Qwen2; as llama3, but each digit by itself
deepseek       of the ``tokenizer.json`` of DeepSeek-V3: three expressions, applied in turn
whitespace     a word with the white space before it; the white space at the end of a text by itself
none           the whole text is one piece
=============  =========================================================================================
"""

# Where a text may be cut in two without a change to any piece: see Pattern.last_cut. No piece of these
# patterns holds a non-space before a space, except line ends after punctuation, and none goes on from a line
# end to a letter or number. What a match looks at beyond the place is no more than what ends the text there.
_AT_SPACE = r"(?<=\S)(?=\s)"
_AT_SPACE_OR_LINE = r"(?<=\S)(?=[^\S\r\n])|(?<=[\r\n])(?=[\p{L}\p{N}])"
_CUTS = {
    "gpt2": _AT_SPACE,
    "cl100k": _AT_SPACE_OR_LINE,
    "o200k": _AT_SPACE_OR_LINE,
    "llama3": _AT_SPACE_OR_LINE,
    "qwen2": _AT_SPACE_OR_LINE,
    "deepseek": _AT_SPACE_OR_LINE,
    "whitespace": _AT_SPACE,
}
_NAME_OF: dict[tuple[str, ...], str] = {}
for _name, _pattern in PATTERNS.items():
    _NAME_OF[(_pattern,) if isinstance(_pattern, str) else _pattern] = _name
_SOURCES_OF = {name: sources for sources, name in _NAME_OF.items()}
_INT32_MAX = 2**31 - 1
# Another way to write the same, which is used as much.
_SPELLINGS = {(r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",): "gpt2"}


# -------------------------------------------------------------------------------------------------- engine
MAX_PARTS = 100_000
"""Of an expression: its characters and sets, each as often as it is repeated."""

_PART = re.compile(
    r"\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\{(?P<least>\d*)(?:,(?P<most>\d*))?\}|.", re.DOTALL
)


@functools.lru_cache(maxsize=256)
def _compiled(source: str) -> regex.Pattern[str]:
    check_expression(source)
    try:
        return regex.compile(source)
    except Exception as error:  # besides regex.error, odd sources bring up OverflowError and others
        position = getattr(error, "pos", None)
        where = f" at character {position}" if position is not None else ""
        what = getattr(error, "msg", None) or str(error) or type(error).__name__
        raise ValueError(f"invalid regular expression {source!r:.200}: {what}{where}. {_known()}") from None


def check_expression(source: str) -> None:
    """Raise if an expression has more than :data:`MAX_PARTS`, counted repetitions written out.

    Parameters
    ----------
    source : str
        Any text at all; whether it is valid, others say.

    Raises
    ------
    ValueError
        It has.

    Complexity
    ----------
    O(n) for n characters.

    Examples
    --------
    >>> check_expression("[a-z]{1,3}")
    >>> check_expression("(?:a{1000}){1000}")
    Traceback (most recent call last):
    ...
    ValueError: the expression repeats too much at character 11: it has more than 100000 parts
    """
    sizes, last = [0], 0  # of the groups that are open, and of what a repetition would repeat
    for found in _PART.finditer(source):
        part, least = found.group(), found.group("least")
        if least is not None:
            times = max(1, *(int(digits[:9] or "0") for digits in (least, found.group("most") or "")))
            sizes[-1] += last * (times - 1)
            last *= times
        elif part == "(":
            sizes.append(0)
        elif part == ")" and len(sizes) > 1:
            last = sizes.pop()
            sizes[-1] += last
        elif part not in "?*+":
            last = 1
            sizes[-1] += 1
        if sizes[-1] > MAX_PARTS:
            raise ValueError(
                f"the expression repeats too much at character {found.start()}: "
                f"it has more than {MAX_PARTS} parts"
            )


@functools.cache
def _scanner(sources: tuple[str, ...]) -> Scanner | None:
    """Return the compiled pattern; None, with a warning the first time, where it cannot be."""
    from bpe.scanning import UnsupportedError, scanner_of  # not at import: it loads the compiler

    try:
        return scanner_of(sources)
    except UnsupportedError as error:
        warnings.warn(
            f"the split pattern cannot be compiled: {error}. The regex package splits instead: the same "
            "pieces, many times slower, on one thread",
            RuntimeWarning,
            stacklevel=3,
        )
        return None


@functools.lru_cache(maxsize=16)
def _cutter(name: str) -> regex.Pattern[str]:
    return regex.compile(f"(?r){_CUTS[name]}")  # reverse: finds the last place


def _known() -> str:
    return f"Named patterns: {', '.join(PATTERNS)}"


def _cut(expression: regex.Pattern[str], text: str) -> list[str]:
    """Return the matches and the stretches between them."""
    # concurrent=False: to let go of the GIL and take it again for every match costs more than the match.
    if expression.groups:  # which findall would return instead
        pieces = [match.group() for match in expression.finditer(text, concurrent=False)]
    else:
        pieces = expression.findall(text, concurrent=False)
    if sum(map(len, pieces)) == len(text):
        return pieces if all(pieces) else [piece for piece in pieces if piece]
    pieces, end = [], 0
    for match in expression.finditer(text, concurrent=False):
        start, stop = match.span()
        if start > end:
            pieces.append(text[end:start])
        if stop > start:
            pieces.append(match.group())
        end = stop
    if end < len(text):
        pieces.append(text[end:])
    return pieces


@functools.cache
def _unicode_version() -> str:
    # The package says it in its description only.
    try:
        description = importlib.metadata.distribution("regex").read_text("METADATA") or ""
    except importlib.metadata.PackageNotFoundError:
        description = ""
    found = re.search(r"supports Unicode (\d+(?:\.\d+)+)", description)
    return found.group(1) if found else f"of regex {regex.__version__}"


# ------------------------------------------------------------------------------------------------- pattern
@dataclass(frozen=True)
class Pattern:
    r"""A split pattern.

    Make one with :meth:`of`. Immutable, hashable, picklable; equal where the expressions are.

    * :meth:`split`, :meth:`split_bytes`, :meth:`last_cut`
    * :attr:`sources`, :attr:`name`, :attr:`spec`, :attr:`compiled`, :attr:`unicode_version`

    Parameters
    ----------
    sources : tuple of str
        Regular expressions, applied in turn.

    Raises
    ------
    ValueError
        There is none, or one is empty or invalid.

    Examples
    --------
    >>> Pattern.of("gpt2").split("Hello world!")
    ['Hello', ' world', '!']
    """

    sources: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.sources or not all(self.sources):
            raise ValueError(f"a pattern needs an expression that is not empty; {_known()}")
        for source in self.sources:
            _compiled(source)

    def __repr__(self) -> str:
        return f"Pattern.of({self.spec!r})"

    @classmethod
    def of(cls, pattern: str | Iterable[str] | Pattern) -> Pattern:
        r"""Return the pattern that a name, an expression or a sequence of expressions stands for.

        Parameters
        ----------
        pattern : str, iterable of str or Pattern
            A str of nothing but ASCII letters, digits, ``_`` and ``-`` is a name, any other an expression.

        Returns
        -------
        Pattern

        Raises
        ------
        ValueError
            There is no pattern of the name, or an expression is invalid, or too large to be compiled.
        TypeError
            It is none of these.

        Complexity
        ----------
        O(n) for n characters; expressions compiled before are remembered.

        Examples
        --------
        >>> Pattern.of("qwen2").name
        'qwen2'
        >>> Pattern.of(r"\w+").split("one two")
        ['one', ' ', 'two']
        >>> Pattern.of(["[0-9]", "[a-z]+"]).split("ab12!")
        ['ab', '1', '2', '!']
        """
        if isinstance(pattern, Pattern):
            return pattern
        if isinstance(pattern, str):
            if pattern in PATTERNS:
                return cls(_SOURCES_OF[pattern])
            if re.fullmatch("[A-Za-z0-9_-]+", pattern):
                raise ValueError(
                    f"unknown pattern {pattern!r}. {_known()}. "
                    f"Where a regular expression is meant, write '(?:{pattern})'"
                )
            pattern = [pattern]
        if isinstance(pattern, Iterable) and not isinstance(pattern, (bytes, bytearray)):
            sources = tuple(pattern)
            if all(isinstance(source, str) for source in sources):
                return cls(_SOURCES_OF[_SPELLINGS[sources]] if sources in _SPELLINGS else sources)
        raise TypeError(
            f"a pattern must be a name, a regular expression or a list of these, not {pattern!r}. {_known()}"
        )

    @property
    def name(self) -> str | None:
        """The name in :data:`PATTERNS`, or None.

        Examples
        --------
        >>> Pattern.of("gpt2").name
        'gpt2'
        """
        return _NAME_OF.get(self.sources)

    @property
    def spec(self) -> str | list[str]:
        """The name, else the expressions: what :meth:`of` takes back.

        Examples
        --------
        >>> Pattern.of("gpt2").spec, Pattern.of("[a-z]+").spec
        ('gpt2', ['[a-z]+'])
        """
        return self.name or list(self.sources)

    @property
    def compiled(self) -> bool:
        """Whether compiled tables do the splitting, not the ``regex`` package.

        Examples
        --------
        >>> Pattern.of("[a-z]+").compiled
        True
        """
        return _scanner(self.sources) is not None

    @property
    def scanner(self) -> Scanner | None:
        """The compiled pattern, None where it cannot be compiled.

        Warns
        -----
        RuntimeWarning
            It cannot be, the first time.

        Examples
        --------
        >>> Pattern.of("[a-z]+").scanner.cut(bytearray(b"ab1")).tolist()
        [0, 2, 3]
        """
        return _scanner(self.sources)

    @property
    def unicode_version(self) -> str:
        """The version of Unicode whose letters, numbers and spaces the pattern goes by.

        Examples
        --------
        >>> isinstance(Pattern.of("gpt2").unicode_version, str)
        True
        """
        return _unicode_version()

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
        What the expression takes: O(n) for the named ones.

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

    def _split_by_regex(self, text: str) -> list[str]:
        pieces = [text] if text else []
        for source in self.sources:
            expression = _compiled(source)
            pieces = [part for piece in pieces for part in _cut(expression, piece)]
        return pieces

    def split_bytes(self, data: bytes) -> list[bytes]:
        r"""Cut bytes into pieces; what is not UTF-8 counts as neither letter nor number nor space.

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

    def last_cut(self, text: str, start: int = 0, stop: int | None = None) -> int:
        """Return the last place where a text can be cut in two without a change to any piece.

        For a place p that this returns, whatever is appended to `text`,
        ``split(text) == split(text[:p]) + split(text[p:])``, wherever the text began: so a text is cut in
        its middle. Only the named patterns know such places; "none" has none.

        Parameters
        ----------
        text : str
        start, stop : int
            The range to look in, ``start < p <= stop``; the whole text by default.

        Returns
        -------
        int
            `start` where there is no such place.

        Complexity
        ----------
        O(n) at worst, where there is none; else to the place, from the end.

        Examples
        --------
        >>> Pattern.of("gpt2").last_cut("one two thr")
        7
        """
        if self.name not in _CUTS:
            return start
        # The character behind the place must be in the range that is searched.
        end = len(text) if stop is None else min(len(text), stop + 1)
        match = _cutter(self.name).search(text, start, end)
        return match.start() if match else start


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
        There is no pattern of the name, or an expression is invalid.
    TypeError
        The text is not a str, or the pattern none of these.

    Complexity
    ----------
    What the expression takes: O(n) for the named ones.

    Examples
    --------
    >>> split("gpt2", "Hello  world!")
    ['Hello', ' ', ' world', '!']
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be str, not {type(text).__name__}; for bytes: Pattern.split_bytes")
    return Pattern.of(pattern).split(text)
