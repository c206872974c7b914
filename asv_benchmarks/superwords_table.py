"""Train with superwords and without, and compare: bytes per token, time, memory; as Markdown tables.

    python asv_benchmarks/superwords_table.py TEXT ... [--vocab-size N] ... [--megabytes N] [--row NAME] ...

The first megabytes of the texts, one after the other, are what is trained on. Where that is more than they
have, the rest is made of them (asv_benchmarks/made_corpus.py). Bytes per token are of the tenth that follows,
5 MB at most, and so is the speed of encoding: on one thread, the best of five times. Each training runs in a
process of its own, from reading the file to the tokenizer: its memory is the most that the process had.
Compile everything before, with a small run. Languages of parity-aware training are the scripts of documents.
"""

from __future__ import annotations

import multiprocessing
import resource
import tempfile
import time
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import click
from made_corpus import made_of

import bpe

SPECIAL = "<|endoftext|>"
ROWS: dict[str, dict[str, Any]] = {
    "ordinary": {},
    "superbpe, 9 of 10 merges in words": {"first": 0.9},
    "superbpe, half of the merges in words": {"first": 0.5},
    "boundless": {"superwords": bpe.Boundless()},
    "parity": {"parity": True},
}
MOST_UNSEEN = 5_000_000  # bytes


def script_of(document: str) -> str:
    """Return the script of most letters at the beginning of a document, as Unicode names it."""
    letters = filter(str.isalpha, document[:400])
    names = Counter(unicodedata.name(letter, "OTHER").split(maxsplit=1)[0] for letter in letters)
    return max(names, key=names.__getitem__, default="OTHER")


def train_parity(path: str, vocab_size: int, threads: int) -> bpe.Tokenizer:
    """Train so that all scripts are treated alike."""
    documents: dict[str, list[str]] = {}
    for document in Path(path).read_text("utf-8", errors="replace").split(SPECIAL):
        documents.setdefault(script_of(document), []).append(document)
    rules = {"special_tokens": [SPECIAL], "threads": threads}
    counts = {
        name: bpe.WordCounts.from_corpus(texts, **rules) for name, texts in documents.items() if any(texts)
    }
    return bpe.train_parity(counts, vocab_size)


def measured(
    path: str, unseen: bytes, vocab_size: int, options: dict[str, Any], threads: int
) -> tuple[float, ...]:
    """Return bytes per token, seconds, peak memory in MB, megabytes a second, superwords."""
    given = dict(options)
    if "first" in given:
        given["superwords"] = bpe.SuperBPE(int(given.pop("first") * (vocab_size - 257)))
    start = time.perf_counter()
    if given.pop("parity", False):
        tok = train_parity(path, vocab_size, threads)
    else:
        tok = bpe.train(Path(path), vocab_size, special_tokens=[SPECIAL], threads=threads, **given)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    times = []
    for _ in range(5):
        start = time.perf_counter()
        ids = tok.encode_to_numpy(unseen, allowed_special="all")
        times.append(time.perf_counter() - start)
    n_joined = sum(b" " in token[1:].strip() for token in tok.vocab.values())
    return len(unseen) / len(ids), seconds, peak, len(unseen) / 1e6 / min(times), n_joined


@click.command()
@click.argument("texts", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--vocab-size", "sizes", multiple=True, type=int, default=[32_000])
@click.option("--megabytes", default=5.0)
@click.option("--seed", default=0, help="Of the texts that are made.")
@click.option("--threads", default=2)
@click.option("--row", "rows", multiple=True, type=click.Choice([*ROWS]), default=[*ROWS])
def main(
    texts: tuple[Path, ...],
    sizes: tuple[int, ...],
    megabytes: float,
    seed: int,
    threads: int,
    rows: tuple[str, ...],
) -> None:
    """Print a table for each size of a vocabulary."""
    size = int(megabytes * 1e6)
    n_unseen = min(size // 10, MOST_UNSEEN)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "text.txt")
        with open(path, "w+b") as file:
            for part in made_of(texts, size + n_unseen, seed):
                file.write(part)
            file.seek(size)
            unseen = file.read(n_unseen)
            file.truncate(size)
        for vocab_size in sizes:
            click.echo(f"\n{vocab_size} tokens, {path.stat().st_size / 1e6:.0f} MB\n")
            click.echo(
                "| training | bytes per token | seconds | peak memory, MB | encoding, MB/s | superwords |"
            )
            click.echo("|---|---|---|---|---|---|")
            for name in rows:
                arguments = str(path), unseen, vocab_size, ROWS[name], threads
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    per_token, seconds, peak, speed, n_joined = pool.apply(measured, arguments)
                figures = f"{per_token:.2f} | {seconds:.1f} | {peak:.0f} | {speed:.0f} | {n_joined:.0f}"
                click.echo(f"| {name} | {figures} |")


if __name__ == "__main__":
    main()
