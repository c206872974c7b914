r"""The ``errors`` of a corpus: what happens to bytes that are not UTF-8.

=========  ======================================  ===========================================================
errors     text files                              records of .jsonl and .parquet, documents in memory
=========  ======================================  ===========================================================
keep       the bytes are kept; for a pattern, they are neither letters nor numbers nor spaces
strict     a ``ValueError`` names the file and the byte (or the document and the byte in it)
replace    U+FFFD replaces the invalid bytes, as in ``bytes.decode("utf-8", "replace")``
skip       the bytes are left out, and the bytes   the whole record is left out
           around them are joined
=========  ======================================  ===========================================================

A lone surrogate in a str or in a JSON string has no bytes to keep: "keep" replaces it with U+FFFD.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Literal, TypeAlias

from bpe.support.text import as_bytes, as_text

Errors: TypeAlias = Literal["keep", "strict", "replace", "skip"]
ERRORS = ("keep", "strict", "replace", "skip")
_HINT = 'to read it, choose errors="keep", "replace" or "skip" (--errors)'


def check_errors(errors: str) -> None:
    """Raise ``ValueError`` unless `errors` is one of :data:`ERRORS`."""
    if errors not in ERRORS:
        raise ValueError(f"errors must be one of {', '.join(map(repr, ERRORS))}, not {errors!r}")


def clean_blocks(blocks: Iterable[bytes], errors: Errors, name: str, start: int = 0) -> Iterator[bytes]:
    r"""Apply `errors` to the blocks of a file; the first is at byte `start`, as messages count."""
    if errors == "keep":
        yield from blocks
        return
    pending = b""
    block: bytes | None
    for block in chain(blocks, [None]):
        is_last = block is None
        data = pending + (block or b"")
        try:
            # A character that is cut at the end of a block is not an error: the next block has the rest.
            _, n_done = codecs.utf_8_decode(data, "strict", is_last)
            clean = data[:n_done]
        except UnicodeDecodeError as error:
            if errors == "strict":
                raise ValueError(f"{name}: not UTF-8 at byte {start + error.start}; {_HINT}") from None
            text, n_done = codecs.utf_8_decode(data, "replace" if errors == "replace" else "ignore", is_last)
            clean = text.encode()
        if clean:
            yield clean
        pending = data[n_done:]
        start += n_done


def clean_document(
    document: str | bytes, errors: Errors, name: str, start: int | None = None
) -> bytes | None:
    r"""Apply `errors` to a document, and return its bytes; None if it is skipped."""
    if isinstance(document, (bytes, bytearray, memoryview)):
        data = bytes(document)
        if errors == "keep":
            return data
        try:
            data.decode()
        except UnicodeDecodeError as error:
            if errors == "strict":
                raise ValueError(f"{name}: not UTF-8 at byte {(start or 0) + error.start}; {_HINT}") from None
            return data.decode("utf-8", "replace").encode() if errors == "replace" else None
        return data
    text = as_text(document, name)
    if errors in ("strict", "skip") and text is not document:  # a surrogate was joined or replaced
        try:
            document.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            if errors == "strict":
                raise ValueError(
                    f"{name}: has a lone surrogate, which cannot be encoded as UTF-8; {_HINT}"
                ) from None
            return None
    return as_bytes(text)
