"""The native file of a tokenizer: JSON that holds the merges and what else cannot be derived.

::

    {
    "format": "bpe-structures",
    "version": 1,                             2 to 5 if earlier releases cannot read it
    "pattern": "gpt2",                        a name, or a list of expressions
    "unicode": "17.0.0",                      the version that defined letters and numbers in training
    "special_tokens": {"<|endoftext|>": 512},
    "merges": "aAAAAGUAAAA...",               left and right id, in the order of the ranks
    "byte_ids": [...],                        -1: no token; absent if the id of each byte is its value
    "supermerges": 90,                        how many of the last merges join pieces; absent if 0
    "merged_ids": "AAEAAAEB...",              absent if the merges make 256, 257, ...
    "other_tokens": {"700": "YWJj"},          base64; absent if all tokens are bytes or made by merges
    "whole_tokens": [700],                    looked up before anything is merged; absent if there are none
    "added_tokens": {"<think>": 513},         absent if there are none
    "idle_tokens": {"": 514},                 no text is encoded to them; absent if there are none
    "kept": {...},                            the extras (bpe.vocabulary.extras); absent if there are none
    "crc32": 123456789                        of all the above; optional in a file written by hand
    }

The ids of merges are 32-bit numbers, little-endian, in base64. As JSON numbers they would take longer to read
than everything else together.

To write it, :func:`document_of` turns a tokenizer into a document that JSON can hold, and :func:`dump` turns
this into bytes, with the checksum. :func:`of_document` reads it.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from bpe.formats.limits import check_lengths, check_longest
from bpe.pipeline.engine import has_pipeline
from bpe.splitting.pattern import Pattern
from bpe.support.json_text import need
from bpe.vocabulary.extras import to_text
from bpe.vocabulary.parts import VocabularyParts, bytes_of_ids, ids_of_bytes
from bpe.vocabulary.vocabulary import NO_ID, Vocabulary

FORMAT, VERSION = "bpe-structures", 5
_SINCE = {"added_tokens": 2, "kept": 2, "idle_tokens": 3, "supermerges": 4}
"""The version in which an entry was introduced; 1 for all others."""


# ------------------------------------------------------------------------------ parts of a tokenizer
def document_of(vocabulary: Vocabulary, pattern: Pattern) -> dict[str, Any]:
    """Return a vocabulary and a pattern as a document that JSON can hold."""
    parts = VocabularyParts.of(vocabulary)
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": 1,
        "pattern": pattern.spec,
        "unicode": pattern.unicode_version,
        "special_tokens": parts.special_tokens,
        "merges": _text_of(parts.pairs),
    }
    if parts.byte_ids is not None:
        document["byte_ids"] = parts.byte_ids
    if parts.made is not None:
        document["merged_ids"] = _text_of(parts.made)
    if parts.others:
        document["other_tokens"] = {
            str(token_id): base64.b64encode(token).decode() for token_id, token in parts.others.items()
        }
    if parts.atomic_ids:
        document["whole_tokens"] = [*parts.atomic_ids]
    if parts.added_tokens:
        document["added_tokens"] = parts.added_tokens
    if parts.idle_tokens:
        document["idle_tokens"] = parts.idle_tokens
    if parts.extras:
        document["kept"] = json.loads(parts.extras)
    if parts.n_super:
        document["supermerges"] = parts.n_super
    document["version"] = max(_SINCE.get(key, 1) for key in document)
    extras = document.get("kept", {})
    # Earlier releases refuse the first two, and would leave out the steps.
    if NO_ID in vocabulary.byte_ids or "files" in extras or has_pipeline(vocabulary):
        document["version"] = max(3, document["version"])
    if "decoder" in extras:
        document["version"] = 5
    return document


def of_document(document: Any) -> tuple[Vocabulary, Pattern]:
    """Return the tokenizer of a parsed file, which may be any JSON value; the checksum is taken out of it."""
    if isinstance(document, dict) and "crc32" in document:
        wanted = document.pop("crc32")
        need(wanted == _crc32(document), 'damaged: "crc32" does not match the rest')
    need(isinstance(document, dict) and document.get("format") == FORMAT, f'"format" is not "{FORMAT}"')
    version = document.get("version")
    need(_is_int(version) and version > 0, f'"version" is {version!r}, not a version number')
    need(version <= VERSION, f'"version" is {version}: written by a newer release; upgrade to read it')
    for key in document:
        need(key in _CHECKS, f"unknown entry {key!r}")
    for key, (is_required, is_right, what) in _CHECKS.items():
        if key in document:
            need(is_right(document[key]), f'"{key}" is not {what}')
        else:
            need(not is_required, f'"{key}" is missing')
    pairs = _numbers_of(document, "merges", 2)
    made = _numbers_of(document, "merged_ids", 1)[:, 0] if "merged_ids" in document else None
    if made is not None and len(made) != len(pairs):
        raise ValueError(f'{len(pairs)} "merges" but {len(made)} "merged_ids"')
    for key in ("byte_ids", "whole_tokens"):
        for i, token_id in enumerate(document.get(key, ())):
            is_none = key == "byte_ids" and token_id == NO_ID
            need(is_none or _is_id(token_id), f'"{key}"[{i}] is not an id: {token_id!r:.50}')
    for key in ("special_tokens", "added_tokens", "idle_tokens"):
        for token, token_id in document.get(key, {}).items():
            need(_is_id(token_id), f'"{key}"[{token!r}] is not an id: {token_id!r:.50}')
    n_super = document.get("supermerges", 0)
    need(n_super <= len(pairs), f'"supermerges" is {n_super}, more than the {len(pairs)} "merges"')
    try:
        extras = to_text(document.get("kept", {}))
    except ValueError as error:
        raise ValueError(f'"kept": {error}') from None
    parts = VocabularyParts(
        pairs,
        made,
        document.get("byte_ids"),
        _other_tokens(document.get("other_tokens", {})),
        document["special_tokens"],
        tuple(document.get("whole_tokens", ())),
        document.get("added_tokens", {}),
        extras,
        document.get("idle_tokens", {}),
        n_super,
    )
    return parts.vocabulary(check_lengths), Pattern.of(document["pattern"])


def _text_of(numbers: np.ndarray) -> str:
    return base64.b64encode(bytes_of_ids(numbers)).decode()


def _numbers_of(document: dict[str, Any], key: str, n_columns: int) -> np.ndarray:
    try:
        data = base64.b64decode(document[key], validate=True)
    except ValueError:
        raise ValueError(f'"{key}" is not base64') from None
    try:
        numbers = ids_of_bytes(data, n_columns)
    except ValueError as error:
        raise ValueError(f'"{key}" is {error}') from None
    for row in np.flatnonzero((numbers < 0).any(axis=1))[:1]:
        raise ValueError(f'"{key}"[{row}] is not an id: {numbers[row].tolist()}')
    return numbers


def _other_tokens(texts: dict[str, str]) -> dict[int, bytes]:
    others = {}
    for token_id, text in texts.items():
        need(
            token_id.isascii() and token_id.isdecimal() and len(token_id) < 12,
            f'"other_tokens": {token_id!r} is not an id',
        )
        try:
            token = base64.b64decode(text, validate=True)
        except (TypeError, ValueError, binascii.Error):
            raise ValueError(f'"other_tokens"[{token_id!r}] is not base64') from None
        check_longest([token], f'"other_tokens"[{token_id!r}]')
        others[int(token_id)] = token
    return others


# -------------------------------------------------------------------------------------------- checks
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
    "added_tokens": (False, lambda value: isinstance(value, dict), "an object"),
    "idle_tokens": (False, lambda value: isinstance(value, dict), "an object"),
    "supermerges": (False, lambda value: _is_int(value) and value > 0, "a number above 0"),
    "kept": (False, lambda value: isinstance(value, dict), "an object"),
}


# ---------------------------------------------------------------------------------------------- text
def _crc32(document: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(document, sort_keys=True, separators=(",", ":")).encode())


def dump(document: dict[str, Any]) -> bytes:
    """Return a document as the content of a file: ASCII, one entry a line, with its checksum."""
    entries = {**document, "crc32": _crc32(document)}
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in entries.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()
