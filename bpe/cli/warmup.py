"""``bpe warmup``: compile everything in advance."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

import click

from bpe.cli.app import main, warn
from bpe.first_use import use_encoding, use_training

HELPER = "from bpe.first_use import use_encoding; use_encoding()"


@main.command()
def warmup() -> None:
    """Compile everything once, for all later runs.

    Run it while a container image is built. The compiled code is kept on disk, in __pycache__ beside
    the sources or in the folder that NUMBA_CACHE_DIR names. Every later process loads it, and
    compiles nothing. With two processor cores, two processes compile.

    \b
    Example:
      bpe warmup
    """  # noqa: D301
    from bpe.support.threads import n_threads

    started = time.perf_counter()
    if n_threads(None) > 1:
        _use_both()
    else:
        use_training()
        use_encoding()
    click.echo(f"compiled, or loaded, in {time.perf_counter() - started:.1f} s", err=True)


def _use_both() -> None:
    """Compile training in this process and encoding in another one; both here if that process fails."""
    with tempfile.TemporaryFile() as messages:
        helper = subprocess.Popen(
            [sys.executable, "-c", HELPER],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=messages,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # Ctrl-C interrupts only this process
        )
        try:
            use_training()
            code = helper.wait()
        finally:
            helper.kill()
            helper.wait()
        messages.seek(0)
        lines = messages.read().decode(errors="replace").split("\n")
    if code:
        reason = next(filter(None, reversed(lines)), f"it ended with code {code}")
        warn(f"the second process failed, so the first does its work: {reason}")
        use_encoding()
