"""``PairIndex``: an inverted index from pairs of adjacent tokens to their positions.

It belongs to a :class:`TokenList`, which may change later. A posting is *stale* if its position no longer
holds the pair; reading skips it. Whoever merges tokens adds the postings of the new pairs, and drops the list
of the merged pair. All postings are in one pool. A list that outgrows its room moves to the end of the pool;
its old room becomes garbage::

    list_of[pair] -> list
                       |      start  size  room
    lists              '----> [ 4  |  2  |  4 ]  ...
                                |
    pool    . . . . [ 17, 40, _, _ ] [ 3 ] . . .          used = end of the last list

Invariants
----------
1. The rooms of the lists are in ``[0, used)`` of the pool and do not overlap.
2. ``0 <= size <= room`` for every list; ``garbage`` words of ``[0, used)`` belong to no list.
3. ``list_of`` holds exactly the lists that are not free; the free lists are chained through ``start``.
4. Every posting is a position of the token list.
5. ``n_postings`` is the sum of the sizes.

Complexity
----------
=====================  =====================================================
add                    O(1) expected, amortized
add_many               O(number of positions), amortized
postings, count        O(size of the list)
drop                   O(1) expected
build, stale_fraction  O(positions of the token list), O(number of postings)
memory                 8 bytes per posting, up to twice that after growth,
                       and 50 to 75 per pair
=====================  =====================================================

Source: the inverted index of text retrieval; stale postings as in implementations of Re-Pair.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from structures.base.container import Facade, named_by_package
from structures.base.in_njit import class_method, constructor
from structures.base.struct_type import bind
from structures.primitives.hashing import MAX_ID
from structures.status import int64, int64_array
from structures.tokens.pair_index_kernels import (
    START,
    WIDTH,
    PairIndexType,
    add_lists,
    built,
    counters,
    new_pair_index,
    pair_index_type,
    state,
    tokens_of,
)
from structures.tokens.token_list import TokenList
from structures.tokens.token_list_kernels import TokenListType


class PairIndex(Facade):
    """Inverted index over a token list: pair of adjacent tokens -> postings.

    ``PairIndex(tokens)`` is empty; :meth:`build` makes a full one. The index keeps its token list,
    :attr:`tokens`, and reads it to find which postings are stale. ``tokens.compact()`` changes the
    positions: call :meth:`rebuild` after it. Calls from threads take turns; a call of the
    index also locks its tokens.

    Inside ``@njit`` there are the same methods. Nothing is checked there, and ``rebuild()`` returns whether
    there was enough memory. ``span(left, right)`` and ``posting(i)`` read the postings one by one, stale ones
    included.

    * :meth:`build`, :meth:`rebuild`, :attr:`tokens`
    * :meth:`postings`, :meth:`count`, ``(left, right) in p``
    * :meth:`pairs`, ``len(p)`` (pairs, even those with only stale postings)
    * :meth:`add`, :meth:`add_many`, :meth:`drop`
    * :meth:`stale_fraction`, :attr:`n_postings`, :meth:`copy`, :attr:`nbytes`
    * :meth:`to_arrays`, :meth:`from_arrays`, ``==``, pickle: without the stale postings

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
    _only_type = pair_index_type

    def __new__(cls, tokens: TokenList) -> PairIndex:
        if not isinstance(tokens, TokenList):
            raise TypeError(f"tokens must be a TokenList, not {type(tokens).__name__}")
        return cls._like(new_pair_index(tokens))

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
            There is not enough memory.

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
        """Drop all postings and add every adjacent pair again; then no posting is stale.

        Raises
        ------
        MemoryError
            There is not enough memory; the index is as it was.

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
        self._kernels.rebuild(self)

    @property
    def tokens(self) -> TokenList:
        """The token list that the index is over."""
        return tokens_of(self)

    @staticmethod
    def _pair(left: int, right: int) -> tuple[int, int]:
        left, right = int64(left, "left"), int64(right, "right")
        if not (0 <= left <= MAX_ID and 0 <= right <= MAX_ID):
            raise ValueError(f"pair ids must be in [0, 2**31), not ({left}, {right})")
        return left, right

    def __len__(self) -> int:
        return self._kernels.len(self)

    def __contains__(self, pair: Any) -> bool:
        try:
            return self._kernels.contains(self, self._pair(*pair))
        except (TypeError, ValueError, OverflowError):  # not a pair of tokens
            return False

    def __repr__(self) -> str:
        return f"<PairIndex of {len(self)} pairs, {self.n_postings} postings>"

    @property
    def n_postings(self) -> int:
        """Number of postings, stale ones included."""
        return counters(self)[-1]

    def postings(self, left: int, right: int) -> np.ndarray:
        """Return the positions of a pair.

        Parameters
        ----------
        left, right : int

        Returns
        -------
        (n,) int64
            In the order in which they were added: ascending after :meth:`build`. None is stale.

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
        return self._kernels.postings(self, *self._pair(left, right))

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
        return self._kernels.count(self, *self._pair(left, right))

    def pairs(self) -> np.ndarray:
        """Return the pairs that have postings, stale or not: ``(n, 2) int64``, ascending."""
        return self._kernels.pairs(self)

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
        O(1) expected, amortized.

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
        O(n), amortized.

        Examples
        --------
        >>> from structures import TokenList
        >>> p = PairIndex(TokenList([1, 2, 1, 2]))
        >>> p.add_many(1, 2, [0, 2])
        >>> p.count(1, 2)
        2
        """
        left, right = self._pair(left, right)
        positions = self._positions(positions)
        self._done(self._kernels.add_many(self, left, right, positions), f"{positions.size} postings")

    def _positions(self, positions: Any) -> np.ndarray:
        """Return positions of the token list as an array, or raise."""
        positions = int64_array(positions, "positions")
        n_positions = self.tokens.n_positions
        for position in (positions.min(), positions.max()) if positions.size else ():
            if not 0 <= position < n_positions:
                raise IndexError(f"position {position} is out of range for {n_positions} positions")
        return positions

    def drop(self, left: int, right: int) -> None:
        """Drop the list of a pair, for example after all its occurrences were merged.

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
        self._done(self._kernels.drop(self, *self._pair(left, right)), (left, right))

    def stale_fraction(self) -> float:
        """Return the fraction of the postings that are stale, in [0, 1]; 0 if there are no postings."""
        return self._kernels.stale_fraction(self)

    def to_arrays(self) -> tuple[TokenList, np.ndarray, np.ndarray, np.ndarray]:
        """Return the token list, the pairs, the offsets of their postings, and the postings.

        Stale postings are left out, and so are pairs that have only these; the same holds for pickles.

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
        return self._kernels.to_arrays(self)

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
            A pair is not a packed pair, or the offsets do not ascend from 0 to the number of positions.

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
        pairs, offsets = int64_array(pairs, "pairs"), int64_array(offsets, "offsets")
        positions = self._positions(positions)
        wrong = pairs[(pairs < 0) | (pairs & 0xFFFFFFFF > MAX_ID)]
        if wrong.size:
            raise ValueError(f"{wrong[0]} is not a packed pair")
        ends = offsets[[0, -1]].tolist() if offsets.size == pairs.size + 1 else None
        if ends != [0, positions.size] or np.any(np.diff(offsets) < 0):
            raise ValueError(
                f"offsets must ascend from 0 to the number of positions, {positions.size}, "
                f"one for each of {pairs.size} pairs and one more"
            )
        self._done(add_lists(self, pairs, offsets, positions), f"{positions.size} postings")
        return self

    def _content(self) -> tuple[Any, ...]:
        tokens, *lists = self.to_arrays()  # without lists that have only stale postings
        return (*tokens.to_arrays(), tokens.positions(), *lists)

    def __reduce__(self) -> Any:
        # A pickled token list has no tombstones, so its positions differ.
        tokens, pairs, offsets, positions = self.to_arrays()
        arrays = tokens, pairs, offsets, np.searchsorted(tokens.positions(), positions)
        return type(self).from_arrays, arrays, self._attributes() or None

    def copy(self) -> PairIndex:
        """Return an independent copy, over a copy of the token list."""
        return super().copy()

    def _check(self) -> None:
        """Assert the numbered invariants of the module docstring."""
        import structures.hash_tables.int_map  # noqa: F401  binds the class of `list_of`

        lists, pool, list_of = state(self)
        n_lists, free_list, used, garbage, n_postings = counters(self)
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
        n_positions = self.tokens.n_positions
        for first, n in zip(start, size, strict=True):
            postings = pool[first : first + n]
            assert np.all((postings >= 0) & (postings < n_positions)), "4: a posting is out of range"
        assert n_postings == size.sum(), "5: postings"


bind(PairIndexType, PairIndex)


@constructor(PairIndex)
def _pair_index(tokens):
    _must_be_tokens(tokens)
    return lambda tokens: new_pair_index(tokens)


@class_method(PairIndex, "build")
def _build(cls, tokens):
    _must_be_tokens(tokens)
    return lambda cls, tokens: built(tokens)


def _must_be_tokens(tokens: Any) -> None:
    """Raise if the argument in compiled code is not a token list."""
    if not isinstance(tokens, TokenListType):
        raise TypeError(f"tokens must be a TokenList, not {tokens}")


__test__ = named_by_package(PairIndex)
