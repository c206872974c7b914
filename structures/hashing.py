"""Mixing and packing of 64-bit keys.

A pair of ids ``(left, right)`` is one int64 key, ``left << 32 | right``, so that keys sort as pairs do.

In numba, unsigned arithmetic silently becomes signed if one operand is signed: every constant is cast.
"""

from __future__ import annotations

import numpy as np
from numba.extending import overload

from structures.jit import inner
from structures.status import int64

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio, odd
_HALF = np.uint64(32)
_LOW = np.int64(0xFFFFFFFF)
MAX_ID = 2**31 - 1


@inner
def mix(key, shift):
    """Hash an int64 key to its home slot in a table of ``2**(64 - shift)`` slots.

    Fibonacci hashing (Knuth, The Art of Computer Programming, 6.4) of the key with its halves folded.
    """
    folded = np.uint64(np.int64(key))  # without the compiler, a negative int is no uint64
    folded ^= folded >> _HALF
    return np.int64((folded * _GOLDEN) >> np.uint64(shift))


@inner
def _pack(left, right):
    return (left << np.int64(32)) | right


@inner
def _unpack(key):
    return key >> np.int64(32), key & _LOW


def pack_pair(left: int, right: int) -> int:
    """Pack two ids into one int64 key; keys sort as the pairs do.

    Parameters
    ----------
    left, right : int
        Ids in ``[0, 2**31)``.

    Returns
    -------
    int
        ``left << 32 | right``, never negative.

    Raises
    ------
    ValueError
        An id is out of range. Inside ``@njit`` nothing is checked.

    Complexity
    ----------
    O(1); usable inside ``@njit``.

    Examples
    --------
    >>> unpack_pair(pack_pair(7, 9))
    (7, 9)
    """
    left, right = int64(left, "left"), int64(right, "right")
    if not (0 <= left <= MAX_ID and 0 <= right <= MAX_ID):
        raise ValueError(f"pair ids must be in [0, 2**31), not ({left}, {right})")
    return left << 32 | right


def unpack_pair(key: int) -> tuple[int, int]:
    """Split a key made by :func:`pack_pair` into its two ids.

    Parameters
    ----------
    key : int
        A packed pair.

    Returns
    -------
    (left, right) : tuple of int

    Raises
    ------
    ValueError
        :func:`pack_pair` did not make this key. Inside ``@njit`` nothing is checked.

    Complexity
    ----------
    O(1); usable inside ``@njit``.

    Examples
    --------
    >>> unpack_pair(4294967298)
    (1, 2)
    """
    key = int64(key)
    left, right = key >> 32, key & 0xFFFFFFFF
    if left < 0 or right > MAX_ID:
        raise ValueError(f"{key} is not a packed pair")
    return left, right


@overload(pack_pair)
def _pack_typed(left, right):
    return lambda left, right: _pack(left, right)


@overload(unpack_pair)
def _unpack_typed(key):
    return lambda key: _unpack(key)
