"""Fewer tokens for a tokenizer: those that a corpus needs least are removed.

A token can be removed if no merge that stays has it as a part: a *leaf*. Again and again, the leaf that is
used least is removed, and its uses are counted for the two parts of its first merge, which stand in its place
from then on. Among leaves that are used equally often, the greatest id goes first.

::

    merges    l+o -> lo     lo+w -> low     n+e -> ne         uses   lo 1   low 2   ne 4
    removed   low (2)       leaves: low, ne                   then   lo 1 + 2 = 3
              lo (3)        leaves: lo, ne

Single bytes, special and added tokens, tokens that no text is encoded to, and all that a ``tokenizer.json``
names stay; where tokens are texts (SentencePiece), all that no merge makes, too.

1. A merge stays if the token that it makes does. Both of its parts stay then.
2. So a piece whose old ids all stay is encoded to the same tokens: no merge on its way is missing, as a token
   that is removed is never a part of one that stays. Every other piece is encoded to other tokens for the
   same bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from heapq import heapify, heappop, heappush
from operator import index
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bpe.counting.word_counts import WordCounts
from bpe.encoding.symbols import BYTES
from bpe.encoding.uses import uses_in_corpus, uses_in_words
from bpe.surgery.id_maps import GONE, id_map
from bpe.vocabulary.extras import ids_in, with_ids
from bpe.vocabulary.parts import VocabularyParts
from bpe.vocabulary.supermerges import refuse_supermerges
from bpe.vocabulary.vocabulary import NO_ID, Vocabulary

if TYPE_CHECKING:
    from bpe.corpus import CorpusLike
    from bpe.encoding.engine import Engine
    from bpe.pipeline.engine import PreparedEngine


def pruned(
    engine: Engine,
    corpus: CorpusLike | WordCounts,
    vocab_size: int | None,
    min_count: int | None,
    **counting: Any,
) -> tuple[Vocabulary, np.ndarray]:
    """Remove the tokens that a corpus needs least."""
    words = engine.vocabulary
    refuse_supermerges(words, "prune")
    n_tokens, least = _checked(len(words.bytes_of), vocab_size, min_count)
    id_map(words)  # refuses ids that are too great
    uses = _uses(engine, corpus, counting)
    stays = _never_removed(engine)
    removed = least_used(words, uses.tolist(), stays, len(words.bytes_of) - n_tokens, least)
    if vocab_size is not None and least is None and len(words.bytes_of) - len(removed) > n_tokens:
        raise ValueError(
            f"vocab_size must be at least {len(words.bytes_of) - len(removed)}, not {vocab_size}: "
            "single bytes, special tokens and what the file names stay"
        )
    return without(words, {*removed})


def _uses(engine: Engine, corpus: CorpusLike | WordCounts, counting: dict[str, Any]) -> np.ndarray:
    if engine.is_prepared and not isinstance(corpus, WordCounts):
        return uses_in_corpus(engine, corpus)
    if not isinstance(corpus, WordCounts):
        specials = [*engine.vocabulary.cut_tokens]
        corpus = WordCounts.from_corpus(corpus, engine.pattern, specials, **counting)
    return uses_in_words(engine, corpus)


def _checked(n_all: int, vocab_size: int | None, min_count: int | None) -> tuple[int, int | None]:
    """Return how many tokens stay at least, and how often those are used that are not removed."""
    if vocab_size is None and min_count is None:
        raise ValueError("say what to remove: give vocab_size, min_count, or both")
    if min_count is not None and index(min_count) < 0:
        raise ValueError(f"min_count must be at least 0, not {min_count}")
    n_tokens = 0 if vocab_size is None else index(vocab_size)
    if n_tokens < 0:
        raise ValueError(f"vocab_size must be at least 0, not {vocab_size}")
    if n_tokens > n_all:
        raise ValueError(f"vocab_size must be at most {n_all}, the tokens that there are, not {vocab_size}")
    return n_tokens, None if min_count is None else index(min_count)


def _never_removed(engine: Engine) -> set[int]:
    """Return the ids that stay, whatever a corpus says."""
    words = engine.vocabulary
    stays = {*words.byte_ids, *words.cut_tokens.values(), *words.idle_tokens.values(), *ids_in(words.kept)}
    if engine.is_prepared:
        options = cast("PreparedEngine", engine).preparation.options
        stays |= {options.unk_id, *options.byte_ids} if options.unk_id is not None else {*options.byte_ids}
        if options != BYTES:  # characters are spelled by tokens that no merge makes
            stays |= words.other_tokens().keys()
    return stays


def least_used(
    words: Vocabulary, uses: list[int], stays: Collection[int], most: int, min_count: int | None
) -> list[int]:
    """Return the tokens to remove, in the order of their removal."""
    pairs_of: dict[int, list[tuple[int, int]]] = {}
    n_needed = [0] * words.size  # merges that stay with this part
    for pair, made in zip(words.merges, words.merged_ids, strict=True):
        pairs_of.setdefault(made, []).append(pair)
        for part in pair:
            n_needed[part] += 1
    leaves = [(uses[i], -i) for i in words.bytes_of if not n_needed[i] and i not in stays]
    heapify(leaves)
    removed: list[int] = []
    while leaves and len(removed) < most:
        count, number = heappop(leaves)
        if min_count is not None and count >= min_count:
            break
        removed.append(-number)
        pairs = pairs_of.get(-number, [])
        for part in pairs[0] if pairs else ():
            uses[part] += count
        for part in (part for pair in pairs for part in pair):
            n_needed[part] -= 1
            if not n_needed[part] and part not in stays:
                heappush(leaves, (uses[part], -part))
    return removed


def new_id(number: int, new_id_of: np.ndarray) -> int:
    """Return the new id of one that a file names; that of no token stays as it is."""
    is_token = number < len(new_id_of) and new_id_of[number] != GONE
    return int(new_id_of[number]) if is_token else number


def without(words: Vocabulary, removed: Collection[int]) -> tuple[Vocabulary, np.ndarray]:
    """Return a vocabulary without some tokens, and the new id of each old one."""
    new_id_of = id_map(words, removed)
    parts = VocabularyParts.of(words)
    stays = new_id_of[words.made] != GONE

    def moved(ids: Mapping[str, int]) -> dict[str, int]:
        return {token: int(new_id_of[number]) for token, number in ids.items()}

    changes: dict[str, Any] = {
        "pairs": new_id_of[words.pairs[stays]],
        "made": new_id_of[words.made[stays]],
        "byte_ids": [NO_ID if number == NO_ID else int(new_id_of[number]) for number in words.byte_ids],
        "others": {int(new_id_of[i]): token for i, token in parts.others.items() if new_id_of[i] != GONE},
        "special_tokens": moved(parts.special_tokens),
        "added_tokens": moved(parts.added_tokens),
        "idle_tokens": moved(parts.idle_tokens),
        "whole_ids": tuple(int(new_id_of[i]) for i in parts.whole_ids if new_id_of[i] != GONE),
        "kept": with_ids(parts.kept, lambda number: new_id(number, new_id_of)),
    }
    return parts._replace(**changes).vocabulary(), new_id_of
