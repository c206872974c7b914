"""Kernels that run without the compiler."""

from numba import config

# Without the compiler these tests are started by one of the others.
collect_ignore_glob = [] if config.DISABLE_JIT else ["*.py"]
