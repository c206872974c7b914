"""The pages of docs/: they build without a warning, nothing public is left out, their examples are tested."""

import doctest
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

import bpe
import structures
from tests.optional import required

ROOT = Path(__file__).parents[2]
required("sphinx")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of the pages; a warning is an error."""
    folder = tmp_path_factory.mktemp("docs")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "docs", str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def shown(built):
    """The names that the pages explain, as other projects' pages would find them."""
    inventory = (built / "objects.inv").read_bytes().split(b"\n", 4)[4]
    return set(re.findall(r"^(\S+) py:\w+ ", zlib.decompress(inventory).decode(), re.MULTILINE))


def public_names():
    """Yield what can be called of the packages' public names, and the members of the classes among it."""
    for package in (structures, bpe, bpe.hf, bpe.ids, importlib.import_module("bpe.reference")):
        for name in package.__all__:
            value = getattr(package, name)
            if inspect.isclass(value):
                yield f"{package.__name__}.{name}"
                yield from (f"{package.__name__}.{name}.{member}" for member in members_of(value))
            elif inspect.isroutine(value):
                yield f"{package.__name__}.{name}"


def members_of(cls):
    """Return the public methods and properties of a class that our packages define, inherited ones too."""
    owners = [owner for owner in cls.__mro__ if owner.__module__.split(".")[0] in ("structures", "bpe")]
    members = {name: value for owner in reversed(owners) for name, value in vars(owner).items()}
    kinds = (classmethod, staticmethod, property)
    return [
        name
        for name, value in members.items()
        if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, kinds))
    ]


def test_everything_public_is_shown(shown):
    ends = {name.rpartition(".")[2] for name in shown}
    missing = [name for name in public_names() if name not in shown]
    # Those of the reference are on the page by the names of their modules.
    assert [name for name in missing if not name.startswith("bpe.reference.")] == []
    assert [name for name in missing if name.rpartition(".")[2] not in ends] == []


def test_every_name_for_kernels_is_on_its_page():
    page = (ROOT / "docs" / "structures" / "kernels.rst").read_text("utf-8")
    assert [name for name in structures.kernels.__all__ if not re.search(rf"\b{name}\b", page)] == []


def test_examples_that_are_shown_are_run(shown):
    """What doctest finds in the modules is all that there is to see."""
    modules = [
        module.name
        for package in (structures, bpe)
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        if not module.name.endswith("__main__")
    ]
    tested = set()
    for module in ["structures", "bpe", *modules]:
        found = doctest.DocTestFinder().find(importlib.import_module(module))
        tested.update(test.docstring for test in found)
    with_examples = {}
    for name in shown:
        value = pkgutil.resolve_name(name) if is_defined(name) else None
        if ">>> " in (value.__doc__ or ""):
            with_examples[name] = value.__doc__
    assert len(with_examples) > 100
    assert [name for name, text in with_examples.items() if text not in tested] == []


def is_defined(name):
    try:
        return pkgutil.resolve_name(name) is not None
    except AttributeError:  # a field of a dataclass
        return False


def test_pages_need_no_network(built):
    pages = sorted(built.rglob("*.html"))
    assert len(pages) > 10
    for page in pages:
        loaded = re.findall(r"<(?:script|link|img|iframe)\b[^>]*", page.read_text("utf-8"))
        assert [tag for tag in loaded if re.search(r"""(?:src|href)=["'](?:https?:)?//""", tag)] == []


PAGES_WITH_EXAMPLES = [path for path in sorted((ROOT / "docs").rglob("*.rst")) if ">>> " in path.read_text()]


@pytest.mark.parametrize("page", PAGES_WITH_EXAMPLES, ids=lambda path: path.stem)
def test_examples_of_pages(page):
    done = doctest.testfile(str(page), module_relative=False)
    assert done.attempted > 0
    assert done.failed == 0
