"""What README.md says is so: Python runs, values in comments are right, commands run."""

import ast
import contextlib
import io
import os
import re
import subprocess
import sys
import tokenize
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
PYTHON = [block for language, block in BLOCKS if language == "python"]
AS_BPE = f'bpe() {{ "{sys.executable}" -W error -m bpe.cli "$@"; }}\n'


@pytest.fixture
def folder(tmp_path):
    """A folder in which the paths of README.md lead to the same files as in the checkout."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "data").symlink_to(ROOT / "tests" / "data", target_is_directory=True)
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


def run(source, path, namespace=None):
    """Run a block as a module of its own; return how many values its comments stated.

    The comment after a value is the value, the comment after a print is what is printed.
    """
    path.write_text(source)  # numba keeps compiled code for files only
    namespace = {} if namespace is None else namespace
    namespace["__name__"] = path.stem
    comments, n_checked = comments_of(source), 0
    for statement in ast.parse(source).body:
        if not isinstance(statement, ast.Expr):
            exec(compile(ast.Module([statement], []), path, "exec"), namespace)
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            value = eval(compile(ast.Expression(statement.value), path, "eval"), namespace)
        if ast.unparse(statement).startswith("print("):
            assert printed.getvalue() == f"{comments[statement.end_lineno]}\n", f"line {statement.lineno}"
            n_checked += 1
            continue
        for said in said_by(comments.get(statement.end_lineno, "")):
            np.testing.assert_equal(value, said, f"line {statement.lineno}: {ast.unparse(statement)}")
            n_checked += 1
    return n_checked


def commands_of(blocks):
    """Return the lines of shell blocks that call bpe."""
    return [
        command.strip()
        for language, block in blocks
        if language in ("sh", "bash", "console", "shell")
        for line in block.replace("\\\n", "").splitlines()
        for command in line.split("#")[0].split("&&")
        if re.search(r"(^|\|)\s*bpe ", command)
    ]


def run_commands(commands, folder):
    """Run commands one after the other, as one may need what another has written."""
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    for command in commands:
        done = subprocess.run(
            ["sh", "-ec", AS_BPE + command],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": paths},
            capture_output=True,
        )
        assert done.returncode == 0, f"{command}\n{done.stderr.decode()}"


@pytest.mark.parametrize("number", range(len(PYTHON)))
def test_python(number, tmp_path, monkeypatch):
    """Blocks need no file of the checkout, and print what they say."""
    monkeypatch.chdir(tmp_path)
    assert run(PYTHON[number], tmp_path / f"readme_block_{number}.py") == PYTHON[number].count("print(") > 0


def test_commands(folder):
    run_commands(commands_of(BLOCKS), folder)


LINKS = re.findall(r"\]\((?!https?:|#)([^)#]+)", README)
ONLY_SPHINX = re.compile(r":[a-z]+:`|^\.\. (auto\w+|include|literalinclude|click|toctree)::", re.MULTILINE)


def test_links():
    for target in LINKS:
        assert (ROOT / target).exists(), target
    for page in filter(re.compile(r"\.rst$").search, LINKS):
        assert not ONLY_SPHINX.search((ROOT / page).read_text("utf-8")), f"{page} reads badly elsewhere"


def test_length():
    """It is read in a minute."""
    assert 60 <= README.count("\n") <= 90
    assert max(map(len, README.splitlines())) <= 130


def test_wrong_values_are_seen(tmp_path):
    assert run("x = 2\nx, x  # 2, 2; the same\nx  # prose\nprint(x)  # 2\n", tmp_path / "a.py") == 2
    with pytest.raises(AssertionError, match="line 1"):
        run("print(2)  # 3\n", tmp_path / "c.py")
    with pytest.raises(AssertionError, match="line 2"):
        run("x = 2\nx  # 3\n", tmp_path / "b.py")
