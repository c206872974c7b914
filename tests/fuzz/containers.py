"""Random programs on every container: compiled, against a model, and from several threads on one container.

Threads that only add must add up, as in a dict. Threads that do anything must leave a container that is
whole, and see documented errors only.
"""

from __future__ import annotations

import copy
import random
import sys
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from operator import attrgetter, methodcaller
from typing import Any, NamedTuple

import numpy as np

import structures as st
from structures.testing import (
    LANGUAGES,
    HeapModel,
    IndexedHeapModel,
    MapModel,
    PairModel,
    Program,
    SortedModel,
    TokenModel,
    check_program,
    random_program,
)
from tests.fuzz import rows_and_sets
from tests.fuzz.keys import hostile_keys
from tests.fuzz.threads import DOCUMENTED, Note, copied, in_threads, pickled

N_DENSE = 6000  # how many keys there can be where keys are 0 ... n - 1
_DENSE = (st.IndexedMaxHeap, st.IndexedMinHeap)
_MAPS = {st.IntMap: MapModel, st.SortedMap: SortedModel}


class Kind(NamedTuple):
    """A container class with the dtype of its numbers, and for heaps what is first of equal ones."""

    container: Any
    dtype: str = "int64"
    ties: str = "key"

    def new(self) -> Any:
        """Return an empty container."""
        if self.container in _DENSE:
            return self.container(N_DENSE, self.dtype, self.ties)
        named = {"dtype": self.dtype} if self.dtype != "int64" else {}
        return self.container(**named, **({"ties": self.ties} if self.ties != "key" else {}))

    def new_model(self) -> Any:
        """Return the model of an empty container."""
        if self.container in _MAPS:
            return _MAPS[self.container]()
        least_first, is_fifo = self.container in (st.MinHeap, st.IndexedMinHeap), self.ties == "fifo"
        if self.container in _DENSE:
            return IndexedHeapModel({}, N_DENSE, least_first, is_fifo)
        return HeapModel((), least_first, is_fifo)

    def keys(self, chance: random.Random, rng: np.random.Generator, n: int) -> np.ndarray:
        """Return `n` distinct keys, or a few less."""
        if self.container in _DENSE:
            return rng.choice(N_DENSE, n, replace=False)
        return hostile_keys(chance, rng, n)

    def __str__(self) -> str:
        return f"{self.container.__name__}, {self.dtype}, {self.ties}"


KEYED = [
    Kind(st.CountBuckets),
    *(Kind(each, dtype) for each in _MAPS for dtype in ("int64", "float64")),
    *(
        Kind(each, dtype, ties)
        for each in (st.MaxHeap, st.MinHeap, *_DENSE)
        for dtype in ("int64", "float64")
        for ties in ("key", "fifo")
    ),
    *(Kind(each, "float32", ties) for each in _DENSE for ties in ("key", "fifo")),
]
_NUMBERS: dict[str, list[Any]] = {
    "int64": [*range(-2, 5), 2**62, 2**63 - 1, -(2**63)],
    "float64": [*range(-2, 5), 0.5, -0.0, float("inf"), 5e-324],
    "float32": [*range(-2, 5), 0.5, -0.0, float("inf"), 2.0**-10],  # their sums are exact
}


def run(chance: random.Random, note: Note) -> None:
    """Run one of the checks."""
    alone = [check_alone, check_alone, check_lists_alone, rows_and_sets.check_alone]
    shared = [check_sums, check_sums, check_anything, check_words, check_lists]
    check = chance.choice([*alone, *shared, *rows_and_sets.SHARED])
    note(check.__name__)
    rng = np.random.default_rng(chance.getrandbits(32))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(chance.choice([1e-6, 1e-5, 1e-4, 5e-3]))
    try:
        check(chance, rng, note)
    finally:
        sys.setswitchinterval(interval)


# -------------------------------------------------------------------------------------------- one thread
def check_alone(chance: random.Random, rng: np.random.Generator, note: Note) -> None:
    """Compare a compiled program with the model."""
    kind = chance.choice(KEYED)
    keys = kind.keys(chance, rng, chance.choice([5, 60, 500]))
    if kind.container in _DENSE:
        keys[0] = chance.choice([-1, N_DENSE, 2**40])
    numbers = chance.sample(_NUMBERS[kind.dtype], 4) if chance.random() < 0.5 else range(-2, 4)
    language = LANGUAGES[kind.container]
    n_rows, rare = chance.choice([300, 1500]), chance.choice([0.1, 0.5, 1.0])
    program = random_program(language, rng, n_rows, keys, numbers, rare, kind.dtype)
    note(f"{kind}, {n_rows} rows, {list(numbers)}, keys {keys[:5].tolist()} ...")
    model = kind.new_model()
    done = check_program(language, kind.new(), model, program)
    assert dict(done.items()) == dict(model.items())
    assert kind.container in _MAPS or list(done.items()) == model.items(), "order"


def check_lists_alone(chance: random.Random, rng: np.random.Generator, note: Note) -> None:
    """Compare a compiled program on a token list, or an index, with the model."""
    container = chance.choice([st.TokenList, st.PairIndex])
    segments = [rng.integers(0, 5, chance.randrange(1, 30)).tolist() for _ in range(chance.randrange(1, 8))]
    language = LANGUAGES[container]
    program = random_program(language, rng, 300, range(100), range(5), chance.choice([0.5, 1.0]))
    note(f"{container.__name__}, {segments}")
    tokens, model = _list_of(segments), TokenModel(segments)
    if container is st.TokenList:
        check_program(language, tokens, model, program)
    else:
        index = PairModel(model)
        index.rebuild()
        check_program(language, st.PairIndex.build(tokens), index, program)


# -------------------------------------------------------------------------------------- threads that add
def check_sums(chance: random.Random, rng: np.random.Generator, note: Note) -> None:
    """Add in several threads, one by one and in bulk, and look meanwhile."""
    kind = chance.choice(KEYED)
    container, shared = kind.container, kind.new()
    keys = kind.keys(chance, rng, chance.choice([3, 100, 5000]))
    n_threads, n_steps = chance.randrange(2, 5), chance.choice([20, 200])
    note(f"{kind}, {len(keys)} keys, {n_threads} threads of {n_steps} steps")
    plans = [_plan(random.Random(chance.random()), keys, n_steps, container) for _ in range(n_threads)]

    def follow(steps: list[Callable[[Any], object]]) -> None:
        for step in steps:
            step(shared)

    in_threads([partial(follow, steps) for steps, _ in plans])
    shared._check()
    expected: Counter[int] = Counter()
    for _, sums in plans:
        for key, n in sums.items():
            expected[key] += n
    if container not in _MAPS:
        expected = +expected
    assert dict(shared.items()) == dict(expected)


def _plan(
    chance: random.Random, keys: np.ndarray, n_steps: int, container: Any
) -> tuple[list[Callable[[Any], object]], Counter[int]]:
    """Return the steps of a thread, and what they add to each key; no count falls below 0 on the way."""
    steps: list[Callable[[Any], object]] = []
    sums: Counter[int] = Counter()
    for _ in range(n_steps):
        if chance.random() < 0.3:
            some = chance.choices(keys, k=chance.choice([1, 10, 1000]))
            deltas = [chance.randrange(1, 9) for _ in some]
            steps.append(methodcaller("add_many", some, deltas))
            for key, n in zip(some, deltas, strict=True):
                sums[int(key)] += n
            continue
        key, n = int(chance.choice(keys)), chance.randrange(1, 9)
        if sums[key] > n and container not in _MAPS and chance.random() < 0.4:
            steps.append(methodcaller("sub", key, n))
            sums[key] -= n
        else:
            steps.append(methodcaller("add", key, n))
            sums[key] += n
        if chance.random() < 0.1:
            looks = [len, list, repr, attrgetter("nbytes"), copied, pickled, _all_of]
            steps.append(chance.choice(looks))
    return steps, sums


def _all_of(container: Any) -> None:
    keys, numbers = container.to_arrays()
    assert len(set(keys.tolist())) == len(keys) == len(numbers)


def check_words(chance: random.Random, rng: np.random.Generator, note: Note) -> None:
    """Count words in several threads, and merge counters both ways."""
    sizes = chance.choices([0, 1, 7, 8, 15, 16, 17, 40, 300], k=chance.choice([3, 300]))
    words = [rng.bytes(size) for size in sizes]
    words = [*dict.fromkeys([*words, *(b"prefix" + word[:12] for word in words)])]
    counter, other = st.ByteCounter(), st.ByteCounter(dict.fromkeys(words[::3], 1))
    n_threads, n_steps = chance.randrange(2, 5), chance.choice([20, 200])
    note(f"{len(words)} words, {n_threads} threads of {n_steps} steps")
    expected, lock = Counter(dict.fromkeys(words[::3], n_threads)), threading.Lock()

    def work(seed: float) -> None:
        chance, mine = random.Random(seed), Counter[bytes]()
        counter.merge(other)
        for _ in range(n_steps):
            some = chance.choices(words, k=chance.choice([1, 1, 100]))
            if len(some) == 1:
                counter.add(some[0], 3)
            elif chance.random() < 0.5:
                counter.add_many(some * 3)
            else:
                counter.add_many(b"".join(some), np.cumsum([0, *map(len, some)]), [3] * len(some))
            mine.update(some * 3)
            if chance.random() < 0.1:
                look = chance.choice([len, list, repr, copied, pickled, st.ByteCounter.most_common])
                look(counter)
                assert counter.word(counter.id_of(some[0])) == some[0]
        with lock:
            expected.update(mine)

    in_threads([partial(work, chance.random()) for _ in range(n_threads)])
    counter._check()
    assert dict(counter.items()) == dict(expected)
    _merge_both_ways(counter, other)


def _merge_both_ways(one: st.ByteCounter, other: st.ByteCounter) -> None:
    def work(one: st.ByteCounter, other: st.ByteCounter) -> None:
        for _ in range(20):
            try:
                one.merge(other)
            except OverflowError:
                one.clear()
            except RuntimeError as error:
                assert "wait for each other" in str(error)  # noqa: PT017

    in_threads([lambda: work(one, other), lambda: work(other, one), lambda: one == other])
    one._check()
    other._check()


# ---------------------------------------------------------------------------------- threads that do anything
def check_anything(chance: random.Random, rng: np.random.Generator, note: Note) -> None:
    """Call any methods in any order, in several threads."""
    kind = chance.choice(KEYED)
    shared, dtype = kind.new(), kind.dtype
    keys = kind.keys(chance, rng, chance.choice([3, 100, 3000]))
    numbers = [number for number in _NUMBERS[dtype] if number == number // 1]
    language = LANGUAGES[kind.container]
    note(f"{kind}, {len(keys)} keys")

    def work(chance: random.Random, program: Program) -> None:
        for _ in range(chance.choice([20, 200])):
            key, number = int(chance.choice(keys)), chance.choice(numbers)
            with suppress(*DOCUMENTED):
                _any_call(shared, chance, key, number, keys)
        first = np.zeros(program.operations.size, np.int64)
        language.driver(shared, *program, first, np.zeros(program.operations.size, dtype))

    programs = [random_program(language, rng, 300, keys, range(-2, 4), 0.5, dtype) for _ in range(3)]
    in_threads([partial(work, random.Random(chance.random()), each) for each in programs])
    shared._check()
    found = dict(shared.items())
    assert len(found) == len(shared)
    from_arrays, arrays, *_ = shared.__reduce__()
    assert from_arrays(*arrays) == shared == copy.deepcopy(shared)
    assert all(shared[key] == number and key in shared for key, number in found.items())


def _any_call(shared: Any, chance: random.Random, key: int, number: Any, keys: np.ndarray) -> None:
    """Call a method of a map, a heap or buckets."""
    many = chance.choices(keys, k=chance.choice([1, 20, 500]))
    calls: list[Callable[[], object]] = [
        lambda: shared.add(key, number),
        lambda: shared.__setitem__(key, number),
        lambda: shared.add_many(many, [number] * len(many)),
        lambda: shared.__delitem__(key),
        lambda: shared.get(key, number),
        lambda: shared.reserve(chance.randrange(2000)),
        lambda: copied(shared),
        lambda: pickled(shared),
        lambda: _all_of(shared),
        lambda: chance.random() < 0.1 and shared.clear(),
    ]
    if isinstance(shared, st.SortedMap):
        low, high = sorted(chance.choices(keys.tolist(), k=2))
        calls += [
            *(lambda verb=verb: getattr(shared, verb)(key) for verb in ("floor", "higher", "rank", "count")),
            *(lambda verb=verb: getattr(shared, verb)() for verb in ("peek_min", "pop_max", "keys")),
            lambda: shared.range_arrays(low, high),
            lambda: chance.random() < 0.1 and shared.remove_range(low, high),
            lambda: shared.remove_many(many[:2]),
            lambda: shared.ceiling_many(many),
            lambda: shared.select(chance.randrange(100)),
        ]
    if isinstance(shared, (st.IntMap, st.SortedMap)):
        calls += [
            lambda: shared.set_many(many, range(len(many))),
            lambda: shared.get_many(many),
            lambda: shared.pop(key),
        ]
    else:
        calls += [
            lambda: shared.sub(key, number),
            lambda: shared.pop(),
            lambda: shared.pop_many(chance.randrange(100)),
            lambda: shared.ties(),
            lambda: shared.peek(),
        ]
    if isinstance(shared, _DENSE):
        calls += [
            lambda: shared.improve(key, number),
            lambda: shared.improve(N_DENSE, number),
        ]
    if isinstance(shared, st.CountBuckets):
        calls += [
            lambda: shared.pop_min(),
            lambda: shared.keys_at(number),
            lambda: shared.counts(),
            lambda: shared.nlargest(20),
        ]
    chance.choice(calls)()


# ----------------------------------------------------------------------------------- token lists, indexes
def _list_of(segments: list[list[int]]) -> st.TokenList:
    return st.TokenList([token for each in segments for token in each], np.cumsum([0, *map(len, segments)]))


def check_lists(chance: random.Random, rng: np.random.Generator, note: Note) -> None:
    """Merge in a token list from several threads, each a share of the places, while others use its index."""
    segments = [
        rng.integers(0, 4, chance.choice([1, 2, 9, 400])).tolist() for _ in range(chance.randrange(1, 9))
    ]
    tokens, start, places = _list_of(segments), 0, []
    expected = []
    for segment in segments:
        chosen, i = [], 0
        while i < len(segment):
            is_merged = i + 1 < len(segment) and chance.random() < 0.5
            if is_merged:
                places.append(start + i)
            chosen.append(9 if is_merged else segment[i])
            i += 1 + is_merged
        expected.append(chosen)
        start += len(segment)
    chance.shuffle(places)
    index = st.PairIndex.build(tokens)
    note(f"{len(segments)} segments, {tokens.n_positions} positions, {len(places)} merges")

    def merge(share: list[int]) -> None:
        for place in share:
            tokens.merge(place, 9)

    def use(chance: random.Random) -> None:
        for _ in range(60):
            _use_index(index, chance)

    merging = [partial(merge, places[i::3]) for i in range(3)]
    in_threads([*merging, *(partial(use, random.Random(chance.random())) for _ in range(2))])
    tokens._check()
    assert [[*tokens.segment(i)] for i in range(tokens.n_segments)] == expected
    index._check()
    tokens.compact()
    index.rebuild()
    index._check()
    assert index == st.PairIndex.build(tokens)


def _use_index(index: st.PairIndex, chance: random.Random) -> None:
    """Call a method of an index, or read its tokens, while others merge."""
    left, right, tokens = chance.choice([0, 1, 2, 9]), chance.choice([0, 1, 2, 9]), index.tokens
    position = chance.randrange(tokens.n_positions)
    calls: list[Callable[[], object]] = [
        lambda: index.add(left, right, position),
        lambda: index.add_many(left, right, range(position)),
        lambda: index.drop(left, right),
        lambda: index.postings(left, right),
        lambda: index.count(left, right),
        lambda: index.rebuild(),
        lambda: index.stale_fraction(),
        lambda: index.pairs(),
        lambda: copied(index),
        lambda: pickled(index),
        lambda: tokens.next(position),
        lambda: tokens.segment_positions(tokens.segment_at(position)),
        lambda: copied(tokens),
        lambda: pickled(tokens),
    ]
    with suppress(*DOCUMENTED):
        chance.choice(calls)()
