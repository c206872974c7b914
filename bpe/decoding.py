"""Decoding: ids to bytes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from bpe.vocabulary import Vocabulary

__all__ = ["join_tokens"]


def join_tokens(vocabulary: Vocabulary, ids: Iterable[int] | np.ndarray) -> bytes:
    """Return the bytes of ids, one after the other.

    Parameters
    ----------
    vocabulary : Vocabulary
    ids : iterable of int, or (n,) array of integers

    Returns
    -------
    bytes

    Raises
    ------
    ValueError
        No token has one of the ids; the message says which, where, and what the range is.
    TypeError
        One is no integer.

    Complexity
    ----------
    O(n) for n bytes.

    Examples
    --------
    >>> join_tokens(Vocabulary([bytes([value]) for value in range(256)], [], {}), [104, 105])
    b'hi'
    """
    numbers: list[Any] = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
    # A float would be found, too, where it equals an id.
    if all(issubclass(kind, (int, np.integer)) for kind in set(map(type, numbers))):
        try:
            return b"".join(map(vocabulary.bytes_of.__getitem__, numbers))
        except KeyError:
            pass
    for index, number in enumerate(numbers):
        if not isinstance(number, (int, np.integer)):
            raise TypeError(f"ids[{index}] must be an integer, not {type(number).__name__}")
        if number not in vocabulary.bytes_of:
            problem = "is not used" if 0 <= number < vocabulary.size else "is out of range"
            raise ValueError(f"ids[{index}]: {number} {problem}; ids are 0 to {vocabulary.size - 1}")
    raise AssertionError("unreachable")
