"""Shards: each file of a corpus is encoded to files of its own, here or on the workers of a Dask cluster.

::

    books/a.txt       ids/a.txt.bin       ids/a.txt.offsets.npy
    books/b/a.txt     ids/b/a.txt.bin     ids/b/a.txt.offsets.npy
                      ids/shards.jsonl    which of them are complete      bpe.id_files.shards

A shard that is complete is not encoded again, unless its source has changed or its output is gone. One that
was interrupted resumes. Workers must see the same files by the same names, and have this package
installed.

``shards.jsonl``: which shards of a folder are complete, and what they were made of.

::

    {"format": "bpe-structures shards", "version": 1, "work": {"dtype": "uint16", ...}}     the options
    {"source": "books/a.txt", "size": 81, "mtime_ns": 17, "output": "a.txt.bin", ...}       a complete shard
    {"source": "books/b.txt", ...

A line is added when a shard is complete. A line that a kill has cut off is removed; of two lines for one
output the later counts. The file is locked while shards are written.
"""

from __future__ import annotations

import json
import os
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bpe.corpus.reading import STDIN, extra, stamp_of
from bpe.corpus.sources import Corpus, CorpusLike
from bpe.encoding.engine import Engine
from bpe.id_files.encode import EncodedFiles, digest_of, dtype_of, encode_files
from bpe.id_files.formats import ENDINGS, Target
from bpe.splitting.specials import Rules
from bpe.support.files import lock, naming_output
from bpe.support.memory import free_memory_kept
from bpe.support.progress import Progress, progress_bar

if TYPE_CHECKING:
    from bpe.id_files.formats import IdFormat


NAME = "shards.jsonl"
_FORMAT, _VERSION = "bpe-structures shards", 1


@dataclass(frozen=True)
class Shard:
    """A complete shard."""

    source: str
    size: int
    mtime_ns: int
    output: str
    output_bytes: int
    documents: int
    tokens: int
    text_bytes: int


class Manifest:
    """The list of the complete shards of a folder, while it is open."""

    def __init__(self, folder: Path, work: dict[str, Any]) -> None:
        self.path = folder / NAME
        self._folder, self._work = folder, work
        self.shards: dict[str, Shard] = {}
        with naming_output(self.path):
            # Not "ab": with it, reading and truncating depend on the system.
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
            self._file = open(os.open(self.path, flags, 0o666), "r+b")  # noqa: SIM115  # closed at the end
        try:
            lock(self._file, self.path)
            self._read()
        except BaseException:
            self.__exit__()
            raise

    def _read(self) -> None:
        data = self._file.read()
        whole = data[: data.rfind(b"\n") + 1]
        lines = whole.splitlines()
        if lines:
            self._check_work(self._entry(lines, 0))
        for number in range(1, len(lines)):
            try:
                shard = Shard(**self._entry(lines, number))
                self.shards[shard.output] = shard
            except TypeError:
                raise self._damaged(number) from None
        self._file.truncate(len(whole))
        self._file.seek(len(whole))
        if not lines:
            self._append({"format": _FORMAT, "version": _VERSION, "work": self._work})

    def _entry(self, lines: list[bytes], number: int) -> dict[str, Any]:
        try:
            entry = json.loads(lines[number])
        except (ValueError, RecursionError):
            raise self._damaged(number) from None
        if not isinstance(entry, dict):
            raise self._damaged(number)
        return entry

    def _damaged(self, number: int) -> ValueError:
        return ValueError(
            f"{self.path}, line {number + 1}: not a line of a list of shards; "
            "to encode all of them again, remove this file"
        )

    def _check_work(self, head: dict[str, Any]) -> None:
        if (head.get("format"), head.get("version")) != (_FORMAT, _VERSION):
            raise self._damaged(0)
        there = head.get("work")
        if there == self._work:
            return
        names = [
            name for name in self._work if not isinstance(there, dict) or there.get(name) != self._work[name]
        ]
        name = (names or ["something"])[0]
        how = ""
        if isinstance(there, dict) and name not in ("tokenizer", "something"):
            how = f" ({there.get(name)!r:.80} there, {self._work[name]!r:.80} here)"
        raise ValueError(
            f"{self._folder} has shards that were made with other options: {name}{how}: name another folder, "
            f"or remove {self.path.name} to encode all of them again"
        )

    def add(self, shard: Shard) -> None:
        """Add a shard that is complete."""
        self._append(asdict(shard))
        self.shards[shard.output] = shard

    def _append(self, entry: dict[str, Any]) -> None:
        with naming_output(self.path):
            self._file.write(json.dumps(entry).encode() + b"\n")
            self._file.flush()

    def __enter__(self) -> Manifest:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # it would write once more what could not be written
            self._file.close()


_READING = ("field", "errors", "max_record_bytes", "format")


@dataclass(frozen=True)
class EncodedShards:
    """What ``Tokenizer.encode_shards`` has written.

    Attributes
    ----------
    folder, manifest : Path
        Where the shards are, and the list of those that are complete.
    dtype : numpy.dtype
        Of the ids.
    n_shards, n_documents, n_bytes, n_tokens : int
        Of all of them; bytes are those of the text.
    n_skipped : int
        How many were complete before.
    n_again : int
        How many were encoded again, as their sources had changed or their outputs were gone.

    Examples
    --------
    >>> EncodedShards(Path("ids"), Path("ids/shards.jsonl"), np.dtype("<u2"), 3, 3, 24, 9, 2, 0).n_skipped
    2
    """

    __module__ = "bpe"  # the name in pickles
    folder: Path
    manifest: Path
    dtype: np.dtype
    n_shards: int
    n_documents: int
    n_bytes: int
    n_tokens: int
    n_skipped: int
    n_again: int


__test__ = {"EncodedShards": EncodedShards}  # doctest passes over a class that has the name of another module


@dataclass(frozen=True)
class _Job:
    """A shard that is to be made."""

    source: Path
    stamp: tuple[int, int]
    output: str  # its path in the folder


@dataclass(frozen=True)
class _Work:
    """What is the same for all shards."""

    out: Path
    reading: dict[str, Any]  # arguments of Corpus
    special: dict[str, Any]  # arguments of Engine.rules_of
    options: dict[str, Any]  # further arguments of encode_files


def encode_shards(
    engine: Engine,
    corpus: CorpusLike,
    folder: str | os.PathLike[str],
    special: dict[str, Any],
    *,
    to: IdFormat | None,
    end_token: str | None,
    dtype: Any,
    threads: int | None,
    scheduler: Any,
    progress: Progress,
) -> EncodedShards:
    """Encode each file of a corpus by itself; ``Tokenizer.encode_shards`` describes the arguments."""
    out = Path(folder)
    kind = "bin" if to is None else to
    if kind not in ENDINGS:
        raise ValueError(f"to must be one of {', '.join(ENDINGS)}, not {to!r}")
    id_type = dtype_of(engine, dtype)
    end_id = Target.of(f"x{ENDINGS[kind][0]}", kind).end_id(engine.vocabulary, end_token)
    source = Corpus.of(corpus)
    jobs = list(_jobs(source, out, ENDINGS[kind][0]))
    source.refuse_outputs(*(out / job.output for job in jobs))
    reading = {name: getattr(source, name) for name in _READING}
    named = {
        "tokenizer": digest_of(engine).hexdigest(),
        "to": kind,
        "dtype": id_type.name,
        "end_token": end_id,
        **_named(engine.rules_of(**special)),
        **reading,
    }
    distributed = None if scheduler is None else extra("distributed", "dask", "encoding on a cluster")
    for place in (out, *{(out / job.output).parent for job in jobs}):
        place.mkdir(parents=True, exist_ok=True)
    options = {"to": kind, "end_token": end_token, "dtype": id_type, "threads": 1 if distributed else threads}
    work = _Work(Path(os.path.abspath(out)), reading, special, options)
    with Manifest(out, named) as manifest:
        left = [job for job in jobs if not _is_done(out, job, manifest)]
        n_again = sum(job.output in manifest.shards for job in left)
        with progress_bar(progress, source.n_bytes, "B", "encoding") as advance:
            advance(sum(job.stamp[0] for job in jobs) - sum(job.stamp[0] for job in left))
            made: Iterator[Shard]
            if distributed is None:
                made = (_encoded(engine, job, work, advance) for job in left)
            else:
                made = _on_cluster(distributed, scheduler, engine, left, work, advance)
            for shard in made:
                manifest.add(shard)
        done = [manifest.shards[job.output] for job in jobs]
    return EncodedShards(
        folder=out,
        manifest=manifest.path,
        dtype=id_type,
        n_shards=len(jobs),
        n_documents=sum(shard.documents for shard in done),
        n_bytes=sum(shard.text_bytes for shard in done),
        n_tokens=sum(shard.tokens for shard in done),
        n_skipped=len(jobs) - len(left),
        n_again=n_again,
    )


# ------------------------------------------------------------------------------------- what is to be done
def _named(rules: Rules) -> dict[str, Any]:
    """Return the rules for special tokens as entries of the list of shards."""
    return {
        "special tokens that are allowed": sorted(rules.allowed.tokens),
        "special tokens that are refused": sorted(rules.disallowed.tokens),
        "add_special_tokens": [list(ids) for ids in rules.around],
    }


def _jobs(corpus: Corpus, out: Path, ending: str) -> Iterator[_Job]:
    paths, (root, folders) = corpus.paths(), corpus.roots()
    for folder in folders:
        if out.resolve().is_relative_to(folder.resolve()):
            raise ValueError(f"{out} is in {folder}, which is read: name a folder outside of it")
    twice = [path for path, n in Counter(map(os.path.abspath, paths)).items() if n > 1]
    if twice:
        raise ValueError(f"{twice[0]} is in the corpus twice: it can be one shard only")
    for path in paths:
        stamp = None if path == STDIN else stamp_of(os.stat(path))
        if stamp is None:
            raise ValueError(f"{path} is not a file: only files are encoded to shards")
        relative = Path(os.path.relpath(path, root))
        yield _Job(
            Path(os.path.abspath(path)), stamp, str(relative.with_name(relative.name + ending).as_posix())
        )


def _is_done(out: Path, job: _Job, manifest: Manifest) -> bool:
    shard = manifest.shards.get(job.output)
    if shard is None:
        return False
    if shard.source != str(job.source):
        raise ValueError(
            f"{out / job.output} is made of {shard.source}, not of {job.source}: name another folder"
        )
    try:
        is_there = (out / job.output).stat().st_size == shard.output_bytes
    except FileNotFoundError:
        return False
    return is_there and (shard.size, shard.mtime_ns) == job.stamp


# --------------------------------------------------------------------------------------------- doing it
def _encoded(
    engine: Engine, job: _Job, work: _Work, advance: Callable[[int], object] = lambda n: None
) -> Shard:
    """Encode a file."""
    before = 0

    def report(done: int, _: int | None) -> None:
        nonlocal before
        advance(done - before)
        before = done

    corpus = Corpus(job.source, **work.reading)
    rules, path = engine.rules_of(**work.special), work.out / job.output
    try:
        written: EncodedFiles = encode_files(engine, corpus, path, rules, progress=report, **work.options)
    except ValueError as error:
        where = "" if str(job.source) in str(error) else f"{job.source}: "
        raise ValueError(f"{where}{error}") from None
    report(job.stamp[0], None)  # of a compressed file, not all may have been read
    counts = written.n_documents, written.n_tokens, written.n_bytes
    # The stamp is that from before the work: a source that has changed since is encoded again next time.
    return Shard(str(job.source), *job.stamp, job.output, path.stat().st_size, *counts)


def _on_cluster(
    distributed: Any,
    scheduler: Any,
    engine: Engine,
    jobs: list[_Job],
    work: _Work,
    advance: Callable[[int], object],
) -> Iterator[Shard]:
    if isinstance(scheduler, str):
        with distributed.Client(scheduler) as client:
            yield from _on_cluster(distributed, client, engine, jobs, work, advance)
        return
    if not isinstance(scheduler, distributed.Client):
        raise TypeError(f"scheduler must be a Client or an address, not {type(scheduler).__name__}")
    shared = scheduler.submit(_same, engine, pure=False)  # a task: if its worker dies, it is done again
    futures = [scheduler.submit(_on_worker, shared, job, work, pure=False) for job in jobs]
    try:
        for future in distributed.as_completed(futures):
            shard = future.result()
            future.release()  # so that it is not encoded again if its worker dies later
            advance(shard.size)
            yield shard
    except distributed.KilledWorker as error:
        raise ChildProcessError(
            f"several workers died while they encoded a shard ({error}): does each have enough memory?"
        ) from None
    finally:
        scheduler.cancel(futures)


def _same(engine: Engine) -> Engine:
    return engine


def _on_worker(engine: Engine, job: _Job, work: _Work) -> Shard:
    for path, what in ((work.out, "folder"), (job.source, "file")):
        if not path.exists():
            raise ValueError(
                f"{path}: the worker on {socket.gethostname()} does not see this {what}: "
                "all need the same files by the same names"
            )
    with free_memory_kept():
        return _encoded(engine, job, work)
