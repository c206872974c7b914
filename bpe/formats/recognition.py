"""Finds out which format a file or a folder is in, by its content.

=============================================  =============
a file                                         format
=============================================  =============
begins as ``Tokenizer.save`` writes it         native
named ``*.tiktoken``, or with lines of ranks   tiktoken
named ``vocab.json`` or ``encoder.json``       gpt2
JSON with ``"format"``                         native
JSON with ``"model"``                          huggingface
JSON with ``"config"`` and ``"vocab"``         tekken
JSON with ``"bpe_ranks"`` and ``"pat_str"``    npm
``minbpe v1``, a line                          minbpe
begins with the byte 0x0A                      sentencepiece
=============================================  =============

In a folder, ``tokenizer.json`` is read if it is there: it holds the most, and in the folder of a model the
other files agree with it. Without it there must be exactly one of the others, :data:`OTHERS`.
"""

from __future__ import annotations

import os
import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from bpe.formats.conversion import GPT2_MERGES, naming, of_content, read, read_bytes
from bpe.formats.minbpe import FIRST_LINE
from bpe.formats.model_folder import TOKENIZER, with_files
from bpe.splitting.pattern import Pattern
from bpe.support.json_text import read_json
from bpe.vocabulary.vocabulary import Vocabulary

OTHERS = ("tekken.json", "tokenizer.model", "vocab.json", "encoder.json")
"""What a folder may have instead of ``tokenizer.json``; the merges are beside the last two."""

SAVED = b'{\n"format": "bpe-structures"'
_RANK_LINE = re.compile(rb"[A-Za-z0-9+/]+={0,2} \d{1,10}(?:[\r\n]|\Z)")


class Found(NamedTuple):
    """A file of a tokenizer: its format, its path, and its content if that has been read."""

    format: str
    path: Path
    content: Any


def find(path: str | os.PathLike[str]) -> Found:
    """Return the file at a path, or in a folder, and its format."""
    path = Path(path)
    if path.is_dir():
        file = file_in(path)
        with naming(file.name):
            return find(file)
    try:
        data = read_bytes(path)
    except FileNotFoundError as error:
        problem = "no such file or folder, and nothing is downloaded"
        raise FileNotFoundError(error.errno, problem, os.fspath(path)) from None
    if data.startswith(SAVED):
        return Found("native", path, read_json(data))
    if path.name in GPT2_MERGES:
        return Found("gpt2", path, None)
    if path.suffix == ".tiktoken" or _RANK_LINE.match(data):
        return Found("tiktoken", path, data)
    if data.startswith(FIRST_LINE.encode()):
        return Found("minbpe", path, data)
    if data[:1] == b"\n" and not data.lstrip().startswith(b"{"):
        return Found("sentencepiece", path, data)
    if data.lstrip().startswith(b"{"):
        return _of_json(read_json(data), path)
    if not data:
        raise ValueError("not a tokenizer: the file is empty")
    begin = data[:20]
    raise ValueError(
        f"not a tokenizer: it begins with {begin!r}. Looked for: JSON (of this package, a tokenizer.json, "
        f"a tekken.json, GPT-2's vocab.json), lines of ranks, {FIRST_LINE!r}, a model of SentencePiece"
    )


def file_in(folder: Path) -> Path:
    """Return the file of a folder that is to be read; ValueError if there is none, or two that could be."""
    found = [name for name in OTHERS if (folder / name).is_file()]
    if (folder / TOKENIZER).is_file():
        found = [TOKENIZER]
    if len(found) > 1:
        raise ValueError(f"a folder with {' and '.join(found)}: give the path of the one to read")
    if not found:
        raise ValueError(
            f"a folder without a tokenizer. Looked for: {TOKENIZER}, {', '.join(OTHERS)} with merges. "
            "If the file has another name, give its path"
        )
    return folder / found[0]


def _of_json(document: dict[str, Any], path: Path) -> Found:
    for keys, format in (
        (("format",), "native"),
        (("model",), "huggingface"),
        (("config", "vocab"), "tekken"),
        (("bpe_ranks", "pat_str"), "npm"),
    ):
        if all(key in document for key in keys):
            return Found(format, path, document)
    if document and all(type(token_id) is int for token_id in document.values()):
        raise ValueError(
            "a table of tokens and ids, as GPT-2's vocab.json: its merges are in another file. "
            "Tokenizer.from_gpt2(vocab, merges) reads both"
        )
    raise ValueError(
        f'not a tokenizer: JSON with the entries {[*document][:5]!r:.100}. Looked for: "format" (of this '
        'package), "model" (a tokenizer.json), "config" and "vocab" (a tekken.json), "bpe_ranks" and '
        '"pat_str" (an encoder of npm\'s tiktoken)'
    )


def open_parts(path: str | os.PathLike[str], **given: Any) -> tuple[Vocabulary, Pattern]:
    """Read a file or a folder in any of the known formats."""
    is_folder = Path(path).is_dir()
    found = find(path)
    with naming(found.path.name) if is_folder else nullcontext():
        if found.content is None:
            vocabulary, pattern = read(found.path, found.format, **given)
        else:
            vocabulary, pattern = of_content(found.content, found.format, **given)
    return (with_files(vocabulary, path) if is_folder else vocabulary), pattern
