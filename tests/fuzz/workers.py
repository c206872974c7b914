"""Worker processes that run cases, one after the other.

A case is a kind, a seed and a number; :func:`outcome` runs one here. A worker that crashes, or takes too
long, is killed and replaced, and its case has failed. Memory is limited, too: what needs too much is a
MemoryError, which no case expects.
"""

from __future__ import annotations

import faulthandler
import importlib
import multiprocessing
import random
import signal
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import Any, NamedTuple

SECONDS = 60.0
"""What a case may take. One that takes longer is run once more: it may have compiled."""

BYTES = 4 << 30
"""How much address space a worker may take, beside what it has at its start."""

_NOTES = 12  # the last lines that a case has said about itself


class Case(NamedTuple):
    """What is needed to run a case again.

    Attributes
    ----------
    kind : str
        The module of this package that has the function ``run(chance, note)``.
    seed, number : int
    """

    kind: str
    seed: int
    number: int


def outcome(case: Case) -> str:
    """Run a case in this process; return what is wrong, or an empty text.

    ``chance`` is a ``random.Random``; ``note(text)`` says what the case is about to do.
    """
    run = importlib.import_module(f"tests.fuzz.{case.kind}").run
    notes: list[str] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run(random.Random(f"{case.seed} {case.number}"), notes.append)
    except BaseException as error:
        told = "".join(traceback.format_exception(error)).strip()
        return "\n".join([*(f"  {note[:2000]}" for note in notes[-_NOTES:]), told])
    return ""


def _serve(pipe: Any, log: Path, n_bytes: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command ends its workers
    with open(log, "w") as file:
        faulthandler.enable(file)
        _limit_memory(n_bytes)
        while True:
            case, seconds = pipe.recv()
            faulthandler.dump_traceback_later(seconds, file=file)
            told = outcome(case)
            faulthandler.cancel_dump_traceback_later()
            pipe.send(told)


def _limit_memory(n_bytes: int) -> None:
    if sys.platform == "linux":  # elsewhere the limit does not hold, or nothing tells what is in use
        import resource

        n_pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = n_pages * resource.getpagesize() + n_bytes
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


class Worker:
    """A process that runs cases; it is started when it is needed.

    Parameters
    ----------
    n_bytes : int
        As :data:`BYTES`.
    """

    def __init__(self, n_bytes: int = BYTES) -> None:
        self._n_bytes = n_bytes
        self._folder = tempfile.TemporaryDirectory()
        self._log = Path(self._folder.name, "log")
        self._process: Any = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        self._folder.cleanup()

    def run(self, case: Case, seconds: float = SECONDS, tries: int = 2) -> str:
        """Run a case; return what is wrong, or an empty text."""
        if self._process is None:
            self._start()
        self._pipe.send((case, seconds))
        is_slow = not self._pipe.poll(seconds + 2)  # time to write down where it is
        try:
            told = None if is_slow else self._pipe.recv()
        except EOFError:
            told = None
        if told is not None:
            return told
        if not is_slow:
            self._process.join()  # for its exit code
        what = f"took more than {seconds:g} s" if is_slow else f"crashed: exit code {self._process.exitcode}"
        self._stop()
        if is_slow and tries > 1:
            return self.run(case, seconds, tries - 1)
        return f"{what}\n{self._log.read_text(errors='replace').strip()}"

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._log, self._n_bytes), daemon=True)
        self._process.start()
        theirs.close()

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None
