"""What a ``tokenizer.json`` does to a text around its merges.

::

    text --> added tokens --> normalizer --> pre-tokenizer --> merges --> post-processor --> ids
    ids --> tokens --> decoder --> text

* :mod:`bpe.pipeline.added_tokens`: tokens that are cut out of a text, before it is normalized and after
* :mod:`bpe.pipeline.normalizers`: text to text
* :mod:`bpe.pipeline.pre_tokenizers`: text to pieces, which no token crosses
* :mod:`bpe.pipeline.post_processors`: ids put before and after those of a text
* :mod:`bpe.pipeline.decoders`: tokens to text

Each is made from its entry of the file, any JSON value, by ``of``, and does what ``tokenizers`` does with the
same entry. :mod:`bpe.pipeline.tracked` knows where each character came from, and
:mod:`bpe.pipeline.entries` reads entries.

:mod:`bpe.pipeline.preparation` reads all of them from a vocabulary, and :mod:`bpe.pipeline.engine` applies
them; :mod:`bpe.pipeline.cuts` says where a text may be cut before that.
"""
