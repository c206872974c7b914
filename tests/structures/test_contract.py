"""What all containers with keys promise, tested for each of them."""

import copy
import pickle
from collections import ChainMap, Counter
from collections.abc import Mapping

import numpy as np
import pytest
from numba import config, njit, types
from numba.core.errors import TypingError
from numba.typed import List

from structures import (
    CountBuckets,
    IndexedMaxHeap,
    IndexedMinHeap,
    IntMap,
    IntSet,
    MaxHeap,
    MinHeap,
    SortedMap,
)
from structures.status import INT64_MAX, INT64_MIN

KEYS = [-1, 0, 5, INT64_MAX, INT64_MIN, INT64_MIN + 1]
N_DENSE = 1200  # how many keys there can be where keys are 0 ... n - 1


class Kind:
    """A container class with the dtype of its numbers."""

    def __init__(self, container, dtype="int64"):
        self.container, self.dtype = container, np.dtype(dtype)
        self.least_first = container in (MinHeap, IndexedMinHeap)
        self.is_dense = container in (IndexedMaxHeap, IndexedMinHeap)
        self.keys = [31, 0, 5, 32, N_DENSE - 1, 1] if self.is_dense else KEYS

    def __call__(self, items=()):
        items = dict(items)
        arguments = [N_DENSE] * self.is_dense
        if self.container is IntMap:
            arguments = [self.dtype]  # its default is not that of the numbers
        return self.container.from_arrays(list(items), np.array(list(items.values()), self.dtype), *arguments)

    def in_order(self, items):
        sign = 1 if self.least_first else -1
        return sorted(dict(items).items(), key=lambda item: (sign * item[1], item[0]))

    def __repr__(self):
        return f"{self.container.__name__}-{self.dtype}"


# Of heaps, both orders and both dtypes, not all four pairs, each compiled again: their own tests have those.
COUNTED = [Kind(MaxHeap), Kind(CountBuckets), Kind(MinHeap, "float64")]
MAPS = [Kind(IntMap), Kind(IntMap, "float64"), Kind(SortedMap), Kind(SortedMap, "float64")]
KEYED = [*MAPS, *COUNTED]
DENSE = [Kind(IndexedMinHeap), Kind(IndexedMaxHeap, "float32")]
# These have the dtype of the arrays that they are built from.
BY_ARRAYS = [kind for kind in KEYED if kind.container is not IntMap or kind.dtype == np.int64]
by_arrays = pytest.mark.parametrize("keyed", BY_ARRAYS, ids=repr)


@pytest.fixture(params=KEYED, ids=repr)
def keyed(request):
    return request.param


@pytest.fixture(params=COUNTED, ids=repr)
def counted(request):
    return request.param


@pytest.fixture(params=[*KEYED, *DENSE], ids=repr)
def small_keyed(request):
    """Also those whose keys are small and not negative."""
    return request.param


@pytest.fixture(params=[*COUNTED, *DENSE], ids=repr)
def small_counted(request):
    return request.param


@pytest.fixture(params=[kind for kind in KEYED if kind.dtype == np.int64], ids=repr)
def keyed_int(request):
    return request.param


def test_single_keys(small_keyed):
    container = small_keyed()
    for n, key in enumerate(small_keyed.keys):
        assert key not in container
        container[key] = n
        container._check()
        assert (container[key], container.get(key), key in container, len(container)) == (n, n, True, n + 1)
    for key in small_keyed.keys:
        del container[key]
        container._check()
        assert container.get(key) == 0
        assert container.get(key, "none") == "none"
        with pytest.raises(KeyError) as caught:
            container[key]
        assert caught.value.args == (key,)
        with pytest.raises(KeyError):
            del container[key]
    assert len(container) == 0


def test_values_have_python_types(small_keyed):
    container = small_keyed({5: 7})
    kind = float if small_keyed.dtype.kind == "f" else int
    assert type(container[5]) is kind
    assert type(container.get(5)) is kind
    assert [type(number) for _, number in container.items()] == [kind]
    assert type(next(iter(container))) is int
    assert container.dtype == small_keyed.dtype
    assert [array.dtype for array in container.to_arrays()] == [np.int64, small_keyed.dtype]


@pytest.mark.parametrize("key", [1.0, "1", None, (1,), np.float64(1), 1j], ids=repr)
def test_keys_are_integers(small_keyed, key):
    container = small_keyed({1: 2})
    for change in (
        lambda: container[key],
        lambda: container.__setitem__(key, 1),
        lambda: container.__delitem__(key),
        lambda: container.add(key),
        lambda: container.add_many([key], [1]),
    ):
        with pytest.raises((TypeError, ValueError)):
            change()
    with pytest.raises(TypeError, match="key must be an integer, not"):
        container.add(key, 1)
    assert key not in container
    assert container.get(key, "none") == "none"
    assert list(container.items()) == [(1, 2)]


def test_what_a_message_says_to_do():
    heap = MaxHeap({1: 2})
    with pytest.raises(TypeError, match=r"not tuple: pack_pair\(left, right\) makes a key"):
        heap[1, 2] = 1
    with pytest.raises(TypeError, match="not str: number the texts first"):
        heap.add("one")
    for change in (lambda: heap.add(1, 0.5), lambda: heap.add_many([1], [0.5])):
        with pytest.raises(TypeError, match=r"not float.*: make it with dtype=float to hold floats"):
            change()
    with pytest.raises(TypeError, match=r"not float$"):
        CountBuckets().add(1, 0.5)


@pytest.mark.parametrize("key", [2**63, -(2**63) - 1, 2**64, np.uint64(2**63)], ids=repr)
def test_keys_fit_int64(keyed, key):
    container = keyed({1: 2, INT64_MIN: 3})
    with pytest.raises(OverflowError, match="does not fit int64"):
        container[key] = 1
    with pytest.raises(OverflowError, match="does not fit int64"):
        container[key]
    assert key not in container
    assert container.get(key, "none") == "none"
    assert dict(container.items()) == {1: 2, INT64_MIN: 3}


def test_keys_may_be_of_any_integer_type(keyed):
    container = keyed()
    for key in (np.int8(-1), np.uint8(255), np.uint64(2**63 - 1), True, np.int64(INT64_MIN)):
        container[key] = 3
        assert key in container
        assert container[int(key)] == 3
    assert sorted(container) == [INT64_MIN, -1, 1, 255, INT64_MAX]


@pytest.mark.parametrize("number", [1.5, "1", None, 1j], ids=repr)
def test_numbers_are_integers(keyed_int, number):
    container = keyed_int({1: 2})
    for change in (container.__setitem__, container.add):
        with pytest.raises(TypeError, match="must be an integer, not"):
            change(1, number)
    with pytest.raises(TypeError, match=r"deltas must be integers, not|deltas\[1\] must be an integer, not"):
        container.add_many([1, 2], np.array([1, number]))
    with pytest.raises(OverflowError, match="does not fit int64"):
        container[1] = 2**63
    with pytest.raises(OverflowError, match="does not fit int64"):
        container.add_many([1], [2**63])
    assert list(container.items()) == [(1, 2)]


ARRAYS = {
    "list": lambda array: array.tolist(),
    "tuple": lambda array: tuple(array.tolist()),
    "int8": lambda array: array.astype(np.int8),
    "uint8": lambda array: array.astype(np.uint8),
    "uint64": lambda array: array.astype(np.uint64),
    "big-endian": lambda array: array.astype(">i4"),
    "strided": lambda array: np.repeat(array, 2)[::2],
    "backwards": lambda array: array[::-1].copy()[::-1],
    "column": lambda array: np.stack((array, array), axis=1)[:, 0],
    "read-only": lambda array: np.frombuffer(array.tobytes(), np.int64),
    "unaligned": lambda array: np.frombuffer(b"x" + array.tobytes(), np.int64, offset=1),
    "range": lambda array: array,
}


@pytest.mark.parametrize("make", ARRAYS.values(), ids=ARRAYS)
def test_arrays_of_any_kind(small_keyed, make):
    keys, numbers = np.arange(1, 9) % 4, np.arange(11, 19)
    container = small_keyed()
    given = make(keys), make(numbers)
    before = copy.deepcopy(given)
    container.add_many(*given)
    sums = Counter()
    for key, number in zip(keys.tolist(), numbers.tolist(), strict=True):
        sums[key] += number
    assert dict(container.items()) == sums
    assert all(np.array_equal(now, then) for now, then in zip(given, before, strict=True))
    distinct, counts = make(np.arange(5)), np.asarray(make(np.arange(5, 10)))
    assert small_keyed.container.from_arrays(distinct, counts) == small_keyed(enumerate(range(5, 10)))


@pytest.mark.parametrize("empty", [[], (), np.empty(0), np.empty(0, np.int8)], ids=repr)
def test_empty_arrays(small_keyed, empty):
    container = small_keyed({1: 2})
    container.add_many(empty, empty)
    assert list(container.items()) == [(1, 2)]
    assert len(type(container).from_arrays(empty, empty)) == 0
    keys, numbers = small_keyed().to_arrays()
    assert (keys.size, keys.dtype, numbers.size, numbers.dtype) == (0, np.int64, 0, small_keyed.dtype)


@pytest.mark.parametrize(
    ("values", "index"),
    [
        (np.array([1, 2**63], np.uint64), 1),
        ([2**63, 1], 0),
        ([1, -1, 2**63], 2),  # numpy makes floats of these
        ([1, 2, 2**64], 2),
        ([1, -(2**63) - 1], 1),
        (np.array([5, 6, 2**70], object), 2),
        ([10**5000], 0),
    ],
    ids=["uint64", "list", "mixed", "past-uint64", "below", "objects", "huge"],
)
def test_integers_past_int64_are_named_by_index(keyed, values, index):
    container = keyed({1: 2})
    ones = np.ones(len(values), keyed.dtype)
    for change in (container.add_many, keyed.container.from_arrays):
        with pytest.raises(OverflowError, match=rf"keys\[{index}\] .*does not fit int64"):
            change(values, ones)
    if keyed.dtype == np.int64:
        with pytest.raises(OverflowError, match=rf"deltas\[{index}\] .*does not fit int64"):
            container.add_many(range(len(values)), values)
        name = "(values|counts|priorities)"
        with pytest.raises(OverflowError, match=rf"{name}\[{index}\] .*does not fit int64"):
            keyed.container.from_arrays(range(len(values)), values)
        with pytest.raises(OverflowError, match="does not fit int64"):
            keyed.container(enumerate(values))
    assert list(container.items()) == [(1, 2)]


def test_arrays_of_objects(keyed):
    container = keyed()
    container.add_many(np.array([1, np.int8(2), INT64_MIN], object), np.array([1, 2, 3], object))
    assert dict(container.items()) == {1: 1, 2: 2, INT64_MIN: 3}
    for wrong in (1.5, None, "3"):
        with pytest.raises(TypeError, match=r"keys\[1\] must be an integer, not"):
            container.add_many(np.array([1, wrong], object), [1, 1])


@pytest.mark.parametrize("small_keyed", [*BY_ARRAYS, *DENSE], ids=repr)
def test_arrays_of_the_wrong_shape(small_keyed):
    container = small_keyed({1: 2})
    for change in (container.add_many, small_keyed.container.from_arrays):
        with pytest.raises(ValueError, match="2 keys but 1 "):
            change([1, 2], np.array([3], small_keyed.dtype))
        with pytest.raises(ValueError, match="0 keys but 1 "):
            change([], np.array([3], small_keyed.dtype))
        with pytest.raises(ValueError, match="keys must have one dimension"):
            change([[1, 2]], [3, 4])
        with pytest.raises(TypeError, match="keys must be an array or a sequence, not int"):
            change(1, 2)
        with pytest.raises(ValueError, match=r"one dimension|1 keys but"):
            change([1], np.array([[3]], small_keyed.dtype))
        with pytest.raises(TypeError, match="keys must be integers"):
            change([True], [3])
        with pytest.raises(OverflowError):
            change(np.array([2**63], np.uint64), [3])
    assert list(container.items()) == [(1, 2)]


def test_add_many_is_all_or_nothing(small_keyed):
    large = 1e38 if small_keyed.dtype.kind == "f" else INT64_MAX
    container = small_keyed({1: 5, 2: large, 3: 1})
    before = container.copy()
    deltas = np.array([4, 6, -1, 2, 2, 1, 0], small_keyed.dtype)
    keys = np.array([1, 9, 3, 1, 9, 2, 1])
    if small_keyed.dtype.kind == "f":
        deltas[5] = np.nan
    with pytest.raises(OverflowError if small_keyed.dtype == np.int64 else ValueError, match="key 2 "):
        container.add_many(keys, deltas)
    container._check()
    assert container == before
    deltas[5] = 0
    container.add_many(keys, deltas)
    assert (container[1], container[9], container.get(3)) == (11, 8, 0)


@by_arrays
def test_construction(keyed):
    pairs = [(3, 1), (4, 1), (5, 9)]
    expected = keyed(pairs)
    if keyed.dtype == np.int64:
        assert keyed.container(dict(pairs)) == keyed.container(iter(pairs)) == expected
        assert keyed.container(Counter({3: 1, 4: 1, 5: 9})) == expected
    assert keyed.container.from_arrays(*expected.to_arrays()) == expected
    assert len(keyed.container()) == len(keyed.container({})) == len(keyed.container([])) == 0
    for wrong in (5, [3, 1, 4]):
        with pytest.raises(TypeError, match="items must be a mapping, pairs of a key and a number"):
            keyed.container(wrong)


@pytest.mark.parametrize(
    "way", [copy.copy, copy.deepcopy, lambda c: c.copy()], ids=["copy", "deepcopy", "method"]
)
def test_copies_are_independent(small_keyed, way):
    container = small_keyed((key, key % 7 + 1) for key in range(40))
    other = way(container)
    assert other == container
    other.clear()
    other[3] = 1
    container[4] = 6
    container._check()
    other._check()
    assert (len(other), len(container)) == (1, 40)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(small_keyed, protocol):
    container = small_keyed((key, n) for n, key in enumerate(small_keyed.keys))
    other = pickle.loads(pickle.dumps(container, protocol))
    other._check()
    assert other == container
    assert other.dtype == container.dtype
    assert pickle.loads(pickle.dumps(small_keyed())).dtype == container.dtype


def derived(base):
    """Return a user's subclass that pickle finds, with a method of its own and room for attributes."""
    name = f"My{base.__name__}"
    if name not in globals():
        globals()[name] = type(name, (base,), {"__module__": __name__, "n_entries": lambda self: len(self)})
    return globals()[name]


@by_arrays
def test_subclasses(keyed):
    mine, plain = derived(keyed.container), keyed({1: 2, 3: 4})
    one = mine.from_arrays(*plain.to_arrays())
    one.label = ["mine"]
    others = [copy.copy(one), copy.deepcopy(one), one.copy(), pickle.loads(pickle.dumps(one))]
    for other in (one, *others):
        assert (type(other), other.n_entries(), other.label, other.dtype) == (mine, 2, ["mine"], keyed.dtype)
        assert other == one == plain == other
    assert [other.label is one.label for other in others] == [True, False, True, False]
    others[0][5] = 6
    assert (5 in one, others[0] == one) == (False, False)
    assert type(mine()) is type(mine([(1, 2)])) is mine
    assert repr(one).startswith(f"<My{keyed.container.__name__} of 2: {{")
    one.add_many([1], np.array([1], keyed.dtype))
    assert (one[1], plain[1]) == (3, 2)


def test_equality(small_keyed):
    container = small_keyed({1: 1, 2: 2})
    same = small_keyed({2: 2, 7: 7, 1: 1})
    assert container != same
    del same[7]
    assert container == same
    same[1] = 3
    assert container != same
    assert container != small_keyed({1: 1})
    assert container == {1: 1, 2: 2} == container != {1: 3}
    assert (container == 5) is False
    assert small_keyed() == small_keyed()
    assert (container == object()) is False
    with pytest.raises(TypeError, match="unhashable"):
        hash(container)
    with pytest.raises(TypeError, match="not reversible"):
        reversed(container)


def test_reserve(keyed):
    container = keyed()
    container.reserve(1000)
    nbytes = container.nbytes
    for key in range(1000):
        container[key] = key % 10 + 1
    assert container.nbytes == nbytes
    container.reserve(10)
    assert container.nbytes == nbytes
    before = container.copy()
    with pytest.raises(MemoryError):
        container.reserve(2**47)
    with pytest.raises(ValueError, match="n_keys"):
        container.reserve(-1)
    with pytest.raises(TypeError, match="n_keys"):
        container.reserve(1.0)
    container._check()
    assert container == before
    container.clear()
    container._check()
    assert (len(container), list(container)) == (0, [])
    assert container.nbytes >= 1000 * 16


def test_growth_across_powers_of_two(keyed):
    container = keyed()
    for n in range(1, 1100):
        container[n * 7919] = n % 97
        if (n + 1) & n == 0 or n & (n - 1) == 0 or (n - 1) & (n - 2) == 0:
            container._check()
    assert dict(container.items()) == {n * 7919: n % 97 for n in range(1, 1100)}
    for n in range(1, 1100):
        del container[n * 7919]
        if n & (n - 1) == 0:
            container._check()
    container._check()
    assert len(container) == 0


@by_arrays
def test_a_full_container_takes_its_own_keys(keyed):
    """A key that is there already needs no room."""
    for n in range(1, 45):
        container = keyed((key, 1) for key in range(n))
        nbytes = container.nbytes
        ones, far = np.ones(n, keyed.dtype), np.array([1, -(10**6)], keyed.dtype)
        for key in range(n):
            container[key] = 5
            container.add(key)
        container.add_many(range(n), ones)
        if keyed not in MAPS:
            with pytest.raises(ValueError, match="below 0"):
                container.add_many([0, n - 1], far)
        else:
            over = INT64_MAX if keyed.dtype == np.int64 else np.nan
            with pytest.raises((OverflowError, ValueError)):
                container.add_many([0, n - 1], np.array([1, over], keyed.dtype))
            container.set_many([0, n - 1], [7, 7])
        if n < 40 or keyed.container is not CountBuckets:  # a key that moves may open a bucket
            container._check()
        assert keyed.container is CountBuckets or container.nbytes == nbytes, n


def test_message(small_keyed):
    one = small_keyed({1: 1})
    assert repr(one) == f"<{small_keyed.container.__name__} of 1: {dict(one.items())}>"


# ------------------------------------------------------------------------------------- keys with counts
def test_order(small_counted):
    items = dict(zip(small_counted.keys, [5, 2, 5, -1, 5, 2], strict=True)) | {3: 0}
    container = small_counted(items)
    expected = small_counted.in_order(items)
    assert list(container.items()) == expected
    assert list(container) == [key for key, _ in expected]
    assert container.ties().tolist() == [key for key, count in expected if count == expected[0][1]]
    for item in expected:
        assert container.peek() == item
        assert container.pop() == item
        container._check()


def test_counts_that_are_not_numbers(small_counted):
    """Not-a-number is always a ValueError, and changes nothing."""
    if small_counted.dtype == np.int64:
        with pytest.raises(TypeError):
            small_counted().add(1, float("nan"))
        return
    container = small_counted({1: 2.5, 2: np.inf, 3: -np.inf})
    before = container.copy()
    for change in (
        lambda: container.__setitem__(1, np.nan),
        lambda: container.add(1, np.nan),
        lambda: container.sub(1, np.nan),
        lambda: container.add(7, np.nan),
        lambda: container.add_many([1, 7], [2.0, np.nan]),
        lambda: container.sub(2, np.inf),
        lambda: container.add(3, np.inf),
        lambda: small_counted.container.from_arrays([1], [np.nan]),
    ):
        with pytest.raises(ValueError, match="not a number"):
            change()
        container._check()
        assert container == before


def test_empty(small_counted):
    container = small_counted()
    for verb in (container.peek, container.pop):
        with pytest.raises(KeyError, match="is empty"):
            verb()
    assert container.pop(default=None) is None
    assert container.pop(default="none") == "none"
    for unnamed in (("none",), (1, 2)):
        with pytest.raises(TypeError, match=r"del h\[key\]"):
            container.pop(*unnamed)
    assert container.ties().tolist() == []
    assert [array.tolist() for array in container.pop_many(5)] == [[], []]
    assert [array.dtype for array in container.pop_many(5)] == [np.int64, small_counted.dtype]


def test_verbs_of_compiled_code(small_keyed):
    """They have the same names in Python."""
    container = small_keyed()
    container.set(small_keyed.keys[0], 4)
    assert container[small_keyed.keys[0]] == 4
    container.remove(small_keyed.keys[0])
    assert len(container) == 0
    with pytest.raises(KeyError):
        container.remove(small_keyed.keys[0])


def test_repr():
    assert repr(IntMap()) == "<IntMap of 0>"
    assert repr(MaxHeap({7: 2, 8: 5})) == "<MaxHeap of 2: {8: 5, 7: 2}>"
    assert repr(SortedMap({1.5: 2, 3: 4, 5: 6, 7: 8})) == "<SortedMap of 4: {1.5: 2, 3.0: 4, 5.0: 6, ...}>"
    assert repr(IntSet(range(20_000))) == "<IntSet of 20000>"


def test_mapping(small_keyed):
    """What takes a mapping gets Python's numbers, and every entry once."""
    container, items = small_keyed({1: 2, 5: 4}), {1: 2, 5: 4}
    assert isinstance(container, Mapping)
    match container:
        case {1: two, **rest}:
            assert (two, rest) == (2, {5: 4})
    for made in (dict(container), {**container}, ChainMap(container, {7: 1})):
        assert {**items, 7: 1} == {**made, 7: 1}
        assert {type(key) for key in made} == {int}
    assert {type(value) for value in dict(container).values()} == {container.dtype.type(2).item().__class__}
    assert Mapping.__eq__(container, items)
    assert set(Mapping.keys(container)) == set(container.keys()) == items.keys()
    for cls in (IntMap, SortedMap, MaxHeap):
        assert (container == cls(items)) is (small_keyed.container is cls)


def test_arrays_of_keys_and_values(small_keyed):
    """In loops they give Python's numbers, and elsewhere they are arrays."""
    container = small_keyed({5: 4, 1: 2})
    for array, first, total in ((container.keys(), 1, 6), (container.values(), 2, 6)):
        assert repr(array) == repr(np.array(array.tolist(), array.dtype))
        assert (array.sum(), array.min(), type(array.max())) == (total, first, array.dtype.type)
        assert type(array + array) is type(np.concatenate([array, array])) is np.ndarray
        assert {type(number) for number in array} == {type(array.tolist()[0])}
        assert (array[1:].shape, type(array[0])) == ((1,), array.dtype.type)
        assert sums(array) == 6
        assert pickle.loads(pickle.dumps(array)).tolist() == array.tolist()


@njit
def sums(array):
    return array.sum()


def test_equal_to_what_python_has():
    for one in (IntMap({1: 2, 3: 4}), SortedMap({1: 2, 3: 4}), MaxHeap({1: 2, 3: 4})):
        assert one == {1: 2, 3: 4} == one
        assert (one != {1: 2}, one != {1: 2, 3: 5}, one == 5, one == [1, 3]) == (True, True, False, False)
    assert IntSet([1, 2]) == {1, 2} == IntSet([2, 1]) != frozenset([1])
    assert IntSet([1, 2]) != [1, 2]


def test_all_tied(small_counted):
    rng = np.random.default_rng(0)
    keys = rng.permutation(np.arange(600)).tolist()
    container = small_counted((key, 4) for key in keys)
    container._check()
    assert container.ties().tolist() == sorted(keys)
    for key in keys[:200]:
        container.add(key, 1)
    container._check()
    expected = small_counted.in_order({key: 4 + (n < 200) for n, key in enumerate(keys)})
    assert list(container.items()) == expected
    for key in keys[200:]:
        container[key] = 5
    assert container.ties().tolist() == sorted(keys)
    assert [container.pop() for _ in keys] == [(key, 5) for key in sorted(keys)]


def test_pop_many(small_counted):
    items = {key: key * key % 11 for key in range(50)}
    container, expected = small_counted(items), small_counted.in_order(items)
    look = container.nsmallest if small_counted.least_first else container.nlargest
    for k in (0, 1, 7, 100):
        keys, counts = look(k)
        assert list(zip(keys.tolist(), counts.tolist(), strict=True)) == expected[:k]
    assert len(container) == 50
    keys, counts = container.pop_many(20)
    assert list(zip(keys.tolist(), counts.tolist(), strict=True)) == expected[:20]
    container._check()
    assert list(container.items()) == expected[20:]
    for verb in (container.pop_many, look):
        with pytest.raises(ValueError, match="k must be in"):
            verb(-1)
        with pytest.raises(TypeError, match="k must be an integer"):
            verb(1.5)
    assert container.pop_many(2**40)[0].size == 30


def test_multiset_verbs(small_counted):
    container = small_counted()
    container.add(7)
    container.add(7, 4)
    container.sub(7)
    container.sub(8, 0)
    container.add(9, 0)
    assert dict(container.items()) == {7: 4}
    with pytest.raises(ValueError, match="the count of key 7 would fall below 0"):
        container.sub(7, 5)
    with pytest.raises(ValueError, match="the count of key 8 would fall below 0"):
        container.sub(8)
    with pytest.raises(ValueError, match="the count of key 8 would fall below 0"):
        container.add(8, -1)
    container.sub(7, 4)
    assert 7 not in container
    container.sub(7, -3)
    assert container[7] == 3
    container[7] = -2
    assert container[7] == -2
    with pytest.raises(ValueError, match="below 0"):
        container.add(7)
    container.add(7, 2)
    assert len(container) == 0
    container[7] = 0
    assert list(container.items()) == [(7, 0)]
    container.sub(7, 0)
    assert len(container) == 0
    container._check()


@pytest.mark.parametrize(
    ("count", "verb", "n", "expected"),
    [
        (INT64_MAX, "add", 1, OverflowError),
        (INT64_MAX, "add", INT64_MAX, OverflowError),
        (INT64_MIN, "add", -1, OverflowError),
        (INT64_MIN, "sub", 1, OverflowError),
        (INT64_MAX, "sub", -1, OverflowError),
        (0, "sub", INT64_MIN, OverflowError),
        (-1, "sub", INT64_MIN, INT64_MAX),
        (1, "sub", INT64_MIN, OverflowError),
        (INT64_MIN, "sub", INT64_MIN, None),
        (INT64_MAX, "sub", INT64_MAX, None),
        (1, "add", INT64_MAX - 1, INT64_MAX),
        (INT64_MIN, "add", INT64_MAX, ValueError),
        (INT64_MAX, "add", INT64_MIN, ValueError),
    ],
)
def test_counts_near_the_ends(count, verb, n, expected):
    for kind in [kind for kind in COUNTED + DENSE if kind.dtype == np.int64]:
        container = kind({5: count})
        if isinstance(expected, type):
            with pytest.raises(expected, match="key 5"):
                getattr(container, verb)(5, n)
        else:
            getattr(container, verb)(5, n)
        container._check()
        assert container.get(5, None) == (count if isinstance(expected, type) else expected)


def test_repeated_keys_are_named(counted):
    with pytest.raises(ValueError, match="key 5 is a duplicate"):
        counted.container.from_arrays([4, 5, 6, 5], np.array([1, 2, 3, 4], counted.dtype))
    with pytest.raises(ValueError, match=f"key {INT64_MIN} is a duplicate"):
        counted.container.from_arrays([INT64_MIN, INT64_MIN], np.array([1, 1], counted.dtype))
    with pytest.raises(ValueError, match="key 5 is a duplicate"):
        counted.container([(5, 1), (5, 1)])


def test_dijkstra_like_traffic(small_counted):
    """Counts fall and rise at random, and the top is taken from time to time."""
    rng = np.random.default_rng(1)
    container, model = small_counted(), {}
    for key, count in rng.integers(0, 400, (4000, 2)).tolist():
        container[key] = model[key] = count
        if count % 5 == 0:
            top = container.pop()
            assert top == small_counted.in_order(model)[0]
            del model[top[0]]
    container._check()
    assert list(container.items()) == small_counted.in_order(model)


# ---------------------------------------------------------------------------------------- many keys at once
def model_of(container):
    return dict(container.items())


def test_set_get_and_remove_many(small_keyed, rng):
    container, model = small_keyed(), {}
    for _ in range(20):
        keys = rng.integers(0 if small_keyed.is_dense else -9, 30, 12)
        numbers = rng.integers(0, 5, 12).astype(small_keyed.dtype)
        container.set_many(keys, numbers)
        model.update(zip(keys.tolist(), numbers.tolist(), strict=True))
        container._check()
        assert model_of(container) == model
        asked = rng.integers(-20, 40, 30)
        got = container.get_many(asked, 77)
        assert got.dtype == small_keyed.dtype
        assert got.tolist() == [model.get(key, 77) for key in asked.tolist()]
        gone = rng.integers(-20, 40, 9)
        assert container.remove_many(gone) == len(set(gone.tolist()) & set(model))
        for key in gone.tolist():
            model.pop(key, None)
        container._check()
        assert model_of(container) == model
        assert container.keys().tolist() == list(container)
        assert container.values().tolist() == [model[key] for key in container]


def test_add_many_of_a_mapping(small_keyed):
    container = small_keyed({1: 2, 3: 4})
    container.add_many({1: 5, 7: 1})
    container.add_many([(1, 1), (1, 1)])
    container.add_many(small_keyed({7: 3}))
    assert model_of(container) == {1: 9, 3: 4, 7: 4}
    before = container.copy()
    with pytest.raises((OverflowError, ValueError)):
        container.add_many({3: 1, 1: INT64_MAX if small_keyed.dtype == np.int64 else np.nan})
    with pytest.raises(ValueError, match="2 keys but 1 values"):
        container.set_many([1, 2], [3])
    assert container == before


@pytest.mark.parametrize("small_map", MAPS, ids=repr)
def test_maps_update_as_a_dict(small_map):
    @njit
    def update(container, other):
        return container.update(other)

    container, model = small_map({1: 2, 3: 4}), {1: 2, 3: 4}
    for other in ({1: 5, 7: 1}, [(1, 1), (4, 0), (1, 8)], []):
        container.update(other)
        model.update(other)
    container.update(small_map({7: 3}))
    assert update(container, small_map({8: 9, 3: 0})) == 0
    assert model_of(container) == {**model, 7: 3, 8: 9, 3: 0}
    container._check()
    with pytest.raises((TypeError, OverflowError)):
        container.update({1: 1, 2: 2**2000})
    assert model_of(container) == {**model, 7: 3, 8: 9, 3: 0}


def test_renamed_verbs_are_named():
    for name in ("update", "update_many"):
        with pytest.raises(AttributeError, match=f"MaxHeap.{name} is now add_many"):
            getattr(MaxHeap(), name)
    compiled = TypingError, "has no update_many in compiled code: do you mean add_many"
    plain = AttributeError, "MaxHeap.update_many is now add_many"
    error, message = plain if config.DISABLE_JIT else compiled
    with pytest.raises(error, match=message):
        njit(lambda heap: heap.update_many(heap))(MaxHeap())
    with pytest.raises(AttributeError, match="'IntMap' object has no attribute 'sub'"):
        IntMap().sub(1)
    assert not hasattr(IntSet([1]), "update_many")


def test_setdefault(small_keyed):
    container = small_keyed({1: 2})
    assert (container.setdefault(1, 7), container.setdefault(2, 7), container.setdefault(3)) == (2, 7, 0)
    assert model_of(container) == {1: 2, 2: 7, 3: 0}
    container._check()


def test_set_many_is_all_or_nothing():
    container = MaxHeap({1: 2.0, 5: 1.0})
    before = container.copy()
    with pytest.raises(ValueError, match="not a number"):
        container.set_many([1, 9, 5, 1], [7.0, 8.0, 9.0, np.nan])
    container._check()
    assert container == before


def test_replace(small_counted):
    container = small_counted({1: 2, 3: 4, 5: 2})
    model = model_of(container)
    for key, count in [(9, 3), (3, 1), (9, 9), (1, 1)]:
        top = small_counted.in_order(model)[0]
        del model[top[0]]
        model[key] = count
        assert container.replace(key, count) == top
        container._check()
        assert model_of(container) == model
    with pytest.raises(KeyError, match="is empty"):
        small_counted().replace(1, 2)
    if small_counted.dtype.kind == "f":
        with pytest.raises(ValueError, match="not a number"):
            container.replace(1, np.nan)
        assert model_of(container) == model


# ----------------------------------------------------------------------------------------- in compiled code
@njit
def _loops(container):
    keys, numbers, n = List.empty_list(types.int64), List.empty_list(types.float64), 0
    for key in container:
        keys.append(key)
    for key, number in container.items():
        container.remove(key)  # a loop runs over what was there when it began
        n += 1
        numbers.append(number)
    return keys, numbers, n


def test_loops_inside(small_keyed):
    items = {9: 3, 4: 3, 2: 7, 5: 1}
    container = small_keyed(items)
    expected = list(container.items())
    keys, numbers, n = _loops(container)
    assert (list(zip(keys, numbers, strict=True)), n) == (expected, 4)
    assert len(container) == 0
    assert _loops(container)[2] == 0


@njit
def _verbs(container, other, keys, numbers):
    container.set_many(keys, numbers)
    got = container.get_many(keys, 7)
    n_removed = container.remove_many(keys[:2])
    were = container.setdefault(100, 5), container.setdefault(100, 6)
    container.add_many(*other.to_arrays())
    return got, n_removed, were, container.keys(), container.values()


def test_verbs_inside(small_keyed):
    keys, numbers = np.array([4, 2, 4, 9]), np.array([1, 2, 3, 4], small_keyed.dtype)
    container, other = small_keyed({1: 2}), small_keyed({9: 1, 1: 1})
    got, n_removed, were, now, values = _verbs(container, other, keys, numbers)
    assert (got.tolist(), n_removed, were) == ([3, 2, 3, 4], 2, (5, 5))
    assert model_of(container) == {1: 3, 9: 5, 100: 5}
    assert list(zip(now.tolist(), values.tolist(), strict=True)) == list(container.items())


@njit
def _compared(a, b):
    return a == b, a != b


def test_equality_inside(small_keyed):
    container = small_keyed({1: 2, 0: 0, 4: 3})
    for other, is_equal in [
        (container.copy(), True),
        (small_keyed({4: 3, 1: 2, 0: 0}), True),
        (small_keyed({1: 2, 7: 0, 4: 3}), False),  # a missing key reads as 0
        (small_keyed({1: 2, 0: 1, 4: 3}), False),
        (small_keyed({1: 2}), False),
        (small_keyed(), False),
    ]:
        assert _compared(container, other) == (is_equal, not is_equal)
        assert (container == other) == is_equal


def test_replace_inside(small_counted):
    container = small_counted({1: 2, 3: 4})
    top = container.peek()
    assert njit(lambda h: h.replace(7, 1))(container) == top
    assert container[7] == 1
