"""``CountBuckets`` in a window that slides over keys, against heaps and a map that answer the same."""

import numpy as np

from structures import CountBuckets, IntMap, MaxHeap, MinHeap, kernel

from ._common import SIZES, Comparison, zipfian


@kernel
def greatest(counts, keys, width):
    """Return the most frequent key of the window at every sixteenth step."""
    tops = np.empty(keys.size // 16, np.int64)
    for i in range(tops.size * 16):
        counts.add(keys[i], 1)
        if i >= width:
            counts.sub(keys[i - width], 1)
        if i % 16 == 0:
            tops[i // 16] = counts.peek()[0]
    return (tops,)


@kernel
def spread(counts, keys, width):
    """Return the difference between the greatest and the least count at every sixteenth step."""
    spreads = np.empty(keys.size // 16, np.int64)
    for i in range(spreads.size * 16):
        counts.add(keys[i], 1)
        if i >= width:
            counts.sub(keys[i - width], 1)
        if i % 16 == 0:
            spreads[i // 16] = counts.max_count() - counts.min_count()
    return (spreads,)


@kernel
def spread_of_heaps(most, least, keys, width):
    spreads = np.empty(keys.size // 16, np.int64)
    for i in range(spreads.size * 16):
        most.add(keys[i], 1)
        least.add(keys[i], 1)
        if i >= width:
            most.sub(keys[i - width], 1)
            least.sub(keys[i - width], 1)
        if i % 16 == 0:
            spreads[i // 16] = most.peek()[1] - least.peek()[1]
    return (spreads,)


@kernel
def n_frequent(counts, keys, width):
    """Return how many keys have a count of 20 or more, a hundred times."""
    found, step = np.zeros(100, np.int64), max(keys.size // 100, 1)
    for i in range(keys.size):
        counts.add(keys[i], 1)
        if i >= width:
            counts.sub(keys[i - width], 1)
        if i % step == 0 and i // step < 100:
            found[i // step] = counts.keys_in(20).size
    return (found,)


@kernel
def n_frequent_in_map(counts, keys, width):
    found, step = np.zeros(100, np.int64), max(keys.size // 100, 1)
    for i in range(keys.size):
        counts.add(keys[i], 1)
        if i >= width and counts.add(keys[i - width], -1) == 0 and counts[keys[i - width]] == 0:
            counts.pop(keys[i - width])
        if i % step == 0 and i // step < 100:
            for count in counts.to_arrays()[1]:
                found[i // step] += count >= 20
    return (found,)


@kernel
def hits(counts, keys, capacity):
    """Return how many keys a cache finds that evicts the least frequently used one."""
    found = 0
    for key in keys:
        if key in counts:
            found += 1
        elif len(counts) == capacity:
            counts.pop_min()
        counts.add(key, 1)
    return (found,)


@kernel
def hits_with_heap(counts, keys, capacity):
    found = 0
    for key in keys:
        if key in counts:
            found += 1
        elif len(counts) == capacity:
            counts.pop()
        counts.add(key, 1)
    return (found,)


class Window(Comparison):
    """Keys enter a window of a tenth of them and leave it again; or a cache with a hundredth of them."""

    params = (SIZES, ("greatest", "spread", "n_frequent", "hits"), ("zipfian", "rare", "frequent"))
    param_names = ("items", "question", "keys")

    def prepare(self, n, question, kind):
        n_keys = n // 5 if kind == "rare" else n // 100 + 1  # one of two is in the window, or each ten times
        uniform = np.random.default_rng(2).integers(0, n_keys, n)
        self.keys = zipfian(n, n) if kind == "zipfian" else uniform
        self.width = n // 100 + 1 if question == "hits" else n // 10
        self.run = {"greatest": greatest, "spread": spread, "n_frequent": n_frequent, "hits": hits}[question]
        self.run_other, self.others = {
            "greatest": (greatest, (MaxHeap,)),
            "spread": (spread_of_heaps, (MaxHeap, MinHeap)),
            "n_frequent": (n_frequent_in_map, (IntMap,)),
            "hits": (hits_with_heap, (MinHeap,)),
        }[question]

    def ours(self):
        return self.run(CountBuckets(), self.keys, self.width)

    def theirs(self):
        return self.run_other(*(made() for made in self.others), self.keys, self.width)
