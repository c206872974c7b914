"""Files of ids: a corpus is read, cut into stretches, encoded on threads, and written.

::

    documents    "one two three ..."   "four"         blocks as they are read
    stretches    one two| three ...|four              cut where no piece and no special token crosses
    batches      one two| three ...|four              encoded in one go, some mebibytes
"""

from __future__ import annotations

import hashlib
import os
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bpe.corpus.sources import Corpus, CorpusLike
from bpe.encoding.batches import encode_groups, joined
from bpe.encoding.engine import Engine
from bpe.encoding.streams import Begins
from bpe.formats import native
from bpe.id_files.checkpoint import State
from bpe.id_files.formats import IdFormat, Target
from bpe.id_files.output import ASIDE, Output, files_of, part_of
from bpe.id_files.tables import origins_path, save_origins
from bpe.splitting.specials import NOTHING_AROUND, Rules
from bpe.support.files import resolve_links
from bpe.support.progress import Progress, progress_bar
from bpe.support.threads import map_in_threads, n_threads

BATCH_BYTES = 4 << 20
"""Bytes that each thread gets at a time."""

SECONDS = 0.5
"""How often the state of the work is saved: a kill loses the work of these seconds."""

READING_SECONDS = 2.0
"""How long a batch waits for more text, where reading is slow."""


@dataclass(frozen=True)
class EncodedFiles:
    """What ``Tokenizer.encode_files`` has written.

    Attributes
    ----------
    ids, offsets : Path
        The files. For Megatron, `offsets` is the .idx file; for a table, both are the table.
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

    __module__ = "bpe"  # the name in pickles
    ids: Path
    offsets: Path
    dtype: np.dtype
    n_documents: int
    n_bytes: int
    n_tokens: int
    is_resumed: bool


class _Stretch(NamedTuple):
    data: bytes
    n_own: int  # bytes; those after them are only context, and begin the next stretch
    is_last: bool  # of its document
    begins: Begins = Begins.TEXT


__test__ = {"EncodedFiles": EncodedFiles}  # doctest passes over a class that has the name of another module


def encode_files(
    engine: Engine,
    corpus: CorpusLike,
    out: str | os.PathLike[str],
    rules: Rules,
    *,
    to: IdFormat | None,
    end_token: str | None,
    dtype: Any,
    threads: int | None,
    progress: Progress,
    when_resumed: Callable[[int], object] = lambda n_bytes: None,
) -> EncodedFiles:
    """Encode a corpus to a file of ids; ``Tokenizer.encode_files`` describes the arguments.

    `when_resumed` is called before the work resumes, with the bytes of text that an earlier run had done.
    """
    id_type = dtype_of(engine, dtype)
    path = Path(out)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: a file name is required")
    if path.name.endswith(ASIDE):
        raise ValueError(f"{path}: names that end in {', '.join(ASIDE)} are for files beside the ids")
    if not resolve_links(path).parent.is_dir():
        raise FileNotFoundError(f"no such folder: {resolve_links(path).parent}")
    target = Target.of(path, to)
    end_id = target.end_id(engine.vocabulary, end_token)
    target.check()
    source = Corpus.of(corpus)
    beside = [each for path in files_of(target.ids_path) for each in (path, part_of(path))]
    outputs = *beside, target.index_path, target.path
    source.refuse_outputs(*outputs)
    key = _key(engine, source, rules, id_type, end_id, target.kind)
    is_kept = target.path == target.ids_path
    finisher = target.finisher(id_type)
    output = Output(target.ids_path, id_type, key, finisher=finisher, is_kept=is_kept)
    if not output.state.is_done:
        with output:
            if output.is_resumed:
                when_resumed(output.state.n_bytes)
            with progress_bar(progress, source.n_bytes, "B", "encoding") as advance:
                _write(engine, output, source, advance, rules, end_id, n_threads(threads))
            source.refuse_outputs(*outputs)  # once more: an iterable has been read by now
            if not is_kept:
                save_origins(source.origins, target.ids_path)
            output.finish()
    if not is_kept:
        origins_path(target.ids_path).unlink(missing_ok=True)
    done = output.state
    offsets = output.offsets_path if finisher is None else target.index_path
    if not target.path.is_symlink():  # else they are beside the file that it leads to
        offsets = target.path.with_name(offsets.name)
    return EncodedFiles(
        target.path, offsets, id_type, done.documents, done.n_bytes, done.tokens, output.is_resumed
    )


def _write(
    engine: Engine,
    output: Output,
    corpus: Corpus,
    advance: Callable[[int], object],
    rules: Rules,
    end_id: int | None,
    threads: int,
) -> None:
    """Encode what is left of the documents, saving the state as it goes."""
    rest = _rest_of(corpus.documents(advance), output.state)
    if rules.around != NOTHING_AROUND:
        stretches = _whole_documents(rest)
    else:
        stretches = _stretches(rest, engine, rules, output.state.document_bytes > 0)
    saved = time.monotonic()
    for batch in _batches(stretches, threads * BATCH_BYTES):
        _write_batch(engine, output, batch, rules, end_id, threads, corpus)
        if time.monotonic() - saved >= SECONDS:
            output.save_state()
            saved = time.monotonic()


def dtype_of(engine: Engine, dtype: Any) -> np.dtype:
    """Return the type of the ids in a file: the one that is given, or the smallest that all ids fit."""
    greatest = engine.vocabulary.size - 1
    if dtype is None:
        dtype = np.uint16 if greatest < 2**16 else np.uint32
    found = np.dtype(dtype).newbyteorder("<")
    if found not in (np.dtype("<u2"), np.dtype("<u4")):
        raise ValueError(f"dtype must be uint16 or uint32, not {np.dtype(dtype)}")
    if greatest >= 2 ** (8 * found.itemsize):
        raise ValueError(f"the greatest id is {greatest}, too much for {found.name}: use uint32")
    return found


def digest_of(engine: Engine) -> Any:
    """Return a digest of a tokenizer, as a hash object.

    It is made once for each engine: for a large vocabulary this takes as long as to encode a small file.
    """
    attributes = vars(engine)
    if "digest" not in attributes:
        document = native.document_of(engine.vocabulary, engine.pattern)
        attributes["digest"] = hashlib.sha256(native.dump(document))
    return attributes["digest"].copy()


def _key(engine: Engine, corpus: Corpus, rules: Rules, dtype: np.dtype, end_id: int | None, kind: str) -> str:
    """Return a digest of the work: tokenizer, options, and the files of the corpus."""
    digest = digest_of(engine)
    try:
        files = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in corpus.paths()]
    except (ValueError, OSError):  # documents in memory, or a pipe: the checksum tells
        files = []
    options: list[Any] = [sorted(rules.allowed.tokens), sorted(rules.disallowed.tokens), dtype.str]
    # Only options that are used: so a new option does not change the keys of runs that began before it.
    options += [rules.around] if rules.around != NOTHING_AROUND else []
    options += [[end_id]] if end_id is not None else []
    options += [kind] if kind not in ("bin", "npy") else []
    options += [corpus.format] if corpus.format else []
    digest.update(repr([*options, files, corpus.field, corpus.errors]).encode())
    return digest.hexdigest()


def _write_batch(
    engine: Engine,
    output: Output,
    batch: list[_Stretch],
    rules: Rules,
    end_id: int | None,
    threads: int,
    corpus: Corpus,
) -> None:
    state = output.state
    ids, offsets = _encoded(engine, batch, rules, threads, corpus, state.documents, state.document_bytes)
    checksum, document_bytes, n_bytes = state.checksum, state.document_bytes, state.n_bytes
    for data, n_own, is_last, _ in batch:
        checksum = zlib.crc32(memoryview(data)[:n_own], checksum)
        document_bytes = 0 if is_last else document_bytes + n_own
        n_bytes += n_own
    ends_document = np.fromiter((stretch.is_last for stretch in batch), bool, len(batch))
    ends = offsets[1:][ends_document]
    if end_id is not None:
        ids = np.insert(ids, ends, np.uint32(end_id))
        ends = ends + np.arange(1, len(ends) + 1)
    output.write(ids, state.tokens + ends, checksum, document_bytes, n_bytes)


def count_tokens(
    engine: Engine, corpus: Corpus, rules: Rules, *, threads: int | None, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of tokens, and of bytes, of each document of a corpus; no ids are kept."""
    tokens, sizes = [0], [0]  # the last document is not complete
    with progress_bar(progress, corpus.n_bytes, "B", "counting") as advance:
        stretches = _stretches(corpus.documents(advance), engine, rules, False)
        for batch in _batches(stretches, n_threads(threads) * BATCH_BYTES):
            place = len(tokens) - 1, sizes[-1]
            _, offsets = _encoded(engine, batch, rules, n_threads(threads), corpus, *place)
            for n, stretch in zip(np.diff(offsets).tolist(), batch, strict=True):
                tokens[-1] += n
                sizes[-1] += stretch.n_own
                if stretch.is_last:
                    tokens.append(0)
                    sizes.append(0)
    return np.array(tokens[:-1], np.int64), np.array(sizes[:-1], np.int64)


def _encoded(
    engine: Engine,
    batch: list[_Stretch],
    rules: Rules,
    threads: int,
    corpus: Corpus,
    number: int,
    place: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids of stretches, and where those of each begin.

    The first stretch is at byte `place` of the document `number`; an error names the document.
    """
    try:
        ids, offsets = _with_context(engine, batch, rules, threads)
    except ValueError:
        # Once more, one by one, to name the document.
        for data, n_own, is_last, _ in batch:
            name = corpus.name_of_document(number)
            rules.refuse(data, name + (f", from byte {place} on," if place else ""))
            number, place = (number + 1, 0) if is_last else (number, place + n_own)
        raise
    return _own_ids(engine, batch, ids, offsets)


def _with_context(
    engine: Engine, batch: list[_Stretch], rules: Rules, threads: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids of stretches, with those of their context, and where those of each begin."""
    if all(stretch.begins is Begins.TEXT for stretch in batch):
        return joined(*encode_groups(engine, [stretch.data for stretch in batch], threads, rules))

    def encode(stretch: _Stretch) -> tuple[np.ndarray, np.ndarray]:
        rules.refuse(stretch.data)
        return engine.encode_special([stretch.data], rules, stretch.begins)

    n_bytes = sum(len(stretch.data) for stretch in batch)
    return joined(n_bytes, map_in_threads(encode, batch, min(threads, len(batch))))


def _own_ids(
    engine: Engine, batch: list[_Stretch], ids: np.ndarray, offsets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Leave out the ids of the context after each stretch."""
    is_own = np.ones(len(ids), bool)
    for i, (data, n_own, *_) in enumerate(batch):
        if n_own < len(data):
            start, end = int(offsets[i]), int(offsets[i + 1])
            is_own[end - engine.n_ids_of_tail(ids[start:end], len(data) - n_own) : end] = False
    if is_own.all():
        return ids, offsets
    return ids[is_own], np.concatenate([[0], np.cumsum(is_own)])[offsets]


def _whole_documents(documents: Iterable[Iterable[bytes]]) -> Iterator[_Stretch]:
    for blocks in documents:
        data = b"".join(blocks)
        yield _Stretch(data, len(data), True)


def _stretches(
    documents: Iterable[Iterable[bytes]], engine: Engine, rules: Rules, is_rest: bool
) -> Iterator[_Stretch]:
    """Cut documents where their ids do not change; the first of them may be the rest of one.

    The state of the work does not say what a rest begins with: it is always the same.
    """
    for blocks in documents:
        begins, is_rest = engine.rest_begins if is_rest else Begins.TEXT, False
        yield from _stretches_of(blocks, engine, rules, begins)


def _stretches_of(
    blocks: Iterable[bytes], engine: Engine, rules: Rules, begins: Begins
) -> Iterator[_Stretch]:
    """Cut a document into stretches of a block or more; the last has the rest, which may be empty."""
    parts: list[bytes] = []
    n_held = n_fresh = 0
    for block in blocks:
        # What had no place to cut is looked at again only after it has doubled.
        if n_fresh and n_fresh >= n_held:
            data = b"".join(parts)
            place, end, rest_begins = engine.decided(data, begins, rules, only_inside=True)
            if place:
                yield _Stretch(data[:end], place, False, begins)
                begins = rest_begins
            parts, n_held, n_fresh = [data[place:]], len(data) - place, 0
        parts.append(block)
        n_fresh += len(block)
    data = b"".join(parts)
    yield _Stretch(data, len(data), True, begins)


def _batches(stretches: Iterable[_Stretch], n_bytes: int) -> Iterator[list[_Stretch]]:
    """Group stretches; each group has `n_bytes` or more, but for the last, or where reading takes long."""
    batch: list[_Stretch] = []
    size = 0
    begun = time.monotonic()
    for stretch in stretches:
        batch.append(stretch)
        size += stretch.n_own + 1  # an empty document counts, too
        if size >= n_bytes or time.monotonic() - begun >= READING_SECONDS:
            yield batch
            batch, size = [], 0
            begun = time.monotonic()
    if batch:
        yield batch


def _rest_of(documents: Iterable[Iterable[bytes]], state: State) -> Iterator[Iterable[bytes]]:
    """Skip what is done; yield the blocks of each document after it, the rest of one first."""
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
            "bytes that an earlier run has encoded: to start over, remove the file that ends in .state"
        )
