"""The kernels of ``CountBuckets`` on its array of cells, which the docstring of ``count_buckets`` draws."""

import numpy as np

from structures.compiling.jit import inner, kernel
from structures.primitives.hashing import SEED_WORDS, seed_word
from structures.primitives.memory import new_words

WORDS = 8
END = 0
KEY = COUNT = 0
BUCKET = PARENT = 1
SIBLING = ORDER = 2
CHILDREN = 4
LEFT = 6
RIGHT = 7
SEED = LEFT  # of the end, which has nothing on its left
DOWN, UP = 0, 1  # sides: before and after a place, left and right of a bucket
MIN_CELLS = 8


# ------------------------------------------------------------------------------------------------ cells
@kernel
def empty_cells(n_cells):
    """Return an array of `n_cells` cells; only the end is in use."""
    cells = new_words(n_cells * WORDS)
    for i in range(WORDS):
        cells[i] = 0
    alone(cells, END + ORDER)
    alone(cells, END + CHILDREN)
    cells[END + SEED] = seed_word(SEED_WORDS - 1)
    return cells


# ------------------------------------------------------------------------------------------------ rings
@inner
def alone(cells, place):
    """Make a place a ring that has no other places."""
    cells[place + DOWN] = place
    cells[place + UP] = place


@inner
def link(cells, place, before):
    """Put a place on a ring, right after another."""
    after = cells[before + UP]
    cells[place + DOWN] = before
    cells[place + UP] = after
    cells[before + UP] = place
    cells[after + DOWN] = place


@inner
def unlink(cells, place):
    """Take a place out of its ring."""
    before, after = cells[place + DOWN], cells[place + UP]
    cells[before + UP] = after
    cells[after + DOWN] = before


@inner
def splice(cells, place, other):
    """Join two rings to one: `place`, `other` and its ring, then the rest of the ring of `place`."""
    after, last = cells[place + UP], cells[other + DOWN]
    cells[place + UP] = other
    cells[other + DOWN] = place
    cells[last + UP] = after
    cells[after + DOWN] = last


# ----------------------------------------------------------------------------- the heap of a bucket's keys
@inner
def enter(cells, key_cell, bucket):
    """Make a childless key the first root of a bucket."""
    cells[key_cell + BUCKET] = bucket
    link(cells, key_cell + SIBLING, bucket + CHILDREN)


@inner
def leave(cells, key_cell):
    """Replace a key in its bucket by its children; return whether it was the last key."""
    children = key_cell + CHILDREN
    if cells[children + UP] != children:
        splice(cells, key_cell + SIBLING, children)
        unlink(cells, children)
        alone(cells, children)
    unlink(cells, key_cell + SIBLING)
    roots = cells[key_cell + BUCKET] + CHILDREN
    return cells[roots + UP] == roots


@inner
def adopt(cells, place, other):
    """Make the root with the greater key a child of the other root; return that one."""
    if cells[other - SIBLING + KEY] < cells[place - SIBLING + KEY]:
        place, other = other, place
    unlink(cells, other)
    link(cells, other, place - SIBLING + CHILDREN)
    return place


@inner
def smallest(cells, bucket):
    """Return the cell of the smallest key of a bucket, after linking its roots into one tree."""
    roots = bucket + CHILDREN
    place = cells[roots + UP]
    while place != roots and cells[place + UP] != roots:  # link the roots in pairs, forwards
        other = cells[place + UP]
        following = cells[other + UP]
        adopt(cells, place, other)
        place = following
    place = cells[roots + DOWN]
    while cells[place + DOWN] != roots:  # link the pairs into one tree, backwards
        place = adopt(cells, cells[place + DOWN], place)
    return place - SIBLING


@inner
def gather(cells, bucket, keys, n):
    """Write the keys of a bucket, unordered, to ``keys[n:]``; return `n` plus their number."""
    place = cells[bucket + CHILDREN + UP]
    while place != bucket + CHILDREN:
        cell = place & -WORDS
        if place == cell + SIBLING:  # a key: its children are next
            keys[n] = cells[cell + KEY]
            n += 1
            place = cells[cell + CHILDREN + UP]
        else:  # the end of its children: its sibling is next
            place = cells[cell + SIBLING + UP]
    return n


# -------------------------------------------------------------------------------------- the treap of buckets
@inner
def neighbor(cells, bucket, side):
    """Return the bucket with the next smaller (side 0) or greater (side 1) count, or the end."""
    return cells[bucket + ORDER + side] - ORDER


@inner
def is_past(count, other, side):
    """Return whether `count` is less (side 0) or greater (side 1) than the other."""
    return count > other if side == UP else count < other


@inner
def priority(cells, bucket):
    """Return the priority of a bucket in the treap: its address, mixed with the seed. No two are equal."""
    factor = np.uint64(np.int64(cells[END + SEED]))
    mixed = np.uint64(np.int64(bucket)) * factor
    return np.int64((mixed ^ (mixed >> np.uint64(32))) * factor)


@inner
def has_higher_priority(cells, bucket, other):
    """Return whether a bucket belongs above another in the treap."""
    return priority(cells, bucket) > priority(cells, other)


@inner
def find_near(cells, start, count):
    """Return the bucket of `count`, or else one of the two between which it belongs; search from `start`.

    From the end the search goes upwards: the bucket after the end has the least count.
    """
    side = UP if start == END or count > cells[start + COUNT] else DOWN
    if start != END and count == cells[start + COUNT]:
        return start
    beside = neighbor(cells, start, side)
    if beside == END or is_past(cells[beside + COUNT], count, side):
        return start
    if cells[beside + COUNT] == count:
        return beside
    # Climb until the tree below `top` spans all counts between the start and `count`,
    top = beside
    parent = cells[top + PARENT]
    while parent != END and not is_past(cells[parent + COUNT], count, side):
        top = parent
        parent = cells[top + PARENT]
    # then search down from there.
    while cells[top + COUNT] != count:
        child = cells[top + (RIGHT if count > cells[top + COUNT] else LEFT)]
        if child == END:
            break
        top = child
    return top


@inner
def at_or_above(cells, count):
    """Return the bucket of the least count that is `count` or greater, or the end."""
    found = find_near(cells, END, count)
    is_below = found == END or cells[found + COUNT] < count
    return neighbor(cells, found, UP) if is_below else found


@inner
def at_or_below(cells, count):
    """Return the bucket of the greatest count that is `count` or less, or the end."""
    found = find_near(cells, END, count)
    is_above = found != END and cells[found + COUNT] > count
    return neighbor(cells, found, DOWN) if is_above else found


@inner
def side_of(cells, bucket):
    """Return on which side of its parent a bucket is."""
    return UP if cells[cells[bucket + PARENT] + RIGHT] == bucket else DOWN


@inner
def attach(cells, parent, side, child):
    """Make a bucket the child of another on one side; END removes the child."""
    cells[parent + LEFT + side] = child
    if child != END:
        cells[child + PARENT] = parent


@inner
def rotate(cells, child):
    """Exchange a bucket and its parent in the treap, which keeps the order from left to right."""
    parent, side = cells[child + PARENT], side_of(cells, child)
    middle = cells[child + LEFT + 1 - side]  # between the two in the order
    attach(cells, cells[parent + PARENT], side_of(cells, parent), child)
    attach(cells, parent, side, middle)
    attach(cells, child, 1 - side, parent)


@inner
def open_bucket(cells, bucket, count, beside):
    """Make a cell the bucket of a new count, a neighbor of the bucket `beside`."""
    side = UP if beside == END or count > cells[beside + COUNT] else DOWN
    if cells[beside + LEFT + side] != END:  # then the neighbor on that side has no child on this one
        beside, side = neighbor(cells, beside, side), 1 - side
    link(cells, bucket + ORDER, beside + ORDER if side == UP else cells[beside + ORDER + DOWN])
    cells[bucket + COUNT] = count
    cells[bucket + LEFT] = END
    cells[bucket + RIGHT] = END
    attach(cells, beside, side, bucket)
    while cells[bucket + PARENT] != END and has_higher_priority(cells, bucket, cells[bucket + PARENT]):
        rotate(cells, bucket)


@inner
def close_bucket(cells, bucket):
    """Take an empty bucket out of the treap and out of the order."""
    left, right = cells[bucket + LEFT], cells[bucket + RIGHT]
    while left != END and right != END:
        rotate(cells, left if has_higher_priority(cells, left, right) else right)
        left, right = cells[bucket + LEFT], cells[bucket + RIGHT]
    attach(cells, cells[bucket + PARENT], side_of(cells, bucket), left if left != END else right)
    unlink(cells, bucket + ORDER)


@inner
def recount_in_place(cells, key_cell, count):
    """Write the new count if a key is alone in its bucket and the order stays; return whether this was so."""
    bucket = cells[key_cell + BUCKET]
    place, roots, children = key_cell + SIBLING, bucket + CHILDREN, key_cell + CHILDREN
    less, more = neighbor(cells, bucket, DOWN), neighbor(cells, bucket, UP)
    # One branch, as the processor cannot predict whether a count rises or falls.
    is_alone = (
        (cells[roots + UP] == place) & (cells[roots + DOWN] == place) & (cells[children + UP] == children)
    )
    is_above = (less == END) | (cells[less + COUNT] < count)
    is_below = (more == END) | (cells[more + COUNT] > count)
    if is_alone & is_above & is_below:
        cells[bucket + COUNT] = count
        return True
    return False
