"""One merge: joins every occurrence of a pair, and updates all counts and postings.

Merging ``(left, right)`` into a new token changes few pairs, and these have few forms. With ``x`` before an
occurrence and ``y`` after it::

    x left right y   ->   x new y        (x, left), (right, y) lose the count of the piece
                                         (x, new), (new, y) gain it

Every pair that gains holds the new token. So the changes are gathered in arrays indexed by the neighbor, and
each distinct neighbor costs a few accesses to queue and index, however often it occurs. Where one occurrence
directly follows another, (new, new) between them gains, and (right, left) loses.

``state`` and its invariants are described in :mod:`bpe.training.state`; ``merge`` is ``(left, right, new
token)``; ``found`` is described below. A posting is a position where a pair is or was: a stale one no longer
holds it.
"""

import numpy as np

from bpe.training.state import (
    COUNT,
    DONE,
    LENGTH,
    MAX_LENGTH,
    MIN_COUNT,
    N_TOKENS,
    SIZE,
    START,
    WEIGHT,
    stretch_at,
)
from structures import kernel, pack_pair, unpack_pair
from structures.kernels import quiet

# found[occurrence, ...]: the count of its piece; and for each side the token there (NOTHING at the end of the
# piece), and the position of the pair that is gained there.
BEFORE, AFTER = 0, 1
PIECE_COUNT, TOKEN, PLACE = 0, 1, 3  # TOKEN and PLACE have two columns: of BEFORE, then of AFTER
FOUND_COLUMNS = 5
NOTHING = -1
AHEAD = 32  # postings whose tokens are loaded at a time


# ------------------------------------------------------------------------------------------------ limits
@quiet
def discard(state, pairs):
    """Remove packed pairs from queue and index."""
    for i in range(pairs.size):
        left, right = unpack_pair(pairs[i])
        state.queue.remove(pairs[i])
        state.index.drop(left, right)


@quiet
def narrow(state, outside, min_count, max_length):
    """Set the limits, and remove the packed pairs `outside` of them."""
    discard(state, outside)
    state.numbers[MIN_COUNT] = min_count
    state.numbers[MAX_LENGTH] = max_length


@kernel
def lower_min_count(state, refused, min_count):
    """Lower the minimum count: recount all pairs, and keep those within the limits that are not `refused`."""
    index, queue, weights, length_of = state.index, state.queue, state.weights, state.of_token[LENGTH]
    if not index.rebuild():
        raise MemoryError
    pairs = index.pairs()
    for i in range(pairs.shape[0]):
        left, right = pairs[i, 0], pairs[i, 1]
        start, end = index.span(left, right)
        count = stretch = 0
        for k in range(start, end):
            stretch = stretch_at(weights, index.posting(k), stretch)
            count += weights[COUNT, stretch]
        if count < min_count or length_of[left] + length_of[right] > state.numbers[MAX_LENGTH]:
            index.drop(left, right)
        elif queue.set(pack_pair(left, right), count) < 0:
            raise MemoryError
    discard(state, refused)
    state.numbers[MIN_COUNT] = min_count


# --------------------------------------------------------------------------------------------- one merge
@quiet
def merge_occurrences(state, merge, start, end, found):
    """Merge every occurrence of a pair among its postings from `start` to `end`, and describe it in `found`.

    Return the number of occurrences, and the count of those that directly follow another one.
    """
    left, right, new_token = merge
    tokens, index, weights = state.tokens, state.index, state.weights
    n = adjacent = stretch = joined = 0
    for i in range(start, end):
        row = i - start
        if row % AHEAD == 0:  # independent loads, which the memory serves many at a time
            # They are put where rows of `found` come later: there are only `n` yet, and n <= row.
            for k in range(row, min(row + AHEAD, end - start)):
                found[k, TOKEN] = tokens.token(index.posting(start + k))
        if found[row, TOKEN] != left:
            continue
        position = index.posting(i)
        if tokens.token(position) != left:  # again: a merge since then may have taken it
            continue
        following = tokens.next(position)
        if following < 0 or tokens.token(following) != right:
            continue
        before, after = tokens.prev(position), tokens.next(following)
        stretch = stretch_at(weights, position, stretch)
        weight = weights[COUNT, stretch]
        found[n, PIECE_COUNT] = weight
        found[n, TOKEN + AFTER] = tokens.token(after) if after >= 0 else NOTHING
        found[n, PLACE + AFTER] = position
        found[n, TOKEN + BEFORE] = tokens.token(before) if before >= 0 else NOTHING
        found[n, PLACE + BEFORE] = before
        if found[n, TOKEN + BEFORE] == new_token:  # it was made from the row above
            adjacent += weight
            found[n - 1, TOKEN + AFTER] = NOTHING
        tokens.merge(position, new_token)
        joined += weight
        n += 1
    state.numbers[N_TOKENS] -= joined
    return n, adjacent


@quiet
def subtract_count(state, left, right, weight):
    """Subtract `weight` from the count of a pair, and remove the pair if it is below the minimum count then.

    A pair that is not in the queue stays out of it, as the minimum count is at least 1.
    """
    queue = state.queue
    pair = pack_pair(left, right)
    count = queue.get(pair)
    if count - weight >= state.numbers[MIN_COUNT]:
        queue.set(pair, count - weight)
    elif count > 0:
        queue.remove(pair)
        state.index.drop(left, right)


@quiet
def update_side(state, merge, side, found, grouped, created):
    """Update the pairs on one side of all occurrences; return the number of new pairs, -1 without memory.

    The new pairs are written to the start of `created`, packed. It and `grouped` have at least as many items
    as `found` has rows.
    """
    left, right, new_token = merge
    # By neighbor: the count of its new pair; and where its next posting goes, but first how many there are.
    gained, next_place, length_of = state.of_token[WEIGHT], state.of_token[SIZE], state.of_token[LENGTH]
    min_count, max_length = state.numbers[MIN_COUNT], state.numbers[MAX_LENGTH]
    index, queue = state.index, state.queue
    neighbors = created  # one array: a pair is written where a neighbor was that is done
    n_neighbors = 0
    for i in range(found.shape[0]):
        neighbor = found[i, TOKEN + side]
        if neighbor != NOTHING:
            if next_place[neighbor] == 0:
                neighbors[n_neighbors] = neighbor
                n_neighbors += 1
            gained[neighbor] += found[i, PIECE_COUNT]
            next_place[neighbor] += 1
    # The postings are grouped by neighbor.
    start = 0
    for i in range(n_neighbors):
        size = next_place[neighbors[i]]
        next_place[neighbors[i]] = start
        start += size
    for i in range(found.shape[0]):
        neighbor = found[i, TOKEN + side]
        if neighbor != NOTHING:
            grouped[next_place[neighbor]] = found[i, PLACE + side]
            next_place[neighbor] += 1
    start = n_created = 0
    for i in range(n_neighbors):
        neighbor = neighbors[i]
        weight, end = gained[neighbor], next_place[neighbor]
        gained[neighbor] = 0
        next_place[neighbor] = 0
        if side == BEFORE:
            subtract_count(state, neighbor, left, weight)
            first, second = neighbor, new_token
        else:
            # (right, new_token) does not exist: `adjacent` was subtracted from (right, left) before.
            subtract_count(state, right, neighbor, weight)
            first, second = new_token, neighbor
        if weight >= min_count and length_of[first] + length_of[second] <= max_length:
            pair = pack_pair(first, second)
            if queue.set(pair, weight) < 0 or index.add_many(first, second, grouped[start:end]) < 0:
                return -1
            created[n_created] = pair
            n_created += 1
        start = end
    return n_created


@kernel
def update_pairs(state, merge, found, adjacent):
    """Update queue and index after :func:`merge_occurrences`; return the new pairs, packed."""
    left, right, new_token = merge
    of_token, n = state.of_token, found.shape[0]
    if n > 0:
        of_token[START, new_token] = found[0, PLACE + AFTER]
    of_token[LENGTH, new_token] = of_token[LENGTH, left] + of_token[LENGTH, right]
    state.queue.remove(pack_pair(left, right))
    state.index.drop(left, right)
    if adjacent > 0:
        subtract_count(state, right, left, adjacent)
    grouped = np.empty(n, np.int64)
    created = np.empty(2 * n, np.int64)
    # In this order: the second call may create (new_token, left), which the first would subtract from.
    n_before = update_side(state, merge, BEFORE, found, grouped, created)
    n_after = update_side(state, merge, AFTER, found, grouped, created[max(n_before, 0) :])
    if n_before < 0 or n_after < 0:
        raise MemoryError
    return created[: n_before + n_after]


@kernel
def merge_pair(state, left, right, new_token):
    """Merge every occurrence of a pair, and update queue and index; return the new pairs, packed."""
    merge = left, right, new_token
    start, end = state.index.span(left, right)
    found = np.empty((end - start, FOUND_COLUMNS), np.int64)
    n, adjacent = merge_occurrences(state, merge, start, end, found)
    return update_pairs(state, merge, found[:n], adjacent)


@kernel
def replay(state, n_merges):
    """Apply the first `n_merges` merges of the log to the pieces, and write their counts to the log."""
    for rank in range(n_merges):
        left, right, new_token = state.log[rank, 0], state.log[rank, 1], state.log[rank, 2]
        state.log[rank, 3] = state.queue.get(pack_pair(left, right))
        merge_pair(state, left, right, new_token)
    state.numbers[DONE] = n_merges
