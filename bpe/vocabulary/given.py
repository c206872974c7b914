r"""A vocabulary from what users give: merges of ids or of bytes, special tokens with or without ids.

::

    token_bytes       {0: b"<|end|>", 1: b"\x00", ..., 257: b"he", 258: b"hel"}
    merges            [(b"h", b"e"), (b"he", b"l")]      or [(105, 102), (257, 109)]
    special_tokens    ["<|end|>"]                        or {"<|end|>": 0}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from bpe.vocabulary.extras import with_special
from bpe.vocabulary.parts import VocabularyParts
from bpe.vocabulary.vocabulary import Vocabulary, check_id, check_specials, check_tokens

GivenTokens: TypeAlias = Sequence[bytes | None] | Mapping[int, bytes]
GivenMerges: TypeAlias = Iterable[tuple[int, int]] | Iterable[tuple[bytes, bytes]]
GivenSpecials: TypeAlias = Mapping[str, int] | Iterable[str]


def vocabulary_of(token_bytes: GivenTokens, merges: GivenMerges, special_tokens: GivenSpecials) -> Vocabulary:
    """Return a vocabulary.

    Special tokens may be among `token_bytes`. One of these is not a token of ordinary text, unless it is a
    single byte, or a merge names or makes it.
    """
    bytes_of = check_tokens(token_bytes)
    special = with_ids(special_tokens, bytes_of)
    shared = {token_id: token.encode() for token, token_id in special.items()}
    shared = {token_id: token for token_id, token in shared.items() if bytes_of.get(token_id) == token}
    if not shared:
        return Vocabulary(bytes_of, merges, special)
    ordinary = {token_id: token for token_id, token in bytes_of.items() if token_id not in shared}
    ordinary_bytes = {*ordinary.values()}
    shared = {token_id: token for token_id, token in shared.items() if token not in ordinary_bytes}
    vocabulary = Vocabulary({**ordinary, **shared}, merges, special)
    needed = {*vocabulary.pairs.ravel().tolist(), *vocabulary.made.tolist(), *vocabulary.byte_ids}
    if shared.keys() <= needed:
        return vocabulary
    ordinary.update((token_id, token) for token_id, token in shared.items() if token_id in needed)
    return Vocabulary(ordinary, vocabulary.merges, special)


def with_ids(special_tokens: GivenSpecials, bytes_of: Mapping[int, bytes]) -> dict[str, int]:
    """Return special tokens with their ids."""
    if not isinstance(special_tokens, Iterable):
        raise TypeError(
            f"special_tokens must be a list of str, or map str to id, not be {type(special_tokens).__name__}"
        )
    tokens = check_specials(special_tokens)
    if isinstance(special_tokens, Mapping):
        items = special_tokens.items()
        return {token: check_id(token_id, f"the id of special token {token!r}") for token, token_id in items}
    if not tokens:
        return {}
    id_of = {token: token_id for token_id, token in bytes_of.items()}
    ids: dict[str, int] = {}
    next_id = max(bytes_of, default=-1) + 1
    for token in tokens:
        token_id = id_of.get(token.encode(), next_id)
        ids[token] = token_id
        next_id += token_id == next_id
    return ids


def with_special_tokens(vocabulary: Vocabulary, tokens: GivenSpecials) -> Vocabulary:
    """Return a vocabulary with more special tokens, as ``Tokenizer.with_special_tokens`` describes."""
    new = with_ids(tokens, vocabulary.bytes_of)
    for token, token_id in new.items():
        old = vocabulary.special_tokens.get(token, token_id)
        if old != token_id:
            raise ValueError(
                f"special token {token!r:.80} already has id {old}, and cannot get id {token_id}"
            )
    taken = {*new.values()}
    parts = VocabularyParts.of(vocabulary)
    needed = {*parts.pairs.ravel().tolist()}
    more = parts._replace(
        # Single characters stay ordinary tokens: where tokens are texts, merging begins with them.
        others={
            token_id: token
            for token_id, token in parts.others.items()
            if token_id not in taken or token_id in needed or len(token.decode(errors="replace")) == 1
        },
        special_tokens={**parts.special_tokens, **new},
        idle_tokens={token: token_id for token, token_id in parts.idle_tokens.items() if token not in new},
        atomic_ids=tuple(token_id for token_id in parts.atomic_ids if token_id not in taken),
        extras=with_special(parts.extras, new),
    )
    return more.vocabulary()
