"""Training: from counted words to the merges of a vocabulary.

* :mod:`~bpe.training.options`: how merges are learned
* :mod:`~bpe.training.start`: the vocabulary that training starts from
* :mod:`~bpe.training.plain_trainer`: training in plain Python, for a small corpus
* :mod:`~bpe.training.learner`: the containers and arrays of a training, and the loop that calls the kernels
* :mod:`~bpe.training.state`: the state that kernels work on, and its invariants
* :mod:`~bpe.training.merging`: what one merge changes
* :mod:`~bpe.training.selection`: which pair is next, and the order of pairs that are tied
* :mod:`~bpe.training.parity`: a learner for each language
* :mod:`~bpe.training.parity_selection`: which language is served next

The public functions are in :mod:`bpe.trainer`.
"""
