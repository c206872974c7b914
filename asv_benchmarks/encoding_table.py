"""Encoding, beside tiktoken and gigatoken: whole texts, short ones, hard ones, loading; tables in Markdown.

    python asv_benchmarks/encoding_table.py VOCABULARIES TEXT [TEXT ...]

VOCABULARIES is a folder as for ``same.py ids``, which compares whole texts; here, ids are compared on the
beginning of each text. Texts are encoded to arrays in parts of about a megabyte, compiled code is loaded
before. A first pass is that of a new tokenizer, which has met no word yet. Another one has read the texts
before: CPython keeps the UTF-8 of a str that is not ASCII, and whoever came second would not have to make
it. gigatoken, where it is installed, does the same work, in turns with ours.
"""

from __future__ import annotations

import benchmarks._common  # noqa: F401  # compiled code does everything, and is kept where it says

# isort: split

import random
import tempfile
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import click
import numpy as np
from measuring import best, texts_argument, times_option, vocabularies_argument
from same import PATTERNS, Pair

import bpe

PART = 1_000_000  # characters
COMPARED, MEASURED_THERE = 4, 8  # parts
FIRST_PASSES = 3  # each of a new tokenizer
GIGATOKENS_NAMES = {"gpt2": "gpt2", "cl100k_base": "gpt4", "o200k_base": "o200k"}
HUNDRED, SHORT_TEXTS = 100, 100_000
HARD = 1 << 20


def parts_of(text: str) -> Iterator[str]:
    """Yield a text in parts that end with a line."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + PART) + 1 or len(text)
        yield text[start:end]
        start = end


def per_byte(encode: Callable[[Any], Any], texts: list[Any], times: int) -> float:
    """Return seconds a byte."""
    n_bytes = sum(len(text if isinstance(text, bytes) else text.encode()) for text in texts)
    return best(lambda: encode(texts), times) / n_bytes


def in_turns(encoders: list[Callable[[Any], Any]], texts: list[Any], times: int) -> list[float]:
    """Return seconds a byte of each, the least of some rounds; what else the machine does meets all."""
    rounds = [[per_byte(encode, texts, 1) for encode in encoders] for _ in range(times)]
    return [min(seconds) for seconds in zip(*rounds, strict=True)]


def gigatoken(folder: Path, name: str) -> Callable[[list[str]], Any] | None:
    """Return what encodes texts by a new tokenizer of gigatoken, None where it is not installed."""
    try:
        from gigatoken import Tokenizer
    except ImportError:
        return None
    other = Tokenizer.from_tiktoken(str(folder / f"{name}.tiktoken"), pretokenizer=GIGATOKENS_NAMES[name])
    return lambda texts: other.encode_batch(texts, parallel=False)


def new_tokenizer(folder: Path, name: str) -> Callable[[int], Callable[[list[str]], Any]]:
    """Return, by number of threads, what encodes texts by a new tokenizer, which has met no word yet."""
    new = bpe.Tokenizer.from_tiktoken(folder / f"{name}.tiktoken", pattern=PATTERNS[name], special_tokens={})
    _ = new.merges  # found now, as others find theirs when they read the file
    return lambda threads: lambda texts: new.encode_batch_to_numpy(texts, threads, disallowed_special=())


def side_by_side(
    folder: Path, name: str, parts: list[str], wanted: list[np.ndarray], times: int
) -> tuple[list[float], list[float]]:
    """Return seconds a byte of ours and, where it is installed, of gigatoken.

    Both begin with a first pass and one that follows; ours end with one on two threads. `wanted` are the ids
    of the first parts, for gigatoken.
    """
    first_passes = []
    for _ in range(min(times, FIRST_PASSES)):
        ours, other = new_tokenizer(folder, name), gigatoken(folder, name)
        first_passes.append(in_turns([ours(1), other] if other else [ours(1)], parts, 1))
    first, *first_of_other = map(min, zip(*first_passes, strict=True))
    one, two, *of_other = in_turns([ours(1), ours(2)] + ([other] if other else []), parts, times)
    for ids, found in zip(wanted, other(parts[: len(wanted)]) if other else [], strict=other is not None):
        assert np.array_equal(ids, found), f"{name}: gigatoken gives other ids"
    return [first, one, two], first_of_other + of_other


def whole_text(folder: Path, name: str, file: Path, times: int) -> str:
    """Return a row of the first table."""
    pair = Pair(folder, name)
    parts = list(parts_of(file.read_bytes().decode("utf-8", "replace")))
    wanted = [pair.of_theirs(part) for part in parts[:COMPARED]]
    for part, ids in zip(parts, wanted, strict=False):
        pair.check(file.name, part, ids, pair.ours.encode_to_numpy(part, disallowed_special=()))
    pair.ours.encode_batch_to_numpy(parts, threads=1, disallowed_special=())
    ours, others = side_by_side(folder, name, parts, wanted, times)
    theirs = per_byte(lambda texts: [*map(pair.of_theirs, texts)], parts[:MEASURED_THERE], 1)
    speeds = " | ".join(f"{1e-6 / seconds:.0f}" for seconds in ours)
    ratios = ", ".join(f"{other / own:.2f}" for other, own in zip(others, ours, strict=False)) or "-"
    return (
        f"| {file.name} | {name} | {speeds} | {ours[1] / ours[2]:.2f} | {theirs / ours[1]:.0f} | {ratios} |"
    )


def hard_texts(chance: random.Random) -> dict[str, str | bytes]:
    """Return texts of a mebibyte without a space, by name."""
    return {
        "one letter": "a" * HARD,
        "ACGT": "".join(chance.choices("ACGT", k=HARD)),
        "letters": "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=HARD)),
        "random bytes": chance.randbytes(HARD),
        "emoji": "".join(map(chr, chance.choices(range(0x1F300, 0x1F640), k=HARD // 4))),
        "CJK": "".join(map(chr, chance.choices(range(0x4E00, 0x9FFF), k=HARD // 3))),
    }


def calls(pair: Pair, text: str, times: int) -> Iterator[str]:
    """Yield lines about short texts."""
    lines = [text[i : i + HUNDRED] for i in range(0, HUNDRED * 1000, HUNDRED)]
    for line in lines:
        pair.check(
            "a line", line, pair.of_theirs(line), pair.ours.encode_to_numpy(line, disallowed_special=())
        )
    for name, ours, theirs in (
        ("encode", pair.ours.encode_ordinary, pair.theirs.encode_ordinary),
        ("count", pair.ours.count, lambda line: len(pair.theirs.encode_ordinary(line))),
    ):
        took, there = (best(lambda f=f: [*map(f, lines)], times) for f in (ours, theirs))
        yield f"{name} of {HUNDRED} characters: {took * 1e3:.1f} us; tiktoken {there * 1e3:.1f} us"
    many = list(islice(cycle(lines), SHORT_TEXTS))
    took = best(lambda: pair.ours.encode_batch(many, disallowed_special=()), times)
    there = best(lambda: pair.theirs.encode_ordinary_batch(many), 1)
    yield f"encode_batch of {SHORT_TEXTS:,} of these: {there / took:.1f} times as fast as tiktoken"


def loading(folder: Path, name: str, times: int) -> str:
    """Return a line about loading."""
    ranks = folder / f"{name}.tiktoken"

    def opened() -> bpe.Tokenizer:
        return bpe.Tokenizer.from_tiktoken(ranks, pattern=PATTERNS[name], special_tokens={})

    took = best(opened, times)
    there = best(lambda: Pair(folder, name), times) - took  # which loads both
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, "tok.json")
        opened().save(path)
        native = best(lambda: bpe.Tokenizer.load(path), times)
    return (
        f"load {name}: rank file {took * 1e3:.0f} ms, native file {native * 1e3:.0f} ms; "
        f"tiktoken {there * 1e3:.0f} ms"
    )


@click.command()
@vocabularies_argument
@texts_argument
@times_option
def main(folder: Path, texts: tuple[Path, ...], times: int) -> None:
    """Print how fast texts are encoded."""
    click.echo(
        "| text | vocabulary | first pass MB/s | then | two threads | times one | times tiktoken | "
        "times gigatoken, first pass and then |"
    )
    click.echo("|---|---|---|---|---|---|---|---|")
    for file in texts:
        for name in PATTERNS:
            click.echo(whole_text(folder, name, file, times))
    pair = Pair(folder, "cl100k_base")
    prose = texts[0].read_bytes().decode("utf-8", "replace")[: 4 * HARD]

    def encode(text: str | bytes) -> np.ndarray:
        return pair.ours.encode_to_numpy(text, disallowed_special=())

    plain = per_byte(lambda some: [*map(encode, some)], [prose, prose], times)
    click.echo("\n| 1 MiB without a space | ns a byte | times prose |\n|---|---|---|")
    for name, text in hard_texts(random.Random(1)).items():
        wanted = np.frombuffer(text if isinstance(text, bytes) else text.encode(), np.uint8)
        assert np.array_equal(np.frombuffer(pair.ours.decode_bytes(encode(text)), np.uint8), wanted), name
        seconds = per_byte(lambda some: encode(some[0]), [text], times)
        click.echo(f"| {name} | {seconds * 1e9:.0f} | {seconds / plain:.1f} |")
    click.echo()
    for line in (*calls(pair, prose, times), loading(folder, "cl100k_base", times)):
        click.echo(line)


if __name__ == "__main__":
    main()
