"""Which pair is merged next: the one with the greatest count, and among equals the one the rule names.

The queue's own order is greatest count, then smallest pair, which is the rule ``"smallest"``. Any other
rule orders the pairs that are tied at the top count in a *front*, a binary heap of packed pairs. Counts
of pairs only fall and a new pair never has more than the one it came from, so that the top count falls
too: a pair enters the front of each count at most once, when the front is filled or when the pair is
made, and one whose count has fallen since is passed over when it comes up.
"""

from __future__ import annotations

import numpy as np

from bpe.training.merging import merge_pair
from structures import kernel, unpack_pair

__all__ = ["FRONT_COUNT", "FRONT_SIZE", "run_smallest", "run_with_front"]

FRONT_SIZE, FRONT_COUNT = 0, 1


@kernel
def run_smallest(tokens, index, queue, weight_of, scratch, merges, done, wanted, min_count):
    """Learn merges until `wanted` are done, ties by smallest pair.

    Parameters
    ----------
    tokens, index, queue, weight_of, scratch
        As :func:`bpe.training.merging.merge_pair` takes them.
    merges : (capacity, 4) int64
        The log: left, right, new token, count; rows from `done` on are written.
    done, wanted : int
    min_count : int
        The least count of a pair worth a merge.

    Returns
    -------
    int
        How many merges are done; fewer than `wanted` where no pair is left that counts `min_count`.

    Complexity
    ----------
    That of the merges.
    """
    while done < wanted and len(queue) > 0:
        pair, count = queue.peek()
        if count < min_count:
            break
        left, right = unpack_pair(pair)
        new_token = merges[done, 2]
        merge_pair(tokens, index, queue, weight_of, scratch, left, right, new_token)
        merges[done, 0] = left
        merges[done, 1] = right
        merges[done, 3] = count
        done += 1
    return done


# ------------------------------------------------------------------------------------------- the front
@kernel(quiet=True)
def compare_tokens(token_data, token_start, one, other):
    """Compare two tokens as byte strings: below 0, 0 or above 0."""
    i, end = token_start[one], token_start[one + 1]
    j, other_end = token_start[other], token_start[other + 1]
    while i < end and j < other_end:
        if token_data[i] != token_data[j]:
            return np.int64(token_data[i]) - np.int64(token_data[j])
        i += 1
        j += 1
    return (end - i) - (other_end - j)


@kernel(quiet=True)
def precedes(token_data, token_start, pair, other):
    """Say whether `pair` goes before `other`: greatest left bytes, then greatest right bytes."""
    left, right = unpack_pair(pair)
    other_left, other_right = unpack_pair(other)
    order = compare_tokens(token_data, token_start, left, other_left)
    if order == 0:
        order = compare_tokens(token_data, token_start, right, other_right)
    return order > 0


@kernel(quiet=True)
def push_front(front, size, pair, token_data, token_start):
    """Push a pair on the binary heap in ``front[:size]``."""
    slot = size
    while slot > 0:
        parent = (slot - 1) >> 1
        if not precedes(token_data, token_start, pair, front[parent]):
            break
        front[slot] = front[parent]
        slot = parent
    front[slot] = pair


@kernel(quiet=True)
def pop_front(front, size, token_data, token_start):
    """Pop the first pair of the binary heap in ``front[:size]``."""
    first = front[0]
    pair = front[size - 1]
    slot = 0
    while True:
        child = 2 * slot + 1
        if child >= size - 1:
            break
        if child + 1 < size - 1 and precedes(token_data, token_start, front[child + 1], front[child]):
            child += 1
        if precedes(token_data, token_start, pair, front[child]):
            break
        front[slot] = front[child]
        slot = child
    front[slot] = pair
    return first


@kernel(quiet=True)
def append_token(token_data, token_start, new_token, left, right):
    """Write the bytes of a new token behind those of the tokens before it."""
    end = token_start[new_token]
    for part in (left, right):
        for i in range(token_start[part], token_start[part + 1]):
            token_data[end] = token_data[i]
            end += 1
    token_start[new_token + 1] = end


@kernel
def run_with_front(
    tokens, index, queue, weight_of, scratch, merges, done, wanted, min_count,
    front, front_state, token_data, token_start,
):  # fmt: skip
    """Learn merges until `wanted` are done, ties by greatest bytes.

    Parameters
    ----------
    tokens, index, queue, weight_of, scratch, merges, done, wanted, min_count
        As :func:`run_smallest` takes them.
    front : (capacity,) int64
        Binary heap of packed pairs.
    front_state : (2,) int64
        The size of the front and the count that its pairs had when they entered it.
    token_data : (capacity,) uint8
        The bytes of the tokens, one after the other.
    token_start : (n_tokens + 1,) int64
        Where they start.

    Returns
    -------
    done : int
    front_room, data_room : int
        Where above 0, what capacity of `front` or `token_data` to come back with; else the run is over.

    Complexity
    ----------
    That of the merges, and O(log n) comparisons for each pair that enters the front.
    """
    while done < wanted and len(queue) > 0:
        count = queue.peek()[1]
        if count < min_count:
            break
        size = front_state[FRONT_SIZE]
        if front_state[FRONT_COUNT] != count or size == 0:
            tied = queue.ties()
            if tied.size > front.size:
                return done, 2 * tied.size, 0
            size = 0
            for i in range(tied.size):
                push_front(front, size, tied[i], token_data, token_start)
                size += 1
            front_state[FRONT_COUNT] = count
        # What a merge makes are at most two pairs a token.
        if size + 2 * merges[done, 2] + 2 > front.size:
            front_state[FRONT_SIZE] = size
            return done, 2 * (size + 2 * merges[done, 2] + 2), 0
        pair = pop_front(front, size, token_data, token_start)
        front_state[FRONT_SIZE] = size - 1
        if queue.get(pair) != count:
            continue
        left, right = unpack_pair(pair)
        new_token = merges[done, 2]
        length = token_start[left + 1] - token_start[left] + token_start[right + 1] - token_start[right]
        if token_start[new_token] + length > token_data.size:
            push_front(front, size - 1, pair, token_data, token_start)
            front_state[FRONT_SIZE] = size
            return done, 0, 2 * (token_start[new_token] + length)
        created = merge_pair(tokens, index, queue, weight_of, scratch, left, right, new_token)
        append_token(token_data, token_start, new_token, left, right)
        size -= 1
        for i in range(created.size):
            if queue.get(created[i]) == count:
                push_front(front, size, created[i], token_data, token_start)
                size += 1
        front_state[FRONT_SIZE] = size
        merges[done, 0] = left
        merges[done, 1] = right
        merges[done, 3] = count
        done += 1
    return done, 0, 0
