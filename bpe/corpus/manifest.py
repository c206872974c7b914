"""``shards.jsonl``: which shards of a folder are complete, and what they were made of.

::

    {"format": "bpe-structures shards", "version": 1, "work": {"dtype": "uint16", ...}}     the options
    {"source": "books/a.txt", "size": 81, "mtime_ns": 17, "output": "a.txt.bin", ...}       a complete shard
    {"source": "books/b.txt", ...

A line is added when a shard is complete. A line that a kill has cut off is removed; of two lines for one
output the later counts. The file is locked while shards are written.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bpe.corpus.locks import lock
from bpe.support.files import naming_output

NAME = "shards.jsonl"
_FORMAT, _VERSION = "bpe-structures shards", 1


@dataclass(frozen=True)
class Shard:
    """A complete shard."""

    source: str
    size: int
    mtime_ns: int
    output: str
    output_bytes: int
    documents: int
    tokens: int
    text_bytes: int


class Manifest:
    """The list of the complete shards of a folder, while it is open."""

    def __init__(self, folder: Path, work: dict[str, Any]) -> None:
        self.path = folder / NAME
        self._folder, self._work = folder, work
        self.shards: dict[str, Shard] = {}
        with naming_output(self.path):
            # Not "ab": there, what is read and what is cut off depends on the system.
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
            self._file = open(os.open(self.path, flags, 0o666), "r+b")  # noqa: SIM115  # closed at the end
        try:
            lock(self._file, self.path)
            self._read()
        except BaseException:
            self.__exit__()
            raise

    def _read(self) -> None:
        data = self._file.read()
        whole = data[: data.rfind(b"\n") + 1]
        lines = whole.splitlines()
        if lines:
            self._check_work(self._entry(lines, 0))
        for number in range(1, len(lines)):
            try:
                shard = Shard(**self._entry(lines, number))
            except TypeError:
                raise self._damaged(number) from None
            self.shards[shard.output] = shard
        self._file.truncate(len(whole))
        self._file.seek(len(whole))
        if not lines:
            self._append({"format": _FORMAT, "version": _VERSION, "work": self._work})

    def _entry(self, lines: list[bytes], number: int) -> dict[str, Any]:
        try:
            entry = json.loads(lines[number])
        except ValueError:
            raise self._damaged(number) from None
        if not isinstance(entry, dict):
            raise self._damaged(number)
        return entry

    def _damaged(self, number: int) -> ValueError:
        return ValueError(
            f"{self.path}, line {number + 1}: not a line of a list of shards; "
            "to encode all of them again, remove this file"
        )

    def _check_work(self, head: dict[str, Any]) -> None:
        if (head.get("format"), head.get("version")) != (_FORMAT, _VERSION):
            raise self._damaged(0)
        there = head.get("work")
        if there == self._work:
            return
        names = [
            name for name in self._work if not isinstance(there, dict) or there.get(name) != self._work[name]
        ]
        name = (names or ["something"])[0]
        how = ""
        if isinstance(there, dict) and name not in ("tokenizer", "something"):
            how = f" ({there.get(name)!r:.80} there, {self._work[name]!r:.80} here)"
        raise ValueError(
            f"{self._folder} has shards that were made with other options: {name}{how}: name another folder, "
            f"or remove {self.path.name} to encode all of them again"
        )

    def add(self, shard: Shard) -> None:
        """Add a shard that is complete."""
        self._append(asdict(shard))
        self.shards[shard.output] = shard

    def _append(self, entry: dict[str, Any]) -> None:
        with naming_output(self.path):
            self._file.write(json.dumps(entry).encode() + b"\n")
            self._file.flush()

    def __enter__(self) -> Manifest:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # it would write once more what could not be written
            self._file.close()
