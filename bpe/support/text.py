"""Text as this package uses it: a ``str`` that can stand for any bytes.

Bytes that are not UTF-8 become lone surrogates (Python's "surrogateescape"). A regular expression can run
over it, and the way back to bytes loses nothing.
"""

from __future__ import annotations


def as_text(document: str | bytes, what: str = "text") -> str:
    r"""Return a document as text that :func:`as_bytes` can turn into bytes."""
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
    r"""Return the bytes that a text stands for; the inverse of :func:`as_text` on bytes."""
    return text.encode("utf-8", "surrogateescape")


def utf8_of(document: str | bytes, what: str = "text") -> bytes:
    r"""Return the bytes of a document, as ``as_bytes(as_text(document))`` does, but faster."""
    if isinstance(document, str):
        try:
            return document.encode()
        except UnicodeEncodeError:
            return as_text(document).encode()
    if isinstance(document, (bytes, bytearray, memoryview)):
        return bytes(document)
    raise TypeError(f"{what} must be str or bytes, not {type(document).__name__}")
