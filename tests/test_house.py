"""The shape of the house: which module imports which, how long modules and functions are, their names."""

import ast
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("structures", "bpe")
SOURCES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
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


def test_no_circle():
    """Whoever reads the modules in the order of their imports never has to go back."""
    left = {module: set(imports) for module, imports in IMPORTS.items()}
    while free := {module for module, imports in left.items() if not imports & left.keys()}:
        left = {module: imports for module, imports in left.items() if module not in free}
    assert not left, {module: sorted(imports & left.keys()) for module, imports in left.items()}


def test_structures_knows_nothing_of_bpe():
    for module, imports in IMPORTS.items():
        assert not module.startswith("structures") or not any(name.startswith("bpe") for name in imports)


def test_bpe_imports_public_names_of_structures_only():
    public = {"structures", "structures.kernels"}
    for module, imports in IMPORTS.items():
        if module.startswith("bpe"):
            assert {name for name in imports if name.startswith("structures")} <= public, module


ROOMS = [  # of structures, from the ground up: a room knows those above it here
    "status",
    "compiling",
    "primitives",
    "base",
    "hash_tables",
    "priority_queues",
    "sorted_maps",
    "neighbours",
    "tokens",
    "kernels",
    "testing",
]


def room_of(module):
    return module.split(".")[1]


def test_rooms_know_those_below_only():
    modules = [module for module in SOURCES if module.startswith("structures.")]
    assert {room_of(module) for module in modules} == set(ROOMS)
    for module in modules:
        known = ROOMS[: ROOMS.index(room_of(module)) + 1]
        imported = [name for name in IMPORTS[module] if name.startswith("structures.")]
        assert [name for name in imported if room_of(name) not in known] == [], module


def test_rooms_are_small():
    """Whoever opens one sees all that is in it."""
    n_modules = Counter(map(room_of, (module for module in SOURCES if module.startswith("structures."))))
    assert [room for room, n in n_modules.items() if n > 15] == []


def test_formats_do_not_know_the_tokenizer():
    for module, imports in IMPORTS.items():
        if module.startswith("bpe.formats"):
            assert "bpe.tokenizer" not in imports, module


@pytest.mark.parametrize("package", PACKAGES)
def test_no_two_modules_of_one_name(package):
    names = [
        module.rpartition(".")[2]
        for module in SOURCES
        if module.startswith(f"{package}.") and not module.endswith("__main__")
    ]
    assert [name for name, n in Counter(names).items() if n > 1] == []


@pytest.mark.parametrize("module", SOURCES)
def test_modules_and_functions_are_short(module):
    source = SOURCES[module].read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 520
    for node in ast.walk(TREES[module]):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            docstring = node.body[0] if ast.get_docstring(node) else None
            n_lines = node.end_lineno - node.lineno + 1
            n_lines -= docstring.end_lineno - docstring.lineno + 1 if docstring else 0
            assert n_lines <= 60, node.name
            given = node.args.posonlyargs + node.args.args
            if node.name.startswith("_") and node.name != "__init__":
                given += node.args.kwonlyargs  # whoever calls a public function names its options
            assert len(given) <= 8 or is_command(node), node.name


def is_command(node):
    """Whether a function is of the command line: its parameters are the options of a command."""
    return any("command" in ast.unparse(each) for each in node.decorator_list)
