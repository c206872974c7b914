"""One chart: how fast bpe, gigatoken, tiktoken and tokenizers encode a text, after a comparison of the ids.

    python asv_benchmarks/speed_chart.py VOCABULARIES TEXT FILE.svg

VOCABULARIES is a folder as for ``same_ids.py``, of which cl100k_base is taken. All have one thread and encode
parts of about a megabyte. A first pass is that of a new tokenizer, which has met no word yet; tiktoken and
tokenizers have the beginning of the text only, as they take long. Compiled code is loaded before.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
from encoding_table import COMPARED, MEASURED_THERE, parts_of, per_byte, side_by_side
from same_ids import PATTERNS, Pair

import bpe

NAME = "cl100k_base"
MEASURED_IN_TOKENIZERS = 2  # parts


def tokenizers_encoder(folder: Path) -> Callable[[str], np.ndarray]:
    """Return the encoder of tokenizers, for the same vocabulary."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    path, pattern = folder / f"{NAME}.tiktoken", PATTERNS[NAME]
    theirs = bpe.Tokenizer.from_tiktoken(path, pattern=pattern, special_tokens={}).to_huggingface()
    return lambda part: np.array(theirs.encode(part).ids, np.uint32)


def speeds(folder: Path, file: Path, times: int) -> Iterator[tuple[str, float, float]]:
    """Yield names and seconds a byte: of a first pass, and of later ones. Whoever gives other ids ends it."""
    parts = list(parts_of(file.read_bytes().decode("utf-8", "replace")))
    pair = Pair(folder, NAME)
    wanted = [pair.of_theirs(part) for part in parts[:COMPARED]]
    for part, ids in zip(parts, wanted, strict=False):
        pair.check(file.name, part, ids, pair.ours.encode_to_numpy(part, specials="ordinary"))
    pair.ours.encode_batch_to_numpy(parts, 1, specials="ordinary")  # so that all find the UTF-8 of a str made
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


def draw(rows: list[tuple[str, float, float]], title: str, path: Path) -> None:
    """Write the chart: two bars for each."""
    import matplotlib
    from drawing import COLOURS, SETTINGS, canvas, write

    with matplotlib.rc_context(SETTINGS):
        figure, axes = canvas(7, 0.7 + 0.55 * len(rows))
        for shift, alpha, label, seconds in (
            (-0.2, 0.55, "first pass", [row[1] for row in rows]),
            (0.2, 1.0, "afterwards", [row[2] for row in rows]),
        ):
            places = [n + shift for n in range(len(rows))]
            speed = [1e-6 / each for each in seconds]
            bars = axes.barh(places, speed, 0.36, color=COLOURS[0], alpha=alpha, label=label)
            axes.bar_label(bars, [f"{each:.3g}" for each in speed], padding=4)
        axes.set_yticks(range(len(rows)), [row[0] for row in rows])
        axes.invert_yaxis()
        axes.margins(x=0.12)
        axes.set_xlabel("MB/s")
        axes.set_title(title, loc="left")
        axes.legend(loc="lower right")
        write(figure, path)


@click.command()
@click.argument(
    "folder", metavar="VOCABULARIES", type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.argument("text", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("chart", metavar="FILE.svg", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--times", default=5, help="Later passes, of which the fastest counts.")
def main(folder: Path, text: Path, chart: Path, times: int) -> None:
    """Draw how fast a text is encoded, and print the figures."""
    rows = list(speeds(folder, text, times))
    draw(rows, f"Encoding {text.name}, {NAME}, one thread", chart)
    for name, *seconds in rows:
        click.echo(f"{name}: {', '.join(f'{1e-6 / each:.3g} MB/s' for each in seconds)}")


if __name__ == "__main__":
    main()
