"""Measure the containers against what one would use without them, and print two Markdown tables.

    python asv_benchmarks/containers_table.py [TEXT] [--small]

TEXT is what Re-Pair compresses, its first million bytes; the bundled novel, 360 kB, by default. With
``--small`` everything is tiny: to see that it runs, not for the figures.

Every row is one process's: first both sides do the work and the results are compared, then they take turns,
and of each the best round counts. Containers are made anew for every round, outside the time. Where the
other side is plain Python and slow, it does a part of the work, which the row tells. All times are of one
operation.
The other sides are in this file and in ``benchmarks/containers.py``, to be read.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

# Before numba: `benchmarks` tells it where to keep compiled code.
from benchmarks._common import best_time, zipfian
from benchmarks.containers import (
    ADD,
    POP,
    SUB,
    empty_dict,
    mixed_updates,
    mixed_updates_heapq,
    push_pop,
    push_pop_heapq,
)

# isort: split
import heapdict
import numba
import numpy as np
import pqdict
from numba import njit
from sortedcontainers import SortedDict

import structures
from structures import CountBuckets, IntMap, MaxHeap

TESTS = Path(__file__).parents[1] / "tests"


# ----------------------------------------------------------------------------------------- the two sides
class Side(NamedTuple):
    """One way to do some work."""

    name: str
    run: Callable[[Any], Any]  # does it with a new container, and returns what must be the same
    new: Callable[[], Any]  # makes the container
    n: int  # operations


class Row(NamedTuple):
    """The best times, in seconds an operation."""

    work: str
    our_name: str
    their_name: str
    ours: float
    theirs: float

    def __str__(self):
        *names, ours, theirs = self
        return f"| {' | '.join([*names, in_units(ours), in_units(theirs), f'{theirs / ours:.1f}'])} |"


def in_units(seconds):
    return f"{seconds * 1e9:.0f} ns" if seconds < 1e-6 else f"{seconds * 1e6:.1f} µs"


def must_agree(work, our_result, their_result):
    if len(our_result) != len(their_result) or not all(map(np.array_equal, our_result, their_result)):
        sys.exit(f"{work}: the results differ")


def compare(work, ours, theirs, seconds, checked=False):
    """Return a row: of three rounds, of up to nine within `seconds`, of one where that is 0."""
    if not checked:
        must_agree(work, ours.run(ours.new()), theirs.run(theirs.new()))
    best = [float("inf")] * 2
    end = time.perf_counter() + seconds
    for n_done in range(9 if seconds else 1):
        if n_done >= 3 and time.perf_counter() > end:
            break
        for i, side in enumerate((ours, theirs)):
            container = side.new()
            best[i] = min(best[i], best_time(lambda run=side.run, container=container: run(container)))
    return Row(work, ours.name, theirs.name, best[0] / ours.n, best[1] / theirs.n)


def nothing():
    """Make no container: the work makes its own."""


# ------------------------------------------------------------------------------------- push all, pop all
def push_pop_rows(n, seconds):
    rng = np.random.default_rng(1)
    keys = rng.permutation(n) * np.int64(7919)
    for name, counts in {
        "uniform counts": rng.integers(1, n, n),
        "Zipf counts": rng.zipf(1.3, n) % n,
        "all ties": np.ones(n, np.int64),
    }.items():
        yield compare(
            f"push {n:,}, pop all; {name}",
            Side("MaxHeap", lambda heap, counts=counts: push_pop(heap, keys, counts), MaxHeap, 2 * n),
            Side("heapq in numba", lambda _, counts=counts: push_pop_heapq(keys, counts), nothing, 2 * n),
            seconds,
        )


# ----------------------------------------------------------- mixed updates: a binary heap with a typed.Dict
@njit(cache=True)
def precedes(count, key, other_count, other_key):
    return count > other_count or (count == other_count and key < other_key)


@njit(cache=True)
def place(count_at, key_at, slot_of, slot, count, key):
    count_at[slot] = count
    key_at[slot] = key
    slot_of[key] = slot


@njit(cache=True)
def find(slot_of, key):
    """Return the slot of a key, -1 for a missing one."""
    return slot_of.get(key, -1) + 0  # an int64; what get returns is an optional one


@njit(cache=True)
def settle(count_at, key_at, slot_of, size, slot, count, key):
    """Move the hole at `slot` up or down to where the entry belongs, and put it there."""
    while slot > 0:
        above = (slot - 1) >> 1
        if not precedes(count, key, count_at[above], key_at[above]):
            break
        place(count_at, key_at, slot_of, slot, count_at[above], key_at[above])
        slot = above
    while 2 * slot + 1 < size:
        below = 2 * slot + 1
        if below + 1 < size and precedes(
            count_at[below + 1], key_at[below + 1], count_at[below], key_at[below]
        ):
            below += 1
        if not precedes(count_at[below], key_at[below], count, key):
            break
        place(count_at, key_at, slot_of, slot, count_at[below], key_at[below])
        slot = below
    place(count_at, key_at, slot_of, slot, count, key)


@njit(cache=True)
def cut(count_at, key_at, slot_of, size, slot):
    """Take out the entry at `slot`; the last one fills the hole."""
    del slot_of[key_at[slot]]
    last = size - 1
    if slot < last:
        settle(count_at, key_at, slot_of, last, slot, count_at[last], key_at[last])


@njit(cache=True)
def mixed_updates_binary(slot_of, verbs, keys, amounts):
    """Do what ``mixed_updates`` does, with room for everything from the start."""
    out_keys, out_counts = np.empty(keys.size, np.int64), np.empty(keys.size, np.int64)
    count_at, key_at = np.empty(keys.size, np.int64), np.empty(keys.size, np.int64)
    size = n = 0
    for i in range(keys.size):
        key = keys[i]
        if verbs[i] == ADD:
            slot = find(slot_of, key)
            count = amounts[i] + (count_at[slot] if slot >= 0 else 0)
            if slot < 0:
                slot = size
                size += 1
            settle(count_at, key_at, slot_of, size, slot, count, key)
        elif verbs[i] == SUB:
            slot = find(slot_of, key)
            if slot >= 0 and count_at[slot] > amounts[i]:
                settle(count_at, key_at, slot_of, size, slot, count_at[slot] - amounts[i], key)
            elif slot >= 0:
                cut(count_at, key_at, slot_of, size, slot)
                size -= 1
        elif size > 0:
            out_keys[n], out_counts[n] = key_at[0], count_at[0]
            n += 1
            cut(count_at, key_at, slot_of, size, 0)
            size -= 1
    return out_keys[:n], out_counts[:n]


def mixed_rows(n, seconds):
    rng = np.random.default_rng(2)
    verbs = rng.choice([ADD, SUB, POP], n, p=[0.5, 0.25, 0.25])
    amounts = rng.integers(1, 100, n)
    once = rng.permutation(n)  # added once, by one, so that all counts are 1
    for name, keys, by in (
        ("uniform keys", rng.integers(0, n // 4, n), amounts),
        ("Zipf keys", zipfian(n, n // 4), amounts),
        ("all ties", np.where(verbs == ADD, once, once[rng.integers(0, n, n)]), np.ones(n, np.int64)),
    ):
        ours = Side(
            "MaxHeap", lambda heap, keys=keys, by=by: mixed_updates(heap, verbs, keys, by), MaxHeap, n
        )
        for their_name, work in (
            ("binary heap with positions in a typed.Dict", mixed_updates_binary),
            ("heapq with stale entries and a typed.Dict", mixed_updates_heapq),
        ):
            theirs = Side(
                their_name, lambda d, work=work, keys=keys, by=by: work(d, verbs, keys, by), empty_dict, n
            )
            yield compare(f"{n:,} of add, add, sub, pop; {name}", ours, theirs, seconds)


# --------------------------------------------------------------------------------------------- hash table
@njit(cache=True)
def add_all(counts, keys):
    for key in keys:
        counts.add(key, 1)


@njit(cache=True)
def add_all_dict(counts, keys):
    for key in keys:
        counts[key] = counts.get(key, 0) + 1


@njit(cache=True)
def content(counts):
    """Return keys and values of a typed.Dict."""
    keys, values = np.empty(len(counts), np.int64), np.empty(len(counts), np.int64)
    for i, (key, value) in enumerate(counts.items()):
        keys[i], values[i] = key, value
    return keys, values


def in_key_order(keys, values):
    order = np.argsort(keys)
    return keys[order], values[order]


def reserved_map(n_keys):
    counts = IntMap()
    counts.reserve(n_keys)
    return counts


def map_rows(n, seconds):
    rng = np.random.default_rng(3)
    n_keys = n // 2
    keys = rng.integers(-(2**62), 2**62, n_keys)[rng.integers(0, n_keys, n)]

    def reserved_dict():
        return numba.typed.Dict.empty(numba.int64, numba.int64, n_keys=n_keys)

    ours, theirs = IntMap(), empty_dict()
    add_all(ours, keys)
    add_all_dict(theirs, keys)
    must_agree("add", in_key_order(*ours.to_arrays()), in_key_order(*content(theirs)))
    for name, new_map, new_dict in (
        ("from empty", IntMap, empty_dict),
        ("room reserved", lambda: reserved_map(n_keys), reserved_dict),
    ):
        yield compare(
            f"add 1 to {n:,} of {n_keys:,} keys; {name}",
            Side("IntMap", lambda counts: add_all(counts, keys), new_map, n),
            Side("numba.typed.Dict", lambda counts: add_all_dict(counts, keys), new_dict, n),
            seconds,
            checked=True,
        )


# --------------------------------------------------------------------------------------- from Python: buckets
class SortedTracker:
    """Count -> set of keys in a ``SortedDict``, and key -> count."""

    def __init__(self):
        self.count_of = {}
        self.keys_at = SortedDict()

    def add(self, key, delta):
        old = self.count_of.get(key, 0)
        new = old + delta
        if old:
            keys = self.keys_at[old]
            keys.remove(key)
            if not keys:
                del self.keys_at[old]
        if new:
            self.count_of[key] = new
            keys = self.keys_at.get(new)
            if keys is None:
                self.keys_at[new] = {key}
            else:
                keys.add(key)
        else:
            self.count_of.pop(key, None)

    def max_count(self):
        return self.keys_at.peekitem()[0]


def deltas_of(keys):
    """Return +1 for most, -1 for a fifth of the keys, those whose count stays above 0."""
    wanted = np.where(np.random.default_rng(4).random(keys.size) < 0.2, -1, 1)
    counts = {}
    for i, key in enumerate(keys.tolist()):
        if counts.get(key, 0) == 0:
            wanted[i] = 1
        counts[key] = counts.get(key, 0) + int(wanted[i])
    return wanted


def buckets_rows(n, seconds):
    keys = zipfian(n, n)
    deltas = deltas_of(keys)
    stream = list(zip(keys.tolist(), deltas.tolist(), strict=True))

    def track(tracker):
        """Return the greatest count after every delta."""
        tops = []
        for key, delta in stream:
            tracker.add(key, delta)
            tops.append(tracker.max_count())
        return (tops,)

    def track_one_by_one(buckets):
        tops = []
        for key, delta in stream:
            if delta > 0:
                buckets.add(key)
            else:
                buckets.sub(key)
            tops.append(buckets.max_count())
        return (tops,)

    theirs = Side("SortedDict of sets, in Python", track, SortedTracker, n)
    for name, work in (
        ("CountBuckets, inside @njit", lambda buckets: track_inside(buckets, keys, deltas)),
        ("CountBuckets, call by call from Python", track_one_by_one),
    ):
        ours = Side(name, work, CountBuckets, n)
        yield compare(f"{n:,} moves by one, each followed by max_count", ours, theirs, seconds)


@njit(cache=True)
def track_inside(buckets, keys, deltas):
    tops = np.empty(keys.size, np.int64)
    for i in range(keys.size):
        buckets.add(keys[i], deltas[i])
        tops[i] = buckets.max_count()
    return (tops,)


# ------------------------------------------------------------------------------------ from Python: in bulk
def bulk_rows(n, n_theirs, seconds):
    rng = np.random.default_rng(5)
    keys, deltas = rng.integers(0, n // 2, n), rng.integers(1, 100, n)
    part = list(zip(keys[:n_theirs].tolist(), deltas[:n_theirs].tolist(), strict=True))

    def update_many(heap):
        heap.update_many(keys, deltas)

    def add_each(heap):
        for key, delta in part:
            heap.add(key, delta)

    def set_each(queue, sign):
        for key, delta in part:
            queue[key] = queue.get(key, 0) + sign * delta

    expected = MaxHeap()
    expected.update_many(keys[:n_theirs], deltas[:n_theirs])
    expected = in_key_order(*expected.to_arrays())
    for name, new, sign in (("heapdict", heapdict.heapdict, -1), ("pqdict", pqdict.pqdict.maxpq, 1)):
        theirs = new()
        set_each(theirs, sign)
        entries = np.array([(key, sign * theirs[key]) for key in theirs])
        must_agree(name, expected, in_key_order(entries[:, 0], entries[:, 1]))
        their_side = Side(
            f"{name} in a loop, the first {n_theirs:,} only",
            lambda queue, sign=sign: set_each(queue, sign),
            new,
            n_theirs,
        )
        for our_side in (
            Side("MaxHeap.update_many", update_many, MaxHeap, n),
            Side(f"MaxHeap.add in a loop, the first {n_theirs:,} only", add_each, MaxHeap, n_theirs),
        ):
            yield compare(f"{n:,} deltas from Python", our_side, their_side, seconds, checked=True)


# ------------------------------------------------------------------------------------------------- Re-Pair
def re_pair_rows(text, seconds):
    sys.path.append(str(TESTS / "examples"))
    import re_pair
    import re_pair_reference

    rules, sequence = re_pair_reference.compress(text)
    grammar = re_pair.compress(text)
    must_agree("Re-Pair", grammar, (np.array(rules).reshape(-1, 2), sequence))
    if re_pair.expand(grammar) != text:
        sys.exit("Re-Pair: the text has not come back")
    yield compare(
        f"Re-Pair of {len(text):,} bytes, each byte",
        Side("re_pair.py, inside @njit", lambda _: re_pair.compress(text), nothing, len(text)),
        Side(
            "in plain Python, occurrence by occurrence",
            lambda _: re_pair_reference.compress(text),
            nothing,
            len(text),
        ),
        seconds,
        checked=True,
    )


# ---------------------------------------------------------------------------------------------- first use
FIRST_USES = {
    "import structures": "",
    "IntMap": "m = structures.IntMap(); m.add(7); m[7]; m.pop(7)",
    "MaxHeap": "h = structures.MaxHeap(); h.add(7); h.peek(); h.pop()",
    "MinHeap(dtype=float)": "h = structures.MinHeap(dtype=float); h.add(7, 0.5); h.peek(); h.pop()",
    "CountBuckets": "b = structures.CountBuckets(); b.add(7); b.peek(); b.pop()",
    "KBest": "q = structures.KBest(9, 5); q.push(0, 0.5, 7); q.worst(0); q.row(0)",
    "SortedMap": "m = structures.SortedMap(); m.add(7); m[7]; m.floor(8); m.pop(7)",
    "TokenList": "t = structures.TokenList([1, 2, 1, 2]); t.merge(0, 3); t.token(0); t.next(0)",
    "PairIndex": (
        "p = structures.PairIndex.build(structures.TokenList([1, 2, 1, 2]));"
        "p.add(1, 2, 0); p.count(1, 2); p.drop(1, 2)"
    ),
    "ByteCounter": "c = structures.ByteCounter(); c.add(b'low'); c[b'low']; c.update([b'low', b'er'])",
    "numba.typed.Dict": "d = numba.typed.Dict.empty(numba.int64, numba.int64); d[7] = 1; d[7]; d.pop(7)",
}


def first_use(use, folder):
    """Return how many seconds a use takes in a new process that has loaded numba, its cache in `folder`."""
    module = "numba.typed" if "numba" in use else "structures"
    code = f"import time, numba; start = time.perf_counter(); import {module}; {use}\n"
    paths = os.pathsep.join([str(Path(structures.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    run = subprocess.run(
        [sys.executable, "-c", code + "print(time.perf_counter() - start)"],
        env={**os.environ, "NUMBA_CACHE_DIR": folder, "PYTHONPATH": paths},
        check=True,
        capture_output=True,
        text=True,
    )
    return float(run.stdout)


def first_use_rows(names, n_warm):
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            cold = first_use(FIRST_USES[name], folder)
            warm = min(first_use(FIRST_USES[name], folder) for _ in range(n_warm))
        yield f"| {name} | {cold:.2f} s | {warm:.2f} s |"


# ------------------------------------------------------------------------------------------------- command
def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("text", nargs="?", type=Path, default=TESTS / "data" / "treasure_island.txt")
    parser.add_argument("--small", action="store_true", help="tiny sizes, to see that it runs")
    options = parser.parse_args(arguments)
    sizes, seconds = ((100,), 0) if options.small else ((200_000, 1_000_000), 4)
    n, n_python = (100, 50) if options.small else (1_000_000, 100_000)
    text = options.text.read_bytes()[: 2_000 if options.small else 1_000_000]

    print(
        f"Python {platform.python_version()}, numba {numba.__version__}, {os.cpu_count()} processors; "
        f"load {os.getloadavg()[0]:.1f} at the start\n"
    )
    print("| work | ours | instead | an operation | instead | times as fast |\n|---|---|---|---|---|---|")
    for rows in (
        *(push_pop_rows(size, seconds) for size in sizes),
        *(mixed_rows(size, seconds) for size in sizes),
        map_rows(n, seconds),
        buckets_rows(2 * n_python, seconds),
        bulk_rows(n, n_python, seconds),
        re_pair_rows(text, seconds),
    ):
        for row in rows:
            print(row, flush=True)
    print("\n| first use, beyond `import numba` | never compiled | compiled before |\n|---|---|---|")
    names = ["IntMap"] if options.small else FIRST_USES
    for row in first_use_rows(names, n_warm=1 if options.small else 3):
        print(row, flush=True)


if __name__ == "__main__":
    main()
