"""Protocol buffers, as far as a file of SentencePiece needs them: the fields of a message, in order.

A message is a list of fields. Each has a key, ``number << 3 | kind``, and a value::

    kind 0    an integer, seven bits in each byte, the lowest first; 0x80 says that another byte follows
    kind 1    8 bytes
    kind 2    a length, and so many bytes: a text, or a message
    kind 5    4 bytes
"""

from __future__ import annotations

from typing import TypeAlias

FieldValue: TypeAlias = int | bytes

_MAX_VARINT = 10  # bytes
_SIZES = {1: 8, 5: 4}


def fields_of(data: bytes, where: str) -> list[tuple[int, FieldValue]]:
    r"""Return the fields of a message."""
    found: list[tuple[int, FieldValue]] = []
    at = 0
    while at < len(data):
        start = at
        key, at = _varint(data, at, where)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = _varint(data, at, where)
            found.append((number, value))
            continue
        if kind == 2:
            size, at = _varint(data, at, where)
        elif kind in _SIZES:
            size = _SIZES[kind]
        else:
            raise ValueError(f"{where} is not a message: no field begins at byte {start}")
        if number == 0:
            raise ValueError(f"{where} is not a message: the field at byte {start} has the number 0")
        if size > len(data) - at:
            raise ValueError(
                f"{where} is cut off: field {number} has {size} bytes from byte {at} on, "
                f"and {len(data) - at} are there"
            )
        found.append((number, data[at : at + size]))
        at += size
    return found


def _varint(data: bytes, at: int, where: str) -> tuple[int, int]:
    """Return the integer at a place, and the place after it."""
    value = 0
    for i, byte in enumerate(data[at : at + _MAX_VARINT]):
        value |= (byte & 0x7F) << 7 * i
        if byte < 0x80:
            return value, at + i + 1
    problem = "is cut off" if len(data) - at < _MAX_VARINT else "is not a message"
    raise ValueError(f"{where} {problem}: the integer at byte {at} has no end")
