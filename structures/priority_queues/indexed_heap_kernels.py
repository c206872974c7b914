"""The methods of the types of indexed heaps: kernels that take a container."""

import numpy as np

from structures import status
from structures.base.mapping import AHEAD, check_sizes
from structures.base.struct_type import method, new, new_like
from structures.compiling.jit import inner, kernel, late, quiet
from structures.primitives.memory import are_equal, copy_prefix, new_words
from structures.primitives.priorities import (
    as_count,
    difference_leaves_range,
    from_order,
    refusal,
    sum_leaves_range,
    to_order,
)
from structures.primitives.simd import larger, pointer_to, prefetch, rarely, smaller
from structures.primitives.sorting import BYTES, sort_entries
from structures.priority_queues.indexed_heap_tree import (
    ABSENT,
    build,
    is_present,
    padded,
    rise,
    settle,
    tied_keys,
    words_for,
    write_leaf,
)
from structures.priority_queues.indexed_heap_type import (
    IndexedHeapType,
    IndexedMaxHeapType,
    IndexedMinHeapType,
)


@inner
def _fill(words):
    for i in range(words.size):
        words[i] = ABSENT
    return words.size


@inner
def _allocate(self, n, by_age):
    n_leaves = padded(larger(n, 1))
    n_words = words_for(n_leaves)
    self.ranks = new_words(n_words)
    self.winners = new_words(n_words - n_leaves)
    self.ages = new_words(n_words * by_age)
    _fill(self.ranks)
    _fill(self.ages)
    self.n = n
    return True


@kernel
def new_indexed_heap(typ, n, zero, complement, by_age):
    """Return an empty heap of a type for the keys below `n`, with a zero of the type of its counts.

    Where there is no memory, it is a heap for no keys: an exception would leak what is there.
    """
    self = new(typ)
    if not _allocate(self, n, by_age):
        _allocate(self, 0, by_age)
    self.size = 0
    self.by_age = by_age
    self.next_age = 0
    self.complement = complement
    self.zero = zero
    return self


# -------------------------------------------------------------------------------------------- one entry
@inner
def _is_outside(self, key):
    """Return whether `key` is not in ``range(n)``: then one of the two is negative."""
    return (key | (self.n - 1 - key)) < 0


@inner
def _is_in(self, key):
    return is_present(self.ranks, self.ages, key)


@inner
def _rank_of(self, count):
    return to_order(as_count(count, self.zero)) ^ self.complement


@inner
def _count_at(self, at):
    return from_order(self.ranks[at] ^ self.complement, self.zero)


@late
def _order_by_ages(self):
    """Keep ages from now on: the rank of some key will be the mark of absent ones."""
    ages = new_words(self.ranks.size)
    n_leaves = self.ranks.size - self.winners.size
    for at in range(ages.size):
        ages[at] = ABSENT
        if self.ranks[at] != ABSENT:
            ages[at] = at if at < n_leaves else self.winners[at - n_leaves]
    self.ages = ages
    return True


@inner
def _can_be_absent_rank(self):
    """Make the heap ready for the rank that marks absent keys; return whether there is memory."""
    return self.ages.size > 0 or _order_by_ages(self)


@inner
def _age_of_new(self, key):
    """Return the age of an entry that comes now."""
    age = self.next_age if self.by_age else key
    self.next_age += 1
    return age


@inner
def _rise(self, key, rank):
    """Insert a key, or give it a rank that precedes the one it has."""
    if not _is_in(self, key):
        self.size += 1
    rise(self.ranks, self.winners, self.ages, key, rank, _age_of_new(self, key))
    return status.OK


@inner
def _enter_last(self, key):
    """Insert a key with the rank that marks absent keys, if it is not in the heap; return 1, or 0."""
    if _is_in(self, key):
        return 0
    if not _can_be_absent_rank(self):
        return status.NO_MEMORY
    _rise(self, key, ABSENT)
    return 1


@inner
def _assign(self, key, rank):
    before = pointer_to(self.ranks, key)[0]
    if rank < before:
        return _rise(self, key, rank)
    if rank == before:
        return smaller(_enter_last(self, key), status.OK)
    if rarely(rank == ABSENT) and not _can_be_absent_rank(self):
        return status.NO_MEMORY
    settle(self.ranks, self.winners, self.ages, key, rank, _age_of_new(self, key))
    return status.OK


@inner
def _cut(self, key):
    settle(self.ranks, self.winners, self.ages, key, ABSENT, ABSENT)
    self.size -= 1
    return status.OK


@method(IndexedHeapType, "set")
@quiet
def _set(self, key, count):
    if _is_outside(self, key):
        return status.OUT_OF_RANGE
    if count != count:
        return status.NOT_A_NUMBER
    return _assign(self, key, _rank_of(self, count))


@method(IndexedHeapType, "improve")
@quiet
def _improve(self, key, count):
    if _is_outside(self, key):
        return status.OUT_OF_RANGE
    if count != count:
        return status.NOT_A_NUMBER
    rank = _rank_of(self, count)
    if rank < pointer_to(self.ranks, key)[0]:
        _rise(self, key, rank)
        return 1
    return _enter_last(self, key) if rarely(rank == ABSENT) else 0


@method(IndexedHeapType, "remove")
@quiet
def _remove(self, key):
    if _is_outside(self, key):
        return status.OUT_OF_RANGE
    return _cut(self, key) if _is_in(self, key) else status.MISSING


@method(IndexedHeapType, "get")
@quiet
def _get(self, key, default=0):
    if _is_outside(self, key) or not _is_in(self, key):
        return as_count(default, self.zero)
    return _count_at(self, key)


@method(IndexedHeapType, "contains")
@quiet
def _contains(self, key):
    return not _is_outside(self, key) and _is_in(self, key)


@method(IndexedHeapType, "prefetch")
@quiet
def _prefetch(self, key):
    prefetch(self.ranks, key)


@inner
def _become(self, key, count, leaves_range):
    """Give a key the count that a sum is."""
    refused = refusal(count, leaves_range, self.zero)
    if refused < 0:
        return refused
    if count != self.zero:
        return _assign(self, key, _rank_of(self, count))
    return _cut(self, key) if _is_in(self, key) else status.OK


@method(IndexedHeapType, "add")
@quiet
def _add(self, key, n=1):
    if _is_outside(self, key):
        return status.OUT_OF_RANGE
    count, delta = _get(self, key), as_count(n, self.zero)
    return _become(self, key, count + delta, sum_leaves_range(count, delta))


@method(IndexedHeapType, "sub")
@quiet
def _sub(self, key, n=1):
    if _is_outside(self, key):
        return status.OUT_OF_RANGE
    count, delta = _get(self, key), as_count(n, self.zero)
    return _become(self, key, count - delta, difference_leaves_range(count, delta))


# ---------------------------------------------------------------------------------------------- the top
@method(IndexedHeapType, "peek")
@quiet
def _peek(self):
    if self.size == 0:
        return 0, self.zero
    return self.winners[self.winners.size - 1], _count_at(self, self.ranks.size - 1)


@method(IndexedHeapType, "pop")
@quiet
def _pop(self):
    top = _peek(self)
    if self.size > 0:
        _cut(self, top[0])
    return top


@method(IndexedHeapType, "replace")
@quiet
def _replace(self, key, count):
    if _is_outside(self, key) or count != count:
        return _peek(self)
    top = _pop(self)
    _set(self, key, count)
    return top


@method(IndexedHeapType, "ties")
@kernel
def _ties(self):
    """Return the keys with the count of the top, in the order in which they would leave."""
    if self.size == 0:
        return new_words(0)
    keys = tied_keys(self.ranks, self.winners, self.ages)
    if self.ages.size == 0:
        return keys
    ages, other_ages, other_keys = new_words(keys.size), new_words(keys.size), new_words(keys.size)
    for i in range(keys.size):
        ages[i] = self.ages[keys[i]]
    return other_keys if sort_entries(ages, keys, other_ages, other_keys, new_words(BYTES)) else keys


@inner
def _look(self, keys, counts, ages):
    """Pop entries until the arrays are full, and put them back."""
    for i in range(keys.size):
        keys[i], counts[i] = _peek(self)
        ages[i] = self.ages[keys[i]] if self.ages.size > 0 else keys[i]
        settle(self.ranks, self.winners, self.ages, keys[i], ABSENT, ABSENT)
    for i in range(keys.size):
        rise(self.ranks, self.winners, self.ages, keys[i], _rank_of(self, counts[i]), ages[i])


@method(IndexedMaxHeapType, "nlargest")
@method(IndexedMinHeapType, "nsmallest")
@kernel
def _first_many(self, k):
    n = smaller(larger(k, 0), self.size)
    keys, ages = new_words(n), new_words(n)
    counts = np.full(n, self.zero)
    _look(self, keys, counts, ages)
    return keys, counts


# -------------------------------------------------------------------------------------------- the whole
@inner
def _change_each(self, keys, numbers, is_sum, ranks, ages):
    """Add or set until one is refused, and keep what there was; return its status and its index."""
    for i in range(keys.size):
        self.prefetch(keys[smaller(i + AHEAD, keys.size - 1)])
        if not _is_outside(self, keys[i]):
            ranks[i] = self.ranks[keys[i]]
            ages[i] = keys[i] if ranks[i] != ABSENT else ABSENT
            if self.ages.size > 0:
                ages[i] = self.ages[keys[i]]
        failure = self.add(keys[i], numbers[i]) if is_sum else self.set(keys[i], numbers[i])
        if failure < 0:
            return failure, i
    return status.OK, keys.size


@method(IndexedHeapType, "_change_many")
@kernel
def _change_many(self, keys, numbers, is_sum):
    """Do what that of :class:`KeyedType` does, and restore the ages, too."""
    if keys.size != numbers.size:
        return status.OUT_OF_RANGE, smaller(keys.size, numbers.size)
    size = self.size
    ranks, ages = new_words(keys.size), new_words(keys.size)
    failure, n_done = _change_each(self, keys, numbers, is_sum, ranks, ages)
    if failure < 0:
        for i in range(n_done - 1, -1, -1):
            settle(self.ranks, self.winners, self.ages, keys[i], ranks[i], ages[i])
        self.size = size
    return failure, n_done


@method(IndexedHeapType, "to_arrays")
@kernel
def _to_arrays(self):
    return _first_many(self, self.size)


@method(IndexedHeapType, "equals")
@kernel
def _equals(self, other):
    """Return whether both have the same keys with the same counts, in the same order."""
    keys, counts = self.to_arrays()
    other_keys, other_counts = other.to_arrays()
    return are_equal(keys, other_keys) and are_equal(counts, other_counts)


@method(IndexedHeapType, "reserve")
@quiet
def _reserve(self, n_keys):
    return status.OK if n_keys <= self.n else status.NO_MEMORY


@method(IndexedHeapType, "copy")
@kernel
def _copy(self):
    other = new_like(self)
    other.ranks = new_words(self.ranks.size)
    other.winners = new_words(self.winners.size)
    other.ages = new_words(self.ages.size)
    copy_prefix(self.ranks, self.ranks.size, other.ranks)
    copy_prefix(self.winners, self.winners.size, other.winners)
    copy_prefix(self.ages, self.ages.size, other.ages)
    other.n = self.n
    other.size = self.size
    other.by_age = self.by_age
    other.next_age = self.next_age
    other.complement = self.complement
    other.zero = self.zero
    return other


@method(IndexedHeapType, "clear")
@quiet
def _clear(self):
    if self.size > self.n >> 5:
        _fill(self.ranks)
        _fill(self.ages)
        self.size = 0
    while self.size > 0:
        _cut(self, self.winners[self.winners.size - 1])
    return status.OK


@quiet
def fill(self, keys, counts):
    """Fill an empty heap. Returns (status, index of the item that failed)."""
    for i in range(keys.size):
        if _is_outside(self, keys[i]):
            return status.OUT_OF_RANGE, i
        if counts[i] != counts[i]:
            return status.NOT_A_NUMBER, i
        if _is_in(self, keys[i]):
            return status.DUPLICATE, i
        rank = _rank_of(self, counts[i])
        if rank == ABSENT and not _can_be_absent_rank(self):
            return status.NO_MEMORY, keys.size
        write_leaf(self.ranks, self.ages, keys[i], rank, _age_of_new(self, keys[i]))
    build(self.ranks, self.winners, self.ages)
    self.size = keys.size
    return status.OK, keys.size


@kernel
def indexed_heap_of(typ, start, keys, counts, n):
    """Return a heap of arrays, or raise as the class in Python does; the heap is released then."""
    check_sizes(keys, counts)
    n_keys = 0
    if n is None:
        for i in range(keys.size):
            n_keys = larger(n_keys, keys[i] + 1)
    else:
        n_keys = larger(n, 0)
    zero, complement, by_age = start
    self = new_indexed_heap(typ, n_keys, zero, complement, by_age)
    if self.n < n_keys:
        raise MemoryError
    failure, _ = fill(self, keys, counts)
    if failure == status.OUT_OF_RANGE:
        raise IndexError("a key is out of range")
    if failure == status.NOT_A_NUMBER:
        raise ValueError("a count is not a number")
    if failure == status.DUPLICATE:
        raise ValueError("a key is a duplicate")
    if failure < 0:
        raise MemoryError
    return self


@method(IndexedHeapType, "n_keys")
@quiet
def _n_keys(self):
    return self.n


@quiet
def is_by_age(self):
    """Return whether of equal counts the first to come is the first to leave."""
    return self.by_age


@kernel
def state(self):
    """Return what the invariants are about, for ``_check()``."""
    return self.ranks.copy(), self.winners.copy(), self.ages.copy()


@method(IndexedHeapType, "nbytes")
@quiet
def _nbytes(self):
    return self.ranks.nbytes + self.winners.nbytes + self.ages.nbytes
