"""Changes of a model's vocabulary: more tokens, or fewer, and a map of the old ids.

::

    tok.extend(text, n)        ids 0 ... 999  stay               the new tokens are 1000 ... 1000 + n - 1
    tok.prune(text, ...)       ids 0 1 2 3 4  become 0 1 - 2 3   the remaining tokens move up, in their order

:mod:`bpe.surgery.extend` learns, :mod:`bpe.surgery.prune` removes. Both return a vocabulary and an array
``new_id_of``: the new id by old id, -1 for a token that is gone. The rows of a model are moved by this array
(``docs/bpe/vocabulary.rst``).
"""
