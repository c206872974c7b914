"""A corpus as one array of ids in the order of the text, with gaps.

::

    documents   of the sea, of     the way           known: of 7, " the" 12, " sea" 31, ...
    piece ids   7 12 31 -1 9 -1    12 40 -1          -1: a piece that is not known, or the end of a document
    wide        of the sea, of|    the way|          tokens: of 7, " the" 12, " se" 30, a 97, ...
    token ids   7 12 30 97 9 7 -1  12 40 -1          -1: the end of a piece

No run crosses a special token, as it is cut out. The ids are in one array, which grows in place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from bpe.counting.batching import Batcher
from bpe.splitting.compiled.scanner import Scanner
from bpe.splitting.pattern import Pattern
from bpe.splitting.special_search import search_for
from bpe.support.threads import in_background, map_in_threads
from structures import ByteCounter
from structures.kernels import quiet

IdsOf: TypeAlias = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Takes pieces, as data and offsets, and returns their ids, GAP for a piece without an id."""

GAP = -1
_BATCH_BYTES = 1 << 22


@quiet
def squeeze(ids, offsets, is_end, out):
    """Write ids, and a gap wherever ``is_end[offset]``, but never two gaps in succession.

    Return how many items were written. `out` has room for ``2 * ids.size + 1``.
    """
    n = 0
    if is_end[offsets[0]]:
        out[n] = GAP
        n += 1
    for i in range(ids.size):
        if ids[i] != GAP or n == 0 or out[n - 1] != GAP:
            out[n] = ids[i]
            n += 1
        if is_end[offsets[i + 1]] and out[n - 1] != GAP:
            out[n] = GAP
            n += 1
    return n


@quiet
def with_gaps(ids, ends, out):
    """Write ids, and a gap after those of each piece; return how many items were written."""
    n = i = 0
    for piece in range(ends.size):
        while i < ends[piece]:
            out[n] = ids[i]
            n += 1
            i += 1
        out[n] = GAP
        n += 1
    return n


class CutBatch(NamedTuple):
    """Consecutive pieces."""

    data: np.ndarray  # uint8
    offsets: np.ndarray  # (n_pieces + 1,): piece i is data[offsets[i] : offsets[i + 1]]
    ends: np.ndarray  # where documents and other segments end in data


def cut_batches(
    documents: Iterable[Iterable[bytes]], pattern: Pattern, specials: Collection[str]
) -> Iterator[CutBatch]:
    """Yield the pieces of documents, some megabytes at a time."""
    scanner = pattern.scanner
    batches = _cut_by_regex if scanner is None else partial(_cut_by_scanner, scanner)
    return (batch for batch in batches(documents, pattern, specials) if len(batch.offsets) > 1)


def _cut_by_scanner(
    scanner: Scanner, documents: Iterable[Iterable[bytes]], pattern: Pattern, specials: Collection[str]
) -> Iterator[CutBatch]:
    batcher = Batcher(documents, specials, _BATCH_BYTES)
    batch = batcher.next()
    while batch:
        data = np.frombuffer(batch.data, np.uint8)
        offsets = in_background(
            lambda data=data, batch=batch: scanner.cut(
                data, batch.ends, start=batch.start, text_start=0, is_open=batch.is_open
            )
        )
        done = int(offsets[-1])
        ends = batch.ends[: len(batch.ends) - batch.is_open]
        # A batch without context begins with a document; the end of the one before it may be missing there.
        ends = ends if batch.start else np.append(np.int32(0), ends)
        yield CutBatch(data, scanner.refine(data, offsets), ends)
        batch = batcher.next(batch, done)


def _cut_by_regex(
    documents: Iterable[Iterable[bytes]], pattern: Pattern, specials: Collection[str]
) -> Iterator[CutBatch]:
    search = search_for(frozenset(specials))
    for document in documents:
        for part in search.split(b"".join(document))[::2]:
            offsets = np.cumsum([0, *map(len, pattern.split_bytes(part))], dtype=np.int64)
            yield CutBatch(np.frombuffer(part, np.uint8), offsets, offsets[[0, -1]])


def concatenated(
    batches: Iterable[CutBatch], ids_of_batch: Callable[[CutBatch], np.ndarray], threads: int | None
) -> np.ndarray:
    """Return a gap, and then the ids of all batches one after the other."""
    all_ids, n = np.full(1 << 10, GAP, np.int32), 1
    for ids in map_in_threads(ids_of_batch, batches, threads):
        if n + len(ids) > len(all_ids):
            # The system moves the pages of a large array, without a copy.
            all_ids.resize(n + len(ids) + n // 2, refcheck=False)
        all_ids[n : n + len(ids)] = ids
        n += len(ids)
    all_ids.resize(n, refcheck=False)
    return all_ids


def _squeezed(batch: CutBatch, ids_of: IdsOf) -> np.ndarray:
    """Return the ids of the pieces of a batch, with gaps where documents end."""
    offsets = batch.offsets.astype(np.int64)
    ids = ids_of(batch.data, offsets)
    is_end = np.zeros(len(batch.data) + 1, bool)
    is_end[batch.ends] = True
    out = np.empty(2 * len(ids) + 1, np.int32)
    return out[: squeeze(ids, offsets, is_end, out)]


def batches_of_ids(
    documents: Iterable[Iterable[bytes]], pattern: Pattern, specials: Collection[str], ids_of: IdsOf
) -> Iterator[np.ndarray]:
    """Yield the ids of the pieces of documents, with gaps, one batch at a time."""
    return (_squeezed(batch, ids_of) for batch in cut_batches(documents, pattern, specials))


def piece_ids(
    documents: Iterable[Iterable[bytes]],
    pattern: Pattern,
    specials: Collection[str],
    known: ByteCounter,
    threads: int | None = None,
) -> np.ndarray:
    """Return the ids of the pieces of documents, with a gap at the start and at the end."""

    def ids_of_batch(batch: CutBatch) -> np.ndarray:
        return _squeezed(batch, lambda data, offsets: known.get_many(data, offsets, GAP))

    ids = concatenated(cut_batches(documents, pattern, specials), ids_of_batch, threads)
    return ids if ids[-1] == GAP else np.append(ids, np.int32(GAP))


def token_ids(
    documents: Iterable[Iterable[bytes]],
    pattern: Pattern,
    specials: Collection[str],
    encode: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]],
    threads: int | None = None,
) -> np.ndarray:
    """Return the ids of the tokens of documents, with a gap after each piece."""

    def ids_of_batch(batch: CutBatch) -> np.ndarray:
        ids, ends = encode(batch.data, batch.offsets)
        out = np.empty(len(ids) + len(ends), np.int32)
        return out[: with_gaps(ids, ends, out)]

    return concatenated(cut_batches(documents, pattern, specials), ids_of_batch, threads)
