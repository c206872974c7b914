import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from structures import SortedMap
from structures.sorted_maps import sorted_map_layout as module
from structures.sorted_maps.sorted_map_kernels import sorted_map_type
from structures.status import (
    INT64_MAX,
    INT64_MIN,
    MISSING,
    NO_MEMORY,
    NOT_A_NUMBER,
    OK,
    OUT_OF_RANGE,
    OVERFLOW,
)
from structures.testing import (
    LANGUAGES,
    FloatSortedMapMachine,
    SortedMapMachine,
    SortedModel,
    SortedOperation,
    check_program,
    random_program,
    strategies,
)

TestMachine = SortedMapMachine.TestCase
TestFloatMachine = FloatSortedMapMachine.TestCase
TYPES = [(key_dtype, dtype) for key_dtype in ("int64", "float64") for dtype in ("int64", "float64")]
types = pytest.mark.parametrize(("key_dtype", "dtype"), TYPES, ids=map("-".join, TYPES))


# -------------------------------------------------------------------------------------------- programs
@types
@pytest.mark.parametrize(
    ("keys", "numbers", "rare"),
    [
        (range(-3, 6), range(-2, 4), 0.8),  # often empty
        (range(-100, 300), range(-2, 4), 0.4),  # a few leaves
        (range(-3000, 3000), range(50), 0.1),  # some nodes
        (range(-(2**40), 2**40, 2**27 + 12345), [1, 2**62, -(2**62)], 0.2),
    ],
    ids=["empty", "leaves", "nodes", "far"],
)
def test_programs(rng, key_dtype, dtype, keys, numbers, rare):
    language = LANGUAGES[SortedMap]
    program = random_program(language, rng, 4000, keys=keys, numbers=numbers, rare=rare, dtype=dtype)
    model = SortedModel()
    container = check_program(language, SortedMap(dtype=dtype, key_dtype=key_dtype), model, program)
    assert list(container.items()) == sorted(model.items())


CHANGES = [
    SortedOperation.REMOVE,
    SortedOperation.POP_MIN,
    SortedOperation.POP_MAX,
    SortedOperation.REMOVE_RANGE,
]


@pytest.mark.parametrize("verb", CHANGES, ids=lambda verb: verb.name)
def test_programs_that_grow_and_shrink(rng, verb):
    """A tree of three levels comes and goes."""
    language = LANGUAGES[SortedMap]
    program = random_program(language, rng, 30_000, keys=range(12_000), numbers=range(9), rare=0)
    program.operations[18_000:] = np.where(program.numbers[18_000:] > 1, verb, SortedOperation.ADD)
    check_program(language, SortedMap(), Fast(), program)


class Fast(SortedModel):
    """The same, where a sort for every operation takes too long."""

    def peek_min(self, *default):
        return min(self.items(), default=(0, 0)) if self else default[0]

    def peek_max(self, *default):
        return max(self.items(), default=(0, 0)) if self else default[0]

    def between(self, low=None, high=None):
        return [key for key in range(low, high) if key in self]


def test_programs_with_keys_at_the_ends(rng):
    ends = [INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX]
    language = LANGUAGES[SortedMap]
    program = random_program(language, rng, 4000, ends, [-1, 1, INT64_MAX, INT64_MIN], rare=0.6)
    check_program(language, SortedMap(), SortedModel(), program)


# ----------------------------------------------------------------------------------- the shape of the tree
def keys_in(order, n):
    rng = np.random.default_rng(n)
    keys = {"ascending": np.arange(n), "descending": np.arange(n)[::-1], "random": rng.permutation(n)}
    keys["outwards"] = np.arange(n) * (-1) ** np.arange(n)
    return keys[order].tolist()


@pytest.mark.parametrize("order", ["ascending", "descending", "random", "outwards"])
@pytest.mark.parametrize("n", [96, 97, 193, 7000])
def test_rows_split_and_join(order, n):
    """Past the room of a leaf and of a node, and back, in another order."""
    container = SortedMap()
    for i, key in enumerate(keys_in(order, n)):
        container[key] = i
        if i % 97 == 0:
            container._check()
    container._check()
    assert container.keys().tolist() == sorted(keys_in(order, n))
    for i, key in enumerate(np.random.default_rng(1).permutation(keys_in(order, n)).tolist()):
        assert container.pop(key) is not None
        if i % 97 == 0:
            container._check()
    container._check()
    assert (len(container), list(container)) == (0, [])


def test_memory():
    """Ascending keys fill their rows; any others fill half of them; what is free is used again."""
    for order, most in (("ascending", 18), ("descending", 36)):
        container = SortedMap()
        for key in keys_in(order, 100_000):
            container[key] = 1
        assert container.nbytes < 2 * most * 100_000  # twice as much after growth
    window = SortedMap()
    for key in range(1000):
        window[key] = key
    nbytes = window.nbytes
    for key in range(1000, 50_000):
        window[key] = key
        assert window.pop_min() == (key - 1000, key - 1000)
    window._check()
    assert window.nbytes <= 2 * nbytes


def test_few_keys_in_many_rows_are_gathered():
    container = SortedMap.from_arrays(np.arange(50_000), np.arange(50_000))
    for key in range(50_000):
        if key % 500:
            del container[key]
    container._check()
    assert container.keys().tolist() == list(range(0, 50_000, 500))
    nbytes = container.nbytes
    for turn in range(1, 20):
        keys = np.arange(0, 50_000, 5) + 100_000 * turn
        container.set_many(keys, keys)
        container.remove_many(keys[keys % 500 > 0])
        container._check()
    assert container.nbytes <= 2 * nbytes


@pytest.mark.parametrize("n", [0, 1, 84, 85, 84 * 56, 84 * 56 + 1, 84 * 56 * 2 + 1, 300_000])
def test_building(n):
    keys = np.random.default_rng(n).permutation(n) * 3
    for given_keys in (np.sort(keys), keys):
        container = SortedMap.from_arrays(given_keys, given_keys + 1)
        container._check()
        assert np.array_equal(container.keys(), np.arange(n) * 3)
        assert np.array_equal(container.values(), np.arange(n) * 3 + 1)
    for key in (-1, 0, 1, 3 * n - 2, 3 * n - 1, 3 * n):
        assert container.rank(key) == np.searchsorted(container.keys(), key)
        container[key] = 5
        container._check()


@pytest.mark.parametrize("size", [0, 10, 1000, 40_000])
@pytest.mark.parametrize("m", [1, 5, 60, 2000])
def test_many_keys_are_merged_or_inserted(size, m):
    """A part of the keys is there already; some are there twice among those that are set."""
    rng = np.random.default_rng(size + m)
    container = SortedMap.from_arrays(np.arange(size) * 2, np.arange(size))
    keys, values = rng.integers(-10, 2 * size + 50, m), rng.integers(0, 99, m)
    model = SortedModel(zip(container.keys().tolist(), container.values().tolist(), strict=True))
    other, model_2 = container.copy(), SortedModel(model)
    container.set_many(keys, values)
    model.set_many(keys.tolist(), values.tolist())
    other.add_many(keys, values)
    model_2.add_many(keys.tolist(), values.tolist())
    for one, expected in ((container, model), (other, model_2)):
        one._check()
        assert list(one.items()) == sorted(expected.items())
    nbytes = container.nbytes
    container.set_many(keys, values + 1)
    assert container.nbytes == nbytes


def test_reserve_is_enough():
    for order in ("ascending", "descending", "random", "outwards"):
        container = SortedMap()
        container.reserve(20_000)
        nbytes = container.nbytes
        for key in keys_in(order, 20_000):
            container[key] = 1
        assert container.nbytes == nbytes, order


# ------------------------------------------------------------------------------------------------ types
@types
def test_types(key_dtype, dtype):
    container = SortedMap(dtype=dtype, key_dtype=key_dtype)
    assert (container.key_dtype, container.dtype) == (np.dtype(key_dtype), np.dtype(dtype))
    container[3] = 4
    key_type, value_type = (float if name == "float64" else int for name in (key_dtype, dtype))
    for entry in (container.peek_min(), container.floor(5), container.select(0), next(container.items())):
        assert (type(entry[0]), type(entry[1])) == (key_type, value_type)
    assert [array.dtype for array in container.to_arrays()] == [key_dtype, dtype]
    for other in (copy.deepcopy(container), pickle.loads(pickle.dumps(container))):
        assert other == container
        assert (other.key_dtype, other.dtype) == (container.key_dtype, container.dtype)
    container.clear()
    empty = pickle.loads(pickle.dumps(container))
    assert (empty.key_dtype, empty.dtype) == (container.key_dtype, container.dtype)
    assert container._numba_type_ == sorted_map_type(key_dtype, dtype)
    others = [SortedMap(dtype=d, key_dtype=k) for k, d in TYPES if (k, d) != (key_dtype, dtype)]
    container[3] = 4
    for other in others:
        assert container != other
        other[3] = 4
        assert container == other


def test_types_of_the_first_items():
    assert SortedMap({1: 2}).key_dtype == SortedMap({1: 2}).dtype == np.int64
    assert (SortedMap({1: 2.5}).key_dtype, SortedMap({1: 2.5}).dtype) == (np.int64, np.float64)
    assert SortedMap({1.5: 2}).key_dtype == np.float64
    assert SortedMap({1: 2}, float, float).peek_min() == (1.0, 2.0)
    assert SortedMap.from_arrays([0.5], [1]).dtype == SortedMap(dtype=int).dtype == np.int64
    for wrong in ({"dtype": np.int32}, {"key_dtype": "float32"}, {"dtype": "U1"}):
        with pytest.raises(TypeError, match="dtype must be int64 or float64, not"):
            SortedMap(**wrong)
    with pytest.raises(TypeError, match="keys must be integers, not float64"):
        SortedMap({1.5: 2}, key_dtype=int)
    with pytest.raises(TypeError, match="values must be integers, not float64"):
        SortedMap({1: 2.5}, dtype=int)


def test_a_key_that_is_not_a_number_is_refused():
    container = SortedMap({1.5: 1, np.inf: 2, -np.inf: 3})
    before = container.copy()
    nan = float("nan")

    def ask(verb, key):
        return getattr(container, verb)(key)

    calls = [
        *(lambda verb=verb: ask(verb, nan) for verb in ("floor", "higher", "rank", "add", "pop")),
        lambda: container[nan],
        lambda: container.__setitem__(nan, 1),
        lambda: container.__delitem__(nan),
        lambda: container.setdefault(nan, 1),
        lambda: container.count(nan),
        lambda: container.keys(0.0, nan),
        lambda: container.remove_range(nan),
        lambda: container.floor_many([1.0], (nan, 1)),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="key is not a number"):
            call()
    for call in (
        *(lambda verb=verb: ask(verb, [1.0, nan]) for verb in ("get_many", "rank_many")),
        lambda: container.set_many([2.0, nan], [1, 1]),
        lambda: container.add_many([2.0, nan], [1, 1]),
        lambda: container.remove_many([1.5, nan]),
        lambda: SortedMap.from_arrays([2.0, nan], [1, 1]),
    ):
        with pytest.raises(ValueError, match=r"keys\[1\] is not a number"):
            call()
    assert (nan in container, container.get(nan, "none"), "1.5" in container) == (False, "none", False)
    assert container == before
    assert container.floor(1e308) == (1.5, 1)
    assert container.keys().tolist() == [-np.inf, 1.5, np.inf]


def test_zeros_are_equal():
    container = SortedMap({-0.0: 1}, key_dtype=float)
    container[0.0] = 2
    assert (len(container), container[-0.0], container.floor(-0.0)) == (1, 2, (0.0, 2))
    assert container.rank(-0.0) == 0
    assert str(container.keys()) == "[0.]"


def test_values_that_are_not_numbers():
    """Stored, but not added."""
    container = SortedMap({1: np.nan, 2: np.inf}, float)
    assert np.isnan(container[1])
    assert container == container.copy() != SortedMap({1: 1.0, 2: np.inf})
    for key, delta in ((1, 1.0), (2, -np.inf), (3, np.nan)):
        with pytest.raises(ValueError, match="not a number"):
            container.add(key, delta)
    with pytest.raises(ValueError, match="not a number"):
        container.add_many([5, 2], [1.0, -np.inf])
    assert (len(container), 5 in container) == (2, False)


# ------------------------------------------------------------------------------------------------ verbs
def test_where_there_is_none():
    container = SortedMap({10: 1, 20: 2})
    for verb, key, message in (
        ("floor", 9, "no key at or below 9"),
        ("lower", 10, "no key below 10"),
        ("ceiling", 21, "no key at or above 21"),
        ("higher", 20, "no key above 20"),
    ):
        with pytest.raises(KeyError, match=message):
            getattr(container, verb)(key)
        assert getattr(container, verb)(key, None) is None
    with pytest.raises(KeyError, match=r"no key at or below keys\[1\], 5"):
        container.floor_many([10, 5, 4])
    with pytest.raises(KeyError, match=r"no key at or above keys\[0\], 25"):
        container.ceiling_many([25])
    keys, values = container.ceiling_many([25, 15], (-1, -2))
    assert (keys.tolist(), values.tolist()) == ([-1, 20], [-2, 2])
    for i in (-1, 2):
        with pytest.raises(IndexError, match=f"rank {i} is out of range for 2 keys"):
            container.select(i)
    with pytest.raises(TypeError, match="i must be an integer"):
        container.select(1.0)


def test_empty():
    container = SortedMap()
    for verb in (container.peek_min, container.peek_max, container.pop_min, container.pop_max):
        with pytest.raises(KeyError, match="SortedMap is empty"):
            verb()
    assert (container.pop_min(None), container.pop_max("none")) == (None, "none")
    assert (container.rank(5), container.count(), container.remove_range(), len(container.keys())) == (0,) * 4
    assert [array.size for array in container.floor_many([])] == [0, 0]
    container.remove_many([])


def test_ranges():
    container = SortedMap((key, key * key) for key in range(0, 1000, 10))
    for low, high in (
        (None, None),
        (15, 40),
        (40, 15),
        (-5, 2000),
        (20, 20),
        (20, 21),
        (None, 30),
        (970, None),
    ):
        expected = [
            key for key in range(0, 1000, 10) if (low or -9) <= key < (9999 if high is None else high)
        ]
        assert container.keys(low, high).tolist() == expected
        assert list(container.items(low, high)) == [(key, key * key) for key in expected]
        other = container.copy()
        assert container.count(low, high) == other.remove_range(low, high) == len(expected)
        other._check()
        assert sorted({*other.keys().tolist(), *expected}) == container.keys().tolist()


def test_remove_many():
    container = SortedMap((key, 1) for key in range(300))
    assert container.remove_many([5, 300, 7, 5]) == 2
    assert (5 in container, 7 in container, len(container)) == (False, False, 298)
    assert container.remove_many(range(299, -1, -1)) == 298
    container._check()
    assert len(container) == 0


def test_errors_of_sums():
    container = SortedMap({2.5: INT64_MAX})
    with pytest.raises(OverflowError, match=r"2\.5"):
        container.add(2.5)
    with pytest.raises(OverflowError, match=r"key 2\.5"):
        container.add_many([1.5, 2.5], [1, 1])
    assert container.to_arrays()[0].tolist() == [2.5]
    with pytest.raises(ValueError, match="2 keys but 1 values"):
        container.set_many([1, 2], [1])


def test_a_multiset_with_the_counts_as_values():
    container = SortedMap()
    for number in (5, 3, 5, 5):
        container.add(number)
    assert list(container.items()) == [(3, 1), (5, 3)]


@given(st.dictionaries(strategies.keys(), strategies.counts()))
def test_arrays_round_trip(items):
    container = SortedMap(items)
    container._check()
    assert list(container.items()) == sorted(items.items())
    assert SortedMap.from_arrays(*container.to_arrays()) == container


# --------------------------------------------------------------------------------------- inside compiled code
@njit
def _use(container, keys, values):
    statuses = (
        container.set_many(keys, values),
        container.set_many(keys, values[1:]),
        container.reserve(2**47),
        container.remove(99),
        container.add(5, 2**63 - 1),
        container.add_many(keys, np.full(keys.size, 2**63 - 1)),
        container.add_many(keys, values[1:]),
        container.remove_many(np.array([5, 98])),
        container.remove_many(keys[:1]),
    )
    missing = (
        container.floor(-9),
        container.floor(-9, (-1, -2)),
        container.select(7, (-1, -2)),
        container.get(99, -7),
        container.pop(99),
        container[99],
    )
    ranges = container.count(), container.count(6), container.count(high=6), container.keys(2, 6)
    container.clear()
    return (
        statuses,
        missing,
        ranges,
        container.pop_min(),
        container.peek_max((-1, 2)),
        container.setdefault(3, 4),
    )


@pytest.mark.reads_statuses
def test_verbs_inside_njit():
    container = SortedMap()
    statuses, missing, ranges, *ends = _use(container, np.array([5, 6, 5, 1]), np.array([1, 2, 3, 4]))
    *singles, uneven, n_removed, n_more = statuses
    assert singles == [OK, OUT_OF_RANGE, NO_MEMORY, MISSING, OVERFLOW, (OVERFLOW, 3)]
    assert (uneven, n_removed, n_more) == ((OUT_OF_RANGE, 3), 1, 0)
    assert missing == ((0, 0), (-1, -2), (-1, -2), -7, 0, 0)
    assert ranges[:3] == (2, 1, 1)
    assert ranges[3].tolist() == []
    assert ends == [(0, 0), (-1, 2), 4]
    assert list(container.items()) == [(3, 4)]


@njit
def _use_floats(container, nan):
    container[2] = 7  # an int for a float
    container.add(2.5, 1.5)
    wrong = container.set(nan, 1), container.add(nan, 1), container.set_many(np.array([1.0, nan]), np.ones(2))
    sums = container.add(2.5, nan), container.add_many(np.array([2.0, nan]), np.ones(2))
    return wrong, sums, nan in container, container.floor(3), container.higher(2, (nan, 1))


def test_floats_inside_njit():
    container = SortedMap(dtype=float, key_dtype=float)
    wrong, sums, contains, floor, higher = _use_floats(container, np.nan)
    assert wrong == (NOT_A_NUMBER,) * 3
    assert sums == (NOT_A_NUMBER, (NOT_A_NUMBER, 1))
    assert (contains, floor, higher) == (False, (2.5, 1.5), (2.5, 1.5))
    assert list(container.items()) == [(2.0, 7.0), (2.5, 1.5)]


def test_a_float_for_an_integer_is_a_typing_error():
    @njit
    def set_value(container, key, value):
        container[key] = value

    @njit
    def ask(container, key):
        return container.keys(key), container.floor(key)

    with pytest.raises(Exception, match="key is float64, but must be an integer"):
        set_value(SortedMap(), 1.5, 1)
    with pytest.raises(Exception, match="value is float64, but SortedMap"):
        set_value(SortedMap(key_dtype=float), 1.5, 1.5)
    with pytest.raises(Exception, match="low is float64, but must be an integer"):
        ask(SortedMap(), 1.5)


@njit
def _make_and_loop(keys):
    made, floats = SortedMap(), SortedMap(np.float64, key_dtype=np.float64)
    for key in keys:
        made.add(key)
        floats[key / 2] = key / 4
    total = 0
    for key in made:
        total = 10 * total + key
    for key, value in made.items(2, 9):
        total = 100 * total + 10 * key + value
    return total, made, floats, made == made.copy(), floats == SortedMap(np.float64, key_dtype=float)


def test_maps_are_made_inside_njit():
    total, made, floats, is_same, is_empty = _make_and_loop(np.array([7, 1, 3, 7, 9]))
    assert (total, is_same, is_empty) == (1379_31_72, True, False)
    assert made == SortedMap({1: 1, 3: 1, 7: 2, 9: 1})
    assert floats == SortedMap({0.5: 0.25, 1.5: 0.75, 3.5: 1.75, 4.5: 2.25})
    assert floats._numba_type_ == SortedMap.type(float, float) != SortedMap.type(float)

    @njit
    def fill(items):
        return SortedMap(items)

    with pytest.raises(Exception, match="in compiled code, use an empty SortedMap"):
        fill(np.ones(3))


def test_equal_trees_of_other_shapes():
    rising, built = SortedMap(), SortedMap.from_arrays(np.arange(5000), np.arange(5000))
    for key in range(4999, -1, -1):
        rising[key] = key
    assert rising == built
    rising[77] = 78
    assert rising != built
    rising[77], rising[5001] = 77, 1
    del rising[4999]
    assert rising != built


@njit
def _walk_and_change(container):
    """Remove every second key and insert others during an iteration."""
    key, value = container.peek_min()
    for i in range(len(container)):
        if i % 2:
            container.remove(key)
        container[-key - 1] = value
        key, value = container.higher(key, (-1, 0))
    return key


def test_a_map_may_change_during_a_walk():
    container = SortedMap((key, key) for key in range(2000))
    assert _walk_and_change(container) == -1
    container._check()
    assert container.keys().tolist() == [*range(-2000, 0), *range(0, 2000, 2)]


# ---------------------------------------------------------------------------------- kernels on plain arrays
def test_kernels_against_a_list(rng):
    """A tree of one leaf."""
    rows = np.empty(module.ROW, np.int64)
    module.blank(rows, 0)
    model = []
    for key in rng.integers(-60, 60, 1000).tolist():
        place = module.n_below(rows, 0, module.KEYS, key)
        assert module.holds(rows, 0, place, key) == (key in model)
        if key in model:
            module.cut_entry(rows, 0, place)
            model.remove(key)
        elif len(model) < module.KEYS:
            module.put_entry(rows, 0, place, key, -key)
            model = sorted([*model, key])
        n = int(rows[module.SIZE])
        assert rows[:n].tolist() == model
        assert rows[module.VALUE : module.VALUE + n].tolist() == [-key for key in model]
        assert set(rows[n : module.KEYS].tolist()) <= {INT64_MAX}


def test_a_default_of_many_is_a_pair():
    for default in (None, 5, (1,)):
        with pytest.raises(TypeError, match=r"default must be a pair \(key, value\), not "):
            SortedMap({1: 1}).floor_many([0], default)
