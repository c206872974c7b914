"""Count a long stream of made-up text that is nowhere on a disk, and print how much memory it takes.

    python asv_benchmarks/long_stream.py [--gigabytes 5] [--threads 1]

The stream is the same on every run. Its words are drawn by Zipf's law from a million entries of eight bytes
each, such as " tsaheot" or " tah eon", so that a block of text is a block of numbers. Every count is compared
with what was drawn. Memory must not grow with the length of the stream: the most that was in use is printed
after every gigabyte.
"""

from __future__ import annotations

import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator

import click
import numpy as np

import bpe

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
                print(f"| {done} | {peak_megabytes():.0f} |", flush=True)

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


@click.command()
@click.option("--gigabytes", type=float, default=5, show_default=True)
@click.option("--threads", type=int, default=1, show_default=True)
def main(gigabytes: float, threads: int) -> None:
    bpe.WordCounts.from_corpus(["a small text, to load the compiled code"], threads=threads)
    print(f"before the stream: {peak_megabytes():.0f} MB")
    stream = Stream(int(gigabytes * 1e9))
    start = time.perf_counter()
    for _ in Stream(64 << 20):
        pass
    alone = (time.perf_counter() - start) / (64 << 20)  # seconds a byte, to make the text
    print("| GB counted | most memory in use, MB |\n|---|---|")
    start = time.perf_counter()
    counts = bpe.WordCounts.from_corpus(stream, threads=threads)
    seconds = time.perf_counter() - start
    rate, to_make = stream.n_bytes / seconds / 1e6, alone * stream.n_bytes
    print(
        f"{stream.n_bytes / 1e9:.2f} GB in {seconds:.1f} s, {rate:.0f} MB/s; {to_make:.1f} s of it to make it"
    )
    print(f"{counts.total} words, {len(counts)} distinct; at most {peak_megabytes():.0f} MB")
    if dict(counts.items()) != stream.expected():
        sys.exit("the counts are not those of the words that were drawn")
    print("every count is right")


if __name__ == "__main__":
    main()
