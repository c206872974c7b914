"""``bpe count``: the number of tokens of texts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from bpe.cli.app import load, main, with_options
from bpe.cli.options import reading_options, rules_of, special_options, text_option, texts_of
from bpe.cli.progress import Stopwatch, progress_of

if TYPE_CHECKING:
    from bpe.corpus import Corpus
    from bpe.support.progress import Progress
    from bpe.tokenizer import Tokenizer


class Counted(NamedTuple):
    """The figures of one file, of standard input, or of a text that was given itself."""

    name: str | None  # None for standard input and for a text
    n_documents: int
    n_bytes: int
    n_tokens: int

    def to_json(self) -> dict[str, Any]:
        """Return the figures under the names that other summaries have."""
        return {
            "name": self.name or "standard input",
            "documents": self.n_documents,
            "text_bytes": self.n_bytes,
            "tokens": self.n_tokens,
        }


def counted(
    tokenizer: Tokenizer,
    corpus: Corpus,
    rules: dict[str, Any],
    threads: int | None = None,
    progress: Progress = False,
) -> list[Counted]:
    """Return the figures of each file of a corpus, in the order of the files."""
    from bpe.id_files.encode import count_tokens

    engine = tokenizer.engine
    try:
        tokens, sizes = count_tokens(
            engine, corpus, engine.rules_of(**rules), threads=threads, progress=progress
        )
    except ValueError as error:
        raise with_options(error) from None
    firsts, paths = zip(*corpus.origins, strict=True)
    ends = [*firsts[1:], len(tokens)]
    return [
        Counted(
            None if path is None or str(path) == "-" else str(path),
            end - first,
            int(sizes[first:end].sum()),
            int(tokens[first:end].sum()),
        )
        for path, first, end in zip(paths, firsts, ends, strict=True)
    ]


@main.command()
@click.argument("tokenizer", metavar="TOKENIZER")
@click.argument("paths", nargs=-1, metavar="[PATH...]")
@text_option
@special_options
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
def count(
    tokenizer: str,
    paths: tuple[str, ...],
    text: str | None,
    allow_special: bool,
    ordinary: bool,
    threads: int | None,
    quiet: bool,
    progress: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Count the tokens of texts.

    Prints a line for each file, with the number of its tokens and its name, and a total for several files.
    For standard input and --text, prints only the number. It is the number of ids that bpe encode prints.
    The text may be larger than the memory.

    A PATH is a file, a folder, a glob pattern in quotes, or - for standard input, which is also read if there
    is no PATH.

    A special token in the text is an error unless an option says how to count it.

    \b
    Example:
      bpe count tok.json letter.txt corpus/
      bpe count tok.json --text 'Hello world!'
      bpe count tok.json books/ --ordinary --json
    """  # noqa: D301
    rules = rules_of(allow_special, ordinary)
    watch = Stopwatch()
    shown = progress_of("counting", "B", quiet=quiet, lines=progress)
    loaded = load(tokenizer)
    files = counted(loaded, texts_of(paths, text, is_quiet=quiet, **reading), rules, threads, shown)
    total = sum(file.n_tokens for file in files)
    if as_json:
        summary = {"tokens": total, "files": [file.to_json() for file in files], **watch.to_json()}
        click.echo(json.dumps(summary))
        return
    width = len(str(total))
    for file in files:
        click.echo(f"{file.n_tokens:>{width}}  {file.name}" if file.name else str(file.n_tokens))
    if len(files) > 1:
        click.echo(f"{total:>{width}}  total")
