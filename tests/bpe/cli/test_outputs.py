"""Where the commands write: files, standard output, folders that take none, disks that are full."""

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import bpe
from bpe import cli
from bpe.cli.progress import human
from bpe.id_files import encode as id_files
from bpe.support.files import lock
from bpe.tokenizer import Tokenizer


@pytest.fixture
def folder(tokenizer, book, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tokenizer.save("tok.json")
    (tmp_path / "book.txt").write_text(book[:5000], "utf-8")
    return tmp_path


def run(*arguments, stdin=None):
    return CliRunner().invoke(cli.main, [str(argument) for argument in arguments], input=stdin)


UNFINISHED = "if no other run is writing it, give its command again to complete it, or remove"


def fails(result, message):
    assert result.exit_code == 2, result.output
    assert re.fullmatch(message + "\n", result.stderr), result.stderr


def test_no_command_is_the_help():
    assert run().stdout == run("--help").stdout
    assert (run().exit_code, run().stderr) == (0, "")


# ---------------------------------------------------------------------------------------- standard output
def test_minus_is_standard_output(folder):
    train = ("train", "book.txt", "--vocab-size", 270, "-o")
    written = run(*train, "-")
    assert written.exit_code == 0
    assert written.stderr.startswith("standard output: 270 tokens")
    run(*train, "new.json")
    assert written.stdout_bytes == Path("new.json").read_bytes()
    count = run("count-words", "book.txt", "-o", "-")
    run("count-words", "book.txt", "-o", "new.counts")
    assert count.stdout_bytes == Path("new.counts").read_bytes()
    assert count.stderr.startswith("standard output: ")
    parity = run("train-parity", "new.counts", "--ratio", "new=1", "--vocab-size", 270, "-o", "-", "--quiet")
    Path("parity.json").write_bytes(parity.stdout_bytes)
    assert Tokenizer.load("parity.json").vocab_size == 270
    more = run("extend", "new.json", "book.txt", "-n", 5, "-o", "-", "--quiet")
    Path("more.json").write_bytes(more.stdout_bytes)
    assert Tokenizer.load("more.json").vocab_size == 275
    page = run("report", "new.json", "book.txt", "-o", "-")
    assert page.stdout.startswith("<!doctype html>")
    converted = run("convert", "new.json", "-", "--to", "huggingface")
    assert json.loads(converted.stdout)["model"]["type"] == "BPE"
    assert converted.stderr == "standard output: 270 tokens as huggingface, checked\n"
    assert "-" not in os.listdir()


def test_what_standard_output_does_not_take(folder):
    fails(run("encode", "tok.json", "book.txt", "-o", "-"), "bpe: -o -: files of ids cannot go to .*")
    fails(run("convert", "tok.json", "-", "--to", "gpt2"), "bpe: a folder cannot be written to .*: give .*")
    fails(
        run("convert", "tok.json", "-"), "bpe: -: the name does not tell the format.*: choose one with --to"
    )
    fails(
        run("count-words", "book.txt", "-o", "-", "--json"), "bpe: -o - and --json both write to standard .*"
    )


# ------------------------------------------------------------------------------ outputs that are read, too
@pytest.mark.parametrize(
    ("read", "command"),
    [
        ("book.txt", "train book.txt --vocab-size 270 -o"),
        ("book.txt", "train *.txt --vocab-size 270 -o"),
        ("a.counts", "train a.counts --vocab-size 270 -o"),
        ("a.counts", "train a.counts=2 --vocab-size 270 -o"),
        ("a.counts", "train-parity b.counts a.counts --ratio a=1 --ratio b=1 --vocab-size 270 -o"),
        ("a.counts", "train-parity b.counts --dev b=a.counts --vocab-size 270 -o"),
        ("book.txt", "count-words book.txt -o"),
        ("a.counts", "count-words b.counts a.counts -o"),
        ("book.txt", "extend tok.json book.txt -n 1 -o"),
        ("tok.json", "extend tok.json book.txt -n 1 -o"),
        ("book.npy", "extend tok.json book.npy -n 1 -o new.json --map"),
        ("book.txt", "prune tok.json book.txt --min-count 1 -o"),
        ("tok.json", "prune tok.json book.txt --min-count 1 -o"),
        ("book.txt", "report tok.json book.txt -o"),
        ("tok.json", "report tok.json book.txt -o"),
        ("book.bin", "encode tok.json book.txt book.bin --quiet -o"),
        ("tok.json", "convert tok.json"),
        ("model/tokenizer.json", "convert model --to huggingface"),
    ],
)
def test_an_output_that_is_read(folder, read, command):
    counts = bpe.WordCounts({"word": 1})
    counts.save("a.counts")
    counts.save("b.counts")
    shutil.copy("book.txt", "book.npy")
    shutil.copy("book.txt", "book.bin")
    Path("model").mkdir()
    shutil.copy("tok.json", "model/tokenizer.json")
    before, link, name = Path(read).read_bytes(), f"link{Path(read).suffix}", re.escape(read)
    files = sorted(os.listdir())
    fails(run(*command.split(), read), f"bpe: {name} is also an input: choose another output")
    for make in (os.symlink, os.link):
        make(read, link)
        fails(run(*command.split(), link), rf"bpe: {link} is also an input \({name}\): choose another .*")
        os.unlink(link)
    assert (Path(read).read_bytes(), sorted(os.listdir())) == (before, files)


def test_an_output_that_is_standard_input(folder):
    with open("book.txt", "rb") as book:
        command = [sys.executable, "-m", "bpe.cli", "count-words", "-", "-o", "book.txt"]
        environment = {**os.environ, "PYTHONPATH": str(Path(bpe.__file__).parent.parent)}
        result = subprocess.run(command, stdin=book, stderr=subprocess.PIPE, env=environment, check=False)
    assert result.returncode == 2
    assert result.stderr == b"bpe: book.txt is also an input (standard input): choose another output\n"


@pytest.mark.parametrize(
    "command", ["count-words book.txt -o", "encode tok.json book.txt -o", "convert tok.json"]
)
def test_a_link_that_leads_to_itself(folder, command):
    os.symlink("loop.bin", "loop.bin")
    problem = f"loop.bin: {os.strerror(errno.ELOOP)}"
    fails(run(*command.split(), "loop.bin", *["--to", "native"] * ("convert" in command)), f"bpe: {problem}")
    assert os.path.islink("loop.bin")


# ---------------------------------------------------------------------------------- folders and full disks
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no folder that takes no files")
def test_a_folder_that_takes_no_files(folder):
    for command in (("train", "book.txt", "--vocab-size", 270), ("encode", "tok.json", "book.txt")):
        fails(
            run(*command, "-o", "/proc/new.bin"), "bpe: cannot write to /proc: it does not accept new files"
        )
    with pytest.raises(PermissionError, match="cannot write to /proc: it does not accept new files"):
        bpe.WordCounts({"a": 1}).save("/proc/new.counts")


@pytest.mark.parametrize("problem", [errno.ENOSPC, errno.EROFS])
def test_a_folder_of_a_disk_that_takes_no_files(folder, monkeypatch, problem):
    def full(**_):
        raise OSError(problem, os.strerror(problem))

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    fails(run("count-words", "book.txt", "-o", "c"), f"bpe: cannot write to /.*: {os.strerror(problem)}")


def test_a_disk_that_has_no_room_for_compiled_code(folder, monkeypatch):
    """The compiler does not name its files."""

    def full(path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(cli.show, "load", full)
    fails(
        run("show", "tok.json", "--text", "the sea"),
        "bpe: No space left on device: no room for the cache of compiled code, or for a temporary file",
    )


# ------------------------------------------------------------------------------------- what was interrupted
@pytest.fixture
def stopped(monkeypatch, book):
    """Encoding that is interrupted after a part of it."""
    monkeypatch.setattr(id_files, "BATCH_BYTES", 700)
    monkeypatch.setattr(id_files, "SECONDS", 0)
    documents = bpe.Corpus.documents

    def some(self, *_, **__):
        for n, blocks in enumerate(documents(self, block_bytes=500)):
            if n == 40:
                signal.raise_signal(signal.SIGINT)
            yield blocks

    return lambda: monkeypatch.setattr(bpe.Corpus, "documents", some)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.filterwarnings("default")
def test_what_an_earlier_run_left_is_told(folder, stopped, monkeypatch, tokenizer):
    lines = [json.dumps({"text": f"the sea of page {i} " * 5}) for i in range(60)]
    Path("records.jsonl").write_text("\n".join(lines))
    encode = ("encode", "tok.json", "records.jsonl", "-o")
    stopped()
    result = run(*encode, "one.bin")
    assert result.exit_code == 130
    assert result.stderr == "one.bin: the same command continues from here\nbpe: interrupted\n"
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    left = sorted(Path().glob("one.*"))
    assert [path.name for path in left] == ["one.bin.part", "one.bin.state", "one.offsets.npy.part"]

    other = run(*encode, "two.bin")
    assert other.stderr.startswith(
        f"one.bin: not complete: {UNFINISHED} one.bin.part, one.offsets.npy.part, one.bin.state\ntwo.bin: "
    )
    assert sorted(Path().glob("one.*")) == left, "nothing is removed"

    stopped()
    again = run(*encode, "one.bin")
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    n_done = json.loads(Path("one.bin.state").read_text())["n_bytes"]
    size = human(Path("records.jsonl").stat().st_size, "B")
    assert again.stderr == (
        f"one.bin: continues after {human(n_done, 'B')} of text, where an earlier run stopped; "
        f"the input has {size}\none.bin: the same command continues from here\nbpe: interrupted\n"
    )

    again = run(*encode, "one.bin", "--dtype", "uint32")
    assert again.exit_code == 0
    assert again.stderr.startswith(
        "bpe: warning: one.bin: an earlier run was not completed, and cannot be continued: it had another "
        "tokenizer, other options or other texts; this one starts from the beginning\n"
    )
    assert np.array_equal(np.fromfile("one.bin", "<u4"), np.fromfile("two.bin", "<u2"))
    assert sorted(path.name for path in Path().glob("one.*")) == ["one.bin", "one.offsets.npy"]
    assert "not complete" not in run(*encode, "two.bin").stderr


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.filterwarnings("default")
def test_a_run_that_saved_nothing_starts_over(folder, monkeypatch):
    """Whether it was interrupted, or killed."""
    encode = ("encode", "tok.json", "book.txt", "-o", "ids.bin")
    with monkeypatch.context() as patch:
        patch.setattr(id_files, "_write", lambda *_: signal.raise_signal(signal.SIGINT))
        result = run(*encode)
        assert result.exit_code == 130
        assert result.stderr == (
            "ids.bin: nothing was saved yet; the same command starts from the beginning\nbpe: interrupted\n"
        )
        assert run(*encode, "--quiet").stderr == "bpe: interrupted\n"
    assert not list(Path().glob("ids.*"))

    kill = "import os; from bpe.id_files import encode; encode._write = lambda *_: os._exit(9); "
    killed = [sys.executable, "-c", f"{kill}from bpe.cli import main; main()", *encode]
    assert subprocess.run(killed, capture_output=True, check=False).returncode == 9
    left = ["ids.bin.part", "ids.offsets.npy.part", "ids.bin.state"]
    assert {path.name for path in Path().glob("ids.*")} == {*left}
    # A run with another output names what is left, unless another process is writing it.
    with open("ids.bin.part", "rb") as file:
        if lock(file, Path("ids.bin")):
            assert "ids.bin" not in run(*encode[:-1], "other.bin").stderr
    assert f"ids.bin: not complete: {UNFINISHED} {', '.join(left)}\n" in run(*encode[:-1], "other.bin").stderr
    # One that needs the same offsets is refused.
    fails(run(*encode[:-1], "ids.npy"), r".*ids\.bin needs it, .* remove ids\.bin\.state and ids\.bin\.part")
    result = run(*encode)
    assert result.exit_code == 0
    warning, summary, _ = result.stderr.split("\n")
    assert warning == (
        "bpe: warning: ids.bin: an earlier run was not completed, and cannot be continued: it was stopped "
        "before it saved anything; this one starts from the beginning"
    )
    assert "by an earlier run" not in summary


def test_a_slow_source_is_saved_by_time(tokenizer, tmp_path, monkeypatch):
    """Texts that come slowly are written although they fill no batch."""
    for name in ("SECONDS", "READING_SECONDS"):
        monkeypatch.setattr(id_files, name, 0.0)
    n_saved = []
    save = id_files.Output.save_state
    monkeypatch.setattr(
        id_files.Output, "save_state", lambda self: (n_saved.append(self.state.documents), save(self))
    )
    tokenizer.encode_files((f"page {i}" for i in range(5)), tmp_path / "ids.bin")
    assert n_saved == [1, 2, 3, 4, 5, 5]
