"""Records: the lines of .jsonl and the rows of .parquet, each a document.

A record whose field is null has no text and is skipped; so is an empty line. Any other record without text is
an error that names its position.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from bpe.corpus.reading import BLOCK_BYTES, FilePart, extra, kind_of
from bpe.corpus.validity import Errors, clean_document
from bpe.support.text import as_bytes

RECORD_BYTES = 1 << 28
"""The most bytes of a line of .jsonl, or of the text in a row of .parquet; reading takes five times this."""

_ROWS, _ROWS_BYTES = 256, 1 << 24  # read at a time, at most
# The errors for a line that is not an object with a text that can be encoded.
_NOT_PLAIN = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
_NOT_FROM_BYTES = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # surrogates that do not represent a byte


def json_lines(
    blocks: Iterable[bytes],
    field: str,
    errors: Errors,
    name: str,
    start: int,
    *,
    most: int,
) -> Iterator[bytes]:
    r"""Yield the documents in lines of JSON; lines of more than `most` bytes are an error."""
    parse, place = json.JSONDecoder().decode, start
    for number, line in enumerate(_lines(blocks, most), 1):
        document: bytes | None
        if len(line) > most:
            raise _too_long(f"{_where(name, number, start)} at byte {place}", most)
        try:
            document = parse(line.decode())[field].encode()
        except _NOT_PLAIN:
            where = _where(name, number, start)
            document = _odd_line(line, field, errors, where, name, place) if line.strip() else None
        if document is not None:
            yield document
        place += len(line) + 1


def _where(name: str, number: int, start: int) -> str:
    """Return the name of a line; its number is known only if the file is read from the start."""
    return f"{name}, line {number}" if start == 0 else f"{name}, line"


def _lines(blocks: Iterable[bytes], most: int) -> Iterator[bytes]:
    """Yield lines; of a line that is too long, only the beginning, and then stop."""
    pending: list[bytes] = []  # parts of the last line
    n_pending = 0
    for block in blocks:
        *lines, last = block.split(b"\n")
        if lines:
            yield b"".join([*pending, lines[0]])
            yield from lines[1:]
            pending, n_pending = [], 0
        pending.append(last)
        n_pending += len(last)
        if n_pending > most:
            break
    if rest := b"".join(pending):
        yield rest


def _too_long(where: str, most: int) -> ValueError:
    return ValueError(
        f"{where}: a record of more than {most} bytes; if there is memory for several times this size, raise "
        "max_record_bytes=... (--max-record-bytes)"
    )


def _odd_line(line: bytes, field: str, errors: Errors, where: str, name: str, place: int) -> bytes | None:
    """Return the document of a line that is no plain record; None if it has no text to keep."""
    at = f"{where} at byte {place}"
    keeps_bytes = False  # whether the line has bytes that are not UTF-8, which are kept
    try:
        text = line.decode()
    except UnicodeDecodeError:
        clean = clean_document(line, errors, name, place)
        if clean is None:
            return None
        keeps_bytes = errors == "keep"
        text = clean.decode("utf-8", "surrogateescape")
    try:
        # Numbers do not matter, but Python converts none of more than some thousand digits.
        text = text.removeprefix("\ufeff") if place == 0 else text
        record = json.loads(text, parse_int=lambda digits: int(digits[:9]))
    except json.JSONDecodeError as error:
        what = f"{error.msg} at column {error.colno}"
        raise ValueError(f"{at}: not JSON, damaged or cut off: {what}") from None
    except RecursionError:
        raise ValueError(f"{at}: not JSON that can be read: nested too deeply") from None
    if not isinstance(record, dict):
        raise ValueError(f"{at}: {type(record).__name__} instead of an object with the field {field!r}")
    if field not in record:
        raise ValueError(f"{at}: {_no_field(field, list(record))}")
    value = record[field]
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError(f"{at}: the field {field!r} is {type(value).__name__}, not text")
    if keeps_bytes:
        return as_bytes(_NOT_FROM_BYTES.sub("\ufffd", value))
    return clean_document(value, errors, at)


def _no_field(field: str, names: list[str]) -> str:
    known = ", ".join(f"{name!r:.50}" for name in names[:20]) or "none"
    how = "bpe.Corpus(path, field=...), or --field"
    return f"there is no field {field!r}; the fields are: {known}. Choose one with {how}"


def parquet_rows(
    part: FilePart,
    field: str,
    errors: Errors,
    advance: Callable[[int], object],
    *,
    most: int,
) -> Iterator[bytes]:
    """Yield the documents in a column of a Parquet file."""
    arrow = extra("pyarrow", "parquet", "reading .parquet files")
    parquet = extra("pyarrow.parquet", "parquet", "reading .parquet files")
    with _seekable(part, advance) as (file, size):
        row = 0
        try:
            # Without pre_buffer, a column is read in small portions.
            source = parquet.ParquetFile(file, pre_buffer=False, buffer_size=BLOCK_BYTES)
            _check_column(arrow, source.schema_arrow, field, part)
            for batch in source.iter_batches(_n_rows(source.metadata, field), columns=[field]):
                column = batch.column(0)
                if arrow.types.is_dictionary(column.type):
                    column = column.dictionary_decode()
                for value in column.cast(arrow.large_binary()):
                    data = value.as_py()
                    if data is not None:
                        if len(data) > most:
                            raise _too_long(f"{part}, row {row} of {field!r}", most)
                        document = clean_document(data, errors, f"{part}, row {row} of {field!r}")
                        if document is not None:
                            yield document
                    row += 1
                advance(
                    size * row // source.metadata.num_rows
                    - size * (row - len(batch)) // source.metadata.num_rows
                )
        except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
            raise ValueError(f"{part}: Parquet data damaged or cut off at row {row}: {error}") from None


def _n_rows(metadata: Any, field: str) -> int:
    """Return how many rows to read at a time: fewer if they are long, by the metadata of the file."""
    columns = [
        group.column(i)
        for group in map(metadata.row_group, range(metadata.num_row_groups))
        for i in range(group.num_columns)
    ]
    n_bytes = sum(each.total_uncompressed_size for each in columns if each.path_in_schema == field)
    return min(_ROWS, max(1, _ROWS_BYTES * metadata.num_rows // max(n_bytes, 1)))


@contextmanager
def _seekable(part: FilePart, advance: Callable[[int], object]) -> Iterator[tuple[BinaryIO, int]]:
    """Open a file; yield it and the number of bytes that are not yet reported as read."""
    if part.path.is_file() and not kind_of(part.path)[1]:
        with part.opened() as file:
            yield file, os.fstat(file.fileno()).st_size
        return
    with tempfile.TemporaryFile() as unpacked:
        for block in part.blocks(advance):
            unpacked.write(block)
        unpacked.seek(0)
        yield unpacked, 0


def _check_column(arrow: Any, schema: Any, field: str, part: FilePart) -> None:
    if field not in schema.names:
        raise ValueError(f"{part}: {_no_field(field, schema.names)}")
    found = schema.field(schema.names.index(field)).type
    value = found.value_type if arrow.types.is_dictionary(found) else found
    if not any(word in str(value).split("_") for word in ("string", "binary", "null")):
        raise ValueError(f"{part}: the column {field!r} is {found}, not text")
