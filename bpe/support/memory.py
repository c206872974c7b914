"""Free memory: given back to the system, or kept for the next block.

Reading a vocabulary leaves some megabytes that glibc keeps for the next allocations, which may never come.

The other way round, ``MALLOC_TRIM_THRESHOLD_`` in the environment, which Dask sets for its workers, makes
glibc give each block of a text back as soon as it is read. The next block is made of pages that the system
has to clear first: counting takes half as long again.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from collections.abc import Iterator

_THRESHOLD = "MALLOC_TRIM_THRESHOLD_"
_TRIM, _MAP = -1, -3  # glibc's numbers of these two of its limits, in bytes
_MAP_BYTES = 128 << 10  # its own; more is mapped, and given back when it is freed
_KEPT_BYTES, _KEPT_MAP_BYTES = 256 << 20, 32 << 20

_lock = threading.Lock()
_n_keeping = 0


def trim_memory() -> None:
    """Return free memory to the system, where the C library is glibc; do nothing elsewhere."""
    with contextlib.suppress(AttributeError, OSError, TypeError):  # no such function, or no such library
        ctypes.CDLL(None).malloc_trim(0)


@contextlib.contextmanager
def free_memory_kept() -> Iterator[None]:
    """Let a process keep free memory during some work, where its environment says that it must not.

    Afterwards the memory is given back, and what the environment says holds again. It may be entered by
    several threads at once. Without that setting, or without glibc, nothing is changed.
    """
    given = os.environ.get(_THRESHOLD, "")
    if not given.isdecimal():
        yield
        return
    _count_one(1, int(given))
    try:
        yield
    finally:
        _count_one(-1, int(given))


def _count_one(change: int, given: int) -> None:
    """Begin or end a work; the first and the last of those at once change the limits."""
    global _n_keeping
    with _lock:
        _n_keeping += change
        if _n_keeping == (change > 0):
            limits = (_KEPT_BYTES, _KEPT_MAP_BYTES) if change > 0 else (given, _MAP_BYTES)
            with contextlib.suppress(AttributeError, OSError, TypeError):
                for name, n_bytes in zip((_TRIM, _MAP), limits, strict=True):
                    ctypes.CDLL(None).mallopt(name, ctypes.c_int(min(n_bytes, 2**31 - 1)))
            if change < 0:
                trim_memory()
