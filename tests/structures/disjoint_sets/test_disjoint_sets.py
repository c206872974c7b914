import copy
import operator
import re
import textwrap
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numba import njit, prange
from numba.core.errors import TypingError

import structures.disjoint_sets
from structures import DisjointSets
from structures.disjoint_sets.disjoint_sets_kernels import links_of
from structures.status import NO_MEMORY, OK, OUT_OF_RANGE
from structures.testing import (
    LANGUAGES,
    DisjointSetsMachine,
    DisjointSetsModel,
    check_program,
    random_program,
)
from structures.testing.machines import pickled

TestMachine = DisjointSetsMachine.TestCase


@pytest.mark.parametrize("rare", [0.3, 1.0])
def test_programs(rng, rare):
    language, model = LANGUAGES[DisjointSets], DisjointSetsModel(20)
    program = random_program(language, rng, 1000, range(-300, 300), range(300), rare)
    sets = check_program(language, DisjointSets(20), model, program)
    assert sets.labels().tolist() == model.labels()


def test_arguments_are_checked():
    sets = DisjointSets(3)
    for n, kind in ((-1, ValueError), (1.5, TypeError), (2**64, OverflowError)):
        with pytest.raises(kind):
            DisjointSets(n)
        with pytest.raises(kind):
            sets.reserve(n)
    for wrong in (1.0, "1", None):
        with pytest.raises(TypeError, match="element must be an integer"):
            sets.find(wrong)
    with pytest.raises(ValueError, match="2 ones but 1 others"):
        sets.union_many([0, 1], [2])
    with pytest.raises(IndexError, match="element 3 is out of range for 3 elements"):
        sets.union_many([0, 1], [0, 3])
    for labels in ([0, 2], [0, -1]):
        with pytest.raises(ValueError, match=re.escape(f"labels[1] is {labels[1]}, but must be in range(2)")):
            DisjointSets.from_labels(labels)
    with pytest.raises(TypeError, match="unhashable"):
        hash(sets)
    assert sets == DisjointSets(3)
    assert sets != DisjointSets(4)
    assert sets.nbytes >= 24
    assert repr(sets) == "<DisjointSets of 3 in 3 sets>"


class Labeled(DisjointSets):
    """A subclass with room for attributes."""


def test_subclasses():
    sets = Labeled(3)
    sets.label = "mine"
    sets.union(0, 2)
    for other in (sets.copy(), copy.deepcopy(sets), pickled(sets)):
        assert (type(other), other.label, other == sets) == (Labeled, "mine", True)


def test_equality_is_about_what_is_together():
    sets, others = DisjointSets(3), DisjointSets(3)
    sets.union(0, 1), others.union(1, 2)
    assert sets != others  # with as many sets
    sets.union(1, 2), others.union(0, 1)
    assert sets == others  # joined in another order


@njit
def are_equal(one, other):
    return one == other


def test_equality_looks_at_every_element():
    """All ways to put five elements together, against each other."""
    labels = {
        tuple(row)
        for row in product(range(5), repeat=5)
        if all(label <= max(row[:i], default=-1) + 1 for i, label in enumerate(row))
    }
    every, again = ([DisjointSets.from_labels(row) for row in sorted(labels)] for _ in range(2))
    assert len(every) == 52
    for equal in (operator.eq, are_equal):
        assert [[equal(one, other) for other in again] for one in every] == np.eye(52, dtype=bool).tolist()


def test_the_larger_set_keeps_its_root_and_find_halves_the_path():
    sets = DisjointSets(16)
    for distance in (1, 2, 4, 8):
        for one in range(0, 16, 2 * distance):
            sets.union(one, one + distance)
            assert sets.root(one + distance) == one, "of sets of one size, the first"
    sets.union(sets.find(15), 0)
    assert links_of(sets)[[15, 14, 12, 8]].tolist() == [12, 12, 0, 0], "15 and 14 were two steps apart"
    small, large = DisjointSets(3), DisjointSets(3)
    small.union(0, 1), large.union(0, 1)
    small.union(2, 0), large.union(0, 2)
    assert small.root(2) == large.root(2) == 0


# ----------------------------------------------------------------------------------------- in compiled code
@njit
def grow_and_join(n):
    sets = DisjointSets()
    for _ in range(n):
        element = sets.add()
        if element >= 2:
            sets.union(element, element - 2)
    return sets.n_sets, len(sets), sets.size(0), sets.connected(0, n - 1), sets.copy()


@njit
def all_verbs(sets, ones, others):
    joined = sets.union_many(ones, others), sets.union_many(ones, others[1:])
    other = DisjointSets.from_labels(sets.labels())
    equal = sets == other, sets != DisjointSets(4), sets.find(0) == sets.root(2), len(DisjointSets(-5))
    return joined, equal, sets.reserve(9), sets.reserve(2**47), other.labels()


def test_inside_njit():
    *numbers, other = grow_and_join(1000)
    assert numbers == [2, 1000, 500, False]
    assert type(other) is DisjointSets
    assert other.labels().tolist() == [0, 1] * 500
    other._check()


def test_statuses():
    *results, labels = all_verbs(DisjointSets(4), np.array([0, 1, 0]), np.array([2, 3, 2]))
    assert results == [(2, OUT_OF_RANGE), (True, True, True, 0), OK, NO_MEMORY]
    assert labels.tolist() == [0, 1, 0, 1]


@njit(parallel=True)
def roots_of(sets):
    roots = np.empty(len(sets), np.int64)
    for i in prange(roots.size):
        roots[i] = sets.root(i) + sets.size(i) * sets.connected(i, 0)
    return roots


@njit(parallel=True)
def found_in_parallel(sets):
    total = 0
    for i in prange(len(sets)):
        total += sets.find(i)
    return total


def test_iterations_of_a_prange_may_read():
    sets = DisjointSets(500)
    sets.union_many(np.arange(0, 498, 2), np.arange(2, 500, 2))
    expected = [sets.find(i) + (250 if i % 2 == 0 else 0) for i in range(500)]
    assert roots_of(sets).tolist() == expected


def test_iterations_of_a_prange_may_not_find():
    with pytest.raises(TypingError, match=r"changed in it by find"):
        found_in_parallel(DisjointSets(3))


# ----------------------------------------------------------------------------------------- as your container
FOLDER = Path(structures.disjoint_sets.__file__).parent
USE = """
    import numpy as np
    import numba
    from mine import DisjointSets, disjoint_sets_kernels as kernels

    @numba.njit(cache=True)
    def join(sets, ones):
        for one in ones:
            sets.union(one, 0)
        return sets

    sets = join(DisjointSets(3), np.array([2, 2]))
    assert sets.labels().tolist() == [0, 1, 0] and sets.copy() == sets
    sets._check()
    for function in (join, kernels.new_disjoint_sets, sets._kernels.labels):
        print(sum(function.stats.cache_hits.values()), sum(function.stats.cache_misses.values()), end=" ")
"""


def test_the_same_outside_of_this_package(python, tmp_path):
    """Public names are enough for a container, and a second process compiles nothing."""
    (tmp_path / "mine").mkdir()
    for name in ("disjoint_sets_kernels", "disjoint_sets"):
        source = (FOLDER / f"{name}.py").read_text("utf-8")
        source = source.replace("from structures.disjoint_sets.", "from mine.")
        source = re.sub(r"from structures\b[\w.]* import", "from structures.kernels import", source)
        (tmp_path / "mine" / f"{name}.py").write_text(source, "utf-8")
    (tmp_path / "mine" / "__init__.py").write_text("from mine.disjoint_sets import DisjointSets\n")
    (tmp_path / "use.py").write_text(textwrap.dedent(USE))
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import use"
    runs = [python(code, NUMBA_CACHE_DIR=str(tmp_path)).split() for _ in range(2)]
    assert runs == [["0", "1"] * 3, ["1", "0"] * 3]
