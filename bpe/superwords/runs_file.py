r"""The file of counts of runs: a JSON header, the words, then the runs (:mod:`bpe.counting.file_format`).

::

    bytes      what
    ...        magic "\x93BPErc\r\n", version 1
    ...        header: that of word counts, and {"parts": ..., "n_runs": n, "n_numbers": m,
                        "run_count_bytes": ..., "run_length_bytes": ..., "number_bytes": 1, 2, 4 or 8}
    ...        the arrays of word counts (:mod:`bpe.counting.counts_file`)
    n * each   counts of the runs, in the order of first appearance
    n * each   how many words each run has
    m * each   the words of the runs, one run after the other, as positions in the list of words
    4          checksum
"""

from __future__ import annotations

from typing import Any, BinaryIO, NamedTuple

import numpy as np

from bpe.counting.counts_file import counter_of, fault_of_words, parts_of_words, size_of_words, words_in
from bpe.counting.file_format import RUNS, Kind, fault_of_sizes, pack, packed, unpack, unpacked, width_of
from bpe.splitting.pattern import Pattern
from bpe.superwords.run_counts import ID_BYTES, unpacked_runs
from bpe.training.state import Runs
from structures import ByteCounter, kernel

VERSION = 1
_KIND = Kind(RUNS, VERSION, "counts of runs")
_WIDTHS = ("run_count_bytes", "run_length_bytes", "number_bytes")


class Counted(NamedTuple):
    """The words and runs of a text, and how they were counted."""

    words: ByteCounter
    runs: ByteCounter
    pattern: Pattern
    special_tokens: tuple[str, ...]
    parts: str


@kernel
def first_used_up(tokens, offsets, counts, left):
    """Subtract the counts of runs from those `left` of their words; return the first word below 0, or -1."""
    for run in range(counts.size):
        for i in range(offsets[run], offsets[run + 1]):
            left[tokens[i]] -= counts[run]
            if left[tokens[i]] < 0:
                return tokens[i]
    return -1


def dump(counted: Counted) -> bytes:
    """Return counts of runs as the content of a file."""
    header, arrays = parts_of_words(*counted.words.to_arrays(), counted.pattern, counted.special_tokens)
    tokens, offsets, counts = unpacked_runs(counted.runs)
    numbers = counts, np.diff(offsets), tokens
    header |= {"parts": counted.parts, "n_runs": counts.size, "n_numbers": tokens.size}
    header |= dict(zip(_WIDTHS, map(width_of, numbers), strict=True))
    return pack(_KIND, header, [*arrays, *map(packed, numbers)])


def read(file: BinaryIO) -> Counted:
    """Read what :func:`dump` returned, as :func:`bpe.counting.counts_file.read` does.

    Runs that do not match the words are a ValueError, too.
    """
    content = unpack(file, _KIND, _fault_of, _size_of)
    words, pattern, special_tokens = words_in(content)
    data, header, start = content
    n_runs, n_numbers, at = header["n_runs"], header["n_numbers"], start + size_of_words(header)
    counts = unpacked(data, at, n_runs, header["run_count_bytes"], "count")
    at += n_runs * header["run_count_bytes"]
    lengths = unpacked(data, at, n_runs, header["run_length_bytes"], "length", least=2)
    at += n_runs * header["run_length_bytes"]
    numbers = unpacked(data, at, n_numbers, header["number_bytes"], "number", least=0)
    wrong = np.flatnonzero(numbers >= len(words))
    if wrong.size:
        place = at + int(wrong[0]) * header["number_bytes"]
        raise ValueError(f"the number at byte {place} is not that of a word: there are {len(words)} words")
    tokens = numbers.astype(np.int32)
    if n_runs and int(lengths.max()) > n_numbers:  # checked before the sum, which may overflow
        raise ValueError(f"the run lengths do not add up to the {n_numbers} numbers from byte {at} on")
    runs = counter_of(tokens.view(np.uint8), lengths * ID_BYTES, counts, "run", at)
    _check_uses(words, unpacked_runs(runs))
    return Counted(words, runs, pattern, special_tokens, header["parts"])


def _check_uses(words: ByteCounter, runs: Runs) -> None:
    word = first_used_up(*runs, words.to_arrays()[2].copy())
    if word >= 0:
        raise ValueError(f"the runs hold word {word}, {words.word(word)!r:.80}, more often than it counts")


def _fault_of(header: dict[str, Any]) -> str:
    fault = fault_of_words(header) or fault_of_sizes(header, ("n_runs", "n_numbers"), _WIDTHS)
    if fault:
        return fault
    return "" if isinstance(header.get("parts"), str) else '"parts" is not an expression'


def _size_of(header: dict[str, Any]) -> int:
    n_bytes = header["n_runs"] * (header["run_count_bytes"] + header["run_length_bytes"])
    return size_of_words(header) + int(n_bytes + header["n_numbers"] * header["number_bytes"])
