"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable

import click


def reading_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say how a corpus is read."""
    for decorate in (
        click.option("--quiet", is_flag=True, help="No progress bars, no summary."),
        click.option(
            "--threads",
            type=click.IntRange(1),
            metavar="N",
            help="At most so many threads; by default, one a processor.",
        ),
        click.option(
            "--max-record-bytes",
            type=click.IntRange(1),
            default=1 << 28,
            show_default=True,
            metavar="N",
            help="A longer line of .jsonl or text of a row of .parquet is an error.",
        ),
        click.option(
            "--errors",
            type=click.Choice(["keep", "strict", "replace", "skip"]),
            default="keep",
            show_default=True,
            help="Bytes that are not UTF-8: keep them exactly, refuse them, put U+FFFD in their place, "
            "or skip them (of records, the whole record).",
        ),
        click.option(
            "--field",
            "--column",
            "field",
            default="text",
            show_default=True,
            metavar="NAME",
            help="Field of .jsonl, column of .parquet that holds the text.",
        ),
    ):
        command = decorate(command)
    return command


def training_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of everything that trains."""
    for decorate in (
        click.option(
            "--special-first", is_flag=True, help="Special tokens take the first ids, not the last."
        ),
        click.option(
            "--alphabet",
            type=click.Choice(["bytes", "gpt2"]),
            default="bytes",
            show_default=True,
            help="The order of the ids of single bytes.",
        ),
        click.option(
            "--max-token-length",
            type=click.IntRange(2),
            metavar="N",
            help="Longest token that is made, in bytes.",
        ),
        click.option(
            "--min-count",
            type=click.IntRange(1),
            default=1,
            show_default=True,
            metavar="N",
            help="Least count to merge.",
        ),
        click.option("-o", "--output", required=True, metavar="FILE", help="Where to write the tokenizer."),
        click.option(
            "--vocab-size", type=int, required=True, metavar="N", help="Tokens in all, special ones included."
        ),
    ):
        command = decorate(command)
    return command


pattern_dialect = click.option(
    "--dialect",
    type=click.Choice(["regex", "rust", "oniguruma"]),
    default="regex",
    show_default=True,
    help="The engine that --pattern is written for: rust is that of tiktoken, oniguruma that of tokenizers.",
)
