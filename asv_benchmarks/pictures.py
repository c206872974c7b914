"""The pictures of the README and of docs/plots.rst, each after a comparison of the results; SVG files.

    python asv_benchmarks/pictures.py VOCABULARIES TEXT FOLDER [--only NAME ...] [--small]

NAME is speed (the chart of the README), scripts (tokens by script), merge_tree, lengths (speed by length),
heaps or sizes (of vocabularies). VOCABULARIES is a folder as for ``same.py ids``. TEXT is what is encoded;
for scripts, one in many of them.

In the chart of speed, all have one thread and encode parts of about a megabyte. A first pass is that of a new
tokenizer, which has met no word yet; tiktoken and tokenizers have the beginning of the text only, as they
take long. Compiled code is loaded before.
"""

from __future__ import annotations

# Before numba: `benchmarks` tells it where to keep compiled code.
from benchmarks.containers import (
    ADD,
    POP,
    SUB,
    empty_dict,
    mixed_updates,
    mixed_updates_heapq,
    push_pop,
    push_pop_heapq,
)

# isort: split
import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import matplotlib
import numpy as np
import regex
from encoding_table import COMPARED, MEASURED_THERE, parts_of, per_byte, side_by_side
from matplotlib.figure import Figure
from measuring import FILE, NOVEL, Side, best, chosen, compare, small_option, vocabularies_argument
from same import PATTERNS, Pair

import bpe
from structures import MaxHeap

NAME = "cl100k_base"
MEASURED_IN_TOKENIZERS = 2  # parts
SCRIPTS = [
    "Latin",
    "Cyrillic",
    "Greek",
    "Arabic",
    "Hebrew",
    "Devanagari",
    "Thai",
    "Hangul",
    "Hiragana",
    "Han",
]
WORD = " buccaneers"
LENGTHS = [10**k for k in range(1, 8)]
SIZES = [10**k for k in range(2, 7)]
VOCABULARY_SIZES = [256, 300, 500, 1000, 2000, 4000, 7000, 10_000]  # there are some 10,500 to learn


# Readable on white and on black, and from the same figures the same file.
GRAY = "#7b7b7b"  # has the same contrast to white as to black
COLORS = ("#2f86d6", "#e07b27", "#2c9c5c", "#b467c9")
SETTINGS = {
    "svg.fonttype": "none",  # text stays text: small, and in the reader's font
    "svg.hashsalt": "bpe-structures",  # else names in the file are random
    "font.family": "sans-serif",
    "font.size": 10,
    **{f"{each}.color": GRAY for each in ("text", "xtick", "ytick", "grid")},
    **{f"axes.{each}color": GRAY for each in ("edge", "label", "title")},
    "axes.prop_cycle": matplotlib.cycler(color=COLORS),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11,
    "legend.frameon": False,
    "legend.labelcolor": GRAY,
    "grid.alpha": 0.3,
}


def canvas(height: float) -> tuple[Figure, Any]:
    """Return a figure of this height in inches, seven wide, and its axes."""
    figure = Figure(figsize=(7, height), layout="constrained")
    return figure, figure.subplots()


def write(figure: Figure, path: Path) -> None:
    """Write an SVG file with a transparent background, and without the date."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format="svg", transparent=True, metadata={"Date": None})
    lines = drawn.getvalue().decode().splitlines()
    path.write_text("".join(f"{line.rstrip()}\n" for line in lines), "utf-8")


# ----------------------------------------------------------------------------------------------------- speed
def tokenizers_encoder(folder: Path) -> Callable[[str], np.ndarray]:
    """Return the encoder of tokenizers, for the same vocabulary."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    path, pattern = folder / f"{NAME}.tiktoken", PATTERNS[NAME]
    theirs = bpe.Tokenizer.from_tiktoken(path, pattern=pattern, special_tokens={}).to_huggingface()
    return lambda part: np.array(theirs.encode(part).ids, np.uint32)


def speeds(folder: Path, text: str, times: int) -> Iterator[tuple[str, float, float]]:
    """Yield names and seconds a byte: of a first pass, and of later ones. Whoever gives other ids ends it."""
    parts = list(parts_of(text))
    pair = Pair(folder, NAME)
    wanted = [pair.of_theirs(part) for part in parts[:COMPARED]]
    for part, ids in zip(parts, wanted, strict=False):
        pair.check("a part", part, ids, pair.ours.encode_to_numpy(part, disallowed_special=()))
    pair.ours.encode_batch_to_numpy(
        parts, 1, disallowed_special=()
    )  # so that all find the UTF-8 of a str made
    ours, others = side_by_side(folder, NAME, parts, wanted, times)
    yield "bpe", *ours[:2]
    if others:
        yield "gigatoken", *others
    yield "tiktoken", *twice(pair.of_theirs, parts[:MEASURED_THERE])
    of_tokenizers = tokenizers_encoder(folder)
    few = parts[:MEASURED_IN_TOKENIZERS]
    for part, ids in zip(few, wanted, strict=False):
        assert np.array_equal(of_tokenizers(part), ids), "tokenizers gives other ids"
    yield "tokenizers", *twice(tokenizers_encoder(folder), few)


def twice(encode: Callable[[str], Any], parts: list[str]) -> tuple[float, float]:
    """Return the seconds a byte of a first pass and of a second."""
    first, later = (per_byte(lambda texts: [*map(encode, texts)], parts, 1) for _ in range(2))
    return first, later


def speed_of_all(folder: Path, text: str, title: str, times: int) -> Figure:
    """Draw how fast a text is encoded, two bars for each, and print the figures."""
    rows = list(speeds(folder, text, times))
    for name, *seconds in rows:
        click.echo(f"{name}: {', '.join(f'{1e-6 / each:.3g} MB/s' for each in seconds)}")
    figure, axes = canvas(0.7 + 0.55 * len(rows))
    for shift, alpha, label, seconds in (
        (-0.2, 0.55, "first pass", [row[1] for row in rows]),
        (0.2, 1.0, "afterwards", [row[2] for row in rows]),
    ):
        places = [n + shift for n in range(len(rows))]
        speed = [1e-6 / each for each in seconds]
        bars = axes.barh(places, speed, 0.36, color=COLORS[0], alpha=alpha, label=label)
        axes.bar_label(bars, [f"{each:.3g}" for each in speed], padding=4)
    axes.set_yticks(range(len(rows)), [row[0] for row in rows])
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.set_xlabel("MB/s")
    axes.set_title(f"Encoding {title}, {NAME}, one thread", loc="left")
    axes.legend(loc="lower right")
    return figure


# ------------------------------------------------------------------------------------------------- the others
def tokens_by_script(folder: Path, text: str) -> Figure:
    """Draw tokens a character, of the documents whose most frequent letters are of a script."""
    documents: dict[str, list[str]] = {}
    for document in text.split("<|endoftext|>"):
        # Kana before Han, as Japanese has both.
        counts = {script: len(regex.findall(rf"\p{{{script}}}", document[:5000])) for script in SCRIPTS}
        counts["Hiragana"] *= 4
        script = max(counts, key=counts.__getitem__)
        if counts[script]:
            documents.setdefault(script, []).append(document)
    shown = {script: "".join(documents[script])[:1_000_000] for script in SCRIPTS if script in documents}
    names = {"Hiragana": "Japanese", "Han": "Chinese", "Hangul": "Korean"}
    figure, axes = canvas(1 + 0.42 * len(shown))
    for n, name in enumerate(PATTERNS):
        pair = Pair(folder, name)
        rates = []
        for each in shown.values():
            start = each[:100_000]
            pair.check("a script", start, pair.of_theirs(start), pair.ours.encode_to_numpy(start))
            rates.append(pair.ours.count(each) / len(each))
        axes.barh(np.arange(len(shown)) + 0.26 * (n - 1), rates, 0.24, label=name)
    axes.set_yticks(range(len(shown)), [names.get(script, script) for script in shown])
    axes.invert_yaxis()
    axes.grid(axis="x")
    axes.set_xlabel("tokens a character")
    axes.legend()
    return figure


def merge_tree(tok: bpe.Tokenizer, word: str) -> Figure:
    """Draw how a word becomes one token, merge by merge; a box has the number of its merge."""
    merges = dict(enumerate(tok.merges, start=256))
    (root,) = tok.encode(word)
    figure, axes = canvas(4)
    n_leaves = 0

    def place(number: int) -> tuple[float, int]:
        nonlocal n_leaves
        if number in merges:
            below = [place(child) for child in merges[number]]
            x, y = sum(at for at, _ in below) / 2, 1 + max(height for _, height in below)
            for child in below:
                axes.plot([x, child[0]], [y, child[1]], color=COLORS[0], alpha=0.5, zorder=1)
        else:
            x, y = float(n_leaves), 0
            n_leaves += 1
        shown = tok.token_bytes(number).decode("utf-8", "replace").replace(" ", "␣")
        label = f"{shown}\n{number - 255:,}" if number in merges else shown
        box = {"boxstyle": "round,pad=0.3", "facecolor": COLORS[0] if y else "none", "edgecolor": COLORS[0]}
        axes.text(x, y, label, ha="center", va="center", bbox=box, color="white" if y else None, zorder=2)
        return x, y

    _, height = place(root)
    axes.set(xlim=(-0.7, n_leaves - 0.3), ylim=(-0.5, height + 0.6))
    axes.axis("off")
    return figure


def speed_by_length(folder: Path, text: str) -> Figure:
    """Draw MB/s of single calls, by the length of the text, which has been met before."""
    from gigatoken import Tokenizer

    pair = Pair(folder, NAME)
    gigatoken = Tokenizer.from_tiktoken(str(folder / f"{NAME}.tiktoken"), pretokenizer="gpt4")
    sides: dict[str, Callable[[str], Any]] = {
        "bpe": lambda part: pair.ours.encode_to_numpy(part, disallowed_special=()),
        "gigatoken": lambda part: gigatoken.encode_batch([part], parallel=False)[0],
        "tiktoken": pair.of_theirs,
        "tokenizers": tokenizers_encoder(folder),
    }
    figure, axes = canvas(4)
    texts = [text[: length + 1] for length in LENGTHS if length <= len(text)]
    for name, encode in sides.items():
        n_bytes, speeds = [], []
        for each in texts if name in ("bpe", "gigatoken") else texts[:6]:
            pair.check(name, each, pair.of_theirs(each), np.asarray(encode(each), np.uint32))
            calls = max(1, 20_000 // len(each))
            took = best(lambda each=each, encode=encode, n=calls: [encode(each) for _ in range(n)], 5) / calls
            n_bytes.append(len(each.encode()))
            speeds.append(n_bytes[-1] * 1e-6 / took)
        axes.loglog(n_bytes, speeds, "o-", label=name)
    axes.grid()
    axes.set(xlabel="bytes of the text", ylabel="MB/s")
    axes.legend()
    return figure


def heap_against_heapq(seconds: float) -> Figure:
    """Draw nanoseconds an operation by the number of operations, of both kinds of work."""
    figure, axes = canvas(4)
    works: dict[str, list[list[float]]] = {"push all, pop all": [], "add, add, subtract, pop": []}
    for n in SIZES:
        chance = np.random.default_rng(1)
        keys = chance.permutation(n) * np.int64(7919)
        counts = chance.integers(1, n, n)
        verbs = chance.choice([ADD, SUB, POP], n, p=[0.5, 0.25, 0.25])
        changed, amounts = chance.integers(0, n // 4, n), chance.integers(1, 100, n)
        rows = (
            (
                Side("MaxHeap", lambda heap, k=keys, c=counts: push_pop(heap, k, c), MaxHeap),
                Side("heapq", lambda _, k=keys, c=counts: push_pop_heapq(k, c)),
            ),
            (
                Side(
                    "MaxHeap",
                    lambda heap, v=verbs, k=changed, a=amounts: mixed_updates(heap, v, k, a),
                    MaxHeap,
                ),
                Side(
                    "heapq",
                    lambda d, v=verbs, k=changed, a=amounts: mixed_updates_heapq(d, v, k, a),
                    empty_dict,
                ),
            ),
        )
        for took, sides in zip(works.values(), rows, strict=True):
            took.append([each / n for each in compare(f"{n}", *sides, seconds)])
    for (work, took), color in zip(works.items(), COLORS, strict=False):
        for which, style in ((0, "o-"), (1, "s--")):
            label = f"{('MaxHeap', 'heapq')[which]}: {work}"
            axes.semilogx(SIZES, [1e9 * each[which] for each in took], style, color=color, label=label)
    axes.grid()
    axes.set(xlabel="operations", ylabel="ns an operation")
    axes.set_ylim(bottom=0)
    axes.legend()
    return figure


def size_of_vocabulary(counts: bpe.WordCounts, text: str) -> Figure:
    """Draw bytes a token by the size of the vocabulary, of the text that it is learned from."""
    largest = bpe.train(counts, vocab_size=max(VOCABULARY_SIZES), progress=False)
    n_bytes = len(text.encode())
    rates = [n_bytes / largest.with_vocab_size(size).count(text) for size in VOCABULARY_SIZES]
    figure, axes = canvas(3.5)
    axes.semilogx(VOCABULARY_SIZES, rates, "o-")
    axes.set_xticks(VOCABULARY_SIZES, [f"{size:,}" for size in VOCABULARY_SIZES], rotation=30)
    axes.minorticks_off()
    axes.grid()
    axes.set(xlabel="tokens of the vocabulary", ylabel="bytes a token")
    return figure


@click.command()
@vocabularies_argument
@click.argument("text", type=FILE)
@click.argument("out", metavar="FOLDER", type=click.Path(file_okay=False, path_type=Path))
@click.option("--only", multiple=True, help="Draw this picture; may be given several times.")
@small_option
def main(folder: Path, text: Path, out: Path, only: tuple[str, ...], small: bool) -> None:
    """Draw the pictures, each to NAME.svg."""
    content = text.read_bytes().decode("utf-8", "replace")
    content = content[:100_000] if small else content
    novel = NOVEL.read_text("utf-8")
    counts = bpe.count_words([novel])
    drawings: dict[str, Callable[[], Figure]] = {
        "speed": lambda: speed_of_all(folder, content, text.name, 1 if small else 5),
        "scripts": lambda: tokens_by_script(folder, content),
        "merge_tree": lambda: merge_tree(bpe.train(counts, vocab_size=10_000, progress=False), WORD),
        "lengths": lambda: speed_by_length(folder, content),
        "heaps": lambda: heap_against_heapq(0 if small else 1),
        "sizes": lambda: size_of_vocabulary(counts, novel),
    }
    out.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(SETTINGS):
        for name in chosen(only, drawings):
            write(drawings[name](), out / f"{name}.svg")
            click.echo(out / f"{name}.svg")


if __name__ == "__main__":
    main()
