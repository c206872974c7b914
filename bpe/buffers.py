"""Bytes and text as arrays for kernels, without a copy."""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable

import numpy as np


class _Lent:
    """The bytes of an object as an array that numpy believes to be writable."""

    def __init__(self, owner: object, address: int, n_bytes: int) -> None:
        self.owner = owner  # keeps the memory alive
        self.__array_interface__ = {
            "data": (address, False),
            "shape": (n_bytes,),
            "typestr": "|u1",
            "version": 3,
        }


@functools.cache
def _utf8_address() -> Callable[[str, object], int]:
    """Return CPython's function as a private object: the one of ``ctypes.pythonapi`` is shared."""
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return prototype(("PyUnicode_AsUTF8AndSize", ctypes.pythonapi))


def as_array(data: bytes | bytearray | str) -> np.ndarray:
    """Return bytes as an array without a copy. Kernels must only read it.

    Its type is that of a writable array, because the kernels are compiled for writable arrays.
    """
    if isinstance(data, str):
        if sys.implementation.name != "cpython":
            return as_array(data.encode())
        n_bytes = ctypes.c_ssize_t()
        address = _utf8_address()(data, ctypes.byref(n_bytes))  # of an ASCII str, its own memory
        return np.asarray(_Lent(data, address, n_bytes.value))
    array = np.frombuffer(data, np.uint8)
    if array.flags.writeable:
        return array
    return np.asarray(_Lent(array, array.ctypes.data, len(array)))


def code_points(text: str) -> np.ndarray:
    """Return the code points of a text, ``(n,) uint32``."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


def widths_of(characters: np.ndarray) -> np.ndarray:
    """Return how many bytes of UTF-8 characters have, ``(n,) int64``.

    A byte that is not valid UTF-8 is a character, U+DC00 plus its value, as in :func:`bpe.support.text.as_text`.
    """
    widths = 1 + (characters >= 0x80).astype(np.int64) + (characters >= 0x800) + (characters >= 0x10000)
    widths[(characters >= 0xDC80) & (characters < 0xDD00)] = 1
    return widths
