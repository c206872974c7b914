"""Counting words: how fast, in how much memory, how many there will be, on a cluster; tables in Markdown.

    python asv_benchmarks/counting_table.py speed TEXT ...     beside the regex package
    python asv_benchmarks/counting_table.py stream             a long text that is nowhere on a disk
    python asv_benchmarks/counting_table.py law CORPUS ...     how many distinct words a terabyte has
    python asv_benchmarks/counting_table.py cluster TEXT       on a Dask cluster of this machine

All counts are compared first.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import regex
from measuring import FILE, best, small_option, texts_argument, times_option
from same import SPECIAL

import bpe


@click.group(help=__doc__)
def main() -> None: ...


def counted(data: bytes, **options: Any) -> bpe.WordCounts:
    return bpe.count_words([data], **{"threads": 1} | options)


# ----------------------------------------------------------------------------------------------------- speed
CUSTOM = r"(?i:'[a-z]{1,2})|\p{Lu}?\p{Ll}+|\p{L}+|\p{N}{1,4}|[^\s\p{L}\p{N}]{1,8}|\s{1,16}(?=\S)|\s"
NAMED = {"gpt2": "gpt2", "cl100k": "cl100k", "o200k": "o200k"}
# What lies between their matches are pieces, too.
WITH_GAPS = {"words": r"\w+", "identifiers": r"[A-Za-z_]\w*", "digits": r"\d+"}
PATTERNS = NAMED | {"custom": CUSTOM} | WITH_GAPS
RUNS = ["a", " ", "\n", "7", "'s", "é"]
COMPARED_BYTES = 4 << 20


def counted_by_regex(source: str, has_gaps: bool, text: str) -> Counter[str]:
    """Count pieces with the regex package, in the fastest way; also the text between matches."""
    if has_gaps:
        return Counter(regex.split(f"({source})", text))
    return Counter(match.group() for match in regex.compile(source).finditer(text))


@main.command()
@texts_argument
@times_option
@click.option("--run-bytes", default=100_000_000, help="Length of the texts of a single character.")
def speed(texts: tuple[Path, ...], times: int, run_bytes: int) -> None:
    """Print MB/s of texts in memory, and how many times as fast as regex with a Counter.

    The patterns after the named ones are such as users write. Then those of two threads, and of a hundred
    megabytes of a single character or word.
    """
    columns = [f"{name} MB/s | times regex" for name in PATTERNS]
    click.echo("| text | " + " | ".join(columns) + " |\n|---|" + "---|" * 2 * len(columns))
    for text in texts:
        data = text.read_bytes()
        beginning = data[:COMPARED_BYTES]
        cells = []
        decoded = beginning.decode("utf-8", "surrogateescape")
        for name, pattern in PATTERNS.items():
            count = partial(counted_by_regex, bpe.Pattern.of(pattern).sources[0], name in WITH_GAPS, decoded)
            expected = {piece.encode("utf-8", "surrogateescape"): n for piece, n in count().items() if piece}
            assert dict(counted(beginning, pattern=pattern).items()) == expected, f"{text}: the counts differ"
            slow = best(count)
            fast = best(lambda p=pattern, d=data: counted(d, pattern=p), times)
            speed = len(data) / fast
            cells.append(f"{speed / 1e6:.0f} | {speed * slow / len(beginning):.0f}")
        click.echo(f"| {text.name} | " + " | ".join(cells) + " |")
    data = texts[0].read_bytes()
    one, two = (best(lambda n=n: counted(data, threads=n), times) for n in (1, 2))
    click.echo(f"\nTwo threads, {texts[0].name}: {one / two:.2f} times one.\n")
    click.echo("| a run of | gpt2 MB/s | cl100k MB/s | o200k MB/s |\n|---|---|---|---|")
    for unit in RUNS:
        run = unit.encode() * (run_bytes // len(unit.encode()))
        speeds = [len(run) / best(lambda r=run, n=name: counted(r, pattern=n)) for name in NAMED]
        click.echo(f"| {unit!r} | " + " | ".join(f"{speed / 1e6:.0f}" for speed in speeds) + " |")


# ---------------------------------------------------------------------------------------------------- stream
N_ENTRIES = 1_000_000
BLOCK_WORDS = 1 << 19  # 4 MB


def made_up_entries() -> np.ndarray:
    """Return entries of eight bytes each, as int64: every third has two words."""
    generator = np.random.default_rng(1)
    letters = np.frombuffer(b"etaoinshrdlcumwfgypbvkjxqz", np.uint8)
    text = letters[np.minimum(generator.geometric(0.12, (N_ENTRIES, 8)) - 1, 25)]
    text[:, 0] = ord(" ")
    text[::3, 4] = ord(" ")
    return text.view(np.int64).ravel()


class Stream:
    """Blocks of text, `n_bytes` in all; `drawn` says how often each entry was."""

    def __init__(self, n_bytes: int) -> None:
        self.n_blocks = -(-n_bytes // (8 * BLOCK_WORDS))
        self.n_bytes = self.n_blocks * 8 * BLOCK_WORDS
        self.entries = made_up_entries()
        self.drawn = np.zeros(N_ENTRIES, np.int64)

    def __iter__(self) -> Iterator[bytes]:
        for number in range(self.n_blocks):
            chance = np.random.default_rng(number).random(BLOCK_WORDS, np.float32)
            ranks = np.exp(chance * np.float32(np.log(N_ENTRIES))).astype(np.int64) - 1
            np.minimum(ranks, N_ENTRIES - 1, out=ranks)
            self.drawn += np.bincount(ranks, minlength=N_ENTRIES)
            yield self.entries[ranks].tobytes()
            done, before = ((8 * BLOCK_WORDS * n) // 10**9 for n in (number + 1, number))
            if done > before:
                click.echo(f"| {done} | {peak_megabytes():.0f} |")

    def expected(self) -> Counter[bytes]:
        """Return the words that were drawn, with their counts."""
        words: Counter[bytes] = Counter()
        for entry, count in zip(self.entries.view("S8").tolist(), self.drawn.tolist(), strict=True):
            if count:
                for word in entry.split():
                    words[b" " + word] += count
        return words


def peak_megabytes() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / 1e6 if sys.platform == "darwin" else used / 1e3


@main.command()
@click.option("--gigabytes", default=5.0)
@click.option("--threads", default=1)
def stream(gigabytes: float, threads: int) -> None:
    """Count a long stream of made-up text, and print the most memory in use after every gigabyte.

    The stream is the same on every run. Its words are drawn by Zipf's law from a million entries of eight
    bytes each, such as " tsaheot" or " tah eon", so that a block of text is a block of numbers. Every count
    is compared with what was drawn.
    """
    counted(b"a small text, to load the compiled code", threads=threads)
    click.echo(f"before the stream: {peak_megabytes():.0f} MB\n\n| GB counted | most memory, MB |\n|---|---|")
    text = Stream(int(gigabytes * 1e9))
    start = time.perf_counter()
    counts = bpe.count_words(text, threads=threads)
    rate = text.n_bytes / (time.perf_counter() - start) / 1e6
    click.echo(
        f"\n{text.n_bytes / 1e9:.2f} GB made and counted at {rate:.0f} MB/s, with at most "
        f"{peak_megabytes():.0f} MB"
    )
    if dict(counts.items()) != text.expected():
        sys.exit("the counts are not those of the words that were drawn")
    click.echo(f"{counts.total} words, {len(counts)} distinct: every count is right")


# ------------------------------------------------------------------------------------------------ Heaps' law
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


def saved_size(counts: bpe.WordCounts) -> int:
    with tempfile.TemporaryDirectory() as folder:
        counts.save(Path(folder, "words.counts"))
        return Path(folder, "words.counts").stat().st_size


def measure(name: str, data: bytes) -> Measured:
    click.echo(f"\n{name}\n\n| MB | distinct words | law | MB/s |\n|---|---|---|---|")
    sizes, n_distinct, rates = [], [], []
    for halvings in reversed(range(PREFIXES)):
        size = len(data) >> halvings
        rates.append(size / best(lambda size=size: counted(data[:size], special_tokens=[SPECIAL]), 3))
        sizes.append(size)
        counts = counted(data[:size], special_tokens=[SPECIAL])
        n_distinct.append(len(counts))
    b, log_k = np.polyfit(np.log(sizes), np.log(n_distinct), 1)
    law = Law(float(np.exp(log_k)), float(b))
    for size, found, rate in zip(sizes, n_distinct, rates, strict=True):
        click.echo(f"| {size / 1e6:.1f} | {found} | {law(size):.0f} | {rate / 1e6:.0f} |")
    click.echo(f"\nV = {law.k:.3g} * n^{law.b:.3f}")
    total = bpe.WordCounts(special_tokens=[SPECIAL])
    start = time.perf_counter()
    total += counts
    add_rate = len(counts) / (time.perf_counter() - start)
    n_words = len(counts)
    return Measured(law, rates[-1], add_rate, counts._counter.nbytes / n_words, saved_size(counts) / n_words)


def print_estimates(measured: Measured, workers: int) -> None:
    law, rate, add_rate, in_memory, in_file = measured
    click.echo(
        f"{rate / 1e6:.0f} MB/s and {add_rate / 1e6:.1f} million words added a second; a distinct word takes "
        f"{in_memory:.0f} bytes in memory, {in_file:.1f} in a file. {workers} workers, one thread each:\n"
    )
    click.echo(
        "| corpus | hours to count | million words, a worker | of all | GB a worker | sent, GB | GB for all "
        "| minutes for the last sum |\n|---|---|---|---|---|---|---|---|"
    )
    for name, size in SIZES.items():
        share, whole = law(size / workers), law(size)
        click.echo(
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
    parts = [
        counted(data[i:j], special_tokens=[SPECIAL])
        for i, j in zip([0, *edges], [*edges, len(data)], strict=True)
    ]
    click.echo(f"\nThe words that count less than so much in each of {shares} shares are left out:\n")
    click.echo("| at least | words left | of the text | first other merge | merges in common |")
    click.echo("|---|---|---|---|---|")
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
        click.echo(
            f"| {least} | {len(counts) / n_words:.0%} | {counts.total / total:.2%} | {first} "
            f"| {len(set(merges) & set(exact)) / len(exact):.2%} |",
        )


@main.command()
@texts_argument
@click.option("--workers", default=100)
@click.option("--shares", default=8, help="Of the corpus, to leave words out of.")
def law(texts: tuple[Path, ...], workers: int, shares: int) -> None:
    """Fit Heaps' law to prefixes, and print what a cluster would need for terabytes.

    The words of growing prefixes are counted, V = k * n^b is fitted to them, and what counting would take is
    worked out from what is measured here, for one thread a worker: time, memory, and bytes that a worker
    sends when its counts are added to those of others. Then: the words that occur once in the share of a
    worker, and so on, are left out before adding, and the merges learned compared with those of all words.

    A law fitted to 100 MB says little for certain about 100 TB: take the figures as orders of magnitude.
    """
    counts = counted(b"a small text, to load the compiled code")
    counts += counts.prune(2)
    learned(bpe.WordCounts({"abab": 2}))
    for path in texts:
        data = path.read_bytes()
        print_estimates(measure(path.name, data), workers)
        print_cost_of_leaving_out(data, shares)


# --------------------------------------------------------------------------------------------------- cluster
@main.command()
@click.argument("text", type=FILE)
@small_option
def cluster(text: Path, small: bool) -> None:
    """Count on a Dask cluster of this machine, and print processor time and seconds.

    Processor time is that of all workers, divided by that of one process that counts on one thread, both the
    least of some runs, by turns. The workers have counted the text before, and are started as Dask does.
    """
    click.echo(
        "| workers | threads of each | processor time, times one process | seconds |\n|---|---|---|---|"
    )
    for n_workers, n_threads in [(2, 1), (1, 2)][: 1 if small else 2]:
        click.echo(cluster_row(text, n_workers, n_threads, 1 if small else 8))


def cluster_row(text: Path, n_workers: int, n_threads: int, rounds: int) -> str:
    """Count in this process and on a cluster; return a row of the table."""
    from distributed import Client, LocalCluster

    wanted = bpe.count_words(text, threads=1)
    alone, times, seconds = [], [], []
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=n_threads, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        assert dict(bpe.count_words(text, scheduler=client).items()) == dict(wanted.items()), "other counts"
        for _ in range(rounds):
            start = time.process_time()
            bpe.count_words(text, threads=1)
            alone.append(time.process_time() - start)
            before, start = sum(client.run(time.process_time).values()), time.perf_counter()
            bpe.count_words(text, scheduler=client)
            seconds.append(time.perf_counter() - start)
            times.append(sum(client.run(time.process_time).values()) - before)
    return f"| {n_workers} | {n_threads} | {min(times) / min(alone):.1f} | {min(seconds):.2f} |"


if __name__ == "__main__":
    main()
