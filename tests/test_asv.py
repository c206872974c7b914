"""Every benchmark is run once, at a tiny size, so that none rots."""

import argparse
import ast
import importlib
import importlib.util
import inspect
import itertools
import math
import os
import pickle
import pkgutil
import shutil
import subprocess
import sys
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

import bpe
import bpe.hf
import bpe.ids
import bpe.reference
import structures.kernels

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
        modules = [importlib.import_module(f"benchmarks.{name}") for name in names]
        package._common.compiled.__exit__(None, None, None)  # their process would end here; this one goes on
        return modules


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


def test_every_benchmark_has_a_version():
    """It is written down; ``_common.py`` says why."""
    for benchmark in BENCHMARKS:
        suite, name = benchmark.values
        version = getattr(getattr(suite, name), "version", getattr(suite, "version", None))
        assert isinstance(version, str), benchmark.id


PUBLIC = {
    module.__name__: {*module.__all__}
    for module in (bpe, bpe.hf, bpe.ids, bpe.reference, structures, structures.kernels)
}


SCRIPTS = sorted([*FOLDER.glob("*.py"), *FOLDER.glob("benchmarks/*.py")])


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_benchmarks_import_public_names(path):
    """So that they run with any commit, and a move of a module does not touch them."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            modules = {name.name for name in node.names if name.name.split(".")[0] in ("bpe", "structures")}
            assert modules <= PUBLIC.keys()
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("bpe", "structures"):
            names = {name.name for name in node.names}
            assert node.module in PUBLIC
            assert names <= PUBLIC[node.module] | {name.rpartition(".")[2] for name in PUBLIC}


def test_compiled_code_is_measured_or_nothing(monkeypatch):
    """Commits have the public name, the one of before, or no plain Python yet; else it is an error."""
    common = importlib.import_module("benchmarks._common")
    there = {"bpe.plain_splitting", "bpe.scanning"}
    monkeypatch.setattr(common, "find_spec", lambda name: name in there)
    monkeypatch.setattr(
        common, "import_module", lambda name: SimpleNamespace(everything_compiled=lambda: name)
    )
    monkeypatch.setattr(bpe, "everything_compiled", lambda: "bpe", raising=False)
    assert common.everything_compiled() == "bpe"
    monkeypatch.setattr(common, "bpe", SimpleNamespace())
    assert common.everything_compiled() == "bpe.plain_splitting"
    there.remove("bpe.plain_splitting")
    assert isinstance(common.everything_compiled(), nullcontext)
    there.clear()
    with pytest.raises(ImportError, match="everything_compiled is missing"):
        common.everything_compiled()


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
    with (tmp_path / "structures" / "primitives" / "hashing.py").open("a") as file:
        file.write("\n")
    assert cache_of(tmp_path, given) != before


@pytest.fixture
def slower():
    spec = importlib.util.spec_from_file_location("slower", FOLDER / "slower.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Answers:
    """Stands in for the process of a commit: gives one figure after another."""

    def __init__(self, figures, names=()):
        self.figures, self.names, self.n_starts = iter(figures), list(names), 0

    def ask(self, wanted):
        return self.names if wanted is None else next(self.figures)

    def start(self):
        self.n_starts += 1

    def stop(self):
        pass


def test_slower_takes_the_least_times(slower):
    commits = [Answers([3.0, 1.0, *[2.0] * 100]), Answers([9.0, 9.0, 1.2, *[7.0] * 100])]
    assert slower.compare("a", commits, factor=1.25, seconds=0) == (1.0, 1.2, False)


def test_slower_looks_again_in_new_processes(slower):
    once = [Answers(itertools.repeat(1.0)), Answers([2.0] * slower.LEAST_ROUNDS + [1.0] * 100)]
    assert slower.compare("a", once, factor=1.25, seconds=0) == (1.0, 1.0, False)
    always = [Answers(itertools.repeat(1.0)), Answers(itertools.repeat(1.5))]
    assert slower.compare("a", always, factor=1.25, seconds=0) == (1.0, 1.5, True)
    assert [commit.n_starts for commit in always] == [slower.LOOKS - 1] * 2


def test_slower_and_what_fails(slower, capsys):
    def code_of(base, changed):
        commits = [Answers(itertools.repeat(base)), Answers(itertools.repeat(changed), ["a.b"])]
        return slower.report(commits, argparse.Namespace(bench="", factor=1.25, seconds=0))

    assert code_of(1.0, 1.0) == 0
    assert "\n0 of 1 are slower\ngeometric mean of 1: 1.000 times as fast\n" in capsys.readouterr().out
    assert code_of(0.98, 1.0) == 0
    assert code_of(0.97, 1.0) == 1
    assert code_of(1.0, {"error": "ValueError: no"}) == 1
    assert "ValueError: no  a.b  SLOWER" in capsys.readouterr().out
    assert code_of({"error": "TypeError: new"}, 1.0) == 2
    assert code_of({"error": "TypeError: new"}, {"error": "TypeError: both"}) == 2


@pytest.fixture
def shared_cache():
    """Let the processes of benchmarks find what the tests have compiled: the sources are the same."""
    folder = importlib.import_module("benchmarks").cache_folder()
    if "NUMBA_CACHE_DIR" in os.environ and not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.symlink_to(folder.parent, target_is_directory=True)


@pytest.mark.usefixtures("shared_cache")
def test_slower_with_real_processes(slower, monkeypatch):
    """A process for the sources of a commit, here those that are being tested."""
    monkeypatch.setenv("BENCHMARK_SMALL", "1")
    commit = slower.Commit(ROOT)
    try:
        names = commit.ask(None)
        kept = [name for name in names if not slower.LEFT_OUT.search(name)]
        assert {"memory.BytesPerKey.track_bytes_per_key-0", "training.Merging.time_merges-0"} <= set(kept)
        assert not any(name.startswith("sources") for name in kept)
        assert 0 < commit.ask("training.Merging.time_merges-0") < 60
        assert 10 < commit.ask("memory.BytesPerKey.track_bytes_per_key-0") < 200
        assert "error" in commit.ask("training.Merging.time_nothing-0")
        commit.process.kill()
        commit.process.wait()
        assert "died" in commit.ask("training.Merging.time_merges-0")["error"]
        assert commit.ask("training.Merging.time_merges-0") > 0
    finally:
        commit.stop()


def test_slower_takes_commits_out_of_git(slower, tmp_path, monkeypatch, capfd):
    def git(*arguments):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init", "--quiet")
    for text in ("one", "two"):
        (tmp_path / "file").write_text(text)
        git("add", "file")
        git("commit", "--quiet", "--message", text)
    monkeypatch.setattr(slower, "FOLDER", tmp_path / "asv_benchmarks")
    for _ in range(2):  # made, and found again
        assert (slower.sources_of("HEAD~1") / "file").read_text() == "one"
    assert (slower.sources_of("HEAD") / "file").read_text() == "two"
    assert slower.main(["HEAD~1", "no-such-branch"]) == 2
    assert "fatal" in capfd.readouterr().err


def test_slower_refuses_a_factor_that_everything_passes(slower, capsys):
    with pytest.raises(SystemExit):
        slower.main(["--factor", "1"])
    assert "more than 1" in capsys.readouterr().err
