"""Pickles of a vocabulary: what cannot be derived, the numbers as bytes; nothing is checked again.

A pickle can run any code, so that whoever reads one trusts it. Files have :mod:`bpe.formats.native`.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from bpe.vocabulary import DEFAULT_BYTE_IDS, Vocabulary

__all__ = ["packed", "unpacked"]

_NUMBER = np.dtype("<i4")  # an id is below 2**31
Packed: TypeAlias = tuple[bytes, bytes | None, list[int] | None, dict[int, bytes], dict[str, int]]


def packed(vocabulary: Vocabulary) -> Packed:
    r"""Return what a vocabulary can be made of again.

    Parameters
    ----------
    vocabulary : Vocabulary

    Returns
    -------
    tuple
        Merges; the ids they make, None for 256 and on; the ids of the bytes, None for their values; tokens
        that follow from none of these; special tokens.

    Complexity
    ----------
    O(n) for n tokens and merges.

    Examples
    --------
    >>> words = Vocabulary([*(bytes([value]) for value in range(256)), b"hi"], [(104, 105)], {})
    >>> packed(words)
    (b'h\x00\x00\x00i\x00\x00\x00', None, None, {}, {})
    """
    n_merges = len(vocabulary.merges)
    in_order = vocabulary.merged_ids == list(range(256, 256 + n_merges))
    return (
        np.array(vocabulary.merges, _NUMBER).tobytes(),
        None if in_order else np.array(vocabulary.merged_ids, _NUMBER).tobytes(),
        None if vocabulary.byte_ids == DEFAULT_BYTE_IDS else vocabulary.byte_ids,
        vocabulary.other_tokens(),
        vocabulary.special_tokens,
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
    >>> unpacked(packed(words)).__dict__ == words.__dict__
    True
    """
    merges, merged_ids, byte_ids, others, special_tokens = parts
    words = Vocabulary.__new__(Vocabulary)
    words.merges = list(zip(*np.frombuffer(merges, _NUMBER).reshape(-1, 2).T.tolist(), strict=True))
    words.merged_ids = list(range(256, 256 + len(words.merges)))
    if merged_ids is not None:
        words.merged_ids = np.frombuffer(merged_ids, _NUMBER).tolist()
    words.byte_ids = DEFAULT_BYTE_IDS[:] if byte_ids is None else byte_ids
    bytes_of = {number: bytes([value]) for value, number in enumerate(words.byte_ids)}
    bytes_of.update(others)
    for (left, right), number in zip(words.merges, words.merged_ids, strict=True):
        bytes_of[number] = bytes_of[left] + bytes_of[right]
    words.id_of = {token: number for number, token in bytes_of.items()}
    bytes_of.update((number, token.encode()) for token, number in special_tokens.items())
    words.bytes_of, words.special_tokens = bytes_of, special_tokens
    words.size = max(bytes_of) + 1
    return words
