import pickle

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from structures import IntMap, kernel
from structures.hash_tables import int_map_table as module
from structures.hash_tables.int_map_kernels import int_map_type, map_type, state
from structures.primitives import hashing
from structures.primitives.hashing import SEED
from structures.status import INT64_MAX, INT64_MIN, NO_MEMORY, NOT_A_NUMBER, OK, OUT_OF_RANGE, OVERFLOW
from structures.testing import LANGUAGES, IntMapMachine, MapModel, check_program, random_program


class FloatMachine(IntMapMachine):
    dtype = "float64"


TestMachine = IntMapMachine.TestCase
TestFloatMachine = FloatMachine.TestCase
ENDS = [INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX]


@njit
def home_of(key, seed, shift):
    return hashing.mix(key, seed, shift)


def keys_with_home(home, bits, n):
    """Return some keys whose home in a table of ``2**bits`` buckets is the same."""
    rng, found = np.random.default_rng(0), []
    while len(found) < n:
        key = rng.integers(INT64_MIN, INT64_MAX)
        if home_of(key, SEED, 64 - bits) == home:
            found.append(int(key))
    return found


# -------------------------------------------------------------------------------------------- programs
KEYS = {
    "few": lambda: range(-3, 6),
    "dense": lambda: range(-500, 500),
    "multiples": lambda: range(0, 2**40, 2**32),
    "high-bits": lambda: [i << 52 for i in range(-300, 300)],
    "one-home": lambda: [*keys_with_home(0, 6, 10), *keys_with_home(63, 6, 10), *ENDS],
    "ends": lambda: [*ENDS, *(2**i for i in range(63)), *(-(2**i) for i in range(63))],
}


@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("rare", [0.1, 0.6])
def test_programs(rng, keys, rare):
    language = LANGUAGES[IntMap]
    numbers = [*range(-3, 4), INT64_MAX, INT64_MIN]
    program = random_program(language, rng, 4000, keys=keys(), numbers=numbers, rare=rare)
    model = MapModel()
    container = check_program(language, IntMap(), model, program)
    assert dict(container.items()) == model


# ----------------------------------------------------------------------------------------------- tables
@pytest.mark.parametrize("home", [0, 5, 14, 15])
@pytest.mark.parametrize("numbers", [(8, 2), (3, 8), (9, 9), (4, 5)])
def test_deletion_around_the_end_of_the_table(home, numbers):
    here, beside = numbers
    together = keys_with_home(home, 4, here) + keys_with_home((home + 1) % 16, 4, beside)
    assert {hashing.mix(key, SEED, 60) for key in together} == {home, (home + 1) % 16}
    for hole in range(len(together)):
        container = IntMap()
        container.reserve(40)
        container.set_many(together, range(len(together)))
        assert container.nbytes == 64 * 17
        del container[together[hole]]
        container._check()
        expected = {key: n for n, key in enumerate(together) if n != hole}
        assert dict(container.items()) == expected
        container[together[hole]] = hole
        container._check()
        assert len(container) == len(together)


def test_the_key_that_marks_empty_slots_can_be_stored():
    container = IntMap()
    assert INT64_MIN not in container
    container.add(INT64_MIN, 3)
    container._check()
    assert (container[INT64_MIN], len(container)) == (3, 1)
    for key in range(100):  # through some growth
        container[key] = key
    container._check()
    assert container.pop(INT64_MIN) == 3
    assert container.pop(INT64_MIN, -7) == -7
    assert (len(container), INT64_MIN in container) == (100, False)
    container[INT64_MIN] = 0
    container.clear()
    assert (len(container), INT64_MIN in container) == (0, False)
    container._check()


def test_load_is_at_most_five_eighths():
    container = IntMap()
    for n in range(1, 3000):
        container[n] = 1
        assert 8 * n <= 5 * (container.nbytes // 16 - 4)


def test_growth():
    """A table grows by two, and by four between 64 KB and 8 MB."""
    container, sizes = IntMap(), [8]
    for n in range(1, 640_000):
        container[n] = 1
        if (capacity := container.nbytes // 16 - 4) != sizes[-1]:
            assert 8 * n > 5 * sizes[-1] >= 8 * (n - 1)
            sizes.append(capacity)
    by_four = [2**12, 2**14, 2**16, 2**18, 2**20]
    assert sizes == [*(2**bits for bits in range(3, 12)), *by_four]


def test_growth_of_large_tables():
    """From 64 MB on by a half, so that no more is taken than is used soon."""
    container = IntMap()
    container.reserve(5 * 2**19)
    n_slots = capacity_of(container)
    assert n_slots == 2**22
    n = 5 * n_slots // 8 + 1
    container.add_many(np.arange(n), np.arange(n))
    assert capacity_of(container) == n_slots + n_slots // 2
    assert len(container) == n
    assert np.array_equal(container.get_many(np.arange(n)), np.arange(n))


def capacity_of(container):
    """Return the number of slots, without the spare bucket."""
    return state(container)[0].size // 2 - 4


def test_reserved_room_is_enough():
    n = 400_000
    container = IntMap.from_arrays(np.arange(n), np.arange(n))
    n_slots = capacity_of(container)
    assert container.nbytes < 27 * n
    for each in (container, container.copy()):
        for key in range(n, 5 * n_slots // 8 + 1):
            assert capacity_of(each) == n_slots
            each[key] = key
        assert capacity_of(each) == 2 * n_slots
        assert np.array_equal(each.values(), np.arange(len(each)))


def test_iteration_is_the_same_for_the_same_history():
    one, other = (IntMap((key * 7919, key) for key in range(500)) for _ in range(2))
    assert list(one.items()) == list(other.items())
    assert list(one) == one.keys().tolist() == one.to_arrays()[0].tolist()
    assert one.values().tolist() == [value for _, value in one.items()]


# ------------------------------------------------------------------------------------------------ verbs
def test_sums():
    container = IntMap({1: 2})
    container.add(1)
    container.add(1, -3)
    assert (container[1], 1 in container) == (0, True)
    container.add(2, INT64_MIN)
    container.add(3, INT64_MAX)
    with pytest.raises(OverflowError, match="key 2 "):
        container.add(2, -1)
    with pytest.raises(OverflowError, match="key 3 "):
        container.add(3, 1)
    container.add(2, INT64_MAX)
    assert container[2] == -1


def test_pop():
    container = IntMap({1: 10})
    assert (container.pop(1), container.pop(1, None)) == (10, None)
    with pytest.raises(KeyError, match="1"):
        container.pop(1)
    with pytest.raises(TypeError):
        container.pop(1.0, 0)


def test_many():
    container = IntMap()
    container.set_many([5, 6, 5], np.array([1, 2, 3], np.uint8))
    assert dict(container.items()) == {5: 3, 6: 2}
    found = container.get_many(np.array([6, 7, 5], np.uint64), -1)
    assert (found.tolist(), found.dtype) == ([2, -1, 3], np.int64)
    assert container.get_many([]).tolist() == []
    assert container.get_many([7]).tolist() == [0]
    with pytest.raises(ValueError, match="1 keys but 2 values"):
        container.set_many([1], [1, 2])
    with pytest.raises(TypeError):
        container.get_many([1.0])
    with pytest.raises(TypeError):
        container.get_many([1], None)
    with pytest.raises(TypeError):
        container.set_many([1], [1.0])
    container.set_many([], [])
    assert dict(container.items()) == {5: 3, 6: 2}
    assert IntMap.from_arrays([1, 1], [2, 3]) == IntMap([(1, 2), (1, 3)]) == IntMap({1: 3})


# --------------------------------------------------------------------------------------- inside compiled code
@kernel
def _use(container, keys, deltas):
    status, failed = container.add_many(keys, deltas)
    again = container.add_many(keys, np.full(keys.size, INT64_MAX))
    no_room = container.reserve(2**47)
    container[1] = 2
    del container[1]
    copied = container.copy()
    container.clear()
    missing = container.remove(99), container.pop(99, -3), container.get(99), container[99]
    return status, failed, again, no_room, copied.to_arrays(), len(container), missing, 99 in copied


def test_verbs_inside_njit():
    status, failed, again, no_room, (keys, values), size, missing, contained = _use(
        IntMap({7: 3}), np.array([5, 6, 5]), np.array([1, 2, 3])
    )
    assert (status, failed, again, no_room) == (OK, 3, (OVERFLOW, 0), NO_MEMORY)
    assert dict(zip(keys.tolist(), values.tolist(), strict=True)) == {5: 4, 6: 2, 7: 3}
    assert (size, missing, contained) == (0, (-1, -3, 0, 0), False)


@kernel
def _use_many(container, keys, values):
    container.add(5)
    container.add(5)
    status = container.set_many(keys, values), container.set_many(keys[1:], values)
    uneven = container.add_many(keys, values[1:]), container.add_many(keys[1:], values)
    return status, uneven, container.get_many(keys), container.get_many(np.array([5, 99]), -1)


def test_many_inside_njit():
    container = IntMap()
    keys, values = np.array([1, 2, 1]), np.array([3, 4, 5])
    status, uneven, found, others = _use_many(container, keys, values)
    assert status == (OK, OUT_OF_RANGE)
    assert uneven == ((OUT_OF_RANGE, 2), (OUT_OF_RANGE, 2))
    assert (found.tolist(), others.tolist()) == ([5, 4, 5], [2, -1])
    assert dict(container.items()) == {1: 5, 2: 4, 5: 2}

    @njit
    def see(container):
        return container.keys(), container.values()

    assert [array.tolist() for array in see(container)] == [list(container), container.values().tolist()]


def test_setting_present_keys_needs_no_room():
    container = IntMap((key, 0) for key in range(20))
    nbytes = container.nbytes
    container.set_many([*range(20), *range(20)], range(40))
    assert container.nbytes == nbytes == 36 * 16
    assert list(container.get_many(range(20))) == list(range(20, 40))
    container.set_many([20], [1])
    assert container.nbytes > nbytes


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "int16"])
def test_add_many_restores_numbers_that_do_not_fit_the_deltas(dtype):
    @njit
    def update(container, keys, deltas):
        return container.add_many(keys, deltas)

    container = IntMap({1: 2**40, 2: INT64_MAX})
    before = container.copy()
    assert update(container, np.array([1, 2]), np.array([1, 1], dtype)) == (OVERFLOW, 1)
    assert container == before


# ---------------------------------------------------------------------------------- kernels on plain arrays
@pytest.mark.parametrize("width", [module.BUCKET, module.ROOM], ids=["map", "set"])
def test_kernels_against_a_dict(rng, width):
    n_buckets = 37
    slots, model = module.empty_slots(n_buckets, width), {}
    assert slots.size == width * (n_buckets + 1)
    for key, value in rng.integers(-60, 60, (3000, 2)):
        key = np.int64(INT64_MIN) if key == 0 else key << 50 if key % 3 == 0 else key
        place = module.locate(slots, key, width)
        assert (place >= 0) == (key in model)
        if place < 0 and len(model) < 5 * n_buckets // 2:
            module.occupy(slots, ~place, key, value, width)
            model[key] = value
        elif place >= 0:
            value = model.pop(key)
            assert width == module.ROOM or slots[place + module.VALUE] == value
            module.vacate(slots, place, width)
    larger = module.empty_slots(3 * n_buckets // 2, width)
    module.move_all(slots, larger, width)
    for table in (slots, larger):
        if width == module.ROOM:
            assert sorted(module.gather_keys(table, len(model))) == sorted(model)
        else:
            keys, values = module.entries(table, len(model))
            assert dict(zip(keys.tolist(), values.tolist(), strict=True)) == model


def test_buckets():
    for n_keys in range(2000):
        n = module.buckets_for(n_keys, module.BUCKET)
        assert n & (n - 1) == 0
        assert 8 * n_keys <= 5 * 4 * n
        assert n == 2 or 8 * n_keys > 5 * 4 * n // 2
    for n_keys in range(5 * 2**18 - 7, 5 * 2**18 + 7):  # not powers of two from 8 MB on
        n = module.buckets_for(n_keys, module.BUCKET)
        assert n == max(2**17, -(-2 * n_keys // 5))


# -------------------------------------------------------------------------------------------------- floats
@pytest.mark.parametrize("rare", [0.1, 0.6])
def test_programs_with_floats(rng, rare):
    language = LANGUAGES[IntMap]
    numbers = [-1.5, -0.0, 0.25, 1e300, -1e300, np.inf]
    program = random_program(language, rng, 3000, range(-60, 60), numbers, rare=rare, dtype="float64")
    model = MapModel()
    container = check_program(language, IntMap(dtype=float), model, program)
    assert dict(container.items()) == model


def test_floats():
    container = IntMap({5: 1}, dtype=float)
    assert (container.dtype, container[5], type(container[5])) == (np.float64, 1.0, float)
    container.add(5, 0.5)
    container.add_many([6, 5], [0.25, 1])
    container.set_many([7], [-2.5])
    assert dict(container.items()) == {5: 2.5, 6: 0.25, 7: -2.5}
    assert container.get_many([5, 8], 9).tolist() == [2.5, 9.0]
    assert container.get_many([], 1).dtype == container.values().dtype == np.float64
    assert (container.pop(7), container.pop(7, None)) == (-2.5, None)
    with pytest.raises(TypeError, match="values must be integers, not float64"):
        IntMap({1: 2.5})
    with pytest.raises(TypeError, match="dtype must be int64 or float64, not float32"):
        IntMap(dtype=np.float32)
    for copied in (container.copy(), pickle.loads(pickle.dumps(container))):
        copied._check()
        assert copied == container
        assert copied.dtype == np.float64
    assert container != IntMap({5: 2, 6: 0})


def test_a_sum_of_floats_is_a_number():
    container = IntMap({1: np.inf, 2: np.nan}, dtype=float)
    before = container.copy()
    with pytest.raises(ValueError, match="key 1 is not a number"):
        container.add(1, -np.inf)
    with pytest.raises(ValueError, match="key 2 is not a number"):
        container.add_many([1, 2], [1.0, 1.0])
    assert np.isnan(container[2])
    assert container.keys().tolist() == before.keys().tolist()
    container[1] = np.nan  # any number may be stored
    assert np.isnan(container.pop(1))


def test_floats_inside_njit():
    @njit
    def use(container, keys):
        container[1] = 2
        container.add(1, 0.5)
        container.add(2)
        status = container.set_many(keys, np.full(keys.size, 0.25)), container.add(1, np.nan)
        return status, container[1], container.get(9), container.get(9, 3), container.to_arrays()

    status, first, *missing, (keys, values) = use(IntMap(dtype=float), np.array([3, 4]))
    assert (status, first, missing) == ((OK, NOT_A_NUMBER), 2.5, [0.0, 3.0])
    assert (keys.tolist(), values.tolist()) == ([1, 2, 3, 4], [2.5, 1.0, 0.25, 0.25])
    with pytest.raises(TypingError, match="value must be an integer"):
        njit(lambda container: container.set(1, 0.5))(IntMap())


def test_the_types_of_maps():
    assert map_type("float64") == IntMap(dtype=float)._numba_type_ != IntMap()._numba_type_ == int_map_type
    with pytest.raises(KeyError):
        map_type("float32")
