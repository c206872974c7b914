"""The alphabet of a training: which single bytes its merges start from.

A byte is in the alphabet if it is an initial one or if the words have it. With a limit, only the most
frequent bytes stay besides the initial ones. All other bytes are *left out* of the words, and what is around
them is joined: of ``a?b`` the training sees ``ab``.
"""

from __future__ import annotations

from operator import index as as_index
from typing import TYPE_CHECKING

import numpy as np

from bpe.training.runs import INT64_MAX
from structures import kernel

if TYPE_CHECKING:
    from bpe.counting.word_counts import WordCounts

ALL_BYTES = bytes(range(256))


@kernel(quiet=True)
def count_bytes(data, offsets, weight_of, counts):
    """Add to ``counts[byte]`` how often the pieces have each byte; a count ends at the greatest int64."""
    for piece in range(weight_of.size):
        for i in range(offsets[piece], offsets[piece + 1]):
            value = data[i]
            counts[value] += min(weight_of[piece], INT64_MAX - counts[value])


def initial_bytes(initial_alphabet: bytes | None, limit_alphabet: int | None) -> bytes:
    """Return the initial alphabet, each byte once."""
    if initial_alphabet is not None and not isinstance(initial_alphabet, bytes):
        raise TypeError(f"initial_alphabet must be bytes, not {type(initial_alphabet).__name__}")
    initial = ALL_BYTES if initial_alphabet is None else bytes(sorted({*initial_alphabet}))
    if limit_alphabet is not None:
        limit = as_index(limit_alphabet)
        if limit < 1:
            raise ValueError(f"limit_alphabet must be at least 1, not {limit}")
        if limit < len(initial):
            raise ValueError(
                f"limit_alphabet {limit} is less than the {len(initial)} bytes of initial_alphabet: "
                "give a smaller one, such as initial_alphabet=b''"
            )
    return initial


def bytes_left_out(
    counts: WordCounts, initial_alphabet: bytes | None, limit_alphabet: int | None
) -> frozenset[int]:
    """Return the byte values that are not in the alphabet."""
    initial = initial_bytes(initial_alphabet, limit_alphabet)
    if len(initial) == len(ALL_BYTES):
        return frozenset()
    occurrences = np.zeros(len(ALL_BYTES), np.int64)
    count_bytes(*counts.to_arrays(), occurrences)
    by_count = np.argsort(-occurrences, kind="stable").tolist()
    others = [value for value in by_count if occurrences[value] and value not in initial]
    n_others = len(others) if limit_alphabet is None else limit_alphabet - len(initial)
    return frozenset(ALL_BYTES) - {*initial, *others[:n_others]}


def leave_out(
    data: np.ndarray, offsets: np.ndarray, weight_of: np.ndarray, left_out: frozenset[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return pieces without some byte values, and without the pieces that are empty then."""
    in_alphabet = np.ones(len(ALL_BYTES), bool)
    in_alphabet[[*left_out]] = False
    stays = in_alphabet[data]
    n_before = np.zeros(data.size + 1, np.int64)  # how many bytes stay before each place
    np.cumsum(stays, out=n_before[1:])
    edges = n_before[offsets]
    full = np.flatnonzero(np.diff(edges))
    return data[stays], np.concatenate((edges[:1], edges[1:][full])), weight_of[full]
