"""Runs of tokens, counted like words: the sequences that superwords are learned from.

Tokens are never joined across a rare pair, as such a merge would count no more than the pair. So runs are cut
at rare pairs, which does not change the result; the runs are much shorter than the text. For the ids of a
text, an upper bound of the counts is enough (:mod:`bpe.superwords.pair_sketch`): :func:`runs_in`. For runs
that have counts of their own, pairs are counted in a table: :func:`runs_of_rows`.

Whatever the vocabulary will be, runs of pieces end at a piece that is not joined to others. There a text can
be cut into parts that are counted separately.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from bpe.splitting.pattern import Pattern
from bpe.splitting.regex_engine import compiled
from bpe.splitting.special_search import SpecialSearch
from bpe.superwords.pair_sketch import PairSketch, bound_of
from bpe.superwords.piece_ids import GAP
from bpe.support.threads import in_background, map_in_threads
from bpe.training.state import Runs
from structures import ByteCounter, IntMap, kernel, pack_pair
from structures.kernels import quiet

PARTS = r"\p{L}"
"""What a piece must have to be joined to others: by default, a letter."""

ID_BYTES = 4
"""The bytes of an id in a counter of runs, whose words are int32 arrays."""

_CHUNK_IDS = 1 << 23
"""How many ids a thread cuts at a time; the chunk then goes on to the next gap."""


def joins(parts: str) -> Callable[[bytes], bool]:
    """Return a function that returns whether a piece may be joined to others."""
    try:
        search = compiled(parts).search
    except ValueError as error:
        raise ValueError(f"parts: {error}") from None
    return lambda piece: search(piece.decode("utf-8", "surrogateescape")) is not None


def cut_between_runs(
    data: bytes, pattern: Pattern, search: SpecialSearch, may_join: Callable[[bytes], bool]
) -> int:
    """Return a position to cut a document that no run, piece or special token crosses; 0 if none is found."""
    # So far from the ends that every special token across a position is seen.
    places = pattern.cuts(data)
    places = places[(places > search.reach) & (places < len(data) - search.reach)]
    places = places[~np.asarray(search.crossed(data), bool)[places]]
    # Between two such positions, pieces are those of these bytes alone, unless they hold a special token.
    for start, stop in reversed([*pairwise(places.tolist())]):
        part = data[start:stop]
        if next(iter(search.find_all(part)), None) is None:
            pieces = pattern.split_bytes(part)
            if not may_join(pieces[-1]):
                return int(stop)
            if not may_join(pieces[0]):
                return int(start)
    return 0


@kernel
def count_pairs_of(ids, weights, offsets, pairs):
    """Add the counts of all adjacent pairs of ids, except gaps, to a map; return a status."""
    status = 0
    for run in range(weights.size):
        for i in range(offsets[run], offsets[run + 1] - 1):
            if ids[i] != GAP and ids[i + 1] != GAP:
                status = min(status, pairs.add(pack_pair(ids[i], ids[i + 1]), weights[run]))
    return status


@kernel
def cut_at_rare_pairs(ids, weights, offsets, pairs, least, runs):
    """Cut runs at gaps and at pairs that count less than `least`; count the parts of at least two ids.

    The first arguments are those of :func:`count_pairs_of`; `runs` is a ByteCounter. Return a status.
    """
    status = 0
    data = ids.view(np.uint8)
    for run in range(weights.size):
        begin = offsets[run]
        for i in range(begin + 1, offsets[run + 1] + 1):
            is_joined = i < offsets[run + 1] and ids[i - 1] != GAP and ids[i] != GAP
            if is_joined and (least <= 1 or pairs.get(pack_pair(ids[i - 1], ids[i]), 0) >= least):
                continue
            if i - begin >= 2:
                status = min(status, runs.add(data, begin * ID_BYTES, i * ID_BYTES, weights[run]))
            begin = i
    return status


@quiet
def end_of_chunk(ids, end):
    """Return the first position from `end` on that follows a gap, or the size."""
    while end < ids.size and ids[end - 1] != GAP:
        end += 1
    return end


@quiet
def gather_runs(ids, sketch, least, offsets):
    """Move the runs of at least two ids without a rare pair to the start of `ids`; return their number.

    Write where they begin and end, in bytes, to `offsets`.
    """
    n = n_tokens = begin = 0
    offsets[0] = 0
    for i in range(1, ids.size):
        if ids[i - 1] != GAP and ids[i] != GAP and bound_of(sketch, ids[i - 1], ids[i]) >= least:
            continue
        if i - begin >= 2:
            for k in range(begin, i):
                ids[n_tokens] = ids[k]
                n_tokens += 1
            n += 1
            offsets[n] = n_tokens * ID_BYTES
        begin = i
    return n


def _chunks(ids: np.ndarray) -> Iterator[np.ndarray]:
    """Yield an array of ids in chunks, each up to a gap."""
    end = 0
    while end < len(ids):
        start, end = end, end_of_chunk(ids, min(end + _CHUNK_IDS, len(ids)))
        yield ids[start:end]


def unpacked_runs(counter: ByteCounter) -> Runs:
    """Return the runs that a counter holds as bytes, four for each id."""
    data, offsets, counts = counter.to_arrays()
    return Runs(data.view(np.int32), offsets // ID_BYTES, counts)


def runs_in(ids: np.ndarray, sketch: PairSketch, least: int, threads: int | None = 1) -> Runs:
    """Return the runs in an array of ids, which is overwritten, cut at pairs that count less than `least`."""

    def cut(chunk: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        offsets = np.empty(len(chunk) // 2 + 1, np.int64)
        return chunk, offsets[: 1 + gather_runs(chunk, sketch, least, offsets)]

    def count() -> ByteCounter:
        counter = ByteCounter()
        for chunk, offsets in map_in_threads(cut, _chunks(ids), threads):
            counter.add_many(chunk.view(np.uint8), offsets)
        return counter

    return unpacked_runs(in_background(count))


def runs_of_rows(rows: Runs, least: int) -> Runs:
    """Return runs that are cut at gaps and at pairs that count less than `least`."""

    def count() -> ByteCounter:
        pairs, counter = IntMap(), ByteCounter()
        ids, offsets, counts = rows
        if least > 1 and count_pairs_of(ids, counts, offsets, pairs) < 0:
            raise MemoryError("no memory for the pairs of pieces")
        if cut_at_rare_pairs(ids, counts, offsets, pairs, least, counter) < 0:
            raise MemoryError("no memory for the runs of pieces")
        return counter

    return unpacked_runs(in_background(count))


def add_runs(ids: np.ndarray, counter: ByteCounter) -> None:
    """Count the runs in an array of ids, cut at gaps only."""
    ids, offsets, counts = Runs.of_row(ids)
    if in_background(cut_at_rare_pairs, ids, counts, offsets, IntMap(), 1, counter) < 0:
        raise MemoryError("no memory for the runs of pieces")
