# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT
"""Re-Pair grammar compression with ``TokenList``, ``PairIndex`` and ``MaxHeap`` together.

Replace the most frequent pair of adjacent tokens by a new token, again and again, until no pair occurs twice.
The result is a sequence and one rule for each new token; :func:`expand` undoes it.

What it shows: three containers are made in Python and passed to one ``@njit`` function. The list has the
sequence, the index has the positions of a pair, the heap has the next pair. Nothing is counted again: to
replace an occurrence changes at most four counts, those of the pairs around it. These changes are collected
first, so that heap and index are read once for each distinct neighbor, not for each occurrence. Pairs that
occur once are in neither: their counts never grow.

The count of a pair is its number of occurrences that do not overlap. In a run of n equal tokens, such as
``aaaa``, the pair ``aa`` occurs n // 2 times; that many are replaced, from left to right. If several pairs
occur equally often, the smallest (left, right) is next.

Complexity: O(n log n) for n bytes. The runs next to an occurrence are walked to find whether their length is
even. A run of n tokens adds n // 2 to the count of its pair, which is at most the count of the pair
being replaced, so that all walks together cost O(1) an occurrence.

Source: N. J. Larsson, A. Moffat, Offline dictionary-based compression (1999).
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from structures import MaxHeap, PairIndex, TokenList, pack_pair, unpack_pair

FIRST_NEW = 256  # tokens below are bytes
BEFORE, AFTER = 0, 1  # sides of an occurrence
NOTHING = -1  # in place of a neighbor: the end of the text, or counted on another side


class Grammar(NamedTuple):
    """The result: token ``FIRST_NEW + i`` is replaced by the two tokens of ``rules[i]``."""

    rules: np.ndarray  # (n_rules, 2) int64
    sequence: np.ndarray  # (n,) int64


# ---------------------------------------------------------------------------------------------- runs
@njit(cache=True)
def length_of_run_to(tokens, position):
    """Return how many equal tokens end at `position`."""
    token, n = tokens.token(position), 1
    position = tokens.prev(position)
    while position >= 0 and tokens.token(position) == token:
        n += 1
        position = tokens.prev(position)
    return n


@njit(cache=True)
def length_of_run_from(tokens, position):
    """Return how many equal tokens start at `position`."""
    token, n = tokens.token(position), 1
    position = tokens.next(position)
    while position >= 0 and tokens.token(position) == token:
        n += 1
        position = tokens.next(position)
    return n


# ------------------------------------------------------------------------------------------ counting
@njit(cache=True)
def count_pairs(tokens, queue):
    """Fill an empty queue with the pairs of bytes that occur twice or more."""
    counts = np.zeros((FIRST_NEW, FIRST_NEW), np.int64)
    position = 0 if len(tokens) > 0 else NOTHING
    run = 1
    while position >= 0 and tokens.next(position) >= 0:
        left, right = tokens.token(position), tokens.token(tokens.next(position))
        run = run + 1 if left == right else 1
        counts[left, right] += left != right or run % 2 == 0
        position = tokens.next(position)
    for left in range(FIRST_NEW):
        for right in range(FIRST_NEW):
            if counts[left, right] > 1:
                queue[pack_pair(left, right)] = counts[left, right]


@njit(cache=True)
def lose(queue, left, right, n):
    """Subtract `n` from the count of a pair; a pair that occurs less than twice leaves the queue."""
    pair = pack_pair(left, right)
    count = queue.get(pair, 0)
    if count - n > 1:
        queue[pair] = count - n
    elif count > 0:
        del queue[pair]


# ----------------------------------------------------------------------------------------- replacing
@njit(cache=True)
def replace(tokens, index, left, right, new_token, neighbors, places):
    """Replace every occurrence of a pair; write the tokens on both sides, and the positions of their pairs.

    Returns
    -------
    n : int
        The number of occurrences.
    touching : int
        How many of them directly follow another: that neighbor is counted on neither side.
    paired : int
        The count of (new_token, new_token).
    kept : (int, int)
        How many runs of `left` before an occurrence, and of `right` after one, keep their count: odd ones.
    """
    n = touching = paired = kept_before = kept_after = run = 0
    start, end = index.span(left, right)
    for i in range(start, end):
        position = index.posting(i)
        if tokens.token(position) != left:
            continue  # stale, or the left token of an overlapping occurrence in a run
        following = tokens.next(position)
        if following < 0 or tokens.token(following) != right:
            continue
        before, after = tokens.prev(position), tokens.next(following)
        neighbors[BEFORE, n] = tokens.token(before) if before >= 0 else NOTHING
        neighbors[AFTER, n] = tokens.token(after) if after >= 0 else NOTHING
        places[BEFORE, n] = before
        places[AFTER, n] = position
        if neighbors[BEFORE, n] == new_token:
            neighbors[AFTER, n - 1] = NOTHING
            touching += 1
            run += 1
            paired += run % 2 == 0
        else:
            run = 1
        if left != right:
            if neighbors[BEFORE, n] == left:
                kept_before += length_of_run_to(tokens, position) % 2
            if neighbors[AFTER, n] == right:
                kept_after += length_of_run_from(tokens, following) % 2
        tokens.merge(position, new_token)
        n += 1
    return n, touching, paired, (kept_before, kept_after)


@njit(cache=True)
def settle(
    index, queue, pair, new_token, side, neighbors, places, n, paired, kept, end_of, distinct, grouped
):
    """Update the counts and postings of the pairs on one side of `n` occurrences.

    ``end_of[token]`` is 0 for every token, before and after; `distinct` and `grouped` are scratch.
    """
    left, right = pair
    n_distinct = 0
    for i in range(n):
        token = neighbors[i]
        if token != NOTHING:
            if end_of[token] == 0:
                distinct[n_distinct] = token
                n_distinct += 1
                queue.prefetch(pack_pair(token, left) if side == BEFORE else pack_pair(right, token))
            end_of[token] += 1
    # Group the places by neighbor: end_of is a count, then the start of a group, then its end.
    start = 0
    for i in range(n_distinct):
        count = end_of[distinct[i]]
        end_of[distinct[i]] = start
        start += count
    for i in range(n):
        token = neighbors[i]
        if token != NOTHING:
            grouped[end_of[token]] = places[i]
            end_of[token] += 1
    start = 0
    for i in range(n_distinct):
        token = distinct[i]
        end = end_of[token]
        end_of[token] = 0
        if side == BEFORE:
            lose(queue, token, left, end - start - (kept if token == left else 0))
            first, second = token, new_token
        else:
            lose(queue, right, token, end - start - (kept if token == right else 0))
            first, second = new_token, token
        count = paired if first == second else end - start
        if count > 1:
            queue[pack_pair(first, second)] = count
            index.add_many(first, second, grouped[start:end])
        start = end


@njit(cache=True)
def find_rules(tokens, index, queue, rules):
    """Replace pairs until none occurs twice, or `rules` is full; return the number of rules."""
    count_pairs(tokens, queue)
    n_most = queue.peek()[1] if len(queue) > 0 else 0  # no pair will occur more often
    neighbors, places = np.empty((2, n_most), np.int64), np.empty((2, n_most), np.int64)
    distinct, grouped = np.empty(n_most, np.int64), np.empty(n_most, np.int64)
    end_of = np.zeros(FIRST_NEW + rules.shape[0], np.int64)
    n_rules = 0
    while len(queue) > 0 and n_rules < rules.shape[0]:
        left, right = unpack_pair(queue.pop()[0])
        new_token = FIRST_NEW + n_rules
        rules[n_rules, 0] = left
        rules[n_rules, 1] = right
        n_rules += 1
        n, touching, paired, kept = replace(tokens, index, left, right, new_token, neighbors, places)
        index.drop(left, right)
        if touching > 0:
            lose(queue, right, left, touching)
        for side in range(2):
            settle(
                index, queue, (left, right), new_token, side, neighbors[side], places[side], n,
                paired, kept[side], end_of, distinct, grouped,
            )  # fmt: skip
    return n_rules


def compress(text):
    """Return the grammar of a byte string.

    Examples
    --------
    >>> grammar = compress(b"abcabcabc")
    >>> grammar.rules  # 256 is ab, 257 is abc
    array([[ 97,  98],
           [256,  99]])
    >>> grammar.sequence
    array([257, 257, 257])
    """
    tokens = TokenList(np.frombuffer(text, np.uint8))
    rules = np.empty((len(tokens) // 2, 2), np.int64)  # a rule saves at least two tokens
    n_rules = find_rules(tokens, PairIndex.build(tokens), MaxHeap(), rules)
    return Grammar(rules[:n_rules].copy(), tokens.to_arrays()[0])


# ----------------------------------------------------------------------------------------- expanding
@njit(cache=True)
def measure(rules, length_of):
    """Set the number of bytes of each token."""
    for i in range(rules.shape[0]):
        length_of[FIRST_NEW + i] = length_of[rules[i, 0]] + length_of[rules[i, 1]]


@njit(cache=True)
def write_bytes(rules, sequence, out):
    """Fill `out` with the bytes of the sequence."""
    waiting = np.empty(rules.shape[0] + 1, np.int64)  # right halves, at most one of each rule
    n = 0
    for token in sequence:
        n_waiting = 0
        while True:
            if token >= FIRST_NEW:
                waiting[n_waiting] = rules[token - FIRST_NEW, 1]
                n_waiting += 1
                token = rules[token - FIRST_NEW, 0]
                continue
            out[n] = token
            n += 1
            if n_waiting == 0:
                break
            n_waiting -= 1
            token = waiting[n_waiting]


def expand(grammar):
    """Return the byte string of a grammar, in O(its length).

    Examples
    --------
    >>> expand(compress(b"abcabcabc"))
    b'abcabcabc'
    """
    length_of = np.ones(FIRST_NEW + len(grammar.rules), np.int64)
    measure(grammar.rules, length_of)
    out = np.empty(length_of[grammar.sequence].sum(), np.uint8)
    write_bytes(grammar.rules, grammar.sequence, out)
    return out.tobytes()
