import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from structures import CountBuckets, IndexedMaxHeap, IndexedMinHeap, MaxHeap, MinHeap, kernel
from structures.status import INT64_MAX, INT64_MIN, NEGATIVE, NO_MEMORY, NOT_A_NUMBER, OK
from structures.testing import LANGUAGES, HeapMachine, HeapModel, check_program, counts, keys, random_program

# Each kind is compiled again: the state machines have the other two.
KINDS = [(MaxHeap, "int64"), (MinHeap, "float64")]
NAMES = ["max-int", "min-float"]
BOTH = pytest.mark.parametrize("heap_class", [MaxHeap, MinHeap])


# ------------------------------------------------------------------------------------ against the model
class MinHeapMachine(HeapMachine):
    container, least_first = MinHeap, True


class FloatMaxHeapMachine(HeapMachine):
    dtype = "float64"


class FloatMinHeapMachine(HeapMachine):
    container, dtype, least_first = MinHeap, "float64", True


TestMaxHeap = HeapMachine.TestCase
TestMinHeap = MinHeapMachine.TestCase
TestFloatMaxHeap = FloatMaxHeapMachine.TestCase
TestFloatMinHeap = FloatMinHeapMachine.TestCase


@pytest.mark.parametrize(("heap_class", "dtype"), KINDS, ids=NAMES)
@pytest.mark.parametrize(
    ("n_keys", "numbers", "rare"),
    [
        (4, range(-3, 4), 0.7),  # often empty
        (300, [1], 0.1),  # moves by one
        (300, range(3), 0.2),  # many ties
        (2000, range(-5, 1000), 0.05),
        (100, [INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX], 0.3),
    ],
    ids=["empty", "ones", "ties", "large", "ends"],
)
def test_programs(rng, heap_class, dtype, n_keys, numbers, rare):
    if dtype == "float64":
        numbers = [n / 4 if abs(n) < 2**40 else n * 1e270 for n in numbers]
    language, spread = LANGUAGES[heap_class], range(-n_keys // 3, n_keys)
    program = random_program(language, rng, 4000, keys=spread, numbers=numbers, rare=rare, dtype=dtype)
    model = HeapModel(least_first=heap_class is MinHeap)
    heap = check_program(language, heap_class(dtype=dtype), model, program)
    assert list(heap.items()) == model.items()


# ------------------------------------------------------------------------------------------------ shape
@BOTH
@pytest.mark.parametrize("size", [0, 1, 2, 7, 8, 9, 10, 16, 17, 64, 65, 72, 73, 74, 81, 584, 585, 586])
def test_every_shape_of_the_last_levels(heap_class, size):
    rng = np.random.default_rng(size)
    numbers = rng.integers(0, max(size // 3, 1), size)
    heap = heap_class.from_arrays(np.arange(size), numbers)
    heap._check()
    model = HeapModel(enumerate(numbers.tolist()), least_first=heap_class is MinHeap)
    assert list(heap.items()) == model.items()
    for key in rng.permutation(size)[: size // 2].tolist():
        del heap[key], model[key]
        if key % 32 == 0:
            heap._check()
    heap._check()
    look = heap.nlargest if heap_class is MaxHeap else heap.nsmallest
    for k in {0, 1, 2, 7, 8, 9, 10, size // 7, size // 2, size}:
        assert list(zip(*(array.tolist() for array in look(k)), strict=True)) == model.items()[:k]
    heap._check()
    assert [heap.pop() for _ in range(len(heap))] == model.items()


@BOTH
def test_a_rank_may_equal_the_mark_of_empty_slots(heap_class):
    """Slots past the end hold the greatest rank, which the last entry may have too."""
    last = INT64_MIN if heap_class is MaxHeap else INT64_MAX
    heap = heap_class((key, last) for key in range(30))
    heap._check()
    heap[50] = 0
    heap[60] = ~last
    heap._check()
    assert list(heap) == [60, 50, *range(30)]
    look = heap.nlargest if heap_class is MaxHeap else heap.nsmallest
    assert look(100)[0].tolist() == [60, 50, *range(30)]
    for key in range(0, 30, 2):
        del heap[key]
    heap._check()
    assert [heap.pop()[0] for _ in range(17)] == [60, 50, *range(1, 30, 2)]


def test_room_is_used_again():
    heap, sizes = MaxHeap(), set()
    for n in range(4000):
        heap[n] = n % 7
        if len(heap) == 9:
            heap.pop_many(n % 9)
            heap._check()
        if n > 100:
            sizes.add(heap.nbytes)
            assert (n in heap) == (n in list(heap))
            assert n - 50 not in heap or heap[n - 50] == (n - 50) % 7
    assert len(sizes) == 1
    assert heap.nbytes < 2000


@BOTH
@pytest.mark.parametrize("n", [1, 2, 5, 6, 10, 11, 40, 1000, 1280, 140_000])
def test_reserved_room_is_enough_while_keys_come_and_go(heap_class, n):
    heap = heap_class()
    heap.reserve(n)
    nbytes = heap.nbytes
    heap.add_many(np.arange(n), np.arange(n) + 1)
    for key in range(n, min(12 * n, n + 20_000)):
        heap.pop()
        heap[key] = key * 7919 % 1009
    assert (len(heap), heap.nbytes) == (n, nbytes)
    heap._check()


def test_keys_that_have_left_take_a_bounded_room():
    heap, sizes = MaxHeap(), set()
    for key in range(1001):
        heap[key] = 1
    for key in range(1001, 20_000):
        heap[key] = 1
        heap.pop()
        if key > 3000:
            sizes.add(heap.nbytes)
    assert len(sizes) == 1
    heap._check()


def test_a_heap_grows_in_few_steps():
    heap, sizes = MaxHeap(), set()
    for key in range(2000):
        heap[key] = 1
        sizes.add(heap.nbytes)
    assert len(sizes) <= 14, "to eight times its size at first: two arrays for ids, and the map of keys"


@BOTH
def test_one_entry_may_look_like_an_absent_one(heap_class):
    """The greatest key with the last priority; it comes, changes, leaves, and gets another id."""
    last = INT64_MIN if heap_class is MaxHeap else INT64_MAX
    heap = heap_class()
    look = heap.nlargest if heap_class is MaxHeap else heap.nsmallest
    for step in range(200):
        heap[INT64_MAX] = last
        heap[step] = last
        heap[step + 1] = 5
        heap._check()
        assert heap.peek() == (step + 1, 5)
        assert heap.to_arrays()[0].tolist() == look(3)[0].tolist() == [step + 1, step, INT64_MAX]
        assert heap.pop_many(2)[0].tolist() == [step + 1, step]
        assert heap.peek() == (INT64_MAX, last)
        assert heap.ties().tolist() == look(3)[0].tolist() == [INT64_MAX]
        assert heap.copy() == heap != heap_class()
        with pytest.raises(ValueError, match="would fall below 0"):
            heap.add_many([INT64_MAX, step, step], [0, 5, -9] if last < 0 else [-7, 5, -9])
        heap._check()
        assert heap.peek() == (INT64_MAX, last)
        if step % 3 == 0:
            assert heap.pop() == (INT64_MAX, last)
        elif step % 3 == 1:
            heap[INT64_MAX] = 7
            assert heap.pop() == (INT64_MAX, 7)
        else:
            for key in range(1000, 1040):  # ids are reassigned
                heap[key] = 1
                heap.pop()
        heap._check()
        assert len(heap) == (step % 3 == 2)


def test_building_equals_inserting(rng):
    keys_of = rng.permutation(700)
    numbers = rng.integers(0, 30, 700)
    built = MinHeap.from_arrays(keys_of, numbers)
    grown = MinHeap()
    for key, number in zip(keys_of.tolist(), numbers.tolist(), strict=True):
        grown[key] = number
    built._check()
    assert built == grown
    assert built.pop_many(700)[0].tolist() == grown.pop_many(700)[0].tolist()


def test_classes_differ():
    assert MaxHeap({1: 1}) != MinHeap({1: 1})
    assert not hasattr(MaxHeap, "nsmallest")
    assert not hasattr(MinHeap, "nlargest")


# ----------------------------------------------------------------------------------------------- floats
@BOTH
def test_not_a_number_is_refused(heap_class):
    heap = heap_class({1: 2.5})
    with pytest.raises(ValueError, match="the value of key 1 is not a number"):
        heap[1] = math.nan
    with pytest.raises(ValueError, match="the value of key 5 is not a number"):
        heap[5] = np.float32("nan")
    with pytest.raises(ValueError, match="the value of key 4 is not a number"):
        heap_class.from_arrays([3, 4], [1.0, math.nan])
    heap._check()
    assert list(heap.items()) == [(1, 2.5)]


def test_infinities():
    heap = MaxHeap({1: math.inf, 2: -math.inf, 3: 1e308}, dtype=float)
    assert list(heap.items()) == [(1, math.inf), (3, 1e308), (2, -math.inf)]
    heap.add(3, 1e308)
    assert heap.ties().tolist() == [1, 3]
    with pytest.raises(ValueError, match="key 1 is not a number"):
        heap.sub(1, math.inf)
    with pytest.raises(ValueError, match="key 2 is not a number"):
        heap.add(2, math.inf)
    with pytest.raises(ValueError, match="key 2 would fall below 0"):
        heap.add(2, 5)
    heap[3] = 1.0
    heap.add(3, math.inf)
    assert heap[3] == math.inf


def test_an_infinite_difference():
    heap = MaxHeap({1: 2.0})
    with pytest.raises(ValueError, match="key 1 would fall below 0"):
        heap.sub(1, math.inf)
    heap.sub(1, -math.inf)
    assert heap[1] == math.inf


def test_zeros_tie():
    heap = MinHeap({5: 0.0, 4: -0.0, 6: -5e-324, 7: 5e-324})
    assert list(heap) == [6, 4, 5, 7]
    assert heap.pop() == (6, -5e-324)
    assert heap.ties().tolist() == [4, 5]
    heap.add(4, 0.0)
    assert 4 not in heap


@given(st.dictionaries(keys(), counts("float64"), max_size=40))
def test_floats_are_in_order(items):
    for heap in (MaxHeap(items, dtype=float), MinHeap(items, dtype=float)):
        heap._check()
        assert list(heap.items()) == HeapModel(items, least_first=isinstance(heap, MinHeap)).items()


@given(st.dictionaries(keys(), counts(), max_size=40))
def test_integers_are_in_order(items):
    for heap in (MaxHeap(items), MinHeap(items)):
        heap._check()
        assert list(heap.items()) == HeapModel(items, least_first=isinstance(heap, MinHeap)).items()


@BOTH
def test_dtypes(heap_class):
    assert heap_class().dtype == heap_class({1: 2}).dtype == heap_class([], dtype=int).dtype == np.int64
    assert heap_class(dtype=float).dtype == heap_class({1: 2}, dtype="float64").dtype == np.float64
    assert heap_class({1: 2.5}).dtype == heap_class([(1, 2), (3, 0.5)]).dtype == np.float64
    assert heap_class.from_arrays([1], np.array([0.5], np.float32)).dtype == np.float64
    assert heap_class.from_arrays([1], np.array([5], np.uint8)).dtype == np.int64
    with pytest.raises(TypeError):
        heap_class({1: 2j})
    with pytest.raises(TypeError):
        heap_class({1: "2"})
    with pytest.raises(OverflowError):
        heap_class({1: 2**63})
    with pytest.raises(OverflowError, match=r"priorities\[1\] 9223372036854775808 does not fit int64"):
        heap_class({1: -1, 2: 2**63})  # no floats, as numpy would have it
    assert heap_class({1: -1, 2: 2**63}, dtype=float).dtype == np.float64
    assert heap_class.from_arrays([], []).dtype == heap_class({}).dtype == np.int64
    assert heap_class.from_arrays([], np.empty(0)).dtype == np.float64


@BOTH
@pytest.mark.parametrize("dtype", [np.float32, "int32", np.uint64, str, complex, bool, object], ids=str)
def test_other_dtypes_are_refused(heap_class, dtype):
    for items in ({}, {1: 2}):
        with pytest.raises(TypeError, match="dtype must be int64 or float64, not "):
            heap_class(items, dtype=dtype)


@BOTH
def test_the_dtype_is_that_of_the_priorities(heap_class):
    with pytest.raises(TypeError, match="priorities must be integers, not float64"):
        heap_class({1: 2.5}, dtype=int)
    for number in ("2", None, 1j, [1]):
        with pytest.raises((TypeError, ValueError)):
            heap_class({1: number}, dtype=float)
    with pytest.raises(OverflowError, match=r"priorities\[0\] does not fit float64"):
        heap_class({1: 10**400}, dtype=float)


@BOTH
@pytest.mark.parametrize("number", ["1.5", None, 1j, [1.0]], ids=repr)
def test_priorities_are_numbers(heap_class, number):
    heap = heap_class({1: 2.5})
    for change in (heap.__setitem__, heap.add, heap.sub):
        with pytest.raises(TypeError):
            change(1, number)
    with pytest.raises((TypeError, ValueError)):
        heap.add_many([1], [number])
    assert list(heap.items()) == [(1, 2.5)]


def test_integers_may_go_into_a_float_heap():
    heap = MaxHeap(dtype=float)
    heap[1] = 3
    heap.add(1, np.int8(2))
    heap.add_many([1], [1])
    assert heap.pop() == (1, 6.0)
    with pytest.raises(OverflowError):
        heap[1] = 10**400


# ----------------------------------------------------------------------------------- inside compiled code
@kernel
def _use(heap, keys, deltas):
    status, failed = heap.add_many(keys, deltas)
    heap.add(5)  # the default
    heap.add(key=5, n=2)
    again = heap.add_many(keys, -3 * deltas)
    no_room = heap.reserve(2**47)
    popped, counts = heap.pop_many(2)
    heap[60] = 9
    del heap[60]
    missing = heap.remove(99), heap[99], 99 in heap, heap.sub(99, 1)
    left, arrays = len(heap), heap.to_arrays()
    heap.clear()
    return status, failed, again, no_room, popped, counts, missing, left, arrays, heap.peek(), heap.pop()


@pytest.mark.parametrize(
    ("heap_class", "dtype"), [*KINDS, (IndexedMaxHeap, "int64"), (IndexedMinHeap, "float32")]
)
def test_verbs_inside_njit(heap_class, dtype):
    n_keys = () if heap_class in (MaxHeap, MinHeap) else (100,)
    heap = heap_class(*n_keys, dtype=dtype)
    greatest_first = heap_class in (MaxHeap, IndexedMaxHeap)
    given = np.array([5, 6, 5, 7]), np.array([1, 2, 3, 6], dtype)
    status, failed, again, no_room, popped, numbers, missing, left, arrays, peeked, top = _use(heap, *given)
    assert (status, failed, again, no_room) == (OK, 4, (NEGATIVE, 1), NO_MEMORY)
    first = [(5, 7), (7, 6)] if greatest_first else [(6, 2), (7, 6)]
    assert list(zip(popped.tolist(), numbers.tolist(), strict=True)) == first
    assert numbers.dtype == dtype
    assert missing == (-1, 0, False, NEGATIVE)
    assert left == 1
    assert [array.tolist() for array in arrays] == ([[6], [2]] if greatest_first else [[5], [7]])
    assert (peeked, top) == ((0, 0), (0, 0))


@pytest.mark.parametrize(("heap_class", "dtype"), KINDS, ids=NAMES)
def test_reading_inside_njit(heap_class, dtype):
    if heap_class is MaxHeap:

        @njit
        def first(heap, k):
            return heap.nlargest(k)
    else:

        @njit
        def first(heap, k):
            return heap.nsmallest(k)

    @njit
    def read(heap):
        return heap.get(5), heap.get(99), heap.get(5, -7), heap.get(99, -7)

    heap = heap_class({5: 1, 6: 9, 7: 1}, dtype=dtype)
    assert read(heap) == (1, 0, 1, -7)
    assert [type(number) for number in read(heap)] == [type(heap[5])] * 4
    expected = heap.to_arrays()
    for k in (0, 2, 5, -3):
        found = first(heap, k)
        assert [array.tolist() for array in found] == [array[: max(k, 0)].tolist() for array in expected]
        assert found[1].dtype == dtype
    assert len(heap) == 3


def test_not_a_number_inside_njit():
    @njit
    def use(heap):
        sums = heap.add(1, np.nan), heap.sub(1, np.inf), heap.add(1, 5.0), heap.sub(2, 1.0)
        return sums, heap.add_many(np.array([1, 2]), np.array([1.0, np.nan]))

    heap = MaxHeap({1: math.inf})
    assert use(heap) == ((NOT_A_NUMBER, NOT_A_NUMBER, OK, NEGATIVE), (NOT_A_NUMBER, 1))
    assert list(heap.items()) == [(1, math.inf)]


@pytest.mark.parametrize(
    ("container", "count", "dtype"),
    [
        (MaxHeap, 2**40, "int32"),
        (MaxHeap, 2**40, "int8"),
        (MaxHeap, 2.5, "int64"),
        pytest.param(CountBuckets, 2**40, "int32", marks=pytest.mark.reads_statuses),
    ],
)
def test_add_many_restores_numbers_that_do_not_fit_the_deltas(container, count, dtype):
    @njit
    def update(heap, keys, deltas):
        return heap.add_many(keys, deltas)

    heap = container({1: count, 2: 1})
    before = heap.copy()
    assert update(heap, np.array([1, 2]), np.array([1, -5], dtype)) == (NEGATIVE, 1)
    assert heap == before


def test_floats_inside_njit():
    @njit
    def use(heap):
        refused = heap.set(1, np.nan), heap.set(2, np.float32(np.nan)), len(heap)
        heap.set(1, 1)
        heap.add(1, np.float32(0.5))
        heap.add(1, True)
        return refused, heap[1]

    assert use(MaxHeap(dtype=float)) == ((NOT_A_NUMBER, NOT_A_NUMBER, 0), 2.5)


def test_a_heap_is_checked_where_no_map_was_made(python):
    python("import structures; structures.MaxHeap({1: 2})._check()")
