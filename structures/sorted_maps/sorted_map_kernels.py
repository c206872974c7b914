"""The numba types of ``SortedMap`` and their methods: kernels that take a container."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import Any

import numpy as np
from numba import types
from numba.experimental import structref

from structures import status
from structures.base.mapping import KeyedType
from structures.base.struct_type import fields_of, method, new, new_like
from structures.compiling.jit import inner, kernel, late, quiet
from structures.primitives.memory import copy_prefix, new_words
from structures.primitives.priorities import as_count, from_order, sum_leaves_range, to_order
from structures.primitives.simd import larger, local_words, rarely
from structures.sorted_maps.sorted_map_rows import (
    CHILD,
    CHILDREN,
    COUNT,
    FEW_CHILDREN,
    FEW_KEYS,
    KEYS,
    MAX_HEIGHT,
    NEXT,
    NONE,
    ROW,
    SIZE,
    VALUE,
    add_to_counts,
    blank,
    cut_entry,
    fits,
    holds,
    join,
    leaf_of,
    n_below,
    path_to,
    put_entry,
    split,
    unlink,
)
from structures.status import INT64_MAX, INT64_MIN

DTYPES = {"int64": types.int64, "float64": types.float64}


# ------------------------------------------------------------------------------------------------ type
@structref.register
class SortedMapType(KeyedType):
    """numba type of :class:`SortedMap`: one concrete type per dtype of the keys and of the values."""

    def _dtype(self, field: str) -> np.dtype:
        return np.dtype(np.float64 if isinstance(self.field_dict[field], types.Float) else np.int64)

    @cached_property
    def dtype(self) -> np.dtype:
        """The dtype of the values."""
        return self._dtype("zero")

    @cached_property
    def key_dtype(self) -> np.dtype:
        """The dtype of the keys."""
        return self._dtype("key_zero")

    @property
    def start(self) -> tuple[Any, Any]:
        """The zeros of the keys and of the values, for a new map."""
        return self.key_dtype.type(0), self.dtype.type(0)

    @property
    def label(self) -> str:
        """The name in messages."""
        return f"{super().label}({self.dtype}, key_dtype={self.key_dtype})"

    @property
    def float_parameters(self) -> Collection[str]:
        """The parameters that are keys, if those are float64, and those that are values."""
        keys = ("key", "keys", "low", "high") if self.key_dtype == np.float64 else ()
        return (*keys, *(self.number_parameters if self.dtype == np.float64 else ()))


_TYPES = {
    (key_dtype, dtype): SortedMapType(
        fields_of(
            rows=types.int64[::1],  # rows[row : row + ROW] is a leaf, a node or free
            root=types.int64,
            height=types.int64,  # levels of nodes above the leaves
            size=types.int64,
            used=types.int64,  # rows from this word on have never been used
            free=types.int64,  # a free row before that, or NONE; its first word is the next one
            n_free=types.int64,
            key_zero=key_type,  # its type is that of the keys
            zero=value_type,  # the value of a missing key
        )
    )
    for key_dtype, key_type in DTYPES.items()
    for dtype, value_type in DTYPES.items()
}


def sorted_map_type(key_dtype: str = "int64", dtype: str = "int64") -> SortedMapType:
    """Return the numba type of a sorted map, for signatures and struct fields.

    Parameters
    ----------
    key_dtype, dtype : {"int64", "float64"}
        Types of the keys and of the values.

    Returns
    -------
    numba type

    Raises
    ------
    KeyError
        Another dtype.

    Examples
    --------
    >>> from structures import SortedMap
    >>> sorted_map_type() == SortedMap()._numba_type_
    True
    """
    return _TYPES[key_dtype, dtype]


@kernel
def new_sorted_map(typ, key_zero, zero):
    """Return an empty map of a type, with zeros of the types of its keys and values."""
    self = new(typ)
    self.rows = new_words(ROW)
    self.key_zero = key_zero
    self.zero = zero
    reset(self)
    return self


@inner
def reset(self):
    """Forget all rows; the first one is an empty leaf."""
    blank(self.rows, 0)
    self.root = 0
    self.height = 0
    self.size = 0
    self.used = ROW
    self.free = NONE
    self.n_free = 0


# ---------------------------------------------------------------------------------------- memory, rows
@inner
def _grow(self, n_words):
    rows = new_words(n_words)
    copy_prefix(self.rows, self.used, rows)
    self.rows = rows
    return True


@inner
def _n_left(self):
    """Return how many rows there are for new leaves and nodes."""
    return self.n_free + (self.rows.size - self.used) // ROW


@inner
def have_rows(self, n):
    """Make room for so many new rows, at least; return a status."""
    n_missing = n - _n_left(self)
    if n_missing > 0:
        wanted = larger(self.rows.size + n_missing * ROW, 2 * self.rows.size)
        if not _grow(self, wanted):
            return status.NO_MEMORY
    return status.OK


@inner
def _take_row(self):
    row = self.free
    if row != NONE:
        self.free = self.rows[row]
        self.n_free -= 1
        return row
    row = self.used
    self.used = row + ROW
    return row


@inner
def _give_row(self, row):
    self.rows[row] = self.free
    self.free = row
    self.n_free += 1


@method(SortedMapType, "reserve")
@quiet
def _reserve(self, n_keys):
    # After insertions alone, all leaves and nodes but the last of a level are half full at least.
    n_leaves = n_keys // (KEYS // 2) + 1
    n_rows = n_leaves + n_leaves // (CHILDREN // 2 - 1) + MAX_HEIGHT
    if n_keys > self.size and n_rows * ROW > self.rows.size and not _grow(self, n_rows * ROW):
        return status.NO_MEMORY
    return status.OK


# ----------------------------------------------------------------------------------------- find an entry
@inner
def order_of(self, key):
    """Return a key as it is in the rows."""
    return to_order(as_count(key, self.key_zero))


@inner
def place_of(self, order):
    """Return the place of a key, or NONE."""
    leaf = leaf_of(self.rows, self.root, self.height, order)
    place = leaf + n_below(self.rows, leaf, KEYS, order)
    return place if holds(self.rows, leaf, place, order) else NONE


@inner
def first_leaf(self):
    """Return the leaf with the least key."""
    return leaf_of(self.rows, self.root, self.height, INT64_MIN)


@inner
def last_place(self):
    """Return the place of the greatest key; there is one."""
    leaf = leaf_of(self.rows, self.root, self.height, INT64_MAX)
    return leaf + self.rows[leaf + SIZE] - 1


@inner
def _key_at(self, place):
    return from_order(self.rows[place], self.key_zero)


@inner
def value_at(self, place):
    """Return the value at a place."""
    return from_order(self.rows[place + VALUE], self.zero)


@inner
def entry_at(self, place, default):
    """Return (key, value) of a place, `default` for NONE."""
    if place == NONE:
        return as_count(default[0], self.key_zero), as_count(default[1], self.zero)
    return _key_at(self, place), value_at(self, place)


@method(SortedMapType, "get")
@quiet
def _get(self, key, default=0):
    place = place_of(self, order_of(self, key))
    return value_at(self, place) if place != NONE else as_count(default, self.zero)


@method(SortedMapType, "contains")
@quiet
def _contains(self, key):
    return place_of(self, order_of(self, key)) != NONE


@method(SortedMapType, "prefetch")
@quiet
def _prefetch(self, key):
    """Do nothing: the way to a key is not known before it is walked."""


# ------------------------------------------------------------------------------------- change one entry
@inner
def _raise_root(self):
    """Put a node with one child above the root."""
    node = _take_row(self)
    blank(self.rows, node)
    self.rows[node + CHILD] = self.root
    self.rows[node + COUNT] = self.size
    self.rows[node + SIZE] = 1
    self.root = node
    self.height += 1


@late
def _make_room(self, order):
    """Split the full rows on the way to a key, from the root down; False if there is no memory."""
    if have_rows(self, self.height + 2) < 0:
        return False
    rows = self.rows
    if rows[self.root + SIZE] == (KEYS if self.height == 0 else CHILDREN):
        _raise_root(self)
    # Keys that come in ascending order leave full rows behind, not half full ones.
    is_last = order > rows[last_place(self)]
    row = self.root
    for level in range(self.height):
        is_leaf = level == self.height - 1
        place = row + n_below(rows, row, CHILDREN, order)
        n = rows[rows[place + CHILD] + SIZE]
        if n == (KEYS if is_leaf else CHILDREN):
            split(rows, place, is_leaf, n - 1 if is_last else n // 2, _take_row(self))
            place = row + n_below(rows, row, CHILDREN, order)
        row = rows[place + CHILD]
    return True


@inner
def _insert(self, path, leaf, place, order, word):
    """Insert a new key at a place of a leaf, or where its leaf is full, in one of its halves."""
    if rarely(self.rows[leaf + SIZE] == KEYS):
        if not _make_room(self, order):
            return status.NO_MEMORY
        leaf = path_to(self.rows, self.root, self.height, order, path)
        place = leaf + n_below(self.rows, leaf, KEYS, order)
    put_entry(self.rows, leaf, place, order, word)
    add_to_counts(self.rows, path, self.height, 1)
    self.size += 1
    return status.OK


@inner
def write(self, order, word):
    """Set a key to a value, as they are in the rows; return a status."""
    path = local_words(MAX_HEIGHT)
    leaf = path_to(self.rows, self.root, self.height, order, path)
    place = leaf + n_below(self.rows, leaf, KEYS, order)
    if holds(self.rows, leaf, place, order):
        self.rows[place + VALUE] = word
        return status.OK
    return _insert(self, path, leaf, place, order, word)


@method(SortedMapType, "set")
@quiet
def _set(self, key, value):
    if key != key:
        return status.NOT_A_NUMBER
    return write(self, order_of(self, key), to_order(as_count(value, self.zero)))


@method(SortedMapType, "add")
@quiet
def _add(self, key, delta=1):
    if key != key:
        return status.NOT_A_NUMBER
    delta = as_count(delta, self.zero)
    order = order_of(self, key)
    path = local_words(MAX_HEIGHT)
    leaf = path_to(self.rows, self.root, self.height, order, path)
    place = leaf + n_below(self.rows, leaf, KEYS, order)
    is_there = holds(self.rows, leaf, place, order)
    value = value_at(self, place) if is_there else self.zero
    if rarely(sum_leaves_range(value, delta)):
        return status.OVERFLOW if value + delta == value + delta else status.NOT_A_NUMBER
    word = to_order(value + delta)
    if is_there:
        self.rows[place + VALUE] = word
        return status.OK
    return _insert(self, path, leaf, place, order, word)


@inner
def _mend(self, path):
    """Join the rows on a path that have few entries with their neighbours, from the leaf up."""
    rows = self.rows
    for level in range(self.height - 1, -1, -1):
        place = path[level]
        node = place - place % ROW
        child = rows[place + CHILD]
        is_leaf = level == self.height - 1
        if rows[child + SIZE] >= (FEW_KEYS if is_leaf else FEW_CHILDREN):
            break
        if rows[node + SIZE] == 1 and rows[child + SIZE] == 0:
            if is_leaf:
                unlink(rows, child)
            rows[node + SIZE] = 0
            _give_row(self, child)
        if place + 1 < node + rows[node + SIZE] and fits(rows, place, is_leaf):
            _give_row(self, join(rows, place, is_leaf))
        if place > node and fits(rows, place - 1, is_leaf):
            _give_row(self, join(rows, place - 1, is_leaf))
    while self.height > 0 and rows[self.root + SIZE] == 1:
        _give_row(self, self.root)
        self.root = rows[self.root + CHILD]
        self.height -= 1


@inner
def cut(self, path, leaf, place):
    """Remove the entry at a place, to which a path leads."""
    cut_entry(self.rows, leaf, place)
    add_to_counts(self.rows, path, self.height, -1)
    self.size -= 1
    if rarely(self.rows[leaf + SIZE] < FEW_KEYS):
        _mend(self, path)
    return status.OK


@inner
def take(self, order, default):
    """Remove a key; return a status, and its value or `default`."""
    path = local_words(MAX_HEIGHT)
    leaf = path_to(self.rows, self.root, self.height, order, path)
    place = leaf + n_below(self.rows, leaf, KEYS, order)
    if not holds(self.rows, leaf, place, order):
        return status.MISSING, default
    value = value_at(self, place)
    return cut(self, path, leaf, place), value


@method(SortedMapType, "remove")
@quiet
def _remove(self, key):
    return take(self, order_of(self, key), self.zero)[0]


@method(SortedMapType, "pop")
@quiet
def _pop(self, key, default=0):
    return take(self, order_of(self, key), as_count(default, self.zero))[1]


@quiet
def remove_and_tell(self, key):
    """Remove a key; return whether it was there, and its value."""
    failure, value = take(self, order_of(self, key), self.zero)
    return failure == status.OK, value


# ---------------------------------------------------------------------------------------------- the whole
@method(SortedMapType, "clear")
@quiet
def _clear(self):
    reset(self)
    return status.OK


@method(SortedMapType, "copy")
@kernel
def _copy(self):
    other = new_like(self)
    other.rows = new_words(self.rows.size)
    copy_prefix(self.rows, self.used, other.rows)
    other.root = self.root
    other.height = self.height
    other.size = self.size
    other.used = self.used
    other.free = self.free
    other.n_free = self.n_free
    other.key_zero = self.key_zero
    other.zero = self.zero
    return other


@method(SortedMapType, "equals")
@quiet
def _equals(self, other):
    """Return whether both have the same entries; a value that is not a number equals itself."""
    if self.size != other.size:
        return False
    rows, other_rows = self.rows, other.rows
    leaf, i = first_leaf(other), 0
    mine = first_leaf(self)
    while mine != NONE:
        for place in range(mine, mine + rows[mine + SIZE]):
            if i == other_rows[leaf + SIZE]:
                leaf, i = other_rows[leaf + NEXT], 0
            twin = leaf + i
            if rows[place] != other_rows[twin] or rows[place + VALUE] != other_rows[twin + VALUE]:
                return False
            i += 1
        mine = rows[mine + NEXT]
    return True


@kernel
def state(self):
    """Return what the invariants are about, for ``_check()``."""
    return self.rows[: self.used].copy(), self.root, self.height, self.free, self.n_free


@method(SortedMapType, "nbytes")
@quiet
def _nbytes(self):
    return self.rows.nbytes
