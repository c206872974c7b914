"""``TokenList``: a doubly linked list of tokens in one flat array, cut into segments, with tombstones.

A token covers a run of positions, initially a single one. A merge with the next token joins their runs. The
links are implicit: the first and the last cell of a run both hold its length (Knuth's boundary tags). The
next token starts where the run ends; the previous one ends where the run starts::

    position      0    1    2    3    4    5      segments: positions 0..3 and 4..5
    token        th    -1   e   _    a    b
    run length    2     2   1   1    1    1
    flags         F     F   .   L    F    L       F: first of its segment, L: last of its segment

A cell is one int64: the token in the upper 32 bits, -1 for a tombstone, then the length of the run, then
the two flags. The segment of each position takes 8 more bytes. The next token is often on the same cache
line.

Invariants
----------
1. The runs of a segment, one after another from its start, reach its end exactly.
2. The first and the last cell of every run hold the same length and flags.
3. All cells of a run except the first are tombstones.
4. The first run of each segment has the flag F, the last one the flag L; no other run has either.
5. ``size`` is the number of runs; ``segment_of`` is the segment of every position.

Complexity
----------
==============================  ===========================================
next, prev, token, merge        O(1)
segment, compact, copy          O(positions) (of the segment, of the list)
memory                          16 bytes per position, 8 per segment
==============================  ===========================================

Source: boundary tags, Knuth, The Art of Computer Programming, 2.5; segments and tombstones are our own.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from structures.base.container import Facade, named_by_package
from structures.base.in_njit import constructor, must_be_integers
from structures.base.struct_type import bind
from structures.primitives.hashing import MAX_ID
from structures.status import error, int64, int64_array
from structures.tokens.token_list_kernels import (
    FIRST,
    LAST,
    MAX_RUN,
    TOMBSTONE,
    TokenListType,
    checked_single_segment,
    checked_token_list,
    new_token_list,
    state,
    token_list_type,
)


class TokenList(Facade):
    """Doubly linked list of tokens, cut into segments that no link crosses.

    A token has a *position*: the index where it started in the array from which the list was built. A
    merge keeps the position of its left token and leaves a tombstone at the position of its right one.
    Calls from threads take turns.

    Inside ``@njit`` there are the same methods. The constructor checks its arguments there, too, and
    :meth:`merge` returns a status where there is no next token; nothing else is checked. :meth:`segment`
    returns an array, and :meth:`compact` a status.

    * :meth:`next`, :meth:`prev`, :meth:`token`, :meth:`segment_at`, ``len(t)``
    * :meth:`merge`, :meth:`compact`
    * :meth:`segment`, :meth:`segment_positions`, :attr:`n_segments`
    * :meth:`positions`, :attr:`n_positions`, iteration over tokens in order
    * :meth:`from_arrays`, :meth:`to_arrays`, :meth:`copy`, :attr:`nbytes`; ``==``, pickle (both without
      tombstones)

    Parameters
    ----------
    tokens : (n,) array_like of int
        Token ids in ``[0, 2**31)``.
    segment_offsets : (n_segments + 1,) array_like of int, optional
        Segment ``s`` is ``tokens[segment_offsets[s]:segment_offsets[s + 1]]``, which must not be empty. One
        segment by default.

    Raises
    ------
    ValueError
        A token is out of range, or the offsets do not ascend from 0 to n.

    Examples
    --------
    >>> t = TokenList([5, 6, 7, 8], [0, 3, 4])
    >>> t.merge(0, 9)
    >>> list(t.segment(0)), t.next(0), t.prev(2), t.next(2)
    ([9, 7], 2, 0, -1)
    """

    __slots__ = ()
    _only_type = token_list_type

    def __new__(cls, tokens: Any, segment_offsets: Any = None) -> TokenList:
        tokens = np.asarray(tokens)
        if tokens.ndim != 1:
            raise ValueError(f"tokens must have one dimension, not {tokens.ndim}")
        if tokens.dtype not in (np.uint8, np.int32):  # always below 2**31
            tokens = int64_array(tokens, "tokens")
            if tokens.size and not (tokens.min() >= 0 and tokens.max() <= MAX_ID):
                raise ValueError(f"tokens must be in [0, 2**31), not {tokens.min()} to {tokens.max()}")
        elif tokens.size and tokens.min() < 0:
            raise ValueError(f"tokens must be in [0, 2**31), not {tokens.min()}")
        if segment_offsets is None:
            segment_offsets = [0, tokens.size] if tokens.size else [0]
        offsets = int64_array(segment_offsets, "segment_offsets")
        ends = offsets[[0, -1]].tolist() if offsets.size else None
        if ends != [0, tokens.size] or np.any(np.diff(offsets) <= 0):
            raise ValueError(
                f"segment_offsets must ascend strictly from 0 to the number of tokens, {tokens.size}"
            )
        return cls._like(new_token_list(np.ascontiguousarray(tokens), offsets))

    @classmethod
    def from_arrays(cls, tokens: Any, segment_offsets: Any) -> TokenList:
        """Build a list; the same as the constructor.

        Parameters
        ----------
        tokens : (n,) array_like of int
        segment_offsets : (n_segments + 1,) array_like of int

        Returns
        -------
        TokenList

        Raises
        ------
        ValueError
            As the constructor.

        Complexity
        ----------
        O(n).

        Examples
        --------
        >>> len(TokenList.from_arrays([1, 2], [0, 2]))
        2
        """
        return cls(tokens, segment_offsets)

    def _position(self, position: int) -> int:
        position = int64(position, "position")
        if not 0 <= position < self._kernels.n_positions(self):
            raise IndexError(
                f"position {position} is out of range for {self._kernels.n_positions(self)} positions"
            )
        return position

    def _live(self, position: int) -> int:
        position = self._position(position)
        if self._kernels.token(self, position) == TOMBSTONE:
            raise IndexError(f"no token starts at position {position}")
        return position

    def __iter__(self) -> Iterator[int]:
        return iter(self.to_arrays()[0].tolist())

    def next(self, position: int) -> int:
        """Return the position of the next token of the segment, -1 at its end.

        Parameters
        ----------
        position : int
            Position of a token.

        Returns
        -------
        int

        Raises
        ------
        IndexError
            No token starts there.

        Complexity
        ----------
        O(1).

        Examples
        --------
        >>> TokenList([5, 6]).next(0), TokenList([5, 6]).next(1)
        (1, -1)
        """
        return self._kernels.next(self, self._live(position))

    def prev(self, position: int) -> int:
        """Return the position of the previous token of the segment, -1 at its start.

        Parameters
        ----------
        position : int
            Position of a token.

        Returns
        -------
        int

        Raises
        ------
        IndexError
            No token starts there.

        Complexity
        ----------
        O(1).

        Examples
        --------
        >>> TokenList([5, 6]).prev(1), TokenList([5, 6]).prev(0)
        (0, -1)
        """
        return self._kernels.prev(self, self._live(position))

    def token(self, position: int) -> int:
        """Return the token at a position, -1 for a tombstone.

        Parameters
        ----------
        position : int

        Returns
        -------
        int

        Raises
        ------
        IndexError
            The position is out of range.

        Complexity
        ----------
        O(1).

        Examples
        --------
        >>> TokenList([5, 6]).token(1)
        6
        """
        return self._kernels.token(self, self._position(position))

    def segment_at(self, position: int) -> int:
        """Return the segment of a position.

        Parameters
        ----------
        position : int
            Position of a token.

        Returns
        -------
        int

        Raises
        ------
        IndexError
            No token starts there.

        Complexity
        ----------
        O(1).

        Examples
        --------
        >>> TokenList([5, 6, 7], [0, 2, 3]).segment_at(2)
        1
        """
        return self._kernels.segment_at(self, self._live(position))

    def merge(self, position: int, new_token: int) -> None:
        """Merge the token at a position with its next one.

        Parameters
        ----------
        position : int
            Position of the left token, and then of the new token.
        new_token : int
            In ``[0, 2**31)``.

        Raises
        ------
        IndexError
            No token starts there, or it is the last of its segment.
        ValueError
            `new_token` is out of range, or would cover 2**30 positions or more.

        Complexity
        ----------
        O(1).

        Examples
        --------
        >>> t = TokenList([5, 6, 7])
        >>> t.merge(1, 8)
        >>> list(t)
        [5, 8]
        """
        position = self._live(position)
        new_token = int64(new_token, "new_token")
        if not 0 <= new_token <= MAX_ID:
            raise ValueError(f"new_token must be in [0, 2**31), not {new_token}")
        if self._kernels.next(self, position) < 0:
            raise IndexError(f"the token at position {position} is the last of its segment")
        if self._kernels.merge(self, position, new_token) < 0:
            raise ValueError(f"the token at position {position} would cover more than {MAX_RUN} positions")

    def segment(self, segment: int) -> Iterator[int]:
        """Iterate over the tokens of a segment, in order, as they were at the call.

        Parameters
        ----------
        segment : int

        Returns
        -------
        iterator of int

        Raises
        ------
        IndexError
            There is no such segment.

        Complexity
        ----------
        O(tokens of the segment) at the call.

        Examples
        --------
        >>> list(TokenList([5, 6, 7], [0, 2, 3]).segment(0))
        [5, 6]
        """
        return iter(self._kernels.segment(self, self._known(segment)).tolist())

    def segment_positions(self, segment: int) -> np.ndarray:
        """Return the positions of the tokens of a segment.

        Parameters
        ----------
        segment : int

        Returns
        -------
        (n,) int64
            Ascending.

        Raises
        ------
        IndexError
            There is no such segment.

        Complexity
        ----------
        O(tokens of the segment).

        Examples
        --------
        >>> TokenList([5, 6, 7], [0, 2, 3]).segment_positions(1)
        array([2])
        """
        return self._kernels.segment_positions(self, self._known(segment))

    def _known(self, segment: int) -> int:
        segment = int64(segment, "segment")
        if not 0 <= segment < self.n_segments:
            raise IndexError(f"segment {segment} is out of range for {self.n_segments} segments")
        return segment

    @property
    def n_segments(self) -> int:
        """Number of segments."""
        return self._kernels.n_segments(self)

    @property
    def n_positions(self) -> int:
        """Number of positions, tombstones included."""
        return self._kernels.n_positions(self)

    def positions(self) -> np.ndarray:
        """Return the positions of all tokens: ``(n,) int64``, ascending."""
        return self._kernels.positions(self)

    def to_arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the tokens, without tombstones, and the offsets of the segments.

        Returns
        -------
        tokens : (n,) int64
        segment_offsets : (n_segments + 1,) int64

        Complexity
        ----------
        O(positions).

        Examples
        --------
        >>> TokenList([5, 6, 7], [0, 2, 3]).to_arrays()
        (array([5, 6, 7]), array([0, 2, 3]))
        """
        return self._kernels.to_arrays(self)

    def compact(self) -> np.ndarray:
        """Remove the tombstones: the tokens get the positions 0, 1, 2, ...

        Returns
        -------
        (n,) int64
            The old position of each new one.

        Raises
        ------
        MemoryError
            There is not enough memory; the list is as it was.

        Complexity
        ----------
        O(positions).

        Examples
        --------
        >>> t = TokenList([5, 6, 7])
        >>> t.merge(0, 8)
        >>> t.compact()
        array([0, 2])
        >>> t.next(0)
        1
        """
        old_positions = self._kernels.positions(self)
        failure = self._kernels.compact(self)
        if failure < 0:
            raise error(failure, f"{len(self)} tokens")
        return old_positions

    def _content(self) -> tuple[np.ndarray, ...]:
        return self.to_arrays()

    def _check(self) -> None:
        """Assert the numbered invariants of the module docstring."""
        cells, segment_of, offsets = (array.tolist() for array in state(self))
        n_runs = 0
        for segment, (start, end) in enumerate(pairwise(offsets)):
            position = start
            while position < end:
                run = (cells[position] >> 2) & MAX_RUN
                assert run >= 1, f"1: no run at {position}"
                last = position + run - 1
                assert last < end, f"1: the run at {position} leaves segment {segment}"
                assert cells[position] & 0xFFFFFFFF == cells[last] & 0xFFFFFFFF, f"2: tags at {position}"
                assert cells[position] >> 32 != TOMBSTONE, f"3: no token at {position}"
                assert all(cells[p] >> 32 == TOMBSTONE for p in range(position + 1, last + 1)), (
                    f"3: {position}"
                )
                assert bool(cells[position] & FIRST) == (position == start), f"4: F at {position}"
                assert bool(cells[position] & LAST) == (last == end - 1), f"4: L at {position}"
                position = last + 1
                n_runs += 1
            assert all(segment_of[p] == segment for p in range(start, end)), f"5: segment {segment}"
        assert n_runs == len(self), "5: size"


bind(TokenListType, TokenList)


@constructor(TokenList)
def _token_list(tokens, segment_offsets=None):
    must_be_integers(tokens, "tokens")
    if segment_offsets is None:
        return lambda tokens, segment_offsets=None: checked_single_segment(tokens)
    must_be_integers(segment_offsets, "segment_offsets")
    return lambda tokens, segment_offsets=None: checked_token_list(tokens, segment_offsets)


__test__ = named_by_package(TokenList)
