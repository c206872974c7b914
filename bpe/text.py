"""Text as this package passes it around: a ``str`` that stands for any bytes whatever.

Bytes that are not UTF-8 become lone surrogates (Python's "surrogateescape"), so that a regular expression can
run over them and nothing is lost on the way back.
"""

from __future__ import annotations

import ctypes
import sys

import numpy as np

__all__ = ["as_array", "as_bytes", "as_text", "utf8_of"]


def as_text(document: str | bytes, what: str = "text") -> str:
    r"""Return a document as text that :func:`as_bytes` can turn into bytes.

    Parameters
    ----------
    document : str or bytes
        Bytes are kept exactly. Of a str, surrogate pairs are joined and every other surrogate, which has no
        encoding, becomes U+FFFD.
    what : str
        What to call it in an error.

    Returns
    -------
    str

    Raises
    ------
    TypeError
        It is neither.

    Complexity
    ----------
    O(n); O(1) for a str of ASCII.

    Examples
    --------
    >>> as_text(b"caf\xc3\xa9 \xff")
    'café \udcff'
    >>> as_text("\ud800!")
    '\ufffd!'
    """
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
    r"""Return the bytes that a text stands for; the inverse of :func:`as_text` on bytes.

    Parameters
    ----------
    text : str
        As :func:`as_text` returns it.

    Returns
    -------
    bytes

    Complexity
    ----------
    O(n).

    Examples
    --------
    >>> as_bytes(as_text(b"\xff"))
    b'\xff'
    """
    return text.encode("utf-8", "surrogateescape")


def utf8_of(document: str | bytes, what: str = "text") -> bytes:
    r"""Return the bytes of a document: ``as_bytes(as_text(document))``, without the way there and back.

    Parameters
    ----------
    document : str or bytes
        As for :func:`as_text`. Bytes are not copied.
    what : str
        What to call it in an error.

    Returns
    -------
    bytes

    Raises
    ------
    TypeError
        It is neither.

    Complexity
    ----------
    O(n); O(1) for bytes.

    Examples
    --------
    >>> utf8_of("caf\xe9"), utf8_of("\ud83d\ude00 \ud800")
    (b'caf\xc3\xa9', b'\xf0\x9f\x98\x80 \xef\xbf\xbd')
    """
    if isinstance(document, str):
        try:
            return document.encode()
        except UnicodeEncodeError:
            return as_text(document).encode()
    if isinstance(document, (bytes, bytearray, memoryview)):
        return bytes(document)
    raise TypeError(f"{what} must be str or bytes, not {type(document).__name__}")


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
        address = ctypes.pythonapi.PyUnicode_AsUTF8AndSize
        address.restype, address.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_void_p]
        return np.asarray(_Lent(data, address(data, None), len(data)))
    array = np.frombuffer(data, np.uint8)
    if array.flags.writeable:
        return array
    return np.asarray(_Lent(array, array.ctypes.data, len(array)))
