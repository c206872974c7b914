"""Training: from counted words to the merges of a vocabulary.

* :mod:`~bpe.training.options`: how merges are learned
* :mod:`~bpe.training.start`: the vocabulary that it starts from
* :mod:`~bpe.training.plain_trainer`: all of it in plain Python, for a small corpus
* :mod:`~bpe.training.learner`: the containers and arrays, and the kernels run on them
* :mod:`~bpe.training.state`: what kernels are handed, and its invariants
* :mod:`~bpe.training.merging`: what one merge changes
* :mod:`~bpe.training.selection`: which pair is next, and the order of pairs that are tied
* :mod:`~bpe.training.parity`: a learner for each language
* :mod:`~bpe.training.parity_turns`: whose turn it is

:mod:`bpe.trainer` has what users call.
"""
