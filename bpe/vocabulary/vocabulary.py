"""The vocabulary of a tokenizer: bytes of ids, merges in the order of ranks, special and added tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from typing import Any, Literal, TypeAlias

import numpy as np

from bpe.unfolding import assemble, is_ordinary
from bpe.vocabulary_checks import (
    check_id,
    check_merges,
    check_special_tokens,
    check_tokens,
    report_same_bytes,
)

DEFAULT_BYTE_IDS = list(range(256))
NO_ID = -1
_FOUND = ("pairs", "made", "whole_ids")

Alphabet: TypeAlias = Literal["bytes", "gpt2"]

# Printable characters of ASCII and Latin-1, except spaces and the soft hyphen; GPT-2 numbers them first.
_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]

ALPHABETS: dict[str, list[int]] = {
    "bytes": DEFAULT_BYTE_IDS,
    "gpt2": [*_PRINTABLE, *(value for value in range(256) if value not in _PRINTABLE)],
}
"""Name of an alphabet -> the 256 byte values in the order of their ids."""


class Vocabulary:
    """Tokens and merges, checked; never changes.

    There are three kinds of tokens: single bytes, tokens that merges make, and tokens that no merge makes. A
    merge makes the token whose bytes are those of its two parts together, so no two ids may have the same
    bytes; but a special token may have the id of the token with its bytes. A byte may have no token: a text
    with it cannot be encoded then.
    """

    assemble = staticmethod(assemble)

    merges: list[tuple[int, int]]
    merged_ids: list[int]
    bytes_of: dict[int, bytes]
    id_of: dict[bytes, int]
    whole_ids: tuple[int, ...]
    kept = ""
    n_super = 0
    _others: Mapping[int, bytes]  # to make `bytes_of` at its first use
    _find: Callable[[Vocabulary], None]  # to make what `finding` has left out at its first use

    def __init__(
        self,
        token_bytes: Sequence[bytes | None] | Mapping[int, bytes],
        merges: Iterable[tuple[int, int]] | Iterable[tuple[bytes, bytes]],
        special_tokens: Mapping[str, int],
    ) -> None:
        bytes_of = check_tokens(token_bytes)
        id_of = {token: number for number, token in bytes_of.items()}
        if len(id_of) < len(bytes_of):
            report_same_bytes(bytes_of)
        pairs, made = check_merges(merges, bytes_of, id_of)
        self._set_whole(bytes_of, id_of, pairs, made, special_tokens)

    def _set(
        self, pairs: np.ndarray, made: np.ndarray, ids: np.ndarray, special_tokens: Mapping[str, int]
    ) -> None:
        """Set the attributes that are not made at their first use.

        `ids` are those of all tokens except the special ones.
        """
        self.pairs, self.made, self.whole_ids = pairs, made, ()
        self.added_tokens: dict[str, int] = {}
        self.idle_tokens: dict[str, int] = {}
        self.special_tokens: dict[str, int] = {}  # for an error message
        self.special_tokens = check_special_tokens(special_tokens, ids, lambda number: self.bytes_of[number])
        if "bytes_of" in vars(self):  # given, or made for the check
            self.bytes_of.update((number, token.encode()) for token, number in self.special_tokens.items())
        self.size = max(int(ids.max(initial=0)), *self.special_tokens.values(), 0) + 1

    def _set_whole(
        self,
        bytes_of: dict[int, bytes],
        id_of: dict[bytes, int],
        pairs: np.ndarray,
        made: np.ndarray,
        special_tokens: Mapping[str, int],
    ) -> None:
        self.bytes_of, self.id_of = bytes_of, id_of
        self.byte_ids = [id_of.get(bytes([value]), NO_ID) for value in range(256)]
        self._set(pairs, made, np.fromiter(bytes_of, np.int64, len(bytes_of)), special_tokens)

    def __getattr__(self, name: str) -> Any:
        """Make the lists and dicts at their first use, in any thread."""
        if name == "merges":
            value: Any = list(zip(*self.pairs.T.tolist(), strict=True))
        elif name == "merged_ids":
            value = self.made.tolist()
        elif name in _FOUND and "_find" in vars(self):
            self._find(self)
            value = vars(self)[name]
        elif name in ("bytes_of", "id_of"):
            bytes_of = {number: bytes([value]) for value, number in enumerate(self.byte_ids)}
            bytes_of.update(self._others)
            lefts, rights = self.pairs.T.tolist()
            for left, right, number in zip(lefts, rights, self.made.tolist(), strict=True):
                bytes_of[number] = bytes_of[left] + bytes_of[right]
            self.__dict__.setdefault("id_of", {token: number for number, token in bytes_of.items()})
            uncut = {**self.idle_tokens, **self.cut_tokens}
            bytes_of.update((number, token.encode()) for token, number in uncut.items())
            self.__dict__.setdefault("bytes_of", bytes_of)
            value = self.__dict__[name]
        else:
            raise AttributeError(f"a Vocabulary has no attribute {name!r}")
        return self.__dict__.setdefault(name, value)

    @classmethod
    def of_parts(
        cls,
        bytes_of: dict[int, bytes],
        id_of: dict[bytes, int],
        pairs: np.ndarray,
        made: np.ndarray,
        special_tokens: Mapping[str, int],
    ) -> Vocabulary:
        """Return a vocabulary of tokens and merges that are known to fit together."""
        self = cls.__new__(cls)
        self._set_whole(bytes_of, id_of, pairs, made, special_tokens)
        return self

    @classmethod
    def of_merges(
        cls,
        pairs: np.ndarray,
        special_tokens: Mapping[str, int],
        byte_ids: Sequence[int] = DEFAULT_BYTE_IDS,
        made: np.ndarray | None = None,
        others: Mapping[int, bytes] | None = None,
    ) -> Vocabulary | None:
        """Return the vocabulary that merges unfold to, quickly, if it is an ordinary one."""
        made = np.arange(256, 256 + len(pairs)) if made is None else made
        others = others or {}
        ids = np.concatenate([np.array([*byte_ids, *others], np.int64), made])
        if not is_ordinary(pairs, ids, [*(bytes([value]) for value in range(256)), *others.values()]):
            return None
        self = cls.__new__(cls)
        self.byte_ids, self._others = [*byte_ids], others
        self._set(pairs, made, ids, special_tokens)
        return self

    @classmethod
    def unfold(
        cls,
        pairs: np.ndarray,
        special_tokens: Mapping[str, int],
        byte_ids: Sequence[int] = DEFAULT_BYTE_IDS,
        made: np.ndarray | None = None,
        others: Mapping[int, bytes] | None = None,
        check: Callable[..., None] | None = None,
    ) -> Vocabulary:
        """Return the vocabulary that merges unfold to, ordinary or not."""
        words = cls.of_merges(pairs, special_tokens, byte_ids, made, others)
        if words is not None:
            return words
        merges = list(zip(*pairs.T.tolist(), strict=True))
        recipe = (merges, byte_ids, None if made is None else made.tolist(), others)
        if check is not None:
            check(*recipe)
        return cls(cls.assemble(*recipe), merges, special_tokens)

    @property
    def cut_tokens(self) -> dict[str, int]:
        """Special and added tokens -> their ids: what is no part of a piece."""
        return {**self.special_tokens, **self.added_tokens}

    def with_added_tokens(self, tokens: Iterable[str]) -> Vocabulary:
        """Return this vocabulary with some of the special tokens as added ones, which need not be allowed."""
        added = {*tokens}
        words = copy(self)
        words.special_tokens = {t: i for t, i in self.cut_tokens.items() if t not in added}
        words.added_tokens = {t: i for t, i in self.cut_tokens.items() if t in added}
        return words

    def with_idle_tokens(self, tokens: Mapping[str, int]) -> Vocabulary:
        """Return this vocabulary with tokens that no text is encoded to: their ids can only be decoded.

        Some files have such tokens: an empty one, or one whose bytes are those of another.
        """
        if not tokens:
            return self
        bytes_of = dict(self.bytes_of)
        for token, number in tokens.items():
            number = check_id(number, f"the id of {token!r:.80}")
            if number in bytes_of:
                raise ValueError(f"{token!r:.80} has id {number}, the id of token {bytes_of[number]!r:.80}")
            bytes_of[number] = token.encode()
        words = copy(self)
        words.bytes_of, words.idle_tokens = bytes_of, {**self.idle_tokens, **tokens}
        words.size = max(self.size, *(number + 1 for number in tokens.values()))
        return words

    def keeping(self, kept: str) -> Vocabulary:
        """Return this vocabulary together with what a file held besides."""
        words = copy(self)
        words.kept = kept
        return words

    def taking_whole(self, ids: Iterable[int]) -> Vocabulary:
        """Return this vocabulary with tokens that are taken whole: looked up before anything is merged.

        A piece with exactly the bytes of such a token is encoded to it, whatever its merges make of it.
        Inside a longer piece, only merges make tokens. tiktoken reaches tokens that no merge makes like this,
        and so does Hugging Face with ``ignore_merges``.
        """
        whole_ids = tuple(sorted({*ids}))
        for number in whole_ids:
            if self.id_of.get(self.bytes_of.get(number, b"")) != number:
                raise ValueError(f"id {number} is that of no token that could be looked up")
        words = copy(self)
        words.whole_ids = whole_ids
        return words

    def finding(self, find: Callable[[Vocabulary], None], *names: str) -> Vocabulary:
        """Return this vocabulary with attributes that are found at their first use."""
        words = copy(self)
        words._find = find
        for name in names:
            delattr(words, name)
        return words

    def is_found(self, name: str) -> bool:
        """Say whether an attribute is there, and is not one that :meth:`finding` finds at its first use."""
        return name in vars(self)

    def forget_tokens(self) -> None:
        """Release the dicts of all tokens; they are made again of bytes and merges when needed."""
        self._others = {}
        for name in ("bytes_of", "id_of"):
            vars(self).pop(name, None)

    def other_tokens(self) -> dict[int, bytes]:
        """Return the tokens that are not single bytes and that no merge makes before they are first used."""
        known = {*self.byte_ids}
        others: dict[int, bytes] = {}
        for pair, merged in zip(self.merges, self.merged_ids, strict=True):
            others.update((number, self.bytes_of[number]) for number in pair if number not in known)
            known.update((*pair, merged))
        others.update((number, token) for token, number in self.id_of.items() if number not in known)
        return others
