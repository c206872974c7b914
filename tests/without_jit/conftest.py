"""Kernels that run without the compiler."""

import pytest
from numba import config
from numba.core import extending
from numba.experimental import structref

from structures.compiling.without_jit import PlainContainer

# Without the compiler these tests are started by one of the others.
collect_ignore_glob = [] if config.DISABLE_JIT else ["*.py"]


def new(intrinsic, struct_type):
    """Do what the intrinsic does that allocates a container."""
    assert intrinsic is structref.new
    return PlainContainer(struct_type)


@pytest.fixture(autouse=True)
def plain_containers(monkeypatch):
    """Give the structures of ``bpe`` to kernels, which use the intrinsic."""
    monkeypatch.setattr(extending._Intrinsic, "__call__", new)
