"""The kernels and the numba type of ``PairIndex``; the docstring of ``pair_index`` draws the arrays.

Kernels on plain arrays come first, then the type, then its methods.
"""

from types import MappingProxyType

import numpy as np
from numba import types
from numba.experimental import structref

from structures import status
from structures.base.struct_type import StructType, fields_of, method, new, new_like
from structures.compiling.jit import inner, kernel, quiet
from structures.hash_tables.int_map_kernels import int_map_type, new_map
from structures.primitives.hashing import MAX_ID
from structures.primitives.memory import copy_prefix, new_words
from structures.primitives.simd import larger
from structures.primitives.sorting import sort
from structures.tokens.token_list_kernels import next_of, token_list_type, token_of

START, SIZE, ROOM, WIDTH = 0, 1, 2, 3


# ------------------------------------------------------------------------------ kernels on plain arrays
@inner
def holds(cells, position, left, right):
    """Return whether `left` starts at `position` and `right` is the next token."""
    # The list may have been compacted: then positions may be past its end.
    if position >= cells.size or token_of(cells, position) != left:
        return False
    following = next_of(cells, position)
    return following >= 0 and token_of(cells, following) == right


@inner
def pair_at(cells, position):
    """Return the packed pair that starts at a position, or a number below 0 if none does."""
    token = token_of(cells, position)
    following = next_of(cells, position) if token >= 0 else -1
    return (token << 32) | token_of(cells, following) if following >= 0 else -1


# ------------------------------------------------------------------------------------------------ type
@structref.register
class PairIndexType(StructType):
    """numba type of :class:`PairIndex`."""

    also_locked = ("tokens",)
    subjects = MappingProxyType({"add": "position {2} of pair ({0}, {1})"})


pair_index_type = PairIndexType(
    fields_of(
        tokens=token_list_type,
        list_of=int_map_type,  # packed pair -> list
        lists=types.int64[::1],  # lists[WIDTH * list + START / SIZE / ROOM]
        n_lists=types.int64,  # lists ever used; the free ones are chained
        free_list=types.int64,  # first list of the chain, -1 if it is empty
        pool=types.int64[::1],
        used=types.int64,
        garbage=types.int64,
        n_postings=types.int64,
    )
)


@kernel
def new_pair_index(tokens):
    """Return an empty index over a token list."""
    self = new(pair_index_type)
    self.tokens = tokens
    self.list_of = new_map(int_map_type, 0)
    self.lists = new_words(8 * WIDTH)
    self.n_lists = 0
    self.free_list = -1
    self.pool = new_words(self.lists.size)
    self.used = 0
    self.garbage = 0
    self.n_postings = 0
    return self


@inner
def _repool(self, room):
    """Move all lists, each with its room, to a new pool that has space for `room` more words."""
    pool = new_words(2 * (self.used - self.garbage) + room)
    used = 0
    for list_id in range(self.n_lists):
        entry = WIDTH * list_id
        size, space = self.lists[entry + SIZE], self.lists[entry + ROOM]
        if space > 0:
            start = self.lists[entry + START]
            for i in range(size):
                pool[used + i] = self.pool[start + i]
            self.lists[entry + START] = used
            used += space
    self.pool = pool
    self.used = used
    self.garbage = 0
    return True


@inner
def _more_lists(self):
    lists = new_words(2 * self.lists.size)
    copy_prefix(self.lists, WIDTH * self.n_lists, lists)
    self.lists = lists
    return True


@inner
def _list(self, pair):
    """Return the list of a pair, which is new and empty if the pair had none; or a status below 0."""
    list_id = self.list_of.get(pair, -1)
    if list_id >= 0:
        return list_id
    list_id = self.free_list
    if list_id < 0:
        list_id = self.n_lists
        if WIDTH * list_id == self.lists.size and not _more_lists(self):
            return status.NO_MEMORY
    entry = WIDTH * list_id
    following = self.lists[entry + START]
    if self.list_of.set(pair, list_id) < 0:
        return status.NO_MEMORY
    if list_id == self.n_lists:
        self.n_lists += 1
    else:
        self.free_list = following
    self.lists[entry + START] = 0
    self.lists[entry + SIZE] = 0
    self.lists[entry + ROOM] = 0
    return list_id


@inner
def _make_room(self, list_id, size):
    """Give a list room for a total of `size` postings; return a status."""
    entry = WIDTH * list_id
    room = self.lists[entry + ROOM]
    if size <= room:
        return status.OK
    # A new list gets only the room it needs: most lists never grow again.
    wanted = larger(size, 2 * room)
    if self.used + wanted > self.pool.size and not _repool(self, wanted):
        return status.NO_MEMORY
    start, old_size = self.lists[entry + START], self.lists[entry + SIZE]
    for i in range(old_size):
        self.pool[self.used + i] = self.pool[start + i]
    self.lists[entry + START] = self.used
    self.lists[entry + ROOM] = wanted
    self.used += wanted
    self.garbage += room
    return status.OK


@method(PairIndexType, "drop")
@quiet
def _drop(self, left, right):
    list_id = self.list_of.pop((left << 32) | right, -1)
    if list_id < 0:
        return status.MISSING
    entry = WIDTH * list_id
    self.n_postings -= self.lists[entry + SIZE]
    self.garbage += self.lists[entry + ROOM]
    self.lists[entry + START] = self.free_list
    self.lists[entry + SIZE] = 0
    self.lists[entry + ROOM] = 0
    self.free_list = list_id
    return status.OK


@inner
def _give_up(self, left, right, size):
    """Drop the list of a pair if it is empty, because it may be new and its postings did not fit."""
    if size == 0:
        _drop(self, left, right)
    return status.NO_MEMORY


@method(PairIndexType, "_before_add")
@quiet
def _before_add(self, left, right, position):
    if not (0 <= left <= MAX_ID and 0 <= right <= MAX_ID):
        return status.INVALID
    return status.OK if position >= 0 and position < self.tokens.cells.size else status.OUT_OF_RANGE


@method(PairIndexType, "_before_add_many")
@quiet
def _before_add_many(self, left, right, positions):
    for i in range(positions.size):
        failure = _before_add(self, left, right, positions[i])
        if failure < 0:
            return failure
    return status.OK


@method(PairIndexType, "add")
@quiet
def _add(self, left, right, position):
    list_id = _list(self, (left << 32) | right)
    if list_id < 0:
        return status.NO_MEMORY
    entry = WIDTH * list_id
    size = self.lists[entry + SIZE]
    if _make_room(self, list_id, size + 1) < 0:
        return _give_up(self, left, right, size)
    self.pool[self.lists[entry + START] + size] = position
    self.lists[entry + SIZE] = size + 1
    self.n_postings += 1
    return status.OK


@method(PairIndexType, "add_many")
@quiet
def _add_many(self, left, right, positions):
    list_id = _list(self, (left << 32) | right)
    if list_id < 0:
        return status.NO_MEMORY
    entry = WIDTH * list_id
    size = self.lists[entry + SIZE]
    if _make_room(self, list_id, size + positions.size) < 0:
        return _give_up(self, left, right, size)
    start = self.lists[entry + START] + size
    for i in range(positions.size):
        self.pool[start + i] = positions[i]
    self.lists[entry + SIZE] = size + positions.size
    self.n_postings += positions.size
    return status.OK


@method(PairIndexType, "span")
@quiet
def _span(self, left, right):
    """Return the start and the end in the pool of the postings of a pair, stale ones included."""
    list_id = self.list_of.get((left << 32) | right, -1)
    if list_id < 0:
        return 0, 0
    start = self.lists[WIDTH * list_id + START]
    return start, start + self.lists[WIDTH * list_id + SIZE]


@method(PairIndexType, "posting")
@quiet
def _posting(self, i):
    """Return the posting at index `i` of the pool."""
    return self.pool[i]


@method(PairIndexType, "count")
@quiet
def _count(self, left, right):
    start, end = _span(self, left, right)
    n = 0
    for i in range(start, end):
        n += holds(self.tokens.cells, self.pool[i], left, right)
    return n


@method(PairIndexType, "postings")
@kernel
def _postings(self, left, right):
    positions = new_words(_count(self, left, right))
    start, end = _span(self, left, right)
    n = 0
    for i in range(start, end):
        if holds(self.tokens.cells, self.pool[i], left, right):
            positions[n] = self.pool[i]
            n += 1
    return positions


@method(PairIndexType, "contains")
@quiet
def _contains(self, pair):
    left, right = pair
    i, end = _span(self, left, right)
    while i < end and not holds(self.tokens.cells, self.pool[i], left, right):
        i += 1
    return i < end


@method(PairIndexType, "len")
@quiet
def _len(self):
    return self.list_of.size


@kernel
def _packed_pairs(self):
    """Return the pairs that have a list, ``(n,) int64``, ascending."""
    packed = self.list_of.keys()
    sort(packed)
    return packed


@method(PairIndexType, "pairs")
@kernel
def _pairs(self):
    packed = _packed_pairs(self)
    pairs = np.empty((packed.size, 2), np.int64)
    for i in range(packed.size):
        pairs[i, 0] = packed[i] >> 32
        pairs[i, 1] = packed[i] & 0xFFFFFFFF
    return pairs


@method(PairIndexType, "to_arrays")
@kernel
def _to_arrays(self):
    pairs = _packed_pairs(self)
    offsets = np.zeros(pairs.size + 1, np.int64)
    positions = new_words(self.n_postings)
    n_pairs = n = 0
    for i in range(pairs.size):
        left, right = pairs[i] >> 32, pairs[i] & 0xFFFFFFFF
        start, end = _span(self, left, right)
        for j in range(start, end):
            if holds(self.tokens.cells, self.pool[j], left, right):
                positions[n] = self.pool[j]
                n += 1
        if n > offsets[n_pairs]:  # some posting is not stale
            pairs[n_pairs] = pairs[i]
            n_pairs += 1
            offsets[n_pairs] = n
    return self.tokens, pairs[:n_pairs].copy(), offsets[: n_pairs + 1].copy(), positions[:n].copy()


@inner
def add_lists(self, pairs, offsets, positions):
    """Add ``positions[offsets[i]:offsets[i + 1]]`` to the list of packed ``pairs[i]``, for every i."""
    for i in range(pairs.size):
        some = positions[offsets[i] : offsets[i + 1]]
        if _add_many(self, pairs[i] >> 32, pairs[i] & 0xFFFFFFFF, some) < 0:
            return status.NO_MEMORY
    return status.OK


@method(PairIndexType, "stale_fraction")
@quiet
def _stale_fraction(self):
    pairs = _packed_pairs(self)
    live = 0
    for i in range(pairs.size):
        live += _count(self, pairs[i] >> 32, pairs[i] & 0xFFFFFFFF)
    return 1.0 - live / self.n_postings if self.n_postings else 0.0


@inner
def _count_pairs(cells, list_of):
    """Map every adjacent pair to minus its count; return the sum of the counts, or a status below 0."""
    n = 0
    for position in range(cells.size):
        pair = pair_at(cells, position)
        if pair >= 0:
            if list_of.add(pair, -1) < 0:
                return status.NO_MEMORY
            n += 1
    return n


@inner
def _post_all(cells, list_of, lists, pool):
    """Map every counted pair to a list, and fill the lists."""
    n_lists = used = 0
    for position in range(cells.size):
        pair = pair_at(cells, position)
        if pair >= 0:
            list_id = list_of.get(pair, -1)
            if list_id < 0:  # minus the count: the pair is new
                room = -list_id
                list_id = n_lists
                n_lists += 1
                list_of.set(pair, list_id)
                lists[WIDTH * list_id + START] = used
                lists[WIDTH * list_id + SIZE] = 0
                lists[WIDTH * list_id + ROOM] = room
                used += room
            entry = WIDTH * list_id
            size = lists[entry + SIZE]
            pool[lists[entry + START] + size] = position
            lists[entry + SIZE] = size + 1


@method(PairIndexType, "rebuild")
@quiet
def _rebuild(self):
    """Add every adjacent pair again: count, then fill. Return True, or null (false) if there is no memory."""
    list_of = new_map(int_map_type, 0)
    n_postings = _count_pairs(self.tokens.cells, list_of)
    if n_postings < 0:
        raise MemoryError
    lists = new_words(WIDTH * larger(list_of.size, 8))
    pool = new_words(n_postings + n_postings // 2 + 16)
    _post_all(self.tokens.cells, list_of, lists, pool)
    if not self.list_of.assign(list_of):
        raise MemoryError
    self.lists = lists
    self.n_lists = list_of.size
    self.free_list = -1
    self.pool = pool
    self.used = n_postings
    self.garbage = 0
    self.n_postings = n_postings
    return True


@kernel
def built(tokens):
    """Return an index of every adjacent pair."""
    self = new_pair_index(tokens)
    if not _rebuild(self):
        raise MemoryError
    return self


@method(PairIndexType, "copy")
@kernel
def _copy(self):
    other = new_like(self)
    other.tokens = self.tokens.copy()
    other.list_of = self.list_of.copy()
    other.lists = self.lists.copy()
    other.n_lists = self.n_lists
    other.free_list = self.free_list
    other.pool = self.pool.copy()
    other.used = self.used
    other.garbage = self.garbage
    other.n_postings = self.n_postings
    return other


@kernel
def tokens_of(self):
    """Return the token list of an index."""
    return self.tokens


@kernel
def state(self):
    """Return the state that ``_check()`` tests."""
    return self.lists.copy(), self.pool.copy(), self.list_of.copy()


@quiet
def counters(self):
    """Return the scalar fields."""
    return self.n_lists, self.free_list, self.used, self.garbage, self.n_postings


@method(PairIndexType, "nbytes")
@quiet
def _nbytes(self):
    return self.lists.nbytes + self.pool.nbytes + self.list_of.nbytes
