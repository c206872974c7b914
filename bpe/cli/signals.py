"""Ctrl-C, heard wherever it comes: noted, raised, and raised again where Python could not raise it."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_SOON = 0.01  # seconds


@contextmanager
def hearing_interrupts(heard: list[int]) -> Iterator[None]:
    """Note every Ctrl-C in a list, and raise KeyboardInterrupt.

    Where Python cannot raise, such as in a callback of the garbage collector, it would print a traceback and
    go on. There it is raised once more, a moment later.
    """
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not is_default or threading.current_thread() is not threading.main_thread():
        yield
        return

    def hear(number: int, frame: object) -> None:
        heard.append(number)
        raise KeyboardInterrupt

    def raise_again(lost: Any) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            timer = threading.Timer(_SOON, _thread.interrupt_main)
            timer.daemon = True
            timer.start()
        else:
            report(lost)

    report, sys.unraisablehook = sys.unraisablehook, raise_again
    try:
        signal.signal(signal.SIGINT, hear)
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.unraisablehook = report
