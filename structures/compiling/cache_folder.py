"""The folder of the cache: whether it may be trusted, and whose turn it is to write.

numba's cache is made of pickles and machine code, and who writes to it chooses what this process runs. So a
folder that other users can write to is not used.

A process that adds code to the cache reads an index, and writes it again. Two at once would lose what one of
them adds, so processes take turns.
"""

from __future__ import annotations

import functools
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]

LONGEST_WAIT = 5.0
"""Seconds that a process waits for its turn; a turn takes some milliseconds."""

_PAUSE = 0.002


@functools.cache
def others_may_write(folder: str, source: str) -> bool:
    """Return whether others than this user, and the owner of a source file, can write to its cache folder."""
    if not hasattr(os, "getuid"):
        return False
    trusted = {0, os.getuid(), os.stat(source).st_uid}
    own, above = (os.stat(each) for each in (folder, Path(folder).parent))
    if {own.st_uid, above.st_uid} - trusted or own.st_mode & stat.S_IWOTH:
        return True
    # With the sticky bit, as in /tmp, nobody can replace what belongs to others.
    return bool(above.st_mode & stat.S_IWOTH and not above.st_mode & stat.S_ISVTX)


@contextmanager
def turn_to_write(folder: str) -> Iterator[None]:
    """Wait until no other process writes to a cache folder, and let others wait while the context is open.

    Nobody waits for more than :data:`LONGEST_WAIT`: the other process may be suspended.
    """
    if fcntl is None:
        yield
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            _lock(opened)
        yield
    finally:
        os.close(opened)  # which ends the turn


def _lock(opened: int) -> None:
    started = time.monotonic()
    while time.monotonic() - started < LONGEST_WAIT:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(_PAUSE)
