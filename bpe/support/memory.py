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
_n_open = 0  # contexts of free_memory_kept


def trim_memory() -> None:
    """Return free memory to the system, where the C library is glibc; do nothing elsewhere."""
    with contextlib.suppress(AttributeError, OSError, TypeError):  # no such function, or no such library
        ctypes.CDLL(None).malloc_trim(0)


@contextlib.contextmanager
def free_memory_kept() -> Iterator[None]:
    """Keep free memory in the process while the context is open, even if the environment says otherwise.

    Several threads may enter it at once. Without that setting, or without glibc, nothing changes.
    """
    global _n_open
    given = os.environ.get(_THRESHOLD, "")
    if not given.isdecimal():
        yield
        return
    with _lock:
        _n_open += 1
        if _n_open == 1:
            _set_limits(_KEPT_BYTES, _KEPT_MAP_BYTES)
    try:
        yield
    finally:
        with _lock:
            _n_open -= 1
            if _n_open == 0:
                _set_limits(int(given), _MAP_BYTES)
                trim_memory()


def _set_limits(trim_bytes: int, map_bytes: int) -> None:
    """Set how much free memory glibc keeps, and from which size on it maps a block by itself."""
    with contextlib.suppress(AttributeError, OSError, TypeError):
        for name, n_bytes in ((_TRIM, trim_bytes), (_MAP, map_bytes)):
            ctypes.CDLL(None).mallopt(name, ctypes.c_int(min(n_bytes, 2**31 - 1)))
