"""What the packages built on containers may use: the public names, each of which is explained."""

import ast
import inspect
from itertools import pairwise
from pathlib import Path

import pytest

import structures
from structures import kernels

ROOT = Path(__file__).parents[2]
ALLOWED = {"structures": structures.__all__, "structures.kernels": kernels.__all__}


def imports_of(source):
    """Yield (module, name) of what a module imports; the name of a whole module is None."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((name.name, None) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module, name.name) for name in node.names)


def is_private(module, name):
    return module.partition(".")[0] == "structures" and name not in ALLOWED.get(module, ())


def test_bpe_uses_public_names_only():
    sources = sorted((ROOT / "bpe").rglob("*.py"))
    assert len(sources) > 50
    private = [
        (str(source.relative_to(ROOT)), module, name)
        for source in sources
        for module, name in imports_of(source.read_text("utf-8"))
        if is_private(module, name)
    ]
    assert private == []


@pytest.mark.parametrize(
    "line",
    [
        "import structures.compiling.jit",
        "import structures",  # its attributes would need a look too
        "from structures import jit",
        "from structures.compiling.jit import kernel",
        "from structures.kernels import KernelType",
    ],
)
def test_private_imports_are_found(line):
    assert [is_private(*imported) for imported in imports_of(line)] == [True]


def documented_constants(module):
    """Return the names of a module that are assigned and then explained by a string."""
    body = ast.parse(inspect.getsource(module)).body
    return {
        target.id
        for node, following in pairwise(body)
        if isinstance(node, ast.Assign) and isinstance(following, ast.Expr)
        for target in node.targets
    }


@pytest.mark.parametrize("name", kernels.__all__)
def test_every_name_is_explained(name):
    value = getattr(kernels, name)
    if isinstance(value, int):
        primitives = structures.primitives
        modules = primitives.byte_lanes, primitives.memory, primitives.simd
        assert any(name in documented_constants(module) for module in modules)
    else:
        assert inspect.getdoc(getattr(value, "py_func", value)), name


def test_names_are_sorted_and_there():
    assert sorted(kernels.__all__) == sorted(set(kernels.__all__))
    assert all(hasattr(kernels, name) for name in kernels.__all__)
