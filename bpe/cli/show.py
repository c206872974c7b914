"""``bpe show``: the tokens of a text, in colors."""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from bpe.cli.app import load, main
from bpe.cli.options import text_option, texts_of

if TYPE_CHECKING:
    from bpe.tokenizer import Tokenizer

BACKGROUNDS = (153, 222, 157, 218, 189)
"""Five of the 256 terminal colors, on which black text is readable."""

_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


@main.command()
@click.argument("tokenizer", metavar="TOKENIZER")
@click.argument("paths", nargs=-1, metavar="[PATH...]")
@text_option
@click.option("--ids", "with_ids", is_flag=True, help="Print one token on each line, with its id.")
@click.option("--json", "as_json", is_flag=True, help="Print a list of ids and tokens as JSON.")
def show(tokenizer: str, paths: tuple[str, ...], text: str | None, with_ids: bool, as_json: bool) -> None:
    """Show the tokens of texts.

    A PATH is as in bpe encode; standard input is read if there is neither a PATH nor a text.

    Tokens side by side have different colors. Without colors (in a file, or if NO_COLOR is set), there is a
    bar between them. A part of a character is shown as bytes, such as <E2>. Special tokens in the text are
    encoded as special tokens.

    \b
    Example:
      bpe show tok.json --text 'Fifteen men on the dead man'
      bpe show tok.json --ids --text 'naïve 😀'
      bpe show tok.json letter.txt
      echo 'Yo-ho-ho' | bpe show tok.json --json
    """  # noqa: D301
    loaded = load(tokenizer)
    for document in texts_of(paths, text, is_quiet=False).documents():
        ids = loaded.encode(b"".join(document), allowed_special="all")
        if as_json:
            click.echo(json.dumps([*entries_of(loaded, ids)], ensure_ascii=False))
        else:
            _print_tokens(loaded, ids, with_ids)


def entries_of(tokenizer: Tokenizer, ids: Iterable[int]) -> Iterable[dict[str, Any]]:
    """Yield the id, the text and the bytes of tokens, for JSON."""
    for token_id in ids:
        token = tokenizer.token_bytes(token_id)
        yield {"id": token_id, "text": token.decode("utf-8", "replace"), "bytes": token.hex()}


def _print_tokens(tokenizer: Tokenizer, ids: list[int], with_ids: bool) -> None:
    tokens = [tokenizer.token_bytes(token_id) for token_id in ids]
    parts = shown_tokens(tokens)
    if with_ids:
        width = len(str(max(ids, default=0)))
        for i, (token_id, part) in enumerate(zip(ids, parts, strict=True)):
            click.echo(f"{token_id:>{width}}  {_painted(part, i) if _has_colors() else part}", color=True)
    elif _has_colors():
        painted = (_painted(part, i) for i, part in enumerate(parts))
        ends = ("\n" if token.endswith(b"\n") else "" for token in tokens)
        click.echo("".join(part + end for part, end in zip(painted, ends, strict=True)), color=True)
    else:
        click.echo("|".join(parts))


def shown_tokens(tokens: list[bytes]) -> list[str]:
    r"""Return tokens as printable text, without characters that move the cursor or change the direction."""
    return ["".join(map(_printable, token.decode("utf-8", "surrogateescape"))) for token in tokens]


def _printable(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8
        return f"<{code - 0xDC00:02X}>"
    if character in _ESCAPES:
        return _ESCAPES[character]
    if code < 0x20 or code == 0x7F:
        return f"<{code:02X}>"
    is_hidden = unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Cn", "Co") and code != 0x200D
    return f"<U+{code:04X}>" if is_hidden else character


def _painted(part: str, i: int) -> str:
    return click.style(part, fg=16, bg=BACKGROUNDS[i % len(BACKGROUNDS)])


def _has_colors() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
