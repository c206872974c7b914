"""A wrapped tokenizer of transformers against the original: a table in Markdown.

    python asv_benchmarks/hf_table.py TOKENIZER TEXT

TOKENIZER is what ``bpe.Tokenizer.load`` reads. Both sides make the same calls, in turns, each text once
before; results are compared first.
"""

from __future__ import annotations

import benchmarks._common  # noqa: F401  # compiled code does everything, and is kept where it says

# isort: split

import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from measuring import FILE, Side, compare

import bpe
import bpe.hf

SHORT, DOCUMENT, WHOLE = 100, 3_000, 300_000  # characters
BATCH = 256
SECONDS = 5.0


def calls(text: str) -> dict[str, Callable[[Any], Any]]:
    """Return what is measured: a call of a tokenizer by its name."""
    short = [text[i : i + SHORT] for i in range(0, min(len(text), BATCH * SHORT), SHORT)]
    starts = itertools.islice(range(0, len(text), DOCUMENT), BATCH)
    documents = [text[start : start + DOCUMENT] for start in starts]
    padded = {"padding": True, "truncation": True, "max_length": DOCUMENT // 8, "return_tensors": "np"}
    return {
        f"`tokenizer.encode(text)`, {SHORT} characters": lambda tok: [tok.encode(one) for one in short],
        f"`tokenizer(text)`, {DOCUMENT} characters": lambda tok: [tok(one)["input_ids"] for one in documents],
        f"`tokenizer(texts)`, {len(documents)} of {DOCUMENT}": lambda tok: tok(documents)["input_ids"],
        "the same, padded and cut to arrays": lambda tok: tok(documents, **padded)["input_ids"].tolist(),
        f"`tokenizer.encode(text)`, {WHOLE} characters": lambda tok: tok.encode(text[:WHOLE]),
    }


@click.command(help=__doc__)
@click.argument("tokenizer", type=click.Path(exists=True, path_type=Path))
@click.argument("text", type=FILE)
def main(tokenizer: Path, text: Path) -> None:
    from transformers import PreTrainedTokenizerFast

    loaded = bpe.Tokenizer.load(tokenizer)
    pad = loaded.token_bytes(0).decode("utf-8", "replace")
    original = PreTrainedTokenizerFast(tokenizer_object=loaded.to_huggingface(), pad_token=pad)
    wrapped = bpe.hf.wrap(original)
    if wrapped is original:
        sys.exit("the original stays, so that there is nothing to compare")
    given = text.read_text("utf-8", "replace")
    every = calls(given)
    ids = original(given[:WHOLE])["input_ids"]
    rows = [ids[start : start + 500] for start in range(0, len(ids), 500)]
    every["`tokenizer.batch_decode`, rows of 500 ids"] = lambda tok: tok.batch_decode(rows)
    click.echo("| call | wrapped, ms | original, ms | times as fast |\n|---|---|---|---|")
    for name, run in every.items():
        mine, theirs = (
            Side(side, run, lambda tok=tok: tok)
            for side, tok in (("wrapped", wrapped), ("original", original))
        )
        ours, others = compare(name, mine, theirs, SECONDS, lambda one, other: one == other)
        click.echo(f"| {name} | {ours * 1e3:.2f} | {others * 1e3:.2f} | {others / ours:.1f} |")


if __name__ == "__main__":
    main()
