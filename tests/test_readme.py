"""What README.md and some pages say is so: Python runs, values in comments are right, commands run."""

import ast
import code
import hashlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
import tokenize
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import bpe
from bpe.cli import main
from bpe.formats.tiktoken import PUBLISHED, Published

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
OF_README = BLOCKS[:]
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
    digest = hashlib.sha256(Path("cl100k_base.tiktoken").read_bytes()).hexdigest()
    monkeypatch.setitem(PUBLISHED, digest, Published("cl100k_base", "cl100k", {"<|endoftext|>": 400}))
    run(PYTHON[number], folder / f"readme_block_{number}.py")


@pytest.mark.parametrize("number", range(sum(language == "python" for language, _ in OF_README)))
def test_pasted_into_a_prompt(number, folder, monkeypatch, capsys):
    """A blank line ends a function there: what follows must not be a part of it."""
    monkeypatch.chdir(folder)
    console = code.InteractiveConsole()
    for line in PYTHON[number].splitlines():
        console.push(line)
    assert not console.push(""), "all is complete"
    assert capsys.readouterr().err == ""


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


# ------------------------------------------------------------------------------- commands of other pages
SMALLER = {"32000": "400", "30000": "300", "28000": "60", "1000": "20"}
NOT_RUN = ("--scheduler",)  # needs a cluster


def commands_of(page):
    """Return the lines of a page's blocks that are calls of bpe."""
    shown = (ROOT / "docs" / page).read_text("utf-8")
    blocks = re.findall(r"(?:^\.\. code-block:: sh|::)\n\n((?:   .*\n|\n)+)", shown, re.MULTILINE)
    lines = textwrap.dedent("\n".join(blocks)).splitlines()
    found = [line.strip() for line in lines if line.strip().startswith("bpe ")]
    return [line for line in found if not any(option in line.split("#")[0] for option in NOT_RUN)]


COMMANDS_OF = {
    page: commands
    for page in sorted(str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.rst"))
    if page not in PAGES and (commands := commands_of(page))
}


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    """A folder with all files that pages speak of."""
    folder = tmp_path_factory.mktemp("corpora")
    text = (ROOT / "tests" / "data" / "treasure_island.txt").read_text("utf-8")[:20_000]
    special = ["<|endoftext|>"]
    bpe.train([text], 350, special_tokens=special, progress=False).save(folder / "tok.json")
    for name in ("books", "novels", "corpus", "en", "de"):
        (folder / name).mkdir()
        (folder / name / "a.txt").write_text(text.upper() if name == "de" else text, "utf-8")
    for name in ("train.jsonl", "val.jsonl"):
        (folder / name).write_text('{"text": "the sea"}\n{"text": "the ship"}\n', "utf-8")
    for name in ("en", "de"):
        (folder / f"{name}-dev.txt").write_text((folder / name / "a.txt").read_text("utf-8")[:500], "utf-8")
        bpe.count_words(folder / name, progress=False).save(folder / f"{name}.counts")
    for name in ("more", "de"):
        arguments = ["count", str(folder / "books"), "--runs", "-o", str(folder / f"{name}.runs")]
        assert CliRunner().invoke(main, arguments).exit_code == 0
    (folder / "data" / "mine").mkdir(parents=True)
    return folder


@pytest.mark.parametrize("page", COMMANDS_OF)
def test_commands_of_pages(page, corpora, tmp_path, monkeypatch):
    """They run, one after the other; with smaller numbers, for the texts are small."""
    shutil.copytree(corpora, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    for command in COMMANDS_OF[page]:
        words = [SMALLER.get(word, word) for word in shlex.split(command, comments=True)]
        result = CliRunner().invoke(main, words[1:])
        assert result.exit_code == 0, f"{command}\n{result.output}"


def test_commands_of_pages_are_found():
    assert {
        f"bpe/{name}.rst" for name in ("parity", "pipelines", "superwords", "training", "vocabulary")
    } <= {*COMMANDS_OF}


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
