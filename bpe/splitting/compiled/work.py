"""The work of compiling an expression: counted step by step, and ended at a limit."""

from bpe.splitting.compiled.syntax import UnsupportedError

MAX_STEPS = 1_500_000
"""Steps that the expressions of a pattern may take to compile. One is about a microsecond of work."""


class Work:
    """Counts steps; every stage of compiling adds its own.

    Steps are counted by the sizes of what is done, not by a clock: the same expression always takes as many.
    """

    def __init__(self, limit: int = MAX_STEPS) -> None:
        self.limit = limit
        self.done = 0

    def add(self, steps: int) -> None:
        """Add steps that are about to be taken."""
        self.done += steps
        if self.done > self.limit:
            raise UnsupportedError(f"it takes more than {self.limit} steps to compile")
