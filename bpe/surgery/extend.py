"""More tokens for a tokenizer, learned from other text; every id stays.

Training resumes from the merges of the tokenizer, as in :meth:`bpe.Trainer.resume`. In addition:

* Tokens that are taken whole are left out of the words: a piece that is one of them has no pairs.
* The pipeline of the tokenizer, such as NFC, is applied to the text first, and kept.
* Tokens to which no text is encoded keep their ids.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from bpe.corpus import CorpusLike
from bpe.counting.clusters import count_words
from bpe.counting.word_counts import WordCounts
from bpe.encoding.symbols import BYTES
from bpe.splitting.pattern import Pattern
from bpe.support.integers import as_integer
from bpe.surgery.prune import id_map
from bpe.training.learner import Training
from bpe.training.options import Options
from bpe.training.start import start_from
from bpe.vocabulary.supermerges import refuse_supermerges
from bpe.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from bpe.encoding.engine import Engine


def extended(
    engine: Engine, corpus: CorpusLike | WordCounts, n: int, options: Options, **counting: Any
) -> tuple[Vocabulary, np.ndarray]:
    """Learn `n` more tokens from a corpus; return the new vocabulary, and the new id by old id."""
    vocabulary, pattern, n = engine.vocabulary, engine.pattern, as_integer(n, "n")
    if n < 0:
        raise ValueError(f"n must be at least 0, not {n}")
    refuse_supermerges(vocabulary, "extend")
    new_id_of = id_map(vocabulary)
    progress = counting.get("progress", False)
    counts = corpus if isinstance(corpus, WordCounts) else _counted(engine, corpus, counting)
    whole = {vocabulary.bytes_of[token_id] for token_id in vocabulary.atomic_ids}
    if whole:
        counts = counts.filter(lambda word, count: word not in whole)
    plain = vocabulary.replace(extras="", atomic_ids=(), added_tokens=())
    training = Training(counts, start_from(plain, pattern, counts, keep_ids=True), options)
    training.run(len(vocabulary.pairs) + n, progress)
    n_learned = training.n_done - len(vocabulary.pairs)
    if n_learned < n:
        raise ValueError(f"the text gives {n_learned} more tokens, not {n}: ask for fewer, or give more text")
    more = training.vocabulary()
    more = more.replace(
        added_tokens=vocabulary.added_tokens,
        idle_tokens=vocabulary.idle_tokens,
        atomic_ids=vocabulary.atomic_ids,
        extras=vocabulary.extras,
    )
    return more, new_id_of


def _counted(engine: Engine, corpus: CorpusLike, counting: dict[str, Any]) -> WordCounts:
    """Count the pieces of a corpus after the pipeline of the tokenizer."""
    specials = [*engine.vocabulary.cut_tokens]
    if engine.options != BYTES:
        raise ValueError(
            "a tokenizer can be extended if its tokens are bytes: those of this one are texts, or stand for "
            "the end of a word, as in files of SentencePiece"
        )
    texts: Any = engine.normalized(corpus)
    if engine.splits_by_pattern:
        return count_words(texts, engine.pattern, specials, **counting)
    counts = Counter(texts)
    parts = count_words(counts, Pattern.of("none"), specials)  # words are cut at special tokens
    return WordCounts(
        {word: counts[word] for word in parts if word in counts},
        pattern=engine.pattern,
        special_tokens=specials,
    )
