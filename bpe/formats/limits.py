"""Limits for the sizes of tokens: a small file with forty merges can describe a token of a terabyte.

A few ids of an untrusted file must not decode to more than fits in memory. So one token of a file has at most
:data:`MAX_TOKEN` bytes, and all tokens that merges make together at most :data:`MAX_BYTES`. Training has no
such limits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bpe.vocabulary.vocabulary import DEFAULT_BYTE_IDS, ORDINARY_TOKEN

MAX_BYTES = 1 << 28
"""Maximal size of all tokens in a vocabulary that is read from a file."""

MAX_TOKEN = ORDINARY_TOKEN
"""Maximal size of one token in a file."""


def check_longest(tokens: Iterable[bytes | str], what: str = "a token") -> None:
    """Raise if a token has more than :data:`MAX_TOKEN` bytes."""
    for token in tokens:
        n_bytes = len(token) if isinstance(token, bytes) else len(token.encode("utf-8", "replace"))
        if n_bytes > MAX_TOKEN:
            raise ValueError(
                f"{what} has {n_bytes} bytes, {token[:100]!r:.21}...; "
                f"the tokens of a file have at most {MAX_TOKEN}"
            )


def check_lengths(
    merges: Sequence[tuple[int, int]],
    byte_ids: Iterable[int] = DEFAULT_BYTE_IDS,
    merged_ids: Iterable[int] | None = None,
    others: Mapping[int, bytes] | None = None,
) -> None:
    """Raise if one token that merges make is longer than :data:`MAX_TOKEN`, or all than :data:`MAX_BYTES`."""
    length_of = {token_id: len(token) for token_id, token in (others or {}).items()}
    length_of.update(dict.fromkeys(byte_ids, 1))
    total, longest, first_long = 0, 0, ""
    made = range(256, 256 + len(merges)) if merged_ids is None else merged_ids
    for rank, ((left, right), token_id) in enumerate(zip(merges, made, strict=True)):
        if left not in length_of or right not in length_of:
            return  # wrong merges are refused elsewhere
        length_of[token_id] = length_of[left] + length_of[right]
        total += length_of[token_id]
        if total > MAX_BYTES:
            raise ValueError(
                f"with merge {rank}, {(left, right)}, all tokens together have more than {MAX_BYTES} bytes"
            )
        if length_of[token_id] > MAX_TOKEN and not first_long:
            first_long, longest = f"merge {rank}, {(left, right)},", length_of[token_id]
    if first_long:
        raise ValueError(
            f"{first_long} makes a token of {longest} bytes; the tokens of a file have at most {MAX_TOKEN}"
        )
