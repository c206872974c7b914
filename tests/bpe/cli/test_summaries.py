"""What the commands say at their end and meanwhile: summaries, JSON, progress, compiling."""

import importlib.util
import io
import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

import bpe
from bpe import cli
from bpe.cli import progress as compiling
from bpe.cli import progress as progress_lines
from bpe.cli.progress import Lines, Stopwatch, Watch, watching_compiler

ROOT = Path(bpe.__file__).resolve().parent.parent


@pytest.fixture
def folder(tokenizer, book, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tokenizer.save("tok.json")
    (tmp_path / "book.txt").write_text(book[:5000], "utf-8")
    return tmp_path


def run(*arguments, stdin=None):
    return CliRunner().invoke(cli.main, [str(argument) for argument in arguments], input=stdin)


def json_of(*arguments):
    result = run(*arguments, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    summary = json.loads(result.stdout)
    assert summary.pop("seconds") > 0
    assert summary.pop("compiling_seconds") >= 0
    return summary


# ------------------------------------------------------------------------------------------------- summaries
def test_the_last_line_of_train(folder):
    n_bytes = (folder / "book.txt").stat().st_size
    counts = bpe.count_words([Path("book.txt")])
    assert counts.n_text_bytes == n_bytes
    told = rf"; {len(counts)} distinct pieces, 1\.\d+ thousand in all, from 5 kB of text, \d+\.\d s"
    after = r"\. Next: bpe encode 'a b\.json' FILE -o ids\.npy\n"
    result = run("train", "book.txt", "--vocab-size", 300, "-o", "a b.json")
    assert re.fullmatch(rf"a b\.json: 300 tokens, as requested{told}{after}", result.stderr)
    Path("short.txt").write_text("the sea the sea")
    result = run("train", "short.txt", "--vocab-size", 4000, "-o", "new.json")
    assert re.search(r"^new\.json: 262 tokens, of 4000 requested; 3 distinct", result.stderr, re.MULTILINE)
    Path("sea.counts").write_bytes(run("count-words", "short.txt", "-o", "-").stdout_bytes)
    result = run("train", "sea.counts=2", "--vocab-size", 258, "-o", "-")
    assert "standard output: 258 tokens, as requested; 3 distinct pieces, 4 in all" in result.stderr
    assert "Next" not in result.stderr


def test_summaries_as_json(folder):
    n_bytes = (folder / "book.txt").stat().st_size
    summary = json_of(
        "train", "book.txt", "--vocab-size", 300, "--special-token", "<|a|>", "-o", "./new.json"
    )
    counts = bpe.count_words([Path("book.txt")])
    assert summary == {
        "output": "./new.json",
        "tokens": 300,
        "tokens_wanted": 300,
        "merges": 43,
        "special_tokens": {"<|a|>": 299},
        "pattern": "gpt2",
        "words": len(counts),
        "total": counts.total,
        "text_bytes": n_bytes,
    }
    assert json_of("convert", "./new.json", "./new.hf.json") == {
        "input": "./new.json",
        "output": "./new.hf.json",
        "format": "huggingface",
        "tokens": 300,
        "merges": 43,
        "special_tokens": {"<|a|>": 299},
    }
    assert json_of("report", "./new.json", "./book.txt", "-o", "./page.html") == {
        "output": "./page.html",
        "bytes": (folder / "page.html").stat().st_size,
        "tokenizer": "./new.json",
        "texts": ["./book.txt"],
        "text_bytes": n_bytes,
    }
    assert json_of("encode", "new.json", "book.txt", "-o", "./ids.bin")["offsets"] == "ids.offsets.npy"


def test_the_size_of_text_not_of_files(folder):
    """A compressed file counts as what is in it."""
    gzip = pytest.importorskip("gzip")
    Path("sea.txt.gz").write_bytes(gzip.compress(b"the sea " * 10_000))
    result = run("count-words", "sea.txt.gz", "-o", "c")
    assert "from 80 kB of text in" in result.stderr
    summary = json_of("count-words", "sea.txt.gz", "-o", "c")
    assert (summary["text_bytes"], summary["corpus_bytes"]) == (80_000, Path("sea.txt.gz").stat().st_size)


def test_text_of_very_many_words():
    counts = bpe.WordCounts({"ab": 2**62, "a": 5})
    assert counts.n_text_bytes == 2**63 + 5
    assert bpe.WordCounts().n_text_bytes == 0


# -------------------------------------------------------------------------------------------------- progress
def test_lines_in_a_log(folder, monkeypatch):
    monkeypatch.setattr(progress_lines, "EVERY", 0.0)
    result = run("train", "book.txt", "--vocab-size", 300, "--progress", "-o", "new.json")
    assert re.search(r"^counting: 5 kB of 5 kB \(100 %\), 0 s$", result.stderr, re.MULTILINE)
    assert re.search(r"^merging: 44 of 44 \(100 %\) merges, 0 s$", result.stderr, re.MULTILINE)
    for command in (
        ["encode", "tok.json", "book.txt", "-o", "ids.bin"],
        ["report", "tok.json", "book.txt", "-o", "page.html"],
        ["extend", "tok.json", "book.txt", "-n", 3, "-o", "more.json"],
    ):
        assert re.search(r"^\w+: [\d.]+ .*, 0 s$", run(*command, "--progress").stderr, re.MULTILINE)
        assert ", 0 s\n" not in run(*command).stderr
    result = run("count-words", "book.txt", "-o", "c", "--quiet", "--progress")
    assert result.stderr == "bpe: --quiet and --progress cannot be given together\n"


def test_a_line_every_ten_seconds(monkeypatch, capsys):
    now = 100.0
    monkeypatch.setattr(progress_lines.time, "monotonic", lambda: now)
    lines = Lines("reading", "B")
    for now in (101.0, 109.9, 110.0, 112.0, 125.5):
        lines(int(now) * 10**6, None)
    assert capsys.readouterr().err == "reading: 110 MB, 10 s\nreading: 125 MB, 26 s\n"


# ------------------------------------------------------------------------------------------------- compiling
def test_compilations_that_nest_and_come_from_threads(monkeypatch):
    now = 0.0
    monkeypatch.setattr(compiling.time, "perf_counter", lambda: now)
    watch = Watch(is_quiet=True)
    for step in (watch.begin, watch.begin, watch.end, watch.end):
        step()
        now += 1.0
    assert watch.seconds == 3
    now = 10.0
    watch.begin()
    thread = threading.Thread(target=watch.begin)
    thread.start()
    thread.join()
    now = 11.0
    watch.end()
    now = 14.0
    assert watch.seconds == 7, "the other goes on"
    watch.end()
    assert watch.seconds == 7


def test_a_line_while_it_compiles(monkeypatch, capsys):
    monkeypatch.setattr(compiling, "SAID_AFTER", 0.01)
    lines = [
        "bpe: compiling the trainer, once; some 10 s",
        "bpe: compiling the splitting of text, once; some 5 s",
    ]
    for is_quiet, said in ((False, lines), (True, [])):
        watch = Watch(is_quiet=is_quiet)
        for module in (
            "bpe.training.state",
            "structures",
            "bpe.splitting.compiled.cutting",
            "bpe.training.state",
        ):
            watch.begin(module)
            watch.begin("bpe.encoding.kernels.memory")  # within the other
            time.sleep(0.1)
            watch.end()
            watch.end()
        assert capsys.readouterr().err.splitlines() == said
    monkeypatch.setattr(compiling, "SAID_AFTER", 60.0)
    watch = Watch(is_quiet=False)
    watch.begin("bpe.training.state")
    watch.end()
    assert watch._timer is None


def test_the_parts_that_have_a_line_are_packages():
    assert all(importlib.util.find_spec(part).submodule_search_locations for part in compiling.PARTS)


def kernel_of(part):
    """A function that is compiled as if it stood in a part of the package."""
    import numba

    def kernel(x):
        return x + 1

    kernel.__module__ = f"{part}.kernels"
    return numba.njit(kernel)


def test_times_leave_compiling_out(monkeypatch):
    import numba

    monkeypatch.delenv("BPE_SAY_COMPILING")
    said = io.StringIO()
    monkeypatch.setattr(compiling, "SAID_AFTER", 0.0)
    monkeypatch.setattr(compiling.click, "echo", lambda line, err: said.write(line))
    with watching_compiler(is_quiet=False):
        outer = Stopwatch()
        with watching_compiler(is_quiet=True):
            watch = Stopwatch()
            assert kernel_of("bpe.encoding")(1) == 2
            assert watch.compiling_seconds > 0.01
            assert watch.seconds < 2 + watch.compiling_seconds
        # Both hear of it, one after the other.
        assert outer.compiling_seconds > watch.compiling_seconds / 2
    n_listeners = [len(each) for each in numba.core.event._registered.values()]
    with watching_compiler(is_quiet=False):
        pass
    assert [len(each) for each in numba.core.event._registered.values()] == n_listeners, "none is left"
    assert said.getvalue() == "bpe: compiling the encoder, once; some 10 s"


LOADED_LATER = """
from bpe.cli import progress as compiling
compiling.SAID_AFTER = 0.0
with compiling.watching_compiler(is_quiet=False) as watch:
    import numba
    assert watch.seconds == 0
    def kernel(x):
        return x + 1
    kernel.__module__ = "bpe.counting.pieces"
    numba.njit(kernel)(1)
print(watch.seconds)
"""


def test_a_compiler_that_is_loaded_later(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("BPE_SAY_COMPILING")
    result = subprocess.run([sys.executable, "-c", LOADED_LATER], capture_output=True, text=True, check=True)
    assert result.stderr == "bpe: compiling the counting, once; some 5 s\n"
    assert float(result.stdout) > 0.01
