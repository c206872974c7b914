"""Compiled code: threads, quiet kernels, methods, the life of objects."""

import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit
from numba.core import entrypoints
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import TypingError
from numba.extending import typeof_impl

import structures as st
from structures import (
    ByteCounter,
    CountBuckets,
    Deque,
    DisjointSets,
    Heap,
    IndexedMaxHeap,
    IndexedMinHeap,
    IntMap,
    IntSet,
    MaxHeap,
    MinHeap,
    PairIndex,
    SortedMap,
    TokenList,
)
from structures.compiling import dispatchers
from structures.compiling.jit import entry_for, inner
from structures.compiling.without_jit import PROPERTIES
from structures.status import NO_MEMORY
from structures.testing import LANGUAGES, Operation, random_program


# ----------------------------------------------------------------------------------------------- threads
def test_threads_with_a_container_each():
    classes = [IntMap, MaxHeap, MinHeap, CountBuckets] * 2
    programs = {cls: random_program(LANGUAGES[cls], np.random.default_rng(0), 20_000) for cls in classes}
    done = [None] * len(classes)

    def work(i):
        program = programs[classes[i]]
        results = np.zeros(program.keys.size, np.int64), np.zeros(program.keys.size, np.int64)
        container = LANGUAGES[classes[i]].driver(classes[i](), *program, *results)
        container.add_many(np.arange(100), np.arange(100))
        done[i] = results, container

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(classes))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for (results, container), (others, other) in zip(done[:4], done[4:], strict=True):
        container._check()
        assert container == other
        assert all(np.array_equal(one, same) for one, same in zip(results, others, strict=True))


def test_kernels_release_the_interpreter():
    """While a kernel runs in one thread, this one sees its results come in."""
    n = 2_000_000
    language = LANGUAGES[MaxHeap]
    program = random_program(language, np.random.default_rng(0), n, keys=range(5000), rare=0)
    program.operations[:] = Operation.ADD
    for _ in range(20):
        first, second = np.full(n, -99), np.zeros(n, np.int64)
        thread = threading.Thread(target=language.driver, args=(MaxHeap(), *program, first, second))
        thread.start()
        while thread.is_alive():
            time.sleep(0)
            if first[0] != -99 and first[-1] == -99:
                thread.join()
                return
    raise AssertionError("nothing was seen of a kernel before its end")


@st.kernel
def left_of(pair):
    return pair.left


@st.kernel
def right_of(pair):
    return pair.right


def test_a_thread_waits_while_another_one_loads_extensions_of_numba(monkeypatch):
    """Those register types; numba fails where it looks for a type meanwhile."""
    loading, looking, loaded = threading.Event(), threading.Event(), threading.Event()

    class Pair(NamedTuple):
        left: int
        right: int

    class Watched(type):
        def __subclasscheck__(cls, other):
            looking.set()
            loaded.wait(10)
            return False

    def load():
        if loading.is_set():
            return
        typeof_impl.register(Watched("First", (), {}), lambda *_: None)
        loading.set()
        looking.wait(0.2)  # in vain: nobody looks yet
        typeof_impl.register(type("Second", (), {}), lambda *_: None)
        loaded.set()

    monkeypatch.setattr(entrypoints, "init_all", load)
    monkeypatch.setattr(dispatchers, "_has_extensions", False)
    with ThreadPoolExecutor(2) as executor:
        first = executor.submit(left_of, Pair(1, 2))
        assert loading.wait(10)
        assert (executor.submit(right_of, Pair(1, 2)).result(), first.result()) == (2, 1)


# ------------------------------------------------------------------------------------------ quiet kernels
@st.kernel(quiet=True)
def only_true(n):
    if n < 0:
        raise ValueError("below 0")
    return True


@st.kernel(quiet=True)
def allocate(n):
    return np.empty(n, np.int64).size


@st.kernel(quiet=True)
def several(n):
    if n < 0:
        raise ValueError("below 0")
    return n, 2.5, n > 3


@st.kernel(quiet=True)
def with_default(n, factor=3):
    return n * factor


@st.kernel
def loud(n):
    if n < 0:
        raise ValueError("below 0")
    return n


@njit
def _call_quiet(n):
    return only_true(n), several(n), allocate(5), allocate(2**50)


def test_what_a_quiet_kernel_raises_is_a_null_value_in_compiled_callers():
    assert _call_quiet(4) == (True, (4, 2.5, True), 5, 0)
    assert _call_quiet(-1) == (False, (0, 0.0, False), 5, 0)


def test_python_sees_what_a_quiet_kernel_raises():
    assert only_true(1) is True
    with pytest.raises(ValueError, match="below 0"):
        only_true(-1)
    with pytest.raises(MemoryError):
        allocate(2**50)


@inner
def several_inside(n):
    if n < 0:
        raise ValueError("below 0")
    return n, 2.5, n > 3


@st.kernel
def _call_inner(n):
    return several_inside(n), several_inside(n + np.int8(1)), several_inside(n > 0)


def test_inner_kernels_are_quiet():
    assert _call_inner(3) == ((3, 2.5, False), (4, 2.5, True), (1, 2.5, False))
    assert _call_inner(-1) == ((0, 0.0, False), (0, 2.5, False), (0, 2.5, False))


def test_python_may_call_an_inner_kernel():
    for _ in range(2):
        assert several_inside(5) == several_inside(n=5) == several_inside(np.uint8(5)) == (5, 2.5, True)
        with pytest.raises(ValueError, match="below 0"):
            several_inside(-1)
    assert several_inside(2.5) == (2.5, 2.5, False)
    with pytest.raises(TypingError):
        several_inside("five")


@st.kernel(quiet=True)
def both(n, scale):
    return n, scale


@st.kernel(quiet=True)
def size_and(container, n):
    return len(container), n


@pytest.mark.parametrize("make", [IntMap, MaxHeap])
def test_the_entry_for_some_types_of_arguments(make, monkeypatch):
    """It gives what the kernel gives, its errors too, and looks at no types."""
    container = make({1: 2})
    run, check = entry_for(size_and, container, 0), entry_for(only_true, 1)
    kind = type(size_and)
    for name in ("__call__", "_compile_for_args", "typeof_pyval", "compile"):
        monkeypatch.setattr(kind, name, None)
    for n in (1, 2**62, -1):
        assert run(container, n) == (1, n)
    assert check(1) is True
    with pytest.raises(ValueError, match="below 0"):
        check(-1)


def test_numba_finds_the_overload_by_a_quick_look(monkeypatch):
    """Only the first call with arguments of some types takes the long way, tens of times as slow."""

    def call_all():
        for n in (1, True, np.bool_(True), np.int8(1), np.uint64(1), np.int64(1)):
            assert both(n, np.float32(0.5)) == both(n, 0.5) == (1, 0.5)
            for container in (IntMap({1: 2}), MaxHeap({1: 2})):
                assert size_and(container, n) == (1, 1)

    assert njit(lambda: both(1, 2.5))() == (1, 2.5)  # so that Python finds it compiled
    call_all()
    kind = type(both)
    taken = [(name, getattr(kind, name)) for name in ("_compile_for_args", "typeof_pyval", "compile")]
    for name, long_way in taken:
        monkeypatch.setattr(kind, name, lambda *args, way=long_way: calls.append(args) or way(*args))
    calls = []
    call_all()
    assert [call for call in calls if call[0] in (both, size_and)] == []
    assert (len(both.overloads), len(size_and.overloads)) == (1, 2)


def test_quiet_kernels_leave_the_types_of_others_alone(python):
    """What numba found to be the type of a value, it remembers for all functions."""
    code = """
        import numpy as np
        from numba import njit
        import structures as st

        @njit
        def same(value):
            return value

        @st.kernel(quiet=True)
        def quiet(value):
            return value

        assert quiet(True) == quiet(np.bool_(True)) == quiet(np.float32(1)) == 1
        for value in (5, True, 2.5, np.float32(1)):
            assert type(same(value)) is type(njit(lambda value: value)(value)), value
        assert same(True) is True and isinstance(same(st.IntMap()), st.IntMap)
    """
    python(textwrap.dedent(code))


def test_a_loud_kernel_raises_in_compiled_callers():
    @njit
    def call(n):
        return loud(n)

    assert call(3) == 3
    with pytest.raises(ValueError, match="below 0"):
        call(-1)


def test_no_memory_is_a_status_in_compiled_callers():
    @njit
    def reserve(container, n):
        return container.reserve(n), len(container)

    numbers = [make({1: 2}) for make in (IntMap, MaxHeap, MinHeap, CountBuckets, SortedMap)]
    others = [
        IntSet([1]),
        Deque.from_array([1]),
        DisjointSets(1),
        Heap.heapify([1], [2]),
        ByteCounter({b"a": 1}),
    ]
    for container in numbers + others:
        for n in (2**47, 2**48, 2**59 + 1, 2**60, 2**61 + 8, 2**62, 2**63 - 1):
            assert reserve(container, n) == (NO_MEMORY, 1)
        container._check()
    for n in (-1, -(2**63), 2**47, 2**62, 2**63 - 1):
        assert njit(lambda n: len(IndexedMinHeap(n)) + IndexedMinHeap(n).n_keys)(n) == 0
    for n in (2**47, 2**61, 2**62, 2**63 - 1):
        with pytest.raises(MemoryError):
            njit(lambda n: len(DisjointSets(n)))(n)


@st.kernel
def _narrow(container, key, n):
    container.add(key, n)
    return container[key], key in container, with_default(n), with_default(n=n, factor=n)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64])
def test_integers_of_every_width_are_one(dtype):
    for container in (IntMap(), MaxHeap(), CountBuckets()):
        assert _narrow(container, dtype(120), dtype(100)) == (100, True, 300, 10_000)
        container._check()
        assert list(container.items()) == [(120, 100)]
    assert with_default(dtype(5)) == with_default(dtype(5), 3) == 15
    assert len(with_default.overloads) == 2  # with the default and without


def test_an_integer_past_int64_does_not_wrap_around():
    """It would become another key. The index of a prange is a uint64, so that these are keys as well."""

    @njit
    def named(container, key):
        return container.get(key=key)

    for container in (IntMap(), MaxHeap(), CountBuckets()):
        assert _narrow(container, np.uint64(120), np.uint64(100)) == (100, True, 300, 10_000)
        before = container.copy()
        for key in (2**63, 2**64 - 1):
            for call in (_narrow, _set, _read, _contains):
                with pytest.raises(OverflowError, match="an integer is past int64"):
                    call(container, np.uint64(key), 1)
            with pytest.raises(OverflowError, match="an integer is past int64"):
                named(container, np.uint64(key))
            with pytest.raises(OverflowError, match="an integer is past int64"):
                _set(container, 1, np.uint64(key))
        assert named(container, np.uint64(120)) == 100
        with pytest.raises(TypingError, match=r"keys may not fit int64, .*keys.astype\(np.int64\)"):
            _update(container, np.zeros(3, np.uint64), np.zeros(3, np.int64))
        assert container == before


def test_truth_values_and_narrow_floats_widen():
    @njit
    def use(heap):
        heap.add(True, np.float32(0.5))
        heap.add(1, True)
        return heap[1]

    assert use(MaxHeap(dtype=float)) == 1.5


MISTAKES = {
    "a text": (
        lambda h: h.add("one", 1),
        "key is unicode_type, but must be an integer: number the texts first",
    ),
    "a pair": (lambda h: h.set((1, 2), 1), r"key is UniTuple.* pack_pair\(left, right\) makes a key"),
    "a pair in brackets": (lambda h: h[1, 2], r"pack_pair\(left, right\) makes a key of two ids"),
    "a float key": (lambda h: h.remove(1.5), "key is float64, but must be an integer"),
    "a float count": (
        lambda h: h.add(1, 0.5),
        r"n is float64, but MaxHeap\(int64\) holds .* dtype=float",
    ),
    "nothing": (lambda h: h.add(1, None), "n is none, but must be an integer"),
    "misspelled": (lambda h: h.ad(1, 1), r"MaxHeap\(int64\) has no ad in compiled code: do you mean add"),
    "not there": (
        lambda h: h.decrease(1, 1),
        "has no decrease in compiled code: it has add, add_many, clear, contains",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_a_typing_error_that_says_what_to_do(mistake):
    function, message = MISTAKES[mistake]
    with pytest.raises(TypingError, match=message):
        njit(function)(MaxHeap())


@njit
def _set(container, key, number):
    container[key] = number


@njit
def _add(container, key, number):
    container.add(key, n=number)


@njit
def _update(container, keys, numbers):
    return container.add_many(keys, numbers)


@njit
def _read(container, key, number):
    return container.get(key, number)


@njit
def _contains(container, key, number):
    return key in container


def test_floats_are_no_keys_inside_njit():
    """They would be cut to integers, and not be found again."""
    floats, integers = np.array([1.0]), np.array([1])
    for container in (MaxHeap({1: 2}), CountBuckets({1: 2}), MinHeap({1: 2.0})):
        is_float = isinstance(container, MinHeap)
        for verb in (_set, _add, _read, _contains):
            with pytest.raises(TypingError, match="key is float64, but must be an integer"):
                verb(container, 1.0, 1)
            if not is_float and verb is not _contains:
                with pytest.raises(TypingError, match="is float64, but"):
                    verb(container, 1, 1.0)
        with pytest.raises(TypingError, match="keys are float64, but must be an integer"):
            _update(container, floats, integers)
        if is_float:
            assert (_read(container, 1, 5.0), _update(container, integers, floats)) == (2.0, (0, 1))
            _set(container, 1, 1.5)
            _add(container, 1, 0.25)
        else:
            with pytest.raises(TypingError, match="deltas are float64, but"):
                _update(container, integers, floats)
        assert list(container.items()) == [(1, 1.75 if is_float else 2)]


def test_truth_inside_njit():
    @njit
    def n_pops(heap):
        n = 0
        while heap:
            heap.pop()
            n += 1
        return n, bool(heap), not heap

    assert n_pops(MaxHeap({1: 2, 3: 4})) == (2, False, True)


# -------------------------------------------------------------------------------------------- life of objects
def test_containers_outlive_their_makers():
    @njit
    def part(index):
        return index.tokens.copy(), index.tokens

    index = PairIndex.build(TokenList([1, 2, 1, 2]))
    copied, shared = part(index)
    index.tokens.merge(0, 5)
    del index
    assert list(copied) == [1, 2, 1, 2]
    assert list(shared) == [5, 1, 2]


ONLY_IN_PYTHON = {
    "build": "a class method",
    "from_array": "a class method",
    "from_arrays": "set_many, add_many",
    "from_labels": "a class method",
    "heapify": "a class method",
    "items": "to_arrays, of a ByteCounter",
    "dtype": "that of the numbers",
    "most_common": "to_arrays",
    "n_postings": "a field",
    "n_sets": "a field",
    "tie_order": "what the container was made with",
    "tokens": "a field",
    "type": "a class method",
}
# What operators and properties are in Python, and what only loops need.
ONLY_INSIDE = {
    "assign",
    "equals",
    "contains",
    "count",
    "get",
    "get_into",
    "is_full",
    "len",
    "posting",
    "prefetch",
    "remove",
    "set",
    "span",
}
CONTAINERS = [
    ByteCounter,
    CountBuckets,
    Deque,
    DisjointSets,
    Heap,
    IndexedMaxHeap,
    IndexedMinHeap,
    IntMap,
    MaxHeap,
    MinHeap,
    PairIndex,
    TokenList,
]


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_verb_is_there_in_both_places(container):
    verbs = {name for name in dir(container) if not name.startswith("_")}
    inside = {name for name in vars(container._kernels) if not name.startswith("_")}
    assert verbs - inside - set(ONLY_IN_PYTHON) == set()
    assert inside - verbs - ONLY_INSIDE == set()
    assert inside & set(PROPERTIES) == {name for name in inside if is_property(container, name)}


def is_property(container, name):
    return isinstance(getattr(container, name, None), property)


def test_containers_in_lists_and_tuples():
    @njit
    def use(heaps, pair):
        total = 0
        for heap in heaps:
            heap.add(1, 2)
            total += heap[1]
        return total + pair[0][1] + pair[1][1]

    heaps = MaxHeap({1: 1}), MaxHeap({1: 5})
    assert use(heaps, (IntMap({1: 10}), MinHeap({1: 20}))) == 3 + 7 + 30
    assert heaps[1][1] == 7


def test_what_is_compiled_is_called_without_a_lock():
    """A child that is forked meanwhile would wait for it."""
    heap = st.MaxHeap()
    heap._kernels.add(heap, 1)  # numba takes an argument that is left out for the first one of its type

    def use():
        counts = st.IntMap()
        counts.add(1)
        assert counts.copy().get(1) == 1

    use()
    is_held, is_over = threading.Event(), threading.Event()

    def hold():
        with global_compiler_lock:
            is_held.set()
            is_over.wait()

    holder, user = threading.Thread(target=hold), threading.Thread(target=use, daemon=True)
    holder.start()
    is_held.wait()
    user.start()
    user.join(60)
    is_waiting = user.is_alive()
    is_over.set()
    holder.join()
    assert not is_waiting
