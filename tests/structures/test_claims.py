"""Threads of Python that share a container: they take turns, and nobody waits for ever."""

import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numba import njit, typed

import structures as st
from structures.base.claims import wait_for_claim
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
    one.add(1, 1), other.add(1, 1)  # nobody holds a claim any more
    assert all("wait for each other" in failure for failure in failures)


def test_a_circle_is_found():
    from structures.base import claims

    here, there = (np.zeros(1, np.int64) for _ in range(2))
    me = threading.get_ident()
    release = threading.Event()

    def wait():
        claims._claim_wanted_by[threading.get_ident()] = here.ctypes.data
        there[0] = threading.get_ident()
        release.wait()
        there[0] = 0
        del claims._claim_wanted_by[threading.get_ident()]

    here[0] = me
    thread = threading.Thread(target=wait)
    thread.start()
    while not there[0]:
        time.sleep(1e-3)
    try:
        with pytest.raises(RuntimeError, match="two threads wait for each other"):
            wait_for_claim(there.ctypes.data)
    finally:
        release.set()
        thread.join()
    wait_for_claim(there.ctypes.data)


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
