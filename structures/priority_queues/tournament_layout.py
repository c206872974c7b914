"""The kernels of a tournament on its arrays, which the docstring of ``tournament`` draws.

Without ages, ``ages`` is empty and the id is used as the age.
"""

from structures.compiling.jit import inner, kernel
from structures.primitives.memory import copy_words, new_words
from structures.primitives.simd import (
    ROW,
    least_of_row,
    local_words,
    lowest_lane,
    pointer_to,
)
from structures.status import INT64_MAX

ROW_BITS = 5
ALL_LANES = (1 << ROW) - 1
MAX_LEVELS = 10  # enough for 2**48 ids
ABSENT = INT64_MAX  # the rank and the age of an id that is not in the heap


@inner
def padded(n):
    """Return `n` rounded up to whole rows."""
    return (n + ROW - 1) & -ROW


@inner
def above(at, base, width):
    """Return the word above the word `at`, and where its level starts and how many words wide it is.

    `base` and `width` are those of the level of `at`.
    """
    return base + width + ((at - base) >> ROW_BITS), base + width, padded(width >> ROW_BITS)


@inner
def words_for(n_leaves):
    """Return how many words all levels have together."""
    base, width = 0, n_leaves
    while width > ROW:
        base += width
        width = padded(width >> ROW_BITS)
    return base + width + 1


@inner
def fill_absent(words, start):
    """Mark the words from `start` on as absent."""
    for i in range(start, words.size):
        words[i] = ABSENT


@inner
def is_present(ranks, ages, key_id):
    """Return whether an id is in the heap."""
    if pointer_to(ranks, key_id)[0] != ABSENT:
        return True
    return ages.size > 0 and pointer_to(ages, key_id)[0] != ABSENT


@inner
def first_of_row(ranks, winners, ages, row, lanes):
    """Return rank, id and age of the first entry among `lanes`, a bit mask, of the row at `row`."""
    rank, lanes = least_of_row(ranks, row, lanes)
    if ages.size > 0 and lanes & (lanes - 1):
        lanes = least_of_row(ages, row, lanes)[1]
    at = row + lowest_lane(lanes)
    n_leaves = ranks.size - winners.size
    key_id = at if at < n_leaves else pointer_to(winners, at - n_leaves)[0]
    return rank, key_id, pointer_to(ages, at)[0] if ages.size > 0 else key_id


@inner
def write_leaf(ranks, ages, key_id, rank, age):
    """Write the rank and the age of an id at its leaf."""
    pointer_to(ranks, key_id)[0] = rank
    if ages.size > 0:
        pointer_to(ages, key_id)[0] = age


@inner
def write_winner(ranks, winners, ages, at, rank, key_id, age):
    """Write an entry above the leaves."""
    pointer_to(ranks, at)[0] = rank
    pointer_to(winners, at - (ranks.size - winners.size))[0] = key_id
    if ages.size > 0:
        pointer_to(ages, at)[0] = age


@inner
def rise(ranks, winners, ages, key_id, rank, age):
    """Give an id a rank and an age that precede its present ones; write it to the levels where it wins."""
    write_leaf(ranks, ages, key_id, rank, age)
    n_leaves = ranks.size - winners.size
    at, base, width = above(key_id, 0, n_leaves)
    while at < ranks.size:
        least = pointer_to(ranks, at)[0]
        if least < rank:
            break
        if least == rank:
            other = pointer_to(ages, at)[0] if ages.size > 0 else pointer_to(winners, at - n_leaves)[0]
            if other < age:
                break
        write_winner(ranks, winners, ages, at, rank, key_id, age)
        at, base, width = above(at, base, width)


@inner
def settle(ranks, winners, ages, key_id, rank, age):
    """Give an id a rank and an age that do not precede its present ones; update the rows where it has won."""
    # First the others of each row: these loads are independent, so that the processor overlaps them.
    # Nothing is written before: loading a vector that contains a word just written takes long.
    others_rank, others_id = local_words(MAX_LEVELS), local_words(MAX_LEVELS)
    others_age = local_words(MAX_LEVELS)
    n_leaves = ranks.size - winners.size
    n_levels = 0
    at = key_id
    up, base, width = above(at, 0, n_leaves)
    while at < ranks.size - 1 and pointer_to(winners, up - n_leaves)[0] == key_id:
        row = at & -ROW
        others = first_of_row(ranks, winners, ages, row, ALL_LANES ^ (1 << (at - row)))
        others_rank[n_levels], others_id[n_levels], others_age[n_levels] = others
        n_levels += 1
        at = up
        up, base, width = above(at, base, width)
    write_leaf(ranks, ages, key_id, rank, age)
    at, base, width = key_id, 0, n_leaves
    for level in range(n_levels):
        at, base, width = above(at, base, width)
        if others_rank[level] < rank or (others_rank[level] == rank and others_age[level] < age):
            rank, key_id, age = others_rank[level], others_id[level], others_age[level]
        write_winner(ranks, winners, ages, at, rank, key_id, age)


@inner
def place(ranks, winners, ages, key_id, rank, age):
    """Give an id any rank and age."""
    before = pointer_to(ranks, key_id)[0]
    if rank < before or (rank == before and ages.size > 0 and age < pointer_to(ages, key_id)[0]):
        rise(ranks, winners, ages, key_id, rank, age)
    else:
        settle(ranks, winners, ages, key_id, rank, age)


@inner
def build(ranks, winners, ages):
    """Compute all levels above the leaves."""
    base, width = 0, ranks.size - winners.size
    while base + width < ranks.size:
        for i in range(width >> ROW_BITS):
            entry = first_of_row(ranks, winners, ages, base + ROW * i, ALL_LANES)
            write_winner(ranks, winners, ages, base + width + i, entry[0], entry[1], entry[2])
        base += width
        width = padded(width >> ROW_BITS)


@inner
def copy_leaves(older, n, words):
    """Copy the first `n` leaves into a larger array, and mark all other words as absent."""
    copy_words(older, 0, words, 0, n)
    fill_absent(words, n)


@kernel
def ids_up_to(ranks, winners, ages, greatest):
    """Return the ids in the heap whose rank is at most `greatest`, ``(n,) int64``, ascending."""
    bases = local_words(MAX_LEVELS)
    n_levels = 0
    at, base, width = 0, 0, ranks.size - winners.size
    while at < ranks.size - 1:
        bases[n_levels] = base
        n_levels += 1
        at, base, width = above(at, base, width)
    found = new_words(1)  # indices, from the start of a level, of the words with such entries
    found[0] = 0
    for level in range(n_levels - 1, -1, -1):
        n = 0
        for is_counted in range(2):
            if is_counted:
                below = new_words(n)
                n = 0
            for i in range(found.size):
                row = bases[level] + ROW * found[i]
                for at in range(row, row + ROW):
                    if ranks[at] <= greatest and is_present(ranks, ages, at):
                        if is_counted:
                            below[n] = at - bases[level]
                        n += 1
        found = below
    return found
