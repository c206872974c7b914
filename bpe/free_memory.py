"""Free memory that goes back to the system.

Reading a vocabulary leaves some megabytes that glibc keeps for the next allocations, which may never come.
"""

import contextlib
import ctypes


def give_back() -> None:
    """Return free memory to the system, where the C library is glibc; do nothing elsewhere.

    Complexity
    ----------
    Some milliseconds.

    Examples
    --------
    >>> give_back()
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):  # no such function, or no such library
        ctypes.CDLL(None).malloc_trim(0)
