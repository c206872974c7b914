"""The numba type of ``Heap`` and its methods; the docstring of ``heap`` says how it uses a tournament."""

from __future__ import annotations

from types import MappingProxyType

from numba import types
from numba.experimental import structref

from structures import status
from structures.base.container import pairs_of
from structures.base.mapping import check_sizes
from structures.base.struct_type import NumbersType, method, new_like
from structures.compiling.jit import inner, kernel, late, quiet
from structures.primitives.memory import MOST_ITEMS, copy_prefix, new_words
from structures.primitives.priorities import as_count, is_past_int32
from structures.primitives.simd import ROW, larger, pointer_to, prefetch, rarely, smaller
from structures.priority_queues.tournament_kernels import (
    bytes_of,
    copy_tournament,
    entries_in_order,
    first_entry,
    first_many,
    forget_all,
    grow_tournament,
    has_equal_entries,
    has_room,
    heap_fields,
    make_leaves,
    n_leaves_of,
    new_heap,
    rank_of,
    take_out,
)
from structures.priority_queues.tournament_layout import (
    ABSENT,
    build,
    is_present,
    padded,
    place,
    rise,
    write_leaf,
)

_LINE = 8  # words in a cache line
_FEW = 1 << 10  # leaves; a smaller heap grows to four to eight times its size


# ------------------------------------------------------------------------------------------------- type
@structref.register
class PlainHeapType(NumbersType):
    """numba type of :class:`Heap`: one concrete type for each dtype of the priorities."""

    number_parameters = ("priority", "priorities")
    changing_verbs = ("change", "clear", "pop", "push", "pushpop", "remove", "replace", "reserve")
    subjects = MappingProxyType(dict.fromkeys(("push", "pushpop", "replace"), "entry ({}, {})"))
    mutating_reads = ("nsmallest",)

    @property
    def label(self) -> str:
        """The name in messages."""
        return f"Heap({self.dtype})"


TYPES = {
    str(priority_type): PlainHeapType(
        heap_fields(
            priority_type,
            free_ids=types.int64[::1],  # the first n - size of them are the ids below n that are free
        )
    )
    for priority_type in (types.int64, types.int32, types.float64, types.float32)
}


def plain_heap_type(dtype: str = "int64") -> PlainHeapType:
    """Return the numba type of a :class:`Heap`, for signatures and struct fields.

    Parameters
    ----------
    dtype : {"int64", "int32", "float64", "float32"}
        Type of the priorities.

    Returns
    -------
    numba type

    Raises
    ------
    KeyError
        Another dtype.

    Examples
    --------
    >>> from structures import Heap
    >>> plain_heap_type() == Heap()._numba_type_
    True
    """
    return TYPES[dtype]


# ------------------------------------------------------------------------------------------------- room
@inner
def _make_free_ids(self, n):
    self.free_ids = new_words(n)
    return True


@method(PlainHeapType, "_start")
@quiet
def _start(self, n):
    self.n = 0
    n_leaves = padded(larger(n, 1))
    if not (make_leaves(self, n_leaves, True) and _make_free_ids(self, n_leaves)):
        make_leaves(self, padded(1), True)
        _make_free_ids(self, padded(1))
    return status.OK


@late
def _grow(self, n_leaves):
    free_ids = new_words(n_leaves)
    copy_prefix(self.free_ids, self.n - self.size, free_ids)
    if not grow_tournament(self, n_leaves):
        return False
    self.free_ids = free_ids
    return True


@method(PlainHeapType, "reserve")
@quiet
def _reserve(self, n):
    if n >= MOST_ITEMS:
        return status.NO_MEMORY
    if n > n_leaves_of(self) and not _grow(self, padded(n)):
        return status.NO_MEMORY
    return status.OK


@quiet
def fill(self, priorities, payloads):
    """Fill an empty heap that has room, with ids 0, 1, 2, ...; return (status, index that failed)."""
    for i in range(priorities.size):
        failure = _refusal(self, priorities[i], payloads[i])
        if failure < 0:
            return failure, i
        write_leaf(self.ranks, self.ages, i, rank_of(self, priorities[i]), payloads[i])
    build(self.ranks, self.winners, self.ages)
    self.n = self.size = priorities.size
    return status.OK, priorities.size


@kernel
def heap_of_pairs(typ, zero, priorities, payloads):
    """Return a heap made from arrays, or release it and raise as the Python class does."""
    check_sizes(priorities, payloads)
    self = new_heap(typ, priorities.size, zero, 0, 0)
    if not has_room(self, priorities.size):
        raise MemoryError
    failure, _ = fill(self, priorities, payloads)
    if failure == status.NOT_A_NUMBER:
        raise ValueError("a priority is not a number")
    if failure < 0:
        raise OverflowError("a payload is 2**63 - 1")
    return self


# -------------------------------------------------------------------------------------------- one entry
@method(PlainHeapType, "_before_peek")
@method(PlainHeapType, "_before_pop")
@quiet
def _before_pop(self):
    return status.OK if self.size > 0 else status.NO_ELEMENT


@inner
def _refusal(self, priority, payload):
    """Return the status of a pair that cannot be an entry, else 0."""
    if priority != priority:
        return status.NOT_A_NUMBER
    return status.TOO_LARGE if (payload == ABSENT) | is_past_int32(priority, self.zero) else status.OK


@method(PlainHeapType, "_before_pushpop")
@quiet
def _before_pushpop(self, priority, payload):
    return _refusal(self, priority, payload)


@method(PlainHeapType, "_before_replace")
@quiet
def _before_replace(self, priority, payload):
    failure = _refusal(self, priority, payload)
    return failure if failure < 0 else _before_pop(self)


@inner
def _new_id(self):
    """Return a free id, or a status below 0."""
    n_free = self.n - self.size
    if n_free > 0:
        return pointer_to(self.free_ids, n_free - 1)[0]
    number = self.n
    if rarely(number == n_leaves_of(self)) and not _grow(self, larger(2 * number, smaller(8 * number, _FEW))):
        return status.NO_MEMORY
    self.n = number + 1
    return number


@method(PlainHeapType, "push")
@quiet
def _push(self, priority, payload):
    """Insert a pair; return its handle, or a status below 0."""
    failure = _refusal(self, priority, payload)
    if failure < 0:
        return failure
    number = _new_id(self)
    if number < 0:
        return number
    self.size += 1
    rise(self.ranks, self.winners, self.ages, number, rank_of(self, priority), payload)
    return number


@inner
def _is_in(self, handle):
    return handle >= 0 and handle < self.n and is_present(self.ranks, self.ages, handle)


@inner
def _take_out(self, number):
    pointer_to(self.free_ids, self.n - self.size)[0] = number
    return take_out(self, number)


@method(PlainHeapType, "remove")
@quiet
def _remove(self, handle):
    return _take_out(self, handle) if _is_in(self, handle) else status.MISSING


@method(PlainHeapType, "change")
@quiet
def _change(self, handle, priority):
    if not _is_in(self, handle):
        return status.MISSING
    payload = self.ages[handle]
    failure = _refusal(self, priority, payload)
    if failure < 0:
        return failure
    place(self.ranks, self.winners, self.ages, handle, rank_of(self, priority), payload)
    return status.OK


# ---------------------------------------------------------------------------------------------- the top
@method(PlainHeapType, "_key_at")
@inner
def _key_at(self, at):
    return self.ages[at]


@inner
def _top(self):
    """Return the id of the top, any id below ``n`` if there is none."""
    return self.winners[self.winners.size - 1]


@inner
def _prefetch_top(self):
    """Have the row of the top loaded, which the next pop reads: its address is known only now."""
    row = _top(self) & -ROW
    for line in range(0, ROW, _LINE):
        prefetch(self.ranks, row + line)
        prefetch(self.ages, row + line)


@method(PlainHeapType, "peek")
@quiet
def _peek(self):
    payload, priority = first_entry(self)
    return priority, payload


@method(PlainHeapType, "pop")
@quiet
def _pop(self):
    payload, priority = first_entry(self)
    if self.size > 0:
        _take_out(self, _top(self))
        _prefetch_top(self)
    return priority, payload


@inner
def _exchange_top(self, priority, payload):
    """Give the id of the top another pair."""
    place(self.ranks, self.winners, self.ages, _top(self), rank_of(self, priority), payload)
    _prefetch_top(self)


@method(PlainHeapType, "replace")
@quiet
def _replace(self, priority, payload):
    top_payload, top_priority = first_entry(self)
    if self.size > 0 and _refusal(self, priority, payload) == status.OK:
        _exchange_top(self, priority, payload)
    return top_priority, top_payload


@method(PlainHeapType, "pushpop")
@quiet
def _pushpop(self, priority, payload):
    top_payload, top_priority = first_entry(self)
    number = as_count(priority, self.zero)
    is_first = number < top_priority or (number == top_priority and payload <= top_payload)
    if self.size == 0 or is_first or _refusal(self, priority, payload) < 0:
        return number, payload
    _exchange_top(self, priority, payload)
    return top_priority, top_payload


# -------------------------------------------------------------------------------------------- the whole
@method(PlainHeapType, "nsmallest")
@kernel
def _nsmallest(self, k):
    payloads, priorities = first_many(self, k)
    return priorities, payloads


@method(PlainHeapType, "to_arrays")
@kernel
def _to_arrays(self):
    payloads, priorities = entries_in_order(self)
    return priorities, payloads


@method(PlainHeapType, "__iter__")
@kernel
def _pairs(self):
    return pairs_of(_to_arrays(self))


method(PlainHeapType, "equals")(has_equal_entries)


@method(PlainHeapType, "copy")
@kernel
def _copy(self):
    other = new_like(self)
    copy_tournament(self, other)
    other.free_ids = new_words(self.free_ids.size)
    copy_prefix(self.free_ids, self.n - self.size, other.free_ids)
    return other


@method(PlainHeapType, "clear")
@quiet
def _clear(self):
    forget_all(self)
    self.n = 0
    return status.OK


@method(PlainHeapType, "nbytes")
@quiet
def _nbytes(self):
    return bytes_of(self) + self.free_ids.nbytes


@kernel
def free_ids_of(self):
    """Return the free ids, for ``_check()``."""
    return self.free_ids[: self.n - self.size].copy()
