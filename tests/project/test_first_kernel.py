"""The tutorial on kernels: its file runs, and its commands end as the page says."""

import os
import re
import subprocess
import sys

import pytest

from tests import test_readme
from tests.project.test_pages import ROOT, blocks_of

BLOCKS = blocks_of("structures/first_kernel.rst")
PYTHON = [block for language, block in BLOCKS if language == "python"]
COMMANDS = [block.splitlines() for language, block in BLOCKS if language == "console"]


def test_python(tmp_path, monkeypatch):
    """Readers add the blocks to one file, so that numba finds the source of the kernels."""
    source, path = "".join(PYTHON), tmp_path / "basket.py"
    path.write_text(source)
    assert test_readme.run(source, path) == len(re.findall(r"  # [\d\[]", source))


@pytest.mark.parametrize("lines", COMMANDS, ids=lambda lines: lines[0].partition(" python")[0])
def test_commands(lines, tmp_path):
    (tmp_path / "basket.py").write_text(PYTHON[0])
    settings, _, program = lines[0].removeprefix("$ ").partition("python ")
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, program],
        cwd=tmp_path,
        env={
            **os.environ,
            **dict(setting.split("=") for setting in settings.split()),
            "PYTHONPATH": paths,
        },
        capture_output=True,
        text=True,
    )
    said = [line for line in lines[1:] if line]
    assert (done.stdout + done.stderr).splitlines()[-1] == said[-1]
    assert done.returncode == int(said[0].startswith("Traceback"))
