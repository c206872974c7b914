"""Three encoders of one piece, and the decoder.

Merges are given as pairs of ids in the order of their ranks. By default, the id of a byte is its value and
the merge of rank r makes the id 256 + r. For vocabularies with other ids (as GPT-2's, for the bytes), pass
the id of each byte value as `byte_ids` and the id that each rank makes as `new_ids`.

The encoders agree on every vocabulary that a trainer of this package learned. On other vocabularies:

- `encode_by_replay` and `encode_by_rank` agree if each merge comes after the merges that make its two ids,
  and no two merges make the same id. Then a merge creates only pairs of higher rank.
- `encode_by_ranks_of_bytes` agrees with them if, in addition, the bytes of each token encode to that token
  alone. It knows tokens, not merges, and may reach a token by a pair that was never learned.

The encoders do not split text into pieces, and have no special tokens.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from .pairs import Pair, merge_sequence

BYTE_IDS = range(256)  # the id of a byte is its value
NEW_IDS = range(256, sys.maxsize)  # the merge of rank r makes the id 256 + r


def encode_by_replay(
    piece: bytes,
    merges: Iterable[Pair],
    *,
    byte_ids: Sequence[int] = BYTE_IDS,
    new_ids: Sequence[int] = NEW_IDS,
) -> list[int]:
    """Encode a piece as in training: apply every merge, in order, to the whole piece.

    This is the meaning of the merges: the other encoders must give the same result. It does not stop early,
    so its time grows with the vocabulary.

    Parameters
    ----------
    piece : bytes
        A piece of the text, as cut by the split pattern.
    merges : iterable of pairs of int
        (left id, right id) in the order of their ranks.
    byte_ids : sequence of 256 int
        The id of each byte value.
    new_ids : sequence of int
        The id that the merge of each rank makes.

    Returns
    -------
    list of int
        Token ids.

    Complexity
    ----------
    O(K n) for K merges and n bytes.

    Examples
    --------
    >>> encode_by_replay(b"aaabd", [(97, 97), (97, 98), (256, 257)])
    [258, 100]
    """
    ids = [byte_ids[value] for value in piece]
    for rank, pair in enumerate(merges):
        ids = merge_sequence(ids, pair, new_ids[rank])
    return ids


def encode_by_rank(
    piece: bytes,
    ranks: Mapping[Pair, int],
    *,
    byte_ids: Sequence[int] = BYTE_IDS,
    new_ids: Sequence[int] = NEW_IDS,
) -> list[int]:
    """Encode a piece: merge the leftmost adjacent pair of the lowest rank until no pair has a rank.

    This is the rule of GPT-2's encoder. That one merges all occurrences of the pair in one round; here each
    round merges one, and the next round finds the next.

    It does not agree with `encode_by_replay` on every list of merges: see the docstring of the module.

    Parameters
    ----------
    piece : bytes
        A piece of the text, as cut by the split pattern.
    ranks : mapping from pair of int to int
        The rank of each merge, as `rank_pairs` makes it.
    byte_ids : sequence of 256 int
        The id of each byte value.
    new_ids : sequence of int
        The id that the merge of each rank makes.

    Returns
    -------
    list of int
        Token ids.

    Complexity
    ----------
    O(n^2) for n bytes, whatever the number of merges.

    Examples
    --------
    >>> encode_by_rank(b"aaabd", rank_pairs([(97, 97), (97, 98), (256, 257)]))
    [258, 100]
    """
    ids = [byte_ids[value] for value in piece]
    while (lowest := _lowest_rank(ranks.get(pair) for pair in pairwise(ids))) is not None:
        rank, position = lowest
        ids[position : position + 2] = [new_ids[rank]]
    return ids


def encode_by_ranks_of_bytes(piece: bytes, rank_of: Mapping[bytes, int]) -> list[int]:
    """Encode a piece by tiktoken's rule: merge the adjacent parts whose joined bytes have the lowest rank.

    The vocabulary consists of tokens and their ranks, which are also their ids.

    tiktoken first looks up the whole piece, and this function does not. A vocabulary can have tokens that no
    merges lead to: for those, the caller must look up the piece first.

    Parameters
    ----------
    piece : bytes
        A piece of the text, as cut by the split pattern.
    rank_of : mapping from bytes to int
        The rank of each token. It must contain every byte of the piece as a token.

    Returns
    -------
    list of int
        Ranks of the tokens.

    Raises
    ------
    KeyError
        If a byte of the piece is not a token, and is not merged with a neighbor.

    Complexity
    ----------
    O(n^3) for n bytes: n rounds of n lookups of up to n bytes.

    Examples
    --------
    >>> encode_by_ranks_of_bytes(b"aaab", {b"a": 0, b"b": 1, b"aa": 2, b"ab": 3})
    [2, 3]
    """
    parts = [bytes([value]) for value in piece]
    while (lowest := _lowest_rank(rank_of.get(left + right) for left, right in pairwise(parts))) is not None:
        _, position = lowest
        parts[position : position + 2] = [parts[position] + parts[position + 1]]
    return [rank_of[part] for part in parts]


def _lowest_rank(ranks: Iterable[int | None]) -> tuple[int, int] | None:
    """Return the lowest rank and its leftmost position; None if no pair has a rank."""
    return min(((rank, position) for position, rank in enumerate(ranks) if rank is not None), default=None)


def decode(ids: Iterable[int], token_bytes: Mapping[int, bytes] | Sequence[bytes]) -> bytes:
    """Join the bytes of the tokens. They may be invalid UTF-8: tokens can end inside a character.

    Parameters
    ----------
    ids : iterable of int
        Token ids.
    token_bytes : mapping or sequence of bytes
        The bytes of each id, as `vocabulary` returns them.

    Returns
    -------
    bytes

    Complexity
    ----------
    O(n) for n bytes.

    Examples
    --------
    >>> decode([258, 100], vocabulary([(97, 97), (97, 98), (256, 257)]))
    b'aaabd'
    """
    return b"".join(token_bytes[token] for token in ids)


def vocabulary(
    merges: Iterable[Pair],
    *,
    byte_ids: Sequence[int] = BYTE_IDS,
    new_ids: Sequence[int] = NEW_IDS,
) -> dict[int, bytes]:
    """Return the bytes of every token: the 256 bytes, then the tokens of the merges; no special tokens.

    Parameters
    ----------
    merges : iterable of pairs of int
        (left id, right id) in the order of their ranks.
    byte_ids : sequence of 256 int
        The id of each byte value.
    new_ids : sequence of int
        The id that the merge of each rank makes.

    Returns
    -------
    dict from int to bytes

    Raises
    ------
    KeyError
        If a merge uses an id that is neither that of a byte nor made by a merge before it.

    Complexity
    ----------
    O(b) for b bytes in all tokens.

    Examples
    --------
    >>> token_bytes = vocabulary([(97, 98), (256, 99)])
    >>> token_bytes[257], len(token_bytes)
    (b'abc', 258)
    """
    token_bytes = {token: bytes([value]) for value, token in enumerate(byte_ids)}
    for rank, (left, right) in enumerate(merges):
        token_bytes[new_ids[rank]] = token_bytes[left] + token_bytes[right]
    return token_bytes


def rank_pairs(merges: Iterable[Pair]) -> dict[Pair, int]:
    """Return the rank of each pair: its index in the list of merges, the first one for a duplicate.

    It does not check that the ids of the pairs are made by earlier merges.

    Parameters
    ----------
    merges : iterable of pairs of int
        (left id, right id) in the order of their ranks.

    Returns
    -------
    dict from pair of int to int

    Complexity
    ----------
    O(K) for K merges.

    Examples
    --------
    >>> rank_pairs([(97, 98), (256, 99), (97, 98)])
    {(97, 98): 0, (256, 99): 1}
    """
    ranks: dict[Pair, int] = {}
    for rank, pair in enumerate(merges):
        ranks.setdefault(pair, rank)
    return ranks
