"""Decoding: ids to bytes, by a table of where the bytes of each token lie.

::

    data      a b c ... t h e i n g _ t h e       the bytes of all tokens, in the order of their ids
    starts    0 1 2 ... 256   259     262         token k is data[starts[k]:starts[k + 1]]
    ids       0 1 2 ... 256   257     700         ascending; without gaps, the id of token k is k
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from bpe.vocabulary.vocabulary import Vocabulary

_FEW = 64  # so few ids are looked up one by one
_INTS = {int}
_BLOCK = 1 << 13
_SPARSE = 4  # times as many ids as tokens: an array by id would waste memory


class TokenTable:
    """Where the bytes of each token lie."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        numbers = sorted(vocabulary.bytes_of)
        tokens = [vocabulary.bytes_of[number] for number in numbers]
        self._data = np.frombuffer(b"".join(tokens), np.uint8)
        self._lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
        self._starts = np.cumsum(self._lengths) - self._lengths
        self._ids = np.array(numbers, np.int64)
        self._place_of: np.ndarray | None = None
        if vocabulary.size <= _SPARSE * len(tokens):
            self._place_of = np.full(vocabulary.size, -1, np.int32)
            self._place_of[self._ids] = np.arange(len(tokens))

    def _places(self, ids: np.ndarray) -> np.ndarray:
        """Return the index of the token of each id, -1 if there is none."""
        if self._place_of is not None:
            if len(ids) and (int(ids.min()) < 0 or int(ids.max()) >= len(self._place_of)):
                return np.full(len(ids), -1)
            return self._place_of[ids]
        places = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        return np.where(self._ids[places] == ids, places, -1)

    def lengths(self, ids: np.ndarray) -> np.ndarray:
        """Return how many bytes tokens have."""
        return self._lengths[self._places(ids)]

    def join(self, ids: np.ndarray) -> bytes | None:
        """Return the bytes of tokens, joined; None if an id has no token."""
        places = self._places(ids)
        if len(places) and int(places.min()) < 0:
            return None
        parts = []
        for first in range(0, len(places), _BLOCK):  # so much fits the processor's cache
            some = places[first : first + _BLOCK]
            lengths = self._lengths[some]
            ends = np.cumsum(lengths)
            where = np.repeat(self._starts[some] - (ends - lengths), lengths)
            where += np.arange(len(where))
            parts.append(self._data[where].tobytes())
        return b"".join(parts)


def join_tokens(
    vocabulary: Vocabulary, ids: Iterable[int] | np.ndarray, table: TokenTable | None = None
) -> bytes:
    """Return the bytes of ids, joined."""
    if type(ids) is list and len(ids) <= _FEW and _INTS.issuperset(map(type, ids)):
        try:
            return b"".join(map(vocabulary.bytes_of.__getitem__, ids))
        except KeyError:
            pass
    if table is not None and isinstance(ids, np.ndarray) and ids.ndim == 1 and ids.dtype.kind in "iu":
        data = table.join(ids)
        if data is not None:
            return data
    numbers = _listed(ids)
    if table is not None and len(numbers) > _FEW:
        try:
            array = np.array(numbers)
        except (ValueError, OverflowError):  # not a list of numbers
            array = np.empty(0)
        # A list with a float makes an array of floats.
        data = table.join(array) if array.ndim == 1 and array.dtype.kind in "iu" else None
        if data is not None:
            return data
    return b"".join(map(vocabulary.bytes_of.__getitem__, checked_ids(vocabulary, numbers)))


def checked_ids(vocabulary: Vocabulary, ids: Iterable[int] | np.ndarray) -> list[int]:
    """Return ids as a list."""
    numbers = _listed(ids)
    # A float that equals an id would be found, too.
    are_integers = all(issubclass(kind, (int, np.integer)) for kind in set(map(type, numbers)))
    if are_integers and vocabulary.bytes_of.keys() >= {*numbers}:
        return numbers
    for index, number in enumerate(numbers):
        if not isinstance(number, (int, np.integer)):
            raise TypeError(f"ids[{index}] must be an integer, not {type(number).__name__}")
        if number not in vocabulary.bytes_of:
            problem = "is not used" if 0 <= number < vocabulary.size else "is out of range"
            raise ValueError(f"ids[{index}]: {number} {problem}; ids are 0 to {vocabulary.size - 1}")
    raise AssertionError("unreachable")


def _listed(ids: Iterable[int] | np.ndarray) -> list[Any]:
    return ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
