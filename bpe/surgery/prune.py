"""Fewer tokens for a tokenizer: the tokens that a corpus uses least are removed.

A token can be removed if it is not a part of a merge that stays; then it is called a *leaf*. Repeatedly, the
leaf that is used least is removed, and its uses are added to those of the two parts of its first merge, which
replace it from then on. Of leaves that are used equally often, the one with the greatest id is removed first.

::

    merges    l+o -> lo     lo+w -> low     n+e -> ne         uses   lo 1   low 2   ne 4
    removed   low (2)       leaves: low, ne                   then   lo 1 + 2 = 3
              lo (3)        leaves: lo, ne

Single bytes, special and added tokens, tokens to which no text is encoded, and all tokens that a
``tokenizer.json`` names stay; where tokens are texts (SentencePiece), so do all tokens that no merge makes.

1. A merge stays if the token that it makes stays. Then both of its parts stay.
2. So a piece whose old ids all stay is encoded to the same tokens: no merge on its way is missing, as a token
   that is removed is never a part of one that stays. Every other piece is encoded to other tokens for the
   same bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any

import numpy as np

from bpe.corpus import Corpus, CorpusLike
from bpe.counting.clusters import count_words
from bpe.counting.word_counts import WordCounts
from bpe.encoding.streams import encode_blocks
from bpe.encoding.symbols import BYTES
from bpe.support.integers import as_integer
from bpe.vocabulary.extras import ids_in, with_ids
from bpe.vocabulary.parts import VocabularyParts
from bpe.vocabulary.supermerges import refuse_supermerges
from bpe.vocabulary.vocabulary import NO_ID, Vocabulary

if TYPE_CHECKING:
    from bpe.encoding.engine import Engine


GONE = -1  # in place of a new id
MOST_IDS = 1 << 27
"""The most ids of a vocabulary that can be changed: the map of ids has an item for each."""


def id_map(vocabulary: Vocabulary, removed: Container[int] | None = None) -> np.ndarray:
    """Return the new id by old id: (size,) int64, GONE for ids without a token and for those `removed`."""
    if vocabulary.size > MOST_IDS:
        raise ValueError(
            f"the greatest id is {vocabulary.size - 1}: to change tokens, all ids must be below {MOST_IDS}"
        )
    new_id_of = np.full(vocabulary.size, GONE, np.int64)
    if removed is None:
        old = np.fromiter(vocabulary.bytes_of, np.int64, len(vocabulary.bytes_of))
        new_id_of[old] = old
    else:
        remaining = [token_id for token_id in sorted(vocabulary.bytes_of) if token_id not in removed]
        new_id_of[remaining] = np.arange(len(remaining))
    return new_id_of


def uses_in_corpus(engine: Engine, corpus: CorpusLike) -> np.ndarray:
    """Return how often each id is used in a corpus, (size,) int64; special tokens are encoded as such."""
    source = Corpus.of(corpus)
    uses = np.zeros(engine.vocabulary.size, np.int64)
    rules = engine.rules_of("all")
    for number, blocks in enumerate(source.documents()):
        for ids in encode_blocks(engine, blocks, rules, f"{source}, document {number}: text"):
            uses += np.bincount(np.asarray(ids, np.int64), minlength=len(uses))
    if not uses.any():
        raise ValueError(f"the corpus has no text: {source}")
    return uses


def uses_in_words(engine: Engine, counts: WordCounts) -> np.ndarray:
    """Return how often each id is used in counted words: (size,) int64."""
    if not engine.is_lossless:
        raise ValueError("the tokenizer changes a text before it splits it: give text, not counts")
    if engine.pattern != counts.pattern:
        raise ValueError(
            f"the tokenizer splits by {engine.pattern.spec!r}, the counts are of {counts.pattern.spec!r}: "
            "count with the pattern of the tokenizer"
        )
    if not len(counts):
        raise ValueError("the counts have no words")
    data, offsets, n_times = counts.to_arrays()
    uses = np.zeros(engine.vocabulary.size, np.int64)
    ids, id_offsets = engine.encoder.encode_pieces(data.tobytes(), offsets.astype(np.int32), offsets[1:])
    np.add.at(uses, ids, np.repeat(n_times, np.diff(id_offsets)))
    return uses


def pruned(
    engine: Engine,
    corpus: CorpusLike | WordCounts,
    vocab_size: int | None,
    min_count: int | None,
    **counting: Any,
) -> tuple[Vocabulary, np.ndarray]:
    """Remove the tokens that a corpus uses least; return the new vocabulary, and the new id by old id."""
    vocabulary = engine.vocabulary
    refuse_supermerges(vocabulary, "prune")
    n_tokens, least = _checked(len(vocabulary.bytes_of), vocab_size, min_count)
    id_map(vocabulary)  # raises if ids are too great
    uses = _uses(engine, corpus, counting)
    stays = _never_removed(engine)
    removed = least_used(vocabulary, uses.tolist(), stays, len(vocabulary.bytes_of) - n_tokens, least)
    if vocab_size is not None and least is None and len(vocabulary.bytes_of) - len(removed) > n_tokens:
        raise ValueError(
            f"vocab_size must be at least {len(vocabulary.bytes_of) - len(removed)}, not {vocab_size}: "
            "single bytes or characters, special tokens and tokens that other parts of the file name are kept"
        )
    return without(vocabulary, {*removed})


def _uses(engine: Engine, corpus: CorpusLike | WordCounts, counting: dict[str, Any]) -> np.ndarray:
    if not engine.is_lossless and not isinstance(corpus, WordCounts):
        return uses_in_corpus(engine, corpus)
    if not isinstance(corpus, WordCounts):
        specials = [*engine.vocabulary.cut_tokens]
        corpus = count_words(corpus, engine.pattern, specials, **counting)
    return uses_in_words(engine, corpus)


def _checked(n_all: int, vocab_size: int | None, min_count: int | None) -> tuple[int, int | None]:
    """Return the least number of tokens, and the least number of uses of a token that stays, if any."""
    if vocab_size is None and min_count is None:
        raise ValueError("vocab_size, min_count or both are required")
    if min_count is not None and as_integer(min_count, "min_count") < 0:
        raise ValueError(f"min_count must be at least 0, not {min_count}")
    n_tokens = 0 if vocab_size is None else as_integer(vocab_size, "vocab_size")
    if n_tokens < 0:
        raise ValueError(f"vocab_size must be at least 0, not {vocab_size}")
    if n_tokens > n_all:
        raise ValueError(
            f"vocab_size must be at most {n_all}, the present number of tokens, not {vocab_size}"
        )
    return n_tokens, None if min_count is None else int(min_count)


def _never_removed(engine: Engine) -> set[int]:
    """Return the ids that stay in any case."""
    vocabulary = engine.vocabulary
    stays = {
        *vocabulary.byte_ids,
        *vocabulary.cut_tokens.values(),
        *vocabulary.idle_tokens.values(),
        *ids_in(vocabulary.extras),
    }
    options = engine.options
    stays |= {options.unk_id, *options.byte_ids} if options.unk_id is not None else {*options.byte_ids}
    if options != BYTES:  # characters are tokens that no merge makes
        stays |= vocabulary.other_tokens().keys()
    return stays


def least_used(
    vocabulary: Vocabulary, uses: list[int], stays: Collection[int], most: int, min_count: int | None
) -> list[int]:
    """Return at most `most` tokens to remove, in the order of removal.

    Tokens with `min_count` uses or more stay; `uses` is changed.
    """
    pairs_of: dict[int, list[tuple[int, int]]] = {}
    n_needed = [0] * vocabulary.size  # how many remaining merges have this part, by id
    for pair, made in zip(vocabulary.merges, vocabulary.merged_ids, strict=True):
        pairs_of.setdefault(made, []).append(pair)
        for part in pair:
            n_needed[part] += 1
    leaves = [(uses[i], -i) for i in vocabulary.bytes_of if not n_needed[i] and i not in stays]
    heapify(leaves)
    removed: list[int] = []
    while leaves and len(removed) < most:
        count, negative_id = heappop(leaves)
        if min_count is not None and count >= min_count:
            break
        removed.append(-negative_id)
        pairs = pairs_of.get(-negative_id, [])
        for part in pairs[0] if pairs else ():
            uses[part] += count
        for part in (part for pair in pairs for part in pair):
            n_needed[part] -= 1
            if not n_needed[part] and part not in stays:
                heappush(leaves, (uses[part], -part))
    return removed


def new_id(token_id: int, new_id_of: np.ndarray) -> int:
    """Return the new id of an id that a file names; an id without a token stays as it is."""
    is_token = token_id < len(new_id_of) and new_id_of[token_id] != GONE
    return int(new_id_of[token_id]) if is_token else token_id


def without(vocabulary: Vocabulary, removed: Collection[int]) -> tuple[Vocabulary, np.ndarray]:
    """Return a vocabulary without some tokens, and the new id by old id."""
    new_id_of = id_map(vocabulary, removed)
    parts = VocabularyParts.of(vocabulary)
    stays = new_id_of[vocabulary.made] != GONE

    def moved(ids: Mapping[str, int]) -> dict[str, int]:
        return {token: int(new_id_of[token_id]) for token, token_id in ids.items()}

    changes: dict[str, Any] = {
        "pairs": new_id_of[vocabulary.pairs[stays]],
        "made": new_id_of[vocabulary.made[stays]],
        "byte_ids": [
            NO_ID if token_id == NO_ID else int(new_id_of[token_id]) for token_id in vocabulary.byte_ids
        ],
        "others": {int(new_id_of[i]): token for i, token in parts.others.items() if new_id_of[i] != GONE},
        "special_tokens": moved(parts.special_tokens),
        "added_tokens": moved(parts.added_tokens),
        "idle_tokens": moved(parts.idle_tokens),
        "atomic_ids": tuple(int(new_id_of[i]) for i in parts.atomic_ids if new_id_of[i] != GONE),
        "extras": with_ids(parts.extras, lambda token_id: new_id(token_id, new_id_of)),
    }
    return parts._replace(**changes).vocabulary(), new_id_of
