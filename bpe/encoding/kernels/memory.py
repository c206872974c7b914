"""A memory of pieces and their ids, and the kernels of :mod:`bpe.encoding.encoder` that use it.

::

    pieces of a batch     _the      _something   e         a longer piece
    keys, slots           4_the ->  10_some.. -> 1e ->     (none) ->   rows of the table of short pieces
    what is known         17        1, 5         ?         2, 3, 9     that table | a table of bytes
    ids                   17        1 5                                written, up to the first unknown piece

Then all unknown pieces of the rest of the batch are merged together, and remembered. The ids of the first of
them are written, and the rest of the batch is read as before::

    unknown         _th           _somethings       e         _something-that-has-no-end...
    looked up       -             -                 101       -       where a vocabulary has atomic tokens
    merged          interleaved   rounds            -         later   or by a heap, if merges have no order
    place           0             3                 -1        -1      of the first token

Short pieces are merged by :mod:`bpe.encoding.kernels.merge_short`, longer ones in rounds
(:mod:`bpe.encoding.kernels.merge_rounds`). A piece that is too long to be remembered is merged when it comes
first.

The ids of a piece are two words::

    ids     first | second << 32       or where its ids begin in the pool
    more    third | number << 32       or -number << 32; 0: the piece is not known
"""

import numpy as np
from numba import types

from bpe.encoding.kernels.linked_pieces import LinkedPieces, put_piece, set_arrays
from bpe.encoding.kernels.merge_heap import merge_by_heap
from bpe.encoding.kernels.merge_rounds import WINDOW, merge_in_rounds, merge_windows
from bpe.encoding.kernels.merge_short import MOST_BYTES, merge_interleaved
from bpe.encoding.kernels.pair_ranks import LINE, NO_RANK, has_lines, table_of
from bpe.encoding.kernels.piece_table import (
    FEWEST_BITS,
    LAST_ROWS,
    LAST_WORDS,
    LENGTH_SHIFT,
    NO_WORD,
    ROW,
    SHORT,
    empty_slots,
    find,
    first_slot,
    move_all,
    new_seed,
    new_slots,
    put_row,
    wipe,
    words_at,
    words_of,
)
from bpe.splitting.compiled.cutting import cut_segments
from structures import ByteCounter, kernel
from structures.kernels import (
    Record,
    after,
    byte_counter_type,
    inner,
    lanes_with_top,
    larger,
    local_words,
    lowest_lane,
    pointer_to,
    prefetch,
    quiet,
    smaller,
)

KNOWN_BYTES = 127
"""The longest piece that is remembered."""

BATCH = LAST_ROWS
"""How many pieces are looked up at once."""

MISSING = -1
"""What stands for an id that there is not."""

MOST_PROBES = 512
"""How far from its slot a search may end before all pieces are forgotten; by chance, none comes near it."""

SPARE_IDS = 2
"""How many ids more than bytes there must be room for: three are written at once."""

# What is looked up of a batch is in one array: the first words of the keys, the second ones, the slots. Parts
# that were 4096 bytes apart would get in each other's way.
_SECOND = BATCH + 24
_SLOT = 2 * _SECOND
_ROOM_BATCH = 3 * _SECOND
_AHEAD = 1024  # bytes of text
_INLINE = 3  # ids in a row of the table of short pieces
_COUNT_SHIFT = 32
_LOW = (1 << 32) - 1
_COUNT_BITS = 7  # of the number of ids, in the table of bytes
_BYTES_AN_ID = 2  # of longer pieces, for each id that the pool has room for
_NOWHERE = -1


# ------------------------------------------------------------------------------------------------- type
class Memory(
    Record,
    short_slots=types.int64[::1],  # as in `short_pieces`: a short piece -> its ids
    short_shift=types.int64,
    short_seed=types.UniTuple(types.int64, 3),
    n_short=types.int64,
    known=byte_counter_type,  # longer piece -> where its ids begin in the pool, and how many they are
    most_known=types.int64,
    known_bytes=types.int64,  # of the longer pieces
    pool=types.uint32[::1],  # ids of longer pieces, and of short ones that have more than three
    pool_size=types.int64,
    tie=types.int64,  # a bit that is set in the ids of a piece that has several; or 0
    unknown=LinkedPieces.type(),  # the pieces that are being merged
    # Scratch: a small text, where its pieces begin, its ids.
    data=types.uint8[::1],
    offsets=types.int32[::1],
    ids=types.uint32[::1],
    ends=types.int32[::1],  # one number, where the small text ends
    no_marks=types.int32[::1],
    no_offsets=types.int64[::1],
):
    """What a thread encodes with."""


def new_memory(
    most_known: int, pool: np.ndarray, tie: int, unknown: LinkedPieces, **scratch: np.ndarray
) -> Memory:
    """Return what a thread encodes with, of these parts; it has seen no piece."""
    return Memory(
        short_slots=new_slots(),
        short_shift=64 - FEWEST_BITS,
        short_seed=new_seed(),
        n_short=0,
        known=ByteCounter(),
        most_known=most_known,
        known_bytes=0,
        pool=pool,
        pool_size=0,
        tie=tie,
        unknown=unknown,
        **scratch,
    )


@kernel
def make_room(self, arrays):
    """Make room for merging a piece, as :func:`bpe.encoding.kernels.linked_pieces.arrays_for` returns it."""
    set_arrays(self.unknown, arrays)


# ----------------------------------------------------------------------------------- what is remembered
@inner
def forget(self):
    """Forget all pieces."""
    wipe(self.short_slots)
    self.n_short = 0
    self.known.clear()
    self.known_bytes = self.pool_size = 0


@inner
def forget_if_full(self):
    """Forget all pieces if a batch more may be too many.

    To be called between batches: what a batch has looked up must stay.
    """
    is_full = len(self.known) + self.n_short + BATCH > self.most_known
    is_full |= self.pool_size + BATCH * KNOWN_BYTES > self.pool.size
    if is_full or self.known_bytes + BATCH * KNOWN_BYTES > _BYTES_AN_ID * self.pool.size:
        forget(self)


@inner
def grow(self):
    """Make the table of short pieces twice as large; null if there is no memory."""
    shift = self.short_shift - 1
    slots = empty_slots(64 - shift)
    move_all(self.short_slots, slots, self.short_seed, shift)
    self.short_slots = slots
    self.short_shift = shift
    return True


@inner
def put_short(self, key, ids, more):
    """Remember a short piece; return how far from its slot the search has ended."""
    if 2 * ROW * (self.n_short + 1) > self.short_slots.size - LAST_WORDS and not grow(self):
        return 0  # it is merged again next time
    slot = first_slot(*key, self.short_seed, self.short_shift)
    at = find(self.short_slots, *key, slot)
    self.n_short += self.short_slots[at + 1] == 0
    put_row(self.short_slots, at, (*key, ids, more))
    return (at - slot) // ROW & ((1 << (64 - self.short_shift)) - 1)


@inner
def place_in_pool(found):
    """Return the two words of the ids of a longer piece, of what the table of bytes has."""
    n_ids = found & ((1 << _COUNT_BITS) - 1)
    return found >> _COUNT_BITS, 0 if found == MISSING else -n_ids << _COUNT_SHIFT


# ----------------------------------------------------------------------------------------------- known pieces
@inner
def prepare(self, data, offsets, first, n, rows):
    """Find the keys and the slots of `n` pieces, at most :data:`BATCH`, and prefetch what is known of them.

    Longer pieces are looked up: their slots are in the last rows of the table.
    """
    text, offset_at, slots = pointer_to(data, 0), pointer_to(offsets, first), self.short_slots
    seed, shift, end = self.short_seed, self.short_shift, np.int64(offset_at[0])
    is_near_end = np.int64(offset_at[n - 1]) + 16 > data.size
    for i in range(0 if is_near_end else n):
        start, end = end, np.int64(offset_at[i + 1])
        rows[i], rows[_SECOND + i] = words_at(text, start, end - start)
        prefetch(data, start + _AHEAD)  # without it, the loop becomes vector code that is slower
    for i in range(n if is_near_end else 0):
        start, end = end, np.int64(offset_at[i + 1])
        rows[i], rows[_SECOND + i] = words_of(after(text, start), end - start)
    for i in range(n):  # vector code
        rows[_SLOT + i] = first_slot(rows[i], rows[_SECOND + i], seed, shift)
    for i in range(n):
        prefetch(slots, rows[_SLOT + i])
    return find_long(self, data, offset_at, n, rows)


@inner
def find_long(self, data, offset_at, n, rows):
    """Look up the longer ones of `n` pieces; return how far from its slot a search has ended."""
    slots = pointer_to(self.short_slots, 0)
    starts, ends, found = local_words(BATCH), local_words(BATCH), local_words(BATCH)
    n_long, at = 0, self.short_slots.size - LAST_WORDS
    for i in range(n, -(-n // LINE) * LINE):
        rows[_SECOND + i] = 0
    for i in range(0, n, LINE):
        lanes = lanes_with_top(rows, _SECOND + i, NO_WORD >> LENGTH_SHIFT, LENGTH_SHIFT)
        while lanes != 0:
            k = i + lowest_lane(lanes)
            starts[n_long], ends[n_long] = np.int64(offset_at[k]), np.int64(offset_at[k + 1])
            rows[k], rows[_SLOT + k] = 0, at + ROW * n_long
            n_long += 1
            lanes &= lanes - 1
    furthest = self.known.get_into(data, starts, ends, n_long, MISSING, found)
    for k in range(n_long):
        slots[at + 2], slots[at + 3] = place_in_pool(found[k])
        at += ROW
    return furthest


@inner
def write_known(self, offsets, batch, done, ids, marks, id_offsets):
    """Write the ids of the pieces of a batch up to the first that is not known; return the new `done`.

    `batch` is its first piece, their number, and what was looked up; `done` is a triple as for
    :func:`encode_pieces`.
    """
    first, n_pieces, rows = batch
    i, n, mark = done[0] - first, done[1], done[2]
    slots, id_at, offset_at = pointer_to(self.short_slots, 0), pointer_to(ids, 0), pointer_to(offsets, first)
    while i < n_pieces:
        stop = n_pieces
        if mark < marks.size and marks[mark] <= offset_at[n_pieces]:
            stop = i + 1
            while offset_at[stop] != marks[mark]:
                stop += 1
        while i < stop:
            at = rows[_SLOT + i]
            if (slots[at] != rows[i]) | (slots[at + 1] != rows[_SECOND + i]):
                at = find(self.short_slots, rows[i], rows[_SECOND + i], at)
            if slots[at + 3] == 0:
                return first + i, n, mark
            n = put_ids(self, slots[at + 2], slots[at + 3], id_at, n)
            i += 1
        mark = put_marks(marks, mark, offset_at[i], id_offsets, n)
    return first + n_pieces, n, mark


@inner
def put_ids(self, ids, more, id_at, n):
    """Write the ids of a piece, from index `n` on; return the new `n`. Up to three are written at once."""
    n_ids = more >> _COUNT_SHIFT
    if n_ids > 0:
        id_at[n] = ids & _LOW
        id_at[n + 1] = (ids >> 32) & _LOW
        id_at[n + 2] = more & _LOW
        return n + n_ids
    pool = pointer_to(self.pool, ids)
    for k in range(-n_ids):
        id_at[n + k] = pool[k]
    return n - n_ids


@inner
def put_marks(marks, mark, place, id_offsets, n):
    """Write where the ids end of pieces that end at `place`; return the next mark, `mark` or a later one."""
    while mark < marks.size and marks[mark] == place:
        id_offsets[mark] = n
        mark += 1
    return mark


@inner
def remember(self, data, start, end, slot, ids, first, n):
    """Remember the ids of ``data[start:end]``: `n` of `ids`, from `first` on. Return as :func:`put_short`.

    If the `slot` of a longer piece is in the last rows, it is written, too. If memory runs out, the piece is
    merged again next time.
    """
    is_short = end - start <= SHORT
    key = words_of(pointer_to(data, start), end - start)
    if is_short and n <= _INLINE:
        second = np.int64(ids[first + 1]) if n > 1 else 0
        third = np.int64(ids[first + 2]) if n > 2 else 0
        return put_short(self, key, np.int64(ids[first]) | second << 32, third | n << _COUNT_SHIFT)
    place = self.pool_size
    if place + n > self.pool.size:
        return 0
    for k in range(n):
        self.pool[place + k] = ids[first + k]
    self.pool_size += n
    if is_short:
        return put_short(self, key, place, -n << _COUNT_SHIFT)
    self.known.set(data, start, end, place << _COUNT_BITS | n)
    self.known_bytes += end - start
    if slot >= self.short_slots.size - LAST_WORDS:  # not if the table has grown meanwhile
        self.short_slots[slot + 2], self.short_slots[slot + 3] = place, -n << _COUNT_SHIFT
    return 0


@inner
def tie_ids(self, id_at, first, after):
    """Set the bit of ties in the ids of a piece, if there are several."""
    if self.tie != 0 and after - first > 1:
        for k in range(first, after):
            id_at[k] = np.int64(id_at[k]) | self.tie


# --------------------------------------------------------------------------------------------- unknown pieces
@inner
def find_unknown(self, batch, first, pieces):
    """Write which pieces of a batch are not known, from piece `first` on; return their number.

    Their slots become the rows where their searches end.
    """
    first_of_batch, n_pieces, rows = batch
    n, slots = 0, pointer_to(self.short_slots, 0)
    for i in range(first - first_of_batch, n_pieces):
        at = rows[_SLOT + i]
        if (slots[at] != rows[i]) | (slots[at + 1] != rows[_SECOND + i]):
            at = find(self.short_slots, rows[i], rows[_SECOND + i], at)
        rows[_SLOT + i], pieces[n] = at, first_of_batch + i
        n += slots[at + 3] == 0
    return n


@inner
def look_up_atomic(unknown, data, offsets, pieces, n, atomic_ids):
    """Write the ids of pieces that are atomic tokens; :data:`MISSING` for others."""
    for k in range(n):
        atomic_ids[k] = MISSING
        if len(unknown.atomic) > 0:
            starts, ends = pointer_to(offsets, pieces[k]), pointer_to(offsets, pieces[k] + 1)
            unknown.atomic.get_into(data, starts, ends, 1, MISSING, after(atomic_ids, k))


@inner
def merge_unknown(unknown, data, offsets, pieces, n, atomic_ids, places):
    """Merge unknown pieces, as long as there is room; return how many are merged, and write where.

    Of pieces that are too long to be remembered, only the first is merged; the places of others are -1.
    """
    place, room, has_rounds, n_short = 0, unknown.tokens.size, False, 0
    short, short_places = local_words(BATCH), local_words(BATCH)
    most_bytes = MOST_BYTES if has_lines(table_of(unknown.packed_ranks)) else 0
    for k in range(n):
        start, end = np.int64(offsets[pieces[k]]), np.int64(offsets[pieces[k] + 1])
        places[k] = place
        if atomic_ids[k] != MISSING or (k > 0 and end - start > KNOWN_BYTES):
            places[k] = _NOWHERE
            continue
        if place + end - start > room or (unknown.in_order and end - start > WINDOW):
            n = k
            break
        if end - start <= most_bytes:
            short[n_short], short_places[n_short] = pieces[k], place
            n_short += 1
            for i in range(place, place + end - start):  # the rounds pass by
                unknown.ranks[i] = NO_RANK
        else:
            put_piece(unknown, data, start, end, place)
            has_rounds |= unknown.in_order
            if not unknown.in_order:
                merge_by_heap(unknown, place, place + end - start)
        place += end - start
    merge_interleaved(unknown, data, offsets, short, short_places, n_short)
    if has_rounds:
        merge_in_rounds(unknown, place)
    return n


@inner
def put_merged(self, place, id_at, n):
    """Write the ids of a piece that was merged at a place, from index `n` on; return the new `n`."""
    tokens, next_of = pointer_to(self.unknown.tokens, 0), pointer_to(self.unknown.next_of, 0)
    first = n
    while place >= 0:
        id_at[n] = tokens[place]
        n += 1
        place = np.int64(next_of[place])
    tie_ids(self, id_at, first, n)
    return n


@inner
def merge_rest(self, data, offsets, batch, done, ids, marks, id_offsets):
    """Merge and remember the pieces of the rest of a batch that are not known; write the ids of the first.

    The first piece of the rest is not known. If there is no room for it, `done` stays.
    """
    (first, n, mark), id_at = done, pointer_to(ids, 0)
    pieces, places, atomic_ids = local_words(BATCH), local_words(BATCH), local_words(BATCH)
    n_unknown = find_unknown(self, batch, first, pieces)
    look_up_atomic(self.unknown, data, offsets, pieces, n_unknown, atomic_ids)
    start, end, n_after = np.int64(offsets[first]), np.int64(offsets[first + 1]), n
    if atomic_ids[0] == MISSING and self.unknown.in_order and end - start > WINDOW:
        n_after = merge_windows(self.unknown, data, start, end, ids, n)
        if n_after < 0:
            return done, 0
        tie_ids(self, id_at, n, n_after)
        return (first + 1, n_after, put_marks(marks, mark, offsets[first + 1], id_offsets, n_after)), 0
    n_unknown = merge_unknown(self.unknown, data, offsets, pieces, n_unknown, atomic_ids, places)
    if n_unknown == 0:
        return done, 0
    furthest = 0
    for k in range(n_unknown):
        # The ids of the first are in their place; those of others are written after them, to be remembered.
        end_of_ids = put_merged(self, places[k], id_at, n_after)
        if atomic_ids[k] != MISSING:
            id_at[n_after] = atomic_ids[k]
            end_of_ids = n_after + 1
        start, end = np.int64(offsets[pieces[k]]), np.int64(offsets[pieces[k] + 1])
        if end - start <= KNOWN_BYTES:
            slot, n_ids = batch[2][_SLOT + pieces[k] - batch[0]], end_of_ids - n_after
            furthest = larger(furthest, remember(self, data, start, end, slot, ids, n_after, n_ids))
        if k == 0:
            n_after = end_of_ids
    return (first + 1, n_after, put_marks(marks, mark, offsets[first + 1], id_offsets, n_after)), furthest


# --------------------------------------------------------------------------------------------------- encoding
@inner
def encode_all(self, data, offsets, n_pieces, done, ids, marks, id_offsets):
    """Do as :func:`encode_pieces`, for compiled callers; there may be more offsets than the pieces have."""
    rows, before = local_words(_ROOM_BATCH), _NOWHERE
    while done[0] < n_pieces and done[0] != before:
        forget_if_full(self)
        batch = (done[0], smaller(BATCH, n_pieces - done[0]), rows)
        furthest = prepare(self, data, offsets, batch[0], batch[1], rows)
        size, stop = self.short_slots.size, batch[0] + batch[1]
        done = write_known(self, offsets, batch, done, ids, marks, id_offsets)
        # If the table has grown, the slots are others.
        while done[0] < stop and done[0] != before and self.short_slots.size == size:
            before = done[0]
            done, further = merge_rest(self, data, offsets, batch, done, ids, marks, id_offsets)
            furthest = larger(furthest, further)
            if done[0] != before and self.short_slots.size == size:
                done = write_known(self, offsets, batch, done, ids, marks, id_offsets)
        if furthest > MOST_PROBES:  # pieces made to collide slow down this batch only
            forget(self)
    return done


@quiet
def encode_pieces(self, data, offsets, done, ids, marks, id_offsets):
    """Write the ids of pieces; return the new `done`.

    It stops after the last piece, or before a piece that there is no room for (see :func:`make_room`).
    """
    return encode_all(self, data, offsets, offsets.size - 1, done, ids, marks, id_offsets)


@quiet
def encode_small(self, tables, n_bytes):
    """Encode the text in ``self.data``; return the number of ids.

    Whatever it needs is in two objects: each argument takes some 80 ns to unpack, an array most.
    """
    self.ends[0] = n_bytes
    nothing = tables.group_of  # these tables remember nothing that failed
    n_pieces = cut_segments(tables, self.data, 0, 0, self.ends, False, self.offsets, nothing)
    done = (0, 0, 0)
    return encode_all(
        self, self.data, self.offsets, n_pieces, done, self.ids, self.no_marks, self.no_offsets
    )[1]
