"""Compare tokens that join words with those of the authors of BoundlessBPE, learned from the same words.

    python asv_benchmarks/superwords_oracle.py CHECKOUT CORPUS [--vocab-size N] [--megabytes N]

CHECKOUT is a copy of https://github.com/kensho-technologies/fastboundlessbpe. Its programs in Python run in a
process of their own, with the packages ``regex`` and ``heapdict``. They learn the merges inside of words from
the first megabytes of the corpus, each paragraph a document, then the supermerges. This package learns the
supermerges from the same merges of words. Both encode the text that follows. The exit code is 1 where
supermerges or tokens differ.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import click
import numpy as np

import bpe
from bpe.superwords.boundless import joined
from bpe.superwords.piece_ids import piece_ids
from bpe.training.options import Options
from bpe.training.start import fresh_start
from bpe.training.state import Runs

THEIRS = """
import contextlib, json, sys
from boundlessbpe import BoundlessBpeTrainer, BpeTrainer, GPT2_REGEX, Pretokenizer, Tokenizer

folder, n_documents, vocab_size = sys.argv[1], *map(int, sys.argv[2:])
quiet = dict(max_bytes=10**12, checkpoint_iterations=0, verbose=False, progress_interval=0)
with contextlib.redirect_stdout(sys.stderr):
    words = BpeTrainer(Pretokenizer(main_regex=GPT2_REGEX))
    words.train(1.1, folder + "/train.jsonl", folder + "/w", n_documents, vocab_size, 0, False, **quiet)
    words.save(folder + "/words")
    both = BoundlessBpeTrainer(Pretokenizer(main_regex=GPT2_REGEX))
    both.train(folder + "/train.jsonl", folder + "/b", n_documents, 0, folder + "/words.model", **quiet)
    both.save(folder + "/both")
    loaded = Tokenizer()
    loaded.load(folder + "/both.model")


def rows(merges):
    return [[left.hex(), right.hex(), count] for _, ((left, right), count, _) in sorted(merges.items())]


text = open(folder + "/unseen.txt", newline="", encoding="utf-8").read()
print(json.dumps({
    "first": rows(words.inf_data.merges),
    "n_first": len(loaded.words.merges),
    "supermerges": rows(both.inf_data.merges),
    "tokens": [token.hex() for token in loaded.encode_ordinary_chunks(text)],
}))
"""


def learned_by_authors(checkout: Path, folder: str, n_documents: int, vocab_size: int) -> dict[str, Any]:
    """Return the merges inside of words, how many are kept, the supermerges, and the tokens of a text."""
    arguments = [sys.executable, "-c", THEIRS, folder, *map(str, (n_documents, vocab_size))]
    environment = os.environ | {"PYTHONPATH": str((checkout / "python").resolve())}
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"the authors' programs failed:\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout)
    for name in ("first", "supermerges"):
        found[name] = [(bytes.fromhex(left), bytes.fromhex(right), n) for left, right, n in found[name]]
    found["tokens"] = [bytes.fromhex(token) for token in found["tokens"]]
    return found


def learned_here(documents: list[str], first: list[tuple[bytes, bytes, int]]) -> bpe.Tokenizer:
    """Return the tokenizer that phase 2 makes of merges inside of words."""
    words = bpe.WordCounts.from_corpus(documents)
    id_of = {bytes([value]): value for value in range(256)}
    log = np.zeros((len(first), 4), np.int64)
    for i, (left, right, count) in enumerate(first):
        log[i] = id_of[left], id_of[right], 256 + i, count
        id_of[left + right] = 256 + i

    def rows_of(known: Any) -> Runs:
        return Runs.of_row(piece_ids([[text.encode()] for text in documents], words.pattern, (), known))

    learned = joined(bpe.Boundless(), words, rows_of, fresh_start([]), log, len(first), Options())
    return bpe.Tokenizer._of(learned, words.pattern)


def compared(what: str, mine: list[Any], theirs: list[Any]) -> bool:
    """Say whether two lists are equal, and where they begin to differ."""
    pairs = zip(mine, theirs, strict=False)
    same = next((i for i, (one, other) in enumerate(pairs) if one != other), min(len(mine), len(theirs)))
    if len(mine) == len(theirs) == same:
        print(f"{what}: all {same} are equal")
        return True
    print(f"{what}: {same} of {len(mine)} here and {len(theirs)} there are equal from the first on; then")
    print(f"  here   {mine[same : same + 3]}")
    print(f"  there  {theirs[same : same + 3]}")
    return False


@click.command()
@click.argument("checkout", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("corpus", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--vocab-size", default=4000)
@click.option("--megabytes", default=1.0)
def main(checkout: Path, corpus: Path, vocab_size: int, megabytes: float) -> None:
    """Compare both."""
    size = int(megabytes * 1e6)
    with open(corpus, "rb") as file:
        data = file.read(size + size // 4)
    text, unseen = (part.decode("utf-8", "ignore") for part in (data[:size], data[size:]))
    documents = [part for part in text.split("\n\n") if part]
    with tempfile.TemporaryDirectory() as folder:
        lines = "".join(json.dumps({"text": document}) + "\n" for document in documents)
        Path(folder, "train.jsonl").write_text(lines, "utf-8")
        Path(folder, "unseen.txt").write_bytes(unseen.encode())
        theirs = learned_by_authors(checkout, folder, len(documents), vocab_size)
    ordinary = bpe.train(documents, vocab_size, ties="lexicographic").merges_bytes
    is_first = compared("merges inside of words", ordinary, [row[:2] for row in theirs["first"]])
    tok = learned_here(documents, theirs["first"])
    pairs, n_super = tok.merges_bytes, tok.engine.vocabulary.n_super
    n_first = len(pairs) - n_super
    print(f"merges that are kept, from the same: {n_first} here, {theirs['n_first']} there")
    tokens = [tok.token_bytes(number) for number in tok.encode(unseen)]
    equal = [
        compared("supermerges", pairs[n_first:], [row[:2] for row in theirs["supermerges"]]),
        compared("tokens of other text", tokens, theirs["tokens"]),
    ]
    if not is_first:
        print("merges inside of words may differ where pairs count the same: they are taken from there")
    sys.exit(0 if all(equal) and n_first == theirs["n_first"] else 1)


if __name__ == "__main__":
    main()
