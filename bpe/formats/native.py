"""The native file of a tokenizer: JSON that holds the merges and what else cannot be derived.

::

    {
    "format": "bpe-structures",
    "version": 1,
    "pattern": "gpt2",                        a name, or a list of expressions
    "unicode": "17.0.0",                      whose letters and numbers training went by
    "special_tokens": {"<|endoftext|>": 512},
    "merges": "aAAAAGUAAAA...",               left and right id, in the order of the ranks
    "byte_ids": [...],                        absent where the id of a byte is its value
    "merged_ids": "AAEAAAEB...",              absent where the merges make 256, 257, ...
    "other_tokens": {"700": "YWJj"},          base64; absent where every token comes of bytes and merges
    "whole_tokens": [700],                    absent where no piece is taken whole, before anything is merged
    "crc32": 123456789                        of all the above; a file written by hand may do without
    }

The ids of merges are 32-bit numbers, little-endian, in base64: as numbers of JSON they would take longer to
read than all else together.

Two layers: :func:`document_of` and :func:`parts_of` turn the parts of a tokenizer into what JSON can hold and
back; :func:`dump` and :func:`parse` make text of that and read it.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from bpe.formats.json_text import read_json
from bpe.formats.limits import check_lengths
from bpe.pattern import Pattern
from bpe.vocabulary import DEFAULT_BYTE_IDS, Vocabulary

__all__ = ["document_of", "dump", "parse", "parts_of"]

FORMAT, VERSION = "bpe-structures", 1
_NUMBER = np.dtype("<i4")  # an id is below 2**31


# ------------------------------------------------------------------------------ parts of a tokenizer
def document_of(vocabulary: Vocabulary, pattern: Pattern) -> dict[str, Any]:
    """Return the parts of a tokenizer as what JSON can hold.

    Parameters
    ----------
    vocabulary : Vocabulary
    pattern : Pattern

    Returns
    -------
    dict
        As in the module docstring, but for the checksum.

    Complexity
    ----------
    O(n) for n tokens and merges.

    Examples
    --------
    >>> words = Vocabulary([bytes([value]) for value in range(256)], [], {})
    >>> document_of(words, Pattern.of("gpt2"))["pattern"]
    'gpt2'
    """
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "pattern": pattern.spec,
        "unicode": pattern.unicode_version,
        "special_tokens": vocabulary.special_tokens,
        "merges": _text_of(vocabulary.pairs),
    }
    if vocabulary.byte_ids != DEFAULT_BYTE_IDS:
        document["byte_ids"] = vocabulary.byte_ids
    if not np.array_equal(vocabulary.made, np.arange(256, 256 + len(vocabulary.made))):
        document["merged_ids"] = _text_of(vocabulary.made)
    if others := vocabulary.other_tokens():
        document["other_tokens"] = {
            str(number): base64.b64encode(token).decode() for number, token in others.items()
        }
    if vocabulary.whole_ids:
        document["whole_tokens"] = [*vocabulary.whole_ids]
    return document


def parts_of(document: Any) -> tuple[Vocabulary, Pattern]:
    """Return the parts of a tokenizer; the inverse of :func:`document_of`.

    Parameters
    ----------
    document : dict
        Any value at all: everything is checked.

    Returns
    -------
    (Vocabulary, Pattern)

    Raises
    ------
    ValueError
        It is no such document; the message names the place.

    Complexity
    ----------
    O(n) for n tokens and merges.

    Examples
    --------
    >>> words = Vocabulary([bytes([value]) for value in range(256)], [], {})
    >>> parts_of(document_of(words, Pattern.of("gpt2")))[1].name
    'gpt2'
    """
    _need(isinstance(document, dict) and document.get("format") == FORMAT, f'"format" is not "{FORMAT}"')
    version = document.get("version")
    _need(_is_int(version) and version > 0, f'"version" is {version!r}, not a version number')
    _need(
        version <= VERSION, f'"version" is {version}: written by a newer release, which is needed to read it'
    )
    for key in document:
        _need(key in _CHECKS, f"unknown entry {key!r}")
    for key, (is_required, is_right, what) in _CHECKS.items():
        if key in document:
            _need(is_right(document[key]), f'"{key}" is not {what}')
        else:
            _need(not is_required, f'"{key}" is missing')
    pairs = _numbers_of(document, "merges", 2)
    made = _numbers_of(document, "merged_ids", 1)[:, 0] if "merged_ids" in document else None
    if made is not None and len(made) != len(pairs):
        raise ValueError(f'{len(pairs)} "merges" but {len(made)} "merged_ids"')
    for key in ("byte_ids", "whole_tokens"):
        for i, number in enumerate(document.get(key, ())):
            _need(_is_id(number), f'"{key}"[{i}] is not an id: {number!r:.50}')
    for token, number in document["special_tokens"].items():
        _need(_is_id(number), f'"special_tokens"[{token!r}] is not an id: {number!r:.50}')
    byte_ids, others = (
        document.get("byte_ids", DEFAULT_BYTE_IDS),
        _other_tokens(document.get("other_tokens", {})),
    )
    words = Vocabulary.of_merges(pairs, document["special_tokens"], byte_ids, made, others)
    if words is None:  # wrong somewhere, or out of the ordinary
        merges = list(zip(*pairs.T.tolist(), strict=True))
        merged_ids = None if made is None else made.tolist()
        check_lengths(merges, byte_ids, merged_ids, others)
        token_bytes = Vocabulary.assemble(merges, byte_ids, merged_ids, others)
        words = Vocabulary(token_bytes, merges, document["special_tokens"])
    if "whole_tokens" in document:
        words = words.taking_whole(document["whole_tokens"])
    return words, Pattern.of(document["pattern"])


def _text_of(numbers: np.ndarray) -> str:
    return base64.b64encode(numbers.astype(_NUMBER).tobytes()).decode()


def _numbers_of(document: dict[str, Any], key: str, n_columns: int) -> np.ndarray:
    try:
        data = base64.b64decode(document[key], validate=True)
    except ValueError:
        raise ValueError(f'"{key}" is not base64') from None
    row_bytes = n_columns * _NUMBER.itemsize
    _need(len(data) % row_bytes == 0, f'"{key}" is cut off: {len(data)} bytes are not of {row_bytes} each')
    numbers = np.frombuffer(data, _NUMBER).astype(np.int64).reshape(-1, n_columns)
    for row in np.flatnonzero((numbers < 0).any(axis=1))[:1]:
        raise ValueError(f'"{key}"[{row}] is not an id: {numbers[row].tolist()}')
    return numbers


def _other_tokens(texts: dict[str, str]) -> dict[int, bytes]:
    others = {}
    for number, text in texts.items():
        _need(
            number.isascii() and number.isdecimal() and len(number) < 12,
            f'"other_tokens": {number!r} is no id',
        )
        try:
            others[int(number)] = base64.b64decode(text, validate=True)
        except (TypeError, ValueError, binascii.Error):
            raise ValueError(f'"other_tokens"[{number!r}] is not base64') from None
    return others


# -------------------------------------------------------------------------------------------- checks
def _need(is_right: bool, problem: str) -> None:
    if not is_right:
        raise ValueError(problem)


def _is_int(value: Any) -> bool:
    return type(value) is int  # a bool is an int, but not here


def _is_id(value: Any) -> bool:
    return _is_int(value) and 0 <= value < 2**31


def _is_pattern(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(source, str) for source in value)
    )


# key -> (is it required, what to check, what it should be)
_CHECKS: dict[str, tuple[bool, Callable[[Any], bool], str]] = {
    "format": (True, lambda value: value == FORMAT, "the name of this format"),
    "version": (True, _is_int, "an integer"),
    "pattern": (True, _is_pattern, "a name or a list of expressions"),
    "unicode": (True, lambda value: isinstance(value, str), "a str"),
    "special_tokens": (True, lambda value: isinstance(value, dict), "an object"),
    "merges": (True, lambda value: isinstance(value, str), "a str"),
    "byte_ids": (False, lambda value: isinstance(value, list) and len(value) == 256, "a list of 256 ids"),
    "merged_ids": (False, lambda value: isinstance(value, str), "a str"),
    "other_tokens": (False, lambda value: isinstance(value, dict), "an object"),
    "whole_tokens": (False, lambda value: isinstance(value, list), "a list of ids"),
}


# ---------------------------------------------------------------------------------------------- text
def _crc32(document: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(document, sort_keys=True, separators=(",", ":")).encode())


def dump(document: dict[str, Any]) -> bytes:
    """Return a document as the content of a file: ASCII, one entry a line, with its checksum.

    Parameters
    ----------
    document : dict
        As :func:`document_of` returns it.

    Returns
    -------
    bytes

    Complexity
    ----------
    O(n).

    Examples
    --------
    >>> print(dump({"version": 1}).decode(), end="")
    {
    "version": 1,
    "crc32": 1899010611
    }
    """
    entries = {**document, "crc32": _crc32(document)}
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in entries.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def parse(data: bytes) -> dict[str, Any]:
    """Return the document that the content of a file stands for; the inverse of :func:`dump`.

    Parameters
    ----------
    data : bytes
        Any bytes at all.

    Returns
    -------
    dict

    Raises
    ------
    ValueError
        It is not JSON, an entry stands there twice, or the checksum is wrong.

    Complexity
    ----------
    O(n).

    Examples
    --------
    >>> parse(dump({"version": 1}))
    {'version': 1}
    """
    document = read_json(data)
    if isinstance(document, dict) and "crc32" in document:
        wanted = document.pop("crc32")
        _need(wanted == _crc32(document), 'damaged: "crc32" does not fit the rest')
    return document
