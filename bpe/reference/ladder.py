"""The ladder of optimizations of training, measured: ``python -m bpe.reference.ladder TEXT``.

    python -m bpe.reference.ladder tests/data/treasure_island.txt
    python -m bpe.reference.ladder gutenberg.txt --vocab-size 1000 --rungs vanilla heap bpe --budget 4
    python -m bpe.reference.ladder fra.txt --setting speedy --budget 60 --json

Every rung trains on the same text, for the same vocabulary size and with the same tie rule. Its time is the
processor time from the text in memory to the last merge, including cutting and counting. All its merges must
equal those of the engine; otherwise no figures are printed and the exit code is 1. The rungs are those of
``trainers`` and ``linked``. The last rung is the engine itself; its compiled code is loaded before. The
settings:

===========  ========================================================================================
``full``     from one list of bytes to the engine: pieces, distinct pieces, kept counts, an index,
             linked lists, a heap; the first rung has no pieces and learns other merges
``speedy``   10,000 merges of a text that is not cut into pieces
``cs336``    distinct pieces with their counts; ties go to the lexicographically greatest pair
===========  ========================================================================================

A rung that takes longer than the budget is stopped. Then single merges are timed at some later points, on the
text as it is at those points, and the time of all other merges is interpolated linearly between the points.
The estimate is too high rather than too low if the first merges take by far the longest. Such a figure is
marked with `~`.

Special tokens in the text are plain text. Memory is not measured. The budget is checked
between two merges, not while a rung prepares its first merge.
"""

import argparse
import importlib
import importlib.util
import io
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from time import process_time
from types import ModuleType
from typing import Any, NamedTuple, cast

from .linked import LinkedPieces, LocatedPieces, QueuedPieces
from .pairs import Ties
from .trainers import IncrementalPieces, IndexedPieces, Merge, RecountedPieces, learn

BUDGET = 20.0  # seconds for a rung
# A slow rung is timed after these parts of all merges; after every other part if this takes too long.
POINTS = (0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1.0)


# ----------------------------------------------------------------------------------------------- the ladders
class Rung(NamedTuple):
    """A way to train."""

    name: str
    unit: str
    holder: Callable[..., Any] | None


class Setting(NamedTuple):
    """Rungs, their vocabulary size and their tie rule."""

    rungs: tuple[Rung, ...]
    vocab_size: int
    ties: Ties


SETTINGS = {
    "full": Setting(
        (
            Rung("vanilla", "text", RecountedPieces),
            Rung("chunked", "pieces", RecountedPieces),
            Rung("deduplicated", "distinct", RecountedPieces),
            Rung("incremental", "distinct", IncrementalPieces),
            Rung("indexed", "distinct", IndexedPieces),
            Rung("linked", "distinct", LocatedPieces),
            Rung("heap", "distinct", QueuedPieces),
            Rung("bpe", "distinct", None),
        ),
        10_000,
        "smallest",
    ),
    "speedy": Setting(
        (
            Rung("naive", "text", RecountedPieces),
            Rung("linked list", "text", LinkedPieces),
            Rung("statistics kept", "text", LocatedPieces),
            Rung("multiset heap", "text", QueuedPieces),
            Rung("bpe", "text", None),
        ),
        10_256,
        "smallest",
    ),
    "cs336": Setting(
        (
            Rung("word counts", "distinct", RecountedPieces),
            Rung("inverted index", "distinct", IndexedPieces),
            Rung("bpe", "distinct", None),
        ),
        10_000,
        "lexicographic",
    ),
}


class Figure(NamedTuple):
    """The time of a rung and the number of its merges; further merges are estimated."""

    rung: str
    seconds: float
    n_merges: int
    n_wanted: int
    times: float  # how many times as fast as the first rung

    def __str__(self) -> str:
        """Return the seconds, with a `~` if they are an estimate."""
        return f"{'~' if self.n_merges < self.n_wanted else ''}{rounded(self.seconds)}"


class Disagreement(RuntimeError):
    """Two rungs have learned different merges."""


class Ladder:
    """One text, one vocabulary size and one tie rule, for which rungs are measured."""

    def __init__(
        self, engine: ModuleType, text: bytes, vocab_size: int, ties: Ties, budget: float = BUDGET
    ) -> None:
        if not text:
            raise ValueError("the text is empty: there is nothing to learn from")
        if vocab_size < 256:
            raise ValueError(
                f"the vocabulary has the 256 bytes: its size must be at least 256, not {vocab_size}"
            )
        self.bpe, self.text, self.ties, self.budget = engine, text, ties, budget
        self.n_merges = vocab_size - 256
        self._expected: dict[str, list[tuple[int, ...]]] = {}

    def climb(self, rungs: Sequence[Rung]) -> list[Figure]:
        """Measure some rungs, and compare them with the first one."""
        figures: list[Figure] = []
        for rung in rungs:
            wanted = len(self.expected(rung.unit))
            if rung.holder is None:
                start = process_time()
                self.engine(rung.unit)
                seconds, n_made = process_time() - start, wanted
            else:
                seconds, n_made = self.measure(rung)
            first = figures[0].seconds if figures else seconds
            figures.append(Figure(rung.name, seconds, n_made, wanted, first / seconds))
        return figures

    def measure(self, rung: Rung) -> tuple[float, int]:
        """Return the seconds of a rung in plain Python, and the number of merges within its budget."""
        expected = self.expected(rung.unit)
        start = process_time()
        pieces = self.hold(rung, self.piece_counts(rung.unit))
        ready = process_time() - start
        n_made, pace = 0, 0.0
        while n_made < len(expected) and process_time() - start < self.budget:
            before = process_time()
            self.step(rung, pieces, n_made)
            n_made, pace = n_made + 1, process_time() - before
        seconds = process_time() - start
        if n_made == len(expected):
            return seconds, n_made
        points = [(n_made, pace)] if n_made else []
        is_long = (ready + pace) * len(POINTS) > self.budget
        parts = POINTS[::2] if is_long else POINTS
        for n_merges, sequences, token_bytes in self.texts_after(rung.unit, n_made, parts):
            pieces = None  # first: the memory may not be enough for two at a time
            pieces = self.hold(rung, self.expanded(rung.unit, sequences))
            pieces.token_bytes[:] = token_bytes
            if isinstance(pieces, QueuedPieces):
                pieces.pair_counts()  # fills the heap: this is not a cost of this merge
            before = process_time()
            self.step(rung, pieces, n_merges)
            points.append((n_merges, process_time() - before))
        return seconds + area(points, n_made, len(expected)), n_made

    def step(self, rung: Rung, pieces: Any, n_made: int) -> None:
        """Make one merge; raise if it is not the expected one."""
        made, expected = learn(pieces, 1, ties=self.ties), self.expected(rung.unit)[n_made]
        if made != [expected]:
            raise Disagreement(f"{rung.name}: merge {n_made} is {made}, but bpe learns {expected}")

    def hold(self, rung: Rung, piece_counts: Iterable[tuple[Sequence[int], int]]) -> Any:
        """Return the pieces in the data structure of a rung."""
        holder = cast(Callable[..., Any], rung.holder)
        return holder(piece_counts, self.ties) if holder is QueuedPieces else holder(piece_counts)

    def cut(self) -> list[bytes]:
        """Cut the text by GPT-2's pattern."""
        from bpe.splitting.pattern import Pattern

        return Pattern.of("gpt2").split_bytes(self.text)

    def piece_counts(self, unit: str) -> list[tuple[bytes, int]]:
        """Return the pieces of a unit, with their counts."""
        if unit == "text":
            return [(self.text, 1)]
        return [(piece, 1) for piece in self.cut()] if unit == "pieces" else [*Counter(self.cut()).items()]

    def expanded(self, unit: str, sequences: list[list[int]]) -> list[tuple[Sequence[int], int]]:
        """Return the pieces of a unit, with their counts, given the sequences of the distinct pieces."""
        if unit == "text":
            return [(sequences[0], 1)]
        counts = Counter(self.cut())
        if unit == "distinct":
            return [*zip(sequences, counts.values(), strict=True)]
        sequence_of = dict(zip(counts, sequences, strict=True))
        return [(sequence_of[piece], 1) for piece in self.cut()]

    def engine(self, unit: str) -> list[Merge]:
        """Train with the engine."""
        bpe = self.bpe
        counts = bpe.WordCounts({self.text: 1}) if unit == "text" else bpe.count_words([self.text])
        trainer = bpe.Trainer(counts, ties=self.ties)
        trainer.run(256 + self.n_merges)
        return cast(list[Merge], trainer.merges)

    def expected(self, unit: str) -> list[tuple[int, ...]]:
        """Return the merges of the engine; the first call also loads its compiled code."""
        key = self._key(unit)
        if key not in self._expected:
            self._expected[key] = [tuple(merge) for merge in self.engine(unit)]
        return self._expected[key]

    def texts_after(
        self, unit: str, least: int, parts: Sequence[float] = POINTS
    ) -> Iterator[tuple[int, list[list[int]], list[bytes]]]:
        """Yield the text after some numbers of merges: those of `parts` that are at least `least`.

        The text is encoded with the merges of the engine, which gives the same tokens as training.
        """
        bpe = self.bpe
        piece_counts = dict(self.piece_counts(self._key(unit)))
        trainer = bpe.Trainer(bpe.WordCounts(piece_counts, pattern="none"), ties=self.ties)
        last = len(self.expected(unit)) - 1
        for point in sorted({int(part * last) for part in parts}):
            if point >= least:
                trainer.run(256 + point)
                tokenizer = trainer.tokenizer()
                token_bytes = [tokenizer.token_bytes(token) for token in range(256 + point)]
                yield point, tokenizer.encode_batch([*piece_counts]), token_bytes

    @staticmethod
    def _key(unit: str) -> str:
        """Return one unit for all units with the same merges."""
        return "text" if unit == "text" else "distinct"


def area(points: Sequence[tuple[int, float]], start: int, end: int) -> float:
    """Return the area below a line through points, level before the first and after the last. O(points)."""
    line = [(start, points[0][1]), *points, (end, points[-1][1])]
    return sum((x1 - x0) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in pairwise(line))


# --------------------------------------------------------------------------------------------------- command
def table(figures: Sequence[Figure]) -> str:
    """Return the figures as a table in Markdown."""
    lines = [f"| rung | seconds | times as fast as {figures[0].rung} | merges made |", "|---|---:|---:|---|"]
    for figure in figures:
        is_whole = figure.n_merges == figure.n_wanted
        made = f"all {figure.n_wanted:,}" if is_whole else f"{figure.n_merges:,} of {figure.n_wanted:,}"
        lines.append(f"| {figure.rung} | {figure} | {rounded(figure.times)} | {made} |")
    return "\n".join(lines)


def rounded(number: float) -> str:
    """Return a number with three digits, or with all digits before the point."""
    return f"{number:,.0f}" if number >= 99.95 else f"{number:#.3g}"


_STYLE = {
    "svg.hashsalt": "ladder",  # else names in the file are random
    "svg.fonttype": "none",
    **{f"{each}.color": "#7b7b7b" for each in ("text", "xtick", "ytick")},  # readable on white and on black
    "axes.edgecolor": "#7b7b7b",
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def plot(figures: Sequence[Figure], path: Path) -> None:
    """Draw the seconds as bars on a logarithmic axis; the file depends on the figures only."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Canvas

    from bpe.support.files import atomic_write

    names = [figure.rung for figure in figures]
    drawn = io.BytesIO()
    with rc_context(_STYLE):
        canvas = Canvas(figsize=(7, 0.5 + 0.4 * len(figures)), layout="constrained")
        axes = canvas.subplots()
        bars = axes.barh(names, [figure.seconds for figure in figures], log=True, color="#2f86d6")
        axes.bar_label(bars, [f"{figure} s" for figure in figures], padding=3)
        axes.invert_yaxis()
        axes.margins(x=0.2)
        canvas.savefig(drawn, format="svg", transparent=True, metadata={"Date": None})
    atomic_write(path, drawn.getvalue())


def main(engine: ModuleType, arguments: Sequence[str] | None = None) -> int:
    """Run the command for the package ``bpe``; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m bpe.reference.ladder", description="Time the ladder.")
    parser.add_argument("text", type=Path, metavar="TEXT", help="a file of text")
    parser.add_argument("--setting", choices=SETTINGS, default="full", help="which ladder")
    parser.add_argument(
        "--vocab-size", type=int, metavar="N", help="bytes and merges; by default, those of the setting"
    )
    parser.add_argument("--rungs", nargs="+", metavar="NAME", help="only these, in the order of the ladder")
    parser.add_argument("--budget", type=float, default=BUDGET, metavar="SECONDS", help="for one rung")
    parser.add_argument("--json", action="store_true", help="write the figures as JSON")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="draw them too; requires matplotlib")
    options = parser.parse_args(arguments)
    setting = SETTINGS[options.setting]
    names = [rung.name for rung in setting.rungs]
    wanted = options.rungs or names
    if unknown := sorted(set(wanted) - set(names)):
        parser.error(f"setting {options.setting} has no rung {unknown[0]!r}; it has {', '.join(names)}")
    if options.plot and not importlib.util.find_spec("matplotlib"):
        parser.error("--plot requires matplotlib: pip install 'bpe-structures[plot]'")
    vocab_size = setting.vocab_size if options.vocab_size is None else options.vocab_size
    try:
        ladder = Ladder(engine, options.text.read_bytes(), vocab_size, setting.ties, options.budget)
        figures = ladder.climb([rung for rung in setting.rungs if rung.name in wanted])
        if options.plot:
            plot(figures, options.plot)
    except (OSError, ValueError, Disagreement) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if options.json:
        print(
            json.dumps(
                {
                    "text": options.text.name,
                    "bytes": len(ladder.text),
                    "setting": options.setting,
                    "vocab_size": vocab_size,
                    "ties": setting.ties,
                    "rungs": [
                        figure._asdict() | {"is_extrapolated": figure.n_merges < figure.n_wanted}
                        for figure in figures
                    ],
                }
            )
        )
        return 0
    print(
        f"{options.text.name}: {len(ladder.text):,} bytes, vocabulary {vocab_size:,}, ties {setting.ties}\n"
    )
    print(table(figures))
    if any(figure.n_merges < figure.n_wanted for figure in figures):
        print(
            f"\n~ did not end in {options.budget:g} s: the time of its other merges is estimated from single "
            "merges at later points."
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(importlib.import_module("bpe")))
