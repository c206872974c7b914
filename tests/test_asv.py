"""Every benchmark is run once, at a tiny size, so that none rots."""

import importlib
import importlib.util
import inspect
import itertools
import math
import os
import pickle
import pkgutil
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "asv_benchmarks"
KINDS = ("time_", "timeraw_", "track_", "peakmem_", "mem_")
HOOKS = {"setup", "setup_cache", "teardown"}


def load_modules():
    importlib.import_module("structures")  # loads numba: the benchmarks then leave the choice of its cache be
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCHMARK_SMALL", "1")
        patch.delenv("BPE_CORPORA", raising=False)
        patch.syspath_prepend(FOLDER)
        package = importlib.import_module("benchmarks")
        names = [module.name for module in pkgutil.iter_modules(package.__path__)]
        return [importlib.import_module(f"benchmarks.{name}") for name in names]


def is_suite(value):
    return inspect.isclass(value) and not inspect.isabstract(value)


MODULES = load_modules()
SUITES = [
    value
    for module in MODULES
    for name, value in vars(module).items()
    if is_suite(value) and value.__module__ == module.__name__ and not name.startswith("_")
]
BENCHMARKS = [
    pytest.param(suite, name, id=f"{suite.__module__}.{suite.__name__}.{name}")
    for suite in SUITES
    for name, _ in inspect.getmembers(suite, inspect.isfunction)
    if name.startswith(KINDS)
]


@cache
def cached(suite):
    """Return what ``setup_cache`` made, as another process gets it, in a tuple; else an empty one."""
    if not hasattr(suite, "setup_cache"):
        return ()
    made = pickle.loads(pickle.dumps(suite().setup_cache()))
    return () if made is None else (made,)


def combinations(suite):
    params = getattr(suite, "params", [])
    if params and not isinstance(params[0], (list, tuple)):
        params = [params]
    assert len(params) == len(getattr(suite, "param_names", []))
    return list(itertools.product(*params))


@pytest.mark.parametrize(("suite", "name"), BENCHMARKS)
def test_runs(suite, name):
    for params in combinations(suite):
        arguments = (*cached(suite), *params)
        benchmark = suite()
        getattr(benchmark, "setup", lambda *_: None)(*arguments)
        result = getattr(benchmark, name)(*arguments)
        if name.startswith("track_"):
            assert math.isfinite(result)
            assert getattr(suite, name).unit
        elif name.startswith("timeraw_"):
            subprocess.run([sys.executable, "-c", result], cwd=ROOT, check=True)
        getattr(benchmark, "teardown", lambda *_: None)(*arguments)


def test_no_suite_is_left_out():
    assert len(MODULES) > 1
    for suite in SUITES:
        assert any(name.startswith(KINDS) for name in dir(suite)), suite
    for module in MODULES:
        stray = [name for name, value in vars(module).items() if inspect.isfunction(value)]
        assert not [name for name in stray if name.startswith(KINDS)], "run those too"


def cache_of(folder, given):
    """Return the cache that the benchmarks choose below `given` for the packages in `folder`."""
    code = "import os, sys, benchmarks; print('numba' in sys.modules, os.environ['NUMBA_CACHE_DIR'])"
    paths = os.pathsep.join([str(folder), str(FOLDER)])
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths, "NUMBA_CACHE_DIR": str(given)},
        check=True,
        capture_output=True,
        text=True,
    )
    is_late, chosen = run.stdout.strip().split(" ", 1)
    assert is_late == "False", "numba has read the variable before it was set"
    return Path(chosen)


def test_other_sources_have_another_cache(tmp_path):
    for package in ("structures", "bpe"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    given = tmp_path / "given"
    before = cache_of(tmp_path, given)
    assert before.parent == given
    assert cache_of(tmp_path, given) == before
    with (tmp_path / "structures" / "hashing.py").open("a") as file:
        file.write("\n")
    assert cache_of(tmp_path, given) != before


@pytest.fixture
def slower():
    spec = importlib.util.spec_from_file_location("slower", FOLDER / "slower.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("code", [0, 1])
def test_slower_asks_asv(slower, code, monkeypatch):
    commands = []

    def run(command, **options):
        commands.append(command[2:])
        return subprocess.CompletedProcess(command, code if "continuous" in command else 0)

    monkeypatch.setattr(slower.subprocess, "run", run)
    assert slower.main(["--bench", "training", "main", "topic", "--quick"]) == code
    assert commands[0] == ["asv", "machine", "--yes"]
    expected = "asv continuous --interleave-rounds --factor 1.15 --bench training --quick main topic"
    assert commands[1] == expected.split()


def test_slower_leaves_the_digests_out(slower):
    assert not re.search(slower.ALL_BUT_DIGESTS, "sources.Sources.track_digest('bpe')")
    assert re.search(slower.ALL_BUT_DIGESTS, "training.Merging.time_merges")


def test_slower_refuses_a_factor_that_everything_passes(slower, capsys):
    with pytest.raises(SystemExit):
        slower.main(["--factor", "1"])
    assert "more than 1" in capsys.readouterr().err
