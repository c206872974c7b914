"""Training: from counted words to merges.

* :mod:`~bpe.training.trainer`: :class:`Trainer`, :func:`train`
* :mod:`~bpe.training.selection`: which pair is next
* :mod:`~bpe.training.merging`: what one merge changes
"""

from bpe.training.trainer import Merge, Trainer, train

__all__ = ["Merge", "Trainer", "train"]
