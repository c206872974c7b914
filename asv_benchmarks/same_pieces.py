"""Are the pieces of whole corpora those of the ``regex`` package, one for one? Some minutes for 100 MB.

    python asv_benchmarks/same_pieces.py TEXT [TEXT ...] [--pattern NAME]

Prints a line for each text and pattern; exits with 1 at the first difference.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np

import bpe
from bpe.support.text import as_text

BLOCK_BYTES = 1 << 22


def blocks(data: bytes) -> Iterator[bytes]:
    """Cut a text at line ends, so that the oracle need not hold it whole: a block is a text of its own."""
    start = 0
    while start < len(data):
        place = data.rfind(b"\n", start, start + BLOCK_BYTES) + 1
        end = (
            place
            if place > start and start + BLOCK_BYTES < len(data)
            else min(start + BLOCK_BYTES, len(data))
        )
        yield data[start:end]
        start = end


def differs(pattern: bpe.Pattern, block: bytes) -> tuple[int, int]:
    """Return the number of pieces, and where the first one that differs begins, -1 where none does."""
    ours = pattern.scanner.split(block)
    pieces = pattern._split_by_regex(as_text(block))
    lengths = [
        len(piece) if piece.isascii() else len(piece.encode("utf-8", "surrogateescape")) for piece in pieces
    ]
    theirs = np.cumsum([0, *lengths])
    if np.array_equal(ours, theirs):
        return len(pieces), -1
    common = min(len(ours), len(theirs))
    return len(pieces), int(theirs[np.flatnonzero(np.array(ours[:common]) != theirs[:common])[0] - 1])


@click.command()
@click.argument("texts", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--pattern", "names", multiple=True, help="Default: all that have a name.")
def main(texts: tuple[Path, ...], names: tuple[str, ...]) -> None:
    """Compare the pieces of texts with those of the regex package."""
    for text in texts:
        data = text.read_bytes()
        for name in names or bpe.PATTERNS:
            pattern, n, start = bpe.Pattern.of(name), 0, 0
            for block in blocks(data):
                n_here, place = differs(pattern, block)
                if place >= 0:
                    click.echo(f"{text.name} {name}: differs at byte {start + place}")
                    sys.exit(1)
                n, start = n + n_here, start + len(block)
            click.echo(f"{text.name} {name}: {n:,} pieces, all the same")


if __name__ == "__main__":
    main()
