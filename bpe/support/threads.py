"""Work in threads, with results that do not depend on their number.

Python handles Ctrl-C between two steps of the main thread, and a kernel is one step. While the main thread
waits for another one, it handles Ctrl-C at once. The other thread continues to the end of its kernel: what it
works on is not used any more, or the next use waits for it.

The last part has decorators of attributes that are computed at their first use, by any thread.
"""

from __future__ import annotations

import gc
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from bpe.support.integers import as_integer

Item = TypeVar("Item")
Result = TypeVar("Result")


def n_threads(threads: int | None) -> int:
    """Return how many threads to use; None stands for the processors that this process may use."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    number = as_integer(threads, "threads")
    if number < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    return number


class _ThreadPool(Executor):
    """Threads; without any, and where none can start because Python exits, the caller does the work."""

    def __init__(self, threads: int) -> None:
        self._pool: Executor | None = None
        if threads:
            with suppress(RuntimeError):  # of the import, where Python exits
                from concurrent.futures import ThreadPoolExecutor

                self._pool = ThreadPoolExecutor(threads)

    def submit(self, function: Callable[..., Result], /, *arguments: Any, **options: Any) -> Future[Result]:
        try:
            if self._pool is not None:
                return self._pool.submit(function, *arguments, **options)
        except RuntimeError as error:
            if "interpreter shutdown" not in str(error):
                raise
        done: Future[Result] = Future()
        try:
            done.set_result(function(*arguments, **options))
        except Exception as error:
            done.set_exception(error)
        return done

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait, cancel_futures=cancel_futures)


@contextmanager
def thread_pool(threads: int) -> Iterator[Executor]:
    """Open a pool of threads; an interrupt does not wait for what they are doing."""
    pool = _ThreadPool(threads)
    try:
        yield pool
    except (Exception, GeneratorExit):
        pool.shutdown(cancel_futures=True)
        raise
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def in_background(function: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function that may take long; an interrupt abandons it and does not wait."""
    if threading.current_thread() is not threading.main_thread():
        return function(*arguments)
    with thread_pool(1) as pool:
        return pool.submit(function, *arguments).result()


class Uninterrupted:
    """A call of a function whose changes are used later: an interrupt leaves it complete, or not begun."""

    def __init__(self, function: Callable[..., object], *arguments: Any) -> None:
        self._call = partial(function, *arguments)
        self._lock = threading.Lock()  # held while the function runs
        self._is_canceled = False
        self._error: BaseException | None = None

    def __call__(self) -> None:
        """Call the function, on any thread."""
        with self._lock:
            if self._is_canceled:
                return
            try:
                self._call()
            except BaseException as error:
                self._error = error
                raise

    def finish(self) -> None:
        """Wait until the function has ended, and raise its error; if it has not begun, it never will."""
        self._is_canceled = True
        with self._lock:
            pass
        if self._error is not None:
            raise self._error


def map_in_threads(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int | None
) -> Iterator[Result]:
    """Map a function over items, in their order, a few of them ahead of the caller."""
    threads = n_threads(threads)
    if threads == 1:
        yield from map(function, items)
        return
    with thread_pool(threads) as pool:
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


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause the garbage collector, which would search many new objects for cycles again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


# ---------------------------------------------------------------------------------------- at first use
class _MadeLazily:  # used as a decorator, like property
    """A property that is computed at its first use, and an ordinary attribute from then on.

    There is no lock: two threads may both compute the value, and either will do.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function, self._name = function, function.__name__
        self.__doc__ = function.__doc__

    def __get__(self, instance: object | None, owner: type) -> Any:
        if instance is None:
            return self
        return instance.__dict__.setdefault(self._name, self._function(instance))


class _MadeUnderLock(_MadeLazily):
    """The same under a lock, for what takes long: it is computed once, and other threads wait for it."""

    def __get__(self, instance: object | None, owner: type) -> Any:
        with _making:
            if instance is not None and self._name in vars(instance):
                return vars(instance)[self._name]
            return super().__get__(instance, owner)


_making = threading.RLock()  # held while an attribute is computed


def _replace_lock() -> None:
    """Replace the lock in a forked process, where the thread that holds it may not exist."""
    global _making
    _making = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_replace_lock)

if TYPE_CHECKING:
    from functools import cached_property

    made_lazily = made_under_lock = cached_property
else:
    made_lazily, made_under_lock = _MadeLazily, _MadeUnderLock
