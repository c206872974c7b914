"""Files of ids that survive a kill: written aside, with the saved progress, and renamed at the end.

::

    corpus.bin.part            ids                      corpus.bin           renamed
    corpus.offsets.npy.part    offsets of documents     corpus.offsets.npy   renamed
    corpus.bin.state           the progress of both                          removed

The state is saved as soon as the files exist, so that the next run always notices one that was killed. It is
replaced in one step, after all that it counts is on the disk. The next run reads both files once to compare
their checksums with the saved ones, truncates them to the saved lengths, and resumes. If the state or a file
is damaged, the work starts over. Both files are locked while they are open: two processes never write them.

``corpus.bin`` and ``corpus.npy`` would have the same offsets: the second is refused.
"""

from __future__ import annotations

import errno
import glob
import os
import zlib
from collections.abc import Callable
from contextlib import ExitStack, nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from bpe.id_files.checkpoint import State, holds, packed_state, read_state, require_plain_file, why_restarted
from bpe.support.files import BUSY, is_locked, lock, naming_output, replace_file, resolve_links
from bpe.support.warning import warn

OFFSETS = np.dtype("<i8")
ASIDE = (".offsets.npy", ".part", ".state")
"""Ends of the names of files beside a file of ids."""

_HEADER_BYTES = 128
_STARTED_OVER = (
    "an earlier run was not completed, and cannot be continued: {why}; this one starts from the beginning"
)


def offsets_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of the offsets that belong to a file of ids."""
    return Path(path).with_suffix(".offsets.npy")


def files_of(path: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Return the file of ids that a path leads to, and that of its offsets."""
    target = resolve_links(path)
    return target, offsets_path(target)


def npy_header(dtype: np.dtype, n: int) -> bytes:
    """Return the header of a .npy file; it has the same length for every `n`."""
    text = f"{{'descr': '{dtype.str}', 'fortran_order': False, 'shape': ({n},), }}"
    n_text = _HEADER_BYTES - 10
    return b"\x93NUMPY\x01\x00" + n_text.to_bytes(2, "little") + text.ljust(n_text - 1).encode() + b"\n"


def other_owner(path: Path) -> tuple[Path, bool] | None:
    """Return another file of ids whose offsets are where those of `path` would be."""
    offsets = offsets_path(path)
    begin = offsets.name.removesuffix(".offsets.npy")
    beside = [other for other in path.parent.glob(f"{glob.escape(begin)}*") if other != path]
    for other in beside:
        owner = other.with_suffix("")
        if other.suffix == ".state" and owner != path and offsets_path(owner) == offsets:
            return owner, False
    n_ids = _n_ids_by(offsets)
    if n_ids is None:
        return None
    is_ours = _may_hold(path, n_ids)
    for other in sorted(beside):
        # A text beside its own ids may have such a size by chance.
        is_likely = other.suffix in (".bin", ".npy") or (n_ids > 0 and not is_ours)
        if offsets_path(other) == offsets and is_likely and _may_hold(other, n_ids):
            return other, True
    return None


def _n_ids_by(offsets: Path) -> int | None:
    """Return the number of ids by a file of offsets; None if it is not a valid one."""
    try:
        found = np.load(offsets, mmap_mode="r", allow_pickle=False)
        return int(found[-1]) if found.ndim == 1 and found.dtype == OFFSETS else None
    except (OSError, ValueError, EOFError, IndexError):
        return None


def _may_hold(path: Path, n_ids: int) -> bool:
    """Return whether a file has the size of `n_ids` ids."""
    if not path.is_file():
        return False
    size = path.stat().st_size - (_HEADER_BYTES if path.suffix == ".npy" else 0)
    return size in (2 * n_ids, 4 * n_ids)


class Output:
    """The two files while they are written."""

    def __init__(
        self,
        path: Path,
        dtype: np.dtype,
        key: str,
        *,
        finisher: Callable[[Path, Path], None] | None = None,
        is_kept: bool = True,
    ) -> None:
        self._dtype = dtype
        self._finisher, self._is_kept = finisher, is_kept
        self._path, self.offsets_path = files_of(path)
        self._state_path = self._path.with_name(f"{self._path.name}.state")
        self._header_bytes = _HEADER_BYTES if self._path.suffix == ".npy" else 0
        for aside in (self._state_path, part_of(self._path), part_of(self.offsets_path)):
            require_plain_file(aside)
        self._refuse_another_owner()
        is_left = any(
            path.exists() for path in (self._state_path, *map(part_of, (self._path, self.offsets_path)))
        )
        self.state = read_state(self._state_path, key) or State(key)
        if self.state.is_done and self._is_complete():
            self.is_resumed = True
            self._rename()
            return
        with ExitStack() as stack:
            self._offsets = stack.enter_context(self._opened(self.offsets_path))
            self._ids = stack.enter_context(self._opened(self._path))
            if self.state.is_done or not self._is_intact():
                self.state = State(key)
            self.is_resumed = self.state != State(key)
            if is_left and not self.is_resumed:
                why = why_restarted(self._state_path, key)
                warn(f"{path}: {_STARTED_OVER.format(why=why)}", RuntimeWarning)
            stack.push(self)  # on an error it closes the files: by themselves they would raise another
            self._begin()
            if not self.is_resumed:
                self._save_begun()
            stack.pop_all()

    def _refuse_another_owner(self) -> None:
        found = other_owner(self._path)
        if found is None:
            return
        owner, is_complete = found
        if is_complete:
            problem = f"it belongs to {owner.name}: choose a name with another beginning, or move both files"
        elif is_locked(part_of(self.offsets_path)):
            raise BlockingIOError(errno.EAGAIN, BUSY, str(self.offsets_path))
        else:
            problem = f"{owner.name} needs it, and is not complete: complete it, or remove "
            problem += f"{owner.name}.state and {owner.name}.part"
        raise FileExistsError(errno.EEXIST, problem, str(self.offsets_path))

    def _opened(self, path: Path) -> BinaryIO:
        """Open the written part of a file, as it is, and lock it."""
        part = part_of(path)
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
        file = open(os.open(part, flags, 0o666), "r+b")  # noqa: SIM115  # closed at the end of the work
        try:
            require_plain_file(part)
            _lock(file, path)
            if (read_state(self._state_path, self.state.key) or State(self.state.key)) != self.state:
                raise BlockingIOError(errno.EAGAIN, "another process has just written it", str(path))
            self._refuse_another_owner()
        except BaseException:
            file.close()
            raise
        return file

    # ------------------------------------------------------------------------------- what is written so far
    @property
    def _written(self) -> list[tuple[Path, int, int, int]]:
        """Of each file: its path, the sizes of its header and of the rest, and the checksum of the rest."""
        state = self.state
        n_ids, n_offsets = state.tokens * self._dtype.itemsize, (state.documents + 1) * OFFSETS.itemsize
        return [
            (self.offsets_path, _HEADER_BYTES, n_offsets, state.offsets_checksum),
            (self._path, self._header_bytes, n_ids, state.ids_checksum),
        ]

    @property
    def _headers(self) -> list[bytes]:
        header = npy_header(self._dtype, self.state.tokens) if self._header_bytes else b""
        return [npy_header(OFFSETS, self.state.documents + 1), header]

    def _is_intact(self) -> bool:
        """Return whether both files, read once, match the saved state."""
        return self.state != State(self.state.key) and all(
            holds(part_of(path), *rest) for path, *rest in self._written
        )

    def _is_complete(self) -> bool:
        """Return whether both files are as they should be; an earlier run may have renamed them."""
        for (path, start, n_bytes, checksum), header in zip(self._written, self._headers, strict=True):
            found = _present(path)
            is_whole = holds(found, start, n_bytes, checksum) and found.stat().st_size == start + n_bytes
            if not is_whole or not holds(found, 0, start, zlib.crc32(header)):
                return False
        return True

    def _begin(self) -> None:
        """Cut both files to what is written, or write the first bytes."""
        for file, (_, start, n_bytes, _) in zip((self._offsets, self._ids), self._written, strict=True):
            end = start + n_bytes if self.is_resumed else 0
            file.truncate(end)
            file.seek(end)
        if not self.is_resumed:
            self._put(self._ids, bytes(self._header_bytes))
            self._put(self._offsets, bytes(_HEADER_BYTES + OFFSETS.itemsize))  # the first offset is 0

    def _save_begun(self) -> None:
        """Save that nothing is done yet: without a flush, as this need not survive a power failure."""
        with naming_output(self._state_path):
            self._state_path.unlink(missing_ok=True)
            with open(self._state_path, "xb") as file:
                file.write(packed_state(self.state))

    def _put(self, file: BinaryIO, data: Any, start: int | None = None) -> None:
        """Write all of it, here or at the byte `start`, or raise an error that names the file."""
        with naming_output(self._path if file is self._ids else self.offsets_path, file):
            if start is not None:
                file.seek(start)  # this writes what is buffered
            file.write(data)

    def __enter__(self) -> Output:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Save the progress if the work ends early, and close the files; remove what no run can continue."""
        if kind is not None:
            fresh = State(self.state.key)
            with suppress(OSError):  # the first error is the one to show
                if not self.state.is_done and self.state != fresh:
                    self.save_state()
            with suppress(OSError):
                if (read_state(self._state_path, fresh.key) or fresh) == fresh:
                    for path in (part_of(self._path), part_of(self.offsets_path), self._state_path):
                        path.unlink(missing_ok=True)
        for file in (self._ids, self._offsets):
            with suppress(OSError):  # complete files are closed already
                file.close()

    def write(
        self,
        ids: np.ndarray,
        document_ends: Any,
        checksum: int = 0,
        document_bytes: int = 0,
        n_bytes: int = 0,
    ) -> None:
        """Write ids, and the ends of documents."""
        ids_data, ends_data = (
            memoryview(np.ascontiguousarray(numbers, dtype).view(np.uint8))  # type: ignore[arg-type]
            for numbers, dtype in ((ids, self._dtype), (document_ends, OFFSETS))
        )
        self._put(self._ids, ids_data)
        self._put(self._offsets, ends_data)
        state = self.state
        # In one step: an interrupt finds the old state or the new one.
        self.state = State(
            state.key,
            documents=state.documents + len(document_ends),
            tokens=state.tokens + len(ids),
            document_bytes=document_bytes,
            checksum=checksum,
            n_bytes=n_bytes,
            ids_checksum=zlib.crc32(ids_data, state.ids_checksum),
            offsets_checksum=zlib.crc32(ends_data, state.offsets_checksum),
        )

    def save_state(self) -> None:
        """Make sure that neither a kill nor a power failure loses what is written."""
        for file, path in ((self._ids, self._path), (self._offsets, self.offsets_path)):
            with naming_output(path, file):
                file.flush()
                os.fsync(file.fileno())
        with naming_output(self._state_path):
            replace_file(self._state_path, packed_state(self.state))

    def finish(self) -> None:
        """Complete the files and rename them."""
        for file, header in zip((self._offsets, self._ids), self._headers, strict=True):
            self._put(file, header, 0)
        self.state.is_done = True
        self.save_state()
        self._ids.close()
        self._offsets.close()
        self._rename()

    def _rename(self) -> None:
        if self._finisher is not None:
            with self._opened(self._path) if part_of(self._path).exists() else nullcontext():
                self._finisher(_present(self._path), _present(self.offsets_path))
        for path in (self.offsets_path, self._path):
            if not self._is_kept:
                part_of(path).unlink(missing_ok=True)
            elif part_of(path).exists():  # else an earlier run was killed between the two renames
                os.replace(part_of(path), path)
        self._state_path.unlink(missing_ok=True)


def _present(path: Path) -> Path:
    """Return where a complete file is: it may have been renamed."""
    return part_of(path) if part_of(path).exists() else path


def _lock(file: BinaryIO, path: Path) -> None:
    """Lock the written part of a file; raise if another process has locked it."""
    part = part_of(path)
    if lock(file, path) and not (part.exists() and os.path.samestat(os.fstat(file.fileno()), part.stat())):
        raise BlockingIOError(errno.EAGAIN, BUSY, str(path))  # the other has just renamed this file


def part_of(path: Path) -> Path:
    """Return the path of a file while it is not complete."""
    return path.with_name(f"{path.name}.part")
