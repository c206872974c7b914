"""``bpe audit``: which tokens of a tokenizer a text can give, and how well it does on texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bpe.cli.app import human, load, main, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bpe.auditing import Audit
    from bpe.tokenizer import Tokenizer

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
    unknown       no such text was found, and no proof

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
    """Yield what is printed."""
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


def _shown(tokenizer: Tokenizer, numbers: list[int]) -> Iterator[str]:
    for number in numbers[:SHOWN]:
        yield f"  {number:>6}  {tokenizer.token_bytes(number)!r}"
    if len(numbers) > SHOWN:
        yield f"  and {len(numbers) - SHOWN} more"
