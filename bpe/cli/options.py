"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable

import click
from click.shell_completion import CompletionItem

# The same as in bpe.splitting.pattern, whose import would slow down --help.
PATTERNS = ("gpt2", "cl100k", "o200k", "llama3", "qwen2", "deepseek", "whitespace", "none")
OTHER_NAMES = ("r50k_base", "p50k_base", "cl100k_base", "o200k_base")


class PatternType(click.ParamType):
    """The name of a pattern, which shells complete, or an expression; never empty."""

    name = "pattern"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the value; fail if it is empty."""
        if not value:
            self.fail(
                f"it is empty: is a variable not set? Give one of {', '.join(PATTERNS)}, or a regular "
                "expression, or leave the option out",
                param,
                ctx,
            )
        return value

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that begin so."""
        return [CompletionItem(name) for name in PATTERNS + OTHER_NAMES if name.startswith(incomplete)]


PATTERN_HELP = (
    "Split pattern: gpt2 (or r50k_base, p50k_base), cl100k (cl100k_base), o200k (o200k_base), llama3, qwen2, "
    "deepseek, whitespace, none, or a regular expression."
)


READING = ("field", "format", "errors", "max_record_bytes")
"""The options that :class:`bpe.Corpus` takes."""

quiet_option = click.option("--quiet", is_flag=True, help="Print no progress and no summary.")
progress_option = click.option(
    "--progress",
    is_flag=True,
    help="Print a line of progress every ten seconds where there is no terminal, such as in a log.",
)


def reading_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say how a corpus is read."""
    for decorate in (
        quiet_option,
        progress_option,
        click.option(
            "--threads",
            type=click.IntRange(1),
            metavar="N",
            help="The largest number of threads. By default, one for each processor.",
        ),
        click.option(
            "--max-record-bytes",
            type=click.IntRange(1),
            default=1 << 28,
            show_default=True,
            metavar="N",
            help="The largest size of a line of .jsonl, or of a text in .parquet. More is an error.",
        ),
        click.option(
            "--errors",
            type=click.Choice(["keep", "strict", "replace", "skip"]),
            default="keep",
            show_default=True,
            help="What to do with bytes that are not UTF-8: keep them, stop with an error (strict), replace "
            "them by U+FFFD, or skip them (in .jsonl and .parquet, the whole record).",
        ),
        click.option(
            "--format",
            type=click.Choice(["text", "jsonl", "parquet"]),
            help="What the files hold. By default, their names decide, and standard input is text.",
        ),
        click.option(
            "--field",
            "--column",
            "field",
            default="text",
            show_default=True,
            metavar="NAME",
            help="The field of .jsonl, or the column of .parquet, that holds the text.",
        ),
    ):
        command = decorate(command)
    return command


def training_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of everything that trains."""
    for decorate in (
        click.option(
            "--special-first",
            is_flag=True,
            help="Give special tokens the first ids. By default, they get the last.",
        ),
        click.option(
            "--alphabet",
            type=click.Choice(["bytes", "gpt2"]),
            default="bytes",
            show_default=True,
            help="The order of the ids of single bytes: by value, or as in GPT-2.",
        ),
        click.option(
            "--max-token-length",
            type=click.IntRange(2),
            metavar="N",
            help="The longest token that may be made, in bytes.",
        ),
        click.option(
            "--min-count",
            type=click.IntRange(1),
            default=1,
            show_default=True,
            metavar="N",
            help="Merge only pairs that occur at least N times.",
        ),
        click.option(
            "-o",
            "--output",
            required=True,
            metavar="FILE",
            help="The file to write the tokenizer to, or - for standard output.",
        ),
        click.option(
            "--vocab-size",
            type=int,
            required=True,
            metavar="N",
            help="The number of tokens, with the special ones.",
        ),
    ):
        command = decorate(command)
    return command


def superword_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of superwords."""
    for decorate in (
        click.option(
            "--min-phrase-count",
            type=int,
            metavar="N",
            help="For --max-phrase: how often such a row must occur.  [default: 15]",
        ),
        click.option(
            "--max-phrase",
            type=int,
            metavar="N",
            help="For boundless: join pieces only inside frequent rows of at most N pieces. This needs less "
            "memory, and gives an approximation.",
        ),
        click.option(
            "--superword-parts",
            metavar="REGEX",
            help="For boundless: join only pieces that contain a match of this.  [default: a letter]",
        ),
        click.option(
            "--superwords-pattern",
            metavar="REGEX",
            help="For superbpe: the pattern for the merges after these N.  [default: that of its authors]",
        ),
        click.option(
            "--first-merges",
            type=int,
            metavar="N",
            help="For superbpe: how many merges are learned inside words.",
        ),
        click.option(
            "--superwords",
            type=click.Choice(["superbpe", "boundless"]),
            help="Learn tokens that join words, too.",
        ),
    ):
        command = decorate(command)
    return command


pattern_dialect = click.option(
    "--dialect",
    type=click.Choice(["regex", "rust", "oniguruma"]),
    default="regex",
    show_default=True,
    help="The engine that --pattern is written for. tiktoken uses rust, tokenizers uses oniguruma.",
)
