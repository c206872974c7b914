"""The three steps that every trainer repeats: count the pairs, pick the best, merge it.

A pair is two adjacent token ids. Pairs are *counted* at every position, also where they overlap: `aaa` has
`(a, a)` twice. They are *merged* from left to right without overlap: merging it leaves `X a`. So the count of
a pair is an upper bound for the number of its merges, and differs from it in runs of one token only.

Only two tie rules compare the bytes of tokens; apart from them, this module knows ids only.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias, TypeVar

Pair: TypeAlias = tuple[int, int]
Token = TypeVar("Token")  # an id, or the bytes of a token
Ties: TypeAlias = Literal["smallest", "lexicographic", "first", "gpt2"]
LengthRule: TypeAlias = Literal["at_most", "huggingface"]

# The order of the bytes in GPT-2's alphabet: those that print come first.
PRINTABLE = {*range(33, 127), *range(161, 173), *range(174, 256)}
IN_GPT2_ORDER = sorted(range(256), key=lambda value: (value not in PRINTABLE, value))
GPT2_RANKS = bytes(sorted(range(256), key=IN_GPT2_ORDER.__getitem__))  # for bytes.translate


def count_pairs(sequence: Iterable[int], weight: int, into: Counter[Pair]) -> None:
    """Add `weight` to the count of the pair at every position of one sequence.

    A pair is kept if a negative `weight` reduces its count to 0.

    Parameters
    ----------
    sequence : iterable of int
        Token ids.
    weight : int
        How often the sequence occurs; negative to remove it again.
    into : Counter of pair
        The counts. They are changed in place.

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
    """Count every pair of every sequence from scratch; no pair crosses from one sequence into the next.

    Parameters
    ----------
    sequences : iterable of sequences of int
        Token ids, one sequence for each distinct piece.
    piece_counts : iterable of int
        How often each piece occurs, at least 1; one count for each sequence.

    Returns
    -------
    Counter of pair
        In the order of first occurrence.

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


def merge_sequence(ids: Sequence[Token], pair: tuple[Token, Token], new_id: Token) -> list[Token]:
    """Replace every occurrence of `pair` by `new_id`, from left to right and without overlap.

    The result is not searched again.

    Parameters
    ----------
    ids : sequence of int
        Token ids. They are not changed.
    pair : tuple of two int
        The adjacent ids to replace.
    new_id : int
        The id that replaces them.

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
    """Pick the pair with the greatest count; among several such pairs, the tie rule decides.

    Parameters
    ----------
    counts : mapping from pair to int
        Not empty.
    ties : {"smallest", "lexicographic", "first", "gpt2"}
        "smallest" picks the smallest (left id, right id). "lexicographic" picks the greatest (left bytes,
        right bytes), compared as Python compares bytes: a token is greater than its prefix. "first" picks the
        pair that occurs first when `sequences` are read in order. "gpt2" compares as "lexicographic", but
        the characters that stand for the bytes in GPT-2's alphabet.
    token_bytes : sequence of bytes
        The bytes of each token id. Only "lexicographic" and "gpt2" read them.
    sequences : iterable of sequences of int
        The current text. Only "first" reads it.

    Returns
    -------
    tuple of two int

    Raises
    ------
    ValueError
        If the tie rule is unknown, or there is no pair.

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
    if ties == "gpt2":
        return max(tied, key=lambda pair: [token_bytes[token].translate(GPT2_RANKS) for token in pair])
    if ties == "first":
        return next(pair for sequence in sequences for pair in pairwise(sequence) if pair in tied)
    raise ValueError(f"ties must be 'smallest', 'lexicographic', 'first' or 'gpt2', not {ties!r}")
