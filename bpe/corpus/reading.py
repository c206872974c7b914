"""Files as streams of bytes: opened, decompressed, read in blocks, and checked for changes.

A damaged file is a ``ValueError`` that names the file and the byte.
"""

from __future__ import annotations

import gzip
import importlib
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

BLOCK_BYTES = 1 << 20
STDIN = Path("-")
FORMATS = (".txt", ".jsonl", ".parquet")
COMPRESSIONS = (".gz", ".zst")

Stamp = tuple[int, int]  # size, and time of the last change in nanoseconds
Advance = Callable[[int], object]

_ZST_BYTES = 1 << 9  # read at a time: 4 bytes of zstd may unpack to 128 KiB, so these to 16 MiB


def kind_of(path: Path) -> tuple[str, str]:
    """Return the format and the compression of a file, by its name."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression = suffixes.pop() if suffixes and suffixes[-1] in COMPRESSIONS else ""
    return (suffixes[-1] if suffixes and suffixes[-1] in FORMATS else ""), compression


def extra(module: str, name: str, purpose: str) -> Any:
    """Import a module of an optional package; the ImportError names the extra `name` that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise ImportError(
            f"{purpose} requires the package {package}: pip install 'bpe-structures[{name}]'"
        ) from None


def stamp_of(status: os.stat_result) -> Stamp | None:
    """Return size and time of the last change of a regular file; None for anything else, such as a pipe."""
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


class _Source:
    """A file that is read up to `stop`; `place` is the number of bytes read."""

    def __init__(self, file: BinaryIO, start: int, stop: int | None, advance: Advance) -> None:
        self._file, self.place, self._stop, self._advance = file, start, stop, advance

    def read(self, size: int) -> bytes:
        if self._stop is not None:
            size = min(size, self._stop - self.place)
        data = self._file.read(size)
        if data:
            self.place += len(data)
            self._advance(len(data))
        return data


@dataclass(frozen=True)
class FilePart:
    """A file, or a range of bytes of one."""

    __module__ = "bpe"  # the name in pickles
    path: Path
    start: int = 0
    stop: int | None = None
    stamp: Stamp | None = None

    def __str__(self) -> str:
        """Return the name for messages, whose positions are in the decompressed text."""
        if self.path == STDIN:
            return "standard input"
        return f"{self.path} (decompressed)" if kind_of(self.path)[1] else str(self.path)

    def blocks(self, advance: Advance = lambda n: None, block_bytes: int = BLOCK_BYTES) -> Iterator[bytes]:
        """Yield the decompressed content of the file, or of its range."""
        if self.path == STDIN:
            yield from _plain(_Source(sys.stdin.buffer, 0, None, advance), block_bytes)
            return
        compression = kind_of(self.path)[1]
        with self.opened() as file:
            stamp = stamp_of(os.fstat(file.fileno()))
            # Bytes that are appended while the file is read are ignored: they might never end.
            stop = self.stop if self.stop is not None or stamp is None else stamp[0]
            source = _Source(file, self.start, stop, advance)
            if self.start:
                file.seek(self.start)
            try:
                yield from _READERS[compression](source, block_bytes)
            except (EOFError, zlib.error, gzip.BadGzipFile, _Damaged) as error:
                raise ValueError(
                    f"{self.path}: {compression[1:]} data damaged or cut off at byte {source.place}: {error}"
                ) from None

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Open the file; at the end, or after an error, raise ``ValueError`` if it has changed."""
        with open(self.path, "rb") as file:
            self._compare(file, self.stamp)
            before = stamp_of(os.fstat(file.fileno()))
            try:
                yield file
            except ValueError:
                self._compare(file, before)  # a change explains the error
                raise
            self._compare(file, before)

    def _compare(self, file: BinaryIO, before: Stamp | None) -> None:
        """Raise a ValueError if the file has changed since `before`."""
        now = stamp_of(os.fstat(file.fileno()))
        if before is not None and now != before:
            size = 0 if now is None else now[0]
            how = f"from {before[0]} to {size} bytes" if size != before[0] else f"in place, at {size} bytes"
            raise ValueError(
                f"{self.path} changed {how} while it was read: copy it first, then read the copy"
            )


# ------------------------------------------------------------------------------------------ decompression
class _Damaged(Exception):
    """The data is not valid zstd."""


def _plain(source: _Source, block_bytes: int) -> Iterator[bytes]:
    while block := source.read(block_bytes):
        yield block


def _gunzipped(source: _Source, block_bytes: int) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=source, mode="rb") as file:  # type: ignore[call-overload]  # it is only read
        yield from _plain(file, block_bytes)
    if not source.place:
        raise EOFError("the file is empty")


def _unzstandard(source: _Source, block_bytes: int) -> Iterator[bytes]:
    # The stream reader of zstandard does not detect that a file is cut off, so frames are read one by one.
    zstandard = extra("zstandard", "zstd", "reading .zst files")
    frame, parts, size = None, [], 0
    while data := source.read(_ZST_BYTES):
        while data:
            frame = frame or zstandard.ZstdDecompressor().decompressobj()
            try:
                parts.append(frame.decompress(data))
            except zstandard.ZstdError as error:
                raise _Damaged(str(error)) from None
            size += len(parts[-1])
            data = frame.unused_data if frame.eof else b""
            frame = None if frame.eof else frame
        if size >= block_bytes:
            joined = b"".join(parts)
            for start in range(0, size - block_bytes + 1, block_bytes):
                yield joined[start : start + block_bytes]
            parts, size = [joined[size - size % block_bytes :]], size % block_bytes
    if frame is not None or not source.place:
        raise EOFError("the file ends in the middle of its data" if source.place else "the file is empty")
    if size:
        yield b"".join(parts)


_READERS = {"": _plain, ".gz": _gunzipped, ".zst": _unzstandard}


__test__ = {"FilePart": FilePart}  # doctest ignores a class that has the name of another module
