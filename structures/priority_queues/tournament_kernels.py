"""The base of the numba types of heaps, and their methods: kernels that take a heap.

Heaps differ in how a key gets its id. A type has the methods ``_start(n)``, which creates what is not part of
the tournament; ``_id_of(key)`` and ``_id_for(key)``, which return the id of a key or a status below 0, where
the second gives a new key an id; and ``_key_at(at)``, the key of the entry in a word.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from structures import status
from structures.base.mapping import AHEAD, check_sizes
from structures.base.queue import CountedType
from structures.base.struct_type import NumbersType, fields_of, method, new
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
from structures.primitives.simd import larger, pointer_to, rarely, smaller
from structures.primitives.sorting import BYTES, sort_entries
from structures.priority_queues.tournament_layout import (
    ABSENT,
    build,
    copy_leaves,
    fill_absent,
    ids_up_to,
    is_present,
    place,
    rise,
    settle,
    words_for,
    write_leaf,
)


# ------------------------------------------------------------------------------------------------ types
class HeapType(NumbersType, CountedType):
    """Base of the numba types of heaps: one concrete type per class, dtype and, for some, order of ties."""

    complement = 0  # -1 reverses the order of priorities
    mutating_reads = ("nlargest", "nsmallest")

    @property
    def start(self) -> tuple[Any, int]:
        """The priority of a missing key, and the complement, of a new heap."""
        return self.dtype.type(0), self.complement

    @property
    def label(self) -> str:
        """The name in messages."""
        return f"{super().label}({self.dtype}{', fifo' * ('fifo' in self.field_dict)})"


def heap_fields(priority_type: Any, **others: Any) -> list[tuple[str, Any]]:
    """Return the fields of a heap."""
    return fields_of(
        ranks=types.int64[::1],  # ranks[id], then those of the winners, level by level; the last is the root
        winners=types.int64[::1],  # winners[i] is the id whose rank is ranks[i + number of leaves]
        ages=types.int64[::1],  # ages[i] belongs to ranks[i]; empty where ids order equal ranks
        n=types.int64,  # ids are 0 ... n - 1
        size=types.int64,
        last=types.int64,  # the id that is in the heap with the rank and age of absent ones, or NOBODY
        by_age=types.int64,  # 1 where of equal ranks the first to come is the first to leave, else 0
        next_age=types.int64,
        complement=types.int64,  # -1 reverses the order of priorities, 0 keeps it
        zero=priority_type,  # the priority of a missing key; its type is that of the priorities
        **others,
    )


NOBODY = -1


# --------------------------------------------------------------------------------------------- new heaps
@inner
def make_leaves(self, n_leaves, with_ages):
    """Allocate the arrays of an empty heap with `n_leaves`."""
    n_words = words_for(n_leaves)
    self.ranks = new_words(n_words)
    self.winners = new_words(n_words - n_leaves)
    self.ages = new_words(n_words if with_ages else 0)
    fill_absent(self.ranks, 0)
    fill_absent(self.ages, 0)
    return True


@inner
def n_leaves_of(self):
    """Return how many ids there is room for."""
    return self.ranks.size - self.winners.size


@inner
def grow_tournament(self, n_leaves):
    """Grow to `n_leaves`: copy all leaves, and rebuild the levels above them."""
    n_words = words_for(n_leaves)
    ranks, ages, winners = new_words(n_words), new_words(n_words), new_words(n_words - n_leaves)
    copy_leaves(self.ranks, self.n, ranks)
    copy_leaves(self.ages, self.n, ages)
    build(ranks, winners, ages)
    self.ranks = ranks
    self.ages = ages
    self.winners = winners
    return True


@kernel
def new_heap(typ, n, zero, complement, by_age):
    """Return an empty heap of a type with room for `n` ids; `zero` is a 0 of the type of its priorities.

    If there is no memory, it has room for fewer: an exception would leak what is allocated already.
    """
    self = new(typ)
    self.last = NOBODY
    self.size = 0
    self.by_age = by_age
    self.next_age = 0
    self.complement = complement
    self.zero = zero
    self._start(n)
    return self


@quiet
def has_room(self, n):
    """Return whether there is room for `n` ids."""
    return n_leaves_of(self) >= n


@quiet
def fill(self, keys, priorities):
    """Fill an empty heap that has room. Returns (status, index of the item that failed)."""
    for i in range(keys.size):
        self.prefetch(keys[smaller(i + AHEAD, keys.size - 1)])
        key_id = self._id_for(keys[i])
        if key_id < 0:
            return key_id, i if key_id == status.OUT_OF_RANGE else keys.size
        if priorities[i] != priorities[i]:
            return status.NOT_A_NUMBER, i
        if is_in(self, key_id):
            return status.DUPLICATE, i
        rank, age = rank_of(self, priorities[i]), _age_of_new(self, keys[i])
        if rarely(rank == ABSENT) and not _may_be_absent(self, key_id, age):
            return status.NO_MEMORY, keys.size
        write_leaf(self.ranks, self.ages, key_id, rank, age)
    build(self.ranks, self.winners, self.ages)
    self.size = keys.size
    return status.OK, keys.size


@kernel
def heap_of(typ, n, start, keys, priorities):
    """Return a heap made from arrays, or release it and raise as the Python class does."""
    check_sizes(keys, priorities)
    zero, complement, by_age = start
    self = new_heap(typ, n, zero, complement, by_age)
    if not has_room(self, n):
        raise MemoryError
    failure, _ = fill(self, keys, priorities)
    if failure == status.OUT_OF_RANGE:
        raise IndexError("a key is out of range")
    if failure == status.NOT_A_NUMBER:
        raise ValueError("a priority is not a number")
    if failure == status.DUPLICATE:
        raise ValueError("a key is a duplicate")
    if failure < 0:
        raise MemoryError
    return self


# -------------------------------------------------------------------------------------------- one entry
@inner
def is_in(self, key_id):
    """Return whether an id is in the heap."""
    return is_present(self.ranks, self.ages, key_id) or key_id == self.last


@inner
def rank_of(self, priority):
    """Return the rank of a priority."""
    return to_order(as_count(priority, self.zero)) ^ self.complement


@inner
def priority_at(self, at):
    """Return the priority of the entry of a word."""
    return from_order(self.ranks[at] ^ self.complement, self.zero)


@inner
def _priority_of(self, key_id, default):
    """Return the priority of an id, or `default` if it is not in the heap or negative."""
    if key_id >= 0 and is_in(self, key_id):
        return priority_at(self, key_id)
    return as_count(default, self.zero)


@inner
def _age_of_new(self, key):
    """Return the age of a new entry."""
    if not self.by_age:
        return key
    age = self.next_age
    self.next_age = age + 1
    return age


@late
def _order_by_ages(self):
    """Start to store ages, because some key will have the rank that marks absent ids."""
    ages = new_words(self.ranks.size)
    n_leaves = n_leaves_of(self)
    for at in range(ages.size):
        ages[at] = ABSENT
        if self.ranks[at] != ABSENT:
            ages[at] = at if at < n_leaves else self.winners[at - n_leaves]
    self.ages = ages
    return True


@inner
def _may_be_absent(self, key_id, age):
    """Prepare for an entry with the rank that marks absent ids; return whether there is memory."""
    if age == ABSENT:
        self.last = key_id
    return self.ages.size > 0 or _order_by_ages(self)


@inner
def _assign(self, key_id, key, rank):
    """Insert an id with a rank, or change its rank; the same rank changes nothing."""
    before = pointer_to(self.ranks, key_id)[0]
    was_in = before != ABSENT or is_in(self, key_id)
    if rank == before and was_in:
        return status.OK
    age = _age_of_new(self, key)
    if rarely(rank == ABSENT) and not _may_be_absent(self, key_id, age):
        return status.NO_MEMORY
    if rarely(key_id == self.last) and rank != ABSENT:
        self.last = NOBODY
    self.size += not was_in
    if rank <= before:
        rise(self.ranks, self.winners, self.ages, key_id, rank, age)
    else:
        settle(self.ranks, self.winners, self.ages, key_id, rank, age)
    return status.OK


@inner
def take_out(self, key_id):
    """Remove an id that is in the heap."""
    settle(self.ranks, self.winners, self.ages, key_id, ABSENT, ABSENT)
    self.size -= 1
    if key_id == self.last:
        self.last = NOBODY
    return status.OK


@method(HeapType, "set")
@quiet
def _set(self, key, priority):
    key_id = self._id_for(key)
    if key_id < 0:
        return key_id
    if priority != priority:
        return status.NOT_A_NUMBER
    return _assign(self, key_id, key, rank_of(self, priority))


@quiet
def improve(self, key, priority):
    """Give a key a priority if it precedes its present one; return 1 if so, else 0, or a status below 0."""
    key_id = self._id_for(key)
    if key_id < 0:
        return key_id
    if priority != priority:
        return status.NOT_A_NUMBER
    rank = rank_of(self, priority)
    if rank >= pointer_to(self.ranks, key_id)[0] and (rank != ABSENT or is_in(self, key_id)):
        return 0
    failure = _assign(self, key_id, key, rank)
    return failure if failure < 0 else 1


@method(HeapType, "remove")
@quiet
def _remove(self, key):
    key_id = self._id_of(key)
    if key_id < 0:
        return key_id
    return take_out(self, key_id) if is_in(self, key_id) else status.MISSING


@method(HeapType, "_before_getitem")
@quiet
def _before_getitem(self, key):
    key_id = self._id_of(key)
    if key_id < 0:
        return key_id
    return status.OK if is_in(self, key_id) else status.MISSING


@method(HeapType, "get")
@quiet
def _get(self, key, default=0):
    return _priority_of(self, self._id_of(key), default)


@method(HeapType, "contains")
@quiet
def _contains(self, key):
    key_id = self._id_of(key)
    return key_id >= 0 and is_in(self, key_id)


@inner
def _set_sum(self, key_id, key, count, leaves_range):
    """Store the priority that ``add`` or ``sub`` has computed."""
    refused = refusal(count, leaves_range, self.zero)
    if refused < 0:
        return refused
    if count != self.zero:
        return _assign(self, key_id, key, rank_of(self, count))
    return take_out(self, key_id) if is_in(self, key_id) else status.OK


@method(HeapType, "add")
@quiet
def _add(self, key, n=1):
    key_id = self._id_for(key)
    if key_id < 0:
        return key_id
    count, delta = _priority_of(self, key_id, 0), as_count(n, self.zero)
    return _set_sum(self, key_id, key, count + delta, sum_leaves_range(count, delta))


@method(HeapType, "sub")
@quiet
def _sub(self, key, n=1):
    key_id = self._id_for(key)
    if key_id < 0:
        return key_id
    count, delta = _priority_of(self, key_id, 0), as_count(n, self.zero)
    return _set_sum(self, key_id, key, count - delta, difference_leaves_range(count, delta))


# ---------------------------------------------------------------------------------------------- the top
@inner
def _top(self):
    """Return the id of the first entry of a heap that is not empty."""
    key_id = self.winners[self.winners.size - 1]
    return key_id if self.last == NOBODY or is_in(self, key_id) else self.last


@method(HeapType, "peek")
@quiet
def first_entry(self):
    """Return key and priority of the top, (0, 0) if there is none."""
    if self.size == 0:
        return 0, self.zero
    root = self.ranks.size - 1
    return self._key_at(root), priority_at(self, root)


@method(HeapType, "pop")
@quiet
def _pop(self):
    top = first_entry(self)
    if self.size > 0:
        take_out(self, _top(self))
    return top


@inner
def _age_of(self, key_id):
    return self.ages[key_id] if self.ages.size > 0 else key_id


@inner
def _restore(self, key_id, rank, age):
    """Give an id back its old rank and age."""
    self.size += not is_in(self, key_id)
    if rank == ABSENT == age:
        self.last = key_id
    elif key_id == self.last:
        self.last = NOBODY
    place(self.ranks, self.winners, self.ages, key_id, rank, age)


@inner
def _peek_many(self, ids, keys, priorities, ages):
    """Pop entries until the arrays are full, and put them back."""
    for i in range(keys.size):
        keys[i], priorities[i] = first_entry(self)
        ids[i] = _top(self)
        ages[i] = _age_of(self, ids[i])
        take_out(self, ids[i])
    for i in range(keys.size):
        _restore(self, ids[i], rank_of(self, priorities[i]), ages[i])


@kernel
def first_many(self, k):
    """Return the keys and priorities of the first `k` entries, or of all if there are fewer."""
    n = smaller(larger(k, 0), self.size)
    ids, keys, ages = new_words(n), new_words(n), new_words(n)
    priorities = np.full(n, self.zero)
    _peek_many(self, ids, keys, priorities, ages)
    return keys, priorities


@inner
def _sort(self, ids, by_rank, words, other_words, other_ids, start_of):
    """Sort ids in place by rank, or by age; the sort is stable."""
    for i in range(ids.size):
        words[i] = self.ranks[ids[i]] if by_rank else _age_of(self, ids[i])
    if sort_entries(words, ids, other_words, other_ids, start_of):
        copy_prefix(other_ids, ids.size, ids)


@kernel
def _ids_in_order(self, greatest):
    """Return the ids whose rank is at most `greatest`, in pop order."""
    found = ids_up_to(self.ranks, self.winners, self.ages, greatest)
    words, other_words, other_ids = new_words(found.size), new_words(found.size), new_words(found.size)
    start_of = new_words(BYTES)
    _sort(self, found, False, words, other_words, other_ids, start_of)
    _sort(self, found, True, words, other_words, other_ids, start_of)
    if self.last == NOBODY or greatest != ABSENT:
        return found
    ids = new_words(found.size + 1)
    copy_prefix(found, found.size, ids)
    ids[found.size] = self.last
    return ids


@method(HeapType, "ties")
@kernel
def _ties(self):
    """Return the keys with the priority of the top, in pop order."""
    keys = _ids_in_order(self, self.ranks[self.ranks.size - 1])
    for i in range(keys.size):
        keys[i] = self._key_at(keys[i])
    return keys


@method(HeapType, "to_arrays")
@kernel
def entries_in_order(self):
    """Return all keys and priorities, in the order in which they would leave."""
    keys = _ids_in_order(self, ABSENT)
    priorities = np.full(keys.size, self.zero)
    for i in range(keys.size):
        priorities[i] = priority_at(self, keys[i])
        keys[i] = self._key_at(keys[i])
    return keys, priorities


# -------------------------------------------------------------------------------------------- the whole
@inner
def _change_each(self, keys, numbers, is_sum, was_in, ranks, ages):
    """Add or set until an item fails, and store the old entries; return the status and the item's index."""
    for i in range(keys.size):
        self.prefetch(keys[smaller(i + AHEAD, keys.size - 1)])
        key_id = self._id_of(keys[i])
        was_in[i] = key_id >= 0 and is_in(self, key_id)
        if was_in[i]:
            ranks[i] = self.ranks[key_id]
            ages[i] = _age_of(self, key_id)
        failure = self.add(keys[i], numbers[i]) if is_sum else self.set(keys[i], numbers[i])
        if failure < 0:
            return failure, i
    return status.OK, keys.size


@method(HeapType, "_change_many")
@kernel
def _change_many(self, keys, numbers, is_sum):
    """Change all or none, as the method of the base class, but restore the ages, too."""
    if keys.size != numbers.size:
        return status.OUT_OF_RANGE, smaller(keys.size, numbers.size)
    was_in, ranks, ages = new_words(keys.size), new_words(keys.size), new_words(keys.size)
    failure, n_done = _change_each(self, keys, numbers, is_sum, was_in, ranks, ages)
    if failure < 0:
        for i in range(n_done - 1, -1, -1):
            if was_in[i]:
                _restore(self, self._id_for(keys[i]), ranks[i], ages[i])
            else:
                self.remove(keys[i])
    return failure, n_done


@method(HeapType, "equals")
@kernel
def has_equal_entries(self, other):
    """Return whether both heaps have the same entries in the same order."""
    first, second = self.to_arrays()
    other_first, other_second = other.to_arrays()
    return are_equal(first, other_first) and are_equal(second, other_second)


@kernel
def copy_tournament(self, other):
    """Copy the tournament of a heap to another heap of the same type."""
    other.ranks = new_words(self.ranks.size)
    other.winners = new_words(self.winners.size)
    other.ages = new_words(self.ages.size)
    copy_prefix(self.ranks, self.ranks.size, other.ranks)
    copy_prefix(self.winners, self.winners.size, other.winners)
    copy_prefix(self.ages, self.ages.size, other.ages)
    other.n = self.n
    other.size = self.size
    other.last = self.last
    other.by_age = self.by_age
    other.next_age = self.next_age
    other.complement = self.complement
    other.zero = self.zero


@inner
def forget_all(self):
    """Remove all entries."""
    fill_absent(self.ranks, 0)
    fill_absent(self.ages, 0)
    self.size = 0
    self.last = NOBODY


@kernel
def tournament(self):
    """Return the arrays that ``_check()`` tests."""
    return self.ranks.copy(), self.winners.copy(), self.ages.copy(), self.n, self.last


@quiet
def is_by_age(self):
    """Return 1 if, of equal priorities, the first to come is the first to leave, else 0."""
    return self.by_age


@inner
def bytes_of(self):
    """Return the size of the arrays of the tournament."""
    return self.ranks.nbytes + self.winners.nbytes + self.ages.nbytes
