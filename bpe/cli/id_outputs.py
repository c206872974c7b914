"""Where ``bpe encode`` writes ids, and in which format: its options, and what is wrong with them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bpe.cli.app import STDOUT, human, need_output, shorter
from bpe.cli.progress import Stopwatch

if TYPE_CHECKING:
    from bpe.corpus import Corpus
    from bpe.tokenizer import Tokenizer

FORMATS = ["bin", "npy", "nanogpt", "megatron", "parquet", "arrow"]
_SUFFIXES = (".bin", ".npy", ".idx", ".parquet", ".arrow")


def id_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say how ids are written."""
    for decorate in (
        click.option(
            "--scheduler",
            metavar="ADDRESS",
            help="The address of a Dask cluster that encodes --shards, such as tcp://10.0.0.1:8786.",
        ),
        click.option(
            "--shards", is_flag=True, help="Write one file for each file that is read. -o names a folder."
        ),
        click.option(
            "--end-token",
            metavar="TOKEN",
            help="A special token to put after each document. For nanogpt, it is that of GPT-2 by default.",
        ),
        click.option(
            "--to",
            type=click.Choice(FORMATS),
            help="The format of the output. By default, the ending of its name decides.",
        ),
    ):
        command = decorate(command)
    return command


def check_id_options(output: str | None, given: dict[str, Any]) -> None:
    """Raise if options cannot be used together, or the output cannot be written."""
    if given["scheduler"] is not None and not given["shards"]:
        raise click.UsageError("--scheduler needs --shards: a cluster encodes files one by one")
    if output is None:
        for name, value in given.items():
            if value is not None and value is not False:
                raise click.UsageError(f"--{name.replace('_', '-')} needs -o: it is for files of ids")
        return
    if output == STDOUT:
        raise click.UsageError("-o -: files of ids cannot go to standard output; to print ids, leave out -o")
    if given["shards"]:
        if Path(output).exists():  # else it is made, with the folders above it
            need_output(output, is_folder=True)
        return
    if given["to"] is None and Path(output).suffix not in _SUFFIXES:
        raise click.UsageError(
            f"-o {output}: the name must end in .bin (ids and nothing else), .npy, .idx, .parquet or .arrow"
        )
    need_output(output)


def is_kept(output: str) -> bool:
    """Say whether there is a note of a run that was interrupted."""
    path = Path(output)
    ids = path.with_suffix(".bin") if path.suffix == ".idx" else path
    return any(Path(f"{ids}{end}").exists() for end in (".state", ".ids.state"))


def write_shards(
    tokenizer: Tokenizer, corpus: Corpus, folder: str, options: dict[str, Any], *, as_json: bool
) -> None:
    """Encode each file of a corpus to a folder, and print a summary."""
    watch = Stopwatch()
    try:
        done = tokenizer.encode_shards(corpus, folder, **options)
    except ValueError as error:
        raise shorter(error) from None
    if as_json:
        summary = {
            "output": folder,
            "manifest": str(done.manifest),
            "dtype": done.dtype.name,
            "shards": done.n_shards,
            "skipped": done.n_skipped,
            "again": done.n_again,
            "documents": done.n_documents,
            "tokens": done.n_tokens,
            "text_bytes": done.n_bytes,
            **watch.to_json(),
        }
        click.echo(json.dumps(summary))
    elif options["progress"]:
        text = f"{folder}: {human(done.n_shards)} shard{'s' if done.n_shards != 1 else ''}"
        text += f", {human(done.n_tokens)} tokens as {done.dtype.name}, from {human(done.n_bytes, 'B')}"
        if done.n_skipped:
            text += f"; {human(done.n_skipped)} complete before"
        if done.n_again:
            text += f"; {human(done.n_again)} encoded again, as the source had changed or the output was gone"
        click.echo(text, err=True)
