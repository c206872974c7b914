"""Training: from counted words to merges.

* :mod:`~bpe.training.from_corpus`: :func:`train`
* :mod:`~bpe.training.plain_trainer`: the same in plain Python, for a small corpus
* :mod:`~bpe.trainer`: :class:`Trainer`
* :mod:`~bpe.training.from_languages`: :func:`train_parity`
* :mod:`~bpe.training.parity`: a learner for each language
* :mod:`~bpe.training.parity_turns`: whose turn it is
* :mod:`~bpe.training.start`: the vocabulary that it starts from
* :mod:`~bpe.training.learner`: the containers and arrays, and the kernels run on them
* :mod:`~bpe.training.state`: counted pieces as arrays
* :mod:`~bpe.training.state`: what kernels are handed, and its invariants
* :mod:`~bpe.training.merging`: what one merge changes
* :mod:`~bpe.training.selection`: which pair is next
* :mod:`~bpe.training.selection`: the order of pairs that are tied
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bpe.trainer import Merge, Trainer
    from bpe.training.from_corpus import train
    from bpe.training.from_languages import train_parity

__all__ = ["Merge", "Trainer", "train", "train_parity"]

_MODULE_OF = {
    "Merge": "bpe.trainer",
    "Trainer": "bpe.trainer",
    "train": "bpe.training.from_corpus",
    "train_parity": "bpe.training.from_languages",
}


def __getattr__(name: str) -> Any:  # most of these load the compiler
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULE_OF[name]), name)
