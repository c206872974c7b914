"""The kernels of ``SortedMap`` on its array of rows, which the docstring of ``sorted_map`` draws."""

from structures.compiling.jit import inner
from structures.primitives.memory import copy_words
from structures.primitives.simd import pointer_to
from structures.status import INT64_MAX

KEYS = 96  # capacity of a leaf
CHILDREN = 64  # capacity of a node
VALUE = KEYS  # from the place of a key to that of its value
CHILD, COUNT = CHILDREN, 2 * CHILDREN  # from the place of a bound to its child and to its count
SIZE = 2 * KEYS
PREV, NEXT = SIZE + 1, SIZE + 2
ROW = SIZE + 8
FEW_KEYS, FEW_CHILDREN = KEYS // 4, CHILDREN // 4
BUILT_KEYS, BUILT_CHILDREN = KEYS * 7 // 8, CHILDREN * 7 // 8
MAX_HEIGHT = 16
NONE = -1


@inner
def blank(rows, row):
    """Make a row an empty leaf or node."""
    words = pointer_to(rows, row)
    for i in range(KEYS):
        words[i] = INT64_MAX
    words[SIZE] = 0
    words[PREV] = NONE
    words[NEXT] = NONE


# ----------------------------------------------------------------------------------------------- searches
@inner
def n_below(rows, start, n, key):
    """Return how many of the `n` words from `start` on are less than a key."""
    words = pointer_to(rows, start)
    below = 0
    for i in range(n):  # without a branch: vector instructions
        below += words[i] < key
    return below


@inner
def leaf_of(rows, root, height, key):
    """Return the leaf where a key is or belongs."""
    row = root
    for _ in range(height):
        row = pointer_to(rows, row + n_below(rows, row, CHILDREN, key))[CHILD]
    return row


@inner
def path_to(rows, root, height, key, path):
    """Return the leaf where a key is or belongs; write the places of the bounds to ``path[level]``."""
    row = root
    for level in range(height):
        path[level] = row + n_below(rows, row, CHILDREN, key)
        row = pointer_to(rows, path[level])[CHILD]
    return row


@inner
def path_at(rows, root, height, rank, path):
    """Return the place of the key with a rank, and its leaf; write the places of bounds to `path`."""
    row = root
    for level in range(height):
        place = row
        while rank >= rows[place + COUNT]:
            rank -= rows[place + COUNT]
            place += 1
        path[level] = place
        row = rows[place + CHILD]
    return row + rank, row


@inner
def rank_of(rows, root, height, key):
    """Return how many keys are less than `key`."""
    row = root
    rank = 0
    for _ in range(height):
        i = n_below(rows, row, CHILDREN, key)
        counts = pointer_to(rows, row + COUNT)
        for j in range(i):
            rank += counts[j]
        row = pointer_to(rows, row + i)[CHILD]
    return rank + n_below(rows, row, KEYS, key)


@inner
def holds(rows, leaf, place, key):
    """Return whether `key` is at a place of a leaf."""
    return place - leaf < rows[leaf + SIZE] and rows[place] == key


@inner
def at_or_after(rows, leaf, place):
    """Return a place of a leaf or, if it is past the end, the first place of the next leaf, or NONE."""
    return place if place - leaf < rows[leaf + SIZE] else rows[leaf + NEXT]


@inner
def before(rows, leaf, place):
    """Return the place before a place of a leaf, which may be in the previous leaf, or NONE."""
    if place > leaf:
        return place - 1
    other = rows[leaf + PREV]
    return other + rows[other + SIZE] - 1 if other != NONE else NONE


# --------------------------------------------------------------------------------- entries of one row
@inner
def put_entry(rows, leaf, place, key, value):
    """Insert an entry into a leaf with room."""
    n_after = leaf + rows[leaf + SIZE] - place
    copy_words(rows, place, rows, place + 1, n_after)
    copy_words(rows, place + VALUE, rows, place + VALUE + 1, n_after)
    rows[place] = key
    rows[place + VALUE] = value
    rows[leaf + SIZE] += 1


@inner
def cut_entry(rows, leaf, place):
    """Remove an entry from a leaf."""
    n_after = leaf + rows[leaf + SIZE] - place - 1
    copy_words(rows, place + 1, rows, place, n_after)
    copy_words(rows, place + VALUE + 1, rows, place + VALUE, n_after)
    rows[place + n_after] = INT64_MAX
    rows[leaf + SIZE] -= 1


@inner
def add_to_counts(rows, path, height, n):
    """Add to the counts of all nodes on a path."""
    for level in range(height):
        pointer_to(rows, path[level])[COUNT] += n


@inner
def unlink(rows, leaf):
    """Remove a leaf from the chain of leaves."""
    previous, following = rows[leaf + PREV], rows[leaf + NEXT]
    if previous != NONE:
        rows[previous + NEXT] = following
    if following != NONE:
        rows[following + PREV] = previous


# ------------------------------------------------------------------------------------- splits and joins
@inner
def keys_below(rows, row, is_leaf):
    """Return how many keys are in a leaf, or below a node."""
    n = rows[row + SIZE]
    if is_leaf:
        return n
    total = 0
    for place in range(row + COUNT, row + COUNT + n):
        total += rows[place]
    return total


@inner
def move_end(rows, row, n_kept, other):
    """Move all but the first `n_kept` keys or bounds of a row to an empty row, and set both sizes."""
    size = rows[row + SIZE]
    for i in range(n_kept, size):
        rows[other + i - n_kept] = rows[row + i]
        rows[row + i] = INT64_MAX
    rows[other + SIZE] = size - n_kept
    rows[row + SIZE] = n_kept


@inner
def split(rows, place, is_leaf, n_kept, other):
    """Move all but the first `n_kept` entries of a child into the row `other`, its new neighbor."""
    node = place - place % ROW
    child = rows[place + CHILD]
    blank(rows, other)
    n_moved = rows[child + SIZE] - n_kept
    bound = rows[child + n_kept - 1]
    move_end(rows, child, n_kept, other)
    if is_leaf:
        copy_words(rows, child + n_kept + VALUE, rows, other + VALUE, n_moved)
        following = rows[child + NEXT]
        rows[other + PREV] = child
        rows[other + NEXT] = following
        rows[child + NEXT] = other
        if following != NONE:
            rows[following + PREV] = other
    else:
        copy_words(rows, child + n_kept + CHILD, rows, other + CHILD, n_moved)
        copy_words(rows, child + n_kept + COUNT, rows, other + COUNT, n_moved)
        rows[child + n_kept - 1] = INT64_MAX  # the last child has no bound
    n_after = node + rows[node + SIZE] - place
    for part in range(0, 3 * CHILDREN, CHILDREN):
        copy_words(rows, place + part, rows, place + part + 1, n_after)
    rows[place] = bound
    rows[place + COUNT] = keys_below(rows, child, is_leaf)
    rows[place + 1 + CHILD] = other
    rows[place + 1 + COUNT] = keys_below(rows, other, is_leaf)
    rows[node + SIZE] += 1


@inner
def fits(rows, place, is_leaf):
    """Return whether the child of a place and the next one should be joined: at most 3/4 full together."""
    one = rows[rows[place + CHILD] + SIZE]
    other = rows[rows[place + 1 + CHILD] + SIZE]
    room = KEYS if is_leaf else CHILDREN
    return one == 0 or other == 0 or 4 * (one + other) <= 3 * room


@inner
def join(rows, place, is_leaf):
    """Move the entries of the next child into the child of a place; return the row that this frees."""
    node = place - place % ROW
    child, other = rows[place + CHILD], rows[place + 1 + CHILD]
    n, n_moved = rows[child + SIZE], rows[other + SIZE]
    copy_words(rows, other, rows, child + n, n_moved)
    if is_leaf:
        copy_words(rows, other + VALUE, rows, child + n + VALUE, n_moved)
        unlink(rows, other)
    else:
        if n > 0 and n_moved > 0:
            rows[child + n - 1] = rows[place]
        copy_words(rows, other + CHILD, rows, child + n + CHILD, n_moved)
        copy_words(rows, other + COUNT, rows, child + n + COUNT, n_moved)
    rows[child + SIZE] = n + n_moved
    rows[place + COUNT] += rows[place + 1 + COUNT]
    n_after = node + rows[node + SIZE] - place - 2
    copy_words(rows, place + 1, rows, place, n_after + 1)
    copy_words(rows, place + 2 + CHILD, rows, place + 1 + CHILD, n_after)
    copy_words(rows, place + 2 + COUNT, rows, place + 1 + COUNT, n_after)
    rows[place + n_after + 1] = INT64_MAX
    rows[node + SIZE] -= 1
    return other


# ------------------------------------------------------------------------------------------ many entries
@inner
def n_built(n_keys):
    """Return how many rows :func:`build` writes."""
    n = (n_keys + BUILT_KEYS - 1) // BUILT_KEYS
    n_rows = n
    while n > 1:
        n = (n + BUILT_CHILDREN - 1) // BUILT_CHILDREN
        n_rows += n
    return n_rows


@inner
def build_leaves(rows, keys, values, n_keys):
    """Write `n_keys` entries, at least one, into leaves from row 0 on; return the number of leaves."""
    leaf = 0
    for first in range(0, n_keys, BUILT_KEYS):
        blank(rows, leaf)
        n = BUILT_KEYS if first + BUILT_KEYS < n_keys else n_keys - first
        for i in range(n):
            rows[leaf + i] = keys[first + i]
            rows[leaf + VALUE + i] = values[first + i]
        rows[leaf + SIZE] = n
        rows[leaf + PREV] = leaf - ROW if leaf > 0 else NONE
        leaf += ROW
        rows[leaf - ROW + NEXT] = leaf if first + n < n_keys else NONE
    return leaf // ROW


@inner
def build(rows, keys, values, n_keys):
    """Write a tree of `n_keys` ascending keys, at least one, from row 0 on; return its root and height."""
    n = build_leaves(rows, keys, values, n_keys)
    first, height, span = 0, 0, BUILT_KEYS  # the first row of a level, and how many keys are in or below it
    while n > 1:
        node = first + n * ROW
        for i in range(n):
            j = i % BUILT_CHILDREN
            if j == 0:
                blank(rows, node + i // BUILT_CHILDREN * ROW)
            place = node + i // BUILT_CHILDREN * ROW + j
            is_last = i == n - 1
            rows[place] = INT64_MAX if is_last or j == BUILT_CHILDREN - 1 else keys[(i + 1) * span - 1]
            rows[place + CHILD] = first + i * ROW
            rows[place + COUNT] = n_keys - i * span if is_last else span
            rows[place - j + SIZE] = j + 1
        first, n = node, (n + BUILT_CHILDREN - 1) // BUILT_CHILDREN
        height += 1
        span *= BUILT_CHILDREN
    return first, height


@inner
def is_ascending(keys):
    """Return whether each key is greater than the one before."""
    i = 1
    while i < keys.size and keys[i - 1] < keys[i]:
        i += 1
    return i >= keys.size


@inner
def keep_last(keys, values):
    """Keep the last of sorted entries with the same key; return how many remain, at the front."""
    n = 0
    for i in range(keys.size):
        if i + 1 == keys.size or keys[i + 1] != keys[i]:
            keys[n] = keys[i]
            values[n] = values[i]
            n += 1
    return n


@inner
def merge_entries(rows, leaf, keys, values, n, all_keys, all_values):
    """Merge the leaves from `leaf` on with `n` sorted entries, which replace equal keys; return the size."""
    i = total = 0
    while leaf != NONE:
        for place in range(leaf, leaf + rows[leaf + SIZE]):
            while i < n and keys[i] < rows[place]:
                all_keys[total], all_values[total] = keys[i], values[i]
                total += 1
                i += 1
            is_new = i < n and keys[i] == rows[place]
            all_keys[total] = rows[place]
            all_values[total] = values[i] if is_new else rows[place + VALUE]
            total += 1
            i += is_new
        leaf = rows[leaf + NEXT]
    while i < n:
        all_keys[total], all_values[total] = keys[i], values[i]
        total += 1
        i += 1
    return total
