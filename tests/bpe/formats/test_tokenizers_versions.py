"""The ``tokenizer.json`` of every named pattern, in the installed tokenizers and in 1.0.

``TOKENIZERS_1`` is the Python of an environment that has 1.0.
"""

import json
import os
import re
import subprocess
import sys
import warnings

import pytest

import bpe
from tests.optional import required

required("tokenizers")
import tokenizers  # noqa: E402

# A contraction, or not; a token is "\u017ft".
LONG_S = "don\u0027\u017ft"
TEXTS = [
    "it's IT'S I'll WE'RE they've y'all 'tis d'accord 'Re x'mY",
    "HTTPServer camelCase ÀÉîÕ ǅ été's ΑΒΓδ Привет МИР you'LL",
    "1 12 123 1234567 ٣٤٥ ½ x2y3",
    "a  b   c\t\td\n\n e \r\n\r\nf   ",
    "!!! ... // path/to/file.py\n/// (a) [b] {c} --flag=1 <|x|>",
    "日本語のテキスト 中文。한국어 ไทย हिन्दी العربية 😀👍🏽 e\u0301 n\u0303",
    "",
    " ",
    "\n",
]
REFUSED = r"tokenizers 1\.0 cannot encode with this file, .* train with one of the patterns gpt2, cl100k"
PROGRAM = """
import json, sys
from tokenizers import Tokenizer

path, *texts = json.load(sys.stdin)
tokenizer = Tokenizer.from_file(path)
print(json.dumps([[int(each) for each in tokenizer.encode(text).ids] for text in texts]))
"""
# 1.0 is first on the path; the rest is that of the tests.
WITH_BPE = f"""
import json, sys

path, *texts = json.load(sys.stdin)
sys.path += {sys.path}
import bpe, bpe.cli

tok = bpe.Tokenizer.load(path)
print(json.dumps([[int(each) for each in tok.to_huggingface().encode(text).ids] for text in texts]))
for out in ("copy.hf.json", "gpt2/vocab.json"):
    bpe.cli.main(["convert", path, out], standalone_mode=False)
"""
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
TEKKEN = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@pytest.fixture(scope="module", params=bpe.PATTERNS)
def tokenizer(request):
    return bpe.train([*TEXTS, "\u017ft " * 20] * 2, 340, pattern=request.param, progress=False)


@pytest.fixture
def path(tokenizer, tmp_path):
    return saved(tokenizer, tmp_path / "tokenizer.json", is_read=tokenizer.pattern.name != "whitespace")


def saved(tokenizer, path, *, is_read):
    """Write a tokenizer.json; only a pattern that 1.0 does not read is a warning."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        tokenizer.save_huggingface(path)
    assert len(given) == (not is_read)
    for warning in given:
        assert re.search(REFUSED, str(warning.message))
        assert warning.filename == __file__  # of the caller
    return path


def test_written_read_written(tokenizer, path):
    read = bpe.Tokenizer.load(path)
    assert read.pattern == tokenizer.pattern
    assert read.pattern.name is not None
    assert read == tokenizer
    before = path.read_bytes()
    saved(read, path, is_read=tokenizer.pattern.name != "whitespace")
    assert path.read_bytes() == before


@pytest.mark.parametrize("tokenizer", ["cl100k", "o200k"], indirect=True)
def test_another_spelling_is_kept(tokenizer, path):
    """A file that spells a pattern as ``bpe`` does is read as the same pattern, and written as it was."""
    document = json.loads(path.read_bytes())
    source = bpe.PATTERNS[tokenizer.pattern.name]
    own = {"pattern": {"Regex": source}, "behavior": "Isolated", "invert": False}
    assert document["pre_tokenizer"]["pretokenizers"][0]["behavior"] == "Removed"
    document["pre_tokenizer"]["pretokenizers"][0].update(own)
    path.write_text(json.dumps(document), "utf-8")
    read = bpe.Tokenizer.load(path)
    assert read.pattern == tokenizer.pattern
    read.save_huggingface(path)
    assert json.loads(path.read_bytes())["pre_tokenizer"] == document["pre_tokenizer"]


def test_installed(tokenizer, path):
    other = tokenizers.Tokenizer.from_file(str(path))
    for text in TEXTS:
        assert other.encode(text).ids == tokenizer.encode(text), text
    if tokenizer.pattern.name in ("cl100k", "o200k"):  # the engine of 0.23 has long s in (?i:s)
        assert other.encode(LONG_S).ids != tokenizer.encode(LONG_S)


def run_1_0(path, texts, program=PROGRAM):
    """Encode with tokenizers 1.0."""
    python = os.environ.get("TOKENIZERS_1")
    if not python:
        pytest.skip("TOKENIZERS_1 names no Python that has tokenizers 1.0")
    asked = json.dumps([str(path), *texts])
    return subprocess.run([python, "-c", program], input=asked, capture_output=True, text=True, timeout=300)


def test_tokenizers_1(tokenizer, path):
    done = run_1_0(path, [*TEXTS, LONG_S])
    if tokenizer.pattern.name == "whitespace":  # it knows a list of expressions, and has no engine for others
        assert "`Split` pattern needs a system-regex backend" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    expected = [tokenizer.encode(text) for text in [*TEXTS, LONG_S]]
    if tokenizer.pattern.name in ("llama3", "qwen2"):  # here as in 0.23
        assert found.pop() != expected.pop()
    assert found == expected


@pytest.mark.parametrize("source", [TEKKEN, r"\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+|\s+"], ids=["tekken", "own"])
def test_an_expression(source, tmp_path):
    """The warning says what 1.0 does: it has code for Mistral's expression, and for none that is made up."""
    tok, path = bpe.train(TEXTS * 2, 340, pattern=source, progress=False), tmp_path / "tokenizer.json"
    is_read = source == TEKKEN
    saved(tok, path, is_read=is_read)
    other = tokenizers.Tokenizer.from_file(str(path))
    expected = [tok.encode(text) for text in TEXTS]
    assert [other.encode(text).ids for text in TEXTS] == expected
    done = run_1_0(path, TEXTS)
    assert (done.returncode == 0) == is_read
    if is_read:
        assert json.loads(done.stdout) == expected


@pytest.mark.parametrize("pattern", ["gpt2", "whitespace"])
def test_bpe_with_1_0(pattern, tmp_path, monkeypatch):
    """An object is made, and a converted file is compared, with fewer methods than earlier releases have."""
    tok = bpe.train(TEXTS * 2, 340, pattern=pattern, progress=False)
    tok.save(tmp_path / "tok.json")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gpt2").mkdir()
    done = run_1_0("tok.json", TEXTS, WITH_BPE)
    if pattern == "gpt2":
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout.splitlines()[0]) == [tok.encode(text) for text in TEXTS]
        assert bpe.Tokenizer.load("copy.hf.json") == bpe.Tokenizer.load("gpt2") == tok
    else:
        assert "needs a system-regex backend" in done.stderr
