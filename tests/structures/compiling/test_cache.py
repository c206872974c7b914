"""Import and cache: nothing is compiled early, nothing twice, and nothing stale runs."""

import os
import pickle
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
from numba import types

import structures as st
from structures.base.struct_type import GoneType, _type_of
from structures.compiling import cache
from structures.compiling.cache import DIGEST, others_may_write, package_digest, turn_to_write
from tests.forks import Child


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


def test_the_compiler_may_be_the_first_to_ask_for_a_container(python):
    """A container is imported at its first use, which may come in the middle of a compilation."""
    code = """
        import sys
        import numpy as np
        from numba import njit
        from numba.typed import List
        import structures as st

        @njit
        def everything():
            heap, named = st.MaxHeap(), st.SortedMap(np.float64)
            heap.add(3, 4)
            named[3] = 1.5
            rows = List.empty_list(st.KBest.type())
            rows.append(st.KBest(3, 2))
            index = st.PairIndex.build(st.TokenList(np.array([1, 2, 1, 2])))
            total = len(heap) + len(index)
            for key in named:
                total += key
            return total, len(rows), 3 in heap, st.pack_pair(1, 2), heap

        assert "structures.hash_tables.int_map" not in sys.modules
        total, n_lists, is_in, pair, heap = everything()
        assert (total, n_lists, is_in, pair, heap.peek()) == (6, 1, True, 2**32 + 2, (3, 4))
    """
    python(textwrap.dedent(code))


def test_public_names_are_importable():
    assert all(hasattr(st, name) for name in st.__all__)
    assert set(st.__all__) <= set(dir(st))
    with pytest.raises(AttributeError, match="has no attribute 'FibonacciHeap'"):
        _ = st.FibonacciHeap
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
        print(function(st.IntMap()), end=" ")
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

    assert run() == "5 15 found 0 0\n"
    assert run() == "5 15 found 1 1\n"
    # Another file than those of the functions that are called: what changes is inlined there.
    change(
        installation / "structures" / "hash_tables" / "int_map_kernels.py",
        "value + delta)",
        "value + 2 * delta)",
    )
    assert run() == "10 30 found 0 0\n"
    change(installation / "toy" / "helper.py", "3 * n", "4 * n")
    assert run() == "10 40 found 1 0\n"


def test_callers_that_make_their_containers_are_never_stale(python, installation, tmp_path):
    """They have no argument of ours: neither they nor their callers, nor what returns a list."""
    maker = """
        import structures as st
        from numba import njit
        from numba.typed import List

        maps = st.IntMap.type()

        @njit(cache=True)
        def make(n):
            made = st.IntMap()
            for key in range(n):
                made.add(key, key + 1)
            return made

        @njit(cache=True)
        def last(n):
            return make(n)[n - 1]

        @njit(cache=True)
        def listed(n):
            made = List.empty_list(maps)
            made.append(make(n))
            return made

        @njit(cache=True)
        def key(n):
            return st.pack_pair(1, n)
    """
    caller = """
        from numba import njit
        from toy.maker import last, listed

        @njit(cache=True)
        def far(n):
            return last(n) + listed(n)[0][n - 1]
    """
    run_all = """
        from toy.caller import far
        from toy.maker import key, last, listed, make
        functions = make, last, listed, far, key
        print(make(3)[2], last(3), listed(3)[0][2], far(3), key(3) - 2**32, end=" ")
        print(*(sum(function.stats.cache_hits.values()) for function in functions))
    """
    (installation / "toy" / "maker.py").write_text(textwrap.dedent(maker))
    (installation / "toy" / "caller.py").write_text(textwrap.dedent(caller))

    def run():
        return python(textwrap.dedent(run_all), path=installation, NUMBA_CACHE_DIR=str(tmp_path / "cache"))

    assert run() == "3 3 3 6 3 0 0 0 0 0\n"
    assert run() == "3 3 3 6 3 1 1 1 1 1\n"
    kernels = installation / "structures" / "hash_tables" / "int_map_kernels.py"
    change(kernels, "word_of(value + delta)", "word_of(value + 3 * delta)")
    assert run() == "9 9 9 18 3 0 0 0 0 0\n"
    assert run() == "9 9 9 18 3 1 1 1 1 1\n"
    # A changed layout, whose fields older code would read at the wrong places.
    change(kernels, "    return fields_of(\n", "    return fields_of(\n        padding=types.int64,\n")
    # And a function that takes numbers and returns one.
    change(
        installation / "structures" / "primitives" / "hashing.py",
        "(left << np.int64(32)) + right",
        "(left << np.int64(32)) + right + 1",
    )
    assert run() == "9 9 9 18 4 0 0 0 0 0\n"


def test_callers_that_raise_under_boundscheck(python, installation, tmp_path):
    """The switch is not in numba's key. What takes a container is cached for both settings."""
    user = """
        import structures as st
        from numba import njit

        @njit(cache=True)
        def read(container, key):
            return container[key]

        @njit(cache=True)
        def made(key):
            return st.IntMap()[key]

        @njit(cache=True)
        def far(key):
            return made(key)
    """
    run_all = """
        import structures as st
        from toy.user import far, made, read

        for function, *arguments in ((read, st.IntMap(), 5), (made, 5), (far, 5)):
            try:
                print(function(*arguments), end=" ")
            except KeyError as error:
                print(repr(error), end=" ")
        print(sum(read.stats.cache_hits.values()))
    """
    (installation / "toy" / "user.py").write_text(textwrap.dedent(user))

    def run(**switch):
        cache = str(tmp_path / "cache")
        return python(textwrap.dedent(run_all), path=installation, NUMBA_CACHE_DIR=cache, **switch)

    assert run() == "0 0 0 0\n"
    assert run(NUMBA_BOUNDSCHECK="1") == "KeyError(5) KeyError(5) KeyError(5) 0\n"
    assert run() == "0 0 0 1\n"
    assert run(NUMBA_BOUNDSCHECK="1") == "KeyError(5) KeyError(5) KeyError(5) 1\n"


def test_a_class_that_is_gone(python, installation, tmp_path):
    """An upgrade may move a type to another module: caches that name the old one do no harm."""
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
        old, new = (name.replace("/", ".") for name in (before, after))
        for file in folder.rglob("*.py"):
            file.write_text(file.read_text().replace(f"structures.{old} ", f"structures.{new} "))

    rename("hash_tables/int_map_kernels", "hash_tables/kernels_of_old")
    assert [run(), run()] == ["5 0\n", "5 1\n"]
    rename("hash_tables/kernels_of_old", "kernels_of_new")
    assert [run(), run()] == ["5 0\n", "5 1\n"]


def test_code_that_an_earlier_version_cached(python, installation, tmp_path):
    """It names what has another place now. It is compiled again; it does not raise."""
    maker = """
        import structures as st
        from numba import njit

        @njit(cache=True)
        def top(n):
            heap = st.MaxHeap()
            heap.add(5, n)
            return heap.pop()[1]

        @njit(cache=True)
        def apply(function, n):
            return function(n)
    """
    run_both = """
        from toy.helper import triple
        from toy.maker import apply, top
        print(top(3), apply(triple, 2), *top.stats.cache_hits.values())
    """
    (installation / "toy" / "maker.py").write_text(textwrap.dedent(maker))
    earlier = {
        "cache": "read_back.__module__ = 'structures.compiling.stamps'",
        "dispatchers": """
class _InsideDispatcher(Dispatcher):
    def _reduce_states(self):
        return CPUDispatcher._reduce_states(self)

def dispatcher(function, name, make=dispatcher):
    made = make(function, name)
    if name == "plain inside":
        made.__class__ = _InsideDispatcher
    return made
""",
    }

    def run():
        return python(textwrap.dedent(run_both), path=installation, NUMBA_CACHE_DIR=str(tmp_path / "cache"))

    sources = {installation / "structures" / "compiling" / f"{name}.py": earlier[name] for name in earlier}
    before = {source: source.read_text() for source in sources}
    for source, names in sources.items():
        source.write_text(f"{before[source]}\n{names}\n")
    assert [run(), run()] == ["3 6\n", "3 6 1\n"]
    cached = b"".join(file.read_bytes() for file in (tmp_path / "cache").rglob("maker.*"))
    assert b"structures.compiling.stamps" in cached
    assert b"_InsideDispatcher" in cached
    for source, text in before.items():
        source.write_text(text)
    assert [run(), run()] == ["3 6\n", "3 6 1\n"]


def test_a_type_of_another_release():
    """A cache names it; the class of today may not know its fields."""
    old = _type_of(
        "structures.priority_queues.multiset_heap_kernels",
        "MaxHeapType",
        [("n", types.int64), ("digest_0", types.int8)],
    )
    assert isinstance(old, GoneType)
    assert pickle.loads(pickle.dumps(old)) == old
    assert old.__reduce__()[1][:2] == ("structures.priority_queues.multiset_heap_kernels", "MaxHeapType")
    for current in (st.MaxHeap.type(), st.IntMap.type(float)):
        assert pickle.loads(pickle.dumps(current)) is current
        assert old != current


def test_without_a_folder_to_write_to(python, installation, tmp_path):
    """Nothing is cached, and one warning says so. A file in the way stops even a superuser."""
    (tmp_path / "file").touch()
    (installation / "toy" / "user.py").write_text(textwrap.dedent(HELPER))
    for source in list(installation.rglob("*.py")):
        (source.parent / "__pycache__").touch()
    nowhere = str(tmp_path / "file" / "folder")
    code = """
        import warnings
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            import structures as st
            from toy.user import triple
            map, heap = st.IntMap({1: 2}), st.MaxHeap({1: 2})
            for key in range(1, 100):  # past the room of a new heap: late kernels
                heap.add(key)
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


GROWS = """
import ctypes, os, sys, warnings
if sys.platform == "linux" and not os.environ.get("PLAIN_USER"):
    ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)  # from the next exec on, a superuser may not write everywhere
    os.execve(sys.executable, sys.orig_argv, {**os.environ, "PLAIN_USER": "yes"})
from numba.core import event
with warnings.catch_warnings(record=True) as caught, event.install_recorder("numba:compile") as compiled:
    warnings.simplefilter("always")
    import structures as st
    heap = st.MaxHeap({9: 2})
    for key in range(100):
        heap.add(key)
    if "FULL" in os.environ:
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    if "MORE" in os.environ:
        print(list(st.TokenList([1, 2])))
print(len(heap), heap.peek(), len(compiled.buffer) > 0)
for warning in caught:
    print(warning.message)
"""


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="the system does not say who may write")
def test_a_folder_that_was_filled_and_is_read_only(python, tmp_path):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    python(GROWS, **cache)
    folders = [tmp_path / "cache", *(tmp_path / "cache").iterdir()]
    for folder in folders:
        folder.chmod(0o555)
    try:
        assert python(GROWS, **cache).splitlines() == ["100 (9, 3) False"]
        tokens, heap, warning = python(GROWS, MORE="yes", **cache).splitlines()
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert (tokens, heap) == ("[1, 2]", "100 (9, 3) True")
    assert warning.startswith(f"compiled code cannot be kept in {tmp_path}")
    assert "(Permission denied): kernels are compiled again in every process" in warning


def test_a_disk_that_is_full(python, tmp_path):
    """Code that cannot be kept is used nevertheless, and one warning says so."""
    pytest.importorskip("resource")
    tokens, heap, warning = python(GROWS, FULL="yes", MORE="yes", NUMBA_CACHE_DIR=str(tmp_path)).splitlines()
    assert (tokens, heap) == ("[1, 2]", "100 (9, 3) True")
    assert "(File too large): kernels are compiled again in every process" in warning


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="the system does not say who may write")
def test_a_folder_that_others_may_write_to_is_not_used(python, tmp_path):
    """What is there, a pickle, would choose what this process runs."""
    code = """
        import os, warnings
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            import structures
            structures.IntMap({1: 2})
        print(*{str(warning.message) for warning in caught}, sep="\\n")
        print(sum(len(files) for _, _, files in os.walk(os.environ["NUMBA_CACHE_DIR"])) > 0)
    """
    tmp_path.chmod(0o777)
    warned, is_used = python(textwrap.dedent(code), NUMBA_CACHE_DIR=str(tmp_path)).splitlines()
    assert warned.startswith(f"other users can write to {tmp_path}")
    assert warned.endswith("Set NUMBA_CACHE_DIR to a folder that only you can write to.")
    assert is_used == "False"
    tmp_path.chmod(0o1777)  # as /tmp: others can add folders, but not replace this user's
    assert python(textwrap.dedent(code), NUMBA_CACHE_DIR=str(tmp_path)).split() == ["True"]


def test_whom_a_cache_folder_may_belong_to(tmp_path, monkeypatch):
    folder, source = tmp_path / "cache", tmp_path / "module.py"
    folder.mkdir(mode=0o755)
    source.touch()
    is_trusted = lambda: not others_may_write.__wrapped__(str(folder), str(source))  # noqa: E731
    assert is_trusted()
    folder.chmod(0o777)
    assert not is_trusted()
    folder.chmod(0o775)
    assert is_trusted()
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert is_trusted()  # the files belong to who owns the sources
    if os.geteuid() == 0:
        os.chown(folder, 54321, -1)
        assert not is_trusted()


def test_two_processes_compile_the_same_at_once(python, tmp_path):
    code = """
        from structures.hash_tables import int_map_table as int_map
        from structures.tokens import token_list_kernels as token_list
        n = int_map.buckets_for(100, 8)
        slots = int_map.empty_slots(n, 8)
        int_map.occupy(slots, ~int_map.locate(slots, 5, 8), 5, 7, 8)
        print(n, int_map.entries(slots, 1), token_list.cell(1, 2, 3), end=" ")
        print("found", sum(int_map.entries.stats.cache_hits.values()))
    """
    started = [python.start(textwrap.dedent(code), NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2)]
    results = [python.finish(process).partition("found")[0] for process in started]
    assert results == ["64 (array([5]), array([7])) 4294967307 "] * 2
    assert python(textwrap.dedent(code), NUMBA_CACHE_DIR=str(tmp_path)).endswith("found 1\n")


WRITER = """
import sys
from numba import types
from cached import plus

for n in range(1, 9):  # arguments that no other process compiles for
    plus.compile((types.UniTuple(types.int64, int(sys.argv[1]) * 10 + n),))
"""


def test_two_processes_add_to_one_index(tmp_path):
    """Nothing that one of them adds is lost."""
    (tmp_path / "cached.py").write_text(
        "from structures import kernel\n@kernel\ndef plus(x):\n    return x\n"
    )
    path = os.pathsep.join([str(tmp_path), str(Path(st.__file__).parent.parent)])
    environment = {**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    writers = [Child([sys.executable, "-c", WRITER, str(number)], env=environment) for number in range(4)]
    assert [writer.wait() for writer in writers] == [0] * 4
    (index,) = (tmp_path / "cache").rglob("*.plus-*.nbi")
    with index.open("rb") as file:
        pickle.load(file)  # the release of numba
        _, entries = pickle.loads(file.read())
    assert len(entries) == len(set(entries.values())) == 32


def test_writers_wait_for_their_turn(tmp_path):
    order = []

    def write():
        with turn_to_write(str(tmp_path)):
            order.append("second")

    thread = threading.Thread(target=write)
    with turn_to_write(str(tmp_path)):
        thread.start()
        time.sleep(0.1)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_a_turn_that_does_not_end(tmp_path, monkeypatch):
    """A process that is suspended while it writes, or whose fork lives on, keeps nobody waiting for long."""
    monkeypatch.setattr(cache, "LONGEST_WAIT", 0.1)
    with turn_to_write(str(tmp_path)):
        started = time.monotonic()
        with turn_to_write(str(tmp_path)):
            assert time.monotonic() - started >= 0.1


def test_a_file_with_other_code_is_not_used(python, tmp_path):
    """Two processes that write at the same time may give their files the same name."""
    code = """
        from numba import njit
        from structures import IntMap
        get = njit(lambda container: container.keys())
        for container in (IntMap({5: 2, 3: 1}), IntMap({8: 1, 7: 2}, dtype=float)):
            print(*get(container), *container._kernels.keys(container), end=" ")
    """

    def run():
        return python(textwrap.dedent(code), NUMBA_CACHE_DIR=str(tmp_path))

    assert run() == "3 5 3 5 7 8 7 8 "
    # For each of two types there is code for Python, and code for compiled callers.
    files = sorted(tmp_path.rglob("mapping._keys-*.nbc"))
    contents = [file.read_bytes() for file in files]
    assert len(set(contents)) == 4
    for n_places in (1, 2, 3):
        for file, content in zip(files, contents[n_places:] + contents[:n_places], strict=True):
            file.write_bytes(content)
        assert run() == "3 5 3 5 7 8 7 8 "
    assert run() == "3 5 3 5 7 8 7 8 "


def test_inner_code_is_read_as_it_was_written(python, tmp_path):
    """Translated before it is linked in it would be slow: intrinsics have become what they stand for."""
    code = """
        from numba import njit
        from structures import MaxHeap
        from structures.priority_queues.tournament_layout import settle
        njit(lambda h: h.{verb})(MaxHeap({{1: 2, 3: 4}}))
        (overload,) = settle.overloads.values()
        code = overload.library.get_llvm_str()
        print(len(settle.stats.cache_hits), "@llvm.vector.reduce.smin" in code)
    """
    for verb, result in {"pop()": "0 True", "set(1, 1)": "1 True"}.items():
        assert python(textwrap.dedent(code).format(verb=verb), NUMBA_CACHE_DIR=str(tmp_path)) == f"{result}\n"


def test_inner_kernels_serve_callers_of_later_processes(python, tmp_path):
    """What was compiled for one caller, and never for Python, serves the next, and Python after all."""
    code = """
        from numba import njit
        from structures import MaxHeap
        from structures.hash_tables import int_map_table
        from structures.priority_queues import tournament_kernels
        heap = MaxHeap()
        {use}
        print(*heap.peek(), sum(tournament_kernels._set_sum.stats.cache_hits.values()))
    """
    results = {
        "heap.add(7)": "7 1 0",
        "heap.add(7), heap.add_many([7, 8], [1, 5])": "8 5 1",
        "njit(lambda h: h.add(7, 2) + h.sub(7))(heap)": "7 1 1",  # sub calls what add called
        "heap[3] = int_map_table.buckets_for(100, 8)": "3 64 0",
        "heap[4] = int_map_table.buckets_for(100, 8)": "4 64 0",
    }
    for use, result in results.items():
        assert python(textwrap.dedent(code).format(use=use), NUMBA_CACHE_DIR=str(tmp_path)) == f"{result}\n"
