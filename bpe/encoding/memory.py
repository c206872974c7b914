"""The compiled half of :mod:`bpe.encoding.encoder`: a memory of pieces, and what it leads to."""

from __future__ import annotations

import numpy as np
from numba import types
from numba.experimental import structref

from bpe.encoding.rounds import merge_pieces, put_piece, rounds_type, set_arrays
from bpe.scanning.cutting import cut_segments
from structures import kernel
from structures.kernels import StructType, byte_counter_type, fields_of, inner, local_words, quiet

__all__ = ["KNOWN_BYTES", "Memory", "encode_pieces", "encode_small", "make_room", "new_memory"]

KNOWN_BYTES = 127
"""The longest piece that is remembered."""

_BATCH = 1024  # pieces
_MISSING = -1
_ID_BITS = 31
_ID_MASK = (1 << _ID_BITS) - 1
_COUNT_BITS = 7


# ------------------------------------------------------------------------------------------------- type
@structref.register
class MemoryType(StructType):
    """numba type of :class:`Memory`."""


memory_type = MemoryType(
    fields_of(
        known=byte_counter_type,  # piece -> its ids, packed
        pool=types.uint32[::1],
        pool_size=types.int64,
        most_known=types.int64,
        whole=byte_counter_type,  # token that pieces are taken whole as -> its id
        rounds=rounds_type,
        # Scratch: a small text, where its pieces begin, its ids.
        data=types.uint8[::1],
        offsets=types.int32[::1],
        ids=types.uint32[::1],
    )
)


class Memory(structref.StructRefProxy):
    """Python's handle of what a thread encodes with: something to hand to kernels."""

    __slots__ = ()


structref.define_boxing(MemoryType, Memory)


@kernel
def new_memory(known, pool, most_known, whole, rounds, data, offsets, ids):
    """Return what a thread encodes with."""
    self = structref.new(memory_type)
    self.known = known
    self.pool = pool
    self.pool_size = 0
    self.most_known = most_known
    self.whole = whole
    self.rounds = rounds
    self.data = data
    self.offsets = offsets
    self.ids = ids
    return self


# ---------------------------------------------------------------------------------------------- kernels
@inner
def remember(self, data, start, end, ids, first, n):
    """Remember the ids of ``data[start:end]``, which are `n` of `ids` from `first` on."""
    if n <= 2:
        second = np.int64(ids[first + 1]) + 1 if n == 2 else 0
        packed = np.int64(ids[first]) | second << _ID_BITS
    else:
        for k in range(n):
            self.pool[self.pool_size + k] = ids[first + k]
        packed = -2 - (self.pool_size << _COUNT_BITS | n)
        self.pool_size += n
    self.known.set(data, start, end, packed)  # where there is no memory, it is merged again next time


@inner
def take_whole(self, data, offsets, first, after, packed_of):
    """Look up the pieces that are not known among the tokens that pieces are taken whole as."""
    found = local_words(1)
    for i in range(first, after):
        if packed_of[i - first] == _MISSING:
            self.whole.get_into(data, offsets, i, i + 1, _MISSING, found)
            packed_of[i - first] = found[0]
            start, end = np.int64(offsets[i]), np.int64(offsets[i + 1])
            if found[0] != _MISSING and end - start <= KNOWN_BYTES:
                self.known.set(data, start, end, found[0])


@inner
def merge_unknown(self, data, offsets, first, after, packed_of):
    """Merge the pieces that are not known, as long as there is room; return behind the last piece."""
    rounds = self.rounds
    place, room = 0, rounds.tokens.size
    for i in range(first, after):
        if packed_of[i - first] == _MISSING:
            start, end = np.int64(offsets[i]), np.int64(offsets[i + 1])
            if place + end - start > room:
                after = i
                break
            put_piece(rounds, data, start, end, place)
            place += end - start
    if place > 0:
        merge_pieces(rounds)
    return after


@inner
def encode_all(self, data, offsets, piece, n_pieces, ids, n, marks, mark, id_offsets):
    """Do as :func:`encode_pieces`, for compiled callers."""
    next_mark = marks[mark] if mark < marks.size else -1
    packed_of = local_words(_BATCH)
    pool = self.pool
    first = piece
    while first < n_pieces:
        after = min(first + _BATCH, n_pieces)
        # Not in the middle of a batch, whose look-ups would be of no use any more.
        if len(self.known) + _BATCH > self.most_known or self.pool_size + _BATCH * KNOWN_BYTES > pool.size:
            self.known.clear()
            self.pool_size = 0
        self.known.get_into(data, offsets, first, after, _MISSING, packed_of)
        if len(self.whole) > 0:
            take_whole(self, data, offsets, first, after, packed_of)
        after = merge_unknown(self, data, offsets, first, after, packed_of)
        if after == first:
            return first, n, mark
        place = 0
        for i in range(first, after):
            packed = packed_of[i - first]
            if packed >= 0:
                second = packed >> _ID_BITS
                ids[n] = packed & _ID_MASK
                ids[n + 1] = second - 1
                n += 1 + (second != 0)
            elif packed != _MISSING:
                start = (-2 - packed) >> _COUNT_BITS
                for k in range((-2 - packed) & ((1 << _COUNT_BITS) - 1)):
                    ids[n] = pool[start + k]
                    n += 1
            else:
                start, end, n_before = np.int64(offsets[i]), np.int64(offsets[i + 1]), n
                token = place
                while token >= 0:
                    ids[n] = self.rounds.tokens[token]
                    n += 1
                    token = np.int64(self.rounds.behind[token])
                place += end - start
                if end - start <= KNOWN_BYTES:
                    remember(self, data, start, end, ids, n_before, n - n_before)
            if offsets[i + 1] == next_mark:
                while mark < marks.size and marks[mark] == next_mark:
                    id_offsets[mark] = n
                    mark += 1
                next_mark = marks[mark] if mark < marks.size else -1
        first = after
    return n_pieces, n, mark


@kernel
def make_room(self, tokens, behind, before, ranks, entries, marked):
    """Make room for merging a piece, with arrays as :func:`bpe.encoding.rounds.arrays_for` returns them."""
    set_arrays(self.rounds, tokens, behind, before, ranks, entries, marked)


@quiet
def encode_pieces(self, data, offsets, piece, n_pieces, ids, n, marks, mark, id_offsets):
    """Write the ids of pieces; return how far: the piece, where its ids begin, the mark.

    The piece is `n_pieces`, or one that there is no room for.

    Parameters
    ----------
    self : Memory
    data : (n_bytes,) uint8
    offsets : (>= n_pieces + 1,) int32
    piece, n_pieces : int
        The first, and behind the last.
    ids : uint32 array
        Out, from `n` on; with room for an id a byte, and one more.
    n : int
    marks : int32 array
        In ascending order, ends of pieces.
    mark : int
        The first that is behind the first piece.
    id_offsets : (marks,) int64
        Out: where the ids end of the piece that ends at each mark.
    """
    return encode_all(self, data, offsets, piece, n_pieces, ids, n, marks, mark, id_offsets)


@quiet
def encode_small(self, tables, n_bytes, ends, no_marks, no_offsets):
    """Encode the text in ``self.data``; return the number of ids."""
    ends[0] = n_bytes
    n_pieces = cut_segments(tables, self.data, 0, 0, ends, False, self.offsets)
    return encode_all(self, self.data, self.offsets, 0, n_pieces, self.ids, 0, no_marks, 0, no_offsets)[1]
