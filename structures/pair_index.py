"""``PairIndex``: an inverted index from pairs of adjacent tokens to the positions where they stand.

It belongs to a :class:`TokenList`, which may change under it: a posting is *stale* once its position no
longer holds the pair, and is passed over when it is read. Whoever merges tokens adds the postings of
the pairs that the merge made, and drops the list of the pair that it used up. All postings lie in one
pool; a list that outgrows its room moves to the end and leaves garbage behind::

    list_of[pair] -> list
                       |      start  size  room
    lists              '----> [ 4  |  2  |  4 ]  ...
                                |
    pool    . . . . [ 17, 40, _, _ ] [ 3 ] . . .          used = end of the last list

Invariants
----------
1. The room of the lists lies in ``[0, used)`` of the pool and does not overlap.
2. ``0 <= size <= room`` of every list; ``garbage`` is the part of ``[0, used)`` that belongs to no list.
3. ``list_of`` holds exactly the lists that are not free; the free ones are chained through ``start``.
4. Every posting is a position of the token list.
5. ``n_postings`` is the sum of the sizes.

Complexity
----------
=====================  =====================================================
add                    O(1) expected, amortised
add_many               O(number of positions), amortised
postings, count        O(size of the list)
drop                   O(1) expected
build, stale_fraction  O(positions of the token list), O(number of postings)
memory                 8 bytes a posting, up to twice that after growth, and
                       50 to 75 a pair
=====================  =====================================================

Source: the inverted index of text retrieval; lazy staleness as in the Re-Pair literature.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.experimental import structref

from structures import int_map, status, token_list
from structures.facade import Facade
from structures.hashing import pack_pair, unpack_pair
from structures.jit import copy_prefix, kernel, quiet
from structures.memory import new_words
from structures.status import error, int64, int64_array
from structures.struct_type import StructType, bind, fields_of, method, new_like
from structures.token_list import TokenList, next_of, token_list_type, token_of

__all__ = ["PairIndex", "PairIndexType", "pair_index_type"]

START, SIZE, ROOM, WIDTH = 0, 1, 2, 3


# ------------------------------------------------------------------------------ kernels on plain arrays
@quiet
def holds(cells, position, left, right):
    """Say whether `left` starts at `position` with `right` as its next token."""
    if token_of(cells, position) != left:
        return False
    following = next_of(cells, position)
    return following >= 0 and token_of(cells, following) == right


@kernel
def enlarged(array, size, room):
    """Return a copy of the first `size` elements with `room` for more."""
    larger = new_words(room)
    copy_prefix(array, size, larger)
    return larger


# ------------------------------------------------------------------------------------------------ type
@structref.register
class PairIndexType(StructType):
    """numba type of :class:`PairIndex`."""


pair_index_type = PairIndexType(
    fields_of(
        tokens=token_list_type,
        list_of=int_map.int_map_type,  # packed pair -> list
        lists=types.int64[::1],  # lists[WIDTH * list + START / SIZE / ROOM]
        n_lists=types.int64,  # lists ever used; the free ones among them are chained
        free_list=types.int64,  # first of the chain, -1 at its end
        pool=types.int64[::1],
        used=types.int64,
        garbage=types.int64,
        n_postings=types.int64,
    )
)


@kernel
def new_pair_index(tokens):
    """Return an empty index over a token list."""
    self = structref.new(pair_index_type)
    self.tokens = tokens
    self.list_of = int_map.new_int_map(0)
    self.lists = np.empty(8 * WIDTH, np.int64)
    self.n_lists = 0
    self.free_list = -1
    self.pool = np.empty(16, np.int64)
    self.used = 0
    self.garbage = 0
    self.n_postings = 0
    return self


@quiet
def _repool(self, room):
    """Move all lists, each with the room it has, to a new pool with `room` words behind them."""
    pool = new_words(2 * (self.used - self.garbage) + room)
    used = 0
    for number in range(self.n_lists):
        entry = WIDTH * number
        size, space = self.lists[entry + SIZE], self.lists[entry + ROOM]
        if space > 0:
            start = self.lists[entry + START]
            for i in range(size):
                pool[used + i] = self.pool[start + i]
            self.lists[entry + START] = used
            used += space
    self.pool = pool
    self.used = used
    self.garbage = 0
    return True


@quiet
def _more_lists(self):
    self.lists = enlarged(self.lists, WIDTH * self.n_lists, 2 * self.lists.size)
    return True


@quiet
def _list(self, pair):
    """Return the list of a pair, a new and empty one where it has none; below 0 for a failure."""
    number = self.list_of.get(pair, -1)
    if number >= 0:
        return number
    number = self.free_list
    if number < 0:
        number = self.n_lists
        if WIDTH * number == self.lists.size and not _more_lists(self):
            return status.NO_MEMORY
    entry = WIDTH * number
    following = self.lists[entry + START]
    if self.list_of.set(pair, number) < 0:
        return status.NO_MEMORY
    if number == self.n_lists:
        self.n_lists += 1
    else:
        self.free_list = following
    self.lists[entry + START] = 0
    self.lists[entry + SIZE] = 0
    self.lists[entry + ROOM] = 0
    return number


@quiet
def _make_room(self, number, size):
    """Give a list room for `size` postings in all; return a status."""
    entry = WIDTH * number
    room = self.lists[entry + ROOM]
    if size <= room:
        return status.OK
    # A first filling gets what it asks for, for most lists never grow again.
    wanted = max(size, 2 * room)
    if self.used + wanted > self.pool.size and not _repool(self, wanted):
        return status.NO_MEMORY
    start, old_size = self.lists[entry + START], self.lists[entry + SIZE]
    for i in range(old_size):
        self.pool[self.used + i] = self.pool[start + i]
    self.lists[entry + START] = self.used
    self.lists[entry + ROOM] = wanted
    self.used += wanted
    self.garbage += room
    return status.OK


@method(PairIndexType, "add")
@quiet
def _add(self, left, right, position):
    number = _list(self, (left << 32) | right)
    if number < 0:
        return status.NO_MEMORY
    entry = WIDTH * number
    size = self.lists[entry + SIZE]
    if _make_room(self, number, size + 1) < 0:
        return status.NO_MEMORY
    self.pool[self.lists[entry + START] + size] = position
    self.lists[entry + SIZE] = size + 1
    self.n_postings += 1
    return status.OK


@method(PairIndexType, "add_many")
@quiet
def _add_many(self, left, right, positions):
    number = _list(self, (left << 32) | right)
    if number < 0:
        return status.NO_MEMORY
    entry = WIDTH * number
    size = self.lists[entry + SIZE]
    if _make_room(self, number, size + positions.size) < 0:
        return status.NO_MEMORY
    start = self.lists[entry + START] + size
    for i in range(positions.size):
        self.pool[start + i] = positions[i]
    self.lists[entry + SIZE] = size + positions.size
    self.n_postings += positions.size
    return status.OK


@method(PairIndexType, "drop")
@quiet
def _drop(self, left, right):
    number = self.list_of.pop((left << 32) | right, -1)
    if number < 0:
        return status.MISSING
    entry = WIDTH * number
    self.n_postings -= self.lists[entry + SIZE]
    self.garbage += self.lists[entry + ROOM]
    self.lists[entry + START] = self.free_list
    self.lists[entry + SIZE] = 0
    self.lists[entry + ROOM] = 0
    self.free_list = number
    return status.OK


@method(PairIndexType, "span")
@quiet
def _span(self, left, right):
    """Return where in the pool the postings of a pair start and end, stale ones and all."""
    number = self.list_of.get((left << 32) | right, -1)
    if number < 0:
        return 0, 0
    start = self.lists[WIDTH * number + START]
    return start, start + self.lists[WIDTH * number + SIZE]


@method(PairIndexType, "posting")
@quiet
def _posting(self, i):
    """Return the posting at index `i` of the pool."""
    return self.pool[i]


@method(PairIndexType, "count")
@quiet
def _count(self, left, right):
    start, end = _span(self, left, right)
    n = 0
    for i in range(start, end):
        n += holds(self.tokens.cells, self.pool[i], left, right)
    return n


@method(PairIndexType, "postings")
@kernel
def _postings(self, left, right):
    positions = np.empty(_count(self, left, right), np.int64)
    start, end = _span(self, left, right)
    n = 0
    for i in range(start, end):
        if holds(self.tokens.cells, self.pool[i], left, right):
            positions[n] = self.pool[i]
            n += 1
    return positions


@kernel
def _pairs(self):
    """Return the pairs that have a list, ``(n,) int64``, ascending."""
    pairs, _ = self.list_of.to_arrays()
    pairs.sort()
    return pairs


@method(PairIndexType, "stale_fraction")
@quiet
def _stale_fraction(self):
    pairs = _pairs(self)
    live = 0
    for i in range(pairs.size):
        live += _count(self, pairs[i] >> 32, pairs[i] & 0xFFFFFFFF)
    return 1.0 - live / self.n_postings if self.n_postings else 0.0


@method(PairIndexType, "rebuild")
@quiet
def _rebuild(self):
    """Post every adjacent pair anew: count, lay out, fill. Returns True, or null where there is no memory."""
    cells = self.tokens.cells
    list_of = int_map.new_int_map(256)
    list_at = new_words(cells.size)  # list_at[position], -1 where no pair starts
    sizes = np.empty(256, np.int64)
    n_lists = 0
    for position in range(cells.size):
        list_at[position] = -1
        if token_of(cells, position) < 0:
            continue
        following = next_of(cells, position)
        if following < 0:
            continue
        pair = (token_of(cells, position) << 32) | token_of(cells, following)
        number = list_of.get(pair, -1)
        if number < 0:
            number = n_lists
            if number == sizes.size:
                sizes = enlarged(sizes, number, 2 * number)
            if list_of.set(pair, number) < 0:
                raise MemoryError
            sizes[number] = 0
            n_lists += 1
        sizes[number] += 1
        list_at[position] = number
    lists = np.empty(max(n_lists, 8) * WIDTH, np.int64)
    n_postings = 0
    for number in range(n_lists):
        lists[WIDTH * number + START] = n_postings
        lists[WIDTH * number + SIZE] = 0
        lists[WIDTH * number + ROOM] = sizes[number]
        n_postings += sizes[number]
    pool = new_words(n_postings + n_postings // 2 + 16)
    for position in range(cells.size):
        number = list_at[position]
        if number >= 0:
            entry = WIDTH * number
            pool[lists[entry + START] + lists[entry + SIZE]] = position
            lists[entry + SIZE] += 1
    if not self.list_of.assign(list_of):
        raise MemoryError
    self.lists = lists
    self.n_lists = n_lists
    self.free_list = -1
    self.pool = pool
    self.used = n_postings
    self.garbage = 0
    self.n_postings = n_postings
    return True


@kernel
def _copy(self, tokens):
    other = new_like(self)
    other.tokens = tokens
    other.list_of = self.list_of.copy()
    other.lists = self.lists.copy()
    other.n_lists = self.n_lists
    other.free_list = self.free_list
    other.pool = self.pool.copy()
    other.used = self.used
    other.garbage = self.garbage
    other.n_postings = self.n_postings
    return other


@kernel
def _token_list(self):
    return self.tokens


@kernel
def _state(self):
    return self.lists.copy(), self.pool.copy(), self.list_of.copy()


@quiet
def _counters(self):
    return self.n_lists, self.free_list, self.used, self.garbage, self.n_postings


@method(PairIndexType, "nbytes")
@quiet
def _nbytes(self):
    return self.lists.nbytes + self.pool.nbytes + self.list_of.nbytes()


@quiet
def _n_pairs(self):
    return self.list_of.size


# ---------------------------------------------------------------------------------------------- facade
class PairIndex(Facade):
    """Inverted index over a token list: pair of adjacent tokens -> postings.

    ``PairIndex(tokens)`` is empty, :meth:`build` makes a full one. The index keeps the token list it is
    over, :attr:`tokens`, and reads it to tell which postings are stale. After ``tokens.compact()``
    positions have changed: call :meth:`rebuild`. One writer at a time. Inside ``@njit`` the same verbs
    are there as methods; nothing is checked there.

    * :meth:`build`, :meth:`rebuild`, :attr:`tokens`
    * :meth:`postings`, :meth:`count`, :meth:`pairs`, ``len(p)`` (pairs), ``(left, right) in p``
    * :meth:`add`, :meth:`add_many`, :meth:`drop`
    * :meth:`stale_fraction`, :attr:`n_postings`, :meth:`copy`, :attr:`nbytes`; ``==``, pickle

    Parameters
    ----------
    tokens : TokenList

    Raises
    ------
    TypeError
        `tokens` is not a TokenList.

    Examples
    --------
    >>> from structures import TokenList
    >>> t = TokenList([1, 2, 1, 2, 3])
    >>> p = PairIndex.build(t)
    >>> p.postings(1, 2)
    array([0, 2])
    >>> t.merge(0, 4)
    >>> p.postings(1, 2), p.count(2, 1)
    (array([2]), 0)
    """

    __slots__ = ()

    def __new__(cls, tokens: TokenList) -> PairIndex:
        if not isinstance(tokens, TokenList):
            raise TypeError(f"tokens must be a TokenList, not {type(tokens).__name__}")
        return new_pair_index(tokens)

    @classmethod
    def build(cls, tokens: TokenList) -> PairIndex:
        """Build an index of every adjacent pair of every segment.

        Parameters
        ----------
        tokens : TokenList

        Returns
        -------
        PairIndex

        Raises
        ------
        MemoryError
            There is no room.

        Complexity
        ----------
        O(positions) expected.

        Examples
        --------
        >>> from structures import TokenList
        >>> len(PairIndex.build(TokenList([1, 2, 3, 4], [0, 2, 4])))
        2
        """
        self = cls(tokens)
        self.rebuild()
        return self

    def rebuild(self) -> None:
        """Forget all postings and post every adjacent pair anew; none is stale afterwards.

        Raises
        ------
        MemoryError
            There is no room; the index is as it was.

        Complexity
        ----------
        O(positions) expected.

        Examples
        --------
        >>> from structures import TokenList
        >>> t = TokenList([1, 2, 3])
        >>> p = PairIndex.build(t)
        >>> t.merge(0, 4)
        >>> p.rebuild()
        >>> p.postings(4, 3)
        array([0])
        """
        _rebuild(self)

    @property
    def tokens(self) -> TokenList:
        """The token list that the index is over.

        Examples
        --------
        >>> from structures import TokenList
        >>> list(PairIndex(TokenList([1, 2, 1])).tokens)
        [1, 2, 1]
        """
        return _token_list(self)

    @staticmethod
    def _pair(left: int, right: int) -> tuple[int, int]:
        return unpack_pair(pack_pair(left, right))

    def __len__(self) -> int:
        return _n_pairs(self)

    def __contains__(self, pair: Any) -> bool:
        left, right = pair
        return self.count(left, right) > 0

    def __repr__(self) -> str:
        return f"<PairIndex of {len(self)} pairs, {self.n_postings} postings>"

    @property
    def n_postings(self) -> int:
        """Number of postings, stale ones and all.

        Examples
        --------
        >>> from structures import TokenList
        >>> PairIndex.build(TokenList([1, 2, 1])).n_postings
        2
        """
        return _counters(self)[-1]

    def postings(self, left: int, right: int) -> np.ndarray:
        """Return the positions of a pair.

        Parameters
        ----------
        left, right : int

        Returns
        -------
        (n,) int64
            In the order they were added: ascending after :meth:`build`. Stale ones are left out.

        Raises
        ------
        ValueError
            A token is outside ``[0, 2**31)``.

        Complexity
        ----------
        O(size of the list).

        Examples
        --------
        >>> from structures import TokenList
        >>> PairIndex.build(TokenList([1, 1, 1])).postings(1, 1)
        array([0, 1])
        """
        return _postings(self, *self._pair(left, right))

    def count(self, left: int, right: int) -> int:
        """Return the number of postings of a pair that are not stale.

        Parameters
        ----------
        left, right : int

        Returns
        -------
        int

        Raises
        ------
        ValueError
            A token is outside ``[0, 2**31)``.

        Complexity
        ----------
        O(size of the list).

        Examples
        --------
        >>> from structures import TokenList
        >>> PairIndex.build(TokenList([1, 1, 1])).count(1, 1)
        2
        """
        return _count(self, *self._pair(left, right))

    def pairs(self) -> np.ndarray:
        """Return the pairs that have postings, stale or not.

        Returns
        -------
        (n, 2) int64
            Ascending.

        Complexity
        ----------
        O(n log n).

        Examples
        --------
        >>> from structures import TokenList
        >>> PairIndex.build(TokenList([1, 2, 1])).pairs()
        array([[1, 2],
               [2, 1]])
        """
        pairs = _pairs(self)
        return np.stack((pairs >> 32, pairs & 0xFFFFFFFF), axis=1)

    def add(self, left: int, right: int, position: int) -> None:
        """Add a posting.

        Parameters
        ----------
        left, right : int
            In ``[0, 2**31)``.
        position : int
            A position of the token list.

        Raises
        ------
        IndexError
            The position is out of range.
        ValueError
            A token is out of range.

        Complexity
        ----------
        O(1) expected, amortised.

        Examples
        --------
        >>> from structures import TokenList
        >>> p = PairIndex(TokenList([1, 2]))
        >>> p.add(1, 2, 0)
        >>> p.count(1, 2)
        1
        """
        self.add_many(left, right, [int64(position, "position")])

    def add_many(self, left: int, right: int, positions: Any) -> None:
        """Add postings of one pair.

        Parameters
        ----------
        left, right : int
            In ``[0, 2**31)``.
        positions : (n,) array_like of int
            Positions of the token list.

        Raises
        ------
        IndexError
            A position is out of range; nothing was added.
        ValueError
            A token is out of range.

        Complexity
        ----------
        O(n), amortised.

        Examples
        --------
        >>> from structures import TokenList
        >>> p = PairIndex(TokenList([1, 2, 1, 2]))
        >>> p.add_many(1, 2, [0, 2])
        >>> p.count(1, 2)
        2
        """
        left, right = self._pair(left, right)
        positions = int64_array(positions, "positions")
        n_positions = token_list._n_positions(self.tokens)
        for position in (positions.min(), positions.max()) if positions.size else ():
            if not 0 <= position < n_positions:
                raise IndexError(f"position {position} is out of range for {n_positions} positions")
        failure = _add_many(self, left, right, positions)
        if failure < 0:
            raise error(failure, f"{positions.size} postings")

    def drop(self, left: int, right: int) -> None:
        """Drop the list of a pair, as when all its occurrences were merged.

        Parameters
        ----------
        left, right : int

        Raises
        ------
        KeyError
            The pair has no list.

        Complexity
        ----------
        O(1) expected.

        Examples
        --------
        >>> from structures import TokenList
        >>> p = PairIndex.build(TokenList([1, 2]))
        >>> p.drop(1, 2)
        >>> len(p)
        0
        """
        self._done(_drop(self, *self._pair(left, right)), (left, right))

    def stale_fraction(self) -> float:
        """Return which part of the postings is stale.

        Returns
        -------
        float
            In [0, 1]; 0 where there are no postings.

        Complexity
        ----------
        O(number of postings).

        Examples
        --------
        >>> from structures import TokenList
        >>> t = TokenList([1, 2, 3])
        >>> p = PairIndex.build(t)
        >>> t.merge(0, 4)
        >>> p.stale_fraction()
        1.0
        """
        return _stale_fraction(self)

    def to_arrays(self) -> tuple[TokenList, np.ndarray, np.ndarray, np.ndarray]:
        """Return the token list, the pairs, where their postings start, and the postings, none stale.

        Returns
        -------
        tokens : TokenList
        pairs : (n,) int64
            Packed, ascending.
        offsets : (n + 1,) int64
        positions : (offsets[n],) int64

        Complexity
        ----------
        O(number of postings).

        Examples
        --------
        >>> from structures import TokenList
        >>> PairIndex.build(TokenList([1, 2, 1])).to_arrays()[2:]
        (array([0, 1, 2]), array([0, 1]))
        """
        pairs = _pairs(self)
        lists = [_postings(self, *unpack_pair(pair)) for pair in pairs]
        offsets = np.cumsum([0, *map(len, lists)])
        return self.tokens, pairs, offsets, np.concatenate([np.empty(0, np.int64), *lists])

    @classmethod
    def from_arrays(cls, tokens: TokenList, pairs: Any, offsets: Any, positions: Any) -> PairIndex:
        """Build an index from what :meth:`to_arrays` returned.

        Parameters
        ----------
        tokens : TokenList
        pairs : (n,) array_like of int
        offsets : (n + 1,) array_like of int
        positions : (offsets[n],) array_like of int

        Returns
        -------
        PairIndex

        Raises
        ------
        IndexError
            A position is out of range.
        ValueError
            A pair is not a packed one.

        Complexity
        ----------
        O(number of postings).

        Examples
        --------
        >>> from structures import TokenList
        >>> p = PairIndex.build(TokenList([1, 2, 1]))
        >>> PairIndex.from_arrays(*p.to_arrays()) == p
        True
        """
        self = cls(tokens)
        for pair, start, end in zip(pairs, offsets[:-1], offsets[1:], strict=True):
            self.add_many(*unpack_pair(pair), positions[start:end])
        return self

    def _content(self) -> tuple[Any, ...]:
        tokens, pairs, offsets, positions = self.to_arrays()
        held = np.diff(offsets) > 0  # a list of stale postings is as good as none
        return (*tokens.to_arrays(), tokens.positions(), pairs[held], np.unique(offsets), positions)

    def __reduce__(self) -> Any:
        # A pickled token list has no tombstones, so that the positions follow it.
        tokens, pairs, offsets, positions = self.to_arrays()
        return type(self).from_arrays, (
            tokens,
            pairs,
            offsets,
            np.searchsorted(tokens.positions(), positions),
        )

    def copy(self) -> PairIndex:
        """Return an independent copy, over a copy of the token list.

        Returns
        -------
        PairIndex

        Complexity
        ----------
        O(positions and postings).

        Examples
        --------
        >>> from structures import TokenList
        >>> p = PairIndex.build(TokenList([1, 2, 1]))
        >>> p.copy() == p
        True
        """
        return _copy(self, self.tokens.copy())

    def _check(self) -> None:
        """Assert the numbered invariants of the module docstring."""
        lists, pool, list_of = _state(self)
        n_lists, free_list, used, garbage, n_postings = _counters(self)
        entries = lists[: WIDTH * n_lists].reshape(-1, WIDTH)
        list_of._check()
        in_use = np.sort(list_of.values())
        free = []
        while free_list >= 0:
            free.append(free_list)
            free_list = int(entries[free_list, START])
        start, size, room = entries[in_use].T
        order = np.argsort(start[room > 0])
        starts, ends = start[room > 0][order], (start + room)[room > 0][order]
        assert np.all(starts[1:] >= ends[:-1]), "1: lists overlap"
        assert np.all(ends <= used), "1: a list is past the end"
        assert used <= pool.size, "1: used"
        assert np.all((size >= 0) & (size <= room)), "2: sizes"
        assert garbage == used - room.sum(), "2: garbage"
        assert sorted([*free, *in_use.tolist()]) == list(range(n_lists)), "3: lists"
        n_positions = token_list._n_positions(self.tokens)
        for first, n in zip(start, size, strict=True):
            postings = pool[first : first + n]
            assert np.all((postings >= 0) & (postings < n_positions)), "4: a posting is out of range"
        assert n_postings == size.sum(), "5: postings"


bind(PairIndexType, PairIndex)
