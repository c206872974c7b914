"""Many texts at once.

Texts are concatenated in *groups* of about a mebibyte, or of :data:`MOST_TEXTS`, which are still in the
processor's cache then. A group is encoded in one call of the encoder; as many groups at a time as there are
threads.

::

    texts       one  two three  four          five ...
    group       o n e t w o t h r e e f o u r          one call, on one thread
    ends              3     6         11     15

The rows of an Arrow column are concatenated already: a group is a part of its buffer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from bpe.encoding.engine import Engine, SpecialEncoder
from bpe.splitting.specials import Rules
from bpe.support.arrow import ArrowTexts, arrow_texts
from bpe.support.integers import as_list
from bpe.support.text import as_array, ends_of, utf8_of
from bpe.support.threads import gc_paused, map_in_threads, n_threads

MOST_BYTES = 1 << 20
LEAST_BYTES = 1 << 15  # a shorter group is not worth another thread
MOST_TEXTS = 1 << 10
_FIRST_IDS = 1 << 26  # the most ids that room is made for before any text is encoded
_Texts: TypeAlias = Sequence[str | bytes] | ArrowTexts
LONG = 1 << 18  # characters of a text that is a group by itself, so that it need not be copied


def encode_batch(
    engine: Engine, texts: Iterable[str | bytes], threads: int | None, rules: Rules
) -> list[list[int]]:
    """Encode texts to lists of ids."""
    batch: list[list[int]] = []
    _, groups = encode_groups(engine, _listed(texts), threads, rules)
    with gc_paused():
        for ids, offsets in groups:
            listed = as_list(ids)
            batch += [listed[start:end] for start, end in pairwise(offsets.tolist())]
    return batch


def encode_batch_to_numpy(
    engine: Engine, texts: Iterable[str | bytes], threads: int | None, rules: Rules
) -> tuple[np.ndarray, np.ndarray]:
    """Encode texts to one array of ids, and one of where those of each text begin."""
    all_ids = _GrowingIds()
    return joined(*encode_groups(engine, _listed(texts), threads, rules, all_ids=all_ids), all_ids)


def encode_groups(
    engine: Engine,
    texts: _Texts,
    threads: int | None,
    rules: Rules,
    all_ids: _GrowingIds | None = None,
) -> tuple[int, Iterator[tuple[np.ndarray, np.ndarray]]]:
    """Return how long the texts are, and an iterator over the ids and offsets of each group.

    One thread writes the ids to the room of `all_ids`, for :func:`joined`.
    """
    threads = n_threads(threads)
    room = all_ids.room if all_ids and threads == 1 else None

    def encode_group(group: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        first, last = group
        row, ends = (
            texts.joined(first, last) if isinstance(texts, ArrowTexts) else _row_of(texts[first:last], first)
        )
        encoder = engine.encoder_for(row, rules)
        if isinstance(encoder, SpecialEncoder):
            for index in range(first, last):
                rules.refuse(texts[index], f"text {index}")
        return encoder.encode_segments(row, ends, room)

    length = _length_of(texts)
    wanted = min(max(length // (4 * threads), LEAST_BYTES), MOST_BYTES) if threads > 1 else MOST_BYTES
    groups = _groups(texts, wanted)
    return length, map_in_threads(encode_group, groups, 1 if length <= wanted else threads)


class _GrowingIds:
    """The ids of all groups, in one array that grows."""

    def __init__(self) -> None:
        self._ids, self._n = np.empty(0, np.uint32), 0

    def room(self, n: int) -> np.ndarray:
        """Return what comes after the ids, `n` or more."""
        if len(self._ids) < self._n + n:
            # Too much room costs nothing, as memory that is not written to is not taken.
            before, self._ids = self._ids, np.empty(2 * self._n + n, np.uint32)
            self._ids[: self._n] = before[: self._n]
        return self._ids[self._n :]

    def add(self, ids: np.ndarray) -> None:
        """Add ids; they are copied unless they are where they belong."""
        room = self.room(len(ids))
        if not np.may_share_memory(ids, room):
            room[: len(ids)] = ids
        self._n += len(ids)

    def all(self) -> np.ndarray:
        """Return all ids; nothing can be added then."""
        self._ids.resize(self._n, refcheck=False)
        return self._ids


def joined(
    length: int, groups: Iterable[tuple[np.ndarray, np.ndarray]], all_ids: _GrowingIds | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids and offsets of all groups as one array each; `length` is that of the texts."""
    all_ids, all_offsets, n = all_ids or _GrowingIds(), [np.zeros(1, np.int64)], 0
    all_ids.room(min(length // 2 + min(length, MOST_BYTES), _FIRST_IDS))
    for some, offsets in groups:
        all_ids.add(some)
        all_offsets.append(offsets[1:] + n)
        n += len(some)
    return all_ids.all(), np.concatenate(all_offsets)


def _length_of(texts: _Texts) -> int:
    """Return how long the texts are together, as if all were ASCII; of many it is estimated."""
    step = len(texts) // MOST_TEXTS + 1
    return sum(_lengths_of(texts, slice(0, None, step))) * step


def _groups(texts: _Texts, wanted: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of texts that are encoded together: of `wanted` bytes, or of :data:`MOST_TEXTS`."""
    chunks = texts.first_row_of.tolist() if isinstance(texts, ArrowTexts) else [0, len(texts)]
    for start, stop in pairwise(chunks):
        for first in range(start, stop, MOST_TEXTS):
            last, n = min(first + MOST_TEXTS, stop), 0
            for index, length in enumerate(_lengths_of(texts, slice(first, last)), first):
                if length >= LONG and first < index:
                    yield first, index
                    first, n = index, 0
                n += length
                if n >= wanted or length >= LONG:
                    yield first, index + 1
                    first, n = index + 1, 0
            if first < last:
                yield first, last


def _lengths_of(texts: _Texts, rows: slice) -> list[int]:
    """Return the lengths of texts, as if all were ASCII."""
    if isinstance(texts, ArrowTexts):
        return texts.lengths[rows].tolist()
    some = texts[rows]
    try:
        return [*map(len, some)]
    except TypeError:
        _bytes_of(some, rows.start)
        raise


def _row_of(texts: Sequence[str | bytes], first: int) -> tuple[bytes | bytearray | np.ndarray, np.ndarray]:
    """Return the UTF-8 of texts, concatenated, and where each ends; a long text is not copied."""
    if len(texts) == 1 and isinstance(texts[0], str) and len(texts[0]) >= LONG:
        with suppress(UnicodeEncodeError):  # a lone surrogate
            row = as_array(texts[0])
            return row, ends_of([row])
    with suppress(TypeError):  # of what is not a str
        if all(map(str.isascii, texts)):  # type: ignore[arg-type]
            return as_array("".join(texts)), ends_of(texts)  # type: ignore[arg-type]
    some = _bytes_of(texts, first)
    return some[0] if len(some) == 1 else bytearray().join(some), ends_of(some)


def _bytes_of(texts: Sequence[str | bytes], first: int) -> list[bytes]:
    try:
        return [*map(str.encode, texts)]  # type: ignore[arg-type]
    except (TypeError, UnicodeEncodeError):
        return [utf8_of(text, f"text {index}") for index, text in enumerate(texts, first)]


def _listed(texts: Iterable[str | bytes]) -> _Texts:
    column = arrow_texts(texts)
    if column is not None:
        if column.null is not None:
            raise ValueError(f"text {column.null} is null: fill nulls first, as with column.fill_null('')")
        return column
    if isinstance(texts, (str, bytes)):
        raise TypeError("texts is a single text: put it in a list")
    return texts if isinstance(texts, (list, tuple)) else list(texts)
