"""A kind of cases that are wrong, crash, hang or hoard memory: it tests the workers."""

from __future__ import annotations

import faulthandler
import itertools
import random
import time
from collections.abc import Callable

from tests.fuzz.workers import Case


def right() -> None:
    """Do nothing."""


def wrong() -> None:
    """Raise."""
    raise ValueError("wrong")


def crash() -> None:
    """Read where nothing is."""
    faulthandler._sigsegv()  # type: ignore[attr-defined]


def hang() -> None:
    """Never return, or nearly so."""
    time.sleep(1000)


def hoard() -> None:
    """Ask for more memory than there is."""
    bytearray(1 << 40)


_ALL = [right, wrong, crash, hang, hoard]


def run(chance: random.Random, note: Callable[[str], object]) -> None:
    """Misbehave, or do not."""
    note("about to begin")
    chance.choice(_ALL)()


def case_of(function: Callable[[], None]) -> Case:
    """Return the first case that runs a function of this module."""
    for number in itertools.count():
        if random.Random(f"0 {number}").choice(_ALL) is function:
            return Case("misbehaving", 0, number)
    raise AssertionError("unreachable")
