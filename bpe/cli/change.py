"""``bpe extend``, ``bpe prune``: a tokenizer with more tokens, or with fewer."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bpe.cli.app import load, main, name_of_output, need_output, written
from bpe.cli.options import (
    min_count_option,
    reading_options,
    together,
    tokenizer_output_option,
    warn_of_odd_texts,
)
from bpe.cli.progress import progress_of

if TYPE_CHECKING:
    import numpy as np

    from bpe.tokenizer import Tokenizer


_changing_options = together(
    reading_options,
    click.option(
        "--map",
        "map_file",
        metavar="FILE",
        help="A .npy file to write: the new id of each old id, or -1 for a token that is gone.",
    ),
    tokenizer_output_option,
    click.argument("paths", nargs=-1, required=True, metavar="PATH..."),
    click.argument("tokenizer", metavar="TOKENIZER"),
)
"""The arguments of the commands that change a vocabulary."""


@main.command()
@_changing_options
@click.option("-n", "n_more", type=int, required=True, metavar="N", help="The number of tokens to learn.")
@min_count_option
def extend(
    tokenizer: str,
    paths: tuple[str, ...],
    output: str,
    map_file: str | None,
    n_more: int,
    min_count: int,
    quiet: bool,
    progress: bool,
    threads: int | None,
    **reading: Any,
) -> None:
    """Learn more tokens from texts.

    Existing ids are unchanged, and the new ones are appended, so a model gets N more rows. A PATH is as in
    bpe train, but not a file of counts. The output is a file of this package; bpe convert writes others.

    \b
    Example:
      bpe extend tok.json letter.txt -n 50 -o more.json
    """  # noqa: D301
    _need_outputs(output, map_file)
    loaded = load(tokenizer, output, map_file)
    corpus = _corpus_of(paths, reading, (output, map_file), is_quiet=quiet)
    shown = progress_of("extending", "", quiet=quiet, lines=progress)
    options: dict[str, Any] = {"min_count": min_count, "threads": threads, "progress": shown}
    _write(loaded, loaded.extend(corpus, n_more, **options), output, map_file, is_quiet=quiet)


@main.command()
@_changing_options
@click.option(
    "--vocab-size", type=int, metavar="N", help="The number of tokens to keep, with the special ones."
)
@click.option(
    "--min-frequency",
    "--min-count",
    "min_count",
    type=int,
    metavar="N",
    help="Keep the tokens that are used at least N times.",
)
def prune(
    tokenizer: str,
    paths: tuple[str, ...],
    output: str,
    map_file: str | None,
    vocab_size: int | None,
    min_count: int | None,
    quiet: bool,
    progress: bool,
    threads: int | None,
    **reading: Any,
) -> None:
    """Remove the tokens that texts use least.

    Single bytes, special tokens, and tokens of which other tokens are made, are kept. The remaining tokens
    get new ids without a gap, in the old order; --map writes them. A PATH is as in bpe train, but not a file
    of counts. The output is a file of this package; bpe convert writes others.

    \b
    Example:
      bpe prune tok.json corpus.txt --vocab-size 400 -o fewer.json --map new_ids.npy
    """  # noqa: D301
    if vocab_size is None and min_count is None:
        raise click.UsageError("--vocab-size, --min-frequency or both are required")
    _need_outputs(output, map_file)
    loaded = load(tokenizer, output, map_file)
    corpus = _corpus_of(paths, reading, (output, map_file), is_quiet=quiet)
    shown = progress_of("pruning", "", quiet=quiet, lines=progress)
    size: dict[str, Any] = {"vocab_size": vocab_size, "min_count": min_count}
    changed = loaded.prune(corpus, **size, threads=threads, progress=shown)
    _write(loaded, changed, output, map_file, is_quiet=quiet)


def _corpus_of(
    paths: Sequence[str], reading: dict[str, Any], outputs: Sequence[str | None], *, is_quiet: bool
) -> Any:
    from bpe.corpus import Corpus

    corpus = Corpus([Path(path) for path in paths], **reading)
    corpus.refuse_outputs(*filter(None, outputs))
    if not is_quiet:
        warn_of_odd_texts(corpus)
    return corpus


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
    """Write the map of ids, then the tokenizer, so that a new tokenizer never has an old map beside it."""
    import numpy as np

    from bpe.support.files import atomic_write

    new, new_id_of = changed
    if map_file is not None:
        data = io.BytesIO()
        np.save(data, new_id_of)
        atomic_write(map_file, data.getvalue())
    with written(output) as path:
        new.save(path)
    if not is_quiet:
        n_old, n_new = len(old.vocab), len(new.vocab)
        click.echo(f"{name_of_output(output)}: {n_new} tokens, of {n_old} before", err=True)
