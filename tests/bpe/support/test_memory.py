"""Memory that is kept while some work runs, in an environment that says it must not be."""

import os
import platform
import subprocess
import sys

import pytest

from bpe.support import memory

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a setting of glibc")

FAULTS = """
import resource, sys
from bpe.support.memory import free_memory_kept

def block():
    return bytearray(b"x") * (1 << 20)

def faults():
    def now():
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    block()
    before = now()
    for _ in range(100):
        block()
    return now() - before

found = [faults()]
with free_memory_kept():
    with free_memory_kept():
        found.append(faults())
    found.append(faults())
print(*found, faults())
"""


def faults(**environment):
    """Return how many pages are new, of 25,600: before, inside twice, inside once, and after."""
    command = [sys.executable, "-c", FAULTS]
    environment = {**os.environ, **environment}
    return [
        *map(int, subprocess.run(command, env=environment, capture_output=True, check=True).stdout.split())
    ]


def test_blocks_are_kept_where_the_environment_says_no():
    before, *inside, after = faults(MALLOC_TRIM_THRESHOLD_="65536")
    assert min(before, after) > 20_000
    assert max(inside) < 2_000


def test_nothing_is_changed_without_the_setting(monkeypatch):
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    changed = []
    monkeypatch.setattr(memory, "_set_limits", lambda *given: changed.append(given))
    for value in (None, "", "many", "-1"):
        if value is not None:
            monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", value)
        with memory.free_memory_kept():
            pass
    assert changed == []


def test_limits_hold_again_after_an_error(monkeypatch):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    seen = []

    def fail():
        with memory.free_memory_kept():
            seen.append(memory._n_open)
            raise InterruptedError

    with pytest.raises(InterruptedError):
        fail()
    assert [*seen, memory._n_open] == [1, 0]
