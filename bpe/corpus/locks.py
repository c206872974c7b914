"""Locks of files that are being written: two processes never write one."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import BinaryIO

BUSY = "another process is writing it: wait until it ends, or name another place"


def lock(file: BinaryIO, path: Path) -> bool:
    """Lock an open file until it is closed, or the process ends."""
    try:
        import fcntl
    except ImportError:  # Windows renames no file that another process has open
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BlockingIOError(errno.EAGAIN, BUSY, str(path)) from None
    except OSError:
        return False
    return True


def is_locked(path: Path) -> bool:
    """Say whether another process has locked a file; False where that is not known, or there is no file."""
    try:
        with open(path, "rb") as file:
            lock(file, path)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False
