"""Try what a new user of the command line tries, and write a page that says what happens.

    python asv_benchmarks/what_users_try.py -o docs/bpe/tried.rst [--section NAME ...]

Each section has a folder of its own with the same files, and its commands run there in turn, as real
processes. Times and rates are left out of the page, so that it changes only where the commands do.
"""

import argparse
import gzip
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path
from typing import NamedTuple

from bpe.corpus.reading import BLOCK_BYTES
from bpe.id_files.encode import READING_SECONDS

ROOT = Path(__file__).resolve().parents[1]
NOVEL = ROOT / "tests" / "data" / "treasure_island.txt"
TRAIN = "--vocab-size 300 -o new.json"
COLD = "NUMBA_CACHE_DIR=$PWD/cold"
SAY = "BPE_SAY_COMPILING"
WIDTH, MOST_LINES = 96, 6
SECONDS = 120  # that a command may take


class Trial(NamedTuple):
    """Something that is tried: a line for the shell.

    With `signal` it is one command, which reads a text from a pipe that stays open, and gets the signal when
    the file `until` is there, and says that ids are saved if it is the note of a run, or, without a file,
    after a second. `limit` is the most bytes of a file.
    """

    what: str
    line: str
    signal: int = 0
    until: str = ""
    limit: int = 0


TRIALS = {
    "First steps": [
        Trial("no command", "bpe"),
        Trial("a typing error", "bpe trian book.txt"),
        Trial("no size", "bpe train book.txt -o new.json"),
        Trial("a size below the 256 bytes", "bpe train book.txt --vocab-size 100 -o new.json"),
        Trial("train", f"bpe train book.txt {TRAIN}"),
        Trial("a size that the text cannot fill", "bpe train short.txt --vocab-size 4000 -o new.json"),
        Trial("look at tokens", "bpe show tok.json 'Yo-ho-ho 😀'"),
        Trial("there and back", "bpe encode tok.json book.txt | bpe decode tok.json | cmp - book.txt"),
        Trial("without compiled code, a short text", f"{COLD} bpe show tok.json Yo-ho-ho"),
        Trial("without compiled code, to count", f"{COLD} bpe count short.txt -o short.counts"),
    ],
    "Kinds of files": [
        Trial("a file that is not there", f"bpe train missing.txt {TRAIN}"),
        Trial("an empty file", f"bpe train empty.txt {TRAIN}"),
        Trial("a name with a space", f"bpe train 'my book.txt' {TRAIN}"),
        Trial("a folder", f"bpe train books {TRAIN}"),
        Trial("a folder with other files", f"bpe train other {TRAIN}"),
        Trial("a pattern of names", f"bpe train 'other/*.md' {TRAIN}"),
        Trial("JSON lines", "bpe count lines.jsonl -o c"),
        Trial("JSON lines with another field", "bpe count lines.jsonl --field body -o c"),
        Trial("JSON lines that are cut off", "bpe count cut.jsonl -o c"),
        Trial("JSON lines in a pipe", "cat lines.jsonl | bpe count - -o c"),
        Trial("the same, with their format", "cat lines.jsonl | bpe count - --format jsonl -o c"),
        Trial("gzip", "bpe count book.txt.gz -o c"),
        Trial("gzip that is cut off", "bpe count cut.txt.gz -o c"),
        Trial("gzip with another name", "bpe count book.packed -o c"),
        Trial("a tokenizer where a text should be", "bpe count tok.json -o c"),
        Trial("a text where a tokenizer should be", "bpe encode book.txt book.txt"),
    ],
    "Encodings": [
        Trial("Latin-1", "bpe count latin1.txt -o c"),
        Trial("Latin-1, strictly", "bpe count latin1.txt --errors strict -o c"),
        Trial(
            "Latin-1, there and back",
            "bpe encode tok.json latin1.txt --quiet | bpe decode tok.json | cmp - latin1.txt",
        ),
        Trial("UTF-16", "bpe count utf16.txt -o c"),
        Trial("UTF-8 with a mark at its beginning", "bpe count bom.txt -o c"),
        Trial(
            "any bytes",
            "head -c 1000 tok.json.gz | bpe encode tok.json --quiet | bpe decode tok.json | wc -c",
        ),
    ],
    "Patterns and options": [
        Trial("a variable that is not set", f'bpe train book.txt --pattern "$PATTERN" {TRAIN}'),
        Trial("tiktoken's name", f"bpe train book.txt --pattern cl100k_base {TRAIN}"),
        Trial("an unknown name", f"bpe train book.txt --pattern gpt5 {TRAIN}"),
        Trial("a wrong expression", f"bpe train book.txt --pattern '(' {TRAIN}"),
        Trial("no threads", f"bpe train book.txt --threads 0 {TRAIN}"),
        Trial("quiet, with progress", f"bpe train book.txt --quiet --progress {TRAIN}"),
        Trial("a summary for programs", f"bpe train short.txt --json --quiet {TRAIN} | cut -c 1-60"),
    ],
    "Special tokens": [
        Trial("one in the text", "bpe encode tok.json special.txt"),
        Trial("as a special token", "bpe encode tok.json special.txt --allow-special"),
        Trial("as text", "bpe encode tok.json special.txt --ordinary"),
        Trial("both", "bpe encode tok.json special.txt --ordinary --allow-special"),
        Trial("in the second of two files", "bpe encode tok.json short.txt special.txt -o ids.bin"),
        Trial("an empty one", f"bpe train book.txt --special '' {TRAIN}"),
    ],
    "Outputs": [
        Trial("standard output", "bpe train short.txt --vocab-size 258 -o - --quiet | wc -c"),
        Trial("another format in a pipe", "bpe convert tok.json - --to huggingface | head -c 20"),
        Trial("ids in a file", "bpe encode tok.json book.txt -o ids.bin"),
        Trial("ids in a pipe, as a file", "bpe encode tok.json book.txt -o -"),
        Trial("ids with an unknown name", "bpe encode tok.json book.txt -o ids.csv"),
        Trial("a second file of ids beside them", "bpe encode tok.json book.txt -o ids.npy"),
        Trial("the text that is read", "bpe count book.txt -o book.txt"),
        Trial("a folder that is not there", "bpe count book.txt -o no/c"),
        Trial("a folder", "bpe count book.txt -o books"),
        Trial("a folder that takes no files", "bpe count book.txt -o /proc/c"),
        Trial("a name that says no format", "bpe convert tok.json ranks.csv"),
        Trial("a reader that stops early", "bpe encode tok.json book.txt | head -c 10"),
        Trial("wrong ids", "echo 1 2 99999 | bpe decode tok.json"),
    ],
    "Full disks": [
        Trial("a full device", "bpe count book.txt -o /dev/full"),
        Trial("a full standard output", "bpe encode tok.json book.txt > /dev/full"),
        Trial("a tokenizer that does not fit", f"bpe train book.txt {TRAIN}", limit=500),
        Trial("nothing is left of it", "ls -A | grep -c new"),
        Trial("ids that do not fit", "bpe encode tok.json book.txt -o ids.bin", limit=20_000),
        Trial("the same with more room", "bpe encode tok.json book.txt -o ids.bin"),
    ],
    "Interrupts": [
        Trial("Ctrl-C while a text is read", f"bpe train - {TRAIN}", signal.SIGINT),
        Trial(
            "Ctrl-C in the middle of ids", "bpe encode tok.json - -o ids.bin", signal.SIGINT, "ids.bin.state"
        ),
        Trial("the same command again", "cat long.txt | bpe encode tok.json - -o ids.bin"),
        Trial("a kill in the middle", "bpe encode tok.json - -o two.bin", signal.SIGKILL, "two.bin.state"),
        Trial("another output", "bpe encode tok.json short.txt -o three.bin"),
        Trial("other options", "bpe encode tok.json short.txt --dtype uint32 -o two.bin"),
        Trial(
            "a kill before anything is saved",
            "bpe encode tok.json - -o four.bin",
            signal.SIGKILL,
            "four.bin.part",
        ),
        Trial("the same command again, from the start", "cat short.txt | bpe encode tok.json - -o four.bin"),
        Trial("what is there in the end", "ls *.bin*"),
    ],
}


# ---------------------------------------------------------------------------------------------------- files
def prepare(folder):
    """Write the files that all sections begin with."""
    import bpe

    text = NOVEL.read_text("utf-8")[:100_000]
    data = text.encode()
    (folder / "bin").mkdir()
    program = folder / "bin" / "bpe"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m bpe "$@"\n')
    program.chmod(0o755)
    lines = '{"text": "the sea"}\n{"text": "the ship"}\n'
    for name, content in {
        "book.txt": data,
        "my book.txt": data,
        "long.txt": data * 30,
        "short.txt": b"the sea the sea",
        "empty.txt": b"",
        "special.txt": b"the <|end|> of the sea",
        "lines.jsonl": lines.encode(),
        "cut.jsonl": lines.encode()[:-10],
        "book.txt.gz": gzip.compress(data),
        "book.packed": gzip.compress(data),
        "cut.txt.gz": gzip.compress(data)[:-100],
        "latin1.txt": ("naïve café\n" * 50).encode("latin-1"),
        "utf16.txt": text[:1000].encode("utf-16"),
        "bom.txt": text[:1000].encode("utf-8-sig"),
    }.items():
        (folder / name).write_bytes(content)
    for name in ("books", "other"):
        (folder / name).mkdir()
        (folder / name / f"a.{'txt' if name == 'books' else 'md'}").write_bytes(data)
    bpe.train([text], 600, special_tokens=["<|end|>"], progress=False).save(folder / "tok.json")
    (folder / "tok.json.gz").write_bytes(gzip.compress((folder / "tok.json").read_bytes(), mtime=0))


# --------------------------------------------------------------------------------------------------- trials
def tried(trial, folder):
    """Run a trial in a folder; return its exit code and all that it printed."""
    if trial.limit:  # compiled code has room: it is there already
        with tempfile.TemporaryDirectory() as place:
            other = shutil.copytree(folder, Path(place, "other"))
            tried(trial._replace(limit=0), other)
    environment = {
        **{name: value for name, value in os.environ.items() if name not in ("PATTERN", SAY)},
        **({} if COLD in trial.line else {SAY: "0"}),  # what is compiled elsewhere depends on what ran before
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "COLUMNS": str(WIDTH),
    }

    def set_limit():
        if trial.limit:
            resource.setrlimit(resource.RLIMIT_FSIZE, (trial.limit, trial.limit))

    process = subprocess.Popen(
        ["bash", "-c", f"set -o pipefail; {'exec ' if trial.signal else ''}{trial.line}"],
        cwd=folder,
        env=environment,
        preexec_fn=set_limit,
        stdin=subprocess.PIPE if trial.signal else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if trial.signal:
        text, file = (folder / "long.txt").read_bytes(), folder / trial.until
        process.stdin.write(text[:BLOCK_BYTES])
        process.stdin.flush()
        wait_for(file.exists)
        is_note = file.suffix == ".state"
        time.sleep(READING_SECONDS + 1 if is_note else 0 if trial.until else 1)
        if is_note:  # what comes so late completes a batch, which is saved
            process.stdin.write(text[BLOCK_BYTES:])
            process.stdin.flush()
            wait_for(lambda: has_saved(file))
        process.send_signal(trial.signal)
    output, _ = process.communicate(timeout=SECONDS)
    return process.returncode, output.decode("utf-8", "replace")


def wait_for(condition):
    """Wait until something is so, but not for ever."""
    deadline = time.monotonic() + SECONDS
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)


def has_saved(note):
    """Say whether there is the note of a run that has saved some ids."""
    told = note.read_bytes() if note.exists() else b""
    return b'"tokens": ' in told and b'"tokens": 0,' not in told


def shown(code, output, folder):
    """Return what is on the page: the exit code, and the first lines without times and places."""
    output = output.replace(f"{folder.resolve()}/", "").replace(str(folder.resolve()), ".")
    output = re.sub(r"\(\d[\d.]* [kMG]?B/s\)", "(… MB/s)", output)
    output = re.sub(r"\b\d+\.\d s\b", "… s", output)
    lines = [part for line in output.splitlines() for part in textwrap.wrap(line, WIDTH) or [""]]
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], "…"]
    end = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
    return [*lines, f"[{end}]"]


# ----------------------------------------------------------------------------------------------------- page
def rows_of(section, folder):
    """Yield the lines of a table; the trials run one after the other."""
    yield from [".. list-table::", "   :header-rows: 1", "   :widths: 40 60", ""]
    yield from ["   * - what is tried", "     - what happens"]
    for trial in TRIALS[section]:
        code, output = tried(trial, folder)
        yield f"   * - {trial.what}"
        command = f"{trial.line}  # files of {trial.limit:,} bytes at most" if trial.limit else trial.line
        yield from ["", "       .. code-block:: none", "", f"          {command}", ""]
        yield from ["     - .. code-block:: none", ""]
        yield from (f"          {line}".rstrip() for line in shown(code, output, folder))
        yield ""


def page(sections):
    """Return the page."""
    lines = [
        "What a new user tries",
        "=====================",
        "",
        "``asv_benchmarks/what_users_try.py`` ran every line and wrote this page. An error is one line, with",
        "exit code 2; an interrupt has exit code 130. Results go to standard output, all else to standard",
        "error; both are shown here, the first lines of them.",
        "",
    ]
    with tempfile.TemporaryDirectory() as place:
        template = Path(place, "template")
        template.mkdir()
        prepare(template)
        for section in sections:
            folder = Path(place, re.sub(r"\W+", "_", section))
            shutil.copytree(template, folder)
            lines += [section, "-" * len(section), "", *rows_of(section, folder)]
    return "\n".join(lines).rstrip() + "\n"


def main(arguments=None):
    """Run the trials and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", help="the page; by default, standard output")
    parser.add_argument(
        "--section", action="append", choices=[*TRIALS], help="only this one; may be repeated"
    )
    given = parser.parse_args(arguments)
    written = page(given.section or [*TRIALS])
    if given.output:
        Path(given.output).write_text(written, "utf-8")
    else:
        sys.stdout.write(written)


if __name__ == "__main__":
    main()
