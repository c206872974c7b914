"""How often a tokenizer uses each id in a corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bpe.corpus import Corpus, CorpusLike
from bpe.encoding.streams import encode_blocks

if TYPE_CHECKING:
    from bpe.counting.word_counts import WordCounts
    from bpe.encoding.engine import Engine


def uses_in_corpus(engine: Engine, corpus: CorpusLike) -> np.ndarray:
    """Count the ids of a corpus; special tokens in it are special tokens."""
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
    """Count the ids of words, each as often as the word; else as :func:`uses_in_corpus`."""
    if engine.is_prepared:
        raise ValueError("the tokenizer changes a text before it splits it: give it text, not counts")
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
