"""``asv_benchmarks/what_users_try.py`` runs on a few rows; the page that it wrote has all of them."""

import importlib.util
import os
import re
import signal
from pathlib import Path

import pytest

import bpe

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "bpe" / "tried.rst"
pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX signals and limits")


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location(
        "what_users_try", ROOT / "asv_benchmarks" / "what_users_try.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_few_rows(script, tmp_path, monkeypatch):
    rows = [
        script.Trial("a variable that is not set", 'bpe count short.txt --pattern "$PATTERN" -o c'),
        script.Trial("a file that does not fit", "bpe count short.txt -o c", limit=50),
        script.Trial("Ctrl-C", "bpe train - --vocab-size 300 -o new.json", signal.SIGINT),
    ]
    monkeypatch.setattr(script, "TRIALS", {"Few": rows})
    plain = bpe.Tokenizer(token_bytes=[bytes([value]) for value in range(256)], merges=[], pattern="gpt2")
    monkeypatch.setattr(bpe, "train", lambda *_, **__: plain)  # these rows need none that is trained
    script.main(["-o", str(tmp_path / "page.rst")])
    page = (tmp_path / "page.rst").read_text("utf-8")
    assert re.search(r"Few\n---\n\n\.\. list-table::\n", page)
    assert re.search(r"Invalid value for '--pattern': it is empty", page)
    assert re.search(r"bpe: c: File too large, after 50 of [\d,]+ bytes\n +\[exit code 2\]", page)
    assert re.search(r"bpe: interrupted: .*\n +\[exit code 130\]", page)
    assert str(tmp_path) not in page


def test_the_page_has_all_rows(script):
    page = PAGE.read_text("utf-8")
    assert re.findall(r"^(.+)\n-+$", page, re.MULTILINE) == [*script.TRIALS]
    for trials in script.TRIALS.values():
        for trial in trials:
            assert f"   * - {trial.what}\n\n       .. code-block:: none\n\n          {trial.line}" in page
    assert "Traceback" not in page
