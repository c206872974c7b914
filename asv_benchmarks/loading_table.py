"""Measure how long a tokenizer.json takes to load, here and in tokenizers, and print a Markdown table.

    python asv_benchmarks/loading_table.py FILE... [--rounds 5]

Both load each file in turn, in one process that has loaded the file before; the best time of each counts. It
is processor time, of which other programs take nothing. First both must give the same ids for a text with
characters of every kind.
"""

import argparse
import gc
import time
import warnings
from pathlib import Path

import tokenizers

import bpe
from bpe.formats.conversion import PROBE


def check(ours, theirs, path):
    ids = ours.encode(PROBE, specials="ordinary")
    if ids != theirs.encode(PROBE, add_special_tokens=False).ids:
        raise SystemExit(f"{path}: bpe and tokenizers give other ids for the probe text")


def seconds(load, path):
    gc.collect()
    start = time.process_time()
    load(str(path))
    return time.process_time() - start


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")  # of what is kept and not applied
    loads = (bpe.Tokenizer.from_huggingface, tokenizers.Tokenizer.from_file)
    print("| file | bpe, ms | tokenizers, ms | ratio |")
    print("|---|---|---|---|")
    for path in options.files:
        check(*(load(str(path)) for load in loads), path)
        rounds = [[seconds(load, path) for load in loads] for _ in range(options.rounds)]
        ours, theirs = map(min, zip(*rounds, strict=True))
        print(f"| {path} | {ours * 1e3:.1f} | {theirs * 1e3:.1f} | {ours / theirs:.2f} |", flush=True)


if __name__ == "__main__":
    main()
