"""Changes of a model's vocabulary: more tokens, or fewer, and what becomes of the old ids.

::

    tok.extend(text, n)        ids 0 ... 999  stay               the new tokens are 1000 ... 1000 + n - 1
    tok.prune(text, ...)       ids 0 1 2 3 4  become 0 1 - 2 3   what is left moves up, in its order

:mod:`bpe.surgery.extend` learns, :mod:`bpe.surgery.prune` removes. Both return a tokenizer, and an array
``new_id_of``: by old id, the new one, or -1. A model's rows follow it (``docs/bpe/vocabulary.rst``).
"""
