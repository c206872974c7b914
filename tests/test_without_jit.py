"""Kernels that take containers are Python, too: a few seconds of tests without the compiler."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
CONTRACT = "tests/structures/test_contract.py"


def test_without_jit():
    command = [sys.executable, "-m", "pytest", "tests/without_jit", CONTRACT, "-q", "-p", "no:cacheprovider"]
    command += ["-k", "not (growth_across_powers or dijkstra_like_traffic)"]  # long, and like the programs
    # Products of hashes overflow, and numpy's scalars say so.
    command += ["-W", "ignore:overflow encountered:RuntimeWarning"]
    # So do sums of infinities.
    command += ["-W", "ignore:invalid value encountered:RuntimeWarning"]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)}
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr
    assert " passed" in run.stdout
    assert "skipped" not in run.stdout
