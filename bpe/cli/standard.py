"""Standard output that is written whole, or raises an error that names it.

Python ignores a short write where its standard output has no buffer (``python -u``, ``PYTHONUNBUFFERED=1``):
what did not fit on the disk is lost in silence. So the commands write through a buffer, which goes on after a
short write, and wait for a pipe that does not block.
"""

from __future__ import annotations

import io
import os
import select
import sys
from typing import Any

STDOUT = "standard output"


class _Output(io.FileIO):
    """A file that waits until it can take more, and whose errors name it.

    After an error, or an interrupt, it takes what comes and drops it: at the exit, Python writes what is left
    in its buffers once more.
    """

    _is_broken = False

    def write(self, data: Any, /) -> int:
        if self._is_broken:
            return len(data)
        try:
            while (n := super().write(data)) is None:  # a pipe that is full and does not block
                select.select([], [self], [])
        except BaseException as error:
            self._is_broken = True
            if isinstance(error, OSError):
                error.filename = STDOUT
            raise
        return n


def open_standard_streams() -> None:
    """Make standard output write all or raise, and open the standard streams that the caller has closed.

    Nothing can be read from a closed standard input. To write to a closed standard output is an error. What
    is written to a closed standard error is lost.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115  # open until the process ends, as the others
    if sys.stdout is None:
        # It takes the number that is free, so that no other file gets it, and refuses what is written.
        closed = os.open(os.devnull, os.O_RDONLY)
        sys.stdout = _whole(closed, "utf-8", "strict", is_line_buffered=False)
    elif isinstance(_raw(sys.stdout), io.FileIO):
        sys.stdout.flush()
        encoding, errors = sys.stdout.encoding, sys.stdout.errors or "strict"
        is_line_buffered = getattr(sys.stdout, "line_buffering", False)
        sys.stdout = _whole(sys.stdout.fileno(), encoding, errors, is_line_buffered=is_line_buffered)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115


def _raw(stream: io.TextIOBase | object) -> object:
    buffer = getattr(stream, "buffer", None)
    return getattr(buffer, "raw", buffer)


def _whole(number: int, encoding: str, errors: str, *, is_line_buffered: bool) -> io.TextIOWrapper:
    output = _Output(number, "wb", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(output), encoding=encoding, errors=errors, line_buffering=is_line_buffered
    )
