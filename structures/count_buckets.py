"""``CountBuckets``: a sorted map from a count to the set of keys that have it, with key -> count.

Every key and every distinct count is a *cell*, 8 words of one array. A hash table leads from a key to its
cell. A cell names another by its address, the index of its first word; cell 0 is the *end*. ::

    word        0      1       2      3      4      5      6     7
    key       | KEY  | BUCKET | SIBLING     | CHILDREN    |  -  |  -    |
    bucket    | COUNT| PARENT | ORDER       | CHILDREN    | LEFT| RIGHT |
    end       |  0   |   0    | ORDER       | CHILDREN    |  0  | root  |

    end <-> count 1 <-> count 2 <-> count 7 <-> end      ORDER: the buckets, least count first
               |           |           |
               9          40           5                 CHILDREN, SIBLING: a heap of the tied keys
             .-+-.                     |
            12   30                    8

ORDER, SIBLING and CHILDREN are places on a ring: two words, the places before and behind. The CHILDREN
place of a bucket or of a key opens the ring of its children's SIBLING places, so that a place is cut out
or a whole ring spliced in without asking where it hangs.

The keys of a bucket are a *lazy pairing heap*: a key that enters is one more root; a key that leaves hands
its children to its siblings. Nothing is compared before somebody asks for the smallest key; then the
roots are linked into one tree. So traffic that never asks for the order of a bucket never pays for it.

Through the buckets runs a treap, a search tree by count that is a heap by a hash of the address; the end is
above its root. A move by one looks at the neighbour on the ring only; a far one climbs the tree from where
the key was and comes down where the count belongs. The only key of a bucket moves between the
neighbours' counts by writing the bucket's count.

Invariants
----------
1. Each cell is the end, or a key's, or a bucket's, or on the list of free cells that starts at ``free``.
2. The map leads each of the ``size`` keys to its cell, and the keys of the buckets are these.
3. Rings close: the place behind the place before is the place itself.
4. From the end along ORDER the counts rise strictly, and no bucket is empty.
5. The treap below the end, read from left to right, is ORDER; a bucket's priority is above its children's.
6. A key below another one in the heap is greater, and BUCKET names the bucket that both are in.

Complexity
----------
For n keys and k distinct counts, m keys at the count in question:

============================  ================================================================
get, in                       O(1) expected
add, sub, set                 O(1) expected, amortised over growth, to a neighbouring count;
                              O(log k) expected to any other, and for a new key
del                           O(1) expected
max_count, min_count          O(1)
peek, pop, peek_min, pop_min  O(log m) amortised: links put off are made here, at most one for
                              each key that has entered since, and for each child of a popped one
nlargest, pop_many            k times pop
keys_at                       O(log k + m log m)
items, to_arrays              O(n log n)
memory                        64 bytes a key and 64 a distinct count, up to twice that after
                              growth, and the map: 26 to 51 bytes a key
============================  ================================================================

Sources: Fredman, Sedgewick, Sleator, Tarjan, The pairing heap (1986), with the links put off until they are
asked for; Seidel, Aragon, Randomized search trees (1996).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numba import types
from numba.experimental import structref

from structures import status
from structures.counted import Counted, CountedType
from structures.hashing import mix
from structures.int_map import int_map_type, new_int_map
from structures.jit import kernel, quiet
from structures.priorities import difference_leaves_range, sum_leaves_range
from structures.status import error, int64, int64_array
from structures.struct_type import bind, fields_of, method, new_like

__all__ = ["CountBuckets", "CountBucketsType", "count_buckets_type"]

WORDS = 8
END = 0
KEY = COUNT = 0
BUCKET = PARENT = 1
SIBLING = ORDER = 2
CHILDREN = 4
LEFT = 6
RIGHT = 7
DOWN, UP = 0, 1  # sides: of a place the one before and the one behind, of a bucket LEFT and RIGHT
_MIN_CELLS = 8


# ------------------------------------------------------------------------------------- kernels: the cells
@quiet
def free_cells(cells, first, free):
    """Put the cells from the address `first` on in front of the free list; return its new start."""
    for cell in range(cells.size - WORDS, first - 1, -WORDS):
        cells[cell] = free
        free = cell
    return free


@kernel
def empty_cells(n_cells):
    """Return an array of `n_cells` cells, all free but the end."""
    cells = np.zeros(n_cells * WORDS, np.int64)
    alone(cells, END + ORDER)
    alone(cells, END + CHILDREN)
    free_cells(cells, WORDS, 0)
    return cells


# ------------------------------------------------------------------------------------- kernels: the rings
@quiet
def alone(cells, place):
    """Make a place a ring of its own."""
    cells[place + DOWN] = place
    cells[place + UP] = place


@quiet
def link(cells, place, before):
    """Put a place on a ring, right behind another."""
    behind = cells[before + UP]
    cells[place + DOWN] = before
    cells[place + UP] = behind
    cells[before + UP] = place
    cells[behind + DOWN] = place


@quiet
def unlink(cells, place):
    """Take a place out of its ring."""
    before, behind = cells[place + DOWN], cells[place + UP]
    cells[before + UP] = behind
    cells[behind + DOWN] = before


@quiet
def splice(cells, place, other):
    """Make two rings one: `place`, `other` and its ring, the rest of the ring of `place`."""
    behind, last = cells[place + UP], cells[other + DOWN]
    cells[place + UP] = other
    cells[other + DOWN] = place
    cells[last + UP] = behind
    cells[behind + DOWN] = last


# ------------------------------------------------------------------- kernels: the heap of a bucket's keys
@quiet
def enter(cells, key_cell, bucket):
    """Make a childless key the first root of a bucket."""
    cells[key_cell + BUCKET] = bucket
    link(cells, key_cell + SIBLING, bucket + CHILDREN)


@quiet
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


@quiet
def adopt(cells, place, other):
    """Hang the one of two roots with the greater key below the other, which is returned."""
    if cells[other - SIBLING + KEY] < cells[place - SIBLING + KEY]:
        place, other = other, place
    unlink(cells, other)
    link(cells, other, place - SIBLING + CHILDREN)
    return place


@quiet
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


@quiet
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
@quiet
def neighbour(cells, bucket, side):
    """Return the bucket with the next count downwards (side 0) or upwards (side 1), or the end."""
    return cells[bucket + ORDER + side] - ORDER


@quiet
def is_past(count, other, side):
    """Say whether `count` lies strictly below (side 0) or above (side 1) the other."""
    return count > other if side == UP else count < other


@quiet
def priority(bucket):
    """Return the priority of a bucket in the treap: its address, mixed twice; no two are the same."""
    return mix(mix(bucket, 0), 0)


@quiet
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


@quiet
def side_of(cells, bucket):
    """Return the side on which a bucket hangs below its parent."""
    return UP if cells[cells[bucket + PARENT] + RIGHT] == bucket else DOWN


@quiet
def hang(cells, parent, side, child):
    """Make a bucket, or nothing, the child of another on one side."""
    cells[parent + LEFT + side] = child
    if child != END:
        cells[child + PARENT] = parent


@quiet
def rotate(cells, child):
    """Exchange a bucket and its parent in the treap; the order from left to right stays."""
    parent, side = cells[child + PARENT], side_of(cells, child)
    inner = cells[child + LEFT + 1 - side]
    hang(cells, cells[parent + PARENT], side_of(cells, parent), child)
    hang(cells, parent, side, inner)
    hang(cells, child, 1 - side, parent)


@quiet
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


@quiet
def close_bucket(cells, bucket):
    """Take an empty bucket out of the treap and out of the order."""
    left, right = cells[bucket + LEFT], cells[bucket + RIGHT]
    while left != END and right != END:
        rotate(cells, left if priority(left) > priority(right) else right)
        left, right = cells[bucket + LEFT], cells[bucket + RIGHT]
    hang(cells, cells[bucket + PARENT], side_of(cells, bucket), left if left != END else right)
    unlink(cells, bucket + ORDER)


@quiet
def slide(cells, key_cell, count):
    """Write the count of a key that is alone in its bucket, if it stays between the neighbours' counts."""
    bucket = cells[key_cell + BUCKET]
    place, roots, children = key_cell + SIBLING, bucket + CHILDREN, key_cell + CHILDREN
    if cells[roots + UP] != place or cells[roots + DOWN] != place or cells[children + UP] != children:
        return False
    side = UP if count > cells[bucket + COUNT] else DOWN
    beside = neighbour(cells, bucket, side)
    if beside != END and not is_past(cells[beside + COUNT], count, side):
        return False
    cells[bucket + COUNT] = count
    return True


# ------------------------------------------------------------------------------------------------ type
@structref.register
class CountBucketsType(CountedType):
    """numba type of :class:`CountBuckets`."""


count_buckets_type = CountBucketsType(
    fields_of(
        cells=types.int64[::1],
        map=int_map_type,  # key -> address of its cell
        size=types.int64,
        free=types.int64,  # address of the first free cell, 0 for none; its first word names the next
    )
)


@kernel
def new_count_buckets(n_cells):
    """Return an empty container with an array of `n_cells` cells."""
    self = structref.new(count_buckets_type)
    self.cells = empty_cells(n_cells)
    self.map = new_int_map(0)
    self.size = 0
    self.free = WORDS
    return self


@quiet
def _resize(self, n_cells):
    cells = np.empty(n_cells * WORDS, np.int64)
    for i in range(self.cells.size):  # a slice assignment takes 2 s to compile
        cells[i] = self.cells[i]
    self.free = free_cells(cells, self.cells.size, self.free)
    self.cells = cells
    return True


@quiet
def _take_cell(self):
    """Return a free cell, for which `cells` may grow, or 0 where there is no memory."""
    if self.free == 0 and not _resize(self, 2 * self.cells.size // WORDS):
        return 0
    cell = self.free
    self.free = self.cells[cell]
    alone(self.cells, cell + CHILDREN)
    return cell


@quiet
def _give_cell(self, cell):
    self.cells[cell] = self.free
    self.free = cell


@quiet
def _bucket(self, start, count):
    """Return the bucket of `count`, found or opened, looking from `start`; 0 where there is no memory."""
    found = near(self.cells, start, count)
    if found != END and self.cells[found + COUNT] == count:
        return found
    bucket = _take_cell(self)
    if bucket != 0:
        open_bucket(self.cells, bucket, count, found)
    return bucket


@quiet
def _vacate(self, key_cell):
    """Take a key out of its bucket, which is closed if that was its last one."""
    if leave(self.cells, key_cell):
        bucket = self.cells[key_cell + BUCKET]
        close_bucket(self.cells, bucket)
        _give_cell(self, bucket)


@quiet
def _insert(self, key, count):
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
    failure = self.map.set(key, cell)
    if failure < 0:
        _erase(self, cell)
    return failure


@quiet
def _erase(self, cell):
    self.map.remove(self.cells[cell + KEY])
    _vacate(self, cell)
    _give_cell(self, cell)
    self.size -= 1
    return status.OK


@quiet
def _move(self, cell, count):
    if slide(self.cells, cell, count):
        return status.OK
    bucket = _bucket(self, self.cells[cell + BUCKET], count)
    if bucket == 0:
        return status.NO_MEMORY
    _vacate(self, cell)
    enter(self.cells, cell, bucket)
    return status.OK


@quiet
def _find(self, key):
    """Return the cell of a key; 0, the end, for a missing one, whose count then reads as 0."""
    return self.map.get(key, 0)


@quiet
def _count_of(self, cell):
    return self.cells[self.cells[cell + BUCKET] + COUNT]


@quiet
def _put(self, key, cell, count):
    return _move(self, cell, count) if cell != 0 else _insert(self, key, count)


@quiet
def _change(self, key, cell, count, overflows):
    """Store what a multiset verb made of a count."""
    if overflows:
        return status.OVERFLOW
    if count < 0:
        return status.NEGATIVE
    if count > 0:
        return _put(self, key, cell, count)
    return _erase(self, cell) if cell != 0 else status.OK


@method(CountBucketsType, "set")
@quiet
def _set(self, key, count):
    return _put(self, key, _find(self, key), count)


@method(CountBucketsType, "add")
@quiet
def _add(self, key, n=1):
    cell = _find(self, key)
    count = _count_of(self, cell)
    return _change(self, key, cell, count + n, sum_leaves_range(count, n))


@method(CountBucketsType, "sub")
@quiet
def _sub(self, key, n=1):
    cell = _find(self, key)
    count = _count_of(self, cell)
    return _change(self, key, cell, count - n, difference_leaves_range(count, n))


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


@quiet
def _first(self, side):
    """Return the cell of the smallest key of the least (side 1) or greatest (side 0) count, or 0."""
    if self.size == 0:
        return 0
    return smallest(self.cells, neighbour(self.cells, END, side))


@quiet
def _read(self, cell):
    return (self.cells[cell + KEY], _count_of(self, cell))


@quiet
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
    keys = np.empty(self.size, np.int64)
    bucket = near(self.cells, END, count)
    n = 0
    if bucket != END and self.cells[bucket + COUNT] == count:
        n = gather(self.cells, bucket, keys, n)
    found = keys[:n].copy()
    found.sort()
    return found


@method(CountBucketsType, "ties")
@kernel
def _ties(self):
    """Return the keys of the greatest count, ascending, as the heap's method of that name."""
    if self.size == 0:
        return np.empty(0, np.int64)
    return _keys_at(self, _max_count(self))


@method(CountBucketsType, "counts")
@kernel
def _counts(self):
    counts = np.empty(self.size, np.int64)
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
    keys = np.empty(self.size, np.int64)
    counts = np.empty(self.size, np.int64)
    bucket = neighbour(self.cells, END, DOWN)
    n = 0
    while bucket != END:
        start, n = n, gather(self.cells, bucket, keys, n)
        keys[start:n].sort()
        counts[start:n] = self.cells[bucket + COUNT]
        bucket = neighbour(self.cells, bucket, DOWN)
    return keys, counts


@method(CountBucketsType, "nlargest")
@kernel
def _nlargest(self, k):
    keys, counts = self.pop_many(k)
    for i in range(keys.size):  # back into the cells that have just become free
        _insert(self, keys[i], counts[i])
    return keys, counts


@quiet
def _insert_many(self, keys, counts):
    """Insert new keys. Returns (status, index of the item that failed)."""
    for i in range(keys.size):
        failure = status.DUPLICATE if _contains(self, keys[i]) else _insert(self, keys[i], counts[i])
        if failure < 0:
            return failure, i
    return status.OK, keys.size


@method(CountBucketsType, "clear")
@quiet
def _clear(self):
    self.map.clear()
    alone(self.cells, END + ORDER)
    self.cells[END + RIGHT] = END
    self.free = free_cells(self.cells, WORDS, 0)
    self.size = 0
    return status.OK


@method(CountBucketsType, "copy")
@kernel
def _copy(self):
    other = new_like(self)
    other.cells = self.cells.copy()
    other.map = self.map.copy()
    other.size = self.size
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
def _state(self):
    return self.cells.copy(), self.map.copy(), self.size, self.free


@method(CountBucketsType, "nbytes")
@quiet
def _nbytes(self):
    return self.cells.nbytes + self.map.nbytes()


# ---------------------------------------------------------------------------------------------- facade
class CountBuckets(Counted):
    """Keys with counts, in buckets of equal count: greatest count first, ties by smallest key.

    ``b[key] = count`` stores any count, also 0 and below; :meth:`add` and :meth:`sub` are the verbs of a
    multiset: a count that comes to 0 removes the key, below 0 is an error. Beside :class:`MaxHeap` it has
    both ends, finds the keys of any count, and moves a key by one in O(1); it takes more memory.

    One thread at a time, readers included: a question for the smallest key tidies the bucket it looks at.

    Inside ``@njit`` the same verbs are there as methods and operators. Nothing raises there: a missing
    key has the count 0, an empty container gives 0 and ``(0, 0)`` (look at ``len(b)`` first), and verbs
    that change return a status, below 0 for a failure; ``update_many`` returns it with the index of the
    item that failed.

    Methods for single keys:

    * ``b[key]``, ``b[key] = count``, ``del b[key]``, ``key in b``, ``len(b)``
    * :meth:`get`, :meth:`add`, :meth:`sub`

    Methods for the two ends:

    * :meth:`peek`, :meth:`pop`, :meth:`pop_many`, :meth:`nlargest`, :meth:`max_count`
    * :meth:`peek_min`, :meth:`pop_min`, :meth:`min_count`

    Methods for buckets:

    * :meth:`keys_at`, :meth:`counts`

    Methods for many keys and the whole:

    * :meth:`from_arrays`, :meth:`update_many`, :meth:`items`, :meth:`to_arrays`; iteration is in pop order
    * :meth:`copy`, :meth:`clear`, :meth:`reserve`, :attr:`nbytes`; ``==``, pickle

    Parameters
    ----------
    items : mapping or iterable of (int, int), optional
        Initial keys and counts; a repeated key is a ``ValueError``.

    Examples
    --------
    >>> b = CountBuckets({7: 2, 9: 5, 8: 5})
    >>> b.peek(), b.peek_min()
    ((8, 5), (7, 2))
    >>> b.add(7, 3)
    >>> b.keys_at(5)
    array([7, 8, 9])
    """

    __slots__ = ()

    def __new__(cls, items: Any = ()) -> CountBuckets:
        return cls.from_arrays(*cls._unzipped(items))

    @classmethod
    def from_arrays(cls, keys: Any, counts: Any) -> CountBuckets:
        """Build a container from two arrays.

        Parameters
        ----------
        keys, counts : (n,) array_like of int

        Returns
        -------
        CountBuckets

        Raises
        ------
        ValueError
            A key stands there twice, or the arrays differ in length.

        Complexity
        ----------
        O(n log k) expected for k distinct counts; O(n) where the counts descend.

        Examples
        --------
        >>> CountBuckets.from_arrays([7, 8, 9], [1, 3, 2]).peek()
        (8, 3)
        """
        keys, counts = int64_array(keys), int64_array(counts, "counts")
        cls._same_length(keys, counts, "counts")
        self = new_count_buckets(_MIN_CELLS)
        failure, i = _insert_many(self, keys, counts) if keys.size else (status.OK, 0)
        if failure < 0:
            raise error(failure, int(keys[i]))
        return self

    def peek_min(self) -> tuple[int, int]:
        """Return (key, count) of the least count: the smallest key of those that have it.

        Returns
        -------
        key, count : int

        Raises
        ------
        KeyError
            The container is empty.

        Complexity
        ----------
        O(log m) amortised for m ties; O(1) where no key has entered or left them since the last time.

        Examples
        --------
        >>> CountBuckets({9: 2, 7: 5, 8: 2}).peek_min()
        (8, 2)
        """
        self._must_have_keys()
        return _peek_min(self)

    def pop_min(self, *default: Any) -> Any:
        """Remove the smallest key of the least count and return its (key, count).

        Parameters
        ----------
        default : object, optional
            Returned where the container is empty.

        Returns
        -------
        key, count : int

        Raises
        ------
        KeyError
            The container is empty and no default was given.

        Complexity
        ----------
        O(log m) amortised for m ties.

        Examples
        --------
        >>> b = CountBuckets({7: 2, 8: 5})
        >>> b.pop_min()
        (7, 2)
        """
        if not len(self) and default:
            return default[0]
        self._must_have_keys()
        return _pop_min(self)

    def max_count(self) -> int:
        """Return the greatest count.

        Returns
        -------
        int

        Raises
        ------
        KeyError
            The container is empty.

        Complexity
        ----------
        O(1).

        Examples
        --------
        >>> CountBuckets({7: 2, 8: 5}).max_count()
        5
        """
        self._must_have_keys()
        return _max_count(self)

    def min_count(self) -> int:
        """Return the least count.

        Returns
        -------
        int

        Raises
        ------
        KeyError
            The container is empty.

        Complexity
        ----------
        O(1).

        Examples
        --------
        >>> CountBuckets({7: 2, 8: 5}).min_count()
        2
        """
        self._must_have_keys()
        return _min_count(self)

    def keys_at(self, count: int) -> np.ndarray:
        """Return the keys that have a count.

        Parameters
        ----------
        count : int

        Returns
        -------
        (m,) int64
            Ascending; empty where no key has it.

        Complexity
        ----------
        O(log k + m log m) for k distinct counts.

        Examples
        --------
        >>> CountBuckets({9: 5, 7: 5, 8: 2}).keys_at(5)
        array([7, 9])
        """
        return _keys_at(self, int64(count, "count"))

    def counts(self) -> np.ndarray:
        """Return the distinct counts.

        Returns
        -------
        (k,) int64
            Descending.

        Complexity
        ----------
        O(k).

        Examples
        --------
        >>> CountBuckets({9: 5, 7: 5, 8: 2}).counts()
        array([5, 2])
        """
        return _counts(self)

    def nlargest(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the first `k` keys in the order of :meth:`pop`, or all there are; they stay.

        Parameters
        ----------
        k : int

        Returns
        -------
        keys, counts : (m,) int64

        Raises
        ------
        ValueError
            `k` is negative.

        Complexity
        ----------
        As :meth:`pop` and :meth:`add` an item.

        Examples
        --------
        >>> CountBuckets({7: 2, 8: 5, 9: 1}).nlargest(2)
        (array([8, 7]), array([5, 2]))
        """
        return _nlargest(self, self._room(k, "k"))

    def _check(self) -> None:
        """Assert the numbered invariants of the module docstring."""
        array, cell_of, size, free = _state(self)
        cells = array.tolist()

        def ring(opening: int, offset: int) -> list[int]:
            """Return the cells whose places at `offset` follow the opening place on its ring."""
            found: list[int] = []
            place = opening
            while True:
                assert cells[cells[place + UP] + DOWN] == place, f"3: place {place}"
                place = cells[place + UP]
                if place == opening:
                    return found
                found.append(place - offset)

        def subtree(bucket: int) -> list[int]:
            """Return the buckets of a subtree of the treap from left to right."""
            order = []
            for side in (LEFT, RIGHT):
                child = cells[bucket + side]
                if child != END:
                    assert cells[child + PARENT] == bucket, f"5: the parent of {child}"
                    assert bucket == END or priority(child) < priority(bucket), f"5: the priority of {child}"
                    order += subtree(child)
                if side == LEFT:
                    order.append(bucket)
            return order

        buckets = ring(END + ORDER, ORDER)
        counts = [cells[bucket + COUNT] for bucket in buckets]
        assert all(less < more for less, more in pairwise(counts)), "4: the counts rise"
        assert subtree(END) == [END, *buckets], "5: the treap is in order"
        keys = {}
        for bucket in buckets:
            owners = [bucket]
            for owner in owners:
                for cell in ring(owner + CHILDREN, SIBLING):
                    assert cells[cell + BUCKET] == bucket, f"6: the bucket of cell {cell}"
                    assert owner == bucket or cells[owner + KEY] < cells[cell + KEY], f"6: cell {cell}"
                    keys[cells[cell + KEY]] = cell
                    owners.append(cell)
            assert len(owners) > 1, f"4: bucket {bucket} is empty"
        cell_of._check()
        assert dict(cell_of.items()) == keys, "2: the map and the keys"
        assert size == len(keys), "2: size"
        known = [END, *buckets, *keys.values()]
        while free != 0:
            known.append(free)
            free = cells[free]
        assert sorted(known) == list(range(0, len(cells), WORDS)), "1: every cell is one thing"


bind(CountBucketsType, CountBuckets)
