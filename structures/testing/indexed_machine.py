"""The state machine of the indexed heaps: that of a heap, with a range of keys."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import rule

from structures.priority_queues.indexed_heap import IndexedMaxHeap
from structures.testing.machines import COUNT, KNOWN, HeapMachine
from structures.testing.models import IndexedHeapModel, outcome


class IndexedHeapMachine(HeapMachine):
    """:class:`~structures.IndexedMaxHeap` with keys of three levels, some of them past the end.

    A subclass sets another container, dtype and order.

    Examples
    --------
    In a test module; pytest finds the class by its name::

        class OldestFirstMachine(IndexedHeapMachine):
            is_fifo = True

        TestOldestFirst = OldestFirstMachine.TestCase
    """

    container: Any = IndexedMaxHeap
    n_keys = 1030

    def keys(self) -> st.SearchStrategy[int]:  # type: ignore[override]
        """Return a strategy for keys: in one row, at the ends of rows, and anywhere."""
        ends = st.sampled_from([-1, 31, 32, 1023, 1024, 1029, 1030, 2**40])
        return st.one_of(st.integers(0, 9), ends, st.integers(0, self.n_keys - 1))

    def new_container(self, items: dict[int, Any]) -> Any:
        """Return a container of the items whose keys it can hold."""
        items = {key: count for key, count in items.items() if 0 <= key < self.n_keys}
        counts = np.array(list(items.values()), self.dtype)
        return self.container.from_arrays(list(items), counts, self.n_keys, "fifo" if self.is_fifo else "key")

    def new_model(self, items: dict[int, Any]) -> IndexedHeapModel:
        """Return the model."""
        items = {key: count for key, count in items.items() if 0 <= key < self.n_keys}
        return IndexedHeapModel(items, self.n_keys, self.least_first, self.is_fifo)

    @rule(key=KNOWN, count=COUNT)
    def improve(self, key: int, count: Any) -> None:
        """Insert, or move towards the top."""
        self.alike("improve", key, count)

    @rule(keys=st.lists(KNOWN, min_size=1, max_size=5), past=st.booleans())
    def refuse_many(self, keys: list[int], past: bool) -> None:
        """Add many and fail, which must restore the order of ties."""
        far = [1.0] * len(keys) + [float("nan")] if self.dtype != "int64" else [1] * len(keys) + [-(2**63)]
        last = self.n_keys if past else keys[0]
        got = outcome(self.real.add_many, [*keys, last], np.array(far, self.dtype))
        assert got in (ValueError, IndexError, OverflowError)
