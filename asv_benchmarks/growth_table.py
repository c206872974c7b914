"""Measure what growth takes: the longest call, and the memory that is left, on the way to ten million keys.

    python asv_benchmarks/growth_table.py [--small] [--keys 10000000]

Keys are added 64 at a time by compiled code. The longest of these steps stands for the longest call: the
other keys of a step take some microseconds. It is processor time, with that of the system, of the best of
three rounds. *Needed* is the memory of an empty container with room for all keys; *left* is what the process
has more than before, after growth, and how many times that is.

Each row is measured in a process of its own. The memory of a process is read where Linux tells it.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

STEP = 64
CONTAINERS = {"IntMap": "IntMap", "MaxHeap": "MaxHeap", "MinHeap, fifo": "MinHeap"}


def memory():
    """Return the bytes of memory that this process has, 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def grown(make, keys, set_all):
    """Return the longest step in seconds, and the bytes that a container of all keys has left."""
    before, longest = memory(), 0.0
    container = make()
    for start in range(0, keys.size, STEP):
        step = keys[start : start + STEP]
        begin = time.thread_time_ns()
        set_all(container, step)
        longest = max(longest, time.thread_time_ns() - begin)
    return longest * 1e-9, memory() - before


def measure(name, n):
    """Return the longest step, the bytes that are needed, and those that are left."""
    # Before numba: `benchmarks` tells it where to keep compiled code.
    import benchmarks._common  # noqa: F401

    # isort: split
    import numpy as np
    from numba import njit

    import structures as st

    @njit
    def set_all(container, keys):
        for i in range(keys.size):
            container.set(keys[i], i)

    cls = getattr(st, CONTAINERS[name])
    options = {"ties": "fifo"} if "fifo" in name else {}
    keys = np.random.default_rng(1).permutation(n) * np.int64(7919)
    grown(lambda: cls(**options), keys[: min(n, 1_000_000)], set_all)  # compiles
    rounds = [grown(lambda: cls(**options), keys, set_all) for _ in range(3)]
    with_room = cls(**options)
    with_room.reserve(n)
    return min(longest for longest, _ in rounds), with_room.nbytes, rounds[0][1]


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--small", action="store_true", help="few keys, to see that it runs")
    parser.add_argument("--keys", type=int, default=10_000_000)
    parser.add_argument("--row", choices=CONTAINERS, help=argparse.SUPPRESS)  # one row, in this process
    options = parser.parse_args(arguments)
    n = 1000 if options.small else options.keys
    if options.row:
        print(json.dumps(measure(options.row, n)))
        return
    print(f"load {os.getloadavg()[0]:.1f} at the start; {n:,} keys:\n")
    print("| container | longest call, s | needed, MB | left, MB | times |\n|---|---|---|---|---|")
    for name in CONTAINERS:
        command = [sys.executable, __file__, "--row", name, "--keys", str(n)]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        longest, needed, left = json.loads(output)
        cells = f"{longest:.3f} | {needed / 1e6:.1f} | {left / 1e6:.1f} | {left / needed:.2f}"
        print(f"| {name} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
