"""``warmup``: compile in advance what containers compile when they first grow.

The first call of a verb compiles what every call needs. Growth, and undoing a change that fails halfway, are
compiled when they are first reached, as small programs do not need them (:mod:`structures.compiling.code`).
Each takes up to half a second, once: compiled code is kept on disk.
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from structures.base.mapping import Keyed
from structures.deques.deque import Deque
from structures.hash_tables.byte_counter import ByteCounter
from structures.hash_tables.int_set import IntSet
from structures.priority_queues.heap import Heap
from structures.priority_queues.indexed_heap import IndexedMaxHeap, IndexedMinHeap
from structures.status import INT64_MAX, INT64_MIN

_N_KEYS = 3_000  # more than fit into the first tables


def warmup(*containers: Any) -> None:
    """Compile what containers of these types need when they grow, and keep it on disk.

    Call it where an image is built, or before you time or serve something. Kernels of your own are compiled
    by calling them with small arguments.

    Parameters
    ----------
    *containers
        One of each type, such as ``MaxHeap()`` or ``IntMap(dtype=float)``. They stay as they are: a copy
        grows. Containers that compile nothing later, such as ``TokenList``, may be among them.

    Raises
    ------
    TypeError
        A class instead of a container.

    Complexity
    ----------
    The first time some seconds for each type, then some milliseconds.

    Examples
    --------
    >>> import structures as st
    >>> st.warmup(st.IntMap())
    """
    for container in containers:
        if isinstance(container, type):
            raise TypeError(f"warmup takes containers, not classes: pass {container.__name__}()")
        if isinstance(container, (IndexedMinHeap, IndexedMaxHeap)):
            _keep_ages(container.copy())
        elif isinstance(container, ByteCounter):
            _grow_words(container.copy())
        elif isinstance(container, (Deque, Heap, IntSet)):
            container.copy().reserve(len(container) + _N_KEYS)
        elif isinstance(container, Keyed):
            _grow(container.copy())


def _grow(container: Any) -> None:
    """Add keys one at a time, remove them, and add others, which get the room of the first."""
    container.clear()
    for start in (0, _N_KEYS):
        keys = np.arange(start, start + _N_KEYS)
        for key in keys.tolist():
            container.add(key)
        container.remove_many(keys)


def _keep_ages(heap: IndexedMinHeap | IndexedMaxHeap) -> None:
    """Store the priority that comes last, with which a heap begins to keep ages."""
    heap.clear()
    with contextlib.suppress(IndexError, OverflowError):  # it has no room, or its priorities are smaller
        heap[0] = INT64_MAX
        heap[0] = INT64_MIN


def _grow_words(counter: ByteCounter) -> None:
    """Add words, and some that are taken back because a count is too large."""
    counter.clear()
    counter.add_many([b"word %d" % i for i in range(_N_KEYS)])
    with contextlib.suppress(OverflowError):
        counter.add_many({b"new": 1, b"word 1": INT64_MAX})
