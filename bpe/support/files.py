"""Writing files so that a crash leaves either the old file or the new one, never a part.

A file that is being written is locked, so that two processes never write the same one.
"""

from __future__ import annotations

import errno
import os
import secrets
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

BUSY = "another process is writing it: wait for it to finish, or choose another place"


def lock(file: BinaryIO, path: Path) -> bool:
    """Lock an open file until it is closed or the process ends; return False where there are no such locks.

    ``BlockingIOError`` says that another process has locked it.
    """
    try:
        import fcntl
    except ImportError:  # Windows does not rename a file that another process has open
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BlockingIOError(errno.EAGAIN, BUSY, str(path)) from None
    except OSError:
        return False
    return True


def is_locked(path: Path) -> bool:
    """Return whether another process has locked a file; False where that is not known."""
    try:
        with open(path, "rb") as file:
            lock(file, path)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


@contextmanager
def naming_output(path: str | os.PathLike[str], file: BinaryIO | None = None) -> Iterator[None]:
    """Put the name of a file into errors of writing it, such as a full disk: the system does not."""
    try:
        with nullcontext() if file is None else _size_in_errors(file):
            yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = os.fspath(path)
        raise


@contextmanager
def _size_in_errors(file: BinaryIO, n_bytes: int | None = None) -> Iterator[None]:
    """Add to errors of writing how many bytes a file has, and how many it should have, if that is known."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            of = "" if n_bytes is None else f" of {n_bytes:,}"
            error.strerror = f"{error.strerror}, after {os.fstat(file.fileno()).st_size:,}{of} bytes"
        raise


def atomic_write(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file, or replace one, in one step: its permissions, and a symbolic link to it, are kept."""
    target = resolve_links(path)
    if target.is_dir() or os.fspath(path).endswith(("/", os.sep)):
        raise IsADirectoryError(f"{target} is a folder: a file name is required")
    if target.exists() and not target.is_file():  # a pipe or a device, which cannot be replaced
        with naming_output(path):
            target.write_bytes(data)
        return
    with naming_output(path):
        replace_file(target, data)


def resolve_links(path: str | os.PathLike[str]) -> Path:
    """Return the path that symbolic links lead to; ``OSError`` if they lead in a circle."""
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fspath(path))
    return target


def refuse_inputs(
    outputs: Iterable[str | os.PathLike[str]], inputs: Iterable[str | os.PathLike[str]]
) -> None:
    """Raise ``ValueError`` if an output is a file that is also an input, by this path or another.

    The input "-" is standard input. Devices, pipes and folders may be both.
    """
    found = ((path, os.stat(path)) for path in outputs if os.path.isfile(path))
    replaced = {(status.st_dev, status.st_ino): path for path, status in found}
    for path in inputs if replaced else ():
        name = os.fspath(path)
        try:
            status = os.stat(sys.stdin.fileno() if name == "-" else path)
        except (OSError, ValueError, AttributeError):  # missing or closed: reading it will raise
            continue
        output = replaced.get((status.st_dev, status.st_ino))
        if output is not None:
            is_same = os.path.abspath(output) == os.path.abspath(name)
            other = "" if is_same else f" ({'standard input' if name == '-' else name})"
            raise ValueError(f"{output} is also an input{other}: choose another output")


def replace_file(target: Path, data: bytes) -> None:
    """Write a file, or replace one, in one step; a symbolic link is replaced itself, not its target."""
    with replacing(target, len(data)) as file:
        file.write(data)


@contextmanager
def replacing(target: Path, n_bytes: int | None = None) -> Iterator[BinaryIO]:
    """Open a temporary file in the same folder, which replaces `target` at the end, if nothing is raised."""
    mode = _mode(target)
    name = target.with_name(f".{target.name}.{secrets.token_urlsafe(6)}.tmp")
    try:
        # Nobody may be able to read it who cannot read the file that it replaces.
        file = open(name, "xb", opener=partial(os.open, mode=0o666 if mode is None else mode))  # noqa: SIM115
    except FileNotFoundError:
        if target.parent.is_dir():  # such as /proc
            raise PermissionError(f"cannot write to {target.parent}: it does not accept new files") from None
        raise FileNotFoundError(f"no such folder: {target.parent}") from None
    try:
        try:
            with _size_in_errors(file, n_bytes):
                yield file
                file.flush()
                os.fsync(file.fileno())
        finally:
            with suppress(OSError):  # it would try again to write what could not be written
                file.close()
        if mode is not None:
            os.chmod(name, mode)
        os.replace(name, target)
    except BaseException:
        name.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _mode(target: Path) -> int | None:
    """Return the permissions of a file, or None if it does not exist."""
    try:
        return target.stat().st_mode & 0o777
    except FileNotFoundError:
        return None


def _sync_folder(folder: Path) -> None:
    """Flush the folder, if the system allows it, so that the new name survives a power cut."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
