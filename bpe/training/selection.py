"""Which pair is merged next: the one with the greatest count, and among equals the one the rule names.

The queue's own order is greatest count, then smallest pair, which is the rule ``"smallest"``. The other
rules order the pairs that are tied at the top count in a *front* (:mod:`bpe.training.front`).
"""

from bpe.training.front import entry_of, first_pair, pop, push, reserve, spell
from bpe.training.merging import merge_pair
from bpe.training.state import DONE, START
from structures import kernel, unpack_pair

NONE, ALL = -1, -2  # in the place of a pair


@kernel(quiet=True)
def write_down(state, left, right, count):
    """Add a merge to the log."""
    rank = state.numbers[DONE]
    state.log[rank, 0] = left
    state.log[rank, 1] = right
    state.log[rank, 3] = count
    state.numbers[DONE] = rank + 1


@kernel
def run_smallest(state, wanted, allowed):
    """Learn merges until `wanted` are done, ties by smallest pair."""
    asks = allowed != ALL
    while state.numbers[DONE] < wanted and len(state.queue) > 0:
        pair, count = state.queue.peek()
        if asks and allowed != pair:
            return pair
        left, right = unpack_pair(pair)
        merge_pair(state, left, right, state.log[state.numbers[DONE], 2])
        write_down(state, left, right, count)
    return NONE


@kernel
def best_of_front(state, front):
    """Return the pair that is merged next, packed, and its count; the queue is not empty."""
    while True:
        count = state.queue.peek()[1]
        if front.count != count or front.size == 0:
            tied = state.queue.ties()
            front.size = 0
            reserve(front, tied.size)
            for i in range(tied.size):
                push(state, front, entry_of(state, front, tied[i]))
            front.count = count
        pair = first_pair(state, front)
        if state.queue.get(pair) == count:
            return pair, count
        pop(state, front)


@kernel
def merge_with_front(state, front, left, right, new_token):
    """Merge a pair as :func:`merge_pair` does; new pairs that are tied at the top count enter the front."""
    place = spell(state, front, left, right) if front.spells else 0
    created = merge_pair(state, left, right, new_token)
    if front.spells:
        state.of_token[START, new_token] = place
    reserve(front, front.size + created.size)
    for i in range(created.size):
        if state.queue.get(created[i]) == front.count:
            push(state, front, entry_of(state, front, created[i]))


@kernel
def run_with_front(state, front, wanted, allowed):
    """Learn merges until `wanted` are done, ties by greatest bytes or by place."""
    asks = allowed != ALL
    while state.numbers[DONE] < wanted and len(state.queue) > 0:
        pair, count = best_of_front(state, front)
        if asks and allowed != pair:
            return pair
        pop(state, front)
        left, right = unpack_pair(pair)
        merge_with_front(state, front, left, right, state.log[state.numbers[DONE], 2])
        write_down(state, left, right, count)
    return NONE
