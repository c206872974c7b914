"""The command line: ``bpe train``, ``bpe encode``, ``bpe show`` and more.

An error is one line on stderr, with exit code 2; this includes a result that cannot be written. A warning
is one line on stderr. Only results are written to stdout. Ctrl-C ends a command with exit code 130: at once,
or when the function that is being compiled is ready.
"""

import sys

try:
    from bpe.cli import bench, change, encode, files, report, show, train, warmup
    from bpe.cli.app import main
except KeyboardInterrupt:  # before the handler of the commands is there
    sys.stderr.write("bpe: interrupted\n")
    sys.exit(130)

__all__ = ["bench", "change", "encode", "files", "main", "report", "show", "train", "warmup"]
