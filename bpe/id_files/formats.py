r"""The formats in which ids are written, for the programs that read them.

=========  ==============================  ======================================================  =========
format     files                           what is in them                                         read by
=========  ==============================  ======================================================  =========
bin        x.bin, x.offsets.npy            the ids and nothing else; where each document begins    numpy
npy        x.npy, x.offsets.npy            the ids as a numpy array; where each document begins    numpy
nanogpt    x.bin, x.offsets.npy            as bin, with a token after each document                nanoGPT
megatron   x.bin, x.idx, x.offsets.npy     as bin; dtype, lengths and places of the documents      Megatron
parquet    x.parquet                       a row for each document                                 pyarrow
arrow      x.arrow                         a row for each document, to be mapped into memory       pyarrow
=========  ==============================  ======================================================  =========

All of them are made from the first two: ids are written aside as they come, with the saved progress, so that
a run that was killed resumes. At the end, the index or the table is made from these files; for a table, this
takes the space of the ids a second time for a while.

The index of Megatron-LM beside a file of ids: ``IndexedDataset``, version 1.

::

    magic      9 bytes    "MMIDIDX\x00\x00"
    version    uint64     1
    dtype      uint8      8: uint16, 4: int32
    sequences  uint64     their number
    places     uint64     the number of documents, plus 1
    lengths    int32      of each sequence, in ids
    pointers   int64      where each sequence begins in the .bin, in bytes
    documents  int64      which sequence each document begins with; at the end, how many there are

All numbers are little-endian. A document is one sequence; an empty one has none, as in Megatron's own tools.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from bpe.corpus.reading import extra
from bpe.id_files import tables
from bpe.id_files.output import offsets_path
from bpe.support.files import naming_output, replacing

if TYPE_CHECKING:
    from bpe.vocabulary.vocabulary import Vocabulary


MAGIC = b"MMIDIDX\x00\x00"
_CODES = {2: 8, 4: 4}  # there is no uint32: ids fit an int32, and the bytes are the same
_LONGEST = 2**31 - 1
_AT_A_TIME = 1 << 20  # documents


def is_index(path: Path) -> bool:
    """Return whether a file is such an index."""
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


IdFormat: TypeAlias = Literal["bin", "npy", "nanogpt", "megatron", "parquet", "arrow"]
ENDINGS: dict[str, tuple[str, ...]] = {
    "bin": (".bin",),
    "npy": (".npy",),
    "nanogpt": (".bin",),
    "megatron": (".bin", ".idx"),
    "parquet": (".parquet",),
    "arrow": (".arrow",),
}
"""Which endings the name of a file may have, for each format; without a format, the first one is taken."""

NANOGPT_END = "<|endoftext|>"


@dataclass(frozen=True)
class Target:
    """A format, and where its files are."""

    kind: str
    path: Path
    ids_path: Path

    @classmethod
    def of(cls, out: str | os.PathLike[str], to: str | None) -> Target:
        """Return the files of a format: the one that is given, or that of the ending of `out`."""
        path = Path(out)
        if to is None:
            kind = next((kind for kind, endings in ENDINGS.items() if path.suffix in endings), "bin")
        elif to in ENDINGS:
            kind = to
            if path.suffix not in ENDINGS[kind]:
                raise ValueError(f"{path}: the name of a {kind} file ends in {' or '.join(ENDINGS[kind])}")
        else:
            raise ValueError(f"to must be one of {', '.join(ENDINGS)}, not {to!r}")
        if kind == "megatron":
            path = path.with_suffix(".bin")
        if kind in tables.KINDS:
            extra("pyarrow", "parquet", f"writing .{kind} files")
            return cls(kind, path, path.with_name(f"{path.name}.ids"))
        return cls(kind, path, path)

    @property
    def index_path(self) -> Path:
        """The file that says where each document is."""
        if self.kind == "megatron":
            return self.path.with_suffix(".idx")
        return self.path if self.kind in tables.KINDS else offsets_path(self.path)

    def check(self) -> None:
        """Raise if there is an index of Megatron that the new ids would make wrong."""
        index = self.path.with_suffix(".idx")
        if self.path.suffix == ".bin" and self.kind != "megatron" and is_index(index):
            raise FileExistsError(
                f"{index.name} is an index of the ids in {self.path}: remove it, or use the format megatron"
            )

    def end_id(self, vocabulary: Vocabulary, end_token: str | None) -> int | None:
        """Return the id that follows each document; None for no id."""
        token = NANOGPT_END if end_token is None and self.kind == "nanogpt" else end_token
        if token is None:
            return None
        found = vocabulary.cut_tokens.get(token)
        if found is None:
            known = ", ".join(map(repr, list(vocabulary.cut_tokens)[:10])) or "none"
            raise ValueError(
                f"the tokenizer has no special token {token!r:.80} to put after each document (end_token, "
                f"--end-token); it has: {known}"
            )
        return found

    def finisher(self, dtype: np.dtype) -> Callable[[Path, Path], None] | None:
        """Return what makes the index or the table of files of ids and offsets; None if nothing is left."""
        if self.kind == "megatron":
            return lambda _, offsets: write_index(self.index_path, offsets, dtype)
        if self.kind in tables.KINDS:
            return lambda ids, offsets: tables.write_table(self.path, ids, offsets, dtype)
        return None
