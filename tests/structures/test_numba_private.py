"""The private names of numba are there; without any of them containers work all the same."""

import ast
import os
import textwrap
from pathlib import Path

import numba
import pytest

import structures as st
from structures.compiling import numba_private
from structures.compiling.numba_private import NAMES, TESTED

PACKAGES = Path(st.__file__).parents[1]
PUBLIC = {"numba", "numba.extending", "numba.experimental", "numba.typed"}
DOCUMENTED = {
    "numba",
    "numba.core.cgutils",
    "numba.core.errors.TypingError",
    "numba.experimental.structref",
}


@pytest.mark.parametrize("name", NAMES)
def test_the_name_is_there(name):
    assert numba_private._is_there(name)
    assert NAMES[name]


def test_a_name_that_is_not_there():
    for name in (
        "numba.core.caching:NoCache",
        "numba.core.no_module:Cache",
        "numba.core.caching:NoCache._key",
    ):
        assert not numba_private._is_there(name)


def test_this_release_is_tested():
    assert numba_private.ALL_THERE
    assert f"numba {' to '.join(TESTED)}." in (PACKAGES / "docs/structures/compiled.rst").read_text()


@pytest.mark.parametrize("release", ["0.61.2", "0.69.0rc1", "1.0.0", "0+unknown"])
def test_releases_out_of_the_tested_range(release, monkeypatch):
    monkeypatch.setattr(numba, "__version__", release)
    assert numba_private._problem() == "is not one of the tested releases, 0.62 to 0.68"


def test_releases_in_the_tested_range(monkeypatch):
    for release in ("0.62.0", "0.65.1rc1", "0.68.9"):
        monkeypatch.setattr(numba, "__version__", release)
        assert numba_private._problem() == ""


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


USER = """
    import structures as st
    from numba import njit

    @njit(cache=True)
    def use(table, heap):
        table.add(5, 2)
        table[6] = table[5] + 1
        heap.add(7)
        heap.add(8, n=3)
        return len(table), table[6], 9 in table, heap.pop(), bool(heap)
"""
WITHOUT = """
    import importlib, os, sys, traceback, warnings
    from pkgutil import resolve_name
    from types import ModuleType, SimpleNamespace
    import numba, numba.experimental.structref, numpy
    from numba import types

    sys.path.append({packages!r})
    NAMES = {names}

    def take_away(name):
        # Return a function that puts the name back.
        owner_name, _, attribute = name.replace(":", ".").rpartition(".")
        owner = resolve_name(owner_name)
        if isinstance(owner, (ModuleType, types.Type)):
            value = getattr(owner, attribute)
            delattr(owner, attribute)
            return lambda: setattr(owner, attribute, value)
        module_name, _, class_name = owner_name.rpartition(".")
        others = [other.rpartition(".")[2] for other in NAMES if other != name]
        setattr(resolve_name(module_name), class_name, SimpleNamespace(**dict.fromkeys(others)))
        return lambda: setattr(resolve_name(module_name), class_name, owner)

    def check(name):
        put_back = take_away(name)
        messages = []

        def show(message, *_):
            put_back()  # numba itself needs the name
            messages.append(str(message))

        warnings.showwarning = show
        warnings.simplefilter("always")
        import structures as st
        assert all(hasattr(st, each) for each in st.__all__)  # that imports them
        assert "structures.compiling.dispatchers" not in sys.modules
        if name == NAMES[0]:
            use_containers(st)
        assert len(messages) == 1 and f"lacks {{name}}" in messages[0], messages

    def use_containers(st):
        from user import use
        assert use(st.IntMap(), st.MaxHeap()) == (2, 3, False, (8, 3), True)
        table, heap = st.IntMap({{1: 2}}), st.MaxHeap({{1: 2}})
        table.add(numpy.uint8(3))
        heap.add(3, 5)
        assert (table[3], heap.peek()) == (1, (3, 5))

    for name in NAMES[{part}::2]:
        child = os.fork()
        if child == 0:
            try:
                check(name)
            except BaseException:
                traceback.print_exc()
                print("without", name, flush=True)
                os._exit(1)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0, name
    print("all work")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("part", range(2))
def test_containers_work_without_any_of_the_names(part, python, tmp_path):
    """One process for each name, forked where numba is loaded: the import warns once and takes the plain way.

    From there all is the same, whatever the name is: containers are used without the first of them.
    """
    (tmp_path / "user.py").write_text(textwrap.dedent(USER))
    code = textwrap.dedent(WITHOUT).format(names=list(NAMES), part=part, packages=str(PACKAGES))
    assert python(code, tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache")) == "all work\n"
