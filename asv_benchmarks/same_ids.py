"""Are the ids of whole corpora those of tiktoken, one for one? Some minutes for 100 MB.

    python asv_benchmarks/same_ids.py VOCABULARIES TEXT [TEXT ...] [--name NAME]

VOCABULARIES is a folder with a rank file ``NAME.tiktoken`` and with ``NAME.json``, an object of tiktoken's
"pat_str" and "special_tokens", for each of gpt2, cl100k_base and o200k_base. Compared are

* every text, in blocks of some megabytes, encoded in one call;
* the same blocks, cut at random places and given to a stream encoder;
* every code point, alone and among others; but for those that are letters, numbers or marks by the Unicode
  tables of one and not of the other, where one of the two is older.

Prints a table; exits with 1 at the first difference, which it shows.
"""

from __future__ import annotations

import base64
import json
import random
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import click
import numpy as np
import regex
import tiktoken
from same_pieces import blocks

import bpe

PATTERNS = {"gpt2": "gpt2", "cl100k_base": "cl100k", "o200k_base": "o200k"}
"""Name of an encoding -> our name of its pattern, so that theirs and ours are independent of each other."""

CONTEXTS = ("{}", "a{}b", " {}\n", "1{}'s {}")
CLASSES = ("L", "Lu", "Lt", "Lm", "Lo", "Ll", "N", "M")
LONGEST_CUT = 17  # a power of two
AROUND = 30  # characters shown of a text where it differs


class Pair:
    """An encoding, by both."""

    def __init__(self, folder: Path, name: str) -> None:
        ranks = folder / f"{name}.tiktoken"
        given = json.loads((folder / f"{name}.json").read_text("utf-8"))
        lines = map(bytes.split, ranks.read_bytes().splitlines())
        self.name = name
        self.theirs = tiktoken.Encoding(
            name, mergeable_ranks={base64.b64decode(token): int(rank) for token, rank in lines}, **given
        )
        self.ours = bpe.Tokenizer.from_tiktoken(
            ranks, pattern=PATTERNS[name], special_tokens=given["special_tokens"]
        )

    def of_theirs(self, text: str) -> np.ndarray:
        return np.array(self.theirs.encode_ordinary(text), np.uint32)

    def check(self, what: str, text: str, wanted: np.ndarray, ids: np.ndarray) -> None:
        """Show the first difference, and end, where there is one."""
        if np.array_equal(wanted, ids):
            return
        n = min(len(wanted), len(ids))
        at = int(np.append(np.flatnonzero(wanted[:n] != ids[:n]), n)[0])
        data = text.encode()
        place = len(self.ours.decode_bytes(wanted[:at]))
        before, behind = data[max(place - AROUND, 0) : place], data[place : place + AROUND]
        click.echo(f"{self.name} {what}: differs at byte {place} of a text of {len(data)}, ids[{at}]")
        click.echo(f"  text      {before!r} | {behind!r}")
        for who, numbers in (("tiktoken", wanted), ("bpe", ids)):
            shown = [
                f"{number} {self.ours.token_bytes(number)!r}" for number in numbers[at : at + 5].tolist()
            ]
            click.echo(f"  {who:8}  {', '.join(shown) or 'no more'}")
        sys.exit(1)


def text_ids(pair: Pair, file: Path, chance: random.Random) -> int:
    """Compare all ids of a file; return their number."""
    n = start = 0
    for block in blocks(file.read_bytes()):
        text = block.decode("utf-8", "replace")
        wanted = pair.of_theirs(text)
        what = f"{file.name} from byte {start} on"
        pair.check(f"{what}, in one call", text, wanted, pair.ours.encode_to_numpy(text, specials="ordinary"))
        stream = pair.ours.stream_encoder(specials="ordinary")
        parts = [*map(stream.feed, cuts(text.encode(), chance)), stream.finish()]
        streamed = np.fromiter(chain.from_iterable(parts), np.uint32)
        pair.check(f"{what}, as a stream", text, wanted, streamed)
        n, start = n + len(wanted), start + len(block)
    return n


def cuts(data: bytes, chance: random.Random) -> Iterator[bytes]:
    """Cut a text at random places, near ones and far ones."""
    start = 0
    while start < len(data):
        end = start + int(2 ** chance.uniform(0, LONGEST_CUT))
        yield data[start:end]
        start = end


def code_point_ids(pair: Pair, context: str, characters: list[str]) -> int:
    """Compare the ids of characters, each in a text of its own; return their number."""
    n = 0
    for first in range(0, len(characters), 1 << 16):
        texts = [context.replace("{}", character) for character in characters[first : first + (1 << 16)]]
        ids, offsets = pair.ours.encode_batch_to_numpy(texts, specials="ordinary")
        for text, start, end in zip(texts, offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            wanted = pair.theirs.encode_ordinary(text)
            if ids[start:end].tolist() != wanted:
                pair.check(f"{text!r}", text, np.array(wanted, np.uint32), ids[start:end])
        n += len(ids)
    return n


def classified_alike(characters: list[str]) -> list[str]:
    """Return those that both have in the same classes."""
    text, others = "".join(characters), set()
    for name in CLASSES:
        expression = rf"\p{{{name}}}"
        by_bytes = tiktoken.Encoding(
            name, pat_str=expression, mergeable_ranks={bytes([i]): i for i in range(256)}, special_tokens={}
        )
        theirs = bytes(by_bytes.encode_ordinary(text)).decode()  # it drops what does not match
        others.update(set(theirs).symmetric_difference(regex.findall(expression, text)))
    return [character for character in characters if character not in others]


@click.command()
@click.argument("folder", metavar="VOCABULARIES", type=click.Path(exists=True, path_type=Path))
@click.argument("texts", metavar="TEXT...", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--name", "names", multiple=True, type=click.Choice([*PATTERNS]), help="Default: all.")
def main(folder: Path, texts: tuple[Path, ...], names: tuple[str, ...]) -> None:
    """Compare the ids of texts, and of every code point, with those of tiktoken."""
    characters = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    n_all = len(characters)
    characters = classified_alike(characters)
    click.echo(
        f"{n_all - len(characters):,} code points have other properties in tiktoken's Unicode: left out"
    )
    for name in names or PATTERNS:
        pair = Pair(folder, name)
        for context in CONTEXTS:
            row(name, f"code points in {context!r}", code_point_ids(pair, context, characters))
        for file in texts:
            row(name, file.name, text_ids(pair, file, random.Random(file.name)))


def row(name: str, what: str, n_ids: int) -> None:
    click.echo(f"{name:12} {what:28} {n_ids:>12,} ids, all the same")


if __name__ == "__main__":
    main()
