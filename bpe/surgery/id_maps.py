"""Where ids go when a vocabulary changes, as an array by old id."""

from __future__ import annotations

from collections.abc import Container

import numpy as np

from bpe.vocabulary import Vocabulary

GONE = -1
MOST_IDS = 1 << 27
"""Of a vocabulary that changes: its map has a number for each."""


def id_map(words: Vocabulary, removed: Container[int] | None = None) -> np.ndarray:
    """Return the new id of each old one.

    Parameters
    ----------
    words : Vocabulary
    removed : container of int, optional
        Tokens that are removed. The others get the ids 0, 1, ..., in their order. By default, all stay where
        they are.

    Returns
    -------
    (size,) int64
        :data:`GONE` where an id is removed, or is that of no token.

    Raises
    ------
    ValueError
        There are ids of :data:`MOST_IDS` or more.

    Complexity
    ----------
    O(n log n) for n tokens, and the greatest id.

    Examples
    --------
    >>> words = Vocabulary({0: b"a", 1: b"b", 5: b"c"}, [], {})
    >>> id_map(words).tolist(), id_map(words, {1}).tolist()
    ([0, 1, -1, -1, -1, 5], [0, -1, -1, -1, -1, 1])
    """
    if words.size > MOST_IDS:
        raise ValueError(
            f"the greatest id is {words.size - 1}: to change tokens, all ids must be below {MOST_IDS}"
        )
    new_id_of = np.full(words.size, GONE, np.int64)
    if removed is None:
        old = np.fromiter(words.bytes_of, np.int64, len(words.bytes_of))
        new_id_of[old] = old
    else:
        kept = [number for number in sorted(words.bytes_of) if number not in removed]
        new_id_of[kept] = np.arange(len(kept))
    return new_id_of
