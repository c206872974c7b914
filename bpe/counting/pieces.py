"""Counting the pieces of a corpus.

::

    documents  --->  batches  --->  offsets of the pieces  --->  ByteCounter
                     (batching)     (scanning)                   one, or one a thread

Of two threads, one cuts and the other counts what was cut. For more, a batch is divided into parts, anywhere.
Each part is cut as if a piece began at its edge. That is wrong at first, and right from the first place where
a piece of the part before ends too::

    part before    . . .|_the|_quick|_br                 its last piece crosses the edge
    this part                          own|_fox|_jum     cut as if a piece began at the edge
    true pieces                    |_brown|_fox|_jum     the same from the end of "brown" on

Each of these threads counts its own parts, and records in which part it first met each piece. So the counts
have the order of first appearance, whatever the number of threads.

Patterns that are not compiled are split by the ``regex`` package, a document at a time.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from concurrent.futures import Executor, Future
from contextlib import ExitStack
from functools import partial
from itertools import pairwise

import numpy as np

from bpe.corpus import Corpus
from bpe.counting.batching import Batch, Batcher
from bpe.splitting.compiled.scanner import Scanner
from bpe.splitting.pattern import Pattern
from bpe.splitting.special_search import search_for
from bpe.support.progress import Progress, progress_bar
from bpe.support.threads import in_background, n_threads, thread_pool
from structures import ByteCounter, kernel

BATCH_BYTES = 1 << 20
"""How much text a thread gets at a time."""

_LONG_BYTES = 1 << 24  # more takes too long for Ctrl-C to wait
_PARTS = 4  # of a batch, per thread
_FIRST_BRIDGE = 256  # bytes after the edge of a part, to look for the place that both parts agree on


@kernel
def _add_pieces(counter, data, offsets):
    """Count ``data[offsets[i]:offsets[i + 1]]`` for every i; return a status."""
    return counter.add_many(data, offsets, np.empty(0, np.int64))[0]


def _count_pieces(counter: ByteCounter, data: np.ndarray, offsets: np.ndarray) -> None:
    add = partial(_add_pieces, counter, data, offsets)
    if (in_background(add) if len(data) > _LONG_BYTES else add()) < 0:
        raise MemoryError(f"no memory for more than {len(counter)} distinct pieces")


# -------------------------------------------------------------------------------------- one thread, or two
def _cut_range(
    scanner: Scanner,
    data: np.ndarray,
    batch: Batch,
    start: int,
    stop: int,
    is_open: bool,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Return offsets of the pieces in ``data[start:stop]``; the last segment goes beyond if `is_open`."""
    first, after = np.searchsorted(batch.ends, [start, stop], side="right").tolist()
    ends = batch.ends[first:after]
    if not len(ends) or ends[-1] < stop:
        ends = np.append(ends, np.int32(stop))
    else:
        is_open = is_open and stop == len(data)
    text_start = int(batch.ends[first - 1]) if first else 0
    cut = partial(
        scanner.cut, data, ends, start=start, text_start=min(text_start, start), is_open=is_open, out=out
    )
    return in_background(cut) if stop - start > _LONG_BYTES else cut()


def _count_batches(scanner: Scanner, batcher: Batcher, threads: int) -> ByteCounter:
    """Count with one thread, or with one that cuts and one that counts."""
    counter = ByteCounter()
    buffers = deque([np.empty(0, np.int32)] * threads)  # for offsets; reused, as new memory must be cleared
    with thread_pool(1 if threads > 1 else 0) as executor:
        counted: Future[None] | None = None
        batch = batcher.next()
        while batch:
            data = np.frombuffer(batch.data, np.uint8)
            buffers.rotate()
            if len(buffers[0]) <= len(data):
                buffers[0] = np.empty(len(data) + len(data) // 8 + 1, np.int32)
            offsets = _cut_range(scanner, data, batch, batch.start, len(data), batch.is_open, buffers[0])
            if counted:
                counted.result()
            counted = executor.submit(_count_pieces, counter, data, scanner.refine(data, offsets))
            batch = batcher.next(batch, int(offsets[-1]))
        if counted:
            counted.result()
    return counter


# ------------------------------------------------------------------------------------------ many threads
def _joined(
    scanner: Scanner,
    data: np.ndarray,
    batch: Batch,
    place: int,
    guessed: np.ndarray,
    stop: int,
    is_open: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Return offsets of the true pieces: from `place` to where they meet `guessed`, and from there on.

    `guessed` are the offsets of a part that was cut as if a piece began at its edge.
    """
    reach = _FIRST_BRIDGE
    bridge = guessed[:1]
    while place != guessed[0]:
        edge = min(int(guessed[0]) + reach, stop)
        bridge = _cut_range(scanner, data, batch, place, edge, is_open or edge < stop)
        near = guessed[: np.searchsorted(guessed, edge, side="right")]
        agreed = np.intersect1d(bridge, near, assume_unique=True)
        if len(agreed):
            head, tail = (int(np.searchsorted(offsets, agreed[0])) for offsets in (bridge, guessed))
            return bridge[: head + 1], guessed[tail:]
        if edge == stop:
            return bridge, bridge[-1:]
        reach *= 4
    return bridge, guessed


class _Worker:
    """A thread with a counter of its own."""

    def __init__(self, pool: Executor) -> None:
        self.pool = pool  # of one thread, so that its tasks run in order
        self.counter = ByteCounter()
        self.n_distinct = [0]  # after each part; before all of them, 0

    def count(self, scanner: Scanner, data: np.ndarray, *parts: np.ndarray) -> None:
        for offsets in parts:
            _count_pieces(self.counter, data, scanner.refine(data, offsets))
        self.n_distinct.append(len(self.counter))


def _count_batches_in_threads(scanner: Scanner, batcher: Batcher, threads: int) -> ByteCounter:
    with ExitStack() as stack:
        workers = [_Worker(stack.enter_context(thread_pool(1))) for _ in range(threads)]
        n_parts = _count_in_workers(scanner, batcher, workers)
    return _merged(workers, n_parts)


def _count_in_workers(scanner: Scanner, batcher: Batcher, workers: list[_Worker]) -> int:
    """Let each worker count its share of the parts, and return how many parts there were."""
    threads = len(workers)
    buffers = [np.empty((0, 0), np.int32)] * 2  # for the offsets of each part, of this batch and the next
    counted: list[Future[None]] = []
    n_parts = 0
    batch = batcher.next()
    while batch:
        data = np.frombuffer(batch.data, np.uint8)
        edges = np.linspace(batch.start, len(data), threads * _PARTS + 1).astype(np.int64).tolist()
        ranges = [(start, stop, batch.is_open or stop < len(data)) for start, stop in pairwise(edges)]
        worker_of = [workers[(n_parts + i) % threads] for i in range(len(ranges))]  # by part
        buffers.reverse()
        longest = max(stop - start for start, stop, _ in ranges) + 1
        if longest > buffers[0].shape[1]:  # they are reused, as new memory must be cleared by the system
            buffers[0] = np.empty((len(ranges), longest), np.int32)
        guesses = [
            worker.pool.submit(_cut_range, scanner, data, batch, *limits, buffer)
            for worker, limits, buffer in zip(worker_of, ranges, buffers[0], strict=True)
        ]
        place, counting = batch.start, []
        for worker, guess, (_, stop, is_open) in zip(worker_of, guesses, ranges, strict=True):
            bridge, rest = _joined(scanner, data, batch, place, guess.result(), stop, is_open)
            place = int(rest[-1])
            counting.append(worker.pool.submit(worker.count, scanner, data, bridge, rest))
        # The batch before is counted meanwhile; its buffers are free only after that.
        for task in counted:
            task.result()
        counted = counting
        n_parts += len(ranges)
        batch = batcher.next(batch, place)
    for task in counted:
        task.result()
    return n_parts


def _merged(workers: list[_Worker], n_parts: int) -> ByteCounter:
    """Return the counts of all workers, in the order of first appearance."""
    merged = ByteCounter()
    merged.reserve(max(len(worker.counter) for worker in workers))
    arrays = [worker.counter.to_arrays() for worker in workers]
    for part in range(n_parts):
        round_, worker = divmod(part, len(workers))
        data, offsets, counts = arrays[worker]
        first, after = workers[worker].n_distinct[round_ : round_ + 2]
        low, high = int(offsets[first]), int(offsets[after])
        merged.add_many(data[low:high], offsets[first : after + 1] - low, counts[first:after])
    return merged


# ------------------------------------------------------------------------------- patterns not compiled
def _count_by_regex(
    documents: Iterable[Iterable[bytes]], pattern: Pattern, specials: frozenset[str]
) -> ByteCounter:
    counter, search = ByteCounter(), search_for(specials)
    for document in documents:
        counts: Counter[bytes] = Counter()
        for part in search.split(b"".join(document))[::2]:
            counts.update(pattern.split_bytes(part))
        counter.add_many(counts)
    return counter


# ------------------------------------------------------------------------------------------------ corpora
def count_documents(
    documents: Iterable[Iterable[bytes]], pattern: Pattern, specials: frozenset[str], threads: int = 1
) -> ByteCounter:
    """Count the pieces of documents."""
    scanner = pattern.scanner
    if scanner is None:
        return _count_by_regex(documents, pattern, specials)
    if threads <= 2:
        return _count_batches(scanner, Batcher(documents, specials, BATCH_BYTES), threads)
    batcher = Batcher(documents, specials, threads * _PARTS * BATCH_BYTES)
    return _count_batches_in_threads(scanner, batcher, threads)


def count_corpus(
    corpus: Corpus,
    pattern: Pattern,
    special_tokens: Iterable[str],
    *,
    threads: int | None = None,
    progress: Progress = False,
) -> ByteCounter:
    """Count the pieces of a corpus."""
    specials = frozenset(special_tokens)
    with progress_bar(progress, corpus.n_bytes, "B", "counting") as advance:
        return count_documents(corpus.documents(advance), pattern, specials, n_threads(threads))


def must_hold_text(counter: ByteCounter, corpus: Corpus) -> None:
    """Raise a ValueError if nothing was counted in a corpus."""
    if not len(counter):
        raise ValueError(f"the corpus is empty: there is no text, or only special tokens, in {corpus}")
