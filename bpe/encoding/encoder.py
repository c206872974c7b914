"""``Encoder``: encodes text: a scanner cuts it into pieces, a memory knows most of them, the rest are merged.

::

    bytes      o n e _ t w o _ o n e         scanned: where pieces begin
    pieces     one|_two|_one
    known      one -> 505   _two -> 734      looked up, a thousand pieces at a time
    ids        505 734 1,505 ...             unknown pieces are merged together, and remembered

The memory holds the ids of each piece: up to three in the row of the table, more in a pool. When it is full,
everything is forgotten. So it is when pieces collide in the table more often than by chance: a text made of
such pieces does not slow down others. Threads that encode at the same time have a worker each,
with a memory of its own. Idle workers are kept, one for each processor at most.

A vocabulary may have *atomic* tokens (``ignore_merges`` of Hugging Face): an unknown piece is looked up among
these before it is merged.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TypeAlias

import numpy as np

from bpe.encoding.kernels.linked_pieces import Ranks, arrays_for, new_pieces
from bpe.encoding.kernels.memory import SPARE_IDS, encode_pieces, encode_small, make_room, new_memory
from bpe.encoding.symbols import BYTES, ModelOptions, Symbols, UnknownBytesError
from bpe.splitting.pattern import Pattern
from bpe.support.integers import as_list
from bpe.support.text import as_array
from bpe.support.threads import in_background, made_lazily, n_threads
from bpe.vocabulary.vocabulary import Vocabulary
from structures.kernels import entry_for

KNOWN_PIECES = 1 << 20
"""How many pieces a worker remembers at most: 144 bytes each, as two tables have room for twice as many."""

POOL_IDS = 16 * KNOWN_PIECES
"""How many ids the pool has at most. Longer pieces have twice as many bytes at most: 6 bytes for each id."""

SMALL = 4096  # a text of at most this many bytes is encoded in one call of a kernel
BLOCK_BYTES = 1 << 20  # a longer text is encoded in blocks of this many bytes
_MOST_BYTES = 2**31 - 1  # offsets are int32
_ROOM = 1 << 14  # bytes of pieces that are merged together, if no piece is longer
Room: TypeAlias = Callable[[int], np.ndarray]
_NO_MARKS, _NO_OFFSETS = np.empty(0, np.int32), np.empty(0, np.int64)


class _Worker:
    """What a thread encodes with, and Python's views of it."""

    def __init__(self, ranks: Ranks, tie: int) -> None:
        data = np.empty(SMALL, np.uint8)
        self.data = data.data
        self.ids = np.empty(SMALL + SPARE_IDS, np.uint32)
        self.few_ids = self.ids.data  # a part of it is taken more quickly
        self._room = _ROOM
        self.offsets = np.empty(SMALL + 1, np.int32)  # of a block, or of `data`
        self.memory = new_memory(
            KNOWN_PIECES,
            np.empty(POOL_IDS, np.uint32),  # takes memory only as it fills
            tie,
            new_pieces(_ROOM, ranks),
            data=data,
            offsets=self.offsets,
            ids=self.ids,
            ends=np.empty(1, np.int32),
            no_marks=_NO_MARKS,
            no_offsets=_NO_OFFSETS,
        )

    def make_room(self, n_bytes: int) -> None:
        """Make room to merge pieces with this total number of bytes."""
        make_room(self.memory, arrays_for(n_bytes))
        self._room = n_bytes

    def shrink(self) -> None:
        """Release what a long piece has taken."""
        if self._room > _ROOM:
            self.make_room(_ROOM)
        if len(self.offsets) > BLOCK_BYTES + 1:
            self.offsets = np.empty(SMALL + 1, np.int32)


class Encoder:
    """Encodes ordinary text: special tokens in it are not recognized.

    Any number of threads may use an encoder at the same time; the kernels release the GIL. Each takes a
    worker, and gives it back. A worker remembers :data:`KNOWN_PIECES` pieces at most.
    """

    _tie = 0  # a bit that is set in the ids of a piece that has several

    def __init__(self, vocabulary: Vocabulary, pattern: Pattern, options: ModelOptions = BYTES) -> None:
        self._pattern = pattern
        self._scanner = pattern.scanner
        self._symbols = Symbols.of(vocabulary, options)
        atomic = {vocabulary.bytes_of[token_id]: token_id for token_id in vocabulary.atomic_ids}
        self._ranks = Ranks.of(self._symbols.pairs, self._symbols.made, self._symbols.byte_ids, atomic)
        self._vocabulary, self._suffix = vocabulary, options.suffix.encode()
        self._idle: deque[_Worker] = deque(maxlen=n_threads(None))  # if full, it drops the first
        # What is not a token is replaced where texts are encoded in blocks.
        self._tables = self._scanner.only_tables if self._scanner and self._symbols.are_tokens else None
        self._run_small: Callable[..., int] | None = None  # made for the first small text

    @contextmanager
    def _worker(self) -> Iterator[_Worker]:
        worker = self._take()
        yield worker
        worker.shrink()
        self._idle.append(worker)  # not after an interrupt: a thread in the background may still use it

    def _take(self) -> _Worker:
        try:
            return self._idle.pop()
        except IndexError:
            return _Worker(self._ranks, self._tie)

    def _encode_small(self, data: bytes | bytearray) -> tuple[_Worker | None, int]:
        """Encode a text in one call; return the worker, which the caller gives back, and the number of ids.

        None instead of the worker if this text needs more than one call.
        """
        n_bytes = len(data)
        if n_bytes > SMALL or self._tables is None:
            return None, 0
        try:  # as `_take`, without a call
            worker = self._idle.pop()
        except IndexError:
            worker = _Worker(self._ranks, self._tie)
        worker.data[:n_bytes] = data
        if self._run_small is None:
            self._run_small = entry_for(encode_small, worker.memory, self._tables, n_bytes)
        return worker, self._run_small(worker.memory, self._tables, n_bytes)

    # ---------------------------------------------------------------------------------------- encoding
    def encode(self, data: bytes) -> list[int]:
        """Encode a text."""
        worker, n = self._encode_small(data)
        if worker is not None:
            ids = worker.few_ids[:n].tolist()
            self._idle.append(worker)
            return ids
        return as_list(self.encode_to_numpy(data))

    def encode_to_numpy(self, data: bytes | bytearray) -> np.ndarray:
        """Encode a text to an array."""
        worker, n = self._encode_small(data)
        if worker is not None:
            ids = worker.ids[:n].copy()
            self._idle.append(worker)
            return ids
        return self._encode(data, np.array([len(data)]))[0]

    def count(self, data: bytes | bytearray) -> int:
        """Return the number of ids of a text."""
        worker, n = self._encode_small(data)
        if worker is not None:
            self._idle.append(worker)
            return n
        return len(self.encode_to_numpy(data))

    def encode_segments(
        self, data: bytes | bytearray | np.ndarray, ends: np.ndarray, room: Room | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Encode concatenated texts, each by itself."""
        ids, _, id_offsets = self._encode(data, _checked(ends, len(data)), room=room)
        return ids, _with_empty(id_offsets, len(ends))

    def encode_pieces(
        self, data: bytes | bytearray | np.ndarray, offsets: np.ndarray, ends: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Encode pieces that are cut already."""
        ids, _, id_offsets = self._encode(data, _checked(ends, len(data)), given=offsets)
        return ids, _with_empty(id_offsets, len(ends))

    def encode_with_lengths(
        self, data: bytes | np.ndarray, offsets: np.ndarray | None, ends: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Encode texts, or pieces that are cut already, and return how many bytes each id stands for, too."""
        symbols, _, id_offsets = self._encode(data, _checked(ends, len(data)), given=offsets, spelled=True)
        id_offsets = _with_empty(id_offsets, len(ends))
        with self._naming_unknown(as_array(data) if isinstance(data, bytes) else data, symbols):
            return self._symbols.ids_with_lengths(symbols, id_offsets, self._n_bytes_of[symbols])

    @made_lazily
    def _n_bytes_of(self) -> np.ndarray:
        """How many bytes of a text each symbol stands for."""
        symbols, suffix = self._symbols, self._suffix
        n_bytes = np.zeros(symbols.first + len(symbols.spelled), np.int64)
        for symbol, token in [*self._vocabulary.bytes_of.items(), *enumerate(symbols.spelled, symbols.first)]:
            n_bytes[symbol] = len(token)
            if symbol < symbols.first and suffix and token.endswith(suffix):
                n_bytes[symbol] -= len(suffix) - 1
        return n_bytes

    def pieces(self, data: bytes | bytearray) -> tuple[np.ndarray, np.ndarray]:
        """Return where the pieces of a text lie, and their ids."""
        _, offsets, id_offsets = self._encode(data, np.array([len(data)]), by_piece=True)
        return np.concatenate([[0], offsets]), np.concatenate([[0], id_offsets])

    # ---------------------------------------------------------------------------------------- in blocks
    def _encode(
        self,
        data: bytes | bytearray | np.ndarray,
        ends: np.ndarray,
        *,
        by_piece: bool = False,
        given: np.ndarray | None = None,
        spelled: bool = False,
        room: Room | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Encode concatenated texts; return the ids, where texts (or pieces) end, and where their ids end.

        Texts that end at byte 0 are left out. The pieces begin at the `given` offsets, if there are any. If
        `spelled`, the symbols are returned, of which some may be no ids. `room` is as for
        :meth:`encode_segments`.
        """
        if len(data) > _MOST_BYTES:
            raise ValueError(f"a text of {len(data)} bytes is too long for one call: encode it as a stream")
        held = data if isinstance(data, np.ndarray) else as_array(data)
        ids, n = (room or _new_room)(len(data) + SPARE_IDS), 0
        ends = ends[ends.searchsorted(0, "right") :].astype(np.int32)
        all_marks, all_id_offsets = [_NO_MARKS], [_NO_OFFSETS]
        with self._worker() as worker:
            blocks = self._blocks(worker, held, ends) if given is None else [(given, ends)]
            for offsets, ends_here in blocks:
                marks = offsets[1:].copy() if by_piece else ends_here
                finer = self._finer(held, offsets)
                n, id_offsets = self._encode_pieces(worker, held, finer, ids, n, marks)
                all_marks.append(marks)
                all_id_offsets.append(id_offsets)
        if room is None:
            ids.resize(n, refcheck=False)  # releases memory; a copy would take more
        else:
            ids = ids[:n]
        marks, id_offsets = np.concatenate(all_marks), np.concatenate(all_id_offsets)
        if spelled or self._symbols.are_tokens:
            return ids, marks, id_offsets
        with self._naming_unknown(held, ids):
            ids, id_offsets = self._symbols.ids(ids, id_offsets)
        return ids, marks, id_offsets

    @contextmanager
    def _naming_unknown(self, data: np.ndarray, symbols: np.ndarray) -> Iterator[None]:
        """Name the first character that no token stands for in the error that says so."""
        try:
            yield
        except UnknownBytesError as error:
            unknown = [self._symbols.first + i for i, ids in enumerate(self._symbols.ids_of) if ids is None]
            first = int(np.argmax(np.isin(symbols, unknown)))
            place = int(self._n_bytes_of[symbols[:first]].sum())
            while place and data[place] & 0xC0 == 0x80:
                place -= 1
            character = bytes(data[place : place + 4]).decode(errors="replace")[:1]
            name = str(error) if character in ("", "\ufffd") else repr(character)
            raise ValueError(f"the text has {name}, which no token of the vocabulary stands for") from None

    def _blocks(
        self, worker: _Worker, data: np.ndarray, ends: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield, for each block of the data, where its pieces begin and where texts end in it."""
        if self._scanner is None:
            yield self._offsets_by_regex(data, ends), ends
            return
        done, size = 0, BLOCK_BYTES
        while done < len(data):
            stop = min(done + size, len(data))
            first, after = ends.searchsorted([done, stop], "right")
            segments = ends[first:after]
            is_open = not len(segments) or int(segments[-1]) < stop
            if len(worker.offsets) <= stop - done:
                worker.offsets = np.empty(stop - done + 1, np.int32)
            cut = partial(
                self._scanner.cut,
                data,
                np.append(segments, np.int32(stop)) if is_open else segments,
                start=done,
                text_start=int(ends[first - 1]) if first else 0,
                is_open=is_open,
                out=worker.offsets,
            )
            offsets = cut() if size == BLOCK_BYTES else in_background(cut)
            done_before, done = done, int(offsets[-1])
            # Twice the size for a piece that does not fit, so that it is scanned only a few times.
            size = BLOCK_BYTES if done > done_before else 2 * size
            yield self._scanner.refine(data, offsets), segments

    def _finer(self, data: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Return where the parts of pieces begin that are merged by themselves; they are whole here."""
        return offsets

    def _encode_pieces(
        self,
        worker: _Worker,
        data: np.ndarray,
        offsets: np.ndarray,
        ids: np.ndarray,
        n: int,
        marks: np.ndarray,
    ) -> tuple[int, np.ndarray]:
        """Write the ids of pieces from `n` on; return where they end, and where they end at each mark."""
        n_pieces = len(offsets) - 1
        id_offsets = np.empty(len(marks), np.int64)
        done = (0, n, 0)
        while True:
            encode = partial(encode_pieces, worker.memory, data, offsets, done, ids, marks, id_offsets)
            done = encode() if offsets[-1] - offsets[0] <= BLOCK_BYTES else in_background(encode)
            piece, n, _ = done
            if piece == n_pieces:
                return n, id_offsets
            worker.make_room(int(offsets[piece + 1] - offsets[piece]))

    def _offsets_by_regex(self, data: np.ndarray, ends: np.ndarray) -> np.ndarray:
        text, lengths, start = data.tobytes(), [0], 0
        for end in ends.tolist():
            lengths += map(len, self._pattern.split_bytes(text[start:end]))
            start = end
        return np.cumsum(lengths, dtype=np.int32)


def _new_room(n: int) -> np.ndarray:
    return np.empty(n, np.uint32)


def _checked(ends: np.ndarray, n_bytes: int) -> np.ndarray:
    """Return where texts end; raise unless they are in order, and the last ends where the data does."""
    ends = np.asarray(ends, np.int64)
    last = int(ends[-1]) if len(ends) else 0
    if last != n_bytes:
        raise ValueError(
            f"the last text ends at byte {last}, but the data has {n_bytes} bytes: they must be equal"
        )
    if len(ends) and (ends[0] < 0 or (ends[1:] < ends[:-1]).any()):
        i = int(np.flatnonzero(np.diff(ends, prepend=0) < 0)[0])
        raise ValueError(f"ends[{i}] is {ends[i]}, before the text begins: ends must be in ascending order")
    return ends


def _with_empty(id_offsets: np.ndarray, n_texts: int) -> np.ndarray:
    """Put 0 before the offsets, for the first text and for each that ends before the first byte."""
    return np.append(np.zeros(n_texts + 1 - len(id_offsets), np.int64), id_offsets)
