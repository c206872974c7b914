"""Random programs on what has no keys with numbers: compiled, against a model, and from several threads.

These are ``IntSet``, ``KBest``, ``Heap``, ``Deque`` and ``DisjointSets``.
"""

from __future__ import annotations

import copy
import random
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

import structures as st
from structures.testing import (
    LANGUAGES,
    DisjointSetsModel,
    IntSetModel,
    KBestModel,
    check_program,
    random_program,
)
from structures.testing.models import plain
from tests.fuzz.keys import hostile_keys
from tests.fuzz.threads import DOCUMENTED, Note, copied, in_threads, pickled

N_ROWS = 5
_PRIORITIES: dict[str, list[Any]] = {
    "int64": [*range(-2, 4), 2**63 - 1, -(2**63)],
    "int32": [*range(-2, 4), 2**31 - 1, -(2**31)],
    "float64": [-0.5, -0.0, 0.0, 5e-324, 1e300, float("inf")],
    "float32": [-0.5, -0.0, 0.0, 2.0**-149, 2.0**100, float("inf")],
}
_DISTANCES = [*np.linspace(-1, 10, 23), 0.1, np.nextafter(0.1, 1), np.inf, -np.inf, np.nan]
_Shape = tuple[int, int, str, str, bool]
_Entry = tuple[int, float, int, bool]


def shape_of_rows(chance: random.Random) -> _Shape:
    """Return the arguments of a KBest."""
    k, dtypes = chance.choice([1, 2, 3, 15, 16, 17, 40]), (["float32", "float64"], ["int32", "int64"])
    return N_ROWS, k, *map(chance.choice, dtypes), chance.random() < 0.5


# -------------------------------------------------------------------------------------------- one thread
def check_alone(chance: random.Random, rng: np.random.Generator, note: Note) -> None:
    """Compare a compiled program with the model."""
    container = chance.choice([st.IntSet, st.KBest, st.Heap, st.Deque, st.DisjointSets])
    n_rows, rare = chance.choice([300, 1500]), chance.choice([0.1, 0.5, 1.0])
    language = LANGUAGES[container]
    if container is st.DisjointSets:
        n = chance.choice([0, 1, 40])
        note(f"DisjointSets({n}), {n_rows} rows")
        program = random_program(language, rng, n_rows, range(-5, 500), range(500), rare)
        sets = DisjointSetsModel(n)
        assert check_program(language, st.DisjointSets(n), sets, program).labels().tolist() == sets.labels()
        return
    if container in (st.Heap, st.Deque):
        dtype = chance.choice([*_PRIORITIES])
        numbers = chance.sample(_PRIORITIES[dtype], chance.choice([2, 5]))
        note(f"{container.__name__}({dtype}), {n_rows} rows, {numbers}")
        kind = "int64" if dtype.startswith("int") else "float64"
        program = random_program(language, rng, n_rows, range(-60, 60), numbers, rare, kind)
        entries: Any = deque() if container is st.Deque else []
        done = list(check_program(language, container(dtype), entries, program))
        assert done == (list(entries) if container is st.Deque else sorted(entries))
        return
    if container is st.IntSet:
        keys = hostile_keys(chance, rng, chance.choice([5, 60, 500]))
        steps = [0, 1, -7, 2**32, 2**63 - 1, -(2**63), chance.getrandbits(63)]
        note(f"IntSet, {n_rows} rows, keys {keys[:5].tolist()} ...")
        program, model = random_program(language, rng, n_rows, keys, steps, rare), IntSetModel()
        assert list(check_program(language, st.IntSet(), model, program)) == sorted(model)
        return
    shape = shape_of_rows(chance)
    numbers = chance.sample(_DISTANCES, chance.choice([3, 25]))
    note(f"KBest{shape}, {n_rows} rows, {numbers}")
    keys = range(N_ROWS * chance.choice([6, 300]))
    program = random_program(language, rng, n_rows, keys, numbers, rare, "float64")
    rows = KBestModel(*shape)
    done = check_program(language, st.KBest(*shape), rows, program)
    assert plain(done.to_arrays()) == rows.to_arrays()


# ------------------------------------------------------------------------------------ threads that fill
def check_sets(chance: random.Random, rng: np.random.Generator, note: Note) -> None:
    """Add keys in several threads, and discard some that no other thread has."""
    keys = hostile_keys(chance, rng, chance.choice([10, 100, 5000])).tolist()
    n_threads, n_steps = chance.randrange(2, 5), chance.choice([20, 200])
    note(f"{len(keys)} keys, {n_threads} threads of {n_steps} steps")
    shared, common, expected = st.IntSet(), keys[::2], [set[int]() for _ in range(n_threads)]

    def work(seed: float, own: list[int], mine: set[int]) -> None:
        chance = random.Random(seed)
        for _ in range(n_steps):
            some = chance.choices(own + common, k=chance.choice([1, 1, 100]))
            if chance.random() < 0.3:
                gone = set(some) & set(own)
                for key in gone:
                    shared.discard(key)
                mine -= gone
            elif len(some) == 1:
                shared.add(some[0])
                mine.update(some)
            else:
                shared.update(some)
                mine.update(some)
            if chance.random() < 0.1:
                chance.choice([len, list, repr, copied, pickled])(shared)
                assert shared.contains_many(own).tolist() == [key in mine for key in own]

    others = keys[1::2]
    in_threads([partial(work, chance.random(), others[i::n_threads], expected[i]) for i in range(n_threads)])
    shared._check()
    assert set(shared) == set[int]().union(*expected)


def check_rows(chance: random.Random, rng: np.random.Generator, note: Note) -> None:
    """Push entries in several threads: what is kept does not depend on their order."""
    shape = shape_of_rows(chance)
    n_ids, n_threads = chance.choice([10, 300]), chance.randrange(2, 5)
    note(f"KBest{shape}, {n_ids} ids, {n_threads} threads")
    entries = [
        (row, chance.choice(_DISTANCES[:-1]), id, shape[-1] and id % 3 == 0)
        for row in range(N_ROWS)
        for id in range(n_ids)
    ]
    shared, model = st.KBest(*shape), KBestModel(*shape)
    for entry in entries:
        model.push(*entry)

    def work(seed: float) -> None:
        chance, mine = random.Random(seed), random.Random(seed).sample(entries, len(entries))
        while mine:
            some = [mine.pop() for _ in range(min(len(mine), chance.choice([1, 1, 50])))]
            _push(shared, some, shape, chance)
            if chance.random() < 0.05:
                chance.choice([len, repr, copied, pickled, st.KBest.to_arrays])(shared)

    in_threads([partial(work, chance.random()) for _ in range(n_threads)])
    shared._check()
    assert plain(shared.to_arrays()) == model.to_arrays()


def _push(shared: st.KBest, some: list[_Entry], shape: _Shape, chance: random.Random) -> None:
    """Push entries one by one, in bulk, or as those of another container."""
    if chance.random() < 0.3:
        other = st.KBest(*shape)
        for entry in some:
            other.push(*entry)
        shared.merge(other)
    elif chance.random() < 0.5:
        for flag in (False, True):
            rows, distances, ids = ([entry[i] for entry in some if entry[3] is flag] for i in range(3))
            if rows:
                shared.push_many(rows, distances, ids, flag)
    else:
        for entry in some:
            shared.push(*entry)


# ---------------------------------------------------------------------------- threads that do anything
def check_anything(chance: random.Random, rng: np.random.Generator, note: Note) -> None:
    """Call any methods in any order, in several threads."""
    made: list[Any] = [st.IntSet(), st.KBest(*shape_of_rows(chance)), st.Heap(float), st.Deque(float)]
    shared = chance.choice([*made, st.DisjointSets(9)])
    is_set = isinstance(shared, st.IntSet)
    keys = hostile_keys(chance, rng, chance.choice([3, 100, 3000])) if is_set else np.arange(500)
    note(f"{type(shared).__name__}, {len(keys)} keys")

    numbers = _DISTANCES[:-1] if isinstance(shared, st.Deque) else _DISTANCES  # NaN does not equal itself

    def work(chance: random.Random) -> None:
        for _ in range(chance.choice([20, 200])):
            key, distance = int(chance.choice(keys)), chance.choice(numbers)
            if is_set:
                calls = _calls_of_a_set(shared, key, chance.choices(keys, k=chance.choice([1, 20, 500])))
            else:
                calls = _CALLS[type(shared)](shared, key, distance)
            with suppress(*DOCUMENTED):
                chance.choice([*calls, lambda: copied(shared), lambda: pickled(shared)])()
            if chance.random() < 0.02 and not isinstance(shared, st.DisjointSets):
                shared.clear()

    in_threads([partial(work, random.Random(chance.random())) for _ in range(3)])
    shared._check()
    from_arrays, arrays, *_ = shared.__reduce__()
    assert from_arrays(*arrays) == shared == copy.deepcopy(shared)


def _calls_of_a_set(shared: Any, key: int, many: list[int]) -> list[Callable[[], object]]:
    return [
        *(partial(getattr(shared, verb), key) for verb in ("add", "discard", "remove", "__contains__")),
        *(partial(getattr(shared, verb), many) for verb in ("update", "contains_many")),
        *(partial(shared.update, [*many, 2**63]), partial(shared.reserve, key % 2000)),
        *(shared.to_array, partial(len, shared), partial(shared.update, shared)),
    ]


def _calls_of_rows(shared: Any, key: int, distance: float) -> list[Callable[[], object]]:
    id, row = divmod(key, N_ROWS + 1)
    return [
        *(partial(getattr(shared, verb), row, distance, id) for verb in ("push", "push_unchecked")),
        *(partial(shared.push, row, distance, id, True), partial(shared.push, row, distance, 2**40 * id)),
        partial(shared.push_many, [row, 0, 1], [distance, 0.5, 0.25], [id, id, id + 1]),
        *(partial(getattr(shared, verb), row) for verb in ("worst", "size", "row")),
        *(shared.to_arrays, partial(shared.merge, shared), lambda: shared.merge(shared.copy())),
    ]


def _calls_of_pairs(shared: Any, key: int, priority: float) -> list[Callable[[], object]]:
    return [
        *(partial(getattr(shared, verb), priority, key) for verb in ("push", "push", "pushpop", "replace")),
        *(partial(getattr(shared, verb), key) for verb in ("remove", "nsmallest", "reserve")),
        *(shared.pop, shared.peek, shared.to_arrays, partial(list, shared)),
        partial(shared.change, key, priority),
    ]


def _calls_of_a_deque(shared: Any, index: int, value: float) -> list[Callable[[], object]]:
    return [
        *(partial(getattr(shared, verb), value) for verb in ("append", "append", "appendleft")),
        *(shared.pop, shared.popleft, shared.to_array, partial(list, shared), partial(shared.reserve, index)),
        partial(shared.__getitem__, index),
        *(partial(shared.__setitem__, index, value), partial(shared.extend, [value] * (index % 20))),
    ]


def _calls_of_sets(shared: Any, one: int, distance: float) -> list[Callable[[], object]]:
    other = one // 2
    return [
        *(shared.add, shared.labels, partial(shared.reserve, one)),
        *(partial(getattr(shared, verb), one) for verb in ("find", "root", "size")),
        *(partial(getattr(shared, verb), one % 9, other) for verb in ("union", "connected")),
        partial(shared.union_many, [one, 0], [other, one % 9]),
    ]


_CALLS: dict[Any, Callable[[Any, int, float], list[Callable[[], object]]]] = {
    st.KBest: _calls_of_rows,
    st.Heap: _calls_of_pairs,
    st.Deque: _calls_of_a_deque,
    st.DisjointSets: _calls_of_sets,
}
SHARED = (check_sets, check_rows, check_anything)
