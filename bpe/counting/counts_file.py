r"""The file of word counts: a JSON header, then three arrays.

::

    bytes      what
    8          magic: "\x93BPEwc\r\n"                             a transfer that changes line ends shows here
    4, 4       version; length of the header                     little-endian, as all numbers
    ...        header: {"pattern": ..., "unicode": ..., "special_tokens": [...],
                        "n_words": n, "n_bytes": b, "count_bytes": 1, 2, 4 or 8, "length_bytes": 1, 2, 4 or 8}
    n * each   counts, in the order of first appearance
    n * each   lengths of the words
    b          words, one after the other
    4          CRC-32 of all the above

Nothing is allocated before the file is known to have the bytes for it. It is not compressed: a million words
take 13 to 28 MB, of which compression would save half.
"""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any, BinaryIO

import numpy as np

from bpe.pattern import Pattern
from bpe.specials import check_specials
from bpe.threads import in_background
from structures import ByteCounter

MAGIC = b"\x93BPEwc\r\n"
VERSION = 1
_PREFIX = struct.Struct("<8sII")
_CRC = struct.Struct("<I")
_WIDTHS = (1, 2, 4, 8)


def dump(
    data: np.ndarray,
    offsets: np.ndarray,
    counts: np.ndarray,
    pattern: Pattern,
    special_tokens: tuple[str, ...],
) -> bytes:
    """Return word counts as the content of a file.

    Parameters
    ----------
    data, offsets, counts : arrays
        As :meth:`bpe.WordCounts.to_arrays` returns them.
    pattern : Pattern
    special_tokens : tuple of str

    Returns
    -------
    bytes

    Complexity
    ----------
    O(size).

    Examples
    --------
    >>> counter = ByteCounter({b"low": 5})
    >>> dump(*counter.to_arrays(), Pattern.of("gpt2"), ())[:8] == MAGIC
    True
    """
    lengths = np.diff(offsets)
    count_bytes, length_bytes = _width(counts), _width(lengths)
    header = json.dumps(
        {
            "pattern": pattern.spec,
            "unicode": pattern.unicode_version,
            "special_tokens": list(special_tokens),
            "n_words": counts.size,
            "n_bytes": data.size,
            "count_bytes": count_bytes,
            "length_bytes": length_bytes,
        }
    ).encode()
    content = b"".join(
        [
            _PREFIX.pack(MAGIC, VERSION, len(header)),
            header,
            counts.astype(f"<u{count_bytes}").tobytes(),
            lengths.astype(f"<u{length_bytes}").tobytes(),
            data.tobytes(),
        ]
    )
    return content + _CRC.pack(zlib.crc32(content))


def _width(numbers: np.ndarray) -> int:
    """Return how many bytes the greatest number needs, of 1, 2, 4 and 8."""
    greatest = int(numbers.max()) if numbers.size else 0
    return next(width for width in _WIDTHS if greatest < 1 << 8 * width)


def read(file: BinaryIO) -> tuple[ByteCounter, Pattern, tuple[str, ...]]:
    """Read what :func:`dump` returned.

    Parameters
    ----------
    file : binary file
        Any bytes are allowed.

    Returns
    -------
    (counter, pattern, special_tokens) : (ByteCounter, Pattern, tuple of str)

    Raises
    ------
    ValueError
        It is not such a file, damaged or cut off; the message says where.

    Complexity
    ----------
    O(size of the file), in time and in memory.

    Examples
    --------
    >>> import io
    >>> content = dump(*ByteCounter({b"low": 5}).to_arrays(), Pattern.of("gpt2"), ("<|end|>",))
    >>> counter, pattern, special_tokens = read(io.BytesIO(content))
    >>> counter[b"low"], pattern.name, special_tokens
    (5, 'gpt2', ('<|end|>',))
    """
    prefix = file.read(_PREFIX.size)  # before anything else: a file of another kind may have no end
    if prefix[:8] != MAGIC[: len(prefix)] or not prefix:
        raise ValueError("not a file of word counts: it begins with other bytes")
    content = prefix + file.read()
    if len(content) < _PREFIX.size + _CRC.size:
        raise ValueError(f"cut off at byte {len(content)}, before the header ends")
    _, version, n_header = _PREFIX.unpack_from(content)
    if version != VERSION:
        raise ValueError(
            f"version {version} at byte 8, where this release knows {VERSION}: read it with another"
        )
    body_at, end = _PREFIX.size + n_header, len(content) - _CRC.size
    if body_at > end:
        raise ValueError(f"cut off at byte {len(content)}: the header goes on to byte {body_at}")
    header = _header(content[_PREFIX.size : body_at])
    if not isinstance(header, str):
        n_words = header["n_words"]
        widths = header["count_bytes"], header["length_bytes"]
        wanted = body_at + n_words * sum(widths) + header["n_bytes"] + _CRC.size
        if len(content) < wanted:
            raise ValueError(f"cut off at byte {len(content)} of {wanted}")
        if len(content) > wanted:
            raise ValueError(f"{len(content) - wanted} bytes too many from byte {wanted} on")
    if zlib.crc32(memoryview(content)[:end]) != _CRC.unpack_from(content, end)[0]:
        raise ValueError(f"damaged: the checksum at byte {end} does not fit the bytes before it")
    if isinstance(header, str):
        raise ValueError(f"{header} in the header, at byte {_PREFIX.size}")
    counts, at = _numbers(content, body_at, n_words, widths[0], "count")
    lengths, at = _numbers(content, at, n_words, widths[1], "length")
    counter = _counter(np.frombuffer(content, np.uint8, header["n_bytes"], at), lengths, counts, at)
    pattern, special_tokens = Pattern.of(header["pattern"]), check_specials(header["special_tokens"])
    _check_no_special(content[at:end], lengths, special_tokens)
    return counter, pattern, special_tokens


def _header(text: bytes) -> dict[str, Any] | str:
    """Return the entries of a header, or what is wrong with it."""
    try:
        header = json.loads(text.decode())
    except (ValueError, RecursionError):
        return "no JSON"
    if not isinstance(header, dict):
        return "no object"
    for key in ("n_words", "n_bytes"):
        if type(header.get(key)) is not int or header[key] < 0:
            return f'"{key}" is no size'
    for key in ("count_bytes", "length_bytes"):
        if type(header.get(key)) is not int or header[key] not in _WIDTHS:
            return f'"{key}" is none of {_WIDTHS}'
    if not isinstance(header.get("unicode"), str):
        return '"unicode" is no version'
    pattern = header.get("pattern")
    if not isinstance(pattern, str) and not _is_list_of_str(pattern):
        return '"pattern" is no name and no list of expressions'
    if not _is_list_of_str(header.get("special_tokens")):
        return '"special_tokens" is no list of tokens'
    return header


def _is_list_of_str(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _numbers(content: bytes, at: int, n: int, width: int, what: str) -> tuple[np.ndarray, int]:
    """Return n numbers of a file, all at least 1 and at most 2**63 - 1, and the byte after them."""
    numbers = np.frombuffer(content, f"<u{width}", n, at).astype(np.int64)
    wrong = np.flatnonzero(numbers < 1)  # as int64, a number that is too great is below 0
    if wrong.size:
        raise ValueError(f"the {what} at byte {at + width * int(wrong[0])} is out of range")
    return numbers, at + n * width


def _counter(data: np.ndarray, lengths: np.ndarray, counts: np.ndarray, at: int) -> ByteCounter:
    if lengths.size and (int(lengths.max()) > data.size or int(lengths.sum()) != data.size):
        raise ValueError(f"the lengths of the words do not add up to the {data.size} bytes from byte {at} on")
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    try:
        counter = in_background(ByteCounter.from_arrays, data, offsets, counts)
    except OverflowError as error:
        raise ValueError(str(error)) from None
    if len(counter) < counts.size or int(offsets[-1]) != data.size:
        raise ValueError(f"a word is there twice, from byte {at} on")
    return counter


def _check_no_special(words: bytes, lengths: np.ndarray, special_tokens: tuple[str, ...]) -> None:
    ends = np.cumsum(lengths)
    for token in special_tokens:
        wanted = token.encode()
        place = words.find(wanted)
        while place >= 0:  # also across the end of a word, which is allowed
            word = int(np.searchsorted(ends, place, side="right"))
            if word < ends.size and place + len(wanted) <= ends[word]:
                raise ValueError(f"word {word} holds the special token {token!r}")
            place = words.find(wanted, place + 1)
