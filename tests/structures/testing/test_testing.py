"""``structures.testing`` says what it requires, and its machines leave no method out."""

import inspect
import re

import pytest

import structures
from structures.testing import machines

MADE_OR_READ_WHOLE = {"from_array", "from_arrays", "from_labels", "to_array", "to_arrays", "type", "update"}
NAMES = {"MaxHeap": "Heap", "IndexedMaxHeap": "IndexedHeap", "Heap": "PlainHeap"}
CONTAINERS = (
    *("MaxHeap", "IndexedMaxHeap", "CountBuckets", "IntMap", "SortedMap", "IntSet"),
    *("Heap", "Deque", "DisjointSets", "KBest", "TokenList", "PairIndex"),
)


def test_without_hypothesis(python):
    python(
        "import sys; sys.modules['hypothesis'] = None\n"
        "import structures\n"
        "try:\n"
        "    import structures.testing\n"
        "except ImportError as error:\n"
        "    assert 'bpe-structures[testing]' in str(error), error\n"
        "else:\n"
        "    raise AssertionError('hypothesis was not needed')"
    )


@pytest.mark.parametrize("name", CONTAINERS)
def test_machines_call_every_method(name):
    container = getattr(structures, name)
    machine = getattr(machines, f"{NAMES.get(name, name)}Machine")
    bases = [base for base in machine.__mro__ if base.__module__ == machines.__name__]
    named = {word for base in bases for word in re.findall(r"\w+", inspect.getsource(base))}
    methods = {verb for verb in dir(container) if verb[0] != "_" and callable(getattr(container, verb))}
    assert methods - MADE_OR_READ_WHOLE <= named
