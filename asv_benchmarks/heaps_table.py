"""Push all, pop all: the heaps against numba's ``heapq`` of tuples, by size and by order of the counts.

    python asv_benchmarks/heaps_table.py [--small] [--largest 1000000]

Both sides are compiled. A heap can find, change and remove each of its keys; ``heapq`` cannot. Each row is
measured in one process, in turns, and of each side the best round counts.
"""

import argparse
import os

# Before numba: `benchmarks` tells it where to keep compiled code.
from benchmarks.containers import push_pop, push_pop_heapq
from containers_table import Side, compare, in_units, nothing

# isort: split
import numpy as np

from structures import MaxHeap, MinHeap

SIZES = 1000, 200_000, 1_000_000, 10_000_000


def orders(n):
    """Return arrays of counts, from 1 on, by what they are called; the least is first for a ``MinHeap``."""
    up = np.arange(1, n + 1)
    return {
        "random": np.random.default_rng(1).integers(1, n, n),
        "ascending": up,
        "descending": up[::-1].copy(),
        "all equal": np.ones(n, np.int64),
    }


def rows(n, seconds):
    keys = np.random.default_rng(2).permutation(n) * np.int64(7919)
    rounds = max(1, 10_000 // n)
    for name, counts in orders(n).items():
        for heap_class, sign in (MinHeap, -1), (MaxHeap, 1):

            def ours(heap, counts=counts):
                for _ in range(rounds):
                    result = push_pop(heap, keys, counts)
                return result

            def theirs(_, counts=sign * counts, sign=sign):  # ``push_pop_heapq`` takes the greatest first
                for _ in range(rounds):
                    popped, popped_counts = push_pop_heapq(keys, counts)
                return popped, sign * popped_counts

            yield compare(
                f"{n:,} {name}",
                Side(heap_class.__name__, ours, heap_class, rounds * n),
                Side("heapq", theirs, nothing, rounds * n),
                seconds,
            )


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="tiny sizes, to see that it runs")
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="leave out larger sizes")
    options = parser.parse_args(arguments)
    print(f"load {os.getloadavg()[0]:.1f} at the start; a push and a pop of one key:\n")
    print("| keys, counts | heap | ours | heapq | times as fast |\n|---|---|---|---|---|")
    for n in (50,) if options.small else [size for size in SIZES if size <= options.largest]:
        for row in rows(n, 0 if options.small else 6):
            times = f"{in_units(row.ours)} | {in_units(row.theirs)} | {row.theirs / row.ours:.2f}"
            print(f"| {row.work} | {row.our_name} | {times} |", flush=True)


if __name__ == "__main__":
    main()
