"""Threads that share a container, of Python or of prange: calls use locks, and no thread waits forever."""

import os
import re
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import numpy as np
import pytest
from numba import njit, prange, typed
from numba.core.errors import TypingError

import structures as st
from structures.base.locks import wait_for_lock
from tests.forks import fork_and_run

N_THREADS = 4


def in_threads(function, n=N_THREADS):
    """Run ``function(number)`` in threads that start together."""
    barrier = threading.Barrier(n)

    def run(number):
        barrier.wait()
        return function(number)

    with ThreadPoolExecutor(n) as executor:
        return list(executor.map(run, range(n)))


@pytest.fixture(autouse=True)
def _switch_often():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


# ------------------------------------------------------------------------------------- nothing is damaged
@pytest.mark.parametrize("make", [st.IntMap, st.MaxHeap, st.MinHeap, st.CountBuckets])
def test_additions_of_threads_add_up(make):
    container = make()

    def add(number):
        for i in range(3000):
            container.add(i % 701, 1)
            container.add(number << 40 | i, 2)

    in_threads(add)
    container._check()
    expected = {key: N_THREADS * len(range(key, 3000, 701)) for key in range(701)}
    for number in range(N_THREADS):
        for i in range(3000):
            expected[number << 40 | i] = expected.get(number << 40 | i, 0) + 2
    assert dict(container.items()) == expected


TAKES = [
    *((make, verb, ()) for make in (st.MaxHeap, st.MinHeap, st.CountBuckets) for verb in ("peek", "pop")),
    *((make, "replace", (5, 7)) for make in (st.MaxHeap, st.CountBuckets)),
    *((st.CountBuckets, verb, ()) for verb in ("peek_min", "pop_min", "max_count", "min_count")),
    *((st.SortedMap, verb, ()) for verb in ("peek_min", "peek_max", "pop_min", "pop_max")),
    (st.SortedMap, "select", (0,)),
    *((make, "pop", (5,)) for make in (st.SortedMap, st.IntMap)),
    *((make, verb, (5,)) for make in (st.MinHeap, st.IntMap) for verb in ("__getitem__", "get")),
]


@pytest.mark.parametrize(("make", "verb", "arguments"), TAKES)
def test_what_is_found_is_asked_for_once(make, verb, arguments, monkeypatch):
    """Between two calls, another thread could remove what the first one has seen."""
    container = make({5: 6})
    wanted = getattr(make({5: 6}), verb)(*arguments)

    def refuse(*arguments):
        raise AssertionError("asked first")

    monkeypatch.setattr(make, "__len__", refuse)
    for name in ("_size", "contains"):
        monkeypatch.setattr(container._type.entries, name, refuse)
    assert getattr(container, verb)(*arguments) == wanted


@pytest.mark.parametrize("verb", ["peek", "pop", "replace"])
def test_an_entry_of_a_heap_is_asked_for_once(verb, monkeypatch):
    heap = st.Heap.heapify([3], [7])
    monkeypatch.setattr(st.Heap, "__len__", lambda self: 0)
    assert getattr(heap, verb)(*((4, 8) if verb == "replace" else ())) == (3, 7)


def test_an_element_of_a_deque_is_asked_for_once(monkeypatch):
    deque = st.Deque.from_array([7, 8, 9])
    monkeypatch.setattr(st.Deque, "__len__", lambda self: 0)
    assert (deque[1], deque[-1], deque.pop(), deque.popleft()) == (8, 9, 9, 7)
    deque[0] = 5
    assert deque.to_array().tolist() == [5]


def test_threads_share_out_what_there_is():
    for _ in range(300):
        heap = st.MaxHeap({key: key for key in range(1, 6)})

        def take(_, heap=heap):
            taken = []
            while True:
                try:
                    taken.append(heap.pop())
                except KeyError:
                    return taken

        assert sorted(chain.from_iterable(in_threads(take))) == [(key, key) for key in range(1, 6)]


def test_words_of_threads_add_up():
    counter = st.ByteCounter()

    def add(number):
        for i in range(2000):
            counter.add(b"word number %d" % (i % 301))
            counter.add(b"%d by %d" % (i, number))

    in_threads(add)
    counter._check()
    assert len(counter) == 301 + N_THREADS * 2000
    assert counter[b"word number 7"] == N_THREADS * len(range(7, 2000, 301))


def test_a_list_and_its_index_take_turns_together():
    tokens = st.TokenList(np.tile([1, 2, 3], 3000))
    index = st.PairIndex.build(tokens)

    def work(number):
        for i in range(number, 3000, N_THREADS):
            index.rebuild() if i % 100 == 0 else tokens.merge(3 * i, 9)

    in_threads(work)
    index.rebuild()
    index._check()
    assert index.count(9, 3) == 3000 - 30


def test_two_objects_of_one_container_take_turns():
    containers = typed.List([st.IntMap()])
    objects = [containers[0] for _ in range(N_THREADS)]
    assert objects[0] is not objects[1]

    def add(number):
        for i in range(3000):
            objects[number].add(i, 1)

    in_threads(add)
    objects[0]._check()
    assert {*objects[0].values().tolist()} == {N_THREADS}


# --------------------------------------------------------------------------------------------- who waits
@njit(nogil=True)
def use(container, flags):
    """Say that the call has begun, then use the container until somebody says that it is enough."""
    flags[0] = 1
    while flags[1] == 0:
        container.add(1, 1)
        container.remove(1)
    return len(container)


@njit(nogil=True)
def use_both(one, other, flags):
    flags[0] = 1
    while flags[1] == 0:
        one.add(1, 1)
        other.remove(1)


@njit(nogil=True)
def divide(container, n):
    return len(container) // n


def begun(flags):
    while not flags[0]:
        time.sleep(1e-3)


@pytest.fixture
def used():
    """A container that a call of another thread uses, and the flags that end the call."""
    container, flags = st.IntMap({5: 5}), np.zeros(2, np.int64)
    use(container, np.ones(2, np.int64))  # compiles
    container.add(5, 0)
    with ThreadPoolExecutor(1) as executor:
        call = executor.submit(use, container, flags)
        begun(flags)
        yield container, flags
        flags[1] = 1
        assert call.result() >= 1
    assert container.get(5) >= 5
    container._check()


def test_a_call_waits_for_the_call_of_another_thread(used):
    container, flags = used
    with ThreadPoolExecutor(1) as executor:
        waiting = executor.submit(container.add, 5, 1)
        time.sleep(0.05)
        assert not waiting.done()
        flags[1] = 1
        waiting.result()
    assert container[5] == 6


def test_other_containers_are_free_meanwhile(used):
    other = st.IntMap()
    other.add(5, 1)
    assert other[5] == 1


def test_the_same_thread_may_give_a_container_twice():
    counter = st.ByteCounter({b"a": 2})
    counter.merge(counter)
    assert counter[b"a"] == 4
    assert counter == counter


def test_a_call_that_fails_gives_its_claim_back():
    container = st.IntMap({1: 2**63 - 1})
    with pytest.raises(OverflowError):
        container.add(1, 1)
    with pytest.raises(ZeroDivisionError):
        divide(container, 0)
    assert in_threads(lambda number: container[1], 2) == [2**63 - 1] * 2


def test_calls_that_wait_for_each_other_are_told():
    one, other = st.IntMap(), st.IntMap()
    use_both(one, other, np.ones(2, np.int64))
    flags = np.zeros((2, 2), np.int64)

    failures = []
    for _ in range(200):
        flags[:, 1] = 1

        def call(number):
            pair = (one, other) if number else (other, one)
            for _ in range(200):
                try:
                    use_both(*pair, flags[number])
                except RuntimeError as error:
                    failures.append(str(error))

        in_threads(call, 2)
        if failures:
            break
    one.add(1, 1), other.add(1, 1)  # nobody holds a lock any more
    assert all("wait for each other" in failure for failure in failures)


def test_a_circle_is_found():
    from structures.base import locks

    here, there = (np.zeros(1, np.int64) for _ in range(2))
    me = threading.get_ident()
    release = threading.Event()

    def wait():
        locks._lock_wanted_by[threading.get_ident()] = here.ctypes.data
        there[0] = threading.get_ident()
        release.wait()
        there[0] = 0
        del locks._lock_wanted_by[threading.get_ident()]

    here[0] = me
    thread = threading.Thread(target=wait)
    thread.start()
    while not there[0]:
        time.sleep(1e-3)
    try:
        with pytest.raises(RuntimeError, match="two threads wait for each other"):
            wait_for_lock(there.ctypes.data)
    finally:
        release.set()
        thread.join()
    wait_for_lock(there.ctypes.data)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_fork_in_the_middle_of_a_call(used):
    container, _ = used

    def use():
        with pytest.raises(RuntimeError, match="forked in the middle of a call"):
            container.add(5, 1)
        return 3

    assert fork_and_run(use) == 3


def test_an_interrupt_ends_the_waiting(used):
    container, _ = used
    threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        container.add(5, 1)


# ---------------------------------------------------------------------------------------- loops of prange
def _change_an_item(m, n):
    for i in prange(n):
        m[i] += 1


def _change_by_another_name(m, n):
    for i in prange(n):
        same = m
        if i > 2:
            same.add(i)


def _change_by_a_method_from_outside(m, n):
    add = m.add
    for i in prange(n):
        add(i)


def _change_in_an_inner_loop(m, n):
    for i in prange(n):
        for j in range(i):
            del m[j]


def _change_the_first_of_a_list(m, n):
    parts = typed.List([m])
    for i in prange(n):
        parts[0].add(i)


def _change_in_a_closure(m, n):
    def change(i):
        m.add(i)

    for i in prange(n):
        change(i)


def _change_all_rows(m, n):
    q = st.KBest(3, 2)
    for _ in prange(n):
        q.clear()


@pytest.mark.parametrize(
    ("loop", "named"),
    [
        (_change_an_item, r"IntMap m .* \[key\] = \.\.\."),
        (_change_by_another_name, "IntMap m .* add"),
        (_change_by_a_method_from_outside, "IntMap m .* add"),
        (_change_in_an_inner_loop, r"IntMap m .* del \[key\]"),
        (_change_the_first_of_a_list, "IntMap parts .* add"),
        (_change_in_a_closure, "IntMap m .* add"),
        (_change_all_rows, r"KBest\(float32,int32\) q .* clear"),
    ],
)
def test_a_container_that_iterations_change_is_refused(loop, named):
    with pytest.raises(TypingError) as refused:
        njit(parallel=True)(loop)(st.IntMap(), 10)
    first_line = str(refused.value).splitlines()[0]
    assert re.fullmatch(f"{named}: make one in each iteration, .* after the loop", first_line)
    assert "test_locks.py" in str(refused.value)


def test_what_is_not_parallel_may_change_one():
    for loop in (_change_an_item, _change_by_another_name):
        m = st.IntMap()
        njit(loop)(m, 10)
        assert len(m) > 5


def test_what_iterations_may_do():
    @njit(parallel=True)
    def work(shared, parts, n):
        sums = np.zeros(n, np.int64)
        for i in prange(n):
            own = st.IntMap()
            for key in shared:
                own.add(key, shared[key] + shared.get(i) + (i in shared))
            mine = parts[np.int64(i)]
            mine.add(i)
            parts[np.int64(i)].add(i, 2)
            sums[i] = own[5] + len(shared)
        shared.add(999)
        for _ in range(3):
            shared.add(999)
        return sums

    n = 200
    shared, parts = st.IntMap({5: 2, 7: 3}), typed.List([st.IntMap() for _ in range(n)])
    sums = work(shared, parts, n)
    assert sums.tolist() == [4 + shared.get(i) + (i in (5, 7)) for i in range(n)]
    assert [dict(part.items()) for part in parts] == [{i: 3} for i in range(n)]
    assert shared[999] == 4


def test_containers_that_threads_come_to_unseen(python):
    """Through another function, a list, a structure: calls use locks, and none is lost."""
    code = """if True:
        import numpy as np
        from numba import njit, prange, set_num_threads
        from numba.typed import List
        import structures as st

        @njit
        def add(counts, i):
            counts.add(i % 1500)
            return (i % 1500 in counts) + len(counts)

        @st.kernel(quiet=True)
        def add_borrowed(counts, i):
            counts.add(i % 1500)
            return counts.get(i % 1500)

        @njit
        def put_and_take(heap, i):
            heap[i % 1500] = i
            heap.add(i)
            heap.pop()
            return heap.peek()[1]

        @njit(parallel=True)
        def run(use, counts, parts, n):
            total = 0
            if n > 1:
                for i in prange(n):
                    total += use(counts, i) + use(parts[np.int64(i) % 2], i)
            return total

        n, of_each = 4500, 9
        for make in (st.IntMap, st.MaxHeap):
            for use in (add, add_borrowed, put_and_take):
                if make is st.IntMap and use is put_and_take:
                    continue
                for n_threads in (1, 2, 8):
                    set_num_threads(n_threads)
                    for _ in range(100):
                        counts = make()
                        run(use, counts, List([counts, counts]), n)
                        if use is not put_and_take:
                            assert set(counts.values().tolist()) == {2 * n // 1500}
                    counts._check()
        run(use, counts, List([counts]), 0)
        assert use(counts, 5) > 0
    """
    python(code, NUMBA_NUM_THREADS="8")


def test_every_verb_is_known_to_change_or_not():
    reading = """
        __iter__ ceiling ceiling_count ceiling_many connected contains contains_many copy count counts
        entry equals flag floor floor_count floor_many get get_into get_many higher id_of isdisjoint items
        keys keys_at keys_in labels len lower max_count min_count n_keys n_positions n_segments nbytes
        next nlargest nsmallest pairs peek peek_max peek_min positions posting postings prefetch prev
        range_arrays rank rank_many root row segment segment_at segment_positions select size span
        stale_fraction ties to_array to_arrays token values word worst
    """
    of_rows = {"push", "push_unchecked", "push_many", "set_flag", "sort"}
    for name in st.__all__:
        facade = getattr(st, name)
        if isinstance(facade, type):
            container_type = facade.type()
            verbs = {verb for verb in vars(facade._kernels) if verb[0] != "_" or verb == "__iter__"}
            changing = verbs - set(reading.split()) - (of_rows if container_type.is_of_rows else set())
            assert changing == verbs & set(container_type.changing_verbs), (
                f"{name}: a new verb belongs in changing_verbs of its type, or in `reading` of this test"
            )
