"""``CountBuckets``: a map from keys to counts, and a sorted map from each count to its keys.

Every key and every distinct count is a *cell*, 8 words of one array. A hash table maps a key to its cell. The
address of a cell is the index of its first word; cell 0 is the *end*. ::

    word        0      1       2      3      4      5      6     7
    key       | KEY  | BUCKET | SIBLING     | CHILDREN    |  -  |  -    |
    bucket    | COUNT| PARENT | ORDER       | CHILDREN    | LEFT| RIGHT |
    end       |  0   |   0    | ORDER       | CHILDREN    | seed | root |

    end <-> count 1 <-> count 2 <-> count 7 <-> end      ORDER: the buckets, least count first
               |           |           |
               9          40           5                 CHILDREN, SIBLING: a heap of the tied keys
             .-+-.                     |
            12   30                    8

ORDER, SIBLING and CHILDREN are places on a ring: two words, the place before and the place after. The
CHILDREN place of a bucket or of a key is on one ring with the SIBLING places of its children. So a place
is removed, or a whole ring is inserted, without access to its owner.

The keys of a bucket are a *lazy pairing heap*. A key that enters becomes another root; a key that leaves is
replaced by its children. Keys are compared only when the smallest one is needed: then the roots are linked
into one tree. A bucket whose order is never needed costs nothing.

The buckets are also the nodes of a treap: a search tree by count that is a heap by a hash of the address. The
hash depends on a random seed, so that nobody can choose counts that make the tree deep. The end is above its
root. A change by one looks only at the neighbor on the ring; a larger change climbs the tree from the old
bucket and descends to the new one. If a key is alone in its bucket and its count stays between those of the
neighbors, only the count of the bucket is written.

Invariants
----------
1. Each cell before ``used`` is the end, or a key, or a bucket, or on the list of free cells that starts at
   ``free``.
2. The map has the cells of exactly ``size`` keys, which are the keys of all buckets.
3. Rings are closed: the place after the place before is the place itself.
4. From the end along ORDER the counts strictly increase, and no bucket is empty.
5. The treap below the end, in order, is ORDER; no bucket has a lower priority than a child.
6. A key is greater than its parent in the heap, and BUCKET is the bucket of both.

Complexity
----------
For n keys and k distinct counts, m keys at the count in question:

============================  ================================================================
get, in                       O(1) expected
add, sub, set                 O(1) expected, amortized over growth, to a neighboring count;
                              O(log k) expected to any other, and for a new key
del                           O(1) expected
max_count, min_count          O(1)
peek, pop, peek_min, pop_min  O(log m) amortized: the roots are linked here, with at most one link
                              for each key that has entered and each child of a removed key
nlargest, pop_many            k times pop
keys_at, keys_in              O(log k + m log m)
ceiling_count, floor_count    O(log k)
items, to_arrays              O(n log n)
memory                        64 bytes per key and 64 per distinct count, up to twice that after
                              growth, and the map: 26 to 51 bytes per key
============================  ================================================================

Sources: Fredman, Sedgewick, Sleator, Tarjan, The pairing heap (1986), with links made only when
needed; Seidel, Aragon, Randomized search trees (1996).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from structures import status
from structures.base.container import NOT_GIVEN, named_by_package
from structures.base.in_njit import class_method, makes_empty, must_be_entries
from structures.base.queue import Counted
from structures.base.struct_type import bind
from structures.base.typing import Default
from structures.priority_queues.count_buckets_cells import (
    BUCKET,
    CHILDREN,
    COUNT,
    DOWN,
    END,
    KEY,
    LEFT,
    ORDER,
    PARENT,
    RIGHT,
    SIBLING,
    UP,
    WORDS,
    has_higher_priority,
)
from structures.priority_queues.count_buckets_kernels import (
    CountBucketsType,
    count_buckets_of,
    count_buckets_type,
    insert_many,
    keys_within,
    nearest_count,
    new_count_buckets,
    state,
)
from structures.status import INT64_MAX, INT64_MIN, error, int64, int64_array


class CountBuckets(Counted[int]):
    """Keys with counts, in buckets of equal count: greatest count first, ties by smallest key.

    The count of a key is its priority.
    ``b[key] = count`` stores any count, also 0 and below; :meth:`add` and :meth:`sub` are the methods of a
    multiset: a count of 0 removes the key, a count below 0 is an error. Unlike :class:`MaxHeap` it has
    both ends, finds the keys of any count, and changes a count by one in O(1); it takes more memory.

    Calls from threads take turns. The iterations of a ``prange`` may
    read a container from outside, but not change it.

    Inside ``@njit`` there are the same methods and operators. Without ``boundscheck`` nothing raises there: a
    missing key has the count 0, an empty container returns 0 and ``(0, 0)`` (check ``len(b)`` first), and
    methods that change it return a status, below 0 for a failure; ``add_many`` returns it with the index of
    the item that failed.

    Methods for single keys:

    * ``b[key]``, ``b[key] = count``, ``del b[key]``, ``key in b``, ``len(b)``
    * :meth:`get`, :meth:`add`, :meth:`sub`

    Methods for the two ends:

    * :meth:`peek`, :meth:`pop`, :meth:`pop_many`, :meth:`nlargest`, :meth:`max_count`
    * :meth:`peek_min`, :meth:`pop_min`, :meth:`min_count`

    Methods for buckets:

    * :meth:`keys_at`, :meth:`keys_in`, :meth:`counts`, :meth:`ceiling_count`, :meth:`floor_count`

    Methods for many keys and the whole:

    * :meth:`from_arrays`, :meth:`add_many`, :meth:`items`, :meth:`to_arrays`; iteration is in pop order
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
    _noun = "count"
    _only_type = count_buckets_type

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
            A key is a duplicate, or the arrays differ in length.

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
        self = cls._like(new_count_buckets())
        failure, i = insert_many(self, keys, counts) if keys.size else (status.OK, 0)
        if failure < 0:
            raise error(failure, int(keys[i]))
        return self

    def peek_min(self) -> tuple[int, int]:
        """Return (key, count): the least count, and the smallest key that has it.

        Returns
        -------
        key, count : int

        Raises
        ------
        KeyError
            The container is empty.

        Complexity
        ----------
        O(log m) amortized for m ties; O(1) if no key has entered or left them since the last call.

        Examples
        --------
        >>> CountBuckets({9: 2, 7: 5, 8: 2}).peek_min()
        (8, 2)
        """
        return self._checked("_checked_peek_min")

    def pop_min(self, default: Default = NOT_GIVEN) -> tuple[int, int] | Default:
        """Remove the smallest key of the least count; return (key, count).

        Parameters
        ----------
        default : object, optional
            Returned if the container is empty.

        Returns
        -------
        key, count : int

        Raises
        ------
        KeyError
            The container is empty and no default was given.

        Complexity
        ----------
        O(log m) amortized for m ties.

        Examples
        --------
        >>> b = CountBuckets({7: 2, 8: 5})
        >>> b.pop_min()
        (7, 2)
        """
        return self._checked("_checked_pop_min", default=default)

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
        return self._checked("_checked_max_count")

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
        return self._checked("_checked_min_count")

    def keys_at(self, count: int) -> np.ndarray:
        """Return the keys that have a count.

        Parameters
        ----------
        count : int

        Returns
        -------
        (m,) int64
            Ascending; empty if no key has this count.

        Complexity
        ----------
        O(log k + m log m) for k distinct counts.

        Examples
        --------
        >>> CountBuckets({9: 5, 7: 5, 8: 2}).keys_at(5)
        array([7, 9])
        """
        return self._kernels.keys_at(self, int64(count, "count"))

    def keys_in(self, low: int | None = None, high: int | None = None) -> np.ndarray:
        """Return the keys whose counts are in ``[low, high)``, in the order of :meth:`pop`.

        Parameters
        ----------
        low, high : int, optional
            Without one of them, the range has no bound on this side.

        Returns
        -------
        (m,) int64

        Complexity
        ----------
        O(log k + m log m) for k distinct counts.

        Examples
        --------
        >>> b = CountBuckets({9: 5, 7: 5, 8: 2, 6: 7})
        >>> b.keys_in(2, 7), b.keys_in(high=3)
        (array([7, 9, 8]), array([8]))
        """
        least = INT64_MIN if low is None else int64(low, "low")
        greatest = INT64_MAX if high is None else int64(high, "high") - 1
        return keys_within(self, least, greatest) if greatest >= INT64_MIN else np.empty(0, np.int64)

    def ceiling_count(self, count: int, default: Default = NOT_GIVEN) -> int | Default:
        """Return the least count of any key that is `count` or greater.

        Parameters
        ----------
        count : int
        default : object, optional
            Returned if there is no such count. Inside ``@njit`` an int, 0 by default.

        Returns
        -------
        int

        Raises
        ------
        KeyError
            There is no such count, and no default was given.

        Complexity
        ----------
        O(log k) for k distinct counts.

        Examples
        --------
        >>> CountBuckets({9: 5, 7: 5, 8: 2}).ceiling_count(3)
        5
        """
        return self._nearest(count, True, default)

    def floor_count(self, count: int, default: Default = NOT_GIVEN) -> int | Default:
        """Return the greatest count of any key that is `count` or less.

        Parameters
        ----------
        count : int
        default : object, optional
            Returned if there is no such count. Inside ``@njit`` an int, 0 by default.

        Returns
        -------
        int

        Raises
        ------
        KeyError
            There is no such count, and no default was given.

        Complexity
        ----------
        O(log k) for k distinct counts.

        Examples
        --------
        >>> CountBuckets({9: 5, 7: 5, 8: 2}).floor_count(4)
        2
        """
        return self._nearest(count, False, default)

    def _nearest(self, count: int, is_above: bool, default: Any) -> Any:
        is_there, found = nearest_count(self, int64(count, "count"), is_above)
        if is_there:
            return found
        if default is NOT_GIVEN:
            raise KeyError(f"no count at or {'above' if is_above else 'below'} {count}")
        return default

    def counts(self) -> np.ndarray:
        """Return the distinct counts, ``(k,) int64``, descending."""
        return self._kernels.counts(self)

    def nlargest(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the first `k` entries in the order of :meth:`pop`, or all if there are fewer; they stay.

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
        The cost of :meth:`pop` and :meth:`add`, for each item.

        Examples
        --------
        >>> CountBuckets({7: 2, 8: 5, 9: 1}).nlargest(2)
        (array([8, 7]), array([5, 2]))
        """
        return self._kernels.nlargest(self, self._room(k, "k"))

    def _check(self) -> None:
        """Assert the numbered invariants of the module docstring."""
        import structures.hash_tables.int_map  # noqa: F401  binds the class of `cell_of`

        array, cell_of, size, used, free = state(self)
        cells = array.tolist()

        def ring(opening: int, offset: int) -> list[int]:
            """Return the cells of the other places on a ring, which are at `offset` in their cells."""
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
                child = cells[bucket + side] if (bucket, side) != (END, LEFT) else END
                if child != END:
                    assert cells[child + PARENT] == bucket, f"5: the parent of {child}"
                    assert bucket == END or has_higher_priority(array, bucket, child), (
                        f"5: the priority of {child}"
                    )
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
        assert sorted(known) == list(range(0, used, WORDS)), "1: every cell is one thing"


bind(CountBucketsType, CountBuckets)
makes_empty(CountBuckets, new_count_buckets, "keys, counts")


@class_method(CountBuckets, "from_arrays")
def _from_arrays(cls, keys, counts):
    must_be_entries(count_buckets_type, keys, "counts", counts)
    return lambda cls, keys, counts: count_buckets_of(keys, counts)


__test__ = named_by_package(CountBuckets)
