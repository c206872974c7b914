"""A corpus to a file of ids: read, cut into stretches, encoded on threads, written.

::

    documents    "one two three ..."   "four"         blocks as they are read
    stretches    one two| three ...|four              cut where no piece and no special token crosses
    batches      one two| three ...|four              encoded at once, some mebibytes
"""

from __future__ import annotations

import hashlib
import os
import time
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bpe.boundaries import decided
from bpe.corpus import Corpus, CorpusLike
from bpe.corpus.output import Output, State
from bpe.encoding.batches import Encoding, joined
from bpe.encoding.engine import NO_TOKENS, Ordinary
from bpe.formats import native
from bpe.pattern import Pattern
from bpe.progress import Progress, progress_bar
from bpe.specials import Rules, Specials, SpecialSearch
from bpe.threads import n_threads

__all__ = ["EncodedFiles", "Files"]

BATCH_BYTES = 4 << 20
"""What each thread gets at a time."""

SECONDS = 2.0
"""How often it is noted how far the work is: so much is lost by a kill."""


@dataclass(frozen=True)
class EncodedFiles:
    """What ``Tokenizer.encode_files`` has written.

    Attributes
    ----------
    ids, offsets : Path
        The files.
    dtype : numpy.dtype
        Of the ids.
    n_documents, n_bytes, n_tokens : int
        Bytes are those of the text.
    is_resumed : bool
        Whether an earlier run had done some of it.

    Examples
    --------
    >>> EncodedFiles(Path("a.bin"), Path("a.offsets.npy"), np.dtype("<u2"), 1, 8, 3, False).n_tokens
    3
    """

    ids: Path
    offsets: Path
    dtype: np.dtype
    n_documents: int
    n_bytes: int
    n_tokens: int
    is_resumed: bool


class _Stretch(NamedTuple):
    data: bytes
    n_own: int  # bytes; what is behind them is there to be looked at, and begins the next stretch
    is_last: bool  # of its document


class Files(Encoding):
    """Base of :class:`bpe.Tokenizer`: corpora to files of ids.

    * :meth:`encode_files`

    Examples
    --------
    >>> import bpe
    >>> issubclass(bpe.Tokenizer, Files)
    True
    """

    def encode_files(
        self,
        corpus: CorpusLike,
        out: str | os.PathLike[str],
        *,
        dtype: Any = None,
        threads: int | None = None,
        progress: Progress = False,
        allowed_special: Specials = NO_TOKENS,
        disallowed_special: Specials = "all",
        specials: Ordinary = None,
    ) -> EncodedFiles:
        """Encode a corpus to a file of ids, with the offsets of its documents in a file beside it.

        A run that was killed or interrupted is gone on with by the same call, if the corpus is the same. No
        file is at its place before it is complete.

        Parameters
        ----------
        corpus : Corpus, path, or iterable of path, str or bytes
        out : path
            With the suffix .npy, a numpy array; else, as in .bin, the ids and nothing else, little-endian.
            Beside it comes ``<out without suffix>.offsets.npy``: ids i to j are those of document k, for
            ``i, j = offsets[k], offsets[k + 1]``.
        dtype : numpy dtype, optional
            uint16 or uint32; by default the smallest that all ids fit.
        threads : int, optional
            As many as there are processors by default.
        progress : bool or callable
            True: a bar on stderr. A callable is called with the bytes that are read, and all there are.
        allowed_special, disallowed_special, specials
            As for :meth:`encode`.

        Returns
        -------
        EncodedFiles

        Raises
        ------
        ValueError
            As :meth:`encode`; or the dtype is another or too small; or a file of the corpus is damaged; or
            what was encoded by a run before is no longer the beginning of the corpus.
        TypeError
            As :meth:`encode`; or the corpus is none.
        FileNotFoundError, IsADirectoryError, OSError
            A file cannot be read or written.

        Complexity
        ----------
        As :meth:`encode`; memory for some mebibytes a thread, and for the longest piece. Of patterns that
        look behind, or that are not compiled, a document is in memory as a whole.

        Examples
        --------
        >>> import bpe, tempfile, pathlib, numpy
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = tok.encode_files(["low", "lower"], pathlib.Path(folder, "corpus.bin"))
        ...     numpy.fromfile(written.ids, written.dtype), numpy.load(written.offsets)
        (array([257, 257, 101, 114], dtype=uint16), array([0, 1, 4]))
        """
        rules = self._rules_of(allowed_special, disallowed_special, specials)
        found = self._dtype_of(dtype)
        path = Path(out)
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder: a file name is needed")
        if not path.resolve().parent.is_dir():
            raise FileNotFoundError(f"no such folder: {path.resolve().parent}")
        source = Corpus.of(corpus)
        search = SpecialSearch(rules.allowed.tokens | rules.disallowed.tokens)
        with progress_bar(progress, source.n_bytes, "B", "encoding") as advance:
            output = Output(path, found, self._key(source, rules, found))
            if not output.state.is_done:
                with output:
                    documents = _behind(source.documents(advance), output.state)
                    stretches = _stretches(documents, self._pattern, search)
                    saved = time.monotonic()
                    for batch in _batches(stretches, n_threads(threads) * BATCH_BYTES):
                        self._write_batch(output, batch, rules, n_threads(threads))
                        if time.monotonic() - saved >= SECONDS:
                            output.save_state()
                            saved = time.monotonic()
                    output.finish()
        done = output.state
        return EncodedFiles(
            path, output.offsets_path, found, done.documents, done.n_bytes, done.tokens, output.is_resumed
        )

    def _dtype_of(self, dtype: Any) -> np.dtype:
        greatest = self._vocabulary.size - 1
        if dtype is None:
            dtype = np.uint16 if greatest < 2**16 else np.uint32
        found = np.dtype(dtype).newbyteorder("<")
        if found not in (np.dtype("<u2"), np.dtype("<u4")):
            raise ValueError(f"dtype must be uint16 or uint32, not {np.dtype(dtype)}")
        if greatest >= 2 ** (8 * found.itemsize):
            raise ValueError(f"the greatest id is {greatest}, too much for {found.name}: use uint32")
        return found

    def _key(self, corpus: Corpus, rules: Rules, dtype: np.dtype) -> str:
        """Return what tells this work from all others: tokenizer, options, and the files of the corpus."""
        document = native.document_of(self._vocabulary, self._pattern)
        digest = hashlib.sha256(native.dump(document))
        try:
            files = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in corpus.paths()]
        except (ValueError, OSError):  # documents in memory, or a pipe: the checksum tells
            files = []
        options = [sorted(rules.allowed.tokens), sorted(rules.disallowed.tokens), dtype.str]
        digest.update(repr([*options, files, corpus.field, corpus.errors]).encode())
        return digest.hexdigest()

    def _write_batch(self, output: Output, batch: list[_Stretch], rules: Rules, threads: int) -> None:
        state = output.state
        try:
            ids, offsets = joined(*self._encode_many([stretch.data for stretch in batch], threads, rules))
        except ValueError:
            # Once more, one by one, to name the document.
            number, place = state.documents, state.document_bytes
            for data, n_own, is_last in batch:
                rules.refuse(data, f"document {number}" + (f", from byte {place} on," if place else ""))
                number, place = (number + 1, 0) if is_last else (number, place + n_own)
            raise
        ids, offsets = self._own_ids(batch, ids, offsets)
        checksum, document_bytes, n_bytes = state.checksum, state.document_bytes, state.n_bytes
        for data, n_own, is_last in batch:
            checksum = zlib.crc32(memoryview(data)[:n_own], checksum)
            document_bytes = 0 if is_last else document_bytes + n_own
            n_bytes += n_own
        ends_document = np.fromiter((stretch.is_last for stretch in batch), bool, len(batch))
        output.write(ids, state.tokens + offsets[1:][ends_document], checksum, document_bytes, n_bytes)

    def _own_ids(
        self, batch: list[_Stretch], ids: np.ndarray, offsets: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Leave out the ids of what is not a stretch's own."""
        is_own = np.ones(len(ids), bool)
        for i, (data, n_own, _) in enumerate(batch):
            n_more = len(data) - n_own
            if n_more:
                start, end = int(offsets[i]), int(offsets[i + 1])
                last = ids[max(start, end - n_more) : end][::-1]  # of a byte at least, each
                n_last = int(np.searchsorted(np.cumsum(self._table.lengths(last)), n_more)) + 1
                is_own[end - n_last : end] = False
        if is_own.all():
            return ids, offsets
        return ids[is_own], np.concatenate([[0], np.cumsum(is_own)])[offsets]


def _stretches(
    documents: Iterable[Iterable[bytes]], pattern: Pattern, search: SpecialSearch
) -> Iterator[_Stretch]:
    """Cut documents into stretches, of a block at least; the last of each has what is left, be it nothing."""
    for blocks in documents:
        parts: list[bytes] = []
        n_held = n_fresh = 0
        for block in blocks:
            # What was looked at in vain is looked at again only after it has doubled.
            if n_fresh and n_fresh >= n_held:
                data = b"".join(parts)
                place, end = decided(data, pattern, search)
                if place:
                    yield _Stretch(data[:end], place, False)
                parts, n_held, n_fresh = [data[place:]], len(data) - place, 0
            parts.append(block)
            n_fresh += len(block)
        data = b"".join(parts)
        yield _Stretch(data, len(data), True)


def _batches(stretches: Iterable[_Stretch], n_bytes: int) -> Iterator[list[_Stretch]]:
    """Yield so many stretches that they have a number of bytes."""
    batch: list[_Stretch] = []
    size = 0
    for stretch in stretches:
        batch.append(stretch)
        size += stretch.n_own + 1  # of empty documents, there is an end too
        if size >= n_bytes:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _behind(documents: Iterable[Iterable[bytes]], state: State) -> Iterator[Iterable[bytes]]:
    """Pass over what is done; yield the blocks of each document behind it, the rest of one first."""
    checksum, number, left = 0, 0, state.document_bytes
    is_checked = False
    for blocks in documents:
        parts = iter(blocks)
        rest = b""
        if number < state.documents:
            for block in parts:
                checksum = zlib.crc32(block, checksum)
        elif not is_checked:
            while left > 0 and (block := next(parts, b"")):
                checksum = zlib.crc32(block[:left], checksum)
                left, rest = left - len(block), block[left:]
        number += 1
        if number > state.documents:
            if not is_checked and (left > 0 or checksum != state.checksum):
                break
            is_checked = True
            yield chain([rest] if rest else [], parts)
    if not is_checked and (number != state.documents or left or checksum != state.checksum):
        raise ValueError(
            f"the corpus does not begin with the {state.documents} documents and {state.document_bytes} "
            "bytes that a run before has encoded: to begin anew, remove the file that ends in .state"
        )
