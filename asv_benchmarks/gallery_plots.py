"""The pictures of docs/plots.rst: tokens by script, a merge tree, speed by length, heaps, vocabularies.

    python asv_benchmarks/gallery_plots.py VOCABULARIES MULTILINGUAL docs/pictures [--only NAME] [--small]

VOCABULARIES is a folder as for ``same_ids.py``; MULTILINGUAL a text in many scripts. Ids and popped entries
are compared before anything is measured. ``--small`` shows that it runs; it is not for the figures.
"""

from __future__ import annotations

# Before numba: `benchmarks` tells it where to keep compiled code.
from benchmarks.containers import ADD, POP, SUB, mixed_updates, mixed_updates_heapq, push_pop, push_pop_heapq
from containers_table import Side, compare, empty_dict, nothing

# isort: split
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import matplotlib
import numpy as np
import regex
from counting_table import best
from drawing import COLOURS, SETTINGS, canvas, write
from matplotlib.figure import Figure
from same_ids import PATTERNS, Pair
from speed_chart import NAME, tokenizers_encoder

import bpe
from structures import MaxHeap

NOVEL = Path(__file__).parents[1] / "tests" / "data" / "treasure_island.txt"
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
    figure, axes = canvas(7, 1 + 0.42 * len(shown))
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
    figure, axes = canvas(7, 4)
    n_leaves = 0

    def place(number: int) -> tuple[float, int]:
        nonlocal n_leaves
        if number in merges:
            below = [place(child) for child in merges[number]]
            x, y = sum(at for at, _ in below) / 2, 1 + max(height for _, height in below)
            for child in below:
                axes.plot([x, child[0]], [y, child[1]], color=COLOURS[0], alpha=0.5, zorder=1)
        else:
            x, y = float(n_leaves), 0
            n_leaves += 1
        shown = tok.token_bytes(number).decode("utf-8", "replace").replace(" ", "␣")
        label = f"{shown}\n{number - 255:,}" if number in merges else shown
        box = {"boxstyle": "round,pad=0.3", "facecolor": COLOURS[0] if y else "none", "edgecolor": COLOURS[0]}
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
        "bpe": lambda part: pair.ours.encode_to_numpy(part, specials="ordinary"),
        "gigatoken": lambda part: gigatoken.encode_batch([part], parallel=False)[0],
        "tiktoken": pair.of_theirs,
        "tokenizers": tokenizers_encoder(folder),
    }
    figure, axes = canvas(7, 4)
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
    figure, axes = canvas(7, 4)
    works: dict[str, list[tuple[float, float]]] = {"push all, pop all": [], "add, add, subtract, pop": []}
    for n in SIZES:
        chance = np.random.default_rng(1)
        keys = chance.permutation(n) * np.int64(7919)
        counts = chance.integers(1, n, n)
        verbs = chance.choice([ADD, SUB, POP], n, p=[0.5, 0.25, 0.25])
        changed, amounts = chance.integers(0, n // 4, n), chance.integers(1, 100, n)
        rows = (
            (
                Side("MaxHeap", lambda heap, k=keys, c=counts: push_pop(heap, k, c), MaxHeap, n),
                Side("heapq", lambda _, k=keys, c=counts: push_pop_heapq(k, c), nothing, n),
            ),
            (
                Side(
                    "MaxHeap",
                    lambda heap, v=verbs, k=changed, a=amounts: mixed_updates(heap, v, k, a),
                    MaxHeap,
                    n,
                ),
                Side(
                    "heapq",
                    lambda d, v=verbs, k=changed, a=amounts: mixed_updates_heapq(d, v, k, a),
                    empty_dict,
                    n,
                ),
            ),
        )
        for took, sides in zip(works.values(), rows, strict=True):
            row = compare(f"{n}", *sides, seconds)
            took.append((row[3], row[4]))
    for (work, took), colour in zip(works.items(), COLOURS, strict=False):
        for which, style in ((0, "o-"), (1, "s--")):
            label = f"{('MaxHeap', 'heapq')[which]}: {work}"
            axes.semilogx(SIZES, [1e9 * each[which] for each in took], style, color=colour, label=label)
    axes.grid()
    axes.set(xlabel="operations", ylabel="ns an operation")
    axes.set_ylim(bottom=0)
    axes.legend()
    return figure


def size_of_vocabulary(counts: bpe.WordCounts, text: str) -> Figure:
    """Draw bytes a token by the size of the vocabulary, of the text that it is learned from."""
    largest = bpe.train(counts, vocab_size=max(VOCABULARY_SIZES), progress=False)
    n_bytes = len(text.encode())
    rates = [n_bytes / largest.truncated(size).count(text) for size in VOCABULARY_SIZES]
    figure, axes = canvas(7, 3.5)
    axes.semilogx(VOCABULARY_SIZES, rates, "o-")
    axes.set_xticks(VOCABULARY_SIZES, [f"{size:,}" for size in VOCABULARY_SIZES], rotation=30)
    axes.minorticks_off()
    axes.grid()
    axes.set(xlabel="tokens of the vocabulary", ylabel="bytes a token")
    return figure


def pictures(folder: Path, text: str, seconds: float) -> dict[str, Callable[[], Figure]]:
    """Return what can be drawn, by name."""
    novel = NOVEL.read_text("utf-8")
    counts = bpe.WordCounts.from_corpus([novel])
    return {
        "scripts": lambda: tokens_by_script(folder, text),
        "merge_tree": lambda: merge_tree(bpe.train(counts, vocab_size=10_000, progress=False), WORD),
        "lengths": lambda: speed_by_length(folder, text),
        "heaps": lambda: heap_against_heapq(seconds),
        "sizes": lambda: size_of_vocabulary(counts, novel),
    }


@click.command()
@click.argument(
    "folder", metavar="VOCABULARIES", type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.argument("text", metavar="MULTILINGUAL", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("out", metavar="FOLDER", type=click.Path(file_okay=False, path_type=Path))
@click.option("--only", multiple=True, help="Draw this picture; may be given several times.")
@click.option("--small", is_flag=True, help="One round each, and the beginning of the text.")
def main(folder: Path, text: Path, out: Path, only: tuple[str, ...], small: bool) -> None:
    """Draw the pictures, each to NAME.svg."""
    content = text.read_bytes().decode("utf-8", "replace")
    choice = pictures(folder, content[:100_000] if small else content, 0 if small else 1)
    if unknown := set(only) - choice.keys():
        raise click.UsageError(f"no picture {unknown.pop()!r}; there are {', '.join(choice)}")
    out.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(SETTINGS):
        for name in only or choice:
            write(choice[name](), out / f"{name}.svg")
            click.echo(out / f"{name}.svg")


if __name__ == "__main__":
    main()
