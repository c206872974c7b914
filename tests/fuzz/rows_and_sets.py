"""Random programs on ``IntSet`` and ``KBest``: compiled, against a model, and from several threads on one."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

import structures as st
from structures.testing import LANGUAGES, IntSetModel, KBestModel, check_program, random_program
from structures.testing.models import plain
from tests.fuzz.keys import hostile_keys
from tests.fuzz.threads import DOCUMENTED, Note, copied, in_threads, pickled

N_ROWS = 5
_DISTANCES = [*np.linspace(-1, 10, 23), 0.1, np.nextafter(0.1, 1), np.inf, -np.inf, np.nan]
_Shape = tuple[int, int, str, str, bool]
_Entry = tuple[int, float, int, bool]


def shape_of_rows(chance: random.Random) -> _Shape:
    """Return the arguments of a KBest."""
    k, dtypes = chance.choice([1, 2, 3, 15, 16, 17, 40]), (["float32", "float64"], ["int32", "int64"])
    return N_ROWS, k, *map(chance.choice, dtypes), chance.random() < 0.5


# -------------------------------------------------------------------------------------------- one thread
def check_alone(chance: random.Random, rng: np.random.Generator, note: Note) -> None:
    """Compare a compiled program on a set, or on rows, with the model."""
    container = chance.choice([st.IntSet, st.KBest])
    n_rows, rare = chance.choice([300, 1500]), chance.choice([0.1, 0.5, 1.0])
    language = LANGUAGES[container]
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
    is_set, shape = chance.random() < 0.5, shape_of_rows(chance)
    shared = st.IntSet() if is_set else st.KBest(*shape)
    keys = hostile_keys(chance, rng, chance.choice([3, 100, 3000])) if is_set else np.arange(500)
    note(f"{type(shared).__name__}, {len(keys)} keys")

    def work(chance: random.Random) -> None:
        for _ in range(chance.choice([20, 200])):
            key, distance = int(chance.choice(keys)), chance.choice(_DISTANCES)
            if is_set:
                calls = _calls_of_a_set(shared, key, chance.choices(keys, k=chance.choice([1, 20, 500])))
            else:
                calls = _calls_of_rows(shared, key, distance)
            with suppress(*DOCUMENTED):
                chance.choice([*calls, lambda: copied(shared), lambda: pickled(shared)])()
            if chance.random() < 0.02:
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


SHARED = (check_sets, check_rows, check_anything)
