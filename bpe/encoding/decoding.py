"""Decoding: ids to the bytes of their tokens, joined.

::

    ids       [464, 5417, 318]
    tokens    The   _sea  _is         a list by id: plain Python joins few ids, and the first of a process
    rows      16 bytes each           a kernel joins the rest (bpe.encoding.kernels.token_rows), which
                                      array("I", ids) puts into an array: 4 ns an id

Where something is wrong with the ids, they are looked at one by one, for the error.
"""

from __future__ import annotations

import sys
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, pairwise
from operator import index, itemgetter
from typing import Any

import numpy as np

from bpe.splitting.pattern import is_plain_allowed
from bpe.support.threads import made_lazily, n_threads
from bpe.vocabulary.vocabulary import Vocabulary

FEW = 48
"""So few ids are joined sooner by plain Python."""

MOST_PLAIN = 1 << 20
"""So many ids of longer lists a process decodes in plain Python, in the time in which a kernel is loaded."""

MOST_WITHOUT_NUMBA = 1 << 23
"""How many it decodes where numba has to be loaded, too, which nothing else has needed."""

BLOCK = 1 << 13
"""How many ids a kernel takes at once: so much fits the processor's cache, and no interrupt waits long."""

_ROOM = 16  # bytes an id; where that is not enough, more are taken
_MOST_ROOM = 1 << 20  # bytes that are kept
_SPARSE = 4  # times as many ids as tokens: a list by id would waste memory
_MOST = 2**32
_done = 0  # how many ids this process has decoded in plain Python


class TokenTable:
    """The bytes of each token by its id, as plain Python reads them, and as a kernel does."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        bytes_of, size = vocabulary.bytes_of, vocabulary.size
        self._is_sparse = size > _SPARSE * len(bytes_of)
        # A list finds its second half at negative numbers: no tokens.
        self._tokens: Any = bytes_of if self._is_sparse else [*map(bytes_of.get, range(size)), *[None] * size]
        self._idle: deque[_Worker] = deque(maxlen=n_threads(None))

    @made_lazily
    def _lengths(self) -> np.ndarray:
        return np.array([len(token or b"") for token in self._tokens[: self._vocabulary.size]], np.int32)

    @made_lazily
    def _rows(self) -> tuple[np.ndarray, np.ndarray]:
        from bpe.encoding.kernels.token_rows import rows_of  # loads the compiler

        return rows_of(self._tokens[: self._vocabulary.size])

    def lengths(self, ids: np.ndarray) -> np.ndarray:
        """Return how many bytes tokens have."""
        if self._is_sparse:
            return np.array([len(self._tokens[token_id]) for token_id in ids.tolist()], np.int64)
        return self._lengths.take(ids)

    def join(self, ids: Iterable[int] | np.ndarray) -> bytes:
        """Return the bytes of tokens, joined."""
        given = ids if type(ids) is list else list_or_array(ids)  # an iterator is read once
        try:
            if len(given) > FEW and self._is_compiled(len(given)):
                if len(given) <= BLOCK:
                    return self._join_block([given])[0]
                return b"".join([self._join_block([block])[0] for block in _blocks_of(given)])
            token_ids = given if isinstance(given, list) else given.tolist()
            if self._is_sparse:
                array("I", token_ids)  # refuses floats, which a dict finds, too
            if len(token_ids) > 1:
                return b"".join(itemgetter(*token_ids)(self._tokens))
            return b"".join([self._tokens[token_id] for token_id in token_ids])
        except (TypeError, OverflowError, LookupError):
            token_ids = checked_ids(self._vocabulary, given)
            return b"".join(map(self._vocabulary.bytes_of.__getitem__, token_ids))

    def join_each(self, batch: Iterable[Iterable[int] | np.ndarray]) -> list[bytes]:
        """Return the same for each list of a batch; compiled code joins many short ones at once."""
        lists = [list_or_array(ids) for ids in batch]
        if not self._is_compiled(0):
            return [*map(self.join, lists)]
        parts: list[bytes] = []
        for group in _groups_of(lists):
            try:
                parts += self._join_block(group) if len(group) > 1 else [self.join(group[0])]
            except (TypeError, OverflowError, LookupError):
                parts += map(self.join, group)  # which raises the error
        return parts

    def _is_compiled(self, n_ids: int) -> bool:
        """Return whether compiled code decodes so many ids; if not, they are counted."""
        global _done
        if self._is_sparse or self._idle or not is_plain_allowed():  # idle: it is loaded
            return not self._is_sparse
        if _done > (MOST_PLAIN if "numba" in sys.modules else MOST_WITHOUT_NUMBA):
            return True
        _done += n_ids
        return False

    def _join_block(self, lists: list[list[int] | np.ndarray]) -> list[bytes]:
        """Return the bytes of lists of :data:`BLOCK` ids at most; an error where an id has no token."""
        try:
            worker = self._idle.pop()
        except IndexError:
            worker = _Worker(self._rows)
        parts = worker.join(lists)
        self._idle.append(worker)
        return parts


class _Worker:
    """What a thread joins tokens with, and Python's views of it."""

    def __init__(self, rows: tuple[np.ndarray, np.ndarray]) -> None:
        from bpe.encoding.kernels import token_rows
        from structures.kernels import entry_for

        self._kernels, self._rows = token_rows, rows
        self._ids = np.empty(BLOCK, np.uint32)
        self._id_view = self._ids.data  # ids are put there more quickly
        self._make_room(_ROOM * BLOCK)
        self._run = entry_for(token_rows.join_tokens, self._joining, BLOCK)

    def _make_room(self, n_bytes: int) -> None:
        out = np.empty(n_bytes, np.uint8)
        self._out, self._joining = out.data, self._kernels.Joining(*self._rows, self._ids, out)

    def join(self, lists: list[list[int] | np.ndarray]) -> list[bytes]:
        """Return the bytes of each list; an error where an id has no token."""
        numbers = array("I")
        for ids in lists:
            if isinstance(ids, list):
                numbers.fromlist(ids)
            else:
                numbers.frombytes(_as_uint32(ids).tobytes())
        n = len(numbers)
        self._id_view[:n] = numbers
        n_bytes = self._run(self._joining, n)
        if n_bytes < 0:
            raise LookupError
        if n_bytes + self._kernels.SPARE_BYTES > len(self._out):
            self._make_room(n_bytes + self._kernels.SPARE_BYTES)
            self._run(self._joining, n)
        if len(lists) == 1:
            parts = [self._out[:n_bytes].tobytes()]
        else:
            ends = np.array([0, *accumulate(map(len, lists))])
            self._kernels.ends_in_bytes(self._joining, ends)
            parts = [self._out[start:end].tobytes() for start, end in pairwise(ends.tolist())]
        if len(self._out) > _MOST_ROOM:
            self._make_room(_ROOM * BLOCK)
        return parts


def _blocks_of(ids: list[int] | np.ndarray) -> Iterator[np.ndarray]:
    """Yield many ids in blocks; a part of a list would be slower to make than one of an array."""
    if isinstance(ids, list):
        ids = np.frombuffer(array("I", ids), np.uint32)
    for start in range(0, len(ids), BLOCK):
        yield ids[start : start + BLOCK]


def _groups_of(lists: list[list[int] | np.ndarray]) -> Iterator[list[list[int] | np.ndarray]]:
    """Yield lists in groups of :data:`BLOCK` ids at most; a longer list is a group by itself."""
    group, n_ids = list[list[int] | np.ndarray](), 0
    for ids in lists:
        n_ids += len(ids)
        if n_ids > BLOCK and group:
            yield group
            group, n_ids = [], len(ids)
        group.append(ids)
    if group:
        yield group


def list_or_array(ids: Iterable[int] | np.ndarray) -> list[int] | np.ndarray:
    """Return ids as a list, or as an array that has one dimension."""
    if isinstance(ids, np.ndarray):
        return ids if ids.ndim == 1 else list(ids)
    if not isinstance(ids, Iterable):
        raise TypeError(f"ids must be a list or an array of integers, not {type(ids).__name__}")
    return ids if isinstance(ids, list) else list(ids)


def _as_uint32(ids: np.ndarray) -> np.ndarray:
    """Return an array of ids as one of uint32; a TypeError or OverflowError if these are none."""
    if len(ids) and ids.dtype != np.uint32:
        if ids.dtype.kind not in "iu":
            raise TypeError
        if not 0 <= ids.min() <= ids.max() < _MOST:
            raise OverflowError
    return ids.astype(np.uint32, copy=False)


def checked_ids(vocabulary: Vocabulary, ids: Iterable[int] | np.ndarray) -> list[int]:
    """Return ids as a list of int; a TypeError or ValueError names the first that is none."""
    given = ids.tolist() if isinstance(ids, np.ndarray) else [*list_or_array(ids)]
    bytes_of: Mapping[int, bytes] = vocabulary.bytes_of
    try:
        token_ids = [*map(index, given)]
        if bytes_of.keys() >= {*token_ids}:
            return token_ids
    except TypeError:
        pass
    for place, token_id in enumerate(given):
        try:
            token_id = index(token_id)
        except TypeError:
            kind = type(token_id).__name__
            raise TypeError(f"ids[{place}] must be an integer, not {kind}") from None
        if token_id not in bytes_of:
            problem = "is not used" if 0 <= token_id < vocabulary.size else "is out of range"
            raise ValueError(f"ids[{place}]: {token_id} {problem}; ids are 0 to {vocabulary.size - 1}")
    raise AssertionError("unreachable")
