"""How pictures are drawn: readable on white and on black, and from the same figures the same file."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from bpe.support.files import atomic_write

GREY = "#7b7b7b"  # has the same contrast to white as to black
COLOURS = ("#2f86d6", "#e07b27", "#2c9c5c", "#b467c9")
SETTINGS = {
    "svg.fonttype": "none",  # text stays text: small, and in the reader's font
    "svg.hashsalt": "bpe-structures",  # else names in the file are random
    "font.family": "sans-serif",
    "font.size": 10,
    **{f"{each}.color": GREY for each in ("text", "xtick", "ytick", "grid")},
    **{f"axes.{each}color": GREY for each in ("edge", "label", "title")},
    "axes.prop_cycle": matplotlib.cycler(color=COLOURS),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11,
    "legend.frameon": False,
    "legend.labelcolor": GREY,
    "grid.alpha": 0.3,
}


def canvas(width: float, height: float) -> tuple[Figure, Any]:
    """Return a figure of so many inches, and its axes."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def write(figure: Figure, path: Path) -> None:
    """Write an SVG file with a transparent background, and without the date."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format="svg", transparent=True, metadata={"Date": None})
    lines = drawn.getvalue().decode().splitlines()
    atomic_write(path, "".join(f"{line.rstrip()}\n" for line in lines).encode())
