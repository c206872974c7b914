import ast
import copy
import doctest
import os
import pickle
import subprocess
import sys
from pathlib import Path

import disjoint_sets
import numpy as np
import pytest
from disjoint_sets import DisjointSets, spanning_tree
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from numba import njit

from structures import kernels

HERE = Path(__file__).parent
INDEX = st.integers(0, 200)


def pickled(sets):
    return pickle.loads(pickle.dumps(sets))


def through_arrays(sets):
    return DisjointSets.from_arrays(*sets.to_arrays())


class DisjointSetsMachine(RuleBasedStateMachine):
    """Any verbs in any order; the model is a list of the set of each element, shared by its elements."""

    @initialize(n=st.integers(0, 40))
    def start(self, n):
        self.real = DisjointSets(n)
        self.model = [{element} for element in range(n)]

    def unite(self, one, other):
        ours, theirs = self.model[one], self.model[other]
        if ours is theirs:
            return False
        ours |= theirs
        for element in theirs:
            self.model[element] = ours
        return True

    @rule()
    def add(self):
        assert self.real.add() == len(self.model)
        self.model.append({len(self.model)})

    @precondition(lambda self: self.model)
    @rule(one=INDEX, other=INDEX)
    def union(self, one, other):
        one, other = one % len(self.model), other % len(self.model)
        assert self.real.union(one, other) is self.unite(one, other)

    @precondition(lambda self: self.model)
    @rule(pairs=st.lists(st.tuples(INDEX, INDEX), max_size=10))
    def union_many(self, pairs):
        pairs = [(one % len(self.model), other % len(self.model)) for one, other in pairs]
        expected = sum(self.unite(one, other) for one, other in pairs)
        assert self.real.union_many([one for one, _ in pairs], [other for _, other in pairs]) == expected

    @precondition(lambda self: self.model)
    @rule(one=INDEX, other=INDEX)
    def look(self, one, other):
        one, other = one % len(self.model), other % len(self.model)
        together = self.model[one] is self.model[other]
        assert self.real.connected(one, other) is together
        assert (self.real.find(one) == self.real.find(other)) is together
        assert self.real.find(one) in self.model[one]
        assert self.real.set_size(one) == len(self.model[one])

    @rule(index=st.sampled_from([-1, 0, 1, 2**40]))
    def look_outside(self, index):
        element = index if index < 0 else len(self.model) + index
        for verb in (self.real.find, self.real.set_size, lambda outside: self.real.union(outside, outside)):
            with pytest.raises(IndexError, match=f"element {element} is out of range"):
                verb(element)

    @rule(n=st.one_of(st.integers(0, 100), st.just(2**47)))
    def reserve(self, n):
        if n < 2**47:
            self.real.reserve(n)
        else:
            with pytest.raises(MemoryError):
                self.real.reserve(n)

    @rule(way=st.sampled_from([copy.copy, copy.deepcopy, pickled, through_arrays]), change_old=st.booleans())
    def continue_with_a_copy(self, way, change_old):
        other = way(self.real)
        assert other == self.real
        if change_old:
            self.real, other = other, self.real
        other.add()
        other.union_many(np.zeros(len(other), int), np.arange(len(other)))
        assert other.n_sets == 1
        assert other != self.real

    @invariant()
    def has_the_content_of_the_model(self):
        self.real._check()
        assert len(self.real) == len(self.model)
        assert self.real.to_arrays()[0].tolist() == [min(together) for together in self.model]
        assert self.real.n_sets == len({id(together) for together in self.model})


TestDisjointSets = DisjointSetsMachine.TestCase
TestDisjointSets.settings = settings(deadline=None, max_examples=40, stateful_step_count=40)


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
    with pytest.raises(IndexError):
        DisjointSets.from_arrays([0, 2])
    with pytest.raises(TypeError, match="unhashable"):
        hash(sets)
    assert sets == DisjointSets(3)
    assert sets != DisjointSets(4)
    assert sets.nbytes >= 24


class Labelled(DisjointSets):
    """A subclass with room for attributes."""


def test_subclasses():
    sets = Labelled(3)
    sets.label = "mine"
    sets.union(0, 2)
    for other in (sets.copy(), copy.deepcopy(sets), pickled(sets)):
        assert (type(other), other.label, other == sets) == (Labelled, "mine", True)


def test_examples():
    failed, tried = doctest.testmod(disjoint_sets)
    assert failed == 0
    assert tried > 5


@njit
def grow_and_join(sets, n):
    for _ in range(n):
        element = sets.add()
        if element >= 2:
            sets.union(element, element - 2)
    return sets.n_sets, len(sets), sets.set_size(0), sets.connected(0, n - 1), sets.copy()


def test_inside_njit():
    sets = DisjointSets()
    *numbers, other = grow_and_join(sets, 1000)
    assert numbers == [2, 1000, 500, False]
    assert type(other) is DisjointSets
    assert other == sets
    sets._check()


def slow_spanning_tree(n, edges):
    """Take the cheapest edge that joins two components, as long as there is one."""
    component, chosen = list(range(n)), []
    for cost, left, right in sorted(edges):
        if component[left] != component[right]:
            chosen.append((cost, left, right))
            old, new = component[left], component[right]
            component = [new if which == old else which for which in component]
    return chosen


@pytest.mark.parametrize("seed", range(3))
def test_spanning_tree(seed):
    rng = np.random.default_rng(seed)
    n, n_edges = 60, 150
    left, right, cost = rng.integers(0, n, n_edges), rng.integers(0, n, n_edges), rng.permutation(n_edges)
    sets = DisjointSets(n)
    chosen = spanning_tree(sets, left, right, np.argsort(cost))
    edges = list(zip(cost.tolist(), left.tolist(), right.tolist(), strict=True))
    expected = slow_spanning_tree(n, edges)
    assert sorted(edge for edge, is_in in zip(edges, chosen, strict=True) if is_in) == expected
    assert sets.n_sets == n - len(expected)


CODE = """
import numpy as np
from disjoint_sets import DisjointSets, new_disjoint_sets, spanning_tree
sets = DisjointSets(3)
edges = np.array([0, 1, 2]), np.array([1, 0, 0])
print(spanning_tree(sets, *edges, np.arange(3)), sets.n_sets, end=" ")
for function in (spanning_tree, new_disjoint_sets, sets._kernels.union_many, sets._kernels.to_arrays):
    sets.union_many([0], [1]), sets.to_arrays()
    print(sum(function.stats.cache_hits.values()), sum(function.stats.cache_misses.values()), end=" ")
"""


def test_a_second_process_compiles_nothing(tmp_path):
    path = os.pathsep.join([str(HERE), str(HERE.parents[1])])
    environment = {**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(tmp_path)}
    run = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", CODE], env=environment, capture_output=True, text=True
        )
        for _ in range(2)
    ]
    assert [process.stderr for process in run] == ["", ""]
    assert [process.stdout.partition("] ")[2].split() for process in run] == [
        ["1", "0", "1", "0", "1", "0", "1", "0", "1"],
        ["1", "1", "0", "1", "0", "1", "0", "1", "0"],
    ]
    assert run[0].stdout.startswith("[ True False  True]")


def test_only_public_names_are_imported():
    tree = ast.parse(Path(disjoint_sets.__file__).read_text())
    imported = {
        (node.module, name.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module.startswith("structures")
        for name in node.names
    }
    assert {module for module, _ in imported} == {"structures.kernels"}
    assert {name for _, name in imported} <= set(kernels.__all__)
