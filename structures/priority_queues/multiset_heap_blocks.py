"""The kernels of ``MaxHeap`` and ``MinHeap`` on their table, which is drawn in ``multiset_heap``."""

import numpy as np

from structures.compiling.jit import inner, kernel
from structures.primitives.memory import copy_prefix, copy_words, new_words
from structures.primitives.simd import pointer_to, smaller
from structures.primitives.words import ask_for, first_of_four, halves_at
from structures.status import INT64_MAX

ARITY_BITS = 2
ARITY = 1 << ARITY_BITS
ROW = 2 * ARITY  # words
TIE = ARITY  # from the rank of an entry to its tie
IDS_A_ROW = 6  # half as many again as slots: keys that have left keep theirs for a while
IDS, SLOTS, KEYS = ROW, ROW + ARITY // 2, ROW + ARITY // 2 + IDS_A_ROW // 2  # words a row before these
ALL = KEYS + IDS_A_ROW  # words a row where ids have keys
MOST_ROWS = (2**31 - 1) // IDS_A_ROW  # ids and slots are int32
GONE = -1  # the slot of an id whose key is not in the heap
_FAR = 1 << 9  # from this slot on, rows are seldom in a near cache


# -------------------------------------------------------------------------------------------- the table
@inner
def rows_for(n_slots):
    """Return how many rows have room for `n_slots`."""
    return (n_slots + 2 * ARITY - 2) // ARITY


@inner
def capacity_of(table):
    """Return how many slots a table has."""
    return table[0] * ARITY - ARITY + 1


@inner
def start_table(table, n_rows):
    """Prepare a table of so many rows for its first entry."""
    open_slot(table, 1 - ARITY)
    table[0] = n_rows


@kernel
def new_table(n_rows, words_a_row):
    """Return a table with no entries: :data:`KEYS` words a row, or :data:`ALL` where ids have keys."""
    table = new_words(n_rows * words_a_row)
    start_table(table, n_rows)
    return table


@inner
def rank_at(slot):
    """Return the index in the table of the rank of `slot`."""
    lane = slot + ARITY - 1
    return (lane >> ARITY_BITS) * ROW + (lane & (ARITY - 1))


@inner
def parts_of(table):
    """Return pointers to the rows of a table, to its ids by slot, and to its slots by id."""
    return pointer_to(table, 0), halves_at(table, IDS * table[0]), halves_at(table, SLOTS * table[0])


@inner
def write_entry(parts, slot, rank, tie, number):
    """Put an entry into a slot, and write down the slot of its id."""
    rows, ids, slot_of = parts
    at = rank_at(slot)
    rows[at] = rank
    rows[at + TIE] = tie
    ids[slot] = np.int32(number)
    slot_of[number] = np.int32(slot)


@inner
def open_slot(table, slot):
    """Fill the row of a slot that is the first of its row: no entry comes after a filled lane."""
    lane = slot + ARITY - 1
    if lane & (ARITY - 1) == 0:
        row = pointer_to(table, ROW * (lane >> ARITY_BITS))
        for i in range(ROW):
            row[i] = INT64_MAX


@inner
def move_all(older, size, n_ids, table, n_rows):
    """Copy the entries of a table with `size` entries and `n_ids` ids into a larger one."""
    start_table(table, n_rows)
    copy_words(older, 1, table, 1, ROW * rows_for(size) - 1)
    copy_words(older, IDS * older[0], table, IDS * table[0], (size + 1) // 2)
    copy_words(older, SLOTS * older[0], table, SLOTS * table[0], (n_ids + 1) // 2)
    if older.size > KEYS * older[0]:
        copy_words(older, KEYS * older[0], table, KEYS * table[0], n_ids)


# -------------------------------------------------------------------------------------------- the order
@inner
def sift_up(parts, slot, rank, tie, number):
    """Move the hole at `slot` up to where an entry belongs, and put the entry there."""
    rows, ids, _ = parts
    while slot > 0:
        parent = (slot - 1) >> ARITY_BITS
        above = rank_at(parent)
        if rows[above] < rank or (rows[above] == rank and rows[above + TIE] < tie):
            break
        write_entry(parts, slot, rows[above], rows[above + TIE], ids[parent])
        slot = parent
    write_entry(parts, slot, rank, tie, number)


@inner
def sift_down(parts, size, slot, rank, tie, number):
    """Move the hole at `slot` down to where an entry belongs, and put the entry there."""
    rows, ids, _ = parts
    while ARITY * slot + 1 < size:
        first = ARITY * slot + 1
        if slot >= _FAR:  # the rows below all four children: which one is needed is not known yet
            for row in range(first + 1, first + 1 + ARITY):
                ask_for(rows, ROW * row)
        lane = first_of_four(rows, ROW * (slot + 1), TIE)
        below = ROW * (slot + 1) + lane
        if rank < rows[below] or (rank == rows[below] and tie < rows[below + TIE]):
            break
        write_entry(parts, slot, rows[below], rows[below + TIE], ids[first + lane])
        slot = first + lane
    write_entry(parts, slot, rank, tie, number)


@inner
def change_entry(parts, size, slot, rank, tie):
    """Give the entry at `slot` another rank and tie, and move it to its new slot."""
    rows, ids, _ = parts
    at, number = rank_at(slot), np.int64(ids[slot])
    if rank < rows[at] or (rank == rows[at] and tie < rows[at + TIE]):
        sift_up(parts, slot, rank, tie, number)
    else:
        sift_down(parts, size, slot, rank, tie, number)


@inner
def cut_entry(parts, size, slot):
    """Take the entry at `slot` out; the last one fills the hole. Its id keeps the slot that it had."""
    rows, ids, _ = parts
    last = rank_at(size - 1)
    rank, tie, number = rows[last], rows[last + TIE], np.int64(ids[size - 1])
    rows[last] = INT64_MAX
    rows[last + TIE] = INT64_MAX
    if slot != size - 1:
        # It belongs further down, or up if it comes from another branch.
        above = rank_at((slot - 1) >> ARITY_BITS) if slot > 0 else 0
        if slot > 0 and (rank < rows[above] or (rank == rows[above] and tie < rows[above + TIE])):
            sift_up(parts, slot, rank, tie, number)
        else:
            sift_down(parts, size - 1, slot, rank, tie, number)


@inner
def heapify(parts, size):
    """Establish the heap order over the first `size` slots (Floyd)."""
    rows, ids, _ = parts
    for slot in range((size - 2) // ARITY, -1, -1):
        at = rank_at(slot)
        sift_down(parts, size, slot, rows[at], rows[at + TIE], np.int64(ids[slot]))


# ---------------------------------------------------------------------------------------------- reading
@kernel
def tied_slots(table, size):
    """Return the slots of the entries whose rank is that of the root, in no order."""
    tied = new_words(8)
    n = smaller(size, 1)
    tied[0] = 0
    visited = 0
    while visited < n:
        first = ARITY * tied[visited] + 1
        visited += 1
        for slot in range(first, smaller(first + ARITY, size)):
            if table[rank_at(slot)] == table[rank_at(0)]:
                if n == tied.size:
                    grown = new_words(2 * n)
                    copy_prefix(tied, n, grown)
                    tied = grown
                tied[n] = slot
                n += 1
    slots = new_words(n)
    copy_prefix(tied, n, slots)
    return slots


@kernel
def first_slots(table, size, n):
    """Return the slots of the first `n` of `size` entries in order, ``(n,) int64``."""
    slots = new_words(n)
    # The next entry is the root or a child of an earlier one; a second heap, `front`, has the candidates.
    most = smaller(ARITY * n + 1, size)
    front = new_table(rows_for(most), KEYS)
    parts = parts_of(front)
    known = new_words(most)  # known[id in front]: its slot
    n_known, n_front = 0, 0
    child, end = 0, smaller(1, size)
    for i in range(n):
        while child < end:
            at = rank_at(child)
            known[n_known] = child
            open_slot(front, n_front)
            sift_up(parts, n_front, table[at], table[at + TIE], n_known)
            n_front += 1
            n_known += 1
            child += 1
        slots[i] = known[parts[1][0]]
        cut_entry(parts, n_front, 0)
        n_front -= 1
        child = ARITY * slots[i] + 1
        end = smaller(child + ARITY, size)
    return slots
