"""Entries of a ``tokenizer.json``: how they are read, and what is made of them.

An entry is any JSON value. What it must be, it is checked for, and an error says where it is:
``normalizer.normalizers[2].content``. Time and memory are bounded: an entry has at most :data:`MAX_STEPS`
steps, and an expression takes at most so many seconds for a text
(:func:`bpe.regular_expressions.spans_of`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from bpe.pattern import translated
from bpe.regular_expressions import compiled, spans_of

MAX_STEPS = 1000
"""How many steps a Sequence may have, those of Sequences in it included."""
MAX_DEPTH = 20
"""How many Sequences may be inside each other."""
MAX_CONTENT = 10_000
"""How many characters a text that a step puts in may have."""

_REQUIRED: Any = object()
_NAMES = {str: "a text", bool: "true or false", int: "an integer", list: "a list", dict: "an object"}
AnyValue = TypeVar("AnyValue")


class FromEntry:
    """What an entry describes: immutable; equal, hashed and pickled by the entry.

    A subclass reads the entry in its ``__init__(entry, where)``, after this one.

    Parameters
    ----------
    entry : object
        Any JSON value.
    where : str
        What to call it in errors.

    Raises
    ------
    ValueError
        It is nested too deeply, or JSON cannot hold it.

    Examples
    --------
    >>> FromEntry({"type": "NFC"}, "normalizer") == FromEntry({"type": "NFC"}, "here")
    True
    """

    def __init__(self, entry: Any, where: str) -> None:
        try:
            self._json = json.dumps(entry, sort_keys=True, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            what = "it is nested too deeply" if isinstance(error, RecursionError) else error
            raise ValueError(f"{where} is no entry of JSON: {what}") from None

    @property
    def entry(self) -> Any:
        """A copy of the entry."""
        return json.loads(self._json)

    def __repr__(self) -> str:
        return f"{type(self).__name__}.of({self.entry!r:.200})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, FromEntry) and other._json == self._json

    def __hash__(self) -> int:
        return hash((type(self), self._json))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.entry, "entry")


def flattened(entry: Any, where: str, key: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the steps of an entry, those of Sequences in their place.

    Parameters
    ----------
    entry : object
        Any JSON value; None has no steps.
    where : str
        What to call it in errors.
    key : str
        What has the steps of a Sequence: "normalizers", for instance.

    Returns
    -------
    list of (str, dict)
        Where each step is, and the step: an object with a type that is a text.

    Raises
    ------
    ValueError
        A step is not such an object; there are more than :data:`MAX_STEPS`, or :data:`MAX_DEPTH` levels.

    Complexity
    ----------
    O(n) for n steps.

    Examples
    --------
    >>> flattened({"type": "Sequence", "decoders": [{"type": "Fuse"}]}, "decoder", "decoders")
    [('decoder.decoders[0]', {'type': 'Fuse'})]
    """
    return [] if entry is None else _flattened(entry, where, key, 0)


def _flattened(entry: Any, where: str, key: str, depth: int) -> list[tuple[str, dict[str, Any]]]:
    if not isinstance(entry, dict) or not isinstance(entry.get("type"), str):
        raise ValueError(f"{where} is no object with a type: {entry!r:.80}")
    if entry["type"] != "Sequence":
        return [(where, entry)]
    if depth >= MAX_DEPTH:
        raise ValueError(f"{where} is inside {depth} Sequences; at most {MAX_DEPTH} can be read")
    steps: list[tuple[str, dict[str, Any]]] = []
    for i, part in enumerate(value_of(entry, where, key, list)):
        steps += _flattened(part, f"{where}.{key}[{i}]", key, depth + 1)
        if len(steps) > MAX_STEPS:
            raise ValueError(f"{where} has more than {MAX_STEPS} steps")
    return steps


def value_of(
    step: dict[str, Any], where: str, key: str, kind: type[AnyValue], default: Any = _REQUIRED
) -> AnyValue:
    """Return a value of a step, checked.

    Parameters
    ----------
    step : dict
    where : str
        What to call the step in errors.
    key : str
    kind : type
        What the value must be: str, bool, int, list or dict.
    default : object, optional
        The value where the step has none; without it, there must be one.

    Returns
    -------
    object

    Raises
    ------
    ValueError
        There is no such value, or it is not of the kind, or it is a text with half of a surrogate pair.

    Complexity
    ----------
    O(1); O(n) for a text of n characters.

    Examples
    --------
    >>> value_of({"type": "Prepend", "prepend": 5}, "normalizer", "prepend", str)
    Traceback (most recent call last):
    ...
    ValueError: normalizer.prepend must be a text, not 5
    """
    if key not in step:
        if default is not _REQUIRED:
            return default
        raise ValueError(f"{where} has no {key!r}, which must be {_NAMES[kind]}")
    value = step[key]
    if type(value) is not kind:
        raise ValueError(f"{where}.{key} must be {_NAMES[kind]}, not {value!r:.80}")
    if isinstance(value, str) and not value.isascii() and re.search("[\ud800-\udfff]", value):
        raise ValueError(f"{where}.{key} has half of a surrogate pair, which has no UTF-8: {value!r:.80}")
    return value


def content_of(step: dict[str, Any], where: str, key: str) -> str:
    """Return a text that a step puts in, checked.

    Parameters
    ----------
    step : dict
    where, key : str
        As for :func:`value_of`.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        It is no text, or has more than :data:`MAX_CONTENT` characters.

    Complexity
    ----------
    O(n).

    Examples
    --------
    >>> content_of({"type": "Replace", "content": "_"}, "normalizer", "content")
    '_'
    """
    content = value_of(step, where, key, str)
    if len(content) > MAX_CONTENT:
        raise ValueError(f"{where}.{key} has {len(content)} characters; at most {MAX_CONTENT} can be read")
    return content


def unknown(step: dict[str, Any], where: str, known: Iterable[str]) -> ValueError:
    """Return the error for a step of a type that is not known.

    Parameters
    ----------
    step : dict
    where : str
    known : iterable of str
        The types that are known, but for Sequence.

    Returns
    -------
    ValueError

    Complexity
    ----------
    O(n) for n types.

    Examples
    --------
    >>> print(unknown({"type": "NFX"}, "normalizer", ["NFC", "NFD"]))
    normalizer is of the unknown type 'NFX'. Known are NFC, NFD, Sequence
    """
    names = ", ".join([*known, "Sequence"])
    return ValueError(f"{where} is of the unknown type {step['type']!r:.80}. Known are {names}")


@dataclass(frozen=True)
class SearchPattern:
    r"""What a step looks for: a text, or a regular expression of Oniguruma; make one with :meth:`of`.

    Parameters
    ----------
    text : str or None
        The text; None for an expression.
    source : str
        The expression, translated for the ``regex`` package; for a text one that matches it.

    Examples
    --------
    >>> SearchPattern.of({"Regex": " {2,}"}, "pattern").spans("one   two")
    [(3, 6)]
    >>> SearchPattern.of({"String": "."}, "pattern").source
    '\\.'
    """

    text: str | None
    source: str

    @classmethod
    def of(cls, entry: Any, where: str) -> SearchPattern:
        """Read a pattern: an object with either "String" or "Regex".

        Parameters
        ----------
        entry : object
            Any JSON value.
        where : str
            What to call it in errors.

        Returns
        -------
        SearchPattern

        Raises
        ------
        ValueError
            It is no pattern, or the expression is invalid or has a part that cannot be translated.

        Complexity
        ----------
        O(n), and what translating the expression takes.

        Examples
        --------
        >>> SearchPattern.of("a", "normalizer.pattern")
        Traceback (most recent call last):
        ...
        ValueError: normalizer.pattern must be an object with either "String" or "Regex", not 'a'
        """
        if not isinstance(entry, dict) or len(entry) != 1 or not entry.keys() <= {"String", "Regex"}:
            raise ValueError(f'{where} must be an object with either "String" or "Regex", not {entry!r:.80}')
        (kind,) = entry
        source = value_of(entry, where, kind, str)
        try:
            found = (
                cls(source, re.escape(source))
                if kind == "String"
                else cls(None, translated(source, "oniguruma"))
            )
            compiled(found.source)
        except ValueError as error:
            raise ValueError(f"{where}.{kind}: {error}") from None
        return found

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where the matches of the pattern are, from left to right, without overlaps.

        Parameters
        ----------
        text : str

        Returns
        -------
        list of (int, int)
            The first character of each match, and the one after it. An empty text has none. In any other, an
            empty pattern matches before and after every character.

        Raises
        ------
        TimeoutError
            The expression takes longer than :data:`bpe.regular_expressions.SECONDS` allows.

        Complexity
        ----------
        O(n) for a text, usually; what the expression takes otherwise.

        Examples
        --------
        >>> SearchPattern.of({"String": "aa"}, "pattern").spans("aaaaa")
        [(0, 2), (2, 4)]
        """
        return spans_of(self.source, text) if text else []
