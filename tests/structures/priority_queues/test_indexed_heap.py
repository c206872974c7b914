import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from numba.core.errors import TypingError

from structures import IndexedMaxHeap, IndexedMinHeap
from structures.primitives.memory import new_words
from structures.primitives.simd import ROW
from structures.priority_queues import tournament_layout as module
from structures.priority_queues.tournament_layout import ABSENT
from structures.status import INT64_MAX, INT64_MIN, NOT_A_NUMBER, OK, OUT_OF_RANGE
from structures.testing import LANGUAGES, IndexedHeapMachine, IndexedHeapModel, check_program, random_program

BOTH = pytest.mark.parametrize("heap_class", [IndexedMaxHeap, IndexedMinHeap])
# Every dtype, and both orders: what differs is one sign and one width, and each kind is compiled again.
KINDS = pytest.mark.parametrize(
    ("heap_class", "dtype"),
    [
        (IndexedMaxHeap, "int64"),
        (IndexedMinHeap, "int64"),
        (IndexedMinHeap, "float64"),
        (IndexedMaxHeap, "float32"),
    ],
)
TIES = pytest.mark.parametrize("ties", ["key", "fifo"])


# ------------------------------------------------------------------------------------ against the model
class MinMachine(IndexedHeapMachine):
    container, least_first = IndexedMinHeap, True


class FifoMachine(IndexedHeapMachine):
    is_fifo = True


class FloatFifoMinMachine(MinMachine):
    dtype, is_fifo = "float64", True


class ShortFloatMachine(IndexedHeapMachine):
    dtype = "float32"


TestMax = IndexedHeapMachine.TestCase
TestMin = MinMachine.TestCase
TestFifo = FifoMachine.TestCase
TestFloatFifoMin = FloatFifoMinMachine.TestCase
TestShortFloat = ShortFloatMachine.TestCase


@pytest.mark.parametrize(
    ("heap_class", "dtype", "ties"),  # the state machines have others
    [
        (IndexedMaxHeap, "int64", "key"),
        (IndexedMinHeap, "int64", "fifo"),
        (IndexedMinHeap, "float64", "key"),
        (IndexedMaxHeap, "float32", "fifo"),
    ],
)
@pytest.mark.parametrize(
    ("n_keys", "numbers", "rare"),
    [
        (99, range(-3, 4), 0.7),  # often empty
        (300, [1], 0.1),
        (300, range(3), 0.2),  # many ties
        (2000, range(-5, 1000), 0.05),
        (100, [INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX], 0.3),
    ],
    ids=["empty", "ones", "ties", "large", "ends"],
)
def test_programs(rng, heap_class, dtype, ties, n_keys, numbers, rare):
    if dtype != "int64":
        numbers = [n / 4 if abs(n) < 2**40 else math.copysign(2.0**10, n) for n in numbers]
    language = LANGUAGES[heap_class]
    program = random_program(language, rng, 4000, range(-2, n_keys + 2), numbers, rare, dtype)
    model = IndexedHeapModel({}, n_keys, heap_class is IndexedMinHeap, ties == "fifo")
    heap = check_program(language, heap_class(n_keys, dtype, ties), model, program)
    assert list(heap.items()) == model.items()
    assert (heap.n_keys, heap.dtype) == (n_keys, dtype)


# ------------------------------------------------------------------------------------------------ shape
@TIES
@BOTH
@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 64, 65, 1023, 1024, 1025, 1056, 1057, 33_000])
def test_every_shape_of_the_levels(heap_class, ties, n):
    rng = np.random.default_rng(n)
    keys = rng.permutation(n)[: 1 + n * 2 // 3]
    counts = rng.integers(0, max(n // 3, 1), keys.size)
    heap = heap_class.from_arrays(keys, counts, n, ties)
    heap._check()
    items = zip(keys.tolist(), counts.tolist(), strict=True)
    model = IndexedHeapModel(items, n, heap_class is IndexedMinHeap, ties == "fifo")
    expected = model.items()
    assert list(heap.items()) == expected
    assert heap.ties().tolist() == model.ties()
    assert heap.nbytes <= (8.6 if ties == "key" else 17) * n + 2500
    look = heap.nlargest if heap_class is IndexedMaxHeap else heap.nsmallest
    assert list(zip(*(array.tolist() for array in look(n // 2)), strict=True)) == expected[: n // 2]
    heap._check()
    assert [heap.pop() for _ in range(len(heap))] == expected
    heap._check()


@TIES
@BOTH
def test_no_keys_at_all(heap_class, ties):
    heap = heap_class(0, ties=ties)
    heap._check()
    assert (len(heap), heap.n_keys, list(heap), heap.ties().tolist()) == (0, 0, [], [])
    assert 0 not in heap
    for key in (0, -1, 5):
        with pytest.raises(IndexError):
            heap[key] = 1
    assert heap == heap.copy() == pickle.loads(pickle.dumps(heap))
    heap.clear()


@TIES
@BOTH
def test_a_count_may_have_the_rank_of_absent_keys(heap_class, ties):
    """The greatest rank marks keys that are not in the heap; ages tell the two apart."""
    last = INT64_MIN if heap_class is IndexedMaxHeap else INT64_MAX
    keys = [40, 3, 35, 7]
    heap = heap_class(50, ties=ties)
    heap[20] = 0
    for key in keys:
        heap[key] = last
        heap._check()
        assert key in heap
        assert heap[key] == last
    assert heap.improve(49, last) is True
    assert heap.improve(49, last) is False
    in_order = [20, *(keys if ties == "fifo" else sorted(keys)), 49]
    assert list(heap) == in_order
    heap._check()
    assert 5 not in heap
    assert heap.ties().tolist() == [20]
    heap[20] = last
    in_order = [*in_order[1:], 20] if ties == "fifo" else sorted(in_order)
    assert heap.ties().tolist() == in_order
    for other in (heap.copy(), pickle.loads(pickle.dumps(heap))):
        other._check()
        assert other == heap
    heap[7] = 1
    del heap[35]
    heap._check()
    assert [heap.pop()[0] for _ in range(len(heap))] == [7, *(key for key in in_order if key not in (7, 35))]
    assert heap_class.from_arrays([5, 2], [last, last], ties=ties).to_arrays()[0].tolist() == (
        [5, 2] if ties == "fifo" else [2, 5]
    )


@TIES
@BOTH
def test_a_count_may_become_one_with_the_rank_of_absent_keys(heap_class, ties):
    last = INT64_MIN if heap_class is IndexedMaxHeap else INT64_MAX
    heap = heap_class(50, ties=ties)
    heap[3] = heap[4] = 0
    heap[3] = last
    heap._check()
    assert 3 in heap
    assert list(heap.items()) == [(4, 0), (3, last)]
    assert (heap.pop(), heap.pop(), len(heap)) == ((4, 0), (3, last), 0)


# ------------------------------------------------------------------------------------------------- ages
@KINDS
def test_the_first_to_come_leaves_first(heap_class, dtype):
    heap = heap_class(100, dtype, ties="fifo")
    for key in (50, 7, 99, 20):
        heap[key] = 3
    heap[7] = 3  # the count that it has: it keeps its turn
    heap.add(99, 0)
    assert list(heap) == [50, 7, 99, 20]
    heap[50] = 4
    heap[50] = 3  # as if it had left and come again
    heap.add(7)
    heap.sub(7)
    assert list(heap) == [99, 20, 50, 7]
    assert [heap.pop()[0] for _ in range(4)] == [99, 20, 50, 7]
    heap[7] = heap[3] = 1
    assert list(heap) == [7, 3]


def test_what_is_refused_keeps_the_ages():
    heap = IndexedMinHeap.from_arrays([5, 3, 4], [1, 1, 1], ties="fifo")
    for keys, deltas in (([5, 3, 5, 4], [2, 1, -2, -9]), ([0, 5, 99], [1, 1, 1])):
        with pytest.raises((ValueError, IndexError)):
            heap.add_many(keys, deltas)
        heap._check()
        assert list(heap.items()) == [(5, 1), (3, 1), (4, 1)]
    with pytest.raises(IndexError):
        heap.set_many([3, 5, 0, 9], [7, 7, 7, 7])
    with pytest.raises(IndexError, match="key 9 is out of range"):
        heap.replace(9, 1)
    heap._check()
    assert list(heap.items()) == [(5, 1), (3, 1), (4, 1)]
    heap.add_many([5, 3], [1, 0])
    heap.add_many([5], [-1])
    assert list(heap) == [3, 4, 5]


def test_order_is_a_part_of_the_content():
    one, other = (IndexedMinHeap.from_arrays(keys, [1, 1], 9, "fifo") for keys in ([5, 3], [3, 5]))
    assert one != other
    assert one == pickle.loads(pickle.dumps(one)) == copy.deepcopy(one)
    assert IndexedMinHeap.from_arrays([5, 3], [1, 1]) == IndexedMinHeap.from_arrays([3, 5], [1, 1])
    assert IndexedMinHeap(5) != IndexedMaxHeap(5)
    assert IndexedMinHeap(5) == IndexedMinHeap(500)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3)), max_size=60))
def test_a_stable_queue(pushes):
    """Like pairs (count, number of the push) in a plain heap."""
    heap, came = IndexedMinHeap(41, ties="fifo"), {}
    for i, (key, count) in enumerate(pushes):
        if key not in came or came[key][0] != count:
            came[key] = (count, i)
        heap[key] = count
    assert list(heap) == sorted(came, key=came.get)


# ------------------------------------------------------------------------------------------------- keys
@BOTH
@pytest.mark.parametrize("key", [10, -1, 2**62, -(2**62), INT64_MAX, INT64_MIN])
def test_keys_past_the_end(heap_class, key):
    heap = heap_class(10)
    heap[3] = 4
    before = heap.copy()
    for change in (
        lambda: heap[key],
        lambda: heap.__setitem__(key, 1),
        lambda: heap.__delitem__(key),
        lambda: heap.add(key),
        lambda: heap.sub(key),
        lambda: heap.improve(key, 5),
        lambda: heap.add_many([3, key], [1, 1]),
        lambda: heap_class.from_arrays([3, key], [1, 1], 10),
    ):
        with pytest.raises(IndexError, match=f"key {key} is out of range"):
            change()
        heap._check()
        assert heap == before
    assert key not in heap
    assert heap.get(key, "none") == "none"

    @njit
    def inside(heap, key):
        heap.prefetch(key)
        heap[key] = 5
        del heap[key]
        one = heap.set(key, 1), heap.add(key, 1), heap.sub(key, 1), heap.improve(key, 1), heap.remove(key)
        return (
            one,
            heap[key],
            heap.get(key, 7),
            key in heap,
            heap.add_many(np.array([3, key]), np.array([1, 1])),
        )

    assert inside(heap, key) == ((OUT_OF_RANGE,) * 5, 0, 7, False, (OUT_OF_RANGE, 1))
    assert heap == before


def test_duplicates():
    with pytest.raises(ValueError, match="key 5 is a duplicate"):
        IndexedMinHeap.from_arrays([4, 5, 6, 5], [1, 2, 3, 4])
    with pytest.raises(ValueError, match="key 5 is a duplicate"):
        IndexedMinHeap.from_arrays([5, 5], [INT64_MAX, INT64_MAX])


@BOTH
def test_improve(heap_class):
    sign = 1 if heap_class is IndexedMinHeap else -1
    heap = heap_class(10, float)
    assert heap.improve(3, sign * 2.5) is True
    assert heap.improve(3, sign * 2.5) is False
    assert heap.improve(3, sign * 3) is False
    assert heap.improve(3, sign * 1) is True
    assert heap.improve(4, sign * 0.0) is True
    assert list(heap.items()) == [(4, 0), (3, sign)]
    with pytest.raises(ValueError, match="key 3 is not a number"):
        heap.improve(3, math.nan)
    with pytest.raises(TypeError, match="key must be an integer"):
        heap.improve(3.0, 1)
    with pytest.raises(TypeError, match="priority must be a number"):
        heap.improve(3, "1")
    heap._check()
    assert list(heap.items()) == [(4, 0), (3, sign)]


# ---------------------------------------------------------------------------------------------- numbers
def test_dtypes():
    assert IndexedMinHeap(5).dtype == IndexedMinHeap(5, int).dtype == np.int64
    assert IndexedMinHeap(5, float).dtype == IndexedMinHeap(5, "float64").dtype == np.float64
    for heap in (IndexedMinHeap(5, np.float32), IndexedMinHeap.from_arrays([4], np.array([0.5], np.float32))):
        assert heap.dtype == np.float32
        heap[1] = 0.1
        assert heap[1] == np.float32(0.1)
        assert (
            heap.to_arrays()[1].dtype == heap.nsmallest(1)[1].dtype == heap.pop_many(1)[1].dtype == np.float32
        )
        assert pickle.loads(pickle.dumps(heap)).dtype == np.float32
    assert IndexedMinHeap.from_arrays([4], [0.5]).dtype == np.float64
    assert IndexedMinHeap.from_arrays([4], np.array([0.5], np.float16)).dtype == np.float64
    assert IndexedMinHeap.from_arrays([4], [5]).dtype == IndexedMinHeap.from_arrays([], []).dtype == np.int64


@BOTH
def test_arguments_of_the_constructor(heap_class):
    for dtype in ("int32", np.uint64, str, complex, bool, object, np.float16):
        with pytest.raises(TypeError, match="dtype must be int64 or float64 or float32, not "):
            heap_class(5, dtype)
    with pytest.raises(ValueError, match='ties must be "key" or "fifo", not \'lifo\''):
        heap_class(5, ties="lifo")
    with pytest.raises(ValueError, match="n must be in"):
        heap_class(-1)
    with pytest.raises(TypeError, match="n must be an integer"):
        heap_class(5.0)
    with pytest.raises(TypeError, match="n must be an integer"):
        heap_class({1: 2})
    with pytest.raises(MemoryError):
        heap_class(2**47)
    with pytest.raises(MemoryError):
        heap_class(5).reserve(6)
    heap_class(5).reserve(5)


@pytest.mark.parametrize("number", [1e39, -1e39, 3.4028236e38])
def test_numbers_past_float32(number):
    heap = IndexedMaxHeap(5, np.float32)
    heap[1] = math.inf
    heap[2] = 3.4028235e38
    before = heap.copy()
    for change in (
        lambda: heap.__setitem__(1, number),
        lambda: heap.add(1, number),
        lambda: heap.improve(1, number),
        lambda: heap.add_many([2, 1], [0, number]),
    ):
        with pytest.raises(OverflowError, match="does not fit float32"):
            change()
        assert heap == before
    assert [heap.pop(), heap.pop()] == [(1, math.inf), (2, float(np.finfo(np.float32).max))]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_zeros_and_infinities(dtype):
    heap = IndexedMinHeap(9, dtype)
    heap[5], heap[4], heap[6], heap[7] = 0.0, -0.0, math.inf, -math.inf
    assert list(heap) == [7, 4, 5, 6]
    assert math.copysign(1, heap[4]) == 1
    with pytest.raises(ValueError, match="key 6 is not a number"):
        heap.sub(6, math.inf)
    heap._check()


# ----------------------------------------------------------------------------------- inside compiled code
def test_numbers_inside_njit():
    @njit
    def use(heap):
        refused = heap.set(1, np.nan), heap.improve(2, np.float32(np.nan)), heap.add(1, np.nan)
        changed = (
            heap.improve(1, 2),
            heap.improve(1, np.float32(0.5)),
            heap.improve(1, 1.0),
            heap.improve(7, 0.0),
        )
        heap.add(1, True)
        return refused, changed, heap[1], heap.n_keys

    for dtype in (float, np.float32):
        assert use(IndexedMinHeap(5, dtype)) == ((NOT_A_NUMBER,) * 3, (1, 1, 0, OUT_OF_RANGE), 1.5, 5)

    @njit
    def typed(heap):
        heap[1] = 0.1
        return heap[1], heap.peek()[1], heap.get(3)

    assert typed(IndexedMinHeap(5, np.float32)) == (np.float32(0.1), np.float32(0.1), 0)


@njit
def _same(one, other):
    return one == other, one != other


def test_equality_inside_njit():
    first, second = (IndexedMinHeap.from_arrays(keys, [1, 1], 9, "fifo") for keys in ([5, 3], [3, 5]))
    assert _same(first, second) == (False, True)
    assert _same(first, first.copy()) == (True, False)
    second[8] = 1
    assert _same(first, second) == (False, True)


@njit(cache=True)
def _sorted_by(keys, counts):
    """Return the keys in the order in which they leave."""
    heap = IndexedMinHeap(1 + keys.max(), np.float32, ties="fifo")
    for i in range(keys.size):
        heap[keys[i]] = counts[i]
    return heap.keys(), heap


@pytest.mark.reads_statuses
def test_made_inside_njit():
    in_order, heap = _sorted_by(np.array([9, 4, 40, 0]), np.array([0.5, 0.25, 0.5, 0.25]))
    assert in_order.tolist() == [4, 0, 9, 40]
    assert (type(heap), heap.dtype, heap.n_keys) == (IndexedMinHeap, np.float32, 41)
    heap._check()

    @njit
    def make(n):
        heap, default = IndexedMaxHeap(n), IndexedMaxHeap(5, float, "key")
        return heap.set(3, 4), len(heap), heap.n_keys, default.improve(2, 0.5)

    assert make(4) == (OK, 1, 4, 1)
    assert make(0) == (*make(-3)[:2], 0, 1) == (OUT_OF_RANGE, 0, 0, 1)
    assert make(2**46) == (OUT_OF_RANGE, 0, 0, 1)  # no memory


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda n: len(IndexedMinHeap(1.5 * n)), "n must be an integer, not float64"),
        (lambda n: len(IndexedMinHeap(n, np.int32)), "dtype must be int64 or float64 or float32, not int32"),
        (lambda n: len(IndexedMinHeap(n, ties="lifo")), "ties must be written in the call"),
        (lambda n: len(IndexedMinHeap()), "n"),
    ],
)
def test_mistakes_of_those_made_inside(make, message):
    with pytest.raises(TypingError, match=message):
        njit(make)(5)


def test_types():
    assert IndexedMinHeap.type() == IndexedMinHeap(5)._numba_type_
    assert IndexedMaxHeap.type("float32") == IndexedMaxHeap(5, np.float32)._numba_type_
    assert len({heap.type(dtype) for heap in (IndexedMinHeap, IndexedMaxHeap) for dtype in (int, float)}) == 4
    with pytest.raises(TypeError, match="dtype must be"):
        IndexedMinHeap.type(np.int32)


def test_one_heap_serves_many_searches():
    """Clearing a heap of few keys does not touch them all."""
    heap = IndexedMinHeap(5000, ties="fifo")
    for n in (0, 1, 3, 156, 157, 158, 5000, 2):
        for key in range(n):
            heap[key * 5000 // n] = key % 3
        assert len(heap) == n
        heap.clear()
        heap._check()
        assert len(heap) == 0


# ---------------------------------------------------------------------------------- kernels on plain arrays
@pytest.mark.parametrize("with_ages", [False, True])
@pytest.mark.parametrize("n_keys", [20, 70, 1200])
def test_kernels_against_a_list(rng, n_keys, with_ages):
    n_leaves = module.padded(n_keys)
    ranks = new_words(module.words_for(n_leaves))
    winners, ages = new_words(ranks.size - n_leaves), new_words(ranks.size * with_ages)
    for array in (ranks, winners, ages):
        array[:] = ABSENT
    entries = {}
    for key in rng.permutation(n_keys)[: n_keys // 2].tolist():
        entries[key] = (int(rng.integers(0, 5)), int(rng.integers(0, 10**9)) if with_ages else key)
        module.write_leaf(ranks, ages, key, *entries[key])
    module.build(ranks, winners, ages)
    for step in range(120):
        first = min(entries, key=entries.get)
        assert (winners[-1], ranks[-1]) == (first, entries[first][0])
        tied = sorted(key for key, (rank, _) in entries.items() if rank == ranks[-1])
        assert module.ids_up_to(ranks, winners, ages, ranks[-1]).tolist() == tied
        key = first if step % 3 == 0 else int(rng.integers(0, n_keys))
        assert module.is_present(ranks, ages, key) == (key in entries)
        entry = (int(rng.integers(0, 5)), int(rng.integers(0, 10**9)) if with_ages else key)
        if step % 3 == 0 and len(entries) > 1:
            module.settle(ranks, winners, ages, key, ABSENT, ABSENT)
            del entries[key]
        else:
            module.place(ranks, winners, ages, key, *entry)
            entries[key] = entry
        for row in range(0, n_leaves, ROW):
            inside = [entries[key] for key in range(row, row + ROW) if key in entries]
            assert ranks[n_leaves + row // ROW] == min(inside, default=(ABSENT, 0))[0]
