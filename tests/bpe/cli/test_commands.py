"""The commands show, convert, bench and warmup; and every example of every --help is run."""

import gzip
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

import bpe
from bpe import cli
from bpe.cli import show as show_module
from bpe.cli import warmup
from bpe.cli.show import shown_tokens
from bpe.formats import FORMATS, READ_ONLY
from bpe.tokenizer import Tokenizer

ROOT = Path(bpe.__file__).resolve().parent.parent


def run(*arguments, stdin=None, color=False):
    return CliRunner().invoke(cli.main, [str(argument) for argument in arguments], input=stdin, color=color)


def fails(result, message):
    assert result.exit_code == 2, result.output
    assert re.search(message, result.stderr), result.stderr
    assert result.stderr.startswith("bpe: ")
    assert result.stderr.count("\n") == 1, "one line"


@pytest.fixture(scope="module")
def prepared(tokenizer, book, tmp_path_factory):
    """A folder with what the examples read."""
    folder = tmp_path_factory.mktemp("prepared")
    tokenizer.save(folder / "tok.json")
    plain = Tokenizer(
        token_bytes={number: token for token, number in tokenizer.engine.vocabulary.id_of.items()},
        merges=tokenizer.merges,
        pattern="gpt2",
        special_tokens={"<|end|>": 600},
    )
    plain.save(folder / "plain.json")
    plain.save_huggingface(folder / "tokenizer.json")
    for name in ("cl100k_base", "mine"):
        plain.save_tiktoken(folder / f"{name}.tiktoken")
    for name in ("corpus.txt", "letter.txt"):
        (folder / name).write_text(book[:20_000], "utf-8")
    for name in ("books", "corpus"):
        (folder / name).mkdir()
        (folder / name / "one.txt").write_text(book[:9000], "utf-8")
    (folder / "wiki").mkdir()
    (folder / "wiki" / "a.jsonl.gz").write_bytes(gzip.compress(json.dumps({"body": book[:9000]}).encode()))
    counts, runs = bpe.count_words([book[:9000]], progress=False), bpe.count_runs([book[:9000]])
    for name in ("books", "more", "all"):
        counts.save(folder / f"{name}.counts")
    for name in ("books", "more"):
        runs.save(folder / f"{name}.runs")
    (folder / "ids.txt").write_text("1 2 3")
    (folder / "ids.bin").write_bytes(b"1\0" * 3)
    (folder / "bin").mkdir()
    program = folder / "bin" / "bpe"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m bpe.cli "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return folder


@pytest.fixture
def folder(prepared, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copytree(prepared, tmp_path, dirs_exist_ok=True))


# ---------------------------------------------------------------------------------------------- examples
def examples():
    for name, command in {"": cli.main, **cli.main.commands}.items():
        for line in re.findall(r"^ {6}(\S.*)$", command.help.split("Example:")[1], re.MULTILINE):
            if not line.startswith(("eval", "bpe warmup")):  # test_warmup runs it
                yield pytest.param(line, id=f"{name} {line}")


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash, which the examples are written for")
@pytest.mark.parametrize("line", list(examples()))
def test_examples(line, folder):
    os.rename("tokenizer.json", "t.hf.json")
    if re.match(r"bpe (convert|diff \S+) tokenizer\.json", line):  # which reads it
        os.rename("t.hf.json", "tokenizer.json")
    # Texts this short do not have that many merges; the size is not tested here.
    line = re.sub(r"--vocab-size \d+", "--vocab-size 300", line)
    line = re.sub(r"--first-merges \d+", "--first-merges 30", line)
    if "cl100k_base.tiktoken" in line:  # the file of this test is not the published one
        line += " --pattern cl100k"
    environment = {
        **os.environ,
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
    }
    result = subprocess.run(
        ["bash", "-c", f"set -euo pipefail; {line}"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
        stdin=subprocess.DEVNULL,
    )
    assert result.returncode == line.startswith("bpe diff "), result.stderr  # as the two differ
    assert "Traceback" not in result.stderr


def test_completion():
    pytest.importorskip("click.shell_completion")
    if sys.platform == "win32" or shutil.which("bash") is None:
        pytest.skip("no bash to complete for")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "_BPE_COMPLETE": "bash_source"}
    arguments = [sys.executable, "-m", "bpe.cli"]
    source = subprocess.run(arguments, capture_output=True, text=True, env=environment, check=True).stdout
    assert "_BPE_COMPLETE=bash_complete" in source
    environment |= {"_BPE_COMPLETE": "bash_complete", "COMP_WORDS": "bpe con", "COMP_CWORD": "1"}
    result = subprocess.run(arguments, capture_output=True, text=True, env=environment, check=True)
    assert result.stdout == "plain,convert\n"


# -------------------------------------------------------------------------------------------------- show
def test_show(folder, tokenizer):
    result = run("show", "tok.json", "--text", "the naïve 😀\n<|end|>")
    assert result.exit_code == 0, result.output
    parts = result.stdout.removesuffix("\n").split("|")
    assert result.stdout.startswith("t|he| n|a|<C3>|<AF>|")
    assert "<F0>|<9F>|<98>|<80>|\\n|<|end|>" in result.stdout
    assert len(parts) > 8
    from_input = run("show", "tok.json", "-", stdin="the naïve 😀\n<|end|>")
    assert from_input.stdout == result.stdout
    assert run("show", "tok.json", "--text", "").stdout == "\n"
    assert run("show", "tok.json", "-", stdin=b"\xff").stdout == "<FF>\n"


def test_show_with_ids(folder, tokenizer):
    ids = tokenizer.encode("the sea")
    lines = run("show", "tok.json", "--ids", "--text", "the sea").stdout.splitlines()
    assert [int(line.split()[0]) for line in lines] == ids
    entries = json.loads(run("show", "tok.json", "--json", "--text", "the sea").stdout)
    assert [entry["id"] for entry in entries] == ids
    assert b"".join(bytes.fromhex(entry["bytes"]) for entry in entries) == b"the sea"
    assert "".join(entry["text"] for entry in entries) == "the sea"


def test_show_in_colors(folder, monkeypatch):
    monkeypatch.setattr(show_module, "_has_colors", lambda: True)
    shown = run("show", "tok.json", "--text", "the sea\nof", color=True).stdout
    backgrounds = re.findall(r"48;5;(\d+)m", shown)
    assert len(backgrounds) >= 3
    assert all(one != two for one, two in pairwise(backgrounds))
    assert re.sub(r"\x1b\[[\d;]*m", "", shown) == "the sea\\n\nof\n"
    shown = run("show", "tok.json", "--text", "the sea", "--ids", color=True).stdout
    assert "\x1b[" in shown
    monkeypatch.undo()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX terminals")
@pytest.mark.parametrize(
    ("name", "value", "is_colored"), [("X", "", 1), ("NO_COLOR", "1", 0), ("TERM", "dumb", 0)]
)
def test_colors_on_a_terminal(folder, name, value, is_colored, tokenizer):
    import pty

    ours, theirs = pty.openpty()
    environment = {"TERM": "xterm", **os.environ, "PYTHONPATH": str(ROOT), name: value}
    if name == "X":
        environment.pop("NO_COLOR", None)
        environment["TERM"] = "xterm"
    subprocess.run(
        [sys.executable, "-m", "bpe.cli", "show", str(folder / "tok.json"), "--text", "the sea"],
        stdout=theirs,
        env=environment,
        check=True,
    )
    os.close(theirs)
    shown = os.read(ours, 10_000)
    os.close(ours)
    assert (b"\x1b[" in shown) == bool(is_colored)


def test_shown_tokens():
    """Tokens cannot control the terminal."""
    tokens = [bytes([value]) for value in range(256)]
    for shown in shown_tokens([*tokens, "\u202e\u2028\x85\u00ad".encode(), "é😀中\u0301".encode()])[:-1]:
        assert shown.isprintable()
    assert shown_tokens(["\u202e".encode(), b"\xe2\x82", b"\t"]) == ["<U+202E>", "<E2><82>", "\\t"]


# ----------------------------------------------------------------------------------------------- convert
def test_convert(folder):
    plain = Tokenizer.load("plain.json")
    outputs = {
        "native": "o.json",
        "huggingface": "o.hf.json",
        "tiktoken": "o.tiktoken",
        "gpt2": "o",
        "minbpe": "o.model",
    }
    os.mkdir("o")
    assert (FORMATS, READ_ONLY) == (cli.files.FORMATS, cli.files.READ_ONLY)
    for format in FORMATS:
        result = run("convert", "plain.json", outputs[format])
        assert result.exit_code == 0, result.output
        assert result.stderr.startswith(f"{outputs[format]}: 601 tokens as {format}, checked\n")
    assert (
        "To read it: --pattern gpt2 --special-token '<|end|>=600'\n"
        in run("convert", "plain.json", "o.tiktoken").stderr
    )
    for format, source in outputs.items():
        given = ["--pattern", "gpt2", "--special-token", "<|end|>=600"] if format == "tiktoken" else []
        result = run("convert", source, "back.json", *given)
        assert result.exit_code == 0, result.output
        assert Tokenizer.load("back.json") == plain
        if format != "tiktoken":
            assert (
                run("show", source, "--text", "the sea").stdout
                == run("show", "plain.json", "--text", "the sea").stdout
            )
    assert run("convert", "plain.json", "odd.name", "--to", "minbpe").exit_code == 0
    assert run("convert", "odd.name", "back.json", "--from", "minbpe").exit_code == 0


def test_convert_with_roles(folder):
    roles = ["--role", "eos=<|end|>", "--role", "pad=<|end|>"]
    result = run("convert", "plain.json", "model", "--to", "huggingface", *roles)
    assert result.exit_code == 0, result.output
    assert Tokenizer.load("model").role_ids == {"eos": 600, "pad": 600}
    run("convert", "model", "again", "--to", "huggingface", "--role", "mask=<|end|>")
    assert Tokenizer.load("again").role_ids == {"eos": 600, "pad": 600, "mask": 600}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.json", "o.json"], r"no such file: missing\.json"),
        (["plain.json", "o.txt"], r"o\.txt: the name does not tell the format: .*: choose one with --to"),
        (["plain.json", "corpus.txt", "--to", "gpt2"], r"corpus\.txt is a file, not a folder"),
        (["plain.json", "corpus.txt/o.json"], r"corpus\.txt is a file, not a folder"),
        (["plain.json", "no/o.json"], "no such folder"),
        (["tok.json", "o.model"], r"o\.model: minbpe cannot hold white space in a special token"),
        (["cl100k_base.tiktoken", "o.json"], "a rank file has no split pattern: add --pattern"),
        (["plain.json", "o.json", "--pattern", "gpt2"], "the format native has its own"),
        (
            ["cl100k_base.tiktoken", "o.json", "--pattern", "gpt2", "--special-token", "x"],
            "'x' is not TOKEN=ID",
        ),
        (["cl100k_base.tiktoken", "o.json", "--pattern", "gpt"], "unknown pattern 'gpt'"),
        (["corpus.txt", "o.json"], r"corpus\.txt: not a tokenizer: it begins with b'TREAS"),
        (["plain.json", "o.json", "--to", "word"], "'word' is not one of"),
        (["plain.json", "o.json", "--role", "eos=<|end|>"], "--role is for the folder of a model"),
        (["plain.json", "-", "--to", "huggingface", "--role", "eos=<|end|>"], "--role is for the folder"),
        (["plain.json", "o.hf.json", "--role", "eos=<|end|>"], "does not hold eos_token: give a folder"),
        (["plain.json", "o", "--to", "huggingface", "--role", "end=<|end|>"], "roles are bos, eos, unk"),
        (["plain.json", "o", "--to", "huggingface", "--role", "eos=sea"], "which is not a special token"),
    ],
)
def test_convert_refuses(folder, arguments, message):
    fails(run("convert", *arguments), message)
    assert not [name for name in os.listdir() if name.partition(".")[0] == "o"]


def test_convert_checks(folder, monkeypatch):
    """A file that does not encode alike is not written."""
    import bpe.formats.conversion as conversion

    original = conversion.read

    def less(path, format, **given):
        vocabulary, pattern = original(path, format, **given)
        if Path(path).name != "plain.json":
            vocabulary = bpe.Tokenizer._of(vocabulary, pattern).with_vocab_size(400).engine.vocabulary
        return vocabulary, pattern

    monkeypatch.setattr(conversion, "read", less)
    fails(
        run("convert", "plain.json", "o.json"), r"read back gives other ids for the probe text.* Nothing was"
    )
    assert "o.json" not in os.listdir()


def test_a_rank_file_is_not_a_tokenizer(folder):
    fails(
        run("show", "cl100k_base.tiktoken", "--text", "x"),
        "has no split pattern: bpe convert cl100k_base.tiktoken",
    )


# ----------------------------------------------------------------------------------------- bench, warmup
def test_bench(folder):
    result = run("bench", "plain.json", "corpus.txt")
    assert result.exit_code == 0, result.output
    assert re.match(r"corpus\.txt: 20 kB, .* thousand tokens, .* bytes a token; one thread\n", result.stdout)
    for name in ("bpe", "tiktoken", "tokenizers"):
        assert re.search(
            rf"^{name} +[\d.]+ [kMG]?B/s +[\d.]+ [kMG]?B/s +[\d.]+ ", result.stdout, re.MULTILINE
        )
    figures = json.loads(run("bench", "plain.json", "corpus.txt", "--json").stdout)
    assert set(figures["bytes_per_second"]) == {"bpe", "tiktoken", "tokenizers"}


def test_bench_measures_what_is_the_same(folder, monkeypatch):
    bpe.train([Path("corpus.txt")], vocab_size=300, pattern="deepseek", progress=False).save("d.json")
    shown = run("bench", "d.json", "corpus.txt").stdout
    assert "tiktoken    not measured: tiktoken splits by one expression" in shown
    other = Tokenizer.load("plain.json").to_tiktoken()
    monkeypatch.setattr(Tokenizer, "to_tiktoken", lambda self: other)
    bpe.train([Path("corpus.txt")], vocab_size=280, progress=False).save("s.json")
    figures = json.loads(run("bench", "s.json", "corpus.txt", "--json").stdout)
    assert figures["not_measured"] == {"tiktoken": "gives other ids"}
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    assert "pip install tokenizers" in run("bench", "s.json", "corpus.txt").stdout


def test_bench_refuses(folder):
    Path("odd.txt").write_bytes(b"ab\xff" + b"x" * 10)
    fails(run("bench", "plain.json", "odd.txt"), r"odd\.txt: not UTF-8 at byte 2")
    Path("empty.txt").touch()
    fails(run("bench", "plain.json", "empty.txt"), r"empty\.txt: empty")


@pytest.fixture
def uses(monkeypatch):
    """What this process uses in a warmup, in which nothing is compiled; another process has work, too."""
    used = []
    monkeypatch.setattr(warmup, "use_training", lambda: used.append("training"))
    monkeypatch.setattr(warmup, "use_encoding", lambda: used.append("encoding"))
    monkeypatch.setattr(warmup, "HELPER", "import bpe")
    monkeypatch.setattr("bpe.support.threads.n_threads", lambda threads: 2)
    return used


def test_warmup_with_two_processes(uses):
    result = run("warmup")
    assert result.exit_code == 0, result.output
    assert uses == ["training"]
    assert re.fullmatch(r"compiled, or loaded, in \d+\.\d s\n", result.stderr)


def test_warmup_with_one_core(uses, monkeypatch):
    monkeypatch.setattr("bpe.support.threads.n_threads", lambda threads: 1)
    monkeypatch.setattr(warmup, "HELPER", "1 / 0")  # it is not run
    result = run("warmup")
    assert result.exit_code == 0, result.output
    assert uses == ["training", "encoding"]
    assert "warning" not in result.stderr


@pytest.mark.parametrize(
    ("helper", "reason"),
    [("1 / 0", "ZeroDivisionError: division by zero"), ("exit(3)", "it ended with code 3")],
)
def test_warmup_when_the_second_process_fails(uses, monkeypatch, helper, reason):
    monkeypatch.setattr(warmup, "HELPER", helper)
    result = run("warmup")
    assert result.exit_code == 0, result.output
    assert uses == ["training", "encoding"]
    warning, _ = result.stderr.splitlines()
    assert warning == f"bpe: warning: the second process failed, so the first does its work: {reason}"


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_an_interrupt_ends_both_processes(uses, monkeypatch, tmp_path):
    path = tmp_path / "process"
    helper = (
        f"import os, pathlib, time; pathlib.Path({str(path)!r}).write_text(str(os.getpid())); time.sleep(60)"
    )
    monkeypatch.setattr(warmup, "HELPER", helper)

    def interrupted():
        while not (path.exists() and path.read_text()):
            time.sleep(0.01)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(warmup, "use_training", interrupted)
    result = run("warmup")
    assert (result.exit_code, result.stderr) == (130, "bpe: interrupted\n")
    with pytest.raises(ProcessLookupError):
        os.kill(int(path.read_text()), 0)


def test_warmup(folder, tmp_path):
    """After a warmup, training and encoding compile nothing."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if os.environ.get("WARMUP_FROM_NOTHING"):  # half a minute
        environment["NUMBA_CACHE_DIR"] = str(tmp_path / "cache")
    program = [sys.executable, "-m", "bpe.cli"]
    result = subprocess.run([*program, "warmup"], env=environment, capture_output=True, text=True, check=True)
    assert re.fullmatch(r"compiled, or loaded, in \d+\.\d s\n", result.stderr)
    environment["NUMBA_DEBUG_CACHE"] = "1"
    text = Path("corpus.txt").read_text("utf-8")
    Path("large.txt").write_text(text * 60, "utf-8")  # a small one needs nothing compiled
    for arguments in (
        ["train", "large.txt", "--vocab-size", "300", "-o", "new.json"],
        ["encode", "plain.json", "large.txt"],
    ):
        shown = subprocess.run(
            [*program, *arguments], env=environment, capture_output=True, text=True, check=True
        )
        assert "[cache] data loaded" in shown.stdout
        assert "[cache] data saved" not in shown.stdout
