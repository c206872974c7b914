"""``bpe bench``, ``bpe warmup``: measure the speed of encoding; compile everything in advance."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import click

from bpe.cli.app import human, load, main, name_of, read

if TYPE_CHECKING:
    from bpe.tokenizer import Tokenizer


BENCH_BYTES = 8_000_000
PASSES = 3
SELECTIONS: tuple[Literal["heap", "buckets"], ...] = ("heap", "buckets")
TIES: tuple[Literal["smallest", "lexicographic", "first"], ...] = ("smallest", "lexicographic", "first")


# ----------------------------------------------------------------------------------------------- bench
@main.command()
@click.argument("tokenizer", metavar="TOKENIZER")
@click.argument("file", metavar="FILE")
@click.option("--json", "as_json", is_flag=True, help="Write the figures as JSON.")
def bench(tokenizer: str, file: str, as_json: bool) -> None:
    """Measure the encoding of a file, side by side with tiktoken and tokenizers where they are installed.

    All encode the same text (the first 8 MB of a longer one) on one thread, with this vocabulary. First they
    must give the same ids: one that does not is not measured. The first pass of each is given by itself, then
    the best of three.

    \b
    Example:
      bpe bench tok.json corpus.txt
    """  # noqa: D301
    loaded = load(tokenizer)
    data = read(file)[:BENCH_BYTES]
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        if error.start < len(data) - 3:
            raise ValueError(f"{name_of(file)}: not UTF-8 at byte {error.start}") from None
        data = data[: error.start]  # the first 8 MB end inside a character
        text = data.decode()
    if not data:
        raise ValueError(f"{name_of(file)}: empty: there is nothing to measure")
    encoders, absent = _encoders(loaded)
    wanted: Any = None
    results: dict[str, dict[str, float]] = {}
    for name, encode in encoders.items():
        started = time.perf_counter()
        ids = encode(text)
        seconds = [time.perf_counter() - started]
        if wanted is None:
            wanted = list(ids)
        elif list(ids) != wanted:
            absent[name] = "gives other ids"
            continue
        for _ in range(PASSES):
            started = time.perf_counter()
            encode(text)
            seconds.append(time.perf_counter() - started)
        results[name] = {"first": len(data) / seconds[0], "best": len(data) / min(seconds[1:])}
    if as_json:
        figures = {
            "bytes": len(data),
            "tokens": len(wanted),
            "bytes_per_second": results,
            "not_measured": absent,
        }
        click.echo(json.dumps(figures))
        return
    click.echo(
        f"{name_of(file)}: {human(len(data), 'B')}, {human(len(wanted))} tokens, "
        f"{len(data) / len(wanted):.3f} bytes a token; one thread"
    )
    click.echo(f"{'':12}{'first pass':>12}{'best of ' + str(PASSES):>12}{'tokens/s':>16}")
    for name, rates in results.items():
        tokens = rates["best"] * len(wanted) / len(data)
        click.echo(
            f"{name:12}{human(rates['first'], 'B/s'):>12}{human(rates['best'], 'B/s'):>12}{human(tokens):>16}"
        )
    for name, reason in absent.items():
        click.echo(f"{name:12}not measured: {reason}")


def _encoders(tokenizer: Tokenizer) -> tuple[dict[str, Callable[[str], Any]], dict[str, str]]:
    """Return the encoders that can use this vocabulary, and the reasons why the others cannot."""
    encoders: dict[str, Callable[[str], Any]] = {
        "bpe": lambda text: tokenizer.encode_to_numpy(text, disallowed_special=()).tolist()
    }
    absent = {}
    try:
        theirs = tokenizer.to_tiktoken()
        encoders["tiktoken"] = theirs.encode_ordinary
    except (ImportError, ValueError) as error:
        absent["tiktoken"] = str(error)
    try:
        others = tokenizer.to_huggingface()
        others.encode_special_tokens = True  # special tokens are text here, as with the others
        encoders["tokenizers"] = lambda text: others.encode(text, add_special_tokens=False).ids
    except (ImportError, ValueError) as error:
        absent["tokenizers"] = str(error)
    return encoders, absent


# ---------------------------------------------------------------------------------------------- warmup
@main.command()
def warmup() -> None:
    """Compile everything once, for images of containers and of continuous integration.

    What is compiled is kept on disk, in __pycache__ beside the sources or where NUMBA_CACHE_DIR says; with
    it, every later process starts at once.

    \b
    Example:
      bpe warmup
    """  # noqa: D301
    from bpe.counting.word_counts import WordCounts
    from bpe.pattern import PATTERNS
    from bpe.specials import SpecialSearch
    from bpe.training import train

    started = time.perf_counter()
    texts = ["the cat and the hat " * 50, "naïve 中文 123\n", "x" * 1000 + " " + "ab" * 500, "<|end|>"]
    for pattern in PATTERNS:
        WordCounts.from_corpus(texts, pattern, ["<|end|>"], progress=False)
    counts = WordCounts.from_corpus(texts * 50, "gpt2", ["<|end|>"], threads=2, progress=False)
    counts += WordCounts.from_corpus([b"bytes \xff"], "gpt2", ["<|end|>"], progress=False)
    for selection in SELECTIONS:
        for ties in TIES:
            tokenizer = train(counts, vocab_size=300, selection=selection, ties=ties, progress=False)
    _use(tokenizer, texts)
    SpecialSearch(frozenset(map(str, range(1000)))).split(b"1 2")  # so many: by an automaton
    click.echo(f"compiled, or loaded, in {time.perf_counter() - started:.1f} s", err=True)


def _use(tokenizer: Tokenizer, texts: list[str]) -> None:
    """Call all methods of a tokenizer that compile something."""
    tokenizer.encode_batch(texts, threads=2, disallowed_special=())
    tokenizer.encode_batch_to_numpy(texts, disallowed_special=())
    tokenizer.decode_batch([tokenizer.encode(text, allowed_special="all") for text in texts])
    text = "".join(texts[:3])
    tokenizer.encode_with_offsets(text)
    tokenizer.count(text)
    tokenizer.truncate(text, 20)
    tokenizer.interval_counter(text).count_many([0, 5], [10, 50])
    tokenizer.encode_with_dropout(text, 0.1, seed=1)
    stream, growing = tokenizer.stream_encoder(), tokenizer.appendable_encoder()
    for part in texts[:3]:
        stream.feed(part)
        growing.append(part)
    stream.finish()
    growing.ids()
