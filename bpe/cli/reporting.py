"""``bpe report``: a page about a tokenizer, for a browser."""

from __future__ import annotations

from pathlib import Path

import click

from bpe.cli.app import human, load, main, name_of, need_output, read


@main.command()
@click.argument("tokenizer", metavar="TOKENIZER")
@click.option(
    "--text", "file", required=True, metavar="FILE", help="What to measure it on; - for standard input."
)
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write the page.")
def report(tokenizer: str, file: str, output: str) -> None:
    """Write a page about a tokenizer: how well it does on a text, and what is in it.

    The page is one HTML file and needs nothing else: no network, no server. It has a box that encodes what
    one types, and draws how any token was merged.

    \b
    Example:
      bpe report tok.json --text corpus.txt -o report.html
    """  # noqa: D301
    need_output(output)
    from bpe.atomic_files import atomic_write
    from bpe.formats.conversion import naming
    from bpe.report import page_of

    loaded = load(tokenizer)
    data = read(file)
    with naming(name_of(file)):
        page = page_of(loaded, data, Path(tokenizer).name, Path(name_of(file)).name)
    atomic_write(output, page)
    click.echo(f"{output}: {human(len(page), 'B')}", err=True)
