"""Files of ids that survive a kill: written aside, with a note of the progress, and renamed at the end.

::

    corpus.bin.part            ids                      corpus.bin           renamed
    corpus.offsets.npy.part    offsets of documents     corpus.offsets.npy   renamed
    corpus.bin.state           the progress of both                          removed

The note is replaced in one step, after all that it counts is on the disk. The next run finds it, cuts both
files to the lengths in it, and resumes. Both files are locked while they are open: two processes never write
them.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from bpe.atomic_files import atomic_write

OFFSETS = np.dtype("<i8")
_HEADER_BYTES = 128


def offsets_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of the offsets that belong to a file of ids.

    Parameters
    ----------
    path : path

    Returns
    -------
    Path

    Examples
    --------
    >>> offsets_path("corpus.bin").name
    'corpus.offsets.npy'
    """
    return Path(path).with_suffix(".offsets.npy")


def npy_header(dtype: np.dtype, n: int) -> bytes:
    """Return the header of a .npy file; it has the same length for every `n`.

    Parameters
    ----------
    dtype : numpy.dtype
    n : int
        The number of items.

    Returns
    -------
    bytes

    Examples
    --------
    >>> len(npy_header(OFFSETS, 0)), len(npy_header(OFFSETS, 10**15))
    (128, 128)
    """
    text = f"{{'descr': '{dtype.str}', 'fortran_order': False, 'shape': ({n},), }}"
    n_text = _HEADER_BYTES - 10
    return b"\x93NUMPY\x01\x00" + n_text.to_bytes(2, "little") + text.ljust(n_text - 1).encode() + b"\n"


@dataclass
class State:
    """The progress of the work.

    Attributes
    ----------
    key : str
        Identifies the work; only a run with the same key resumes it.
    documents, tokens : int
        How many complete documents, and how many ids, are written.
    document_bytes : int
        How many bytes of the next document are done.
    checksum : int
        CRC-32 of all bytes of the corpus so far.
    n_bytes : int
        The number of these bytes.
    is_done : bool
        Whether only the renaming is left.
    """

    key: str
    documents: int = 0
    tokens: int = 0
    document_bytes: int = 0
    checksum: int = 0
    n_bytes: int = 0
    is_done: bool = False


class Output:
    """The two files while they are written.

    Parameters
    ----------
    path : path
        The file of ids: a numpy file if the suffix is .npy, else only the ids.
    dtype : numpy.dtype
    key : str
        Identifies the work.

    Attributes
    ----------
    offsets_path : Path
    state : State
    is_resumed : bool
        Whether an earlier run has left something to resume.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     output = Output(Path(folder, "ids.bin"), np.dtype("<u2"), "work")
    ...     output.write(np.array([1, 2, 3]), [2, 3])
    ...     output.finish()
    ...     np.fromfile(Path(folder, "ids.bin"), "<u2"), np.load(Path(folder, "ids.offsets.npy"))
    (array([1, 2, 3], dtype=uint16), array([0, 2, 3]))
    """

    def __init__(self, path: Path, dtype: np.dtype, key: str) -> None:
        self._path, self._dtype = Path(os.path.realpath(path)), dtype
        self.offsets_path = offsets_path(self._path)
        self._state_path = self._path.with_name(f"{self._path.name}.state")
        self._header_bytes = _HEADER_BYTES if self._path.suffix == ".npy" else 0
        self.state = self._found(key) or State(key)
        self.is_resumed = self.state != State(key)
        if self.state.is_done:
            self._rename()
            return
        n_offsets = self.state.documents + 1
        # ids.bin and ids.npy share one file of offsets, so its lock counts for both.
        self._offsets = self._opened(self.offsets_path, _HEADER_BYTES + n_offsets * OFFSETS.itemsize)
        self._ids = self._opened(self._path, self._header_bytes + self.state.tokens * dtype.itemsize)
        if self.state == State(key):
            self._ids.write(b"\0" * self._header_bytes)
            self._offsets.write(b"\0" * (_HEADER_BYTES + OFFSETS.itemsize))  # the first offset is 0

    def _found(self, key: str) -> State | None:
        """Return the state of an earlier run that can be resumed."""
        try:
            state = State(**json.loads(self._state_path.read_bytes()))
            if state.key != key:
                return None
            if state.is_done:
                return state
            sizes = [part_of(path).stat().st_size for path in (self._path, self.offsets_path)]
        except (OSError, ValueError, TypeError):
            return None
        wanted = self._header_bytes + state.tokens * self._dtype.itemsize
        wanted_offsets = _HEADER_BYTES + (state.documents + 1) * OFFSETS.itemsize
        return state if sizes[0] >= wanted and sizes[1] >= wanted_offsets else None

    def _opened(self, path: Path, n_bytes: int) -> BinaryIO:
        """Open the written part of a file, cut to a length; an empty file if nothing is resumed."""
        flags = (
            os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
        )  # it is cut after it is locked, not before
        file = open(os.open(part_of(path), flags, 0o666), "r+b")  # noqa: SIM115  # closed at the end of the work
        try:
            _lock(file, path)
            if (self._found(self.state.key) or State(self.state.key)) != self.state:
                raise BlockingIOError(errno.EAGAIN, "another process has just written it", str(path))
            n_bytes = 0 if self.state == State(self.state.key) else n_bytes
            file.truncate(n_bytes)
            file.seek(n_bytes)
        except BaseException:
            file.close()
            raise
        return file

    def __enter__(self) -> Output:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Save the progress if the work ends early, and close the files."""
        if kind is not None and not self.state.is_done:
            with contextlib.suppress(OSError):  # the first error is the one to show
                if self.state == State(self.state.key):
                    for path in (self._path, self.offsets_path):
                        part_of(path).unlink()
                else:
                    self.save_state()
        self._ids.close()
        self._offsets.close()

    def write(
        self,
        ids: np.ndarray,
        document_ends: Any,
        checksum: int = 0,
        document_bytes: int = 0,
        n_bytes: int = 0,
    ) -> None:
        """Write ids, and the ends of documents.

        Parameters
        ----------
        ids : (n,) integers
        document_ends : (documents,) integers
            Each end as the number of ids from the beginning of the file.
        checksum, document_bytes, n_bytes : int
            Fields of the new state.

        Raises
        ------
        OSError
            They cannot be written.

        Complexity
        ----------
        O(n).
        """
        ids.astype(self._dtype).tofile(self._ids)
        self._offsets.write(np.asarray(document_ends, OFFSETS).tobytes())
        state = self.state
        n_documents, n_tokens = state.documents + len(document_ends), state.tokens + len(ids)
        # In one step: an interrupt finds the old state or the new one.
        self.state = State(state.key, n_documents, n_tokens, document_bytes, checksum, n_bytes)

    def save_state(self) -> None:
        """Make sure that a kill, or a power cut, loses nothing that is written.

        Raises
        ------
        OSError
            It cannot be written.

        Complexity
        ----------
        A flush to the disk.
        """
        for file in (self._ids, self._offsets):
            file.flush()
            os.fsync(file.fileno())
        atomic_write(self._state_path, json.dumps(asdict(self.state)).encode())

    def finish(self) -> None:
        """Complete the files and rename them.

        Raises
        ------
        OSError
            They cannot be written.

        Complexity
        ----------
        A flush to the disk.
        """
        if self._header_bytes:
            self._ids.seek(0)
            self._ids.write(npy_header(self._dtype, self.state.tokens))
        self._offsets.seek(0)
        self._offsets.write(npy_header(OFFSETS, self.state.documents + 1))
        self.state.is_done = True
        self.save_state()
        self._ids.close()
        self._offsets.close()
        self._rename()

    def _rename(self) -> None:
        for path in (self.offsets_path, self._path):
            if part_of(path).exists():  # else an earlier run was killed between the two renames
                os.replace(part_of(path), path)
        self._state_path.unlink(missing_ok=True)


def _lock(file: BinaryIO, path: Path) -> None:
    """Lock the written part of a file; raise if another process has locked it."""
    try:
        import fcntl
    except ImportError:  # Windows renames no file that another process has open
        return
    problem = "another process is writing it: wait until it ends, or name another file"
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BlockingIOError(errno.EAGAIN, problem, str(path)) from None
    except OSError:  # a file system without locks
        return
    part = part_of(path)
    if not part.exists() or not os.path.samestat(os.fstat(file.fileno()), part.stat()):
        raise BlockingIOError(errno.EAGAIN, problem, str(path))  # the other has just renamed this file


def part_of(path: Path) -> Path:
    """Return the path of a file while it is not complete.

    Parameters
    ----------
    path : Path

    Returns
    -------
    Path

    Examples
    --------
    >>> part_of(Path("ids.bin")).name
    'ids.bin.part'
    """
    return path.with_name(f"{path.name}.part")
