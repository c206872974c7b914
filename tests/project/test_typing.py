"""What type checkers make of programs of users: no public name has an unknown type."""

import inspect
import re
import subprocess
import sys

import pytest

import bpe
import bpe.ids
import structures as st
from tests.optional import required

# What the names are, in a program that mypy --strict accepts.
PROGRAM = """
import numpy as np
import bpe
import bpe.ids
import structures as st

heap = st.MaxHeap({1: 2})
floats = st.MinHeap({1: 2.5})
of_dtype = st.MaxHeap(float)
indexed = st.IndexedMinHeap(5, float)
pairs = st.Heap(float)
ordered = st.SortedMap({0.5: 1})
map_ = st.IntMap({1: 2}, dtype=float)
deque = st.Deque()
tok = bpe.train(["low"], 257)


@st.kernel
def double(x: int) -> int:
    return 2 * x


@st.kernel(quiet=True)
def half(x: int) -> int:
    return x // 2


def typed(counts: st.MaxHeap, distances: st.MinHeap[float]) -> None:
    reveal_type(counts.peek()[1])  # int
    reveal_type(distances.peek()[1])  # float


reveal_type(heap)  # structures.MaxHeap[int]
reveal_type(heap.peek())  # tuple[int, int]
reveal_type(heap.pop(default=None))  # tuple[int, int] | None
reveal_type(heap.get(3))  # int
reveal_type(heap.get(3, None))  # int | None
reveal_type(heap.copy())  # structures.MaxHeap[int]
reveal_type(floats.peek())  # tuple[int, float]
reveal_type(of_dtype.pop())  # tuple[int, float]
reveal_type(indexed[2])  # float
reveal_type(pairs.pop())  # tuple[float, int]
reveal_type(ordered.floor(1))  # tuple[float, int]
reveal_type(ordered.floor(0, None))  # tuple[float, int] | None
reveal_type([*ordered.items()])  # list[tuple[float, int]]
reveal_type(map_.pop(1))  # float
reveal_type(deque.popleft())  # int
reveal_type(st.CountBuckets({1: 2}).max_count())  # int
reveal_type(double(3) + half(4))  # int
reveal_type(tok.encode("low"))  # list[int]
reveal_type(tok.truncate("low", 1))  # str
"""

# numba has no types for checkers; a "witness" of the slow algorithms is what was given.
UNKNOWN = {"type"}


def checked(folder, program):
    """Return the types that mypy --strict reveals, in order, and its errors."""
    required("mypy")
    path = folder / "program.py"
    path.write_text(program, "utf-8")
    config = folder / "mypy.ini"
    config.write_text("[mypy]\nstrict = True\n", "utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file", config, "--no-error-summary", path]
    environment = {"MYPYPATH": str(bpe.__path__[0]) + "/..", "PATH": "", "HOME": str(folder)}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)
    lines = [line for line in done.stdout.splitlines() if line.startswith("program.py")]
    revealed = [re.search(r'Revealed type is "(.*)"$', line) for line in lines]
    return [found[1] for found in revealed if found], [
        line for line, found in zip(lines, revealed, strict=True) if not found
    ]


def plain(revealed):
    """Return a type as a program writes it."""
    return re.sub(r"(builtins|structures(\.\w+)+?)\.(?=\w+($|\W))", "", revealed)
