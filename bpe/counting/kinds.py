"""How files of counts begin."""

from __future__ import annotations

import os
from typing import Literal, TypeAlias

WORDS = b"\x93BPEwc\r\n"
RUNS = b"\x93BPErc\r\n"
Kind: TypeAlias = Literal["words", "runs"]


def kind_of_counts(path: str | os.PathLike[str]) -> Kind | None:
    """Say what a file has counts of."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        begin = file.read(len(WORDS))
    return "words" if begin == WORDS else "runs" if begin == RUNS else None
