"""Documents as batches of bytes that a scanner can cut: consecutive segments without special tokens.

::

    documents    "one<|end|>two"   "three, and so on"
    segments     one | two | three, and so ...           the last one may continue in the next batch
    data         o n e t w o t h r e e , . . .
    ends              3     6
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from bpe.splitting.special_search import search_for

_LOOKED_BEHIND = 4  # the most bytes of the character before a piece, which a pattern may look at
_MOST = 2**31 - 1


@dataclass
class Batch:
    """Consecutive segments of documents."""

    data: bytearray
    ends: np.ndarray  # (n_segments,) int32: where each segment ends in data
    is_open: bool  # whether the last segment continues in the next batch
    start: int  # the bytes before it are context: their pieces were found in the batch before


class Batcher:
    """Makes batches of documents."""

    def __init__(
        self, documents: Iterable[Iterable[bytes]], specials: Collection[str] = (), batch_bytes: int = 1 << 20
    ) -> None:
        self._batch_bytes = batch_bytes
        self._parts = _parts(documents, specials)

    def next(self, last: Batch | None = None, done: int = 0) -> Batch | None:
        """Return the next batch, or None at the end.

        `done` is the end of the last piece that was found in the batch `last`; the rest of an open segment is
        repeated from there.
        """
        data, start, is_open = bytearray(), 0, False
        if last is not None and last.is_open:
            last_start = int(last.ends[-2]) if len(last.ends) > 1 else 0
            context = max(last_start, done - _LOOKED_BEHIND)
            data += memoryview(last.data)[context:]
            start, is_open = done - context, True
        wanted = len(data) + max(self._batch_bytes, len(data))
        ends: list[int] = []
        for part, ends_here in self._parts:
            data += part
            is_open = not ends_here
            # A document without text between its special tokens, or at its end, makes no segment.
            if ends_here and len(data) > (ends[-1] if ends else start):
                ends.append(len(data))
            elif ends_here and not ends:  # the open segment has ended where its pieces were known
                data.clear()
                start = 0
            if len(data) >= wanted:
                break
        if is_open and len(data) > (ends[-1] if ends else start):
            ends.append(len(data))
        else:
            is_open = False
        if not ends:
            return None
        if len(data) > _MOST:
            raise ValueError(f"a piece of more than {(len(data) - start) >> 20} MiB cannot be counted")
        return Batch(data, np.array(ends, np.int32), is_open, start)


def _parts(
    documents: Iterable[Iterable[bytes]], specials: Collection[str]
) -> Iterator[tuple[bytes | memoryview, bool]]:
    """Cut documents at special tokens; yield parts of segments, and whether a segment ends after each."""
    if not specials:
        for document in documents:
            for block in document:
                yield block, False
            yield b"", True
        return
    search = search_for(frozenset(specials))
    for document in documents:
        pending = b""
        for block in document:
            text = pending + block
            end, horizon = 0, search.horizon(len(text))
            for start, stop in search.find_all(text):
                if start >= horizon:
                    break
                yield text[end:start], True
                end = stop
            horizon = max(horizon, end)
            yield text[end:horizon], False
            pending = text[horizon:]
        for part in search.split(pending)[::2]:
            yield part, True
