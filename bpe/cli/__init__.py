"""The command line: ``bpe train``, ``bpe encode``, ``bpe show`` and more.

An error is one line on stderr, with exit code 2; also where a result cannot be written. An interrupt has exit
code 130, and comes at once, or after what is being compiled. A warning is one line on stderr. Only results
are written to stdout.
"""

import sys

try:
    from bpe.cli import audits, change, coding, files, reporting, show, speed, train, train_parity, warmup
    from bpe.cli.app import main
except KeyboardInterrupt:  # before there is a command that could tell
    sys.stderr.write("bpe: interrupted\n")
    sys.exit(130)

__all__ = [
    "audits",
    "change",
    "coding",
    "files",
    "main",
    "reporting",
    "show",
    "speed",
    "train",
    "train_parity",
    "warmup",
]
