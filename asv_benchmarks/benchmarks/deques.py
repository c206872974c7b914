"""``Deque`` against a ring by hand, which has room for everything from the start."""

import numba
import numpy as np

from structures import Deque, kernel

from ._common import SIZES, Comparison


@kernel
def greatest_of_windows(numbers, width):
    """Return the greatest number of every window; the deque has the indices of what may come to be it."""
    candidates, greatest = Deque(), np.empty(numbers.size, numbers.dtype)
    for i in range(numbers.size):
        while len(candidates) > 0 and numbers[candidates[-1]] <= numbers[i]:
            candidates.pop()
        candidates.append(i)
        if candidates[0] <= i - width:
            candidates.popleft()
        greatest[i] = numbers[candidates[0]]
    return (greatest,)


@numba.njit(cache=True, nogil=True)
def greatest_of_windows_by_hand(numbers, width):
    room = 1
    while room <= width:
        room *= 2
    ring, start, size = np.empty(room, np.int64), 0, 0
    greatest = np.empty(numbers.size, numbers.dtype)
    for i in range(numbers.size):
        while size > 0 and numbers[ring[(start + size - 1) & (room - 1)]] <= numbers[i]:
            size -= 1
        ring[(start + size) & (room - 1)] = i
        size += 1
        if ring[start] <= i - width:
            start = (start + 1) & (room - 1)
            size -= 1
        greatest[i] = numbers[ring[start]]
    return (greatest,)


class SlidingMaximum(Comparison):
    """The greatest number of every window of a thousand."""

    params = SIZES
    param_names = ("numbers",)

    def prepare(self, n):
        self.numbers = np.random.default_rng(8).normal(size=n)

    def ours(self):
        return greatest_of_windows(self.numbers, 1000)

    def theirs(self):
        return greatest_of_windows_by_hand(self.numbers, 1000)


@kernel
def steps_from(start, side, is_wall):
    """Return how many steps each cell of a square is away, by breadth-first search, -1 for never."""
    steps, queue = np.full(is_wall.size, -1), Deque(np.int32)
    steps[start] = 0
    queue.append(start)
    while len(queue) > 0:
        cell = queue.popleft()
        for other in (cell - side, cell - 1, cell + 1, cell + side):
            if steps[other] < 0 and not is_wall[other]:
                steps[other] = steps[cell] + 1
                queue.append(other)
    return (steps,)


@numba.njit(cache=True, nogil=True)
def steps_from_by_hand(start, side, is_wall):
    steps, queue, first, last = np.full(is_wall.size, -1), np.empty(is_wall.size, np.int32), 0, 1
    steps[start] = 0
    queue[0] = start
    while first < last:
        cell = queue[first]
        first += 1
        for other in (cell - side, cell - 1, cell + 1, cell + side):
            if steps[other] < 0 and not is_wall[other]:
                steps[other] = steps[cell] + 1
                queue[last] = other
                last += 1
    return (steps,)


class BreadthFirst(Comparison):
    """Breadth-first search on a square with walls, against an array with room for every cell."""

    params = SIZES
    param_names = ("cells",)

    def prepare(self, n):
        side = int(n**0.5) + 2
        is_wall = np.random.default_rng(9).random((side, side)) < 0.3
        is_wall[[0, -1]] = is_wall[:, [0, -1]] = True
        is_wall[side // 2, side // 2] = False
        self.grid = side // 2 * (side + 1), side, is_wall.ravel()

    def ours(self):
        return steps_from(*self.grid)

    def theirs(self):
        return steps_from_by_hand(*self.grid)
