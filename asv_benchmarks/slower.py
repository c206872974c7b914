"""Say whether a change makes something slower, or larger.

    python asv_benchmarks/slower.py [BASE [CHANGED]] [--bench EXPRESSION] [--factor 1.25] [--seconds 2]

Takes both commits, by default the last one and the one before, out of git, and starts a process with each.
The benchmarks are those of this folder, whatever the commits have. A benchmark is run by both in turns, some
tenths of a second apart, so that both see the machine in the same moods, and measured in processor time, so
that waiting for other programs does not count; the least time of each is kept, as what disturbs a run only
lengthens it. Where that looks slower by more than the factor, it is measured twice more, in new processes and
for longer: only what is slower every time is called slower. Figures of memory count in the same way.

The last line is the geometric mean of how many times as fast the second commit is, over all benchmarks. The
exit code is 0 where nothing is slower; 1 where something is, or the mean is below 0.98; 2 where nothing could
be compared. What fails in BASE, because a function is missing for instance, is listed and not compared; what
fails in CHANGED alone counts as slower. Both run with the packages that are installed here, and have compiled
code of their own; their sources stay in ``env/sources``, for the next time.

The factor is 1.25: with four times as many programs as processors, benchmarks of the same code differed by up
to 1.10; merging that was made to do half as much again, by 1.2 to 1.6. ``--bench`` takes a regular
expression, as in ``--bench 'training|encoding'``: ten benchmarks take a minute or two, all of them a quarter
of an hour or more. The history of all figures, and the peak of memory, are for ``asv run``.
"""

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

FOLDER = Path(__file__).resolve().parent
FACTOR = 1.25
LEAST_MEAN = 0.98
SECONDS = 2.0  # of one benchmark, both commits together
LEAST_ROUNDS, MOST_ROUNDS = 8, 60
LOOKS = 3  # at what looks slower
# The digests say nothing of speed, the ratios the same as the times, with more noise.
LEFT_OUT = re.compile(r"^sources\.|track_ratio|peakmem_|NeverCompiled")


# --------------------------------------------------------------------------------------- a commit's process
def serve():
    """Run benchmarks as asked for, a line of JSON for each: the part of the processes with the commits."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a benchmark prints is no answer
    from asv_runner._aux import update_sys_path
    from asv_runner.discovery import disc_benchmarks, get_benchmark_from_name

    root = str(FOLDER / "benchmarks")
    once = {"repeat": 1, "rounds": 1, "warmup_time": 0, "min_run_count": 1, "timer": process_time}
    caches, made = {}, {}
    for line in sys.stdin:
        wanted = json.loads(line)
        try:
            if wanted is None:
                update_sys_path(root)
                answer = [name for one in disc_benchmarks(root) for name in names_of(one)]
            else:
                if wanted not in made:
                    made.clear()
                    made[wanted] = benchmark = get_benchmark_from_name(root, wanted, once)
                    key = benchmark.setup_cache_key
                    if key is not None and key not in caches:
                        caches[key] = benchmark.do_setup_cache()
                    benchmark.set_cache(caches.get(key))
                    benchmark.do_setup()
                answer = value_of(made[wanted].do_run())
        except Exception as error:
            made.clear()
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers)


def names_of(benchmark):
    """Return the name of a benchmark, or one for each combination of its parameters."""
    n = math.prod(len(values) for values in benchmark._params)
    return [f"{benchmark.name}-{i}" for i in range(n)] if benchmark._params else [benchmark.name]


def value_of(result):
    return result["samples"][0] / result["number"] if isinstance(result, dict) else float(result)


class Commit:
    """A process that has the sources of one commit."""

    def __init__(self, sources):
        self.sources = sources
        self.start()

    def start(self):
        """Start a process; what another one has compiled for these sources is there for it."""
        paths = os.pathsep.join([str(self.sources), os.environ.get("PYTHONPATH", "")])
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=self.sources,
            env={**os.environ, "PYTHONPATH": paths},
        )

    def stop(self):
        self.process.communicate()

    def ask(self, wanted):
        """Return the figure of a run, or a dict with an error; None asks for the names of all benchmarks."""
        try:
            print(json.dumps(wanted), file=self.process.stdin, flush=True)
            return json.loads(self.process.stdout.readline())
        except (BrokenPipeError, json.JSONDecodeError):
            self.stop()
            self.start()
            return {"error": "its process has died"}


# ---------------------------------------------------------------------------------------------- comparison
def least_times(wanted, commits, seconds):
    """Return the least figure of each commit, measured in turns; an error in place of one that has failed."""
    least = [math.inf, math.inf]
    start, n = perf_counter(), 0
    while n < LEAST_ROUNDS or (n < MOST_ROUNDS and perf_counter() - start < seconds):
        for which in (0, 1) if n % 2 else (1, 0):
            answer = commits[which].ask(wanted)
            if isinstance(answer, dict):
                least[which] = answer["error"]
            elif not isinstance(least[which], str):
                least[which] = min(least[which], answer)
        if any(isinstance(one, str) for one in least):
            break
        n += 1
    return least


def compare(wanted, commits, factor, seconds):
    """Return the figures of both commits, and whether the second is slower: at every look."""
    for look in range(LOOKS):
        if look:
            for commit in commits:
                commit.stop()
                commit.start()
        base, changed = least_times(wanted, commits, seconds * (look + 1))
        if isinstance(base, str) or isinstance(changed, str):
            return base, changed, isinstance(changed, str) and not isinstance(base, str)
        if changed <= base * factor:
            return base, changed, False
    return base, changed, True


def git(*arguments):
    """Return what git writes to stdout."""
    return subprocess.run(
        ["git", "-C", str(FOLDER.parent), *arguments], check=True, stdout=subprocess.PIPE
    ).stdout


def sources_of(commit):
    """Return the folder with the sources of a commit: kept, as numba goes by the path of a source."""
    name = git("rev-parse", "--verify", f"{commit}^{{commit}}").decode().strip()
    folder = FOLDER / "env" / "sources" / name
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            subprocess.run(["tar", "-x", "-C", scratch], input=git("archive", name), check=True)
            Path(scratch).rename(folder)
            Path(scratch).mkdir()
    return folder


def shown(value):
    return value if isinstance(value, str) else f"{value:.4g}"


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Say whether a change makes something slower.")
    parser.add_argument("base", nargs="?", default="HEAD~1", help="the commit to compare with")
    parser.add_argument("changed", nargs="?", default="HEAD", help="the commit that may be slower")
    parser.add_argument("--bench", default="", metavar="EXPRESSION", help="these only")
    parser.add_argument("--factor", type=float, default=FACTOR, help="what counts as slower")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of a benchmark")
    options = parser.parse_args(arguments)
    if options.factor <= 1:
        parser.error(f"a factor of {options.factor:g} would call equal times slower: give more than 1")
    try:
        folders = [sources_of(options.base), sources_of(options.changed)]
    except subprocess.CalledProcessError:
        return 2  # git has said why
    commits = [Commit(folder) for folder in folders]
    try:
        return report(commits, options)
    finally:
        for commit in commits:
            commit.stop()


def report(commits, options):
    """Compare all benchmarks that are asked for; print a line for each, and return the exit code."""
    names = commits[1].ask(None)
    names = [name for name in names if not LEFT_OUT.search(name) and re.search(options.bench, name)]
    speeds, slower = [], []
    for name in names:
        base, changed, is_slower = compare(name, commits, options.factor, options.seconds)
        is_compared = not isinstance(base, str) and not isinstance(changed, str)
        ratio = "-"
        if is_compared and base and changed:
            speeds.append(base / changed)
            ratio = f"{changed / base:.2f}"
        line = f"{ratio:>6}  {shown(base):>9}  {shown(changed):>9}  {name}"
        print(f"{line}{'  SLOWER' if is_slower else ''}", flush=True)
        if is_slower:
            slower.append(line)
    print("\n" + "\n".join([f"{len(slower)} of {len(names)} are slower", *slower]))
    mean = math.exp(sum(map(math.log, speeds)) / len(speeds)) if speeds else 1.0
    print(f"geometric mean of {len(speeds)}: {mean:.3f} times as fast")
    if slower or mean < LEAST_MEAN:
        return 1
    return 0 if speeds else 2


if __name__ == "__main__":
    sys.exit(serve() if sys.argv[1:] == ["--serve"] else main())
