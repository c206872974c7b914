# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT
"""The same grammar as in :mod:`re_pair`, in plain Python, occurrence by occurrence.

Lists and dicts do the work of the containers. Every occurrence that is replaced changes its four counts at
once. The queue is a ``heapq`` whose entries may be out of date: an entry whose count has fallen is put back
with its true count.
"""

from heapq import heapify, heappop, heappush

FIRST_NEW = 256


def compress(text):
    """Return (rules, sequence), lists, of a byte string."""
    token_at = list(text)
    next_of = [*range(1, len(text)), -1]
    prev_of = [*range(-1, len(text) - 1)]
    count_of, postings_of = {}, {}

    def length_of_run(position, step_of):
        token, n = token_at[position], 0
        while position >= 0 and token_at[position] == token:
            n += 1
            position = step_of[position]
        return n

    def count_from(position):
        """Count the pair that starts at a position, a run only from its first token; return the pair."""
        token, before = token_at[position], prev_of[position]
        pair = token, token_at[next_of[position]]
        if pair[0] != pair[1]:
            count_of[pair] = count_of.get(pair, 0) + 1
        elif before < 0 or token_at[before] != token:
            count_of[pair] = count_of.get(pair, 0) + length_of_run(position, next_of) // 2
        postings_of.setdefault(pair, []).append(position)
        return pair

    for position in range(len(text) - 1):
        count_from(position)
    queue = [(-count, pair) for pair, count in count_of.items()]
    heapify(queue)
    rules = []
    while queue:
        count, pair = heappop(queue)
        true_count = count_of[pair]
        if true_count < 2:
            continue
        if true_count != -count:
            heappush(queue, (-true_count, pair))
            continue
        left, right = pair
        new_token = FIRST_NEW + len(rules)
        rules.append(pair)
        postings = postings_of.pop(pair)
        for position in postings:
            following = next_of[position]
            if token_at[position] != left or following < 0 or token_at[following] != right:
                continue
            before, after = prev_of[position], next_of[following]
            if before >= 0 and token_at[before] != new_token:
                if token_at[before] != left:
                    count_of[token_at[before], left] -= 1
                elif left != right and length_of_run(position, prev_of) % 2 == 0:
                    count_of[left, left] -= 1
            if after >= 0:
                if token_at[after] != right:
                    count_of[right, token_at[after]] -= 1
                elif left != right and length_of_run(following, next_of) % 2 == 0:
                    count_of[right, right] -= 1
                prev_of[after] = position
            next_of[position] = after
            token_at[position] = new_token
            token_at[following] = -1
        count_of[pair] = 0
        created = set()
        for position in postings:
            if token_at[position] == new_token:
                before = prev_of[position]
                if before >= 0 and token_at[before] != new_token:
                    created.add(count_from(before))
                if next_of[position] >= 0:
                    created.add(count_from(position))
        for pair in created:
            heappush(queue, (-count_of[pair], pair))
    return rules, [token for token in token_at if token >= 0]
