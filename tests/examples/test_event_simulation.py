# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT

import heapq

import event_simulation
import numpy as np
import pytest
from event_simulation import FAILS, IS_DONE
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

TIMES = st.lists(st.integers(1, 6).map(float), min_size=1, max_size=9)


def with_heapq(up_times, repair_times, n_machines, n_repairers, end):
    """Do the same with ``heapq``, in Python or compiled."""
    events = [(up_times[machine % len(up_times)], 2 * machine + FAILS) for machine in range(n_machines)]
    heapq.heapify(events)
    down_since, standstill = np.full(n_machines, -1.0), np.zeros(n_machines)
    waiting, n_waited = np.empty(n_machines, np.int64), 0  # a ring: a machine waits in one place at most
    n_failures, n_starts = 0, n_machines
    while len(events) > 0 and events[0][0] <= end:
        now, event = heapq.heappop(events)
        machine = event >> 1
        if event & 1 == IS_DONE:
            standstill[machine] += now - down_since[machine]
            down_since[machine] = -1.0
            n_repairers += 1
            up_time = up_times[n_starts % len(up_times)]
            n_starts += 1
            heapq.heappush(events, (now + up_time, 2 * machine + FAILS))
        else:
            down_since[machine] = now
            waiting[n_failures % n_machines] = machine
            n_failures += 1
        if n_repairers > 0 and n_waited < n_failures:
            n_repairers -= 1
            repair_time = repair_times[n_waited % len(repair_times)]
            heapq.heappush(events, (now + repair_time, 2 * waiting[n_waited % n_machines] + IS_DONE))
            n_waited += 1
    for machine in range(n_machines):
        if down_since[machine] >= 0:
            standstill[machine] += end - down_since[machine]
    return n_failures, standstill


with_heapq_in_numba = njit(cache=True)(with_heapq)


@given(TIMES, TIMES, st.integers(1, 12), st.integers(0, 3), st.integers(0, 60))
def test_as_with_heapq(up_times, repair_times, n_machines, n_repairers, end):
    ours = event_simulation.simulate(up_times, repair_times, n_machines, n_repairers, end)
    n_failures, standstill = with_heapq(up_times, repair_times, n_machines, n_repairers, end)
    assert (ours[0], ours[1].tolist()) == (n_failures, standstill.tolist())


def test_many_machines():
    rng = np.random.default_rng(0)
    up_times, repair_times = rng.exponential(size=(2, 1000))
    given = up_times, repair_times / 300, 500, 2, 20.0
    n_failures, standstill = event_simulation.simulate(*given)
    others = with_heapq_in_numba(*given)
    assert n_failures == others[0] > 5000
    assert np.allclose(standstill, others[1])


def test_times_are_checked():
    for up_times, repair_times in (([], [1]), ([1], []), ([0], [1]), ([1], [np.nan])):
        with pytest.raises(ValueError, match="above 0"):
            event_simulation.simulate(up_times, repair_times, 1, 1, 1)
