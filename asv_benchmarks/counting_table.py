"""Splitting and counting whole texts in memory: MB/s, and times ``regex`` with a ``Counter``, as Markdown.

    python asv_benchmarks/counting_table.py TEXT [TEXT ...]

Counts are compared with those of ``regex`` first, on the beginning of each text. Then: threads, and a hundred
megabytes of a single character or word, for which time must grow with length.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

import bpe
from bpe.support.text import as_text

CUSTOM = r"(?i:'[a-z]{1,2})|\p{Lu}?\p{Ll}+|\p{L}+|\p{N}{1,4}|[^\s\p{L}\p{N}]{1,8}|\s{1,16}(?=\S)|\s"
PATTERNS = {"gpt2": "gpt2", "cl100k": "cl100k", "o200k": "o200k", "custom": CUSTOM}
RUNS = ["a", " ", "\n", "7", "'s", "é"]
COMPARED_BYTES = 4 << 20
RUN_BYTES = 100_000_000


def best(run: Callable[[], Any], times: int) -> float:
    """Return the least time of some runs, in seconds."""
    took = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        took.append(time.perf_counter() - start)
    return min(took)


def counted(data: bytes, pattern: str, threads: int = 1) -> bpe.WordCounts:
    return bpe.WordCounts.from_corpus([data], pattern, threads=threads)


@click.command()
@click.argument("texts", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--times", default=3, help="Runs, of which the fastest counts.")
@click.option("--run-bytes", default=RUN_BYTES, help="Length of the texts of a single character.")
def main(texts: tuple[Path, ...], times: int, run_bytes: int) -> None:
    """Print tables of speed."""
    columns = [f"{name} MB/s | times regex" for name in PATTERNS]
    click.echo("| text | " + " | ".join(columns) + " |\n|---|" + "---|" * 2 * len(columns))
    for text in texts:
        data = text.read_bytes()
        beginning = data[:COMPARED_BYTES]
        cells = []
        for pattern in PATTERNS.values():
            splitter = bpe.Pattern.of(pattern)
            counts = Counter(splitter._split_by_regex(as_text(beginning)))
            ours = counted(beginning, pattern)
            expected = {piece.encode("utf-8", "surrogateescape"): n for piece, n in counts.items()}
            assert dict(ours.items()) == expected, f"{text}: the counts differ"
            slow = best(lambda p=splitter, d=beginning: Counter(p._split_by_regex(as_text(d))), 1)
            fast = best(lambda p=pattern, d=data: counted(d, p), times)
            speed = len(data) / fast
            cells.append(f"{speed / 1e6:.0f} | {speed * slow / len(beginning):.0f}")
        click.echo(f"| {text.name} | " + " | ".join(cells) + " |")
    data = texts[0].read_bytes()
    one, two = (best(lambda n=n: counted(data, "gpt2", n), times) for n in (1, 2))
    click.echo(f"\nTwo threads, {texts[0].name}: {one / two:.2f} times one.\n")
    click.echo("| a run of | gpt2 MB/s | cl100k MB/s | o200k MB/s |\n|---|---|---|---|")
    for unit in RUNS:
        run = unit.encode() * (run_bytes // len(unit.encode()))
        speeds = [
            len(run) / best(lambda r=run, n=name: counted(r, n), 1) for name in ("gpt2", "cl100k", "o200k")
        ]
        click.echo(f"| {unit!r} | " + " | ".join(f"{speed / 1e6:.0f}" for speed in speeds) + " |")


if __name__ == "__main__":
    main()
