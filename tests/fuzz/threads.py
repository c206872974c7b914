"""Functions that run at the same time, and what they do with a container that others change."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

DOCUMENTED = (KeyError, IndexError, ValueError, OverflowError)
"""What a call may raise, whatever the other threads do."""
Note = Callable[[str], object]


def in_threads(works: list[Callable[[], object]]) -> None:
    """Run functions at the same time, each in a thread."""
    barrier = threading.Barrier(len(works))

    def begin(work: Callable[[], object]) -> None:
        barrier.wait()
        work()

    with ThreadPoolExecutor(len(works)) as executor:
        for future in [executor.submit(begin, work) for work in works]:
            future.result()


def copied(container: Any) -> None:
    """Check a copy."""
    copy.copy(container)._check()


def pickled(container: Any) -> None:
    """Check a pickle."""
    pickle.loads(pickle.dumps(container))._check()
