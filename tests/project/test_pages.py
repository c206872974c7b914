"""What the pages of docs/ say is so: Python runs, values in comments are right, commands run."""

import hashlib
import os
import re
import shlex
import shutil
import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner

import bpe
from bpe.cli import main
from bpe.formats.tiktoken import PUBLISHED, Published
from tests import test_readme
from tests.optional import required

ROOT = Path(__file__).parents[2]
NAMES = [
    "first_tokenizer",
    "how_to",
    "terabyte",
    "models",
    "files",
    "keep_ids",
    "loss_masks",
    "constrained_decoding",
    "switching",
    "hf",
    "two_tokenizers",
]
PAGES = [f"bpe/{page}.rst" for page in NAMES]


def blocks_of(page):
    """Return the languages and the code of a page's blocks."""
    shown = (ROOT / "docs" / page).read_text("utf-8")
    found = re.findall(r"^\.\. code-block:: (\w+)\n\n((?:   .*\n|\n)+)", shown, re.MULTILINE)
    return [(language, textwrap.dedent(block)) for language, block in found]


@pytest.fixture
def texts(tmp_path):
    """A folder with the texts that the README and pages speak of."""
    for folder in (tmp_path / "tests" / "data", tmp_path / "shards" / "017"):
        folder.mkdir(parents=True)
        (folder / "treasure_island.txt").symlink_to(ROOT / "tests" / "data" / "treasure_island.txt")
    return tmp_path


@pytest.fixture
def folder(texts, monkeypatch):
    """The same with the files that pages speak of as the reader's."""
    tok = bpe.train(["low lower lowest"], 260, special_tokens=["<|endoftext|>"], progress=False)
    tok.save(texts / "tok.json")
    tok.save_huggingface(texts / "tokenizer.json")
    (texts / "models").mkdir()
    tok.save_huggingface(texts / "models" / "llama")
    tok.save_tiktoken(texts / "cl100k_base.tiktoken")
    digest = hashlib.sha256((texts / "cl100k_base.tiktoken").read_bytes()).hexdigest()
    monkeypatch.setitem(PUBLISHED, digest, Published("cl100k_base", "cl100k", {"<|endoftext|>": 400}))
    return texts


@pytest.mark.parametrize("page", PAGES)
def test_python(page, folder, monkeypatch):
    """Readers of a page paste its blocks one after the other."""
    monkeypatch.chdir(folder)
    source = "".join(block for language, block in blocks_of(page) if language == "python")
    for package in ("tokenizers", "transformers"):
        if re.search(rf"^(import|from) {package}\b", source, re.MULTILINE):
            required(package)
    test_readme.run(source, folder / f"{Path(page).stem}.py")


def test_commands(texts):
    readme = test_readme.commands_of(test_readme.BLOCKS)  # make the files that the pages go on with
    commands = test_readme.commands_of(block for page in PAGES for block in blocks_of(page))
    test_readme.run_commands(readme + commands, texts)


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
        arguments = ["count-words", str(folder / "books"), "--runs", "-o", str(folder / f"{name}.runs")]
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
        if "requires the package" in result.output and "CI" not in os.environ:
            pytest.skip(result.output)
        assert result.exit_code == 0, f"{command}\n{result.output}"
