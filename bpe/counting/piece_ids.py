"""The pieces of a corpus in their order, as numbers: those that are known, and gaps for all others.

::

    documents   of the sea, of     the way           known: of 7, " the" 12, " sea" 31, ...
    ids         7 12 31 -1 9 -1    12 40 -1          -1: a piece that is not known, or the end of a document

Nothing is known across a special token, as it is cut out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import accumulate
from typing import TypeAlias

import numpy as np

from bpe.counting.batching import Batcher
from bpe.pattern import Pattern
from bpe.scanning.scanner import Scanner
from bpe.special_search import search_for
from bpe.threads import in_background
from structures import ByteCounter, kernel

IdsOf: TypeAlias = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Takes pieces, as data and offsets, and returns their ids; the gap for a piece without one."""

GAP = -1
_BATCH_BYTES = 1 << 22


@kernel(quiet=True)
def squeeze(ids, ends, is_end, out):
    """Write ids, and a gap after each piece at whose place ``is_end`` is true; of gaps in a row only one.

    Return how many there are. `out` has room for twice as many.
    """
    n = 0
    for i in range(ids.size):
        if ids[i] != GAP or n == 0 or out[n - 1] != GAP:
            out[n] = ids[i]
            n += 1
        if is_end[ends[i]] and out[n - 1] != GAP:
            out[n] = GAP
            n += 1
    return n


def piece_ids(
    documents: Iterable[Iterable[bytes]], pattern: Pattern, specials: Collection[str], known: ByteCounter
) -> np.ndarray:
    """Return the ids of the pieces of documents.

    Parameters
    ----------
    documents : iterable of iterable of bytes
        The blocks of each.
    pattern : Pattern
    specials : collection of str
    known : ByteCounter
        Pieces, and the id of each in the place of its count.

    Returns
    -------
    (n,) int32
        It begins and ends with a gap.

    Raises
    ------
    ValueError
        A piece has more bytes than the kernels can count.

    Complexity
    ----------
    One pass; 4 bytes for each piece.

    Examples
    --------
    >>> known = ByteCounter({b"of": 7, b" the": 12})
    >>> piece_ids([[b"of the sea of the"], [b"of"]], Pattern.of("gpt2"), (), known).tolist()
    [-1, 7, 12, -1, 12, -1, 7, -1]
    """

    def ids_of(data: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        return known.get_many(data, offsets, GAP)

    return np.concatenate([np.array([GAP], np.int32), *rows_of_ids(documents, pattern, specials, ids_of)])


def rows_of_ids(
    documents: Iterable[Iterable[bytes]], pattern: Pattern, specials: Collection[str], ids_of: IdsOf
) -> Iterator[np.ndarray]:
    """Yield the ids of the pieces of documents, and gaps, some at a time.

    Parameters
    ----------
    documents, pattern, specials
        As :func:`piece_ids` takes them.
    ids_of : callable
        Called with the pieces in their order.

    Yields
    ------
    (n,) int32

    Raises
    ------
    ValueError
        A piece has more bytes than the kernels can count.

    Complexity
    ----------
    One pass.

    Examples
    --------
    >>> def lengths(data, offsets):
    ...     return np.diff(offsets)
    >>> [row.tolist() for row in rows_of_ids([[b"of the sea"]], Pattern.of("gpt2"), (), lengths)]
    [[2, 4, 4, -1]]
    """
    scanner = pattern.scanner
    if scanner is None:
        return _rows_by_regex(documents, pattern, specials, ids_of)
    return _rows_by_scanner(documents, scanner, specials, ids_of)


def _rows_by_scanner(
    documents: Iterable[Iterable[bytes]], scanner: Scanner, specials: Collection[str], ids_of: IdsOf
) -> Iterator[np.ndarray]:
    batcher = Batcher(documents, specials, _BATCH_BYTES)
    batch = batcher.next()
    is_first = True
    while batch:
        data = np.frombuffer(batch.data, np.uint8)
        offsets = in_background(
            lambda data=data, batch=batch: scanner.cut(
                data, batch.ends, start=batch.start, text_start=0, is_open=batch.is_open
            )
        )
        done = int(offsets[-1])
        offsets = scanner.refine(data, offsets).astype(np.int64)
        ids = ids_of(data, offsets)
        is_end = np.zeros(len(data) + 1, bool)
        is_end[batch.ends[: len(batch.ends) - batch.is_open]] = True
        out = np.empty(2 * len(ids), np.int32)
        n = squeeze(ids, offsets[1:], is_end, out)
        # Where a batch begins without what is before it, a document does: the one before may not say so.
        if batch.start == 0 and not is_first:
            yield np.array([GAP], np.int32)
        yield out[:n].copy()
        is_first = False
        batch = batcher.next(batch, done)


def _rows_by_regex(
    documents: Iterable[Iterable[bytes]], pattern: Pattern, specials: Collection[str], ids_of: IdsOf
) -> Iterator[np.ndarray]:
    search = search_for(frozenset(specials))
    for document in documents:
        for part in search.split(b"".join(document))[::2]:
            pieces = pattern.split_bytes(part)
            offsets = np.array([0, *accumulate(map(len, pieces))], np.int64)
            ids = ids_of(np.frombuffer(b"".join(pieces), np.uint8), offsets)
            yield np.append(ids.astype(np.int32), np.int32(GAP))
