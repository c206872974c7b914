"""More methods of the type of ``SortedMap``: ends, neighbours, ranks, ranges, many keys."""

import numpy as np

from structures import status
from structures.base.container import pairs_of
from structures.base.mapping import check_sizes
from structures.base.struct_type import method
from structures.compiling.jit import inner, kernel, quiet
from structures.primitives.memory import new_words
from structures.primitives.priorities import as_count, from_order, sum_leaves_range, to_order
from structures.primitives.simd import larger, local_words, smaller
from structures.primitives.sorting import BYTES, sort_entries
from structures.sorted_maps.sorted_map_kernels import (
    SortedMapType,
    cut,
    entry_at,
    first_leaf,
    have_rows,
    last_place,
    new_sorted_map,
    order_of,
    place_of,
    reset,
    value_at,
    write,
)
from structures.sorted_maps.sorted_map_rows import (
    KEYS,
    MAX_HEIGHT,
    NEXT,
    NONE,
    ROW,
    SIZE,
    VALUE,
    at_or_after,
    before,
    build,
    holds,
    is_rising,
    keep_last,
    leaf_of,
    merge_entries,
    n_below,
    n_built,
    path_at,
    path_to,
    rank_of,
)
from structures.status import INT64_MAX, INT64_MIN


# ----------------------------------------------------------------------------------------- the two ends
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
    """Remove the first entry, if `order` is the least int64, or the last, if it is the greatest."""
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


# ------------------------------------------------------------------------------------- neighbours of a key
@inner
def place_before(self, order, or_at):
    """Return the place of the greatest key less than a key, or that of the key itself, or NONE."""
    leaf = leaf_of(self.rows, self.root, self.height, order)
    place = leaf + n_below(self.rows, leaf, KEYS, order)
    if or_at and holds(self.rows, leaf, place, order):
        return place
    return before(self.rows, leaf, place)


@inner
def place_after(self, order, or_at):
    """Return the place of the least key greater than a key, or that of the key itself, or NONE."""
    leaf = leaf_of(self.rows, self.root, self.height, order)
    place = leaf + n_below(self.rows, leaf, KEYS, order)
    if not or_at and holds(self.rows, leaf, place, order):
        place += 1
    return at_or_after(self.rows, leaf, place)


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
    """Return the keys and values with ranks from `start` to before `stop`."""
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
    """Remove the keys with ranks from `start` to before `stop`; return how many."""
    path = local_words(MAX_HEIGHT)
    for _ in range(start, stop):
        place, leaf = path_at(self.rows, self.root, self.height, start, path)
        cut(self, path, leaf, place)
    return larger(stop - start, 0)


@quiet  # an inner kernel would compile the branch for None, too
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


# For Python, one kernel for ranges of all kinds; one call, so that no other thread comes between.
@inner
def _ranks(self, low, high, has_low, has_high):
    start = _rank(self, low) if has_low else 0
    return start, _rank(self, high) if has_high else self.size


@quiet
def count_within(self, low, high, has_low, has_high):
    """Return how many keys are in a range, that may have no ends."""
    start, stop = _ranks(self, low, high, has_low, has_high)
    return larger(stop - start, 0)


@kernel
def entries_within(self, low, high, has_low, has_high):
    """Return the keys in a range, that may have no ends, and their values."""
    start, stop = _ranks(self, low, high, has_low, has_high)
    return entries_between(self, start, stop)


@quiet
def remove_within(self, low, high, has_low, has_high):
    """Remove the keys in a range, that may have no ends; return how many."""
    start, stop = _ranks(self, low, high, has_low, has_high)
    return remove_between(self, start, stop)


@method(SortedMapType, "to_arrays")
@kernel
def _to_arrays(self):
    return entries_between(self, 0, self.size)


# -------------------------------------------------------------------------------------- many keys, to read
@quiet
def nearest(self, key, is_below, or_at):
    """Return whether there is a key on one side of `key`, or at it, and the nearest key and its value."""
    order = order_of(self, key)
    place = place_before(self, order, or_at) if is_below else place_after(self, order, or_at)
    key, value = entry_at(self, place, (0, 0))
    return place != NONE, key, value


@kernel
def nearest_many(self, keys, is_below, default):
    """Return the nearest keys at or on one side of `keys`, their values, and the first index without one."""
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
    """Return the keys, sorted, and their values; those with the same key stay in order."""
    if is_rising(keys):
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
    """Return how many rows `n` new keys take at most."""
    # A leaf is split if it was full before, or after half a leaf of new keys; likewise a node.
    n_leaves = smaller(n, self.size // KEYS + n // (KEYS // 2) + 1)
    n_nodes = smaller(n_leaves * self.height, self.used // ROW // 32 + n_leaves // 16)
    return n_leaves + n_nodes + 2 * self.height + 4 if n > 0 else 0


@inner
def _set_sorted(self, keys, values):
    """Set sorted keys; a repeated one has its last value."""
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
def _not_a_number(keys):
    """Return the index of the first key that is not a number, or how many keys there are."""
    for i in range(keys.size):
        if keys[i] != keys[i]:
            return i
    return keys.size


@method(SortedMapType, "set_many")
@quiet
def _set_many(self, keys, values):
    if keys.size != values.size:
        return status.OUT_OF_RANGE
    if _not_a_number(keys) < keys.size:
        return status.NOT_A_NUMBER
    return status.OK if _set_all(self, keys, values) else status.NO_MEMORY


@kernel
def sorted_map_of(typ, key_zero, zero, keys, values):
    """Return a map of arrays, or raise as the class in Python does; the map is released then."""
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
    """Return the keys, sorted, as they are in the rows, and their indexes."""
    orders, indexes = new_words(keys.size), new_words(keys.size)
    for i in range(keys.size):
        orders[i] = order_of(self, keys[i])
        indexes[i] = i
    return _sorted_entries(orders, indexes)


@method(SortedMapType, "update_many")
@kernel
def _update_many(self, keys, deltas):
    """Add all or nothing. Returns (status, index of the item that failed)."""
    if keys.size != deltas.size:
        return status.OUT_OF_RANGE, smaller(keys.size, deltas.size)
    if _not_a_number(keys) < keys.size:
        return status.NOT_A_NUMBER, _not_a_number(keys)
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
