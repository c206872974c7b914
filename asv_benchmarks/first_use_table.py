"""Measure what the first use of a container, or first steps with a tokenizer, take; print a Markdown table.

    python asv_benchmarks/first_use_table.py [RANK_FILE PATTERN] [--small]

Without a file, containers are used: a first use makes one, puts something in, and reads or takes it; another
row has up to ten verbs. Each is the whole of a process, the start of Python included: seconds of processor
time, the best of some rounds, and megabytes of memory at its end (Linux only). *Never compiled* starts with
an empty folder for compiled code, as the first process after an installation does. *Warm* loads what an
earlier process has left. The first row is what numba takes by itself, to call a function of one line.
"""

from __future__ import annotations

import atexit
import functools
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import click
from measuring import ROOT, small_option

ONE_LINE = """
from numba import njit

@njit(cache=True)
def f(x):
    return x + 1
"""
NUMBA = {"numba by itself": "import one_line; one_line.f(1)"}

KEYED = "; c[8] = 3; c.get(7); len(c); c.add_many([7, 9], [1, 2]); c.to_arrays()"
COUNTED = f"{KEYED}; c.sub(7); c.peek()"
USES = {  # what a first program does, and what a longer one does, too
    "IntMap": ("IntMap(); c.add(7, 2); c.get(7)", KEYED),
    "IntSet": ("IntSet(); c.add(7); 7 in c", "; c.discard(7); len(c); c.to_arrays()"),
    "Deque": ("Deque(); c.append(7); c.popleft()", "; c.appendleft(8); c[0]; c.extend([1, 2]); c.to_array()"),
    "DisjointSets": ("DisjointSets(9); c.union(3, 5); c.find(5)", "; c.add(); c.labels()"),
    "Heap": (
        "Heap(); c.push(7, 2); c.pop()",
        "; c.push(8, 3); c.replace(5, 1); len(c); c.to_arrays()",
    ),
    "MaxHeap": ("MaxHeap(); c.add(7, 2); c.pop()", COUNTED),
    "MinHeap(float)": ("MinHeap(float); c.add(7, 2); c.pop()", COUNTED),
    "CountBuckets": ("CountBuckets(); c.add(7, 2); c.pop()", f"{COUNTED}; c.peek_min()"),
    "IndexedMinHeap": ("IndexedMinHeap(10); c.add(7, 2); c.pop()", COUNTED),
    "SortedMap": ("SortedMap(); c.add(7, 2); c.floor(9)", f"{KEYED}; c.rank(8); c.select(0)"),
    "KBest": ("KBest(9, 3); c.push(1, 0.5, 7); c.row(1)", "; c.to_arrays()"),
    "ByteCounter": ("ByteCounter(); c.add_many([b'a', b'b']); c[b'a']", "; c.most_common(1)"),
    "TokenList": ("TokenList([1, 2, 1, 2]); c.merge(0, 3)", "; list(c)"),
    "PairIndex": ("PairIndex.build(st.TokenList([1, 2, 1, 2]))", "; c.postings(1, 2)"),
}
TYPED_DICT = "import numba; d = numba.typed.Dict.empty(numba.int64, numba.int64); d[7] = 1; d[7]; d.pop(7)"
KERNEL = "from dijkstra import shortest_paths; shortest_paths([[1.0, 9.0, 1.0], [1.0, 1.0, 1.0]], (0, 0))"

OPEN = "import bpe; tok = bpe.Tokenizer.load({path!r}, pattern={pattern!r}, special_tokens={{}})"
PROSE = "' '.join(f'The sea was calm, and {{i}} of {{i * 7919 %% 4001}} men slept.' for i in range(%d))"
STEPS = {
    "a rank file opened": OPEN,
    "... and a short text encoded": f"{OPEN}; tok.encode('The sea was calm.')",
    "... and 100 kB encoded": f"{OPEN}; tok.encode({PROSE % 2_200})",
    "... and 2 MB encoded": f"{OPEN}; tok.encode({PROSE % 45_000})",
    "a tokenizer trained on 100 kB": f"import bpe; bpe.train([{PROSE % 2_200}], 2_000)",
    "a tokenizer trained on 2 MB": f"import bpe; bpe.train([{PROSE % 45_000}], 2_000)",
}
MEMORY = "; print(int(open('/proc/self/statm').read().split()[1]) * 4096 / 1e6)"


@functools.cache
def bytecode_folder() -> str:
    """Return a folder for the bytecode of all measured processes: an installation keeps it, too."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    return folder


def run(code: str, cache: str) -> tuple[float, float]:
    """Run Python; return the processor time, and the memory in megabytes."""
    Path(cache, "one_line.py").write_text(ONE_LINE)
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": cache,
        "PYTHONPATH": os.pathsep.join([cache, str(ROOT), str(ROOT / "tests" / "examples")]),
        "PYTHONPYCACHEPREFIX": bytecode_folder(),
        "PYTHONDONTWRITEBYTECODE": "",
    }
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", code + MEMORY], env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, float(done.stdout)


def row_of(name: str, code: str, n_rounds: int) -> str:
    """Measure a use in processes of its own; return a row of the table."""
    never, warm = [], []
    for _ in range(n_rounds):
        with tempfile.TemporaryDirectory() as cache:
            never.append(run(code, cache)[0])
            warm += [run(code, cache) for _ in range(n_rounds + 1)]
    seconds, memory = map(min, zip(*warm, strict=True))
    return f"| {name} | {min(never):.2f} | {seconds:.2f} | {memory:.0f} |"


def uses_of_containers() -> dict[str, str]:
    uses = {}
    for name, (first, more) in USES.items():
        uses[name] = f"import structures as st; c = st.{first}"
        uses[f"{name}, more verbs"] = uses[name] + more
    return uses | {"numba.typed.Dict": TYPED_DICT, "tests/examples/dijkstra.py": KERNEL}


@click.command()
@click.argument("path", metavar="[RANK_FILE]", required=False)
@click.argument("pattern", required=False)
@small_option
def main(path: str | None, pattern: str | None, small: bool) -> None:
    """Print a row for each use; with --small, of one container, or of the longest steps, in one round."""
    uses = uses_of_containers()
    if path:
        uses = {name: step.format(path=path, pattern=pattern) for name, step in STEPS.items()}
    if small:
        uses = {name: use for name, use in uses.items() if name == "IntMap" or "2 MB" in name}
    click.echo("| | never compiled, s | warm, s | memory, MB |\n|---|---|---|---|")
    for name, code in (NUMBA | uses).items():
        click.echo(row_of(name, code, 1 if small else 2))


if __name__ == "__main__":
    main()
