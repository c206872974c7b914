"""The kernels and the numba type of ``TokenList``; the docstring of ``token_list`` draws the arrays.

Kernels on plain arrays come first, then the type, then its methods.
"""

import numpy as np
from numba import types
from numba.experimental import structref

from structures import status
from structures.base.struct_type import StructType, fields_of, method, new, new_like
from structures.compiling.jit import inner, kernel, quiet
from structures.primitives.hashing import MAX_ID
from structures.primitives.memory import are_equal, copy_prefix, new_words

FIRST = 1
LAST = 2
MAX_RUN = 2**30 - 1
TOMBSTONE = -1
NOT_TOKENS = "tokens must be in [0, 2**31)"


# ------------------------------------------------------------------------------ kernels on plain arrays
@inner
def cell(token, run, flags):
    """Pack a cell."""
    return (token << 32) | (run << 2) | flags


@inner
def token_of(cells, position):
    """Return the token at a position, or ``TOMBSTONE`` if none starts there."""
    return cells[position] >> 32


@inner
def run_of(cells, position):
    """Return the length of the run that starts or ends at a position."""
    return (cells[position] >> 2) & MAX_RUN


@inner
def next_of(cells, position):
    """Return where the next token of the segment starts, or -1 at its end."""
    return -1 if cells[position] & LAST else position + run_of(cells, position)


@inner
def prev_of(cells, position):
    """Return where the previous token of the segment starts, or -1 at its start."""
    return -1 if cells[position] & FIRST else position - run_of(cells, position - 1)


@inner
def join(cells, position, token):
    """Merge the token at `position` with its next one into `token`; return a status."""
    if cells[position] & LAST:
        return status.OUT_OF_RANGE
    right = position + run_of(cells, position)
    run = run_of(cells, position) + run_of(cells, right)
    if run > MAX_RUN:
        return status.OUT_OF_RANGE
    flags = (cells[position] & FIRST) | (cells[right] & LAST)
    cells[right] = cell(TOMBSTONE, 0, 0)
    cells[position + run - 1] = cell(TOMBSTONE, run, flags)
    cells[position] = cell(token, run, flags)
    return status.OK


@inner
def fill_cells(tokens, segment_offsets, cells, segment_of):
    """Fill `cells` and `segment_of` for tokens that cover one position each."""
    for segment in range(segment_offsets.size - 1):
        start, end = segment_offsets[segment], segment_offsets[segment + 1]
        for position in range(start, end):
            flags = (FIRST if position == start else 0) | (LAST if position == end - 1 else 0)
            cells[position] = cell(np.int64(tokens[position]), 1, flags)
            segment_of[position] = segment


@inner
def are_tokens(tokens):
    """Return whether all `tokens`, of any integer dtype, are in ``[0, 2**31)``."""
    bits = 0  # of all tokens, ORed
    for i in range(tokens.size):
        bits |= np.int64(tokens[i])
    return 0 <= bits <= MAX_ID


@inner
def are_offsets(segment_offsets, n_tokens):
    """Return whether `segment_offsets` ascend strictly from 0 to `n_tokens`."""
    n_segments = segment_offsets.size - 1
    if n_segments < 0 or segment_offsets[0] != 0 or np.int64(segment_offsets[n_segments]) != n_tokens:
        return False
    for segment in range(n_segments):
        if np.int64(segment_offsets[segment]) >= np.int64(segment_offsets[segment + 1]):
            return False
    return True


@kernel
def live_positions(cells, start, end, size):
    """Return where the `size` tokens in ``[start, end)`` start, ``(size,) int64``, ascending."""
    positions = new_words(size)
    n = 0
    position = start
    while position < end:
        positions[n] = position
        n += 1
        position += run_of(cells, position)
    return positions


@inner
def count_tokens(cells, start, end):
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
    self = new(token_list_type)
    self.cells = new_words(tokens.size)
    self.segment_of = new_words(tokens.size)
    self.segment_offsets = new_words(segment_offsets.size)
    copy_prefix(segment_offsets, segment_offsets.size, self.segment_offsets)
    fill_cells(tokens, self.segment_offsets, self.cells, self.segment_of)
    self.size = tokens.size
    return self


@kernel
def checked_token_list(tokens, segment_offsets):
    """Return a list of `tokens`, or raise before anything is allocated."""
    if not are_tokens(tokens):
        raise ValueError(NOT_TOKENS)
    if not are_offsets(segment_offsets, tokens.size):
        raise ValueError("segment_offsets must ascend strictly from 0 to the number of tokens")
    return new_token_list(tokens, segment_offsets)


@kernel
def checked_single_segment(tokens):
    """Return a list of `tokens` in one segment, or in no segment if there are no tokens; or raise."""
    if not are_tokens(tokens):
        raise ValueError(NOT_TOKENS)
    segment_offsets = new_words(1 + (tokens.size > 0))
    segment_offsets[0] = 0
    segment_offsets[-1] = tokens.size
    return new_token_list(tokens, segment_offsets)


@method(TokenListType, "_before_token")
@quiet
def _before_token(self, position):
    return status.OK if position >= 0 and position < self.cells.size else status.OUT_OF_RANGE


@method(TokenListType, "_before_next")
@method(TokenListType, "_before_prev")
@method(TokenListType, "_before_segment_at")
@quiet
def _before_next(self, position):
    if _before_token(self, position) < 0 or token_of(self.cells, position) == TOMBSTONE:
        return status.OUT_OF_RANGE
    return status.OK


@method(TokenListType, "_before_merge")
@quiet
def _before_merge(self, position, new_token):
    if _before_next(self, position) < 0:
        return status.OUT_OF_RANGE
    return status.OK if 0 <= new_token <= MAX_ID else status.INVALID


@method(TokenListType, "_before_segment")
@method(TokenListType, "_before_segment_positions")
@quiet
def _before_segment(self, segment):
    return status.OK if segment >= 0 and segment + 1 < self.segment_offsets.size else status.OUT_OF_RANGE


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
    return live_positions(self.cells, start, end, count_tokens(self.cells, start, end))


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
    tokens = new_words(positions.size)
    for i in range(positions.size):
        tokens[i] = token_of(self.cells, positions[i])
    return tokens


@method(TokenListType, "segment")
@kernel
def _segment(self, segment):
    return _tokens_at(self, _segment_positions(self, segment))


@method(TokenListType, "to_arrays")
@kernel
def _to_arrays(self):
    positions = _positions(self)
    offsets = np.zeros(self.segment_offsets.size, np.int64)
    for i in range(positions.size):
        offsets[self.segment_of[positions[i]] + 1] += 1
    return _tokens_at(self, positions), np.cumsum(offsets)


@method(TokenListType, "__iter__")
@kernel
def _all_tokens(self):
    return _tokens_at(self, _positions(self))


@method(TokenListType, "equals")
@kernel
def _equals(self, other):
    """Return whether both have the same tokens in the same segments."""
    tokens, offsets = _to_arrays(self)
    other_tokens, other_offsets = _to_arrays(other)
    return are_equal(tokens, other_tokens) and are_equal(offsets, other_offsets)


@inner
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
def state(self):
    """Return the arrays that ``_check()`` tests."""
    return self.cells.copy(), self.segment_of.copy(), self.segment_offsets.copy()


@method(TokenListType, "nbytes")
@quiet
def _nbytes(self):
    return self.cells.nbytes + self.segment_of.nbytes + self.segment_offsets.nbytes
