"""Entries of a ``tokenizer.json``: how they are read, and what is made of them.

An entry is any JSON value. What it must be, it is checked for, and an error says where it is:
``normalizer.normalizers[2].content``. Time and memory are bounded: an entry has at most :data:`MAX_STEPS`
steps, and an expression has a time limit for each text
(:func:`bpe.splitting.regex_engine.spans_of`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from bpe.splitting.pattern import translated
from bpe.splitting.regex_engine import compiled, spans_of

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
    """

    def __init__(self, entry: Any, where: str) -> None:
        try:
            self._json = json.dumps(entry, sort_keys=True, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            what = "it is nested too deeply" if isinstance(error, RecursionError) else error
            raise ValueError(f"{where} is not an entry of JSON: {what}") from None

    @property
    def entry(self) -> Any:
        """A copy of the entry."""
        return json.loads(self._json)

    def __repr__(self) -> str:
        return f"{type(self).__name__}.of({self.entry!r:.200})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._json == self._json

    def __hash__(self) -> int:
        return hash((type(self), self._json))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.entry, "entry")


def flattened(entry: Any, where: str, key: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the steps of an entry, those of Sequences in their place."""
    return [] if entry is None else _flattened(entry, where, key, 0)


def _flattened(entry: Any, where: str, key: str, depth: int) -> list[tuple[str, dict[str, Any]]]:
    if not isinstance(entry, dict) or not isinstance(entry.get("type"), str):
        raise ValueError(f"{where} is not an object with a type: {entry!r:.80}")
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
    """Return a value of a step, checked."""
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
    """Return a text that a step puts in, checked."""
    content = value_of(step, where, key, str)
    if len(content) > MAX_CONTENT:
        raise ValueError(f"{where}.{key} has {len(content)} characters; at most {MAX_CONTENT} can be read")
    return content


def unknown(step: dict[str, Any], where: str, known: Iterable[str]) -> ValueError:
    """Return the error for a step of a type that is not known."""
    names = ", ".join([*known, "Sequence"])
    return ValueError(f"{where} is of the unknown type {step['type']!r:.80}. Known are {names}")


@dataclass(frozen=True)
class SearchPattern:
    r"""What a step looks for: a text, or a regular expression of Oniguruma; make one with :meth:`of`."""

    text: str | None
    source: str

    @classmethod
    def of(cls, entry: Any, where: str) -> SearchPattern:
        """Read a pattern: an object with either "String" or "Regex"."""
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
        """Return where the matches of the pattern are, from left to right, without overlaps."""
        return spans_of(self.source, text) if text else []
