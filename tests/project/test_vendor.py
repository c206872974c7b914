"""The page about copies of the package: its commands make one, which works without the original."""

import os
import re
import shutil
import subprocess
import sys

from tests.project.test_pages import ROOT, blocks_of

BLOCKS = dict(blocks_of("structures/vendor.rst"))


def test_a_copy(tmp_path):
    shutil.copytree(
        ROOT / "structures", tmp_path / "structures", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(ROOT / "LICENSE", tmp_path)
    subprocess.run(["sh", "-ec", BLOCKS["sh"]], cwd=tmp_path, check=True)
    shutil.rmtree(tmp_path / "structures")
    check = "import sys; print('structures' in sys.modules, 'bpe' in sys.modules)\n"
    (tmp_path / "use.py").write_text(BLOCKS["python"] + check)
    done = subprocess.run(
        [sys.executable, "use.py"],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
    )
    stated = re.findall(r"\)  # (.+)", BLOCKS["python"])
    assert done.stdout.splitlines() == [*stated, "False False"], done.stderr
