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
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="The page to write, or - for standard output."
)
@quiet_option
@progress_option
@click.option("--json", "as_json", is_flag=True, help="Print a summary as JSON.")
def report(
    tokenizer: str, paths: tuple[str, ...], output: str, quiet: bool, progress: bool, as_json: bool
) -> None:
    """Write a web page about a tokenizer and a text.

    A PATH is as in bpe encode; the documents of several files are one text.

    The page is one HTML file, which works without a network or a server. It shows figures and charts, encodes
    text that you type, and draws how a token was merged.

    \b
    Example:
      bpe report tok.json corpus.txt -o report.html
    """  # noqa: D301
    only_one_to_stdout(output, as_json)
    need_output(output)
    from bpe.corpus import Corpus
    from bpe.formats.conversion import naming
    from bpe.report import page_of
    from bpe.support.files import atomic_write

    watch = Stopwatch()
    shown = progress_of("measuring", "B", quiet=quiet, lines=progress)
    loaded = load(tokenizer, output)
    corpus = Corpus([Path(path) for path in paths])
    corpus.refuse_outputs(output)
    data = b"\n".join(b"".join(document) for document in corpus.documents())
    name = name_of(paths[0]) if len(paths) == 1 else f"{len(paths)} files or folders"
    with naming(name):
        page = page_of(loaded, data, Path(tokenizer).name, Path(name).name, shown)
    with written(output) as path:
        atomic_write(path, page)
    if as_json:
        summary = {
            "output": output,
            "bytes": len(page),
            "tokenizer": tokenizer,
            "texts": [*paths],
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
@click.argument("paths", nargs=-1, metavar="[PATH...]")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON, with the witnesses.")
def audit(tokenizer: str, paths: tuple[str, ...], as_json: bool) -> None:
    """Find out which tokens can occur, and measure texts.

    A PATH is as in bpe encode; each gets figures of its own.

    \b
    live          a text is known that has the token: its witness
    rank-dead     no merges make the token; this is proved for every text
    pattern-dead  the split pattern always cuts the token apart; this is proved for every text
    unknown       neither a witness nor a proof was found

    \b
    Example:
      bpe audit tok.json letter.txt corpus.txt
      bpe audit tok.json --json
    """  # noqa: D301
    loaded = load(tokenizer)
    texts: dict[str, Any] = {name_of(path): Path(path) for path in paths}
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
            yield from _first_tokens(tokenizer, audit.with_status(status))
    yield f"tokens that occur only in bytes that are not UTF-8: {len(audit.only_in_bytes)}"
    yield f"tokens with a part of a character: {len(audit.not_utf8)}"
    yield f"groups of tokens that differ only in case: {len(audit.same_but_case)}"
    yield f"groups of tokens that differ only in a space before them: {len(audit.same_but_space)}"
    if not audit.texts:
        return
    yield f"tokens that these texts never use: {len(audit.never_used)}"
    yield from _first_tokens(tokenizer, audit.never_used)
    yield f"Rényi efficiency (alpha 2.5): {audit.renyi_efficiency:.4f}"
    for figures in audit.texts:
        yield (
            f"on {figures.name}: {human(figures.n_bytes, 'B')}, {human(figures.n_tokens)} tokens, "
            f"{figures.bytes_per_token:.3f} bytes a token, {figures.fertility:.3f} tokens a word"
        )


def _first_tokens(tokenizer: Tokenizer, ids: list[int]) -> Iterator[str]:
    for token_id in ids[:SHOWN]:
        yield f"  {token_id:>6}  {tokenizer.token_bytes(token_id)!r}"
    if len(ids) > SHOWN:
        yield f"  and {len(ids) - SHOWN} more"
