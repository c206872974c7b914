"""Text as this package uses it: a ``str`` that can stand for any bytes, and arrays of both for kernels.

Bytes that are not UTF-8 become lone surrogates (Python's "surrogateescape"). A regular expression can run
over it, and the way back to bytes loses nothing.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable, Sequence

import numpy as np


def as_text(document: str | bytes, what: str = "text") -> str:
    """Return a document as text: bytes are kept exactly, lone surrogates of a str become U+FFFD."""
    if isinstance(document, str):
        if document.isascii():
            return document
        try:
            document.encode()
        except UnicodeEncodeError:
            return document.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return document
    if isinstance(document, (bytes, bytearray, memoryview)):
        return bytes(document).decode("utf-8", "surrogateescape")
    raise TypeError(f"{what} must be str or bytes, not {type(document).__name__}")


def as_bytes(text: str) -> bytes:
    """Return the bytes that a text stands for; the inverse of :func:`as_text` on bytes."""
    return text.encode("utf-8", "surrogateescape")


def text_or_none(data: bytes) -> str | None:
    """Return bytes as text; None if they are not valid UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def utf8_of(document: str | bytes, what: str = "text") -> bytes:
    """Return the bytes of a document, as ``as_bytes(as_text(document))`` does, but faster."""
    if isinstance(document, str):
        try:
            return document.encode()
        except UnicodeEncodeError:
            return as_text(document).encode()
    if isinstance(document, (bytes, bytearray, memoryview)):
        return bytes(document)
    raise TypeError(f"{what} must be str or bytes, not {type(document).__name__}")


# ---------------------------------------------------------------------------------------------- arrays
class _BorrowedMemory:
    """Memory of another object, which numpy takes for writable."""

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
    """Return CPython's function with types of our own: others may change those of ``ctypes.pythonapi``."""
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return prototype(("PyUnicode_AsUTF8AndSize", ctypes.pythonapi))


def as_array(data: bytes | bytearray | str) -> np.ndarray:
    """Return bytes as an array without a copy, which kernels must only read.

    It says that it is writable, because kernels are compiled for writable arrays.
    """
    if isinstance(data, str):
        if sys.implementation.name != "cpython":
            return as_array(data.encode())
        n_bytes = ctypes.c_ssize_t()
        address = _utf8_address()(data, ctypes.byref(n_bytes))  # of an ASCII str, its own memory
        return np.asarray(_BorrowedMemory(data, address, n_bytes.value))
    array = np.frombuffer(data, np.uint8)
    if array.flags.writeable:
        return array
    return np.asarray(_BorrowedMemory(array, array.ctypes.data, len(array)))


def code_points(text: str) -> np.ndarray:
    """Return the code points of a text, ``(n,) uint32``."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


def widths_of(characters: np.ndarray) -> np.ndarray:
    """Return how many bytes each character has in UTF-8; a byte that :func:`as_text` escapes is one."""
    widths = 1 + (characters >= 0x80).astype(np.int64) + (characters >= 0x800) + (characters >= 0x10000)
    widths[(characters >= 0xDC80) & (characters < 0xDD00)] = 1
    return widths


def ends_of(texts: Sequence[str | bytes | np.ndarray]) -> np.ndarray:
    """Return where each text ends in the concatenation of all."""
    return np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))


def begins_character(data: bytes) -> np.ndarray:
    """Return for each byte whether a character begins there."""
    return (np.frombuffer(data, np.uint8) & 0xC0) != 0x80


def is_between_characters(data: bytes, place: int) -> bool:
    """Return whether a place cuts no character; bytes that are not valid UTF-8 are characters."""
    for start in range(place - 1, max(place - 4, -1), -1):
        if data[start] & 0xC0 != 0x80:
            size = 1 if data[start] < 0xC0 else 2 if data[start] < 0xE0 else 3 if data[start] < 0xF0 else 4
            if start + size <= place:
                return True
            try:
                data[start : start + size].decode()
            except UnicodeDecodeError:
                return True
            return len(data) < start + size
    return True


def codes_beginning_with(data: bytes) -> range | None:
    r"""Return the code points of the characters whose UTF-8 begins with these bytes and is longer, if any."""
    first = data[0]
    width = 2 if 0xC2 <= first < 0xE0 else 3 if 0xE0 <= first < 0xF0 else 4 if 0xF0 <= first < 0xF5 else 0
    if len(data) >= width or any(byte & 0xC0 != 0x80 for byte in data[1:]):
        return None
    code = first & (0x7F >> width)
    for byte in data[1:]:
        code = code << 6 | byte & 0x3F
    missing = 6 * (width - len(data))
    low = max(code << missing, {2: 0x80, 3: 0x800, 4: 0x10000}[width])
    high = min((code + 1) << missing, 0x110000)
    return range(low, high) if low < high else None
