"""Ctrl-C on the command line: one line, exit code 130, and nothing that was learned is lost."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

import bpe
from bpe import cli
from bpe.cli.app import recording_interrupts
from bpe.tokenizer import Tokenizer
from bpe.training.learner import Training
from tests.forks import Child

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
ROOT = Path(bpe.__file__).resolve().parent.parent


@pytest.fixture
def folder(book, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (tmp_path / "book.txt").write_text(book[:20_000], "utf-8")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(cli.main, [str(argument) for argument in arguments])


# ---------------------------------------------------------------------------------------------- training
@pytest.fixture
def interrupted(monkeypatch):
    """Training that is interrupted after 40 merges, by a signal."""
    learn = Training.learn

    def some(self, wanted):
        if len(self.log) >= 40:
            signal.raise_signal(signal.SIGINT)
        learn(self, min(wanted, 40))

    monkeypatch.setattr(Training, "learn", some)


def test_what_is_learned_is_saved(folder, interrupted):
    arguments = (
        "train",
        "book.txt",
        "--vocab-size",
        900,
        "--special-token",
        "<|end|>",
        "-o",
        "tok.json",
        "--quiet",
    )
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr == "bpe: interrupted: tok.json has the 297 tokens that were learned, of 900\n"
    expected = bpe.train(Path("book.txt"), 256 + 40 + 1, special_tokens=["<|end|>"])
    assert Tokenizer.load("tok.json") == expected
    # A tokenizer that is complete is not replaced by one that is not.
    Path("tok.json").write_text("old")
    result = run(*arguments)
    assert result.exit_code == 130
    assert result.stderr.startswith("bpe: interrupted: tok.interrupted.json has the 297 tokens")
    assert Path("tok.json").read_text() == "old"
    assert Tokenizer.load("tok.interrupted.json") == expected
    Path("tok.interrupted.json").write_text("what was learned before")
    assert run(*arguments).stderr.startswith("bpe: interrupted: tok.interrupted-2.json has the 297 tokens")
    assert Path("tok.interrupted.json").read_text() == "what was learned before"


def test_nothing_is_saved_before_anything_is_learned(folder, monkeypatch):
    def stop(*arguments, **options):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(bpe.Trainer, "run", stop)
    result = run("train", "book.txt", "--vocab-size", 900, "-o", "tok.json")
    assert result.exit_code == 130
    assert result.stderr == "bpe: interrupted: nothing was learned yet; tok.json was not written\n"
    assert os.listdir() == ["book.txt"]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ([], "the text has no other pair to merge"),
        (["--min-count", 2], "the text has no other pair to merge that occurs 2 times"),
        (
            ["--min-count", 2, "--max-token-length", 3],
            "the text has no other pair to merge that occurs 2 times and makes a token of 3 bytes at most",
        ),
    ],
)
def test_a_text_that_cannot_fill_the_vocabulary(folder, options, why):
    Path("short.txt").write_text("the sea the sea")
    result = run("train", "short.txt", "--vocab-size", 4000, *options, "--quiet", "-o", "tok.json")
    size = Tokenizer.load("tok.json").vocab_size
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"bpe: warning: tok.json: {size} tokens, not 4000: {why}\n"
    assert run("train", "short.txt", "--vocab-size", size, *options, "--quiet", "-o", "tok.json").output == ""


# --------------------------------------------------------------------------------------- at any moment
INTERRUPTED_IMPORT = """
import importlib.abc, signal, sys
module, sys.argv[:] = sys.argv[1], ["bpe", *sys.argv[2:]]
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == module:
            sys.meta_path.remove(self)
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Finder())
from bpe.cli import main
main(prog_name="bpe")
"""


@pytest.mark.parametrize("name", ["click", "bpe.cli.train", "numpy", "numba", "structures", "bpe.tokenizer"])
def test_while_modules_are_imported(folder, name):
    command = [sys.executable, "-c", INTERRUPTED_IMPORT, name, "train", "book.txt", "--vocab-size", "300"]
    command.append("--ties=first")  # no rule of plain Python, which would load neither numba nor structures
    with Child([*command, "-o", "x.json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        output, errors = process.communicate(timeout=120)
    assert (process.returncode, output) == (130, b"")
    assert re.fullmatch(rb"bpe: interrupted.*\n", errors)


def test_in_the_first_moments(folder):
    """Whenever it comes once the command is being imported: one line."""
    command = [sys.executable, "-X", "importtime", "-m", "bpe.cli", "inspect", "missing.json"]
    for n_left in (1, 5, 10, 30):
        shown = []
        with Child(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            for line in process.stderr:
                n_left -= b"click" in line
                if not n_left:
                    process.send_signal(signal.SIGINT)
                if not line.startswith(b"import time:"):
                    shown.append(line)
        expected = {130: [b"bpe: interrupted\n"], 2: [b"bpe: no such file: missing.json\n"]}
        assert shown == expected[process.returncode]


def test_an_interrupt_that_python_cannot_raise_comes_again(capsys):
    class Stubborn:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    heard = []
    with pytest.raises(KeyboardInterrupt), recording_interrupts(heard):  # noqa: PT012
        one = Stubborn()
        del one
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            time.sleep(0.01)
    assert len(heard) == 2
    assert capsys.readouterr().err == ""
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_after_an_interrupt_is_an_interrupt(monkeypatch):
    """Compilers turn an interrupt into errors of their own."""

    def fail(*arguments, **options):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise SystemError("an odd error") from None

    monkeypatch.setattr(cli.show, "load", fail)
    result = run("show", "missing.json", "--text", "text")
    assert (result.exit_code, result.stderr) == (130, "bpe: interrupted\n")
