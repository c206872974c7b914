"""Signals that come while containers are made: an exception, not a crash."""

import os

import pytest

CODE = """
import signal, time
import numpy as np
from numba import njit
import structures as st

@njit
def made():
    return st.IntMap(), st.MaxHeap()

keys = np.arange(100)
some, heap = st.IntSet(keys), st.MaxHeap({1: 2})
calls = [st.IntMap, made, heap.copy, some.copy, lambda: some | some]
calls.append(lambda: st.SortedMap.from_arrays(keys, keys))
for call in calls:
    call()  # compiled before there are signals
signal.signal(signal.SIGALRM, signal.default_int_handler)  # raises, as Ctrl-C does
n_raised = 0
for call in calls:
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.0005 + 0.0007 * (n_raised % 13) / 13)
            while True:
                call()
        except (KeyboardInterrupt, SystemError):  # a SystemError where numba makes arrays and tuples
            n_raised += 1
signal.setitimer(signal.ITIMER_REAL, 0)
assert n_raised > 100, n_raised
assert sorted(some) == keys.tolist() and heap.copy() == heap
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no such timer")
def test_a_signal_while_a_container_is_made(python):
    python(CODE)
