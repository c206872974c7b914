"""The classes of the named patterns, written down as the regex package says: it is not loaded for them."""

import json
import subprocess
import sys

import numpy as np
import pytest

import bpe
from bpe.splitting.compiled import classes
from bpe.splitting.regex_engine import unicode_version

SCRIPT = """
import sys, warnings
warnings.simplefilter("ignore")  # other packages that numba loads may miss it
sys.modules["regex"] = None  # whoever imports it gets an ImportError
import bpe, structures
text = "The sea, the 12 ships' ends.\\n It's été 一二 "
for name in bpe.PATTERNS:
    assert "".join(bpe.Pattern.of(name).split(text)) == text
tok = bpe.train([text], vocab_size=270, pattern="cl100k", special_tokens=["<|end|>"])
assert tok.decode(tok.encode(text + "<|end|>", allowed_special="all")) == text + "<|end|>"
assert tok.encode_batch([text, "of"])[0] == list(tok.encode_iterable([text]))
tok.save(sys.argv[1])
assert bpe.Tokenizer.load(sys.argv[1]) == tok
try:
    bpe.Pattern.of("[a-z]+")
except ImportError:
    print("needed")
"""


def test_the_table_is_what_the_package_says():
    table = json.loads(classes.FILE.read_text())
    if table["unicode"] != unicode_version():
        pytest.skip(f"the regex package has the tables of Unicode {unicode_version()}")
    assert table == classes.table()


@pytest.mark.parametrize("source", [r"\p{L}", r"[\p{L}]", r"\S", r"[\s]", "(?s:.)", r"\p{Greek}", r"[^\s]"])
def test_another_version_of_the_package(source, monkeypatch):
    """It is asked then."""
    expected = classes._found_by_regex(source)
    known = classes.known_ranges(source)
    assert (known is None) == (source in (r"\p{Greek}", r"[^\s]") or not classes._table()["classes"])
    assert known is None or np.array_equal(known, expected)
    monkeypatch.setattr(classes, "unicode_version", lambda: "1.0")
    classes._table.cache_clear()
    assert classes.known_ranges(source) is None
    assert classes.known_cases(ord("s")) is None
    classes._table.cache_clear()


def test_named_patterns_do_not_load_the_package(tmp_path):
    if not classes._table()["classes"]:
        pytest.skip(f"the regex package has the tables of Unicode {unicode_version()}")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "tok.json")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "needed\n"), done.stderr
    assert set(bpe.PATTERNS) >= {"gpt2", "o200k", "llama3", "deepseek"}
