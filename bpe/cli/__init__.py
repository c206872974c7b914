"""The command line: ``bpe train``, ``bpe encode``, ``bpe show`` and more.

An error is one line on stderr, with exit code 2, even if only the result cannot be written. A warning is one
line on stderr. Only results are written to stdout. Ctrl-C ends a command with exit code 130: at once, or
after the function that is being compiled.
"""

import sys

try:
    from bpe.cli import bench, change, count, encode, files, report, show, train, warmup
    from bpe.cli.app import main
except KeyboardInterrupt:  # before the handler of the commands is installed
    sys.stderr.write("bpe: interrupted\n")
    sys.exit(130)

__all__ = ["bench", "change", "count", "encode", "files", "main", "report", "show", "train", "warmup"]
