"""Work in threads, with results that do not depend on how many there are."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def n_threads(threads: int | None) -> int:
    """Return how many threads to use.

    Parameters
    ----------
    threads : int, optional
        None stands for the number of processors that this process may use.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        `threads` is below 1.

    Examples
    --------
    >>> n_threads(3)
    3
    """
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    return threads


def map_in_threads(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int | None
) -> Iterator[Result]:
    """Map a function over items, only a few of them ahead of the caller.

    Parameters
    ----------
    function : callable
    items : iterable
    threads : int, optional
        As for :func:`n_threads`.

    Yields
    ------
    Result
        In the order of the items.

    Raises
    ------
    ValueError
        `threads` is below 1.
    Exception
        The first error that the function raises, in the order of the items.

    Complexity
    ----------
    That of the calls, divided by the number of threads at best.

    Examples
    --------
    >>> list(map_in_threads(abs, [-1, 2], threads=2))
    [1, 2]
    """
    threads = n_threads(threads)
    if threads == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for task in waiting:
                task.cancel()
