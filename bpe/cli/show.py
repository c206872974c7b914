"""``bpe show``: the tokens of a text, in colors."""

from __future__ import annotations

import json
import os
import sys
import unicodedata

import click

from bpe.cli.app import STDIN, load, main, read

BACKGROUNDS = (153, 222, 157, 218, 189)
"""Five of the 256 terminal colors, on which black text is readable."""

_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


@main.command()
@click.argument("tokenizer", metavar="TOKENIZER")
@click.argument("text")
@click.option("--ids", "with_ids", is_flag=True, help="Print one token on each line, with its id.")
@click.option("--json", "as_json", is_flag=True, help="Print a list of ids and tokens as JSON.")
def show(tokenizer: str, text: str, with_ids: bool, as_json: bool) -> None:
    """Show the tokens of a text; - is standard input.

    Tokens side by side have different colors. Without colors (in a file, or if NO_COLOR is set), there is a
    bar between them. A part of a character is shown as bytes, such as <E2>. Special tokens in the text are
    encoded as special tokens.

    \b
    Example:
      bpe show tok.json 'Fifteen men on the dead man'
      bpe show tok.json --ids 'naïve 😀'
      echo 'Yo-ho-ho' | bpe show tok.json - --json
    """  # noqa: D301
    loaded = load(tokenizer)
    ids = loaded.encode(read(STDIN) if text == STDIN else text, allowed_special="all")
    tokens = [loaded.token_bytes(token_id) for token_id in ids]
    if as_json:
        entries = [
            {"id": token_id, "text": token.decode("utf-8", "replace"), "bytes": token.hex()}
            for token_id, token in zip(ids, tokens, strict=True)
        ]
        click.echo(json.dumps(entries, ensure_ascii=False))
        return
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
    return ["".join(map(_shown, token.decode("utf-8", "surrogateescape"))) for token in tokens]


def _shown(character: str) -> str:
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
