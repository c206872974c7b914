import copy
import operator
import pickle
from collections.abc import Set

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from structures import IntMap, IntSet
from structures.status import INT64_MAX, INT64_MIN, MISSING, NO_MEMORY, OK
from structures.testing import LANGUAGES, IntSetMachine, IntSetModel, check_program, keys, random_program

TestMachine = IntSetMachine.TestCase
ENDS = [INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX]
KEYS = {
    "few": range(-3, 6),
    "dense": range(-500, 500),
    "high-bits": [i << 52 for i in range(-300, 300)],
    "ends": [*ENDS, *(2**i for i in range(63)), *(-(2**i) for i in range(63))],
}


@pytest.mark.parametrize("rare", [0.1, 0.6])
@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
def test_programs(rng, keys, rare):
    language, model = LANGUAGES[IntSet], IntSetModel()
    program = random_program(language, rng, 4000, keys, [0, 1, -7, 2**32, INT64_MAX, INT64_MIN], rare)
    some = check_program(language, IntSet(), model, program)
    assert list(some) == sorted(model)


@given(st.lists(keys()), st.lists(keys()))
def test_bulk_forms(first, second):
    one, model = IntSet(first), set(first)
    assert one.contains_many(second).tolist() == [key in model for key in second]
    one.update(np.array(second, np.int64))
    model |= set(second)
    one._check()
    assert one.to_array().tolist() == list(one) == sorted(model)
    assert (
        one == IntSet(sorted(model)) == IntSet.from_array(list(model)) == IntSet(iter(model)) == IntSet(one)
    )
    one |= one
    assert one == IntSet(model)
    assert one != IntSet([*model, 5]) or 5 in model


def test_edge_keys():
    keys_of = IntSet(ENDS)
    keys_of._check()
    assert list(keys_of) == sorted(ENDS)
    for key in ENDS:
        keys_of.remove(key)
        assert key not in keys_of
        with pytest.raises(KeyError):
            keys_of.remove(key)
        keys_of.discard(key)
    assert len(keys_of) == 0
    assert "5" not in keys_of
    assert 2**63 not in keys_of


@pytest.mark.parametrize("bad", [[1, 2.5], ["1"], [[1]], [None], [1, 2**63]], ids=repr)
def test_bad_keys_change_nothing(bad):
    some = IntSet([4])
    for call in (some.update, IntSet, some.contains_many, some.__ior__):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            call(bad)
    with pytest.raises(TypeError, match="key must be an integer"):
        some.add(1.5)
    with pytest.raises(OverflowError):
        some.add(2**63)
    assert list(some) == [4]


def test_room():
    some = IntSet()
    with pytest.raises(ValueError, match="n_keys"):
        some.reserve(-1)
    with pytest.raises(MemoryError):
        some.reserve(2**47)
    some.reserve(1000)
    nbytes = some.nbytes
    some.update(range(1000))
    assert some.nbytes == nbytes
    some.clear()
    assert (len(some), some.nbytes, list(some)) == (0, nbytes, [])


def test_copies():
    class Tagged(IntSet):
        pass

    some = Tagged([1, 2, 3])
    some.tag = "seen"
    for copied in (
        some.copy(),
        copy.copy(some),
        copy.deepcopy(some),
        pickle.loads(pickle.dumps(IntSet([1, 2, 3]))),
    ):
        assert list(copied) == [1, 2, 3]
        copied.add(4)
        copied._check()
    assert list(some) == [1, 2, 3]
    assert some.copy().tag == "seen"
    assert repr(IntSet([1])) == "<IntSet of 1: [1]>"
    with pytest.raises(TypeError):
        hash(some)
    assert some != IntMap({1: 0, 2: 0, 3: 0})


@njit(cache=True)
def combined(one, other):
    made = one & other, one | other, one - other, one ^ other
    return made, one <= other, one.isdisjoint(other), (one | other) == (other | one)


@pytest.mark.parametrize("n", [0, 3, 3000])
def test_operators_inside_njit(n):
    rng = np.random.default_rng(n)
    ends = np.array([INT64_MIN, INT64_MAX, -1])
    for keys_of in ([0, 1], [1, 0], [1, 1]):
        some = [rng.integers(0, 2 * n + 1, n), np.append(rng.integers(0, 2 * n + 1, n // 2), ends)]
        one, other = (some[i] for i in keys_of)
        model, other_model = set(one.tolist()), set(other.tolist())
        made, is_subset, is_disjoint, is_equal = combined(IntSet(one), IntSet(other))
        for each in made:
            each._check()
        expected = model & other_model, model | other_model, model - other_model, model ^ other_model
        assert [list(each) for each in made] == list(map(sorted, expected))
        assert (is_subset, is_disjoint) == (model <= other_model, model.isdisjoint(other_model))
        assert is_equal


def test_operators_take_sets():
    class Tagged(IntSet):
        pass

    some = Tagged([1, 2])
    assert type(some & IntSet([2])) is Tagged
    for other in ([2], 2, None):
        for verb in ("and", "rand", "or", "ror", "sub", "rsub", "xor", "rxor", "le", "ge"):
            assert getattr(some, f"__{verb}__")(other) is NotImplemented
    for combine in (lambda: some & [2], lambda: some - 2, lambda: some < [2], lambda: some.isdisjoint(2)):
        with pytest.raises(TypeError, match=r"unsupported operand|not supported|not iterable"):
            combine()
    some &= IntSet([2, 3])
    assert list(some) == [2]


@pytest.mark.parametrize("keys", [[], [2], [1, 2], [2, 3], [1, 2, 3], [4]], ids=str)
@pytest.mark.parametrize("kind", [set, frozenset, dict.fromkeys, IntSet], ids=lambda kind: kind.__name__)
def test_operators_with_other_sets(kind, keys):
    some, model = IntSet([1, 2]), {1, 2}
    other = kind(keys).keys() if kind == dict.fromkeys else kind(keys)
    assert isinstance(some, Set)
    for combine in (operator.and_, operator.or_, operator.sub, operator.xor):
        made, reflected = combine(some, other), combine(other, some)
        assert type(made) is IntSet
        assert (made, reflected) == (combine(model, set(keys)), combine(set(keys), model))
    for compare in (operator.le, operator.lt, operator.ge, operator.gt, operator.eq, operator.ne):
        assert compare(some, other) is compare(model, set(keys))
        assert compare(other, some) is compare(set(keys), model)
    assert some.isdisjoint(other) is some.isdisjoint(iter(keys)) is model.isdisjoint(keys)


def test_sets_of_other_things():
    some = IntSet([1, 2])
    assert (some & {"a", 2}, some - {"a", 2}, some <= {"a", 1, 2}) == ({2}, {1}, True)
    with pytest.raises(TypeError, match="must be integers"):
        some | {"a"}
    assert list(some) == [1, 2]


@njit
def primes_below(n, composite):
    found = 0
    for i in range(2, n):
        if i not in composite:
            found += 1
            for multiple in range(i * i, n, i):
                composite.add(multiple)
    return found, len(composite)


@pytest.mark.reads_statuses
def test_inside_njit():
    assert primes_below(1000, IntSet()) == (168, 998 - 168)

    @njit
    def use(some, keys):
        statuses = some.add(5), some.update(keys), some.remove(99), some.discard(99), some.reserve(2**47)
        other = some.copy()
        some.clear()
        return statuses, some.contains(5), other.to_array(), other.contains_many(keys), other

    statuses, is_there, found, contained, other = use(IntSet([7]), np.array([3, 3, 9]))
    assert statuses == (OK, OK, MISSING, OK, NO_MEMORY)
    assert not is_there
    assert found.tolist() == list(other) == [3, 5, 7, 9]
    assert contained.all()
