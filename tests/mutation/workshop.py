"""A scratch copy of the project, where mutants are tested one after the other.

Nearly all the time goes into compiling, so that as little as possible is compiled. In the copy the digest of
the sources is a constant; otherwise every kernel would be compiled again after any change. Instead, a mutant
gets a copy of the cache without what was compiled from its module, or from one that imports it, directly or
not. The whole copy, if nothing in its module is compiled.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterator
from functools import cached_property
from pathlib import Path

from tests.mutation.mutants import Mutant
from tests.mutation.targets import Target

ROOT = Path(__file__).parents[2]
LIST_FILES = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
NOT_COPIED = "tests/mutation/"
FROZEN = """

def package_digest(package):
    return f"mutation-{config.BOUNDSCHECK}"


DIGEST = package_digest("")
"""
COMPILED = re.compile(rb"^@(kernel|quiet|inner|method|njit)\b", re.MULTILINE)
PYTEST = ("-x", "-q", "-p", "no:cacheprovider", "-o", "faulthandler_exit_on_timeout=true")
WITHOUT_JIT = {"NUMBA_DISABLE_JIT": "1"}
# Products of hashes overflow, and numpy's scalars say so where no compiler is.
OVERFLOWS = ("-W", "ignore:overflow encountered:RuntimeWarning")
MEMORY = 8 << 30  # bytes a mutant may have
SECONDS_A_PLAIN_TEST = 30  # nothing is compiled there
SECONDS_A_TEST = 120  # more than any takes, its compilation included


class Workshop:
    """A scratch copy of the project with a cache of its compiled code.

    Parameters
    ----------
    folder : Path
        Is kept, so that the next run finds everything compiled.
    """

    def __init__(self, folder: Path) -> None:
        self.tree, self.cache, self.mutant_cache = folder / "tree", folder / "cache", folder / "mutant-cache"
        self.log = folder / "log.txt"
        self._ready = folder / "ready"
        self._ready.mkdir(parents=True, exist_ok=True)
        self._limits: dict[tuple[str, ...], float] = {}
        self._n_mutants = 0
        self._copy_project()

    # ------------------------------------------------------------------------------------------- the copy
    def _copy_project(self) -> None:
        listed = subprocess.run(LIST_FILES, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        names = [name for name in listed.split("\0") if name and not name.startswith(NOT_COPIED)]
        wanted = {Path(name): ROOT / name for name in names if (ROOT / name).is_file()}
        changed = {path for path, source in wanted.items() if self._write(path, _frozen(source.read_bytes()))}
        for there in list(self.tree.rglob("*.py")):
            if there.relative_to(self.tree) not in wanted:
                there.unlink()
        self._forget(self.cache, {_module(path) for path in changed if path.suffix == ".py"})

    def _write(self, path: Path, content: bytes) -> bool:
        """Write a file of the tree if it has another content; return whether it had."""
        path = self.tree / path
        if path.exists() and path.read_bytes() == content:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return True

    @cached_property
    def _digest(self) -> str:
        """Of all that the tests of the unchanged tree depend on."""
        files = sorted(self.tree.rglob("*.py"))
        return hashlib.sha256(b"".join(str(file).encode() + file.read_bytes() for file in files)).hexdigest()

    @cached_property
    def _imports(self) -> dict[str, set[str]]:
        """For every module the names of those that it imports."""
        paths = {_module(path.relative_to(self.tree)): path for path in self.tree.rglob("*.py")}
        return {name: _imported(path.read_bytes(), paths.keys()) for name, path in paths.items()}

    def _forget(self, cache: Path, modules: set[str]) -> None:
        """Remove what was compiled from some modules, or from any that import them, directly or not."""
        stale = new = modules
        while new:
            new = {name for name, imported in self._imports.items() if imported & new} - stale
            stale = stale | new
        files = {name.rpartition(".")[2] for name in stale}
        for path in cache.rglob("*.nb*"):
            if path.name.partition(".")[0] in files:
                path.unlink()

    # -------------------------------------------------------------------------------------------- running
    def _run(
        self, tests: tuple[str, ...], plain: bool, cache: Path, limit: float
    ) -> tuple[int | None, float]:
        """Return the exit code of pytest, None at a hang, and the seconds it took."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.tree),
            "PYTHONHASHSEED": "0",
            "HYPOTHESIS_PROFILE": "mutation",
            "NUMBA_CACHE_DIR": str(cache),
            **(WITHOUT_JIT if plain else {}),
            **({} if cache == self.cache else {"PYTHONDONTWRITEBYTECODE": "1"}),
        }
        seconds = SECONDS_A_PLAIN_TEST if plain else SECONDS_A_TEST
        options = [*PYTEST, "-o", f"faulthandler_timeout={seconds}", *(OVERFLOWS if plain else ())]
        start = time.perf_counter()
        with open(self.log, "wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "pytest", *options, *tests],
                cwd=self.tree,
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_limit_memory,
            )
            try:
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                _kill_group(process)
        if code and b"\nTimeout (" in self.log.read_bytes()[-100_000:]:
            code = None
        return code, time.perf_counter() - start

    def _limit(self, tests: tuple[str, ...], plain: bool) -> float:
        """Return how many seconds these tests may take; before that, run them without a mutant.

        Raises
        ------
        RuntimeError
            They fail without a mutant.
        """
        key = hashlib.sha256(repr((self._digest, tests, plain)).encode()).hexdigest()[:16]
        note = self._ready / key
        if not note.exists():
            code, seconds = self._run(tests, plain, self.cache, 3600)
            if code != 0:
                raise RuntimeError(f"without a mutant, {' '.join(tests)} failed:\n{self.log.read_text()}")
            note.write_text(str(seconds))
        return 120 + 4 * float(note.read_text())

    def verdict(
        self, mutant: Mutant, target: Target, stages: tuple[str, ...] = ("plain", "focused", "wide")
    ) -> tuple[str, str, float]:
        """Test a mutant.

        Parameters
        ----------
        mutant : Mutant
        target : Target
        stages : tuple of str
            Those tests of the target that are run, in this order.

        Returns
        -------
        verdict : {"caught", "hung", "survived"}
        stage : str
            Of the last tests that were run.
        seconds : float
        """
        stages = tuple(stage for stage in stages if getattr(target, stage))
        total = 0.0
        for stage in stages:
            tests, plain = getattr(target, stage), stage == "plain"
            limit = self._limit(tests, plain)
            with self._changed(mutant):
                code, seconds = self._run(tests, plain, self.mutant_cache, limit)
            total += seconds
            if code != 0:
                return "hung" if code is None else "caught", stage, total
        return "survived", stages[-1], total

    @contextlib.contextmanager
    def _changed(self, mutant: Mutant) -> Iterator[None]:
        """Put a mutant in the place of its module."""
        path = self.tree / mutant.path
        source, times = path.read_bytes(), path.stat()
        self._renew_cache(mutant)
        self._n_mutants += 1
        try:
            path.write_bytes(mutant.apply(source))
            os.utime(path, (times.st_mtime, times.st_mtime + self._n_mutants))  # no stamp is seen twice
            yield
        finally:
            path.write_bytes(source)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def _renew_cache(self, mutant: Mutant) -> None:
        """Copy the cache, as links, without what the mutant has to compile."""
        shutil.rmtree(self.mutant_cache, ignore_errors=True)
        self.cache.mkdir(exist_ok=True)
        shutil.copytree(self.cache, self.mutant_cache, copy_function=os.link)
        if COMPILED.search((self.tree / mutant.path).read_bytes()):
            self._forget(self.mutant_cache, {_module(Path(mutant.path))})


def _frozen(source: bytes) -> bytes:
    """Return a source text; the one that computes the digest of the sources has a constant in its place."""
    return source + FROZEN.encode() if b"\ndef package_digest(" in source else source


def _module(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def _imported(source: bytes, modules: Collection[str]) -> set[str]:
    """Return which of the modules a source text imports, anywhere."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= inside & set(modules)
            if not inside <= set(modules):
                names.add(node.module)
    return names


def _limit_memory() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_AS)  # tests that limit themselves lift it again
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, most))


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
