"""Pickles of a vocabulary: what cannot be derived, the numbers as bytes."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from bpe.vocabulary import DEFAULT_BYTE_IDS, Vocabulary

__all__ = ["packed", "unpacked"]

_NUMBER = np.dtype("<i4")  # an id is below 2**31
Packed: TypeAlias = tuple[
    bytes, bytes | None, list[int] | None, dict[int, bytes], dict[str, int], tuple[int, ...]
]


def packed(vocabulary: Vocabulary) -> Packed:
    r"""Return what a vocabulary can be made of again.

    Parameters
    ----------
    vocabulary : Vocabulary

    Returns
    -------
    tuple
        Merges; the ids they make, None for 256 and on; the ids of the bytes, None for their values; tokens
        that follow from none of these; special tokens; tokens that are taken whole.

    Complexity
    ----------
    O(n) for n tokens and merges.

    Examples
    --------
    >>> words = Vocabulary([*(bytes([value]) for value in range(256)), b"hi"], [(104, 105)], {})
    >>> packed(words)
    (b'h\x00\x00\x00i\x00\x00\x00', None, None, {}, {}, ())
    """
    in_order = np.array_equal(vocabulary.made, np.arange(256, 256 + len(vocabulary.made)))
    return (
        vocabulary.pairs.astype(_NUMBER).tobytes(),
        None if in_order else vocabulary.made.astype(_NUMBER).tobytes(),
        None if vocabulary.byte_ids == DEFAULT_BYTE_IDS else vocabulary.byte_ids,
        vocabulary.other_tokens(),
        vocabulary.special_tokens,
        vocabulary.whole_ids,
    )


def unpacked(parts: Packed) -> Vocabulary:
    """Return the vocabulary that :func:`packed` has taken apart.

    Parameters
    ----------
    parts : tuple

    Returns
    -------
    Vocabulary

    Complexity
    ----------
    O(n) for n tokens and merges.

    Examples
    --------
    >>> words = Vocabulary([*(bytes([value]) for value in range(256)), b"hi"], [(104, 105)], {})
    >>> unpacked(packed(words)).bytes_of == words.bytes_of
    True
    """
    pair_data, made_data, byte_ids, others, special_tokens, whole_ids = parts
    pairs = np.frombuffer(pair_data, _NUMBER).reshape(-1, 2).astype(np.int64)
    made = None if made_data is None else np.frombuffer(made_data, _NUMBER).astype(np.int64)
    words = Vocabulary.unfold(pairs, special_tokens, byte_ids or DEFAULT_BYTE_IDS, made, others)
    return words.taking_whole(whole_ids) if whole_ids else words
