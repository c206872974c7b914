from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from structures import CountBuckets
from structures.priority_queues import count_buckets_cells as module
from structures.priority_queues.count_buckets_kernels import state
from structures.status import INT64_MAX, INT64_MIN, NEGATIVE, NO_MEMORY, OK
from structures.testing import (
    LANGUAGES,
    CountBucketsMachine,
    HeapModel,
    Operation,
    check_program,
    random_program,
    strategies,
)

TestMachine = CountBucketsMachine.TestCase


# -------------------------------------------------------------------------------------------- programs
@pytest.mark.parametrize(
    ("n_keys", "numbers", "rare"),
    [
        (4, range(-2, 4), 0.7),  # much removal, often empty
        (300, range(3), 0.1),  # few buckets, big heaps
        (300, [1], 0.05),  # moves by one
        (300, range(-1000, 10**6, 997), 0.4),  # many buckets, far moves
        (3000, range(50), 0.02),
        (100, [INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX], 0.3),
    ],
    ids=["empty", "ties", "ones", "far", "large", "ends"],
)
def test_programs(rng, n_keys, numbers, rare):
    language, spread = LANGUAGES[CountBuckets], range(-n_keys // 3, n_keys)
    program = random_program(language, rng, 4000, keys=spread, numbers=numbers, rare=rare)
    model = HeapModel()
    buckets = check_program(language, CountBuckets(), model, program)
    assert list(buckets.items()) == model.items()
    assert buckets.counts().tolist() == model.counts()


@pytest.mark.parametrize("verb", [Operation.POP, Operation.POP_MIN, Operation.SUB, Operation.PEEK])
def test_programs_of_two_verbs(rng, verb):
    """Read after every change, so that few roots wait to be linked."""
    language = LANGUAGES[CountBuckets]
    program = random_program(language, rng, 4000, keys=range(60), numbers=range(1, 9))
    program.operations[500:] = np.where(program.numbers[500:] > 4, Operation.ADD, verb)
    check_program(language, CountBuckets(), HeapModel(), program)


@pytest.mark.reads_statuses
def test_verbs_inside_njit():
    @njit
    def use(buckets, keys, deltas):
        status, failed = buckets.add_many(keys, deltas)
        again, failed_again = buckets.add_many(keys, -2 * deltas)
        no_room = buckets.reserve(2**47)
        popped, counts = buckets.pop_many(2)
        del buckets[popped[0]]  # nothing happens
        missing = buckets[99], buckets.get(99, -7), buckets.remove(99), buckets.pop(), buckets.pop_min()
        buckets.clear()
        ends = buckets.max_count(), buckets.min_count(), buckets.counts().size, buckets.keys_at(0).size
        return status, failed, again, failed_again, no_room, popped, counts, missing, ends, len(buckets)

    keys, deltas = np.array([5, 6, 7, 5]), np.array([1, 2, 3, 4])
    *numbers, popped, found, missing, ends, size = use(CountBuckets(), keys, deltas)
    assert numbers == [OK, 4, NEGATIVE, 1, NO_MEMORY]
    assert (popped.tolist(), found.tolist()) == ([5, 7], [5, 3])
    assert missing == (0, -7, -1, (6, 2), (0, 0))
    assert (ends, size) == ((0, 0, 0, 0), 0)


# ------------------------------------------------------------------------------------ shape and growth
@pytest.mark.parametrize(
    "counts",
    [
        range(200),
        range(200, 0, -1),
        [0] * 200,
        [(-1) ** i * i for i in range(200)],
        [2**i for i in range(63)],
        [i * 987 for i in range(300)],
    ],
    ids=["rising", "falling", "tied", "outwards", "powers", "strided"],
)
def test_buckets_open_and_close(counts):
    counts = list(counts)
    buckets = CountBuckets(enumerate(counts))
    buckets._check()
    assert buckets.counts().tolist() == sorted(set(counts), reverse=True)
    order = np.random.default_rng(0).permutation(len(counts)).tolist()
    for step, key in enumerate(order):
        del buckets[key]
        if step % 16 == 0:
            buckets._check()
    assert buckets.counts().size == 0


def test_the_tree_of_buckets_is_shallow():
    for counts in (np.arange(5000), np.arange(5000)[::-1] * 987, np.arange(0, 5000 * 8, 8)):
        cells = state(CountBuckets.from_arrays(np.arange(5000), counts))[0]
        depth, level = 0, [int(cells[module.RIGHT])]
        while level:
            depth += 1
            below = [int(cells[bucket + side]) for bucket in level for side in (module.LEFT, module.RIGHT)]
            level = [bucket for bucket in below if bucket != module.END]
        assert depth < 50  # 13 at least


def test_a_lonely_key_slides_between_its_neighbors():
    buckets = CountBuckets({1: 10, 2: 20, 3: 30})
    nbytes = buckets.nbytes
    for count in (11, 19, 12, 29, 21, 30, 25, 10, 20, 5, 100, INT64_MIN, INT64_MAX, 20):
        buckets[2] = count
        buckets._check()
        assert buckets.keys_at(count).tolist() == {10: [1, 2], 30: [2, 3]}.get(count, [2])
    assert buckets.nbytes == nbytes


def test_moves_by_one_through_ties():
    buckets, model = CountBuckets(), Counter()
    rng = np.random.default_rng(5)
    for key in rng.zipf(1.3, 4000) % 50:
        buckets.add(key)
        model[int(key)] += 1
        if key % 7 == 0:
            assert buckets.peek() == min(model.items(), key=lambda item: (-item[1], item[0]))
    buckets._check()
    while model:
        key, count = buckets.peek()
        buckets.sub(key, 1)
        model[key] -= 1
        assert count == model[key] + 1
        model += Counter()
    assert len(buckets) == 0


def test_reserve_is_enough():
    buckets = CountBuckets()
    buckets.reserve(1000)
    nbytes = buckets.nbytes
    for key in range(1000):
        buckets[key] = 2 * key
    for key in range(1000):
        buckets[key] = 2 * key + 10_001
    assert buckets.nbytes == nbytes


# -------------------------------------------------------------------------------------------- both ends
def test_zero_is_stored_by_assignment_and_removed_by_adding():
    buckets = CountBuckets({7: 0, 8: -1})
    assert (7 in buckets, buckets[8], buckets.min_count()) == (True, -1, -1)
    buckets.add(7, 0)
    buckets.add(8, 1)
    assert list(buckets.items()) == []
    buckets.sub(5, -3)
    assert buckets[5] == 3


def test_empty():
    buckets = CountBuckets()
    for verb in (buckets.peek_min, buckets.pop_min, buckets.max_count, buckets.min_count):
        with pytest.raises(KeyError, match="CountBuckets is empty"):
            verb()
    assert buckets.pop_min(None) is None
    assert buckets.counts().tolist() == buckets.keys_at(0).tolist() == []


def test_ranges_of_counts():
    buckets = CountBuckets({9: 5, 7: 5, 8: 2, 6: INT64_MAX, 5: INT64_MIN})
    for low, high, expected in (
        (None, None, [6, 7, 9, 8, 5]),
        (2, 5, [8]),
        (2, 6, [7, 9, 8]),
        (5, 2, []),
        (None, INT64_MIN, []),
        (None, INT64_MIN + 1, [5]),
        (6, None, [6]),
        (6, INT64_MAX, []),
    ):
        assert buckets.keys_in(low, high).tolist() == expected
    for count, below, above in (
        (5, 5, 5),
        (4, 2, 5),
        (6, 5, INT64_MAX),
        (1, INT64_MIN, 2),
        (INT64_MIN, INT64_MIN, INT64_MIN),
        (INT64_MAX, INT64_MAX, INT64_MAX),
    ):
        assert (buckets.floor_count(count), buckets.ceiling_count(count)) == (below, above)
    del buckets[5], buckets[6]
    with pytest.raises(KeyError, match="no count at or above 6"):
        buckets.ceiling_count(6)
    with pytest.raises(KeyError, match="no count at or below 1"):
        buckets.floor_count(1)
    assert (buckets.ceiling_count(INT64_MAX, "none"), buckets.floor_count(INT64_MIN, None)) == ("none", None)
    assert (CountBuckets().floor_count(0, -1), CountBuckets().keys_in().tolist()) == (-1, [])
    for call in (buckets.keys_in, buckets.floor_count, buckets.ceiling_count):
        with pytest.raises(TypeError, match="must be an integer"):
            call(1.5)


def test_counts_of_wrong_types():
    buckets = CountBuckets({7: 1})
    with pytest.raises(TypeError, match="count must be an integer"):
        buckets.keys_at(1.0)
    with pytest.raises(OverflowError):
        buckets.keys_at(2**63)
    with pytest.raises(TypeError, match="counts must be integers"):
        CountBuckets({7: 1.5})


@given(st.dictionaries(strategies.keys(), strategies.counts()))
def test_arrays_round_trip(items):
    buckets, model = CountBuckets(items), HeapModel(items)
    buckets._check()
    assert list(buckets.items()) == model.items()
    assert CountBuckets.from_arrays(*buckets.to_arrays()) == buckets
    for count in (*model.counts(), 5):
        assert buckets.keys_at(count).tolist() == model.keys_at(count)
