"""Small corpora, which are counted and learned from in plain Python.

To compile a trainer takes many seconds, and to load it from disk tenths of a second. In less time, the slow
twins of :mod:`bpe.reference` learn the same merges from a few documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

import numpy as np

from bpe.corpus import Corpus
from bpe.pattern import Pattern
from bpe.plain_splitting import plain_splitter
from bpe.reference import learn
from bpe.reference.linked import QueuedPieces
from bpe.special_search import search_for
from bpe.tokenizer import Tokenizer
from bpe.training.start import fresh_start, tokenizer_of

MOST_BYTES = 1 << 18  # of text
MOST_DISTINCT = 1 << 17  # bytes in distinct pieces


def train_on_small(
    corpus: Corpus, vocab_size: int, pattern: Pattern, special_tokens: Collection[str], min_count: int
) -> Tokenizer | None:
    """Train a tokenizer by the default rules, if a corpus is small.

    Parameters
    ----------
    corpus : Corpus
    vocab_size : int
    pattern : Pattern
    special_tokens : collection of str
        Checked.
    min_count : int

    Returns
    -------
    Tokenizer or None
        None if the corpus is not small, holds no text, or can be read only once, or if plain Python does not
        cut by the pattern (:func:`bpe.plain_splitting.plain_splitter`).

    Raises
    ------
    ValueError
        `vocab_size` is too small.
    ValueError, TypeError, OSError, ImportError
        The corpus cannot be read.

    Complexity
    ----------
    O(n log n) for at most :data:`MOST_BYTES`.

    Examples
    --------
    >>> train_on_small(Corpus(["low lower"]), 258, Pattern.of("gpt2"), [], 1).merges
    [(108, 111), (256, 119)]
    """
    start = fresh_start(special_tokens)
    n_merges = start.n_new(vocab_size)
    counts = _counted(corpus, pattern, frozenset(special_tokens))
    if not counts or sum(map(len, counts)) > MOST_DISTINCT:
        return None
    learned = learn(QueuedPieces(counts.items(), "smallest"), n_merges, min_count=min_count)
    return tokenizer_of(start, np.array(learned, np.int64).reshape(-1, 4), pattern)


def _counted(corpus: Corpus, pattern: Pattern, specials: frozenset[str]) -> Counter[bytes] | None:
    """Return the pieces of a corpus with their counts; None if it is not small."""
    split = plain_splitter(pattern)
    if split is None or not corpus.is_lasting:
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
