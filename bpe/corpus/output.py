"""Files of ids that outlive a kill: written aside, with a note of how far they are, and renamed in the end.

::

    corpus.bin.part            ids                      corpus.bin           renamed
    corpus.offsets.npy.part    offsets of documents     corpus.offsets.npy   renamed
    corpus.bin.state           how far both are                              removed

The note is renewed, in one step, after what it tells of is on the disk. Whoever finds it cuts both files to
the lengths it names, and goes on. Both are locked while they are open, so that no two processes write them.
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
    """Return where the offsets beside a file of ids are.

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
    """Return the header of a .npy file, of the same length for every `n`.

    Parameters
    ----------
    dtype : numpy.dtype
    n : int
        Items of the array.

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
    """How far the work is.

    Attributes
    ----------
    key : str
        What the work is; of another work, nothing is gone on with.
    documents, tokens : int
        Written: documents that are complete, and ids.
    document_bytes : int
        How much is done of the document behind those.
    checksum : int
        Of all bytes of the corpus so far.
    n_bytes : int
        How many those are.
    is_done : bool
        Whether nothing is left but to rename the files.
    """

    key: str
    documents: int = 0
    tokens: int = 0
    document_bytes: int = 0
    checksum: int = 0
    n_bytes: int = 0
    is_done: bool = False


class Output:
    """The files being written.

    Parameters
    ----------
    path : path
        Of the ids; with the suffix .npy a numpy file, else nothing but the ids.
    dtype : numpy.dtype
    key : str
        What the work is.

    Attributes
    ----------
    offsets_path : Path
    state : State
    is_resumed : bool
        Whether there is something of an earlier run.

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
        # Those of ids.bin and of ids.npy are the same file.
        self._offsets = self._opened(self.offsets_path, _HEADER_BYTES + n_offsets * OFFSETS.itemsize)
        self._ids = self._opened(self._path, self._header_bytes + self.state.tokens * dtype.itemsize)
        if self.state == State(key):
            self._ids.write(b"\0" * self._header_bytes)
            self._offsets.write(b"\0" * (_HEADER_BYTES + OFFSETS.itemsize))  # the first offset is 0

    def _found(self, key: str) -> State | None:
        """Return the state of an earlier run that can be gone on with."""
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
        """Open what is written of a file, cut to a length; anew where nothing is gone on with."""
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)  # cut when it is locked, not before
        file = open(os.open(part_of(path), flags, 0o666), "r+b")  # noqa: SIM115  # whoever ends the work closes it
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
        """Note how far the work is where it ends early, and close the files."""
        if kind is not None and not self.state.is_done:
            with contextlib.suppress(OSError):  # what went wrong is more telling
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
        """Write ids, and where documents end.

        Parameters
        ----------
        ids : (n,) integers
        document_ends : (documents,) integers
            Numbers of ids from the beginning of the file.
        checksum, document_bytes, n_bytes : int
            Of the new state.

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
        # At once: an interrupt finds the old state or the new one.
        self.state = State(state.key, n_documents, n_tokens, document_bytes, checksum, n_bytes)

    def save_state(self) -> None:
        """Make all that is written outlive a kill, or a power cut.

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
        """Put the files in their places.

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
            if part_of(path).exists():  # else a run before was killed between here and the next line
                os.replace(part_of(path), path)
        self._state_path.unlink(missing_ok=True)


def _lock(file: BinaryIO, path: Path) -> None:
    """Keep other processes from what is written of a file, or raise where one keeps it from us."""
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
        raise BlockingIOError(errno.EAGAIN, problem, str(path))  # it ended, and renamed what was opened here


def part_of(path: Path) -> Path:
    """Return where a file is until it is complete.

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
