"""``bpe encode``, ``bpe decode``: text to ids and back."""

from __future__ import annotations

import io
import json
import sys
from typing import Any

import click

from bpe.cli.app import STDIN, load, main, name_of, read, shorter

__all__ = ["decode", "encode"]


@main.command()
@click.argument("tokenizer", metavar="TOKENIZER")
@click.argument("file", default=STDIN)
@click.option("--numpy", "array_file", metavar="FILE", help="Write the ids to a .npy file, as uint32.")
@click.option("--allow-special", is_flag=True, help="Encode special tokens in the text as such.")
@click.option("--json", "as_json", is_flag=True, help="Write the ids as a list in JSON.")
def encode(tokenizer: str, file: str, array_file: str | None, allow_special: bool, as_json: bool) -> None:
    """Encode a file, or standard input, to ids separated by spaces.

    \b
    Example:
      echo 'Hello world' | bpe encode tok.json
      bpe encode tok.json corpus.txt --allow-special --numpy corpus.npy
    """  # noqa: D301
    loaded = load(tokenizer)
    try:
        ids = loaded.encode_to_numpy(read(file), allowed_special="all" if allow_special else frozenset())
    except ValueError as error:
        raise ValueError(f"{name_of(file)}: {shorter(error)}") from None
    if as_json:
        click.echo(json.dumps(ids.tolist()))
        return
    if array_file is None:
        click.echo(" ".join(map(str, ids.tolist())))
        return
    import numpy as np

    from bpe.files import atomic_write

    buffer = io.BytesIO()
    np.save(buffer, ids)
    atomic_write(array_file, buffer.getvalue())


@main.command()
@click.argument("tokenizer", metavar="TOKENIZER")
@click.argument("file", default=STDIN)
def decode(tokenizer: str, file: str) -> None:
    """Decode a file of ids, or standard input, to the exact bytes.

    The ids are numbers separated by white space, or a .npy file.

    \b
    Example:
      bpe decode tok.json ids.txt > text.txt
    """  # noqa: D301
    ids = _parse_ids(read(file), name_of(file))
    loaded = load(tokenizer)
    try:
        text = loaded.decode_bytes(ids)
    except ValueError as error:
        raise ValueError(f"{name_of(file)}: {error}") from None
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()


def _parse_ids(data: bytes, name: str) -> Any:
    if data.startswith(b"\x93NUMPY"):
        import numpy as np

        try:
            ids = np.load(io.BytesIO(data), allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise ValueError(f"{name}: damaged .npy file: {error}") from None
        if ids.ndim != 1 or ids.dtype.kind not in "iu":
            raise ValueError(f"{name}: an array of {ids.ndim} dimensions of {ids.dtype}, not a list of ids")
        return ids
    ids = []
    for i, word in enumerate(data.split()):
        if not (word.isdigit() and len(word) < 20):
            raise ValueError(f"{name}: ids[{i}] is {word[:50].decode('utf-8', 'replace')!r}, not a number")
        ids.append(int(word))
    return ids
