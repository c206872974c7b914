"""Progress of a command and of the compiler, and times with and without compiling.

The first use of a function compiles it; later processes load it from a cache on disk. Numba reports the start
and the end of each compilation as events, which may come from any thread and may be nested. The compile time
is the time in which at least one compilation is running.

A line says that something is being compiled; the environment variable ``BPE_SAY_COMPILING=0`` turns it off.
The progress of a command is a bar on a terminal, and lines in a log.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import click

from bpe.support.progress import Progress

EVERY = 10.0  # seconds


class Lines:
    """A progress function ``progress(done, total)`` that prints a line every ten seconds."""

    def __init__(self, label: str, unit: str) -> None:
        self._label, self._unit = label, unit
        self._started = self._said = time.monotonic()

    def __call__(self, done: int, total: int | None) -> None:
        """Print a line if ten seconds have passed."""
        now = time.monotonic()
        if now - self._said >= EVERY:
            self._said = now
            click.echo(self.line(done, total, now - self._started), err=True)

    def line(self, done: int, total: int | None, seconds: float) -> str:
        """Return the line."""
        unit = "B" if self._unit == "B" else ""
        text = f"{self._label}: {human(done, unit)}"
        if total:
            text += f" of {human(total, unit)} ({100 * done // total} %)"
        return f"{text}{'' if unit else ' ' + self._unit}, {seconds:.0f} s"


def progress_of(label: str, unit: str, *, quiet: bool, lines: bool) -> Progress:
    """Return how the progress of a part of a command is shown: as a bar, as lines, or not at all."""
    if quiet and lines:
        raise click.UsageError("--quiet and --progress cannot be given together")
    if lines and not sys.stderr.isatty():
        return Lines(label, unit)
    return not quiet


SAID_AFTER = 0.3  # seconds of compiling
LINE = "bpe: compiling {}, once; some {} s"
PARTS = {
    "bpe.splitting": ("the splitting of text", 5),
    "bpe.counting": ("the counting", 5),
    "bpe.training": ("the trainer", 10),
    "bpe.superwords": ("the superwords", 5),
    "bpe.encoding": ("the encoder", 10),
}
"""By package: its name in the line, and the seconds to compile it on one core. Other packages take less."""
EVENTS = "numba.core.event"
KIND = "numba:compile"


class Watch:
    """The time in which something is being compiled, in any thread."""

    def __init__(self, *, is_quiet: bool) -> None:
        self._lock = threading.Lock()
        self._n_open = 0
        self._since = self._before = 0.0
        self._seconds_of = dict.fromkeys(PARTS, 0.0)
        self._part = ""  # the package that is being compiled
        self._timer: threading.Timer | None = None
        self._said: set[str] = {*PARTS} if is_quiet else set()

    @property
    def seconds(self) -> float:
        """Seconds of compiling so far."""
        with self._lock:
            return self._before + (time.perf_counter() - self._since if self._n_open else 0.0)

    def begin(self, module: str = "") -> None:
        """Record that the compilation of a function of a module begins."""
        with self._lock:
            self._n_open += 1
            if self._n_open > 1:
                return
            self._since = time.perf_counter()
            self._part = ".".join(module.split(".")[:2])
            if self._part in self._seconds_of.keys() - self._said:
                wait = max(SAID_AFTER - self._seconds_of[self._part], 0.0)
                self._timer = threading.Timer(wait, self._say, [self._part])
                self._timer.daemon = True
                self._timer.start()

    def end(self) -> None:
        """Record that a compilation ends."""
        with self._lock:
            self._n_open -= 1
            if self._n_open:
                return
            seconds = time.perf_counter() - self._since
            self._before += seconds
            if self._part in self._seconds_of:
                self._seconds_of[self._part] += seconds
            if self._timer:
                self._timer.cancel()
                self._timer = None

    def _say(self, part: str) -> None:
        with self._lock:
            if part in self._said or not self._n_open:
                return
            self._said.add(part)
        with suppress(OSError, ValueError):  # a standard error that is full or closed
            click.echo(LINE.format(*PARTS[part]), err=True)


_watches: list[Watch] = []  # of running commands, the innermost last


@contextmanager
def watching_compiler(*, is_quiet: bool) -> Iterator[Watch]:
    """Watch the compiler from the moment it is loaded; this does not load it."""
    watch = Watch(is_quiet=is_quiet or os.environ.get("BPE_SAY_COMPILING") == "0")
    finder = _Finder(watch)
    _watches.append(watch)
    if EVENTS in sys.modules:
        finder.listen(sys.modules[EVENTS])
    else:
        sys.meta_path.insert(0, finder)
    try:
        yield watch
    finally:
        finder.leave()
        _watches.remove(watch)


class _Finder(importlib.abc.MetaPathFinder):
    """Registers a listener as soon as numba's events are imported."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._listener: Any = None

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != EVENTS:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def executed(module: ModuleType) -> None:
                execute(module)
                self.listen(module)

            spec.loader.exec_module = executed  # type: ignore[method-assign]
        return spec

    def listen(self, events: Any) -> None:
        watch = self._watch

        class Listener(events.Listener):  # type: ignore[misc]
            def on_start(self, event: Any) -> None:
                watch.begin(event.data["dispatcher"].py_func.__module__)

            def on_end(self, event: Any) -> None:
                watch.end()

        self._listener = Listener()
        events.register(KIND, self._listener)

    def leave(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        if self._listener is not None:
            sys.modules[EVENTS].unregister(KIND, self._listener)


class Stopwatch:
    """The time since its construction, with and without compiling."""

    def __init__(self) -> None:
        self._watch = _watches[-1] if _watches else Watch(is_quiet=True)
        self._started, self._compiled = time.perf_counter(), self._watch.seconds

    @property
    def compiling_seconds(self) -> float:
        """Seconds in which something was compiled."""
        return self._watch.seconds - self._compiled

    @property
    def seconds(self) -> float:
        """Seconds in which nothing was compiled; never 0, so that rates can be computed."""
        return max(time.perf_counter() - self._started - self.compiling_seconds, 1e-3)

    def to_json(self) -> dict[str, float]:
        """Return both times for a JSON summary."""
        return {
            "seconds": round(self.seconds, 3),
            "compiling_seconds": round(self.compiling_seconds, 3),
        }


def human(number: float, unit: str = "") -> str:
    """Return a number with three significant digits, such as 27.1 million, or 114 MB."""
    for power, word, letter in ((9, "billion", "G"), (6, "million", "M"), (3, "thousand", "k")):
        value = number / 10**power
        if float(f"{value:.3g}") >= 1:
            digits = f"{value:.0f}" if value >= 100 else f"{value:.3g}"
            return f"{digits} {letter}{unit}" if unit else f"{digits} {word}"
    return f"{number:.0f} {unit}".rstrip()
