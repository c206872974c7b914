"""Say whether a change makes something slower.

    python asv_benchmarks/slower.py [BASE [CHANGED]] [--bench EXPRESSION] [--factor 1.15]

Builds both commits, by default the last one and the one before, in environments of their own, measures them
in turns, round by round, so that both see the machine in the same moods, and prints what differs. The exit
code is 0 where nothing is slower; 1 where a benchmark is slower, or needs more memory, by more than the
factor and by more than its own noise (asv's test of the samples of both), and 1 too, with a message instead
of a table, where asv cannot measure.

The factor is 1.15: on a machine that does other things as well, two runs of one commit differ by up to a
tenth. A tighter one needs a quiet machine, and can be had with ``--cpu-affinity 0`` and the like: options
that are not named here go to ``asv continuous``. A whole run takes an hour or more; ``--bench`` takes a
regular expression, as in ``--bench 'training|encoding'``.

Not among the benchmarks are those that count as slower whatever changes: the digests of the sources.
"""

import argparse
import subprocess
import sys
from pathlib import Path

FACTOR = 1.15
ALL_BUT_DIGESTS = r"^(?!sources\.)"


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Say whether a change makes something slower.")
    parser.add_argument("base", nargs="?", default="HEAD~1", help="the commit to compare with")
    parser.add_argument("changed", nargs="?", default="HEAD", help="the commit that may be slower")
    parser.add_argument("--bench", default=ALL_BUT_DIGESTS, metavar="EXPRESSION", help="these only")
    parser.add_argument("--factor", type=float, default=FACTOR, help="what counts as slower")
    options, others = parser.parse_known_args(arguments)
    if options.factor <= 1:
        parser.error(f"a factor of {options.factor:g} would call equal times slower: give more than 1")
    folder = Path(__file__).parent
    asv = [sys.executable, "-m", "asv"]
    compare = [*asv, "continuous", "--interleave-rounds", "--factor", str(options.factor)]
    commits = [options.base, options.changed]
    # Without questions: the machine is what it says of itself.
    subprocess.run([*asv, "machine", "--yes"], cwd=folder, stdout=subprocess.DEVNULL, check=True)
    return subprocess.run([*compare, "--bench", options.bench, *others, *commits], cwd=folder).returncode


if __name__ == "__main__":
    sys.exit(main())
