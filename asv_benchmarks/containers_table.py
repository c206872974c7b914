"""Measure the containers against what one would use without them, and print a Markdown table.

    python asv_benchmarks/containers_table.py [NAME ...] [--small]

NAME is empty, push-pop, pairs, deque, disjoint-sets, updates, map, buckets, bulk, sorted, k-best, dijkstra,
numba-utils (what that package measures itself with) or memory; all take a quarter of an hour. In one process
both sides do the work and the results are compared, then they take turns, and of each the best round counts.
Containers are made anew for every round, outside the time. All times are of one operation. The other sides
are in this file and in the folder ``benchmarks``, to be read. ``memory`` prints a table of its own: bytes per
key.
"""

# Before numba: `benchmarks` tells it where to keep compiled code.
from benchmarks import containers, deques, disjoint_sets, heaps, k_best, shortest_paths, sorted_maps
from benchmarks._common import zipfian
from benchmarks.containers import ADD, POP, SUB, empty_dict

# isort: split
from importlib.metadata import version

import click
import heapdict
import numba
import numba_utils
import numpy as np
import pqdict
import scipy
from measuring import Side, chosen, print_head, print_row, small_option
from numba import njit
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra as scipy_dijkstra
from sortedcontainers import SortedDict

from structures import (
    CountBuckets,
    Deque,
    DisjointSets,
    Heap,
    IndexedMinHeap,
    IntMap,
    IntSet,
    KBest,
    MaxHeap,
    MinHeap,
    SortedMap,
)


def push_pop(small):
    for n in (50,) if small else (200_000, 1_000_000):
        rng = np.random.default_rng(1)
        keys, up = rng.permutation(n) * np.int64(7919), np.arange(1, n + 1)
        for name, counts in {
            "random": rng.integers(1, n, n),
            "Zipf": rng.zipf(1.3, n) % n,
            "ascending": up,
            "descending": up[::-1].copy(),
            "all equal": np.ones(n, np.int64),
        }.items():
            for heap, sign in (MinHeap, -1), (MaxHeap, 1):  # the greatest is first in `push_pop_heapq`

                def theirs(_, counts=sign * counts, sign=sign, keys=keys):
                    popped, popped_counts = containers.push_pop_heapq(keys, counts)
                    return popped, sign * popped_counts

                def ours(heap, counts=counts, keys=keys):
                    return containers.push_pop(heap, keys, counts)

                work = f"push {n:,}, pop all; counts {name}"
                sides = Side(heap.__name__, ours, heap), Side("heapq in numba", theirs)
                print_row(work, 2 * n, *sides, 0 if small else 4)


def rows_of(suite, work, ours, theirs, *options):
    """Return a function that prints the rows of an asv benchmark."""

    def print_rows(small):
        for n in (60,) if small else (200_000, 1_000_000):
            given = suite()
            given.prepare(n, *options)
            sides = (
                Side(ours, lambda _, run=given.ours: run()),
                Side(theirs, lambda _, run=given.theirs: run()),
            )
            print_row(work.format(n=n), n, *sides, 0 if small else 4)

    return print_rows


HEAPQ = "heapq of tuples in numba"
PAIRS = [
    rows_of(heaps.HeapPushPop, f"push {{n:,}} pairs, pop all; {kind}", "Heap", HEAPQ, "int64", kind)
    for kind in ("random", "ascending", "descending", "tied")
]
PAIRS.append(rows_of(heaps.HeapEvents, "simulate ten events for each of {n:,} planned", "Heap", HEAPQ))
RINGS = [
    rows_of(deques.SlidingMaximum, "maximum of each window of 1000 of {n:,}", "Deque", "ring by hand"),
    rows_of(deques.BreadthFirst, "breadth-first search, {n:,} cells", "Deque", "array for all cells"),
]
FORESTS = [rows_of(disjoint_sets.Kruskal, "Kruskal, {n:,} nodes", "DisjointSets", "forest by hand")]


def all_of(works):
    """Return a function that prints the rows of several."""
    return lambda small: [work(small) for work in works]


@njit(cache=True)
def make_heaps(n):
    total = 0
    for _ in range(n):
        total += len(MinHeap())
    return total


@njit(cache=True)
def make_dicts(n):
    total = 0
    for _ in range(n):
        total += len(numba.typed.Dict.empty(numba.int64, numba.int64))
    return total


def empty(small):
    n = 100 if small else 1_000_000
    ours, theirs = Side("MinHeap", lambda _: make_heaps(n)), Side("typed.Dict", lambda _: make_dicts(n))
    print_row("make an empty one inside @njit", n, ours, theirs, 0 if small else 4, np.array_equal)


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


def updates(small):
    for n in (100,) if small else (200_000, 1_000_000):
        rng = np.random.default_rng(2)
        verbs = rng.choice([ADD, SUB, POP], n, p=[0.5, 0.25, 0.25])
        amounts = rng.integers(1, 100, n)
        once = rng.permutation(n)  # added once, by one, so that all counts are 1
        for name, keys, by in (
            ("uniform keys", rng.integers(0, n // 4, n), amounts),
            ("Zipf keys", zipfian(n, n // 4), amounts),
            ("all ties", np.where(verbs == ADD, once, once[rng.integers(0, n, n)]), np.ones(n, np.int64)),
        ):

            def doing(run, given=(verbs, keys, by)):
                return lambda queue: run(queue, *given)

            for their_name, run in (
                ("binary heap with positions in a typed.Dict", mixed_updates_binary),
                ("heapq with stale entries and a typed.Dict", containers.mixed_updates_heapq),
            ):
                ours = Side("MaxHeap", doing(containers.mixed_updates), MaxHeap)
                theirs = Side(their_name, doing(run), empty_dict)
                print_row(f"{n:,} of add, add, sub, pop; {name}", n, ours, theirs, 0 if small else 4)


# ------------------------------------------------------------------------------- hash table, count buckets
def int_map(small):
    n = 100 if small else 1_000_000
    rng = np.random.default_rng(3)
    distinct = np.unique(rng.integers(-(2**62), 2**62, n // 2))
    keys = distinct[rng.integers(0, distinct.size, n)]

    def reserved_map():
        counts = IntMap()
        counts.reserve(distinct.size)
        return counts

    def reserved_dict():
        return numba.typed.Dict.empty(numba.int64, numba.int64, n_keys=distinct.size)

    for name, new_map, new_dict in (
        ("from empty", IntMap, empty_dict),
        ("room reserved", reserved_map, reserved_dict),
    ):
        ours = Side("IntMap", lambda made: containers.count_keys(made, keys, distinct), new_map)
        theirs = Side("typed.Dict", lambda made: containers.count_keys_dict(made, keys, distinct), new_dict)
        work = f"add 1 to {n:,} of {distinct.size:,} keys, read all; {name}"
        print_row(work, n, ours, theirs, 0 if small else 4)


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


@njit(cache=True)
def track_inside(buckets, keys, deltas):
    tops = np.empty(keys.size, np.int64)
    for i in range(keys.size):
        buckets.add(keys[i], deltas[i])
        tops[i] = buckets.max_count()
    return (tops,)


def buckets(small):
    n = 100 if small else 200_000
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

    theirs = Side("SortedDict of sets, in Python", track, SortedTracker)
    for name, run in (
        ("CountBuckets, inside @njit", lambda made: track_inside(made, keys, deltas)),
        ("CountBuckets, call by call from Python", track),
    ):
        work = f"{n:,} moves by one, each followed by max_count"
        print_row(work, n, Side(name, run, CountBuckets), theirs, 0 if small else 4)


def bulk(small):
    n = 50 if small else 100_000
    rng = np.random.default_rng(5)
    keys, deltas = rng.integers(0, n // 2, n), rng.integers(1, 100, n)
    stream = list(zip(keys.tolist(), deltas.tolist(), strict=True))

    def add_many(heap):
        heap.add_many(keys, deltas)
        return heap

    def add_each(heap):
        for key, delta in stream:
            heap.add(key, delta)
        return heap

    def set_each(queue, sign):
        for key, delta in stream:
            queue[key] = queue.get(key, 0) + sign * delta
        return queue

    for name, new, sign in (("heapdict", heapdict.heapdict, -1), ("pqdict", pqdict.pqdict.maxpq, 1)):
        theirs = Side(f"{name} in a loop", lambda queue, sign=sign: set_each(queue, sign), new)

        def agree(heap, queue, sign=sign):
            return dict(heap.items()) == {key: sign * queue[key] for key in queue}

        for our_name, run in (("MaxHeap.add_many", add_many), ("MaxHeap.add in a loop", add_each)):
            ours = Side(our_name, run, MaxHeap)
            print_row(f"{n:,} deltas from Python", n, ours, theirs, 0 if small else 4, agree)


# -------------------------------------------------------------------------------------- sorted map, k best
def sorted_map(small):
    n, seconds = (300, 0) if small else (1_000_000, 20)
    rng = np.random.default_rng(6)
    keys, queries = rng.integers(-(2**62), 2**62, (2, n))
    keys[0] = -(2**62) - 1  # at or below each question
    arrays = keys, np.arange(n), queries
    lists = [array.tolist() for array in arrays]

    def in_a_loop(made):
        return sorted_maps.insert_and_floor_sorteddict(made, *lists)

    def at_once(made):
        made.update(zip(*lists[:2], strict=True))
        return sorted_maps.insert_and_floor_sorteddict(made, [], [], lists[2])

    def set_and_floor_many(made):
        made.set_many(*arrays[:2])
        return made.floor_many(queries)

    def call_by_call(made):
        for key, value in zip(*lists[:2], strict=True):
            made[key] = value
        return [*zip(*(made.floor(query) for query in lists[2]), strict=True)]

    one_by_one = Side("SortedDict in a loop", in_a_loop, SortedDict)
    for how, name, run, theirs in (
        (
            "one by one",
            "SortedMap, inside @njit",
            lambda made: sorted_maps.insert_and_floor(made, *arrays),
            one_by_one,
        ),
        (
            "in bulk from Python",
            "SortedMap.set_many, floor_many",
            set_and_floor_many,
            Side("SortedDict.update and a loop", at_once, SortedDict),
        ),
        ("call by call from Python", "SortedMap in a loop", call_by_call, one_by_one),
    ):
        work = f"insert {n:,} random keys, then as many floors, {how}"
        print_row(work, 2 * n, Side(name, run, SortedMap), theirs, seconds)
    made, sorted_keys = SortedMap.from_arrays(keys, arrays[1]), np.sort(keys)
    print_row(
        f"{n:,} random floors among {n:,} keys that do not change",
        n,
        Side("SortedMap.floor_many", lambda _: made.floor_many(queries)[:1]),
        Side(
            "numpy.searchsorted in an array",
            lambda _: (sorted_keys[np.searchsorted(sorted_keys, queries, "right") - 1],),
        ),
        seconds,
    )


def nearest(small):
    for k in (15, 5, 50, 200):
        n_points = 40 if small else 10_000 if k == 200 else 100_000
        candidates = k_best.candidates_of(n_points, 10 if small else 300, k)
        for what, given, run, run_heaps in (
            ("row after row", candidates, k_best.push_rows, k_best.heap_push_rows),
            ("pairs of points", k_best.pairs_of(*candidates), k_best.push_pairs, k_best.heap_push_pairs),
        ):

            def ours(rows, run=run, given=given):
                run(rows, *given)
                return rows

            def theirs(heaps, run=run_heaps, given=given):
                run(*heaps, *given)
                return heaps

            work = f"offer candidates, {what}, k = {k}"
            shape = n_points, k
            sides = (
                Side("KBest", ours, lambda shape=shape: KBest(*shape)),
                Side("heaps by hand", theirs, lambda shape=shape: k_best.empty_heaps(*shape)),
            )
            n = candidates[0].size * (2 if what.startswith("pairs") else 1)
            print_row(work, n, *sides, 0 if small else 6, k_best.same_neighbors)


# ------------------------------------------------------------------------------------- shortest paths
def dijkstra(small):
    for n_nodes, n_edges in [(50, 200)] if small else [(1_000_000, 5_000_000), (200_000, 1_000_000)]:
        graph = shortest_paths.random_graph(n_nodes, n_edges)
        given = *graph, shortest_paths.SOURCE
        matrix = csr_array((graph[2], graph[1], graph[0]), (n_nodes, n_nodes))
        heap = IndexedMinHeap(n_nodes, float)
        for our_name, run in (
            ("IndexedMinHeap", shortest_paths.distances),
            ("IndexedMinHeap, next edges prefetched", shortest_paths.distances_ahead),
        ):
            ours = Side(our_name, lambda _, run=run, heap=heap, given=given: run(heap, *given))
            for name, other in (
                (
                    "4-ary heap by hand, in numba",
                    lambda _, given=given: shortest_paths.distances_by_hand(*given),
                ),
                (
                    "heapq with stale entries, in numba",
                    lambda _, given=given: shortest_paths.distances_heapq(*given),
                ),
                (
                    f"scipy {scipy.__version__}",
                    lambda _, matrix=matrix: scipy_dijkstra(matrix, indices=shortest_paths.SOURCE),
                ),
            ):
                work = f"shortest paths, {n_nodes:,} nodes, {n_edges:,} edges; an edge"
                print_row(work, n_edges, ours, Side(name, other), 0 if small else 8, np.array_equal)


# ------------------------------------------------------------------------- the workloads of numba-utils
@njit(cache=True)
def sum_of_popped(numbers):
    heap = Heap(float)
    for i, number in enumerate(numbers):
        heap.push(number, i)
    total = 0.0
    while len(heap) > 0:
        total += heap.pop()[0]
    return total


@njit
def their_sum_of_popped(numbers):
    heap = numba_utils.PriorityQueue(numbers.size)
    for number in numbers:
        heap.push(number)
    total = 0.0
    while not heap.is_empty():
        total += heap.pop_min()
    return total


@njit(cache=True)
def n_added(keys):
    """Discard each key that is in a set, and add it otherwise; return how often one was added."""
    some, n = IntSet(), 0
    for key in keys:
        if key in some:
            some.discard(key)
        else:
            some.add(key)
            n += 1
    return n


@njit
def their_n_added(keys, universe):
    some, n = numba_utils.SparseSet(universe), 0
    for key in keys:
        if some.contains(key):
            some.discard(key)
        else:
            some.add(key)
            n += 1
    return n


@njit(cache=True)
def n_components(n_nodes, left, right):
    sets = DisjointSets(n_nodes)
    for edge in range(left.size):
        sets.union(left[edge], right[edge])
    return sets.n_sets


@njit
def their_n_components(n_nodes, left, right):
    sets = numba_utils.UnionFind(n_nodes)
    for edge in range(left.size):
        sets.union(left[edge], right[edge])
    return sets.n_components()


def numba_utils_workloads(small):
    rng = np.random.default_rng(42)
    name = f"numba-utils {version('numba-utils')}"
    n_nodes, n_edges, n_keys, n_numbers = (50, 200, 200, 50) if small else (50_000, 200_000, 200_000, 50_000)
    numbers, keys = rng.normal(0.0, 1.0, n_numbers), rng.integers(0, 1000, n_keys)
    left, right = rng.integers(0, n_nodes, n_edges), rng.integers(0, n_nodes, n_edges)
    starts, ends, order = numba_utils.edges_to_csr(n_nodes, left, right)
    weights = rng.uniform(0.0, 10.0, n_edges)[order]
    heap = IndexedMinHeap(n_nodes, float)
    for work, n, our_name, ours, theirs in (
        (
            f"push {n_numbers:,} numbers, pop all",
            2 * n_numbers,
            "Heap",
            lambda: sum_of_popped(numbers),
            lambda: their_sum_of_popped(numbers),
        ),
        (
            f"add or discard {n_keys:,} of 1,000 keys",
            n_keys,
            "IntSet",
            lambda: n_added(keys),
            lambda: their_n_added(keys, 1000),
        ),
        (
            f"shortest paths, {n_nodes:,} nodes, {n_edges:,} edges",
            n_edges,
            "IndexedMinHeap",
            lambda: shortest_paths.distances(heap, starts, ends, weights, 0),
            lambda: numba_utils.dijkstra(starts, ends, weights, 0),
        ),
        (
            f"join {n_nodes:,} nodes by {n_edges:,} edges",
            n_edges,
            "DisjointSets",
            lambda: n_components(n_nodes, left, right),
            lambda: their_n_components(n_nodes, left, right),
        ),
    ):
        sides = Side(our_name, lambda _, run=ours: run()), Side(name, lambda _, run=theirs: run())
        print_row(work, n, *sides, 0 if small else 4, np.array_equal)


# ------------------------------------------------------------------------------------------------ memory
@njit(cache=True)
def put_each(container, keys, numbers):
    for i in range(keys.size):
        container[keys[i]] = numbers[i]


@njit(cache=True)
def add_each(container, keys, numbers):
    for key in keys:
        container.add(key)


@njit(cache=True)
def push_each(container, keys, numbers):
    for i in range(keys.size):
        container.push(numbers[i], keys[i])


@njit(cache=True)
def append_each(container, keys, numbers):
    for key in keys:
        container.append(key)


MEASURED = {
    "IntMap": (IntMap, IntMap.from_arrays, put_each),
    "IntSet": (IntSet, lambda keys, numbers: IntSet(keys), add_each),
    "SortedMap": (SortedMap, SortedMap.from_arrays, put_each),
    "MinHeap": (MinHeap, MinHeap.from_arrays, put_each),
    "CountBuckets, ten keys a count": (CountBuckets, CountBuckets.from_arrays, put_each),
    "Heap": (Heap, lambda keys, numbers: Heap.heapify(numbers, keys), push_each),
    "Deque": (Deque, lambda keys, numbers: Deque.from_array(keys), append_each),
}


def memory(small):
    """Print the least and the greatest number of bytes per key, of containers of many sizes."""
    print("\n| bytes per key | made of arrays | key by key |\n|---|---|---|")
    sizes = np.geomspace(100, 300, 3) if small else np.geomspace(50_000, 400_000, 25)
    for name, (made, made_of_arrays, fill) in MEASURED.items():
        at_once, one_by_one = [], []
        for n in sizes.astype(int):
            keys = np.random.default_rng(3).permutation(n) * np.int64(7919)
            numbers = keys % (n // 10)
            at_once.append(made_of_arrays(keys, numbers).nbytes / n)
            container = made()
            fill(container, keys, numbers)
            one_by_one.append(container.nbytes / n)
        cells = (f"{min(sizes):.0f} to {max(sizes):.0f}" for sizes in (at_once, one_by_one))
        print(f"| {name} | {' | '.join(cells)} |")


WORKS = {
    "empty": empty,
    "push-pop": push_pop,
    "pairs": all_of(PAIRS),
    "deque": all_of(RINGS),
    "disjoint-sets": all_of(FORESTS),
    "updates": updates,
    "map": int_map,
    "buckets": buckets,
    "bulk": bulk,
    "sorted": sorted_map,
    "k-best": nearest,
    "dijkstra": dijkstra,
    "numba-utils": numba_utils_workloads,
    "memory": memory,
}


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@small_option
def main(names, small):
    """Print a row for each comparison."""
    print_head()
    for name in chosen(names, WORKS):
        WORKS[name](small)


if __name__ == "__main__":
    main()
