"""``bpe show``: the tokens of a text, in colours.

What texts look like at their beginning, where that is not what they are read as.
"""

from __future__ import annotations

import codecs
import json
import os
import sys
import unicodedata
from contextlib import suppress
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from bpe.cli.app import STDIN, load, main, read, warn

if TYPE_CHECKING:
    from bpe.corpus import Corpus
    from bpe.corpus.reading import FilePart


MOST_FILES = 100  # of a corpus that are looked at

_JSON = "looks like JSON lines, and is read as text: add --format jsonl, or --format text if that is meant"
_PARQUET = "looks like Parquet, and is read as text: add --format parquet"
_PACKED = "is compressed, and is read as text: the name must end in .gz or .zst, or unpack it first"
_UTF_16 = "looks like UTF-16, and is read as bytes: change it first, such as with iconv -f UTF-16 -t UTF-8"
_NOT_UTF_8 = "not UTF-8: its bytes are kept as they are. --errors strict stops and says where it is wrong"


def warn_of_odd_texts(corpus: Corpus) -> None:
    """Warn once of each way in which texts look like something that they are not read as."""
    source = click.get_current_context().get_parameter_source("errors")
    found: dict[str, list[str]] = {}
    for part in corpus.parts()[:MOST_FILES]:
        if corpus.kind_of(part.path) in (".jsonl", ".parquet"):
            continue
        with suppress(Exception):  # whoever reads it says what is wrong with it
            problem = oddity(_begin_of(part), source is not ParameterSource.DEFAULT, corpus.format == "text")
            if problem:
                found.setdefault(problem, []).append(str(part))
    for problem, names in found.items():
        more = f" (and so in {len(names) - 1} more)" if len(names) > 1 else ""
        warn(f"{names[0]}: {problem}{more}")


def oddity(begin: bytes, knows_errors: bool, is_text: bool) -> str:
    r"""Return what a text looks like, if that is not text in UTF-8; empty if it is."""
    if begin.startswith(b"PAR1") and not is_text:
        return _PARQUET
    if begin.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd")):
        return _PACKED
    if begin.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "" if knows_errors else _UTF_16
    line, is_whole, _ = begin.removeprefix(codecs.BOM_UTF8).partition(b"\n")
    if line.startswith(b"{") and not is_text and _is_record(line, bool(is_whole)):
        return _JSON
    try:
        codecs.utf_8_decode(begin, "strict", False)
    except UnicodeDecodeError:
        return "" if knows_errors else _NOT_UTF_8
    return ""


def _is_record(line: bytes, is_whole: bool) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return not is_whole and line.startswith(b'{"')


def _begin_of(part: FilePart) -> bytes:
    from bpe.corpus.reading import STDIN

    if part.path != STDIN:
        return next(iter(part.blocks()), b"") if part.path.is_file() else b""
    stream = sys.stdin.buffer
    if hasattr(stream, "peek"):
        return stream.peek()
    place = stream.tell()
    begin = stream.read(1 << 16)
    stream.seek(place)
    return begin


BACKGROUNDS = (153, 222, 157, 218, 189)
"""Five of the 256 colours of terminals; black text is readable on each."""

_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


@main.command()
@click.argument("tokenizer", metavar="TOKENIZER")
@click.argument("text")
@click.option("--ids", "with_ids", is_flag=True, help="Print one token on each line, with its id.")
@click.option("--json", "as_json", is_flag=True, help="Print a list of ids and tokens as JSON.")
def show(tokenizer: str, text: str, with_ids: bool, as_json: bool) -> None:
    """Show the tokens of a text; - is standard input.

    Tokens side by side have different colours. Without colours (in a file, or with NO_COLOR set), there is a
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
    tokens = [loaded.token_bytes(number) for number in ids]
    if as_json:
        entries = [
            {"id": number, "text": token.decode("utf-8", "replace"), "bytes": token.hex()}
            for number, token in zip(ids, tokens, strict=True)
        ]
        click.echo(json.dumps(entries, ensure_ascii=False))
        return
    parts = shown_tokens(tokens)
    if with_ids:
        width = len(str(max(ids, default=0)))
        for i, (number, part) in enumerate(zip(ids, parts, strict=True)):
            click.echo(f"{number:>{width}}  {_painted(part, i) if _has_colours() else part}", color=True)
    elif _has_colours():
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


def _has_colours() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
