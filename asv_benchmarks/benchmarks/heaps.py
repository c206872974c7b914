"""``Heap`` against a ``heapq`` of tuples inside ``@njit``: pairs of priority and payload, without keys."""

import heapq

import numba
import numpy as np

from structures import Heap, kernel

from ._common import SIZES, SMALL, Comparison

LARGE = SIZES if SMALL else (*SIZES, 1_000_000)


@kernel
def push_pop(heap, priorities, payloads):
    """Push everything, pop everything; return it in the order of popping."""
    out_priorities, out_payloads = np.empty_like(priorities), np.empty_like(payloads)
    for i in range(priorities.size):
        heap.push(priorities[i], payloads[i])
    for i in range(priorities.size):
        out_priorities[i], out_payloads[i] = heap.pop()
    return out_priorities, out_payloads


@numba.njit(cache=True, nogil=True)
def push_pop_heapq(priorities, payloads):
    out_priorities, out_payloads = np.empty_like(priorities), np.empty_like(payloads)
    heap = [(priorities[0], payloads[0]) for _ in range(0)]
    for i in range(priorities.size):
        heapq.heappush(heap, (priorities[i], payloads[i]))
    for i in range(priorities.size):
        out_priorities[i], out_payloads[i] = heapq.heappop(heap)
    return out_priorities, out_payloads


class HeapPushPop(Comparison):
    """Push everything, then pop everything."""

    params = (LARGE, ("int64", "float64"), ("random", "ascending", "descending", "tied"))
    param_names = ("entries", "dtype", "priorities")

    def prepare(self, n, dtype, kind):
        rng = np.random.default_rng(6)
        priorities = {
            "random": rng.integers(0, 2**40, n),
            "ascending": np.arange(n),
            "descending": np.arange(n)[::-1],
            "tied": rng.integers(0, 50, n),
        }[kind]
        self.pairs = priorities.astype(dtype), rng.permutation(n)
        self.dtype = dtype

    def ours(self):
        return push_pop(Heap(self.dtype), *self.pairs)

    def theirs(self):
        return push_pop_heapq(*self.pairs)


@kernel
def simulate(heap, times, delays):
    """Take the next event and plan another one after it, again and again; return the events."""
    events = np.empty(delays.size, np.int64)
    for i in range(times.size):
        heap.push(times[i], i)
    for i in range(delays.size):
        time, events[i] = heap.peek()
        heap.replace(time + delays[i], times.size + i)
    return (events,)


@numba.njit(cache=True, nogil=True)
def simulate_heapq(times, delays):
    events = np.empty(delays.size, np.int64)
    heap = [(times[0], 0) for _ in range(0)]
    for i in range(times.size):
        heapq.heappush(heap, (times[i], i))
    for i in range(delays.size):
        time, events[i] = heap[0]
        heapq.heapreplace(heap, (time + delays[i], times.size + i))
    return (events,)


class HeapEvents(Comparison):
    """The queue of a simulation: ten events that come and go for each that is planned."""

    params = SIZES
    param_names = ("planned",)

    def prepare(self, n):
        rng = np.random.default_rng(7)
        self.times = rng.random(n), rng.exponential(1.0, 10 * n)

    def ours(self):
        return simulate(Heap(float), *self.times)

    def theirs(self):
        return simulate_heapq(*self.times)
