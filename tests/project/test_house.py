"""The shape of the house: which module imports which."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("structures", "bpe")
SOURCES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
}

# The folders and modules directly under each package: a room imports only those before it.
ROOMS = {
    "structures": [
        "status",
        "compiling",
        "primitives",
        "base",
        "hash_tables",
        "priority_queues",
        "sorted_maps",
        "neighbors",
        "tokens",
        "disjoint_sets",
        "deques",
        "first_use",
        "kernels",
        "testing",
    ],
    "bpe": [
        "support",
        "splitting",
        "vocabulary",
        "reference",
        "corpus",
        "encoding",
        "counting",
        "pipeline",
        "training",
        "formats",
        "id_files",
        "auditing",
        "superwords",
        "surgery",
        "tokenizer",
        "tiktoken_encoding",
        "ids",
        "hf",
        "trainer",
        "first_use",
        "report",
        "cli",
        "__main__",
    ],
}
TREES = {module: ast.parse(path.read_text(encoding="utf-8")) for module, path in SOURCES.items()}


def is_for_types(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def statements(tree):
    """Yield all statements that run, those in functions, too."""
    for node in ast.iter_child_nodes(tree):
        if not is_for_types(node):
            yield node
            yield from statements(node)


def imports_of(module):
    """Return the modules of ours that a module imports, at its top or in a function."""
    found = set()
    for node in statements(TREES[module]):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = module.split(".")
                is_package = SOURCES[module].name == "__init__.py"
                kept = parts[: len(parts) - node.level + is_package]
                base = ".".join([*kept, base] if base else kept)
            inside = {f"{base}.{name.name}" for name in node.names} & SOURCES.keys()
            found |= inside or {base}
    return {name for name in found if name in SOURCES and name != module}


IMPORTS = {module: imports_of(module) for module in SOURCES}


@pytest.mark.parametrize("module", SOURCES)
def test_rooms_import_those_before_them(module):
    package, _, rest = module.partition(".")
    if not rest:
        return  # the package itself, which has the public names
    rooms = ROOMS[package]
    before = {package, *rooms[: rooms.index(room_of(module)) + 1]}
    wrong = [name for name in IMPORTS[module] if name.startswith(package) and room_of(name) not in before]
    assert wrong == []


def room_of(module):
    package, _, rest = module.partition(".")
    return rest.split(".")[0] or package


def test_every_room_is_listed():
    for package, rooms in ROOMS.items():
        assert {room_of(module) for module in SOURCES if module.startswith(f"{package}.")} == set(rooms)


def test_no_circle():
    """Whoever reads the modules in the order of their imports never has to go back."""
    left = {module: set(imports) for module, imports in IMPORTS.items()}
    while free := {module for module, imports in left.items() if not imports & left.keys()}:
        left = {module: imports for module, imports in left.items() if module not in free}
    assert not left, {module: sorted(imports & left.keys()) for module, imports in left.items()}


def test_the_package_itself_is_for_users():
    """Public names are imported from the modules that have them; the command line is a user."""
    users = [module for module, imports in IMPORTS.items() if "bpe" in imports]
    assert [module for module in users if room_of(module) not in ("cli", "__main__")] == []


def test_structures_knows_nothing_of_bpe():
    for module, imports in IMPORTS.items():
        assert not module.startswith("structures") or not any(name.startswith("bpe") for name in imports)


def test_bpe_imports_public_names_of_structures_only():
    public = {"structures", "structures.kernels"}
    for module, imports in IMPORTS.items():
        if module.startswith("bpe"):
            assert {name for name in imports if name.startswith("structures")} <= public, module


def test_importing_the_tests_compiles_nothing(tmp_path):
    """Every process of the tests imports all of them, and would compile the same."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "pytest", "--all", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert [*tmp_path.rglob("*.nbc")] == []
