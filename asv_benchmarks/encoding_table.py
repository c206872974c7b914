"""Encoding and decoding, beside tiktoken, gigatoken and tokenizers, on one thread; tables in Markdown.

    python asv_benchmarks/encoding_table.py VOCABULARIES TEXT [TEXT ...] [--only NAME ...]

NAME is texts (whole ones), unseen (lines that are encoded once), hard (texts without a space), short (many
calls), decoding or loading.

VOCABULARIES is a folder as for ``same.py ids``, which compares whole texts; here, ids are compared on the
beginning of each text. Texts are encoded to arrays in parts of about a megabyte, compiled code is loaded
before. A first pass is that of a new tokenizer, which has met no word yet. Another one has read the texts
before: CPython keeps the UTF-8 of a str that is not ASCII, and whoever came second would not have to make
it. Unseen lines are all different, and encoded once, by tokenizers that have met a megabyte of others.
gigatoken and tokenizers, where they are installed, do the same work, in turns with ours. Short work takes
many turns, the least of which counts; results are compared first.
"""

from __future__ import annotations

import benchmarks._common  # noqa: F401  # compiled code does everything, and is kept where it says

# isort: split

import gc
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import cycle, islice, pairwise
from pathlib import Path
from typing import Any

import click
import numpy as np
from measuring import best, chosen, in_units, texts_argument, times_option, vocabularies_argument
from same import PATTERNS, Pair

import bpe

PART = 1_000_000  # characters
COMPARED, MEASURED_THERE = 4, 8  # parts
FIRST_PASSES = 3  # each of a new tokenizer
GIGATOKENS_NAMES = {"gpt2": "gpt2", "cl100k_base": "gpt4", "o200k_base": "o200k"}
HUNDRED, SHORT_TEXTS = 100, 100_000
SHORT_CALLS = 1000  # of each size
DECODED = 200_000  # ids
TURNS_TAKE, FEWEST_TURNS = 0.3, 5  # seconds of each side
OTHERS = ("tiktoken", "gigatoken", "tokenizers")
HARD = 1 << 20
SLICE, UNTIMED, TIMED = 400_000, 3, 6  # bytes of unseen lines; slices
SCRIPTS = {
    "Han": "[\u4e00-\u9fff]",
    "Hangul": "[\uac00-\ud7af]",
    "Cyrillic": "[\u0400-\u04ff]",
    "Arabic": "[\u0600-\u06ff]",
    "Devanagari": "[\u0900-\u097f]",
    "Thai": "[\u0e00-\u0e7f]",
}


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


def unseen_slices(text: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield slices of different lines of a text: of all, and of those that are mostly in a script."""
    lines = [*dict.fromkeys(text.splitlines(keepends=True))]
    random.Random(5).shuffle(lines)
    letters = {script: re.compile(expression) for script, expression in SCRIPTS.items()}
    of_script = {
        script: [line for line in lines if 2 * len(letter.findall(line)) > len(line)]
        for script, letter in letters.items()
    }
    for script, some in {"all": lines, **of_script}.items():
        shares = np.cumsum([len(line.encode()) for line in some]) // SLICE
        edges = np.searchsorted(shares, range(UNTIMED + TIMED + 1))
        if len(shares) and shares[-1] >= UNTIMED + TIMED:
            yield script, [some[start:end] for start, end in pairwise(edges)]


def unseen(folder: Path, files: tuple[Path, ...]) -> None:
    """Print the table of unseen lines, each a text of a batch."""
    columns = ("text", "script", "vocabulary", "MB/s", "times tiktoken", "times gigatoken")
    click.echo(f"\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for file in files:
        for script, slices in unseen_slices(file.read_bytes().decode("utf-8", "replace")):
            for name in PATTERNS:
                theirs = Pair(folder, name).theirs.encode_ordinary
                encoders = [new_tokenizer(folder, name)(1), lambda lines, one=theirs: [*map(one, lines)]]
                if other := gigatoken(folder, name):
                    encoders.append(other)
                took = in_random_turns(encoders, slices)
                ratios = [f"{seconds / took[0]:.2f}" for seconds in took[1:]] + ["-"] * (3 - len(took))
                cells = (file.name, script, name, f"{TIMED * SLICE / took[0] / 1e6:.0f}", *ratios)
                click.echo(f"| {' | '.join(cells)} |")


def in_random_turns(encoders: list[Callable[[list[str]], Any]], slices: list[list[str]]) -> list[float]:
    """Return the seconds of each, ours first, for all slices but the first ones; the ids must be the same."""
    took = [0.0] * len(encoders)
    for n, lines in enumerate(slices):
        found: dict[int, Any] = {}
        for k in random.Random(n).sample(range(len(encoders)), len(encoders)):
            start = time.perf_counter()
            found[k] = encoders[k](lines)
            took[k] += time.perf_counter() - start if n >= UNTIMED else 0
        ids = found.pop(0)[0]
        for others in found.values():
            assert np.array_equal(ids, np.concatenate([np.asarray(row, np.uint32) for row in others]))
    return took


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


# ------------------------------------------------------------------------------------------- many turns
def least_of_turns(functions: dict[str, Callable[[Any], Any]], items: list[Any]) -> dict[str, float]:
    """Return the least seconds that each function takes for all items; the garbage collector pauses."""
    least = dict.fromkeys(functions, float("inf"))
    end, n_done = time.perf_counter() + TURNS_TAKE * len(functions), 0
    gc.disable()
    try:
        while n_done < FEWEST_TURNS or time.perf_counter() < end:
            for name, function in functions.items():
                start = time.perf_counter()
                for item in items:
                    function(item)
                least[name] = min(least[name], time.perf_counter() - start)
            n_done += 1
    finally:
        gc.enable()
    return least


def print_ratios(head: str, took: dict[str, float], n: int) -> None:
    """Print a row: what an item of `n` takes us, and how many times as fast we are as each of the others."""
    ours, *others = took.values()
    ratios = [f"{took[name] / ours:.2f}" if name in took else "-" for name in OTHERS]
    ratios.append(f"{min(others) / ours:.2f}")
    click.echo(f"| {head} | {in_units(ours / n)} | {' | '.join(ratios)} |")


def print_head_of_ratios(head: str) -> None:
    cells = [head, "ours", *(f"times {other}" for other in OTHERS), "times the fastest"]
    click.echo(f"\n| {' | '.join(cells)} |\n|{'---|' * (len(cells) + head.count('|'))}")


def other_tokenizers(folder: Path, pair: Pair) -> tuple[Any, Any]:
    """Return those of gigatoken and of tokenizers, None for what is not installed."""
    try:
        from gigatoken import Tokenizer

        giga = Tokenizer.from_tiktoken(
            str(folder / f"{pair.name}.tiktoken"), pretokenizer=GIGATOKENS_NAMES[pair.name]
        )
    except ImportError:
        giga = None
    return giga, pair.ours.to_huggingface() if find_spec("tokenizers") else None


def decoding(folder: Path, pair: Pair, files: tuple[Path, ...]) -> None:
    """Print a table of decoding: lists to str; of many ids also to bytes, from arrays, and batches."""
    giga, hugging = other_tokenizers(folder, pair)
    to_text: dict[str, Callable[[Any], Any]] = {"ours": pair.ours.decode, "tiktoken": pair.theirs.decode}
    to_bytes: dict[str, Callable[[Any], Any]] = {
        "ours": pair.ours.decode_bytes,
        "tiktoken": pair.theirs.decode_bytes,
    }
    of_batch: dict[str, Callable[[Any], Any]] = {
        "ours": pair.ours.decode_batch,
        "tiktoken": lambda batch: pair.theirs.decode_batch(batch, num_threads=1),
    }
    if giga:
        to_text["gigatoken"] = lambda ids: giga.decode(ids).decode("utf-8", "replace")
        to_bytes["gigatoken"] = giga.decode
        of_batch["gigatoken"] = lambda batch: [giga.decode(ids).decode("utf-8", "replace") for ids in batch]
    if hugging:
        to_text["tokenizers"] = lambda ids: hugging.decode(ids, skip_special_tokens=False)
        of_batch["tokenizers"] = lambda batch: hugging.decode_batch(batch, skip_special_tokens=False)
    print_head_of_ratios("text | ids | from, to")
    for file in files:
        text = file.read_bytes().decode("utf-8", "replace")[: DECODED * 8]  # special tokens are ordinary
        all_ids = pair.theirs.encode_ordinary(text)
        for n in (1, 10, 100, 1000, DECODED):
            parts = [all_ids[i : i + n] for i in range(0, min(max(n, 2000), len(all_ids)), n)]
            n_ids = sum(map(len, parts))
            shown = f"{file.name} | {len(parts[0]):,}"
            for form, verbs in (("list to str", to_text), ("list to bytes", to_bytes)):
                check_all(form, verbs, parts)
                print_ratios(f"{shown} | {form}", least_of_turns(verbs, parts), n_ids)
            arrays = [np.array(ids, np.uint32) for ids in parts]
            check_all("array to str", to_text, arrays)
            print_ratios(f"{shown} | array to str", least_of_turns(to_text, arrays), n_ids)
        batch = [all_ids[i : i + 75] for i in range(0, len(all_ids), 75)]
        check_all("batch", of_batch, [batch])
        print_ratios(f"{file.name} | 75 | batch to str", least_of_turns(of_batch, [batch]), len(all_ids))


def check_all(what: str, functions: dict[str, Callable[[Any], Any]], items: list[Any]) -> None:
    """End where functions do not return the same."""
    found = {name: [*map(function, items)] for name, function in functions.items()}
    for name, others in found.items():
        if others != found["ours"]:
            sys.exit(f"{what}: {name} gives something else")


def short_calls(folder: Path, pair: Pair, text: str) -> None:
    """Print a table of short texts: to a list, with special tokens looked for and without; batches."""
    giga, hugging = other_tokenizers(folder, pair)
    plain: dict[str, Callable[[Any], Any]] = {
        "ours": pair.ours.encode_ordinary,
        "tiktoken": pair.theirs.encode_ordinary,
    }
    looking = {"ours": pair.ours.encode, "tiktoken": pair.theirs.encode}
    of_batch: dict[str, Callable[[Any], Any]] = {
        "ours": lambda texts: pair.ours.encode_batch_to_numpy(texts, threads=1, disallowed_special=()),
        "tiktoken": lambda texts: pair.theirs.encode_ordinary_batch(texts, num_threads=1),
    }
    if giga:
        plain["gigatoken"] = looking["gigatoken"] = lambda text: giga.encode(text).tolist()
        of_batch["gigatoken"] = lambda texts: giga.encode_batch(texts, parallel=False)
    if hugging:
        plain["tokenizers"] = looking["tokenizers"] = lambda text: hugging.encode(text).ids
        of_batch["tokenizers"] = lambda texts: hugging.encode_batch_fast(texts)
    text = text.replace("<|endoftext|>", "")  # which is an error for some, and a token for others
    print_head_of_ratios("characters | call")
    for size in (20, 100, 1000):
        starts = range(0, len(text) - size, max(len(text) // SHORT_CALLS, 1))
        texts = [text[start : start + size] for start in starts]
        for name, verbs in (("encode_ordinary", plain), ("encode", looking)):
            check_all(name, verbs, texts)
            print_ratios(f"{size} | {name}", least_of_turns(verbs, texts), len(texts))
    texts = [text[start : start + 300] for start in range(0, len(text), 300)]
    ids, offsets = of_batch["ours"](texts)
    wanted = [ids[start:end].tolist() for start, end in pairwise(offsets)]
    assert wanted == of_batch["tiktoken"](texts), "a batch: tiktoken gives other ids"
    print_ratios("300 | batch to arrays", least_of_turns(of_batch, [texts]), len(texts))


@click.command()
@vocabularies_argument
@texts_argument
@times_option
@click.option("--only", multiple=True, help="What to measure; by default everything.")
def main(folder: Path, texts: tuple[Path, ...], times: int, only: tuple[str, ...]) -> None:
    """Print how fast texts are encoded, and ids decoded."""
    parts: dict[str, Callable[[], None]] = {
        "texts": lambda: whole_texts(folder, texts, times),
        "unseen": lambda: unseen(folder, texts),
        "hard": lambda: hard_ones(pair, prose, times),
        "short": lambda: short(folder, pair, prose, times),
        "decoding": lambda: decoding(folder, pair, texts),
        "loading": lambda: click.echo(loading(folder, pair.name, times)),
    }
    names = chosen(only, parts)
    pair = Pair(folder, "cl100k_base")
    prose = texts[0].read_bytes().decode("utf-8", "replace")[: 4 * HARD]
    for name in names:
        parts[name]()


def whole_texts(folder: Path, texts: tuple[Path, ...], times: int) -> None:
    """Print the table of whole texts."""
    click.echo(
        "| text | vocabulary | first pass MB/s | then | two threads | times one | times tiktoken | "
        "times gigatoken, first pass and then |"
    )
    click.echo("|---|---|---|---|---|---|---|---|")
    for file in texts:
        for name in PATTERNS:
            click.echo(whole_text(folder, name, file, times))


def hard_ones(pair: Pair, prose: str, times: int) -> None:
    """Print the table of texts without a space."""

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


def short(folder: Path, pair: Pair, prose: str, times: int) -> None:
    """Print what short texts take."""
    for line in calls(pair, prose, times):
        click.echo(line)
    short_calls(folder, pair, prose)


if __name__ == "__main__":
    main()
