"""Containers without the compiler: their kernels are Python. Mutants are tested that way first."""

from pathlib import Path


def test_without_jit(python):
    arguments = [str(Path(__file__).parent / "without_jit"), "-q", "-p", "no:cacheprovider"]
    # Products of hashes overflow, and numpy's scalars say so.
    arguments += ["-W", "ignore:overflow encountered:RuntimeWarning"]
    output = python(f"import sys, pytest; sys.exit(pytest.main({arguments!r}))", NUMBA_DISABLE_JIT="1")
    assert " passed" in output
    assert "skipped" not in output
