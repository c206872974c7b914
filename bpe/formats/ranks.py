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

All tokens are encoded in one call of compiled code (:mod:`bpe.formats.rank_kernels`); those of hundreds of
bytes each get a linked list and a heap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bpe.vocabulary import Vocabulary

__all__ = ["check_ranks", "merges_of", "unreached"]

_NO_PAIRS = np.empty((0, 2), np.int64)


def merges_of(token_bytes: Mapping[int, bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Return the merges that a vocabulary of ranks stands for.

    Parameters
    ----------
    token_bytes : mapping from int to bytes
        The token of every rank; none is empty, no two are the same.

    Returns
    -------
    pairs : (merges, 2) int64
        In the order of the ranks, one for each token of more than one byte.
    made : (merges,) int64
        The rank of each.

    Raises
    ------
    ValueError
        A byte has no token, or a token does not come of two others; the message names it.

    Complexity
    ----------
    O(b log m) for b bytes in all tokens and m in the longest.

    Examples
    --------
    >>> pairs, made = merges_of({**{value: bytes([value]) for value in range(256)}, 256: b"he", 257: b"hel"})
    >>> pairs.tolist(), made.tolist()
    ([[104, 101], [256, 108]], [256, 257])
    """
    numbers = sorted(token_bytes)
    tokens = list(map(token_bytes.__getitem__, numbers))
    made = np.array(numbers, np.int64)
    is_byte = np.fromiter(map(len, tokens), np.int64, len(tokens)) == 1
    number_of = {tokens[i]: numbers[i] for i in np.flatnonzero(is_byte).tolist()}
    missing = [value for value in range(256) if bytes([value]) not in number_of]
    if missing:
        raise ValueError(f"byte {missing[0]} has no token: a vocabulary holds every single byte")
    parts = np.empty((len(tokens), 2), np.int64)
    failed = _encode_all(tokens, [number_of[bytes([value])] for value in range(256)], made, parts=parts)
    if failed is not None:
        token, n_parts = failed
        raise ValueError(
            f"the token of rank {numbers[token]}, {tokens[token]!r:.80}, is reached by no merge: the ranks "
            f"below it cut it into {n_parts} parts, not 2. Remove it, or make it a special token"
        )
    return parts[~is_byte], made[~is_byte]


def unreached(vocabulary: Vocabulary) -> bytes | None:
    """Return the first token whose bytes do not encode to it, None where there is none.

    Parameters
    ----------
    vocabulary : Vocabulary

    Returns
    -------
    bytes or None

    Complexity
    ----------
    O(b log m) for b bytes in all tokens and m in the longest.

    Examples
    --------
    >>> unreached(Vocabulary([*(bytes([value]) for value in range(256)), b"hi", b"ho"], [(104, 105)], {}))
    b'ho'
    """
    tokens = list(vocabulary.id_of)
    failed = _encode_all(tokens, vocabulary.byte_ids, vocabulary.made, pairs=vocabulary.pairs)
    return None if failed is None else tokens[failed[0]]


def _encode_all(
    tokens: Sequence[bytes],
    byte_ids: Sequence[int],
    id_of_rank: np.ndarray,
    pairs: np.ndarray = _NO_PAIRS,
    parts: np.ndarray | None = None,
) -> tuple[int, int] | None:
    """Encode tokens; return the first that does not end as it should, and in how many parts it does.

    Either by `pairs`, to one part each; or by those that the tokens before it ended in, to two `parts` each,
    which are written there.
    """
    from bpe.formats.rank_kernels import encode_tokens  # loads the compiler
    from bpe.merging import LONG, merge_long
    from structures import IntMap, MinHeap, TokenList, pack_pair

    offsets = np.zeros(len(tokens) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, tokens), np.int64, len(tokens)), out=offsets[1:])
    data = np.frombuffer(bytearray().join(tokens), np.uint8)
    id_of_byte = np.array(byte_ids, np.int64)
    if parts is None:
        n_wanted, parts = 1, _NO_PAIRS
        rank_of_pair = IntMap.from_arrays(pairs[:, 0] << 32 | pairs[:, 1], np.arange(len(pairs)))
    else:
        n_wanted, rank_of_pair = 2, IntMap()
    ids, ranks = np.empty(LONG, np.int64), np.empty(LONG, np.int64)
    token = 0
    while True:
        token = encode_tokens(
            data, offsets, token, n_wanted, id_of_byte, rank_of_pair, id_of_rank, parts, ids, ranks
        )
        if token == len(tokens):
            return None
        if token < 0:
            raise MemoryError(f"no memory for the merges of {len(tokens)} tokens")
        piece = id_of_byte[data[offsets[token] : offsets[token + 1]]]
        linked = TokenList(piece, np.array([0, len(piece)]))
        if merge_long(linked, MinHeap(), rank_of_pair, id_of_rank) < 0:
            raise MemoryError(f"no memory to encode a token of {len(piece)} bytes")
        found = linked.to_arrays()[0]
        if len(found) != n_wanted:
            return token, len(found)
        if n_wanted == 2:
            parts[token] = found
            rank_of_pair[pack_pair(*found.tolist())] = token
        token += 1


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
        pairs, _ = merges_of({i: token for token, i in vocabulary.id_of.items()})
    except ValueError as error:
        raise ValueError(f"{needed_by} keeps the ranks of tokens, not merges: {error}") from None
    ours, n = vocabulary.pairs, min(len(vocabulary.pairs), len(pairs))
    for rank in np.flatnonzero((ours[:n] != pairs[:n]).any(axis=1))[:1]:
        raise ValueError(
            f"{needed_by} keeps the ranks of tokens, not merges, and would turn merge {rank}, "
            f"{(*ours[rank].tolist(),)}, into {(*pairs[rank].tolist(),)}. A tokenizer.json keeps merges"
        )
    if len(ours) != len(pairs):
        raise ValueError(
            f"{needed_by} keeps the ranks of tokens, not merges: {len(ours)} merges would "
            f"become {len(pairs)}. A tokenizer.json keeps merges"
        )
