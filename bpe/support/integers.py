"""Integers that callers give, and those that they get."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

_LONG = 1000  # a shorter list is as quickly made by numpy alone
_MOST_INTS = 1 << 20
_int_of: Any = ()  # the int of each id; grows as greater ids come


def as_integer(value: Any, name: str) -> int:
    """Return an integer of any type as int; a TypeError names the parameter."""
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r:.80}") from None


def mask_of(n: int, out: Any) -> np.ndarray:
    """Return `out` if it is an array of `n` bool, or a new one for None; else raise."""
    import numpy as np

    if out is None:
        return np.empty(n, bool)
    if not isinstance(out, np.ndarray) or out.dtype != bool or out.shape != (n,):
        dtype = getattr(out, "dtype", type(out).__name__)
        raise TypeError(f"out must be a ({n},) array of bool, not {np.shape(out)} of {dtype}")
    return out


def as_integers(values: Any, name: str) -> np.ndarray:
    """Return integers of any type as ``(n,) int64``; an error names the parameter."""
    import numpy as np

    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers that fit int64, not {array.reshape(-1)[0]!r:.80}")
    if array.size and array.dtype == np.uint64 and array.max() >= 2**63:
        raise OverflowError(f"{name} must fit int64, not {array.max()}")
    return array.astype(np.int64).reshape(-1)


def as_list(ids: np.ndarray) -> list[int]:
    """Return ids as a list of int.

    Equal ids of a long list are the same object: that takes a fifth of the memory, and half the time.
    """
    global _int_of
    if ids.size < _LONG:
        return ids.tolist()
    int_of, greatest = _int_of, int(ids.max())
    if greatest >= len(int_of):
        if greatest >= _MOST_INTS:
            return ids.tolist()
        import numpy as np

        _int_of = int_of = np.arange(1 << greatest.bit_length()).astype(object)
    return int_of.take(ids).tolist()
