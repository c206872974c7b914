"""After more tokens, and after fewer: are the ids of texts the old ones, wherever they should be?

    VOCABS=FOLDER python asv_benchmarks/same_surgery.py TEXT [TEXT ...]

From each text, a megabyte is taken. The tokenizers are two that are trained on the first of them; where
VOCABS names a folder such as ``same_ids.py`` takes, its three vocabularies, too. Each is extended by a
thousand tokens of the texts, and pruned to nine tenths. Of each piece of the texts,

* the new ids are the old ones, through the map of ids, if all of these stay, and if none is of a new token;
* the new ids are those of tokens that exist, and are decoded to the piece.

Each new tokenizer is written as a ``tokenizer.json``, and ``tokenizers`` must give the same ids for the
texts.

Prints a table; exits with 1 at the first difference, which it shows.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
from same_ids import PATTERNS

import bpe
from bpe.tokenizer import Tokenizer

MEGABYTE = 1_000_000
N_MORE, SHARE = 1000, 0.9
VOCAB_SIZE = 8000
END = "<|end|>"


class Different(Exception):
    """Ids are not what they should be; says where."""


def compare(old: Tokenizer, new: Tokenizer, new_id_of: np.ndarray, data: bytes) -> tuple[int, int]:
    """Compare the ids of a text, piece by piece; return how many pieces are the same, and how many not."""
    offsets, before = old.engine.encoder.pieces(data)
    same_offsets, after = new.engine.encoder.pieces(data)
    if not np.array_equal(offsets, same_offsets):
        raise Different("the pieces are not the same")
    old_ids, new_ids = (tok.encode_to_numpy(data, specials="ordinary").astype(np.int64) for tok in (old, new))
    if new.decode_bytes(new_ids) != data:
        raise Different("the new ids are decoded to another text")
    survives = np.zeros(new.vocab_size, bool)
    survives[new_id_of[new_id_of >= 0]] = True
    moved = new_id_of[old_ids]
    n_gone = _sums(moved < 0, before)
    n_new = _sums(~survives[new_ids], after)
    should = (n_gone == 0) & (n_new == 0)
    lengths = np.diff(before), np.diff(after)
    for i in np.flatnonzero(should & (lengths[0] != lengths[1]))[:1]:
        raise Different(f"piece {data[offsets[i] : offsets[i + 1]]!r} has other ids")
    kept = moved[np.repeat(should, lengths[0])], new_ids[np.repeat(should, lengths[1])]
    if not np.array_equal(*kept):
        raise Different(f"id {kept[1][kept[0] != kept[1]][0]} is at the place of another")
    return int(should.sum()), int((~should).sum())


def _sums(marks: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    total = np.concatenate([[0], np.cumsum(marks)])
    return total[offsets[1:]] - total[offsets[:-1]]


def compare_with_tokenizers(new: Tokenizer, text: str) -> int:
    """Write a tokenizer, and compare the ids of a text with those of ``tokenizers``; return their number."""
    import tokenizers

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokenizer.json")
        new.save_huggingface(path)
        theirs = tokenizers.Tokenizer.from_file(str(path))
        if Tokenizer.open(path).encode(text, allowed_special="all") != (
            ids := new.encode(text, allowed_special="all")
        ):
            raise Different("a tokenizer.json is read as another tokenizer")
    if theirs.encode(text, add_special_tokens=False).ids != ids:
        raise Different("tokenizers gives other ids")
    return len(ids)


def changes(tokenizer: Tokenizer, texts: list[bytes]) -> Iterator[tuple[str, Tokenizer, np.ndarray]]:
    """Yield what is done to a tokenizer, the result, and the map of ids."""
    n_more = min(N_MORE, len(tokenizer.vocab) // 10)
    more, same = tokenizer.extend(texts, n_more)
    yield f"+{n_more}", more, same
    size = int(len(tokenizer.vocab) * SHARE)
    fewer, new_id_of = tokenizer.prune(texts[:1], vocab_size=size)
    yield f"{size} of {len(tokenizer.vocab)}", fewer, new_id_of


def check(name: str, tokenizer: Tokenizer, texts: list[bytes]) -> None:
    """Compare all of a tokenizer, and print a row for each change."""
    for what, new, new_id_of in changes(tokenizer, texts):
        n_same = n_other = n_ids = 0
        for data in texts:
            same, other = compare(tokenizer, new, new_id_of, data)
            n_same, n_other = n_same + same, n_other + other
            n_ids += compare_with_tokenizers(new, data.decode())
        click.echo(
            f"{name:12} {what:18} {n_same:>10,} pieces the same, {n_other:>9,} with a new token or "
            f"without an old one; {n_ids:>10,} ids as tokenizers"
        )


def tokenizers_of(texts: list[bytes]) -> Iterator[tuple[str, Tokenizer]]:
    """Yield tokenizers and their names."""
    for pattern in ("gpt2", "o200k"):
        options = {"pattern": pattern, "special_tokens": [END]}
        options |= {"like": "huggingface"} if pattern == "o200k" else {}
        yield f"own, {pattern}", bpe.train(texts[:1], VOCAB_SIZE, **options, progress=False)
    if "VOCABS" not in os.environ:
        return
    folder = Path(os.environ["VOCABS"])
    for name, pattern in PATTERNS.items():
        specials = json.loads((folder / f"{name}.json").read_text("utf-8"))["special_tokens"]
        given = {"pattern": pattern, "special_tokens": specials}
        yield name, Tokenizer.from_tiktoken(folder / f"{name}.tiktoken", **given)


@click.command()
@click.argument(
    "files", metavar="TEXT...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path)
)
def main(files: tuple[Path, ...]) -> None:
    """Extend and prune tokenizers, and compare the ids of texts before and after."""
    texts = []
    for file in files:
        with file.open("rb") as opened:
            texts.append(opened.read(MEGABYTE).decode("utf-8", "ignore").encode())
    for name, tokenizer in tokenizers_of(texts):
        try:
            check(name, tokenizer, texts)
        except Different as error:
            click.echo(f"{name}: {error}")
            sys.exit(1)


if __name__ == "__main__":
    main()
