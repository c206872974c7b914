"""One merge: every occurrence of a pair joined, all counts and postings brought up to date.

The state is three containers of :mod:`structures`: the words as a ``TokenList``, one word a segment; a
``PairIndex`` over it; a queue, ``MaxHeap`` or ``CountBuckets``, from pair to its count.

Merging ``(left, right)`` into a new token changes few pairs, and of few forms. With ``x`` before an
occurrence and ``y`` behind it::

    x left right y   ->   x new y        (x, left), (right, y) lose the word's count
                                         (x, new), (new, y) gain it

All that is gained holds the new token, so that the changes are gathered in arrays indexed by the
neighbour, and each distinct neighbour costs one access to queue and index, however often it occurs.
Where an occurrence follows another at once, ``x`` is already the new token: it gains (new, new) and takes
back the (new, left) that the occurrence before it has given.
"""

from __future__ import annotations

import numpy as np

from structures import kernel, pack_pair

__all__ = ["SCRATCH_ROWS", "count_pairs", "merge_pair"]

WEIGHT_BEFORE, SIZE_BEFORE, WEIGHT_AFTER, SIZE_AFTER = range(4)
SCRATCH_ROWS = 4


@kernel(quiet=True)
def count_pairs(tokens, queue, weight_of):
    """Fill an empty queue with the count of every adjacent pair."""
    for position in range(tokens.n_positions()):
        if tokens.token(position) >= 0 and tokens.next(position) >= 0:
            pair = pack_pair(tokens.token(position), tokens.token(tokens.next(position)))
            queue.add(pair, weight_of[tokens.segment_at(position)])


@kernel(quiet=True)
def note(neighbour, weight, weights, sizes, touched, n_touched):
    """Gather an occurrence beside `neighbour`; return the number of distinct neighbours."""
    if sizes[neighbour] == 0:
        touched[n_touched] = neighbour
        n_touched += 1
    weights[neighbour] += weight
    sizes[neighbour] += 1
    return n_touched


@kernel(quiet=True)
def lose(queue, index, left, right, weight):
    """Take `weight` from the count of a pair; the last of it takes the postings along."""
    queue.sub(pack_pair(left, right), weight)
    if pack_pair(left, right) not in queue:
        index.drop(left, right)


@kernel(quiet=True)
def group(positions, neighbours, n, sizes, touched, n_touched, grouped):
    """Copy `positions` to `grouped`, those of a neighbour together, and turn its size into its end."""
    end = 0
    for i in range(n_touched):
        end += sizes[touched[i]]
        sizes[touched[i]] = end - sizes[touched[i]]
    for i in range(n):
        cursor = sizes[neighbours[i]]
        grouped[cursor] = positions[i]
        sizes[neighbours[i]] = cursor + 1


@kernel
def merge_pair(tokens, index, queue, weight_of, scratch, left, right, new_token):
    """Merge every occurrence of a pair and take it out of queue and index.

    Parameters
    ----------
    tokens : TokenList
    index : PairIndex
        The postings of each pair ascend within a segment, so that runs are merged from left to right.
    queue : MaxHeap or CountBuckets
    weight_of : (n_segments,) int64
        The count of each word.
    scratch : (SCRATCH_ROWS, n_tokens) int64
        All zero, before and after; ``n_tokens > new_token``.
    left, right, new_token : int

    Returns
    -------
    (n,) int64
        The pairs that came into being, packed: all hold `new_token`.

    Complexity
    ----------
    O(postings of the pair + distinct neighbours * log(pairs)).
    """
    start, end = index.span(left, right)
    room = end - start
    before_position, before_token = np.empty(room, np.int64), np.empty(room, np.int64)
    after_position, after_token = np.empty(room, np.int64), np.empty(room, np.int64)
    touched_before, touched_after = np.empty(room, np.int64), np.empty(room, np.int64)
    grouped = np.empty(room, np.int64)
    weights_before, sizes_before = scratch[WEIGHT_BEFORE], scratch[SIZE_BEFORE]
    weights_after, sizes_after = scratch[WEIGHT_AFTER], scratch[SIZE_AFTER]
    n_before = n_after = n_touched_before = n_touched_after = 0

    for i in range(start, end):
        position = index.posting(i)
        if tokens.token(position) != left:
            continue
        following = tokens.next(position)
        if following < 0 or tokens.token(following) != right:
            continue
        weight = weight_of[tokens.segment_at(position)]
        before, after = tokens.prev(position), tokens.next(following)
        if before >= 0:
            neighbour = tokens.token(before)
            before_position[n_before] = before
            before_token[n_before] = neighbour
            n_before += 1
            n_touched_before = note(
                neighbour, weight, weights_before, sizes_before, touched_before, n_touched_before
            )
        if after >= 0:
            neighbour = tokens.token(after)
            after_position[n_after] = position
            after_token[n_after] = neighbour
            n_after += 1
            n_touched_after = note(
                neighbour, weight, weights_after, sizes_after, touched_after, n_touched_after
            )
        tokens.merge(position, new_token)

    queue.remove(pack_pair(left, right))
    index.drop(left, right)
    created = np.empty(n_touched_before + n_touched_after, np.int64)
    n_created = 0
    adjacent = weights_before[new_token]  # occurrences that follow another at once

    group(before_position, before_token, n_before, sizes_before, touched_before, n_touched_before, grouped)
    done = 0
    for i in range(n_touched_before):
        neighbour = touched_before[i]
        weight = weights_before[neighbour]
        if neighbour != new_token:
            lose(queue, index, neighbour, left, weight)
        queue.set(pack_pair(neighbour, new_token), weight)
        index.add_many(neighbour, new_token, grouped[done : sizes_before[neighbour]])
        created[n_created] = pack_pair(neighbour, new_token)
        n_created += 1
        done = sizes_before[neighbour]
        weights_before[neighbour] = 0
        sizes_before[neighbour] = 0

    group(after_position, after_token, n_after, sizes_after, touched_after, n_touched_after, grouped)
    done = 0
    for i in range(n_touched_after):
        neighbour = touched_after[i]
        weight = weights_after[neighbour]
        if neighbour != right or left != right:  # the pair itself has left the queue already
            lose(queue, index, right, neighbour, weight)
        if neighbour == left:
            weight -= adjacent
        if weight > 0:
            queue.set(pack_pair(new_token, neighbour), weight)
            index.add_many(new_token, neighbour, grouped[done : sizes_after[neighbour]])
            created[n_created] = pack_pair(new_token, neighbour)
            n_created += 1
        done = sizes_after[neighbour]
        weights_after[neighbour] = 0
        sizes_after[neighbour] = 0
    return created[:n_created]
