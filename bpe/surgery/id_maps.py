"""Where ids go when a vocabulary changes, as an array by old id."""

from __future__ import annotations

from collections.abc import Container

import numpy as np

from bpe.vocabulary.vocabulary import Vocabulary

GONE = -1
MOST_IDS = 1 << 27
"""Of a vocabulary that changes: its map has a number for each."""


def id_map(words: Vocabulary, removed: Container[int] | None = None) -> np.ndarray:
    """Return the new id of each old one."""
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
