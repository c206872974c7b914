"""Where text comes from: files, folders, standard input, documents in memory.

All text is read as bytes, in blocks, so that a corpus can be larger than the memory::

    sources     paths, folders, globs, documents               :class:`Corpus`
      reading     blocks of bytes, decompressed       :mod:`bpe.corpus.reading`
      records     documents of .jsonl and .parquet             :mod:`bpe.corpus.records`
      validity    bytes that are not UTF-8     :mod:`bpe.corpus.validity`
    parts       ranges of files that are counted separately    :mod:`bpe.corpus.parts`
"""

from bpe.corpus.reading import STDIN
from bpe.corpus.sources import Corpus, CorpusLike

__all__ = ["STDIN", "Corpus", "CorpusLike"]
