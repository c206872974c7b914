"""The number of random tests, and how tests start another Python.

``FUZZ_DEPTH`` multiplies the examples of the state machines and the seeds of the programs; it is 1
by default.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from numba import config as numba_config

from tests.forks import Child

DEPTH = int(os.environ.get("FUZZ_DEPTH", "1"))
HERE = Path(__file__).parent
MACHINES = settings(deadline=None, max_examples=40 * DEPTH, stateful_step_count=40, print_blob=True)


def pytest_configure(config):
    config.addinivalue_line("markers", "reads_statuses: gets statuses in compiled code, from failures")


def pytest_collection_modifyitems(items):
    raises = pytest.mark.skip(
        reason="under NUMBA_BOUNDSCHECK=1 failures raise: tests/structures/base/test_checks.py"
    )
    for item in items:
        if numba_config.BOUNDSCHECK and item.get_closest_marker("reads_statuses"):
            item.add_marker(raises)
        if HERE in item.path.parents and isinstance(getattr(item.cls, "settings", None), settings):
            item.cls.settings = settings(
                MACHINES, suppress_health_check=item.cls.settings.suppress_health_check
            )


def pytest_generate_tests(metafunc):
    if "rng" in metafunc.fixturenames:
        metafunc.parametrize("rng", range(2 * DEPTH), indirect=True, ids="seed{}".format)


@pytest.fixture
def rng(request):
    return np.random.default_rng(request.param)


class Python:
    """Starts Python with a piece of code and this process's cache of compiled code."""

    def start(self, code, path=HERE.parents[1], **environment):
        environment = {**os.environ, "PYTHONPATH": str(path), **environment}
        command = [sys.executable, "-W", "error", "-c", code]
        return Child(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=path
        )

    def finish(self, process):
        with process:
            output, _ = process.communicate(timeout=540)
        assert process.returncode == 0, output
        return output

    def __call__(self, code, path=HERE.parents[1], **environment):
        return self.finish(self.start(code, path, **environment))


@pytest.fixture(scope="session")
def python():
    return Python()
