"""``bpe count``, ``bpe train``: from texts to counts, and to a tokenizer."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bpe.cli.app import human, main, need_output, warn
from bpe.cli.options import pattern_dialect, reading_options, training_options

if TYPE_CHECKING:
    from bpe.corpus import Corpus
    from bpe.counting.word_counts import WordCounts
    from bpe.pattern import Dialect
    from bpe.training import Trainer


# ---------------------------------------------------------------------------------------------- corpora
def _counting_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the arguments that say what to count, and how."""
    for decorate in (
        click.option(
            "--scheduler", metavar="ADDRESS", help="Count on a Dask cluster, such as tcp://10.0.0.1:8786."
        ),
        reading_options,
        click.option(
            "--special", "specials", multiple=True, metavar="TOKEN", help="A special token; may be repeated."
        ),
        pattern_dialect,
        click.option("--pattern", help="Split pattern: a name or a regex.  [default: gpt2]"),
        click.argument("paths", nargs=-1, required=True, metavar="PATH..."),
    ):
        command = decorate(command)
    return command


def _source_of(
    paths: Sequence[str], pattern: str | None, specials: Sequence[str], **reading: Any
) -> Corpus | WordCounts:
    """Return the corpus of some paths, or the sum of the counts if these are files of counts."""
    from bpe.corpus import Corpus
    from bpe.counting.counts_file import MAGIC
    from bpe.counting.word_counts import WordCounts

    def holds_counts(path: str) -> bool:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC

    is_counts = [holds_counts(path) for path in paths]
    if not any(is_counts):
        return Corpus([Path(path) for path in paths], **reading)
    if not all(is_counts):
        raise ValueError(
            f"{paths[is_counts.index(True)]} holds counts, {paths[is_counts.index(False)]} does not: "
            "count the text first, with bpe count"
        )
    if pattern is not None or specials:
        raise ValueError("files of counts bring their own pattern and special tokens: leave out the options")
    total = WordCounts.load(paths[0])
    for path in paths[1:]:
        try:
            total += WordCounts.load(path)
        except (ValueError, OverflowError) as error:
            where = "" if str(error).startswith(path) else f"{path}: "
            raise ValueError(f"{where}{error}") from None
    return total


def _sources_of(
    paths: Sequence[str], temperature: float | None, is_plain: bool
) -> tuple[dict[str, WordCounts], dict[str, float]] | None:
    """Return files of counts by name, and their weights; None where no weights are given.

    `is_plain` says whether there are no options that files of counts do not take.
    """
    from bpe.counting.weights import temperature_weights
    from bpe.counting.word_counts import WordCounts

    weights: dict[str, float] = {}
    for path in paths:
        name, _, number = path.rpartition("=")
        with contextlib.suppress(ValueError):  # no weight
            if name and not os.path.exists(path):
                weight = float(number)
                if name in weights:
                    raise click.UsageError(f"{path}: {name} has a weight already")
                weights[name] = weight
    if temperature is None and not weights:
        return None
    if temperature is not None and weights:
        raise ValueError(f"give weights, as for {next(iter(weights))}, or --temperature, not both")
    if weights and len(weights) < len(paths):
        raise ValueError(
            f"only {len(weights)} of {len(paths)} files have a weight: write FILE=WEIGHT for all"
        )
    if not is_plain:
        raise ValueError("files of counts bring their own pattern and special tokens: leave out the options")
    sources = {name: WordCounts.load(name) for name in weights or paths}
    if temperature is not None:
        weights = temperature_weights(sources, temperature)
    return sources, weights


# ----------------------------------------------------------------------------------------------- count
@main.command()
@_counting_options
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write the counts.")
@click.option("--json", "as_json", is_flag=True, help="Print a summary as JSON.")
def count(
    paths: tuple[str, ...],
    pattern: str | None,
    dialect: Dialect,
    specials: tuple[str, ...],
    field: str,
    errors: Any,
    max_record_bytes: int,
    threads: int | None,
    scheduler: str | None,
    quiet: bool,
    output: str,
    as_json: bool,
) -> None:
    """Count the pieces of texts, once for many trainings.

    A PATH is a file (.txt, .jsonl, .parquet, each also .gz or .zst; any other name is text), a folder with
    such files, a quoted glob pattern, - for standard input, or a file of counts: several are added up.

    \b
    Example:
      bpe count books/ --pattern cl100k --special '<|endoftext|>' -o books.counts
      bpe count books.counts more.counts -o all.counts
      bpe train all.counts --vocab-size 32000 -o tok.json
      bpe train books.counts=0.5 more.counts=1.5 --vocab-size 32000 -o tok.json
    """  # noqa: D301
    need_output(output)
    from bpe.counting.clusters import count_words
    from bpe.counting.word_counts import WordCounts
    from bpe.pattern import Pattern

    started = time.perf_counter()
    source = _source_of(
        paths, pattern, specials, field=field, errors=errors, max_record_bytes=max_record_bytes
    )
    n_bytes = None
    if isinstance(source, WordCounts):
        counts = source
    else:
        n_bytes = source.n_bytes
        counts = count_words(
            source,
            Pattern.of(pattern or "gpt2", dialect),
            specials,
            scheduler=scheduler,
            threads=threads,
            progress=not quiet,
        )
    counts.save(output)
    seconds = time.perf_counter() - started
    if as_json:
        summary = {
            "output": output,
            "pattern": counts.pattern.spec,
            "special_tokens": list(counts.special_tokens),
            "words": len(counts),
            "total": counts.total,
            "corpus_bytes": n_bytes,
            "seconds": round(seconds, 3),
        }
        click.echo(json.dumps(summary))
    elif not quiet:
        text = f"{output}: {human(len(counts))} distinct pieces, {human(counts.total)} in all"
        if n_bytes is not None:
            text += f", from {human(n_bytes, 'B')} in {seconds:.1f} s ({human(n_bytes / seconds, 'B/s')})"
        click.echo(text, err=True)


# ----------------------------------------------------------------------------------------------- train
@main.command()
@_counting_options
@training_options
@click.option(
    "--temperature",
    type=float,
    metavar="T",
    help="Weights for files of counts: each counts for its size to the power of 1/T.",
)
@click.option(
    "--ties",
    type=click.Choice(["smallest", "lexicographic", "first", "gpt2"]),
    default="smallest",
    show_default=True,
    help="Which of several pairs with the same count is merged.",
)
@click.option(
    "--selection",
    type=click.Choice(["heap", "buckets"]),
    default="heap",
    show_default=True,
    help="Which container finds that pair.",
)
def train(
    paths: tuple[str, ...],
    pattern: str | None,
    dialect: Dialect,
    specials: tuple[str, ...],
    field: str,
    errors: Any,
    max_record_bytes: int,
    threads: int | None,
    scheduler: str | None,
    quiet: bool,
    vocab_size: int,
    output: str,
    temperature: float | None,
    **options: Any,
) -> None:
    """Train a tokenizer on texts, or on counts of them.

    A PATH is a file (.txt, .jsonl, .parquet, each also .gz or .zst; any other name is text), a folder with
    such files, a quoted glob pattern, - for standard input, or a file that bpe count wrote. Several of these
    may have weights: FILE=WEIGHT.

    Ctrl-C ends it and keeps what is learned: in FILE, or, if there is an old one, beside it in
    FILE.interrupted (tok.interrupted.json).

    \b
    Example:
      bpe train corpus.txt --vocab-size 32000 --special '<|endoftext|>' -o tok.json
      bpe train 'wiki/*.jsonl.gz' --field body --vocab-size 32000 -o tok.json
      bpe train all.counts --vocab-size 32000 -o tok.json
      bpe train books.counts=0.5 more.counts=1.5 --vocab-size 32000 -o tok.json
    """  # noqa: D301
    need_output(output)
    from bpe.counting.clusters import count_words
    from bpe.counting.word_counts import WordCounts
    from bpe.pattern import Pattern
    from bpe.specials import check_specials
    from bpe.training import Trainer
    from bpe.training.start import fresh_start

    trainer = None
    try:
        weighed = _sources_of(paths, temperature, pattern is None and not specials)
        counts, weights = weighed or (
            _source_of(
                paths, pattern, specials, field=field, errors=errors, max_record_bytes=max_record_bytes
            ),
            None,
        )
        if not isinstance(counts, (WordCounts, dict)):
            fresh_start(check_specials(specials)).n_new(vocab_size)  # before the long work
            counts = count_words(
                counts,
                Pattern.of(pattern or "gpt2", dialect),
                specials,
                scheduler=scheduler,
                threads=threads,
                progress=not quiet,
            )
        trainer = Trainer(counts, weights=weights, **options)
        trainer.run(vocab_size, progress=not quiet)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted: {_kept(trainer, output, vocab_size)}") from None
    tokenizer = trainer.tokenizer()
    tokenizer.save(output)
    if tokenizer.vocab_size < vocab_size:
        why = _why(options["min_count"], options["max_token_length"])
        warn(f"{output}: {tokenizer.vocab_size} tokens, not {vocab_size}: {why}")
    if not quiet:
        click.echo(f"{output}: {tokenizer.vocab_size} tokens", err=True)


def _why(min_count: int, max_token_length: int | None) -> str:
    """Say why there are fewer tokens than were asked for."""
    count = f" that occurs {min_count} times" if min_count > 1 else ""
    length = f" and makes a token of {max_token_length} bytes at most" if max_token_length else ""
    return f"the text has no other pair to merge{count}{length}"


def _kept(trainer: Trainer | None, output: str, vocab_size: int) -> str:
    """Save what is learned so far, and say where; an old file is not replaced by an incomplete one."""
    if trainer is None or not len(trainer.log):
        return f"nothing was learned yet, {output} was not written"
    path = Path(output)
    if path.is_file():
        path = path.with_name(f"{path.stem}.interrupted{path.suffix}")
    tokenizer = trainer.tokenizer()
    tokenizer.save(path)
    return f"{path} has the {tokenizer.vocab_size} tokens that were learned, of {vocab_size}"
