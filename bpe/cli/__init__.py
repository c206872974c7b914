"""The command line: ``bpe train``, ``bpe encode``, ``bpe show`` and the others, a module for a few of them.

What is wrong with the input ends in one line on stderr and exit code 2, an interrupt in exit code 130.
Warnings are a line each. Only results go to stdout.
"""

from bpe.cli import coding, files, reporting, show, speed, train
from bpe.cli.app import main

__all__ = ["coding", "files", "main", "reporting", "show", "speed", "train"]
