"""One merge: every occurrence of a pair joined, all counts and postings brought up to date.

The state is three containers of :mod:`structures`: the words as a ``TokenList``, one word a segment; a
``PairIndex`` over it; a queue, ``MaxHeap`` or ``CountBuckets``, from pair to its count.

Merging ``(left, right)`` into a new token changes few pairs, and of few forms. With ``x`` before an
occurrence and ``y`` behind it::

    x left right y   ->   x new y        (x, left), (right, y) lose the word's count
                                         (x, new), (new, y) gain it

All that is gained holds the new token, so that the changes are gathered in arrays indexed by the
neighbour, and each distinct neighbour costs one access to queue and index, however often it occurs.
Where an occurrence follows another at once, they gain (new, new) between them, and (right, left) loses.

Only *live* pairs are in queue and index: those within the limits, a least count and a greatest length of
what they would make. A count never rises again once its pair is made, so what has left need not come back,
unless the least count is lowered: then the pairs are counted anew. Most pairs that merges make are rare, so
that a least count which is little below that of the last merge to come saves half of the work.

What a posting weighs is the count of its word. Equal counts that follow each other are one *run*, in
``weights[..., run]``: where its words begin, and their count. Postings ascend, so that runs do too, and of
words in the order of their counts there are but as many as there are different counts.

Invariants
----------
1. The queue holds exactly the pairs within the limits, but for refused ones, each with its count.
2. The index holds the same pairs; those of its postings that are not stale are where the pair stands.
3. The postings of a pair ascend, so that runs are merged from left to right.
"""

from __future__ import annotations

import numpy as np

from structures import kernel, pack_pair, unpack_pair

__all__ = [
    "MAX_LENGTH",
    "MIN_COUNT",
    "SCRATCH_ROWS",
    "count_pairs",
    "discard",
    "in_order",
    "lower_min_count",
    "merge_pair",
    "narrow",
    "replay",
    "runs_of",
]

MIN_COUNT, MAX_LENGTH = 0, 1  # limits[...]
BEGIN, COUNT = 0, 1  # weights[..., run]
WEIGHT, SIZE = 0, 1  # scratch[..., neighbour]
SCRATCH_ROWS = 2

# found[occurrence, ...]: the count of its word; and for each side the token there, NOTHING at the end of
# the word, and the place of the pair that is gained there.
BEFORE, BEHIND = 0, 1
TOKEN, PLACE = 1, 3
FOUND_COLUMNS = 5
NOTHING = -1
AHEAD = 32  # postings
INT64_MAX = 2**63 - 1


@kernel
def in_order(data, offsets, order):
    """Return words in another order, as `data` and `offsets`: word ``order[0]`` first."""
    data_in_order = np.empty_like(data)
    offsets_in_order = np.zeros_like(offsets)
    end = 0
    for i in range(order.size):
        for k in range(offsets[order[i]], offsets[order[i] + 1]):
            data_in_order[end] = data[k]
            end += 1
        offsets_in_order[i + 1] = end
    return data_in_order, offsets_in_order


def runs_of(offsets: np.ndarray, weight_of: np.ndarray) -> np.ndarray:
    """Return `weights` of words: (2, n_runs) int64."""
    first = np.flatnonzero(np.diff(weight_of, prepend=0))  # no word counts 0
    return np.stack([offsets[first], weight_of[first]])


@kernel(quiet=True)
def count_pairs(data, offsets, weight_of, byte_ids, counts, queue):
    """Fill an empty queue with the count of every adjacent pair; say whether all stay below ``2**63``.

    Parameters
    ----------
    data : (n_bytes,) uint8
        The words, one after the other.
    offsets : (n_words + 1,) int64
        Word i is ``data[offsets[i]:offsets[i + 1]]``.
    weight_of : (n_words,) int64
        The count of each word.
    byte_ids : (256,) int64
        The id of each byte value.
    counts : (2**16,) int64
        All zero; scratch.
    queue : MaxHeap or CountBuckets
    """
    for word in range(weight_of.size):
        for i in range(offsets[word], offsets[word + 1] - 1):
            pair = np.int64(data[i]) << 8 | np.int64(data[i + 1])
            if counts[pair] > INT64_MAX - weight_of[word]:
                return False
            counts[pair] += weight_of[word]
    for pair in range(counts.size):
        if counts[pair] > 0:
            queue.set(pack_pair(byte_ids[pair >> 8], byte_ids[pair & 0xFF]), counts[pair])
    return True


@kernel(quiet=True)
def run_at(weights, position, run):
    """Return the run that `position` lies in, which is `run` or one behind it: O(log of the distance)."""
    step = 1
    while run + step < weights.shape[1] and weights[BEGIN, run + step] <= position:
        run += step
        step *= 2
    while step > 1:
        step //= 2
        if run + step < weights.shape[1] and weights[BEGIN, run + step] <= position:
            run += step
    return run


@kernel(quiet=True)
def discard(index, queue, pairs):
    """Take pairs, packed, out of queue and index."""
    for i in range(pairs.size):
        left, right = unpack_pair(pairs[i])
        queue.remove(pairs[i])
        index.drop(left, right)


@kernel(quiet=True)
def narrow(index, queue, limits, outside, min_count, max_length):
    """Set limits that leave out the pairs `outside`, packed."""
    discard(index, queue, outside)
    limits[MIN_COUNT] = min_count
    limits[MAX_LENGTH] = max_length


@kernel
def lower_min_count(tokens, index, queue, weights, length_of, limits, refused, min_count):
    """Let in the pairs that count at least so much, but for the `refused`: queue and index are made anew.

    Parameters
    ----------
    tokens, index, queue, weights, length_of, limits
        As :func:`merge_pair` takes them.
    refused : (n,) int64
        Packed pairs.
    min_count : int

    Raises
    ------
    MemoryError
        Queue and index are left as they should not be.

    Complexity
    ----------
    O(positions + pairs * log(pairs)).
    """
    if not index.rebuild():
        raise MemoryError
    pairs = index.pairs()
    for i in range(pairs.shape[0]):
        left, right = pairs[i, 0], pairs[i, 1]
        start, end = index.span(left, right)
        count = run = 0
        for k in range(start, end):
            run = run_at(weights, index.posting(k), run)
            count += weights[COUNT, run]
        if count < min_count or length_of[left] + length_of[right] > limits[MAX_LENGTH]:
            index.drop(left, right)
        elif queue.set(pack_pair(left, right), count) < 0:
            raise MemoryError
    discard(index, queue, refused)
    limits[MIN_COUNT] = min_count


@kernel(quiet=True)
def lose(index, queue, left, right, weight, min_count):
    """Take `weight` from the count of a pair; queue and index forget it where too little is left."""
    pair = pack_pair(left, right)
    count = queue.get(pair)
    if count - weight >= min_count:
        queue.set(pair, count - weight)
    elif count > 0:
        queue.remove(pair)
        index.drop(left, right)


@kernel(quiet=True)
def join_all(tokens, index, weights, left, right, new_token, start, end, found):
    """Merge every occurrence of a pair among its postings from `start` to `end`; write down what is around.

    Returns
    -------
    n : int
        The number of occurrences, rows of `found`.
    adjacent : int
        The weight of those that follow another at once.
    """
    n = adjacent = run = 0
    for i in range(start, end):
        row = i - start
        if row % AHEAD == 0:  # loads that wait for nothing, so that the memory brings many at a time
            for k in range(row, min(row + AHEAD, end - start)):
                found[k, TOKEN] = tokens.token(index.posting(start + k))
        if found[row, TOKEN] != left:
            continue
        position = index.posting(i)
        if tokens.token(position) != left:
            continue
        following = tokens.next(position)
        if following < 0 or tokens.token(following) != right:
            continue
        before, behind = tokens.prev(position), tokens.next(following)
        run = run_at(weights, position, run)
        weight = weights[COUNT, run]
        found[n, WEIGHT] = weight
        found[n, TOKEN + BEHIND] = tokens.token(behind) if behind >= 0 else NOTHING
        found[n, PLACE + BEHIND] = position
        found[n, TOKEN + BEFORE] = tokens.token(before) if before >= 0 else NOTHING
        found[n, PLACE + BEFORE] = before
        if found[n, TOKEN + BEFORE] == new_token:  # it was made from the row above
            adjacent += weight
            found[n - 1, TOKEN + BEHIND] = NOTHING
        tokens.merge(position, new_token)
        n += 1
    return n, adjacent


@kernel(quiet=True)
def settle(index, queue, length_of, limits, scratch, left, right, new_token, side, found, n, room, created):
    """Bring the pairs on one side of all occurrences up to date; return how many pairs came into being.

    ``room[0]`` and ``room[1]`` are scratch of n and more; `created` is filled from its start.
    """
    weights, sizes = scratch[WEIGHT], scratch[SIZE]
    neighbours, grouped = room[0], room[1]
    n_neighbours = 0
    for i in range(n):
        neighbour = found[i, TOKEN + side]
        if neighbour != NOTHING:
            if sizes[neighbour] == 0:
                neighbours[n_neighbours] = neighbour
                n_neighbours += 1
            weights[neighbour] += found[i, WEIGHT]
            sizes[neighbour] += 1
    # The postings of a neighbour go together: its size becomes their start, and while they come, their end.
    start = 0
    for i in range(n_neighbours):
        size = sizes[neighbours[i]]
        sizes[neighbours[i]] = start
        start += size
    for i in range(n):
        neighbour = found[i, TOKEN + side]
        if neighbour != NOTHING:
            grouped[sizes[neighbour]] = found[i, PLACE + side]
            sizes[neighbour] += 1
    start = n_created = 0
    for i in range(n_neighbours):
        neighbour = neighbours[i]
        weight, end = weights[neighbour], sizes[neighbour]
        weights[neighbour] = 0
        sizes[neighbour] = 0
        if side == BEFORE:
            lose(index, queue, neighbour, left, weight, limits[MIN_COUNT])
            first, second = neighbour, new_token
        else:
            lose(index, queue, right, neighbour, weight, limits[MIN_COUNT])
            first, second = new_token, neighbour
        if weight >= limits[MIN_COUNT] and length_of[first] + length_of[second] <= limits[MAX_LENGTH]:
            pair = pack_pair(first, second)
            if queue.set(pair, weight) < 0 or index.add_many(first, second, grouped[start:end]) < 0:
                return -1
            created[n_created] = pair
            n_created += 1
        start = end
    return n_created


@kernel
def update_pairs(
    index, queue, start_of, length_of, limits, scratch, left, right, new_token, found, n, adjacent
):  # fmt: skip
    """Bring queue and index up to date with what :func:`join_all` found; return the new pairs, packed."""
    if n > 0:
        start_of[new_token] = found[0, PLACE + BEHIND]
    length_of[new_token] = length_of[left] + length_of[right]
    queue.remove(pack_pair(left, right))
    index.drop(left, right)
    if adjacent > 0:
        lose(index, queue, right, left, adjacent, limits[MIN_COUNT])
    room = np.empty((2, n), np.int64)
    created = np.empty(2 * n, np.int64)
    n_before = settle(
        index, queue, length_of, limits, scratch, left, right, new_token, BEFORE, found, n, room, created
    )
    n_behind = settle(
        index, queue, length_of, limits, scratch, left, right, new_token, BEHIND, found, n, room,
        created[max(n_before, 0) :],
    )  # fmt: skip
    if n_before < 0 or n_behind < 0:
        raise MemoryError
    return created[: n_before + n_behind]


@kernel
def merge_pair(tokens, index, queue, weights, start_of, length_of, limits, scratch, left, right, new_token):
    """Merge every occurrence of a pair and take it out of queue and index.

    Parameters
    ----------
    tokens : TokenList
    index : PairIndex
    queue : MaxHeap or CountBuckets
    weights : (2, n_runs) int64
        The counts of the words, as :func:`runs_of` returns them.
    start_of, length_of : (n_tokens,) int64
        A position where the bytes of each token stand, and how many; those of `new_token` are written.
    limits : (2,) int64
        The least count of a pair and the greatest length of a token; others are not queue's nor index's.
    scratch : (SCRATCH_ROWS, n_tokens) int64
        All zero, before and after; ``n_tokens > new_token``.
    left, right, new_token : int

    Returns
    -------
    (n,) int64
        The pairs that came into being, packed: all hold `new_token`.

    Raises
    ------
    MemoryError
        Containers and scratch are left as they should not be.

    Complexity
    ----------
    O(postings of the pair + distinct neighbours * log(pairs)).
    """
    start, end = index.span(left, right)
    found = np.empty((end - start, FOUND_COLUMNS), np.int64)
    n, adjacent = join_all(tokens, index, weights, left, right, new_token, start, end, found)
    return update_pairs(
        index, queue, start_of, length_of, limits, scratch, left, right, new_token, found, n, adjacent
    )


@kernel
def replay(tokens, index, queue, weights, start_of, length_of, limits, scratch, log, n_merges):
    """Do the first `n_merges` of a log again, on other words; write down what they count here."""
    for rank in range(n_merges):
        left, right, new_token = log[rank, 0], log[rank, 1], log[rank, 2]
        log[rank, 3] = queue.get(pack_pair(left, right))
        merge_pair(
            tokens, index, queue, weights, start_of, length_of, limits, scratch, left, right, new_token
        )
