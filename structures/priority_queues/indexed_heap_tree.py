"""The kernels of indexed heaps on their arrays, which the docstring of ``indexed_heap`` draws.

Where there are no ages, a key stands for its age: ``ages`` is empty, and what is called `age` is the key.
"""

from structures.compiling.jit import inner, kernel
from structures.primitives.memory import new_words
from structures.primitives.simd import ROW, least_of_row, local_words, lowest_lane, pointer_to
from structures.status import INT64_MAX

ROW_BITS = 5
ALL_LANES = (1 << ROW) - 1
MAX_LEVELS = 10  # enough for 2**48 keys
ABSENT = INT64_MAX  # the rank and the age of a key that is not in the heap


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
    """Return how many words all levels have."""
    base, width = 0, n_leaves
    while width > ROW:
        base += width
        width = padded(width >> ROW_BITS)
    return base + width + 1


@inner
def is_present(ranks, ages, key):
    """Return whether a key is in the heap."""
    if pointer_to(ranks, key)[0] != ABSENT:
        return True
    return ages.size > 0 and pointer_to(ages, key)[0] != ABSENT


@inner
def first_of_row(ranks, winners, ages, row, lanes):
    """Return rank, key and age of the first entry among some lanes of the row that starts at `row`."""
    rank, lanes = least_of_row(ranks, row, lanes)
    if ages.size > 0 and lanes & (lanes - 1):
        lanes = least_of_row(ages, row, lanes)[1]
    at = row + lowest_lane(lanes)
    n_leaves = ranks.size - winners.size
    key = at if at < n_leaves else pointer_to(winners, at - n_leaves)[0]
    return rank, key, pointer_to(ages, at)[0] if ages.size > 0 else key


@inner
def write_leaf(ranks, ages, key, rank, age):
    """Give a key a rank and an age, at its leaf."""
    pointer_to(ranks, key)[0] = rank
    if ages.size > 0:
        pointer_to(ages, key)[0] = age


@inner
def write_winner(ranks, winners, ages, at, rank, key, age):
    """Write an entry above the leaves."""
    pointer_to(ranks, at)[0] = rank
    pointer_to(winners, at - (ranks.size - winners.size))[0] = key
    if ages.size > 0:
        pointer_to(ages, at)[0] = age


@inner
def rise(ranks, winners, ages, key, rank, age):
    """Give a key a rank and an age that precede those it has, and write it wherever it wins now."""
    write_leaf(ranks, ages, key, rank, age)
    n_leaves = ranks.size - winners.size
    at, base, width = above(key, 0, n_leaves)
    while at < ranks.size:
        least = pointer_to(ranks, at)[0]
        if least < rank:
            break
        if least == rank:
            other = pointer_to(ages, at)[0] if ages.size > 0 else pointer_to(winners, at - n_leaves)[0]
            if other < age:
                break
        write_winner(ranks, winners, ages, at, rank, key, age)
        at, base, width = above(at, base, width)


@inner
def settle(ranks, winners, ages, key, rank, age):
    """Give a key any rank and age, and find anew who wins in the rows on its way up."""
    write_leaf(ranks, ages, key, rank, age)
    # First the others of each row: these loads wait for nothing, so that the processor does them together.
    others_rank, others_key = local_words(MAX_LEVELS), local_words(MAX_LEVELS)
    others_age = local_words(MAX_LEVELS)
    root = ranks.size - 1
    n_levels = 0
    at, base, width = key, 0, ranks.size - winners.size
    while at < root:
        row = at & -ROW
        others = first_of_row(ranks, winners, ages, row, ALL_LANES ^ (1 << (at - row)))
        others_rank[n_levels], others_key[n_levels], others_age[n_levels] = others
        n_levels += 1
        at, base, width = above(at, base, width)
    at, base, width = key, 0, ranks.size - winners.size
    for level in range(n_levels):
        at, base, width = above(at, base, width)
        if others_rank[level] < rank or (others_rank[level] == rank and others_age[level] < age):
            rank, key, age = others_rank[level], others_key[level], others_age[level]
        write_winner(ranks, winners, ages, at, rank, key, age)


@inner
def build(ranks, winners, ages):
    """Find who wins everywhere, where only the leaves have been written."""
    base, width = 0, ranks.size - winners.size
    while base + width < ranks.size:
        for i in range(width >> ROW_BITS):
            entry = first_of_row(ranks, winners, ages, base + ROW * i, ALL_LANES)
            write_winner(ranks, winners, ages, base + width + i, entry[0], entry[1], entry[2])
        base += width
        width = padded(width >> ROW_BITS)


@kernel
def tied_keys(ranks, winners, ages):
    """Return the keys whose rank is that of the root, ``(n,) int64``, ascending."""
    bases = local_words(MAX_LEVELS)
    n_levels = 0
    at, base, width = 0, 0, ranks.size - winners.size
    while at < ranks.size - 1:
        bases[n_levels] = base
        n_levels += 1
        at, base, width = above(at, base, width)
    top = ranks[ranks.size - 1]
    tied = new_words(1)  # words of a level that have this rank, counted from the start of the level
    tied[0] = 0
    for level in range(n_levels - 1, -1, -1):
        n = 0
        for is_counted in range(2):
            if is_counted:
                below = new_words(n)
                n = 0
            for i in range(tied.size):
                row = bases[level] + ROW * tied[i]
                for at in range(row, row + ROW):
                    if ranks[at] == top and is_present(ranks, ages, at):
                        if is_counted:
                            below[n] = at - bases[level]
                        n += 1
        tied = below
    return tied
