"""``TokenList``: a doubly linked list of tokens in one flat array, cut into segments, with tombstones.

A token covers a run of positions, at first a single one; merging it with the next joins their runs. The
links are implicit: the first and the last cell of a run both hold its length (Knuth's boundary tags), so
that the next token starts where the run ends, and the previous one ends where it starts::

    position      0    1    2    3    4    5      segments: positions 0..3 and 4..5
    token        th    -1   e   _    a    b
    run length    2     2   1   1    1    1
    flags         F     F   .   L    F    L       F: first of its segment, L: last of its segment

A cell is one int64: the token in the upper 32 bits, -1 for a tombstone, then the length of the run, then
the two flags. One token costs 8 bytes, one more 8 for the segment of each position, and following a
link touches the same cache line as often as not.

Invariants
----------
1. Walking the runs of a segment from its start reaches its end exactly.
2. The first and the last cell of every run hold the same length and flags.
3. All cells of a run but the first are tombstones.
4. The flags F and L stand at the first and at the last run of each segment, and nowhere else.
5. ``size`` is the number of runs; ``segment_of`` is the segment of every position.

Complexity
----------
==============================  ===========================================
next, prev, token, merge        O(1)
segment, compact, copy          O(positions) (of the segment, of the list)
memory                          16 bytes a position, 8 a segment
==============================  ===========================================

Source: boundary tags, Knuth, The Art of Computer Programming, 2.5; segments and tombstones are our own.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numba import types
from numba.experimental import structref

from structures import status
from structures.facade import Facade
from structures.hashing import MAX_ID
from structures.jit import kernel, quiet
from structures.memory import new_words
from structures.status import error, int64, int64_array
from structures.struct_type import StructType, bind, fields_of, method, new_like

__all__ = ["TokenList", "TokenListType", "token_list_type"]

FIRST = 1
LAST = 2
MAX_RUN = 2**30 - 1
TOMBSTONE = -1


# ------------------------------------------------------------------------------ kernels on plain arrays
@quiet
def cell(token, run, flags):
    """Pack a cell."""
    return (token << 32) | (run << 2) | flags


@quiet
def token_of(cells, position):
    """Return the token at a position, ``TOMBSTONE`` where none starts."""
    return cells[position] >> 32


@quiet
def run_of(cells, position):
    """Return the length of the run that starts or ends at a position."""
    return (cells[position] >> 2) & MAX_RUN


@quiet
def next_of(cells, position):
    """Return where the next token of the segment starts, -1 at the end."""
    return -1 if cells[position] & LAST else position + run_of(cells, position)


@quiet
def prev_of(cells, position):
    """Return where the previous token of the segment starts, -1 at the start."""
    return -1 if cells[position] & FIRST else position - run_of(cells, position - 1)


@quiet
def join(cells, position, token):
    """Merge the token at `position` with its next one into `token`; return a status."""
    right = position + run_of(cells, position)
    run = run_of(cells, position) + run_of(cells, right)
    if run > MAX_RUN:
        return status.OUT_OF_RANGE
    flags = (cells[position] & FIRST) | (cells[right] & LAST)
    cells[right] = cell(TOMBSTONE, 0, 0)
    cells[position + run - 1] = cell(TOMBSTONE, run, flags)
    cells[position] = cell(token, run, flags)
    return status.OK


@quiet
def fill_cells(tokens, segment_offsets, cells, segment_of):
    """Fill `cells` and `segment_of` for tokens that are one position each."""
    for segment in range(segment_offsets.size - 1):
        start, end = segment_offsets[segment], segment_offsets[segment + 1]
        for position in range(start, end):
            flags = (FIRST if position == start else 0) | (LAST if position == end - 1 else 0)
            cells[position] = cell(np.int64(tokens[position]), 1, flags)
            segment_of[position] = segment


@kernel
def live_positions(cells, start, end, size):
    """Return where the `size` tokens in ``[start, end)`` start, ``(size,) int64``, ascending."""
    positions = np.empty(size, np.int64)
    n = 0
    position = start
    while position < end:
        positions[n] = position
        n += 1
        position += run_of(cells, position)
    return positions


@quiet
def count_runs(cells, start, end):
    """Return how many tokens start in ``[start, end)``."""
    n = 0
    position = start
    while position < end:
        n += 1
        position += run_of(cells, position)
    return n


# ------------------------------------------------------------------------------------------------ type
@structref.register
class TokenListType(StructType):
    """numba type of :class:`TokenList`."""


token_list_type = TokenListType(
    fields_of(
        cells=types.int64[::1],  # cells[position]
        segment_of=types.int64[::1],  # segment_of[position]
        segment_offsets=types.int64[::1],  # segment s has the positions [offsets[s], offsets[s + 1])
        size=types.int64,
    )
)


@kernel
def new_token_list(tokens, segment_offsets):
    """Return a list of `tokens`, of any integer dtype; the arrays are copied."""
    self = structref.new(token_list_type)
    self.cells = new_words(tokens.size)
    self.segment_of = new_words(tokens.size)
    self.segment_offsets = segment_offsets.astype(np.int64)
    fill_cells(tokens, self.segment_offsets, self.cells, self.segment_of)
    self.size = tokens.size
    return self


@method(TokenListType, "next")
@quiet
def _next(self, position):
    return next_of(self.cells, position)


@method(TokenListType, "prev")
@quiet
def _prev(self, position):
    return prev_of(self.cells, position)


@method(TokenListType, "token")
@quiet
def _token(self, position):
    return token_of(self.cells, position)


@method(TokenListType, "segment_at")
@quiet
def _segment_at(self, position):
    return self.segment_of[position]


@method(TokenListType, "merge")
@quiet
def _merge(self, position, new_token):
    failure = join(self.cells, position, new_token)
    if failure == status.OK:
        self.size -= 1
    return failure


@method(TokenListType, "positions")
@kernel
def _positions(self):
    return live_positions(self.cells, 0, self.cells.size, self.size)


@method(TokenListType, "segment_positions")
@kernel
def _segment_positions(self, segment):
    start, end = self.segment_offsets[segment], self.segment_offsets[segment + 1]
    return live_positions(self.cells, start, end, count_runs(self.cells, start, end))


@method(TokenListType, "n_positions")
@quiet
def _n_positions(self):
    return self.cells.size


@method(TokenListType, "n_segments")
@quiet
def _n_segments(self):
    return self.segment_offsets.size - 1


@kernel
def _tokens_at(self, positions):
    tokens = np.empty(positions.size, np.int64)
    for i in range(positions.size):
        tokens[i] = token_of(self.cells, positions[i])
    return tokens


@method(TokenListType, "to_arrays")
@kernel
def _to_arrays(self):
    positions = _positions(self)
    offsets = np.zeros(self.segment_offsets.size, np.int64)
    for i in range(positions.size):
        offsets[self.segment_of[positions[i]] + 1] += 1
    return _tokens_at(self, positions), np.cumsum(offsets)


@quiet
def _drop_tombstones(self):
    tokens, offsets = _to_arrays(self)
    cells = new_words(tokens.size)
    segment_of = new_words(tokens.size)
    fill_cells(tokens, offsets, cells, segment_of)
    self.cells = cells
    self.segment_of = segment_of
    self.segment_offsets = offsets
    return True


@method(TokenListType, "compact")
@quiet
def _compact(self):
    return status.OK if _drop_tombstones(self) else status.NO_MEMORY


@method(TokenListType, "copy")
@kernel
def _copy(self):
    other = new_like(self)
    other.cells = self.cells.copy()
    other.segment_of = self.segment_of.copy()
    other.segment_offsets = self.segment_offsets.copy()
    other.size = self.size
    return other


@kernel
def _state(self):
    return self.cells.copy(), self.segment_of.copy(), self.segment_offsets.copy()


@method(TokenListType, "nbytes")
@quiet
def _nbytes(self):
    return self.cells.nbytes + self.segment_of.nbytes + self.segment_offsets.nbytes


# ---------------------------------------------------------------------------------------------- facade
class TokenList(Facade):
    """Doubly linked list of tokens, cut into segments that no link crosses.

    Tokens are addressed by *position*, where they started in the array that the list was built from. A
    merge keeps the position of its left token and leaves a tombstone at that of its right one.
    One writer at a time. Inside ``@njit`` the same verbs are there as methods; nothing is checked there.

    * :meth:`next`, :meth:`prev`, :meth:`token`, :meth:`segment_at`, ``len(t)``
    * :meth:`merge`, :meth:`compact`
    * :meth:`segment`, :attr:`n_segments`, :meth:`positions`, iteration over tokens in order
    * :meth:`from_arrays`, :meth:`to_arrays`, :meth:`copy`, :attr:`nbytes`; ``==``, pickle (both without
      tombstones)

    Parameters
    ----------
    tokens : (n,) array_like of int
        Token ids in ``[0, 2**31)``.
    segment_offsets : (n_segments + 1,) array_like of int, optional
        Segment ``s`` is ``tokens[segment_offsets[s]:segment_offsets[s + 1]]``, not empty. One segment by
        default.

    Raises
    ------
    ValueError
        A token is out of range; the offsets do not start at 0, end at n and rise.

    Examples
    --------
    >>> t = TokenList([5, 6, 7, 8], [0, 3, 4])
    >>> t.merge(0, 9)
    >>> list(t.segment(0)), t.next(0), t.prev(2), t.next(2)
    ([9, 7], 2, 0, -1)
    """

    __slots__ = ()

    def __new__(cls, tokens: Any, segment_offsets: Any = None) -> TokenList:
        tokens = np.asarray(tokens)
        if tokens.ndim != 1:
            raise ValueError(f"tokens must have one dimension, not {tokens.ndim}")
        if tokens.dtype not in (np.uint8, np.int32):  # those are in range
            tokens = int64_array(tokens, "tokens")
            if tokens.size and not (tokens.min() >= 0 and tokens.max() <= MAX_ID):
                raise ValueError(f"tokens must be in [0, 2**31), not {tokens.min()} to {tokens.max()}")
        elif tokens.size and tokens.min() < 0:
            raise ValueError(f"tokens must be in [0, 2**31), not {tokens.min()}")
        if segment_offsets is None:
            segment_offsets = [0, tokens.size] if tokens.size else [0]
        offsets = int64_array(segment_offsets, "segment_offsets")
        if (
            offsets.size == 0
            or offsets[0] != 0
            or offsets[-1] != tokens.size
            or np.any(np.diff(offsets) <= 0)
        ):
            raise ValueError(
                f"segment_offsets must rise from 0 to the number of tokens, {tokens.size}, none empty"
            )
        return new_token_list(np.ascontiguousarray(tokens), offsets)

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

    def _live(self, position: int) -> int:
        position = int64(position, "position")
        if not 0 <= position < _n_positions(self):
            raise IndexError(f"position {position} is out of range for {_n_positions(self)} positions")
        if _token(self, position) == TOMBSTONE:
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
        return _next(self, self._live(position))

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
        return _prev(self, self._live(position))

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
        position = int64(position, "position")
        if not 0 <= position < _n_positions(self):
            raise IndexError(f"position {position} is out of range for {_n_positions(self)} positions")
        return _token(self, position)

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
        return _segment_at(self, self._live(position))

    def merge(self, position: int, new_token: int) -> None:
        """Merge the token at a position with its next one.

        Parameters
        ----------
        position : int
            Position of the left token, which becomes that of the new one.
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
        if _next(self, position) < 0:
            raise IndexError(f"the token at position {position} is the last of its segment")
        if _merge(self, position, new_token) < 0:
            raise ValueError(f"the token at position {position} would cover more than {MAX_RUN} positions")

    def segment(self, segment: int) -> Iterator[int]:
        """Iterate over the tokens of a segment, in order, as they are at the call.

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
        segment = int64(segment, "segment")
        if not 0 <= segment < self.n_segments:
            raise IndexError(f"segment {segment} is out of range for {self.n_segments} segments")
        return iter(_tokens_at(self, _segment_positions(self, segment)).tolist())

    @property
    def n_segments(self) -> int:
        """Number of segments.

        Examples
        --------
        >>> TokenList([5, 6, 7], [0, 2, 3]).n_segments
        2
        """
        return _n_segments(self)

    def positions(self) -> np.ndarray:
        """Return where the tokens start.

        Returns
        -------
        (n,) int64
            Ascending.

        Complexity
        ----------
        O(n).

        Examples
        --------
        >>> t = TokenList([5, 6, 7])
        >>> t.merge(0, 8)
        >>> t.positions()
        array([0, 2])
        """
        return _positions(self)

    def to_arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the tokens without tombstones, and where the segments start.

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
        return _to_arrays(self)

    def compact(self) -> np.ndarray:
        """Remove the tombstones: the tokens move up, to positions 0, 1, 2, ...

        Returns
        -------
        (n,) int64
            The old position of each new one.

        Raises
        ------
        MemoryError
            There is no room; the list is as it was.

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
        old_positions = _positions(self)
        failure = _compact(self)
        if failure < 0:
            raise error(failure, f"{len(self)} tokens")
        return old_positions

    def _content(self) -> tuple[np.ndarray, ...]:
        return self.to_arrays()

    def _check(self) -> None:
        """Assert the numbered invariants of the module docstring."""
        cells, segment_of, offsets = (array.tolist() for array in _state(self))
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
