"""What texts look like at their beginning, where that is not what they are read as."""

from __future__ import annotations

import codecs
import json
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from bpe.cli.app import warn

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
