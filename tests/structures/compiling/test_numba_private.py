"""The private names of numba are there and listed; what happens where one is not."""

import ast
import re
from pathlib import Path

import numba
import pytest

import structures as st
from structures.compiling import numba_private
from structures.compiling.numba_private import NAMES, TESTED, check_release

PACKAGES = Path(st.__file__).parents[1]
PUBLIC = {"numba", "numba.extending", "numba.experimental", "numba.typed"}
DOCUMENTED = {
    "numba",
    "numba.core.cgutils",
    "numba.core.errors.TypingError",
    "numba.experimental.structref",
}


def test_names_that_are_not_there():
    for name in (
        "numba.core.caching:NoCache",
        "numba.core.no_module:Cache",
        "numba.core.caching:NoCache._key",
    ):
        assert not numba_private._is_there(name)


def test_a_missing_name_is_an_import_error(monkeypatch):
    monkeypatch.setitem(NAMES, "numba.core.caching:NoCache", "a name that there is not")
    with pytest.raises(ImportError, match=r"lacks numba.core.caching:NoCache: .* tested with numba 0\."):
        check_release()


@pytest.mark.parametrize("release", ["0.61.2", "0.69.0rc1", "1.0.0", "0+unknown"])
def test_a_release_that_was_not_tested_is_a_warning(release, monkeypatch):
    monkeypatch.setattr(numba, "__version__", release)
    with pytest.warns(UserWarning, match=f"with numba {' to '.join(TESTED)}, not with {re.escape(release)}"):
        check_release()


@pytest.mark.parametrize("release", [f"{TESTED[0]}.0", f"{TESTED[1]}.9", numba.__version__])
def test_a_tested_release(release, monkeypatch):
    monkeypatch.setattr(numba, "__version__", release)
    check_release()
    assert all(NAMES.values())


def imported_names(module):
    """Return the names that a module imports, with the modules they are in."""
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_one_module_imports_private_names():
    modules = [module for name in ("structures", "bpe") for module in (PACKAGES / name).rglob("*.py")]
    assert len(modules) > 50
    for module in modules:
        if module.name == "numba_private.py":
            continue
        names = {name for name in imported_names(module) if name.split(".")[0] == "numba"}
        private = {name for name in names - DOCUMENTED if name.rpartition(".")[0] not in PUBLIC}
        assert not private, module
