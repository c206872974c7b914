"""Merges out of ranks: a vocabulary of nothing but tokens and their ranks, as tiktoken's.

Its rule of encoding: take a piece that is a token as it is; of any other, merge the adjacent parts whose
bytes together have the lowest rank, again and again. What that makes of the bytes of a token depends on
nothing around them, until the token itself is made; so

1. if the bytes of a token, merged by the ranks of all shorter tokens, end in exactly two parts, then the pair
   of these is the one merge that makes the token: of all the ways to cut it in two, no other ever stands side
   by side. The token's own bytes are merged to it, and it makes no difference to look the piece up first;
2. if they end in more, no merge ever makes the token: only a piece that is the token, byte for byte, is
   encoded to it. It is taken whole (:meth:`bpe.vocabulary.Vocabulary.taking_whole`);
3. so the pairs in the order of the ranks, and the tokens that are taken whole, encode every piece as the
   ranks do.

All tokens are encoded in one call of compiled code (:mod:`bpe.formats.rank_kernels`), shorter ones first;
those of hundreds of bytes each get a linked list and a heap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bpe.vocabulary import Vocabulary

__all__ = ["check_merges_alone", "check_ranks", "merges_of", "unreached"]

_NO_RANKS = np.empty(0, np.int64)


def merges_of(token_bytes: Mapping[int, bytes]) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return the merges that a vocabulary of ranks stands for.

    Parameters
    ----------
    token_bytes : mapping from int to bytes
        The token of every rank; none is empty, no two are the same.

    Returns
    -------
    pairs : (merges, 2) int64
        In the order of the ranks, one for each token that merges make.
    made : (merges,) int64
        The rank of each.
    whole : list of int
        The ranks of tokens that no merge makes, bytes aside.

    Raises
    ------
    ValueError
        A byte has no token.

    Complexity
    ----------
    O(b log m) for b bytes in all tokens and m in the longest.

    Examples
    --------
    >>> tokens = {**{value: bytes([value]) for value in range(256)}, 256: b"he", 257: b"hel", 258: b"you"}
    >>> pairs, made, whole = merges_of(tokens)
    >>> pairs.tolist(), made.tolist(), whole
    ([[104, 101], [256, 108]], [256, 257], [258])
    """
    made, tokens = np.fromiter(token_bytes, np.int64, len(token_bytes)), list(token_bytes.values())
    if (made[1:] <= made[:-1]).any():
        made.sort()
        tokens = list(map(token_bytes.__getitem__, made.tolist()))
    lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
    number_of = {tokens[i]: int(made[i]) for i in np.flatnonzero(lengths == 1).tolist()}
    missing = [value for value in range(256) if bytes([value]) not in number_of]
    if missing:
        raise ValueError(f"byte {missing[0]} has no token: a vocabulary holds every single byte")
    order = np.argsort(lengths, kind="stable")
    parts = np.empty((len(tokens), 2), np.int64)
    n_parts_of = np.empty(len(tokens), np.int64)
    n_parts_of[order], parts[order] = _encode_all(
        list(map(tokens.__getitem__, order.tolist())),
        lengths[order],
        [number_of[bytes([i])] for i in range(256)],
        made,
        order,
    )
    return parts[n_parts_of == 2], made[n_parts_of == 2], made[n_parts_of > 2].tolist()


def unreached(vocabulary: Vocabulary) -> list[int]:
    """Return the tokens whose bytes do not merge to them.

    Parameters
    ----------
    vocabulary : Vocabulary

    Returns
    -------
    list of int
        Their ids, in ascending order.

    Complexity
    ----------
    O(b log m) for b bytes in all tokens and m in the longest.

    Examples
    --------
    >>> unreached(Vocabulary([*(bytes([value]) for value in range(256)), b"hi", b"ho"], [(104, 105)], {}))
    [257]
    """
    tokens = list(vocabulary.id_of)
    lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
    n_parts_of, _ = _encode_all(tokens, lengths, vocabulary.byte_ids, vocabulary.made, pairs=vocabulary.pairs)
    return sorted(vocabulary.id_of[tokens[i]] for i in np.flatnonzero(n_parts_of > 1).tolist())


def _encode_all(
    tokens: Sequence[bytes],
    lengths: np.ndarray,
    byte_ids: Sequence[int],
    id_of_rank: np.ndarray,
    rank_of_token: np.ndarray = _NO_RANKS,
    pairs: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Merge the bytes of tokens; return in how many parts each ends, and the parts of those that end in two.

    Either by `pairs`; or by those that the tokens before it ended in.
    """
    from bpe.encoding.heap_merge import LONG, merge_long
    from bpe.formats.rank_kernels import encode_tokens  # loads the compiler
    from structures import IntMap, MinHeap, TokenList, pack_pair

    offsets = np.zeros(len(tokens) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    data = np.frombuffer(bytearray().join(tokens), np.uint8)
    id_of_byte = np.array(byte_ids, np.int64)
    if pairs is None:
        n_wanted, rank_of_pair = 2, IntMap()
    else:
        n_wanted = 1
        rank_of_pair = IntMap.from_arrays(pairs[:, 0] << 32 | pairs[:, 1], np.arange(len(pairs)))
    n_parts_of, parts = np.empty(len(tokens), np.int64), np.empty((len(tokens), 2), np.int64)
    scratch = np.empty((2, LONG), np.int64)
    token = 0
    while True:
        token = encode_tokens(
            data,
            offsets,
            rank_of_token,
            token,
            n_wanted,
            id_of_byte,
            rank_of_pair,
            id_of_rank,
            n_parts_of,
            parts,
            scratch[0],
            scratch[1],
        )
        if token == len(tokens):
            return n_parts_of, parts
        if token < 0:
            raise MemoryError(f"no memory for the merges of {len(tokens)} tokens")
        piece = id_of_byte[data[offsets[token] : offsets[token + 1]]]
        linked = TokenList(piece, np.array([0, len(piece)]))
        if merge_long(linked, MinHeap(), rank_of_pair, id_of_rank) < 0:
            raise MemoryError(f"no memory to encode a token of {len(piece)} bytes")
        found = linked.to_arrays()[0]
        n_parts_of[token] = len(found)
        if len(found) == n_wanted == 2:
            parts[token] = found
            rank_of_pair[pack_pair(*found.tolist())] = int(rank_of_token[token])
        token += 1


def check_merges_alone(vocabulary: Vocabulary, what: str) -> None:
    """Raise if there are tokens that are taken whole.

    Parameters
    ----------
    vocabulary : Vocabulary
    what : str
        The format that goes by merges alone, for the message.

    Raises
    ------
    ValueError
        There are; the message names the first.

    Complexity
    ----------
    O(1).

    Examples
    --------
    >>> check_merges_alone(Vocabulary([bytes([value]) for value in range(256)], [], {}), "minbpe")
    """
    for number in vocabulary.whole_ids[:1]:
        raise ValueError(
            f"{what} goes by merges alone, and id {number}, {vocabulary.bytes_of[number]!r:.80}, is taken "
            "whole: no merges lead to it. A tokenizer.json holds such tokens"
        )


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
    pairs, _, whole = merges_of({i: token for token, i in vocabulary.id_of.items()})
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
    for number in sorted({*whole} ^ {*vocabulary.whole_ids})[:1]:
        raise ValueError(
            f"{needed_by} keeps the ranks of tokens, not merges, and would "
            f"{'' if number in whole else 'not '}take pieces that are id {number}, "
            f"{vocabulary.bytes_of[number]!r:.80}, whole. A tokenizer.json keeps merges"
        )
