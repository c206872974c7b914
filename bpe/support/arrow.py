"""Texts in Arrow columns: ``pyarrow`` arrays of strings or bytes, read where they are.

::

    data      t h e s e a o f t h e      one buffer; no str and no bytes is made of a row
    offsets   0     3     6   8     11

A slice is read as a slice. Columns of type ``string_view`` and dictionaries have no such buffers: they are
cast first, which is a copy. A null is not a text: a corpus leaves it out, as one in a .parquet file; a batch,
which has a result for each row, refuses it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from bpe.support.text import as_array

_ROWS = 1 << 14  # whose offsets are Python numbers at a time


def arrow_texts(texts: Any) -> ArrowTexts | None:
    """Return the rows of an Arrow column; None for anything else, for which ``pyarrow`` is not imported."""
    if type(texts).__module__.partition(".")[0] != "pyarrow":
        return None
    pyarrow = sys.modules["pyarrow"]  # whoever has an array has imported it
    return ArrowTexts(texts) if isinstance(texts, (pyarrow.Array, pyarrow.ChunkedArray)) else None


class _Chunk:
    """The buffers of an array: bytes, where rows begin and end, and which are not null."""

    def __init__(self, array: Any) -> None:
        name = str(array.type)
        _, places, data = array.buffers()
        wide = np.int64 if name.startswith("large_") else np.int32
        offsets = np.frombuffer(places, wide) if places is not None and places.size else np.zeros(1, wide)
        self.offsets = offsets[array.offset : array.offset + len(array) + 1]
        self.data = as_array(b"" if data is None else data)
        self.view = memoryview(b"" if data is None else data)
        self.valid = np.asarray(array.is_valid()) if array.null_count else None


class ArrowTexts:
    """The rows of a column as a sequence of bytes, made when they are asked for."""

    def __init__(self, column: Any) -> None:
        self._column = column
        is_dictionary = str(column.type).startswith("dictionary<")
        kind = str(column.type.value_type if is_dictionary else column.type)
        if kind not in ("string", "large_string", "binary", "large_binary", "string_view", "binary_view"):
            raise TypeError(f"a column of {column.type} is not text: cast it to string or binary")
        if kind != str(column.type) or kind.endswith("_view"):
            column = column.cast(f"large_{kind.removesuffix('_view').removeprefix('large_')}")
        arrays = column.chunks if hasattr(column, "chunks") else [column]
        self._chunks = [_Chunk(array) for array in arrays]
        self.first_row_of = np.cumsum([0, *map(len, arrays)])  # by chunk, and the number of all rows
        lengths = [np.diff(chunk.offsets).astype(np.int64) for chunk in self._chunks]
        self.lengths = np.concatenate([np.zeros(0, np.int64), *lengths])  # of the rows, in bytes

    def __reduce__(self) -> Any:
        return ArrowTexts, (self._column,)

    def __len__(self) -> int:
        return int(self.first_row_of[-1])

    @property
    def null(self) -> int | None:
        """The index of the first row that is null; None if none is."""
        for first, chunk in zip(self.first_row_of.tolist(), self._chunks, strict=False):
            if chunk.valid is not None:
                return first + int(chunk.valid.argmin())
        return None

    def __getitem__(self, rows: int | slice) -> Any:
        if isinstance(rows, slice):
            return [self[row] for row in range(*rows.indices(len(self)))]
        data, _ = self.joined(rows, rows + 1)
        return data.tobytes()

    def joined(self, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
        """Return rows of one chunk joined, without a copy, and where each of them ends."""
        number = int(np.searchsorted(self.first_row_of, first, "right")) - 1
        chunk, start = self._chunks[number], first - int(self.first_row_of[number])
        offsets = chunk.offsets[start : start + last - first + 1].astype(np.int64)
        return chunk.data[offsets[0] : offsets[-1]], offsets[1:] - offsets[0]

    def __iter__(self) -> Iterator[memoryview | None]:
        """Yield the bytes of each row, which are not copied; None for a null."""
        for chunk in self._chunks:
            for start in range(0, len(chunk.offsets) - 1, _ROWS):
                places = pairwise(chunk.offsets[start : start + _ROWS + 1].tolist())
                if chunk.valid is None:
                    yield from (chunk.view[begin:end] for begin, end in places)
                else:
                    valid = chunk.valid[start : start + _ROWS].tolist()
                    for is_valid, (begin, end) in zip(valid, places, strict=True):
                        yield chunk.view[begin:end] if is_valid else None
