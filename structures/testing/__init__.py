"""For tests of the containers and of what is built on them: strategies, models, state machines, programs.

It needs ``hypothesis``, and nothing else in this package imports it.

* :func:`keys`, :func:`counts`: hypothesis strategies that go where integer containers break
* :class:`MapModel`, :class:`HeapModel`, :class:`TokenModel`, :class:`PairModel`: what the containers do, in
  plain Python
* :class:`IntMapMachine`, :class:`HeapMachine`, :class:`CountBucketsMachine`, :class:`TokenListMachine`,
  :class:`PairIndexMachine`: any verbs in any order from Python, compared with the model
* :func:`random_program`, :func:`check_program`, :data:`LANGUAGES`: the same inside ``@njit``, thousands of
  verbs in one call

A container of your own with the verbs of one of these is tested by a subclass of its machine::

    from structures.testing import HeapMachine

    class MyHeapMachine(HeapMachine):
        container = MyHeap

    TestMyHeap = MyHeapMachine.TestCase

Examples
--------
>>> import numpy as np
>>> from structures import MinHeap
>>> language, model = LANGUAGES[MinHeap], HeapModel(least_first=True)
>>> program = random_program(language, np.random.default_rng(1), 10_000, keys=range(300))
>>> heap = check_program(language, MinHeap(), model, program)
>>> list(heap.items()) == model.items()
True
"""

from structures.testing.machines import (
    CountBucketsMachine,
    HeapMachine,
    IntMapMachine,
    PairIndexMachine,
    TokenListMachine,
)
from structures.testing.models import HeapModel, MapModel, PairModel, TokenModel, outcome
from structures.testing.programs import LANGUAGES, Language, Operation, Program, check_program, random_program
from structures.testing.strategies import counts, keys

__all__ = [
    "LANGUAGES",
    "CountBucketsMachine",
    "HeapMachine",
    "HeapModel",
    "IntMapMachine",
    "Language",
    "MapModel",
    "Operation",
    "PairIndexMachine",
    "PairModel",
    "Program",
    "TokenListMachine",
    "TokenModel",
    "check_program",
    "counts",
    "keys",
    "outcome",
    "random_program",
]
