"""Late kernels: compiled when they are first reached; what becomes of failures and of Ctrl-C on the way."""

import sys
import textwrap
from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit, prange, types

from structures.compiling.dispatchers import dispatcher
from structures.compiling.jit import late


@late
def doubled(numbers, n):
    if n < 0:
        raise ValueError("below 0")
    for i in range(n):
        numbers[i] *= 2
    return n > 0


@late
def unreached(numbers, n):
    return doubled(numbers, n)


@njit
def call(numbers, n):
    return doubled(numbers, n) if n < 100 else unreached(numbers, n)


HERE = sys.modules[__name__]
ARGUMENTS = types.int64[::1], types.int64


def test_compiled_when_it_is_reached():
    numbers = np.arange(3)
    assert [call(numbers, n) for n in (3, 0, -1, np.int8(2))] == [True, False, False, True]
    assert numbers.tolist() == [0, 4, 4]
    assert list(doubled.overloads) == [ARGUMENTS]
    assert not unreached.overloads
    assert doubled(numbers, 1) is True  # from Python
    with pytest.raises(ValueError, match="below 0"):
        doubled(numbers, -1)


@late
def one_more(numbers, i):
    numbers[i] += 1
    return True


@njit(parallel=True)
def one_more_each(numbers):
    for i in prange(numbers.size):
        one_more(numbers, i)


def test_reached_by_threads_that_wait_for_each_other():
    """The thread that called holds the GIL, as the function is not `nogil`, and waits for the others."""
    numbers = np.zeros(64, np.int64)
    one_more_each(numbers)
    assert (numbers == 1).all()


@late
def kept(numbers):
    numbers[0] += 1
    return True


def test_read_from_the_cache(monkeypatch):
    kept.address(ARGUMENTS[:1])
    another = dispatcher(kept.py_func, "late")
    monkeypatch.setattr(HERE, "kept", another)
    numbers = np.zeros(1, np.int64)
    assert njit(lambda numbers: another(numbers))(numbers)
    assert numbers[0] == 1
    assert sum(another.stats.cache_hits.values()) == 1


@late
def fails(numbers):
    numbers[0] += 1
    return True


@late
def is_interrupted(numbers):
    numbers[0] += 1
    return True


def raise_once(monkeypatch, name, error):
    """Let the next search for the address of a kernel fail; return a caller of it."""
    kernel, errors = getattr(HERE, name), [error]

    def address(arguments):
        if errors:
            raise errors.pop()
        return kernel.address(arguments)

    monkeypatch.setattr(HERE, name, SimpleNamespace(address=address))
    return njit(lambda numbers: kernel(numbers))


def test_a_failure_is_false_and_is_told(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda of: told.append(of.exc_value))
    numbers, error = np.zeros(1, np.int64), OSError("no disk")
    call = raise_once(monkeypatch, "fails", error)
    assert (call(numbers), told) == (False, [error])
    assert (call(numbers), numbers[0]) == (True, 1)  # asks again


def test_control_c_waits_for_the_end(monkeypatch):
    numbers = np.zeros(1, np.int64)
    call = raise_once(monkeypatch, "is_interrupted", KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        call(numbers)
    assert numbers[0] == 1


def test_a_first_use_compiles_no_growth(python, tmp_path):
    code = """
        import structures as st
        from structures.hash_tables import int_map_kernels
        m = st.IntMap({1: 2})
        m.add(5)
        print(len(int_map_kernels.resize.overloads))
        m.add_many(range(100), range(100))
        print(len(int_map_kernels.resize.overloads), len(m))
    """
    assert python(textwrap.dedent(code), NUMBA_CACHE_DIR=str(tmp_path)) == "0\n1 100\n"
