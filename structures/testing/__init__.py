"""For tests of containers and of programs that use them: strategies, models, state machines, programs.

This package needs ``hypothesis``, which ``pip install 'bpe-structures[testing]'`` brings; no other module of
``structures`` imports it.

* :func:`keys`, :func:`counts`: hypothesis strategies, biased toward values where integer containers break
* :class:`MapModel`, :class:`HeapModel`, :class:`IndexedHeapModel`, :class:`TokenModel`, :class:`PairModel`,
  :class:`SortedModel`, :class:`KBestModel`, :class:`IntSetModel`, :class:`DisjointSetsModel`: what the
  containers do, in plain Python
* :class:`IntMapMachine`, :class:`HeapMachine`, :class:`IndexedHeapMachine`, :class:`CountBucketsMachine`,
  :class:`TokenListMachine`, :class:`PairIndexMachine`, :class:`SortedMapMachine`,
  :class:`FloatSortedMapMachine`, :class:`KBestMachine`, :class:`IntSetMachine`, :class:`DequeMachine`,
  :class:`DisjointSetsMachine`, :class:`PlainHeapMachine` (of a :class:`~structures.Heap`): any methods in any
  order from Python, compared with the model
* :func:`random_program`, :func:`check_program`, :data:`LANGUAGES`: the same inside ``@njit``, thousands of
  operations in one call

To test a container of your own that has the methods of one of these, derive from its machine::

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

try:
    import hypothesis  # noqa: F401
except ImportError as error:
    message = "structures.testing requires hypothesis: pip install 'bpe-structures[testing]'"
    raise ImportError(message) from error

from structures.testing.languages import (
    LANGUAGES,
    DequeOperation,
    Operation,
    PairOperation,
    RowOperation,
    SetOperation,
    SortedOperation,
    UnionOperation,
)
from structures.testing.machines import (
    CountBucketsMachine,
    DequeMachine,
    DisjointSetsMachine,
    FloatSortedMapMachine,
    HeapMachine,
    IndexedHeapMachine,
    IntMapMachine,
    IntSetMachine,
    KBestMachine,
    PairIndexMachine,
    PlainHeapMachine,
    SortedMapMachine,
    TokenListMachine,
)
from structures.testing.models import (
    DisjointSetsModel,
    HeapModel,
    IndexedHeapModel,
    IntSetModel,
    KBestModel,
    MapModel,
    PairModel,
    SortedModel,
    TokenModel,
    outcome,
)
from structures.testing.programs import Language, Program, check_program, random_program
from structures.testing.strategies import counts, keys

__all__ = [
    "LANGUAGES",
    "CountBucketsMachine",
    "DequeMachine",
    "DequeOperation",
    "DisjointSetsMachine",
    "DisjointSetsModel",
    "FloatSortedMapMachine",
    "HeapMachine",
    "HeapModel",
    "IndexedHeapMachine",
    "IndexedHeapModel",
    "IntMapMachine",
    "IntSetMachine",
    "IntSetModel",
    "KBestMachine",
    "KBestModel",
    "Language",
    "MapModel",
    "Operation",
    "PairIndexMachine",
    "PairModel",
    "PairOperation",
    "PlainHeapMachine",
    "Program",
    "RowOperation",
    "SetOperation",
    "SortedMapMachine",
    "SortedModel",
    "SortedOperation",
    "TokenListMachine",
    "TokenModel",
    "UnionOperation",
    "check_program",
    "counts",
    "keys",
    "outcome",
    "random_program",
]
