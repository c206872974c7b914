"""Measure what the first use of a container takes, and print a Markdown table.

    python asv_benchmarks/first_use_table.py [--small]

A first use makes a container, puts something in, and reads or takes it; the other columns are of up to ten
verbs. Each is the whole of a process, in seconds of processor time, the best of some rounds. *Never compiled*
starts with an empty folder for compiled code, as the first process after an installation does. *Warm* loads
what an earlier process has left. From both is taken what numba needs by itself: the time of a process that
imports it and calls a function of one line from the cache, for which numba loads most of its modules. The
bytecode of Python is kept, as an installation does.
``--small`` makes one round of one first use: to see that it runs, not for the figures.

The last line is the time that an empty heap takes inside ``@njit``, from its making to its release.
"""

import argparse
import atexit
import functools
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
KEYED = "; c[8] = 3; c.get(7); len(c); c.update_many([7, 9], [1, 2]); c.to_arrays()"
COUNTED = f"{KEYED}; c.sub(7); c.peek()"
MADE = "import structures as st; c = st."
USES = {  # what a first program does, and what a longer one does, too
    "IntMap": ("IntMap(); c.add(7, 2); c.get(7)", KEYED),
    "IntSet": ("IntSet(); c.add(7); 7 in c", "; c.discard(7); len(c); c.to_arrays()"),
    "MaxHeap": ("MaxHeap(); c.add(7, 2); c.pop()", COUNTED),
    "MinHeap(float)": ("MinHeap(float); c.add(7, 2); c.pop()", COUNTED),
    "CountBuckets": ("CountBuckets(); c.add(7, 2); c.pop()", f"{COUNTED}; c.peek_min()"),
    "IndexedMinHeap": ("IndexedMinHeap(10); c.add(7, 2); c.pop()", COUNTED),
    "SortedMap": ("SortedMap(); c.add(7, 2); c.floor(9)", f"{KEYED}; c.rank(8); c.select(0)"),
    "KBest": ("KBest(9, 3); c.push(1, 0.5, 7); c.row(1)", "; c.to_arrays()"),
    "ByteCounter": ("ByteCounter(); c.update([b'a', b'b']); c[b'a']", "; c.most_common(1)"),
    "TokenList": ("TokenList([1, 2, 1, 2]); c.merge(0, 3)", "; list(c)"),
    "PairIndex": ("PairIndex.build(st.TokenList([1, 2, 1, 2]))", "; c.postings(1, 2)"),
}
KERNEL = "from dijkstra import shortest_paths; shortest_paths([[1.0, 9.0, 1.0], [1.0, 1.0, 1.0]], (0, 0))"
ONE_LINE = """
from numba import njit

@njit(cache=True)
def f(x):
    return x + 1
"""
EMPTY_HEAPS = """
import time
import numpy as np
import structures as st
from numba import njit

@njit
def many(n):
    total = 0
    for _ in range(n):
        heap = st.MinHeap(np.float64)
        total += len(heap)
    return total

many(1)
n = {n}
times = []
for _ in range(5):
    start = time.perf_counter()
    many(n)
    times.append(time.perf_counter() - start)
print(min(times) / n)
"""


def used():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@functools.cache
def bytecode_folder():
    """Return a folder for the bytecode of all measured processes."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    return folder


def run(code, cache):
    """Run Python; return its output, and the processor time."""
    paths = [cache, str(ROOT), str(ROOT / "tests" / "examples")]
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": cache,
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONPYCACHEPREFIX": bytecode_folder(),
        "PYTHONDONTWRITEBYTECODE": "",
    }
    start = used()
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout, used() - start


def best(code, cache, n_rounds):
    return min(run(code, cache)[1] for _ in range(n_rounds))


def never_compiled(code, n_rounds, base):
    """Return the seconds of a use with nothing compiled."""
    never = []
    for _ in range(n_rounds):
        with tempfile.TemporaryDirectory() as cache:
            never.append(run(code, cache)[1])
    return min(never) - base


def warm(code, n_rounds, base):
    """Return the seconds of a use with all of it on disk."""
    with tempfile.TemporaryDirectory() as cache:
        run(code, cache)
        return best(code, cache, 5 * n_rounds) - base


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--small", action="store_true")
    is_small = parser.parse_args(arguments).small
    n_rounds = 1 if is_small else 2
    uses = {"IntMap": (USES["IntMap"][0], None)} if is_small else USES
    with tempfile.TemporaryDirectory() as cache:
        Path(cache, "one_line.py").write_text(ONE_LINE)
        run("import one_line; one_line.f(1)", cache)
        base = best("import one_line; one_line.f(1)", cache, 5 * n_rounds)
        print(f"numba by itself takes {base:.2f} s.\n")
        print("| | never compiled, s | warm, s | more verbs, never compiled, s | warm, s |")
        print("|---|---|---|---|---|")
        for name, (first, more) in uses.items():
            codes = [MADE + first, MADE + first + more] if more else [MADE + first]
            cells = [
                f"{measure(code, n_rounds, base):.2f}" for code in codes for measure in (never_compiled, warm)
            ]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)
        if not is_small:
            cells = [f"{seconds(KERNEL, n_rounds, base):.2f}" for seconds in (never_compiled, warm)]
            print(f"| tests/examples/dijkstra.py | {' | '.join(cells)} | | |")
        output, _ = run(EMPTY_HEAPS.format(n=1000 if is_small else 1_000_000), cache)
        print(f"\nAn empty heap inside `@njit`: {float(output) * 1e9:.0f} ns.")


if __name__ == "__main__":
    main()
