"""Kernels that take containers are Python, too: a few seconds of tests without the compiler.

The programs of the gallery run there, too, and under the switch for checks, as the documentation advises.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
CONTRACT = "tests/structures/test_contract.py"
EXAMPLES = [  # whose docstrings are run
    str(path.relative_to(ROOT))
    for path in sorted(ROOT.glob("tests/examples/*.py"))
    if not path.stem.startswith("test_") and path.stem != "conftest"
]


def passed(paths, options, **switch):
    """Run tests in a process of their own; fail if one does not pass, or is skipped."""
    command = [sys.executable, "-m", "pytest", *paths, "-q", "-p", "no:cacheprovider", *options]
    environment = {**os.environ, **switch, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr
    assert " passed" in run.stdout
    assert "skipped" not in run.stdout


def test_the_gallery_under_checks(tmp_path):
    tests = ("top_k", "sliding_median", "re_pair", "event_simulation", "lru_cache", "lfu_cache")
    paths = [*EXAMPLES, *(f"tests/examples/test_{name}.py" for name in tests)]
    passed(paths, ["-k", "not novel"], NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path))


def test_without_jit():
    options = ["-k", "not (growth_across_powers or dijkstra_like_traffic)"]  # long, and like the programs
    # Products of hashes overflow, and numpy's scalars say so.
    options += ["-W", "ignore:overflow encountered:RuntimeWarning"]
    # So do sums of infinities.
    options += ["-W", "ignore:invalid value encountered:RuntimeWarning"]
    passed(["tests/without_jit", CONTRACT, *EXAMPLES], options, NUMBA_DISABLE_JIT="1")
