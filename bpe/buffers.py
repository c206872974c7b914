"""Bytes and text as arrays for kernels, where they are: nothing is copied."""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable

import numpy as np

__all__ = ["as_array"]


class _Lent:
    """Bytes of an object as an array that numpy does not know to be read-only."""

    def __init__(self, owner: object, address: int, n_bytes: int) -> None:
        self.owner = owner  # keeps the memory
        self.__array_interface__ = {
            "data": (address, False),
            "shape": (n_bytes,),
            "typestr": "|u1",
            "version": 3,
        }


@functools.cache
def _utf8_address() -> Callable[[str, None], int]:
    """Return CPython's function, as an object of our own: that of ``ctypes.pythonapi`` is everybody's."""
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return prototype(("PyUnicode_AsUTF8AndSize", ctypes.pythonapi))


def as_array(data: bytes | bytearray | str) -> np.ndarray:
    """Return bytes as an array, without a copy, of the type that kernels are compiled for: a writable one.

    Kernels only read it.

    Parameters
    ----------
    data : bytes, bytearray or str
        A str is of ASCII.

    Returns
    -------
    (n_bytes,) uint8

    Examples
    --------
    >>> as_array("hi"), as_array(b"hi")
    (array([104, 105], dtype=uint8), array([104, 105], dtype=uint8))
    """
    if isinstance(data, str):
        if sys.implementation.name != "cpython":
            return as_array(data.encode())
        # Where all is ASCII, UTF-8 is what the str itself holds.
        return np.asarray(_Lent(data, _utf8_address()(data, None), len(data)))
    array = np.frombuffer(data, np.uint8)
    if array.flags.writeable:
        return array
    return np.asarray(_Lent(array, array.ctypes.data, len(array)))
