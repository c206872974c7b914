"""``VocabularyParts``: what a vocabulary is made of, without all that follows from it.

Files and pickles hold these parts; there is one way to take a vocabulary apart, and one to put it together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import index
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bpe.vocabulary.extras import without_ids
from bpe.vocabulary.supermerges import refuse_supermerges, with_supermerges
from bpe.vocabulary.vocabulary import DEFAULT_BYTE_IDS, Vocabulary

_NUMBER = np.dtype("<i4")  # an id is below 2**31
Packed: TypeAlias = tuple[Any, ...]  # the fields of VocabularyParts, the arrays as bytes


class VocabularyParts(NamedTuple):
    """The parts of a vocabulary."""

    pairs: np.ndarray
    made: np.ndarray | None
    byte_ids: list[int] | None
    others: Mapping[int, bytes]
    special_tokens: Mapping[str, int]
    whole_ids: tuple[int, ...]
    added_tokens: Mapping[str, int] = MappingProxyType({})
    kept: str = ""
    idle_tokens: Mapping[str, int] = MappingProxyType({})
    n_super: int = 0

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> VocabularyParts:
        """Take a vocabulary apart."""
        counts_on = np.array_equal(vocabulary.made, np.arange(256, 256 + len(vocabulary.made)))
        return cls(
            vocabulary.pairs,
            None if counts_on else vocabulary.made,
            None if vocabulary.byte_ids == DEFAULT_BYTE_IDS else vocabulary.byte_ids,
            vocabulary.other_tokens(),
            vocabulary.special_tokens,
            vocabulary.whole_ids,
            vocabulary.added_tokens,
            vocabulary.kept,
            vocabulary.idle_tokens,
            vocabulary.n_super,
        )

    def vocabulary(self, check: Callable[..., None] | None = None) -> Vocabulary:
        """Put the vocabulary together again."""
        byte_ids = DEFAULT_BYTE_IDS if self.byte_ids is None else self.byte_ids
        for token in {*self.special_tokens} & {*self.added_tokens}:
            raise ValueError(f"{token!r:.80} is a special token and an added one: it can be one of them")
        cut = {**self.special_tokens, **self.added_tokens}
        words = Vocabulary.unfold(self.pairs, cut, byte_ids, self.made, self.others, check)
        words = words.with_added_tokens(self.added_tokens) if self.added_tokens else words
        words = words.with_idle_tokens(self.idle_tokens)
        words = words.keeping(self.kept) if self.kept else words
        words = with_supermerges(words, self.n_super) if self.n_super else words
        return words.taking_whole(self.whole_ids) if self.whole_ids else words


def truncated(words: Vocabulary, vocab_size: int) -> Vocabulary:
    """Return a vocabulary without its last merges; ``Tokenizer.truncated`` says how."""
    refuse_supermerges(words, "truncated")
    n_less = words.size - index(vocab_size)
    n_left = len(words.merges) - n_less
    if not 0 <= n_less <= len(words.merges):
        raise ValueError(
            f"vocab_size must be from {words.size - len(words.merges)} to {words.size}, not {vocab_size}"
        )
    token_bytes = {number: token for token, number in words.id_of.items()}
    end = max(token_bytes) + 1
    if sorted(words.merged_ids[n_left:]) != list(range(end - n_less, end)):
        raise ValueError(f"the last {n_less} merges do not make the last ids, up to {end - 1}")
    for number in words.merged_ids[n_left:]:
        del token_bytes[number]
    special_tokens = {
        token: number - n_less if number >= end else number for token, number in words.cut_tokens.items()
    }
    fewer = Vocabulary(token_bytes, words.merges[:n_left], special_tokens)
    idle_tokens = {t: number - n_less if number >= end else number for t, number in words.idle_tokens.items()}
    fewer = fewer.with_idle_tokens(idle_tokens)
    fewer = fewer.keeping(words.kept if special_tokens == words.cut_tokens else without_ids(words.kept))
    return fewer.with_added_tokens(words.added_tokens).taking_whole(words.whole_ids)


# ------------------------------------------------------------------------------------------- as bytes
def bytes_of_ids(ids: np.ndarray) -> bytes:
    r"""Return ids as 32-bit numbers, little-endian."""
    return ids.astype(_NUMBER).tobytes()


def ids_of_bytes(data: bytes, n_columns: int) -> np.ndarray:
    """Return the ids that :func:`bytes_of_ids` has written."""
    row_bytes = n_columns * _NUMBER.itemsize
    if len(data) % row_bytes:
        raise ValueError(f"cut off: {len(data)} bytes are not of {row_bytes} each")
    return np.frombuffer(data, _NUMBER).astype(np.int64).reshape(-1, n_columns)


def packed(vocabulary: Vocabulary) -> Packed:
    r"""Return the parts of a vocabulary for a pickle: the merges as bytes."""
    parts = VocabularyParts.of(vocabulary)
    made = None if parts.made is None else bytes_of_ids(parts.made)
    n_left_out = next((n for n, last in enumerate(reversed(parts[-4:])) if last), 4)
    n_left_out -= n_left_out == 3  # `kept` is never without `added_tokens` before it
    return (bytes_of_ids(parts.pairs), made, *parts[2 : len(parts) - n_left_out])


def unpacked(parts: Packed) -> Vocabulary:
    """Return the vocabulary that :func:`packed` has taken apart."""
    pairs = ids_of_bytes(parts[0], 2)
    made = None if parts[1] is None else ids_of_bytes(parts[1], 1)[:, 0]
    return VocabularyParts(pairs, made, *parts[2:]).vocabulary()
