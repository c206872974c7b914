"""Parts of a corpus of files, whose counts add up to the counts of the corpus.

Small files are combined. Large uncompressed files are cut: .jsonl after a line end, text at a position that
no piece and no special token crosses. Any other file is one part, however large.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterator
from typing import BinaryIO, TypeAlias

from bpe.corpus.reading import BLOCK_BYTES, STDIN, FilePart, kind_of, stamp_of
from bpe.corpus.sources import Corpus
from bpe.splitting.pattern import Pattern
from bpe.splitting.special_search import SpecialSearch, search_for

Cut: TypeAlias = Callable[[bytes, Pattern, SpecialSearch], int]

WINDOW_BYTES = 1 << 16  # bytes that are searched for a position to cut


def parts_of(
    corpus: Corpus,
    pattern: Pattern,
    specials: frozenset[str],
    part_bytes: int,
    cut: Cut,
) -> list[list[FilePart]]:
    """Cut a corpus of files into parts of about `part_bytes`; each is a list of files and ranges of files.

    `cut` returns where a text can be cut, or 0.
    """
    search = search_for(specials)
    parts: list[list[FilePart]] = []
    room = 0
    for part, size in _ranges(corpus, part_bytes, lambda data: cut(data, pattern, search)):
        if not parts or size > room:
            parts.append([])
            room = part_bytes
        parts[-1].append(part)
        room -= size
    return parts


def _ranges(corpus: Corpus, part_bytes: int, cut: Callable[[bytes], int]) -> Iterator[tuple[FilePart, int]]:
    """Yield files, or ranges of large ones, with their sizes in bytes."""
    for path in corpus.paths():
        stamp = None if path == STDIN else stamp_of(os.stat(path))
        if stamp is None:
            raise ValueError(f"{path} is not a file that workers can read in parts: count it in one process")
        kind, compression = corpus.kind_of(path), kind_of(path)[1]
        size, start = stamp[0], 0
        if size > part_bytes + part_bytes // 2 and not compression and kind != ".parquet":
            with open(path, "rb") as file:
                for wanted in range(part_bytes, size - part_bytes // 2, part_bytes):
                    if wanted <= start:
                        continue
                    if kind == ".jsonl":
                        place = _after_line_end(file, wanted, size)
                    else:
                        file.seek(wanted)
                        place = wanted + _cut_in_text(file.read(WINDOW_BYTES), cut)
                    if start < place < size and place > wanted:
                        yield FilePart(path, start, place, stamp), place - start
                        start = place
        yield FilePart(path, start, size, stamp), size - start


def _cut_in_text(data: bytes, cut: Callable[[bytes], int]) -> int:
    """Return a position to cut; 0 if none is found, or if invalid UTF-8 might be left out later."""
    first = next((i for i, byte in enumerate(data) if byte & 0xC0 != 0x80), len(data))
    try:
        codecs.utf_8_decode(data[first:], "strict", False)
    except UnicodeDecodeError:
        return 0
    return cut(data)


def _after_line_end(file: BinaryIO, start: int, size: int) -> int:
    """Return the position after the first line end from `start` on; `size` if no line ends there."""
    file.seek(start)
    while block := file.read(BLOCK_BYTES):
        found = block.find(b"\n")
        if found >= 0:
            return start + found + 1
        start += len(block)
    return size
