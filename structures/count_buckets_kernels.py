"""The compiled half of :mod:`structures.count_buckets`, whose docstring draws the cells.

Kernels on plain arrays come first, then the type, then its methods: kernels that take a container.
"""

from __future__ import annotations

from numba import types
from numba.experimental import structref

from structures import status
from structures.counted import CountedType
from structures.hashing import mix
from structures.int_map_kernels import VALUE, int_map_type, new_int_map, probe, put
from structures.jit import inner, kernel, quiet
from structures.memory import copy_prefix, new_words
from structures.priorities import difference_leaves_range, sum_leaves_range
from structures.simd import pointer_to
from structures.sorting import sort
from structures.struct_type import fields_of, method, new_like

WORDS = 8
END = 0
KEY = COUNT = 0
BUCKET = PARENT = 1
SIBLING = ORDER = 2
CHILDREN = 4
LEFT = 6
RIGHT = 7
DOWN, UP = 0, 1  # sides: of a place the one before and the one behind, of a bucket LEFT and RIGHT
MIN_CELLS = 8


# ------------------------------------------------------------------------------------- kernels: the cells
@kernel
def empty_cells(n_cells):
    """Return an array of `n_cells` cells, of which only the end is in use."""
    cells = new_words(n_cells * WORDS)
    for i in range(WORDS):
        cells[i] = 0
    alone(cells, END + ORDER)
    alone(cells, END + CHILDREN)
    return cells


# ------------------------------------------------------------------------------------- kernels: the rings
@inner
def alone(cells, place):
    """Make a place a ring of its own."""
    cells[place + DOWN] = place
    cells[place + UP] = place


@inner
def link(cells, place, before):
    """Put a place on a ring, right behind another."""
    behind = cells[before + UP]
    cells[place + DOWN] = before
    cells[place + UP] = behind
    cells[before + UP] = place
    cells[behind + DOWN] = place


@inner
def unlink(cells, place):
    """Take a place out of its ring."""
    before, behind = cells[place + DOWN], cells[place + UP]
    cells[before + UP] = behind
    cells[behind + DOWN] = before


@inner
def splice(cells, place, other):
    """Make two rings one: `place`, `other` and its ring, the rest of the ring of `place`."""
    behind, last = cells[place + UP], cells[other + DOWN]
    cells[place + UP] = other
    cells[other + DOWN] = place
    cells[last + UP] = behind
    cells[behind + DOWN] = last


# ------------------------------------------------------------------- kernels: the heap of a bucket's keys
@inner
def enter(cells, key_cell, bucket):
    """Make a childless key the first root of a bucket."""
    cells[key_cell + BUCKET] = bucket
    link(cells, key_cell + SIBLING, bucket + CHILDREN)


@inner
def leave(cells, key_cell):
    """Take a key out of its bucket, its children where it was; return whether it was the last one."""
    children = key_cell + CHILDREN
    if cells[children + UP] != children:
        splice(cells, key_cell + SIBLING, children)
        unlink(cells, children)
        alone(cells, children)
    unlink(cells, key_cell + SIBLING)
    roots = cells[key_cell + BUCKET] + CHILDREN
    return cells[roots + UP] == roots


@inner
def adopt(cells, place, other):
    """Hang the one of two roots with the greater key below the other, which is returned."""
    if cells[other - SIBLING + KEY] < cells[place - SIBLING + KEY]:
        place, other = other, place
    unlink(cells, other)
    link(cells, other, place - SIBLING + CHILDREN)
    return place


@inner
def smallest(cells, bucket):
    """Return the cell of the smallest key of a bucket, after linking its roots into one tree."""
    roots = bucket + CHILDREN
    place = cells[roots + UP]
    while place != roots and cells[place + UP] != roots:  # the roots in pairs, forwards
        other = cells[place + UP]
        behind = cells[other + UP]
        adopt(cells, place, other)
        place = behind
    place = cells[roots + DOWN]
    while cells[place + DOWN] != roots:  # the pairs into one, backwards
        place = adopt(cells, cells[place + DOWN], place)
    return place - SIBLING


@inner
def gather(cells, bucket, keys, n):
    """Write the keys of a bucket, in no order, to ``keys[n:]``; return the `n` behind them."""
    place = cells[bucket + CHILDREN + UP]
    while place != bucket + CHILDREN:
        cell = place & -WORDS
        if place == cell + SIBLING:  # a key: go on below it
            keys[n] = cells[cell + KEY]
            n += 1
            place = cells[cell + CHILDREN + UP]
        else:  # everything below it is done: go on beside it
            place = cells[cell + SIBLING + UP]
    return n


# ------------------------------------------------------------------------- kernels: the treap of buckets
@inner
def neighbour(cells, bucket, side):
    """Return the bucket with the next count downwards (side 0) or upwards (side 1), or the end."""
    return cells[bucket + ORDER + side] - ORDER


@inner
def is_past(count, other, side):
    """Say whether `count` lies strictly below (side 0) or above (side 1) the other."""
    return count > other if side == UP else count < other


@inner
def priority(bucket):
    """Return the priority of a bucket in the treap: its address, mixed twice; no two are the same."""
    return mix(mix(bucket, 0), 0)


@inner
def near(cells, start, count):
    """Return the bucket of `count`, or one of the two beside which it belongs; look from `start` outwards.

    From the end, where the neighbour upwards is the least count, the search goes upwards.
    """
    side = UP if start == END or count > cells[start + COUNT] else DOWN
    if start != END and count == cells[start + COUNT]:
        return start
    beside = neighbour(cells, start, side)
    if beside == END or is_past(cells[beside + COUNT], count, side):
        return start
    if cells[beside + COUNT] == count:
        return beside
    # Climb until the tree below `top` spans all counts from the start to the wanted one ...
    top = beside
    parent = cells[top + PARENT]
    while parent != END and not is_past(cells[parent + COUNT], count, side):
        top = parent
        parent = cells[top + PARENT]
    # ... and search down from there.
    while cells[top + COUNT] != count:
        child = cells[top + (RIGHT if count > cells[top + COUNT] else LEFT)]
        if child == END:
            break
        top = child
    return top


@inner
def side_of(cells, bucket):
    """Return the side on which a bucket hangs below its parent."""
    return UP if cells[cells[bucket + PARENT] + RIGHT] == bucket else DOWN


@inner
def hang(cells, parent, side, child):
    """Make a bucket, or nothing, the child of another on one side."""
    cells[parent + LEFT + side] = child
    if child != END:
        cells[child + PARENT] = parent


@inner
def rotate(cells, child):
    """Exchange a bucket and its parent in the treap; the order from left to right stays."""
    parent, side = cells[child + PARENT], side_of(cells, child)
    inner = cells[child + LEFT + 1 - side]
    hang(cells, cells[parent + PARENT], side_of(cells, parent), child)
    hang(cells, parent, side, inner)
    hang(cells, child, 1 - side, parent)


@inner
def open_bucket(cells, bucket, count, beside):
    """Make a cell the bucket of a new count, which belongs on one side of the bucket `beside`."""
    side = UP if beside == END or count > cells[beside + COUNT] else DOWN
    if cells[beside + LEFT + side] != END:  # then the neighbour there is free on its near side
        beside, side = neighbour(cells, beside, side), 1 - side
    link(cells, bucket + ORDER, beside + ORDER if side == UP else cells[beside + ORDER + DOWN])
    cells[bucket + COUNT] = count
    cells[bucket + LEFT] = END
    cells[bucket + RIGHT] = END
    hang(cells, beside, side, bucket)
    while cells[bucket + PARENT] != END and priority(bucket) > priority(cells[bucket + PARENT]):
        rotate(cells, bucket)


@inner
def close_bucket(cells, bucket):
    """Take an empty bucket out of the treap and out of the order."""
    left, right = cells[bucket + LEFT], cells[bucket + RIGHT]
    while left != END and right != END:
        rotate(cells, left if priority(left) > priority(right) else right)
        left, right = cells[bucket + LEFT], cells[bucket + RIGHT]
    hang(cells, cells[bucket + PARENT], side_of(cells, bucket), left if left != END else right)
    unlink(cells, bucket + ORDER)


@inner
def slide(cells, key_cell, count):
    """Write the count of a key that is alone in its bucket, if it stays between the neighbours' counts."""
    bucket = cells[key_cell + BUCKET]
    place, roots, children = key_cell + SIBLING, bucket + CHILDREN, key_cell + CHILDREN
    less, more = neighbour(cells, bucket, DOWN), neighbour(cells, bucket, UP)
    # One branch: whether a count rises or falls cannot be foreseen.
    is_alone = (
        (cells[roots + UP] == place) & (cells[roots + DOWN] == place) & (cells[children + UP] == children)
    )
    is_above = (less == END) | (cells[less + COUNT] < count)
    is_below = (more == END) | (cells[more + COUNT] > count)
    if is_alone & is_above & is_below:
        cells[bucket + COUNT] = count
        return True
    return False


# ------------------------------------------------------------------------------------------------ type
@structref.register
class CountBucketsType(CountedType):
    """numba type of :class:`CountBuckets`."""


count_buckets_type = CountBucketsType(
    fields_of(
        cells=types.int64[::1],
        map=int_map_type,  # key -> address of its cell
        size=types.int64,
        used=types.int64,  # cells from this address on have never been used
        free=types.int64,  # address of the first free cell before, 0 for none; its first word names the next
    )
)


@kernel
def new_count_buckets(n_cells):
    """Return an empty container with an array of `n_cells` cells."""
    self = structref.new(count_buckets_type)
    self.cells = empty_cells(n_cells)
    self.map = new_int_map()
    self.size = 0
    self.used = WORDS
    self.free = 0
    return self


@inner
def _resize(self, n_cells):
    cells = new_words(n_cells * WORDS)
    copy_prefix(self.cells, self.used, cells)
    self.cells = cells
    return True


@inner
def _take_cell(self):
    """Return a free cell, for which `cells` may grow, or 0 where there is no memory."""
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
    """Return the bucket of `count`, found or opened, looking from `start`; 0 where there is no memory."""
    found = near(self.cells, start, count)
    if found != END and self.cells[found + COUNT] == count:
        return found
    bucket = _take_cell(self)
    if bucket != 0:
        open_bucket(self.cells, bucket, count, found)
    return bucket


@inner
def _vacate(self, key_cell):
    """Take a key out of its bucket, which is closed if that was its last one."""
    if leave(self.cells, key_cell):
        bucket = self.cells[key_cell + BUCKET]
        close_bucket(self.cells, bucket)
        _give_cell(self, bucket)


@inner
def _insert(self, key, place, count):
    """Insert a new key, to which the map gives a place."""
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
    failure = put(self.map, key, place, cell)
    if failure < 0:
        _erase(self, cell)
    return failure


@inner
def _erase(self, cell):
    self.map.remove(self.cells[cell + KEY])
    _vacate(self, cell)
    _give_cell(self, cell)
    self.size -= 1
    return status.OK


@inner
def _move(self, cell, count):
    if slide(self.cells, cell, count):
        return status.OK
    bucket = _bucket(self, self.cells[cell + BUCKET], count)
    if bucket == 0:
        return status.NO_MEMORY
    _vacate(self, cell)
    enter(self.cells, cell, bucket)
    return status.OK


@inner
def _place(self, key):
    """Return the place of a key in the map, or the empty one where it belongs."""
    return probe(self.map.slots, self.map.shift, key)


@inner
def _cell_at(self, place):
    """Return the cell of the key at a place; 0, the end, for a missing key, whose count then reads as 0."""
    return pointer_to(self.map.slots, place)[VALUE]


@inner
def _find(self, key):
    return _cell_at(self, _place(self, key))


@inner
def _count_of(self, cell):
    return self.cells[self.cells[cell + BUCKET] + COUNT]


@inner
def _put(self, key, place, cell, count):
    return _move(self, cell, count) if cell != 0 else _insert(self, key, place, count)


@inner
def _change(self, key, place, cell, count, overflows):
    """Store what a multiset verb made of a count."""
    if overflows:
        return status.OVERFLOW
    if count < 0:
        return status.NEGATIVE
    if count > 0:
        return _put(self, key, place, cell, count)
    return _erase(self, cell) if cell != 0 else status.OK


@method(CountBucketsType, "set")
@quiet
def _set(self, key, count):
    place = _place(self, key)
    return _put(self, key, place, _cell_at(self, place), count)


@method(CountBucketsType, "add")
@quiet
def _add(self, key, n=1):
    place = _place(self, key)
    cell = _cell_at(self, place)
    count = _count_of(self, cell)
    return _change(self, key, place, cell, count + n, sum_leaves_range(count, n))


@method(CountBucketsType, "sub")
@quiet
def _sub(self, key, n=1):
    place = _place(self, key)
    cell = _cell_at(self, place)
    count = _count_of(self, cell)
    return _change(self, key, place, cell, count - n, difference_leaves_range(count, n))


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
    return smallest(self.cells, neighbour(self.cells, END, side))


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
    return self.cells[neighbour(self.cells, END, DOWN) + COUNT]


@method(CountBucketsType, "min_count")
@quiet
def _min_count(self):
    return self.cells[neighbour(self.cells, END, UP) + COUNT]


@method(CountBucketsType, "keys_at")
@kernel
def _keys_at(self, count):
    keys = new_words(self.size)
    bucket = near(self.cells, END, count)
    n = 0
    if bucket != END and self.cells[bucket + COUNT] == count:
        n = gather(self.cells, bucket, keys, n)
    found = keys[:n].copy()
    sort(found)
    return found


@method(CountBucketsType, "ties")
@kernel
def _ties(self):
    """Return the keys of the greatest count, ascending, as the heap's method of that name."""
    if self.size == 0:
        return new_words(0)
    return _keys_at(self, _max_count(self))


@method(CountBucketsType, "counts")
@kernel
def _counts(self):
    counts = new_words(self.size)
    bucket = neighbour(self.cells, END, DOWN)
    n = 0
    while bucket != END:
        counts[n] = self.cells[bucket + COUNT]
        n += 1
        bucket = neighbour(self.cells, bucket, DOWN)
    return counts[:n].copy()


@method(CountBucketsType, "to_arrays")
@kernel
def _to_arrays(self):
    keys = new_words(self.size)
    counts = new_words(self.size)
    bucket = neighbour(self.cells, END, DOWN)
    n = 0
    while bucket != END:
        start, n = n, gather(self.cells, bucket, keys, n)
        sort(keys[start:n])
        counts[start:n] = self.cells[bucket + COUNT]
        bucket = neighbour(self.cells, bucket, DOWN)
    return keys, counts


@method(CountBucketsType, "nlargest")
@kernel
def _nlargest(self, k):
    keys, counts = self.pop_many(k)
    for i in range(keys.size):  # back into the cells that have just become free
        _insert(self, keys[i], _place(self, keys[i]), counts[i])
    return keys, counts


@quiet
def insert_many(self, keys, counts):
    """Insert new keys. Returns (status, index of the item that failed)."""
    for i in range(keys.size):
        place = _place(self, keys[i])
        failure = status.DUPLICATE if _cell_at(self, place) else _insert(self, keys[i], place, counts[i])
        if failure < 0:
            return failure, i
    return status.OK, keys.size


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
    n_cells = 2 * n_keys + 2  # each key with a count of its own, and one that moves
    if n_cells * WORDS > self.cells.size and not _resize(self, n_cells):
        return status.NO_MEMORY
    return self.map.reserve(n_keys)


@kernel
def state(self):
    """Return the arrays and what else the invariants are about."""
    return self.cells.copy(), self.map.copy(), self.size, self.used, self.free


@method(CountBucketsType, "nbytes")
@quiet
def _nbytes(self):
    return self.cells.nbytes + self.map.nbytes()
