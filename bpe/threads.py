"""Work in threads, with results that do not depend on how many there are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["map_in_threads", "n_threads"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def n_threads(threads: int | None) -> int:
    """Return how many threads to use.

    Parameters
    ----------
    threads : int, optional
        None stands for as many as there are processors to run on.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        It is below 1.

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
) -> list[Result]:
    """Map a function over items.

    Parameters
    ----------
    function : callable
    items : iterable
    threads : int, optional
        As for :func:`n_threads`.

    Returns
    -------
    list
        In the order of the items.

    Raises
    ------
    ValueError
        There are fewer threads than one.
    Exception
        What the function raises for the first item for which it does.

    Complexity
    ----------
    That of the calls, divided by the number of threads at best.

    Examples
    --------
    >>> map_in_threads(abs, [-1, 2], threads=2)
    [1, 2]
    """
    threads = n_threads(threads)
    if threads == 1:
        return list(map(function, items))
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, items))
