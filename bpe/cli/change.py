"""``bpe extend``, ``bpe prune``: a tokenizer with more tokens, or with fewer."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bpe.cli.app import load, main, need_output
from bpe.cli.options import reading_options

if TYPE_CHECKING:
    import numpy as np

    from bpe.tokenizer import Tokenizer


def _changing_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the arguments of commands that write a tokenizer with another vocabulary."""
    for decorate in (
        reading_options,
        click.option(
            "--map",
            "map_file",
            metavar="FILE",
            help="Where to write the new id of each old one, as .npy; -1 for none.",
        ),
        click.option("-o", "--output", required=True, metavar="FILE", help="Where to write the tokenizer."),
        click.argument("paths", nargs=-1, required=True, metavar="PATH..."),
        click.argument("tokenizer", metavar="TOKENIZER"),
    ):
        command = decorate(command)
    return command


@main.command()
@_changing_options
@click.option("-n", "n_more", type=int, required=True, metavar="N", help="How many tokens to learn.")
@click.option(
    "--min-count",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="Least count to merge.",
)
def extend(
    tokenizer: str,
    paths: tuple[str, ...],
    output: str,
    map_file: str | None,
    n_more: int,
    min_count: int,
    quiet: bool,
    threads: int | None,
    **reading: Any,
) -> None:
    """Learn more tokens from texts.

    Every id stays, and the new tokens come after all others: a model needs N more rows. A PATH is what bpe
    train takes, but no file of counts. The output is a file of this package; bpe convert writes others.

    \b
    Example:
      bpe extend tok.json letter.txt -n 50 -o more.json
    """  # noqa: D301
    _need_outputs(output, map_file)
    loaded = load(tokenizer)
    corpus = _corpus_of(paths, reading)
    options: dict[str, Any] = {"min_count": min_count, "threads": threads, "progress": not quiet}
    _write(loaded, loaded.extend(corpus, n_more, **options), output, map_file, is_quiet=quiet)


@main.command()
@_changing_options
@click.option("--vocab-size", type=int, metavar="N", help="How many tokens stay, special ones included.")
@click.option("--min-count", type=int, metavar="N", help="Tokens that are used so often stay.")
def prune(
    tokenizer: str,
    paths: tuple[str, ...],
    output: str,
    map_file: str | None,
    vocab_size: int | None,
    min_count: int | None,
    quiet: bool,
    threads: int | None,
    **reading: Any,
) -> None:
    """Remove the tokens that texts need least.

    Single bytes, special tokens and the parts of tokens that stay are kept. The ids that are left move up
    without a gap, in their order: --map writes where each went. A PATH is what bpe train takes, but no file
    of counts. The output is a file of this package; bpe convert writes others.

    \b
    Example:
      bpe prune tok.json corpus.txt --vocab-size 400 -o fewer.json --map new_ids.npy
    """  # noqa: D301
    if vocab_size is None and min_count is None:
        raise click.UsageError("say what to remove: --vocab-size, --min-count, or both")
    _need_outputs(output, map_file)
    loaded = load(tokenizer)
    corpus = _corpus_of(paths, reading)
    size: dict[str, Any] = {"vocab_size": vocab_size, "min_count": min_count}
    changed = loaded.prune(corpus, **size, threads=threads, progress=not quiet)
    _write(loaded, changed, output, map_file, is_quiet=quiet)


def _corpus_of(paths: Sequence[str], reading: dict[str, Any]) -> Any:
    from bpe.corpus import Corpus

    return Corpus([Path(path) for path in paths], **reading)


def _need_outputs(output: str, map_file: str | None) -> None:
    need_output(output)
    if map_file is not None:
        if Path(map_file).suffix != ".npy":
            raise click.UsageError(f"--map {map_file}: the name must end in .npy")
        need_output(map_file)


def _write(
    old: Tokenizer,
    changed: tuple[Tokenizer, np.ndarray],
    output: str,
    map_file: str | None,
    *,
    is_quiet: bool,
) -> None:
    """Write a tokenizer, and the map of ids before it: what is there with the tokenizer is right."""
    import numpy as np

    from bpe.atomic_files import atomic_write

    new, new_id_of = changed
    if map_file is not None:
        data = io.BytesIO()
        np.save(data, new_id_of)
        atomic_write(map_file, data.getvalue())
    new.save(output)
    if not is_quiet:
        n_old, n_new = len(old.vocab), len(new.vocab)
        click.echo(f"{output}: {n_new} tokens, of {n_old} before", err=True)
