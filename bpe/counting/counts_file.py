r"""The file of word counts: a JSON header, then three arrays (:mod:`bpe.counting.file_format`).

::

    bytes      what
    ...        magic "\x93BPEwc\r\n", version 1
    ...        header: {"pattern": ..., "unicode": ..., "special_tokens": [...],
                        "n_words": n, "n_bytes": b, "count_bytes": 1, 2, 4 or 8, "length_bytes": 1, 2, 4 or 8}
    n * each   counts, in the order of first appearance
    n * each   lengths of the words
    b          words, one after the other
    4          checksum

It is not compressed: a million words take 13 to 28 MB, of which compression would save half.
"""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np

from bpe.counting.file_format import (
    WORDS,
    Content,
    Kind,
    fault_of_sizes,
    pack,
    packed,
    unpack,
    unpacked,
    width_of,
)
from bpe.splitting.pattern import Pattern
from bpe.support.threads import in_background
from bpe.vocabulary.vocabulary import check_specials
from structures import ByteCounter

VERSION = 1
_KIND = Kind(WORDS, VERSION, "word counts")


def dump(
    data: np.ndarray,
    offsets: np.ndarray,
    counts: np.ndarray,
    pattern: Pattern,
    special_tokens: tuple[str, ...],
) -> bytes:
    """Return word counts as the content of a file; word i is ``data[offsets[i]:offsets[i + 1]]``."""
    return pack(_KIND, *parts_of_words(data, offsets, counts, pattern, special_tokens))


def parts_of_words(
    data: np.ndarray,
    offsets: np.ndarray,
    counts: np.ndarray,
    pattern: Pattern,
    special_tokens: tuple[str, ...],
) -> tuple[dict[str, Any], list[bytes]]:
    r"""Return the header entries and the arrays of word counts; takes the arguments of :func:`dump`."""
    lengths = np.diff(offsets)
    header = {
        "pattern": pattern.spec,
        "unicode": pattern.unicode_version,
        "special_tokens": list(special_tokens),
        "n_words": counts.size,
        "n_bytes": data.size,
        "count_bytes": width_of(counts),
        "length_bytes": width_of(lengths),
    }
    return header, [packed(counts), packed(lengths), data.tobytes()]


def read(file: BinaryIO) -> tuple[ByteCounter, Pattern, tuple[str, ...]]:
    """Read what :func:`dump` returned: the counter, the pattern and the special tokens."""
    return words_in(unpack(file, _KIND, fault_of_words, size_of_words))


def fault_of_words(header: dict[str, Any]) -> str:
    """Return what is wrong with the header entries of words; "" if they are valid."""
    fault = fault_of_sizes(header, ("n_words", "n_bytes"), ("count_bytes", "length_bytes"))
    if fault:
        return fault
    if not isinstance(header.get("unicode"), str):
        return '"unicode" is not a version'
    pattern = header.get("pattern")
    if not isinstance(pattern, str) and not _is_list_of_str(pattern):
        return '"pattern" is neither a name nor a list of expressions'
    if not _is_list_of_str(header.get("special_tokens")):
        return '"special_tokens" is not a list of tokens'
    return ""


def _is_list_of_str(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def size_of_words(header: dict[str, Any]) -> int:
    """Return how many bytes the arrays of words have, given a valid header."""
    n_bytes: int = header["n_words"] * (header["count_bytes"] + header["length_bytes"]) + header["n_bytes"]
    return n_bytes


def words_in(content: Content) -> tuple[ByteCounter, Pattern, tuple[str, ...]]:
    """Return the counter, pattern and special tokens of the words at the start of the arrays of a file."""
    data, header, at = content
    n_words = header["n_words"]
    counts = unpacked(data, at, n_words, header["count_bytes"], "count")
    at += n_words * header["count_bytes"]
    lengths = unpacked(data, at, n_words, header["length_bytes"], "length")
    at += n_words * header["length_bytes"]
    words = np.frombuffer(data, np.uint8, header["n_bytes"], at)
    counter = counter_of(words, lengths, counts, "word", at)
    pattern, special_tokens = Pattern.of(header["pattern"]), check_specials(header["special_tokens"])
    _check_no_special(words.tobytes(), lengths, special_tokens)
    return counter, pattern, special_tokens


def counter_of(data: np.ndarray, lengths: np.ndarray, counts: np.ndarray, what: str, at: int) -> ByteCounter:
    """Return a counter of words (or of `what`) that were read at byte `at`, or raise a ValueError."""
    if lengths.size and (int(lengths.max()) > data.size or int(lengths.sum()) != data.size):
        raise ValueError(
            f"the lengths of the {what}s do not add up to the {data.size} bytes from byte {at} on"
        )
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    try:
        counter = in_background(ByteCounter.from_arrays, data, offsets, counts)
    except OverflowError as error:
        raise ValueError(str(error)) from None
    if len(counter) < counts.size or int(offsets[-1]) != data.size:
        raise ValueError(f"a {what} occurs twice, from byte {at} on")
    return counter


def _check_no_special(words: bytes, lengths: np.ndarray, special_tokens: tuple[str, ...]) -> None:
    ends = np.cumsum(lengths)  # the end of each word
    for token in special_tokens:
        wanted = token.encode()
        place = words.find(wanted)
        while place >= 0:  # also finds matches across the end of a word, which are allowed
            word = int(np.searchsorted(ends, place, side="right"))
            if word < ends.size and place + len(wanted) <= ends[word]:
                raise ValueError(f"word {word} holds the special token {token!r}")
            place = words.find(wanted, place + 1)
