"""A large corpus: real texts, and after them texts made of these, as many bytes as wanted.

    python asv_benchmarks/made_corpus.py OUTPUT TEXT ... --megabytes 1000 [--seed N]

A made text goes on as a real one does, a word at a time. But after one word in six it jumps to another place,
anywhere in the same text, where that word stands, and goes on from there. So pairs of words are as frequent
as in the real texts, and no word is new; but there are ever more different sentences and runs of words. The
made texts are made of the real ones in turn, a megabyte each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path

import click
import numpy as np
from numba import njit

JUMPS = 6  # one word in so many
PART = 1_000_000  # bytes


@njit(nogil=True)
def words_of(text, starts, hashes):
    """Write where words begin, each with the white space after it, and a hash of each; return how many."""
    n = 0
    name = np.int64(5381)
    for i in range(text.size):
        is_space = text[i] <= 32
        if i == 0 or (not is_space and text[i - 1] <= 32):
            starts[n] = i
            n += 1
            name = np.int64(5381)
        if not is_space:
            name = (name * 33) ^ np.int64(text[i])
        hashes[n - 1] = name
    return n


@njit(nogil=True)
def walk(text, starts, groups, group_of, place_of, word, chances, out):
    """Write a text to `out`, from `word` on; return how many bytes and where it would go on."""
    n = 0
    for turn in range(chances.size):
        if word >= starts.size - 1:
            word = np.int64(0)
        start, end = starts[word], starts[word + 1]
        if n + end - start > out.size:
            break
        for i in range(start, end):
            out[n] = text[i]
            n += 1
        if chances[turn] < 1 / JUMPS:
            first, last = groups[group_of[word]], groups[group_of[word] + 1]
            word = np.int64(place_of[first + np.int64(chances[turn] * JUMPS * (last - first))])
        word += 1
    return n, word


class Source:
    """A text, with the places of each of its words."""

    def __init__(self, path: Path, seed: int) -> None:
        self.text = np.fromfile(path, np.uint8)
        starts = np.empty(len(self.text), np.int32)
        hashes = np.empty(len(self.text), np.int64)
        n = words_of(self.text, starts, hashes)
        self.starts = starts[:n].copy()
        _, group_of, sizes = np.unique(hashes[:n], return_inverse=True, return_counts=True)
        self.group_of = group_of.astype(np.int32)
        self.groups = np.concatenate([[0], np.cumsum(sizes)])
        self.place_of = np.argsort(self.group_of, kind="stable").astype(np.int32)
        self.generator = np.random.default_rng(seed)
        self.word = int(self.generator.integers(n))

    def part(self) -> bytes:
        """Return a megabyte, almost."""
        out = np.empty(PART, np.uint8)
        chances = self.generator.random(PART // 2)
        arrays = self.text, self.starts, self.groups, self.group_of, self.place_of
        n, self.word = walk(*arrays, self.word, chances, out)
        return out[:n].tobytes() + b"\n"


def made_of(paths: Sequence[Path], size: int, seed: int) -> Iterator[bytes]:
    """Yield the texts, then what is made of them, `size` bytes in all (and up to a megabyte more)."""
    n = 0
    for path in paths:
        text = path.read_bytes()[: max(0, size - n)]
        n += len(text)
        yield text
    if n < size:
        for source in cycle([Source(path, seed + i) for i, path in enumerate(paths)]):
            part = source.part()
            n += len(part)
            yield part
            if n >= size:
                return


@click.command()
@click.argument("output", type=click.Path(path_type=Path))
@click.argument("texts", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--megabytes", default=1000)
@click.option("--seed", default=0)
def main(output: Path, texts: tuple[Path, ...], megabytes: int, seed: int) -> None:
    """Write the corpus."""
    with open(output, "wb") as file:
        for part in made_of(texts, megabytes * 1_000_000, seed):
            file.write(part)


if __name__ == "__main__":
    main()
