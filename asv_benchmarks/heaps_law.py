"""How many distinct words will there be? Heaps' law, fitted to prefixes, and what a cluster would need.

    python asv_benchmarks/heaps_law.py CORPUS [CORPUS ...] [--workers 100]

The words of growing prefixes are counted, V = K * n^b is fitted to them, and what counting would take is
worked out from what is measured here, for one thread a worker: time, memory, and bytes that a worker sends
when its counts are added to those of others. Then: the words that occur once in the share of a worker, and
so on, are left out before adding, and the merges learned compared with those of all words.

A law fitted to 100 MB says little for certain about 100 TB: take the figures as orders of magnitude.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np

import bpe

SPECIAL = "<|endoftext|>"
PREFIXES = 6  # each twice as long as the one before
SIZES = {"1 TB": 1e12, "10 TB": 1e13, "100 TB": 1e14}
LEFT_OUT = (1, 2, 5, 10)  # words that count less; 1: none
VOCAB_SIZE = 32_000


class Law(NamedTuple):
    """V = k * n^b."""

    k: float
    b: float

    def __call__(self, n_bytes: float) -> float:
        return self.k * n_bytes**self.b


class Measured(NamedTuple):
    law: Law
    rate: float  # bytes a second
    add_rate: float  # words added a second
    in_memory: float  # bytes a distinct word
    in_file: float


def counted(data: bytes) -> bpe.WordCounts:
    return bpe.WordCounts.from_corpus([data], special_tokens=[SPECIAL], threads=1)


def saved_size(counts: bpe.WordCounts) -> int:
    with tempfile.TemporaryDirectory() as folder:
        counts.save(Path(folder, "words.counts"))
        return Path(folder, "words.counts").stat().st_size


def measure(name: str, data: bytes) -> Measured:
    print(f"\n{name}\n\n| MB | distinct words | law | MB/s |\n|---|---|---|---|")
    sizes, n_distinct, rates = [], [], []
    for halvings in reversed(range(PREFIXES)):
        size = len(data) >> halvings
        times = []
        for _ in range(3):
            start = time.perf_counter()
            counts = counted(data[:size])
            times.append(time.perf_counter() - start)
        rates.append(size / min(times))
        sizes.append(size)
        n_distinct.append(len(counts))
    b, log_k = np.polyfit(np.log(sizes), np.log(n_distinct), 1)
    law = Law(float(np.exp(log_k)), float(b))
    for size, found, rate in zip(sizes, n_distinct, rates, strict=True):
        print(f"| {size / 1e6:.1f} | {found} | {law(size):.0f} | {rate / 1e6:.0f} |")
    print(f"\nV = {law.k:.3g} * n^{law.b:.3f}", flush=True)
    total = bpe.WordCounts(special_tokens=[SPECIAL])
    start = time.perf_counter()
    total += counts
    add_rate = len(counts) / (time.perf_counter() - start)
    n_words = len(counts)
    return Measured(law, rates[-1], add_rate, counts._counter.nbytes / n_words, saved_size(counts) / n_words)


def print_estimates(measured: Measured, workers: int) -> None:
    law, rate, add_rate, in_memory, in_file = measured
    print(
        f"{rate / 1e6:.0f} MB/s and {add_rate / 1e6:.1f} million words added a second; a distinct word takes "
        f"{in_memory:.0f} bytes in memory, {in_file:.1f} in a file. {workers} workers, one thread each:\n"
    )
    print(
        "| corpus | hours to count | million words, a worker | of all | GB a worker | sent, GB | GB for all "
        "| minutes for the last sum |\n|---|---|---|---|---|---|---|---|"
    )
    for name, size in SIZES.items():
        share, whole = law(size / workers), law(size)
        print(
            f"| {name} | {size / workers / rate / 3600:.2g} | {share / 1e6:.3g} "
            f"| {whole / 1e6:,.0f} | {share * in_memory / 1e9:.2g} | {share * in_file / 1e9:.2g} "
            f"| {whole * in_memory / 1e9:,.0f} | {whole / 2 / add_rate / 60:.2g} |"
        )


def learned(counts: bpe.WordCounts) -> list[tuple[bytes, bytes]]:
    trainer = bpe.Trainer(counts)
    trainer.run(VOCAB_SIZE)
    tok = trainer.tokenizer()
    return [(tok.token_bytes(left), tok.token_bytes(right)) for left, right in tok.merges]


def print_cost_of_leaving_out(data: bytes, shares: int) -> None:
    """Print what is lost where each of some workers leaves the rarest words of its share out."""
    edges = [data.rfind(b" ", 0, len(data) * i // shares) for i in range(1, shares)]
    parts = [counted(data[i:j]) for i, j in zip([0, *edges], [*edges, len(data)], strict=True)]
    print(f"\nThe words that count less than so much in each of {shares} shares are left out:\n")
    print("| at least | words left | of the text | first other merge | merges in common |")
    print("|---|---|---|---|---|")
    exact: list[tuple[bytes, bytes]] = []
    for least in LEFT_OUT:
        counts = bpe.WordCounts(special_tokens=[SPECIAL])
        for part in parts:
            counts += part.prune(least)
        merges = learned(counts)
        if least == 1:
            exact, n_words, total = merges, len(counts), counts.total
        same = [one == other for one, other in zip(merges, exact, strict=False)]
        first = same.index(False) if False in same else None
        print(
            f"| {least} | {len(counts) / n_words:.0%} | {counts.total / total:.2%} | {first} "
            f"| {len(set(merges) & set(exact)) / len(exact):.2%} |",
            flush=True,
        )


@click.command()
@click.argument("corpora", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--workers", type=int, default=100, show_default=True)
@click.option(
    "--shares", type=int, default=8, show_default=True, help="Of the corpus, to leave words out of."
)
def main(corpora: tuple[Path, ...], workers: int, shares: int) -> None:
    counts = counted(b"a small text, to load the compiled code")
    counts += counts.prune(2)
    learned(bpe.WordCounts({"abab": 2}))
    for path in corpora:
        data = path.read_bytes()
        print_estimates(measure(path.name, data), workers)
        print_cost_of_leaving_out(data, shares)


if __name__ == "__main__":
    main()
