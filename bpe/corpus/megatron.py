r"""The index of Megatron-LM beside a file of ids: ``IndexedDataset``, version 1.

::

    magic      9 bytes    "MMIDIDX\x00\x00"
    version    uint64     1
    dtype      uint8      8: uint16, 4: int32
    sequences  uint64     how many
    places     uint64     one more than there are documents
    lengths    int32      of each sequence, in ids
    pointers   int64      where each sequence begins in the .bin, in bytes
    documents  int64      which sequence each document begins with; at the end, how many there are

All numbers are little-endian. A document is one sequence; an empty one has none, as in Megatron's own tools.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bpe.support.files import naming_output, replacing

MAGIC = b"MMIDIDX\x00\x00"
_CODES = {2: 8, 4: 4}  # there is no uint32: ids fit an int32, and the bytes are the same
_LONGEST = 2**31 - 1
_AT_A_TIME = 1 << 20  # documents


def is_index(path: Path) -> bool:
    """Say whether a file is such an index."""
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def write_index(path: Path, offsets_path: Path, dtype: np.dtype) -> None:
    """Write the index of a file of ids."""
    offsets = np.load(offsets_path, mmap_mode="r")
    with naming_output(path), replacing(path) as file:
        n_sequences = sum(int(np.count_nonzero(lengths)) for _, lengths in _parts(offsets))
        file.write(MAGIC + struct.pack("<QBQQ", 1, _CODES[dtype.itemsize], n_sequences, len(offsets)))
        for first, lengths in _parts(offsets):
            if lengths.max() > _LONGEST:
                raise ValueError(
                    f"document {first + int(lengths.argmax())} has {lengths.max()} tokens: "
                    f"a sequence of Megatron has {_LONGEST} at most"
                )
            file.write(lengths[lengths > 0].astype("<i4").tobytes())
        for first, lengths in _parts(offsets):
            starts = offsets[first : first + len(lengths)][lengths > 0]
            file.write((starts * dtype.itemsize).astype("<i8").tobytes())
        n = 0
        file.write(bytes(8))
        for _, lengths in _parts(offsets):
            after = n + np.cumsum(lengths > 0)
            file.write(after.astype("<i8").tobytes())
            n = int(after[-1])


def _parts(offsets: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield the number of a document, and the lengths of this one and those that follow."""
    for first in range(0, len(offsets) - 1, _AT_A_TIME):
        yield first, np.diff(offsets[first : first + _AT_A_TIME + 1])
