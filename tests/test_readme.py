"""What README.md and some pages say is so: Python runs, values in comments are right, commands run."""

import ast
import io
import os
import re
import shutil
import subprocess
import sys
import textwrap
import tokenize
from pathlib import Path

import numpy as np
import pytest

import bpe

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
PAGES = [f"bpe/{page}.rst" for page in ("first_tokenizer", "how_to", "tour", "terabyte", "models", "files")]
PYTHON = [block for language, block in BLOCKS if language == "python"]
for page in PAGES:
    shown = (ROOT / "docs" / page).read_text("utf-8")
    found = re.findall(r"^\.\. code-block:: (\w+)\n\n((?:   .*\n|\n)+)", shown, re.MULTILINE)
    blocks = [(language, textwrap.dedent(block)) for language, block in found]
    BLOCKS += blocks
    # Readers of a page paste its blocks one after the other.
    PYTHON.append("".join(block for language, block in blocks if language == "python"))
COMMANDS = [
    command.strip()
    for language, block in BLOCKS
    if language in ("sh", "bash", "console", "shell")
    for line in block.replace("\\\n", "").splitlines()
    for command in line.split("#")[0].split("&&")
    if re.search(r"(^|\|)\s*bpe ", command)
]
AS_BPE = f'bpe() {{ "{sys.executable}" -W error -m bpe.cli "$@"; }}\n'


@pytest.fixture
def folder(tmp_path):
    """A folder in which the paths of README.md lead to the same files as in the checkout."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "data").symlink_to(ROOT / "tests" / "data", target_is_directory=True)
    (tmp_path / "shards").mkdir()
    (tmp_path / "shards" / "017").symlink_to(ROOT / "tests" / "data", target_is_directory=True)
    return tmp_path


def comments_of(source):
    """Return the comment of every line that has one."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {token.start[0]: token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT}


def said_by(comment):
    """Return the value that a comment states up to its first semicolon, in a list; of prose, an empty one."""
    try:
        return [eval(comment.split(";")[0], {"__builtins__": {}, "array": np.array})]
    except (SyntaxError, NameError, TypeError):
        return []


def run(source, path):
    """Run a block as a module of its own; return how many values its comments stated."""
    path.write_text(source)  # numba keeps compiled code for files only
    namespace, comments, n_checked = {"__name__": path.stem}, comments_of(source), 0
    for statement in ast.parse(source).body:
        if not isinstance(statement, ast.Expr):
            exec(compile(ast.Module([statement], []), path, "exec"), namespace)
            continue
        value = eval(compile(ast.Expression(statement.value), path, "eval"), namespace)
        for said in said_by(comments.get(statement.end_lineno, "")):
            np.testing.assert_equal(value, said, f"line {statement.lineno}: {ast.unparse(statement)}")
            n_checked += 1
    return n_checked


@pytest.fixture(scope="module")
def downloads(tmp_path_factory):
    """A folder of files that pages speak of as the reader's."""
    folder = tmp_path_factory.mktemp("downloads")
    tok = bpe.train(["low lower lowest"], 260, special_tokens=["<|endoftext|>"], progress=False)
    tok.save(folder / "tok.json")
    tok.save_huggingface(folder / "tokenizer.json")
    (folder / "models").mkdir()
    tok.save_huggingface(folder / "models" / "llama")
    tok.save_tiktoken(folder / "cl100k_base.tiktoken")
    return folder


@pytest.mark.parametrize("number", range(len(PYTHON)))
def test_python(number, folder, downloads, monkeypatch):
    shutil.copytree(downloads, folder, dirs_exist_ok=True)
    monkeypatch.chdir(folder)
    run(PYTHON[number], folder / f"readme_block_{number}.py")


def test_commands(folder):
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    for command in COMMANDS:  # one needs what another has written
        done = subprocess.run(
            ["sh", "-ec", AS_BPE + command],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": paths},
            capture_output=True,
        )
        assert done.returncode == 0, f"{command}\n{done.stderr.decode()}"


def test_links():
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", README):
        assert (ROOT / target).exists(), target


def test_there_is_something_to_run():
    assert len(PYTHON) >= 5
    assert len(COMMANDS) >= 5


def test_the_readme_is_short():
    assert README.count("\n") <= 150


def test_wrong_values_are_seen(tmp_path):
    assert run("x = 2\nx, x  # 2, 2; the same\nx  # prose\n", tmp_path / "a.py") == 1
    with pytest.raises(AssertionError, match="line 2"):
        run("x = 2\nx  # 3\n", tmp_path / "b.py")
