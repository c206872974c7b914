"""``Start``: the vocabulary that training starts from."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bpe.pipeline.engine import has_pipeline
from bpe.support.integers import as_integer
from bpe.training.options import Options
from bpe.vocabulary.extras import without_ids
from bpe.vocabulary.vocabulary import ALPHABETS, MAX_ID, NO_ID, Vocabulary

if TYPE_CHECKING:
    from bpe.counting.word_counts import WordCounts
    from bpe.splitting.pattern import Pattern

_MOST_IDS_RESUMED = 1 << 27
"""The most ids of a vocabulary that training resumes from."""


class Start(NamedTuple):
    """A vocabulary to which training adds tokens."""

    byte_ids: list[int]  # by byte value
    merges: list[tuple[int, int]]
    merged_ids: list[int]  # by rank
    other_tokens: dict[int, bytes]
    special_tokens: dict[str, int]
    next_id: int  # of the first new token; ids from here on move behind the new tokens
    added_tokens: Collection[str] = ()
    extras: str = ""
    left_out: frozenset[int] = frozenset()  # byte values outside of the alphabet

    def n_new(self, vocab_size: int) -> int:
        """Return how many new tokens make a vocabulary of this size; a ValueError if it is out of range."""
        vocab_size = as_integer(vocab_size, "vocab_size")
        size = max(self.next_id, 1 + max(self.special_tokens.values(), default=-1))
        if vocab_size < size:
            n_bytes = 256 - len(self.left_out)
            what = "existing tokens" if self.merges else f"{n_bytes} bytes"
            raise ValueError(
                f"vocab_size must be at least {size} ({what} and {len(self.special_tokens)} special tokens), "
                f"not {vocab_size}"
            )
        if vocab_size > MAX_ID:
            raise ValueError(f"vocab_size must be at most {MAX_ID}, not {vocab_size}")
        return vocab_size - size

    def vocabulary(self, log: np.ndarray) -> Vocabulary:
        """Return the vocabulary of a :attr:`bpe.Trainer.log`, which begins with the merges of the start."""
        n_new = len(log) - len(self.merges)

        def id_after(token_id: int) -> int:
            """Return the id that a token of the start has once there are the new tokens."""
            return token_id + n_new if token_id >= self.next_id else token_id

        specials = {token: id_after(token_id) for token, token_id in self.special_tokens.items()}
        byte_ids = [id_after(token_id) for token_id in self.byte_ids]
        pairs, made = log[:, :2].copy(), log[:, 2].copy()
        vocabulary = Vocabulary.of_merges(pairs, specials, byte_ids, made, self.other_tokens)
        return vocabulary.replace(added_tokens=self.added_tokens, extras=self.extras)


def fresh_start(
    special_tokens: Collection[str],
    options: Options = Options(),  # noqa: B008  # it never changes
    left_out: frozenset[int] = frozenset(),
) -> Start:
    """Return a start with the 256 bytes and the special tokens."""
    order, special_first = ALPHABETS[options.alphabet], options.special_first
    alphabet = [value for value in order if value not in left_out]
    others = [value for value in order if value in left_out]
    first: list[int | str] = [*special_tokens, *alphabet] if special_first else [*alphabet, *special_tokens]
    id_of = {token: token_id for token_id, token in enumerate([*first, *others])}
    return Start(
        byte_ids=[id_of[value] for value in range(len(order))],
        merges=[],
        merged_ids=[],
        other_tokens={},
        special_tokens={token: id_of[token] for token in special_tokens},
        next_id=len(alphabet) + (len(special_tokens) if special_first else 0),
        left_out=left_out,
    )


def start_from(
    vocabulary: Vocabulary,
    pattern: Pattern,
    counts: WordCounts,
    keep_ids: bool,
    left_out: frozenset[int] = frozenset(),
) -> Start:
    """Return a start with the vocabulary of a tokenizer, to resume from."""
    if NO_ID in vocabulary.byte_ids or has_pipeline(vocabulary):
        raise ValueError(
            "training resumes from tokenizers that have a token for every byte and do nothing to a text but "
            "split it: this one comes from a file of another kind"
        )
    if pattern != counts.pattern:
        raise ValueError(
            f"the tokenizer splits by {pattern.spec!r}, the counts are of {counts.pattern.spec!r}: "
            "count with the pattern of the tokenizer"
        )
    if set(vocabulary.cut_tokens) != set(counts.special_tokens):
        raise ValueError(
            f"the tokenizer has the special tokens {sorted(vocabulary.cut_tokens)}, the counts "
            f"{sorted(counts.special_tokens)}: count with those of the tokenizer"
        )
    for token_id in vocabulary.atomic_ids[:1]:
        raise ValueError(
            f"id {token_id}, {vocabulary.bytes_of[token_id]!r:.80}, is taken whole, as no merges make it: "
            "training cannot resume from such tokens"
        )
    rank_of: dict[int, int] = {}
    for rank, token_id in enumerate(vocabulary.merged_ids):
        if token_id in rank_of:
            raise ValueError(
                f"merges {rank_of[token_id]} and {rank} make the same id {token_id}: training never does so"
            )
        rank_of[token_id] = rank
    for rank, pair in enumerate(vocabulary.merges):
        for token_id in pair:
            if rank_of.get(token_id, -1) >= rank:
                raise ValueError(
                    f"merge {rank}, {pair}, uses id {token_id}, which merge {rank_of[token_id]} makes: "
                    "training never does so"
                )
    if vocabulary.size > _MOST_IDS_RESUMED:
        raise ValueError(
            f"the greatest id is {vocabulary.size - 1}: to train, all ids must be below {_MOST_IDS_RESUMED}"
        )
    value_of = {vocabulary.byte_ids[value]: value for value in left_out}
    for rank, pair in enumerate(vocabulary.merges):
        for token_id in value_of.keys() & pair:
            raise ValueError(
                f"merge {rank}, {pair}, requires {bytes([value_of[token_id]])!r}, which the alphabet leaves "
                "out: add it to initial_alphabet, or raise limit_alphabet"
            )
    others = vocabulary.other_tokens()
    alphabet_ids = [token_id for token_id in vocabulary.byte_ids if token_id not in value_of]
    last = max((*alphabet_ids, *vocabulary.merged_ids, *others), default=-1)
    moves = not keep_ids and max(vocabulary.cut_tokens.values(), default=-1) > last
    return Start(
        vocabulary.byte_ids,
        vocabulary.merges,
        vocabulary.merged_ids,
        others,
        vocabulary.cut_tokens,
        vocabulary.size if keep_ids else last + 1,
        tuple(vocabulary.added_tokens),
        without_ids(vocabulary.extras) if moves else vocabulary.extras,
        left_out,
    )
