import copy
import os
import pickle
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from numba import njit
from numba.core.errors import TypingError

from structures import ByteCounter, MaxHeap, kernel
from structures.hash_tables import byte_counter_kernels as module
from structures.hash_tables.byte_keys import key_of as key_of_string
from structures.primitives.hashing import SEED, mix_two
from structures.primitives.simd import _py_load_word, _py_multiply_fold, load_word, multiply_fold, pointer_to
from structures.status import INT64_MAX, INT64_MIN, OK, OVERFLOW, UNEQUAL

DEPTH = int(os.environ.get("FUZZ_DEPTH", "1"))
BOOK = Path(__file__).parents[2] / "data" / "treasure_island.txt"
LENGTHS = [0, 1, 2, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 40]
# Few words, so that they recur: prefixes of each other, and with zeros, with which words are padded.
FAMILIAR = [base[:n] for base in (b"a" * 40, b"\0" * 40, b"a\xff" * 20, bytes(range(40))) for n in LENGTHS]
WORD = st.one_of(st.sampled_from(FAMILIAR), st.binary(max_size=40))
COUNT = st.one_of(
    st.integers(-3, 6),
    st.sampled_from([INT64_MIN, INT64_MIN + 1, INT64_MAX - 1, INT64_MAX]),
    st.integers(INT64_MIN, INT64_MAX),
)


class Model(dict):
    """The specification: a dict in the order of the ids."""

    def add(self, word, n=1):
        count = self.get(word, 0) + n
        if not INT64_MIN <= count <= INT64_MAX:
            raise OverflowError(word)
        self[word] = count

    def added(self, items):
        """Return a copy with all counts added."""
        after = Model(self)
        for word, n in items:
            after.add(word, n)
        return after


def outcome(call, *args):
    """Return the result of a call, or the type of its exception."""
    try:
        return call(*args)
    except (KeyError, OverflowError) as error:
        return type(error)


def joined(words):
    """Return the words in one array, and their offsets."""
    offsets = np.cumsum([0, *map(len, words)])
    return np.frombuffer(bytearray(b"".join(words)), np.uint8), offsets


def same(counter, model):
    """Return whether both have the same words, ids and counts."""
    return list(counter.items()) == list(model.items())


# ------------------------------------------------------------------------------------ against the model
class Machine(RuleBasedStateMachine):
    @initialize(items=st.dictionaries(WORD, COUNT))
    def start(self, items):
        self.model, self.counter = Model(items), ByteCounter(items)

    @rule(word=WORD, count=COUNT)
    def assign(self, word, count):
        self.model[word] = self.counter[word] = count

    @rule(word=WORD, n=st.one_of(COUNT, st.just(1)))
    def add(self, word, n):
        assert outcome(self.counter.add, word, n) == outcome(self.model.add, word, n)

    @rule(word=WORD)
    def read(self, word):
        assert outcome(self.counter.__getitem__, word) == outcome(self.model.__getitem__, word)
        assert self.counter.get(word, None) == self.model.get(word)
        assert self.counter.get(word) == self.model.get(word, 0)
        assert (word in self.counter) == (word in self.model)
        if word in self.model:
            word_id = list(self.model).index(word)
            assert self.counter.id_of(word) == word_id
            assert self.counter.word(word_id) == word
        else:
            with pytest.raises(KeyError):
                self.counter.id_of(word)

    @rule(
        items=st.lists(st.tuples(WORD, COUNT), max_size=12),
        way=st.sampled_from(["flat", "add_many", "merge"]),
    )
    def bulk(self, items, way):
        if way == "flat":
            data, offsets = joined([word for word, _ in items])
            counts = [n for _, n in items]
            got = outcome(self.counter.add_many, data, offsets, counts)
        else:
            items = list(dict(items).items())
            other = dict(items) if way == "add_many" else ByteCounter(items)
            got = outcome(getattr(self.counter, way), other)
        expected = outcome(self.model.added, items)
        if expected is OverflowError:
            assert got is OverflowError
        else:
            assert got is None
            self.model = expected

    @rule(words=st.lists(WORD, max_size=12), whole=st.booleans())
    def add_many(self, words, whole):
        got = outcome(self.counter.add_many, *(joined(words) if whole else [words]))
        expected = outcome(self.model.added, [(word, 1) for word in words])
        if expected is OverflowError:
            assert got is OverflowError
        else:
            assert got is None
            self.model = expected

    @rule(k=st.one_of(st.none(), st.integers(0, 12)))
    def most_common(self, k):
        expected = sorted(self.model.items(), key=lambda item: -item[1])
        assert self.counter.most_common(k) == expected[:k]

    @rule(way=st.sampled_from([copy.copy, copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))]))
    def replace_by_copy(self, way):
        old, self.counter = self.counter, way(self.counter)
        assert old == self.counter
        old.clear()
        old._check()
        assert len(old) == 0

    @rule()
    def merge_with_itself(self):
        if all(INT64_MIN <= 2 * count <= INT64_MAX for count in self.model.values()):
            self.counter.merge(self.counter)
            self.model = Model({word: 2 * count for word, count in self.model.items()})
        else:
            with pytest.raises(OverflowError):
                self.counter.merge(self.counter)

    @rule(n_words=st.integers(0, 60), n_bytes=st.integers(0, 600))
    def reserve(self, n_words, n_bytes):
        self.counter.reserve(n_words, n_bytes)

    @rule(seed=st.integers(0, 99))
    def equality(self, seed):
        items = list(self.model.items())
        np.random.default_rng(seed).shuffle(items)
        other = ByteCounter(items)
        assert self.counter == other
        other.add(b"another word")
        assert self.counter != other
        if items:
            other = ByteCounter(items)
            other[items[0][0]] = 0 if items[0][1] else 1
            assert self.counter != other

    @invariant()
    def holds(self):
        if hasattr(self, "model"):
            self.counter._check()
            assert len(self.counter) == len(self.model)
            assert list(self.counter) == list(self.model)
            assert same(self.counter, self.model)


Machine.TestCase.settings = settings(max_examples=25 * DEPTH, stateful_step_count=30, deadline=None)
TestMachine = Machine.TestCase


# --------------------------------------------------------------------------------------- inside @njit
ADD, ADD_ONE, SET, GET, ID_OF, COUNT_OF, WORD_OF, MERGE, COPY, MANY = range(10)


@njit
def run(counter, data, program, results):
    """Run a program of (op, start, end, number) rows; write two results a row."""
    for i in range(program.shape[0]):
        op, start, end, number = program[i]
        first, second = 0, 0
        if op == ADD:
            first = counter.add(data, start, end, number)
        elif op == ADD_ONE:
            first = counter.add(data, start, end)
        elif op == SET:
            first = counter.set(data, start, end, number)
        elif op == GET:
            first, second = counter.get(data, start, end), counter.get(data, start, end, -7)
        elif op == ID_OF:
            first, second = counter.id_of(data, start, end), len(counter)
        elif op == COUNT_OF:
            if counter.id_of(data, start, end) >= 0:
                first = counter.count(counter.id_of(data, start, end))
        elif op == WORD_OF:
            if number % 7 < len(counter):
                for byte in counter.word(number % 7):
                    first = (first * 31 + byte) % 1000003
        elif op == MERGE:
            other = counter.copy()
            other.clear()
            other.add(data, start, end, number)
            other.add(data, 0, 1, 1)
            first, second = counter.merge(other)
        elif op == COPY:
            counter = counter.copy()
            counter.reserve(len(counter) + 3, 100)
            words, offsets, counts = counter.to_arrays()
            first, second = words.size, counts.sum()
        elif op == MANY:
            offsets = np.array([start, (start + end) // 2, end, end])
            first, second = counter.add_many(data, offsets, np.array([number, 1, 0]))
        results[i, 0] = first
        results[i, 1] = second
    return counter


def run_model(data, program):
    """Run the same program on the model."""
    model, results = Model(), []
    for op, start, end, number in program.tolist():
        word, first, second = data[start:end], 0, 0
        if op in (ADD, ADD_ONE):
            failure = outcome(model.add, word, number if op == ADD else 1)
            first = list(model).index(word) if failure is None else OVERFLOW
        elif op == SET:
            model[word] = number
            first = list(model).index(word)
        elif op == GET:
            first, second = model.get(word, 0), model.get(word, -7)
        elif op == ID_OF:
            first, second = list(model).index(word) if word in model else -1, len(model)
        elif op == COUNT_OF:
            first = model.get(word, 0)
        elif op == WORD_OF and number % 7 < len(model):
            for byte in list(model)[number % 7]:
                first = (first * 31 + byte) % 1000003
        elif op == MERGE:
            model = model.added(Model().added([(word, number), (data[:1], 1)]).items())
            first, second = OK, len({word, data[:1]})
        elif op == COPY:
            first, second = sum(map(len, model)), sum(model.values())
        elif op == MANY:
            middle = (start + end) // 2
            model = model.added([(data[start:middle], number), (data[middle:end], 1), (b"", 0)])
            first, second = OK, 3
        results.append((first, second))
    return model, results


@pytest.mark.reads_statuses
@pytest.mark.parametrize("alphabet", [1, 2, 256])
@pytest.mark.parametrize("n_bytes", [16, 64, 500])
@pytest.mark.parametrize("seed", range(DEPTH))
def test_programs(alphabet, n_bytes, seed):
    rng = np.random.default_rng([seed, alphabet, n_bytes])
    data = rng.integers(0, alphabet, n_bytes).astype(np.uint8)
    n = 1000
    program = np.empty((n, 4), np.int64)
    program[:, 0] = np.where(
        rng.random(n) < 0.8, rng.integers(ADD, COUNT_OF, n), rng.integers(0, MANY + 1, n)
    )
    lengths = rng.choice([n for n in LENGTHS if n <= n_bytes], n)
    program[:, 1] = rng.integers(0, n_bytes + 1 - lengths)
    near_end = rng.random(n) < 0.3
    program[near_end, 1] = n_bytes - lengths[near_end]
    program[:, 2] = program[:, 1] + lengths
    program[:, 3] = rng.integers(-1000, 1000, n)
    results = np.empty((n, 2), np.int64)
    counter = run(ByteCounter(), data, program, results)
    model, expected = run_model(data.tobytes(), program)
    wrong = [i for i in range(n) if tuple(results[i]) != expected[i]]
    assert not wrong, (wrong[0], program[wrong[0]], results[wrong[0]], expected[wrong[0]])
    counter._check()
    assert same(counter, model)


def test_overflow_inside_njit():
    @njit
    def drive(counter, data, one_each):
        ids = counter.add(data, 0, 3, INT64_MAX - 1), counter.add(data, 0, 3), counter.add(data, 0, 3)
        many = counter.add_many(data, np.array([3, 5, 6, 9]), one_each)
        size = len(counter)
        again = counter.add_many(data, np.array([3, 5, 6]), one_each)
        return ids, many, size, again, counter.merge(counter)

    counter = ByteCounter()
    ids, many, size, again, merged = drive(counter, joined([b"lowestlow"])[0], np.empty(0, np.int64))
    assert ids == (0, 0, OVERFLOW)
    assert (many, size) == ((OVERFLOW, 2), 1)
    assert again == (OK, 2)
    assert merged == (OVERFLOW, 0)
    counter._check()
    assert same(counter, {b"low": INT64_MAX, b"es": 1, b"t": 1})


def test_strided_data_inside_njit():
    @njit
    def drive(counter, data):
        return counter.add(data, 0, 3)

    with pytest.raises(TypingError, match="C-contiguous array"):
        drive(ByteCounter(), np.zeros(40, np.uint8)[::2])


def test_read_only_data_inside_njit():
    @njit
    def drive(counter, data):
        return counter.add(data, 0, 3), counter.add(data, 3, 6), counter.get(data, 0, 3)

    assert drive(ByteCounter(), np.frombuffer(b"lowlow" + bytes(20), np.uint8)) == (0, 0, 2)


OFFSET_DTYPES = [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64]


@pytest.mark.parametrize("dtype", OFFSET_DTYPES)
def test_offsets_of_every_width(dtype):
    """Offsets in a buffer may be narrow integers; callers need not convert them."""
    words = [b"low", b"", b"internationalization", b"low", b"lower", b"newest"]
    data, offsets = joined(words)
    offsets = offsets.astype(dtype)
    counts_dtype = np.int64 if dtype is np.int64 else np.int32  # each pair of dtypes is compiled
    for one_each in (np.empty(0, counts_dtype), np.array([3, 1, 4, 1, 5, 9], counts_dtype)):
        inside, outside = ByteCounter({b"low": 1}), ByteCounter({b"low": 1})
        assert add_many(inside, data, offsets, one_each) == (OK, len(words))
        inside._check()
        outside.add_many(data, offsets, one_each if one_each.size else None)
        expected = Model({b"low": 1}).added(zip(words, one_each.tolist() or [1] * len(words), strict=True))
        assert same(inside, expected)
        assert same(outside, expected)
    assert same(ByteCounter.from_arrays(data, offsets, [1] * 6), Counter(words))
    full = ByteCounter({b"newest": INT64_MAX})
    assert add_many(full, data, offsets, np.empty(0, counts_dtype)) == (OVERFLOW, 5)
    full._check()
    assert same(full, {b"newest": INT64_MAX})


def test_arrays_of_unequal_length_inside_njit():
    counter = ByteCounter({b"low": 1})
    data, offsets = joined([b"low", b"lower"])
    for n_counts in (1, 3):
        status = add_many(counter, data, offsets, np.ones(n_counts, np.int64))
        assert status == (UNEQUAL, min(n_counts, 2))
    assert add_many(counter, data, offsets[:1], np.ones(0, np.int64)) == (OK, 0)
    assert add_many(counter, data, offsets[:0], np.ones(0, np.int64)) == (OK, 0)
    assert same(counter, {b"low": 1})


@njit
def add_many(counter, data, offsets, counts):
    return counter.add_many(data, offsets, counts)


# --------------------------------------------------------------------------- kernels on plain arrays
@njit
def count_slices(slots, shift, offsets, pool, data, spans):
    """Count slices of `data` with kernels alone; return how many are distinct."""
    size = 0
    for i in range(spans.shape[0]):
        start, end = spans[i]
        word = pointer_to(data, start)
        word_0, word_1 = key_of_string(word, end - start, data.size - start, SEED)
        slot = module.locate(slots, shift, offsets, pool, word, word_0, word_1)
        if slot < 0:
            slot = ~slot
            slots[4 * slot], slots[4 * slot + 1], slots[4 * slot + 2] = word_0, word_1, size
            size += 1
            pool[offsets[size - 1] : offsets[size - 1] + end - start] = data[start:end]
            offsets[size] = offsets[size - 1] + end - start
        slots[4 * slot + 3] += 1
    return size


@pytest.mark.parametrize("alphabet", [1, 3])
def test_kernels_against_a_dict(alphabet):
    rng = np.random.default_rng(alphabet)
    data = rng.integers(0, alphabet, 120).astype(np.uint8)
    lengths = rng.choice(LENGTHS, 300)
    starts = rng.integers(0, 121 - lengths)
    spans = np.stack([starts, starts + lengths], 1)
    bits = module.capacity_bits(300)
    slots, offsets, pool = (
        module.empty_slots(bits),
        np.zeros(301, np.int64),
        np.empty(lengths.sum(), np.uint8),
    )
    size = count_slices(slots, 64 - bits, offsets, pool, data, spans)
    expected = Counter(data[start:end].tobytes() for start, end in spans.tolist())
    assert size == len(expected)
    assert [pool[offsets[i] : offsets[i + 1]].tobytes() for i in range(size)] == list(expected)
    for new_bits in (bits + 1, bits):
        old, slots = slots, module.empty_slots(new_bits)
        module.rehash(old, slots, 64 - new_bits)
        assert module.counts_by_id(slots, size).tolist() == list(expected.values())
    assert count_slices(slots, 64 - bits, offsets, pool, data, spans) == 0
    assert module.counts_by_id(slots, size).tolist() == [2 * count for count in expected.values()]
    for _ in range(size):
        module.vacate(slots, 64 - bits, int(np.flatnonzero(slots[1:-4:4])[0]))
    assert not slots[:-4].any()


# ------------------------------------------------------------------------------------------- real text
def test_a_book():
    words = BOOK.read_bytes().split(b" ")
    expected = Counter(words)
    counter = ByteCounter()
    counter.add_many(words)
    counter._check()
    assert same(counter, expected)
    assert counter.most_common(100) == expected.most_common(100)
    assert counter.most_common() == expected.most_common()
    many = ByteCounter()
    many.add_many(*joined(words))
    assert same(many, expected)
    many.merge(counter)
    assert same(many, {word: 2 * count for word, count in expected.items()})
    assert pickle.loads(pickle.dumps(counter)) == counter
    assert counter.most_common(3)[0][0] == b"the"


def test_every_slice_of_a_text():
    text = BOOK.read_bytes()[:120]
    spans = [
        (start, end) for start in range(len(text)) for end in range(start, min(start + 35, len(text)) + 1)
    ]
    expected, counter = Counter(), ByteCounter()
    data = joined([text])[0]
    for start, end in spans:
        expected[text[start:end]] += 1
        counter._kernels.add(counter, data, start, end)
    counter._check()
    assert same(counter, expected)


# ------------------------------------------------------------------------------------ shape and growth
def test_growth_across_powers_of_two():
    counter, expected = ByteCounter(), {}
    for n in range(1, 1100):
        word = b"word %d" % n * (n % 4)
        counter.add(word, n)
        expected[word] = expected.get(word, 0) + n
        if n & (n + 1) == 0 or n & (n - 1) == 0 or (n - 1) & (n - 2) == 0:
            counter._check()
    counter._check()
    assert same(counter, expected)
    counter.clear()
    counter._check()
    assert list(counter.items()) == []
    counter.add(b"again")
    assert counter.id_of(b"again") == 0


def test_the_pool_grows():
    counter, expected = ByteCounter(), {}
    for n in (0, 1, 63, 64, 65, 1000, 100_000, 3, 1_000_000, 17):
        word = bytes([n % 256]) * n
        counter.add(word)
        expected[word] = 1
    counter._check()
    assert same(counter, expected)
    long = b"x" * 1_000_000
    counter.add(long + b"y")
    counter.add(long + b"z")
    counter.add(b"z" + long)
    assert [counter.get(word) for word in (long + b"y", long + b"z", b"z" + long, long + b"x")] == [
        1,
        1,
        1,
        0,
    ]


def test_reserve_is_enough():
    words = [b"%d" % n for n in range(1000)]
    counter = ByteCounter()
    counter.reserve(len(words), sum(map(len, words)))
    nbytes = counter.nbytes
    counter.add_many(words)
    assert counter.nbytes == nbytes
    counter.reserve(10)
    assert counter.nbytes == nbytes
    counter.add(b"one more")
    assert counter.nbytes > nbytes


# ---------------------------------------------------------------------------------------- hostile words
def key_of(word):
    return key_of_bytes(np.frombuffer(word, np.uint8))


@njit
def key_of_bytes(data):
    return key_of_string(pointer_to(data, 0), data.size, data.size, SEED)


def words_at(n, homes, bits):
    """Return `n` words whose homes in a table of ``2**bits`` slots are all among `homes`."""
    words, data = [], np.empty(8, np.uint8)
    word = np.int64(0)
    while len(words) < n:
        word += 1
        data.view(np.int64)[0] = word
        if mix_two(*key_of(data.tobytes()), SEED, 64 - bits) in homes:
            words.append(data.tobytes())
    return words


def test_one_cluster_around_the_end_of_the_table():
    bits = 7
    words = words_at(60, {0, 126, 127}, bits)
    counter = ByteCounter()
    counter.reserve(64)
    assert module.state(counter)[0].size == (4 << bits) + 4
    for i, word in enumerate(words):
        counter.add(word, i)
    counter._check()
    assert same(counter, dict(zip(words, range(60), strict=True)))
    assert words_at(61, {0, 126, 127}, bits)[-1] not in counter


@pytest.mark.parametrize("kept", [1, 2, 7, 30])
def test_a_failure_half_way_changes_nothing(kept):
    words = words_at(60, {0, 125, 126, 127}, 7)
    counter = ByteCounter(zip(words[:kept], range(kept), strict=True))
    counter[words[0]] = INT64_MAX
    counter.reserve(64)
    before = counter.copy()
    with pytest.raises(OverflowError, match=r"the value of b.* would leave"):
        counter.add_many(*joined(words[1:] + words[1:kept] + words[:1]))
    counter._check()
    assert list(counter.items()) == list(before.items())
    counter.add_many(*joined(words[1:]))
    counter._check()
    assert list(counter) == words


def test_a_failure_after_growth_changes_nothing():
    rng = np.random.default_rng(7)
    numbers = rng.integers(0, 3000, 10_000)
    words = [b"%d " % n * (n % 5) for n in numbers.tolist()]
    counter = ByteCounter()
    counter.add_many(words[:500])
    counter[b"full"] = INT64_MAX
    before = list(counter.items())
    with pytest.raises(OverflowError, match="b'full'"):
        counter.add_many([*words, b"full"])
    with pytest.raises(OverflowError, match="b'full'"):
        counter.add_many(*joined([*words, b"full"]), rng.integers(-9, 9, 10_001) | 1 << 40)
    counter._check()
    assert list(counter.items()) == before
    counter.add_many(words[500:])
    expected = Counter(words[:500])
    expected[b"full"] = INT64_MAX
    expected.update(words[500:])
    assert same(counter, expected)


@pytest.mark.parametrize(
    "form",
    [b"sixteen bytes at %d", b"%d sixteen bytes at", b"%016d", b"%08d", b"%07d\0", b"\0\0\0\0\0\0\0\0%d"],
    ids=["prefix", "suffix", "16", "8", "zero", "zeros"],
)
def test_many_similar_words(form):
    words = [form % n for n in range(100_000)]
    data, offsets = joined(words * 2)
    counter = ByteCounter()
    counter.add_many(data, offsets, np.arange(200_000))
    assert list(counter) == words
    assert counter.to_arrays()[2].tolist() == list(range(100_000, 300_000, 2))
    slots, *_, shift = module.state(counter)
    occupied = np.flatnonzero(slots[1:-4:4])
    homes = [mix_two(*slots[4 * slot : 4 * slot + 2], SEED, shift) for slot in occupied[:3000].tolist()]
    distance = (occupied[:3000] - homes) & ((1 << (64 - shift)) - 1)
    assert distance.mean() < 2  # 0.6 at most is expected
    assert distance.max() < 60


def test_words_that_differ_in_two_bytes_spread():
    words = bytearray(15)
    homes = set()
    for first in range(0, 256, 4):
        for second in range(0, 256, 4):
            words[7], words[14] = first, second
            homes.add(mix_two(*key_of(words), SEED, 64 - 12))
    assert len(homes) > 0.6 * 2**12  # 0.63 is expected


def test_long_words_of_equal_hash():
    start, factor = 32 ^ int(SEED[1]), SEED[2]

    def word(first, second):
        return np.array([first, second, 11, 12], np.int64).tobytes()

    second = 5 ^ _py_multiply_fold(start ^ 1, factor) ^ _py_multiply_fold(start ^ 2, factor)
    words = [word(1, 5), word(2, second)]
    assert key_of(words[0]) == key_of(words[1])
    counter = ByteCounter()
    for n in range(3):
        counter.add(words[0])
        counter.add(words[1], n)
    counter._check()
    assert same(counter, {words[0]: 3, words[1]: 3})
    assert words[0][:-1] not in counter


# ----------------------------------------------------------------------------------------------- errors
def test_errors_change_nothing():
    counter = ByteCounter({b"low": 2, b"full": INT64_MAX, b"empty": INT64_MIN})
    before = counter.copy()
    with pytest.raises(OverflowError, match="the value of b'full'"):
        counter.add(b"full")
    with pytest.raises(OverflowError, match="the value of b'empty'"):
        counter.add(b"empty", -1)
    with pytest.raises(OverflowError, match="n 9223372036854775808 does not fit"):
        counter.add(b"low", 2**63)
    with pytest.raises(OverflowError, match="count"):
        counter[b"low"] = -(2**63) - 1
    with pytest.raises(OverflowError, match="b'full'"):
        counter.add_many([b"new", b"low", b"full"])
    with pytest.raises(OverflowError, match="b'empty'"):
        counter.add_many({b"new": 1, b"low": 3, b"empty": -1})
    with pytest.raises(OverflowError, match="b'full'"):
        counter.add_many(b"newlowfull", [0, 3, 6, 10])
    with pytest.raises(OverflowError, match="b'full'"):
        counter.merge(ByteCounter({b"new": 1, b"low": 3, b"full": 1}))
    with pytest.raises(KeyError, match="b'new'"):
        counter[b"new"]
    with pytest.raises(KeyError, match="b'new'"):
        counter.id_of(b"new")
    for word_id in (-1, 3, INT64_MAX):
        with pytest.raises(IndexError, match="for 3 words"):
            counter.word(word_id)
    with pytest.raises(ValueError, match="k must be"):
        counter.most_common(-1)
    with pytest.raises(ValueError, match="n_words must be"):
        counter.reserve(-1)
    with pytest.raises(ValueError, match="n_bytes must be"):
        counter.reserve(1, -1)
    counter._check()
    assert list(counter.items()) == list(before.items())


def test_a_long_word_makes_a_short_message():
    counter = ByteCounter({b"x" * 10_000: INT64_MAX})
    for call, *args in [
        (counter.add, b"x" * 10_000),
        (counter.add_many, [b"x" * 10_000]),
        (counter.merge, counter),
    ]:
        with pytest.raises(OverflowError) as caught:
            call(*args)
        assert len(str(caught.value)) < 100


@pytest.mark.parametrize("word", ["low", 5, None, [1, 2], np.zeros(3, np.uint8)])
def test_words_of_wrong_types(word):
    counter = ByteCounter({b"low": 1})
    calls = [counter.add, counter.get, counter.id_of, counter.__getitem__, counter.__contains__]
    for call in calls:
        with pytest.raises(TypeError, match="a word must be bytes, not"):
            call(word)
    with pytest.raises(TypeError, match="a word must be bytes"):
        counter[word] = 1
    for words in ([b"new", word], (w for w in (b"new", word))):
        with pytest.raises(TypeError, match="a word must be bytes"):
            counter.add_many(words)
    with pytest.raises(TypeError, match="a word must be bytes"):
        ByteCounter([(word, 1)])
    assert same(counter, {b"low": 1})


def test_other_wrong_types():
    counter = ByteCounter({b"low": 1})
    with pytest.raises(TypeError, match=r"encode it first: word.encode\(\)"):
        counter.add("low")
    for words in (b"low", bytearray(b"low"), memoryview(b"low"), "low"):
        with pytest.raises(TypeError, match="words must be an iterable of bytes"):
            counter.add_many(words)
    with pytest.raises(TypeError, match="other must be a ByteCounter"):
        counter.merge({b"low": 1})
    with pytest.raises(TypeError, match="n must be an integer"):
        counter.add(b"low", 1.5)
    with pytest.raises(TypeError, match="counts must be integers"):
        counter.add_many({b"low": 1.5})
    with pytest.raises(TypeError, match="counts require offsets"):
        counter.add_many([b"low"], counts=[1])
    with pytest.raises(TypeError, match="data must be bytes or"):
        counter.add_many(np.zeros(3, np.int64), [0, 3])
    with pytest.raises(TypeError, match="data must be bytes or"):
        counter.add_many(np.zeros((3, 3), np.uint8), [0, 3])
    with pytest.raises(TypeError, match="unhashable"):
        hash(counter)
    assert counter != {b"low": 1}
    assert same(counter, {b"low": 1})


@pytest.mark.parametrize(
    "offsets", [[], [-1, 3], [0, 4], [0, 2, 1, 3], [3, 0], [INT64_MIN, INT64_MAX], [0, INT64_MIN, 3]]
)
def test_wrong_offsets(offsets):
    with pytest.raises(
        ValueError, match="offsets must start at 0 or later, not decrease, and end at 3 at most"
    ):
        ByteCounter().add_many(b"low", offsets)


def test_wrong_number_of_counts():
    for counts in ([], [1, 2]):
        with pytest.raises(ValueError, match="1 words but"):
            ByteCounter.from_arrays(b"low", [0, 3], counts)


@pytest.mark.parametrize("room", [(2**47, 0), (2**48 - 1, 5), (5, 2**47), (2, 2**48 - 1)])
def test_no_memory(room):
    counter = ByteCounter({b"low": 2, b"x" * 100: 3})
    with pytest.raises(MemoryError, match="words of"):
        counter.reserve(*room)
    counter._check()
    assert same(counter, {b"low": 2, b"x" * 100: 3})
    counter.add(b"more")
    assert len(counter) == 3


# ------------------------------------------------------------------------------------------- other ways
def test_kinds_of_words_and_data():
    counter = ByteCounter([(b"low", 1), (bytearray(b"low"), 2), (memoryview(b"-l-o-w-")[1::2], 4)])
    wide = memoryview(np.frombuffer(b"slow", np.uint16))
    counter.add_many([wide, bytearray(b"low"), wide[1:]])
    assert same(counter, {b"low": 8, b"slow": 1, b"ow": 1})
    array = np.frombuffer(b"l.o.w.", np.uint8)[::2]
    for data in (b"low", bytearray(b"low"), memoryview(b"low"), array, array.copy()):
        counter.add_many(data, [0, 3], [10])
    counter.add_many(b"slow", np.array([1, 4], np.uint32))
    assert counter[b"low"] == 59
    assert counter[memoryview(b"low")] == counter.get(bytearray(b"low")) == 59
    assert bytearray(b"ow") in counter


def test_empty():
    for counter in (
        ByteCounter(),
        ByteCounter({}),
        ByteCounter.from_arrays(b"", [0], []),
        ByteCounter(iter(())),
    ):
        counter._check()
        assert len(counter) == 0
        assert counter.most_common() == counter.most_common(3) == list(counter) == []
        assert [array.size for array in counter.to_arrays()] == [0, 1, 0]
        assert b"" not in counter
        counter.merge(counter)
        counter.add_many([])
        counter.add_many(b"xyz", [1])
        assert pickle.loads(pickle.dumps(counter)) == counter
    assert repr(ByteCounter({b"": 1})) == "<ByteCounter of 1: {b'': 1}>"


class MyByteCounter(ByteCounter):
    """A user's subclass, with a method of its own and room for attributes."""

    def n_entries(self):
        return len(self)


def test_subclasses():
    plain = ByteCounter({b"low": 5, b"lower": 2})
    one = MyByteCounter.from_arrays(*plain.to_arrays())
    one.label = ["mine"]
    others = [copy.copy(one), copy.deepcopy(one), one.copy(), pickle.loads(pickle.dumps(one))]
    for other in (one, *others):
        assert (type(other), other.n_entries(), other.label) == (MyByteCounter, 2, ["mine"])
        assert other == one == plain == other
    assert [other.label is one.label for other in others] == [True, False, True, False]
    others[0].add(b"newest")
    assert (b"newest" in one, others[0] == one, plain == others[0]) == (False, False, False)
    assert type(MyByteCounter()) is type(MyByteCounter({b"low": 5})) is MyByteCounter
    assert repr(one).startswith("<MyByteCounter of 2: {b'")
    one.merge(plain)
    plain.merge(one)
    assert (one[b"low"], plain[b"low"]) == (10, 15)


def test_equality():
    counter = ByteCounter({b"low": 5, b"lower": 2})
    assert counter == ByteCounter({b"lower": 2, b"low": 5})
    for other in (ByteCounter(), ByteCounter({b"low": 5}), {b"low": 5, b"lower": 2}, 5, MaxHeap(), None):
        assert counter != other
        assert other != counter


def test_a_sum_of_zero_stays():
    counter = ByteCounter({b"low": 3})
    counter.add(b"low", -3)
    counter.add(b"lower", 0)
    assert same(counter, {b"low": 0, b"lower": 0})
    assert counter[b"low"] == counter.get(b"lower", 9) == 0
    assert b"lower" in counter


def test_ties_go_by_first_appearance():
    counts = [3, 5, 3, 5, INT64_MIN, INT64_MAX, 3]
    words = [b"%d" % n for n in range(7)]
    counter = ByteCounter(zip(words, counts, strict=True))
    assert [int(word) for word, _ in counter.most_common()] == [5, 1, 3, 0, 2, 6, 4]
    for k in range(9):
        assert counter.most_common(k) == counter.most_common()[:k]


@given(st.binary(min_size=8, max_size=40), st.data())
def test_load_word(data, draw):
    i = draw.draw(st.integers(0, len(data) - 8))
    array = np.frombuffer(data, np.uint8)
    expected = int.from_bytes(data[i : i + 8], "little", signed=True)
    assert _py_load_word(array, i) == load_word_compiled(array, i) == expected


@given(st.integers(INT64_MIN, INT64_MAX), st.integers(INT64_MIN, INT64_MAX))
def test_multiply_fold(word, factor):
    product = (word % 2**64) * (factor % 2**64)
    expected = (product % 2**64) ^ (product >> 64)
    for fold in (_py_multiply_fold, multiply_fold_compiled):
        assert int(fold(word, factor)) % 2**64 == expected


@njit
def load_word_compiled(array, i):
    return load_word(pointer_to(array, i - 1), 1) if i > 0 else load_word(pointer_to(array, 0), 0)


@njit
def multiply_fold_compiled(word, factor):
    return multiply_fold(word, factor)


LEAKS = """
import numpy as np
from numba.core.runtime import rtsys
from structures.hash_tables.byte_counter import ByteCounter

def work():
    counter = ByteCounter({b"low": 2, b"full": 2**63 - 1})
    for _ in range(3):
        for call, *args in [
            (counter.add, b"full"), (counter.add_many, [b"new", b"full"]), (counter.merge, counter),
            (counter.add_many, b"newfull", [0, 3, 7]), (counter.reserve, 2**47),
            (counter.reserve, 5, 2**47),
        ]:
            try:
                call(*args)
            except (OverflowError, MemoryError):
                continue
            raise AssertionError(call)
        counter.add_many([b"%d" % n for n in range(100)])
        counter.merge(ByteCounter({b"x" * 99: 1}))
        counter.most_common(3), counter.word(1), counter == counter.copy(), counter.to_arrays()

work()
before = rtsys.get_allocation_stats()
work()
after = rtsys.get_allocation_stats()
assert after.mi_alloc > before.mi_alloc
assert after.mi_alloc - after.mi_free == before.mi_alloc - before.mi_free, (before, after)
"""


def test_nothing_leaks(python):
    python(LEAKS, NUMBA_NRT_STATS="1")


# ---------------------------------------------------------------------------------------- many look-ups
@kernel
def look_up_inside(counter, data, offsets, first, after, default):
    counts = np.empty(after - first, np.int64)
    starts, ends = pointer_to(offsets, first), pointer_to(offsets, first + 1)
    furthest = counter.get_into(data, starts, ends, after - first, default, counts)
    return counts, furthest


def slot_of(counter, word):
    return module.look_up(counter, counter.id_of(word))[2]


def distance_of(counter, word):
    """Return how far from its home a word is found; alone in the table, it is at home."""
    some, alone = counter.copy(), counter.copy()
    alone.clear()
    some.add(word, 0)
    alone.add(word)
    return (slot_of(some, word) - slot_of(alone, word)) % (1 << (64 - module.state(some)[3]))


@settings(deadline=None)
@given(
    st.lists(st.binary(max_size=40), max_size=400), st.lists(st.binary(max_size=40), max_size=40), st.data()
)
def test_get_many(words, others, draw):
    counter = ByteCounter(Counter(words))
    counter.reserve(len(counter) + 1)
    asked = draw.draw(st.permutations(words[:300] + others))
    expected = [Counter(words).get(word, -7) for word in asked]
    data, offsets = joined(asked)
    assert counter.get_many(data, offsets, -7).tolist() == expected
    array = np.frombuffer(bytearray(data), np.uint8)
    first = draw.draw(st.integers(0, len(asked)))
    for given_offsets in (np.asarray(offsets), np.asarray(offsets, np.int32)):
        found, furthest = look_up_inside(counter, array, given_offsets, first, len(asked), -7)
        assert found.tolist() == expected[first:]
        assert furthest == max((distance_of(counter, word) for word in asked[first:]), default=0)


def test_get_many_of_bad_offsets():
    with pytest.raises(ValueError, match="not decrease"):
        ByteCounter().get_many(b"abc", [0, 2, 1])


def test_words_of_zeros_are_taken_back():
    """The first eight bytes of these words are 0, as those of an empty slot."""
    words = [bytes(n) for n in range(60)]
    for n_kept in range(1, 40):
        counter = ByteCounter(dict.fromkeys(words[:n_kept], 1) | {b"x": 2**63 - 1})
        before = dict(counter.items())
        data = b"".join([*words[n_kept:], b"x"])
        offsets = np.cumsum([0, *map(len, words[n_kept:]), 1])
        with pytest.raises(OverflowError):
            counter.add_many(data, offsets)
        assert dict(counter.items()) == before
        assert [counter.get(word) for word in words[:n_kept]] == [1] * n_kept
        counter._check()
