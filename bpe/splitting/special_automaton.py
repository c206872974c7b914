"""Many special tokens: an automaton that finds the longest token at every place, in linear time.

It reads a text from right to left. Its states are the endings of all tokens. The state at a place is the
longest of these that the text has there. A token that begins at the place is the state, or the state begins
with it. The longest one is known in advance::

    tokens    1 b  2 ab  3 cab       states    0 (nothing)  b  ab  cab

    text        c  a  b  c           read from the right
    state     cab ab  b  0
    longest     3  2  1  0           the longest token that begins at the place; 0 where none does
    found     cab          .         from left to right: one after the other

This is the automaton of Aho and Corasick, for reversed tokens. From left to right it would tell where tokens
end. But the longest token at a place may be known only long after it has ended; then the text after it would
be read again, and for some tokens the time would be quadratic.

States are numbered by length, then in the order of their reversed bytes. So the states after a state, its
children, stand side by side, and a binary search finds one. A state takes 13 bytes. There are no more
states than bytes in all tokens, and one::

    state           0     1    2    3
    bytes           .     b    ab   cab
    byte_of         .     b    a    c     the first of these: the byte that leads to the state
    first_child     1     2    3    4  4  its children begin here, and end where those of the next state begin
    shorter         0     0    0    0     the longest other state that it begins with
    longest         0     1    2    3     the longest token that it begins with

Tokens are numbered from 1 on, in the order of their reversed bytes.

Source: Aho and Corasick, Efficient String Matching: An Aid to Bibliographic Search, 1975.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import numpy as np

from bpe.support.text import as_array
from structures.kernels import inner, local_words, quiet

_BLOCK = 1 << 16  # bytes of a text that are searched at a time, if no token is longer
_MOST_BYTES = 2**31 - 2  # states are counted in int32


class Arrays(NamedTuple):
    """The arrays of an automaton, as the module draws them."""

    byte_of: Any
    first_child: Any
    shorter: Any
    longest: Any


# ---------------------------------------------------------------------------------------------- kernels
@inner
def n_shared(data, offsets, i):
    """Return how many bytes string `i` has in common with the one before it, from the left."""
    if i == 0:
        return 0
    start, before = offsets[i], offsets[i - 1]
    n, most = 0, min(start - before, offsets[i + 1] - start)
    while n < most and data[before + n] == data[start + n]:
        n += 1
    return n


@quiet
def count_states(data, offsets, n_of_length):
    """Count the different beginnings of sorted strings, by their lengths."""
    for i in range(offsets.size - 1):
        for length in range(n_shared(data, offsets, i) + 1, offsets[i + 1] - offsets[i] + 1):
            n_of_length[length] += 1


@quiet
def put_states(arrays, data, offsets, next_of_length, path):
    """Make the states of the beginnings of sorted strings; `path` is scratch, by length."""
    for i in range(offsets.size - 1):
        start, size = offsets[i], offsets[i + 1] - offsets[i]
        for length in range(n_shared(data, offsets, i) + 1, size + 1):
            state = next_of_length[length]
            next_of_length[length] = state + 1
            arrays.byte_of[state] = data[start + length - 1]
            arrays.first_child[path[length - 1] + 1] += 1
            path[length] = state
        arrays.longest[path[size]] = i + 1


@inner
def child_of(arrays, state, byte):
    """Return the state that a byte leads to without a step back; 0 if there is none."""
    low, end = np.int64(arrays.first_child[state]), np.int64(arrays.first_child[state + 1])
    high = end
    while low < high:
        middle = (low + high) >> 1
        if np.int64(arrays.byte_of[middle]) < byte:
            low = middle + 1
        else:
            high = middle
    return low if low < end and np.int64(arrays.byte_of[low]) == byte else 0


@inner
def next_state(arrays, state, byte):
    """Return the state after one more byte."""
    child = child_of(arrays, state, byte)
    while child == 0 and state != 0:
        state = np.int64(arrays.shorter[state])
        child = child_of(arrays, state, byte)
    return child


@quiet
def link_states(arrays):
    """Fill `shorter` and `longest`; the states before a state are shorter, or as long."""
    for state in range(arrays.byte_of.size):
        for child in range(np.int64(arrays.first_child[state]), np.int64(arrays.first_child[state + 1])):
            shorter = 0
            if state != 0:
                shorter = next_state(arrays, np.int64(arrays.shorter[state]), np.int64(arrays.byte_of[child]))
            arrays.shorter[child] = shorter
            if arrays.longest[child] == 0:
                arrays.longest[child] = arrays.longest[shorter]


@quiet
def find_longest(arrays, data, start, stop, tokens):
    """Write the number of the longest token at each place from `start` on where one begins."""
    child_of_root = local_words(256)
    for byte in range(256):
        child_of_root[byte] = child_of(arrays, 0, byte)
    state, place = 0, stop - 1
    while place >= start:
        if state == 0:  # most bytes of a text end no token: they are passed over
            while place >= start and child_of_root[np.int64(data[place])] == 0:
                place -= 1
            if place < start:
                break
        byte, child = np.int64(data[place]), 0
        while state != 0:
            child = child_of(arrays, state, byte)
            if child != 0:
                break
            state = np.int64(arrays.shorter[state])
        state = child if child != 0 else child_of_root[byte]
        if place - start < tokens.size:
            tokens[place - start] = arrays.longest[state]
        place -= 1


@quiet
def choose(tokens, size_of, place, starts):
    """Choose tokens from left to right, so that none begins before the end of the one before.

    Return how many there are, and where the next may begin. `starts` has room for one at every place.
    """
    n = 0
    while place < tokens.size:
        if tokens[place] > 0:
            starts[n] = place
            n += 1
            place += size_of[np.int64(tokens[place])]
        else:
            place += 1
    return n, place


# --------------------------------------------------------------------------------------------- automaton
class TokenAutomaton:
    """Finds many tokens in bytes."""

    def __init__(self, tokens: Collection[bytes]) -> None:
        reversed_tokens = [token[::-1] for token in tokens]
        order = sorted(range(len(reversed_tokens)), key=reversed_tokens.__getitem__)
        backwards = [reversed_tokens[i] for i in order]
        data = np.frombuffer(bytearray().join(backwards), np.uint8)
        if len(data) > _MOST_BYTES:
            raise ValueError(f"special tokens of {len(data)} bytes together are too many: 2 GiB is the limit")
        offsets = np.zeros(len(backwards) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, backwards), np.int64, len(backwards)), out=offsets[1:])
        self._index_of = np.array(order, np.int64)  # by number of a token, less 1: its index among the given
        self._size_of = np.append(0, np.diff(offsets))  # bytes, by number of a token
        self._reach = int(self._size_of.max())
        n_of_length = np.zeros(self._reach + 1, np.int64)
        count_states(data, offsets, n_of_length)
        n_states = 1 + int(n_of_length.sum())
        self.arrays = Arrays(
            np.zeros(n_states, np.uint8), *(np.zeros(n_states + i, np.int32) for i in (1, 0, 0))
        )
        first_of_length = 1 + np.cumsum(n_of_length) - n_of_length
        put_states(self.arrays, data, offsets, first_of_length, np.zeros(self._reach + 1, np.int64))
        first_child = self.arrays.first_child
        np.cumsum(first_child, out=first_child)
        first_child += 1
        link_states(self.arrays)

    def spans(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Find tokens from left to right, the longest at each place; none overlaps the one before."""
        for starts, ends, _ in self._blocks(data):
            yield from zip(starts.tolist(), ends.tolist(), strict=True)

    def find_arrays(self, data: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Find tokens as :meth:`spans`; return where they begin and end, and which of the tokens they are."""
        nothing = np.empty(0, np.int64)
        starts, ends, numbers = zip((nothing,) * 3, *self._blocks(data), strict=True)
        return np.concatenate(starts), np.concatenate(ends), self._index_of[np.concatenate(numbers) - 1]

    def overlapping(self, data: bytes) -> tuple[np.ndarray, np.ndarray]:
        """Find the longest token at every place; return where they begin, ascending, and where they end."""
        tokens = self._tokens(as_array(data), 0, len(data))
        starts = np.flatnonzero(tokens)
        return starts, starts + self._size_of[tokens[starts]]

    def _blocks(self, data: bytes) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield, for each block of a text, where its tokens begin and end, and their numbers."""
        held, place, size = as_array(data), 0, max(_BLOCK, self._reach)
        all_starts = np.empty(min(size, len(data)), np.int64)
        for start in range(0, len(data), size):
            tokens = self._tokens(held, start, min(start + size, len(data)))
            n, place = choose(tokens, self._size_of, place, all_starts)
            numbers = tokens[all_starts[:n]]
            starts = all_starts[:n] + start
            yield starts, starts + self._size_of[numbers], numbers
            place -= len(tokens)

    def _tokens(self, data: np.ndarray, start: int, stop: int) -> np.ndarray:
        """Return the number of the longest token at each place from `start` to `stop`."""
        tokens = np.zeros(stop - start, np.int32)
        find_longest(self.arrays, data, start, min(stop + self._reach - 1, len(data)), tokens)
        return tokens
