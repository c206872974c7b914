"""What kernels return instead of raising, and how a facade turns it into an exception.

A status is an int64: 0 for success, below 0 for one of the failures here.
"""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

OK = 0
MISSING = -1
NEGATIVE = -2
OVERFLOW = -3
NOT_A_NUMBER = -4
NO_MEMORY = -5
DUPLICATE = -6
OUT_OF_RANGE = -7

INT64_MIN = np.iinfo(np.int64).min
INT64_MAX = np.iinfo(np.int64).max

_ERRORS: dict[int, tuple[type[Exception], str]] = {
    NEGATIVE: (ValueError, "the count of {} would fall below 0"),
    OVERFLOW: (OverflowError, "the count of {} would leave the range of its type"),
    NOT_A_NUMBER: (ValueError, "the priority of {} is not a number"),
    NO_MEMORY: (MemoryError, "no memory to grow for {}"),
    DUPLICATE: (ValueError, "{} stands there twice"),
    OUT_OF_RANGE: (IndexError, "{} is out of range"),
}


def error(status: int, what: object) -> Exception:
    """Return the exception for a failed status; a missing key gives the bare ``KeyError(key)`` of a dict."""
    if status == MISSING:
        return KeyError(what)
    kind, message = _ERRORS[status]
    return kind(message.format(f"key {what}" if isinstance(what, (int, np.integer)) else what))


def int64(value: Any, name: str = "key") -> int:
    """Return `value` as an int that fits int64, or raise ``TypeError`` / ``OverflowError`` with its name."""
    try:
        number = index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}") from None
    if not INT64_MIN <= number <= INT64_MAX:
        raise OverflowError(f"{name} {number} does not fit int64")
    return number


def int64_array(values: Any, name: str = "keys") -> np.ndarray:
    """Return `values` as a C-contiguous ``(n,) int64`` array, or raise with its name."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, not {array.ndim}")
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers, not {array.dtype}")
    if array.dtype.kind == "u" and array.dtype.itemsize == 8 and array.max() > INT64_MAX:
        raise OverflowError(f"{name} hold a value that does not fit int64")
    return np.ascontiguousarray(array, dtype=np.int64)
