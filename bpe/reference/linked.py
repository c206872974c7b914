"""Pieces that are changed in place: the rungs between ``trainers`` and the containers of ``structures``.

- `LinkedPieces` are doubly linked lists of tokens; every merge goes through all of them;
- `LocatedPieces` also know the places of every pair;
- `QueuedPieces` also keep the pairs in a heap.

`learn` accepts them like the pieces of ``trainers``. Again, there are no special rules for neighbors: a
merge subtracts the pairs around it from the counts, one by one, and adds the new ones.

The tie rule "first" is not supported, because it reads the text; `read` returns a copy of it.

Invariants
----------
1. Following ``next_of`` from the first place of a piece gives its tokens in order; following ``previous_of``
   gives them in reverse.
2. ``counts`` of located pieces equal `pair_statistics` of `read()`, and contain no zeros.
3. ``places_of[pair]`` is the set of the places of the pair: those of its left token.
4. For every pair that is not in ``changed`` the queue has an entry with its count; entries with other counts
   are out of date.
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .pairs import Pair, Ties


class LinkedPieces:
    """Pieces as doubly linked lists of tokens in flat arrays: a merge changes one token and frees one place.

    The places of a pair are not known: all lists are read to count the pairs, and again to merge one.
    """

    def __init__(self, piece_counts: Iterable[tuple[Sequence[int], int]]) -> None:
        self.token_bytes: list[bytes] = [bytes([value]) for value in range(256)]
        self.sequences: list[list[int]] = []  # only the tie rule "first" would read it
        self.firsts: list[int] = []  # the first place by piece; -1 for an empty piece
        self.token_at: list[int] = []
        self.next_of: list[int] = []  # the next place by place; -1 after the last
        self.previous_of: list[int] = []
        self.weight_at: list[int] = []
        for tokens, count in piece_counts:
            first, end = len(self.token_at), len(self.token_at) + len(tokens)
            self.firsts.append(first if tokens else -1)
            self.token_at.extend(tokens)
            self.weight_at.extend([count] * len(tokens))
            self.next_of.extend([*range(first + 1, end), -1][: len(tokens)])
            self.previous_of.extend([-1, *range(first, end - 1)][: len(tokens)])

    def places(self) -> Iterator[tuple[int, int]]:
        """Yield the places of both tokens of every pair, in order. O(n) for n tokens."""
        for place in self.firsts:
            while place >= 0:
                following = self.next_of[place]
                if following >= 0:
                    yield place, following
                place = self.next_of[place]  # a merge may have changed it

    def read(self) -> list[list[int]]:
        """Return the tokens of each piece. O(n) for n tokens."""
        sequences = []
        for place in self.firsts:
            sequence = []
            while place >= 0:
                sequence.append(self.token_at[place])
                place = self.next_of[place]
            sequences.append(sequence)
        return sequences

    def pair_counts(self) -> Counter[Pair]:
        """Return the count of every pair. O(n) for n tokens."""
        counts: Counter[Pair] = Counter()
        for left, right in self.places():
            counts[self.token_at[left], self.token_at[right]] += self.weight_at[left]
        return counts

    def merge(self, pair: Pair, token: bytes) -> int:
        """Merge a pair into a new token, everywhere, and return the token's id. O(n) for n tokens."""
        new_id = len(self.token_bytes)
        self.token_bytes.append(token)
        for left, right in self.occurrences(pair):
            self.join(left, right, new_id)
        return new_id

    def occurrences(self, pair: Pair) -> Iterator[tuple[int, int]]:
        """Yield the places of the pair, which the caller merges one by one. O(n) for n tokens."""
        for left, right in self.places():
            if (self.token_at[left], self.token_at[right]) == pair:
                yield left, right

    def join(self, left: int, right: int, new_id: int) -> None:
        """Replace two adjacent tokens by one. O(1)."""
        following = self.next_of[right]
        self.token_at[left] = new_id
        self.next_of[left] = following
        if following >= 0:
            self.previous_of[following] = left


class LocatedPieces(LinkedPieces):
    """Linked pieces with the count and the places of every pair.

    The greatest count is still found by a search through all pairs.
    """

    def __init__(self, piece_counts: Iterable[tuple[Sequence[int], int]]) -> None:
        super().__init__(piece_counts)
        self.counts = super().pair_counts()
        self.places_of: defaultdict[Pair, set[int]] = defaultdict(set)
        for left, right in self.places():
            self.places_of[self.token_at[left], self.token_at[right]].add(left)

    def pair_counts(self) -> Counter[Pair]:
        """Return the current count of every pair, not as a copy. O(1)."""
        return self.counts

    def occurrences(self, pair: Pair) -> Iterator[tuple[int, int]]:
        """Yield the places of the pair, which the caller merges one by one. O(h log h) for h places."""
        for left in sorted(self.places_of.get(pair, ())):
            if left in self.places_of.get(pair, ()):  # in a run of one token, a merge may have removed it
                yield left, self.next_of[left]

    def join(self, left: int, right: int, new_id: int) -> None:
        """Replace two adjacent tokens by one, and correct the counts of the pairs around it. O(1)."""
        for place in (self.previous_of[left], left, right):
            self.count_pair_at(place, -1)
        super().join(left, right, new_id)
        for place in (self.previous_of[left], left):
            self.count_pair_at(place, 1)

    def count_pair_at(self, left: int, sign: int) -> Pair | None:
        """Add the pair at a place, if any, to the counts (1) or subtract it (-1), and return it. O(1)."""
        if left < 0 or self.next_of[left] < 0:
            return None
        pair = self.token_at[left], self.token_at[self.next_of[left]]
        self.counts[pair] += sign * self.weight_at[left]
        if sign > 0:
            self.places_of[pair].add(left)
        else:
            self.places_of[pair].remove(left)
        if not self.counts[pair]:
            del self.counts[pair], self.places_of[pair]
        return pair


class QueuedPieces(LocatedPieces):
    """Located pieces with a heap of their pairs; entries that are out of date are skipped.

    `pair_counts` returns the best pair only, so that `learn` has no choice.
    """

    def __init__(self, piece_counts: Iterable[tuple[Sequence[int], int]], ties: Ties) -> None:
        super().__init__(piece_counts)
        self.ties = ties
        self.queue: list[tuple[int, tuple[Any, ...], Pair]] = []
        self.changed = set(self.counts)

    def pair_counts(self) -> Counter[Pair]:
        """Return the count of the best pair only. O(c log q) for c changed pairs and q entries."""
        for pair in self.changed:
            if pair in self.counts:
                heapq.heappush(self.queue, (-self.counts[pair], self.order_among_ties(pair), pair))
        self.changed.clear()
        while self.queue:
            count, _, pair = self.queue[0]
            if self.counts.get(pair) == -count:
                return Counter({pair: -count})
            heapq.heappop(self.queue)
        return Counter()

    def order_among_ties(self, pair: Pair) -> tuple[Any, ...]:
        """Return a key: the smallest one wins among pairs with equal counts. O(bytes of both tokens)."""
        if self.ties == "smallest":
            return pair
        # Greater bytes come first, and a token before its own prefix: 256 marks the end of a token.
        return tuple((*(255 - byte for byte in self.token_bytes[token]), 256) for token in pair)

    def count_pair_at(self, left: int, sign: int) -> Pair | None:
        """Add or subtract the pair at a place, and mark its count as changed. O(1)."""
        pair = super().count_pair_at(left, sign)
        if pair is not None:
            self.changed.add(pair)
        return pair
