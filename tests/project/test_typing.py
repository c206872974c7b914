"""What type checkers make of programs of users: no public name has an unknown type."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import bpe
import bpe.ids
import structures
from tests.optional import required

ROOT = Path(__file__).parents[2]

# What the names are, in a program that mypy --strict accepts.
PROGRAM = """
from collections.abc import Mapping, Set

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
mapping: Mapping[int, float] = map_
known: Set[int] = st.IntSet([1]) | {2}
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


reveal_type(heap)  # MaxHeap[int]
reveal_type(heap.peek())  # tuple[int, int]
reveal_type(heap.pop(default=None))  # tuple[int, int] | None
reveal_type(heap.get(3))  # int
reveal_type(heap.get(3, None))  # int | None
reveal_type(heap.copy())  # MaxHeap[int]
reveal_type(floats.peek())  # tuple[int, float]
reveal_type(of_dtype.pop())  # tuple[int, float]
reveal_type(indexed[2])  # float
reveal_type(pairs.pop())  # tuple[float, int]
reveal_type(ordered.floor(1))  # tuple[float, int]
reveal_type(ordered.floor(0, None))  # tuple[float, int] | None
reveal_type([*ordered.items()])  # list[tuple[float, int]]
reveal_type(map_.pop(1))  # float
reveal_type(deque.popleft())  # int
reveal_type(mapping[1])  # float
reveal_type(st.IntSet(known) & {1})  # IntSet
reveal_type(st.CountBuckets({1: 2}).max_count())  # int
reveal_type(double(3) + half(4))  # int
reveal_type(tok.encode("low"))  # list[int]
reveal_type(tok.truncate("low", 1))  # str
"""

# Of numba, which has no types for checkers; and an object of JSON.
UNKNOWN = re.compile(r"structures\.\w+\.type|bpe\.Audit\.to_json")


def revealed_of(folder, program):
    """Return the line of each type that mypy --strict reveals and the type, and the errors."""
    required("mypy")
    (folder / "program.py").write_text(program, "utf-8")
    (folder / "mypy.ini").write_text("[mypy]\nstrict = True\n", "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-incremental", "program.py"],
        cwd=folder,
        env={**os.environ, "MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("program.py")]
    found = [re.fullmatch(r'program.py:(\d+): note: Revealed type is "(.+)"', line) for line in lines]
    errors = [line for line, match in zip(lines, found, strict=True) if not match]
    return [(int(match[1]) - 1, match[2]) for match in found if match], errors


def test_a_program_of_a_user(tmp_path):
    revealed, errors = revealed_of(tmp_path, PROGRAM)
    assert errors == []
    lines = PROGRAM.splitlines()
    expected = [line.partition("  # ")[2] for line in lines if "reveal_type" in line]
    assert len(expected) == len(revealed) > 20
    for (i, what), wanted in zip(revealed, expected, strict=True):
        assert re.sub(r"structures\.(\w+\.)+", "", what) == wanted, lines[i]


def names_of(module):
    """Yield lines of a program that reveals what every public name of a module is."""
    for name in module.__all__:
        thing = getattr(module, name)
        full = f"{module.__name__}.{name}"
        if not isinstance(thing, type):
            yield f"reveal_type({full})  # {full}"
            continue
        yield f"def {full.replace('.', '_')}(x: {full}) -> None:"
        methods = [each for each in dir(thing) if not each.startswith("_") and hasattr(thing, each)]
        yield from (f"    reveal_type(x.{each})  # {full}.{each}" for each in methods)
        yield "    return"


def test_public_names_have_types(tmp_path):
    """What they return or are is known; parameters may take whatever numpy makes an array of."""
    for package in ("tiktoken", "tokenizers"):  # objects of theirs are returned
        required(package)
    lines = ["import bpe, bpe.ids, structures"]
    for module in (bpe, bpe.ids, structures):
        lines += names_of(module)
    revealed, errors = revealed_of(tmp_path, "\n".join(lines))
    assert errors == []
    names = [lines[i].partition("  # ")[2] for i, _ in revealed]
    assert [line.partition("  # ")[2] for line in lines if "reveal_type" in line] == names
    assert {"structures.MaxHeap.peek", "bpe.train", "bpe.Tokenizer.encode", "bpe.ids.append"} <= {*names}
    unknown = []
    for name, (_, what) in zip(names, revealed, strict=True):
        what = re.sub(
            r"numpy\.(ndarray\[tuple\[Any, \.\.\.\], numpy\.dtype\[Any\]\]|dtype\[Any\])", "array", what
        )
        what = what.replace("AnyStr", "str")
        if what.startswith(("def ", "Overload(")):
            what = what.rpartition(" -> ")[2] if " -> " in what else "None"
        if "Any" in what and not UNKNOWN.fullmatch(name):
            unknown.append(f"{name}: {what}")
    assert unknown == []


def test_signatures_are_shown_in_full():
    """Those of methods that share options, too; ``**special`` says nothing to a user."""
    taking = [bpe.Tokenizer.count, bpe.Tokenizer.encode_files, bpe.ids.append, bpe.ids.chunks]
    for function in taking:
        parameters = inspect.signature(function).parameters
        assert [*parameters][-3:] == ["allowed_special", "disallowed_special", "add_special_tokens"]
        assert "special" not in parameters
    shared, own = (inspect.signature(each).parameters for each in (bpe.Tokenizer.count, bpe.Tokenizer.encode))
    assert [shared[name] for name in [*shared][-3:]] == [own[name] for name in [*own][-3:]]
    for module in (bpe, bpe.ids, structures):
        for name in module.__all__:
            thing = getattr(module, name)
            functions = [thing, *vars(thing).values()] if isinstance(thing, type) else [thing]
            for function in filter(inspect.isfunction, functions):
                kinds = {each.kind for each in inspect.signature(function).parameters.values()}
                assert function.__name__.startswith("_") or inspect.Parameter.VAR_KEYWORD not in kinds, (
                    function
                )
