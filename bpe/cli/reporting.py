"""``bpe report``: a page about a tokenizer, for a browser."""

from __future__ import annotations

import json
from pathlib import Path

import click

from bpe.cli.app import (
    human,
    load,
    main,
    name_of,
    name_of_output,
    need_output,
    only_one_to_stdout,
    read,
    written,
)
from bpe.cli.options import progress_option, quiet_option
from bpe.cli.progress import Stopwatch
from bpe.cli.progress_lines import progress_of


@main.command()
@click.argument("tokenizer", metavar="TOKENIZER")
@click.option(
    "--text", "file", required=True, metavar="FILE", help="The text to measure; - is standard input."
)
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="The page to write, or - for standard output."
)
@quiet_option
@progress_option
@click.option("--json", "as_json", is_flag=True, help="Print a summary as JSON.")
def report(tokenizer: str, file: str, output: str, quiet: bool, progress: bool, as_json: bool) -> None:
    """Write a web page about a tokenizer and a text.

    The page is one HTML file, which needs no network and no server. It shows figures and charts, encodes what
    you type, and draws how a token was merged.

    \b
    Example:
      bpe report tok.json --text corpus.txt -o report.html
    """  # noqa: D301
    only_one_to_stdout(output, as_json)
    need_output(output)
    from bpe.formats.conversion import naming
    from bpe.report import page_of
    from bpe.support.files import atomic_write, refuse_inputs

    watch = Stopwatch()
    shown = progress_of("measuring", "B", quiet=quiet, lines=progress)
    loaded = load(tokenizer, output)
    refuse_inputs([output], [file])
    data = read(file)
    with naming(name_of(file)):
        page = page_of(loaded, data, Path(tokenizer).name, Path(name_of(file)).name, shown)
    with written(output) as path:
        atomic_write(path, page)
    if as_json:
        summary = {
            "output": output,
            "bytes": len(page),
            "tokenizer": tokenizer,
            "text": file,
            "text_bytes": len(data),
            **watch.to_json(),
        }
        click.echo(json.dumps(summary))
    elif not quiet:
        size, measured = human(len(page), "B"), human(len(data), "B")
        click.echo(
            f"{name_of_output(output)}: a page of {size}, about {measured} of text, in {watch.seconds:.1f} s",
            err=True,
        )
