"""``bpe audit``: which tokens a text can give; ``bpe report``: a page about a tokenizer, for a browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bpe.cli.app import (
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
from bpe.cli.progress import Stopwatch, human, progress_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bpe.auditing import Audit
    from bpe.tokenizer import Tokenizer


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

    The page is one HTML file, which works without a network or a server. It shows figures and charts, encodes
    text that you type, and draws how a token was merged.

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


SHOWN = 20  # tokens of each kind


@main.command()
@click.argument("tokenizer", metavar="TOKENIZER")
@click.option(
    "--text",
    "files",
    multiple=True,
    metavar="FILE",
    help="A text to measure; - is standard input. May be repeated: each text gets figures of its own.",
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON, with the witnesses.")
def audit(tokenizer: str, files: tuple[str, ...], as_json: bool) -> None:
    """Find out which tokens can occur, and measure texts.

    \b
    live          a text is known that has the token: its witness
    rank-dead     no merges make the token; this is proved for every text
    pattern-dead  the split pattern always cuts the token apart; this is proved for every text
    unknown       neither a witness nor a proof was found

    \b
    Example:
      bpe audit tok.json --text letter.txt --text corpus.txt
      bpe audit tok.json --json
    """  # noqa: D301
    loaded = load(tokenizer)
    texts: dict[str, Any] = {name_of(file): Path(file) for file in files}
    found = loaded.audit(texts or None, progress=True)
    if as_json:
        click.echo(json.dumps(found.to_json()))
        return
    for line in _lines(loaded, found):
        click.echo(line)


def _lines(tokenizer: Tokenizer, audit: Audit) -> Iterator[str]:
    """Yield the lines that describe an audit."""
    for status, n in audit.n_by_status.items():
        yield f"{status + ':':14}{n:>8} tokens"
        if status != "live":
            yield from _shown(tokenizer, audit.with_status(status))
    yield f"tokens that occur only in bytes that are not UTF-8: {len(audit.only_in_bytes)}"
    yield f"tokens with a part of a character: {len(audit.not_utf8)}"
    yield f"groups of tokens that differ only in case: {len(audit.same_but_case)}"
    yield f"groups of tokens that differ only in a space before them: {len(audit.same_but_space)}"
    if not audit.texts:
        return
    yield f"tokens that these texts never use: {len(audit.never_used)}"
    yield from _shown(tokenizer, audit.never_used)
    yield f"Rényi efficiency (alpha 2.5): {audit.renyi_efficiency:.4f}"
    for figures in audit.texts:
        yield (
            f"on {figures.name}: {human(figures.n_bytes, 'B')}, {human(figures.n_tokens)} tokens, "
            f"{figures.bytes_per_token:.3f} bytes a token, {figures.fertility:.3f} tokens a word"
        )


def _shown(tokenizer: Tokenizer, ids: list[int]) -> Iterator[str]:
    for token_id in ids[:SHOWN]:
        yield f"  {token_id:>6}  {tokenizer.token_bytes(token_id)!r}"
    if len(ids) > SHOWN:
        yield f"  and {len(ids) - SHOWN} more"
