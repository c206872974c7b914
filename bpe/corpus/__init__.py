"""Where text comes from: files, folders, standard input, documents in memory.

Everything is bytes on its way to the pieces, and is read in blocks, so that a corpus need not fit memory::

    sources     paths, folders, globs, documents               :class:`Corpus`
      files       blocks of bytes, decompressed, watched       :mod:`bpe.corpus.reading`
      records     documents of .jsonl and .parquet             :mod:`bpe.corpus.records`
      validity    bytes that are not UTF-8, where they matter  :mod:`bpe.corpus.validity`
    cutting     places that no piece crosses                   :mod:`bpe.boundaries`
    parts       ranges of files to be counted elsewhere        :mod:`bpe.corpus.parts`
"""

from bpe.corpus.reading import BLOCK_BYTES, STDIN, blocks_of
from bpe.corpus.sources import Corpus, CorpusLike

__all__ = ["BLOCK_BYTES", "STDIN", "Corpus", "CorpusLike", "blocks_of"]
