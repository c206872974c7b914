"""Merges from ranks, for vocabularies that hold only tokens and their ranks, as tiktoken's do.

Such a vocabulary encodes like this: a piece that is a token becomes that token. In any other piece, merge the
two adjacent parts whose bytes together have the lowest rank; repeat. What this makes of the bytes of a token
depends only on these bytes, until the token itself is made. So:

1. Merge the bytes of a token by the ranks of all shorter tokens. If exactly two parts are left, this pair is
   the one merge that makes the token: no other two parts of it ever become neighbors. Then its bytes merge
   to the token, and it makes no difference whether the piece is looked up first.
2. If more parts are left, no merge ever makes the token. Only a piece with exactly its bytes is encoded to
   it: the token is atomic (:attr:`bpe.vocabulary.vocabulary.Vocabulary.atomic_ids`).
3. So the pairs, in the order of the ranks, and the atomic tokens encode every piece as the ranks do.

Compiled code (:mod:`bpe.formats.rank_kernels`) merges all tokens in one call, shorter ones first.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bpe.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from bpe.encoding.kernels.linked_pieces import LinkedPieces, Ranks


def merges_of(id_of: Mapping[bytes, int]) -> tuple[np.ndarray, np.ndarray, tuple[int, ...]]:
    """Return the merges that follow from the ranks of tokens, the ids they make, and the atomic ids."""
    from bpe.encoding.kernels.linked_pieces import Ranks
    from bpe.formats.rank_kernels import find_merges  # loads the compiler

    _check_bytes(id_of)
    made, tokens = np.fromiter(id_of.values(), np.int64, len(id_of)), list(id_of)
    if (made[1:] <= made[:-1]).any():
        by_rank = np.argsort(made)
        made, tokens = made[by_rank], list(map(tokens.__getitem__, by_rank.tolist()))
    lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
    order = np.argsort(lengths, kind="stable")
    byte_ids = [id_of[bytes([value])] for value in range(256)]
    ranks = Ranks.of(np.empty((0, 2), np.int64), made, byte_ids)  # no merges are known yet
    by_length = list(map(tokens.__getitem__, order.tolist()))
    pieces, data, offsets = _pieces_of(by_length, lengths[order], ranks)
    found, n_found = np.empty((len(tokens), 2), np.int64), np.empty(len(tokens), np.int64)
    if find_merges(pieces, data, offsets, order, n_found, found) < 0:
        raise MemoryError(f"no memory for the merges of {len(tokens)} tokens")
    parts, n_parts_of = np.empty_like(found), np.empty_like(n_found)
    parts[order], n_parts_of[order] = found, n_found
    return parts[n_parts_of == 2], made[n_parts_of == 2], tuple(made[n_parts_of > 2].tolist())


def _check_bytes(id_of: Mapping[bytes, int]) -> None:
    for value in range(256):
        if bytes([value]) not in id_of:
            raise ValueError(f"byte {value} has no token: every single byte must have one")


def vocabulary_of_ranks(
    bytes_of: dict[int, bytes], id_of: dict[bytes, int], special_tokens: Mapping[str, int]
) -> Vocabulary:
    """Return the vocabulary of tokens and their ranks, which are their ids.

    The merges are computed at their first use: some texts can be encoded without them.
    """
    _check_bytes(id_of)
    no_merges = np.empty((0, 2), np.int64), np.empty(0, np.int64)
    vocabulary = Vocabulary.of_tokens(bytes_of, id_of, *no_merges, special_tokens)
    return vocabulary.finding(("pairs", "made", "atomic_ids"), lambda vocabulary: merges_of(vocabulary.id_of))


def unreached(vocabulary: Vocabulary) -> list[int]:
    """Return the ids of the tokens whose bytes do not merge to them."""
    from bpe.encoding.kernels.linked_pieces import Ranks
    from bpe.formats.rank_kernels import merge_tokens  # loads the compiler

    tokens = list(vocabulary.id_of)
    lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
    ranks = Ranks.of(vocabulary.pairs, vocabulary.made, vocabulary.byte_ids)
    pieces, data, offsets = _pieces_of(tokens, lengths, ranks)
    n_parts_of = np.empty(len(tokens), np.int64)
    merge_tokens(pieces, data, offsets, n_parts_of)
    return sorted(vocabulary.id_of[tokens[i]] for i in np.flatnonzero(n_parts_of > 1).tolist())


def with_atomic_ids(vocabulary: Vocabulary) -> Vocabulary:
    """Return a vocabulary in which all tokens that merges do not reach are atomic, as with ``ignore_merges``.

    They are computed at their first use.
    """
    return vocabulary.finding(("atomic_ids",), lambda vocabulary: (tuple(unreached(vocabulary)),))


def _pieces_of(
    tokens: Sequence[bytes], lengths: np.ndarray, ranks: Ranks
) -> tuple[LinkedPieces, np.ndarray, np.ndarray]:
    """Return working memory to merge tokens by a heap, the bytes of all tokens, and their offsets."""
    from bpe.encoding.kernels.linked_pieces import new_pieces

    offsets = np.zeros(len(tokens) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    data = np.frombuffer(bytearray().join(tokens), np.uint8)
    return new_pieces(int(lengths.max()), ranks._replace(in_order=False)), data, offsets


def check_no_atomic(vocabulary: Vocabulary, what: str) -> None:
    """Raise a ValueError if the vocabulary has atomic tokens."""
    for token_id in vocabulary.atomic_ids[:1]:
        raise ValueError(
            f"{what} has only tokens that merges make: no merges lead to id {token_id}, "
            f"{vocabulary.bytes_of[token_id]!r:.80}. A tokenizer.json holds such tokens"
        )


def check_no_added(vocabulary: Vocabulary, what: str) -> None:
    """Raise a ValueError if the vocabulary has added tokens, which the format would make special tokens."""
    for token, token_id in [*vocabulary.added_tokens.items()][:1]:
        raise ValueError(
            f"{what} cannot say that id {token_id}, {token!r:.80}, is an added token, not a special one. "
            "A tokenizer.json can"
        )


def check_no_idle(vocabulary: Vocabulary, what: str, but: Collection[str] = ()) -> None:
    """Raise a ValueError if the vocabulary has idle tokens, except those in `but`."""
    for token, token_id in [item for item in vocabulary.idle_tokens.items() if item[0] not in but][:1]:
        raise ValueError(
            f"{what} cannot hold id {token_id}, {token!r:.80}, which no text is encoded to. "
            "A tokenizer.json can"
        )


def check_ranks(vocabulary: Vocabulary, needed_by: str) -> None:
    """Raise a ValueError unless the merges of a vocabulary follow from its ids as ranks."""
    pairs, _, atomic_ids = merges_of(vocabulary.id_of)
    ours, n = vocabulary.pairs, min(len(vocabulary.pairs), len(pairs))
    for rank in np.flatnonzero((ours[:n] != pairs[:n]).any(axis=1))[:1]:
        raise ValueError(
            f"{needed_by} holds the ranks of tokens, not merges, and would turn merge {rank}, "
            f"{(*ours[rank].tolist(),)}, into {(*pairs[rank].tolist(),)}. A tokenizer.json holds merges"
        )
    if len(ours) != len(pairs):
        raise ValueError(
            f"{needed_by} holds the ranks of tokens, not merges: {len(ours)} merges would "
            f"become {len(pairs)}. A tokenizer.json holds merges"
        )
    for token_id in sorted({*atomic_ids} ^ {*vocabulary.atomic_ids})[:1]:
        raise ValueError(
            f"{needed_by} holds the ranks of tokens, not merges, and would "
            f"{'' if token_id in atomic_ids else 'not '}encode a piece with the bytes of id {token_id}, "
            f"{vocabulary.bytes_of[token_id]!r:.80}, to this id. A tokenizer.json holds merges"
        )
