"""The bytes of tokens in rows of two words, and the kernels that join them.

::

    token       t h e               _ s o m e t h i n g _ l o n g e r
    row         the..... .......3   place in the data | 16, length         16: longer than a row has room for
    no token    0 | -1
    joined      ...t h e . . . . . . . . . . . . .
                     n   n + 3     the next row is written from here on, over what is left of this one

All rows are copied in the same way, whatever the length of the token: two words at once, without a branch
that depends on it. Only the few tokens that do not fit into a row are copied from the data.
"""

import numpy as np
from numba import types

from structures.kernels import Record, inner, load_word, pointer_to, quiet, store_word

SPARE_BYTES = 16
"""How many bytes more than are joined there must be room for."""

_ROW = 2  # words
_WORD_BYTES = 8
_SHORT = 15  # bytes
_LONG = _SHORT + 1
_LENGTH_SHIFT = 56  # of the second word
_LENGTH = (1 << _LENGTH_SHIFT) - 1


def rows_of(tokens: list[bytes | None]) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of tokens, which are None for unused ids, and the data of the longer ones."""
    known = np.array([token is not None for token in tokens], bool)
    # The type cuts what is longer, and fills up with zeros what is shorter.
    rows = np.array([token or b"" for token in tokens], f"S{SPARE_BYTES}").view(np.int64).reshape(-1, _ROW)
    lengths = np.array([len(token or b"") for token in tokens], np.int64)
    long = np.flatnonzero(lengths > _SHORT)
    ends = np.cumsum(lengths[long])
    rows[:, 1] |= lengths << _LENGTH_SHIFT
    rows[long, 0] = ends - lengths[long]
    rows[long, 1] = lengths[long] | _LONG << _LENGTH_SHIFT
    rows[~known] = 0, -1
    data = b"".join(tokens[i] or b"" for i in long.tolist())
    return rows.ravel(), np.frombuffer(bytearray(data + bytes(_WORD_BYTES)), np.uint8)


class Joining(
    Record,
    rows=types.int64[::1],
    data=types.uint8[::1],
    ids=types.uint32[::1],
    out=types.uint8[::1],
):
    """What a thread joins tokens with: the rows of all tokens, some ids, and room for their bytes."""


@inner
def length_in(second):
    """Return the length of a token, of the second word of its row."""
    length = second >> _LENGTH_SHIFT
    return length if length != _LONG else second & _LENGTH


@inner
def n_bytes_of(self, n):
    """Return how many bytes the first `n` ids have; -1 if one of them has no token."""
    row_at, id_at, n_rows, n_bytes = (
        pointer_to(self.rows, 0),
        pointer_to(self.ids, 0),
        self.rows.size // _ROW,
        0,
    )
    for i in range(n):
        token_id = np.int64(id_at[i])
        if token_id >= n_rows:
            return -1
        second = row_at[_ROW * token_id + 1]
        if second < 0:
            return -1
        n_bytes += length_in(second)
    return n_bytes


@quiet
def join_tokens(self, n):
    """Write the bytes of `n` ids, if there is room; return their number, -1 where one has no token."""
    n_bytes, end = n_bytes_of(self, n), 0
    if n_bytes + SPARE_BYTES > self.out.size:
        return n_bytes
    row_at, id_at = pointer_to(self.rows, 0), pointer_to(self.ids, 0)
    source, target = pointer_to(self.data, 0), pointer_to(self.out, 0)
    for i in range(n if n_bytes > 0 else 0):
        at = _ROW * np.int64(id_at[i])
        first, second = row_at[at], row_at[at + 1]
        length = second >> _LENGTH_SHIFT
        if length != _LONG:
            store_word(target, end, first)
            store_word(target, end + _WORD_BYTES, second)
        else:
            length = second & _LENGTH
            for k in range(0, length, _WORD_BYTES):
                store_word(target, end + k, load_word(source, first + k))
        end += length
    return n_bytes


@quiet
def ends_in_bytes(self, ends):
    """Replace each of the `ends`, which are numbers of ids, by a number of bytes."""
    row_at, id_at, i, n_bytes = pointer_to(self.rows, 0), pointer_to(self.ids, 0), 0, 0
    for k in range(ends.size):
        while i < ends[k]:
            n_bytes += length_in(row_at[_ROW * np.int64(id_at[i]) + 1])
            i += 1
        ends[k] = n_bytes
