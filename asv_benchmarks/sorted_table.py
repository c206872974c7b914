"""Measure ``SortedMap`` against ``sortedcontainers`` and numpy, and print a Markdown table.

    python asv_benchmarks/sorted_table.py [--small]

The rules are those of ``containers_table.py``: the results are compared first, then both sides take turns,
and of each the best round counts. An operation is an insertion or a floor. It takes some minutes. With
``--small`` everything is tiny: to see that it runs, not for the figures.
"""

import argparse
import os
import platform

# Before numba: `benchmarks` tells it where to keep compiled code.
from benchmarks.sorted_maps import insert_and_floor, insert_and_floor_sorteddict

# isort: split
import numba
import numpy as np
from containers_table import Side, compare, must_agree, nothing
from sortedcontainers import SortedDict

from structures import SortedMap


def random_input(n):
    """Return `n` keys with values and `n` questions, at random over int64; the first key is the least."""
    rng = np.random.default_rng(6)
    keys, queries = rng.integers(-(2**62), 2**62, (2, n))
    keys[0] = -(2**62) - 1
    return keys, np.arange(n), queries


def update_and_floor_sorteddict(sorted_dict, keys, values, queries):
    """Do in one ``update`` what ``insert_and_floor_sorteddict`` does, as fast as it goes."""
    sorted_dict.update(zip(keys, values, strict=True))
    return insert_and_floor_sorteddict(sorted_dict, [], [], queries)


def set_and_floor_many(sorted_map, keys, values, queries):
    sorted_map.set_many(keys, values)
    return sorted_map.floor_many(queries)


def call_by_call(sorted_map, keys, values, queries):
    for key, value in zip(keys, values, strict=True):
        sorted_map[key] = value
    floors = [sorted_map.floor(query) for query in queries]
    return [key for key, _ in floors], [value for _, value in floors]


def rows(n, seconds):
    """Yield the rows of the table."""
    arrays = random_input(n)
    lists = tuple(array.tolist() for array in arrays)
    expected = insert_and_floor_sorteddict(SortedDict(), *lists)
    one_by_one = Side(
        "SortedDict in a loop", lambda made: insert_and_floor_sorteddict(made, *lists), SortedDict, 2 * n
    )
    in_bulk = Side(
        "SortedDict.update and a loop",
        lambda made: update_and_floor_sorteddict(made, *lists),
        SortedDict,
        2 * n,
    )
    for how, name, ours, given, theirs in (
        ("one by one", "SortedMap, inside @njit", insert_and_floor, arrays, one_by_one),
        ("in bulk from Python", "SortedMap.set_many, floor_many", set_and_floor_many, arrays, in_bulk),
        ("call by call from Python", "SortedMap in a loop", call_by_call, lists, one_by_one),
    ):
        must_agree(how, ours(SortedMap(), *given), expected)
        our_side = Side(name, lambda made, run=ours, given=given: run(made, *given), SortedMap, 2 * n)
        work = f"insert {n:,} random keys, then as many floors, {how}"
        yield compare(work, our_side, theirs, seconds, checked=True)
    keys, values, queries = arrays
    sorted_map, sorted_keys = SortedMap.from_arrays(keys, values), np.sort(keys)
    yield compare(
        f"{n:,} random floors among {n:,} keys that do not change",
        Side("SortedMap.floor_many", lambda _: sorted_map.floor_many(queries)[:1], nothing, n),
        Side(
            "numpy.searchsorted in an array",
            lambda _: (sorted_keys[np.searchsorted(sorted_keys, queries, "right") - 1],),
            nothing,
            n,
        ),
        seconds,
    )


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="tiny sizes, to see that it runs")
    options = parser.parse_args(arguments)
    n, seconds = (300, 0) if options.small else (1_000_000, 20)
    print(
        f"Python {platform.python_version()}, numba {numba.__version__}, {os.cpu_count()} processors; "
        f"load {os.getloadavg()[0]:.1f} at the start\n"
    )
    print("| work | ours | instead | an operation | instead | times as fast |\n|---|---|---|---|---|---|")
    for row in rows(n, seconds):
        print(row, flush=True)


if __name__ == "__main__":
    main()
