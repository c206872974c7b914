"""The three steps that every trainer repeats: count the pairs, pick the best, merge it.

A pair is two adjacent token ids. Pairs are *counted* at every position, overlapping ones too, so `aaa` holds
`(a, a)` twice; they are *merged* from left to right without overlap, so merging it leaves `X a`. A count is
thus an upper bound on the merges a pair will make, and the two rules disagree on runs of one token only.

But: does not know bytes, pieces or ranks, except that one tie rule compares the bytes of tokens.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias

Pair: TypeAlias = tuple[int, int]
Ties: TypeAlias = Literal["smallest", "lexicographic", "first"]


def count_pairs(sequence: Iterable[int], weight: int, into: Counter[Pair]) -> None:
    """Add `weight` to the count of the pair at every position of one sequence.

    But: does not drop pairs whose count falls to 0 when `weight` is negative.

    Parameters
    ----------
    sequence : iterable of int
        Token ids.
    weight : int
        How often the sequence occurs; negative to take it out again.
    into : Counter of pair
        The counts, changed in place.

    Complexity
    ----------
    O(n) for n tokens.

    Examples
    --------
    >>> counts = Counter()
    >>> count_pairs(b"aaab", 10, counts)
    >>> counts
    Counter({(97, 97): 20, (97, 98): 10})
    """
    for pair in pairwise(sequence):
        into[pair] += weight


def pair_statistics(sequences: Iterable[Iterable[int]], piece_counts: Iterable[int]) -> Counter[Pair]:
    """Count every pair of every sequence from scratch: the truth that kept-up-to-date counts must equal.

    But: does not join the sequences; no pair crosses from one into the next.

    Parameters
    ----------
    sequences : iterable of sequences of int
        Token ids, one sequence for each distinct piece.
    piece_counts : iterable of int
        How often each piece occurs, at least 1; as many as there are sequences.

    Returns
    -------
    Counter of pair
        In the order in which the pairs are first met.

    Complexity
    ----------
    O(n) for n tokens in all.

    Examples
    --------
    >>> pair_statistics([[1, 2, 1], [2, 1]], [10, 3])
    Counter({(2, 1): 13, (1, 2): 10})
    """
    counts: Counter[Pair] = Counter()
    for sequence, count in zip(sequences, piece_counts, strict=True):
        count_pairs(sequence, count, counts)
    return counts


def merge_sequence(ids: Sequence[int], pair: Pair, new_id: int) -> list[int]:
    """Replace `pair` by `new_id` wherever it stands, from left to right and without overlap.

    But: does not look at what it has written, so a pair `(x, new_id)` is not merged again.

    Parameters
    ----------
    ids : sequence of int
        Token ids; left as they are.
    pair : tuple of two int
        The adjacent ids to replace.
    new_id : int
        The id to put in their place.

    Returns
    -------
    list of int

    Complexity
    ----------
    O(n) for n tokens.

    Examples
    --------
    >>> merge_sequence([7, 7, 7, 8, 7, 7], (7, 7), 9)
    [9, 7, 8, 9]
    """
    merged = []
    position = 0
    while position < len(ids):
        if tuple(ids[position : position + 2]) == pair:
            merged.append(new_id)
            position += 2
        else:
            merged.append(ids[position])
            position += 1
    return merged


def pick_best(
    counts: Mapping[Pair, int],
    ties: Ties,
    token_bytes: Sequence[bytes],
    sequences: Iterable[Sequence[int]],
) -> Pair:
    """Pick the pair with the greatest count, and among several such pairs the one the tie rule names.

    But: does not ask whether the pair is worth merging, and needs at least one pair to pick from.

    Parameters
    ----------
    counts : mapping from pair to int
        Not empty.
    ties : {"smallest", "lexicographic", "first"}
        The smallest (left id, right id); or the greatest (left bytes, right bytes), compared as Python
        compares bytes, so that of a token and its prefix the token wins; or the pair met first when
        `sequences` are read in order.
    token_bytes : sequence of bytes
        The bytes of each token id. Only "lexicographic" reads them.
    sequences : iterable of sequences of int
        The text as it now stands. Only "first" reads them.

    Returns
    -------
    tuple of two int

    Raises
    ------
    ValueError
        If there is no such tie rule, or no pair.

    Complexity
    ----------
    O(P) for P pairs; "first" adds the length of the text up to the pair.

    Examples
    --------
    >>> counts = {(1, 2): 5, (0, 9): 5, (3, 3): 4}
    >>> token_bytes = [b"%d" % token for token in range(10)]
    >>> pick_best(counts, "smallest", token_bytes, [[1, 2], [0, 9]])
    (0, 9)
    >>> pick_best(counts, "lexicographic", token_bytes, [[1, 2], [0, 9]])
    (1, 2)
    >>> pick_best(counts, "first", token_bytes, [[3, 3, 1, 2], [0, 9]])
    (1, 2)
    """
    greatest = max(counts.values())
    tied = {pair for pair, count in counts.items() if count == greatest}
    if ties == "smallest":
        return min(tied)
    if ties == "lexicographic":
        return max(tied, key=lambda pair: (token_bytes[pair[0]], token_bytes[pair[1]]))
    if ties == "first":
        return next(pair for sequence in sequences for pair in pairwise(sequence) if pair in tied)
    raise ValueError(f"ties must be 'smallest', 'lexicographic' or 'first', not {ties!r}")
