"""Compilation: lazily, once, cached and never stale; without leaks, without the GIL."""

import textwrap
import threading
import time

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

import structures as st
from structures import ByteCounter, CountBuckets, IntMap, MaxHeap, MinHeap, PairIndex, TokenList
from structures.jit import DIGEST, inner, package_digest
from structures.status import INT64_MIN, NO_MEMORY
from structures.testing import LANGUAGES, Operation, random_program


# ------------------------------------------------------------------------------------------------ import
def test_import_compiles_nothing_and_touches_no_cache(python, tmp_path):
    code = """
        import os
        from numba.core import event

        class Compilations(event.Listener):
            n = 0
            def on_start(self, event): type(self).n += 1
            def on_end(self, event): pass

        event.register("numba:compile", Compilations())
        import structures, bpe
        assert Compilations.n == 0, "the import compiles"
        assert os.listdir(os.environ["NUMBA_CACHE_DIR"]) == [], "the import looks for a cache"
        structures.IntMap()
        assert Compilations.n > 0, "this test sees no compilation"
        assert os.listdir(os.environ["NUMBA_CACHE_DIR"]) != []
    """
    python(textwrap.dedent(code), NUMBA_CACHE_DIR=str(tmp_path))


def test_public_names_are_importable():
    assert all(hasattr(st, name) for name in st.__all__)
    assert sorted(st.__all__, key=str.lower) == sorted(set(st.__all__), key=str.lower)


def test_digests():
    assert len(DIGEST) == 16
    assert package_digest("structures") == DIGEST
    assert package_digest("there_is_no_such_package") == ""


def test_the_digest_of_a_namespace_package(tmp_path, monkeypatch):
    """A package without ``__init__.py`` is all of its folders."""
    folders = [tmp_path / part / "some_namespace" for part in ("one", "other")]
    for folder in folders:
        (folder / "inside").mkdir(parents=True)
        monkeypatch.syspath_prepend(folder.parent)
    digests = []
    for n, folder in enumerate(2 * folders):
        (folder / "inside" / "kernels.py").write_text(f"n = {n}")
        digests.append(package_digest.__wrapped__("some_namespace"))
    assert len(set(digests)) == 4
    assert {len(digest) for digest in digests} == {16}
    (tmp_path / "one" / "some_module.py").write_text("n = 1")
    before = package_digest.__wrapped__("some_module")
    (tmp_path / "one" / "some_module.py").write_text("n = 2")
    assert package_digest.__wrapped__("some_module") != before


# ------------------------------------------------------------------------------------------------- cache
USER = """
    import structures as st
    from numba import njit
    from toy.helper import triple

    @njit(cache=True)
    def with_njit(container):
        container.add(7, 5)
        return container[7]

    @st.kernel
    def with_kernel(container):
        container.add(7, 5)
        return triple(container[7])
"""
HELPER = """
    import structures as st

    @st.kernel
    def triple(n):
        return 3 * n
"""
RUN = """
    import structures as st
    from toy.user import with_kernel, with_njit

    def n_found(function):
        return sum(function.stats.cache_hits.values())

    for function in (with_njit, with_kernel):
        print(function(st.IntMap()), function(st.MaxHeap()), end=" ")
    print("found", n_found(with_njit), n_found(with_kernel))
"""


@pytest.fixture
def installation(tmp_path):
    """A folder with a copy of this package, and a user's package beside it."""
    import shutil
    from pathlib import Path

    folder = tmp_path / "site"
    package = Path(st.__file__).parent
    shutil.copytree(package, folder / "structures", ignore=shutil.ignore_patterns("__pycache__", "testing*"))
    (folder / "toy").mkdir()
    (folder / "toy" / "__init__.py").touch()
    (folder / "toy" / "user.py").write_text(textwrap.dedent(USER))
    (folder / "toy" / "helper.py").write_text(textwrap.dedent(HELPER))
    return folder


def change(path, before, after):
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def test_cached_code_is_used_again_and_never_stale(python, installation, tmp_path):
    def run():
        return python(textwrap.dedent(RUN), path=installation, NUMBA_CACHE_DIR=str(tmp_path / "cache"))

    assert run() == "5 5 15 15 found 0 0\n"
    assert run() == "5 5 15 15 found 2 2\n"
    # Other files than those of the functions that are called: what changes is inlined there.
    change(installation / "structures" / "int_map_kernels.py", "value + delta)", "value + 2 * delta)")
    change(
        installation / "structures" / "multiset_heap_kernels.py",
        "slot, count + delta, sum",
        "slot, count + 3 * delta, sum",
    )
    assert run() == "10 15 30 45 found 0 0\n"
    change(installation / "toy" / "helper.py", "3 * n", "4 * n")
    assert run() == "10 15 40 60 found 2 0\n"


def test_a_class_that_is_gone(python, installation, tmp_path):
    """An upgrade may move a type to another module: caches that name the old one are no trouble."""
    code = """
        import structures as st
        from toy.user import with_njit
        print(with_njit(st.IntMap()), sum(with_njit.stats.cache_hits.values()))
    """

    def run():
        return python(textwrap.dedent(code), path=installation, NUMBA_CACHE_DIR=str(tmp_path / "cache"))

    def rename(before, after):
        folder = installation / "structures"
        (folder / f"{before}.py").rename(folder / f"{after}.py")
        for file in folder.glob("*.py"):
            file.write_text(file.read_text().replace(f"structures.{before} ", f"structures.{after} "))

    rename("int_map_kernels", "kernels_of_old")
    assert [run(), run()] == ["5 0\n", "5 1\n"]
    rename("kernels_of_old", "kernels_of_new")
    assert [run(), run()] == ["5 0\n", "5 1\n"]


def test_without_a_folder_to_write_to(python, installation, tmp_path):
    """Nothing is cached, and one warning says so. A file in the way stops even a superuser."""
    (tmp_path / "file").touch()
    (installation / "toy" / "user.py").write_text(textwrap.dedent(HELPER))
    for package in ("structures", "toy"):
        (installation / package / "__pycache__").touch()
    nowhere = str(tmp_path / "file" / "folder")
    code = """
        import warnings
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            import structures as st
            from toy.user import triple
            map, heap = st.IntMap({1: 2}), st.MaxHeap({1: 2})
            heap.add(1)
            map.add(1)
            tokens = st.TokenList([1, 2, 1, 2])
            tokens.merge(0, 3)
            print(map[1], heap.peek(), list(tokens), triple(5), triple.stats.cache_path)
        print([warning.category.__name__ for warning in caught])
        print(str(caught[0].message).partition(":")[0])
    """
    output = python(
        textwrap.dedent(code),
        path=installation,
        PYTHONDONTWRITEBYTECODE="1",
        **dict.fromkeys(("NUMBA_CACHE_DIR", "HOME", "XDG_CACHE_HOME"), nowhere),
    )
    assert output.splitlines() == [
        "3 (1, 3) [3, 1, 2] 15 None",
        "['RuntimeWarning']",
        "no folder to keep compiled code in",
    ]


def test_two_processes_compile_the_same_at_once(python, tmp_path):
    code = """
        from structures import int_map_kernels as int_map
        from structures import token_list_kernels as token_list
        bits = int_map.bucket_bits(100)
        slots = int_map.empty_slots(bits)
        int_map.occupy(slots, ~int_map.locate(slots, 64 - bits, 5), 5, 7)
        print(bits, int_map.entries(slots, 1), token_list.cell(1, 2, 3), end=" ")
        print("found", sum(int_map.entries.stats.cache_hits.values()))
    """
    started = [python.start(textwrap.dedent(code), NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(3)]
    results = [python.finish(process).partition("found")[0] for process in started]
    assert results == ["6 (array([5]), array([7])) 4294967307 "] * 3
    assert python(textwrap.dedent(code), NUMBA_CACHE_DIR=str(tmp_path)).endswith("found 1\n")


def test_inner_code_is_read_as_it_was_written(python, tmp_path):
    """Translated before it is linked in it would be slow: intrinsics have become what they stand for."""
    code = """
        from numba import njit
        from structures import MaxHeap
        from structures.multiset_heap_blocks import sift_down
        njit(lambda h: h.{verb})(MaxHeap({{1: 2, 3: 4}}))
        (overload,) = sift_down.overloads.values()
        code = overload.library.get_llvm_str()
        print(len(sift_down.stats.cache_hits), "call i64 @llvm.vector.reduce.smin" in code)
    """
    for verb, result in {"pop()": "0 True", "set(1, 1)": "1 True"}.items():
        assert python(textwrap.dedent(code).format(verb=verb), NUMBA_CACHE_DIR=str(tmp_path)) == f"{result}\n"


def test_inner_kernels_serve_callers_of_later_processes(python, tmp_path):
    """What was compiled for one caller, and never for Python, serves the next, and Python after all."""
    code = """
        from numba import njit
        from structures import MaxHeap, int_map_kernels, multiset_heap_kernels
        heap = MaxHeap()
        {use}
        print(*heap.peek(), sum(multiset_heap_kernels._become.stats.cache_hits.values()))
    """
    results = {
        "heap.add(7)": "7 1 0",
        "heap.add(7), heap.update_many([7, 8], [1, 5])": "8 5 1",
        "njit(lambda h: h.add(7, 2) + h.sub(7))(heap)": "7 1 1",  # sub calls what add called
        "heap[3] = int_map_kernels.bucket_bits(100)": "3 6 0",
        "heap[4] = int_map_kernels.bucket_bits(100)": "4 6 0",
    }
    for use, result in results.items():
        assert python(textwrap.dedent(code).format(use=use), NUMBA_CACHE_DIR=str(tmp_path)) == f"{result}\n"


# ------------------------------------------------------------------------------------------------ memory
def test_nothing_leaks(python):
    code = """
        import copy, gc, pickle
        import numpy as np
        from numba import njit
        from numba.core.runtime import rtsys
        import structures as st
        from structures.testing import LANGUAGES, outcome, random_program
        from structures.testing.machines import token_list_of

        @njit
        def errors_inside(heap, keys, deltas):
            heap.copy().reserve(2**47)
            heap.update_many(keys, deltas)
            return heap.copy().remove(10**6), heap

        def keyed(container, numbers):
            language = LANGUAGES[container]
            for dtype in numbers:
                program = random_program(language, np.random.default_rng(0), 2000, range(60), dtype=dtype)
                real = container.from_arrays([], np.empty(0, dtype))
                first, second = np.zeros(2000, np.int64), np.zeros(2000, dtype)
                real = language.driver(real, *program, first, second)
                real[1], real[2] = 2**62, 2**62
                for call, *arguments in [
                    (real.reserve, 2**47), (real.update_many, [5, 1], [1, -(2**63)]), (real.add, 10**6, -1),
                    (real.update_many, [1], [1, 2]), (real.__getitem__, 10**6), (real.__delitem__, 10**6),
                    (container.from_arrays, [1, 1], [2, 2]), (real.add, 2, 2**62), (real.add, 2**63),
                ]:
                    outcome(call, *arguments)
                for other in (real.copy(), copy.deepcopy(real), pickle.loads(pickle.dumps(real))):
                    assert other == real
                    other.clear()
                list(real.items())
                if container is not st.IntMap:
                    real.pop_many(5), real.ties(), real.pop(), real.peek()
                    outcome(container().pop), outcome(container().peek)
                errors_inside(real, np.array([1, 10**6]), np.array([1, -5]))

        def lists():
            rng = np.random.default_rng(0)
            segments = [rng.integers(0, 3, 9).tolist() for _ in range(9)]
            tokens, index = token_list_of(segments), st.PairIndex.build(token_list_of(segments))
            for container, real in ((st.TokenList, tokens), (st.PairIndex, index)):
                language = LANGUAGES[container]
                program = random_program(language, rng, 500, range(99), range(5), rare=0.8)
                real = language.driver(real, *program, np.zeros(500, np.int64), np.zeros(500, np.int64))
                copy.copy(real), pickle.loads(pickle.dumps(real)), real.to_arrays()
            outcome(tokens.merge, 10**6, 1), outcome(tokens.segment, -1), list(tokens.segment(0))
            outcome(st.TokenList, [-1]), outcome(st.TokenList, [1], [0, 2])
            tokens.compact(), index.tokens.compact(), index.rebuild(), index.copy().drop(*index.pairs()[0])
            outcome(index.drop, 77, 77), outcome(index.add, 1, 1, 10**6), index.stale_fraction()

        def everything():
            for container in (st.IntMap, st.CountBuckets):
                keyed(container, ["int64"])
            for container in (st.MaxHeap, st.MinHeap):
                keyed(container, ["int64", "float64"])
            lists()

        everything()
        gc.collect()
        stats = rtsys.get_allocation_stats()
        n_refused = 2 * 6  # what numba asked for in vain counts as well: 2**47 keys, twice for each heap
        assert stats.mi_alloc > 1000
        assert (stats.alloc - n_refused, stats.mi_alloc) == (stats.free, stats.mi_free), stats
    """
    python(textwrap.dedent(code), NUMBA_NRT_STATS="1")


LIMIT = """
    import resource

    def limit(megabytes):
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + megabytes * 2**20, resource.RLIM_INFINITY))
"""


def test_growth_without_memory_changes_nothing(python):
    """The address space ends, containers grow until they cannot, and are then as they were."""
    code = """
        import numpy as np
        from numba import njit
        import structures as st
        from structures.status import NO_MEMORY
        from structures.testing import outcome

        @njit
        def fill(container, start, step):
            n = start
            while n < 10**9:
                status = container.add(n * step, n + 1)
                if status < 0:
                    return n, status
                n += 1
            return n, 0

        makers = st.IntMap, st.MaxHeap, st.CountBuckets
        for make in makers:
            made = make()
            made.update_many([1], [1])
            fill(made, 10**9, 1)
            made.to_arrays(), made.copy()._check()
        for make in makers:
            container = make()
            limit(12)
            n, status = fill(container, 0, 7)
            raised = outcome(container.add, -1, 10**9)
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
            assert (status, raised, len(container)) == (NO_MEMORY, MemoryError, n), (make, raised, n, status)
            keys, counts = container.to_arrays()
            assert np.array_equal(np.sort(keys), 7 * np.arange(n))
            assert np.array_equal(keys // 7 + 1, counts)
            container.add(-1)
            assert -1 in container
            del container, keys, counts

        pairs = np.arange(300_000, dtype=np.int32)
        index = st.PairIndex(st.TokenList(pairs))
        index.rebuild()
        small = st.PairIndex.build(st.TokenList([1, 2]))
        small.add_many(5, 6, [0, 1]), small.rebuild(), small.copy().tokens.compact(), small.tokens.copy()
        index.tokens.merge(0, 5), index.add(5, 2, 0)
        many = np.zeros(3_000_000, np.int64)
        limit(2)
        verbs = index.rebuild, index.tokens.compact, index.copy, index.tokens.copy
        refused = [outcome(verb) for verb in verbs]
        refused += [outcome(index.add_many, 5, right, many) for right in (2, 9)]
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
        assert [type(got) for got in refused] == [type] * 6, "no MemoryError"
        assert refused == [MemoryError] * 6, refused
        index._check()
        assert (len(index.tokens), len(index), index.n_postings) == (299_999, 300_000, 300_000)
        assert index.count(5, 2) == 1 and index.count(0, 1) == 0
    """
    # What is freed goes back at once, so that the limit is all there is.
    python(textwrap.dedent(LIMIT) + textwrap.dedent(code), MALLOC_MMAP_THRESHOLD_="65536")


def test_a_full_container_without_memory_takes_what_has_a_place(python):
    """A key that has left makes room for another, and what is there is overwritten."""
    code = """
        import structures as st
        from structures.testing import outcome

        def write(heap, table):
            heap.pop(), heap.add(-1, 5)
            table.add(5), table.__setitem__(6, 60), table.set_many([7], [70]), table.update_many([8], [80])
            refused = [outcome(heap.add, -2, 5), outcome(table.add, -1)]
            return refused + [outcome(verb, [9, -1], [9, 9]) for verb in (table.update_many, table.set_many)]

        n_full = 655_360
        heap, table = st.MaxHeap.from_arrays(range(n_full), range(n_full)), st.IntMap()
        table.set_many(range(n_full), range(n_full))
        write(st.MaxHeap({1: 2}), st.IntMap())
        limit(2)
        refused = write(heap, table)
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
        assert refused == [MemoryError] * 4, refused
        assert (len(heap), heap[-1], -2 in heap, n_full - 1 in heap) == (n_full, 5, False, False)
        assert [table[key] for key in (5, 6, 7, 8, 9)] == [6, 60, 70, 88, 9]
        assert (len(table), -1 in table) == (n_full, False)
    """
    python(textwrap.dedent(LIMIT) + textwrap.dedent(code))


# ----------------------------------------------------------------------------------------------- threads
def test_threads_with_a_container_each():
    classes = [IntMap, MaxHeap, MinHeap, CountBuckets] * 2
    programs = {cls: random_program(LANGUAGES[cls], np.random.default_rng(0), 20_000) for cls in classes}
    done = [None] * len(classes)

    def work(i):
        program = programs[classes[i]]
        results = np.zeros(program.keys.size, np.int64), np.zeros(program.keys.size, np.int64)
        container = LANGUAGES[classes[i]].driver(classes[i](), *program, *results)
        container.update_many(np.arange(100), np.arange(100))
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
    assert calls == []
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
    def reserve(container):
        return container.reserve(2**47), len(container)

    for container in (IntMap({1: 2}), MaxHeap({1: 2}), MinHeap({1: 2.5}), CountBuckets({1: 2})):
        assert reserve(container) == (NO_MEMORY, 1)
        container._check()


@st.kernel
def _narrow(container, key, n):
    container.add(key, n)
    return container[key], key in container, with_default(n), with_default(n=n, factor=n)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64])
def test_integers_of_every_width_are_one(dtype):
    for container in (IntMap(), MaxHeap(), CountBuckets()):
        assert _narrow(container, dtype(120), dtype(100)) == (100, True, 300, 10_000)
        container._check()
        assert list(container.items()) == [(120, 100)]
    assert with_default(dtype(5)) == with_default(dtype(5), 3) == 15
    assert len(with_default.overloads) == 2  # with the default and without


def test_integers_past_int64_wrap_around():
    container = IntMap()
    assert _narrow(container, np.uint64(2**63), np.uint64(1))[:2] == (1, True)
    assert list(container) == [INT64_MIN]


def test_truth_values_and_narrow_floats_widen():
    @njit
    def use(heap):
        heap.add(True, np.float32(0.5))
        heap.add(1, True)
        return heap[1]

    assert use(MaxHeap(dtype=float)) == 1.5


def test_the_wrong_type_is_a_typing_error():
    @njit
    def use(container):
        return container.add("one", 1)

    with pytest.raises(TypingError, match="key must be an integer or integers, not unicode_type"):
        use(IntMap())

    @njit
    def misspelled(container):
        return container.ad(1, 1)

    with pytest.raises(Exception, match="ad"):
        misspelled(IntMap())


@njit
def _set(container, key, number):
    container[key] = number


@njit
def _add(container, key, number):
    container.add(key, n=number)


@njit
def _update(container, keys, numbers):
    return container.update_many(keys, numbers)


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
            with pytest.raises(TypingError, match="key must be an integer or integers, not float64"):
                verb(container, 1.0, 1)
            if not is_float and verb is not _contains:
                with pytest.raises(TypingError, match="must be an integer or integers, not float64"):
                    verb(container, 1, 1.0)
        with pytest.raises(TypingError, match="keys must be an integer or integers, not array"):
            _update(container, floats, integers)
        if is_float:
            assert (_read(container, 1, 5.0), _update(container, integers, floats)) == (2.0, (0, 1))
            _set(container, 1, 1.5)
            _add(container, 1, 0.25)
        else:
            with pytest.raises(TypingError, match="deltas must be an integer or integers, not array"):
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
    "build": "containers are made in Python",
    "from_arrays": "containers are made in Python",
    "items": "to_arrays",
    "dtype": "that of the numbers",
    "most_common": "to_arrays",
    "n_postings": "a field",
    "tokens": "a field",
    "update": "update_many",
}
# What operators and properties are in Python, and what only loops need.
ONLY_INSIDE = {
    "assign",
    "contains",
    "count",
    "get_into",
    "is_full",
    "len",
    "posting",
    "prefetch",
    "remove",
    "set",
    "span",
}
CONTAINERS = [ByteCounter, CountBuckets, IntMap, MaxHeap, MinHeap, PairIndex, TokenList]


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_verb_is_there_in_both_places(container):
    verbs = {name for name in dir(container) if not name.startswith("_")}
    inside = set(vars(container._kernels))
    assert verbs - inside - set(ONLY_IN_PYTHON) == set()
    assert inside - verbs - ONLY_INSIDE == set()


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
