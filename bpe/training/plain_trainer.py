"""Training on a small corpus in plain Python.

Compiling the trainer takes many seconds, loading it from disk tenths of a second. In less time, the
algorithms of :mod:`bpe.reference` learn the same merges from a few documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bpe.corpus import Corpus
from bpe.reference import learn
from bpe.reference.linked import QueuedPieces
from bpe.splitting.pattern import Pattern, plain_splitter
from bpe.splitting.special_search import search_for
from bpe.training.options import Options
from bpe.training.start import fresh_start
from bpe.vocabulary.vocabulary import Vocabulary

MOST_BYTES = 1 << 20  # of text
MOST_DISTINCT_BYTES = 1 << 17  # of distinct pieces


class LearnedSmall(NamedTuple):
    """The vocabulary learned from a small corpus, and the size of the corpus."""

    vocabulary: Vocabulary
    size: tuple[int, int, int]  # distinct pieces, pieces and bytes


def learn_small(
    corpus: Corpus,
    pattern: Pattern,
    special_tokens: Collection[str],
    n_merges: int,
    options: Options,
) -> LearnedSmall | None:
    """Learn the vocabulary of a corpus; None if it is not small, or options but `min_count` are set."""
    if replace(options, min_count=1) != Options():
        return None
    counts = _counted(corpus, pattern, frozenset(special_tokens))
    if not counts or sum(map(len, counts)) > MOST_DISTINCT_BYTES:
        return None
    learned = learn(QueuedPieces(counts.items(), "smallest"), n_merges, min_count=options.least())
    vocabulary = fresh_start(special_tokens).vocabulary(np.array(learned, np.int64).reshape(-1, 4))
    n_bytes = sum(len(piece) * count for piece, count in counts.items())
    return LearnedSmall(vocabulary, (len(counts), counts.total(), n_bytes))


def _counted(corpus: Corpus, pattern: Pattern, specials: frozenset[str]) -> Counter[bytes] | None:
    """Return the pieces of a corpus with their counts; None if it is not small."""
    split = plain_splitter(pattern)
    if split is None or not corpus.is_lasting or (corpus.n_bytes or 0) > MOST_BYTES:
        return None
    documents, n_bytes = list[bytes](), 0
    for document in corpus.documents():
        blocks = []
        for block in document:
            n_bytes += len(block)
            if n_bytes > MOST_BYTES:
                return None
            blocks.append(block)
        documents.append(b"".join(blocks))
    counts: Counter[bytes] = Counter()
    search = search_for(specials)
    for data in documents:
        for part in search.split(data)[::2]:
            counts.update(split(part))
    return counts
