"""The numba type of ``CountBuckets`` and its methods: kernels that take a container."""

from types import MappingProxyType

from numba import types
from numba.experimental import structref

from structures import status
from structures.base.mapping import check_sizes
from structures.base.queue import CountedType
from structures.base.struct_type import fields_of, method, new, new_like
from structures.compiling.jit import inner, kernel, late, quiet
from structures.hash_tables.int_map_kernels import discard, find, int_map_type, new_map, put
from structures.hash_tables.int_map_table import VALUE
from structures.primitives.memory import MOST_ITEMS, copy_prefix, new_words
from structures.primitives.priorities import difference_leaves_range, sum_leaves_range
from structures.primitives.sorting import sort
from structures.priority_queues.count_buckets_cells import (
    BUCKET,
    CHILDREN,
    COUNT,
    DOWN,
    END,
    KEY,
    MIN_CELLS,
    ORDER,
    RIGHT,
    UP,
    WORDS,
    alone,
    at_or_above,
    at_or_below,
    close_bucket,
    empty_cells,
    enter,
    find_near,
    gather,
    leave,
    neighbor,
    open_bucket,
    recount_in_place,
    smallest,
)
from structures.status import INT64_MAX, INT64_MIN


# ------------------------------------------------------------------------------------------------ type
@structref.register
class CountBucketsType(CountedType):
    """numba type of :class:`CountBuckets`."""

    mutating_reads = ("peek", "peek_min", "nlargest")
    subjects = MappingProxyType(
        {"ceiling_count": "no count at or above {}", "floor_count": "no count at or below {}"}
    )


count_buckets_type = CountBucketsType(
    fields_of(
        cells=types.int64[::1],
        map=int_map_type,  # key -> address of its cell
        size=types.int64,
        used=types.int64,  # cells from this address on have never been used
        free=types.int64,  # address of a free cell, 0 for none; its first word is the address of the next
    )
)


@kernel
def new_count_buckets(n_cells=MIN_CELLS):
    """Return an empty container with an array of `n_cells` cells."""
    self = new(count_buckets_type)
    self.cells = empty_cells(n_cells)
    self.map = new_map(int_map_type, 0)
    self.size = 0
    self.used = WORDS
    self.free = 0
    return self


@late
def _resize(self, n_cells):
    cells = new_words(n_cells * WORDS)
    copy_prefix(self.cells, self.used, cells)
    self.cells = cells
    return True


@inner
def _take_cell(self):
    """Return a free cell, for which `cells` may grow; 0 if there is no memory."""
    cell = self.free
    if cell != 0:
        self.free = self.cells[cell]
    else:
        cell = self.used
        if cell == self.cells.size and not _resize(self, 2 * self.cells.size // WORDS):
            return 0
        self.used = cell + WORDS
    alone(self.cells, cell + CHILDREN)
    return cell


@inner
def _give_cell(self, cell):
    self.cells[cell] = self.free
    self.free = cell


@inner
def _bucket(self, start, count):
    """Find or open the bucket of `count`, searching from `start`; return 0 if there is no memory."""
    found = find_near(self.cells, start, count)
    if found != END and self.cells[found + COUNT] == count:
        return found
    bucket = _take_cell(self)
    if bucket != 0:
        open_bucket(self.cells, bucket, count, found)
    return bucket


@inner
def _vacate(self, key_cell):
    """Take a key out of its bucket; close the bucket if it is now empty."""
    if leave(self.cells, key_cell):
        bucket = self.cells[key_cell + BUCKET]
        close_bucket(self.cells, bucket)
        _give_cell(self, bucket)


@inner
def _insert(self, key, entry, count):
    """Insert a new key, whose entry in the map is empty."""
    cell = _take_cell(self)
    if cell == 0:
        return status.NO_MEMORY
    bucket = _bucket(self, END, count)
    if bucket == 0:
        _give_cell(self, cell)
        return status.NO_MEMORY
    self.cells[cell + KEY] = key
    enter(self.cells, cell, bucket)
    self.size += 1
    failure = put(self.map, key, entry, cell)
    if failure < 0:
        _erase(self, cell)
    return failure


@inner
def _erase(self, cell):
    discard(self.map, self.cells[cell + KEY])
    _vacate(self, cell)
    _give_cell(self, cell)
    self.size -= 1
    return status.OK


@inner
def _move(self, cell, count):
    if recount_in_place(self.cells, cell, count):
        return status.OK
    bucket = _bucket(self, self.cells[cell + BUCKET], count)
    if bucket == 0:
        return status.NO_MEMORY
    _vacate(self, cell)
    enter(self.cells, cell, bucket)
    return status.OK


@inner
def _find(self, key):
    """Return the cell of a key. A missing key has cell 0, the end, whose count is 0."""
    return find(self.map, key)[VALUE]


@inner
def _count_of(self, cell):
    return self.cells[self.cells[cell + BUCKET] + COUNT]


@inner
def _put(self, key, entry, cell, count):
    return _move(self, cell, count) if cell != 0 else _insert(self, key, entry, count)


@inner
def _change(self, key, entry, cell, count, overflows):
    """Store the count that ``add`` or ``sub`` has computed."""
    if overflows:
        return status.OVERFLOW
    if count < 0:
        return status.NEGATIVE
    if count > 0:
        return _put(self, key, entry, cell, count)
    return _erase(self, cell) if cell != 0 else status.OK


@method(CountBucketsType, "set")
@quiet
def _set(self, key, count):
    entry = find(self.map, key)
    return _put(self, key, entry, entry[VALUE], count)


@method(CountBucketsType, "add")
@quiet
def _add(self, key, n=1):
    entry = find(self.map, key)
    cell = entry[VALUE]
    count = _count_of(self, cell)
    return _change(self, key, entry, cell, count + n, sum_leaves_range(count, n))


@method(CountBucketsType, "sub")
@quiet
def _sub(self, key, n=1):
    entry = find(self.map, key)
    cell = entry[VALUE]
    count = _count_of(self, cell)
    return _change(self, key, entry, cell, count - n, difference_leaves_range(count, n))


@method(CountBucketsType, "get")
@quiet
def _get(self, key, default=0):
    cell = _find(self, key)
    return _count_of(self, cell) if cell != 0 else default


@method(CountBucketsType, "contains")
@quiet
def _contains(self, key):
    return _find(self, key) != 0


@method(CountBucketsType, "remove")
@quiet
def _remove(self, key):
    cell = _find(self, key)
    return _erase(self, cell) if cell != 0 else status.MISSING


@inner
def _first(self, side):
    """Return the cell of the smallest key of the least (side 1) or greatest (side 0) count, or 0."""
    if self.size == 0:
        return 0
    return smallest(self.cells, neighbor(self.cells, END, side))


@inner
def _read(self, cell):
    return (self.cells[cell + KEY], _count_of(self, cell))


@inner
def _pop_first(self, side):
    cell = _first(self, side)
    entry = _read(self, cell)
    if cell != 0:
        _erase(self, cell)
    return entry


@method(CountBucketsType, "prefetch")
@quiet
def _prefetch(self, key):
    self.map.prefetch(key)


@method(CountBucketsType, "peek")
@quiet
def _peek(self):
    return _read(self, _first(self, DOWN))


@method(CountBucketsType, "peek_min")
@quiet
def _peek_min(self):
    return _read(self, _first(self, UP))


@method(CountBucketsType, "pop")
@quiet
def _pop(self):
    return _pop_first(self, DOWN)


@method(CountBucketsType, "pop_min")
@quiet
def _pop_min(self):
    return _pop_first(self, UP)


@method(CountBucketsType, "max_count")
@quiet
def _max_count(self):
    return self.cells[neighbor(self.cells, END, DOWN) + COUNT]


@method(CountBucketsType, "min_count")
@quiet
def _min_count(self):
    return self.cells[neighbor(self.cells, END, UP) + COUNT]


@method(CountBucketsType, "keys_at")
@kernel
def _keys_at(self, count):
    keys = new_words(self.size)
    bucket = find_near(self.cells, END, count)
    n = 0
    if bucket != END and self.cells[bucket + COUNT] == count:
        n = gather(self.cells, bucket, keys, n)
    found = keys[:n].copy()
    sort(found)
    return found


@kernel
def keys_within(self, least, greatest):
    """Return the keys whose counts are from `least` to `greatest`, in the order of ``pop``."""
    keys = new_words(self.size)
    bucket = at_or_below(self.cells, greatest)
    n = 0
    while bucket != END and self.cells[bucket + COUNT] >= least:
        start, n = n, gather(self.cells, bucket, keys, n)
        sort(keys[start:n])
        bucket = neighbor(self.cells, bucket, DOWN)
    return keys[:n].copy()


@method(CountBucketsType, "keys_in")
@kernel
def _keys_in(self, low=None, high=None):
    least = INT64_MIN if low is None else low
    if high is None:
        return keys_within(self, least, INT64_MAX)
    if high == INT64_MIN:
        return new_words(0)
    return keys_within(self, least, high - 1)


@quiet
def nearest_count(self, count, is_above):
    """Return whether there is a count at or above (or below) `count`, and the nearest such count."""
    bucket = at_or_above(self.cells, count) if is_above else at_or_below(self.cells, count)
    return bucket != END, self.cells[bucket + COUNT]


@method(CountBucketsType, "_before_ceiling_count")
@quiet
def _before_ceiling_count(self, count):
    return status.OK if nearest_count(self, count, True)[0] else status.MISSING


@method(CountBucketsType, "ceiling_count")
@quiet
def _ceiling_count(self, count, default=0):
    is_there, found = nearest_count(self, count, True)
    return found if is_there else default


@method(CountBucketsType, "_before_floor_count")
@quiet
def _before_floor_count(self, count):
    return status.OK if nearest_count(self, count, False)[0] else status.MISSING


@method(CountBucketsType, "floor_count")
@quiet
def _floor_count(self, count, default=0):
    is_there, found = nearest_count(self, count, False)
    return found if is_there else default


@method(CountBucketsType, "ties")
@kernel
def _ties(self):
    """Return the keys of the greatest count, ascending."""
    if self.size == 0:
        return new_words(0)
    return _keys_at(self, _max_count(self))


@method(CountBucketsType, "counts")
@kernel
def _counts(self):
    counts = new_words(self.size)
    bucket = neighbor(self.cells, END, DOWN)
    n = 0
    while bucket != END:
        counts[n] = self.cells[bucket + COUNT]
        n += 1
        bucket = neighbor(self.cells, bucket, DOWN)
    return counts[:n].copy()


@method(CountBucketsType, "to_arrays")
@kernel
def _to_arrays(self):
    keys = new_words(self.size)
    counts = new_words(self.size)
    bucket = neighbor(self.cells, END, DOWN)
    n = 0
    while bucket != END:
        start, n = n, gather(self.cells, bucket, keys, n)
        sort(keys[start:n])
        counts[start:n] = self.cells[bucket + COUNT]
        bucket = neighbor(self.cells, bucket, DOWN)
    return keys, counts


@method(CountBucketsType, "nlargest")
@kernel
def _nlargest(self, k):
    keys, counts = self.pop_many(k)
    for i in range(keys.size):  # into the cells that have just become free
        _insert(self, keys[i], find(self.map, keys[i]), counts[i])
    return keys, counts


@quiet
def insert_many(self, keys, counts):
    """Insert new keys. Returns (status, index of the item that failed)."""
    for i in range(keys.size):
        entry = find(self.map, keys[i])
        failure = status.DUPLICATE if entry[VALUE] else _insert(self, keys[i], entry, counts[i])
        if failure < 0:
            return failure, i
    return status.OK, keys.size


@kernel
def count_buckets_of(keys, counts):
    """Return a container made from arrays, or release it and raise as the Python class does."""
    check_sizes(keys, counts)
    self = new_count_buckets()
    failure, _ = insert_many(self, keys, counts)
    if failure == status.DUPLICATE:
        raise ValueError("a key is a duplicate")
    if failure < 0:
        raise MemoryError
    return self


@method(CountBucketsType, "clear")
@quiet
def _clear(self):
    self.map.clear()
    alone(self.cells, END + ORDER)
    self.cells[END + RIGHT] = END
    self.used = WORDS
    self.free = 0
    self.size = 0
    return status.OK


@method(CountBucketsType, "copy")
@kernel
def _copy(self):
    other = new_like(self)
    other.cells = self.cells.copy()
    other.map = self.map.copy()
    other.size = self.size
    other.used = self.used
    other.free = self.free
    return other


@method(CountBucketsType, "reserve")
@quiet
def _reserve(self, n_keys):
    if n_keys >= MOST_ITEMS:
        return status.NO_MEMORY
    n_cells = 2 * n_keys + 2  # each key with its own bucket, the end, and the new bucket of a moving key
    if n_cells * WORDS > self.cells.size and not _resize(self, n_cells):
        return status.NO_MEMORY
    return self.map.reserve(n_keys)


@kernel
def state(self):
    """Return the state that ``_check()`` tests."""
    return self.cells.copy(), self.map.copy(), self.size, self.used, self.free


@method(CountBucketsType, "nbytes")
@quiet
def _nbytes(self):
    return self.cells.nbytes + self.map.nbytes
