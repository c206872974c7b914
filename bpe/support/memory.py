"""Free memory: returned to the system, or kept for the next block.

Reading a vocabulary leaves some megabytes that glibc keeps for further allocations, which may never come.

Conversely, ``MALLOC_TRIM_THRESHOLD_`` in the environment, which Dask sets for its workers, makes glibc return
each block of a text as soon as it is read. The next block then consists of pages that the system has to clear
first, and counting takes half as long again.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from collections.abc import Iterator

_THRESHOLD = "MALLOC_TRIM_THRESHOLD_"
_TRIM, _MAP = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of glibc, limits in bytes
_MAP_BYTES = 128 << 10  # the default; what is larger is mapped, and returned when it is freed
_KEPT_BYTES, _KEPT_MAP_BYTES = 256 << 20, 32 << 20

_lock = threading.Lock()
_n_open = 0


def trim_memory() -> None:
    """Return free memory to the system, where the C library is glibc; do nothing elsewhere."""
    with contextlib.suppress(AttributeError, OSError, TypeError):  # no such function, or no such library
        ctypes.CDLL(None).malloc_trim(0)


@contextlib.contextmanager
def free_memory_kept() -> Iterator[None]:
    """Keep free memory in the process while the context is open, even if the environment says otherwise.

    Several threads may enter it at once. Without that setting, or without glibc, nothing changes.
    """
    given = os.environ.get(_THRESHOLD, "")
    if not given.isdecimal():
        yield
        return
    _enter_or_leave(1, int(given))
    try:
        yield
    finally:
        _enter_or_leave(-1, int(given))


def _enter_or_leave(change: int, given: int) -> None:
    """Count the open contexts; the first one and the last one change the limits."""
    global _n_open
    with _lock:
        _n_open += change
        if _n_open == (change > 0):
            limits = (_KEPT_BYTES, _KEPT_MAP_BYTES) if change > 0 else (given, _MAP_BYTES)
            with contextlib.suppress(AttributeError, OSError, TypeError):
                for name, n_bytes in zip((_TRIM, _MAP), limits, strict=True):
                    ctypes.CDLL(None).mallopt(name, ctypes.c_int(min(n_bytes, 2**31 - 1)))
            if change < 0:
                trim_memory()
