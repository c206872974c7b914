"""Packages that only some tests require: where one is missing, the test names the group that has it."""

import importlib
from types import ModuleType

import pytest

GROUPS = {
    "dask": "cluster",
    "distributed": "cluster",
    "matplotlib": "bench",
    "playwright": "browser",
    "pyarrow": "formats",
    "sphinx": "docs",
    "yaml": "bench",
    "zstandard": "formats",
}


def reason(name: str) -> str:
    return f"requires {name}: pip install --group {GROUPS.get(name.partition('.')[0], 'oracles')}"


def required(name: str, minversion: str | None = None) -> ModuleType:
    """Import a package; skip the test, or the module that is imported, where it is missing."""
    return pytest.importorskip(name, minversion, reason=reason(name))


class Missing(ModuleType):
    """Skips the test that comes to use the package."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        pytest.skip(reason(self.__name__), allow_module_level=True)


def optional(name: str) -> ModuleType:
    """Import a package that not all tests of a module require."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return Missing(name)
