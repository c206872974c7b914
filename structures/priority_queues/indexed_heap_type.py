"""The numba types of indexed heaps."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import Any

import numpy as np
from numba import types
from numba.experimental import structref

from structures.base.queue import CountedType
from structures.base.struct_type import fields_of


class IndexedHeapType(CountedType):
    """numba type of the indexed heaps: one concrete type per class and dtype of the counts."""

    @cached_property
    def dtype(self) -> np.dtype:
        """The dtype of the counts."""
        return np.dtype(str(self.field_dict["zero"]))

    @property
    def start(self) -> tuple[Any, int]:
        """The count of a missing key, and the complement, of a new heap."""
        return self.dtype.type(0), -isinstance(self, IndexedMaxHeapType)

    @property
    def label(self) -> str:
        """The name in messages."""
        return f"{super().label}({self.dtype})"

    @property
    def float_parameters(self) -> Collection[str]:
        """The parameters that are counts, if those are floats."""
        return self.number_parameters if self.dtype.kind == "f" else ()


@structref.register
class IndexedMaxHeapType(IndexedHeapType):
    """numba type of :class:`IndexedMaxHeap`."""


@structref.register
class IndexedMinHeapType(IndexedHeapType):
    """numba type of :class:`IndexedMinHeap`."""


def _fields(count_type: Any) -> list[tuple[str, Any]]:
    return fields_of(
        ranks=types.int64[::1],  # ranks[key], then those of the winners, level by level; the last is the root
        winners=types.int64[::1],  # winners[i] is the key of which ranks[i + number of leaves] is the rank
        ages=types.int64[::1],  # ages[i] belongs to ranks[i]; empty where keys order equal ranks
        n=types.int64,  # keys are 0 ... n - 1
        size=types.int64,
        by_age=types.int64,  # 1 where of equal ranks the first to come is the first to leave, else 0
        next_age=types.int64,
        complement=types.int64,  # -1 reverses the order of counts (IndexedMaxHeap), 0 keeps it
        zero=count_type,  # the count of a missing key; its type is that of the counts
    )


_TYPES = {
    (kind, str(count_type)): kind(_fields(count_type))
    for kind in (IndexedMaxHeapType, IndexedMinHeapType)
    for count_type in (types.int64, types.float64, types.float32)
}


def indexed_heap_type(greatest_first: bool, dtype: str = "int64") -> IndexedHeapType:
    """Return the numba type of an indexed heap, for signatures and struct fields.

    Parameters
    ----------
    greatest_first : bool
        The type of :class:`IndexedMaxHeap` if true, of :class:`IndexedMinHeap` if false.
    dtype : {"int64", "float64", "float32"}
        Type of the counts.

    Returns
    -------
    numba type

    Raises
    ------
    KeyError
        Another dtype.

    Examples
    --------
    >>> from structures import IndexedMinHeap
    >>> indexed_heap_type(False, "float32") == IndexedMinHeap(5, dtype="float32")._numba_type_
    True
    """
    return _TYPES[IndexedMaxHeapType if greatest_first else IndexedMinHeapType, dtype]
