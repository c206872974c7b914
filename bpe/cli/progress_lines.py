"""Progress of a command: a bar on a terminal, lines in a log."""

from __future__ import annotations

import sys
import time

import click

from bpe.cli.app import human
from bpe.support.progress import Progress

EVERY = 10.0  # seconds


class Lines:
    """Prints a line every ten seconds, as ``progress(done, total)`` is called."""

    def __init__(self, label: str, unit: str) -> None:
        self._label, self._unit = label, unit
        self._started = self._said = time.monotonic()

    def __call__(self, done: int, total: int | None) -> None:
        """Print a line, if it is time."""
        now = time.monotonic()
        if now - self._said >= EVERY:
            self._said = now
            click.echo(self.line(done, total, now - self._started), err=True)

    def line(self, done: int, total: int | None, seconds: float) -> str:
        """Return what is printed."""
        unit = "B" if self._unit == "B" else ""
        text = f"{self._label}: {human(done, unit)}"
        if total:
            text += f" of {human(total, unit)} ({100 * done // total} %)"
        return f"{text}{'' if unit else ' ' + self._unit}, {seconds:.0f} s"


def progress_of(label: str, unit: str, *, quiet: bool, lines: bool) -> Progress:
    """Return what shows the progress of a part of a command."""
    if quiet and lines:
        raise click.UsageError("--quiet and --progress cannot be given together")
    if lines and not sys.stderr.isatty():
        return Lines(label, unit)
    return not quiet
