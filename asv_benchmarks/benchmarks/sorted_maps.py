"""``SortedMap``, inside compiled functions and from Python, against ``sortedcontainers``."""

import numpy as np
from sortedcontainers import SortedDict

from structures import SortedMap, kernel

from ._common import SIZES, Comparison


@kernel
def insert_and_floor(sorted_map, keys, values, queries):
    """Insert keys one by one, then return the entry at or below each question."""
    found, found_values = np.empty_like(queries), np.empty_like(values)
    for i in range(keys.size):
        sorted_map[keys[i]] = values[i]
    for i in range(queries.size):
        found[i], found_values[i] = sorted_map.floor(queries[i])
    return found, found_values


def insert_and_floor_sorteddict(sorted_dict, keys, values, queries):
    """Do the same in Python."""
    for key, value in zip(keys, values, strict=True):
        sorted_dict[key] = value
    rank, entry = sorted_dict.bisect_right, sorted_dict.peekitem
    floors = [entry(rank(query) - 1) for query in queries]
    return [key for key, _ in floors], [value for _, value in floors]


class InsertAndFloor(Comparison):
    """Inserting and asking one by one: in compiled code, and in Python."""

    params = SIZES[:1]
    param_names = ("keys",)

    def prepare(self, n):
        rng = np.random.default_rng(6)
        keys, queries = rng.integers(-(2**62), 2**62, (2, n))
        keys[0] = -(2**62) - 1
        self.arrays = keys, np.arange(n), queries
        self.lists = [array.tolist() for array in self.arrays]

    def renew(self):
        self.map, self.dict = SortedMap(), SortedDict()

    def ours(self):
        return insert_and_floor(self.map, *self.arrays)

    def theirs(self):
        return insert_and_floor_sorteddict(self.dict, *self.lists)


class Bulk(InsertAndFloor):
    """The same work with one call for all keys and one for all questions."""

    def ours(self):
        self.map.set_many(*self.arrays[:2])
        return self.map.floor_many(self.arrays[2])

    def theirs(self):
        keys, values, queries = self.lists
        self.dict.update(zip(keys, values, strict=True))
        return insert_and_floor_sorteddict(self.dict, [], [], queries)


@kernel
def slide(window, keys, width):
    """Insert keys and remove the oldest ones; return the median of each window."""
    medians = np.empty_like(keys)
    for i in range(keys.size):
        window[keys[i]] = i
        if i >= width:
            del window[keys[i - width]]
        medians[i] = window.select(len(window) // 2)[0]
    return medians


class Window:
    """A map that neither grows nor shrinks: insertions, removals, selections by rank."""

    version = "1"
    params = SIZES
    param_names = ("keys",)

    def setup(self, n):
        self.keys = np.random.default_rng(7).permutation(10 * n)[:n]
        self.time_slide(n)

    def time_slide(self, n):
        slide(SortedMap(), self.keys, n // 10)
