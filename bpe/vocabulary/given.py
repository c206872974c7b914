r"""What people give as a vocabulary: merges of ids or of bytes, special tokens with ids or without.

::

    token_bytes       {0: b"<|end|>", 1: b"\x00", ..., 257: b"he", 258: b"hel"}
    merges            [(b"h", b"e"), (b"he", b"l")]      or [(105, 102), (257, 109)]
    special_tokens    ["<|end|>"]                        or {"<|end|>": 0}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from bpe.splitting.specials import check_specials
from bpe.vocabulary.extras import with_special
from bpe.vocabulary.parts import VocabularyParts
from bpe.vocabulary.vocabulary import Vocabulary
from bpe.vocabulary_checks import check_id, check_tokens

GivenTokens: TypeAlias = Sequence[bytes | None] | Mapping[int, bytes]
GivenMerges: TypeAlias = Iterable[tuple[int, int]] | Iterable[tuple[bytes, bytes]]
GivenSpecials: TypeAlias = Mapping[str, int] | Iterable[str]


def vocabulary_of(token_bytes: GivenTokens, merges: GivenMerges, special_tokens: GivenSpecials) -> Vocabulary:
    """Return the vocabulary of what was given.

    Special tokens may be among the tokens. There they are not tokens of ordinary text, unless they are single
    bytes, or merges name or make them.
    """
    bytes_of = check_tokens(token_bytes)
    special = numbered(special_tokens, bytes_of)
    shared = {number: token.encode() for token, number in special.items()}
    shared = {number: token for number, token in shared.items() if bytes_of.get(number) == token}
    if not shared:
        return Vocabulary(bytes_of, merges, special)
    ordinary = {number: token for number, token in bytes_of.items() if number not in shared}
    has_two_ids = {*ordinary.values()}
    shared = {number: token for number, token in shared.items() if token not in has_two_ids}
    words = Vocabulary({**ordinary, **shared}, merges, special)
    needed = {*words.pairs.ravel().tolist(), *words.made.tolist(), *words.byte_ids}
    if shared.keys() <= needed:
        return words
    ordinary.update((number, token) for number, token in shared.items() if number in needed)
    return Vocabulary(ordinary, words.merges, special)


def numbered(special_tokens: GivenSpecials, bytes_of: Mapping[int, bytes]) -> dict[str, int]:
    """Return special tokens with their ids."""
    if not isinstance(special_tokens, Iterable):
        kind = type(special_tokens).__name__
        raise TypeError(f"special_tokens must be a list of str, or map str to id, not be {kind}")
    tokens = check_specials(special_tokens)
    if isinstance(special_tokens, Mapping):
        items = special_tokens.items()
        return {token: check_id(number, f"the id of special token {token!r}") for token, number in items}
    if not tokens:
        return {}
    id_of = {token: number for number, token in bytes_of.items()}
    ids: dict[str, int] = {}
    next_id = max(bytes_of, default=-1) + 1
    for token in tokens:
        number = id_of.get(token.encode(), next_id)
        ids[token] = number
        next_id += number == next_id
    return ids


def with_special_tokens(words: Vocabulary, tokens: GivenSpecials) -> Vocabulary:
    """Return a vocabulary with more special tokens; ``Tokenizer.with_special_tokens`` says how."""
    new = numbered(tokens, words.bytes_of)
    for token, number in new.items():
        old = words.special_tokens.get(token, number)
        if old != number:
            raise ValueError(f"special token {token!r:.80} has id {old} already, and cannot get id {number}")
    taken = {*new.values()}
    parts = VocabularyParts.of(words)
    needed = {*parts.pairs.ravel().tolist()}
    more = parts._replace(
        # Characters stay tokens of ordinary text: where tokens are texts, merging begins with them.
        others={
            number: token
            for number, token in parts.others.items()
            if number not in taken or number in needed or len(token.decode(errors="replace")) == 1
        },
        special_tokens={**words.special_tokens, **new},
        idle_tokens={token: number for token, number in words.idle_tokens.items() if token not in new},
        whole_ids=tuple(number for number in words.whole_ids if number not in taken),
        kept=with_special(words.kept, new),
    )
    return more.vocabulary()
