"""Train with superwords and without, and compare: bytes per token, time, memory; as a Markdown table.

    python asv_benchmarks/superwords_table.py CORPUS [--vocab-size N] [--megabytes N]

The first megabytes of the corpus are the training text. Bytes per token are of the tenth that follows. The
speed of encoding is that of the training text, on one thread, the best of five times. Each training runs in a
process of its own: its memory is the most that the process had. Compile everything before, with a small run.
"""

from __future__ import annotations

import multiprocessing
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import click

import bpe

SPECIAL = "<|endoftext|>"
ROWS: dict[str, dict[str, Any]] = {
    "ordinary": {},
    "superbpe, 9 of 10 merges in words": {"superwords": "superbpe", "first": 0.9},
    "superbpe, half of the merges in words": {"superwords": "superbpe", "first": 0.5},
    "boundless": {"superwords": "boundless"},
    "boundless, phrases of 30": {"superwords": "boundless", "max_phrase": 30},
}


def measured(path: str, unseen: bytes, vocab_size: int, options: dict[str, Any]) -> tuple[float, ...]:
    """Return bytes per token, seconds, peak memory in MB, megabytes a second, superwords."""
    given = dict(options)
    if "first" in given:
        given["first_merges"] = int(given.pop("first") * (vocab_size - 257))
    start = time.perf_counter()
    tok = bpe.train(Path(path), vocab_size, special_tokens=[SPECIAL], **given)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    ids = tok.encode_to_numpy(unseen, allowed_special="all")
    text, times = Path(path).read_bytes(), []
    for _ in range(5):
        start = time.perf_counter()
        tok.encode_to_numpy(text, allowed_special="all")
        times.append(time.perf_counter() - start)
    n_joined = sum(b" " in token[1:].strip() for token in tok.vocab.values())
    return len(unseen) / len(ids), seconds, peak, len(text) / 1e6 / min(times), n_joined


@click.command()
@click.argument("corpus", type=click.Path(exists=True, path_type=Path))
@click.option("--vocab-size", default=32_000)
@click.option("--megabytes", default=5.0)
def main(corpus: Path, vocab_size: int, megabytes: float) -> None:
    """Print the table."""
    size = int(megabytes * 1e6)
    with open(corpus, "rb") as file:
        text = file.read(size + size // 10)
    click.echo("| training | bytes per token | seconds | peak memory, MB | encoding, MB/s | superwords |")
    click.echo("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "text.txt")
        path.write_bytes(text[:size])
        for name, options in ROWS.items():
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                found = pool.apply(measured, (str(path), text[size:], vocab_size, options))
            per_token, seconds, peak, speed, n_joined = found
            click.echo(
                f"| {name} | {per_token:.2f} | {seconds:.1f} | {peak:.0f} | {speed:.0f} | {n_joined:.0f} |"
            )


if __name__ == "__main__":
    main()
