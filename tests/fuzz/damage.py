"""Damage: bytes and JSON documents with something wrong at a random place."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

_DEEP = "deep, put in as text: json.dumps would not go so deep"
_VALUES: list[Any] = [
    *(None, True, False, [], {}, [[]], [0], [""], {"a": 0}, ["a", "b"], [0, 1], _DEEP, "a" * 5000),
    *("", "a", " ", "\0", "\ud800", "Ġa", "a b", "gpt2", "(", r"\p{L}+", "0", "-1"),
    *(0, -1, 1, 255, 256, 300, 2**16, 2**31 - 1, 2**31, 2**53, 2**63, 2**64, 10**400, -(2**63)),
    *(1.0, 0.5, -0.0, 1e308, float("nan"), float("inf")),
]
_PIECES = [
    b"\xff" * 8,
    bytes(8),
    b"9" * 30,
    b"[" * 8,
    b"{" * 5000,
    *b'-1 null " 1e999 \\u'.split(),
    b"\n",
    b" ",
]


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Return bytes with one to three places changed, left out, put in, cut off or doubled."""
    found = bytearray(data)
    for _ in range(chance.choice([1, 1, 1, 3])):
        # Half of the places are in the first bytes, where the header is.
        most = chance.choice([len(found), min(400, len(found))])
        at = chance.randrange(most + 1)
        match chance.randrange(7):
            case 0:
                found[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del found[at : at + chance.randrange(1, 20)]
            case 2:
                found[at:at] = chance.randbytes(chance.randrange(1, 20))
            case 3:
                del found[at:]
            case 4:
                found[at:at] = chance.choice(_PIECES)
            case 5:
                found[at : at + 8] = chance.choice(_PIECES)
            case 6:  # a duplicate line
                found[at:at] = bytes(found[at : found.find(b"\n", at) + 1])
    return bytes(found)


def damaged_document(document: Any, chance: random.Random) -> Any:
    """Return a JSON document with one to three values or entries changed, left out, doubled or swapped."""
    found = json.loads(json.dumps(document))
    for _ in range(chance.choice([1, 1, 1, 3])):
        path = _place(found, chance)
        if not path:
            return chance.choice(_VALUES)
        parent, key = path[-1]
        match chance.randrange(6):
            case 0 | 1:
                parent[key] = copy.deepcopy(chance.choice(_VALUES))
            case 2:
                del parent[key]
            case 3 if isinstance(parent, list):
                parent.insert(chance.randrange(len(parent) + 1), parent[key])
            case 3:
                parent[str(chance.choice(_VALUES))] = parent[key]
            case 4:
                other, name = chance.choice(path)
                parent[key], other[name] = json.loads(json.dumps([other[name], parent[key]]))
            case 5:
                parent[key] = _changed(parent[key], chance)
    return found


def _place(document: Any, chance: random.Random) -> list[tuple[Any, Any]]:
    """Return the steps to a random place: containers with the key or number of the next one."""
    path: list[tuple[Any, Any]] = []
    while isinstance(document, (dict, list)) and document and (not path or chance.random() < 0.8):
        key = chance.choice(list(document) if isinstance(document, dict) else range(len(document)))
        path.append((document, key))
        document = document[key]
    return path


def _changed(value: Any, chance: random.Random) -> Any:
    """Return a value that is nearly the same."""
    if isinstance(value, str):
        return damaged(value.encode("utf-8", "surrogatepass"), chance).decode("utf-8", "replace")
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + chance.choice([-1, 1, 256, 0.5] if abs(value) < 2**60 else [-1, 1, 256])
    if isinstance(value, list):
        return value[::-1]
    return [value]


def written(document: Any, chance: random.Random) -> bytes:
    """Return a document as JSON; sometimes an entry is there twice."""
    text = json.dumps(document)
    if isinstance(document, dict) and document and chance.random() < 0.1:
        key = chance.choice(list(document))
        text = f"{text[:-1]}, {json.dumps(key)}: {json.dumps(chance.choice([document[key], 0]))}}}"
    n = chance.choice([100, 900, 100_000])
    return text.replace(f'"{_DEEP}"', "[" * n + "]" * n).encode()
