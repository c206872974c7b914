"""Corpora encoded to files of ids.

::

    encode      a corpus: cut, encoded on threads, written      :mod:`bpe.id_files.encode`
    output      the files while they are written                :mod:`bpe.id_files.output`
    checkpoint  the progress, so that a killed run resumes      :mod:`bpe.id_files.checkpoint`
    formats     bin, npy, nanoGPT, Megatron, Parquet, Arrow     :mod:`bpe.id_files.formats`
    tables      the last two                                    :mod:`bpe.id_files.tables`
    shards      each file by itself, here or on a cluster       :mod:`bpe.id_files.shards`
"""
