"""The kernels of :mod:`structures.multiset_heap` on its array of blocks, which the docstring there draws."""

import numpy as np

from structures.int_map_kernels import VALUE
from structures.jit import inner, kernel
from structures.memory import copy_prefix, new_words
from structures.simd import least_lanes, least_lanes_among, lowest_lane, pointer_to, smaller
from structures.sorting import sort
from structures.status import INT64_MAX

ARITY_BITS = 3
ARITY = 1 << ARITY_BITS
BLOCK = 3 * ARITY
KEY, PLACE = ARITY, 2 * ARITY  # from the rank of an entry to its key and to its place in the map


@inner
def place_of(slot):
    """Return the index in ``blocks`` of the rank of `slot`."""
    lane = slot + ARITY - 1
    return (lane >> ARITY_BITS) * BLOCK + (lane & (ARITY - 1))


@inner
def blocks_for(n_slots):
    """Return how many blocks have room for `n_slots`."""
    return (n_slots + 2 * ARITY - 2) // ARITY


@inner
def capacity_of(n_blocks):
    """Return how many slots there are in `n_blocks`."""
    return n_blocks * ARITY - ARITY + 1


@inner
def write_entry(blocks, map_slots, slot, rank, key, place):
    """Put an entry into a slot, and the slot into the map."""
    entry = pointer_to(blocks, place_of(slot))
    entry[0] = rank
    entry[KEY] = key
    entry[PLACE] = place
    pointer_to(map_slots, place)[VALUE] = slot + 1


@inner
def sift_up(blocks, map_slots, slot, rank, key, place):
    """Move the hole at `slot` up to where an entry belongs, and put the entry there."""
    while slot > 0:
        parent = (slot - 1) >> ARITY_BITS
        above = pointer_to(blocks, place_of(parent))
        if above[0] < rank or (above[0] == rank and above[KEY] < key):
            break
        write_entry(blocks, map_slots, slot, above[0], above[KEY], above[PLACE])
        slot = parent
    write_entry(blocks, map_slots, slot, rank, key, place)


@inner
def sift_down(blocks, map_slots, size, slot, rank, key, place):
    """Move the hole at `slot` down to where an entry belongs, and put the entry there."""
    while ARITY * slot + 1 < size:
        first = ARITY * slot + 1
        row = (slot + 1) * BLOCK
        lanes = least_lanes(blocks, row)
        if first + ARITY > size:
            lanes &= (1 << (size - first)) - 1
        if lanes & (lanes - 1):
            lanes = least_lanes_among(blocks, row + KEY, lanes)
        lane = lowest_lane(lanes)
        below = pointer_to(blocks, row + lane)
        if rank < below[0] or (rank == below[0] and key < below[KEY]):
            break
        write_entry(blocks, map_slots, slot, below[0], below[KEY], below[PLACE])
        slot = first + lane
    write_entry(blocks, map_slots, slot, rank, key, place)


@inner
def change_rank(blocks, map_slots, size, slot, rank):
    """Give the entry at `slot` another rank and move it to its new slot."""
    entry = pointer_to(blocks, place_of(slot))
    if rank < entry[0]:
        sift_up(blocks, map_slots, slot, rank, entry[KEY], entry[PLACE])
    else:
        sift_down(blocks, map_slots, size, slot, rank, entry[KEY], entry[PLACE])


@inner
def cut_entry(blocks, map_slots, size, slot):
    """Take the entry at `slot` out; the last one fills the hole."""
    pointer_to(map_slots, blocks[place_of(slot) + PLACE])[VALUE] = 0
    last = pointer_to(blocks, place_of(size - 1))
    rank, key, place = last[0], last[KEY], last[PLACE]
    last[0] = INT64_MAX
    if slot != size - 1:
        # It belongs further down, or up if it comes from another branch.
        above = pointer_to(blocks, place_of((slot - 1) >> ARITY_BITS))
        if slot > 0 and (rank < above[0] or (rank == above[0] and key < above[KEY])):
            sift_up(blocks, map_slots, slot, rank, key, place)
        else:
            sift_down(blocks, map_slots, size - 1, slot, rank, key, place)


@inner
def open_slot(blocks, slot):
    """Fill the ranks of a row past the end, if the slot is the first of its row."""
    lane = slot + ARITY - 1
    if lane & (ARITY - 1) == 0:
        for rank in range(BLOCK * (lane >> ARITY_BITS), BLOCK * (lane >> ARITY_BITS) + ARITY):
            blocks[rank] = INT64_MAX


@inner
def heapify(blocks, map_slots, size):
    """Establish the heap order over the first `size` slots (Floyd)."""
    for slot in range((size - 2) // ARITY, -1, -1):
        entry = pointer_to(blocks, place_of(slot))
        sift_down(blocks, map_slots, size, slot, entry[0], entry[KEY], entry[PLACE])


@kernel
def tied_keys(blocks, size):
    """Return the keys whose rank is that of the root, ``(n,) int64``, ascending."""
    tied = new_words(8)  # slots, in the order of the visit
    n = smaller(size, 1)
    tied[0] = 0
    visited = 0
    while visited < n:
        first = ARITY * tied[visited] + 1
        visited += 1
        for slot in range(first, smaller(first + ARITY, size)):
            if blocks[place_of(slot)] == blocks[place_of(0)]:
                if n == tied.size:
                    grown = new_words(2 * n)
                    copy_prefix(tied, n, grown)
                    tied = grown
                tied[n] = slot
                n += 1
    keys = new_words(n)
    for i in range(n):
        keys[i] = blocks[place_of(tied[i]) + KEY]
    sort(keys)
    return keys


@kernel
def first_slots(blocks, size, n):
    """Return the slots of the first `n` of `size` entries in order, ``(n,) int64``."""
    slots = new_words(n)
    # The next entry is the root or a child of an earlier one; a second heap, `front`, has the candidates.
    front = new_words(blocks_for(smaller((ARITY - 1) * n + 1, size)) * BLOCK)
    open_slot(front, 0)
    n_known = 1
    known = np.zeros(smaller(ARITY * n + 1, size) + VALUE + 1, np.int64)  # known[place in front]: its slot
    moved = known.copy()  # front needs no map: nothing reads this
    n_front = 1
    write_entry(front, moved, 0, blocks[place_of(0)], blocks[place_of(0) + KEY], 0)
    for i in range(n):
        slots[i] = known[front[place_of(0) + PLACE]]
        cut_entry(front, moved, n_front, 0)
        n_front -= 1
        first = ARITY * slots[i] + 1
        for slot in range(first, smaller(first + ARITY, size)):
            known[n_known] = slot
            open_slot(front, n_front)
            entry = pointer_to(blocks, place_of(slot))
            sift_up(front, moved, n_front, entry[0], entry[KEY], n_known)
            n_front += 1
            n_known += 1
    return slots
