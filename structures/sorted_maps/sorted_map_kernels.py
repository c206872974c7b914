"""The numba types of ``SortedMap`` and their methods: kernels that take a container."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numba import types
from numba.experimental import structref

from structures import status
from structures.base.container import pairs_of
from structures.base.mapping import MapType, check_sizes
from structures.base.struct_type import fields_of, method, new, new_like
from structures.compiling.jit import inner, kernel, late, quiet
from structures.primitives.memory import MOST_ITEMS, copy_prefix, new_words
from structures.primitives.priorities import as_count, from_order, sum_leaves_range, to_order
from structures.primitives.simd import larger, local_words, rarely, smaller
from structures.primitives.sorting import BYTES, sort_entries
from structures.sorted_maps.sorted_map_layout import (
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
    at_or_after,
    before,
    blank,
    build,
    cut_entry,
    fits,
    holds,
    is_ascending,
    join,
    keep_last,
    leaf_of,
    merge_entries,
    n_below,
    n_built,
    path_at,
    path_to,
    put_entry,
    rank_of,
    split,
    unlink,
)
from structures.status import INT64_MAX, INT64_MIN, KEY_DTYPE_HINT

DTYPES = {"int64": types.int64, "float64": types.float64}


# ------------------------------------------------------------------------------------------------ type
@structref.register
class SortedMapType(MapType):
    """numba type of :class:`SortedMap`: one concrete type per dtype of the keys and of the values."""

    float_key_hint = KEY_DTYPE_HINT
    subjects = MappingProxyType(
        {
            "floor": "no key at or below {}",
            "lower": "no key below {}",
            "ceiling": "no key at or above {}",
            "higher": "no key above {}",
            "floor_many": "no key at or below one of keys",
            "ceiling_many": "no key at or above one of keys",
            "select": "rank {}",
        }
    )

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
            free=types.int64,  # a free row, or NONE; its first word is the next free row
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
    """Make the map empty: its only row is an empty leaf."""
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
def have_rows(self, n):
    """Make room for at least `n` new rows; return a status."""
    n_missing = n - self.n_free - (self.rows.size - self.used) // ROW
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
    if n_keys >= MOST_ITEMS:
        return status.NO_MEMORY
    # After insertions only, all leaves and nodes but the last of a level are at least half full.
    n_leaves = n_keys // (KEYS // 2) + 1
    n_rows = n_leaves + n_leaves // (CHILDREN // 2 - 1) + MAX_HEIGHT
    if n_keys > self.size and n_rows * ROW > self.rows.size and not _grow(self, n_rows * ROW):
        return status.NO_MEMORY
    return status.OK


# ----------------------------------------------------------------------------------------- find an entry
@inner
def order_of(self, key):
    """Return a key as the rows store it, an int64 in the same order."""
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
    """Return the place of the greatest key of a map that is not empty."""
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
    """Return (key, value) of a place, or `default` for NONE."""
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
    """Do nothing: the address of a leaf is known only after the search."""


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
    """Split the full rows on the path to a key, from the root down; return False if there is no memory."""
    if have_rows(self, self.height + 2) < 0:
        return False
    rows = self.rows
    if rows[self.root + SIZE] == (KEYS if self.height == 0 else CHILDREN):
        _raise_root(self)
    # Insertion in ascending order leaves full rows, not half full ones.
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
    """Insert a new key at a place of a leaf, or, if the leaf is full, in one of its halves."""
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
    """Set a key to a value, both as the rows store them; return a status."""
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
def _rebalance(self, path):
    """Join the rows on a path that have few entries with their neighbors, from the leaf up."""
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
    """Remove the entry at a place of a leaf, the end of a path."""
    cut_entry(self.rows, leaf, place)
    add_to_counts(self.rows, path, self.height, -1)
    self.size -= 1
    if rarely(self.rows[leaf + SIZE] < FEW_KEYS):
        _rebalance(self, path)
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


# ----------------------------------------------------------------------------------------- the two ends
@method(SortedMapType, "_before_peek_min")
@method(SortedMapType, "_before_peek_max")
@method(SortedMapType, "_before_pop_min")
@method(SortedMapType, "_before_pop_max")
@quiet
def _before_peek_min(self):
    return status.OK if self.size > 0 else status.EMPTY


@method(SortedMapType, "peek_min")
@quiet
def _peek_min(self, default=(0, 0)):
    return entry_at(self, first_leaf(self) if self.size > 0 else NONE, default)


@method(SortedMapType, "peek_max")
@quiet
def _peek_max(self, default=(0, 0)):
    return entry_at(self, last_place(self) if self.size > 0 else NONE, default)


@inner
def _pop_end(self, order, default):
    """Remove the first entry if `order` is the least int64, or the last if it is the greatest."""
    if self.size == 0:
        return entry_at(self, NONE, default)
    path = local_words(MAX_HEIGHT)
    leaf = path_to(self.rows, self.root, self.height, order, path)
    place = leaf if order == INT64_MIN else leaf + self.rows[leaf + SIZE] - 1
    entry = entry_at(self, place, default)
    cut(self, path, leaf, place)
    return entry


@method(SortedMapType, "pop_min")
@quiet
def _pop_min(self, default=(0, 0)):
    return _pop_end(self, INT64_MIN, default)


@method(SortedMapType, "pop_max")
@quiet
def _pop_max(self, default=(0, 0)):
    return _pop_end(self, INT64_MAX, default)


# -------------------------------------------------------------------------------------- neighbors of a key
@inner
def place_before(self, order, or_at):
    """Return the place of the greatest key less than a key (or, with `or_at`, of the key itself), or NONE."""
    leaf = leaf_of(self.rows, self.root, self.height, order)
    place = leaf + n_below(self.rows, leaf, KEYS, order)
    if or_at and holds(self.rows, leaf, place, order):
        return place
    return before(self.rows, leaf, place)


@inner
def place_after(self, order, or_at):
    """Return the place of the least key greater than a key (or, with `or_at`, of the key itself), or NONE."""
    leaf = leaf_of(self.rows, self.root, self.height, order)
    place = leaf + n_below(self.rows, leaf, KEYS, order)
    if not or_at and holds(self.rows, leaf, place, order):
        place += 1
    return at_or_after(self.rows, leaf, place)


@inner
def _neighbor_status(self, key, is_below, or_at):
    """Return OK if a key has a neighbor on one side, else why it has not."""
    if key != key:
        return status.NOT_A_NUMBER
    order = order_of(self, key)
    place = place_before(self, order, or_at) if is_below else place_after(self, order, or_at)
    return status.OK if place != NONE else status.MISSING


@method(SortedMapType, "_before_floor")
@quiet
def _before_floor(self, key):
    return _neighbor_status(self, key, True, True)


@method(SortedMapType, "_before_lower")
@quiet
def _before_lower(self, key):
    return _neighbor_status(self, key, True, False)


@method(SortedMapType, "_before_ceiling")
@quiet
def _before_ceiling(self, key):
    return _neighbor_status(self, key, False, True)


@method(SortedMapType, "_before_higher")
@quiet
def _before_higher(self, key):
    return _neighbor_status(self, key, False, False)


@method(SortedMapType, "floor")
@quiet
def _floor(self, key, default=(0, 0)):
    return entry_at(self, place_before(self, order_of(self, key), True), default)


@method(SortedMapType, "lower")
@quiet
def _lower(self, key, default=(0, 0)):
    return entry_at(self, place_before(self, order_of(self, key), False), default)


@method(SortedMapType, "ceiling")
@quiet
def _ceiling(self, key, default=(0, 0)):
    return entry_at(self, place_after(self, order_of(self, key), True), default)


@method(SortedMapType, "higher")
@quiet
def _higher(self, key, default=(0, 0)):
    return entry_at(self, place_after(self, order_of(self, key), False), default)


# ------------------------------------------------------------------------------------------------ ranks
@method(SortedMapType, "rank")
@quiet
def _rank(self, key):
    return rank_of(self.rows, self.root, self.height, order_of(self, key))


@method(SortedMapType, "_before_select")
@quiet
def _before_select(self, i):
    return status.OK if i >= 0 and i < self.size else status.OUT_OF_RANGE


@method(SortedMapType, "select")
@quiet
def _select(self, i, default=(0, 0)):
    place = NONE
    if i >= 0 and i < self.size:
        place, _ = path_at(self.rows, self.root, self.height, i, local_words(MAX_HEIGHT))
    return entry_at(self, place, default)


@method(SortedMapType, "rank_many")
@kernel
def _rank_many(self, keys):
    ranks = new_words(keys.size)
    for i in range(keys.size):
        ranks[i] = _rank(self, keys[i])
    return ranks


# ------------------------------------------------------------------------------------------------ ranges
@kernel
def entries_between(self, start, stop):
    """Return the keys and values with ranks in ``[start, stop)``."""
    keys = np.full(larger(stop - start, 0), self.key_zero)
    values = np.full(keys.size, self.zero)
    if keys.size > 0:
        place, leaf = path_at(self.rows, self.root, self.height, start, local_words(MAX_HEIGHT))
        _read(self, leaf, place - leaf, keys, values)
    return keys, values


@inner
def _read(self, leaf, i, keys, values):
    """Fill two arrays with the entries from entry `i` of a leaf on."""
    rows = self.rows
    n = 0
    while n < keys.size:
        n_here = smaller(rows[leaf + SIZE] - i, keys.size - n)
        for j in range(n_here):
            keys[n + j] = from_order(rows[leaf + i + j], self.key_zero)
            values[n + j] = from_order(rows[leaf + i + j + VALUE], self.zero)
        n += n_here
        leaf = rows[leaf + NEXT]
        i = 0


@quiet
def remove_between(self, start, stop):
    """Remove the keys with ranks in ``[start, stop)``; return how many."""
    path = local_words(MAX_HEIGHT)
    for _ in range(start, stop):
        place, leaf = path_at(self.rows, self.root, self.height, start, path)
        cut(self, path, leaf, place)
    return larger(stop - start, 0)


@quiet  # an inner kernel would also compile the branch for None
def _start(self, low):
    return 0 if low is None else _rank(self, low)


@quiet
def _stop(self, high):
    return self.size if high is None else _rank(self, high)


@method(SortedMapType, "count")
@quiet
def _count(self, low=None, high=None):
    return larger(_stop(self, high) - _start(self, low), 0)


@method(SortedMapType, "range_arrays")
@kernel
def _range_arrays(self, low=None, high=None):
    return entries_between(self, _start(self, low), _stop(self, high))


@method(SortedMapType, "keys")
@kernel
def _keys(self, low=None, high=None):
    return _range_arrays(self, low, high)[0]


@method(SortedMapType, "values")
@kernel
def _values(self, low=None, high=None):
    return _range_arrays(self, low, high)[1]


@method(SortedMapType, "items")
@kernel
def _items(self, low=None, high=None):
    return pairs_of(_range_arrays(self, low, high))


@method(SortedMapType, "remove_range")
@quiet
def _remove_range(self, low=None, high=None):
    return remove_between(self, _start(self, low), _stop(self, high))


# For Python: one kernel for all kinds of ranges, and one call, which locks the map.
@inner
def _ranks(self, low, high, has_low, has_high):
    start = _rank(self, low) if has_low else 0
    return start, _rank(self, high) if has_high else self.size


@quiet
def count_within(self, low, high, has_low, has_high):
    """Return how many keys are in a range, which may have no bound on either side."""
    start, stop = _ranks(self, low, high, has_low, has_high)
    return larger(stop - start, 0)


@kernel
def entries_within(self, low, high, has_low, has_high):
    """Return the keys and values in a range, which may have no bound on either side."""
    start, stop = _ranks(self, low, high, has_low, has_high)
    return entries_between(self, start, stop)


@quiet
def remove_within(self, low, high, has_low, has_high):
    """Remove the keys in a range, which may have no bound on either side; return how many."""
    start, stop = _ranks(self, low, high, has_low, has_high)
    return remove_between(self, start, stop)


@method(SortedMapType, "to_arrays")
@kernel
def _to_arrays(self):
    return entries_between(self, 0, self.size)


# -------------------------------------------------------------------------------------- many keys, to read
@quiet
def nearest(self, key, is_below, or_at):
    """Return whether there is a key on one side of `key` (or at it), and the nearest one with its value."""
    order = order_of(self, key)
    place = place_before(self, order, or_at) if is_below else place_after(self, order, or_at)
    key, value = entry_at(self, place, (0, 0))
    return place != NONE, key, value


@kernel
def nearest_many(self, keys, is_below, default):
    """Return the nearest keys at or on one side of `keys`, their values, and the first index without any."""
    found = np.full(keys.size, self.key_zero)
    values = np.full(keys.size, self.zero)
    missing = keys.size
    for i in range(keys.size):
        order = order_of(self, keys[i])
        place = place_before(self, order, True) if is_below else place_after(self, order, True)
        found[i], values[i] = entry_at(self, place, default)
        if place == NONE:
            missing = smaller(missing, i)
    return found, values, missing


@inner
def _neighbors_status(self, keys, is_below):
    for i in range(keys.size):
        failure = _neighbor_status(self, keys[i], is_below, True)
        if failure < 0:
            return failure
    return status.OK


@method(SortedMapType, "_before_floor_many")
@quiet
def _before_floor_many(self, keys):
    return _neighbors_status(self, keys, True)


@method(SortedMapType, "_before_ceiling_many")
@quiet
def _before_ceiling_many(self, keys):
    return _neighbors_status(self, keys, False)


@method(SortedMapType, "floor_many")
@kernel
def _floor_many(self, keys, default=(0, 0)):
    return nearest_many(self, keys, True, default)[:2]


@method(SortedMapType, "ceiling_many")
@kernel
def _ceiling_many(self, keys, default=(0, 0)):
    return nearest_many(self, keys, False, default)[:2]


# ------------------------------------------------------------------------------------ many keys, to change
@kernel
def _sorted_entries(keys, values):
    """Return the keys, sorted stably, and their values."""
    if is_ascending(keys):
        return keys, values
    other_keys, other_values = new_words(keys.size), new_words(keys.size)
    if sort_entries(keys, values, other_keys, other_values, new_words(BYTES)):
        return other_keys, other_values
    return keys, values


@inner
def _rebuild(self, keys, values, n):
    """Write a new tree of `n` ascending keys."""
    n_words = n_built(n) * ROW
    if n_words > self.rows.size:
        self.rows = new_words(n_words)
    reset(self)
    if n > 0:
        self.root, self.height = build(self.rows, keys, values, n)
        self.used = n_words
        self.size = n
    return True


@inner
def _rows_for(self, n):
    """Return the maximal number of rows that `n` new keys take."""
    # A leaf is split if it was full before, or after half a leaf of new keys; likewise a node.
    n_leaves = smaller(n, self.size // KEYS + n // (KEYS // 2) + 1)
    n_nodes = smaller(n_leaves * self.height, self.used // ROW // 32 + n_leaves // 16)
    return n_leaves + n_nodes + 2 * self.height + 4 if n > 0 else 0


@inner
def _set_sorted(self, keys, values):
    """Set sorted keys; a repeated key gets its last value."""
    n = keep_last(keys, values)
    n_new = n
    if self.size > 0:
        n_new = 0
        for i in range(n):
            n_new += place_of(self, keys[i]) == NONE
    if 16 * n_new > self.size:
        if self.size > 0:
            all_keys, all_values = new_words(self.size + n), new_words(self.size + n)
            n = merge_entries(self.rows, first_leaf(self), keys, values, n, all_keys, all_values)
            keys, values = all_keys, all_values
        if not _rebuild(self, keys, values, n):
            return False
    else:
        if have_rows(self, _rows_for(self, n_new)) < 0:
            return False
        for i in range(n):
            write(self, keys[i], values[i])
    return True


@inner
def _set_all(self, keys, values):
    orders, words = new_words(keys.size), new_words(keys.size)
    for i in range(keys.size):
        orders[i] = order_of(self, keys[i])
        words[i] = to_order(as_count(values[i], self.zero))
    orders, words = _sorted_entries(orders, words)
    return _set_sorted(self, orders, words)


@inner
def _index_of_nan(keys):
    """Return the index of the first key that is NaN, or the number of keys."""
    for i in range(keys.size):
        if keys[i] != keys[i]:
            return i
    return keys.size


@method(SortedMapType, "set_many")
@quiet
def _set_many(self, keys, values):
    if keys.size != values.size:
        return status.OUT_OF_RANGE
    if _index_of_nan(keys) < keys.size:
        return status.NOT_A_NUMBER
    return status.OK if _set_all(self, keys, values) else status.NO_MEMORY


@kernel
def sorted_map_of(typ, key_zero, zero, keys, values):
    """Return a map made from arrays, or release it and raise as the Python class does."""
    check_sizes(keys, values)
    self = new_sorted_map(typ, key_zero, zero)
    failure = _set_many(self, keys, values)
    if failure == status.NOT_A_NUMBER:
        raise ValueError("a key is not a number")
    if failure < 0:
        raise MemoryError
    return self


@kernel
def _sorted_with_indexes(self, keys):
    """Return the keys as the rows store them, sorted, and their indexes."""
    orders, indexes = new_words(keys.size), new_words(keys.size)
    for i in range(keys.size):
        orders[i] = order_of(self, keys[i])
        indexes[i] = i
    return _sorted_entries(orders, indexes)


@method(SortedMapType, "add_many")
@kernel
def _add_many(self, keys, deltas):
    """Add all or nothing. Return (status, index of the item that failed)."""
    if keys.size != deltas.size:
        return status.OUT_OF_RANGE, smaller(keys.size, deltas.size)
    if _index_of_nan(keys) < keys.size:
        return status.NOT_A_NUMBER, _index_of_nan(keys)
    orders, indexes = _sorted_with_indexes(self, keys)
    sums = indexes
    value = self.zero
    for j in range(keys.size):
        if j == 0 or orders[j] != orders[j - 1]:
            place = place_of(self, orders[j])
            value = value_at(self, place) if place != NONE else self.zero
        i = indexes[j]
        delta = as_count(deltas[i], self.zero)
        if sum_leaves_range(value, delta):
            return status.OVERFLOW if value + delta == value + delta else status.NOT_A_NUMBER, i
        value += delta
        sums[j] = to_order(value)
    return (status.OK, keys.size) if _set_sorted(self, orders, sums) else (status.NO_MEMORY, 0)


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
    """Return whether both have the same entries; a NaN equals itself."""
    if self.size != other.size:
        return False
    rows, other_rows = self.rows, other.rows
    leaf, i = first_leaf(other), 0
    own_leaf = first_leaf(self)
    while own_leaf != NONE:
        for place in range(own_leaf, own_leaf + rows[own_leaf + SIZE]):
            if i == other_rows[leaf + SIZE]:
                leaf, i = other_rows[leaf + NEXT], 0
            counterpart = leaf + i
            if (
                rows[place] != other_rows[counterpart]
                or rows[place + VALUE] != other_rows[counterpart + VALUE]
            ):
                return False
            i += 1
        own_leaf = rows[own_leaf + NEXT]
    return True


@kernel
def state(self):
    """Return the state that ``_check()`` tests."""
    return self.rows[: self.used].copy(), self.root, self.height, self.free, self.n_free


@method(SortedMapType, "nbytes")
@quiet
def _nbytes(self):
    return self.rows.nbytes
