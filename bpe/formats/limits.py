"""A bound for the size of all tokens: a small file with forty merges can describe a token of a terabyte."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bpe.vocabulary import DEFAULT_BYTE_IDS

MAX_BYTES = 1 << 28
"""Maximal size of all tokens in a vocabulary that is read from a file."""


def check_lengths(
    merges: Sequence[tuple[int, int]],
    byte_ids: Iterable[int] = DEFAULT_BYTE_IDS,
    merged_ids: Iterable[int] | None = None,
    others: Mapping[int, bytes] | None = None,
) -> None:
    """Raise if the tokens that merges make have more than :data:`MAX_BYTES` bytes in all.

    Parameters
    ----------
    merges, byte_ids, merged_ids, others
        As for :meth:`bpe.vocabulary.Vocabulary.assemble`, which finds all other errors in them.

    Raises
    ------
    ValueError
        They have more; the message names the merge.

    Complexity
    ----------
    O(n) for n merges.

    Examples
    --------
    >>> check_lengths([(97, 97)] + [(256 + i, 256 + i) for i in range(40)])
    Traceback (most recent call last):
    ...
    ValueError: merge 27, (282, 282), makes the tokens longer than 268435456 bytes in all
    """
    length_of = {number: len(token) for number, token in (others or {}).items()}
    length_of.update(dict.fromkeys(byte_ids, 1))
    total = 0
    numbers = range(256, 256 + len(merges)) if merged_ids is None else merged_ids
    for rank, ((left, right), number) in enumerate(zip(merges, numbers, strict=True)):
        if left not in length_of or right not in length_of:
            return
        length_of[number] = length_of[left] + length_of[right]
        total += length_of[number]
        if total > MAX_BYTES:
            raise ValueError(
                f"merge {rank}, {(left, right)}, makes the tokens longer than {MAX_BYTES} bytes in all"
            )
