"""Keys that somebody chose, or that come out of another table in an unlucky order: searches stay short.

Searches are counted, not timed: how far each key is from its home, in buckets or slots. As many random keys
are the measure.
"""

import subprocess
import sys

import numpy as np
import pytest

import structures as st
from structures.hash_tables import byte_counter_kernels, int_map_kernels
from structures.primitives.hashing import SEED, mix, mix_two
from structures.priority_queues import count_buckets_kernels, multiset_heap_kernels

GOLDEN, ROOT_2 = 0x9E3779B97F4A7C15, 0x6A09E667F3BCC909  # factors of hashes without a seed


def inverse(factor):
    return np.uint64(pow(factor, -1, 2**64))


def unfolded(words):
    return words ^ (words >> np.uint64(32))


def keys_for_golden(n):
    """Keys that a Fibonacci hash of the folded key puts into one place of any table below 2**40 places."""
    return unfolded(np.arange(n, dtype=np.uint64) * inverse(GOLDEN)).view(np.int64)


def words_for_golden(n, rng):
    """Words of 15 bytes that a hash of two such steps puts into one place."""
    found = np.empty((0, 2), np.uint64)
    wanted = np.uint64(16)  # the length plus 1, in the last byte
    while len(found) < n:
        word_0 = rng.integers(0, 2**63, 1 << 20, dtype=np.uint64)
        first = unfolded(word_0 * np.uint64(GOLDEN))
        word_1 = np.arange(1 << 20, dtype=np.uint64) * inverse(ROOT_2) - first
        fits = word_1 >> np.uint64(56) == wanted
        found = np.concatenate([found, np.stack([word_0[fits], word_1[fits]], 1)])
    return np.ascontiguousarray(found[:n]).view(np.uint8).reshape(n, 16)[:, :15]


def map_of(container):
    if isinstance(container, st.IntMap):
        return container
    if isinstance(container, st.CountBuckets):
        return count_buckets_kernels.state(container)[1]
    return multiset_heap_kernels.state(container)[1]


def walk(container):
    """Return how many buckets the searches for all keys of a table walk past."""
    slots = int_map_kernels.state(map_of(container))[0]
    n_buckets = slots.size // 8 - 1
    shift = 65 - n_buckets.bit_length()  # there are a power of two of them
    places = np.flatnonzero(slots[:-8].reshape(-1, 8)[:, :4].ravel() != int_map_kernels.EMPTY)
    buckets = places >> 2
    keys = slots[:-8].reshape(-1, 8)[:, :4].ravel()[places]
    homes = np.array([mix(key, SEED, shift) for key in keys])
    return int(((buckets - homes) % n_buckets).sum())


def walk_of_words(counter):
    slots, *_, shift = byte_counter_kernels.state(counter)
    rows = slots[:-4].reshape(-1, 4)
    occupied = np.flatnonzero(rows[:, 1])
    homes = np.array([mix_two(*rows[slot, :2], SEED, shift) for slot in occupied])
    return int(((occupied - homes) % len(rows)).sum())


@pytest.mark.parametrize("make", [st.IntMap, st.MaxHeap, st.CountBuckets])
@pytest.mark.parametrize("n", [5000, 10_000])
def test_chosen_keys_are_as_good_as_random_ones(make, n, rng):
    random, chosen = make(), make()
    random.add_many(rng.integers(-(2**63), 2**63 - 1, n), np.ones(n, np.int64))
    chosen.add_many(keys_for_golden(n), np.ones(n, np.int64))
    assert walk(chosen) < 2 * walk(random) + 100


@pytest.mark.parametrize("n", [5000, 10_000])
def test_chosen_words_are_as_good_as_random_ones(n, rng):
    walks = []
    for words in (rng.integers(0, 256, (n, 15), dtype=np.uint8), words_for_golden(n, rng)):
        counter = st.ByteCounter()
        counter.add_many(words.ravel(), np.arange(n + 1) * 15)
        walks.append(walk_of_words(counter))
    assert walks[1] < 2 * walks[0] + 200


@pytest.mark.parametrize("make", [st.IntMap, st.MaxHeap, st.CountBuckets])
def test_keys_that_come_out_of_a_table_go_well_into_another(make, rng):
    source = st.IntMap.from_arrays(rng.integers(-(2**63), 2**63 - 1, 12_000), np.ones(12_000, np.int64))
    keys, values = source.to_arrays()
    walks = []
    for order in (np.arange(keys.size), rng.permutation(keys.size)):
        container = make()
        walks.append(0)
        for some in np.array_split(order, 8):  # while it grows
            container.add_many(keys[some], values[some])
            walks[-1] += walk(container)
    assert walks[0] < 2 * walks[1] + 100


def test_counts_chosen_for_the_treap_do_not_make_it_deep():
    """A treap whose priorities are known gets as deep as it has buckets, by counts in their order."""
    n = 1000
    fold = np.vectorize(lambda word: int(unfolded(np.uint64(word))) * GOLDEN % 2**64)
    known = fold(fold(8 * np.arange(2, 2 * n + 2, 2))).astype(np.uint64).view(np.int64)
    container = st.CountBuckets()
    for key, count in enumerate(np.argsort(np.argsort(known)) + 1):
        container[key] = int(count)
    cells = count_buckets_kernels.state(container)[0]
    depth, level = 0, [int(cells[count_buckets_kernels.RIGHT])]
    while level:
        depth += 1
        level = [int(cells[bucket + side]) for bucket in level for side in (6, 7) if cells[bucket + side]]
    assert depth < 60  # 2 log2 n and some more; n if the priorities were known


def test_iteration_does_not_depend_on_the_history(rng):
    keys = rng.integers(-(2**63), 2**63 - 1, 70_000)
    one, other = st.IntMap(), st.IntMap()
    one.set_many(keys, keys // 3)
    other.reserve(10**6)
    other.set_many(keys[::-1], keys[::-1])
    for key in keys[:500].tolist():
        del other[key]
    other.set_many(keys, keys // 3)
    for container in (one, other):
        found, values = container.to_arrays()
        assert np.array_equal(found, np.unique(keys))
        assert np.array_equal(values, found // 3)


SHOW_PLACES = """
import sys
import numpy as np
import structures
from structures.hash_tables import byte_counter_kernels, int_map_kernels

m = structures.IntMap({key: 1 for key in range(20)})
c = structures.ByteCounter({b"%d" % number: 1 for number in range(20)})
m._check(), c._check()
print(list(m), list(c), file=sys.stderr)
print(np.flatnonzero(int_map_kernels.state(m)[0][:-8] == 1).tolist())
print(np.flatnonzero(byte_counter_kernels.state(c)[0][:-4]).tolist())
"""


def test_processes_that_share_a_cache_have_homes_of_their_own():
    runs = [
        subprocess.run([sys.executable, "-c", SHOW_PLACES], check=True, capture_output=True) for _ in range(2)
    ]
    assert runs[0].stderr == runs[1].stderr
    for one, other in zip(*(run.stdout.splitlines() for run in runs), strict=True):
        assert one != other
