"""The compiled half of :mod:`bpe.encoding.encoder`: a memory of pieces, and the kernels that use it."""

import numpy as np
from numba import types
from numba.experimental import structref

from bpe.encoding.heap_merge import merge_by_heap
from bpe.encoding.linked_pieces import linked_pieces_type, put_piece, set_arrays
from bpe.encoding.rounds import merge_in_rounds
from bpe.scanning.cutting import cut_segments
from structures import kernel
from structures.kernels import StructType, byte_counter_type, fields_of, inner, local_words, quiet

KNOWN_BYTES = 127
"""The longest piece that is remembered."""

BATCH = 1024
"""How many pieces are looked up at once."""

MOST_PROBES = 512
"""How far from its home a search may end before all pieces are forgotten; by chance, none comes near it."""

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
        most_known=types.int64,
        known_bytes=types.int64,  # of all pieces put there; the pool has room for as many ids
        pool=types.uint32[::1],  # ids of pieces that have more than two
        pool_size=types.int64,
        whole=byte_counter_type,  # token that is looked up before merging (`ignore_merges`) -> its id
        unknown=linked_pieces_type,  # the pieces that are being merged
        # Scratch: a small text, where its pieces begin, its ids.
        data=types.uint8[::1],
        offsets=types.int32[::1],
        ids=types.uint32[::1],
    )
)


class Memory(structref.StructRefProxy):
    """Python's handle of what a thread encodes with: something to pass to kernels."""

    __slots__ = ()


structref.define_boxing(MemoryType, Memory)


@kernel
def new_memory(known, most_known, pool, whole, unknown, data, offsets, ids):
    """Return what a thread encodes with."""
    self = structref.new(memory_type)
    self.known = known
    self.most_known = most_known
    self.known_bytes = 0
    self.pool = pool
    self.pool_size = 0
    self.whole = whole
    self.unknown = unknown
    self.data = data
    self.offsets = offsets
    self.ids = ids
    return self


@kernel
def make_room(self, arrays):
    """Make room for merging a piece, as :func:`bpe.encoding.linked_pieces.arrays_for` returns it."""
    set_arrays(self.unknown, arrays)


# ---------------------------------------------------------------------------------------------- kernels
@inner
def forget(self):
    """Forget all pieces."""
    self.known.clear()
    self.known_bytes = self.pool_size = 0


@inner
def put_known(self, data, start, end, packed):
    """Remember a piece; if memory runs out, it is merged again next time."""
    self.known.set(data, start, end, packed)
    self.known_bytes += end - start


@inner
def remember(self, data, start, end, ids, first, n):
    """Remember the ids of ``data[start:end]``: `n` of `ids`, from `first` on."""
    if n <= 2:
        second = np.int64(ids[first + 1]) + 1 if n == 2 else 0
        packed = np.int64(ids[first]) | second << _ID_BITS
    else:
        for k in range(n):
            self.pool[self.pool_size + k] = ids[first + k]
        packed = -2 - (self.pool_size << _COUNT_BITS | n)
        self.pool_size += n
    put_known(self, data, start, end, packed)


@inner
def take_whole(self, data, offsets, first, after, packed_of):
    """Look up unknown pieces among the tokens that are taken whole."""
    found = local_words(1)
    for i in range(first, after):
        if packed_of[i - first] == _MISSING:
            self.whole.get_into(data, offsets, i, i + 1, _MISSING, found)
            packed_of[i - first] = found[0]
            start, end = np.int64(offsets[i]), np.int64(offsets[i + 1])
            if found[0] != _MISSING and end - start <= KNOWN_BYTES:
                put_known(self, data, start, end, found[0])


@inner
def merge_unknown(self, data, offsets, first, after, packed_of):
    """Merge unknown pieces, as long as there is room; return where to stop: after the last of them."""
    unknown = self.unknown
    place, room = 0, unknown.tokens.size
    for i in range(first, after):
        if packed_of[i - first] == _MISSING:
            start, end = np.int64(offsets[i]), np.int64(offsets[i + 1])
            if place + end - start > room:
                after = i
                break
            put_piece(unknown, data, start, end, place)
            if not unknown.in_order:
                merge_by_heap(unknown, place, place + end - start)
            place += end - start
    if place > 0 and unknown.in_order:
        merge_in_rounds(unknown, place)
    return after


@inner
def encode_all(self, data, offsets, n_pieces, done, ids, marks, id_offsets):
    """Do as :func:`encode_pieces`, for compiled callers; there may be more offsets than the pieces have."""
    first, n, mark = done
    next_mark = marks[mark] if mark < marks.size else -1
    packed_of = local_words(BATCH)
    pool = self.pool
    while first < n_pieces:
        after = min(first + BATCH, n_pieces)
        # Forget between batches only: what a batch has looked up must stay.
        if len(self.known) + BATCH > self.most_known or self.known_bytes + BATCH * KNOWN_BYTES > pool.size:
            forget(self)
        furthest = self.known.get_into(data, offsets, first, after, _MISSING, packed_of)
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
                    ids[n] = self.unknown.tokens[token]
                    n += 1
                    token = np.int64(self.unknown.next_of[token])
                place += end - start
                if end - start <= KNOWN_BYTES:
                    remember(self, data, start, end, ids, n_before, n - n_before)
            if offsets[i + 1] == next_mark:
                while mark < marks.size and marks[mark] == next_mark:
                    id_offsets[mark] = n
                    mark += 1
                next_mark = marks[mark] if mark < marks.size else -1
        if furthest > MOST_PROBES:  # whoever has made pieces collide slows down nothing but this batch
            forget(self)
        first = after
    return n_pieces, n, mark


@quiet
def encode_pieces(self, data, offsets, done, ids, marks, id_offsets):
    """Write the ids of pieces; return `done` anew.

    It stops after the last piece, or before a piece that there is no room for (see :func:`make_room`).

    Parameters
    ----------
    self : Memory
    data : (n_bytes,) uint8
    offsets : (pieces + 1,) int32
    done : (int, int, int)
        How many pieces, ids and marks are done.
    ids : uint32 array
        Out; with room for one id a byte, and one more.
    marks : int32 array
        Ends of pieces, in ascending order.
    id_offsets : (marks,) int64
        Out: for each mark, where the ids end of the piece that ends there.
    """
    return encode_all(self, data, offsets, offsets.size - 1, done, ids, marks, id_offsets)


@quiet
def encode_small(self, tables, n_bytes, ends, no_marks, no_offsets):
    """Encode the text in ``self.data``; return the number of ids."""
    ends[0] = n_bytes
    n_pieces = cut_segments(tables, self.data, 0, 0, ends, False, self.offsets)
    return encode_all(self, self.data, self.offsets, n_pieces, (0, 0, 0), self.ids, no_marks, no_offsets)[1]
