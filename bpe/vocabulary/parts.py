"""``VocabularyParts``: the parts that a vocabulary is made of, without what can be derived from them.

Files and pickles hold these parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bpe.support.integers import as_integer
from bpe.vocabulary.extras import without_ids
from bpe.vocabulary.supermerges import refuse_supermerges
from bpe.vocabulary.vocabulary import DEFAULT_BYTE_IDS, Vocabulary

_ID = np.dtype("<i4")  # an id is below 2**31
Packed: TypeAlias = tuple[Any, ...]  # the fields of VocabularyParts, the arrays as bytes


class VocabularyParts(NamedTuple):
    """The parts of a vocabulary."""

    pairs: np.ndarray
    made: np.ndarray | None  # None: 256, 257, ...
    byte_ids: list[int] | None  # None: the id of each byte is its value
    others: Mapping[int, bytes]
    special_tokens: Mapping[str, int]
    atomic_ids: tuple[int, ...]
    added_tokens: Mapping[str, int] = MappingProxyType({})
    extras: str = ""
    idle_tokens: Mapping[str, int] = MappingProxyType({})
    n_super: int = 0

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> VocabularyParts:
        """Take a vocabulary apart."""
        is_usual = np.array_equal(vocabulary.made, np.arange(256, 256 + len(vocabulary.made)))
        return cls(
            vocabulary.pairs,
            None if is_usual else vocabulary.made,
            None if vocabulary.byte_ids == DEFAULT_BYTE_IDS else vocabulary.byte_ids,
            vocabulary.other_tokens(),
            vocabulary.special_tokens,
            vocabulary.atomic_ids,
            vocabulary.added_tokens,
            vocabulary.extras,
            vocabulary.idle_tokens,
            vocabulary.n_super,
        )

    def vocabulary(self, check: Callable[..., None] | None = None) -> Vocabulary:
        """Put the vocabulary together again; `check` is as for :meth:`Vocabulary.of_merges`."""
        byte_ids = DEFAULT_BYTE_IDS if self.byte_ids is None else self.byte_ids
        for token in {*self.special_tokens} & {*self.added_tokens}:
            raise ValueError(f"{token!r:.80} is both a special token and an added one: it can be only one")
        cut = {**self.special_tokens, **self.added_tokens}
        plain = Vocabulary.of_merges(self.pairs, cut, byte_ids, self.made, self.others, check)
        return plain.replace(
            added_tokens=self.added_tokens,
            idle_tokens=self.idle_tokens,
            atomic_ids=self.atomic_ids,
            n_super=self.n_super,
            extras=self.extras,
        )


def with_vocab_size(vocabulary: Vocabulary, vocab_size: int) -> Vocabulary:
    """Return a vocabulary without its last merges, as ``Tokenizer.with_vocab_size`` describes."""
    refuse_supermerges(vocabulary, "with_vocab_size")
    n_merges, size = len(vocabulary.merges), vocabulary.size
    n_less = size - as_integer(vocab_size, "vocab_size")
    if not 0 <= n_less <= n_merges:
        raise ValueError(f"vocab_size must be from {size - n_merges} to {size}, not {vocab_size}")
    token_bytes = {token_id: token for token, token_id in vocabulary.id_of.items()}
    end = max(token_bytes) + 1
    last = vocabulary.merged_ids[n_merges - n_less :]
    if sorted(last) != list(range(end - n_less, end)):
        raise ValueError(f"the last {n_less} merges do not make the last ids, up to {end - 1}")
    for token_id in last:
        del token_bytes[token_id]

    def moved(tokens: Mapping[str, int]) -> dict[str, int]:
        return {token: i - n_less if i >= end else i for token, i in tokens.items()}

    cut_tokens, extras = moved(vocabulary.cut_tokens), vocabulary.extras
    fewer = Vocabulary(token_bytes, vocabulary.merges[: n_merges - n_less], cut_tokens)
    return fewer.replace(
        added_tokens=vocabulary.added_tokens,
        idle_tokens=moved(vocabulary.idle_tokens),
        atomic_ids=vocabulary.atomic_ids,
        extras=extras if cut_tokens == vocabulary.cut_tokens else without_ids(extras),
    )


# ------------------------------------------------------------------------------------------- as bytes
def bytes_of_ids(ids: np.ndarray) -> bytes:
    """Return ids as 32-bit numbers, little-endian."""
    return ids.astype(_ID).tobytes()


def ids_of_bytes(data: bytes, n_columns: int) -> np.ndarray:
    """Return ids, ``(n, n_columns) int64``, from :func:`bytes_of_ids`."""
    row_bytes = n_columns * _ID.itemsize
    if len(data) % row_bytes:
        raise ValueError(f"cut off: {len(data)} bytes are not a whole number of rows of {row_bytes} bytes")
    return np.frombuffer(data, _ID).astype(np.int64).reshape(-1, n_columns)


def packed(vocabulary: Vocabulary) -> Packed:
    """Return the parts of a vocabulary for a pickle, with the arrays as bytes."""
    parts = VocabularyParts.of(vocabulary)
    made = None if parts.made is None else bytes_of_ids(parts.made)
    return (bytes_of_ids(parts.pairs), made, *parts[2:])


def unpacked(parts: Packed) -> Vocabulary:
    """Return the vocabulary of parts from :func:`packed`."""
    pairs = ids_of_bytes(parts[0], 2)
    made = None if parts[1] is None else ids_of_bytes(parts[1], 1)[:, 0]
    return VocabularyParts(pairs, made, *parts[2:]).vocabulary()
