import copy
import os
import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from numba import njit

from structures import count_buckets as module
from structures.count_buckets import CountBuckets
from structures.status import INT64_MAX, INT64_MIN, NEGATIVE, OK, OVERFLOW

DEPTH = int(os.environ.get("STRUCTURES_FUZZ_DEPTH", "1"))
KEYS = [-1, 0, 1, 2, 3, 7, 8, INT64_MAX, INT64_MIN, INT64_MIN + 1]
KEY = st.sampled_from(KEYS)
COUNT = st.one_of(
    st.integers(-3, 6),
    st.sampled_from([INT64_MIN, INT64_MIN + 1, INT64_MAX - 1, INT64_MAX]),
    st.integers(INT64_MIN, INT64_MAX),
)


class Model(dict):
    """The specification: a dict, and the order of its items."""

    def change(self, key, delta):
        count = self.get(key, 0) + delta
        if not INT64_MIN <= count <= INT64_MAX:
            raise OverflowError(key)
        if count < 0:
            raise ValueError(key)
        if count > 0:
            self[key] = count
        else:
            self.pop(key, None)

    def in_order(self):
        return sorted(self.items(), key=lambda item: (-item[1], item[0]))

    def first(self, least=False):
        items = self.in_order()
        return min(items, key=lambda item: (item[1], item[0])) if least else items[0]


def outcome(call, *args):
    """Return what a call gives, or the type of what it raises."""
    try:
        return call(*args)
    except (KeyError, ValueError, OverflowError) as error:
        return type(error)


def as_pairs(arrays):
    return list(zip(*(array.tolist() for array in arrays), strict=True))


# ------------------------------------------------------------------------------------ against the model
class Machine(RuleBasedStateMachine):
    @initialize(items=st.dictionaries(KEY, COUNT))
    def start(self, items):
        self.model, self.buckets = Model(items), CountBuckets(items)

    @rule(key=KEY, count=COUNT)
    def assign(self, key, count):
        self.model[key] = self.buckets[key] = count

    @rule(key=KEY, n=st.one_of(COUNT, st.just(1)))
    def add(self, key, n):
        assert outcome(self.buckets.add, key, n) == outcome(self.model.change, key, n)

    @rule(key=KEY, n=st.one_of(COUNT, st.just(1)))
    def sub(self, key, n):
        assert outcome(self.buckets.sub, key, n) == outcome(self.model.change, key, -n)

    @rule(key=KEY)
    def delete(self, key):
        assert outcome(self.buckets.__delitem__, key) == outcome(self.model.__delitem__, key)

    @rule(key=KEY)
    def read(self, key):
        assert outcome(self.buckets.__getitem__, key) == outcome(self.model.__getitem__, key)
        assert self.buckets.get(key, None) == self.model.get(key)
        assert (key in self.buckets) == (key in self.model)

    @rule(least=st.booleans(), remove=st.booleans())
    def end(self, least, remove):
        if not self.model:
            for verb in ("peek", "peek_min", "pop", "pop_min", "max_count", "min_count"):
                assert outcome(getattr(self.buckets, verb)) is KeyError
            assert self.buckets.pop(None) is None
            assert self.buckets.pop_min("none") == "none"
            return
        expected = self.model.first(least)
        assert (self.buckets.min_count if least else self.buckets.max_count)() == expected[1]
        assert (self.buckets.peek_min if least else self.buckets.peek)() == expected
        if remove:
            assert (self.buckets.pop_min if least else self.buckets.pop)() == expected
            del self.model[expected[0]]

    @rule(k=st.integers(0, 12))
    def pop_many(self, k):
        expected = self.model.in_order()[:k]
        assert as_pairs(self.buckets.pop_many(k)) == expected
        for key, _ in expected:
            del self.model[key]

    @rule(k=st.integers(0, 12))
    def nlargest(self, k):
        assert as_pairs(self.buckets.nlargest(k)) == self.model.in_order()[:k]

    @rule(items=st.lists(st.tuples(KEY, COUNT), max_size=8))
    def update_many(self, items):
        after = Model(self.model)

        def change_all():
            for key, delta in items:
                after.change(key, delta)

        expected = outcome(change_all)
        got = outcome(self.buckets.update_many, [key for key, _ in items], [delta for _, delta in items])
        assert got == expected
        if expected is None:
            self.model = after

    @rule(data=st.data())
    def keys_at(self, data):
        count = data.draw(st.one_of(COUNT, st.sampled_from([0, *self.model.values()])))
        expected = sorted(key for key, number in self.model.items() if number == count)
        assert self.buckets.keys_at(count).tolist() == expected

    @rule(way=st.sampled_from([copy.copy, copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b))]))
    def replace_by_copy(self, way):
        old, self.buckets = self.buckets, way(self.buckets)
        assert old == self.buckets
        old.clear()
        old._check()
        assert len(old) == 0

    @rule(n=st.integers(0, 20))
    def reserve(self, n):
        self.buckets.reserve(n)

    @rule()
    def look_at_all(self):
        expected = self.model.in_order()
        assert as_pairs(self.buckets.to_arrays()) == list(self.buckets.items()) == expected
        assert list(self.buckets) == [key for key, _ in expected]
        assert self.buckets.counts().tolist() == sorted(set(self.model.values()), reverse=True)
        assert self.buckets == CountBuckets(self.model)

    @invariant()
    def holds(self):
        if hasattr(self, "model"):
            self.buckets._check()
            assert len(self.buckets) == len(self.model)


Machine.TestCase.settings = settings(max_examples=40 * DEPTH, stateful_step_count=40, deadline=None)
TestMachine = Machine.TestCase


# --------------------------------------------------------------------------------------- inside @njit
SET, ADD, SUB, REMOVE, GET, CONTAINS, PEEK, POP, PEEK_MIN, POP_MIN, ENDS, KEYS_AT, NLARGEST, COPY = range(14)


@njit
def run(buckets, program, results):
    """Run a program of (op, key, number) rows; write two numbers a row."""
    for i in range(program.shape[0]):
        op, key, number = program[i]
        first, second = 0, 0
        if op == SET:
            buckets[key] = number
        elif op == ADD:
            first = buckets.add(key, number)
        elif op == SUB:
            first = buckets.sub(key, number)
        elif op == REMOVE:
            first = buckets.remove(key)
        elif op == GET:
            first, second = buckets[key], buckets.get(key, -7)
        elif op == CONTAINS:
            first, second = int(key in buckets), len(buckets)
        elif op == PEEK:
            first, second = buckets.peek()
        elif op == POP:
            first, second = buckets.pop()
        elif op == PEEK_MIN:
            first, second = buckets.peek_min()
        elif op == POP_MIN:
            first, second = buckets.pop_min()
        elif op == ENDS:
            first, second = buckets.max_count(), buckets.min_count()
        elif op == KEYS_AT:
            keys = buckets.keys_at(number)
            first, second = keys.size, keys.sum()
        elif op == NLARGEST:
            keys, counts = buckets.nlargest(number)
            first, second = keys.sum(), counts.sum()
        elif op == COPY:
            buckets = buckets.copy()
            first = buckets.counts().size
        results[i, 0] = first
        results[i, 1] = second
    return buckets


def run_model(program):
    """Run the same program on the model."""
    model, results = Model(), []

    def change(key, delta):
        status = {None: OK, ValueError: NEGATIVE, OverflowError: OVERFLOW}[outcome(model.change, key, delta)]
        return status, 0

    def end(least, remove):
        if not model:
            return 0, 0
        item = model.first(least)
        if remove:
            del model[item[0]]
        return item

    for op, key, number in program.tolist():
        result = (0, 0)
        if op == SET:
            model[key] = number
        elif op in (ADD, SUB):
            result = change(key, number if op == ADD else -number)
        elif op == REMOVE:
            result = (0 if model.pop(key, None) is not None else -1), 0
        elif op == GET:
            result = model.get(key, 0), model.get(key, -7)
        elif op == CONTAINS:
            result = int(key in model), len(model)
        elif op in (PEEK, POP, PEEK_MIN, POP_MIN):
            result = end(op in (PEEK_MIN, POP_MIN), op in (POP, POP_MIN))
        elif op == ENDS:
            result = (max(model.values()), min(model.values())) if model else (0, 0)
        elif op == KEYS_AT:
            keys = [k for k, count in model.items() if count == number]
            result = len(keys), sum(keys)
        elif op == NLARGEST:
            items = model.in_order()[: max(number, 0)]
            result = sum(k for k, _ in items), sum(count for _, count in items)
        elif op == COPY:
            result = len(set(model.values())), 0
        results.append(result)
    return model, results


@pytest.mark.parametrize(
    ("n_keys", "least", "most", "bulk"),
    [
        (4, -2, 3, 0.3),  # much removal, many ties, often empty
        (300, 0, 2, 0.9),  # few buckets, big heaps
        (300, 1, 1, 0.97),  # moves by one
        (300, -1000, 10**6, 0.6),  # many buckets, far moves
        (3000, 0, 50, 0.98),
    ],
)
@pytest.mark.parametrize("seed", range(2 * DEPTH))
def test_programs(n_keys, least, most, bulk, seed):
    rng = np.random.default_rng(seed)
    n = 3000
    program = np.empty((n, 3), np.int64)
    program[:, 0] = np.where(rng.random(n) < bulk, rng.integers(SET, REMOVE, n), rng.integers(0, COPY + 1, n))
    program[:, 1] = rng.integers(0, n_keys, n) - n_keys // 3
    program[:, 2] = rng.integers(least, most + 1, n)
    results = np.empty((n, 2), np.int64)
    buckets = run(CountBuckets(), program, results)
    model, expected = run_model(program)
    wrong = [i for i in range(n) if tuple(results[i]) != expected[i]]
    assert not wrong, (wrong[0], program[wrong[0]], results[wrong[0]], expected[wrong[0]])
    buckets._check()
    assert list(buckets.items()) == model.in_order()


def test_update_many_and_pop_many_inside_njit():
    @njit
    def drive(buckets, keys, deltas):
        status, failed = buckets.update_many(keys, deltas)
        again, failed_again = buckets.update_many(keys, -2 * deltas)
        buckets.reserve(100)
        popped, counts = buckets.pop_many(2)
        del buckets[popped[0]]  # nothing happens
        buckets.clear()
        return status, failed, again, failed_again, popped, counts, len(buckets)

    keys, deltas = np.array([5, 6, 7, 5]), np.array([1, 2, 3, 4])
    *numbers, popped, counts, size = drive(CountBuckets(), keys, deltas)
    assert numbers == [OK, 4, NEGATIVE, 1]
    assert (popped.tolist(), counts.tolist(), size) == ([5, 7], [5, 3], 0)


# ------------------------------------------------------------------------------------ shape and growth
def test_growth_across_powers_of_two():
    buckets = CountBuckets()
    for n in range(1, 600):
        buckets[n] = n % 97
        if n & (n + 1) == 0 or n & (n - 1) == 0 or (n - 1) & (n - 2) == 0:
            buckets._check()
    assert list(buckets.items()) == sorted(
        ((n, n % 97) for n in range(1, 600)), key=lambda item: (-item[1], item[0])
    )
    for _ in range(599):
        buckets.pop_min()
    buckets._check()
    assert list(buckets) == []


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
        cells = module._state(CountBuckets.from_arrays(np.arange(5000), counts))[0]
        depth, level = 0, [int(cells[module.RIGHT])]
        while level:
            depth += 1
            below = [int(cells[bucket + side]) for bucket in level for side in (module.LEFT, module.RIGHT)]
            level = [bucket for bucket in below if bucket != module.END]
        assert depth < 50  # 13 at least


def test_a_lonely_key_slides_between_its_neighbours():
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


# ----------------------------------------------------------------------------------------------- errors
def test_errors_change_nothing():
    buckets = CountBuckets({7: 2, 8: INT64_MAX, 9: -4})
    before = buckets.copy()
    with pytest.raises(ValueError, match="key 7 would fall below 0"):
        buckets.sub(7, 3)
    with pytest.raises(ValueError, match="key 6 would fall below 0"):
        buckets.sub(6)
    with pytest.raises(ValueError, match="key 9 would fall below 0"):
        buckets.add(9, 3)
    with pytest.raises(OverflowError, match="key 8"):
        buckets.add(8)
    with pytest.raises(OverflowError, match="key 7"):
        buckets.sub(7, INT64_MIN)
    with pytest.raises(KeyError, match="6"):
        del buckets[6]
    with pytest.raises(KeyError, match="6"):
        buckets[6]
    with pytest.raises(ValueError, match="key 7 would fall"):
        buckets.update_many([1, 7, 9, 7], [5, 1, 4, -4])
    with pytest.raises(OverflowError, match="key 8"):
        buckets.update_many([1, 9, 8], [5, 4, 1])
    with pytest.raises(ValueError, match="2 keys but 1 deltas"):
        buckets.update_many([1, 2], [3])
    with pytest.raises(TypeError, match="count must be an integer"):
        buckets[1] = 1.5
    with pytest.raises(OverflowError, match="does not fit int64"):
        buckets[1] = 2**63
    with pytest.raises(ValueError, match="k must be"):
        buckets.pop_many(-1)
    with pytest.raises(MemoryError):
        buckets.reserve(2**47)
    buckets.sub(6, 0)
    buckets._check()
    assert buckets == before


def test_zero_is_stored_by_assignment_and_removed_by_adding():
    buckets = CountBuckets({7: 0, 8: -1})
    assert (7 in buckets, buckets[8], buckets.min_count()) == (True, -1, -1)
    buckets.add(7, 0)
    buckets.add(8, 1)
    assert list(buckets.items()) == []
    buckets.sub(5, -3)
    assert buckets[5] == 3


def test_repeated_keys_are_named():
    with pytest.raises(ValueError, match="key 5 stands there twice"):
        CountBuckets.from_arrays([4, 5, 6, 5], [1, 2, 3, 4])
    with pytest.raises(ValueError, match="key 5 stands there twice"):
        CountBuckets([(5, 1), (5, 1)])
    with pytest.raises(ValueError, match="2 keys but 1 counts"):
        CountBuckets.from_arrays([4, 5], [1])


def test_odd_keys_and_equality():
    buckets = CountBuckets({1: 1})
    assert "x" not in buckets
    assert 2**70 not in buckets
    assert 1.0 not in buckets
    assert buckets.get("x", None) is None
    assert buckets == CountBuckets([(1, 1)])
    assert buckets != CountBuckets({1: 2})
    assert buckets != {1: 1}
    assert repr(buckets) == "<CountBuckets of 1>"
    with pytest.raises(TypeError):
        hash(buckets)


@given(st.dictionaries(st.integers(INT64_MIN, INT64_MAX), COUNT))
@settings(max_examples=30 * DEPTH, deadline=None)
def test_arrays_round_trip(items):
    buckets = CountBuckets(items)
    buckets._check()
    keys, counts = buckets.to_arrays()
    assert dict(zip(keys.tolist(), counts.tolist(), strict=True)) == items
    assert CountBuckets.from_arrays(keys, counts) == buckets
