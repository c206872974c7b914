"""Merges out of ranks: a vocabulary of nothing but tokens and their ranks, as tiktoken's.

Its rule of encoding: take a piece that is a token as it is; of any other, merge the adjacent parts whose
bytes together have the lowest rank, again and again. Let every token be such that this, with the ranks
below its own alone, ends in exactly two parts. Then

1. the pair of these parts is the one merge that makes the token: of all the ways to cut the token in two,
   the others never stand side by side, as what happens inside the token's bytes does not depend on what is
   around them;
2. the token's own bytes encode to the token, so that it makes no difference to look the piece up first;
3. so the pairs in the order of the ranks, which is what :class:`bpe.vocabulary.Vocabulary` goes by, encode
   every piece as the ranks do.

A token that does not end in two parts is refused: merges alone would never, or not always, give it.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from itertools import pairwise

from bpe.vocabulary import Vocabulary

__all__ = ["check_ranks", "encode", "merges_of"]

_LONG = 64  # from here on a heap is faster than looking through all pairs
_SAME = range(2**31)


def merges_of(token_bytes: Mapping[int, bytes]) -> list[tuple[int, int]]:
    """Return the merges that a vocabulary of ranks stands for.

    Parameters
    ----------
    token_bytes : mapping from int to bytes
        The token of every rank.

    Returns
    -------
    list of (int, int)
        In the order of the ranks, one for each token of more than one byte.

    Raises
    ------
    ValueError
        A byte has no token, or a token does not come of two others; the message names it.

    Complexity
    ----------
    O(b log m) for b bytes in all tokens and m in the longest.

    Examples
    --------
    >>> merges_of({**{value: bytes([value]) for value in range(256)}, 256: b"he", 257: b"hel"})
    [(104, 101), (256, 108)]
    """
    byte_ids: list[int] = [-1] * 256
    for rank, token in token_bytes.items():
        if len(token) == 1:
            byte_ids[token[0]] = rank
    if -1 in byte_ids:
        raise ValueError(f"byte {byte_ids.index(-1)} has no token: a vocabulary holds every single byte")
    merged: dict[tuple[int, int], int] = {}
    for rank in sorted(token_bytes):
        token = token_bytes[rank]
        if len(token) == 1:
            continue
        # All ranks in `merged` are below this one, so that its own merge is not found.
        parts = encode([byte_ids[value] for value in token], merged)
        if len(parts) != 2:
            raise ValueError(
                f"the token of rank {rank}, {token!r:.80}, is reached by no merge: the ranks below it cut it "
                f"into {len(parts)} parts, not 2. Remove it, or make it a special token"
            )
        merged[parts[0], parts[1]] = rank
    return list(merged)


def encode(ids: list[int], rank_of: Mapping[tuple[int, int], int], made: Sequence[int] = _SAME) -> list[int]:
    """Merge the adjacent pair of the lowest rank, the leftmost first, until none has one; in plain Python.

    Parameters
    ----------
    ids : list of int
        Changed.
    rank_of : mapping from (int, int) to int
    made : sequence of int
        The id that each rank makes; by default, the rank is the id.

    Returns
    -------
    list of int

    Complexity
    ----------
    O(n log n) for n ids.

    Examples
    --------
    >>> encode([97, 97, 97, 98], {(97, 97): 0, (97, 98): 1}, [256, 257])
    [256, 257]
    """
    if len(ids) >= _LONG:
        return _encode_long(ids, rank_of, made)
    get = rank_of.get
    ranks = [get(pair) for pair in pairwise(ids)]
    while True:
        lowest, place = None, 0
        for i, rank in enumerate(ranks):
            if rank is not None and (lowest is None or rank < lowest):
                lowest, place = rank, i
        if lowest is None:
            return ids
        ids[place : place + 2] = [made[lowest]]
        del ranks[place]
        if place < len(ranks):
            ranks[place] = get((ids[place], ids[place + 1]))
        if place > 0:
            ranks[place - 1] = get((ids[place - 1], ids[place]))


def _encode_long(ids: list[int], rank_of: Mapping[tuple[int, int], int], made: Sequence[int]) -> list[int]:
    n = len(ids)
    before, behind = list(range(-1, n - 1)), [*range(1, n), -1]
    heap = [(rank_of[pair], place) for place, pair in enumerate(pairwise(ids)) if pair in rank_of]
    heapq.heapify(heap)
    while heap:
        rank, place = heapq.heappop(heap)
        right = behind[place]
        if ids[place] < 0 or right < 0 or rank_of.get((ids[place], ids[right])) != rank:
            continue  # one of the two has been merged since
        ids[place], ids[right] = made[rank], -1
        behind[place] = behind[right]
        if behind[place] >= 0:
            before[behind[place]] = place
        for left in (before[place], place):
            if left >= 0 and behind[left] >= 0 and (pair := (ids[left], ids[behind[left]])) in rank_of:
                heapq.heappush(heap, (rank_of[pair], left))
    return [number for number in ids if number >= 0]


def check_ranks(vocabulary: Vocabulary, needed_by: str) -> None:
    """Raise unless the ids of a vocabulary are ranks: taken as such, they give its merges back.

    Parameters
    ----------
    vocabulary : Vocabulary
    needed_by : str
        What keeps nothing but ranks, for the message.

    Raises
    ------
    ValueError
        They are not; the message names the first token where they differ.

    Complexity
    ----------
    As :func:`merges_of`.

    Examples
    --------
    >>> words = Vocabulary([*(bytes([value]) for value in range(256)), b"hi"], [(104, 105)], {})
    >>> check_ranks(words, "a rank file")
    """
    try:
        merges: Sequence[tuple[int, int]] = merges_of({i: token for token, i in vocabulary.id_of.items()})
    except ValueError as error:
        raise ValueError(f"{needed_by} keeps the ranks of tokens, not merges: {error}") from None
    for rank, (ours, theirs) in enumerate(zip(vocabulary.merges, merges, strict=False)):
        if ours != theirs:
            raise ValueError(
                f"{needed_by} keeps the ranks of tokens, not merges, and would turn merge {rank}, {ours}, "
                f"into {theirs}. A tokenizer.json keeps merges"
            )
    if len(vocabulary.merges) != len(merges):
        raise ValueError(
            f"{needed_by} keeps the ranks of tokens, not merges: {len(vocabulary.merges)} merges would "
            f"become {len(merges)}. A tokenizer.json keeps merges"
        )
