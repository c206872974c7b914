"""Tables of ids, .parquet or .arrow: a row for each document.

==========  =====================  ============================================================
column      type                   what it holds
==========  =====================  ============================================================
document    int64                  its number in the corpus, from 0 on
source      string                 the file that it comes from; null for one that was in memory
ids         list of uint16/uint32  its ids
==========  =====================  ============================================================
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bpe.corpus.reading import extra
from bpe.support.files import naming_output, replace_file, replacing

KINDS = ("parquet", "arrow")
BATCH_IDS = 1 << 22
BATCH_ROWS = 1 << 17
_LONGEST = 2**31 - 1


def save_origins(origins: Iterable[tuple[int, Path | None]], ids_path: Path) -> None:
    """Write beside a file of ids which document each file begins with, as ``Corpus.origins`` says."""
    marks = [
        (number, None if path is None else str(path).encode("utf-8", "replace").decode())
        for number, path in origins
    ]
    path = origins_path(ids_path)
    with naming_output(path):
        replace_file(path, json.dumps(marks).encode())


def origins_path(ids_path: Path) -> Path:
    """Return where the origins of documents are, while a table is not complete."""
    return ids_path.with_name(f"{ids_path.name.removesuffix('.part')}.sources.part")


def write_table(path: Path, ids_path: Path, offsets_path: Path, dtype: np.dtype) -> None:
    """Make a table of a file of ids, and of the files beside it."""
    arrow = extra("pyarrow", "parquet", f"writing {path.suffix} files")
    offsets = np.load(offsets_path, mmap_mode="r")
    marks = json.loads(origins_path(ids_path).read_bytes())
    ids_type = arrow.list_(arrow.from_numpy_dtype(dtype))
    schema = arrow.schema({"document": arrow.int64(), "source": arrow.string(), "ids": ids_type})
    starts, names = [start for start, _ in marks], [name for _, name in marks]
    with naming_output(path), replacing(path) as file, _writer(arrow, path, file, schema) as writer:
        for first, last in _ranges(offsets):
            ids = _ids_between(ids_path, dtype, int(offsets[first]), int(offsets[last]))
            row_starts = arrow.array((offsets[first : last + 1] - offsets[first]).astype(np.int32))
            column = arrow.ListArray.from_arrays(row_starts, arrow.array(ids))
            sources = [names[bisect_right(starts, document) - 1] for document in range(first, last)]
            documents = arrow.array(np.arange(first, last))
            columns = [documents, arrow.array(sources, arrow.string()), column]
            writer.write_batch(arrow.RecordBatch.from_arrays(columns, schema=schema))


def _writer(arrow: Any, path: Path, file: Any, schema: Any) -> Any:
    if path.suffix == ".arrow":
        return extra("pyarrow.ipc", "parquet", "writing .arrow files").new_file(file, schema)
    return extra("pyarrow.parquet", "parquet", "writing .parquet files").ParquetWriter(file, schema)


def _ranges(offsets: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield the first document of each batch, and the one after its last."""
    first, n = 0, len(offsets) - 1
    while first < n:
        ahead = offsets[first : first + BATCH_ROWS + 1]
        last = first + max(int(np.searchsorted(ahead, ahead[0] + BATCH_IDS, "right")) - 1, 1)
        if offsets[last] - offsets[first] > _LONGEST:
            n_ids = offsets[last] - offsets[first]
            raise ValueError(f"document {first} has {n_ids} tokens: a row has {_LONGEST} at most")
        yield first, last
        first = last


def _ids_between(path: Path, dtype: np.dtype, start: int, end: int) -> np.ndarray:
    return np.fromfile(path, dtype, end - start, offset=start * dtype.itemsize)
