"""``bpe count-words``, ``bpe train``: from texts to counts, and to a tokenizer.

``bpe train-parity``: from the counts of several languages to one tokenizer.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click

from bpe.cli.app import STDOUT, main, name_of_output, need_output, only_one_to_stdout, warn, written
from bpe.cli.options import (
    PATTERN_HELP,
    READING,
    PatternType,
    pattern_dialect,
    reading_options,
    source_of,
    superword_options,
    together,
    training_options,
    weighted_counts_of,
)
from bpe.cli.progress import Stopwatch, human, progress_of

if TYPE_CHECKING:
    from bpe.corpus import Corpus
    from bpe.counting.word_counts import WordCounts
    from bpe.splitting.pattern import Dialect, Pattern
    from bpe.superwords.boundless import Boundless
    from bpe.superwords.counted_runs import RunCounts
    from bpe.superwords.superbpe import SuperBPE
    from bpe.tokenizer import Tokenizer
    from bpe.trainer import Trainer


Value = TypeVar("Value")
Sizes: TypeAlias = list[tuple[int, int, int]]


# ---------------------------------------------------------------------------------------------- corpora
_counting_options = together(
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="The address of a Dask cluster that counts, such as tcp://10.0.0.1:8786.",
    ),
    reading_options,
    click.option(
        "--special-token",
        "specials",
        multiple=True,
        metavar="TOKEN",
        help="A special token. May be repeated.",
    ),
    pattern_dialect,
    click.option(
        "--pattern", type=PatternType(), metavar="NAME|REGEX", help=f"{PATTERN_HELP}  [default: gpt2]"
    ),
    click.argument("paths", nargs=-1, required=True, metavar="PATH..."),
)
"""The arguments for what is counted, and how."""


# ----------------------------------------------------------------------------------------- count-words
@main.command("count-words")
@_counting_options
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    help="The file to write the counts to, or - for standard output.",
)
@click.option(
    "--runs",
    is_flag=True,
    help="Also count runs of words, from which bpe train --superwords boundless learns.",
)
@click.option(
    "--superword-parts",
    metavar="REGEX",
    help="For --runs: what a piece must have to be joined.  [default: a letter]",
)
@click.option("--json", "as_json", is_flag=True, help="Print a summary as JSON.")
def count_words(
    paths: tuple[str, ...],
    pattern: str | None,
    dialect: Dialect,
    specials: tuple[str, ...],
    threads: int | None,
    scheduler: str | None,
    quiet: bool,
    progress: bool,
    output: str,
    runs: bool,
    superword_parts: str | None,
    as_json: bool,
    **reading: Any,
) -> None:
    """Count the pieces of texts, to train on the counts.

    A PATH is a file, a folder, a glob pattern in quotes, or - for standard input. Files end in .txt, .jsonl
    or .parquet, and may have .gz or .zst after that; a file with another name is read as text. Files that
    bpe count-words wrote may be given, too, by themselves: their counts are added.

    \b
    Example:
      bpe count-words books/ --pattern cl100k --special-token '<|endoftext|>' -o books.counts
      bpe count-words books.counts more.counts -o all.counts
      bpe count-words books/ --runs -o books.runs
      bpe train all.counts --vocab-size 32000 -o tok.json
      bpe train books.counts=0.5 more.counts=1.5 --vocab-size 32000 -o tok.json
    """  # noqa: D301
    only_one_to_stdout(output, as_json)
    need_output(output)
    from bpe.corpus import Corpus
    from bpe.splitting.pattern import Pattern
    from bpe.superwords.counted_runs import RunCounts

    if superword_parts is not None and not runs:
        raise ValueError("--superword-parts requires --runs")
    watch, shown = Stopwatch(), progress_of("counting", "B", quiet=quiet, lines=progress)
    found = source = source_of(paths, output, pattern, specials, is_quiet=quiet, **reading)
    n_bytes = None
    if isinstance(source, Corpus):
        n_bytes = source.n_bytes
        rules = Pattern.of(pattern or "gpt2", dialect), specials
        on = {"scheduler": scheduler, "threads": threads, "progress": shown}
        found = _counts_of_corpus(source, rules, superword_parts, on, runs=runs)
    elif runs and not isinstance(source, RunCounts):
        raise ValueError(f"{paths[0]} holds counts of words: count the runs of the text itself")
    with written(output) as path:
        found.save(path)
    (counts,) = _words_of(found)
    n_runs = {"runs": len(found)} if isinstance(found, RunCounts) else {}
    if as_json:
        summary = {
            "output": output,
            "pattern": counts.pattern.spec,
            "special_tokens": list(counts.special_tokens),
            "words": len(counts),
            "total": counts.total,
            **n_runs,
            "text_bytes": counts.n_text_bytes,
            "corpus_bytes": n_bytes,
            **watch.to_json(),
        }
        click.echo(json.dumps(summary))
    elif not quiet:
        text = f"{name_of_output(output)}: {_sizes_in_words([_size_of(counts)])}"
        if n_runs:
            text += f"; {human(n_runs['runs'])} distinct runs"
        if isinstance(source, Corpus):
            text += f" in {watch.seconds:.1f} s ({human(counts.n_text_bytes / watch.seconds, 'B/s')})"
        click.echo(text, err=True)


def _counts_of_corpus(
    source: Corpus,
    rules: tuple[Pattern, Sequence[str]],
    superword_parts: str | None,
    on: dict[str, Any],
    *,
    runs: bool,
) -> WordCounts | RunCounts:
    from bpe.counting.clusters import count_words
    from bpe.superwords.counted_runs import count_runs
    from bpe.superwords.run_counts import PARTS

    if not runs:
        return count_words(source, *rules, **on)
    del on["threads"]  # runs are counted on one thread
    return count_runs(source, *rules, parts=PARTS if superword_parts is None else superword_parts, **on)


def _size_of(counts: WordCounts) -> tuple[int, int, int]:
    """Return the number of distinct pieces, of all pieces, and of bytes of text."""
    return len(counts), counts.total, counts.n_text_bytes


def _sizes_in_words(sizes: Sizes) -> str:
    """Return how much was counted in all, as a phrase of a summary."""
    n_distinct, n_pieces, n_bytes = map(sum, zip(*sizes, strict=True))
    return (
        f"{human(n_distinct)} distinct pieces, {human(n_pieces)} in all, from {human(n_bytes, 'B')} of text"
    )


# ----------------------------------------------------------------------------------------------- train
@main.command()
@_counting_options
@training_options
@superword_options
@click.option("--json", "as_json", is_flag=True, help="Print a summary as JSON.")
@click.option(
    "--temperature",
    type=float,
    metavar="T",
    help="Weight files of counts: each counts in proportion to its size to the power of 1/T. So T above 1 "
    "gives small files a larger share.",
)
@click.option(
    "--ties",
    type=click.Choice(["smallest", "lexicographic", "first", "gpt2"]),
    default="smallest",
    show_default=True,
    help="Which pair is merged first if several occur equally often.",
)
def train(
    paths: tuple[str, ...],
    pattern: str | None,
    dialect: Dialect,
    specials: tuple[str, ...],
    threads: int | None,
    scheduler: str | None,
    quiet: bool,
    progress: bool,
    vocab_size: int,
    output: str,
    temperature: float | None,
    as_json: bool,
    superwords: str | None,
    first_merges: int | None,
    superwords_pattern: str | None,
    superword_parts: str | None,
    **options: Any,
) -> None:
    """Train a tokenizer on texts, or on counts of them.

    A PATH is a file, a folder, a glob pattern in quotes, or - for standard input. Files end in .txt, .jsonl
    or .parquet, and may have .gz or .zst after that; a file with another name is read as text. Files that
    bpe count-words wrote may be given instead, also with weights: FILE=WEIGHT.

    Ctrl-C stops the training and saves what has been learned: in the output file, or, if that exists already,
    in a new file beside it, such as tok.interrupted.json.

    \b
    Example:
      bpe train corpus.txt --vocab-size 32000 --special-token '<|endoftext|>' -o tok.json
      bpe train 'wiki/*.jsonl.gz' --field body --vocab-size 32000 -o tok.json
      bpe train all.counts --vocab-size 32000 -o tok.json
      bpe train books.counts=0.5 more.counts=1.5 --vocab-size 32000 -o tok.json
      bpe train books/ --superwords superbpe --first-merges 28000 --vocab-size 32000 -o tok.json
      bpe train books/ --superwords boundless --vocab-size 32000 -o tok.json
      bpe train books.runs more.runs --superwords boundless --vocab-size 32000 -o tok.json
    """  # noqa: D301
    only_one_to_stdout(output, as_json)
    need_output(output)
    from bpe.splitting.pattern import Pattern
    from bpe.trainer import Job
    from bpe.training.options import Options
    from bpe.vocabulary.vocabulary import check_specials

    watch, job = Stopwatch(), None
    reading = {name: options.pop(name) for name in READING}
    bar = partial(progress_of, quiet=quiet, lines=progress)
    bar("training", "steps")  # raises if both --quiet and --progress are given
    try:
        weighted = weighted_counts_of(paths, output, temperature, pattern, specials)
        source, weights = weighted or (
            source_of(paths, output, pattern, specials, is_quiet=quiet, **reading),
            None,
        )
        _check_superwords(source, superwords)
        job = Job(
            source,
            vocab_size,
            Pattern.of(pattern or "gpt2", dialect),
            check_specials(specials),
            Options(**options),
            _superwords_of(superwords, first_merges, superwords_pattern, superword_parts),
            weights=weights,
            threads=threads,
            scheduler=scheduler,
            bar=bar,
        )
        tokenizer = job.run()
    except KeyboardInterrupt:
        trainer = job.trainer if job else None
        raise KeyboardInterrupt(f"interrupted: {_save_interrupted(trainer, output, vocab_size)}") from None
    sizes = [job.size] if job.size else [*map(_size_of, _words_of(source))]
    _save(tokenizer, output, vocab_size, options)
    if as_json or not quiet:
        tell = _summary if as_json else _in_words
        click.echo(tell(tokenizer, sizes, output, vocab_size, watch), err=not as_json)


def _superwords_of(
    name: str | None, first_merges: int | None, pattern: str | None, parts: str | None
) -> SuperBPE | Boundless | None:
    """Return the argument `superwords` of :func:`bpe.train`; ValueError if options cannot be combined."""
    for option, value, its_name in (
        ("--first-merges", first_merges, "superbpe"),
        ("--superwords-pattern", pattern, "superbpe"),
        ("--superword-parts", parts, "boundless"),
    ):
        if value is not None and name != its_name:
            raise ValueError(f"{option} requires --superwords {its_name}")
    if name == "superbpe":
        from bpe.superwords.superbpe import SuperBPE

        if first_merges is None:
            raise ValueError(
                "--superwords superbpe requires --first-merges, the number of merges inside words"
            )
        return SuperBPE(first_merges, pattern)
    if name == "boundless":
        from bpe.superwords.boundless import Boundless

        return Boundless(parts)
    return None


def _check_superwords(source: Any, superwords: str | None) -> None:
    """Raise a ValueError if superwords cannot be learned from these files of counts."""
    from bpe.corpus import Corpus

    if isinstance(source, Corpus):
        return
    from bpe.superwords.counted_runs import RunCounts

    holds_runs = all(isinstance(each, RunCounts) for each in _counts_of(source))
    if superwords and not holds_runs:
        raise ValueError(
            "superwords are learned from texts, not from files of counts of words; boundless also from "
            "counts of runs, which bpe count-words --runs writes"
        )
    if holds_runs and superwords != "boundless":
        raise ValueError("files of counts of runs require --superwords boundless")


def _counts_of(source: Any) -> list[Any]:
    return [*source.values()] if isinstance(source, dict) else [source]


def _words_of(source: Any) -> list[WordCounts]:
    """Return the WordCounts of counts of words or runs, or of a dict of these."""
    return [getattr(each, "words", each) for each in _counts_of(source)]


def _save(tokenizer: Tokenizer, output: str, wanted: int, options: dict[str, Any]) -> None:
    with written(output) as path:
        tokenizer.save(path)
    if tokenizer.vocab_size < wanted:
        why = _why_fewer(options["min_count"], options["max_token_length"])
        warn(f"{name_of_output(output)}: {tokenizer.vocab_size} tokens, not {wanted}: {why}")


def _summary(tokenizer: Tokenizer, sizes: Sizes, output: str, wanted: int, watch: Stopwatch) -> str:
    summary = {
        "output": output,
        "tokens": tokenizer.vocab_size,
        "tokens_wanted": wanted,
        "merges": len(tokenizer.merges),
        "special_tokens": tokenizer.special_tokens,
        "pattern": tokenizer.pattern.spec,
        **dict(zip(("words", "total", "text_bytes"), map(sum, zip(*sizes, strict=True)), strict=True)),
        **watch.to_json(),
    }
    return json.dumps(summary)


def _in_words(tokenizer: Tokenizer, sizes: Sizes, output: str, wanted: int, watch: Stopwatch) -> str:
    made = f"{tokenizer.vocab_size} tokens, " + (
        "as requested" if tokenizer.vocab_size == wanted else f"of {wanted} requested"
    )
    text = f"{name_of_output(output)}: {made}; {_sizes_in_words(sizes)}, {watch.seconds:.1f} s"
    if output == STDOUT or not Path(output).is_file():  # or a device
        return text
    return f"{text}. Next: bpe encode {shlex.quote(output)} FILE -o ids.npy"


def _why_fewer(min_count: int, max_token_length: int | None) -> str:
    """Return why there are fewer tokens than requested."""
    count = f" that occurs {min_count} times" if min_count > 1 else ""
    length = f" and makes a token of {max_token_length} bytes at most" if max_token_length else ""
    return f"the text has no other pair to merge{count}{length}"


def _save_interrupted(trainer: Trainer | None, output: str, vocab_size: int) -> str:
    """Save the tokenizer learned so far, beside an old file if there is one; return a message about it."""
    if trainer is None or not len(trainer.log):
        return f"nothing was learned yet; {output} was not written"
    if output == STDOUT:
        return "nothing was written to standard output"
    given = path = Path(output)
    number = 0
    while path.is_file():
        number += 1
        name = "interrupted" if number == 1 else f"interrupted-{number}"
        path = given.with_name(f"{given.stem}.{name}{given.suffix}")
    tokenizer = trainer.tokenizer()
    tokenizer.save(path)
    return f"{path} has the {tokenizer.vocab_size} tokens that were learned, of {vocab_size}"


# ---------------------------------------------------------------------------------------- train-parity
@main.command("train-parity")
@_counting_options
@click.option(
    "--dev",
    multiple=True,
    metavar="NAME=PATH",
    help="A development text, or its counts; it says the same in every language.",
)
@click.option(
    "--ratio",
    multiple=True,
    metavar="NAME=NUMBER",
    help="In place of --dev: the bytes that a language takes for the same content, compared with the others.",
)
@click.option(
    "--window",
    type=click.IntRange(1),
    metavar="N",
    help="Limit how many of the last N merges each language gets: see --alpha.",
)
@click.option(
    "--alpha",
    type=float,
    default=2.0,
    show_default=True,
    help="A language gets at most ALPHA / (number of languages) of the merges in a window.",
)
@click.option(
    "--n-global",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    metavar="N",
    help="Learn the first N merges from all languages together.",
)
@training_options
@click.option("--json", "as_json", is_flag=True, help="Print a summary as JSON.")
@click.option(
    "--ties",
    type=click.Choice(["smallest", "lexicographic", "gpt2"]),
    default="smallest",
    show_default=True,
    help="Which pair is merged first if several occur equally often.",
)
def train_parity(
    paths: tuple[str, ...],
    pattern: str | None,
    dialect: Dialect,
    specials: tuple[str, ...],
    threads: int | None,
    scheduler: str | None,
    dev: tuple[str, ...],
    ratio: tuple[str, ...],
    vocab_size: int,
    output: str,
    quiet: bool,
    progress: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Train a tokenizer that treats languages alike.

    Each PATH is the text of one language, or the counts of it that bpe count-words wrote; how large they are
    does not matter. A language has the name of its file or folder, without the ending. All have the same
    pattern and special tokens.

    \b
    Example:
      bpe train-parity books/ corpus/ --vocab-size 32000 -o tok.json
      bpe train-parity books.counts more.counts --vocab-size 32000 -o tok.json
      bpe train-parity books.counts more.counts --ratio books=1 --ratio more=2 --vocab-size 8000 -o tok.json
    """  # noqa: D301
    only_one_to_stdout(output, as_json)
    need_output(output)
    from bpe.corpus import Corpus
    from bpe.counting.clusters import count_words
    from bpe.splitting.pattern import Pattern
    from bpe.trainer import train_parity as train

    watch = Stopwatch()
    reading = {name: options.pop(name) for name in READING}
    shown = partial(progress_of, quiet=quiet, lines=progress)
    on: dict[str, Any] = {"scheduler": scheduler, "threads": threads, "progress": shown("counting", "B")}

    def counts_of(path: str, rules: tuple[Pattern, Sequence[str]], **given: Any) -> WordCounts:
        source = source_of([path], output, **given, is_quiet=quiet, **reading)
        return count_words(source, *rules, **on) if isinstance(source, Corpus) else _words_of(source)[0]

    ratios, dev_paths = _by_language("--ratio", ratio, _ratio_of), _by_language("--dev", dev, str) or {}
    rules = Pattern.of(pattern or "gpt2", dialect), specials
    languages: dict[str, WordCounts] = {}
    for path in paths:
        name = Path(path).stem
        if name in languages:
            raise ValueError(f"{path}: there is already a language {name!r}; give the files different names")
        languages[name] = counts = counts_of(path, rules, pattern=pattern, specials=specials)
    rules = counts.pattern, counts.special_tokens
    no_rules: dict[str, Any] = {"pattern": None, "specials": ()}
    tokenizer = train(
        languages,
        vocab_size,
        dev={name: counts_of(path, rules, **no_rules) for name, path in dev_paths.items()} if dev else None,
        ratios=ratios,
        progress=shown("merging", "merges"),
        **options,
    )
    with written(output) as path:
        tokenizer.save(path)
    if tokenizer.vocab_size < vocab_size:
        warn(
            f"{name_of_output(output)}: {tokenizer.vocab_size} tokens, not {vocab_size}: "
            "no language has a pair left to merge"
        )
    if as_json or not quiet:
        tell = _summary if as_json else _in_words
        sizes = [*map(_size_of, languages.values())]
        click.echo(tell(tokenizer, sizes, output, vocab_size, watch), err=not as_json)


def _ratio_of(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"a ratio must be a number, not {text!r}") from None


def _by_language(
    option: str, items: Sequence[str], value_of: Callable[[str], Value]
) -> dict[str, Value] | None:
    """Return the values of repeated NAME=VALUE options by name; None if the option was not given."""
    values: dict[str, Value] = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not (name and equals and value):
            raise ValueError(f"{option} {item}: write NAME=VALUE, such as en={value or 'en-dev.counts'}")
        if name in values:
            raise ValueError(f"{option} {item}: {name!r} was already given")
        values[name] = value_of(value)
    return values or None
