"""The program ``bpe``, also as ``python -m bpe`` and ``python -m bpe.cli``."""

import contextlib
import os
import sys

from bpe.cli import main
from bpe.cli.app import EXIT_INTERRUPTED


def run() -> None:
    """Run the command; after an interrupt, exit at once, without waiting for threads."""
    try:
        main(prog_name="bpe")
    except SystemExit as end:
        if end.code == EXIT_INTERRUPTED:
            with contextlib.suppress(OSError):
                sys.stdout.flush()
            os._exit(EXIT_INTERRUPTED)
        raise


if __name__ == "__main__":
    run()
