"""``bpe train-parity``: from the counts of several languages to one tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bpe.cli.app import main, name_of_output, need_output, warn, written
from bpe.cli.options import progress_option, quiet_option, training_options
from bpe.cli.progress_lines import progress_of
from bpe.support.files import refuse_inputs

if TYPE_CHECKING:
    from bpe.counting.word_counts import WordCounts

Value = TypeVar("Value")


def _counts_of(path: str) -> WordCounts:
    from bpe.counting.word_counts import WordCounts

    return WordCounts.load(path)


def _ratio_of(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"a ratio must be a number, not {text!r}") from None


def _by_language(
    option: str, items: Sequence[str], value_of: Callable[[str], Value]
) -> dict[str, Value] | None:
    """Return the values of NAME=VALUE, given once for each language; None where there are none."""
    values: dict[str, Value] = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not (name and equals and value):
            raise ValueError(f"{option} {item}: write NAME=VALUE, such as en={value or 'en-dev.counts'}")
        if name in values:
            raise ValueError(f"{option} {item}: {name!r} has been given already")
        values[name] = value_of(value)
    return values or None


@main.command("train-parity")
@click.argument("paths", nargs=-1, required=True, metavar="COUNTS...")
@click.option(
    "--dev",
    multiple=True,
    metavar="NAME=COUNTS",
    help="The counts of a development text, which is the same text in every language.",
)
@click.option(
    "--ratio",
    multiple=True,
    metavar="NAME=NUMBER",
    help="In place of --dev: how long the same text is in this language, in bytes, compared with the others.",
)
@click.option(
    "--window",
    type=click.IntRange(1),
    metavar="N",
    help="Look at the last N merges, so that no language is chosen too often.",
)
@click.option(
    "--alpha",
    type=float,
    default=2.0,
    show_default=True,
    help="A language gets at most this part of the merges of a window, divided by the number of languages.",
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
@click.option(
    "--ties",
    type=click.Choice(["smallest", "lexicographic", "gpt2"]),
    default="smallest",
    show_default=True,
    help="Which pair is merged first if several occur equally often.",
)
@quiet_option
@progress_option
def train_parity(
    paths: tuple[str, ...],
    dev: tuple[str, ...],
    ratio: tuple[str, ...],
    vocab_size: int,
    output: str,
    quiet: bool,
    progress: bool,
    **options: Any,
) -> None:
    """Train a tokenizer that treats languages alike.

    The sizes of their texts do not matter. COUNTS are files that bpe count wrote, one for each language, all
    with the same pattern and special tokens. A language has the name of its file, without the ending.

    \b
    Example:
      bpe train-parity books.counts more.counts --vocab-size 32000 -o tok.json
      bpe train-parity books.counts more.counts --ratio books=1 --ratio more=2 --vocab-size 8000 -o tok.json
    """  # noqa: D301
    need_output(output)
    from bpe.training import train_parity as train

    languages: dict[str, WordCounts] = {}
    for path in paths:
        name = Path(path).stem
        if name in languages:
            raise ValueError(f"{path}: there is a language {name!r} already; files need different names")
        languages[name] = _counts_of(path)
    refuse_inputs([output], [*paths, *(item.partition("=")[2] for item in dev)])
    tokenizer = train(
        languages,
        vocab_size,
        dev=_by_language("--dev", dev, _counts_of),
        ratios=_by_language("--ratio", ratio, _ratio_of),
        progress=progress_of("merging", "merges", quiet=quiet, lines=progress),
        **options,
    )
    with written(output) as path:
        tokenizer.save(path)
    output = name_of_output(output)
    if tokenizer.vocab_size < vocab_size:
        warn(
            f"{output}: {tokenizer.vocab_size} tokens, not {vocab_size}: no language has a pair left to merge"
        )
    if not quiet:
        click.echo(f"{output}: {tokenizer.vocab_size} tokens", err=True)
