r"""What files of counts have in common: a magic, a version, a JSON header, arrays, and a checksum.

::

    bytes      what
    8          magic, which ends in "\r\n"                        broken by a transfer that changes line ends
    4, 4       version; length of the header                     little-endian, as all numbers
    ...        header
    ...        arrays, whose sizes the header tells
    4          CRC-32 of all the above

Nothing is allocated before the file is known to have the bytes for it.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO, Literal, NamedTuple

import numpy as np

WORDS = b"\x93BPEwc\r\n"
RUNS = b"\x93BPErc\r\n"


WIDTHS = (1, 2, 4, 8)
"""How many bytes a number in an array may have."""

_READERS = {
    WORDS: "counts of words, which WordCounts.load reads",
    RUNS: "counts of runs, which RunCounts.load reads",
}
_PREFIX = struct.Struct("<8sII")
_CRC = struct.Struct("<I")


def kind_of_counts(path: str | os.PathLike[str]) -> Literal["words", "runs"] | None:
    """Return which kind of counts a file has; None if it is not a file of counts."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        begin = file.read(len(WORDS))
    return "words" if begin == WORDS else "runs" if begin == RUNS else None


class Kind(NamedTuple):
    """A kind of file of counts."""

    magic: bytes
    version: int
    name: str


class Content(NamedTuple):
    """The content of a file."""

    data: bytes  # of the whole file
    header: dict[str, Any]
    start: int  # of the arrays


def pack(kind: Kind, header: dict[str, Any], arrays: list[bytes]) -> bytes:
    """Return the content of a file."""
    text = json.dumps(header).encode()
    content = b"".join([_PREFIX.pack(kind.magic, kind.version, len(text)), text, *arrays])
    return content + _CRC.pack(zlib.crc32(content))


def unpack(
    file: BinaryIO,
    kind: Kind,
    fault_of: Callable[[dict[str, Any]], str],
    size_of: Callable[[dict[str, Any]], int],
) -> Content:
    """Read what :func:`pack` returned.

    `fault_of` returns what is wrong with a header, "" if it is valid; `size_of` the bytes of its arrays.
    """
    prefix = file.read(_PREFIX.size)  # before anything else: a file of another kind may have no end
    if prefix[:8] in _READERS and prefix[:8] != kind.magic:
        raise ValueError(_READERS[prefix[:8]])
    if prefix[:8] != kind.magic[: len(prefix)] or not prefix:
        raise ValueError(f"not a file of {kind.name}: it begins with other bytes")
    content = prefix + file.read()
    if len(content) < _PREFIX.size + _CRC.size:
        raise ValueError(f"cut off at byte {len(content)}, before the header ends")
    _, version, n_header = _PREFIX.unpack_from(content)
    if version != kind.version:
        raise ValueError(
            f"version {version} at byte 8, but this release reads version {kind.version}: use another release"
        )
    start, end = _PREFIX.size + n_header, len(content) - _CRC.size
    if start > end:
        raise ValueError(f"cut off at byte {len(content)}: the header ends at byte {start}")
    header, fault = _header(content[_PREFIX.size : start])
    fault = fault or fault_of(header)
    if not fault:
        wanted = start + size_of(header) + _CRC.size
        if len(content) < wanted:
            raise ValueError(f"cut off at byte {len(content)} of {wanted}")
        if len(content) > wanted:
            raise ValueError(f"{len(content) - wanted} extra bytes from byte {wanted} on")
    if zlib.crc32(memoryview(content)[:end]) != _CRC.unpack_from(content, end)[0]:
        raise ValueError(f"damaged: the checksum at byte {end} does not match the bytes before it")
    if fault:
        raise ValueError(f"the header at byte {_PREFIX.size} is not valid: {fault}")
    return Content(content, header, start)


def _header(text: bytes) -> tuple[dict[str, Any], str]:
    """Return the entries of a header, and what is wrong with it, "" if nothing."""
    try:
        header = json.loads(text.decode())
    except (ValueError, RecursionError):
        return {}, "not JSON"
    return (header, "") if isinstance(header, dict) else ({}, "not a JSON object")


def fault_of_sizes(header: dict[str, Any], sizes: tuple[str, ...], widths: tuple[str, ...]) -> str:
    """Return which of these header entries is not a size, or not a width of numbers; "" if all are valid."""
    for key in sizes:
        if type(header.get(key)) is not int or header[key] < 0:
            return f'"{key}" is not a size'
    for key in widths:
        if type(header.get(key)) is not int or header[key] not in WIDTHS:
            return f'"{key}" is not one of {WIDTHS}'
    return ""


def width_of(numbers: np.ndarray) -> int:
    """Return the smallest of ``WIDTHS`` that is enough for the greatest number."""
    greatest = int(numbers.max()) if numbers.size else 0
    return next(width for width in WIDTHS if greatest < 1 << 8 * width)


def packed(numbers: np.ndarray) -> bytes:
    r"""Return numbers as bytes, ``width_of(numbers)`` each."""
    return numbers.astype(f"<u{width_of(numbers)}").tobytes()


def unpacked(content: bytes, at: int, n: int, width: int, what: str, least: int = 1) -> np.ndarray:
    """Return n numbers of a file, all at least `least` and at most ``2**63 - 1``."""
    numbers = np.frombuffer(content, f"<u{width}", n, at).astype(np.int64)
    wrong = np.flatnonzero(numbers < least)  # as int64, a number that is too great is below 0
    if wrong.size:
        raise ValueError(f"the {what} at byte {at + width * int(wrong[0])} is out of range")
    return numbers
