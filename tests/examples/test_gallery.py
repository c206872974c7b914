# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT

"""Every program is found: it has a license, a test, and a place in the gallery where it can be downloaded."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
PAGE = FOLDER.parents[1].joinpath("docs", "structures", "gallery.rst").read_text("utf-8")
HELPERS = {"conftest", "re_pair_reference"}
PROGRAMS = sorted(
    path for path in FOLDER.glob("*.py") if not path.stem.startswith("test_") and path.stem not in HELPERS
)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_is_found(path):
    assert path.read_text("utf-8").splitlines()[1] == "# SPDX-License-Identifier: MIT"
    assert path.with_name(f"test_{path.name}").exists()
    assert f".. literalinclude:: ../../tests/examples/{path.name}" in PAGE
    assert f":download:`{path.name} <../../tests/examples/{path.name}>`" in PAGE
