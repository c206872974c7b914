# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT
"""Machines that fail and are repaired: a simulation by events, with a ``Heap`` of what happens next.

What it shows: an event makes further events. The heap has the next event of each machine that works or is
being repaired, least time first; the payload says which machine, and what happens to it. Machines that wait
for a repairer stand in a ``Deque``. Of two events at one time, that of the machine with the smaller number is
first, so that every run gives the same. ::

    works --(fails)--> waits in the deque --(a repairer is free)--> is repaired --(is done)--> works

Complexity: O(log n) an event for n machines.

Timing: ``python asv_benchmarks/examples_table.py event_simulation``.
"""

import numpy as np
from numba import njit

from structures import Deque, Heap

FAILS, IS_DONE = 0, 1


@njit(cache=True)
def run(up_times, repair_times, n_repairers, end, events, waiting, standstill):
    """Fill `standstill`, ``(n_machines,)``, which is all zero; return how many failures there were."""
    n_machines = standstill.size
    is_down = np.zeros(n_machines, np.bool_)
    n_failures = n_repairs = 0
    n_starts = n_machines
    for machine in range(n_machines):
        events.push(up_times[machine % up_times.size], 2 * machine + FAILS)
    while len(events) > 0 and events.peek()[0] <= end:
        now, event = events.pop()
        machine = event >> 1
        if event & 1 == IS_DONE:
            is_down[machine] = False
            standstill[machine] += now
            n_repairers += 1
            up_time = up_times[n_starts % up_times.size]
            n_starts += 1
            events.push(now + up_time, 2 * machine + FAILS)
        else:
            is_down[machine] = True
            standstill[machine] -= now
            n_failures += 1
            waiting.append(machine)
        if n_repairers > 0 and len(waiting) > 0:
            n_repairers -= 1
            repair_time = repair_times[n_repairs % repair_times.size]
            n_repairs += 1
            events.push(now + repair_time, 2 * waiting.popleft() + IS_DONE)
    standstill[is_down] += end
    return n_failures


def simulate(up_times, repair_times, n_machines, n_repairers, end):
    """Return how often machines fail before a time, and for how long each stands still.

    Parameters
    ----------
    up_times, repair_times : (n,) and (m,) array_like of float
        How long a machine works until it fails, and how long a repair takes; used one after the other, again
        from the start when all are used.
    n_machines, n_repairers : int
    end : float

    Returns
    -------
    n_failures : int
    standstill : (n_machines,) float64

    Examples
    --------
    >>> n_failures, standstill = simulate([5.0, 6.0, 90.0], [10.0], n_machines=2, n_repairers=1, end=29)
    >>> n_failures, standstill.tolist()  # the second waits until the first is repaired, at 15
    (2, [10.0, 19.0])
    """
    up_times, repair_times = (np.ascontiguousarray(times, np.float64) for times in (up_times, repair_times))
    if not (up_times.size and repair_times.size and np.all(up_times > 0) and np.all(repair_times > 0)):
        raise ValueError("there must be some times, all of them above 0")
    standstill = np.zeros(n_machines)
    n_failures = run(up_times, repair_times, n_repairers, end, Heap(float), Deque(), standstill)
    return n_failures, standstill
