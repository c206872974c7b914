"""Runs of tokens, counted like words: the sequences that superwords are learned from.

A pair of tokens that is rare is never joined: whatever is merged across it counts no more. So runs are cut
there, without any change to what is learned; what is left is much shorter than the text. How often a pair
occurs *at most* is enough for that (:mod:`bpe.counting.pair_sketch`).

In the bounded mode, runs are also cut into *phrases*, from the left: the longest rows of pieces that are
frequent themselves. What is joined across their edges is lost: this mode is approximate.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bpe.counting.pair_sketch import PairSketch, most_of
from bpe.counting.piece_ids import GAP
from bpe.threads import in_background, map_in_threads
from structures import ByteCounter, IntMap, kernel, pack_pair

PART = 1 << 23
"""How many ids a thread cuts at a time, and then up to a gap."""

_ID_BYTES = 4


class RunCounts(NamedTuple):
    """Distinct runs, and how often each occurs.

    Attributes
    ----------
    tokens : (n,) int32
        The runs, one after the other.
    offsets : (runs + 1,) int64
    counts : (runs,) int64

    Examples
    --------
    >>> RunCounts(np.array([7, 12], np.int32), np.array([0, 2]), np.array([5])).counts.tolist()
    [5]
    """

    tokens: np.ndarray
    offsets: np.ndarray
    counts: np.ndarray


@kernel(quiet=True)
def end_of_part(ids, end):
    """Return the first place from `end` on that is after a gap, or the end of all."""
    while end < ids.size and ids[end - 1] != GAP:
        end += 1
    return end


@kernel(quiet=True)
def cut_at_rare_pairs(ids, sketch, least, offsets):
    """Move the runs of at least two ids without a rare pair to the start of `ids`; return how many there are.

    Parameters
    ----------
    ids : (n,) int32
        It ends with a gap.
    sketch : PairSketch
    least : int
        A pair that occurs less often is rare.
    offsets : (n // 2 + 1,) int64
        Out: where each run ends, after 0, in bytes.
    """
    n = n_tokens = begin = 0
    offsets[0] = 0
    for i in range(1, ids.size):
        if ids[i - 1] != GAP and ids[i] != GAP and most_of(sketch, ids[i - 1], ids[i]) >= least:
            continue
        if i - begin >= 2:
            for k in range(begin, i):
                ids[n_tokens] = ids[k]
                n_tokens += 1
            n += 1
            offsets[n] = n_tokens * _ID_BYTES
        begin = i
    return n


@kernel
def find_phrases(tokens, offsets, counts, least, longest, length_of):
    """Write for each place how many tokens the longest frequent row has that begins there, up to `longest`.

    A row of n tokens is numbered by its two rows of n - 1 tokens, so that a map of pairs counts rows of any
    length. Every part of a frequent row is frequent.
    """
    numbers = tokens.astype(np.int64)
    length_of[:] = 1
    for length in range(2, longest + 1):
        rows = IntMap()
        for run in range(counts.size):
            for i in range(offsets[run], offsets[run + 1] - length + 1):
                if numbers[i] >= 0 and numbers[i + 1] >= 0:
                    rows.add(pack_pair(numbers[i], numbers[i + 1]), counts[run])
        names = IntMap()
        for run in range(counts.size):
            end = offsets[run + 1]
            for i in range(offsets[run], end):
                is_row = i + length <= end and numbers[i] >= 0 and numbers[i + 1] >= 0
                name = np.int64(GAP)
                if is_row:
                    pair = pack_pair(numbers[i], numbers[i + 1])
                    if rows.get(pair, 0) >= least:
                        name = names.get(pair, GAP)
                        if name == GAP:
                            name = np.int64(len(names))
                            names.set(pair, name)
                        length_of[i] = length
                numbers[i] = name
        if len(names) == 0:
            break


@kernel
def cut_into_phrases(tokens, offsets, counts, length_of, phrases):
    """Count the phrases of runs, from the left; return a status. A phrase of one token is left out."""
    status = 0
    data = tokens.view(np.uint8)
    for run in range(counts.size):
        i = offsets[run]
        while i < offsets[run + 1]:
            if length_of[i] > 1:
                status = min(
                    status, phrases.add(data, i * _ID_BYTES, (i + length_of[i]) * _ID_BYTES, counts[run])
                )
            i += length_of[i]
    return status


def _parts(ids: np.ndarray) -> Iterator[np.ndarray]:
    """Yield a row of ids in parts, each up to a gap."""
    end = 0
    while end < len(ids):
        start, end = end, end_of_part(ids, min(end + PART, len(ids)))
        yield ids[start:end]


def _unpacked(counter: ByteCounter) -> RunCounts:
    data, offsets, counts = counter.to_arrays()
    return RunCounts(data.view(np.int32), offsets // _ID_BYTES, counts)


def runs_in(ids: np.ndarray, sketch: PairSketch, least: int, threads: int | None = 1) -> RunCounts:
    """Return the runs in a row of ids, cut at pairs that are rare, and at no pair that is not.

    Parameters
    ----------
    ids : (n,) int32
        As :func:`bpe.counting.piece_ids.piece_ids` returns them; overwritten.
    sketch : PairSketch
        Of these ids.
    least : int
        A pair that occurs less often is rare.
    threads : int, optional

    Returns
    -------
    RunCounts
        In the order of first appearance.

    Raises
    ------
    MemoryError

    Complexity
    ----------
    O(n).

    Examples
    --------
    >>> ids = np.array([-1, 7, 12, 9, -1, 7, 12, -1, 8, -1], np.int32)
    >>> runs = runs_in(ids, PairSketch.of(ids), least=2)
    >>> runs.tokens.tolist(), runs.counts.tolist()
    ([7, 12], [2])
    """

    def cut(part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        offsets = np.empty(len(part) // 2 + 1, np.int64)
        return part, offsets[: 1 + cut_at_rare_pairs(part, sketch, least, offsets)]

    def count() -> ByteCounter:
        counter = ByteCounter()
        for part, offsets in map_in_threads(cut, _parts(ids), threads):
            counter.update_many(part.view(np.uint8), offsets)
        return counter

    return _unpacked(in_background(count))


def phrases_in(runs: RunCounts, least: int, longest: int) -> RunCounts:
    """Return runs cut into phrases, from the left.

    Parameters
    ----------
    runs : RunCounts
    least : int
        A row of tokens that occurs so often is frequent.
    longest : int
        The most tokens of a phrase.

    Returns
    -------
    RunCounts

    Raises
    ------
    MemoryError

    Complexity
    ----------
    O(longest * n) for n tokens, usually much less.

    Examples
    --------
    >>> ids = np.array([-1, 7, 12, 9, -1, 7, 12, 8, 7, 12, -1], np.int32)
    >>> runs = runs_in(ids, PairSketch.of(ids), least=1)
    >>> phrases = phrases_in(runs, least=3, longest=30)
    >>> phrases.tokens.tolist(), phrases.counts.tolist()
    ([7, 12], [3])
    """
    counter, length_of = ByteCounter(), np.empty(len(runs.tokens), np.int64)

    def cut() -> int:
        find_phrases(*runs, least, longest, length_of)
        return cut_into_phrases(*runs, length_of, counter)

    if in_background(cut) < 0:
        raise MemoryError("no memory for the phrases")
    return _unpacked(counter)
